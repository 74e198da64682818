#!/bin/sh
# codec.sh [PICTURE.ppm]: lift2k against OpenJPEG's opj_compress and opj_decompress, side by side in one run, as a table on
# standard output. Times are medians of RUNS (7) runs that take turns after one warm-up each.
#
# codec.sh --against LIFT2K [PICTURE.ppm]: the command against another lift2k, for example an older build. Both run twice
# in each turn, so that the table also shows what a binary's first runs are to its second ones: that is the noise. Fails
# where a time grows by more than PERCENT (2) beyond that, or where the two differ in a codestream or a sample.
#
# codec.sh --grok [PICTURE.ppm]: against Grok's grk_compress and grk_decompress, with each instruction set in CPUS.
#
# Everything is read from and written to OUT. Without a picture it is a CC0 photograph, "seeding" (5312 x 2988), from
# Debian's package lomiri-wallpapers-16.04, which is downloaded into OUT and not installed.
#
# Environment: LIFT2K the command to measure (built into OUT from this checkout), OUT the working folder (build-bench),
# RUNS, THREADS ("1 2"), PERCENT, CPUS ("auto"; for example "avx2 avx512", for --grok); OPJ_COMPRESS, OPJ_DECOMPRESS,
# GRK_COMPRESS, GRK_DECOMPRESS the binaries to compare with (those of the PATH), whose own version the table names.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
OUT=${OUT:-$root/build-bench}
RUNS=${RUNS:-7}
THREADS=${THREADS:-1 2}
PERCENT=${PERCENT:-2}
OPJ_COMPRESS=${OPJ_COMPRESS:-opj_compress} OPJ_DECOMPRESS=${OPJ_DECOMPRESS:-opj_decompress}
GRK_COMPRESS=${GRK_COMPRESS:-grk_compress} GRK_DECOMPRESS=${GRK_DECOMPRESS:-grk_decompress}
started=$(date -u +%Y-%m-%d)
mkdir -p "$OUT"

die() {
    echo "codec.sh: $*" >&2
    exit 1
}

other=
grok=
rival="$OPJ_COMPRESS $OPJ_DECOMPRESS"
if [ "${1:-}" = --grok ]; then
    grok=1
    rival="$GRK_COMPRESS $GRK_DECOMPRESS"
    shift
