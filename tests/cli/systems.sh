#!/usr/bin/env bash
# What every system must do alike (scripts/portability.sh): the same codestreams from the same pictures, and files, pipes
# and folders that work. Arguments: the folder of the test pictures; a folder, made anew, where the codestreams and decoded
# pictures stay to be compared with those of another system; the command, with the program that runs it.
set -u
data=${1:?}
made=${2:?}
shift 2
command=("$@")
export LC_ALL=C.UTF-8 OMP_WAIT_POLICY=passive
rm -rf "$made"
mkdir -p "$made" || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
failures=0

lift2k() {
    "${command[@]}" "$@"
}

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# ---- Pictures: bytes of a file as samples, and smooth ones ----------------------------------------------------------

make_pictures() {
    { printf 'P6\n120 80\n255\n'; head -c 28800 "$data/camera.png"; } >noise.ppm
    { printf 'P5\n61 47\n4095\n'; head -c 5734 "$data/chelsea.png" | od -An -v -tu1 -w1 |
        awk '{ printf "\\%03o", NR % 2 ? $1 % 16 : $1 }' | xargs -0 printf '%b'; } >twelve.pgm
    awk 'BEGIN {
        print "P3\n200 150\n255"
        for (y = 0; y < 150; y++)
            for (x = 0; x < 200; x++)
                print int(x * 255 / 199), int((x * y) % 256 / 2 + y / 2), int((x - 100) * (x - 100) / 50 + y / 3)
    }' >smooth.ppm
    awk 'BEGIN {
        print "P2\n300 260\n65535"
        for (y = 0; y < 260; y++)
            for (x = 0; x < 300; x++)
                print (x * x * 3 + y * y * 5 + x * y) % 65536
    }' >sixteen.pgm
}

# ---- The same bytes ---------------------------------------------------------------------------------------------

# same NAME PICTURE OPTIONS...: a codestream and what it decodes to; --lossless files give the picture again
same() {
    local name=$1 picture=$2
    shift 2
    lift2k encode --quiet "$picture" "$made/$name.j2k" "$@" || { fail "encoding $name"; return; }
    lift2k decode --quiet "$made/$name.j2k" "$made/$name.pam" || fail "decoding $name"
    [ "$name" = "${name#exact}" ] || lift2k compare --quiet "$picture" "$made/$name.pam" || fail "$name is not lossless"
}

codestreams() {
    same exact-noise noise.ppm
    same exact-twelve twelve.pgm --tile 32,32
    same exact-smooth smooth.ppm --levels 3 --block 32,16
    same exact-sixteen sixteen.pgm
    same exact-ht smooth.ppm --ht
    same rate smooth.ppm -I --rate 12
    same layers smooth.ppm -I --rate 40,20,10
    same psnr sixteen.pgm -I --psnr 45
    same ht-rate sixteen.pgm -I --ht --rate 8
    same ht-psnr smooth.ppm -I --ht --psnr 38
    same tiles noise.ppm --tile 50,40 --rate 5
}

# ---- Files and pipes --------------------------------------------------------------------------------------------

empty_of_temporaries() { # FOLDER
    local left
    left=$(find "$1" -name '.lift2k*')
    [ -z "$left" ] || fail "a temporary file is left: $left"
}

pipes() {
    lift2k encode --quiet - - <noise.ppm | cat >piped.jp2
    lift2k encode --quiet noise.ppm named.jp2
    cmp piped.jp2 named.jp2 || fail "a pipe gives another file"
    cat named.jp2 | lift2k decode --quiet - - | cat >back.ppm
    cmp noise.ppm back.ppm || fail "decoding through pipes"
    lift2k decode --quiet - back.ppm <named.jp2 && cmp noise.ppm back.ppm || fail "decoding from a redirected file"
    lift2k decode --quiet named.jp2 - >back.ppm && cmp noise.ppm back.ppm || fail "decoding to a redirected file"
}

