#!/usr/bin/env bash
# The command as a user sees it. Arguments: the lift2k binary, the make_stream helper, the folder with the pictures.
# A case prints a line only if it fails; the last line counts them.
lift2k=$1
make_stream=$2
data=$3
. "$(dirname "$0")/support.sh"

# ---- Pictures to work on ----

picture() { # picture NAME SIZE-ARGUMENTS: a small colour picture without tools from elsewhere
    runs "crop $1" encode "$data/chelsea.png" crop.jp2 --quiet
    runs "crop $1" decode crop.jp2 "$1" --region "$2" --quiet
}

picture rgb.ppm 100,60,163,111
picture rgb.png 100,60,163,111
runs gray encode "$data/camera.png" gray.jp2 --quiet
runs gray decode gray.jp2 gray.pgm --region 3,5,80,66 --quiet
rm -f crop.jp2 gray.jp2
check "sizes" grep -qa '^63 51$' rgb.ppm
runs "bare codestream" encode rgb.ppm small.j2k --levels 3 --quiet
runs "JP2" encode rgb.ppm small.jp2 --levels 3 --quiet
runs "PGX" decode small.j2k small.pgx --quiet
printf 'P7\nWIDTH 3\nHEIGHT 2\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\nabcdefghijklmnopqrstuvwx' >alpha.pam
printf 'P7\nWIDTH 3\nHEIGHT 2\nDEPTH 2\nMAXVAL 65535\nTUPLTYPE GRAYSCALE_ALPHA\nENDHDR\nabcdefghijklmnopqrstuvwx' >deep.pam
printf 'P4\n13 3\n\252\160\125\210\377\370' >bits.pbm
printf 'P2\n# a comment\n3 2\n1000\n0 1 2\n500 999 1000\n' >ascii.pgm
printf 'P3\n2 1\n255\n1 2 3 4 5 6\n' >ascii.ppm

# ---- Round trips ----

same() { # same NAME IN EXTENSION ENCODER-OPTIONS...: encodes, decodes to the same format, and compares
    local name=$1 in=$2 ext=$3
    shift 3
    runs "$name" encode "$in" trip.jp2 --quiet "$@"
    runs "$name" decode trip.jp2 "trip.$ext" --quiet
    check "$name" cmp "$in" "trip.$ext"
    rm -f trip.*
}

same "ppm" rgb.ppm ppm
same "ppm as pnm" rgb.ppm pnm
same "pgm" gray.pgm pgm
same "pgm as pnm" gray.pgm pnm
same "pbm" bits.pbm pbm
same "pam with opacity" alpha.pam pam
same "16 bit pam with opacity" deep.pam pam
for option in "-p RLCP" "-p rpcl" "-p PCRL" "-p CPRL" "--tile 20,17" "-t 64,64 -d 5,7 --tile-origin 2,3" "-b 16,32" "-b 4,1024" \
    "-c 32,32,16,16" "--levels 0" "--levels 32" "--style bypass,termall" "--style reset,vsc,pterm,segsym" "--no-mct" \
    "--sop --eph --plt --tlm" "--tile-parts R" "--tile-parts L -r 8,1" "--tile-parts C -p CPRL" "-j 1" "--threads 3" \
    "--backend cpu" "--backend auto --gpu-min-samples 0" "-q 30,0" "--rate=4,2,1"; do
    same "option $option" rgb.ppm ppm $option
done
for pnm in ascii.pgm ascii.ppm; do # the values survive, the file becomes a binary one
    runs "$pnm" encode $pnm trip.jp2 --quiet
    runs "$pnm" decode trip.jp2 trip.pnm --quiet
    check "$pnm" test "$(head -c 2 trip.pnm)" != "$(head -c 2 $pnm)"
    runs "$pnm" encode trip.pnm again.jp2 --quiet
    check "$pnm" cmp trip.jp2 again.jp2
