#!/usr/bin/env bash
# Many files in one call, --verify, limits and timings. Arguments: the lift2k binary, the folder with the pictures, the
# shared library of faults.c or "".
lift2k=$1
data=$2
faults=$3
export LC_ALL=C
. "$(dirname "$0")/support.sh"

# gives NAME STATUS ARGUMENTS...: what it prints goes to out.log and err.log
gives() {
    local name=$1 wanted=$2 status
    shift 2
    checks=$((checks + 1))
    "$lift2k" "$@" >out.log 2>err.log </dev/null
    status=$?
    [ $status -eq "$wanted" ] || { fault "$name: status $status, not $wanted, from: $*"; head -5 err.log; }
    case " $* " in
    *" --out-dir "*) ! grep -v '^lift2k: ' err.log || fault "$name: no failure or warning, but on standard error" ;;
    *) [ ! -s out.log ] || fault "$name: something on standard output" ;;
    esac
}

reports() { # reports NAME PATTERN: standard output of the last command, a batch, has one line that matches
    checks=$((checks + 1))
    [ "$(grep -cE -- "$2" out.log)" -eq 1 ] || { fault "$1: not one line says '$2'"; head -20 out.log; }
}

says() { # says NAME PATTERN: standard error of the last command has one line that matches
    checks=$((checks + 1))
    [ "$(grep -cE -- "$2" err.log)" -eq 1 ] || { fault "$1: not one line says '$2'"; head -20 err.log; }
}

mkdir photos
for name in camera chelsea coffee; do
    cp "$data/$name.png" photos
    runs "$name alone" encode "$data/$name.png" "alone_$name.jp2" --quiet
done
"$lift2k" decode alone_coffee.jp2 photos/part.ppm --region 10,20,173,141 --quiet
runs "part alone" encode photos/part.ppm alone_part.jp2 --quiet
echo "holiday" >photos/notes.txt
echo "hidden" >photos/.hidden.png
mkdir photos/more.png

# ---- A folder there and back ----

gives "a folder" 0 encode photos --out-dir coded
says "a folder: others" '^lift2k: photos: 1 file left out: .*\.png .*\.y4m$'
says "a folder: a folder in it" '^lift2k: photos: 1 folder in it left out: name it as well'
reports "a folder: one of them" '^photos/coffee.png 600x400x3 8 bit, 720\.0 kB -> coded/coffee.jp2 [0-9.]+ kB, ratio [0-9.]+$'
reports "a folder: sum" '^4 files: 4 done; pictures [0-9.]+ MB, JPEG 2000 [0-9.]+ kB, ratio [0-9.]+; [0-9.]+ s$'
check "a folder: names" test "$(cd coded && echo *)" = "camera.jp2 chelsea.jp2 coffee.jp2 part.jp2"
for name in camera chelsea coffee part; do
    check "$name is the same as alone" cmp "coded/$name.jp2" "alone_$name.jp2"
done
coded=$(sed -n 's/.*\(JPEG 2000 [^,]*\), ratio.*/\1/p' out.log)
check "a folder: bytes" test -n "$coded"
gives "back, counted" 0 decode coded --out-dir back/ --ext .ppm
reports "back, counted: the same bytes" "^4 files: 4 done; .*$coded[,;]"
gives "back" 0 decode coded --out-dir back/ --ext .ppm --quiet
check "back: quiet" test ! -s err.log
check "back: the same samples" cmp back/part.ppm photos/part.ppm
gives "back as png" 0 decode coded/coffee.jp2 coded/part.jp2 --out-dir back
reports "back as png: sum" '^2 files: 2 done; '
for name in coffee part; do
    check "back as png: $name" "$lift2k" compare "back/$name.png" "coded/$name.jp2" --quiet
