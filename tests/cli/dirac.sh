#!/usr/bin/env bash
# lift2k decode and info of Dirac and VC-2. Each folder has streams and a manifest.tsv: file, width, height, chroma, bits,
# and in the last column the first 16 digits of the MD5 of each frame's planes. All frames of all streams must be those.
# Arguments: the lift2k binary, the folder of streams; $L2K_DIRAC_STREAMS may name a larger one.
lift2k=$1
data=$2
export LC_ALL=C
. "$(dirname "$0")/support.sh"

digests() { # digests FILE BYTES-OF-A-FRAME
    local size i
    size=$(wc -c <"$1")
    for ((i = 0; i < size / $2; i++)); do
        tail -c +$((i * $2 + 1)) "$1" | head -c "$2" | md5sum | cut -c 1-16
    done | tr '\n' ' ' | sed 's/ $//'
}

streams() { # streams FOLDER
    local line file width height chroma bits frame expected
    while IFS= read -r line; do
        IFS=$'\t' read -r file width height chroma bits _ <<<"$line"
        expected=${line##*$'\t'}
        frame=$((chroma == 444 ? 2 * width * height : (width + 1) / 2 * (chroma == 420 ? (height + 1) / 2 : height) * 2))
        frame=$(((width * height + frame) * (bits > 8 ? 2 : 1)))
        runs "$file" decode "$1/$file" all.yuv --quiet
        check "$file: its frames" test "$(digests all.yuv $frame)" = "$expected"
        runs "$file in plain C" decode "$1/$file" c.yuv --quiet --cpu c
        check "$file: the same" cmp all.yuv c.yuv
        runs "$file: info" info "$1/$file"
        check "$file: its size" grep -q "^frames  *width $width, height $height, " out.log
    done < <(tail -n +2 "$1/manifest.tsv")
}

streams "$data"
[ -z "$L2K_DIRAC_STREAMS" ] || streams "$L2K_DIRAC_STREAMS"

stream=$data/inter_haar0.drc
runs "a film" decode "$stream" film.y4m
check "its report" grep -q 'inter_haar0.drc -> film.y4m' err.log
check "its header" grep -aq '^YUV4MPEG2 W352 H288 F25:1 Ip A0:0 C420jpeg' film.y4m
check "its frames" test "$(grep -ao FRAME film.y4m | wc -l)" -eq 24
"$lift2k" decode "$stream" - --quiet | cmp - film.y4m || fault "a pipe has other bytes than a film"
runs "pictures" decode "$stream" --out-dir pictures
check "one for each frame" test "$(ls pictures | tr '\n' ' ' | cut -c 1-22)$(ls pictures | wc -l)" = "000000.png 000001.png 24"
mkdir more
runs "pictures of another format into a folder" decode "$stream" more --quiet
runs "the first frame as the film has it" encode film.y4m first.jp2 --page 1 --quiet
runs "and back" decode first.jp2 first.png --quiet
check "is the first picture" "$lift2k" compare first.png pictures/000000.png --quiet
runs "ppm" decode "$stream" --out-dir ppm --ext ppm
check "ppm" test -s ppm/000023.ppm

head -c 30000 "$stream" >cut.drc
"$lift2k" decode cut.drc cut.yuv 2>err.log
check "a stream that ends early: status 3" test $? -eq 3
check "a stream that ends early: says so" grep -q 'warning: frame .* is incomplete' err.log
check "a stream that ends early: has frames" test -s cut.yuv
printf 'BBCD and nothing' >none.drc
refuses "no frame" none.yuv 'no frame' decode none.drc none.yuv
refuses "a picture" x.png 'go into a .y4m or .yuv file' decode "$stream" x.png
refuses "an unknown format" x.foo 'unknown output format' decode "$stream" x.foo
finish
