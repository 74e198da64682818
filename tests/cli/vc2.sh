#!/bin/bash
# Kernels against other implementations, run as programs: the reference decoder of VC-2 (vc2-bitstream-validator of the
# Python package vc2-conformance), the Dirac decoder of FFmpeg, and PyWavelets for w4. Streams of coefficients that lift2k
# has made must give the samples that lift2k gives. Arguments: vc2_stream; pictures a kernel (default 12, or
# $L2K_VC2_PICTURES). What is not there is skipped, visibly; Python is $L2K_PYTHON or python3.
set -u
vc2_stream=${1:?the program vc2_stream is needed}
count=${2:-${L2K_VC2_PICTURES:-12}}
python=${L2K_PYTHON:-python3}
validator=$(command -v vc2-bitstream-validator || command -v "$(dirname "$(command -v "$python")")/vc2-bitstream-validator")
ffmpeg=$(command -v ffmpeg)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0 seen=0 compared=0
export OMP_NUM_THREADS=1

# compare NAME: expected.raw and found.raw, of $pictures pictures
compare() {
    compared=$((compared + pictures))
    cmp -s expected.raw found.raw || {
        echo "FAILED: $1: $kernel, $bits bits, $levels levels, $width x $height, seed $seed"
        failed=1
    }
}

with_validator() {
    rm -f picture_*
    "$validator" --quiet --output 'picture_%d.raw' stream.vc2 >log.txt 2>&1 || tail -3 log.txt
    for ((i = 0; i < pictures; i++)); do cat "picture_$i.raw"; done >found.raw
    compare "the reference decoder"
}

with_ffmpeg() {
    local format=yuv444p
    [ "$bits" = 8 ] || format=yuv444p${bits}le
    rm -f found.raw
    "$ffmpeg" -nostdin -loglevel error -y -f dirac -i stream.vc2 -fps_mode passthrough -f rawvideo -pix_fmt "$format" found.raw
    compare FFmpeg
}

# run DECODER KERNELS BITS LEAST: $count pictures a kernel, some of one size and depth in a stream; LEAST: width and height
# of the lowest level
run() {
    for kernel in $2; do
        for ((seed = 1, left = count; left > 0; seed++, left -= pictures)); do
            pictures=$((left < 4 ? left : 4))
            bits=$(echo $3 | cut -d' ' -f$((seed % $(echo $3 | wc -w) + 1)))
            levels=$((seed % 3 + 1))
            width=$(((seed * 5 % 4 + $4) << levels)) height=$(((seed * 3 % 5 + $4) << levels))
            "$vc2_stream" "$kernel" "$bits" "$levels" "$width" "$height" "$pictures" "$seed" stream.vc2 expected.raw || exit 1
            "$1"
        done
    done
    seen=1
    echo "$1: $compared pictures compared"
    compared=0
}

if [ -n "$validator" ]; then # its package has a wrong sign among the taps of Fidelity
    run with_validator "haar haar-shifted dd-9-7 dd-13-7 daubechies-int" "8 9 10 11 12 13 14 15 16" 1
else
    echo "SKIPPED: no vc2-bitstream-validator (pip install vc2-conformance)"
fi
# With daubechies-int FFmpeg 5.1 differs from the reference decoder, which lift2k equals; and so do very small pictures.
if [ -n "$ffmpeg" ] && "$ffmpeg" -hide_banner -demuxers 2>/dev/null | grep -qw dirac; then
    run with_ffmpeg "haar haar-shifted dd-9-7 dd-13-7 fidelity" "8 10 12" 10
else
    echo "SKIPPED: no FFmpeg with a Dirac decoder"
fi
if "$python" -c 'import pywt' 2>/dev/null; then
    "$vc2_stream" w4 >w4.txt || exit 1
    "$python" - w4.txt <<'END' || failed=1
import sys, numpy, pywt
samples, low, high = (numpy.array(line.split(), float) for line in open(sys.argv[1]))
for name, ours, theirs in zip(("low", "high"), (low, high), pywt.dwt(samples, "db2", "zero")):
    errors = [numpy.abs(sign * numpy.roll(theirs, shift)[:len(ours)] - ours)[4:-4].max()
              for shift in range(-2, 3) for sign in (1, -1)]
    if min(errors) > 1e-6:
        sys.exit(f"FAILED: w4, {name}: {min(errors)} away from PyWavelets' db2")
print("w4: as PyWavelets' db2 but for borders")
END
    seen=1
else
    echo "SKIPPED: no PyWavelets (pip install PyWavelets)"
fi
[ $seen = 1 ] || exit 77
exit $failed