done
gives "codestreams" 0 encode photos/camera.png photos/part.ppm --out-dir coded --ext j2k -I -r 10 --quiet
runs "codestream alone" encode photos/part.ppm alone.j2k -I -r 10 --quiet
check "codestreams" cmp coded/part.j2k alone.j2k
gives "8 bits" 0 decode coded/coffee.jp2 coded/camera.jp2 --out-dir shown --rgb8 --quiet
check "8 bits" "$lift2k" compare shown/coffee.png photos/coffee.png --quiet

# Pictures with and without opacity, one after another.
printf 'P7\nWIDTH 2\nHEIGHT 2\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\nabcdefghijklmnop' >alpha.pam
mkdir kinds
cp alpha.pam photos/part.ppm kinds
cp "$data/chelsea.png" kinds
gives "other kinds" 0 encode kinds --out-dir kinds_coded --quiet
gives "other kinds back" 0 decode kinds_coded --out-dir kinds_back --ext pam --quiet
check "other kinds back" cmp kinds_back/alpha.pam alpha.pam

# Links to nothing, and other files.
mkdir gap
cp photos/part.ppm gap
ln -s nowhere gap/r.pgm
ln -s nowhere gap/r.txt
gives "a gap" 0 encode gap --out-dir gap_coded
says "a gap: a link to nothing" '^lift2k: gap/r.pgm: left out: No such file'
says "a gap: another one" '^lift2k: gap: 1 file left out: the name ends in none of'
mkdir planes
runs "planes" decode alone_part.jp2 planes/part.pgx --quiet

# ---- Folders of folders, and what exists already ----

mkdir -p tree/b/c tree/d
cp photos/camera.png tree
cp photos/part.ppm tree/b/c
cp photos/part.ppm tree/d/camera.ppm
ln -s .. tree/b/up
gives "a tree, one level" 0 encode tree --out-dir leaves --quiet
check "a tree, one level" test "$(find leaves -type f | sort | xargs)" = "leaves/camera.jp2"
gives "a tree" 0 encode tree --out-dir leaves --recursive --skip-existing
reports "a tree: sum" '^3 files: 2 done, 1 skipped; '
rm leaves/camera.jp2 leaves/d/camera.jp2
mv tree/d/camera.ppm sound.ppm
head -c 900 sound.ppm >tree/d/camera.ppm
gives "a tree with a fault" 1 encode tree --out-dir leaves --recursive --skip-existing
check "a tree with a fault: last line" sh -c "tail -1 out.log | grep -q '^3 files: 1 done, 1 skipped, 1 failed, tree/d/camera.ppm; '"
mv sound.ppm tree/d/camera.ppm
gives "a tree again" 0 encode tree --out-dir leaves --recursive --skip-existing --quiet
check "a tree" test "$(find leaves -type f | sort | xargs)" = "leaves/b/c/part.jp2 leaves/camera.jp2 leaves/d/camera.jp2"
gives "all exist" 0 encode tree --out-dir leaves --recursive --skip-existing
reports "all exist" '^3 files skipped, whose output exists$'
gives "a tree back" 0 decode leaves/ --out-dir roots/ --recursive --quiet
check "a tree back" test "$(find roots -type f | sort | xargs)" = "roots/b/c/part.png roots/camera.png roots/d/camera.png"
echo precious >kept.jp2
gives "one that exists" 0 encode photos/camera.png kept.jp2 --skip-existing --quiet
check "one that exists" test "$(cat kept.jp2)" = precious
refuses "--recursive alone" x.jp2 "--recursive: needs --out-dir" encode photos/camera.png x.jp2 --recursive
rm -r tree leaves roots kept.jp2

# ---- Files that fail ----

