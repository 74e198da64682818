#!/usr/bin/env bash
# lift2k encode: progression order changes, a component of interest, guard bits, comments, profiles: that other programs
# read them, that opj_compress writes the same, and refusals; and lift2k transcode. Arguments: the lift2k binary, the folder with the pictures.
lift2k=$1
data=$2
export LC_ALL=C
. "$(dirname "$0")/support.sh"

"$lift2k" decode <("$lift2k" encode "$data/coffee.png" - --quiet) a.ppm --quiet 2>err.log || cat err.log

# both NAME OPENJPEG'S OPTIONS -- LIFT2K'S: the same bytes, and lift2k decodes them to the picture.
both() {
    local name=$1 theirs=()
    shift
    while [ "$1" != -- ]; do
        theirs+=("$1")
        shift
    done
    shift
    runs "$name" encode a.ppm b.j2k --quiet --verify --comment 'a comment' "$@"
    command -v opj_compress >/dev/null || return 0
    check "$name: opj_compress" opj_compress -i a.ppm -o c.j2k -C 'a comment' "${theirs[@]}"
    check "$name: the bytes of opj_compress" cmp b.j2k c.j2k
    check "$name: opj_decompress" opj_decompress -i b.j2k -o c.ppm -quiet
    check "$name: the samples of opj_decompress" "$lift2k" compare a.ppm c.ppm --quiet
}

both "comment" --
both "two orders" -POC T1=0,0,1,5,3,CPRL/T1=5,0,1,6,3,CPRL -- --poc 0:0,0,1,5,3,CPRL/0:5,0,1,6,3,CPRL
both "three orders of the first tile" -t 300,300 -POC T1=0,0,1,6,1,RPCL/T1=0,1,1,2,3,LRCP/T1=2,1,1,6,3,PCRL -- \
    -t 300,300 --poc 0:0,0,1,6,1,RPCL/0:0,1,1,2,3,lrcp/0:2,1,1,6,3,PCRL
both "a component of interest" -ROI c=1,U=9 -- --roi 1,9
for bits in 1 3 7; do
    both "$bits guard bits" -GuardBits $bits -- --guard-bits $bits
done
runs "changes of all tiles" encode a.ppm d.j2k -t 200,200 --rate 20,5,1 --quiet --verify \
    --poc 0,0,1,6,3,RPCL/0,0,3,3,2,LRCP/2:0,0,3,6,3,CPRL/0,0,3,6,3,PCRL
runs "and by rows" encode a.ppm e.j2k -t 200,200 --by-rows --poc 0,0,1,3,3,LRCP/0,0,1,6,3,CPRL --tlm --plt --quiet
runs "as the whole" encode a.ppm f.j2k -t 200,200 --poc 0,0,1,3,3,LRCP/0,0,1,6,3,CPRL --tlm --plt --quiet
check "by rows as the whole" cmp e.j2k f.j2k
runs "no comment" encode a.ppm g.j2k --comment '' --quiet
runs "a comment of nine characters" encode a.ppm i.j2k --comment 'a comment' --quiet
check "its marker segment has 15 bytes" test $(($(wc -c <i.j2k) - $(wc -c <g.j2k))) -eq 15

# ---- Profiles and limits

{
    printf 'P6\n96 64\n4095\n'
    tail -c 6144 a.ppm | od -An -v -tu1 | awk '{ for (i = 1; i <= NF; i++) for (k = 0; k < 6; k++) printf "%c%c", 1 + k, 1 + $i % 120 }'
} >twelve.ppm
while read -r name theirs; do
    runs "$name" encode twelve.ppm p.j2k --profile "$name" --comment c --quiet
    command -v opj_compress >/dev/null || continue
    # shellcheck disable=SC2086
    check "$name: opj_compress" opj_compress -i twelve.ppm -o q.j2k -C c $theirs
    check "$name: the bytes of opj_compress" cmp p.j2k q.j2k
