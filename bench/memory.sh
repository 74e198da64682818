#!/bin/sh
# memory.sh: the command on a picture larger than the allowed memory, in tiles: decodes a region, an eighth, and all, to
# TIFF, and encodes that again. Prints peak memory and time as a table on standard output, and fails where a peak reaches
# LIMIT, or the second codestream differs. by_rows makes the picture, and its row of figures comes first.
#
# Environment: BUILD a build with L2K_BENCH (build), OUT the working folder (build-bench), SIZE width and height (30000),
# TILE (1024), LIMIT in MiB (1024).
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
BUILD=${BUILD:-$root/build}
OUT=${OUT:-$root/build-bench}
SIZE=${SIZE:-30000}
TILE=${TILE:-1024}
LIMIT=${LIMIT:-1024}
mkdir -p "$OUT"

die() {
    echo "memory.sh: $*" >&2
    exit 1
}

cc -O2 -std=c11 -I "$root" -I "$root/include" -o "$OUT/measure" "$root/bench/measure.c"
room=$(df -Pk "$OUT" | awk 'NR == 2 { print $4 }')
need=$((SIZE * SIZE / 128))
[ "$room" -gt "$need" ] || die "$OUT has $((room / 1024)) MiB left; $((need / 1024)) are needed"
trap 'rm -f "$OUT/memory.j2k" "$OUT/memory-2.j2k" "$OUT/memory.tif"' EXIT

echo "$("$BUILD/lift2k" --version | head -n 1), $(date -u +%Y-%m-%d)," \
    "$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1), $(nproc) of them"
"$BUILD/by_rows" --width "$SIZE" --height "$SIZE" --components 3 --tile "$TILE" --coder mq --wavelet 5/3 "$OUT/memory.j2k"

failed=0
row() { # row WHAT ARGUMENTS...: one line of the table; peak memory includes the pages of the file, which decoding maps
    what=$1
    shift
    cost=$("$OUT/measure" -w 0 -n 1 "$BUILD/lift2k" "$@" --quiet) || die "lift2k $* failed"
    echo "$cost" | awk -v what="$what" '{ printf "| %s | %.1f | %.1f | %.0f |\n", what, $2, $3, $4 / 1024 }'
    [ "$(echo "$cost" | awk '{ print int($4 / 1024) }')" -lt "$LIMIT" ] || failed=1
}
echo
echo "| work | wall s | user s | peak MiB |"
echo "|---|---|---|---|"
row "decode 4096 x 4096 in the middle" decode "$OUT/memory.j2k" "$OUT/memory.tif" \
    --region "$((SIZE / 2)),$((SIZE / 2)),$((SIZE / 2 + 4096)),$((SIZE / 2 + 4096))"
row "decode an eighth of width and height" decode "$OUT/memory.j2k" "$OUT/memory.tif" --reduce 3
row "decode all, to TIFF" decode "$OUT/memory.j2k" "$OUT/memory.tif"
row "encode, 5/3 lossless" encode "$OUT/memory.tif" "$OUT/memory-2.j2k" -t "$TILE,$TILE"
cmp "$OUT/memory.j2k" "$OUT/memory-2.j2k" || failed=1
[ "$failed" -eq 0 ] || die "a peak reaches $LIMIT MiB, or codestreams differ"
