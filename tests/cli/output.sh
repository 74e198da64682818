#!/usr/bin/env bash
# An output appears under its name when it is complete, or not at all: full disks, closed pipes, folders that cannot be
# written, existing files. Arguments: the lift2k binary, the folder with the pictures, the library of faults.c ("" if it
# cannot be loaded).
lift2k=$1
data=$2
faults=$3
. "$(dirname "$0")/support.sh"

runs pictures encode "$data/chelsea.png" whole.jp2 --quiet
runs pictures decode whole.jp2 rgb.ppm --region 100,60,163,111 --quiet
rm -f whole.jp2
runs pictures encode rgb.ppm small.jp2 --levels 3 --quiet
head -c 200 small.jp2 >cut
echo precious >expected
mkdir kept

# ---- Every kind of output, on a disk that fills up ----

outputs="jp2 j2k ppm pnm pam png pgx"
"$lift2k" decode --help | grep -q '\.raw' && outputs="$outputs raw"
"$lift2k" --version | grep -q '^libtiff *[0-9]' && outputs="$outputs tif"

writes() { # the command that writes x.EXTENSION
    case $1 in
    jp2 | j2k) echo encode rgb.ppm ;;
    *) echo decode small.jp2 ;;
    esac
}

nothing_new() { # nothing_new NAME: no new files except the logs
    local after
    after=$(ls -A)
    [ "$after" = "$before" ] || fault "$1: files left behind: $(comm -13 <(echo "$before") <(echo "$after") | tr '\n' ' ')"
}

fills_up() { # fills_up NAME BLOCKS COMMAND...: a file size limit of BLOCKS KiB in place of a full disk
    local name=$1 blocks=$2 status
    shift 2
    checks=$((checks + 1))
    (ulimit -f "$blocks"; exec "$@" --quiet) 2>&1 >/dev/null | cat >err.log # a pipe is not limited
    status=${PIPESTATUS[0]}
    [ $status -eq 1 ] || fault "$name: status $status"
    [ "$(wc -l <err.log)" -eq 1 ] || { fault "$name: not one line"; head -3 err.log; }
    grep -q 'File too large' err.log || { fault "$name: not the cause"; head -1 err.log; }
    nothing_new "$name"
}

before=$(ls -A)
for ext in $outputs; do
    for blocks in 0 1 3; do
        fills_up "$ext, full after $blocks KiB" $blocks "$lift2k" $(writes $ext) x.$ext
    done
