#!/usr/bin/env bash
# dirac.sh BUILD STREAM...: decoding of Dirac and VC-2 on one thread beside FFmpeg, into a pipe that discards the frames:
# the lowest processor time of five runs in turn. FFmpeg's motion compensation is not the standard's, so frames may differ.
set -eu
build=$1
shift
command -v ffmpeg >/dev/null || { echo "no ffmpeg" >&2; exit 2; }
TIMEFORMAT='%U %S'

seconds() { # seconds COMMAND...: of the processor
    { time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ print $1 + $2 }'
}

echo "$(date -u +%F), $(grep -m 1 'model name' /proc/cpuinfo | cut -d: -f2), $(ffmpeg -version | head -n 1 | cut -d' ' -f1-3)"
printf '\n| stream | lift2k, s | FFmpeg, s | ratio |\n|---|---|---|---|\n'
for stream; do
    for _ in 1 2 3 4 5; do
        echo "$(seconds "$build/lift2k" decode "$stream" - --quiet) $(seconds ffmpeg -v error -threads 1 -i "$stream" \
            -f yuv4mpegpipe -strict -1 -)"
    done | awk -v name="$(basename "$stream")" '
        NR == 1 || $1 < ours { ours = $1 }
        NR == 1 || $2 < theirs { theirs = $2 }
        END { printf "| %s | %.2f | %.2f | %.2f |\n", name, ours, theirs, ours / theirs }'
done
