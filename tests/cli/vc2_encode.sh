#!/usr/bin/env bash
# lift2k encode --vc2: films of all kinds to streams and back; then the same streams through other decoders, run as programs:
# FFmpeg, and the reference decoder of VC-2 (vc2-bitstream-validator of the Python package vc2-conformance), which also says
# whether a stream conforms. What is not there is skipped, visibly; Python is $L2K_PYTHON or python3.
# Arguments: the lift2k binary, a stream of Dirac.
lift2k=$1
stream=$2
export LC_ALL=C OMP_NUM_THREADS=1
. "$(dirname "$0")/support.sh"
python=${L2K_PYTHON:-python3}
validator=$(command -v vc2-bitstream-validator || command -v "$(dirname "$(command -v "$python")")/vc2-bitstream-validator")
ffmpeg=$(command -v ffmpeg)
[ -n "$ffmpeg" ] && "$ffmpeg" -hide_banner -demuxers 2>/dev/null | grep -qw dirac || ffmpeg=
[ -n "$ffmpeg" ] || echo "SKIPPED: no FFmpeg with a Dirac decoder"
[ -n "$validator" ] || echo "SKIPPED: no vc2-bitstream-validator (pip install vc2-conformance)"

# film SPACE BITS SCAN: film.y4m of two frames of 352 x 32, made of bytes of another film; film.yuv: its samples
film() {
    local frame=$((352 * 16 * ($1 == 420 ? 3 : $1 == 422 ? 4 : 6))) i head
    printf 'YUV4MPEG2 W352 H32 F30000:1001 I%s A12:11 C%s\n' "$3" "$1" >film.y4m
    for i in 0 1; do
        printf 'FRAME\n' >>film.y4m
        tail -c +$((i * frame + 1)) source.yuv | head -c $frame >>film.y4m
    done
    if [ "$2" -gt 8 ]; then
        frame=$((frame * 2))
        runs "a film of $2 bits" encode film.y4m page.jp2 --page all --precision "$2" --quiet
        runs "a film of $2 bits, as a film" decode page_1.jp2 page_2.jp2 film.y4m --quiet
    fi
    head=$(head -1 film.y4m | wc -c)
    for i in 0 1; do tail -c +$((head + i * (frame + 6) + 7)) film.y4m | head -c $frame; done >film.yuv
}

# others NAME PIXELS: stream.drc, of frames of PIXELS for FFmpeg, gives frames.yuv
others() {
    if [ -n "$ffmpeg" ] && [ -n "$2" ]; then
        check "$1: FFmpeg" "$ffmpeg" -nostdin -loglevel error -y -f dirac -i stream.drc -fps_mode passthrough -f rawvideo \
            -pix_fmt "$2" found.yuv
        check "$1: as FFmpeg" cmp found.yuv frames.yuv
    fi
    [ -n "$validator" ] || return
    rm -f picture_*
    check "$1: conforms" "$validator" --quiet --output 'picture_%d.raw' stream.drc
    case $1 in
    *fields* | *fidelity*) ;; # its package has a wrong sign among the taps of Fidelity
    *)
        cat picture_0.raw picture_1.raw >found.yuv
        check "$1: as the reference decoder" cmp found.yuv frames.yuv
        ;;
    esac
}