done
rm -f trip.* again.*
runs "png" encode rgb.png trip.jp2 --quiet
runs "png to ppm" decode trip.jp2 trip.ppm --quiet
check "png holds the same samples" cmp rgb.ppm trip.ppm
runs "jp2 to png" decode trip.jp2 trip.png --quiet
runs "png again" encode trip.png again.jp2 --quiet
check "png round trip" cmp trip.jp2 again.jp2
rm -f trip.* again.*
check "pgx planes" test -s small_0.pgx -a -s small_1.pgx -a -s small_2.pgx
runs "pgx planes in" encode small.pgx again.j2k --levels 3 --quiet
check "pgx planes round trip" cmp small.j2k again.j2k
runs "one pgx in" encode small_1.pgx one.jp2 --quiet
runs "one pgx out" decode one.jp2 one.pgm --quiet
runs "component as pgm" decode small.j2k component.pgm --component 1 --quiet
runs "component as pgx" decode small.j2k component.pgx --component 1 --quiet
check "one file for one component" test -s component_0.pgx -a ! -e component_1.pgx
rm -f again.* one.* component*

# ---- Names and contents ----

cp rgb.png picture.ppm # the content counts, not the name
runs "png named ppm" encode picture.ppm trip.jp2 --quiet
cp small.jp2 odd.j2k
runs "jp2 named j2k" decode odd.j2k trip.ppm --quiet
check "content detected" cmp rgb.ppm trip.ppm
cp small.j2k odd.jp2
runs "j2k named jp2" decode odd.jp2 trip.ppm --quiet
check "content detected" cmp rgb.ppm trip.ppm
check "j2k starts with SOC" test "$(head -c 2 small.j2k | od -An -tx1 | tr -d ' ')" = ff4f
check "jp2 starts with its signature" test "$(head -c 8 small.jp2 | tail -c 4)" = "jP  "
runs "upper case extension" decode small.jp2 TRIP.PPM --quiet
check "upper case extension" cmp rgb.ppm TRIP.PPM
runs "gray to ppm" encode gray.pgm g.jp2 --quiet
runs "gray to ppm" decode g.jp2 g.ppm --quiet
check "ppm has three components" test "$(head -c 2 g.ppm)" = P6
refuses "colour to pgm" x.pgm "3 components" decode small.jp2 x.pgm
refuses "colour to pbm" x.pbm "3 components" decode small.jp2 x.pbm
runs "opacity" encode alpha.pam a.jp2 --quiet
refuses "opacity to ppm" x.ppm "png" decode a.jp2 x.ppm
refuses "gray to pbm" x.pbm "bit" decode g.jp2 x.pbm
refuses "unknown picture format" x.xyz "xyz|format" decode small.jp2 x.xyz
refuses "no extension" x "format" decode small.jp2 x
refuses "unknown codestream format" x.png "format|known" encode rgb.ppm x.png
rm -f trip.* TRIP.* odd.* picture.ppm g.* a.jp2

# ---- Pipes ----

check "encode from pipe to pipe" sh -c "cat rgb.ppm | '$lift2k' encode - - --quiet --levels 3 | cmp - small.jp2"
check "decode from pipe to pipe" sh -c "cat small.j2k | '$lift2k' decode - - --quiet | cmp - rgb.ppm"
check "gray to a pipe" sh -c "'$lift2k' encode gray.pgm - --quiet | '$lift2k' decode - - --quiet | cmp - gray.pgm"
check "opacity to a pipe" sh -c "'$lift2k' encode alpha.pam - --quiet | '$lift2k' decode - - --quiet | cmp - alpha.pam"
check "png from a pipe" sh -c "cat rgb.png | '$lift2k' encode - - --quiet | '$lift2k' decode - - --quiet | cmp - rgb.ppm"
check "info from a pipe" sh -c "cat small.jp2 | '$lift2k' info - | grep -q 63"
check "only the file on standard output" sh -c "'$lift2k' encode rgb.ppm - --levels 3 2>/dev/null | cmp - small.jp2"

# ---- Options of decode ----

