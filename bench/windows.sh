#!/bin/sh
# windows.sh PICTURE.ppm: windows of an untiled picture, and of the same repeated 3 x 3, with lift2k and libopenjp2 in turn
# (bench/windows.c). RPCL, precincts of 256 x 256 at all resolutions with and without PLT, and no precincts. Prints tables
# on standard output; needs some 3 GB of memory and 1 GB in OUT.
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

# A row of the picture three times, and all rows three times.
python3 - "$picture" "$OUT/nine.ppm" <<'END'
import sys
data = open(sys.argv[1], "rb").read()
width, height = map(int, data.split(None, 4)[1:3])
rows = data[len(data) - width * height * 3 :]
with open(sys.argv[2], "wb") as out:
    out.write(b"P6\n%d %d\n255\n" % (3 * width, 3 * height))
    for _ in range(3):
        for y in range(height):
            out.write(rows[y * width * 3 : (y + 1) * width * 3] * 3)
END
"$BUILD/lift2k" encode "$picture" "$OUT/precincts.jp2" -p RPCL -c $sizes --quiet
"$BUILD/lift2k" encode "$picture" "$OUT/lengths.jp2" -p RPCL -c $sizes --plt --quiet
"$BUILD/lift2k" encode "$picture" "$OUT/whole.jp2" -p RPCL --quiet
"$BUILD/lift2k" encode "$OUT/nine.ppm" "$OUT/nine.jp2" -p RPCL -c $sizes --quiet

"$BUILD/windows" --version
cat <<END

| file | windows | reduction | lift2k, s | libopenjp2, s | ratio | lift2k, MiB | libopenjp2, MiB | ratio |
|---|---|---|---|---|---|---|---|---|
END
run() {
    "$BUILD/windows" -n "${RUNS:-7}" -m "${MANY:-1}" "$1" "$2"
}
run "$OUT/precincts.jp2" "precincts of 256 x 256"
run "$OUT/lengths.jp2" "the same with PLT"
run "$OUT/whole.jp2" "no precincts"
run "$OUT/nine.jp2" "3 x 3, precincts of 256 x 256"
