#!/usr/bin/env bash
# opj_compress, opj_decompress and opj_dump do the same with both libraries: bytes but for COM, samples, exit status, text.
# Arguments: the folder of our library, the lift2k binary, the folder with the pictures. With L2K_CONFORMANCE_SET, also
# the files of that set, damaged ones included.
ours=$1
lift2k=$2
data=$3
. "$(dirname "$0")/support.sh"
missing opj_compress libopenjp2-tools && exit 77

# ---- Encoding ----

encodes() { # encodes EXTENSION INPUT OPTIONS...
    local extension=$1 input=$2 which
    shift 2
    checks=$((checks + 1))
    for which in theirs ours; do
        rm -f $which.$extension
        with $which opj_compress -i "$input" -o $which.$extension "$@" >$which.log 2>&1
        echo $? >$which.status
    done
    cmp -s theirs.status ours.status || { fault "opj_compress: status: $*"; tail -2 ours.log; return 0; }
    [ -s theirs.$extension ] || return 0
    same_code theirs.$extension ours.$extension || fault "opj_compress: bytes: $*"
    cmp -s <(head -c 80 theirs.$extension) <(head -c 80 ours.$extension) || [ "$extension" = j2k ] ||
        fault "opj_compress: boxes: $*"
}

for name in camera chelsea; do
    runs "$name" encode "$data/$name.png" $name.jp2 --quiet
    runs "$name as samples" decode $name.jp2 $name.ppm --quiet
done
while read -r options; do
    # shellcheck disable=SC2086
    encodes j2k chelsea.ppm $options
done <<'EOF'
-n 6
-I -t 100,80 -p RPCL -SOP -EPH
-n 4 -c [128,128],[64,128] -b 16,32 -p RPCL -TP R -PLT -TLM
-I -M 63 -d 5,7 -T 2,3 -t 128,64
-ROI c=1,U=7
-POC T1=0,0,1,3,3,LRCP/T1=3,0,1,6,3,CPRL -n 6
-C hello
-mct 0 -GuardBits 3
-n 1
-n 33
-b 3,64
-cinema2K 24
-IMF 2K
EOF
encodes jp2 camera.ppm -n 5
encodes jp2 chelsea.ppm -I

# ---- Decoding ----

decodes() { # decodes FILE OPTIONS...
    local file=$1 which
    shift
    checks=$((checks + 1))
    for which in theirs ours; do
        rm -rf $which
        mkdir $which
        with $which timeout 60 opj_decompress -i "$file" -o $which/out.pgx "$@" >$which.log 2>&1
        echo $? >$which.status
    done
    [ "$(cat ours.status)" -lt 124 ] || fault "opj_decompress: crash: $file $*"
    [ "$(cat theirs.status)" -lt 124 ] || return 0 # OpenJPEG crashed
    if [ "$(cat theirs.status)" -eq 0 ]; then
        cmp -s theirs.status ours.status || { fault "opj_decompress: status: $file $*"; grep ERROR ours.log | head -2; }
        diff -r theirs ours >/dev/null || fault "opj_decompress: samples: $file $*"
    elif [ "$tolerant" -eq 0 ]; then
        cmp -s theirs.status ours.status || fault "opj_decompress: no error: $file $*"
    fi
}

dumps() { # dumps FILE
    local which
    checks=$((checks + 1))
    for which in theirs ours; do
        with $which timeout 60 opj_dump -i "$1" 2>&1 | grep -v '^\[\|ERROR' >$which.dump
        echo "${PIPESTATUS[0]}" >$which.status
    done
    diff theirs.dump ours.dump >difference.txt && cmp -s theirs.status ours.status || {
        fault "opj_dump: $1"
        head -5 difference.txt
    }
}

tolerant=0
runs "tiles" encode "$data/coffee.png" tiles.jp2 -t 200,150 --quiet
for file in camera.jp2 chelsea.jp2 tiles.jp2 theirs.jp2; do
    cp $file in.jp2
    for options in "" "-r 2" "-l 1" "-d 20,30,140,99" "-t 0" "-allow-partial" "-threads 2"; do
        # shellcheck disable=SC2086
        decodes in.jp2 $options
    done
    dumps in.jp2
done
# Without strictness OpenJPEG drops code-blocks of which a layer is cut; of one layer, what is whole is the same.
for bytes in 200 3000 30000; do
    head -c $bytes camera.jp2 >in.jp2
    decodes in.jp2
    decodes in.jp2 -allow-partial
done

# OpenJPEG goes by the name's extension.
from_set() { # from_set FILE
    case $1 in
    *.j2c | *.jhc) name=in.j2k ;;
    *.jph) name=in.jp2 ;;
    *) name=in.${1##*.} ;;
    esac
    cp "$1" $name
    chmod u+w $name
}
if [ -n "$L2K_CONFORMANCE_SET" ]; then
    for file in "$L2K_CONFORMANCE_SET"/iso/* "$L2K_CONFORMANCE_SET"/jp2/* "$L2K_CONFORMANCE_SET"/valid/*; do
        # Files of Part 15 that OpenJPEG refuses are decoded.
        case $file in */ds* | */hifi*) tolerant=1 ;; *) tolerant=0 ;; esac
        from_set "$file"
        decodes $name
        decodes $name -r 1
        case $file in */ds0_hm*) ;; *) dumps $name ;; esac
    done
    tolerant=0
    for file in "$L2K_CONFORMANCE_SET"/corrupt/*; do
        # Fewer quantiser steps than levels: lift2k refuses that.
        case $file in */4241ac*) continue ;; esac
        from_set "$file"
        decodes $name
        dumps $name
    done
fi
finish