runs "a film" decode "$stream" source.yuv --quiet
for space in 420 422 444; do
    for bits in 8 10 12 16; do
        case $bits in
        8) words="dd-9-7 5-3 haar-shifted" ;;
        10) words="dd-13-7 haar" ;;
        12) words=fidelity ;;
        16) words=daubechies-int ;;
        esac
        film $space $bits p
        for word in $words; do
            pixels=yuv${space}p$([ $bits = 8 ] || echo ${bits}le)
            [ $bits = 16 ] && pixels= # FFmpeg's decoder has neither these nor all of the wavelet
            pixels_low=$pixels
            name="$word, $space, $bits bits"
            runs "$name" encode --vc2=$word film.y4m stream.drc --levels $((bits % 3 + 1)) --quiet
            runs "$name: back" decode stream.drc frames.yuv --quiet
            check "$name: lossless" cmp film.yuv frames.yuv
            others "$name" "$pixels"
            runs "$name, low delay" encode --vc2=low-delay,$word film.y4m stream.drc --max-bytes 9000 --quiet
            runs "$name, low delay: back" decode stream.drc frames.yuv --quiet
            [ $bits -le 10 ] || pixels_low= # of large values FFmpeg takes a third only about
            others "$name, low delay" "$pixels_low"
            runs "$name, bytes" encode --vc2=$word film.y4m stream.drc --max-bytes $((bits * 1500)) --slice 16,16 --quiet
            size=$(wc -c <stream.drc)
            check "$name, bytes: exact" test $((size - bits * 3000)) -gt 26 -a $((size - bits * 3000)) -lt 60
            runs "$name, bytes: back" decode stream.drc frames.yuv --quiet
            others "$name, bytes" "$pixels"
        done
    done
done
film 420 8 t
runs "fields" encode --vc2 film.y4m stream.drc
check "its report" grep -q '^film.y4m -> stream.drc .* kB$' err.log
runs "fields: back" decode stream.drc frames.yuv --quiet
check "fields: lossless" cmp film.yuv frames.yuv
others "fields" ""
runs "info" info stream.drc
check "info: VC-2" grep -qzP 'VC-2\nversion +2\nprofile +3\nlevel +0' out.log
check "info: fields" grep -q 'width 352, height 32, chroma 4:2:0, bits 8, chroma_bits 8, interlaced yes, coded_as_fields yes' out.log
check "info: rate and aspect" grep -qz 'frames 30000, seconds 1001.*width 12, height 11' out.log
runs "info --json" info --json stream.drc
check "info --json: an object" python3 -c 'import json
video = json.load(open("out.log"))
assert video["format"] == "VC-2" and video["frames"]["chroma"] == "4:2:0" and video["frame_rate"]["frames"] == 30000, video'
check "from a pipe to a pipe" sh -c "'$lift2k' encode --vc2 - - --quiet <film.y4m | cmp - stream.drc"

head -c 20000 film.y4m >cut.y4m
refuses "a film that ends early" cut.drc 'truncated' encode --vc2 cut.y4m cut.drc
refuses "two wavelets" x.drc 'takes one wavelet' encode --vc2=haar,5-3 film.y4m x.drc
refuses "an unknown wavelet" x.drc "'cubic' is not one of" encode --vc2=cubic film.y4m x.drc
refuses "no output" "" 'an output for all frames' encode --vc2 film.y4m
refuses "many outputs" "" 'an output for all frames' encode --vc2 film.y4m --out-dir x
refuses "an option of pictures" x.drc -- '--ht is not for video' encode --vc2 film.y4m x.drc --ht
refuses "five levels" x.drc 'levels 5 is outside 1 to 4' encode --vc2 film.y4m x.drc --levels 5
refuses "slices of no width" x.drc 'slice width 0' encode --vc2 film.y4m x.drc --slice 0,8
refuses "low delay without bytes" x.drc 'too few' encode --vc2=low-delay film.y4m x.drc
refuses "too few bytes" x.drc '100 bytes are too few' encode --vc2 film.y4m x.drc --max-bytes 100
refuses "too little memory" x.drc 'max-memory' encode --vc2 film.y4m x.drc --max-memory 100K
printf 'P5 1 1 255\nx' >one.pgm
refuses "not a film" x.drc 'three components' encode --vc2 one.pgm x.drc
sed '1s/C420/Cmono/' film.y4m >grey.y4m
refuses "grey" x.drc 'three components' encode --vc2 grey.y4m x.drc
sed '1s/C420/C411/' film.y4m >411.y4m
refuses "4:1:1" x.drc 'no such size or sub-sampling' encode --vc2 411.y4m x.drc
finish