cp -r photos mixed
head -c 5000 photos/coffee.png >mixed/broken.png
echo "not a picture" >mixed/text.pgm
: >mixed/empty.ppm
gives "damaged files" 1 encode mixed --out-dir mixed_coded
says "damaged files: cut" '^lift2k: mixed/broken.png: '
says "damaged files: text" '^lift2k: mixed/text.pgm: '
says "damaged files: empty" '^lift2k: mixed/empty.ppm: the file is empty$'
reports "damaged files: sum" '^7 files: 4 done, 3 failed, first mixed/broken.png; '
check "damaged files: the others" test "$(cd mixed_coded && ls -A | tr '\n' ' ')" = "camera.jp2 chelsea.jp2 coffee.jp2 part.jp2 "
check "damaged files: a good one" cmp mixed_coded/coffee.jp2 alone_coffee.jp2
gives "a missing file" 1 encode photos/coffee.png photos/missing.png photos/camera.png --out-dir some --quiet
check "a missing file: one line" test "$(wc -l <err.log)" -eq 1
says "a missing file" '^lift2k: photos/missing.png: No such file'
check "a missing file: the others" test -s some/coffee.jp2 -a -s some/camera.jp2
head -c $(($(stat -c %s alone_coffee.jp2) / 2)) alone_coffee.jp2 >cut.jp2
gives "one truncated file" 3 decode cut.jp2 alone_camera.jp2 --out-dir early
reports "one truncated file: sum" '^2 files: 2 done \(1 incomplete\); '
check "one truncated file: both outputs exist" test -s early/cut.png -a -s early/alone_camera.png
gives "one truncated file, one not JPEG 2000" 1 decode cut.jp2 alone_camera.jp2 photos/coffee.png --out-dir early --quiet
gives "one truncated file, strictly" 1 decode cut.jp2 alone_camera.jp2 --out-dir strict --strict --quiet
check "one truncated file, strictly" test ! -e strict/cut.png -a -s strict/alone_camera.png
gives "all files fail" 1 encode mixed/text.pgm --out-dir none --quiet
check "all files fail: nothing there" test -z "$(ls -A none)"

# ---- Several at once: large and small ones in turn, so that they end in another order than they began ----

mkdir crowd
for i in 10 12 14 16 18; do
    cp photos/chelsea.png "crowd/$i.png"
    cp photos/part.ppm "crowd/$((i + 1)).ppm"
done
crowd() { # crowd NAME STATUS OPTIONS...: encodes the crowd; reports are in order, and files those of one at a time
    local name=$1 status=$2 i
    shift 2
    rm -rf crowd_coded crowd_back
    gives "$name" "$status" encode crowd --out-dir crowd_coded "$@"
    grep -oE '^crowd/[0-9]+' out.log | grep -oE '[0-9]+$' >order
    check "$name: the order of the reports" sort -c order
    for i in 10 12 14 16 18; do
        check "$name: $i" cmp crowd_coded/$i.jp2 alone_chelsea.jp2
        check "$name: $i + 1" cmp crowd_coded/$((i + 1)).jp2 alone_part.jp2
    done
    gives "$name, back" "$status" decode crowd_coded --out-dir crowd_back --ext ppm "$@"
    grep -oE '^crowd_coded/[0-9]+' out.log | grep -oE '[0-9]+$' >order
    check "$name, back: the order of the reports" sort -c order
    for i in 11 13 15 17 19; do
        check "$name, back: $i" cmp crowd_back/$i.ppm photos/part.ppm
    done
}
for options in "" "--in-flight 1" "--in-flight 3" "--in-flight 64 -j 2" "-j 1" "--in-flight 2 --verify"; do
    # shellcheck disable=SC2086
    case $options in
    *verify) gives "several at once, $options" 0 encode crowd --out-dir crowd_checked $options --quiet ;;
    *) crowd "several at once, $options" 0 $options ;;
    esac
