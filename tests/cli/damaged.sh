#!/bin/bash
# damaged.sh LIFT2K CORPUS CRASHERS [EVERY]: the seed corpus of the fuzz targets (half of it damaged, or not
# possible output of an encoder) and inputs that once broke them, through every subcommand that reads files. In all cases
# the command exits with one of its own statuses; if it fails, it prints one line and leaves no output. With EVERY,
# only one call in EVERY is made: a power of 2, which lets each subcommand run.
set -u
lift2k=$(realpath "$1") corpus=$(realpath "$2") crashers=$(realpath "$3") every=${4:-1}
export OMP_WAIT_POLICY=passive # small pictures: threads that spin cost more than the work
source "$(dirname "$(realpath "$0")")/support.sh"

# meets COMMAND...: OUT in it stands for the output
meets() {
    local status said
    checks=$((checks + 1))
    "$lift2k" "${@/#OUT/out/picture}" >out.log 2>err.log </dev/null
    status=$?
    case $status in
    0 | 3) return ;;
    1) [ "$1" != compare ] || fault "differs from itself: $*" ;;
    2) [ "$1" = compare ] || fault "status 2: $*" ;;
    *) fault "status $status: $*" ;;
    esac
    said=$(grep -v '^lift2k: .*: warning: ' err.log) # of which info, which has no --quiet, says some
    case $said in
    *$'\n'* | '') fault "not one line: $*: $said" ;;
    "lift2k: "*) ;;
    *) fault "a line that does not start with lift2k: $*: $said" ;;
    esac
    [ -z "$(ls -A out)" ] || fault "files left behind: $*: $(ls -A out)"
}

# each COMMAND...: or one in EVERY
number=0
each() {
    number=$((number + 1))
    [ $((number % every)) -eq 0 ] || return
    meets "$@"
    rm -rf out/*
}

# 9 and 5 calls a file: no divisor in common with a power of 2.
mkdir out
for file in "$corpus"/codestreams/* "$crashers"/codestreams/*; do
    each info "$file"
    each decode "$file" OUT.png --rgb8 --quiet
    each decode "$file" OUT.tif --reduce 1 --quiet
    each decode "$file" OUT.pgx --by-rows --quiet
    each decode "$file" OUT.pam --region 1,1,5,5 --quiet
    each view "$file" OUT.png --quiet
    each view "$file" OUT.ppm --rgb --quiet
    each dump "$file" out/folder --quiet
    each compare "$file" "$file" --quiet
    if [ "$every" -le 2 ]; then
        "$lift2k" info --json "$file" >>all.json 2>/dev/null
    fi
done
for file in "$corpus"/images/*; do
    each encode "$file" OUT.jp2 --quiet
    each encode "$file" OUT.j2k -t 5,3 --quiet
    each view "$file" OUT.png --quiet
    each dump "$file" out/folder --quiet
    each compare "$file" "$file" --quiet
done
if [ -s all.json ] && command -v python3 >/dev/null; then
    check "JSON of hostile files" python3 -c '
import json
text, at = open("all.json").read(), 0
while text[at:].strip():
    value, length = json.JSONDecoder().raw_decode(text[at:].lstrip())
    at = len(text) - len(text[at:].lstrip()) + length'
fi
finish
