#!/usr/bin/env bash
# compat_probe, which goes through the whole interface of the decoder, says the same of each file with both libraries.
# Arguments: the folder of our library, compat_probe, the lift2k binary, the folder with the pictures. With
# L2K_CONFORMANCE_SET, also the correct files of that set.
ours=$1
probe=$2
lift2k=$3
data=$4
. "$(dirname "$0")/support.sh"

same() { # same FILE
    checks=$((checks + 1))
    with theirs timeout 60 "$probe" "$1" >theirs.txt 2>&1
    [ $? -lt 124 ] || { echo "left out: OpenJPEG crashes with $1"; return 0; }
    with ours timeout 60 "$probe" "$1" >ours.txt 2>&1
    # Some files OpenJPEG does not decode in part; then ours need not fail.
    diff theirs.txt ours.txt >difference.txt || grep -q '^< .*failed' difference.txt || {
        fault "interface: $1"
        head -8 difference.txt
    }
}

number=0
while read -r picture options; do
    number=$((number + 1))
    # shellcheck disable=SC2086
    runs "$options" encode "$data/$picture" $number.jp2 --quiet $options
    # shellcheck disable=SC2086
    runs "$options" encode "$data/$picture" $number.j2k --quiet $options
    same $number.jp2
    same $number.j2k
done <<'EOF'
camera.png
chelsea.png -t 128,100
coffee.png -I -r 40,10
chelsea.png -d 33,17 -t 200,150 --tile-origin 11,5 -p RPCL --plt --tlm
camera.png -I --levels 2 -c 64,64 -p PCRL --sop --eph
chelsea.png --style bypass,termall,segsym -b 32,16
camera.png -t 15,14 --levels 5
EOF
printf 'P5\n3 2\n65535\n\1\2\3\4\5\6\7\10\11\12\13\14' >deep.pgm
runs "16 bits" encode deep.pgm deep.jp2 --levels 1 --quiet
same deep.jp2
printf 'P1 not JPEG 2000 at all' >none.jp2
same none.jp2
head -c 300 1.jp2 >cut.jp2
same cut.jp2
# A box behind the codestream, of eight bytes.
(cat 4.jp2 && printf '\0\0\0\10free') >behind.jp2
same behind.jp2
head -c -3 behind.jp2 >behind_cut.jp2
same behind_cut.jp2
if [ -n "$L2K_CONFORMANCE_SET" ]; then
    for file in "$L2K_CONFORMANCE_SET"/iso/p*.j2k "$L2K_CONFORMANCE_SET"/jp2/*.jp2; do
        # Its components have a resolution without samples, which OpenJPEG does not count as decoded.
        [ "$(basename "$file")" = p0_13.j2k ] || same "$file"
    done
fi
finish
