# Functions for the tests of the command, to be sourced; $lift2k is the binary. The tests run in an empty folder that is
# removed at the end.
work=$(mktemp -d) || exit 2
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work" || exit 2
checks=0
failures=0

fault() {
    failures=$((failures + 1))
    echo "FAILED: $*"
}

check() { # check NAME CONDITION-COMMAND...
    local name=$1
    shift
    checks=$((checks + 1))
    "$@" >check.log 2>&1 || { fault "$name: $*"; head -5 check.log; }
}

runs() { # runs NAME ARGUMENTS...: must succeed
    local name=$1 status
    shift
    checks=$((checks + 1))
    "$lift2k" "$@" >out.log 2>err.log </dev/null
    status=$?
    [ $status -eq 0 ] || { fault "$name: status $status from: $*"; head -5 err.log; }
}

# refuses NAME OUTPUT PATTERN ARGUMENTS...: must fail with one line that starts with "lift2k: " and matches
# PATTERN, without output on standard output, and must leave neither OUTPUT nor any other file.
refuses() {
    local name=$1 output=$2 pattern=$3 status before after
    shift 3
    checks=$((checks + 1))
    before=$(ls -A)
    "$lift2k" "$@" >out.log 2>err.log </dev/null
    status=$?
    after=$(ls -A)
    if [ $status -eq 0 ] || [ $status -ge 126 ]; then fault "$name: status $status from: $*"; fi
    [ "$(wc -l <err.log)" -eq 1 ] || { fault "$name: not one line from: $*"; head -5 err.log; }
    grep -q '^lift2k: ' err.log || { fault "$name: the line does not start with lift2k:"; head -1 err.log; }
    grep -qiE -- "$pattern" err.log || { fault "$name: the line does not match '$pattern'"; head -1 err.log; }
    [ ! -s out.log ] || fault "$name: output on standard output"
    [ "$before" = "$after" ] || fault "$name: files left behind: $(comm -13 <(echo "$before") <(echo "$after"))"
    [ -z "$output" ] || [ ! -e "$output" ] || fault "$name: $output exists"
}

finish() {
    echo "$checks checks, $failures failed"
    [ "$failures" -eq 0 ]
}

# The logs exist from the start, so that `refuses` does not count them as files left by the command.
: >out.log
: >err.log
: >check.log
