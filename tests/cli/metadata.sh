#!/usr/bin/env bash
# XMP, Exif and IPTC from PNG and TIFF to JP2 and back; boxes from files; what info says of them. Arguments: the lift2k
# binary, the folder with the pictures, 1 with libtiff. exiftool, jpylyzer and GDAL, if present, say whether they agree.
lift2k=$1
data=$(cd "$2" && pwd)
tiff=$3
here=$(cd "$(dirname "$0")" && pwd)
. "$here/support.sh"

python=$(command -v python3)
[ -n "$python" ] || { echo "SKIPPED: no python3 here to make pictures with metadata"; exit 77; }
made() { "$python" "$here/metadata_files.py" "$@"; }
same() { # same NAME KIND FILE FILE: both have the same metadata of a kind, and have some
    check "$1: $2" test -n "$(made get "$3" "$2")"
    check "$1: $2 of $3 and $4" test "$(made get "$3" "$2")" = "$(made get "$4" "$2")"
}
lacks() { check "$1: $2" test -z "$(made get "$3" "$2")"; }
made make

# PNG: bytes stay as they are, before and behind the samples.
for name in little large; do
    runs "$name" encode $name.png $name.jp2 --quiet
    runs "$name back" decode $name.jp2 $name-back.png --quiet
    for kind in xmp exif; do
        same "$name" $kind $name.png $name.jp2
        same "$name back" $kind $name.png $name-back.png
    done
done
runs "behind" encode behind.png behind.jp2 --quiet
for kind in xmp exif; do same "behind" $kind behind.jp2 little.png; done
runs "by rows" encode behind.png rows.jp2 -t 8,4 --by-rows
check "by rows: no warning" test "$(wc -l <err.log)" = 1
runs "all tiles" encode behind.png tiles.jp2 -t 8,4 -r 1
check "by rows" cmp rows.jp2 tiles.jp2
cat behind.png | "$lift2k" encode - rows.jp2 -t 8,4 --by-rows 2>err.log
check "by rows from a pipe" cmp rows.jp2 tiles.jp2
{ printf 'P5\n2600 2600\n255\n' && head -c 6760000 /dev/zero; } >zeros.pgm
runs "in strips" encode zeros.pgm zeros.jp2 --quiet
runs "in strips" decode zeros.jp2 zeros.png --quiet
cut=$(($(wc -c <zeros.png) - 12)) # in front of IEND; plain.png has three empty chunks more than behind.png
{ head -c $cut zeros.png && tail -c +$(($(wc -c <plain.png) - 47)) behind.png; } >strips.png
runs "in strips" encode strips.png strips.jp2 -j 1 --quiet
runs "in strips: at once" encode strips.png whole.jp2 -j 1 --quiet --verify
cat strips.png | "$lift2k" encode - piped.jp2 --quiet
for kind in xmp exif; do same "in strips" $kind strips.jp2 little.png; done
for file in whole piped; do check "in strips: $file" cmp strips.jp2 $file.jp2; done
runs "in front, by rows" encode little.png rows.jp2 -t 8,4 --by-rows
check "in front, by rows: no warning" test "$(wc -l <err.log)" = 1
same "in front, by rows" exif rows.jp2 little.png
runs "verified" encode little.png verified.jp2 --verify --quiet
same "verified" xmp verified.jp2 little.png

# Texts that are compressed, in a language, or profiles in hexadecimal digits.
printf '\34\2\0\0\2\0\2\34\2\5\0\5title' >iptc.bin
for name in flag named language raw plain bare; do
    runs "text: $name" encode text-$name.png text.jp2
    check "text: $name: no warning" test "$(wc -l <err.log)" = 1
    same "text: $name" xmp text.jp2 little.png
    case $name in raw | plain | bare)
        same "text: $name" exif text.jp2 little.png
        check "text: $name: IPTC" test "$(made get text.jp2 iptc)" = "$(od -An -v -tx1 iptc.bin | tr -d ' \n')" ;;
    esac