done <<'PROFILES'
cinema2k -cinema2K 24
cinema2k,fps=48 -cinema2K 48
cinema4k -cinema4K
imf2k -IMF 2K
imf8k,main=6,sub=3,fps=60 -IMF 8K,mainlevel=6,sublevel=3,framerate=60
imf4k-r,main=1 -IMF 4K_R,mainlevel=1
PROFILES
runs "a limit" encode a.ppm k.jp2 --max-bytes 20K --quiet
check "a limit is kept" test "$(wc -c <k.jp2)" -le 20000
check "and used" test "$(wc -c <k.jp2)" -gt 19000
runs "a limit of components" encode a.ppm k.jp2 --component-bytes 5K --rate 20,1 --quiet
check "a limit of components is kept" test "$(wc -c <k.jp2)" -le 15300
# What may be lossy by these is kept by --verify.
for options in --max-bytes --component-bytes; do
    runs "a limit below the headers: $options" encode a.ppm k.jp2 $options 5 --rate 100,1
    check "a limit below the headers: $options: a warning" test "$(grep -c 'headers.* alone take more than 5 bytes' err.log)" = 1
done
for options in "--profile imf2k" "--max-bytes 20K" "--component-bytes 5K"; do
    runs "$options --verify" encode a.ppm k.j2k $options --verify
    check "$options --verify: PSNR" grep -q 'k.j2k: verified: component 2 PSNR' err.log
    check "$options --verify: kept" test -s k.j2k
    rm -f k.j2k
done

# What a profile fixes is not dropped, and not changed: the message names the profile, and what that needs. A limit below
# its own holds.
while read -r profile option pattern values; do
    # shellcheck disable=SC2086
    refuses "$profile $option $values" h.j2k "twelve.ppm: .*${pattern//_/ }" \
        encode twelve.ppm h.j2k --profile "$profile" --plt $values --quiet
done <<'AGAINST'
cinema2k --style without_styles --ht --ht-passes 3 --style vsc
cinema2k --tile one_tile,_not_tiles_of_50_x_50 -t 50,50
cinema2k --block code-blocks_of_32_x_32 -b 64,64
cinema2k --levels 0_to_5_decomposition_levels,_not_6 --levels 6
cinema2k --progression progression_order_CPRL --progression LRCP
cinema2k --progression progression_order_CPRL -p LRCP --poc 0,0,1,6,3,CPRL
cinema2k --poc progression_order_CPRL.*changes_says --poc 0,0,1,6,3,CPRL
cinema4k --poc CPRL_for_all.*changes_says --poc 0,0,1,6,3,CPRL
imf4k --precincts precincts_of_256_x_256.*precincts_says -c 128,128
imf2k --rate one_layer.*layers_says --rate 20,10
imf2k --psnr one_layer.*layers_says -q 30,40
imf2k --kernel kernels --kernel haar
imf2k --split split_both_ways --split h
imf2k --origin at_the_origin -d 1,0
imf2k --roi no_region_of_interest --roi 0,3
imf2k-r --step base_step_says --step 0.01
imf2k-r --irreversible the_5/3_wavelet -I
imf4k-r,main=1 --style without_styles -b 32,32 --style bypass
AGAINST
runs "--visual at its distance" encode twelve.ppm k.j2k -r 20 --visual --comment c --quiet
runs "--visual at that distance" encode twelve.ppm l.j2k -r 20 --visual=2500 --comment c --quiet
check "--visual: its distance is 2500" cmp k.j2k l.j2k
rm -f l.j2k
runs "a step beside a profile" encode twelve.ppm k.j2k --profile cinema2k --step 0.01 --quiet
runs "what a profile fixes, given" encode twelve.ppm k.j2k --profile cinema2k -b 32,32 -p CPRL -I -r 20 --tlm --quiet
runs "broadcast in four tiles" encode twelve.ppm k.j2k --profile broadcastmulti,main=4,fps=60 -t 48,32 --quiet
check "broadcast in four tiles: Rsiz" test "$("$lift2k" info k.j2k | grep -c -e '^profile *516$' -e ', tile_parts 12$')" = 2
runs "imf2k --ht" encode twelve.ppm m.jph --profile imf2k,main=2 --ht --quiet
check "imf2k --ht: CPF" test "$("$lift2k" info m.jph | grep -c -e '^corresponding_profile *1026$' -e '^profile *16384$')" = 2
runs "a limit below the profile's" encode twelve.ppm k.j2k --profile cinema2k --max-bytes 3K --quiet
check "a limit below the profile's is kept" test "$(wc -c <k.j2k)" -le 3000
runs "a limit of components below the profile's" encode twelve.ppm k.j2k --profile imf2k --component-bytes 1K --quiet
check "a limit of components below the profile's is kept" test "$(wc -c <k.j2k)" -le 3300