done
check "several at once, verified" cmp crowd_checked/19.jp2 alone_part.jp2
gives "several at once, timings" 0 encode crowd --out-dir crowd_coded --in-flight 4 --timings --quiet
check "several at once, timings" grep -qE '^tier-1 +[0-9.]+ s' out.log
head -c 5000 photos/coffee.png >crowd/145.png
echo "not a picture" >crowd/165.pgm
rm -rf crowd_coded crowd_back
gives "failures among several" 1 encode crowd --out-dir crowd_coded --in-flight 4
says "failures among several: cut" '^lift2k: crowd/145.png: '
says "failures among several: text" '^lift2k: crowd/165.pgm: '
reports "failures among several: sum" '^12 files: 10 done, 2 failed, first crowd/145.png; '
check "failures among several: the others" test "$(ls crowd_coded | wc -l)" -eq 10
head -c 20000 alone_chelsea.jp2 >crowd_coded/14.jp2
gives "one of several truncated" 3 decode crowd_coded --out-dir crowd_back --in-flight 4
reports "one of several truncated: sum" '^10 files: 10 done \(1 incomplete\); '
echo "not one either" >crowd_coded/17.jp2
gives "one of several truncated, one broken" 1 decode crowd_coded --out-dir crowd_back --in-flight 4
reports "one of several truncated, one broken: sum" '^10 files: 9 done \(1 incomplete\), 1 failed, crowd_coded/17.jp2; '
for command in "encode alpha.pam x.jp2" "decode alone_part.jp2 x.ppm"; do
    refuses "--in-flight alone, $command" x.jp2 "--in-flight: needs --out-dir" $command --in-flight 2
done
# GPUs by number: what is no list, and what is not there; `all` may be none.
for list in "" none 0,0 1, ,1 63 0x1 -1; do
    refuses "--devices '$list'" clash "--devices" encode crowd --out-dir clash --devices "$list"
done
refuses "a GPU that is not there" clash "--devices: (no GPU can be used|there is no device 62)" \
    encode crowd --out-dir clash --devices 62
refuses "GPUs, and the CPU alone" clash "--devices: --backend cpu uses none" \
    encode crowd --out-dir clash --devices all --backend cpu
runs "all GPUs" encode photos/part.ppm any.j2k --devices all --quiet
runs "the CPU" encode photos/part.ppm cpu.j2k --backend cpu --quiet
check "all GPUs: the same file" cmp any.j2k cpu.j2k
refuses "--in-flight 0" clash "--in-flight" encode crowd --out-dir clash --in-flight 0
mkdir ended
for i in $(seq 100 180); do cp photos/coffee.png ended/$i.png; done
for wait in 0.02 0.1 0.3; do
    rm -rf ended_coded
    checks=$((checks + 1))
    "$lift2k" encode ended --out-dir ended_coded --in-flight 4 -j 4 --quiet 2>err.log &
    sleep $wait
    kill -TERM $!
    wait $!
    status=$?
    [ $status -eq 143 ] || [ "$(ls ended_coded | wc -l)" -eq 81 ] || fault "several at once, ended: status $status"
    check "several at once, ended: no partial file" test -z "$(ls -A ended_coded 2>/dev/null | grep -v '^1..\.jp2$')"
done
rm -rf crowd crowd_coded crowd_back crowd_checked ended ended_coded

# ---- Usage errors ----

refuses "one name twice" clash "both photos/coffee.png and coded/../photos/coffee.png" \
    encode photos coded/../photos/coffee.png --out-dir clash --quiet
refuses "two files for one" clash "both .*part.* would become" encode photos/part.ppm back/part.png --out-dir clash
refuses "standard input" clash "standard input has no name" encode - --out-dir clash
refuses "an empty folder" clash "none: no files to encode" encode none --out-dir clash
refuses "no files" clash "out-dir needs files" encode --out-dir clash
refuses "a folder without --out-dir" "" "photos: is a directory; lift2k encode photos --out-dir D" encode photos
refuses "a folder to one file" x.jp2 "photos: is a directory; lift2k encode photos --out-dir D" encode photos x.jp2
refuses "a file to a folder" "" "coded: is a directory; lift2k encode FILES... --out-dir coded" encode alpha.pam coded
refuses "many without --out-dir" "" "--out-dir" decode alone_camera.jp2 alone_coffee.jp2 alone_part.jp2
refuses "--ext alone" x.jp2 "--ext: needs --out-dir" encode alpha.pam x.jp2 --ext jp2
refuses "an unknown --ext" "" "known are .jp2" encode alpha.pam --out-dir coded --ext gif
refuses "a file as --out-dir" "" "alpha.pam: Not a directory" encode photos/part.ppm --out-dir alpha.pam
refuses "no parent of --out-dir" "" "no/where: No such file" encode photos/part.ppm --out-dir no/where
for arguments in "encode photos" "encode alpha.pam coded" "encode - --out-dir clash" "encode alpha.pam x.jp2 --ext jp2"; do
    gives "usage" 2 $arguments
