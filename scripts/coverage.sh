#!/bin/sh
# Coverage of the library by the unit tests and the fuzz targets' corpus: builds with gcc and gcov, runs the unit tests and
# replays the corpus, and prints the share of executed lines per file and per group. The command's tests are left out: they
# fill disks and kill processes, which loses gcov's counts.
#
#     scripts/coverage.sh [--missed] [FOLDER]        the build goes to FOLDER, ./build-coverage by default
#
# --missed lists the lines not reached. Fails where the parser, the boxes, tier-2 or tier-1 have less than 90 %.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
missed=
if [ "${1:-}" = --missed ]; then
    missed=yes
    shift
fi
folder=${1:-$root/build-coverage}
cmake -S "$root" -B "$folder" -DL2K_CUDA=OFF -DL2K_TESTS=ON -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=Coverage \
    -DCMAKE_C_FLAGS_COVERAGE="-O1 -g --coverage" >/dev/null
cmake --build "$folder" --parallel "$(nproc)" >"$folder/build.log" 2>&1 || {
    tail -20 "$folder/build.log"
    exit 1
}
find "$folder" -name '*.gcda' -exec rm {} +
(cd "$folder" && ctest -L 'unit|fuzz' --parallel "$(nproc)" >ctest.log) || {
    echo "coverage: tests failed" >&2
    tail -20 "$folder/ctest.log" >&2
    exit 1
}
find "$folder/CMakeFiles/lift2k_objects.dir" -name '*.gcda' >"$folder/objects.txt"
cd "$folder"
if [ "$missed" ]; then # a line in several objects is reached if one of them reached it
    rm -f ./*.gcov
    # shellcheck disable=SC2046 # one word for each object
    gcov -p -r -s "$root" $(cat objects.txt) >gcov.log
    for file in codec*.gcov; do
        awk -v file="$(echo "$file" | tr '#' '/' | sed 's/\.gcov$//')" -F: \
            '$1 ~ /#####/ { sub(/^ */, "", $2); printf "%s:%s:%s\n", file, $2, substr($0, 17) }' "$file"
    done
    exit 0
fi
# shellcheck disable=SC2046 # one word for each object
gcov -n -r -s "$root" $(cat objects.txt) >gcov.log
awk '
function group_of(file) {
    if (file ~ /^codec\/codestream\// && file !~ /write/)
        return "parser"
    if (file ~ /^codec\/jp2\// && file !~ /write/)
        return "boxes"
    if (file ~ /^codec\/(packets|tile)\//)
        return "tier-2"
    if (file ~ /^codec\/blocks\//)
        return "tier-1"
    if (file ~ /^codec\/decode/)
        return "decoder"
    if (file ~ /^codec\//)
        return "encoder"
    folder = file
    sub(/\/.*/, "", folder)
    return folder
}
/^File / {
    file = $2
    gsub(/\047/, "", file)
}
/^Lines executed:/ && file {
    sub(/.*:/, "", $0)
    share = $1 + 0
    lines = $3
    g = group_of(file)
    reached[g] += share * lines / 100
    all[g] += lines
    row[g] = row[g] sprintf("  %-36s %6d %8.1f\n", file, lines, share)
    file = ""
}
END {
    printf "  %-36s %6s %8s\n", "", "lines", "reached %"
    count = split("parser boxes tier-2 tier-1 decoder encoder transform dwt quant tiling base", order, " ")
    for (i = 1; i <= count; i++) {
        g = order[i]
        if (!all[g])
            continue
        share = 100 * reached[g] / all[g]
        printf "%-38s %6d %8.1f\n%s", g, all[g], share, row[g]
        if (i <= 4 && share < 90)
            low = low " " g
    }
    if (low)
        print "below 90 %:" low
    exit low != ""
}' gcov.log
