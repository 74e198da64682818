#!/usr/bin/env bash
# lift2k encode --ht: what is written, what other programs make of it, sizes and PSNRs, and refusals. Arguments: the
# lift2k binary, the folder with the pictures.
lift2k=$1
data=$2
export LC_ALL=C
. "$(dirname "$0")/support.sh"

for name in chelsea coffee camera; do
    runs "$name" encode "$data/$name.png" $name.jp2 --quiet
    runs "$name as samples" decode $name.jp2 $name.pgx --quiet
done

same() { # same NAME FILE PICTURE: the file decodes to the picture
    check "$1" "$lift2k" compare "$2" "$3" --quiet
}

opj_reads() { # opj_reads NAME FILE: OpenJPEG decodes the same samples, if it is installed
    command -v opj_decompress >/dev/null || return 0
    check "$1: OpenJPEG reads $2" opj_decompress -quiet -i "$2" -o opj.png
    same "$1: OpenJPEG agrees on $2" "$2" opj.png
}

# ---- Lossless round trips

for extension in jph jhc j2c j2k jpc; do
    runs "$extension" encode "$data/chelsea.png" a.$extension --ht --quiet --verify
    same "$extension" a.$extension "$data/chelsea.png"
    opj_reads "$extension" a.$extension
done
check "a JPH file says so" test "$(head -c 24 a.jph | tail -c 8)" = "ftypjph "
check "bare codestreams are the same" cmp a.j2c a.jhc
while read -r options; do
    # shellcheck disable=SC2086
    runs "lossless $options" encode "$data/coffee.png" b.j2c --ht --verify --quiet $options
    same "lossless $options" b.j2c "$data/coffee.png"
    opj_reads "lossless $options" b.j2c
done <<'EOF'
-t 128,100 --plt --tlm --sop --eph -p RPCL --tile-parts R
-t 200,150 --tile-origin 3,5 -d 10,20 -c 64,64 -p CPRL
-b 4,1024 --levels 3
-b 1024,4 --no-mct --levels 0
-t 90,70 --by-rows --tlm
-p PCRL -c 128,128,64,64 -b 32,32 -j 1
EOF
mkdir folder
cp "$data/chelsea.png" "$data/camera.png" folder
runs "a folder" encode folder --out-dir coded --ht --quiet
check "a folder becomes .jph" test "$(cd coded && ls | tr '\n' ' ')" = "camera.jph chelsea.jph "
runs "a folder back" decode coded --out-dir back --quiet
same "a folder back" back/camera.png "$data/camera.png"
"$lift2k" encode - - --ht --quiet <"$data/camera.png" >piped.jph
check "a pipe gets a JPH file" cmp piped.jph coded/camera.jph

# ---- What info says

runs "info" info a.jph
check "info: JPH" grep -q '^format *JPH$' out.log
check "info: HT" grep -q '^ht .* magnitude_bits 8$' out.log
runs "info, JSON" info a.jph --json
check "info, JSON: JPH" grep -q '"format": "JPH"' out.log
check "info, JSON: HT" grep -q '"code_blocks": "all"' out.log
runs "9/7" encode "$data/coffee.png" c.jph --ht -I --ht-passes 3 --style vsc --quiet --verify
runs "info of the 9/7" info c.jph
check "info of the 9/7" grep -q '^ht .* irreversible yes' out.log
check "info of the 9/7: style" grep -q '^code_blocks .*vsc, ht' out.log
opj_reads "9/7" c.jph

# ---- Steps

fits() { # fits NAME FILE RAW-BYTES RATIO
    local size
    size=$(wc -c <"$2")
    check "$1: $size bytes, ratio $4" awk -v s="$size" -v r="$3" -v q="$4" 'BEGIN { exit !(s * q <= r && s * q >= 0.99 * r) }'
}

# The QCD of OpenJPH's -qstep 0.01.
runs "step" encode "$data/camera.png" s.j2c --ht -I --step 0.01 --quiet
check "step: QCD" sh -c 'od -An -v -tx1 s.j2c | tr -d " \n" | grep -q \
    ff5c00234261a9618b618b616e599959995986'
runs "step of MQ" encode "$data/camera.png" s_mq.j2c -I --step 0.01 --quiet
check "step of MQ: QCD" sh -c 'od -An -v -tx1 s_mq.j2c | tr -d " \n" | grep -q \
    ff5c00234261a9618b618b616e599959995986'

