#!/usr/bin/env bash
# `lift2k compare`. Arguments: the lift2k binary, the folder with the pictures.
lift2k=$1
data=$2
. "$(dirname "$0")/support.sh"

compares() { # compares NAME STATUS PATTERN ARGUMENTS...: ends so, with PATTERN on standard output and no error
    local name=$1 wanted=$2 pattern=$3 status
    shift 3
    checks=$((checks + 1))
    "$lift2k" compare "$@" >out.log 2>err.log </dev/null
    status=$?
    [ $status -eq "$wanted" ] || { fault "$name: status $status, not $wanted, from: $*"; head -5 err.log; }
    [ ! -s err.log ] || { fault "$name: something on standard error"; head -5 err.log; }
    [ -z "$pattern" ] || grep -qE -- "$pattern" out.log ||
        { fault "$name: the output does not say '$pattern'"; cat out.log; }
}

cannot() { # cannot NAME PATTERN ARGUMENTS...: status 2 with one line that matches
    local name=$1 pattern=$2
    shift 2
    refuses "$name" "" "$pattern" compare "$@"
    checks=$((checks + 1))
    "$lift2k" compare "$@" >/dev/null 2>&1 </dev/null
    [ $? -eq 2 ] || fault "$name: not status 2"
}

row() { # row NAME COMPONENT PEAK MSE PSNR SSIM: the line of a component in out.log
    local name=$1
    shift
    checks=$((checks + 1))
    [ "$(awk -v c="$1" '$1 == c { sub(" dB", ""); print $1, $2, $3, $4, $5 }' out.log)" = "$*" ] ||
        { fault "$name: no line $*"; cat out.log; }
}

plain() { # plain WIDTH HEIGHT MAXVAL VALUE: a PGM of one value
    printf 'P2\n%s %s\n%s\n' "$1" "$2" "$3"
    yes "$4" | head -n $(($1 * $2))
}

# ---- Identical ----

same="The pictures are identical: all 405900 samples are equal."
runs "lossless" encode "$data/chelsea.png" cat.jp2 --quiet
runs "lossless" encode "$data/chelsea.png" cat.j2k --quiet
runs "ppm" decode cat.jp2 cat.ppm --quiet
runs "pam" decode cat.jp2 cat.pam --quiet
runs "pgx" decode cat.jp2 cat.pgx --quiet
for other in "$data/chelsea.png" cat.jp2 cat.j2k cat.ppm cat.pam cat.pgx; do
    compares "identical to $other" 0 "^$same\$" cat.jp2 "$other"
    compares "identical the other way" 0 "^$same\$" "$other" cat.jp2
    for c in 0 1 2; do row "identical to $other" $c 0 0 inf 1.000000; done
done
compares "a component without a number of its own" 0 identical cat_1.pgx cat_1.pgx
compares "quiet" 0 "" --quiet cat.jp2 cat.ppm
check "quiet says nothing" test ! -s out.log
check "standard input" sh -c "cat cat.ppm | '$lift2k' compare - cat.jp2 | grep -q identical"
check "JPEG 2000 on standard input" sh -c "cat cat.jp2 | '$lift2k' compare cat.ppm - | grep -q identical"

# ---- Different, by known figures ----

plain 20 15 255 7 >base.pgm
sed '100s/7/8/' base.pgm >one.pgm # one of 300 samples by one: MSE 1/300, PSNR 10 log10(255^2 * 300)
compares "one off by one" 1 "^The pictures differ in 1 of 300 samples, by at most 1\.\$" base.pgm one.pgm
check "one off by one" grep -qE '^0 +1 +0\.0033333333 +72\.90 dB ' out.log
compares "quiet" 1 "" base.pgm one.pgm --quiet
check "quiet says nothing" test ! -s out.log

# No variance: SSIM = (2ab + C1) / (a^2 + b^2 + C1), here with a = 100, b = 110, C1 = 2.55^2.
plain 11 11 255 100 >a.pgm
plain 11 11 255 110 >b.pgm
compares "constant" 1 "in 121 of 121 samples, by at most 10" a.pgm b.pgm
row "constant" 0 10 100 28.13 0.995476
# The same at 16 bits with L = 65535: C1 = 655.35^2.
plain 11 11 65535 1000 >a.pgm
plain 11 11 65535 3000 >b.pgm
compares "16 bit" 1 "by at most 2000" a.pgm b.pgm
row "16 bit" 0 2000 4000000 30.31 0.616472
plain 10 12 255 100 >a.pgm
plain 10 12 255 101 >b.pgm
compares "smaller than the window" 1 "differ" a.pgm b.pgm
row "smaller than the window" 0 1 1 48.13 -

# Signed samples are treated as unsigned: with 8 bits, -128 and 127 are 0 and 255.
{ printf 'PG ML - 8 11 11\n'; head -c 121 /dev/zero | tr '\0' '\200'; } >a.pgx
{ printf 'PG ML - 8 11 11\n'; head -c 121 /dev/zero | tr '\0' '\177'; } >b.pgx
compares "signed" 1 "by at most 255" a.pgx b.pgx
row "signed" 0 255 65025 0.00 0.000100
printf 'PG ML + 31 1 2\n\000\000\000\000\000\000\000\001' >a.pgx
printf 'PG ML + 31 1 2\n\177\377\377\377\000\000\000\001' >b.pgx
compares "31 bit" 1 "in 1 of 2 samples, by at most 2147483647" a.pgx b.pgx
row "31 bit" 0 2147483647 2.305843e+18 3.01 -

