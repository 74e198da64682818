#!/usr/bin/env bash
# `lift2k dump`. Arguments: the lift2k binary, the folder with the pictures. dump_files.c compares its
# values with the library's; here those of a codestream are compared with those of its picture. Python, if present, reads
# JSON.
lift2k=$1
data=$2
. "$(dirname "$0")/support.sh"

python=$(command -v python3)
[ -n "$python" ] || echo "SKIPPED: no python3 here to read the descriptions"

says() { # says NAME FOLDER EXPRESSION: true of its description `j`, with `s` for the subbands by file
    [ -n "$python" ] || return 0
    check "$1" "$python" -c 'import json, sys
j = json.load(open(sys.argv[1] + "/subbands.json", encoding="utf-8"))
s = {band["file"]: band for band in j["subbands"]}
value = eval("(" + sys.argv[2] + ")")
sys.exit(None if value is True else "%s" % (value,))' "$2" "$3"
}

cannot() { # cannot NAME STATUS PATTERN ARGUMENTS...
    local name=$1 wanted=$2 pattern=$3
    shift 3
    refuses "$name" none "$pattern" dump "$@"
    checks=$((checks + 1))
    "$lift2k" dump "$@" >/dev/null 2>&1 </dev/null
    [ $? -eq "$wanted" ] || fault "$name: not status $wanted"
}

raw() { # raw FILE: its values
    od -An -v -td4 --endian=little -w4 "$1" | tr -d ' '
}

