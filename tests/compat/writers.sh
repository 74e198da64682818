#!/usr/bin/env bash
# Programs that write JPEG 2000 through libopenjp2: at full rate the same codestreams but for COM; by rate or quality as
# many layers, the size that was asked for, and a PSNR of at most 0.05 dB less. Arguments: the folder of our library, the
# lift2k binary, the folder with the pictures.
ours=$1
lift2k=$2
data=$3
. "$(dirname "$0")/support.sh"
export GDAL_PAM_ENABLED=NO

same() { # same NAME EXTENSION COMMAND...
    run_both "$@"
    [ -s "theirs.$2" ] || fault "$1: OpenJPEG writes nothing"
    same_code "theirs.$2" "ours.$2" || fault "codestreams differ: $*"
}

decibels() { # decibels PICTURE FILE: PSNR of all samples
    "$lift2k" compare "$1" "$2" | awk '/^[0-9]/ { sum += $3; count++ }
        END { printf "%.3f\n", (sum > 0 ? 10 * log(255 * 255 * count / sum) / log(10) : 99) }'
}

# as_good MORE PICTURE NAME EXTENSION COMMAND...: at most MORE times the bytes, unless a PSNR is asked for (MORE 0)
as_good() {
    local more=$1 picture=$2
    shift 2
    run_both "$@"
    "$lift2k" info "theirs.$2" | grep '^layers' >theirs.layers
    "$lift2k" info "ours.$2" | grep '^layers' >ours.layers
    cmp -s theirs.layers ours.layers || fault "layers: $*"
    echo "$more $(decibels "$picture" "theirs.$2") $(decibels "$picture" "ours.$2") $(wc -c <"theirs.$2") $(wc -c <"ours.$2")" |
        awk '{ exit !($3 >= $2 - 0.05 && ($1 == 0 || $5 <= $1 * $4)) }' ||
        fault "sizes $(wc -c <"theirs.$2") $(wc -c <"ours.$2"), dB $(decibels "$picture" "theirs.$2") $(decibels "$picture" "ours.$2"): $*"
}

rgb=$data/chelsea.png
gray=$data/camera.png

if ! missing gdal_translate gdal-bin; then
    gdal() { # gdal EXTENSION PICTURE OPTIONS...
        local extension=$1 picture=$2
        shift 2
        same GDAL "$extension" gdal_translate -q -of JP2OpenJPEG "$@" "$picture" '$out'
    }
    gdal jp2 "$rgb" -co QUALITY=100 -co REVERSIBLE=YES
    gdal jp2 "$rgb" -co QUALITY=100 -co REVERSIBLE=YES -co BLOCKXSIZE=128 -co BLOCKYSIZE=64 -co TLM=YES -co PLT=YES
    gdal jp2 "$rgb" -co QUALITY=100 -co REVERSIBLE=YES -co PROGRESSION=RPCL -co 'PRECINCTS={128,128},{64,64}' -co SOP=YES \
        -co EPH=YES -co TILEPARTS=RESOLUTIONS -co CODEBLOCK_WIDTH=32 -co CODEBLOCK_HEIGHT=16 -co RESOLUTIONS=4
    gdal jp2 "$gray" -co QUALITY=100 -co REVERSIBLE=NO
    gdal j2k "$gray" -co CODEC=J2K -co QUALITY=100 -co REVERSIBLE=YES
    as_good 1.01 "$rgb" GDAL jp2 gdal_translate -q -of JP2OpenJPEG "$rgb" '$out'
    as_good 1.01 "$rgb" GDAL jp2 gdal_translate -q -of JP2OpenJPEG -co QUALITY=5,10,20 -co BLOCKXSIZE=256 -co BLOCKYSIZE=256 \
        "$rgb" '$out'
fi
if ! missing /usr/bin/convert imagemagick; then
    same ImageMagick jp2 /usr/bin/convert "$rgb" -define jp2:rate=1 '$out'
    same ImageMagick j2k /usr/bin/convert "$gray" -define jp2:rate=1 -define jp2:number-resolutions=3 '$out'
    as_good 0 "$rgb" ImageMagick jp2 /usr/bin/convert "$rgb" -quality 40 '$out'
    as_good 1.01 "$rgb" ImageMagick jp2 /usr/bin/convert "$rgb" -define jp2:rate=20 '$out'
fi
if ! missing ffmpeg ffmpeg; then
    same FFmpeg jp2 ffmpeg -v error -y -i "$rgb" -c:v libopenjpeg '$out'
    same FFmpeg j2k ffmpeg -v error -y -i "$rgb" -c:v libopenjpeg -format j2k -prog_order rpcl -numresolution 4 '$out'
    same FFmpeg j2k ffmpeg -v error -y -i "$rgb" -pix_fmt yuv420p -c:v libopenjpeg -format j2k '$out'
    as_good 1.01 "$rgb" FFmpeg j2k ffmpeg -v error -y -i "$rgb" -c:v libopenjpeg -format j2k -irreversible 1 \
        -compression_level 20 '$out'
fi
if /usr/bin/python3 -c 'import PIL' 2>/dev/null; then
    save='import sys; from PIL import Image; Image.open(sys.argv[1]).save(sys.argv[2]'
    same Pillow jp2 /usr/bin/python3 -c "$save)" "$rgb" '$out'
    same Pillow j2k /usr/bin/python3 -c "$save, tile_size=(100, 90), codeblock_size=(32, 32), precinct_size=(64, 64),
        progression='RPCL', num_resolutions=4)" "$rgb" '$out'
    as_good 1.01 "$rgb" Pillow jp2 /usr/bin/python3 -c "$save, irreversible=True, quality_mode='rates',
        quality_layers=[40, 20, 10])" "$rgb" '$out'
    as_good 0 "$rgb" Pillow jp2 /usr/bin/python3 -c "$save, irreversible=True, quality_mode='dB',
        quality_layers=[30, 36])" "$rgb" '$out'
else
    echo "SKIPPED: Pillow is not installed (Debian: python3-pil)"
fi
if ! missing vips libvips-tools; then
    same VIPS jp2 vips jp2ksave "$rgb" '$out' --lossless --tile-width 128 --tile-height 128
    as_good 0 "$rgb" VIPS jp2 vips jp2ksave "$rgb" '$out' -Q 42
fi
finish
