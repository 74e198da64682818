#!/bin/sh
# The command over a folder of pictures, on the processors alone, with one GPU and with all: seconds a call, pictures a
# second. The files of all ways are compared.
#   bench/gpu_folder.sh LIFT2K PICTURE.ppm [COUNT [SCRATCH]]
# The folder has COUNT (100) names of one picture, and results go to SCRATCH (a folder in memory, if there is one), so
# that no disk takes part.
set -eu
lift2k=${1:?the command} picture=$(realpath "${2:?a PPM file}") count=${3:-100}
base=${4:-/dev/shm}
[ -w "$base" ] || base=/tmp
work=$(mktemp -d "$base/gpu_folder.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/in"
for i in $(seq "$count"); do
    ln -s "$picture" "$work/in/$i.ppm"
done

# timed NAME COMMAND...: a line of the table
timed() {
    name=$1 from=$(date +%s.%N)
    shift
    "$@" >/dev/null
    echo "$from $(date +%s.%N) $count" |
        awk -v name="$name" '{ printf "| %s | %.2f | %.1f |\n", name, $2 - $1, $3 / ($2 - $1) }'
}

echo "$count pictures, $(nproc) processors, $("$lift2k" --version | head -1)"
echo
echo "| call | s | pictures a second |"
echo "|---|---|---|"
for kind in ht mq; do
    [ $kind = ht ] && option=--ht suffix=jph || option=--block=32,32 suffix=jp2
    for way in "--backend cpu" "--devices 0" "--devices all"; do
        # shellcheck disable=SC2086 # an option and its value
        timed "encode, $kind, $way" "$lift2k" encode "$work"/in/*.ppm --out-dir "$work/new" "$option" $way --quiet
        if [ ! -d "$work/first" ]; then
            mv "$work/new" "$work/first"
        else
            diff -r "$work/first" "$work/new" >/dev/null || { echo "FAILED: the files differ"; exit 1; }
            rm -rf "$work/new"
        fi
    done
    for way in "--backend cpu" "--devices 0" "--devices all"; do
        # shellcheck disable=SC2086
        timed "decode, $kind, $way" "$lift2k" decode "$work"/first/*."$suffix" --ext ppm --out-dir "$work/new" $way --quiet
        cmp "$(find "$work/new" -type f | head -1)" "$picture" || { echo "FAILED: another picture"; exit 1; }
        rm -rf "$work/new"
    done
    rm -rf "$work/first"
done
