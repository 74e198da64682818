#!/usr/bin/env bash
# Picture files by rows, raw samples, TIFF on pipes, and the memory that a tiled picture takes. Arguments: the lift2k binary,
# bench/measure, the folder with the pictures, 1 if the command has libtiff. With L2K_NO_MEMORY_LIMIT memory is not checked,
# because sanitizers use much.
lift2k=$1
measure=$2
data=$3
tiff=$4
export LC_ALL=C OMP_WAIT_POLICY=passive # many small files: threads should not spin
. "$(dirname "$0")/support.sh"

same() { # same NAME A B
    checks=$((checks + 1))
    cmp -s "$2" "$3" || fault "$1: $2 and $3 differ"
}

# ---- Raw samples

# 3 components of 7 x 5 samples of BITS bits, as numbers, then as a hex string for each; files are made of these in any order.
width=7
height=5
count=3
make_values() { # make_values BITS SIGN
    local bits=$1 sign=$2 state=12345 i value
    values=()
    for ((i = 0; i < width * height * count; i++)); do
        state=$(((state * 1103515245 + 12345) & 0x7fffffff))
        value=$(((state >> 4) & ((1 << bits) - 1)))
        [ "$sign" = u ] || value=$((value - (1 << (bits - 1))))
        values+=("$value")
    done
}

put_value() { # put_value BITS ORDER VALUE: appends to $text
    local bytes=4 i at byte
    [ "$1" -gt 16 ] || bytes=2
    [ "$1" -gt 8 ] || bytes=1
    for ((i = 0; i < bytes; i++)); do
        at=$i
        [ "$2" = le ] || at=$((bytes - 1 - i))
        printf -v byte '\\x%02x' $((($3 >> (8 * at)) & 255))
        text+=$byte
    done
}

make_raw() { # make_raw BITS ORDER LAYOUT FILE
    local i c
    text=
    if [ "$3" = planar ]; then
        for ((i = 0; i < width * height * count; i++)); do put_value "$1" "$2" "${values[i]}"; done
    else
        for ((i = 0; i < width * height; i++)); do
            for ((c = 0; c < count; c++)); do put_value "$1" "$2" "${values[c * width * height + i]}"; done
        done
    fi
    printf "$text" >"$4"
}

for kind in "1 u" "5 s" "8 u" "8 s" "12 u" "12 s" "16 u" "16 s" "20 u" "24 s"; do
    set -- $kind
    make_values "$1" "$2"
    for order in le be; do
        for layout in planar interleaved; do
            make_raw "$1" $order $layout a.raw
            runs "raw $kind" encode a.raw a.j2k --raw "$width,$height,$count,$1,$2,$order,$layout"
            runs "raw $kind" decode a.j2k b.raw --raw "$order,$layout"
            same "raw $kind $order $layout" a.raw b.raw
            runs "raw $kind by rows" encode a.raw b.j2k --raw "$width,$height,$count,$1,$2,$layout,$order" --by-rows
            same "raw $kind $order $layout by rows" a.j2k b.j2k
        done
    done
    make_raw "$1" le planar a.raw
    runs "raw $kind by default" encode a.raw b.j2k --raw "$width,$height,$count,$1,$2"
    same "raw $kind by default" a.j2k b.j2k
    runs "raw $kind by default" decode b.j2k b.raw
    same "raw $kind by default" a.raw b.raw
done

make_values 8 u
make_raw 8 le planar a.raw
refuses "raw too long" x.jp2 "a.raw: the file has 105 bytes; --raw 7,5,2,8,u describes 70" encode a.raw x.jp2 --raw 7,5,2,8,u
refuses "raw too short" x.jp2 "the file has 105 bytes; --raw 7,5,3,16,u describes 210" encode a.raw x.jp2 --raw 7,5,3,16,u
refuses "raw without description" x.jp2 "a.raw: .*need --raw" encode a.raw x.jp2
refuses "raw of size 0" x.jp2 "--raw 0,5,3,8,u" encode a.raw x.jp2 --raw 0,5,3,8,u
refuses "raw of 25 bits" x.jp2 "1 to 24 bits" encode a.raw x.jp2 --raw 7,5,3,25,u
for text in 7,5,3,8 7,5,3,8,x 7,5,3,8,u,xe 7,5,3,8,u, 7,5,3,8,unsigned ,5,3,8,u 7,5,4294967296,8,u; do
    refuses "raw $text" x.jp2 "not of the form" encode a.raw x.jp2 --raw "$text"