done

# Nothing, where there is nothing or nothing is wanted; the samples never change.
runs "plain" encode plain.png plain.jp2 --quiet
runs "left out" encode little.png without.jp2 --no-metadata --quiet
check "left out" cmp plain.jp2 without.jp2
runs "left out back" decode little.jp2 without.png --no-metadata --quiet
for kind in xmp exif; do lacks "left out back" $kind without.png; done
check "left out back" cmp <("$lift2k" decode plain.jp2 - --quiet) <("$lift2k" decode little.jp2 - --quiet)
runs "other formats" decode little.jp2 little.pgm --quiet

# TIFF: the same tags and values, in all byte orders and sizes.
if [ "$tiff" = 1 ]; then
    for name in little large little-big large-big; do
        runs "$name.tif" encode $name.tif tiff.jp2 --quiet
        check "$name.tif: Exif" test "$(made get tiff.jp2 exif)"
        made tags tiff.jp2 >tiff.txt
        made tags $name.tif | grep -vE '^(700|33723|33550|33922|3473[567]|42113) ' >expected.txt
        check "$name.tif: 17 tags" test "$(wc -l <tiff.txt)" -eq 17
        check "$name.tif: the same tags" diff expected.txt tiff.txt
        same "$name.tif" xmp tiff.jp2 little.png
        runs "$name.tif back" decode tiff.jp2 back.tif --quiet
        check "$name.tif back: the same tags" diff <(made tags $name.tif) <(made tags back.tif)
        check "$name.tif back: the same samples" "$lift2k" compare $name.tif back.tif --quiet
    done
    runs "no data, no place" encode no-data.tif tiff.jp2 --quiet
    runs "no data, no place: back" decode tiff.jp2 back.tif --quiet
    check "no data, no place: the value" grep -qxF "$(made tags no-data.tif)" <(made tags back.tif)
    runs "plain.tif" encode plain.tif tiff.jp2 --quiet
    check "plain.tif: as from PNG" cmp tiff.jp2 plain.jp2
    "$lift2k" encode little.tif iptc.jp2 --quiet
    runs "IPTC to PNG" decode iptc.jp2 iptc.png
    check "IPTC to PNG: a warning" grep -q "IPTC has no place in PNG" err.log
    check "GeoTIFF to PNG: a warning" grep -q "georeferencing has no place in PNG" err.log
    # Coordinates follow: of the tie point I, J, 0, X, Y, 0, and of the width of a pixel.
    runs "GeoTIFF: a part" decode iptc.jp2 part.tif --region 4,2,8,8 --reduce 1 --quiet
    moved() { made tags "$1" | sed -n "s/^$2 12 \\[\\(.*\\)\\]$/\\1/p" | tr -d ,; }
    check "GeoTIFF of a part: the tie point" test "$(moved little.tif 33922 | awk '{ $1 = ($1 - 4) / 2; $2 = ($2 - 2) / 2; print $1 + 0, $2 + 0, $4, $5 }')" = \
        "$(moved part.tif 33922 | awk '{ print $1 + 0, $2 + 0, $4, $5 }')"
    check "GeoTIFF of a part: the scale" test "$(moved little.tif 33550 | awk '{ print 2 * $1, 2 * $2 }')" = "$(moved part.tif 33550 | awk '{ print $1 + 0, $2 + 0 }')"
    runs "GeoTIFF: left out" encode little.tif bare.jp2 --no-metadata --quiet
    check "GeoTIFF: left out" cmp bare.jp2 plain.jp2
fi

# Hostile metadata are left out, with one warning; the picture is there.
for file in lie-*.tif lie-[^t]*.png; do
    [ "$tiff" = 1 ] || [ "${file%.tif}" = "$file" ] || continue
    runs "$file" encode $file lie.jp2
    check "$file: the same samples" "$lift2k" compare plain.png lie.jp2 --quiet
    [ "$tiff" = 1 ] || continue
    runs "$file back" decode lie.jp2 lie.tif
    check "$file back: the same samples" "$lift2k" compare plain.png lie.tif --quiet
    runs "$file back, BigTIFF tags" encode lie.tif again.jp2
