#!/bin/sh
# The command over a folder of pictures, on the processors alone and with the GPU: seconds a call, pictures a second.
#   bench/gpu_folder.sh LIFT2K PICTURE.ppm [COUNT [SCRATCH]]
# The folder has COUNT (100) names of one picture, and results go to SCRATCH (a folder in memory, if there is one), so
# that no disk takes part. The files of both ways are compared.
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

now() {
    date +%s.%N
}

# timed NAME COMMAND...: a line of the table
timed() {
    name=$1
    shift
    from=$(now)
    "$@" >/dev/null
    echo "$name $from $(now) $count" | awk '{ printf "| %s | %.2f | %.1f |\n", $1, $3 - $2, $4 / ($3 - $2) }' | tr _ ' '
}

echo "$count pictures, $(nproc) processors, $("$lift2k" --version | head -1)"
echo
echo "| call | s | pictures a second |"
echo "|---|---|---|"
for kind in ht mq; do
    [ $kind = ht ] && option=--ht suffix=jph || option=--block=32,32 suffix=jp2
    for backend in cpu cuda; do
        mkdir "$work/$backend"
        timed "encode,_$kind,_$backend" "$lift2k" encode "$work"/in/*.ppm --out-dir "$work/$backend" "$option" \
            --backend $backend --quiet
    done
    diff -r "$work/cpu" "$work/cuda" >/dev/null || { echo "FAILED: the files differ"; exit 1; }
    rm -rf "$work/cuda"
    for backend in cpu cuda; do
        mkdir "$work/out"
        timed "decode,_$kind,_$backend" "$lift2k" decode "$work"/cpu/*."$suffix" --ext ppm --out-dir "$work/out" \
            --backend $backend --quiet
        cmp "$(find "$work/out" -type f | head -1)" "$picture" || { echo "FAILED: another picture"; exit 1; }
        rm -rf "$work/out"
    done
    rm -rf "$work/cpu"
done