elif [ "${1:-}" = --against ]; then
    [ $# -ge 2 ] || die "--against needs a lift2k to compare with"
    other=$2
    rival=$other
    shift 2
    "$other" --version >/dev/null || die "$other does not run"
fi
for tool in cc $rival; do
    command -v "$tool" >/dev/null || die "$tool is missing (OpenJPEG: opj_compress; Grok: grk_compress; gcc)"
done
cc -O2 -std=c11 -o "$OUT/measure" "$root/bench/measure.c"
cc -O2 -std=c11 -I "$root" -o "$OUT/compare" "$root/bench/compare.c" -lm
commit=
if [ -z "${LIFT2K:-}" ]; then
    commit=$(git -C "$root" describe --always --dirty 2>/dev/null || true)
    "$root/scripts/build.sh" "$OUT" -DL2K_TESTS=OFF -DL2K_CUDA=OFF -DCMAKE_BUILD_TYPE=Release
    LIFT2K=$OUT/lift2k
fi

# ---- The picture

fetch_picture() {
    package=lomiri-wallpapers-16.04
    [ -s "$OUT/seeding.ppm" ] && return
    (cd "$OUT" && apt-get -qq download "$package" && dpkg-deb -x "$package"_*.deb wallpapers) ||
        die "cannot get the package $package; name a PPM picture instead"
    jpeg=$(find "$OUT/wallpapers" -iname '*seeding*.jpg' -size +100k | head -n 1)
    [ -n "$jpeg" ] || die "the package $package has no picture named seeding"
    if command -v djpeg >/dev/null; then
        djpeg -pnm -outfile "$OUT/seeding.ppm.part" "$jpeg"
    elif command -v jpegtopnm >/dev/null; then
        jpegtopnm -quiet "$jpeg" >"$OUT/seeding.ppm.part"
    else
        die "djpeg (libjpeg-turbo-progs) or jpegtopnm (netpbm) is missing"
    fi
    mv "$OUT/seeding.ppm.part" "$OUT/seeding.ppm"
}

if [ $# -gt 0 ]; then
    picture=$1
else
    fetch_picture
    picture=$OUT/seeding.ppm
fi
# A P6 header without comments.
shape=$(head -c 100 "$picture" | tr '\n' ' ' | awk '$1 == "P6" { print $2, $3 }')
[ -n "$shape" ] || die "$picture is not a binary PPM"
samples=$(echo "$shape" | awk '{ print $1 * $2 }')
[ "$samples" -ge 6000000 ] || echo "codec.sh: $picture has fewer than 6 megapixels; ratios will be imprecise" >&2

# ---- Another lift2k

# Numbers of the commands in $OUT/runs: 0 and 2 are the new binary's first and second runs, 1 and 3 the old one's.
against_row() { # against_row NAME: a row from $OUT/runs; adds the name to $OUT/slower where the new binary is
    awk -v name="$1" -v percent="$PERCENT" -v slower="$OUT/slower" '
        function sort(v, n,    i, j, t) {
            for (i = 2; i <= n; i++)
                for (j = i; j > 1 && v[j - 1] > v[j]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
        }
        # The least or the middle of what commands a and b took.
        function figure(which, time, a, b,    v, n, i) {
            for (i = 1; i <= count[a]; i++) v[++n] = time[a, i]
            for (i = 1; a != b && i <= count[b]; i++) v[++n] = time[b, i]
            sort(v, n)
            return which == "min" ? v[1] : n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
        }
        function away(ratio) { return ratio > 1 ? ratio - 1 : 1 / ratio - 1 }
        # Sets `beyond` to the growth, in percent, beyond what a binary shows against itself.
        function columns(which, time,    x, y, p, q, self) {
            x = figure(which, time, 0, 2)
            y = figure(which, time, 1, 3)
            p = figure(which, time, 0, 0) / figure(which, time, 2, 2)
            q = figure(which, time, 1, 1) / figure(which, time, 3, 3)
            self = away(p) > away(q) ? p : q
            beyond = 100 * (x / y - 1 - away(self))
            return sprintf("%.3f | %.3f | **%.3f** | %.3f", x, y, x / y, self)
        }
        { count[$1]++; wall[$1, count[$1]] = $2; user[$1, count[$1]] = $3 }
        END {
            line = columns("min", wall)
            least = beyond
            line = line " | " columns("median", wall)
            if (beyond < least) least = beyond
            x = figure("min", user, 0, 2) / figure("min", user, 1, 3)
            printf "| %s | %s | %.3f | %s |\n", name, line, x, (least > percent ? "slower" : "ok")
            if (least > percent) print name >>slower
        }' "$OUT/runs"
}

against() { # against NAME NEW-COMMAND OLD-COMMAND
    # shellcheck disable=SC2086 # commands are lists of words without spaces inside
    "$OUT/measure" -n "$RUNS" $2 -- $3 -- $2 -- $3 >"$OUT/runs"
    against_row "$1"
}

against_work() { # against_work NAME STEM OPTIONS
    for t in $THREADS; do
        against "$1, encode, $t thread(s)" "$LIFT2K encode $picture $OUT/$2-new.j2k --quiet -j $t $3" \
            "$other encode $picture $OUT/$2-old.j2k --quiet -j $t $3"
    done
    for t in $THREADS; do
        against "$1, decode, $t thread(s)" "$LIFT2K decode $OUT/$2-old.j2k $OUT/$2-new.ppm --quiet -j $t" \
            "$other decode $OUT/$2-old.j2k $OUT/$2-old.ppm --quiet -j $t"
    done
}

against_other() {
    rm -f "$OUT/slower"
    cat <<END
# lift2k against another build, $started

- picture: $(basename "$picture"), $(echo "$shape" | tr ' ' x), RGB, $(wc -c <"$picture") bytes
- new: $("$LIFT2K" --version | sed -n 's/^lift2k //p')${commit:+, commit $commit}; old: $("$other" --version | sed -n 's/^lift2k //p')
- processor: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) of them
- load before the run, over 1 and 5 minutes: $(cut -d' ' -f1,2 /proc/loadavg)
- $RUNS turns of new, old, new, old after a warm-up; seconds of wall time; self is the ratio of a binary's first run in
  each turn to its second, of the binary for which it is farther from 1
- "slower": both the least and the median time grow by more than $PERCENT % beyond self

| work | new min | old min | new/old | self | new median | old median | new/old | self | user min, new/old | |
|---|---|---|---|---|---|---|---|---|---|---|
END
    against_work "5/3 lossless" reversible ""
    against_work "9/7 full rate" irreversible "-I"
    echo
    for stem in reversible irreversible; do
        same=$("$OUT/compare" --codestream "$OUT/$stem-new.j2k" "$OUT/$stem-old.j2k")
        echo "- $stem: codestreams, COM apart: $same"
        [ "$same" = identical ] || die "the codestreams differ"
        cmp "$OUT/$stem-new.ppm" "$OUT/$stem-old.ppm" || die "the decoded samples differ"
        echo "- $stem: decoded files: identical"
    done
    [ ! -s "$OUT/slower" ] || die "slower: $(tr '\n' ';' <"$OUT/slower")"
}

if [ -n "$other" ]; then
    against_other
    exit
fi

# ---- Other codecs

# row NAME: a row of medians from measure's lines in $OUT/runs; 0 is lift2k, 1 the other codec.
row() {
    awk -v name="$1" '
        { n[$1]++; wall[$1, n[$1]] = $2; user[$1, n[$1]] = $3; kib[$1, n[$1]] = $4 }
        function median(a, c,    i, j, t, v) {
            for (i = 1; i <= n[c]; i++) v[i] = a[c, i]
            for (i = 2; i <= n[c]; i++)
                for (j = i; j > 1 && v[j - 1] > v[j]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
            return n[c] % 2 ? v[(n[c] + 1) / 2] : (v[n[c] / 2] + v[n[c] / 2 + 1]) / 2
        }
        END {
            a = median(wall, 0); b = median(wall, 1)
            c = median(user, 0); d = median(user, 1)
            e = median(kib, 0) / 1024; f = median(kib, 1) / 1024
            printf "| %s | %.3f | %.3f | **%.2f** | %.3f | %.3f | %.2f | %.1f | %.1f | **%.2f** |\n",
                name, a, b, a / b, c, d, c / d, e, f, e / f
        }' "$OUT/runs"
}

compare() { # name, lift2k command, the other's command
    # shellcheck disable=SC2086 # commands are lists of words without spaces inside
    "$OUT/measure" -n "$RUNS" $2 -- $3 >"$OUT/runs"
    row "$1"
}

compared() { "$OUT/compare" "$@"; }

head_of_table() { # head_of_table NAME VERSION OPTIONS
    cat <<END
# lift2k and $1, $started

- picture: $(basename "$picture"), $(echo "$shape" | tr ' ' x), RGB, $(wc -c <"$picture") bytes
- lift2k: $("$LIFT2K" --version | sed -n 's/^lift2k //p')${commit:+, commit $commit}
- $1: $2
- processor: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) of them
- system: $(uname -s), $(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release), $(cc --version | head -n 1)
- command: \`bench/codec.sh$3\`, medians of $RUNS alternating runs each, after one warm-up
- load before the run, over 1 and 5 minutes: $(cut -d' ' -f1,2 /proc/loadavg); where user and wall ratios disagree, other processes were running
- ratios are lift2k over $1: below 1 means that lift2k takes less

| work | wall s, lift2k | $1 | ratio | user s, lift2k | $1 | ratio | MiB, lift2k | $1 | ratio |
|---|---|---|---|---|---|---|---|---|---|
END
}

# The first number in what the binary says of itself, of the library if it names that.
version_of() { # version_of BINARY OPTION...
    "$@" 2>&1 | awk 'match($0, /[0-9]+(\.[0-9]+)+/) {
        if (!found || /library/) found = substr($0, RSTART, RLENGTH)
        if (/library/) exit
    }
    END { print found ? found : "of unknown version" }'
}

# ---- Grok

grok_work() { # name, lift2k's options, Grok's options, stem, instruction set
    for t in $THREADS; do
        compare "$1, encode, $5, $t thread(s)" \
            "$LIFT2K encode $picture $OUT/$4-l2k.j2k --quiet --cpu $5 -j $t $2" \
            "$GRK_COMPRESS -i $picture -o $OUT/$4-grk.j2k -H $t $3"
    done
    for t in $THREADS; do
        compare "$1, decode, $5, $t thread(s)" \
            "$LIFT2K decode $OUT/$4-grk.j2k $OUT/$4-l2k.ppm --quiet --cpu $5 -j $t" \
            "$GRK_DECOMPRESS -i $OUT/$4-grk.j2k -o $OUT/$4-grk.ppm -H $t"
    done
}

if [ -n "$grok" ]; then
    head_of_table Grok "$(version_of "$GRK_COMPRESS" -version)" \
        " --grok$([ $# -eq 0 ] || echo " $(basename "$picture")")"
    for cpu in ${CPUS:-auto}; do
        grok_work "5/3 lossless" "" "" grok-reversible "$cpu"
        grok_work "9/7 at 20:1" "-I -r 20" "-I -r 20" grok-rate "$cpu"
    done
    exit
fi

# ---- OpenJPEG

head_of_table OpenJPEG "$(version_of "$OPJ_COMPRESS" -h)" \
    "$([ $# -eq 0 ] || echo " $(basename "$picture")")"

work() { # name, options of lift2k, options of OpenJPEG, stem
    for t in $THREADS; do
        compare "$1, encode, $t thread(s)" "$LIFT2K encode $picture $OUT/$4-l2k.j2k --quiet -j $t $2" \
            "$OPJ_COMPRESS -i $picture -o $OUT/$4-opj.j2k -threads $t $3"
    done
    for t in $THREADS; do
        compare "$1, decode, $t thread(s)" "$LIFT2K decode $OUT/$4-opj.j2k $OUT/$4-l2k.ppm --quiet -j $t" \
            "$OPJ_DECOMPRESS -quiet -i $OUT/$4-opj.j2k -o $OUT/$4-opj.ppm -threads $t"
    done
}

work "5/3 lossless" "" "" reversible
work "9/7 full rate" "-I" "-I" irreversible
work "9/7 at 20:1" "-I -r 20" "-I -r 20" rate

echo
echo "Checks:"
for stem in reversible irreversible; do
    echo "- $stem, codestreams, COM apart: $(compared --codestream "$OUT/$stem-l2k.j2k" "$OUT/$stem-opj.j2k")"
done
echo "- reversible, decoded by lift2k, against the picture: $(compared --samples "$OUT/reversible-l2k.ppm" "$picture")"
for stem in reversible irreversible rate; do
    echo "- $stem, decoded by lift2k against OpenJPEG, samples:" \
        "$(compared --samples "$OUT/$stem-l2k.ppm" "$OUT/$stem-opj.ppm")"
done
for codec in l2k opj; do
    "$OPJ_DECOMPRESS" -quiet -i "$OUT/rate-$codec.j2k" -o "$OUT/rate.ppm" >/dev/null
    compared --samples "$OUT/rate.ppm" "$picture" >"$OUT/rate-$codec.txt"
    echo "- 20:1 by $codec, decoded by OpenJPEG, against the picture: $(wc -c <"$OUT/rate-$codec.j2k") bytes," \
        "$(cat "$OUT/rate-$codec.txt")"
done
echo "- 20:1 asks for at most $((samples * 3 / 20)) bytes"

psnr() { # of what compare --samples printed into the file; a picture without differences has 999
    sed -n -e 's/^identical$/999/p' -e 's/.*PSNR \([0-9.]*\) dB.*/\1/p' "$1"
}
ours=$(psnr "$OUT/rate-l2k.txt")
theirs=$(psnr "$OUT/rate-opj.txt")
awk -v a="$ours" -v b="$theirs" 'BEGIN { exit !(a != "" && b != "" && a >= b - 0.05) }' ||
    die "at 20:1 lift2k's PSNR of $ours dB is more than 0.05 dB below OpenJPEG's $theirs dB"