done
[ "$tiff" != 1 ] || refuses "cut off" no.jp2 "truncated" encode cut.tif no.jp2
runs "a warning" encode lie-kind.png lie.jp2
check "a warning" grep -q "the Exif in it is damaged and left out" err.log
pixels() { check "$1: the same samples" "$lift2k" compare plain.png lie.jp2 --quiet; }
for name in large larger text-bomb text-too-long text-too-long-zlib; do
    runs "too large: $name" encode lie-$name.png lie.jp2
    lacks "too large: $name" xmp lie.jp2
    pixels "too large: $name"
    check "too large: $name" test "$(grep -cE 'in it is larger than (16|48) MiB and left out' err.log)" = 1
done
for name in zlib cut short names empty long length letters lines iptc iptc-none iptc-end; do
    runs "damaged text: $name" encode lie-text-$name.png lie.jp2
    pixels "damaged text: $name"
    check "damaged text: $name" test "$(grep -cE 'in it is (damaged|larger than 16 MiB) and left out' err.log)" = 1
done
runs "many bombs" encode lie-text-bombs.png lie.jp2
check "many bombs" test "$(grep -c 'in it is larger than 16 MiB' err.log)" = 8
runs "many texts" encode lie-text-many.png lie.jp2
check "many texts" test "$(grep -c 'in it is damaged' err.log)" = 8
runs "no word of them" encode lie-text-many.png lie.jp2 --quiet
check "no word of them" test ! -s err.log

# Boxes from files, in place of the picture's own.
printf '<?xml version="1.0"?>\n<a>\303\244</a>\n' >document.xml
printf 'own\0bytes' >own.bin
runs "files" encode little.png files.jp2 --xmp packet.xmp --exif jpeg.exif --xml document.xml --xml document.xml \
    --uuid 00112233-4455-6677-8899-AABBCCDDEEFF,own.bin --quiet
same "files" xmp files.jp2 packet.xmp
same "files" exif files.jp2 large.png
runs "info" info files.jp2
for line in 'type uuid, .*, content XMP, ' 'type uuid, .*, content Exif,' \
    'type xml, .*, content XML, text <\?xml version="1.0"\?> <a>ä</a>$' \
    'type uuid, .*, bytes 33, uuid 00112233-4455-6677-8899-aabbccddeeff$'; do
    check "info: $line" grep -qE "$line" out.log
done
runs "info --json" info files.jp2 --json
check "info --json" "$python" -c '
import json, sys
boxes = json.load(open("out.log", encoding="utf-8"))["boxes"]
texts = [b["text"] for b in boxes if b.get("content") == "XML"]
assert texts == [open("document.xml", encoding="utf-8").read()] * 2, texts
assert [b["uuid"] for b in boxes if b["type"] == "uuid" and "content" not in b] == ["00112233-4455-6677-8899-aabbccddeeff"]
assert [b["content"] for b in boxes if "text" in b and b["type"] == "uuid"] == ["XMP"]'

# GML in associations; in JPH files the same, without a word of JPX.
printf '\357\273\277<gml:FeatureCollection xmlns:gml="http://www.opengis.net/gml"/>' >place.gml
runs "GML" encode plain.png gml.jp2 --gml place.gml --xml document.xml --quiet
runs "GML" info gml.jp2
check "GML" diff <(sed -nE '/^boxes/,$s/^.{20}type ([a-z0-9]+) *, depth ([0-9]).*, bytes ([0-9]+).*/\2 \1 \3/p' out.log | grep -v jp2c) - <<'EOF'
0 ftyp 24
0 rreq 21
0 jp2h 45
1 ihdr 22
1 colr 15
0 asoc 131
1 lbl 16
1 asoc 107
2 lbl 25
2 xml 74
0 xml 40
EOF
runs "GML, JPH" encode plain.png gml.jph --ht --gml place.gml --quiet
runs "GML, JPH" info gml.jph
check "GML, JPH: the document" grep -q 'type xml, depth 2, .*gml:FeatureCollection' out.log
check "GML, JPH: no rreq" test "$(grep -c rreq out.log)" = 0
refuses "no GML" no.jp2 "no XML" encode plain.png no.jp2 --gml own.bin
refuses "GML twice" no.jp2 "twice" encode plain.png no.jp2 --gml place.gml --gml place.gml
refuses "GML in a bare codestream" no.j2k "no boxes.*--gml" encode plain.png no.j2k --gml place.gml

