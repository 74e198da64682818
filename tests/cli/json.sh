#!/usr/bin/env bash
# `lift2k info --json`. Arguments: the lift2k binary, the make_stream helper, the folder with the pictures. Python, if
# present, checks that it is JSON.
lift2k=$1
make_stream=$2
data=$3
. "$(dirname "$0")/support.sh"

python=$(command -v python3)
[ -n "$python" ] || echo "SKIPPED: no python3 here to check that the output is JSON"

says() { # says NAME FILE EXPRESSION: true of the object, `j`
    [ -n "$python" ] || return 0
    check "$1" "$python" -c 'import json, sys
j = json.load(open(sys.argv[1], encoding="utf-8"))
value = eval(sys.argv[2])
sys.exit(None if value is True else "%s of %s" % (value, j))' "$2" "$3"
}

describe() { # describe FILE: its description in info.json
    runs "info --json $1" info --json "$1"
    cp out.log info.json
    [ -z "$python" ] || check "info --json $1 is JSON" "$python" -m json.tool info.json
    check "info --json $1 says nothing on standard error" test ! -s err.log
}

runs "colour" encode "$data/chelsea.png" colour.jp2 -I -r 20,5 -c 128,64 -t 200,150 -d 3,5 --style bypass,vsc --sop --quiet
describe colour.jp2
says "names" info.json 'j["file"] == "colour.jp2" and j["format"] == "JP2"'
says "area" info.json 'j["image"] == {"x0": 3, "y0": 5, "width": 451, "height": 300}'
says "components" info.json 'len(j["components"]) == 3 and j["components"][2] == {"width": 451, "height": 300,
"precision": 8, "signed": False, "dx": 1, "dy": 1, "channel": "colour", "association": 3}'
says "colour" info.json 'j["colour"] == "ICC profile" and j["icc_bytes"] == 3144 and j["palette_entries"] == 0'
says "density" info.json 'j["density"] == {"x": 2835, "y": 2835}'
says "tiles" info.json 'j["tiles"] == {"x0": 0, "y0": 0, "width": 200, "height": 150, "across": 3, "down": 3,
"tile_parts": 9}'
says "coding" info.json '[j[k] for k in ("wavelet", "reversible", "levels", "component_transform", "progression", "layers",
"guard_bits", "sop", "eph", "tlm", "plt")] == ["9/7", False, 5, "ICT", "LRCP", 2, 2, True, False, False, False]'
says "code-blocks" info.json 'j["code_blocks"] == {"width": 64, "height": 64, "style": ["bypass", "vsc"]}'
says "precincts" info.json 'len(j["precincts"]) == 6 and j["precincts"][5] == {"width": 128, "height": 64}'
says "comment" info.json 'j["comment"].startswith("Created by lift2k")'
says "boxes" info.json '[(b["type"], b["depth"]) for b in j["boxes"]] == [("jP  ", 0), ("ftyp", 0), ("jp2h", 0),
("ihdr", 1), ("colr", 1), ("res ", 1), ("resc", 2), ("uuid", 0), ("jp2c", 0)]'
says "the last box ends with the file" info.json "j['boxes'][-1]['offset'] + j['boxes'][-1]['bytes'] == \
$(stat -c %s colour.jp2) and j['codestream_bytes'] + 8 == j['boxes'][-1]['bytes']"

for markers in "--plt" "--tlm" "--tlm --plt --sop --eph"; do
    runs "$markers" encode "$data/camera.png" markers.jp2 $markers -t 200,200 --quiet
    describe markers.jp2
    says "$markers" info.json "all(j[k] == ('--' + k in '$markers'.split()) for k in ('sop', 'eph', 'tlm', 'plt'))"
done
{ printf 'P7\nWIDTH 8\nHEIGHT 4\nDEPTH 4\nMAXVAL 255\nTUPLTYPE CMYK\nENDHDR\n'; head -c 128 "$data/camera.png"; } >inks.pam
runs "CMYK" encode inks.pam inks.jp2
check "CMYK makes a JPX file, and is announced" grep -q 'warning: JP2 does not have these colours.*JPX' err.log
runs "CMYK" decode inks.jp2 back.pam --quiet
check "CMYK comes back" cmp inks.pam back.pam
describe inks.jp2
says "CMYK" info.json 'j["format"] == "JPX" and j["colour"] == "CMYK" and j["boxes"][2]["type"] == "rreq"'

# A palette of 5 colours.
if [ -n "$python" ]; then
    "$python" -c 'import struct, sys, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
