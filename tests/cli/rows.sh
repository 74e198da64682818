#!/usr/bin/env bash
# Pictures by rows in combination with other features: many files, --verify, limits, timings. Arguments: the lift2k binary, the folder
# with the pictures, the shared library of faults.c or "".
lift2k=$1
data=$2
faults=$3
export LC_ALL=C
. "$(dirname "$0")/support.sh"

gives() { # gives NAME STATUS ARGUMENTS...: what it prints goes to out.log and err.log
    local name=$1 wanted=$2 status
    shift 2
    checks=$((checks + 1))
    "$lift2k" "$@" >out.log 2>err.log </dev/null
    status=$?
    [ $status -eq "$wanted" ] || { fault "$name: status $status, not $wanted, from: $*"; head -5 err.log; }
}

says() { # says NAME PATTERN: standard error of the last command has one line that matches
    checks=$((checks + 1))
    [ "$(grep -cE -- "$2" err.log)" -eq 1 ] || { fault "$1: not one line says '$2'"; head -20 err.log; }
}

reports() { # reports NAME PATTERN: standard output of the last command, a batch, has one line that matches
    checks=$((checks + 1))
    [ "$(grep -cE -- "$2" out.log)" -eq 1 ] || { fault "$1: not one line says '$2'"; head -20 out.log; }
}

mkdir photos
cp "$data/chelsea.png" "$data/camera.png" photos
runs "a plain format" encode "$data/coffee.png" coffee.jp2 --quiet
runs "a plain format" decode coffee.jp2 photos/coffee.ppm --quiet
runs "raw" decode coffee.jp2 coffee.raw --quiet
raw="--raw 600,400,3,8,u"

# ---- Many files

tiles="-t 128,100"
gives "many by rows" 0 encode photos --out-dir rows $tiles
reports "many by rows: sum" '^3 files: 3 done; '
gives "many whole" 0 encode photos --out-dir whole $tiles -r 1 --quiet
for name in camera chelsea coffee; do check "many: $name" cmp rows/$name.jp2 whole/$name.jp2; done
gives "many back by rows" 0 decode rows --out-dir back --by-rows --quiet
gives "many back" 0 decode rows --out-dir back_whole --quiet
for name in camera chelsea coffee; do
    check "many back: $name" cmp back/$name.png back_whole/$name.png
    check "many back: $name is the picture" "$lift2k" compare back/$name.png rows/$name.jp2 --quiet
done
# A region of the previous file must not stay in the decoder.
gives "tiles and none" 0 decode rows/chelsea.jp2 coffee.jp2 rows/camera.jp2 --out-dir mixed --ext ppm --by-rows --quiet
check "tiles and none" cmp mixed/coffee.ppm photos/coffee.ppm
mkdir raws
cp coffee.raw raws
cp coffee.raw raws/again.raw
cp photos/camera.png raws
gives "raw files of a folder" 0 encode raws --out-dir raw_coded $raw $tiles
says "raw files of a folder: others" '^lift2k: raws: 1 file left out: .* none of \.raw$'
check "raw files of a folder" cmp raw_coded/again.jp2 rows/coffee.jp2
head -c 400000 photos/coffee.ppm >photos/broken.ppm
gives "one truncated file" 1 encode photos --out-dir cut $tiles
says "one truncated file" '^lift2k: photos/broken.ppm: the file is truncated$'
reports "one truncated file: sum" '^4 files: 3 done, 1 failed, photos/broken.ppm; '
check "one truncated file: the others" test "$(cd cut && ls -A | tr '\n' ' ')" = "camera.jp2 chelsea.jp2 coffee.jp2 "
rm photos/broken.ppm
# One ends with an invalid sample: the encoder is ready for the next ones.
mkdir last
{ printf 'P2\n64 64\n255\n' && yes 7 | head -n 4095 && echo 999; } >last/a.pgm
{ printf 'P2\n64 64\n255\n' && yes 9 | head -n 4096; } >last/b.pgm
cp last/b.pgm last/c.pgm
gives "the last sample of the first is bad" 1 encode last/a.pgm last/b.pgm last/c.pgm --out-dir last/coded -t 64,32
says "the last sample of the first is bad" '^lift2k: last/a.pgm: '
reports "the last sample of the first is bad: sum" '^3 files: 2 done, 1 failed, last/a.pgm; '
check "the last sample of the first is bad: the others" "$lift2k" compare last/c.pgm last/coded/c.jp2 --quiet

# ---- Verified