done
refuses "a sample too large" x.jp2 "does not fit 3 bits" encode a.raw x.jp2 --raw 7,5,3,3,u
refuses "--raw for png" x.png "not a .raw file" decode a.j2k x.png --raw le
refuses "bad order" x.raw "be or le" decode a.j2k x.raw --raw middle
printf 'BM\66\0\0\0\0\0\0\0\66\0\0\0\50\0\0\0' >x.bmp
refuses "BMP" x.jp2 'x.bmp: BMP is not read; a pipe is: magick x.bmp ppm:- . lift2k encode - OUT.jp2' encode x.bmp x.jp2
checks=$((checks + 1))
"$lift2k" encode - x.jp2 <x.bmp 2>&1 | grep -q ': BMP is not read; a pipe is: magick bmp:- ppm:- . lift2k' || fault "BMP from a pipe"
rm x.bmp
refuses "--png-level for ppm" x.ppm "not a .png file" decode a.j2k x.ppm --png-level 9
refuses "--tiff-compression for png" x.png "not a .tif file" decode a.j2k x.png --tiff-compression lzw

checks=$((checks + 4))
runs "raw" encode a.raw a.jp2 --raw 7,5,3,8,u
cat a.raw | "$lift2k" encode - b.jp2 --raw 7,5,3,8,u --quiet && cmp -s a.jp2 b.jp2 || fault "raw from a pipe"
cat a.raw | "$lift2k" encode - b.jp2 --raw 7,5,3,8,u -t 7,2 --quiet && "$lift2k" decode b.jp2 - --raw le --quiet |
    cmp -s a.raw || fault "raw from a pipe by rows, and to one"
head -c 100 a.raw | "$lift2k" encode - x.jp2 --raw 7,5,3,8,u 2>err.log && fault "short pipe: worked"
grep -q "standard input: the file is truncated" err.log || fault "short pipe: $(cat err.log)"
cat a.raw a.raw | "$lift2k" encode - x.jp2 --raw 7,5,3,8,u 2>err.log && fault "long pipe: worked"
grep -q "more than the 105 bytes" err.log || fault "long pipe: $(cat err.log)"
[ ! -e x.jp2 ] || fault "x.jp2 exists"

# A pipe that does not end is not copied to its end if the rows of components are apart (planar).
checks=$((checks + 1))
{ head -c 100000000 /dev/zero; echo $? >head.status; } 2>head.log |
    "$lift2k" encode - x.jp2 --raw 7,5,3,8,u -t 7,2 2>err.log && fault "endless pipe by rows: worked"
grep -q "more than the 105 bytes" err.log || fault "endless pipe by rows: $(cat err.log)"
[ "$(cat head.status)" -ne 0 ] || fault "endless pipe by rows: all of it was read"
[ ! -e x.jp2 ] || fault "x.jp2 exists"

after() { # after NAME FILE OPTIONS...: FILE on standard input that was read from before, as in NAME.jp2
    local name=$1 file=$2
    shift 2
    { printf 'something'; cat "$file"; } >after.bin
    checks=$((checks + 1))
    (dd bs=9 count=1 of=/dev/null 2>dd.log && exec "$lift2k" encode - after.jp2 --quiet "$@") <after.bin 2>err.log ||
        fault "$file after other bytes: $(cat err.log)"
    same "$file after other bytes, $*" after.jp2 "$name.jp2"
}
after a a.raw --raw 7,5,3,8,u
runs "raw with tiles" encode a.raw tiled.jp2 --raw 7,5,3,8,u -t 7,2
after tiled a.raw --raw 7,5,3,8,u -t 7,2
checks=$((checks + 1))
(dd bs=9 count=1 of=/dev/null 2>dd.log && exec "$lift2k" encode - x.jp2 --raw 7,5,3,16,u) <after.bin 2>err.log &&
    fault "raw after other bytes: the wrong length worked"
grep -q "the file has 105 bytes" err.log || fault "raw after other bytes: $(cat err.log)"
{ printf 'something'; cat a.jp2; } >after.bin
(dd bs=9 count=1 of=/dev/null 2>dd.log && exec "$lift2k" decode - after.raw --raw le --quiet) <after.bin
same "JP2 after other bytes" after.raw a.raw

