#!/bin/sh
# codec.sh [PICTURE.ppm]: lift2k against OpenJPEG's opj_compress and opj_decompress, side by side in one run, as a table on
# standard output. Times are medians of RUNS (7) runs that take turns after one warm-up each; everything is read from and
# written to OUT. Without an argument the picture is a CC0 photograph, "seeding" (5312 x 2988), from Debian's package
# lomiri-wallpapers-16.04, which is downloaded into OUT and not installed.
#
# Environment: LIFT2K the command to measure (built into OUT from this checkout), OUT the working folder (build-bench),
# RUNS, THREADS ("1 2").
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
OUT=${OUT:-$root/build-bench}
RUNS=${RUNS:-7}
THREADS=${THREADS:-1 2}
started=$(date -u +%Y-%m-%d)
mkdir -p "$OUT"

die() {
    echo "codec.sh: $*" >&2
    exit 1
}

for tool in opj_compress opj_decompress cc; do
    command -v "$tool" >/dev/null || die "$tool is missing (packages libopenjp2-tools, gcc)"
done
cc -O2 -std=c11 -o "$OUT/measure" "$root/bench/measure.c"
cc -O2 -std=c11 -o "$OUT/compare" "$root/bench/compare.c" -lm
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
[ "$samples" -ge 6000000 ] || echo "codec.sh: $picture has fewer than 6 megapixels; ratios will be rough" >&2

# ---- Measuring

# row NAME: medians of the lines that measure left in $OUT/runs; 0 is lift2k, 1 OpenJPEG.
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

compare() { # name, lift2k command, OpenJPEG command
    # shellcheck disable=SC2086 # commands are lists of words without spaces inside
    "$OUT/measure" -n "$RUNS" $2 -- $3 >"$OUT/runs"
    row "$1"
}

compared() { "$OUT/compare" "$@"; }

cat <<END
# lift2k and OpenJPEG, $started

- picture: $(basename "$picture"), $(echo "$shape" | tr ' ' x), RGB, $(wc -c <"$picture") bytes
- lift2k: $("$LIFT2K" --version | sed 's/lift2k //')${commit:+, commit $commit}
- OpenJPEG: $(opj_compress -h 2>&1 | sed -n 's/.*library v\([0-9.]*[0-9]\).*/\1/p' | head -n 1)$(dpkg-query -W -f ', package ${Version}' libopenjp2-tools 2>/dev/null || true)
- processor: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) of them
- system: $(uname -s), $(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release), $(cc --version | head -n 1)
- command: \`bench/codec.sh$([ $# -eq 0 ] || echo " $(basename "$picture")")\`, $RUNS runs each, in turns, after one warm-up; medians
- load before the run, over 1 and 5 minutes: $(cut -d' ' -f1,2 /proc/loadavg); where user and wall ratios disagree, others were at work
- ratios are lift2k over OpenJPEG: below 1 lift2k takes less

| work | wall s, lift2k | OpenJPEG | ratio | user s, lift2k | OpenJPEG | ratio | MiB, lift2k | OpenJPEG | ratio |
|---|---|---|---|---|---|---|---|---|---|
END

work() { # name, options of lift2k, options of OpenJPEG, stem
    for t in $THREADS; do
        compare "$1, encode, $t thread(s)" "$LIFT2K encode $picture $OUT/$4-l2k.j2k --quiet -j $t $2" \
            "opj_compress -i $picture -o $OUT/$4-opj.j2k -threads $t $3"
    done
    for t in $THREADS; do
        compare "$1, decode, $t thread(s)" "$LIFT2K decode $OUT/$4-opj.j2k $OUT/$4-l2k.ppm --quiet -j $t" \
            "opj_decompress -quiet -i $OUT/$4-opj.j2k -o $OUT/$4-opj.ppm -threads $t"
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
    opj_decompress -quiet -i "$OUT/rate-$codec.j2k" -o "$OUT/rate.ppm" >/dev/null
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
