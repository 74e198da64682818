#!/usr/bin/env bash
# lift2kenc and lift2kdec in pipelines: the same frames behind both, in MXF, and with OpenJPEG's elements on one side; sizes;
# damaged frames. Arguments: the lift2k binary, the folder of the plugin, and the backend, which is the CPU if not given.
lift2k=$(realpath "$1")
GST_PLUGIN_PATH=$(realpath "$2")
on="backend=${3:-cpu} num-threads=1"
. "$(dirname "$0")/support.sh"
export GST_PLUGIN_PATH GST_REGISTRY=$work/registry

if [ "${3:-cpu}" = cuda ] && ! "$lift2k" info --devices | grep -q 'name cuda, usable yes'; then
    [ "${L2K_REQUIRE_GPU:-0}" = 1 ] && { echo "FAILED: no GPU can be used"; exit 1; }
    echo "SKIPPED: no GPU can be used"
    exit 77
fi
command -v gst-launch-1.0 >/dev/null || { echo "SKIPPED: no gst-launch-1.0 (Debian: gstreamer1.0-tools)"; exit 77; }
there() { # there ELEMENT PACKAGE
    gst-inspect-1.0 "$1" >/dev/null 2>&1 || { echo "SKIPPED: no $1 (Debian: $2)"; return 1; }
}
there videotestsrc gstreamer1.0-plugins-base && there videoconvert gstreamer1.0-plugins-base || exit 77
check 'the encoder is there' gst-inspect-1.0 lift2kenc
check 'the decoder is there' gst-inspect-1.0 lift2kdec

launch() { # launch NAME PIPELINE
    # shellcheck disable=SC2086
    check "$1" timeout 60 gst-launch-1.0 -q $2
}

# same NAME FORMAT WAY...: frames that pass WAY are those that entered it. Rows of a multiple of 8 samples have no padding.
same() {
    local name=$1 format=$2
    shift 2
    rm -f in.raw out.raw
    launch "$name" "videotestsrc num-buffers=3 pattern=ball ! videoconvert ! video/x-raw,format=$format,width=104,height=66,framerate=25/1 \
        ! tee name=t ! queue ! filesink location=in.raw t. ! queue ! $* ! video/x-raw,format=$format ! filesink location=out.raw"
    check "$name: frames" test -s in.raw
    check "$name: the same" cmp in.raw out.raw
}

for format in I420 Y42B Y444 I420_10LE I422_10LE Y444_12LE GRAY8 GRAY16_LE RGB GBR_12LE; do
    same "MQ $format" $format 'lift2kenc ! lift2kdec'
    same "MQ $format, $on" $format "lift2kenc $on ! lift2kdec $on"
    same "HT $format, $on" $format "lift2kenc ht=true $on ! lift2kdec $on"
done
same alpha ARGB 'lift2kenc ! lift2kdec'
same 'in a box' I422_10LE 'lift2kenc ! image/x-j2c,sampling=YCbCr-4:2:2,num-components=3 ! lift2kdec'
launch 'a box' 'videotestsrc num-buffers=1 ! video/x-raw,format=I420 ! lift2kenc ! image/x-j2c ! filesink location=box'
check 'its length' test "$(od -An -tu1 -N8 box | awk '{ print $3 * 256 + $4, $5, $8 }')" = "$(wc -c <box) 106 99"
if there openjpegdec gstreamer1.0-plugins-bad; then
    for format in I420 I422_10LE ARGB; do
        same "openjpegenc $format" $format 'openjpegenc ! lift2kdec'
        same "openjpegdec $format" $format 'lift2kenc ! openjpegdec'
        same "openjpegdec HT $format" $format 'lift2kenc ht=true ! openjpegdec'
    done
    same 'openjpegenc in a box' I420 'openjpegenc ! image/x-j2c ! lift2kdec'
    same 'openjpegdec in a box' I420 'lift2kenc ! image/x-j2c ! openjpegdec'
fi
if there mxfmux gstreamer1.0-plugins-bad; then
    for format in I422_10LE RGB; do
        for ht in false true; do
            same "$format" $format identity
            launch 'MXF' "videotestsrc num-buffers=3 pattern=ball ! videoconvert \
                ! video/x-raw,format=$format,width=104,height=66,framerate=25/1 ! lift2kenc ht=$ht ! mxfmux ! filesink location=film.mxf"
            launch 'from MXF' 'filesrc location=film.mxf ! mxfdemux ! lift2kdec ! filesink location=out.raw'
            check "$format in MXF, HT $ht: the same" cmp in.raw out.raw
        done
    done
fi

# Bytes of each frame.
noise='videotestsrc num-buffers=4 pattern=zone-plate kx2=20 ky2=20 kt=5 ! video/x-raw,format=I420,width=640,height=480,framerate=25/1'
launch bytes "$noise ! lift2kenc ht=true irreversible=true max-bytes=60000 $on ! multifilesink location=f%d.j2c"
for i in 0 1 2 3; do
    size=$(wc -c <f$i.j2c)
    checks=$((checks + 1))
    [ "$size" -le 60000 ] && [ "$size" -ge 59700 ] || fault "frame $i has $size bytes, not 60000"
done
check 'HT' grep -q '^ht ' <("$lift2k" info f3.j2c)
launch quality "$noise ! lift2kenc irreversible=true quality=90 ! multifilesink location=q%d.j2c"
check 'quality: steps are coarser than the default ones' grep -q '9/7' <("$lift2k" info q0.j2c)
checks=$((checks + 1))
# shellcheck disable=SC2086
timeout 20 gst-launch-1.0 -q $noise ! lift2kenc quality=90 ! fakesink >said 2>&1 && fault 'a quality factor of the 5/3'
check 'it says why' grep -q 'quality factor' said

# A frame that is cut off is shown, one of rubbish is left out, and the others stay.
head -c 30000 f1.j2c >cut && mv cut f1.j2c
head -c 30000 /dev/zero >f2.j2c
launch damaged 'multifilesrc location=f%d.j2c caps=image/x-jpc,framerate=25/1 ! lift2kdec ! filesink location=out.raw'
check 'three frames are left' test "$(wc -c <out.raw)" -eq $((3 * 640 * 480 * 3 / 2))
finish
