#!/bin/sh
# windows.sh PICTURE.ppm: windows of an untiled picture, and of the same repeated to 18000 x 12000, with lift2k and
# libopenjp2 in turn (bench/windows.c). RPCL, precincts of 256 x 256 at all resolutions with and without PLT, and no
# precincts. Prints tables on standard output; needs some 3 GB of memory and 1 GB in OUT.
#
# Environment: BUILD a build with L2K_BENCH (build), OUT the working folder (build-bench), RUNS (7), MANY runs of a hundred
# windows (1).
set -eu
picture=${1:?a PPM file is needed}
BUILD=${BUILD:-build}
OUT=${OUT:-build-bench}
mkdir -p "$OUT"
sizes=256,256,256,256,256,256,256,256,256,256,256,256
trap 'rm -f "$OUT/nine.ppm"' EXIT

python3 "$(dirname "$0")/repeat.py" "$picture" "$OUT/nine.ppm" 18000 12000
"$BUILD/lift2k" encode "$picture" "$OUT/precincts.jp2" -p RPCL -c $sizes --quiet
"$BUILD/lift2k" encode "$picture" "$OUT/lengths.jp2" -p RPCL -c $sizes --plt --quiet
"$BUILD/lift2k" encode "$picture" "$OUT/whole.jp2" -p RPCL --quiet
"$BUILD/lift2k" encode "$OUT/nine.ppm" "$OUT/nine.jp2" -p RPCL -c $sizes --quiet

"$BUILD/windows" --version
echo
echo "| file | windows | reduction | lift2k, s | libopenjp2, s | ratio | lift2k, MiB | libopenjp2, MiB | ratio |"
echo "|---|---|---|---|---|---|---|---|---|"
run() {
    "$BUILD/windows" -n "${RUNS:-7}" -m "${MANY:-1}" "$1" "$2"
}
run "$OUT/precincts.jp2" "precincts of 256 x 256"
run "$OUT/lengths.jp2" "the same with PLT"
run "$OUT/whole.jp2" "no precincts"
run "$OUT/nine.jp2" "18000 x 12000, precincts of 256 x 256"