# ---- By rows: the same files

runs "a photograph" encode "$data/coffee.png" photo.jp2
runs "a part of it" decode photo.jp2 photo.png --region 300,150,450,250
runs "a part of it" encode photo.png photo.jp2
runs "ppm" decode photo.jp2 photo.ppm
runs "raw" decode photo.jp2 photo.raw
runs "pgx" decode photo.jp2 photo.pgx
inputs="photo.png photo.ppm photo.pgx"
for level in 0 1 9; do runs "png level $level" decode photo.jp2 level_$level.png --png-level $level; done
check "fast by default" cmp photo.png level_1.png
check "none, fast and small" test "$(wc -c <level_0.png)" -gt 45000 -a "$(wc -c <level_9.png)" -lt "$(wc -c <photo.png)"
runs "the same samples" compare level_0.png level_9.png --quiet
{ printf 'P7\nWIDTH 5\nHEIGHT 4\nDEPTH 4\nMAXVAL 255\nTUPLTYPE CMYK\nENDHDR\n'; head -c 80 a.raw; } >cmyk.pam
runs "CMYK" encode cmyk.pam cmyk.jp2 --quiet
refuses "CMYK to png" x.png "CMYK colours do not fit png; --rgb8 converts them" decode cmyk.jp2 x.png
runs "CMYK as RGB" decode cmyk.jp2 x.png --rgb8
check "CMYK as RGB: the report" grep -qx 'cmyk.jp2 -> x.png 5x4x3 8 bit' err.log
rm x.png
if [ "$tiff" = 1 ]; then
    runs "tiff" decode photo.jp2 photo.tif
    runs "tiff" decode photo.jp2 lzw.tif --tiff-compression lzw
    runs "tiff" decode photo.jp2 tiles.tif --tiff-compression jpeg2000
    inputs="$inputs photo.tif lzw.tif tiles.tif"
fi
# A single layer with everything gives the same file, but cannot be made by rows.
for input in $inputs; do
    for options in "-t 64,30" "-t 37,23 --tlm --plt" "-I -t 100,40 -d 13,7 --tile-origin 5,3" "-t 150,99 -p RPCL"; do
        for ext in jp2 j2k; do
            runs "$input $options" encode $input rows.$ext $options
            runs "$input $options" encode $input whole.$ext $options -r 1
            same "$input $options $ext" rows.$ext whole.$ext
        done
    done
done
runs "raw rows" encode photo.raw rows.jp2 -t 64,30 --raw 150,100,3,8,u
runs "raw whole" encode photo.raw whole.jp2 -t 64,30 --raw 150,100,3,8,u -r 1
same "raw" rows.jp2 whole.jp2
runs "layers" encode photo.ppm rows.jp2 -t 64,30 -r 20,10 --by-rows
runs "layers" encode photo.ppm whole.jp2 -t 64,30 -r 20,10
checks=$((checks + 1))
cmp -s rows.jp2 whole.jp2 && fault "--by-rows: targets are not met by rows"
for file in rows.jp2 whole.jp2; do
    checks=$((checks + 1))
    [ "$(wc -c <$file)" -le 4500 ] || fault "$file is larger than 10:1"
done
checks=$((checks + 2))
"$lift2k" encode photo.ppm - -t 64,30 --quiet >piped.jp2 && "$lift2k" encode photo.ppm whole.jp2 -t 64,30 --quiet &&
    cmp -s piped.jp2 whole.jp2 || fault "to a pipe"
"$lift2k" encode photo.ppm - -t 64,30 --by-rows --quiet >piped.jp2 && "$lift2k" compare piped.jp2 photo.ppm --quiet ||
    fault "by rows to a pipe"

