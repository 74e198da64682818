#!/usr/bin/env bash
# encode and decode with --devices: the files of each device in turn, of two, and of two of which one fails, are the CPU's.
# Arguments: the lift2k binary linked with virtual_devices_cuda.c, the folder with the pictures, how many of the six ways
# of coding to use (default: all). Exits with 77 without a GPU, unless L2K_REQUIRE_GPU=1.
lift2k=$1
data=$2
most=${3:-6}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
checks=0
failures=0
export L2K_VIRTUAL_DEVICES=2 OMP_WAIT_POLICY=passive

devices=$("$lift2k" info --devices)
if ! grep -q 'name cuda, usable yes' <<<"$devices"; then
    if [ "${L2K_REQUIRE_GPU:-0}" = 1 ]; then
        echo "FAILED: no GPU can be used: $devices"
        exit 1
    fi
    echo "SKIPPED: no GPU can be used: $devices"
    exit 77
fi

fault() {
    failures=$((failures + 1))
    echo "FAILED: $*"
    head -5 "$work/log"
}

# run STATUS LOSSES ARGUMENTS...: the command with devices that fail after LOSSES calls; its exit status
run() {
    local expected=$1 losses=$2
    shift 2
    checks=$((checks + 1))
    L2K_VIRTUAL_LOST=$losses "$lift2k" "$@" >"$work/out.log" 2>"$work/log"
    local status=$?
    [ $status -eq "$expected" ] || fault "status $status, not $expected: L2K_VIRTUAL_LOST=$losses $*"
}

same() {
    diff -r "$1" "$2" >"$work/log" || fault "$3: the files differ"
    rm -rf "$2"
}

# says TEXT...: what the last call must have reported
says() {
    grep -q "$1" "$work/log" || fault "no message '$1'"
}

mkdir "$work/in"
for i in 1 2 3 4 5 6; do
    "$lift2k" encode "$data/chelsea.png" "$work/part.j2k" --quiet
    "$lift2k" decode "$work/part.j2k" "$work/in/$i.ppm" --quiet --region $((10 * i)),3,$((190 + 31 * i)),$((140 + 20 * i))
done
ways=("--ht" "--ht -t 64,64 --by-rows" "-t 100,100" "" "-I -r 12" "--ht --verify")
for options in "${ways[@]:0:$most}"; do
    rm -rf "$work/coded" "$work/back"
    # shellcheck disable=SC2086
    run 0 "" encode "$work/in" --out-dir "$work/coded" --ext j2c $options --backend cpu
    run 0 "" decode "$work/coded" --out-dir "$work/back" --ext ppm --backend cpu
    for which in 0 1 0,1 all; do
        # shellcheck disable=SC2086
        run 0 "" encode "$work/in" --out-dir "$work/c" --ext j2c $options --backend cuda --devices $which
        grep -v "^$work\|^6 files\|^[1-6].ppm" "$work/log" | grep . && fault "$options --devices $which: messages"
        same "$work/coded" "$work/c" "encode $options --devices $which"
        run 0 "" decode "$work/coded" --out-dir "$work/b" --ext ppm --backend cuda --devices $which
        same "$work/back" "$work/b" "decode $options --devices $which"
    done
    # Lost from the first call on, and later; then both. By rows the library falls back by itself.
    for losses in 1:0 1:40 1:150 0:300 0:100,1:200 0:0,1:0; do
        # shellcheck disable=SC2086
        run 0 $losses encode "$work/in" --out-dir "$work/c" --ext j2c $options --devices 0,1
        same "$work/coded" "$work/c" "encode $options, lost $losses"
        run 0 $losses decode "$work/coded" --out-dir "$work/b" --ext ppm --devices 0,1
        same "$work/back" "$work/b" "decode $options, lost $losses"
    done
done
# The coder says where files go, and reports stay in order.
run 0 1:0 encode "$work/in" --out-dir "$work/c" --ht --devices 0,1 --in-flight 2
says "device 1: .*device 0 takes the file"
sed -n 's/.*in\/\([1-6]\).ppm [0-9].*/\1/p' "$work/out.log" | tr -d '\n' | grep -qx 123456 || fault "the order of reports"
rm -rf "$work/c"
run 0 0:0,1:0 encode "$work/in" --out-dir "$work/c" --ht --devices 0,1
says "the CPU takes the file"
rm -rf "$work/c"
# With --backend cuda no other device helps: every file fails, and none is left behind.
run 1 0:0,1:0 encode "$work/in" --out-dir "$work/c" --ht --devices 0,1 --backend cuda
says "CUDA"
[ -z "$(ls -A "$work/c")" ] || fault "files of devices that failed"
run 1 0:0,1:0 decode "$work/coded" --out-dir "$work/b" --ext ppm --devices all --backend cuda
[ -z "$(ls -A "$work/b")" ] || fault "files of devices that failed"
run 1 0:0,1:6 encode "$work/in" --out-dir "$work/c" --ht --devices 0,1 --backend cuda
# One picture: its tiles.
for losses in "" 1:60 0:0; do
    run 0 "" encode "$work/in/6.ppm" "$work/one.j2c" --ht -t 40,50 --backend cpu
    run 0 "$losses" encode "$work/in/6.ppm" "$work/two.j2c" --ht -t 40,50 --devices all --gpu-min-samples 0
    cmp "$work/one.j2c" "$work/two.j2c" >"$work/log" 2>&1 || fault "tiles on two devices, lost '$losses'"
    run 0 "$losses" decode "$work/two.j2c" "$work/two.ppm" --devices 0,1 --gpu-min-samples 0
    cmp "$work/in/6.ppm" "$work/two.ppm" >"$work/log" 2>&1 || fault "tiles from two devices, lost '$losses'"
done
run 2 "" encode "$work/in/6.ppm" "$work/one.j2c" --devices 0,7
says "no device 7"
echo "$checks calls, $failures failures"
[ $failures -eq 0 ]