runs "without the own" encode little.png own.jp2 --no-metadata --xmp packet.xmp --quiet
lacks "without the own" exif own.jp2
runs "JPH" encode little.png files.jph --ht --quiet
same "JPH" exif files.jph little.png
refuses "bare codestream" bare.j2k "bare codestream has no boxes.*--xml" encode plain.png bare.j2k --xml document.xml
refuses "no such file" no.jp2 "missing.xmp" encode plain.png no.jp2 --xmp missing.xmp
refuses "no XMP" no.jp2 "no XML" encode plain.png no.jp2 --xmp own.bin
refuses "no Exif" no.jp2 "no Exif" encode plain.png no.jp2 --exif own.bin
refuses "twice" no.jp2 "twice" encode plain.png no.jp2 --exif little.exif --exif little.exif
refuses "short ID" no.jp2 "ID,FILE" encode plain.png no.jp2 --uuid 0011,own.bin
refuses "no file" no.jp2 "ID,FILE" encode plain.png no.jp2 --uuid 00112233445566778899aabbccddeeff

# Both resolution boxes.
runs "resolution" encode "$data/coffee.png" coffee.jp2 --quiet
runs "resolution" info coffee.jp2
check "resolution" grep -q 'type resc, .*, density x 3780, y 3780$' out.log

if command -v exiftool >/dev/null; then
    said() { exiftool -j -G1 -n -a "$1" | grep -E '"(XMP-[a-z]+|IFD0|ExifIFD|GPS|IPTC):' |
        grep -vE 'IFD0:(X|Y|Image|Bits|Compr|Photo|Strip|Rows|Samples?|Planar|Resolution|Fill|SubfileType)|XMPToolkit|PageNumber' | sort; }
    cp "$data/chelsea.png" tool.png
    chmod u+w tool.png
    exiftool -q -q -overwrite_original -Artist="A. N. Other" -Make=Cam -ISO=200 -ExposureTime=1/250 -GPSLatitude=48.1 \
        -GPSLatitudeRef=N -UserComment=words -XMP:Title="Tässchen" -XMP:Rating=4 tool.png
    runs "exiftool" encode tool.png tool.jp2 --quiet
    check "exiftool: JP2" diff <(said tool.png) <(said tool.jp2)
    check "exiftool: something" test "$(said tool.jp2 | wc -l)" -gt 12
    if [ "$tiff" = 1 ]; then
        runs "exiftool: TIFF" decode tool.jp2 tool.tif --quiet
        check "exiftool: TIFF" diff <(said tool.jp2 | grep -v YCbCrPos) <(said tool.tif | grep -v IFD0:Orientation)
        exiftool -q -q -overwrite_original -IPTC:City=Ulm -Orientation=6 -n tool.tif
        runs "exiftool: from TIFF" encode tool.tif tool-2.jp2
        check "exiftool: from TIFF" diff <(said tool.tif) <(said tool-2.jp2)
        check "exiftool: IPTC" test "$(exiftool -s3 -IPTC:City tool-2.jp2)" = Ulm
    fi
    exiftool -q -q -overwrite_original -XMP:Title=changed -Make=Other -IPTC:City=Ulm tool.jp2
    runs "exiftool: to PNG" decode tool.jp2 tool-2.png --quiet
    check "exiftool: to PNG" diff <(said tool.jp2 | grep -v IPTC) <(said tool-2.png)
    check "exiftool: valid" test -z "$(exiftool -q -validate -warning -error -a tool.jp2 | grep -i -E 'error|corrupt')"