# Sub-sampled components, tiles that cut them anywhere, origins.
runs "gray" decode photo.jp2 g.pgx --component 0
for c in 1 2; do runs "chroma" decode photo.jp2 c$c.pgx --component $c --reduce 1; done
mv g_0.pgx ycc_0.pgx
mv c1_0.pgx ycc_1.pgx
mv c2_0.pgx ycc_2.pgx
for options in "-t 64,41" "-t 128,32 -d 3,5" "-t 51,33 -d 1,1 --tile-origin 1,1" "-t 151,7"; do
    runs "ycc $options" encode ycc.pgx ycc.jp2 $options
    runs "ycc $options" encode ycc.pgx whole.jp2 $options -r 1
    same "ycc $options" ycc.jp2 whole.jp2
    for file in ycc.jp2 rows.jp2; do
        for how in "" "--reduce 2" "--region 17,21,110,93" "--rgb8" "--reduce 1 --region 41,39,149,97 --rgb8" \
            "--component 1"; do
            outputs="png pam raw"
            [ "$tiff" = 1 ] && outputs="$outputs tif"
            for ext in $outputs; do
                runs "$file $how $ext" decode $file whole.$ext $how
                runs "$file $how $ext" decode $file rows.$ext $how --by-rows
                same "$file $options $how $ext" whole.$ext rows.$ext
            done
        done
    done
    runs "pgx by rows" decode ycc.jp2 back.pgx --by-rows
    for c in 0 1 2; do same "pgx by rows" ycc_$c.pgx back_$c.pgx; done
done

# A file that ends early gives the same picture and warning by rows.
runs "tiles" encode photo.ppm whole.jp2 -t 64,30
head -c $(($(wc -c <whole.jp2) * 2 / 3)) whole.jp2 >cut.jp2
for how in "" --by-rows; do
    checks=$((checks + 1))
    "$lift2k" decode cut.jp2 "cut$how.ppm" $how --quiet 2>err.log
    [ $? -eq 3 ] || fault "a file that ends early, $how: not status 3: $(cat err.log)"
done
same "a file that ends early" cut.ppm cut--by-rows.ppm
refuses "a file that ends early, --strict" x.ppm "the file ends" decode cut.jp2 x.ppm --by-rows --strict