done

# ---- Verified ----

gives "verified" 0 encode photos/coffee.png x.jp2 --verify
says "verified" '^x.jp2: verified: identical, 720\.0 ksamples$'
check "verified: the same file" cmp x.jp2 alone_coffee.jp2
gives "verified layers" 0 encode photos/coffee.png x.jp2 --verify -r 20,5,1
says "verified layers" 'verified: identical'
gives "verified losses" 0 encode photos/coffee.png x.jp2 --verify -I -r 20
"$lift2k" compare photos/coffee.png x.jp2 >figures
for c in 0 1 2; do
    set -- $(grep "^$c " figures)
    says "verified losses: component $c" "^x.jp2: verified: component $c PSNR $4 dB, peak error $2\$"
done
says_all() { # says_all TARGET OPTIONS: what --verify says of all components is what they show, and the target
    "$lift2k" encode photos/coffee.png all.jp2 -q "$1" "${@:2}" --verify >/dev/null 2>err.log
    "$lift2k" compare photos/coffee.png all.jp2 >out.log
    psnr=$(awk '/^[0-9]/ { sum += $3; n++ } END { printf "%.2f", 10 * log(65025 * n / sum) / log(10) }' out.log)
    check "all components with $*" grep -qx "all.jp2: verified: all components PSNR $psnr dB, $1 dB asked for" err.log
}
says_all 50
says_all 55 -I
check "the help calls -q an estimate" sh -c "'$lift2k' encode --help | tr -s ' \\n' '  ' | grep -q 'an estimate, rising'"
gives "verified, quiet" 0 encode photos/coffee.png x.jp2 --verify --quiet
check "verified, quiet" test ! -s err.log
gives "verified, with opacity" 0 encode alpha.pam x.jp2 --verify
says "verified, with opacity" 'verified: identical, 16 samples'
gives "verified planes" 0 encode planes/part.pgx x.j2k --verify -t 50,40 -d 3,5
says "verified planes" 'verified: identical'
gives "many verified" 0 encode photos --out-dir verified --verify -r 10
check "many verified" test "$(grep -c '^verified/.*: verified: component . PSNR' out.log)" -eq 10
rm -f x.jp2 x.j2k
refuses "verified standard output" "" "--verify: the output must be a file" encode alpha.pam - --verify
mkfifo fifo.jp2
timeout 100 cat fifo.jp2 >/dev/null &
gives "verified pipe" 1 encode alpha.pam fifo.jp2 --verify
says "verified pipe" '^lift2k: fifo.jp2: the output cannot be read again: '
wait
rm fifo.jp2
if [ -n "$faults" ]; then
    flipped() { # flipped OPTIONS...: with a disk that changes a bit, nothing is kept and the status is 1
        rm -rf x.jp2
        LD_PRELOAD=$faults L2K_TEST_FLIP=1 gives "a bit flipped, $*" 1 encode photos/coffee.png x.jp2 --verify "$@"
        says "a bit flipped, $*" '^lift2k: x.jp2: --verify'
        check "a bit flipped, $*: not kept" test ! -e x.jp2
    }
    flipped
    flipped --quiet
    LD_PRELOAD=$faults L2K_TEST_FLIP=1 gives "without --verify it passes" 0 encode photos/coffee.png x.jp2
    check "the output exists" sh -c '! cmp -s x.jp2 alone_coffee.jp2'
    cp alone_camera.jp2 x.jp2
    LD_PRELOAD=$faults L2K_TEST_FLIP=1 gives "an old file" 1 encode photos/coffee.png x.jp2 --verify --quiet
    check "the old file is unchanged" cmp x.jp2 alone_camera.jp2
    LD_PRELOAD=$faults L2K_TEST_FLIP=1 gives "many flipped" 1 encode photos --out-dir flipped --verify --quiet
    check "many flipped: none kept" test -z "$(ls -A flipped)"
