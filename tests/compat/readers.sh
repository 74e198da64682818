#!/usr/bin/env bash
# Programs that read JPEG 2000 through libopenjp2 get the same pictures from both libraries. Arguments: the folder of our
# library, the lift2k binary, the folder with the pictures.
ours=$1
lift2k=$2
data=$3
. "$(dirname "$0")/support.sh"
export GDAL_PAM_ENABLED=NO

reads() { # reads NAME EXTENSION COMMAND...: $out in the command is the output
    local name=$1 extension=$2
    run_both "$@"
    shift 2
    [ -s theirs.$extension ] || fault "$name: OpenJPEG gives no picture"
    cmp theirs.$extension ours.$extension >cmp.log 2>&1 || fault "$name: $* $(cat cmp.log)"
}

runs "gray" encode "$data/camera.png" gray.jp2 --quiet
runs "tiles" encode "$data/coffee.png" tiles.jp2 -t 256,128 --quiet
runs "profile" encode "$data/chelsea.png" lossy.jp2 -I -r 20 --quiet
runs "codestream" encode "$data/chelsea.png" layers.j2k -I -r 60,20,8 -p RPCL --quiet
files="gray.jp2 tiles.jp2 lossy.jp2 layers.j2k"

if ! missing gdal_translate gdal-bin; then
    for file in $files; do
        reads GDAL tif gdal_translate -q $file '$out'
        reads GDAL tif gdal_translate -q -srcwin 41 33 170 120 $file '$out'
        reads GDAL tif gdal_translate -q -outsize 25% 25% $file '$out'
        reads GDAL tif gdalwarp -q -to SRC_METHOD=NO_GEOTRANSFORM -te 20 20 150 190 $file '$out'
        reads GDAL tif env GDAL_NUM_THREADS=4 gdal_translate -q $file '$out'
    done
fi
if ! missing /usr/bin/convert imagemagick; then
    for file in $files; do
        reads ImageMagick ppm /usr/bin/convert $file '$out'
        reads ImageMagick ppm /usr/bin/convert -define jp2:reduce-factor=1 $file '$out'
    done
fi
if ! missing ffmpeg ffmpeg; then
    for file in $files; do
        reads FFmpeg ppm ffmpeg -v error -c:v libopenjpeg -i $file '$out'
        reads FFmpeg ppm ffmpeg -v error -c:v libopenjpeg -lowres 1 -threads 2 -i $file '$out'
    done
fi
if /usr/bin/python3 -c 'import PIL' 2>/dev/null; then
    for file in $files; do
        for reduce in 0 2; do
            reads Pillow ppm /usr/bin/python3 -c "from PIL import Image; import sys
image = Image.open('$file'); image.reduce = $reduce; image.load(); image.save(sys.argv[1])" '$out'
        done
    done
else
    echo "SKIPPED: Pillow is not installed (Debian: python3-pil)"
fi
if ! missing pdftoppm poppler-utils || ! missing mutool mupdf-tools; then
    # A page that is the picture, as JPXDecode.
    for name in gray:512:512:DeviceGray tiles:600:400:DeviceRGB; do
        IFS=: read -r stem width height space <<<"$name"
        python3 - $stem.jp2 "$width" "$height" "$space" >$stem.pdf <<'END'
import sys
name, width, height, space = sys.argv[1:]
picture = open(name, 'rb').read()
page = b'%s 0 0 %s 0 0 cm /P Do' % (width.encode(), height.encode())
objects = [b'<</Type/Catalog/Pages 2 0 R>>', b'<</Type/Pages/Kids[3 0 R]/Count 1>>',
           b'<</Type/Page/Parent 2 0 R/MediaBox[0 0 %s %s]/Contents 4 0 R/Resources<</XObject<</P 5 0 R>>>>>>'
           % (width.encode(), height.encode()),
           b'<</Length %d>>stream\n%s\nendstream' % (len(page), page),
           b'<</Type/XObject/Subtype/Image/Width %s/Height %s/ColorSpace/%s/BitsPerComponent 8/Filter/JPXDecode/Length %d>>'
           b'stream\n%s\nendstream' % (width.encode(), height.encode(), space.encode(), len(picture), picture)]
out, places = b'%PDF-1.5\n', []
for number, body in enumerate(objects, 1):
    places.append(len(out))
    out += b'%d 0 obj' % number + body + b'\nendobj\n'
table = len(out)
out += b'xref\n0 6\n0000000000 65535 f \n' + b''.join(b'%010d 00000 n \n' % place for place in places)
out += b'trailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n' % table
sys.stdout.buffer.write(out)
END
        missing pdftoppm poppler-utils >/dev/null || reads poppler ppm sh -c "pdftoppm -r 72 $stem.pdf >\$0" '$out'
        missing mutool mupdf-tools >/dev/null || reads MuPDF ppm mutool draw -q -o '$out' $stem.pdf
    done
fi
missing mutool mupdf-tools || reads MuPDF ppm mutool draw -q -o '$out' tiles.jp2
if ! missing vips libvips-tools; then
    for file in $files; do
        reads VIPS png vips copy $file '$out'
    done
fi
finish