done
fills_up "view" 1 "$lift2k" view rgb.ppm x.png
fills_up "dump" 1 "$lift2k" dump rgb.ppm kept # after smaller subbands
fills_up "dump, raw" 1 "$lift2k" dump small.jp2 kept --format raw
check "dump: whole subbands, no description" test -z "$(ls -A kept | grep -v '^t0_')"
rm -f kept/*
fills_up "many files" 1 "$lift2k" encode rgb.ppm --out-dir kept

# ---- Existing files ----

for ext in $outputs; do
    target=x.$ext
    [ $ext != pgx ] || target=x_0.pgx
    cp expected "$target"
    before=$(ls -A)
    fills_up "$ext, there already" 1 "$lift2k" $(writes $ext) x.$ext
    check "$ext survives a full disk" cmp "$target" expected
    case $ext in
    jp2 | j2k) "$lift2k" encode cut x.$ext 2>/dev/null ;;
    *) "$lift2k" decode cut x.$ext --strict 2>/dev/null ;;
    esac
    check "$ext survives a damaged input" cmp "$target" expected
    runs "$ext is overwritten" $(writes $ext) x.$ext --quiet
    checks=$((checks + 1))
    cmp -s "$target" expected && fault "$ext was not overwritten"
    rm -f x.* x_*.pgx
done
# Planes in separate files appear together.
cp expected x_0.pgx
mkdir x_2.pgx
"$lift2k" decode small.jp2 x.pgx --quiet 2>/dev/null && fault "planes: worked without the last"
check "planes: the first stays where the last cannot be written" cmp x_0.pgx expected
check "planes: the second does not appear" test ! -e x_1.pgx
rm -rf x_*.pgx
# Also if there are more than a process can have open, and if rows of all of them alternate.
cat "$data"/*.png | head -c 160000 >many.raw
runs "many planes" encode many.raw many.j2k --raw 40,40,100,8,u -t 40,20 --quiet
for how in "" --by-rows; do
    checks=$((checks + 1))
    (ulimit -n 64; exec "$lift2k" decode many.j2k x.pgx $how --quiet) || fault "many planes $how"
    check "many planes $how: all" test "$(ls x_*.pgx | wc -l)" -eq 100
    check "many planes $how: samples" "$lift2k" compare many.j2k x.pgx --quiet
    rm -f x_*.pgx
    before=$(ls -A)
    mkdir x_99.pgx
    checks=$((checks + 1))
    "$lift2k" decode many.j2k x.pgx $how --quiet 2>/dev/null && fault "many planes: worked without the last"
    rmdir x_99.pgx
    checks=$((checks + 1))
    nothing_new "many planes $how"
done
rm -f many.*

runs "overwriting" decode small.jp2 x.ppm --quiet
chmod 640 x.ppm
runs "overwriting keeps permissions" decode small.jp2 x.ppm --quiet
check "overwriting keeps permissions" test "$(stat -c %a x.ppm)" = 640
chmod 6750 x.ppm
runs "overwriting drops set-user-ID" decode small.jp2 x.ppm --quiet
check "overwriting drops set-user-ID" test "$(stat -c %a x.ppm)" = 750
if [ "$(id -u)" -eq 0 ]; then
    chown 12345:23456 x.ppm
    chmod 4640 x.ppm
    runs "overwriting as root" decode small.jp2 x.ppm --quiet
    check "overwriting as root keeps owner and group" test "$(stat -c %u:%g:%a x.ppm)" = 12345:23456:640
fi
# A user who may not give a file to the group of the old one: members of another group must not read it.
as="setpriv --reuid 12345 --regid 12345 --clear-groups"
if [ "$(id -u)" -eq 0 ] && chmod 755 . && mkdir -m 777 shared && cp small.jp2 shared &&
    $as "$lift2k" info shared/small.jp2 >out.log 2>&1; then
    for modes in 640:600 664:644 606:600; do
        cp rgb.ppm shared/x.ppm
        chown 12345:23456 shared/x.ppm
        chmod ${modes%:*} shared/x.ppm
        check "overwriting without the group, $modes" $as "$lift2k" decode shared/small.jp2 shared/x.ppm --quiet
        check "overwriting without the group, $modes: access" \
            test "$(stat -c %u:%g:%a shared/x.ppm)" = 12345:12345:${modes#*:}
    done
    rm -r shared
else
    echo "SKIPPED: files of a group that is not one's own cannot be made here"
    rm -rf shared
fi
chmod 640 x.ppm
ln -s x.ppm link.ppm
runs "through a link" decode small.jp2 link.ppm --quiet
check "the link stays a link" test -L link.ppm
check "the target of the link" cmp x.ppm rgb.ppm
cp rgb.ppm self.ppm
cp small.jp2 self.jp2
runs "encode reads before it writes" encode self.ppm self.jp2 --quiet --levels 3
check "encode reads before it writes" cmp self.jp2 small.jp2
# A link to a file that does not exist gives way to the output.
ln -s nowhere/x.ppm dangling.ppm
runs "a link to nothing" decode small.jp2 dangling.ppm --quiet
check "a link to nothing" cmp dangling.ppm rgb.ppm
rm -f x.ppm link.ppm self.* dangling.ppm

# ---- The planes of a picture appear together ----

if [ -n "$faults" ]; then
    mkdir planes
    ends() { # ends STATUS VARIABLE=VALUE: writing planes, with this fault
        checks=$((checks + 1))
        (export LD_PRELOAD="$faults" "$2"; exec "$lift2k" decode small.jp2 planes/x.pgx --quiet) 2>err.log
        status=$?
        [ $status -eq "$1" ] || { fault "planes with $2: status $status"; cat err.log; }
    }
    ends 1 L2K_TEST_RENAME=x_0
    check "the first name is refused: the folder is as it was" test -z "$(ls -A planes)"
    ends 1 L2K_TEST_RENAME=x_1
    check "another name is refused: reported" grep -q '^lift2k: planes/x_1.pgx: Is a directory$' err.log
    check "another name is refused: nothing hidden" test "$(ls -A planes)" = x_0.pgx
    rm -r planes
else
    echo "SKIPPED: in this build names that are refused cannot be tried"
fi

# ---- Places that cannot be written ----

refuses "a missing folder" "" "nowhere/x.jp2: No such file" encode rgb.ppm nowhere/x.jp2
refuses "a folder in place of a file" "" "kept.*directory" decode small.jp2 kept/ --quiet
refuses "a file in place of a folder" "" "Not a directory" encode rgb.ppm rgb.ppm/x.jp2
if [ "$(id -u)" -ne 0 ]; then
    mkdir closed
    chmod 555 closed
    refuses "a read-only folder" closed/x.jp2 "closed/x.jp2: Permission denied" encode rgb.ppm closed/x.jp2
    echo precious >readonly.ppm
    chmod 444 readonly.ppm
    "$lift2k" decode small.jp2 readonly.ppm --quiet 2>err.log && fault "a read-only file was replaced"
    check "a read-only file" cmp readonly.ppm expected
elif [ -d /proc ]; then # root may write anywhere but here
    refuses "a folder that accepts no files" "" "/proc/x.jp2: " encode rgb.ppm /proc/x.jp2
fi

# ---- Devices and pipes ----

if [ -w /dev/full ]; then
    refuses "encode to a full disk" "" "No space left" encode rgb.ppm /dev/full
    refuses "decode to a full disk" "" "No space left" decode small.jp2 /dev/full
    for verb in "encode rgb.ppm" "decode small.jp2"; do
        checks=$((checks + 1))
        "$lift2k" $verb - --quiet >/dev/full 2>err.log && fault "$verb to a full standard output worked"
        [ "$(wc -l <err.log)" -eq 1 ] || fault "$verb to a full standard output: not one line"
    done
    for verb in --version --help "info small.jp2" "compare rgb.ppm rgb.ppm"; do
        checks=$((checks + 1))
        "$lift2k" $verb >/dev/full 2>err.log
        [ $? -eq 1 ] || [ "$verb" = "compare rgb.ppm rgb.ppm" ] || fault "$verb to a full disk worked"
    done
else
    echo "SKIPPED: no /dev/full here"
fi
for verb in "encode rgb.ppm" "decode small.jp2"; do
    checks=$((checks + 2))
    # The reader has gone before anything is written. By default that ends a program silently, like others in a pipe.
    (sleep 0.2; exec "$lift2k" $verb - --quiet 2>err.log; echo $?) | true
    [ ! -s err.log ] || fault "$verb into a closed pipe: says something"
    (trap '' PIPE; sleep 0.2; "$lift2k" $verb - --quiet 2>err.log; echo $? >status) | true
    [ "$(cat status)" = 1 ] || fault "$verb into a closed pipe, signal ignored: status $(cat status)"
    grep -q '^lift2k: standard output: Broken pipe$' err.log || { fault "$verb into a closed pipe: no cause"; cat err.log; }
    checks=$((checks + 1))
    "$lift2k" $verb - --quiet >&- 2>err.log && fault "$verb to a closed standard output worked"
done
rm -f status

# ---- Pipes that block ----

runs "large" encode "$data/coffee.png" whole.jp2 --quiet
runs "large" decode whole.jp2 large.ppm --region 0,0,300,220 --quiet
runs "large" encode large.ppm large.jp2 --quiet
check "more than a pipe holds" test "$(wc -c <large.jp2)" -gt 66000
mkfifo pipe.ppm pipe.jp2
{ sleep 0.2; timeout 100 cat pipe.ppm >got; } & # who comes late, and reads late
runs "a pipe read late" decode small.jp2 pipe.ppm --quiet
wait
check "a pipe read late: samples" cmp got rgb.ppm
{ sleep 0.3; cat; } <pipe.ppm >got &
checks=$((checks + 1))
"$lift2k" decode large.jp2 - --quiet >pipe.ppm || fault "standard output read late"
wait
check "standard output read late: samples" cmp got large.ppm
for how in "decode large.jp2 pipe.ppm" "decode large.jp2 -" "encode large.ppm -"; do
    sleep 30 <pipe.ppm &
    checks=$((checks + 1))
    case $how in
    *-) timeout 1 "$lift2k" $how --quiet >pipe.ppm ;;
    *) timeout 1 "$lift2k" $how --quiet ;;
    esac
    [ $? -eq 124 ] || fault "a reader that sleeps, $how: another status than 124"
    kill $! || fault "a reader that sleeps, $how: waited for its end"
    wait
done
rm -f pipe.* large.* whole.jp2 got

# ---- Closed standard streams ----

head -c $(($(wc -c <small.jp2) / 2)) small.jp2 >half # of which there is something to tell
for verb in "decode half -" "decode small.jp2 -" "decode half x.ppm" "decode small.jp2 x.ppm"; do
    checks=$((checks + 2))
    rm -f x.ppm
    "$lift2k" $verb >wanted 2>/dev/null
    status=$?
    [ ! -e x.ppm ] || mv x.ppm wanted
    "$lift2k" $verb >got 2>&-
    [ $? -eq $status ] || fault "$verb, standard error closed: another status"
    [ ! -e x.ppm ] || mv x.ppm got
    cmp -s wanted got || fault "$verb, standard error closed: another output"
    "$lift2k" $verb --quiet >&- 2>err.log <&-
    case $verb in
    *-) grep -q '^lift2k: standard output: ' err.log || fault "$verb, standard output closed: not reported" ;;
    *) cmp -s wanted x.ppm || fault "$verb, standard output closed: another output" ;;
    esac
done
checks=$((checks + 1))
"$lift2k" info - <&- >out.log 2>err.log && fault "a closed standard input: worked"
grep -q '^lift2k: standard input: ' err.log || fault "a closed standard input: not reported"
rm -f x.ppm wanted got half

# ---- Names with control characters ----

checks=$((checks + 2))
odd=$(printf 'ev\033]0;x\007\302\233\303\251.jp2')
cp small.jp2 "$odd"
"$lift2k" info "$odd" >out.log 2>err.log
grep -q "^file  *ev?\]0;x??$(printf '\303\251').jp2\$" out.log || { fault "info of an odd name"; head -1 out.log | od -c; }
"$lift2k" decode "$odd" nowhere/x.ppm 2>/dev/null
"$lift2k" info "not-$odd" 2>err.log
grep -q "^lift2k: not-ev?\]0;x??$(printf '\303\251').jp2: No such" err.log || { fault "a report of an odd name"; od -c err.log; }
rm -f "$odd"
# Bytes that are not UTF-8, of which 233 alone is a control code for 8-bit terminals; characters of 2 to 4 bytes stay.
checks=$((checks + 2))
odd=$(printf 'o\233 31m\302\377\300\200\355\240\200\342\202.\303\251\342\202\254\360\237\231\202.jp2')
shown=$(printf 'o? 31m?????????.\303\251\342\202\254\360\237\231\202.jp2')
cp small.jp2 "$odd"
"$lift2k" info "$odd" >out.log 2>err.log
grep -qF " $shown" out.log || { fault "info of a name that is not UTF-8"; head -1 out.log | od -c; }
"$lift2k" info "not-$odd" 2>err.log
grep -qF "lift2k: not-$shown: No such" err.log || { fault "a report of a name that is not UTF-8"; od -c err.log; }
rm -f "$odd"

finish
