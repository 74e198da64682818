#!/usr/bin/env bash
# The README and the guides of docs/guides, as a reader would follow them. Arguments: the lift2k binary, the folder with the
# programs of examples/, the root of the repository, the C compiler. What may stand between fences:
#   ```console            commands after "$ ", which must succeed, and their output, standard error included. A line "..."
#                         stands for any number of lines, "..." within a line for any text. One folder for each guide.
#   ```console with NAME  the same if lift2k --version says that NAME is built in; else skipped, with a message
#   ```console not-run    commands that need a GPU or files of the reader's: only the options of lift2k are checked
#   ```c examples/NAME.c  consecutive lines of that program, which compiles as C11 and as C++ (without CUDA)
#   ```cmake              nothing to check
#   ```python [MODULE]    run by python/tests/test_guides.py
#   ```js                 run by web/tests/node.mjs
lift2k=$(realpath "$1")
examples=$(realpath "$2")
root=$(realpath "$3")
cc=$4
. "$(dirname "$0")/../cli/support.sh"
PATH=$(dirname "$lift2k"):$PATH
export PATH
unset OMP_NUM_THREADS

expression() { # expression EXPECTED: what the output of a command must match, as an extended regular expression
    local line
    while IFS= read -r line; do
        if [ "$line" = ... ]; then
            printf '%s' "(.*"$'\n'")?"
        else
            line=$(printf '%s' "$line" | sed 's/[][\\.*^$+?(){}|]/\\&/g')
            printf '%s\n' "${line//'\.\.\.'/$'[^\n]*'}"
        fi
    done < <(printf '%s' "$1")
}

try_command() { # try_command PLACE COMMAND EXPECTED
    local output status pattern
    checks=$((checks + 1))
    output=$(bash -c "$2" 2>&1 </dev/null)
    status=$?
    [ -z "$output" ] || output=$output$'\n'
    pattern=$(expression "$3" && echo .)
    pattern=${pattern%.}
    [ $status -eq 0 ] || fault "$1: status $status from: $2"
    [[ $output =~ ^$pattern$ ]] || { fault "$1: $2"; diff <(printf '%s' "$3") <(printf '%s' "$output") | head -20; }
}

options_exist() { # options_exist PLACE COMMAND: each option of lift2k is in the help of its command
    local words word help
    read -ra words <<<"$2"
    checks=$((checks + 1))
    [ "${words[0]}" = lift2k ] || return 0
    help=$(lift2k "${words[1]}" --help) || fault "$1: no command ${words[1]}"
    for word in "${words[@]:2}"; do
        case $word in
        '#'*) break ;;
        -?*) grep -qE -- "(^|[ ,])$word([ ,]|$)" <<<"$help" || fault "$1: lift2k ${words[1]} has no option $word" ;;
        esac
    done
}

is_part() { # is_part PLACE FILE LINES
    local whole
    checks=$((checks + 1))
    whole=$(cat "$root/$2") || { fault "$1: no $2"; return; }
    [[ $'\n'$whole$'\n' == *$'\n'"$3"* ]] || fault "$1: these lines are no longer in $2"
    shown="$shown $2"
}

flush() { # the command that was read and its expected output
    [ -z "$command" ] || case $kind in
    console) try_command "$place" "$command" "$body" ;;
    'console with '*)
        if lift2k --version | grep -v 'this build has no' | grep -q "^${kind#console with } "; then
            try_command "$place" "$command" "$body"
        else
            echo "SKIPPED: $place: no ${kind#console with } in this build: $command"
        fi
        ;;
    'console not-run') options_exist "$place" "$command" ;;
    esac
    command=
    body=
}

close_fence() {
    case $kind in
    console | 'console with '* | 'console not-run') flush ;;
    'c '*) is_part "$place" "${kind#c }" "$body" ;;
    cmake | js | python | 'python '*) checks=$((checks + 1)) ;;
    *) fault "$place: nothing checks what is in a fence \"$kind\"" ;;
    esac
    kind=
}

