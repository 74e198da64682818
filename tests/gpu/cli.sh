#!/usr/bin/env bash
# The command on both backends: the files must be equal byte for byte. Arguments: the lift2k binary, the folder with the
# pictures, how many of the five pictures to use (default: all). Exits with 77 without a GPU, unless L2K_REQUIRE_GPU=1.
lift2k=$1
data=$2
most=${3:-5}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
checks=0
failures=0

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
}

# both NAME SUFFIX COMMAND IN OPTIONS...: IN through the command on both backends; the results are NAME-cpu.SUFFIX and
# NAME-cuda.SUFFIX
both() {
    local name=$1 suffix=$2 command=$3 in=$4 backend
    shift 4
    checks=$((checks + 1))
    for backend in cpu cuda; do
        "$lift2k" "$command" "$in" "$work/$name-$backend.$suffix" --quiet --backend $backend "$@" 2>"$work/log" </dev/null ||
            { fault "$command $in --backend $backend $*"; head -3 "$work/log"; }
    done
    cmp "$work/$name-cpu.$suffix" "$work/$name-cuda.$suffix" || fault "$command $in $*: the backends differ"
}

# An image wider than any tile below, with opacity and 16 bits.
printf 'P7\nWIDTH 301\nHEIGHT 203\nDEPTH 4\nMAXVAL 65535\nTUPLTYPE RGB_ALPHA\nENDHDR\n' >"$work/deep.pam"
head -c $((301 * 203 * 8)) /dev/zero | tr '\0' 'x' >>"$work/deep.pam"
"$lift2k" encode "$data/chelsea.png" "$work/chelsea.j2k" --quiet && "$lift2k" decode "$work/chelsea.j2k" "$work/odd.ppm" \
    --region 3,5,400,290 --quiet || fault "the odd picture"

# round_trip SUFFIX PICTURE OPTIONS...: the picture to a coded file and back in parts
round_trip() {
    local suffix=$1 picture=$2
    shift 2
    both coded "$suffix" encode "$picture" "$@"
    both whole pam decode "$work/coded-cpu.$suffix"
    both reduced pam decode "$work/coded-cpu.$suffix" --reduce 2
    both region pam decode "$work/coded-cpu.$suffix" --region 20,30,211,150 -j 1
    both component pam decode "$work/coded-cpu.$suffix" --component 0
}

pictures=("$work/odd.ppm" "$work/deep.pam" "$data/camera.png" "$data/chelsea.png" "$data/coffee.png")
for picture in "${pictures[@]:0:$most}"; do
    for options in "" "-I -r 20" "-t 128,128" "-t 128,128 -I" "-t 97,61 -I -r 10,1" "-t 1000,33 -j 1" \
        "-t 64,64 -j 1" "-t 200,150 -d 7,5 --levels 3" "-t 300,300 --no-mct"; do
        # shellcheck disable=SC2086
        round_trip jp2 "$picture" $options
    done
    for options in "" "-I" "-I --step 0.01 -b 32,32" "-t 128,128" "-t 97,61 -b 16,64 -I" "-b 1024,4 --levels 2" \
        "-t 64,64 -j 1" "-I --ht-passes 3 --step 0.02" "-I --rate 12" "-I -q 40 -t 200,150" \
        "--ht-passes 2 -r 10,1 -t 128,128" "-I --rate 20 -t 97,61 -j 2" "--no-mct -p RPCL --plt"; do
        # shellcheck disable=SC2086
        round_trip jph "$picture" --ht $options
    done
done

# Many files, several in flight: in the end the same as one after another on the CPU.
mkdir "$work/many"
for i in 1 2 3 4 5; do
    cp "$work/odd.ppm" "$work/many/a$i.ppm"
    cp "$work/deep.pam" "$work/many/b$i.pam"
done
for style in "" "--ht"; do
    for mode in "cpu --in-flight 1" "cuda" "cuda --in-flight 3" "auto --gpu-min-samples 0 --in-flight 16"; do
        checks=$((checks + 1))
        rm -rf "$work/coded" "$work/back" "$work/all"
        # shellcheck disable=SC2086
        "$lift2k" encode "$work/many" --out-dir "$work/coded" --ext j2k --quiet $style --backend $mode &&
            "$lift2k" decode "$work/coded" --out-dir "$work/back" --ext pam --quiet --backend $mode ||
            fault "many files, $style --backend $mode"
        mkdir -p "$work/all" && mv "$work/coded" "$work/back" "$work/all"
        [ "$mode" != "cpu --in-flight 1" ] || { rm -rf "$work/right" && cp -r "$work/all" "$work/right"; }
        diff -r "$work/right" "$work/all" || fault "many files, $style --backend $mode: the files"
    done
done
echo "$checks comparisons, $failures failures"
[ $failures -eq 0 ]
