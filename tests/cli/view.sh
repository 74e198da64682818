#!/usr/bin/env bash
# `lift2k view`. Arguments: the lift2k binary, the folder with the pictures. Pictures are written as PGM or PPM, whose
# samples od can read.
lift2k=$1
data=$2
. "$(dirname "$0")/support.sh"

cannot() { # cannot NAME STATUS PATTERN ARGUMENTS...
    local name=$1 wanted=$2 pattern=$3
    shift 3
    refuses "$name" none.pgm "$pattern" view "$@"
    checks=$((checks + 1))
    "$lift2k" view "$@" >/dev/null 2>&1 </dev/null
    [ $? -eq "$wanted" ] || fault "$name: not status $wanted"
}

size() { # size FILE: "width height" of a binary PGM or PPM
    head -c 20 "$1" | tr '\n' ' ' | cut -d ' ' -f 2,3
}

sized() { # sized NAME FILE WIDTH HEIGHT
    checks=$((checks + 1))
    [ "$(size "$2")" = "$3 $4" ] || fault "$1: $2 is $(size "$2"), not $3 x $4"
}

rows() { # rows FILE: the samples of a PGM of 8 bits, a row a line
    local width height
    read -r width height < <(size "$1")
    tail -c $((width * height)) "$1" | od -An -v -tu1 -w"$width"
}

crop() { # crop FILE X Y WIDTH HEIGHT
    rows "$1" | awk -v x="$2" -v y="$3" -v w="$4" -v h="$5" \
        'NR > y && NR <= y + h { for (i = 1; i <= w; i++) printf "%s ", $(x + i); print "" }'
}

is_part() { # is_part NAME WHOLE X Y PART: PART is what WHOLE has at (X, Y)
    local width height
    read -r width height < <(size "$5")
    crop "$2" "$3" "$4" "$width" "$height" >expected
    crop "$5" 0 0 "$width" "$height" >found
    check "$1" cmp expected found
    checks=$((checks + 1))
    [ -s found ] || fault "$1: nothing in $5"
}

holds() { # holds NAME FILE X Y WIDTH HEIGHT VALUE: nothing but VALUE there
    checks=$((checks + 1))
    [ "$(crop "$2" "$3" "$4" "$5" "$6" | tr -s ' ' '\n' | sort -u | tr -d '\n')" = "$7" ] || fault "$1: not $7 alone"
}

png_size() { # png_size FILE: "width height colour-type"
    od -An -v -tu1 -j16 -N10 "$1" | awk '{ print $3 * 256 + $4, $7 * 256 + $8, $10 }'
}

# ---- Sizes and formats ----

runs "gray picture" encode "$data/camera.png" camera.jp2 --quiet
runs "RGB picture" encode "$data/chelsea.png" cat.jp2 --quiet
runs "PNG" view "$data/camera.png" a.png
check "its message" grep -q 'camera.png component 0, 5/3, 5 levels -> a.png 512x512x1 8 bit' err.log
check "PNG of a gray picture" test "$(png_size a.png)" = "512 512 0"
runs "RGB" view "$data/chelsea.png" a.png --rgb --quiet
check "quiet" test ! -s err.log
check "PNG of an RGB picture" test "$(png_size a.png)" = "451 300 2"
runs "a component of an RGB picture" view cat.jp2 a.png --component 2
check "PNG of a component" test "$(png_size a.png)" = "451 300 0"
runs "9/7" view "$data/camera.png" a.png -I --levels 2
check "its message for 9/7" grep -q 'component 0, 9/7, 2 levels' err.log
runs "one level" view "$data/camera.png" a.png --levels 1
check "its message for one level" grep -q ' 1 level ->' err.log
check "standard input and output" sh -c "cat camera.jp2 | '$lift2k' view - - --quiet | head -c 2 | grep -q P5"
runs "reduced" view cat.jp2 a.pgm --reduce 2
sized "reduced" a.pgm 113 75

# ---- Codestream and transform agree ----

for wavelet in "" -I; do
    for options in "" "-t 100,70 -d 13,9" "--levels 3 -t 128,64"; do
        runs "encode $wavelet $options" encode "$data/chelsea.png" some.jp2 $wavelet $options --quiet
        for component in 0 1; do
            runs "codestream $wavelet $options" view some.jp2 a.pgm --component $component
            runs "picture $wavelet $options" view "$data/chelsea.png" b.pgm --component $component $wavelet $options
            check "codestream and picture $wavelet $options" cmp a.pgm b.pgm
            sized "$wavelet $options" a.pgm 451 300
        done
    done
done

# ---- LL is a picture ----