else
    echo "SKIPPED: in this build a disk that changes bits cannot be tried"
fi

# ---- Limits ----

refuses "pixels of a PNG" x.ppm "coffee.png: 600 x 400 are 240\.0 kpixels, the limit is 239\.9 kpixels; --max-pixels" \
    encode photos/coffee.png x.ppm.jp2 --max-pixels 239900
refuses "pixels of a PPM" x2.jp2 "part.ppm: 163 x 121 are .*--max-pixels" encode photos/part.ppm x2.jp2 --max-pixels 1K
for command in "decode alone_coffee.jp2 x2.png" "info alone_coffee.jp2"; do
    refuses "pixels, $command" x2.png "alone_coffee.jp2: 600 x 400 .*--max-pixels" $command --max-pixels 1
done
runs "as many pixels" encode photos/coffee.png x2.jp2 --max-pixels 240K --quiet
rm -f x2.jp2
refuses "memory of samples" x2.jp2 "coffee.png: the samples take 723\.6 kB of memory, the limit is 723\.0 kB; --max-memory" \
    encode photos/coffee.png x2.jp2 --max-memory 723K
refuses "memory of coding" x2.jp2 "coffee.png: samples and coding take more memory than 1\.000 MB; --max-memory" \
    encode photos/coffee.png x2.jp2 --max-memory 1M
refuses "memory of decoding" x2.ppm "coffee.jp2: samples and coding take more memory than 750\.0 kB; --max-memory" \
    decode alone_coffee.jp2 x2.ppm --max-memory 750k
{ printf 'P5\n9000 9000\n255\n' && head -c 81000000 /dev/zero; } >blank.pgm
runs "a blank picture" encode blank.pgm blank.jp2 --quiet
refuses "a small file of a large picture" x2.pgm "blank.jp2: an image of 9000 x 9000.*; --max-pixels N allows more" decode blank.jp2 x2.pgm
runs "allowed" decode blank.jp2 x2.pgm --max-pixels 81M --max-memory 1G --quiet
check "allowed" cmp x2.pgm blank.pgm
rm -f blank.* x2.pgm
runs "enough memory" encode photos/coffee.png x2.jp2 --max-memory 1G --quiet
gives "memory of one of many" 1 encode photos --out-dir limited --max-memory 600K
check "memory of one of many: the line" grep -q "coffee.png: .*--max-memory" err.log
# Verifying needs two pictures and the decoder in memory; the encoder is freed first.
{ printf 'P5\n1000 1000\n65535\n' && head -c 2000000 /dev/zero; } >flat_1.pgm
cp flat_1.pgm flat_2.pgm
runs "memory to encode" encode flat_1.pgm x2.jp2 --max-memory 9500K -j 1 --quiet
refuses "memory to verify" x3.jp2 "^lift2k: x3.jp2: samples and coding take more memory than 9\.500 MB; --max-memory" \
    encode flat_1.pgm x3.jp2 --max-memory 9500K -j 1 --verify