runs "reduce" decode small.jp2 r.ppm --reduce 1 --quiet
check "reduce" grep -qa '^32 26$' r.ppm
runs "region" decode small.jp2 r.ppm --region 10,20,30,25 --quiet
check "region" grep -qa '^20 5$' r.ppm
runs "region larger than the image" decode small.jp2 r.ppm --region 0,0,9999,9999 --quiet
check "region larger than the image" cmp rgb.ppm r.ppm
runs "layers" encode rgb.ppm l.jp2 -r 20,5,1 --quiet
runs "layers" decode l.jp2 l1.ppm --layers 1 --quiet
runs "layers" decode l.jp2 l3.ppm --layers 3 --quiet
runs "layers" decode l.jp2 l9.ppm --layers 9 --quiet
check "all layers" cmp rgb.ppm l3.ppm
check "more layers than the file has" cmp rgb.ppm l9.ppm
check "fewer layers differ" sh -c '! cmp -s rgb.ppm l1.ppm'
runs "irreversible" encode rgb.ppm i.jp2 -I -r 10 --quiet
check "rate is met" test "$(stat -c %s i.jp2)" -le $((63 * 51 * 3 / 10))
rm -f r.ppm l.jp2 l?.ppm i.jp2
refuses "too large a reduction" x.ppm "resolution" decode small.jp2 x.ppm --reduce 4
refuses "a region outside the image" x.ppm "region" decode small.jp2 x.ppm --region 63,0,70,9
refuses "a component that does not exist" x.ppm "there is no component 3, only 0 to 2" decode small.jp2 x.ppm --component 3

# ---- Impossible options ----

refuses "unknown command" "" "transmute" transmute a b
refuses "no names" "" "encode" encode
refuses "one name" "" "encode" encode rgb.ppm
refuses "three names" x.jp2 "" encode rgb.ppm x.jp2 y.jp2
refuses "unknown option" x.jp2 "frobnicate" encode rgb.ppm x.jp2 --frobnicate
refuses "unknown letter" x.jp2 "Z" encode rgb.ppm x.jp2 -Z
refuses "missing value" x.jp2 "rate" encode rgb.ppm x.jp2 --rate
while read -r option value; do
    refuses "--$option $value" x.jp2 "$option" encode rgb.ppm x.jp2 "--$option=$value"
done <<'OPTIONS'
rate 
rate abc
rate -5
rate nan
rate inf
rate 1e400
rate 10,,5
rate 5,
psnr -1
psnr x
levels 33
levels -1
levels 5x
levels 99999999999999999999
levels 
tile 0,0
tile 0,5
tile 5
tile 5,5,5
tile -1,5
tile 4294967296,4
tile a,b
tile-origin 1
origin 1
origin -1,0
origin 4294967296,0
block 3,4
block 2,4
block 128,64
block 2048,4
block 64
block 0,0
precincts 64
precincts 64,64,32
progression LRCPX
progression XYZ
style none
style bypass,nonsense
tile-parts Q
threads -1
threads x
threads 1025
backend metal
gpu-min-samples -1
gpu-min-samples 4294967296
OPTIONS
while read -r pattern option value; do
    refuses "--$option $value" x.jp2 "${pattern//_/ }" encode rgb.ppm x.jp2 "--$option=$value"
done <<'OPTIONS'
every_layer_must_be_finer rate 10,20
every_layer_must_be_finer psnr 40,30
every_layer_must_be_finer psnr 0,40
tile_origin_1,0 tile-origin 1,0
precinct_size_3,3 precincts 3,3
precinct_size_65536,32768 precincts 65536,32768
precinct_size_0,0 precincts 0,0
OPTIONS
refuses "both targets" x.jp2 "exclude|rate|psnr" encode rgb.ppm x.jp2 -r 5 -q 30
refuses "too many tiles" x.jp2 "tiles" encode "$data/camera.png" x.jp2 -t 1,1
refuses "origin too far" x.jp2 "" encode rgb.ppm x.jp2 -d 4294967290,0
refuses "a first tile outside the image" x.jp2 "tile" encode rgb.ppm x.jp2 -d 50,50 -t 50,60
while read -r option value; do
    refuses "--$option $value" x.ppm "$option" decode small.jp2 x.ppm "--$option=$value"
done <<'OPTIONS'
reduce -1
reduce 33
reduce x
layers -1
layers 65536
region 1,2,3
region 5,5,5,9
region 5,5,9,5
region a,b,c,d
region 0,0,4294967296,4
component -1
component 16384
threads 1025
backend metal
gpu-min-samples x
OPTIONS
refuses "info without name" "" "info" info
refuses "info of a missing file" "" "missing.jp2" info missing.jp2

# ---- Backends ----

if "$lift2k" info --devices | grep -q 'name cuda, usable yes'; then
    same "--backend cuda" rgb.ppm ppm --backend cuda