runs "as PGM" decode camera.jp2 camera.pgm --quiet
runs "no decomposition" view camera.pgm a.pgm --levels 0
check "LL0 is the picture" cmp camera.pgm a.pgm
runs "as PPM" decode cat.jp2 cat.ppm --quiet
runs "no decomposition, RGB" view cat.ppm a.ppm --levels 0 --rgb --no-mct
check "LL0 is the RGB picture" cmp cat.ppm a.ppm
for wavelet in "" -I; do
    runs "no decomposition, component transform $wavelet" view cat.ppm a.ppm --levels 0 --rgb $wavelet
    "$lift2k" compare cat.ppm a.ppm >out.log
    check "component transform undone $wavelet" grep -qE 'by at most [123]\.' out.log
done
runs "LL2" view camera.jp2 a.pgm --band LL5
sized "LL5" a.pgm 16 16
runs "reduced decoding" decode camera.jp2 low.pgm --reduce 5 --quiet
check "LL5 is the reduced picture" cmp low.pgm a.pgm
runs "all" view camera.jp2 b.pgm --labels
is_part "LL5 top left" b.pgm 0 0 a.pgm

# ---- Parts ----

runs "all, plain" view camera.jp2 all.pgm --no-borders --gain 3
for part in "HL1 256 0" "LH1 0 256" "HH1 256 256" "HL2 128 0" "LH3 0 64" "hh5 16 16" "LL5 0 0"; do
    set -- $part
    runs "band $1" view camera.jp2 a.pgm --band "$1" --gain 3
    is_part "band $1" all.pgm "$2" "$3" a.pgm
done
runs "reduced" view camera.jp2 a.pgm --no-borders --gain 3 --reduce 2
is_part "reduced" all.pgm 0 0 a.pgm
runs "level 2" view camera.jp2 a.pgm --no-borders --gain 3 --level 2
sized "level 2" a.pgm 256 256
holds "level 2: nothing of other levels" a.pgm 0 0 128 128 32
runs "band HH2" view camera.jp2 b.pgm --band HH2 --gain 3
is_part "HH2 in level 2" a.pgm 128 128 b.pgm

runs "tiles" view cat.ppm all.pgm -t 128,100 --no-borders --gain 3 --levels 3
runs "tile 6" view cat.ppm a.pgm -t 128,100 --no-borders --gain 3 --levels 3 --tile-index 6
sized "tile 6" a.pgm 128 100
is_part "tile 6" all.pgm 256 100 a.pgm
runs "last tile" view cat.ppm a.pgm -t 128,100 --no-borders --gain 3 --levels 3 --tile-index 11
sized "last tile" a.pgm 67 100
is_part "last tile" all.pgm 384 200 a.pgm
# HL1 of tile 1 is to the right of HL1 of tile 0, when it is drawn alone.
runs "HL1 of all tiles" view cat.ppm a.pgm -t 128,100 --band HL1 --no-borders --gain 3 --levels 3
sized "HL1 of all tiles" a.pgm 225 150
crop all.pgm 64 0 64 50 >expected
crop a.pgm 0 0 64 50 >found
check "HL1 of tile 0" cmp expected found
crop all.pgm 192 0 64 50 >expected
crop a.pgm 64 0 64 50 >found
check "HL1 of tile 1" cmp expected found

# ---- Gains ----

{ printf 'P5\n64 48\n255\n'; head -c 3072 /dev/zero | tr '\0' '\145'; } >plain.pgm
for wavelet in "" -I; do
    runs "one value" view plain.pgm a.pgm --levels 2 --no-borders $wavelet
    holds "LL2 of one value" a.pgm 0 0 16 12 101
    holds "HL1 of one value" a.pgm 32 0 32 48 128
    holds "HL2 and HH2 of one value" a.pgm 16 0 16 24 128
    holds "LH1 of one value" a.pgm 0 24 32 24 128
done
# 5/3 of 100 100 100 100 108 ... : HL1 has a single -4, and its gain makes that black.
{ printf 'P2\n8 1\n255\n100 100 100 100 108 108 108 108\n'; } >step.pgm
runs "an edge" view step.pgm a.pgm --levels 1 --gain 4 --no-borders
check "5/3 of an edge" test "$(rows a.pgm | xargs)" = "100 99 107 108 128 112 128 128"
runs "an edge, automatic gain" view step.pgm a.pgm --levels 1 --no-borders
check "gain of an edge" test "$(rows a.pgm | xargs | cut -d ' ' -f 5-)" = "128 0 128 128"
runs "a fixed gain" view camera.jp2 a.pgm --gain 1
runs "automatic gains" view camera.jp2 b.pgm
check "gains matter" sh -c '! cmp -s a.pgm b.pgm'
spread() { rows "$1" | tr -s ' ' '\n' | awk 'NF { d = $1 - 128; s += d * d; n++ } END { print int(s / n) }'; }
runs "HH1 at 1" view camera.jp2 a.pgm --band HH1 --gain 1
runs "HH1" view camera.jp2 b.pgm --band HH1
check "details become visible: $(spread a.pgm), $(spread b.pgm)" test "$(spread b.pgm)" -gt $((4 * $(spread a.pgm)))