gives "verified" 0 encode photos/coffee.ppm x.jp2 $tiles --verify
says "verified" '^x.jp2: verified: identical, 720\.0 ksamples$'
check "verified: the same file" cmp x.jp2 rows/coffee.jp2
gives "verified, origin" 0 encode photos/chelsea.png x.j2k -t 100,77 -d 13,7 --tile-origin 5,3 --verify
says "verified, origin" 'verified: identical'
gives "verified losses" 0 encode photos/coffee.ppm x.jp2 -I -t 128,100 -r 20 --by-rows --verify
"$lift2k" compare photos/coffee.ppm x.jp2 >figures
for c in 0 1 2; do
    set -- $(grep "^$c " figures)
    says "verified losses: component $c" "^x.jp2: verified: component $c PSNR $4 dB, peak error $2\$"
done
gives "verified raw" 0 encode coffee.raw x.jp2 $raw $tiles --verify
says "verified raw" 'verified: identical'
runs "planes" decode coffee.jp2 planes.pgx --quiet
mv planes_0.pgx ycc_0.pgx
runs "sub-sampled planes" decode coffee.jp2 half.pgx --reduce 1 --quiet
mv half_1.pgx ycc_1.pgx
mv half_2.pgx ycc_2.pgx
gives "verified planes" 0 encode ycc.pgx x.jp2 -t 101,51 --verify
says "verified planes" 'verified: identical'
gives "many verified" 0 encode photos --out-dir verified $tiles --verify
check "many verified" test "$(grep -c '^verified/.*: verified: identical' out.log)" -eq 3
checks=$((checks + 2))
cat photos/coffee.ppm | "$lift2k" encode - piped.jp2 $tiles --verify 2>err.log || fault "verified from a pipe: $(cat err.log)"
check "verified from a pipe" cmp piped.jp2 rows/coffee.jp2
cat photos/coffee.ppm | "$lift2k" encode - x.piped.jp2 $tiles --verify --by-rows 2>err.log && fault "a pipe cannot be read twice"
says "a pipe cannot be read twice" '^lift2k: --verify: with --by-rows .* standard input can only be read once$'
if [ -n "$faults" ]; then
    checks=$((checks + 1))
    (export LD_PRELOAD="$faults" L2K_TEST_FLIP=1; exec "$lift2k" encode photos/coffee.ppm flipped.jp2 $tiles --verify) \
        2>err.log && fault "a disk that changes bits was not noticed"
    says "a disk that changes bits" '^lift2k: '
    check "a disk that changes bits: nothing kept" test ! -e flipped.jp2
fi

# ---- Limits: rows in memory count

gives "little memory by rows" 0 encode photos/coffee.ppm x.jp2 $tiles -j 1 --max-memory 1500K --quiet
check "little memory by rows: the same file" cmp x.jp2 rows/coffee.jp2
refuses "as little memory for the whole picture" y.jp2 "coding take more memory than 1\.500 MB" \
    encode photos/coffee.ppm y.jp2 $tiles -j 1 --max-memory 1500K -r 1
refuses "less than a row of tiles" y.jp2 "the samples take 180\.0 kB of memory, the limit is 179\.0 kB; --max-memory" \
    encode photos/coffee.ppm y.jp2 $tiles --max-memory 179K
refuses "a little more" y.jp2 "coffee.ppm: samples and coding take more memory than 181\.0 kB" \
    encode photos/coffee.ppm y.jp2 $tiles --max-memory 181K
refuses "less than a row to decode" y.ppm "the samples take 180\.0 kB of memory" decode rows/coffee.jp2 y.ppm --by-rows \
    --max-memory 179K
gives "little memory to decode" 0 decode rows/coffee.jp2 y.ppm --by-rows -j 1 --max-memory 800K --quiet
check "little memory to decode" cmp y.ppm photos/coffee.ppm
rm -f y.ppm
refuses "as little memory to decode the whole picture" y.ppm "coding take more memory than 800\.0 kB" \
    decode rows/coffee.jp2 y.ppm -j 1 --max-memory 800K
rm -f y.ppm
for name in photos/coffee.ppm photos/chelsea.png; do
    refuses "pixels of $name" y.jp2 "--max-pixels N allows more" encode $name y.jp2 $tiles --max-pixels 1K
done
refuses "pixels to decode" y.ppm "--max-pixels N allows more" decode rows/coffee.jp2 y.ppm --by-rows --max-pixels 1K
for command in view dump; do
    refuses "pixels, $command of a picture" y.pgm "--max-pixels N allows more" $command photos/coffee.ppm y.pgm --max-pixels 1K
    refuses "pixels, $command" y.pgm "--max-pixels N allows more" $command rows/coffee.jp2 y.pgm --max-pixels 1K
    refuses "memory, $command of a picture" y.pgm "--max-memory BYTES" $command photos/coffee.ppm y.pgm --max-memory 100K
    refuses "memory, $command" y.pgm "--max-memory BYTES" $command rows/coffee.jp2 y.pgm --max-memory 100K