# A picture of noise against the definition with its two-dimensional window, at 4 x 3 positions.
awk 'BEGIN { srand(5); for (i = 0; i < 14 * 13; i++) { a = int(rand() * 256); b = a + int(rand() * 120) - 60
    print a, (b < 0 ? 0 : b > 255 ? 255 : b) } }' >noise
for k in 1 2; do { printf 'P2\n14 13\n255\n'; cut -d ' ' -f $k noise; } >noise$k.pgm; done
wanted=$(awk '{ a[NR - 1] = $1; b[NR - 1] = $2; mse += ($1 - $2) ^ 2 / (14 * 13) } END {
    for (i = -5; i <= 5; i++) for (j = -5; j <= 5; j++) total += exp(-(i * i + j * j) / 4.5)
    for (y = 5; y < 8; y++) for (x = 5; x < 9; x++) {
        ma = mb = va = vb = cov = 0
        for (i = -5; i <= 5; i++) for (j = -5; j <= 5; j++) {
            w = exp(-(i * i + j * j) / 4.5) / total; k = (y + i) * 14 + x + j; ma += w * a[k]; mb += w * b[k] }
        for (i = -5; i <= 5; i++) for (j = -5; j <= 5; j++) {
            w = exp(-(i * i + j * j) / 4.5) / total; k = (y + i) * 14 + x + j
            va += w * (a[k] - ma) ^ 2; vb += w * (b[k] - mb) ^ 2; cov += w * (a[k] - ma) * (b[k] - mb) }
        ssim += (2 * ma * mb + 2.55 ^ 2) * (2 * cov + 7.65 ^ 2) / ((ma ^ 2 + mb ^ 2 + 2.55 ^ 2) * (va + vb + 7.65 ^ 2)) }
    printf "%.2f %.6f\n", 10 * log(255 ^ 2 / mse) / log(10), ssim / 12 }' noise)
compares "noise" 1 "differ" noise1.pgm noise2.pgm
check "noise: PSNR and SSIM are $wanted" test "$(awk '$1 == "0" { print $4, $6 }' out.log)" = "$wanted"

# One component of three, and a lossy file: the figures do not depend on the order of the two.
runs "lossy" encode "$data/chelsea.png" lossy.jp2 -I -r 20 --quiet
compares "lossy" 1 "^The pictures differ in [0-9]+ of 405900 samples, by at most [0-9]+\.\$" "$data/chelsea.png" lossy.jp2
cp out.log there
compares "lossy, the other way" 1 "differ" lossy.jp2 "$data/chelsea.png"
check "symmetry" cmp there out.log
check "three components" test "$(grep -cE '^[012] .* 3[0-9]\.[0-9][0-9] dB +0\.9[0-9]{5}$' out.log)" -eq 3

# ---- Not comparable ----

plain 20 14 255 7 >low.pgm
plain 20 15 1023 7 >deep.pgm
printf 'PG ML - 8 20 15\n' >minus.pgx
head -c 300 /dev/zero >>minus.pgx
cannot "sizes" "low.pgm: component 0 has 20 x 14 samples, that of base.pgm 20 x 15" base.pgm low.pgm
cannot "number of components" "cat.ppm: 3 components, base.pgm has 1" base.pgm cat.ppm
cannot "number of components" "base.pgm: 1 component, cat.ppm has 3" cat.ppm base.pgm
cannot "precision" "deep.pgm: component 0 is 10 bit unsigned, that of base.pgm 8 bit unsigned" base.pgm deep.pgm
cannot "sign" "minus.pgx: component 0 is 8 bit signed" base.pgm minus.pgx
cannot "quiet" "low.pgm" base.pgm low.pgm --quiet
cannot "a missing file" "missing.jp2: No such file" cat.jp2 missing.jp2
cannot "a missing first file" "missing.png: No such file" missing.png cat.jp2
printf 'just text, no picture at all\n' >text.txt
: >empty
mkdir folder
cannot "text" "text.txt: neither JPEG 2000 nor" cat.jp2 text.txt
cannot "an empty file" "empty: the file is empty" empty cat.jp2
cannot "a directory" "folder: .*directory" cat.jp2 folder
head -c 30000 cat.jp2 >cut.jp2
cannot "a file that ends early" "cut.jp2: the file ends" cat.jp2 cut.jp2
head -c 60 cat.jp2 >cut.jp2
cannot "a file without a codestream" "cut.jp2" cut.jp2 cat.jp2
head -c 3000 cat.ppm >cut.ppm
cannot "a picture that ends early" "cut.ppm: the file is truncated" cat.jp2 cut.ppm
cannot "no names" "two file names"
cannot "one name" "two file names" cat.jp2
cannot "three names" "low.pgm: one file name too many" cat.jp2 cat.ppm low.pgm
cannot "standard input twice" "standard input" - -
cannot "an unknown option" "frobnicate" cat.jp2 cat.ppm --frobnicate
if [ -w /dev/full ]; then
    checks=$((checks + 1))
    "$lift2k" compare cat.jp2 cat.ppm >/dev/full 2>err.log
    [ $? -eq 2 ] || fault "a full disk: not status 2"
fi

finish