else
    why=$("$lift2k" info --devices | sed -n 's/.*name cuda, usable no, text //p')
    refuses "encode without a GPU" x.jp2 "$why" encode rgb.ppm x.jp2 --backend cuda
    "$lift2k" info --devices | grep -q 'number 0,' || refuses "devices without a GPU" x.jp2 "$why" encode rgb.ppm x.jp2 --devices 0
    refuses "decode without a GPU" x.ppm "cuda" decode small.jp2 x.ppm --backend cuda
    runs "auto without a GPU" encode rgb.ppm auto.jp2 --levels 3 --backend auto --gpu-min-samples 0
    check "auto without a GPU gives no message" test "$(wc -l <err.log)" -eq 1
    check "auto without a GPU" cmp auto.jp2 small.jp2
    rm -f auto.jp2
fi

# ---- Bad input ----

mkdir folder
: >empty
printf 'just text, no picture at all\n' >text.txt
for verb in "encode x.jp2" "decode x.png"; do
    set -- $verb
    refuses "$1 a directory" "$2" "folder.*directory" "$1" folder "$2"
    refuses "$1 a missing file" "$2" "missing.*No such file" "$1" missing "$2"
    refuses "$1 an empty file" "$2" "empty" "$1" empty "$2"
    refuses "$1 text" "$2" "text.txt" "$1" text.txt "$2"
    refuses "$1 into a missing folder" "" "nowhere" "$1" "$([ "$1" = encode ] && echo rgb.ppm || echo small.jp2)" "nowhere/$2"
done
refuses "jp2 to encode" x.jp2 "small.jp2" encode small.jp2 x.jp2
refuses "png to decode" x.ppm "rgb.png" decode rgb.png x.ppm
refuses "info of a png" "" "rgb.png" info rgb.png
refuses "info of a directory" "" "folder" info folder
refuses "a directory as output" "" "folder" encode rgb.ppm folder
mkdir folder.jp2
refuses "a directory with a good name as output" "" "folder.jp2.*directory" encode rgb.ppm folder.jp2
rmdir folder.jp2

truncations() { # truncations VERB IN OUT [OPTION]: cut at some places, always refused
    local bytes size
    size=$(stat -c %s "$2")
    for bytes in 1 2 3 7 11 20 40 $((size / 4)) $((size / 2)) $((size - 40)) $((size - 3)); do
        { [ "$bytes" -ge "$size" ] || [ "$bytes" -lt 1 ]; } && continue
        head -c "$bytes" "$2" >cut
        refuses "$2 truncated to $bytes" "$3" "cut" "$1" cut "$3" $4
        checks=$((checks + 1)) # and the same through a pipe, whose length is not known
        if "$lift2k" "$1" - "$3" $4 --quiet <cut >out.log 2>err.log || [ "$(wc -l <err.log)" -ne 1 ] || [ -e "$3" ]; then
            fault "$2 truncated to $bytes from a pipe"
        fi
    done
    rm -f cut
}

: >cut
truncations encode rgb.png x.jp2
: >cut
truncations encode rgb.ppm x.jp2
: >cut
truncations encode alpha.pam x.jp2
: >cut
truncations encode bits.pbm x.jp2
: >cut
truncations encode small_0.pgx x.jp2
: >cut
truncations decode small.jp2 x.ppm --strict
: >cut
truncations decode small.j2k x.ppm --strict

incomplete() { # incomplete FILE BYTES: what is there is decoded, with a warning and a status of its own
    checks=$((checks + 1))
    head -c "$2" "$1" >cut
    "$lift2k" decode cut x.ppm 2>err.log
    [ $? -eq 3 ] || fault "$1 cut to $2: not status 3"
    grep -q "warning: the file ends in a tile-part" err.log || fault "$1 cut to $2: no warning"
    [ "$(head -c 15 x.ppm | head -2)" = "$(head -c 15 rgb.ppm | head -2)" ] || fault "$1 cut to $2: no picture"
    rm -f cut x.ppm
}
for file in small.jp2 small.j2k; do
    incomplete $file $(($(stat -c %s $file) / 2))
    incomplete $file $(($(stat -c %s $file) * 3 / 4))
done
head -c 30 ascii.pgm >cut.pgm
refuses "a truncated ASCII PGM" x.jp2 "cut.pgm" encode cut.pgm x.jp2

