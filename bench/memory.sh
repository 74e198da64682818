#!/bin/sh
# memory.sh: encodes and decodes a picture larger than the allowed memory: encoded by rows of tiles, then decoded as a
# region and as a whole. Prints peak memory and time as a table on standard output, and fails where a peak reaches LIMIT.
# The picture is a TIFF made by bench/make_tiff.c; everything is written to OUT, and deleted at the end.
#
# Environment: LIFT2K the command to measure (built into OUT from this checkout), OUT the working folder (build-bench),
# SIZE width and height (30000), TILE (1024), LIMIT in MiB (1024).
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
OUT=${OUT:-$root/build-bench}
SIZE=${SIZE:-30000}
TILE=${TILE:-1024}
LIMIT=${LIMIT:-1024}
started=$(date -u +%Y-%m-%d)
mkdir -p "$OUT"

die() {
    echo "memory.sh: $*" >&2
    exit 1
}

cc -O2 -std=c11 -o "$OUT/measure" "$root/bench/measure.c"
cc -O2 -std=c11 -o "$OUT/make_tiff" "$root/bench/make_tiff.c" -ltiff || die "libtiff is missing (package libtiff-dev)"
commit=
if [ -z "${LIFT2K:-}" ]; then
    commit=$(git -C "$root" describe --always --dirty 2>/dev/null || true)
    "$root/scripts/build.sh" "$OUT" -DL2K_TESTS=OFF -DL2K_CUDA=OFF -DCMAKE_BUILD_TYPE=Release >&2
    LIFT2K=$OUT/lift2k
fi

bytes=$((SIZE * SIZE * 3))
room=$(df -Pk "$OUT" | awk 'NR == 2 { print $4 }')
[ "$room" -gt $((bytes / 1024 * 3)) ] || die "$OUT has $((room / 1024)) MiB left; $((bytes * 3 / 1048576)) are needed"

picture=$OUT/memory.tif
coded=$OUT/memory.jp2
part=$OUT/memory-part.tif
back=$OUT/memory-back.tif
trap 'rm -f "$picture" "$coded" "$part" "$back"' EXIT
"$OUT/make_tiff" "$SIZE" "$SIZE" "$picture"

failed=0
row() { # row WHAT ARGUMENTS...: one line of the table
    what=$1
    shift
    cost=$("$OUT/measure" -w 0 -n 1 "$LIFT2K" "$@" --quiet) || die "lift2k $* failed"
    echo "$cost" | awk -v what="$what" '{ printf "| %s | %.1f | %.1f | %.0f |\n", what, $2, $3, $4 / 1024 }'
    [ "$(echo "$cost" | awk '{ print int($4 / 1024) }')" -lt "$LIMIT" ] || failed=1
}

cat <<END
# Memory: $SIZE x $SIZE RGB in tiles of $TILE x $TILE, $started

- picture: synthetic TIFF, 8 bits, $((bytes / 1048576)) MiB of samples
- lift2k: $("$LIFT2K" --version | awk 'NR == 1 { print $2 }')${commit:+, commit $commit}
- processor: $(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1), $(nproc) of them
- system: $(uname -s), $(. /etc/os-release && echo "$PRETTY_NAME"), libtiff $(pkg-config --modversion libtiff-4)
- command: \`SIZE=$SIZE TILE=$TILE bench/memory.sh\`, one run each
- load before the run, over 1 and 5 minutes: $(cut -d' ' -f1,2 /proc/loadavg)
- peak memory is getrusage's: all resident pages, including those of the JPEG 2000 file, which decoding maps

| work | wall s | user s | peak MiB |
|---|---|---|---|
END
row "encode, 5/3 lossless" encode "$picture" "$coded" -t "$TILE,$TILE"
row "the same with --verify" encode "$picture" "$coded" -t "$TILE,$TILE" --verify
row "decode 4096 x 4096 in the middle" decode "$coded" "$part" \
    --region "$((SIZE / 2)),$((SIZE / 2)),$((SIZE / 2 + 4096)),$((SIZE / 2 + 4096))"
row "decode an eighth of width and height" decode "$coded" "$part" --reduce 3
row "decode all" decode "$coded" "$back"
coded_bytes=$(wc -c <"$coded")
# The samples are contiguous from byte 8 in both files, 16 in BigTIFF.
start=8
[ "$(head -c 3 "$picture" | tail -c 1)" = + ] && start=16
echo
if cmp -s -i "$start" -n "$bytes" "$picture" "$back"; then
    echo "- the JPEG 2000 file has $coded_bytes bytes; decoded, all samples are equal"
else
    echo "- the decoded samples DIFFER"
    failed=1
fi
[ "$failed" -eq 0 ] || die "a peak reaches $LIMIT MiB, or samples differ"
