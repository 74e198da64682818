#!/bin/sh
# The command over a folder of pictures on one GPU and on all, beside the same run with coding replaced by copies
# (lift2k_copies, bench/cuda_copies.c): seconds a call, the best of some, and the speed as a part of that of the copies.
#   bench/cuda_devices.sh LIFT2K LIFT2K_COPIES PICTURE.ppm [COUNT [DEVICES [TURNS [SCRATCH]]]]
# The folder has COUNT (200) copies of one picture; it and all results are in SCRATCH (a folder in memory, if there is
# one), so that no disk takes part. DEVICES: what follows --devices, several with spaces between ("0 all").
set -eu
lift2k=${1:?the command} copies=${2:?the command with copies} picture=${3:?a PPM file}
count=${4:-200} devices=${5:-0 all} turns=${6:-3} base=${7:-/dev/shm}
[ -w "$base" ] || base=/tmp
work=$(mktemp -d "$base/cuda_devices.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/in"
for i in $(seq "$count"); do
    cp "$picture" "$work/in/$i.ppm"
done

# best FOLDER COMMAND...: the least seconds of a call whose results go to FOLDER
best() {
    folder=$1 least=
    shift
    for turn in $(seq "$turns"); do
        rm -rf "$folder"
        from=$(date +%s%N)
        "$@" --out-dir "$folder" --quiet
        took=$(($(date +%s%N) - from))
        [ -n "$least" ] && [ "$least" -le $took ] || least=$took
    done
}

# row NAME OPTIONS...: the command and the copies in turn
row() {
    name=$1 results=$2
    shift 2
    best "$work/$results" "$lift2k" "$@"
    coded=$least
    best "$work/copied" "$copies" "$@"
    rm -rf "$work/copied"
    echo "$name $coded $least $count" |
        awk -F'|' '{ split($2, n, " "); printf "| %s | %.2f | %.1f | %.2f | %.2f |\n", $1, n[1] / 1e9, n[3] / n[1] * 1e9, n[2] / 1e9, n[2] / n[1] }'
}

echo "$count pictures, $(nproc) processors"
"$lift2k" info --devices
echo
echo "| call | s | pictures a second | copies, s | speed, of copies |"
echo "|---|---|---|---|---|"
for kind in ht mq; do
    [ $kind = ht ] && option=--ht || option=--block=32,32
    for device in $devices; do
        "$lift2k" encode "$picture" "$work/one.j2c" $option --quiet --backend cpu
        L2K_COPY_BYTES=$(wc -c <"$work/one.j2c")
        export L2K_COPY_BYTES
        row "encode, $kind, --devices $device|" coded encode "$work/in" --ext j2c $option --devices "$device"
        cmp "$work/one.j2c" "$work/coded/$count.j2c"
        row "decode, $kind, --devices $device|" back decode "$work/coded" --ext ppm --devices "$device"
        cmp "$picture" "$work/back/$count.ppm"
        rm -rf "$work/coded" "$work/back"
    done
done