# Layers close together: what the packets of later ones take without code-blocks is left for them.
tail -c +64 a.ppm | head -c 2304 >close.raw
for options in "" -I "-t 16,16" "--sop --eph --plt"; do
    # shellcheck disable=SC2086
    runs "close layers $options" encode close.raw k.j2k --raw 48,48,1,8,u -r 2.53,2.52,2.51,2.5 $options --quiet
    check "close layers $options: the last one's size" test "$(wc -c <k.j2k)" -le 921
    check "close layers $options: no warning" test ! -s err.log
done

# ---- Bands

# Ten bands are neither sRGB nor joined, unless --mct asks for it: component 0 is the first band.
tail -c 5000 a.ppm | head -c 640 >ten.raw
head -c 64 ten.raw >first.raw
band() { # band NAME COLOUR TRANSFORM: of n.jp2
    "$lift2k" info n.jp2 >info.log
    check "$1: colour" grep -qE "^colour +$2\$" info.log
    check "$1: component transform" grep -qE "^component_transform +$3\$" info.log
}
runs "ten bands" encode ten.raw n.jp2 --raw 8,8,10,8,u --quiet
band "ten bands" gray none
runs "the first band" decode n.jp2 one.raw --component 0 --quiet
check "the first band is component 0" cmp one.raw first.raw
runs "ten bands as TIFF" decode n.jp2 ten.tif --quiet
runs "ten bands of TIFF" encode ten.tif n.jp2 --quiet
band "ten bands of TIFF" gray none
head -c 128 ten.raw >two.raw
runs "two components, joined" encode two.raw n.jp2 --raw 8,8,2,8,u --mct
check "two components, joined: a note" grep -q '^lift2k: two.raw: no component transform: it needs three comp' err.log
runs "no palette" encode a.ppm n.jp2 --palette
check "no palette: a warning" grep -q '^lift2k: a.ppm: warning: has no palette: --palette changes nothing$' err.log
runs "ten bands, joined" encode ten.raw n.jp2 --raw 8,8,10,8,u --quiet --mct
band "ten bands, joined" gray RCT
head -c 192 ten.raw >three.raw
runs "three bands" encode three.raw n.jp2 --raw 8,8,3,8,u --quiet
band "three bands" sRGB RCT
{
    printf 'P7\nWIDTH 8\nHEIGHT 8\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n'
    head -c 256 ten.raw
} >four.pam
runs "RGB and opacity" encode four.pam n.jp2 --quiet
band "RGB and opacity" sRGB RCT
runs "subbands of ten bands" dump ten.tif bands --quiet
check "subbands of ten bands: none is joined" grep -q '"component_transform": "none"' bands/*.json

refused() { # refused PATTERN ARGUMENTS...
    local pattern=$1
    shift
    refuses "$*" h.j2k "$pattern" encode a.ppm h.j2k "$@" --quiet
}
for bad in '' 1 0,0,1,6,3 0,0,1,6,3,XYZW 0,0,1,6,3,LRC 0,0,1,6,3,LRCP/ 0,0,1,6,3,LRCPx :0,0,1,6,3,LRCP 5000000000:0,0,1,6,3,LRCP; do
    refused '--poc.*not of the form' --poc "$bad"
done
refused 'leave out layer 0 of resolution 5 of component 0' --poc 0,0,1,5,3,LRCP
refused 'leave out layer 0 of resolution 0 of component 2' --poc 0,0,1,6,2,LRCP
refused 'leave out layer 1' --poc 0,0,1,6,3,LRCP --rate 10,1
refused 'of tile 1, but there are 1' --poc 1:0,0,1,6,3,LRCP
refused 'resolutions must be a range' --poc 3,0,1,3,3,LRCP
refused '--roi.*C,SHIFT' --roi 3
refused 'shift of a region of interest 38 is outside 0 to 37' --roi 0,38
refused 'component 3 is to be of interest, but there are 3' --roi 3,5
refused 'without regions of interest' --roi 0,5 --ht
for bad in '' cinema 'cinema2k,fps' 'cinema2k,fps=' 'cinema2k,main=1' 'broadcast,sub=1' 'imf2k,main=16' 'imf2k,sub=x' 'imf2k,' 'imf2k;main=1'; do
    refused '--profile.*not a profile' --profile "$bad"
done
refused '24 or 48 frames' --profile cinema2k,fps=25
refused 'sub-level of at most 1' --profile imf2k,main=1,sub=2
refused 'main level of at most 11' --profile imf2k,main=12
refused 'needs unsigned samples of 12 bits' --profile cinema2k
head -c 16 /dev/zero >wide.raw
refuses "9/7 of 24 bits" h.j2k 'precision of 24 is not possible: the 9/7 takes 1 to 16 bits' \
    encode wide.raw h.j2k --raw 2,2,1,24,u -I --quiet
refused 'not with --irreversible' --kernel 1-3 -I
refused 'not with --irreversible' -I --kernel haar
refused 'a letter b, h or v' --split bhx
refused 'directions of 6 levels, but 5' --split hhhhhh
refused 'all tiles at once' --max-bytes 1000 --by-rows -t 100,100
refused '--max-bytes' --max-bytes 0
refused '--visual 0: .*1 to 16000' --visual=0
refused '--guard-bits.*1 to 7' --guard-bits 0
refused '--guard-bits.*1 to 7' --guard-bits 8

# ---- Transcoding

runs "a file to transcode" encode a.ppm t.jp2 --rate 20,4 --plt --quiet
runs "no change" transcode t.jp2 same.jp2 --quiet
check "the same bytes" cmp t.jp2 same.jp2
runs "to HT" transcode t.jp2 t.jph --ht -p RPCL --tlm --quiet -j 2
runs "back" transcode t.jph back.j2k --mq --quiet
for file in t.jph back.j2k; do
    check "the samples of $file" "$lift2k" compare t.jp2 $file --quiet
    command -v opj_decompress >/dev/null || continue
    check "opj_decompress of $file" opj_decompress -i $file -o o.ppm -quiet
    "$lift2k" decode t.jp2 t.ppm --quiet
    check "its samples" "$lift2k" compare o.ppm t.ppm --quiet
done
check "through pipes" sh -c "'$lift2k' transcode - - --reduce 1 --quiet <t.jp2 | '$lift2k' decode - half.ppm --quiet"
runs "half the size" decode t.jp2 half_too.ppm --reduce 1 --quiet
check "is that of reduced decoding" cmp half.ppm half_too.ppm
runs "a folder" transcode t.jp2 same.jp2 --out-dir transcoded --ht --quiet
check "has all files" test -s transcoded/t.jph -a -s transcoded/same.jph
head -c 3000 t.jp2 >cut.jp2
"$lift2k" transcode cut.jp2 cut.j2k --ht --quiet
check "exit status 3 for a file that ends early" test $? -eq 3
check "what is left of it" sh -c "'$lift2k' decode cut.jp2 x.ppm --quiet; '$lift2k' decode cut.j2k y.ppm --quiet; cmp x.ppm y.ppm"
refuses "strictly" z.jp2 'ends in' transcode cut.jp2 z.jp2 --strict
refuses "HT in .jp2" z.jp2 'no HT code-blocks' transcode t.jp2 z.jp2 --ht
refuses "both kinds" z.jp2 'not together' transcode t.jp2 z.jp2 --ht --mq
refuses "precincts" z.jp2 'cut code-blocks' transcode t.jp2 z.jp2 -c 32,32
refuses "no JPEG 2000" z.jp2 'neither a JP2' transcode a.ppm z.jp2
finish
