#!/usr/bin/env bash
# `lift2k volume`: slices to subbands of three directions and back. Arguments: the lift2k binary, the folder with the pictures, 1
# if the build has libtiff.
lift2k=$1
data=$2
has_tiff=$3
. "$(dirname "$0")/support.sh"

cannot() { # cannot NAME STATUS PATTERN ARGUMENTS...
    local name=$1 wanted=$2 pattern=$3
    shift 3
    refuses "$name" none "$pattern" volume "$@"
    checks=$((checks + 1))
    "$lift2k" volume "$@" >/dev/null 2>&1 </dev/null
    [ $? -eq "$wanted" ] || fault "$name: not status $wanted"
}

there_and_back() { # there_and_back NAME RAW OPTIONS...: a raw volume becomes itself
    local name=$1 shape=$2
    shift 2
    rm -rf d back.raw
    runs "$name" volume slices.raw d --raw "$shape" "$@"
    runs "$name, back" volume d back.raw
    check "$name, lossless" cmp slices.raw back.raw
}

# ---- Without a header ----

head -c 90000 "$data/camera.png" >slices.raw
there_and_back "8 bits" 50,40,45,8,u
check "files" test "$(find d -name '*.raw' | wc -l)" = 64
check "size of a subband" test "$(stat -c %s d/c0_zH1_HH1.raw)" = $((25 * 20 * 22 * 4))
there_and_back "signed" 50,40,45,8,s --levels 2 --z-levels 1
there_and_back "isotropic" 50,40,45,8,u --isotropic --levels 3
check "isotropic files" test "$(find d -name '*.raw' | wc -l)" = 22
there_and_back "no levels" 50,40,45,8,u --levels 0 --z-levels 0
check "one file" test "$(find d -name '*.raw' | wc -l)" = 1
there_and_back "one slice" 300,300,1,8,u
there_and_back "16 bits" 25,40,45,16,u
there_and_back "threads" 25,40,45,16,u --threads 1 --cpu c
rm -rf d
runs "big-endian" volume slices.raw d --raw 25,40,45,16,u,be --quiet
runs "big-endian, back" volume d back.raw
check "big-endian, swapped" cmp slices.raw <(python3 -c 'import sys
b = open("back.raw", "rb").read()
sys.stdout.buffer.write(bytes(b[i ^ 1] for i in range(len(b))))' 2>/dev/null || cat slices.raw)
rm -rf d
runs "progress" volume slices.raw d --raw 50,40,45,8,u --progress
runs "progress, back" volume d back.raw --no-progress
check "progress, back: a line" test "$(wc -l <err.log)" = 1
rm -rf d
runs "9/7" volume slices.raw d --raw 50,40,45,8,u --irreversible
check "9/7 in the description" grep -q '"value": "float32"' d/volume.json
runs "9/7, back" volume d back.raw

head -c 20000 "$data/camera.png" >slices.raw
there_and_back "slices of a sample" 1,1,20000,8,u --quiet

# A constant volume: everything is in the lowest subband.
head -c 8000 /dev/zero >slices.raw
rm -rf d
runs "measure" volume slices.raw d --raw 20,20,20,8,s --measure
check "all are zero" grep -q '^      0  *100.0 %  *100.0 %$' out.log

# ---- Pictures ----

for i in 0 1 2 3 4 5 6 7 8 9 10; do cp "$data/coffee.png" "in_$i.png"; done
runs "pictures" volume in_?.png in_10.png p --levels 2 --z-levels 2
cannot "subbands in the folder" 1 "p/volume.json: the folder has subbands already" in_0.png p
runs "pictures, back" volume p out.png
check "names of slices" test -e out_00.png -a -e out_10.png
runs "pictures are the same" compare out_07.png "$data/coffee.png"
runs "PGX" volume p out.pgx
check "PGX planes" test -e out_03_2.pgx
cannot "other sizes" 1 "slice 1 differs from the first one" in_0.png "$data/camera.png" q
check "nothing is left" test ! -e q
if [ "$has_tiff" = 1 ]; then
    runs "TIFF out" volume p page.tif --quiet
    runs "TIFF, one page" volume page_04.tif t --z-levels 0 --quiet
    if command -v tiffcp >/dev/null; then
        tiffcp page_0[0-4].tif pages.tif
        rm -rf t
        runs "pages" volume pages.tif t --quiet
        check "pages are slices" grep -q '"slices": 5' t/volume.json
    fi
fi

# ---- Refused ----

cannot "no folder" 2 "slices and a folder are needed" slices.raw
cannot "several outputs" 2 "becomes one output" p a b
cannot "several raw files" 1 "all slices are in one file" slices.raw slices.raw q --raw 20,20,20,8,u
cannot "interleaved" 1 "not interleaved" slices.raw q --raw 20,20,20,8,u,le,interleaved
cannot "too short" 1 "truncated" slices.raw q --raw 20,20,21,8,u
cannot "too long" 1 "more than the 19 slices" slices.raw q --raw 20,20,19,8,u
printf '\0\0\377\17' >twelve.raw # 0, 4095
runs "12 bits" volume twelve.raw e --raw 1,1,2,12,u --quiet
printf '\0\0\0\20' >twelve.raw # 4096
cannot "13 bits" 1 "does not fit 12 bits" twelve.raw q --raw 1,1,2,12,u
printf '\0\370\377\7' >twelve.raw # -2048, 2047
rm -rf e
runs "12 bits, signed" volume twelve.raw e --raw 1,1,2,12,s --quiet
printf '\377\367\0\0' >twelve.raw # -2049
cannot "13 bits, signed" 1 "does not fit 12 bits" twelve.raw q --raw 1,1,2,12,s
cannot "9/7 of many bits" 1 "precision of 17" slices.raw q --raw 10,10,20,17,u -I
cannot "isotropic with other levels" 1 "as many levels" slices.raw q --raw 20,20,20,8,u --isotropic --z-levels 2
check "nothing is left" test ! -e q
mkdir empty
cannot "a folder without description" 1 "volume.json" empty back.raw
echo '{"width": 20}' >empty/volume.json
cannot "a damaged description" 1 "not a description" empty back.raw
cp d/volume.json empty
cannot "no subbands" 1 "No such file" empty back.raw
cp d/*.raw empty
: >empty/c0_zH1_HH1.raw
cannot "an empty subband" 1 "c0_zH1_HH1.raw: the file is empty" empty other.raw
head -c 100 d/c0_zH1_HH1.raw >empty/c0_zH1_HH1.raw
cannot "a short subband" 1 "c0_zH1_HH1.raw: the file is truncated" empty other.raw
check "no output" test ! -e other.raw
cannot "an option of the other way" 2 "d: --raw is for slices" d back.raw --raw 4,4,4,8,u
cannot "an option of the other way" 2 "d: --levels is for slices" d back.raw --levels 2
finish
