#!/usr/bin/env bash
# Times of whole programs with lift2k as libopenjp2.so.7 and with OpenJPEG's, taking turns: GDAL, ImageMagick and Pillow
# decode and encode. Prints a table with the least time of each. Programs that are not installed are left out.
#
# Usage: bench/openjp2.sh FOLDER-OF-OUR-LIBRARY LIFT2K PHOTOGRAPH [ROUNDS]
# Environment: OPENJPEG the folder of the other libopenjp2.so.7, if not the system's.
set -eu
export OMP_WAIT_POLICY=passive # as lift2k-run sets it; OpenJPEG does not look at it
root=$(cd "$(dirname "$0")/.." && pwd)
library=$(realpath "$1")
lift2k=$(realpath "$2")
photograph=$(realpath "$3")
rounds=${4:-5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# ---- Files: the photograph, and a picture of 8192 x 8192 made of copies of it, in tiles of 1024 x 1024 ----

"$lift2k" encode "$photograph" lossless.jp2 --quiet
"$lift2k" encode "$photograph" lossy.jp2 -I -r 20 --quiet
"$lift2k" decode lossless.jp2 photo.ppm --quiet
/usr/bin/python3 "$root/bench/repeat.py" photo.ppm large.ppm 8192 8192
"$lift2k" encode large.ppm tiled.jp2 -t 1024,1024 --quiet
"$lift2k" encode large.ppm tiled20.jp2 -t 1024,1024 -I -r 20 --quiet

cc -O2 -std=c11 -I "$root" -I "$root/include" -o measure "$root/bench/measure.c"
row() { # row NAME COMMAND...
    local name=$1
    shift
    ./measure -w 0 -n "$rounds" env LD_LIBRARY_PATH="$library" "$@" -- env LD_LIBRARY_PATH="${OPENJPEG:-}" "$@" 2>log >runs ||
        { cat log >&2; return 1; }
    sort -k 1,1n -k 2,2n runs | awk -v name="$name" '!($1 in least) { least[$1] = $2 }
        END { printf "| %s | %.2f | %.2f | %.2f |\n", name, least[0], least[1], least[0] / least[1] }'
}

pillow='import sys; from PIL import Image; image = Image.open(sys.argv[1]); image.load()'
version='import ctypes; f = ctypes.CDLL("libopenjp2.so.7").opj_version; f.restype = ctypes.c_char_p; print(f().decode())'
echo "$("$lift2k" --version | head -n 1) as OpenJPEG $(LD_LIBRARY_PATH=$library /usr/bin/python3 -c "$version")," \
    "OpenJPEG $(LD_LIBRARY_PATH=${OPENJPEG:-} /usr/bin/python3 -c "$version"); least of $rounds"
echo
echo "| program | lift2k, s | OpenJPEG, s | ratio |"
echo "|---|---|---|---|"
if command -v gdal_translate >/dev/null; then
    for threads in 1 ALL_CPUS; do
        export GDAL_NUM_THREADS=$threads
        row "GDAL reads 8192 x 8192, tiled, lossless, threads $threads" gdal_translate -q -of MEM tiled.jp2 x
        row "GDAL reads 8192 x 8192, tiled, 20:1, threads $threads" gdal_translate -q -of MEM tiled20.jp2 x
    done
    unset GDAL_NUM_THREADS
    row "GDAL writes the photograph, lossless" gdal_translate -q -of JP2OpenJPEG -co QUALITY=100 -co REVERSIBLE=YES \
        photo.ppm out.jp2
    row "GDAL writes the photograph, default" gdal_translate -q -of JP2OpenJPEG photo.ppm out.jp2
fi
convert=$(command -v /usr/bin/convert || command -v convert || :)
if [ -n "$convert" ]; then
    row "ImageMagick reads the photograph, lossless" "$convert" lossless.jp2 null:
    row "ImageMagick reads the photograph, 20:1" "$convert" lossy.jp2 null:
    row "ImageMagick writes the photograph, lossless" "$convert" photo.ppm -define jp2:rate=1 out.jp2
fi
if /usr/bin/python3 -c 'import PIL' 2>/dev/null; then
    row "Pillow reads the photograph, lossless" /usr/bin/python3 -c "$pillow" lossless.jp2
    row "Pillow reads the photograph, 20:1" /usr/bin/python3 -c "$pillow" lossy.jp2
    row "Pillow writes the photograph, lossless" /usr/bin/python3 -c "$pillow; image.save('out.jp2')" photo.ppm
    row "Pillow writes the photograph, 9/7, 20:1" /usr/bin/python3 -c \
        "$pillow; image.save('out.jp2', irreversible=True, quality_mode='rates', quality_layers=[20])" photo.ppm
fi