done
# Memory in use counts: the other picture and the rows that SSIM needs; samples, coefficients and mosaic.
refuses "memory for two" "" "coffee.ppm: the samples take 1\.440 MB of memory, the limit is 1\.400 MB; --max-memory" \
    compare photos/coffee.ppm photos/coffee.ppm --max-memory 1400K
gives "memory for two" 0 compare photos/coffee.ppm photos/coffee.ppm --max-memory 1440K --quiet
gives "memory for two, not for SSIM" 2 compare photos/coffee.ppm photos/coffee.ppm --max-memory 1440K
says "memory for two, not for SSIM" '--max-memory BYTES allows more$'
refuses "memory for the second, decoded" "" "coffee.jp2: samples and coding take more memory than 1\.500 MB" \
    compare photos/coffee.ppm rows/coffee.jp2 --max-memory 1500K --quiet
refuses "memory for coefficients" y.png "samples and coding take more memory than 4\.500 MB; --max-memory" \
    view photos/coffee.ppm y.png --max-memory 4500K
gives "memory for coefficients" 0 view photos/coffee.ppm x.png --max-memory 5M --quiet
gives "view with room" 0 view photos/coffee.ppm x.png --max-pixels 240K --max-memory 1G --quiet

# A thousand components, of which the first has all pixels of 1000 x 1000 or 1000000 x 1 and the others a few: 1 MB of
# samples that would become 1 GB. The header suffices to refuse it.
subsampled() { # subsampled SIZE STEPS: both as printf takes them
    local part="\\0\\0\\0\\0\\0\\0\\0\\0" i
    head -c 8 thousand.j2k
    printf "$1$part$1$part\\003\\350\\007\\001\\001"
    for ((i = 1; i < 1000; i++)); do printf "\\007$2"; done
    tail -c +3043 thousand.j2k
}
head -c 1000 /dev/zero >thousand.raw
runs "a thousand components" encode thousand.raw thousand.j2k --raw 1,1,1000,8,u --no-mct --quiet
subsampled '\0\0\003\350\0\0\003\350' '\372\372' >square.j2k
subsampled '\0\017\102\100\0\0\0\001' '\377\001' >wide.j2k
for options in "y.pam" "y.png --rgb8" "y.pam --max-memory 50M"; do
    set -- $options
    refuses "a square blown up to $*" "$1" "1\.016 Msamples would become 1\.000 Gsamples; write pgx" \
        decode square.j2k "$@" --max-pixels 1M
    refuses "a row blown up to $*" "$1" "4\.9.. Msamples would become 1\.000 Gsamples; write pgx" \
        decode wide.j2k "$@" --max-pixels 1M
done
rm -f thousand.* square.j2k wide.j2k

# Components whose rows coincide only at the first one, in tiles of one row: the ends of the strips are computed without
# looking at every tile.
number=0
for height in 700 3 4 8 12 15 19 23; do
    { printf 'PG ML + 8 1 %d\n' $height && head -c $height photos/chelsea.png; } >odd_$number.pgx
    number=$((number + 1))
done
check "with many sub-samplings" env OMP_WAIT_POLICY=passive \
    timeout 20 "$lift2k" encode odd.pgx x.j2k -t 1,1 --levels 0 -j 1 --verify --quiet
for how in "" --by-rows; do
    check "with many sub-samplings, decode $how" timeout 20 "$lift2k" decode x.j2k back.pgx $how -j 1 --quiet
    for ((number = 0; number < 8; number++)); do
        check "with many sub-samplings, $number $how" cmp odd_$number.pgx back_$number.pgx
    done
    rm -f back_*.pgx
done
rm -f odd_*.pgx

# ---- Timings: strips are added up

for command in "encode photos/coffee.ppm x.jp2 $tiles" "decode rows/coffee.jp2 x.png --by-rows" \
    "encode photos/coffee.ppm x.jp2 $tiles --verify"; do
    gives "timings of $command" 0 $command --timings --quiet -j 1
    check "timings of $command: shares" awk '$NF == "%" { sum += $(NF - 1) } END { exit !(sum > 99 && sum < 101) }' err.log
    check "timings of $command: all strips" awk '$1 == "other" { exit !($(NF - 1) < 40) }' err.log
done

finish