huge() { # huge NAME FILE: a header of 2^32 squared, refused at once
    checks=$((checks + 1))
    ($memory_limit && exec "$lift2k" "${3:-encode}" "$2" "x.${4:-jp2}") >out.log 2>err.log
    local status=$?
    if [ $status -eq 0 ] || [ $status -ge 126 ]; then fault "$1: status $status"; fi
    [ "$(wc -l <err.log)" -eq 1 ] || { fault "$1: not one line"; head -5 err.log; }
    [ ! -e "x.${4:-jp2}" ] || fault "$1: output exists"
}

# The limit shows that no memory is allocated; sanitizers reserve more address space than that.
memory_limit="ulimit -v 4000000"
[ -z "$L2K_NO_MEMORY_LIMIT" ] || memory_limit=true
printf 'P5\n4294967295 4294967295\n255\nabc' >huge.pgm
huge "huge pgm" huge.pgm
printf 'P5\n4294967296 4294967296\n255\nabc' >huge.pgm
huge "huge pgm, one more" huge.pgm
printf 'P6\n4000000000 4000000000\n65535\nabc' >huge.ppm
huge "huge ppm" huge.ppm
printf 'P7\nWIDTH 4294967295\nHEIGHT 4294967295\nDEPTH 16384\nMAXVAL 65535\nENDHDR\nabc' >huge.pam
huge "huge pam" huge.pam
printf 'P1\n4294967295 4294967295\n0 1 0' >huge.pbm
huge "huge ascii pbm" huge.pbm
printf 'PG ML + 8 4294967295 4294967295\nabc' >huge.pgx
huge "huge pgx" huge.pgx
{ printf '\211PNG\r\n\032\n\0\0\0\015IHDR\177\377\377\377\177\377\377\377\010\002\0\0\0'; printf 'abcdefgh'; } >huge.png
huge "huge png" huge.png
"$make_stream" small.j2k huge1.j2k patch 8 ffffffffffffffff
huge "huge codestream, many tiles" huge1.j2k decode ppm
"$make_stream" huge1.j2k huge.j2k patch 24 ffffffffffffffff
huge "huge codestream, one tile" huge.j2k decode ppm
huge "huge codestream to pgx" huge.j2k decode pgx
while read -r text; do
    printf "$text" >bad
    refuses "bad header $text" x.jp2 "bad" encode bad x.jp2
done <<'HEADERS'
P5\n0 5\n255\nabc
P5\n5 0\n255\nabc
P5\n-5 5\n255\nabc
P5\n5 5\n0\nabc
P5\n5 5\n65536\nabc
P5\n5 x\n255\nabc
P2\n2 1\n255\n1 256\n
P2\n2 1\n255\n1 a\n
P1\n2 1\n0 2\n
P8\n2 1\n255\nabcdef
P7\nWIDTH 2\nHEIGHT 1\nDEPTH 0\nMAXVAL 255\nENDHDR\nabcd
P7\nWIDTH 2\nHEIGHT 1\nMAXVAL 255\nENDHDR\nabcd
P7\nWIDTH 2\nHEIGHT 1\nDEPTH 2\nMAXVAL 255\nabcd
P7\nWIDTH 2\nNONSENSE 1\nENDHDR\nabcd
PG ML + 0 2 2\nabcd
PG ML + 39 2 2\nabcd
PG XX + 8 2 2\nabcd
PG ML + 8 0 2\nabcd
HEADERS
rm -f bad huge*

# ---- Wrong or unknown markers ----

marker() { # marker NAME WHERE CODE PARAMETERS: refused, and by its name
    "$make_stream" small.j2k marked.j2k "$2" "$3" "$4" || fault "make_stream $*"
    refuses "$1 in the $2 header" x.ppm "$1" decode marked.j2k x.ppm
    rm -f marked.j2k
}

for where in main tile; do
    : >marked.j2k
    marker "POC: an impossible progression order" $where ff5f 00000001040309
    : >marked.j2k
    marker "POC: a progression without packets" $where ff5f 03000001020300
    : >marked.j2k
    marker "POC: its length" $where ff5f 000000010403
    : >marked.j2k
    marker "RGN: region of interest style 1" $where ff5e 000105
    : >marked.j2k
    marker "RGN: a component that does not exist" $where ff5e 090005