# A CT: 11 bits in samples of 16, signed or not. It is seen as its 8 bits are.
runs "few pixels" decode camera.jp2 few.pgm --reduce 3 --quiet
words() { # words OFFSET: few.pgm as 16-bit samples, eight units apart
    rows few.pgm | tr -s ' ' '\n' | awk -v offset="$1" 'NF { v = (8 * $1 + offset) % 65536
        printf "\\%03o\\%03o", v / 256, v % 256 }' | xargs -0 printf '%b'
}
{ printf 'PG ML - 16 64 64\n'; words 64512; } >ct.pgx
{ printf 'P5\n64 64\n65535\n'; words 100; } >ct.pgm
for name in ct.pgx ct.pgm; do
    for band in HL1 HH1 LH2; do
        runs "$band of 8 bits" view few.pgm a.pgm --levels 2 --band $band
        runs "$band of $name" view $name b.pgm --levels 2 --band $band
        check "$band of $name: $(spread a.pgm), $(spread b.pgm)" test $((9 * $(spread a.pgm))) -lt $((10 * $(spread b.pgm)))
    done
    runs "LL of $name" view $name b.pgm --levels 2 --band LL2
    check "LL from black to white" test "$(rows b.pgm | tr -s ' ' '\n' | grep . | sort -nu | sed -n '1p;$p' | xargs)" = "0 255"
    runs "LL of $name, a fixed gain" view $name b.pgm --levels 2 --band LL2 --gain 3
    check "LL as it is" test "$(rows b.pgm | tr -s ' ' '\n' | grep . | sort -nu | wc -l)" -lt 12
done

# ---- Lines and names ----

runs "lines" view camera.jp2 a.pgm --gain 3
runs "no lines" view camera.jp2 b.pgm --gain 3 --no-borders
holds "line left of HL1" a.pgm 256 0 1 512 255
holds "line above LH1" a.pgm 0 256 512 1 255
checks=$((checks + 1))
# Positions that differ are in the first column or row of a band: 256, 128, 64, ... down to the last level.
cmp -l a.pgm b.pgm | awk -v header=$(($(stat -c %s a.pgm) - 512 * 512)) '{ at = $1 - 1 - header; x = at % 512; y = int(at / 512)
    line = 0
    for (side = 256; side >= 16; side /= 2) if ((x == side && y < 2 * side) || (y == side && x < 2 * side)) line = 1
    if (!line) bad++; n++ } END { exit bad > 0 || n < 1000 }' || fault "lines at wrong positions"
runs "tiles' lines" view camera.pgm a.pgm -t 256,256 --levels 1
holds "line between tiles" a.pgm 256 1 1 127 0
holds "line within a tile" a.pgm 128 1 1 127 255
runs "tiles' lines, one band" view camera.pgm a.pgm -t 256,256 --levels 1 --band HL1
holds "line between tiles, one band" a.pgm 128 1 1 127 0
runs "names" view camera.jp2 a.pgm --gain 3 --labels --no-borders
checks=$((checks + 1))
# Names of bands 256 wide have letters of 10 x 14 in a box 18 high; others half of that.
cmp -l a.pgm b.pgm | awk -v header=$(($(stat -c %s a.pgm) - 512 * 512)) '{ at = $1 - 1 - header; x = at % 512; y = int(at / 512)
    for (side = 256; side > 16 && x < side && y < side; side /= 2) ;
    x %= side; y %= side; if (x > 115 || y > 25) bad++; n++ } END { exit bad > 0 || n < 2000 }' ||
    fault "names cover more than corners"
holds "ground of the name of HL1" a.pgm 260 4 80 2 24
runs "no room for names" view cat.jp2 a.pgm --reduce 4 --labels --gain 2
runs "no room for names" view cat.jp2 b.pgm --reduce 4 --gain 2
check "no room, no names" cmp a.pgm b.pgm

# The picture in the documentation is the output of its command.
runs "README" view "$data/chelsea.png" a.ppm -I --levels 3 --rgb --labels
runs "README" compare a.ppm "$data/../../docs/mosaic.png"

# ---- Other pictures ----

printf 'PG ML - 12 5 4\n' >signed.pgx
head -c 40 /dev/zero >>signed.pgx
runs "signed, 12 bits" view signed.pgx a.pgm --levels 1
holds "LL of signed zeros is mid-gray" a.pgm 0 0 2 2 128
runs "sub-sampled" decode cat.jp2 cat.pgx --quiet
{ printf 'PG ML + 8 226 150\n'; head -c 33900 /dev/zero; } >cat_1.pgx
runs "sub-sampled component" view cat.pgx a.pgm --component 1
sized "sub-sampled component" a.pgm 226 150
printf 'P2\n1 1\n255\n200\n' >dot.pgm
runs "one pixel" view dot.pgm a.pgm --labels
holds "one pixel" a.pgm 0 0 1 1 200