# A failure midway leaves no output.
for input in photo.png photo.ppm photo.tif photo.raw; do
    [ -e $input ] || continue
    options="-t 64,16"
    [ $input != photo.raw ] || options="$options --raw 150,100,3,8,u,interleaved"
    head -c $(($(wc -c <$input) / 2)) $input >cut.${input##*.}
    refuses "half of $input" x.jp2 "truncated|has 22500 bytes" encode cut.${input##*.} x.jp2 $options
done
for ext in png ppm tif raw; do
    [ "$ext" != tif ] || [ "$tiff" = 1 ] || continue
    checks=$((checks + 1))
    (trap '' XFSZ; ulimit -f 10; exec "$lift2k" decode rows.jp2 limited.$ext --by-rows --quiet) 2>err.log &&
        fault "file size limit, $ext: worked"
    [ "$(wc -l <err.log)" -eq 1 ] || { fault "file size limit, $ext: not one line"; cat err.log; }
    [ ! -e limited.$ext ] || fault "file size limit: limited.$ext exists"
done

# ---- Headers that do not end

comment() { printf '#%*s\n' "$1" ''; }
{ printf 'P5\n' && comment 1000000 && printf '2 2\n255\nabcd'; } >header.pgm
runs "a long comment" encode header.pgm header.jp2
{ printf 'P5\n' && comment 1100000 && printf '2 2\n255\nabcd'; } >header.pgm
refuses "a comment without end" x.jp2 "^lift2k: header.pgm: more than 1 MiB of comments and space" encode header.pgm x.jp2
{ printf 'P2\n2 2\n255\n1 2 3' && comment 1100000 && printf '4'; } >header.pgm
refuses "a comment without end after a sample" x.jp2 "^lift2k: header.pgm: more than 1 MiB" encode header.pgm x.jp2
{ printf 'P7\n' && for line in {1..12}; do comment 100000; done && printf 'WIDTH 1\nHEIGHT 1\nDEPTH 1\nMAXVAL 9\nENDHDR\na'; } \
    >header.pam
refuses "a PAM header without end" x.jp2 "^lift2k: header.pam: the PAM header does not end within 1 MiB" encode header.pam x.jp2
{ printf 'P5\n' && comment 100000 && printf 'not a number'; } >header.pgm
refuses "not a number" x.jp2 "^lift2k: header.pgm: bad PNM header" encode header.pgm x.jp2
rm header.*

# ---- TIFF and pipes

if [ "$tiff" = 1 ]; then
    checks=$((checks + 2))
    cat lzw.tif | "$lift2k" encode - piped.jp2 --quiet && "$lift2k" compare piped.jp2 photo.ppm --quiet ||
        fault "TIFF from a pipe"
    runs "TIFF" encode lzw.tif lzw.jp2
    after lzw lzw.tif
    runs "TIFF with tiles" encode lzw.tif tiled.jp2 -t 64,16
    after tiled lzw.tif -t 64,16
    runs "tiles of JPEG 2000" compare tiles.tif photo.ppm --quiet
    runs "gray" encode ycc_0.pgx gray.jp2
    runs "gray of 12 bits" encode ycc_0.pgx deep.jp2 --precision 12
    refuses "YCbCr of gray" x.tif "three RGB samples" decode gray.jp2 x.tif --tiff-compression aperio-ycc
    refuses "12 bits in a tile" x.tif "1 samples of 12 bits: .* 8 or 16" decode deep.jp2 x.tif --tiff-compression aperio
    checks=$((checks + 1))
    for at in $(seq 9 $(($(wc -c <tiles.tif) / 150)) "$(wc -c <tiles.tif)"); do # ends by itself, with a picture or without
        { head -c "$at" tiles.tif; printf '\377\0'; tail -c +$((at + 3)) tiles.tif; } >damaged.tif
        timeout 20 "$lift2k" encode damaged.tif damaged.jp2 --quiet 2>err.log
        [ $? -le 1 ] || fault "byte $at of a TIFF file with a tile of JPEG 2000: $(cat err.log)"
    done
    mkfifo pipe.tif
    timeout 100 cat pipe.tif >/dev/null &
    "$lift2k" decode photo.jp2 pipe.tif 2>err.log && fault "TIFF to a pipe: worked"
    wait
    grep -q "pipe.tif: TIFF .* write to a file" err.log || fault "TIFF to a pipe: $(cat err.log)"
    rm pipe.tif
    printf 'II*\0\10\0\0\0' >cut.tif
    refuses "TIFF header alone" x.jp2 "cut.tif: " encode cut.tif x.jp2
else
    printf 'II*\0\10\0\0\0' >some.tif
    refuses "no libtiff" x.jp2 "has no libtiff" encode some.tif x.jp2
    refuses "no libtiff" x.tif "has no libtiff" decode photo.jp2 x.tif
fi

# ---- Small PNG files that need much memory

# wide.png: a row of 2 GB; texts.png: 60 of 7.9 MB each; palette.png: blank with 1 bit a pixel, 4 million pixels of three
# components; interlaced.png: 2000 x 2000 gray; late.png: ends early, in the first bytes that are read.
if command -v python3 >/dev/null; then
    python3 - <<'PYTHON' || fault "making PNG files"
import struct, zlib
def chunk(kind, data):
    return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
def png(name, width, height, depth, colours, rows, before=b'', interlaced=0):
    header = struct.pack('>IIBBBBB', width, height, depth, colours, 0, 0, interlaced)
    open(name, 'wb').write(b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', header) + before +
                           chunk(b'IDAT', zlib.compress(bytes(rows), 9)) + chunk(b'IEND', b''))
png('wide.png', 500000000, 1, 8, 6, 100)
text = zlib.compress(b'a' * 7900000, 9)
png('texts.png', 1, 1, 8, 0, 2, b''.join(chunk(b'zTXt', b'k%d\0\0' % i + text) for i in range(60)))
png('palette.png', 2000, 2000, 1, 3, 251 * 2000, chunk(b'PLTE', b'\0\0\0\xff\xff\xff'))
passes = ((250, 250), (250, 250), (500, 250), (500, 500), (1000, 500), (1000, 1000), (2000, 1000)) # Adam7
png('interlaced.png', 2000, 2000, 8, 0, sum((1 + x) * y for x, y in passes), interlaced=1)
png('late.png', 8192, 64, 1, 0, 1025 * 60)
PYTHON
    # Sanitizers reserve more address space than that.
    memory_limit="ulimit -v 3000000"
    [ -z "$L2K_NO_MEMORY_LIMIT" ] || memory_limit=true
    checks=$((checks + 2))
    ($memory_limit && exec "$lift2k" encode wide.png x.jp2 --max-memory 100M) 2>err.log && fault "a wide PNG: worked"
    grep -q "^lift2k: wide.png: the file is truncated" err.log || fault "a wide PNG: $(cat err.log)"
    cat wide.png | ($memory_limit && exec "$lift2k" encode - x.jp2 --max-memory 100M) 2>err.log &&
        fault "a wide PNG from a pipe: worked"
    grep -q "^lift2k: standard input: the file is truncated" err.log ||
        fault "a wide PNG from a pipe: $(cat err.log)"
    [ ! -e x.jp2 ] || fault "x.jp2 exists"
    runs "a PNG with many texts" encode texts.png x.jp2
    refuses "a PNG that ends early" y.jp2 "late.png: PNG: " encode late.png y.jp2
    runs "a blank palette" encode palette.png x.jp2
    check "a blank palette" sh -c "'$lift2k' info x.jp2 | grep -q 'width 2000, height 2000'"
    refuses "interlaced by rows" y.jp2 "the samples take 4\.516 MB of memory, the limit is 4\.500 MB; --max-memory" \
        encode interlaced.png y.jp2 -t 256,256 --max-memory 4500K
    runs "interlaced by rows" encode interlaced.png y.jp2 -t 256,256 --max-memory 40M
    runs "interlaced at once" encode interlaced.png x.jp2 -t 256,256 -r 1
    same "interlaced by rows" x.jp2 y.jp2
    refuses "all rows in one strip" z.jp2 "the samples take 4\.004 MB of memory" encode interlaced.png z.jp2 --by-rows --max-memory 4003K
    rm -f x.jp2 y.jp2
else
    echo "SKIPPED: no python3 here to make PNG files that want much"
fi

# ---- Memory

peak() { # peak ARGUMENTS...: KiB
    "$measure" -w 0 -n 1 "$lift2k" "$@" --quiet -j 2 | cut -d' ' -f4
}

if [ -z "$L2K_NO_MEMORY_LIMIT" ]; then
    # 27 MB of samples, which compress well.
    seq 1 4000000 | head -c 27000000 >large.raw
    description=3000,3000,3,8,u
    limit=$((27000000 / 1024))
    checks=$((checks + 4))
    bytes=$(peak encode large.raw large.jp2 --raw $description -t 256,256)
    [ "$bytes" -lt "$limit" ] || fault "encoding by rows takes $bytes KiB"
    bytes=$(peak encode large.raw whole.jp2 --raw $description -t 256,256 -r 1)
    [ "$bytes" -gt "$limit" ] || fault "encoding at once takes only $bytes KiB: the limit says nothing"
    bytes=$(peak decode large.jp2 back.raw --by-rows)
    [ "$bytes" -lt "$limit" ] || fault "decoding by rows takes $bytes KiB"
    bytes=$(peak decode large.jp2 - --raw le)
    [ "$bytes" -gt "$limit" ] || fault "decoding at once takes only $bytes KiB: the limit says nothing"
    same "a large picture" large.raw back.raw

    # Without tiles, a picture is read in strips; with --verify, all of it.
    strips() { # strips NAME KIB ARGUMENTS...
        checks=$((checks + 1))
        bytes=$(peak encode "${@:3}" -I -r 20)
        [ "${bytes:-$2}" -lt "$2" ] || fault "$1 in strips takes $bytes KiB"
    }
    mkfifo pipe
    for ext in raw ppm png tif; do
        [ $ext != tif ] || [ "$tiff" = 1 ] || continue
        [ $ext = raw ] || runs "large, $ext" decode large.jp2 large.$ext
        raw=
        [ $ext != raw ] || raw="--raw $description"
        runs "large, $ext" encode large.$ext all.jp2 $raw -I -r 20 --verify
        cat pipe >piped.jp2 &
        strips "$ext to a pipe" 55000 large.$ext pipe $raw
        wait
        same "$ext to a pipe" all.jp2 piped.jp2
        [ $ext != ppm ] || strips "a pipe" 55000 - strips.jp2 < <(cat large.ppm)
        [ $ext = ppm ] || strips "$ext" 55000 large.$ext strips.jp2 $raw
        same "$ext in strips" all.jp2 strips.jp2
        strips "$ext, verified" 90000 large.$ext verified.jp2 $raw --verify --by-rows
        same "$ext, verified" all.jp2 verified.jp2
        head -c $(($(wc -c <large.$ext) / 3)) large.$ext >cut.$ext
        refuses "a third of $ext" x.jp2 "truncated|has 9000000 bytes" encode cut.$ext x.jp2 $raw
    done
    checks=$((checks + 1))
    head -c 9000000 large.ppm | "$lift2k" encode - x.jp2 2>err.log && fault "a third of a pipe: worked"
    check "a third of a pipe" grep -qx "lift2k: standard input: the file is truncated" err.log
    check "a third of a pipe: no output" test ! -e x.jp2
    if [ -e texts.png ]; then
        checks=$((checks + 1))
        bytes=$(peak encode texts.png texts.jp2)
        [ "$bytes" -lt 100000 ] || fault "texts of a PNG take $bytes KiB"
    fi
fi

# ---- Films

film() { # film COLOURS BYTES: three frames of 7 x 5 samples of Y and others that follow, as many as BYTES in all
    printf 'YUV4MPEG2 W7 H5 F30000:1001 Ip A1:1 C%s\n' "$1"
    for ((frame = 0; frame < 3; frame++)); do
        printf 'FRAME\n'
        head -c $((500 + frame * 1000 + $2)) a.raw.long | tail -c "$2"
    done
}
frames() { # frames FILE: without the first line
    tail -n +2 "$1" | cat
}
head -c 5000 <(yes filmofakind | tr 'a-z\n' '\1-\3') >a.raw.long
for kind in "420jpeg 59" "422 75" "444 105" "mono 35" "420p10 118" "444p16 210" "mono12 70"; do
    set -- $kind
    film "$1" "$2" >film.y4m
    runs "$1" encode film.y4m frame.jp2 --page all --quiet
    check "$1: frames" test -e frame_1.jp2 -a -e frame_3.jp2 -a ! -e frame_4.jp2
    runs "$1, back" decode frame_1.jp2 frame_2.jp2 frame_3.jp2 back.y4m --fps 30000:1001 --quiet
    check "$1: the first line" grep -qaE '^YUV4MPEG2 W7 H5 F30000:1001 Ip A0:0 C'"$1"' ' back.y4m
    check "$1: the same frames" cmp <(frames film.y4m) <(frames back.y4m)
    runs "$1, by rows" encode film.y4m rows.jp2 --page 2 -t 4,2 --quiet
    runs "$1, by rows" compare rows.jp2 frame_2.jp2 --quiet
    checks=$((checks + 1))
    "$lift2k" encode - piped.jp2 --page 2 -t 4,2 --quiet < <(cat film.y4m) && cmp -s piped.jp2 rows.jp2 || fault "$1 from a pipe"
    rm frame_?.jp2 back.y4m
done
film 422 75 >film.y4m
runs "the first frame" encode film.y4m one.jp2
check "the first frame: a warning" grep -q 'more than one frame; only the first is read (--page all' err.log
refuses "a fourth frame" x.jp2 "film.y4m: there is no page 4" encode film.y4m x.jp2 --page 4
refuses "page 2 of a PNG file" x.jp2 "photo.png: there is no page 2" encode photo.png x.jp2 --page 2
refuses "page 2 of a PNG file's palette" x.jp2 "photo.png: there is no page 2" encode photo.png x.jp2 --page 2 --palette
refuses "all of a pipe" x.jp2 "--page all: standard input can be read only once" encode - x.jp2 --page all
head -c -3 film.y4m >cut.y4m
refuses "a frame that is cut off" x.jp2 "cut.y4m: the file is truncated" encode cut.y4m x.jp2 --page 3
for bytes in $(($(wc -c <film.y4m) - 3)) $(($(wc -c <film.y4m) - 78)) $(($(wc -c <film.y4m) - 75)); do
    head -c "$bytes" film.y4m >cut.y4m
    checks=$((checks + 1))
    "$lift2k" encode cut.y4m c.jp2 --page all --quiet 2>err.log && fault "all frames, one cut off: status 0"
    check "all frames, one cut off: a report" test "$(cat err.log)" = "lift2k: cut.y4m: the file is truncated"
    check "all frames, one cut off: those before" test "$(echo c_*)" = "c_1.jp2 c_2.jp2"
    rm -f c_?.jp2
done
mkdir films
cp film.y4m films/a.y4m
cp cut.y4m films/b.y4m
"$lift2k" encode films --out-dir framed --page all >out.log 2>err.log
check "a folder of films, one cut off" test $? -eq 1
check "a folder of films, one cut off: sum" grep -q '^6 files: 5 done, 1 failed, films/b.y4m; ' out.log
check "a folder of films, one cut off: frames" test "$(ls framed | xargs)" = "a_1.jp2 a_2.jp2 a_3.jp2 b_1.jp2 b_2.jp2"
rm -r films framed
printf 'YUV4MPEG2 W99999 H99999 C444p16\nFRAME\nabc' >cut.y4m
refuses "a frame that is too large" x.jp2 "cut.y4m: the file is truncated" encode cut.y4m x.jp2
printf 'YUV4MPEG2 W9 H9 C444alpha\nFRAME\nabc' >cut.y4m
refuses "samples of another kind" x.jp2 "samples of kind 444alpha are not supported" encode cut.y4m x.jp2
refuses "RGB" x.y4m "RGB colours do not fit y4m" decode photo.jp2 x.y4m
runs "gray" encode "$data/camera.png" gray.jp2 --quiet
refuses "frames that differ" x.y4m "x.y4m: the frames differ in size" decode one.jp2 gray.jp2 x.y4m --quiet
refuses "a bad rate" x.y4m "not of the form N or N:D" decode one.jp2 x.y4m --fps 25/1
refuses "a rate for PNG" x.png "not a .y4m file" decode one.jp2 x.png --fps 25
mkdir film
runs "a folder" encode film.y4m film/f.jp2 --page all --quiet
runs "a folder to a film" decode film back.y4m --quiet
check "a folder to a film" cmp <(frames film.y4m) <(frames back.y4m)
if command -v ffmpeg >/dev/null; then
    for kind in yuv420p yuv422p10le gray12le; do
        ffmpeg -v error -y -f lavfi -i testsrc=size=62x38:rate=24 -frames:v 2 -pix_fmt $kind -strict -1 ff.y4m </dev/null
        runs "ffmpeg: $kind" encode ff.y4m ff.jph --ht --page all --quiet
        runs "ffmpeg: $kind, back" decode ff_1.jph ff_2.jph ff-back.y4m --fps 24 --quiet
        for film in ff ff-back; do ffmpeg -v error -i $film.y4m -f framemd5 - </dev/null | grep -v '^#' >$film.md5; done
        check "ffmpeg: $kind: two frames" test "$(wc -l <ff.md5)" -eq 2
        check "ffmpeg: $kind: the same" cmp ff.md5 ff-back.md5
    done
fi

# ---- Other precisions

sample() { "$lift2k" decode "$1" - --raw be --quiet | od -An -tu2 --endian=big | xargs; }
printf 'P5\n4 1\n65535\n\0\0\1\0\377\360\377\377' >sixteen.pgm # 0, 256, 65520, 65535
runs "scaled" encode sixteen.pgm twelve.jp2 --precision 12 --quiet --verify
check "scaled: upper bits stay" test "$(sample twelve.jp2)" = "0 16 4095 4095"
printf 'P5\n4 1\n255\n\0\1\200\377' >eight.pgm
runs "to more bits" encode eight.pgm twelve.jp2 --precision 12 --quiet --verify
check "to more bits: the largest is the largest" test "$(sample twelve.jp2)" = "0 16 2055 4095"
runs "kept" encode eight.pgm twelve.jp2 --precision 12,keep --quiet
check "kept: the values" test "$(sample twelve.jp2)" = "0 1 128 255"
refuses "kept, too large" x.jp2 "a sample of 65520 does not fit 12 bits" encode sixteen.pgm x.jp2 --precision 12,keep
runs "by rows" encode photo.ppm rows.jp2 --precision 12 -t 64,30 --verify --quiet
runs "whole" encode photo.ppm whole.jp2 --precision 12 -t 64,30 -r 1 --quiet
same "another precision by rows" rows.jp2 whole.jp2
refuses "no precision" x.jp2 "1 to 31 bits" encode photo.ppm x.jp2 --precision 0
refuses "half a precision" x.jp2 "not of the form BITS or BITS,keep" encode photo.ppm x.jp2 --precision 12,scale
if [ "$tiff" = 1 ]; then
    for bits in 17 20 24; do
        runs "$bits bits" encode sixteen.pgm deep.jp2 --precision $bits --quiet
        runs "$bits bits to TIFF" decode deep.jp2 deep.tif --quiet
        runs "$bits bits from TIFF" encode deep.tif deeper.jp2 --quiet
        same "$bits bits" deep.jp2 deeper.jp2
    done
fi

finish