done
: >marked.j2k
marker "PPM: packet headers for 0 tile-parts" main ff60 00
: >marked.j2k
marker "PPM: 256 bytes of packet headers, but only 1" main ff60 000000010000
: >marked.j2k
marker "CAP: capabilities of Part 16" main ff50 000100000000
: >marked.j2k
marker "marker FF74 MCT of Part 2" main ff74 000200000000
"$make_stream" small.j2k marked.j2k main ff68 000200000000
runs "an unknown marker is skipped" decode marked.j2k x.ppm
check "an unknown marker is reported" grep -q "warning: marker FF68" err.log
check "an unknown marker has no effect" cmp rgb.ppm x.ppm
"$make_stream" small.j2k marked.j2k main ff64 000148656c6c6f
runs "a comment has no effect" decode marked.j2k x.ppm --quiet
check "a comment has no effect" cmp rgb.ppm x.ppm
rm -f marked.j2k x.ppm

# ---- Help ----

# Instruction sets: the same bytes, or a refusal if the machine or the build lacks the set. Plain C is always there.
runs "C" encode rgb.ppm c.jp2 --cpu c -I
runs "any set" encode rgb.ppm auto.jp2 -I
check "C gives the same bytes" cmp c.jp2 auto.jp2
usable=" "
for set in auto c avx2 avx512 neon; do
    if "$lift2k" encode rgb.ppm set.jp2 --cpu $set -I --quiet 2>/dev/null; then
        usable="$usable$set "
        check "$set gives the same bytes" cmp set.jp2 auto.jp2
        runs "decode with $set" decode auto.jp2 set.ppm --cpu $set
        check "$set gives the same picture" sh -c "'$lift2k' decode auto.jp2 - | cmp - set.ppm"
    else
        rm -f set.jp2 set.ppm
        for verb in "encode rgb.ppm set.jp2 -I" "decode auto.jp2 set.ppm" "view rgb.ppm set.ppm"; do
            refuses "$set, $verb" "$(cut -d ' ' -f 3 <<<"$verb")" "" $verb --cpu $set
        done
    fi
    rm -f set.jp2 set.ppm
done
# No processor has both: one that is not there must be refused, not ignored.
check "avx2 and neon exclude each other" sh -c "case '$usable' in *' avx2 '*' neon '*) exit 1 ;; esac"
if [ "$(uname -m)" = x86_64 ] && grep -qw avx2 /proc/cpuinfo 2>/dev/null; then
    check "avx2 works on a processor that has it" sh -c "case '$usable' in *' avx2 '*) ;; *) exit 1 ;; esac"
fi
refuses "an unknown set" set.jp2 "--cpu mmx: not one of auto, c, avx2, avx512, neon" encode rgb.ppm set.jp2 --cpu mmx
for verb in view dump; do
    runs "$verb with C" $verb rgb.ppm with_c.ppm --cpu c
    runs "$verb" $verb rgb.ppm without.ppm
    check "$verb: C gives the same" diff -r with_c.ppm without.ppm
    rm -rf with_c.ppm without.ppm
done

for verb in "" encode decode info compare; do
    checks=$((checks + 1))
    "$lift2k" $verb --help >out.log 2>err.log || fault "$verb --help: status"
    [ -s out.log ] && [ ! -s err.log ] || fault "$verb --help: not on standard output"
done
for option in rate psnr irreversible levels tile tile-origin origin block precincts progression style no-mct sop eph plt tlm \
    tile-parts threads backend cpu gpu-min-samples quiet; do
    check "help of --$option" sh -c "'$lift2k' encode --help | grep -q -- --$option"
done
for option in reduce layers region component rgb8 strict threads backend cpu gpu-min-samples quiet; do
    check "help of --$option" sh -c "'$lift2k' decode --help | grep -q -- --$option"
done
check "version" sh -c "'$lift2k' --version | head -1 | grep -qE '^lift2k [0-9]+\.[0-9]+\.[0-9]+$'"
check "info names the size" sh -c "'$lift2k' info small.jp2 | grep -q 63"
check "quiet" sh -c "! '$lift2k' encode rgb.ppm q.jp2 --quiet 2>&1 | grep -q ."

finish