rows = b"".join(b"\0" + bytes((x // 8 + y // 8) % 5 for x in range(64)) for y in range(48))
sys.stdout.buffer.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 64, 48, 8, 3, 0, 0, 0)) +
    chunk(b"PLTE", bytes(range(0, 240, 16))) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))' >map.png
    runs "a palette" encode map.png map.jp2 --palette --verify
    check "a palette is verified" grep -q 'verified: identical, 3.072 ksamples' err.log
    describe map.jp2
    says "a palette" info.json 'j["palette_entries"] == 5 and len(j["components"]) == 1 and j["colour"] == "sRGB" and [
b["type"] for b in j["boxes"] if b["depth"]][:4] == ["ihdr", "colr", "pclr", "cmap"]'
    runs "a palette: the same colours" compare map.png map.jp2
    runs "no palette" encode map.png colours.jp2 --quiet
    check "a palette takes less" test "$(stat -c %s map.jp2)" -lt "$(stat -c %s colours.jp2)"
    refuses "a palette, lossy" no.jp2 '--palette: indices' encode map.png no.jp2 --palette -I
    refuses "a palette, no boxes" no.j2k 'no boxes: --palette' encode map.png no.j2k --palette
fi

runs "info of all markers" info markers.jp2
for marker in sop eph tlm plt; do
    check "$marker" grep -qx "$marker *yes" out.log
done

runs "gray" encode "$data/camera.png" gray.j2k --levels 0 --quiet
describe gray.j2k
says "codestream" info.json '[j[k] for k in ("format", "wavelet", "reversible", "levels", "component_transform", "density",
"precincts", "boxes")] == ["codestream", "5/3", True, 0, "none", None, None, []]'
says "no channels in a codestream" info.json 'sorted(j["components"][0]) == ["dx", "dy", "height", "precision", "signed",
"width"]'
says "no code-block styles" info.json 'j["code_blocks"]["style"] == []'

# Difficult strings: in a name quotes, a line break, a control character of two bytes and bytes that are not UTF-8; in a
# comment all of Latin-1.
name=$'q"b\\s\nl\tt\303\251\302\205\302\240\377\300\200.j2k'
cp gray.j2k "$name"
describe "$name"
says "file name" info.json 'j["file"] == "q\"b\\s\nl\tt\u00e9\u0085\u00a0\ufffd\ufffd\ufffd.j2k"'
check "no unescaped control character" sh -c "! LC_ALL=C grep -qF '$(printf '\302\205')' info.json"
# The helper's marker segment comes before the encoder's own comment.
"$make_stream" gray.j2k comment.j2k main ff64 0001225c0a1b7f80a0e9ff
describe comment.j2k
says "comment" info.json 'j["comment"] == "\"\\\n\x1b\x7f\x80\xa0\xe9\xff"'
check "from a pipe" sh -c "cat gray.j2k | '$lift2k' info --json - | grep -q '\"file\": \"standard input\"'"

runs "devices" info --json --devices
cp out.log info.json
says "devices" info.json '[b["name"] for b in j["backends"]] == ["cpu", "cuda", "opencl"] and j["backends"][0]["usable"] is True'
says "devices" info.json 'all(isinstance(d["number"], int) and d["memory"] > 0 and d["usable"] in (True, False) for d in j["devices"])'
says "no CUDA device without the backend" info.json 'j["backends"][1]["usable"] or not any(d["usable"] and d["backend"] == "cuda" for d in j["devices"])'
check "the help has every key" sh -c "'$lift2k' info --json colour.jp2 | sed -n 's/^  \"\\([a-z_0-9]*\\)\":.*/\\1/p' |
    { count=0; while read -r key; do '$lift2k' info --help | grep -qw \"\$key\" || exit 1; count=\$((count + 1)); done
    test \$count -eq 32; }"

refuses "not JPEG 2000" "" "camera.png" info --json "$data/camera.png"
refuses "a missing file" "" "missing.jp2" info --json missing.jp2
refuses "no name" "" "file name" info --json
refuses "one name too many" "" "devices" info --devices gray.j2k

# Several files.
runs "two files" info --json colour.jp2 colour.jp2
cp out.log info.json
says "two files" info.json '[i["file"] for i in j] == ["colour.jp2"] * 2'
checks=$((checks + 1))
"$lift2k" info --json colour.jp2 nothing.jp2 colour.jp2 >info.json 2>err.log && fault "a file that does not exist: status 0"
check "a file that does not exist" test "$(wc -l <err.log)" -eq 1
says "two files and none" info.json 'len(j) == 2'
runs "two files as text" info colour.jp2 colour.jp2
check "two files as text" test "$(grep -c '^file  *colour.jp2$' out.log)" -eq 2

finish