# ---- Early ends ----

head -c 40000 camera.jp2 >cut.jp2
checks=$((checks + 1))
"$lift2k" view cut.jp2 a.pgm --quiet 2>err.log
[ $? -eq 3 ] || fault "a file that ends early: not status 3"
sized "a file that ends early" a.pgm 512 512
head -c 120 camera.jp2 >cut.jp2
cannot "a file without a codestream" 1 "cut.jp2" cut.jp2 none.pgm

# ---- Refusals ----

printf 'just text, no picture at all\n' >text.txt
: >empty
cannot "text" 1 "text.txt: neither JPEG 2000 nor" text.txt none.pgm
cannot "an empty file" 1 "empty: the file is empty" empty none.pgm
cannot "a missing file" 1 "missing.jp2: No such file" missing.jp2 none.pgm
cannot "no such format" 2 "none.xyz: unknown output format" camera.jp2 none.xyz
cannot "one name" 2 "two file names" camera.jp2
cannot "three names" 2 "one file name too many" camera.jp2 none.pgm more.pgm
cannot "an unknown option" 2 "frobnicate" camera.jp2 none.pgm --frobnicate
cannot "a band that is none" 2 "--band HX1: not a subband" camera.jp2 none.pgm --band HX1
cannot "a band without level" 2 "--band HL: not a subband" camera.jp2 none.pgm --band HL
cannot "HL0" 2 "--band HL0: not a subband" camera.jp2 none.pgm --band HL0
cannot "more after a band" 2 "--band HL1x: not a subband" camera.jp2 none.pgm --band HL1x
cannot "a band too deep" 1 "--band: camera.jp2 has no such subband; it has 5 levels" camera.jp2 none.pgm --band HL6
cannot "LL of another level" 1 "--band: .*no such subband" camera.jp2 none.pgm --band LL3
cannot "a level too deep" 1 "--level: .*no such level; it has 2 levels" camera.pgm none.pgm --levels 2 --level 3
cannot "level 0" 2 "--level 0: not a whole number from 1" camera.jp2 none.pgm --level 0
cannot "band and level" 2 "--band and --level exclude" camera.jp2 none.pgm --band HL1 --level 1
cannot "band and reduce" 2 "--reduce: has no use with --band" camera.jp2 none.pgm --band HL1 --reduce 1
cannot "reduced too far" 1 "camera.pgm: 6 resolutions cannot be left out: component 0" camera.pgm none.pgm --reduce 6
cannot "reduced too far" 1 "camera.jp2: 6 resolutions cannot be left out: component 0 of tile 0 has 6, of which one must stay" camera.jp2 none.pgm --reduce 6
cannot "a gain of 0" 2 "--gain 0: not a number above 0" camera.jp2 none.pgm --gain 0
cannot "a gain below 0" 2 "--gain -3: not a number above 0" camera.jp2 none.pgm --gain -3
cannot "two gains" 2 "--gain 1,2: not a number above 0" camera.jp2 none.pgm --gain 1,2
cannot "a gain that is none" 2 "--gain much: not a number above 0" camera.jp2 none.pgm --gain much
cannot "RGB and a component" 2 "--component: excludes --rgb" camera.jp2 none.pgm --rgb --component 0
cannot "RGB of gray" 1 "--rgb: camera.jp2 has 1 component, three" camera.jp2 none.pgm --rgb
cannot "RGB of different sizes" 1 "--rgb: components 0 to 2 of cat.pgx differ" cat.pgx none.ppm --rgb
cannot "no such component" 1 "--component: camera.jp2 has no component 1" camera.jp2 none.pgm --component 1
cannot "no such tile" 1 "--tile-index: camera.pgm has no tile 4, only 0 to 3" camera.pgm none.pgm -t 256,256 --tile-index 4
cannot "levels of a codestream" 1 "camera.jp2: --levels is for pictures" camera.jp2 none.pgm --levels 3
cannot "9/7 of a codestream" 1 "camera.jp2: --irreversible is for pictures" camera.jp2 none.pgm -I
cannot "layers of a picture" 1 "camera.pgm: --layers is for JPEG 2000" camera.pgm none.pgm --layers 1
cannot "a first tile before the image" 1 "tiles of 64 x 64 from 0,0: the first lies outside" camera.pgm none.pgm -t 64,64 -d 64,0
cannot "RGB into PGM" 1 "none.pgm" cat.jp2 none.pgm --rgb
if [ -w /dev/full ]; then
    checks=$((checks + 1))
    "$lift2k" view camera.jp2 - >/dev/full 2>err.log
    [ $? -eq 1 ] || fault "a full disk: not status 1"
fi

finish