pgx() { # pgx FILE: the same of a signed PGX of up to 16 bits
    local header bits
    header=$(head -n 1 "$1")
    bits=$(echo "$header" | cut -d ' ' -f 4)
    tail -c +$((${#header} + 2)) "$1" >samples
    if [ "$bits" -le 8 ]; then
        od -An -v -td1 -w1 samples | tr -d ' '
    else
        od -An -v -td2 --endian=big -w2 samples | tr -d ' '
    fi
}

# ---- Files ----

runs "lossless" encode "$data/camera.png" camera.jp2 --levels 2 --quiet
runs "dump" dump camera.jp2 d
check "its message" grep -qx 'camera.jp2 -> d 7 subbands, described in subbands.json' err.log
ls d >found
printf '%s\n' subbands.json t0_c0_b00_LL2.pgx t0_c0_b01_HL2.pgx t0_c0_b02_LH2.pgx t0_c0_b03_HH2.pgx t0_c0_b04_HL1.pgx \
    t0_c0_b05_LH1.pgx t0_c0_b06_HH1.pgx >expected
check "names" cmp expected found
check "header of LL2" grep -qax 'PG ML - 10 128 128' d/t0_c0_b00_LL2.pgx
check "size of LL2" test "$(stat -c %s d/t0_c0_b00_LL2.pgx)" = $((19 + 2 * 128 * 128))
check "header of HH1" grep -qax 'PG ML - 12 256 256' d/t0_c0_b06_HH1.pgx
runs "PGX files can be compared" compare d/t0_c0_b00_LL2.pgx d/t0_c0_b00_LL2.pgx
runs "raw" dump camera.jp2 r --format raw
check "size of raw LL2" test "$(stat -c %s r/t0_c0_b00_LL2.raw)" = $((4 * 128 * 128))
for band in b00_LL2 b01_HL2 b06_HH1; do
    raw "r/t0_c0_$band.raw" >expected
    pgx "d/t0_c0_$band.pgx" >found
    check "PGX and raw of $band" cmp expected found
    checks=$((checks + 1))
    [ "$(sort -u found | wc -l)" -gt 20 ] || fault "$band has hardly any values"
done
mkdir used
runs "an existing folder" dump camera.jp2 used/ --quiet
check "quiet" test ! -s err.log
check "no second slash" diff -r used d
cannot "subbands in the folder" 1 "used/subbands.json: the folder has subbands already" camera.jp2 used/ --reduce 1
check "they stay" diff -r used d

# With no decomposition, LL is the picture except for the level shift; and the 5/3 of an edge by hand.
printf 'P2\n8 1\n255\n100 100 100 100 108 108 108 108\n' >step.pgm
runs "no decomposition" dump step.pgm s --levels 0 --format raw
check "LL0" test "$(raw s/t0_c0_b00_LL0.raw | xargs)" = "-28 -28 -28 -28 -20 -20 -20 -20"
rm -rf s
runs "one decomposition" dump step.pgm s --levels 1
check "LL1 of an edge" test "$(pgx s/t0_c0_b00_LL1.pgx | xargs)" = "-28 -29 -21 -20"
check "HL1 of an edge" test "$(pgx s/t0_c0_b01_HL1.pgx | xargs)" = "0 -4 0 0"
says "empty subbands have no file" s '[b["file"] for b in j["subbands"]] == ["t0_c0_b00_LL1.pgx", "t0_c0_b01_HL1.pgx", None,
None] and j["subbands"][2]["height"] == 0 and j["subbands"][2]["orientation"] == "LH"'

# ---- Codestream and transform agree ----

for wavelet in "" -I; do
    for options in "" "-t 100,70 -d 13,9 --levels 3" "--levels 0 --no-mct"; do
        runs "encode $wavelet $options" encode "$data/chelsea.png" some.jp2 $wavelet $options --quiet
        rm -rf a b
        rm -rf a
        runs "codestream $wavelet $options" dump some.jp2 a --quiet --format raw
        runs "picture $wavelet $options" dump "$data/chelsea.png" b $wavelet $options --quiet --format raw
        rm a/subbands.json b/subbands.json
        check "codestream and picture $wavelet $options" diff -r a b
    done
done
check "two digits for many tiles" test ! -e a/t00_c0_b00_LL0.raw
runs "many tiles" dump "$data/chelsea.png" many -t 100,70 --levels 1 --component 1 --quiet
check "names sort" test "$(ls many | sed -n '2p;$p' | xargs)" = "t00_c1_b00_LL1.pgx t24_c1_b03_HH1.pgx"
check "only component 1" test "$(ls many | grep -c c1)" = 100

# ---- Selection ----

rm -rf a
runs "reduced" dump some.jp2 a --format raw --quiet
runs "all levels" encode "$data/chelsea.png" cat.jp2 -t 256,256 -I -r 40,10 --quiet
rm -rf a b
rm -rf a
runs "everything" dump cat.jp2 a --quiet
rm -rf b
runs "reduced" dump cat.jp2 b --reduce 3 --component 2 --tile-index 3 --quiet
check "subbands of a reduced dump" test "$(ls b | xargs)" = \
    "subbands.json t3_c2_b00_LL5.pgx t3_c2_b01_HL5.pgx t3_c2_b02_LH5.pgx t3_c2_b03_HH5.pgx t3_c2_b04_HL4.pgx \
t3_c2_b05_LH4.pgx t3_c2_b06_HH4.pgx"
for file in b/*.pgx; do check "the same in $file" cmp "$file" "a/${file#b/}"; done
rm -rf b
runs "fewer layers" dump cat.jp2 b --layers 1 --quiet
check "fewer layers differ" sh -c '! cmp -s a/t0_c0_b15_HH1.pgx b/t0_c0_b15_HH1.pgx'

says "the picture" a 'j["file"] == "cat.jp2" and j["source"] == "codestream" and j["format"] == "pgx" and j["complete"] and
j["image"] == {"x0": 0, "y0": 0, "x1": 451, "y1": 300} and [j["tiles_across"], j["tiles_down"]] == [2, 2] and
j["components"][2] == {"precision": 8, "signed": False, "dx": 1, "dy": 1} and len(j["subbands"]) == 4 * 3 * 16'
says "a subband" a 's["t3_c2_b04_HL4.pgx"] == {"file": "t3_c2_b04_HL4.pgx", "tile": 3, "component": 2, "band": 4,
"resolution": 2, "orientation": "HL", "level": 4, "width": 12, "height": 3, "rect": {"x0": 16, "y0": 16, "x1": 28,
"y1": 19}, "tile_component": {"x0": 256, "y0": 256, "x1": 451, "y1": 300}, "wavelet": "9/7", "component_transform": "ICT",
"value": "quantiser index", "step_exponent": 13, "step_mantissa": 1792, "step_size": s["t3_c2_b04_HL4.pgx"]["step_size"],
"magnitude_bits": 14, "bits": 15} and abs(s["t3_c2_b04_HL4.pgx"]["step_size"] - 2 ** -4 * (1 + 1792 / 2048)) < 1e-8'
says "every file exists" a 'all(__import__("os").path.getsize("a/" + f) == len("PG ML - %d %d %d " % (b["bits"], b["width"],
b["height"])) + b["width"] * b["height"] * (2 if b["bits"] > 8 else 1) for f, b in s.items())'
rm -rf b
runs "5/3 of a picture" dump "$data/chelsea.png" b --levels 1 --format raw --quiet
says "5/3 of a picture" b 'j["source"] == "picture" and j["subbands"][3]["value"] == "coefficient" and
j["subbands"][3]["component_transform"] == "RCT" and j["subbands"][3]["step_size"] == 1 and j["subbands"][3]["bits"] == 32'
check "16 bits" sh -c "printf 'P5\n3 2\n65535\nabcdefabcdef' | '$lift2k' dump - deep --levels 1 --quiet"
check "16 bits: LL1" grep -qaE '^PG ML - 18 2 1$' deep/t0_c0_b00_LL1.pgx

# ---- Early ends ----

head -c 20000 cat.jp2 >cut.jp2
checks=$((checks + 1))
"$lift2k" dump cut.jp2 c --quiet 2>err.log
[ $? -eq 3 ] || fault "a file that ends early: not status 3"
says "a file that ends early" c 'not j["complete"]'
head -c 120 cat.jp2 >cut.jp2
cannot "a file without a codestream" 1 "cut.jp2" cut.jp2 none

# ---- Refusals ----

printf 'just text, no picture at all\n' >text.txt
: >empty
cannot "text" 1 "text.txt: neither JPEG 2000 nor" text.txt none
cannot "an empty file" 1 "empty: the file is empty" empty none
cannot "a missing file" 1 "missing.jp2: No such file" missing.jp2 none
cannot "a file in place of the folder" 1 "text.txt: Not a directory" camera.jp2 text.txt
cannot "a folder in no folder" 1 "none/deep: No such file" camera.jp2 none/deep
cannot "standard output" 2 "a folder is needed: standard output" camera.jp2 -
cannot "one name" 2 "two file names" camera.jp2
cannot "three names" 2 "one file name too many" camera.jp2 none more
cannot "an unknown option" 2 "frobnicate" camera.jp2 none --frobnicate
cannot "an unknown format" 2 "--format tiff: not one of pgx, raw" camera.jp2 none --format tiff
cannot "reduced too far" 1 "camera.jp2: 3 resolutions cannot be left out" camera.jp2 none --reduce 3
cannot "reduced too far" 1 "step.pgm: 3 resolutions cannot be left out: component 0" step.pgm none --levels 2 --reduce 3
cannot "no such component" 1 "--component: step.pgm has no component 3, only 0 to 0" step.pgm none --component 3
cannot "no such tile" 1 "--tile-index: camera.jp2 has no tile 1, only 0 to 0" camera.jp2 none --tile-index 1
cannot "levels of a codestream" 1 "camera.jp2: --tile is for pictures" camera.jp2 none --tile 8,8
cannot "layers of a picture" 1 "step.pgm: --layers is for JPEG 2000" step.pgm none --layers 2
cannot "an empty tile" 2 "--tile 0,8: a tile must be" step.pgm none -t 0,8

# A failure midway leaves no description.
mkdir -p half/t0_c0_b03_HH2.pgx half/t0_c0_b03_HH2.raw
cannot "a subband that cannot be written" 1 'half/t0_c0_b03_HH2.pgx: ' camera.jp2 half --quiet
check "no description" test ! -e half/subbands.json
cannot "a subband that cannot be written, raw" 1 'half/t0_c0_b03_HH2.raw: ' camera.jp2 half --quiet --format raw

# A subband is written to an existing pipe of its name.
rm -r half/*HH2.*
mkfifo half/t0_c0_b03_HH2.pgx
timeout 100 cat half/t0_c0_b03_HH2.pgx >piped & # which waits for ever where the command fails before
runs "a pipe among the files" dump camera.jp2 half --quiet
wait
check "the output of the pipe" cmp piped d/t0_c0_b03_HH2.pgx
check "the others" cmp half/t0_c0_b06_HH1.pgx d/t0_c0_b06_HH1.pgx

finish