gives "memory to verify many" 0 encode flat_1.pgm flat_2.pgm --out-dir flat --max-memory 15M -j 1 --verify
check "memory to verify many" test "$(grep -c ': verified: identical' out.log)" -eq 2
check "memory to verify many: the same file" cmp flat/flat_2.jp2 x2.jp2
# timeout(1) bounds the time.
mkfifo silent
for start in "P5 600 400 255 abc" "II*" ""; do
    checks=$((checks + 2))
    { printf %s "$start"; exec sleep 30; } >silent & # which stays open
    timeout 0.3 "$lift2k" encode silent x3.jp2 --quiet 2>err.log
    [ $? -eq 124 ] || fault "a pipe that blocks after '$start': another status"
    kill $! 2>/dev/null || fault "a pipe that blocks after '$start': waited for its end"
    [ -z "$(ls -A | grep -e x3 -e tmp)" ] || fault "a pipe that blocks after '$start': a file is left"
done
{ sleep 0.3; cat photos/coffee.png; } >silent &
runs "a pipe that blocks for a while" encode silent x2.jp2 --quiet
# Pipes are read side by side, so that one may wait for the other.
mkfifo turn_1 turn_2
"$lift2k" decode alone_part.jp2 turns.pgx --quiet
{
    exec 3>turn_1 4>turn_2
    for end in 3 4; do head -c 5000 turns_0.pgx >&$end; done
    for end in 3 4; do
        sleep 2
        tail -c +5001 turns_0.pgx >&$end
        exec 3>&-
    done
} &
gives "pipes that wait in sequence" 0 encode turn_1 turn_2 --out-dir turns -t 64,32 --quiet
kill $! 2>/dev/null # it may still wait for somebody to open them
check "pipes that wait in sequence: samples" "$lift2k" compare turns/turn_2.jp2 turns_0.pgx --quiet
refuses "compared with limits" "" "coffee.png: .*--max-pixels" compare photos/coffee.png alone_coffee.jp2 --max-pixels 5
for option in "max-pixels 0" "max-pixels x" "max-memory 5X" "max-memory -1" "max-memory 5KK"; do
    refuses "--$option" x3.jp2 "^lift2k: --$option: not" encode alpha.pam x3.jp2 --${option% *}="${option#* }"
done

# ---- Timings ----

table="read upload transform download tier-1 rate tier-2 write other total"
for command in "encode photos/coffee.png x2.jp2" "decode alone_coffee.jp2 x2.png" "encode photos --out-dir timed"; do
    gives "timings of $command" 0 $command --timings --quiet
    [ -s out.log ] || mv err.log out.log
    check "timings of $command: rows" test "$(awk 'NR > 1 { print $1 }' out.log | xargs)" = "$table"
    reports "timings of $command: total" '^total +[0-9.]+ s +[0-9.]+ [kMG]samples/s$'
    check "timings of $command: shares" awk '$NF == "%" { sum += $(NF - 1) } END { exit !(sum > 99 && sum < 101) }' out.log
    check "timings of $command: tier-1 takes time" awk '$1 == "tier-1" { exit !($2 > 0) }' out.log
done
gives "timings with --verify" 0 encode photos/coffee.png x2.jp2 --timings --verify
check "timings with --verify" awk '$1 == "verify" && $2 > 0 { found = 1 } END { exit !found }' err.log

# ---- Too many warnings: unknown markers after SIZ, which has 45 bytes of one component with SOC

runs "a codestream" encode photos/camera.png plain.j2k --quiet
{
    head -c 45 plain.j2k
    for number in $(seq 160 191); do printf '\xff\x'"$(printf %x $number)"'\0\2'; done
    tail -c +46 plain.j2k
} >warned.j2k
gives "many warnings" 0 decode warned.j2k warned.pgm
check "many warnings: the first" grep -qx 'lift2k: warned.j2k: warning: marker FFA0 is unknown and skipped' err.log
check "many warnings: the last" grep -q 'marker FFB3 ' err.log
says "many warnings: the rest" '^lift2k: warned.j2k: further warnings are not shown$'
check "many warnings: lines" test "$(grep -c warned.j2k: err.log)" -eq 21
runs "many warnings, quiet" decode warned.j2k warned.pgm --quiet

finish