else
    echo "SKIPPED: no exiftool here (Debian: libimage-exiftool-perl)"
fi

if command -v jpylyzer >/dev/null; then
    jpylyzer little.jp2 files.jp2 plain.jp2 gml.jp2 >jpylyzer.log 2>&1
    check "jpylyzer" test "$(grep -c '<isValid format="jp2">True</isValid>' jpylyzer.log)" = 4
else
    echo "SKIPPED: no jpylyzer here (PyPI: jpylyzer)"
fi

if command -v gdal_translate >/dev/null && gdal_translate --formats | grep -q 'JP2OpenJPEG .*rw'; then
    gdal_translate -q -of JP2OpenJPEG -co GMLJP2=YES -co GeoJP2=YES -a_srs EPSG:32633 -a_ullr 500000 5300000 504510 5297000 \
        "$data/chelsea.png" map.jp2
    runs "GDAL" info map.jp2
    for line in 'type uuid, .*, content GeoJP2,' 'type asoc, ' 'lbl, depth 1, .*, text gml.data$' \
        'lbl, depth 2, .*, text gml.root-instance$' 'xml, depth 2, .*, text <gml:FeatureCollection'; do
        check "GDAL: $line" grep -qE "$line" out.log
    done
    place() { gdalinfo "$1" 2>/dev/null | sed -n '/^Coordinate System/,/^Pixel Size/p'; }
    # What GDAL puts into GMLJP2 of both versions, and into GeoJP2, by itself.
    unhex() { "$python" -c 'import sys; sys.stdout.buffer.write(bytes.fromhex(sys.stdin.read()))'; }
    for version in GMLJP2=YES GMLJP2V2_DEF=YES; do
        gdal_translate -q -of JP2OpenJPEG -co $version -co GeoJP2=NO -a_srs EPSG:32633 -a_ullr 500000 5300000 504510 5297000 \
            "$data/chelsea.png" gml-gdal.jp2
        made get gml-gdal.jp2 xml | unhex >gdal.gml
        runs "GDAL: $version" encode "$data/chelsea.png" gml-own.jp2 --gml gdal.gml --quiet
        check "GDAL: $version: a place" grep -q 'Pixel Size = (10' <(place gml-own.jp2)
        check "GDAL: $version" diff <(place gml-gdal.jp2) <(place gml-own.jp2)
    done
    made get map.jp2 geo | unhex >geo.bin
    runs "GDAL: --uuid" encode "$data/chelsea.png" geo.jp2 --uuid b14bf8bd-083d-4b43-a5ae-8cd7d5a6ce03,geo.bin --quiet
    check "GDAL: --uuid" diff <(place map.jp2) <(place geo.jp2)
    if [ "$tiff" = 1 ]; then
        runs "GDAL: to TIFF" decode map.jp2 map.tif --quiet
        runs "GDAL: from TIFF" encode map.tif map-2.jp2 --quiet
        check "GDAL: a place" grep -q 'Pixel Size = (10' <(place map.jp2)
        check "GDAL: to TIFF" diff <(place map.jp2) <(place map.tif)
        runs "GDAL: a part" decode map.jp2 part.tif --region 100,50,301,250 --reduce 2 --quiet
        gdalinfo part.tif >part.txt 2>/dev/null
        check "GDAL: the corner of a part" grep -q '^Origin = (501000.0*,5299480.0*)' part.txt
        check "GDAL: a pixel of a part" grep -q '^Pixel Size = (40.0*,-40.0*)' part.txt
        check "GDAL: from TIFF" diff <(place map.jp2) <(place map-2.jp2)
    fi
else
    echo "SKIPPED: no GDAL with JP2OpenJPEG here (Debian: gdal-bin)"
fi
finish
