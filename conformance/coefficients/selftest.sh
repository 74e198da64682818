#!/bin/sh
# The comparison of coefficients must be able to fail: at each stage one value is changed, which must be found, reported
# with its place and both values, and end the program with status 1; unchanged, the same pictures must agree. Argument: the
# program.
program=${1:?the program is needed}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
faults=0

# Seeds that exercise all stages: reversible and irreversible, with and without component transform.
run() {
    "$program" --backend cpu --random 12 --seed 100 "$@" >"$work/out" 2>&1
}

fault() {
    echo "FAILED: $1"
    tail -5 "$work/out"
    faults=$((faults + 1))
}

run
status=$?
[ $status -eq 77 ] && cat "$work/out" && exit 77
[ $status -eq 0 ] || fault "unchanged, the status is $status"
grep -q '^[0-9]* elements compared, 0 differ, 0 missing$' "$work/out" || fault "unchanged, no count of 0"

"$program" --stages >"$work/stages" || exit 2
while read -r stage; do
    run --spoil "$stage"
    status=$?
    line=$(grep '^DIFFERENCE' "$work/out" | head -1)
    [ $status -eq 1 ] || fault "$stage: the status is $status, not 1"
    case $stage in
    codestream*) place='component [0-9]*, codestream, byte [0-9]*' ;;
    'level shift' | *'component transform' | 'inverse wavelet' | samples*) place='component [0-9]*, row [0-9]*, column [0-9]*' ;;
    *) place='component [0-9]*, level [0-9]*, subband [LH]*, row [0-9]*, column [0-9]*' ;;
    esac
    echo "$line" | grep -q "; $stage, .*tile [0-9]*, $place.*: OpenJPEG [-0-9.e+]*, lift2k [-0-9.e+]*\$" ||
        fault "$stage: the difference is not reported: $line"
    grep -q '^[0-9]* elements compared, [1-9][0-9]* differ' "$work/out" || fault "$stage: no count of differences"
    echo "$stage: found: $line"
done <"$work/stages"
echo "$faults faults"
[ "$faults" -eq 0 ]
