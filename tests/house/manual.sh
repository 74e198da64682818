#!/usr/bin/env bash
# The man pages and the completion say what the command and the header say: every command and option of the help stands in
# its section of lift2k(1), and nothing else does; so do the functions in lift2k(3). Arguments: the lift2k binary, lift2k.1,
# lift2k.3, the folder of lift2k.bash and lift2k.zsh, the public header.
lift2k=$1
page1=$2
page3=$3
completion=$4/lift2k.bash
zsh_completion=$4/lift2k.zsh
header=$5
export LC_ALL=C
. "$(dirname "$0")/../cli/cli_support.sh"

same() { # same WHAT EXPECTED FOUND LEAST: files with a word in each line, at least LEAST of them
    checks=$((checks + 1))
    [ "$(wc -l <"$2")" -ge "$4" ] || fault "$1: only $(wc -l <"$2") words in $2"
    diff "$2" "$3" >log || { fault "$1 (< is missing there, > should not be)"; grep '^[<>]' log; }
}

words() { # the options in the lines of standard input
    grep -oE -- '(^|[^A-Za-z0-9_-])--?[A-Za-z][A-Za-z0-9-]*' | grep -oE -- '-.*' | sort -u
}

# Words of the help that begin a line, without the explanation that follows after two spaces.
help_options() {
    "$lift2k" "$1" --help | grep -E '^ +-' | sed 's/^ *//; s/  .*//' | words
}

sed 's/\\-/-/g; s/\\f[A-Z]//g' "$page1" >page1

section() { # section COMMAND: the part of lift2k(1) under .SS COMMAND
    awk -v name="$1" '/^\.S[HS]/ { inside = $1 == ".SS" && $2 == name } inside' page1
}

completes() { # completes WORDS...: what completion offers for the last of them
    bash -c 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _lift2k; printf "%s\n" "${COMPREPLY[@]}"' \
        "$completion" "$lift2k" "$@" | sort -u
}

# The same of zsh, all of what it is handed to choose from; its completion system, which does the rest, is stood in for.
zsh_completes() {
    zsh -f -c 'compadd() { shift; print -l -- "$@" }; _files() { print files }
        source "$0"; words=("$@"); CURRENT=$#; _lift2k' "$zsh_completion" "$lift2k" "$@" | sort -u
}

# What bash offers is what zsh offers too. A machine without zsh says so and checks the rest.
both_complete() { # both_complete WHAT EXPECTED LEAST WORDS...
    local what=$1 expected=$2 least=$3
    shift 3
    completes "$@" >offered
    same "$what in bash" "$expected" offered "$least"
    [ -n "$zsh" ] || return
    zsh_completes "$@" >offered_zsh
    same "$what in zsh" "$expected" offered_zsh "$least"
}

zsh=$(command -v zsh) || echo "SKIPPED: zsh was not found, its completion was not tried"

"$lift2k" --help | sed -n 's/^  lift2k \([a-z][a-z0-9-]*\).*/\1/p' | sort -u >commands
awk '$1 == ".SS" { print $2 }' page1 | sort >sections
same "commands of lift2k(1)" commands sections 3
sed -n 's/^\.B lift2k \([a-z][a-z0-9-]*\).*/\1/p' page1 | sort -u >synopsis
same "synopsis of lift2k(1)" commands synopsis 3
{ cat commands && printf '%s\n' --help --version; } | sort >first
both_complete "completion of commands" first 5 ""

while read -r command; do
    help_options "$command" >options
    section "$command" | grep -E '^-' | words >documented
    same "options of lift2k $command in lift2k(1)" options documented 3
    both_complete "completion of options of lift2k $command" options 3 "$command" -
done <commands

# Values that completion offers are values that the command takes.
for pair in "encode --backend 3" "encode --progression 5" "encode --style 6" "encode --tile-parts 3" \
    "decode --tiff-compression 3"; do
    set -- $pair
    completes "$1" "$2" "" >values
    both_complete "completion of $2" values "$3" "$1" "$2" ""
    [ "$(wc -l <offered)" -eq "$3" ] || fault "completion of $2: $(tr '\n' ' ' <offered)"
    while read -r value; do
        checks=$((checks + 1))
        "$lift2k" "$1" "$2" "$value" missing missing.tif 2>&1 | grep -qE 'missing(\.tif)?: ' ||
            fault "completion: lift2k $1 $2 $value is refused"
    done <offered
done
for pair in "encode 4" "decode 6"; do
    set -- $pair
    completes "$1" --ext "" >values
    both_complete "completion of --ext" values "$2" "$1" --ext ""
    while read -r value; do
        checks=$((checks + 1))
        "$lift2k" "$1" missing --out-dir folder --ext "$value" 2>&1 | grep -q '^lift2k: missing' ||
            fault "completion: lift2k $1 --ext $value is refused"
    done <values
done
checks=$((checks + 1))
[ "$(completes decode --red)" = --reduce ] || fault "completion of decode --red"

grep -o '^L2K_API [^(]*(' "$header" | sed 's/.*[ *]\(.*\)(/\1/' | sort >declared
grep -oE 'l2k_[a-z0-9_]+' "$page3" | grep -vxE 'l2k_(status|hooks)' | sort -u >documented
same "functions in lift2k(3)" declared documented 20

# man says what it does not understand on standard error.
if command -v man >/dev/null; then
    for page in "$page1" "$page3"; do
        checks=$((checks + 1))
        MANWIDTH=80 LC_ALL=C man --warnings -l "$page" 2>&1 >/dev/null | grep . && fault "man warns about $page"
    done
fi

finish