names() {
    local long=long i
    for i in 1 2 3 4 5 6; do
        long=$long/$(printf '%060d' $i)
    done
    mkdir -p "$long" "Grün 日本"
    for i in "$long/a name.jp2" "Grün 日本/☃ é.jp2"; do
        lift2k encode --quiet noise.ppm "$i" && lift2k decode --quiet "$i" "${i%.jp2}.ppm" && cmp noise.ppm "${i%.jp2}.ppm" ||
            fail "the name $i"
        empty_of_temporaries "$(dirname "$i")"
    done
    lift2k info "Grün 日本/☃ é.jp2" | grep -q '^file .*☃ é.jp2' || fail "info does not show the name as it is"
}

replaced() {
    cp smooth.ppm old.ppm
    lift2k decode --quiet named.jp2 old.ppm && cmp noise.ppm old.ppm || fail "an existing file is not replaced"
    cp smooth.ppm kept.ppm
    head -c 3000 named.jp2 >damaged.jp2
    lift2k decode --quiet --strict damaged.jp2 kept.ppm 2>log && fail "a truncated file was accepted"
    cmp smooth.ppm kept.ppm || fail "a failure does not leave the existing file alone"
    lift2k encode --quiet noise.ppm nowhere/a.jp2 2>log && fail "a folder that does not exist was accepted"
    grep -q 'nowhere/a.jp2: No such file or directory' log || fail "the reason: $(cat log)"
    lift2k decode --quiet . back.ppm 2>log && fail "a folder was accepted as a file"
    chmod a-w old.ppm
    [ "$(id -u)" = 0 ] && [ "${command[0]}" != wine ] || ! lift2k decode --quiet named.jp2 old.ppm 2>log ||
        fail "a file that is read-only was replaced"
    empty_of_temporaries .
}

many() {
    mkdir -p in/deeper
    cp noise.ppm in/one.ppm
    cp smooth.ppm in/two.ppm
    lift2k encode --quiet in --out-dir out --verify >log 2>&1 || fail "a folder of files: $(cat log)"
    [ "$(ls out | tr '\n' ' ')" = "one.jp2 two.jp2 " ] || fail "--out-dir made $(ls out)"
    cmp out/one.jp2 named.jp2 || fail "of many files one is different"
    lift2k encode --quiet noise.ppm rows.j2k --tile 32,32 --by-rows && lift2k decode --quiet rows.j2k rows.ppm &&
        cmp noise.ppm rows.ppm || fail "by rows of tiles"
    lift2k dump --quiet out/one.jp2 bands && [ "$(ls bands | wc -l)" -gt 3 ] || fail "dump"
    empty_of_temporaries .
}

status() { # WANTED OPTIONS...: the exit status of the command
    local wanted=$1
    shift
    lift2k "$@" >log 2>&1
    local got=$?
    [ $got = "$wanted" ] || fail "lift2k $*: status $got, not $wanted: $(head -3 log)"
}

statuses() {
    status 0 --version
    status 2 --nonsense
    status 1 info noise.ppm
    status 1 decode absent.jp2 back.ppm
    status 3 decode damaged.jp2 back.ppm
}

# Ctrl-C in a console, which Wine has where there is a terminal. The shell there is told to survive it: some do not.
interrupted() {
    { printf 'P5\n3000 3000\n255\n'; for i in {1..30}; do cat "$data/coffee.png"; done | head -c 9000000; } >large.pgm
    {
        for i in {1..300}; do
            sleep 0.1
            [ -z "$(find . -name '.lift2k*')" ] || break
        done
        touch began
        printf '\003'
        for i in {1..100}; do
            sleep 0.1
            [ ! -e ended ] || break
        done
    } | SHELL=$BASH script -qc "trap : INT; ${command[*]} encode -j 1 large.pgm large.jp2; echo \$? >ended" /dev/null >log
    [ -e ended ] && [ "$(cat ended)" != 0 ] && [ -e began ] && [ ! -e large.jp2 ] || fail "Ctrl-C: status $(cat ended 2>&1)"
    empty_of_temporaries .
}

make_pictures
codestreams
pipes
names
replaced
many
statuses
[ "${command[0]}" != wine ] || interrupted
echo "$(find "$made" -type f | wc -l) files to compare, $failures failures"
[ "$failures" = 0 ]