guide() { # guide FILE, in an empty folder that looks like the root of the repository after a build
    local line number=0 kind='' command='' body='' place=''
    while IFS= read -r line; do
        number=$((number + 1))
        case $kind,$line in
        ,'```'*)
            kind=${line#'```'}
            place="$(basename "$1"):$number"
            [ -n "$kind" ] || kind=' '
            body=
            ;;
        ,*) ;;
        *,'```') close_fence ;;
        console*,'$ '*)
            flush
            command=${line#'$ '}
            place="$(basename "$1"):$number"
            ;;
        *)
            if [ "${command: -1}" = "\\" ] && [ -z "$body" ]; then
                command="${command%\\}${line#"${line%%[! ]*}"}"
            else
                body="$body$line"$'\n'
            fi
            ;;
        esac
    done <"$1"
    [ -z "$kind" ] || fault "$place: a fence without an end"
}

in_folder() { # in_folder NAME
    mkdir -p "$work/$1/tests" "$work/$1/build"
    cp -R "$root/tests/data" "$work/$1/tests/"
    ln -s "$examples" "$work/$1/build/examples"
    cd "$work/$1" || exit 2
}

compiles() { # compiles FILE
    check "$1 as C" "$cc" -std=c11 -pedantic -Wall -Wextra -Werror -fsyntax-only "-I$root/include" "$root/$1"
    command -v c++ >/dev/null || return 0
    check "$1 as C++" c++ -x c++ -std=c++11 -pedantic -Wall -Wextra -Werror -fsyntax-only "-I$root/include" "$root/$1"
}

# ---- The script detects faults: each of these guides fails as often as it should ----

in_folder selftest
selftest() { # selftest FAULTS LINES...
    local wanted=$1 found
    shift
    printf '%s\n' "$@" >selftest.md
    found=$(guide selftest.md | grep -c '^FAILED')
    checks=$((checks + 1))
    [ "$found" -eq "$wanted" ] || fault "selftest: $found faults, not $wanted, in: $*"
}
selftest 0 '```console' '$ echo a.c; echo "[x] 12 s"; echo c' 'a.c' '[x] ... s' 'c' '```'
selftest 0 '```console' '$ printf "%s\n" a b c d' 'a' '...' 'd' '$ echo \' '    x' 'x' '```'
selftest 0 '```console' '$ echo a' '...' 'a' '...' '$ true' '```'
selftest 1 '```console' '$ echo abc' 'a.c' '```'
selftest 1 '```console' '$ echo a; echo b' 'a...b' '```'
selftest 1 '```console' '$ echo a; echo b' 'a' '```'
selftest 1 '```console' '$ true' 'something' '```'
selftest 1 '```console' '$ false' '```'
selftest 1 '```console with libpng' '$ echo a' 'b' '```'
selftest 0 '```console with nothing' '$ echo a' 'b' '```'
selftest 1 '```console wiht libpng' '$ true' '```'
selftest 0 '```console not-run' '$ lift2k encode a.png b.jp2 -I -t 8,8 --backend cuda' '```'
selftest 1 '```console not-run' '$ lift2k encode a.png b.jp2 --backen cuda' '```'
selftest 0 '```c examples/psnr.c' 'static double squared_error(const picture *a, const picture *b, uint32_t c)' '{' '```'
selftest 1 '```c examples/psnr.c' 'static double squared_error(const picture *a, const picture *b)' '```'
selftest 1 '```c examples/psnr.c' '    double error = 0' '```'
selftest 1 '```sh' 'true' '```'
selftest 1 '```console' '$ true'

# ---- The README and the guides ----

shown=
for file in "$root"/README.md "$root"/docs/guides/*.md; do
    before=$checks
    in_folder "$(basename "$file" .md)"
    guide "$file"
    [ "$checks" -gt "$before" ] || ! grep -q '^```' "$file" || fault "$(basename "$file"): nothing was checked"
done
for file in $(printf '%s\n' $shown | sort -u); do
    case $file in
    */cuda_*) ;;
    *) compiles "$file" ;;
    esac
done
[[ $shown == *memory.c* ]] || fault "the README shows no program"
finish