# The steps of OpenJPH's -qfactor 75.
runs "quality" encode "$data/coffee.png" s.j2c --ht -I -Q 75 --quiet
check "quality: QCD and QCC" sh -c 'od -An -v -tx1 s.j2c | tr -d " \n" | grep "5c495c235c235bfe54355435541d4c744c744c8747324732392429c929c9247d" |
    grep -q 5d865e115e115eca57dc57dc48d541fd41fd44753f673f6733dc2f502f5027b1'
runs "quality to a size" encode "$data/coffee.png" s.jph --ht -I -Q 90 --rate 20 --quiet
fits "quality to a size" s.jph 720000 20

# ---- Sizes and PSNRs

psnr() { # psnr FILE PICTURE: over all components
    "$lift2k" compare "$1" "$2" | awk '/^[0-9]/ { sum += $3; n++ } END { printf "%.3f", 10 * log(255 * 255 * n / sum) / log(10) }'
}

reaches() { # reaches NAME FILE PICTURE DB
    local found
    found=$(psnr "$2" "$3")
    check "$1: $found dB, not $4" awk -v f="$found" -v t="$4" 'BEGIN { exit !(f - t <= 0.5 && t - f <= 0.5) }'
}

while read -r name raw; do
    for ratio in 3 8 25; do
        runs "$name $ratio" encode "$data/$name.png" r.jph --ht -I --rate $ratio --quiet --verify --no-metadata
        fits "$name" r.jph "$raw" $ratio
        opj_reads "$name $ratio" r.jph
        runs "5/3 $name $ratio" encode "$data/$name.png" r.jph --ht --ht-passes 3 --rate $ratio --quiet --no-metadata
        fits "5/3 $name" r.jph "$raw" $ratio
        opj_reads "5/3 $name $ratio" r.jph
    done
    for target in 30 40 50; do
        runs "$name $target dB" encode "$data/$name.png" q.jph --ht -I --psnr $target --quiet
        reaches "$name" q.jph "$data/$name.png" $target
    done
done <<EOF
chelsea 405900
coffee 720000
camera 262144
EOF
options="-t 150,100 --plt --tlm --sop"
# shellcheck disable=SC2086
runs "tiles" encode "$data/coffee.png" t.jph --ht -I --rate 10 --quiet $options
fits "tiles" t.jph 720000 10
# shellcheck disable=SC2086
runs "tiles by rows" encode "$data/coffee.png" t.jph --ht -I --rate 10 --quiet --by-rows $options
fits "tiles by rows" t.jph 720000 10
opj_reads "tiles by rows" t.jph
runs "any number of threads" encode "$data/coffee.png" t1.jph --ht -I --rate 10 --quiet -j 1
runs "any number of threads" encode "$data/coffee.png" t4.jph --ht -I --rate 10 --quiet -j 4
check "any number of threads" cmp t1.jph t4.jph
runs "plain C" encode "$data/coffee.png" t1.jph --ht -I --psnr 40 --quiet --cpu c
runs "the best set" encode "$data/coffee.png" t4.jph --ht -I --psnr 40 --quiet
check "any instruction set" cmp t1.jph t4.jph

runs "limit" encode "$data/coffee.png" b.jph --ht --max-bytes 100000 --quiet
fits "limit" b.jph 100000 1

# ---- Layers

runs "layers" encode "$data/coffee.png" l.jph --ht -I --ht-passes 3 --rate 32,16,8 --quiet
fits "layers" l.jph 720000 8
before=0
for layers in 1 2 3; do
    runs "layer $layers" decode l.jph l.png --layers $layers --quiet
    now=$(psnr l.png "$data/coffee.png")
    check "layer $layers: $now dB after $before dB" awk -v a="$before" -v b="$now" 'BEGIN { exit !(b > a + 1) }'
    before=$now
done

# ---- Refusals

refused() { # refused PATTERN ARGUMENTS...
    local pattern=$1
    shift
    refuses "$*" "" "$pattern" encode "$data/camera.png" "$@" --quiet
}
refused 'a JP2 file has no HT code-blocks' x.jp2 --ht
refused '\.jph is for HT code-blocks: it needs --ht' x.jph
refused '\.jhc is for HT code-blocks: it needs --ht' x.jhc
refused 'but no HT code-blocks' x.jp2 --ht-passes 2
refused 'not a whole number from 1 to 3' x.jph --ht --ht-passes 0
refused 'no other style than vsc' x.jph --ht --style bypass
refused 'no other style than vsc' x.jph --ht --style segsym,vsc --ht-passes 3
refused 'SigProp' x.jph --ht --style vsc
refused 'needs the 9/7' x.jph --ht --step 0.01
refused 'needs the 9/7' x.jp2 --step 0.01
refused '2\^-24 to 1' x.jph --ht -I --step 2
refused 'not a number above 0' x.jph --ht -I --step 0
finish
