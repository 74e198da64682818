#!/usr/bin/env bash
# Help, lift2k(1) and the completions are printed from one table, each in its own way; this compares the results with each
# other and with what the command accepts, and lift2k(3) with the header. Arguments: the lift2k binary, lift2k.1, lift2k.3,
# the folder of lift2k.bash and lift2k.zsh, the public header.
lift2k=$1
page1=$2
page3=$3
completion=$4/lift2k.bash
zsh_completion=$4/lift2k.zsh
header=$5
export LC_ALL=C
. "$(dirname "$0")/../cli/support.sh"

same() { # same WHAT EXPECTED FOUND LEAST: files with a word in each line, at least LEAST of them
    checks=$((checks + 1))
    [ "$(wc -l <"$2")" -ge "$4" ] || fault "$1: only $(wc -l <"$2") words in $2"
    diff "$2" "$3" >log || { fault "$1 (< is missing there, > should not be)"; grep '^[<>]' log; }
}

words_with_repeats() { # the options in the lines of standard input
    grep -oE -- '(^|[^A-Za-z0-9_-])--?[A-Za-z][A-Za-z0-9-]*' | grep -oE -- '-.*'
}

words() {
    words_with_repeats | sort -u
}

# Options that begin a line of the help, without the explanation, which follows after two spaces.
help_heads() {
    "$lift2k" "$1" --help | grep -E '^ {2,6}-' | sed 's/^ *//; s/  .*//'
}

# The help of a command explains each of its options, beside it or in the next line, and fits a terminal.
explained() {
    "$lift2k" "$1" --help >help
    checks=$((checks + 2))
    awk 'head && !/^ {26}[^ ]/ { print head } { head = "" } /^ {2,6}-/ && !/^ {2,6}-.*[^ ] {2,}[^ ]/ { head = $0 }' help >bare
    [ ! -s bare ] || fault "help of $1: not explained: $(tr '\n' ' ' <bare)"
    awk 'length > 80' help >long
    [ ! -s long ] || fault "help of $1: $(wc -l <long) lines of more than 80 columns"
}

# getopt knows each option, with an argument if and only if the help shows one.
accepted() {
    local head option said
    while read -r head; do
        for option in $(words <<<"$head"); do
            checks=$((checks + 1))
            said=$("$lift2k" "$1" "$option" 2>&1 >/dev/null </dev/null)
            case $head in
            *--*' '*) grep -q 'needs a value' <<<"$said" || fault "lift2k $1 $option takes no value: $said" ;;
            *) ! grep -qE 'needs a value|no such option|ambiguous' <<<"$said" || fault "lift2k $1 $option: $said" ;;
            esac
        done
    done <help_heads
}

sed 's/\\-/-/g; s/\\f[A-Z]//g' "$page1" >page1

section() { # section COMMAND: the part of lift2k(1) under .SS COMMAND
    awk -v name="$1" '/^\.S[HS]/ { inside = $1 == ".SS" && $2 == name } inside' page1
}

completes() { # completes WORDS...: what completion offers for the last of them
    bash -c 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _lift2k; printf "%s\n" "${COMPREPLY[@]}"' \
        "$completion" "$lift2k" "$@" | sort -u
}

# The same for zsh: all words that it is offered. Its completion system, which selects among them, is replaced.
zsh_completes() {
    zsh -f -c 'compadd() { shift; print -l -- "$@" }; _files() { print files }
        source "$0"; words=("$@"); CURRENT=$#; _lift2k' "$zsh_completion" "$lift2k" "$@" | sort -u
}

# Both shells offer the same. A machine without zsh reports that and checks the rest.
both_complete() { # both_complete WHAT EXPECTED LEAST WORDS...
    local what=$1 expected=$2 least=$3
    shift 3
    completes "$@" >offered
    same "$what in bash" "$expected" offered "$least"
    [ -n "$zsh" ] || return
    zsh_completes "$@" >offered_zsh
    same "$what in zsh" "$expected" offered_zsh "$least"
}

zsh=$(command -v zsh) || echo "SKIPPED: zsh was not found, its completion was not tested"

"$lift2k" --help | sed -n 's/^  lift2k \([a-z][a-z0-9-]*\).*/\1/p' | sort -u >commands
awk '$1 == ".SS" { print $2 }' page1 | sort >sections
same "commands of lift2k(1)" commands sections 3
sed -n 's/^\.B lift2k \([a-z][a-z0-9-]*\).*/\1/p' page1 | sort -u >synopsis
same "synopsis of lift2k(1)" commands synopsis 3
{ cat commands && printf '%s\n' --help --version; } | sort >first
both_complete "completion of commands" first 5 ""

while read -r command; do
    help_heads "$command" >help_heads
    words <help_heads >options
    section "$command" | grep -E '^-' | words >documented
    same "options of lift2k $command in lift2k(1)" options documented 3
    words_with_repeats <help_heads | sort | uniq -d >twice
    same "options twice in the help of $command" /dev/null twice 0
    section "$command" | grep -E '^-' | words_with_repeats | sort | uniq -d >twice
    same "options twice in lift2k(1), $command" /dev/null twice 0
    explained "$command"
    accepted "$command"
    both_complete "completion of options of lift2k $command" options 3 "$command" -
done <commands

# The command accepts the values that completion offers.
for pair in "encode --backend 4" "encode --cpu 5" "view --cpu 5" "encode --progression 5" "encode -p 5" "encode --style 6" \
    "encode --tile-parts 3" "decode --tiff-compression 6" "dump --format 2"; do
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

# man reports what it does not understand on standard error.
if command -v man >/dev/null; then
    for page in "$page1" "$page3"; do
        checks=$((checks + 1))
        MANWIDTH=80 LC_ALL=C man --warnings -l "$page" 2>&1 >/dev/null | grep . && fault "man warns about $page"
    done
fi

finish
