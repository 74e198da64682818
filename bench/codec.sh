#!/bin/sh
# codec.sh PICTURE.ppm: lift2k against OpenJPEG's opj_compress and opj_decompress, side by side in one run, as a table on
# standard output. Times are medians of RUNS (7) runs that take turns after one warm-up each.
#
# codec.sh --against LIFT2K PICTURE.ppm: the command against another lift2k, for example an older build. Fails where
# both the least and the median wall time are more than PERCENT (5) longer, or where the two differ in a codestream or a
# sample.
#
# codec.sh --grok PICTURE.ppm: against Grok's grk_compress and grk_decompress.
#
# codec.sh --transcode PICTURE.ppm: lift2k transcode against decoding and encoding again.
#
# Results use the CC0 photograph "seeding" (5312 x 2988) of Debian's package lomiri-wallpapers-16.04.
#
# Environment: LIFT2K the command to measure (build/lift2k), OUT the working folder (build-bench), RUNS, THREADS ("1 2"),
# PERCENT; OPJ_COMPRESS, OPJ_DECOMPRESS, GRK_COMPRESS, GRK_DECOMPRESS the binaries to compare with (those of the PATH),
# whose own version the table names.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
LIFT2K=${LIFT2K:-$root/build/lift2k}
OUT=${OUT:-$root/build-bench}
RUNS=${RUNS:-7}
THREADS=${THREADS:-1 2}
PERCENT=${PERCENT:-5}
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
transcode=
rival="$OPJ_COMPRESS $OPJ_DECOMPRESS"
if [ "${1:-}" = --grok ]; then
    grok=1
    rival="$GRK_COMPRESS $GRK_DECOMPRESS"
    shift
elif [ "${1:-}" = --transcode ]; then
    transcode=1 rival=$LIFT2K
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
cc -O2 -std=c11 -I "$root" -I "$root/include" -o "$OUT/measure" "$root/bench/measure.c"
picture=${1:?a PPM picture is needed}
# A P6 header without comments.
shape=$(head -c 100 "$picture" | tr '\n' ' ' | awk '$1 == "P6" { print $2, $3 }')
[ -n "$shape" ] || die "$picture is not a binary PPM"
samples=$(echo "$shape" | awk '{ print $1 * $2 }')
[ "$samples" -ge 6000000 ] || echo "codec.sh: $picture has fewer than 6 megapixels; ratios will be imprecise" >&2

# ---- Rows of the table

# row NAME: medians from measure's lines in $OUT/runs; 0 is lift2k, 1 the other. Adds the name to $OUT/slower where
# lift2k is, by median and least.
row() {
    awk -v name="$1" -v factor="$PERCENT" -v slower="$OUT/slower" '
        { n[$1]++; wall[$1, n[$1]] = $2; user[$1, n[$1]] = $3; kib[$1, n[$1]] = $4 }
        function median(a, c,    i, j, t, v) { # leaves the least in `least`
            for (i = 1; i <= n[c]; i++) v[i] = a[c, i]
            for (i = 2; i <= n[c]; i++)
                for (j = i; j > 1 && v[j - 1] > v[j]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
            least = v[1]
            return n[c] % 2 ? v[(n[c] + 1) / 2] : (v[n[c] / 2] + v[n[c] / 2 + 1]) / 2
        }
        END {
            a = median(wall, 0); x = least; b = median(wall, 1); y = least
            c = median(user, 0); d = median(user, 1)
            e = median(kib, 0) / 1024; f = median(kib, 1) / 1024
            printf "| %s | %.3f | %.3f | **%.2f** | %.3f | %.3f | %.2f | %.1f | %.1f | **%.2f** |\n",
                name, a, b, a / b, c, d, c / d, e, f, e / f
            factor = 1 + factor / 100
            if (a > b * factor && x > y * factor) print name >>slower
        }' "$OUT/runs"
}

# work NAME STEM OPTIONS: encoding and decoding with each number of threads. The other codec's commands come from
# `encoder` and `decoder`, which print them for a file's stem and threads; both decode its file.
work() {
    for t in $THREADS; do
        # shellcheck disable=SC2046,SC2086 # commands are lists of words without spaces inside
        "$OUT/measure" -n "$RUNS" "$LIFT2K" encode "$picture" "$OUT/$2-l2k.j2k" --quiet --comment x -j "$t" $3 -- \
            $(encoder "$2" "$t") $3 >"$OUT/runs"
        row "$1, encode, $t thread(s)"
    done
    for t in $THREADS; do
        # shellcheck disable=SC2046
        "$OUT/measure" -n "$RUNS" "$LIFT2K" decode "$OUT/$2-other.j2k" "$OUT/$2-l2k.ppm" --quiet -j "$t" -- \
            $(decoder "$2" "$t") >"$OUT/runs"
        row "$1, decode, $t thread(s)"
    done
}

# The first number in what the binary says of itself, of the library if it names that.
version_of() { # version_of BINARY OPTION...
    "$@" 2>&1 | awk 'match($0, /[0-9]+(\.[0-9]+)+/) {
        if (!found || /library/) found = substr($0, RSTART, RLENGTH)
        if (/library/) exit
    }
    END { print found ? found : "of unknown version" }'
}

head_of_table() { # head_of_table NAME VERSION OPTIONS
    cat <<END
# lift2k and $1, $started

- picture: $(basename "$picture"), $(echo "$shape" | tr ' ' x), RGB, $(wc -c <"$picture") bytes
- lift2k: $("$LIFT2K" --version | sed -n 's/^lift2k //p'), commit $(git -C "$root" describe --always --dirty)
- $1: $2
- processor: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) of them
- system: $(uname -s), $(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release), $(cc --version | head -n 1)
- command: \`bench/codec.sh$3 $(basename "$picture")\`, medians of $RUNS alternating runs each, after one warm-up
- ratios are lift2k over $1: below 1 means that lift2k takes less

| work | wall s, lift2k | $1 | ratio | user s, lift2k | $1 | ratio | MiB, lift2k | $1 | ratio |
|---|---|---|---|---|---|---|---|---|---|
END
}

compared() { # compared A B: two codestreams, or the samples of two pictures
    if [ "${1##*.}" = j2k ]; then
        cmp -s "$1" "$2" && echo identical || echo "**different**"
    elif "$LIFT2K" compare --quiet "$1" "$2"; then
        echo identical
    else
        "$LIFT2K" compare "$1" "$2" | awk '/dB/ { mse += $3 / 3; most = $2 > most ? $2 : most }
            END { printf "differ by at most %d, PSNR %.3f dB\n", most, 10 * log(255 * 255 / mse) / log(10) }'
    fi
}

# ---- Another lift2k

if [ -n "$other" ]; then
    encoder() { echo "$other encode $picture $OUT/$1-other.j2k --quiet --comment x -j $2"; }
    decoder() { echo "$other decode $OUT/$1-other.j2k $OUT/$1-other.ppm --quiet -j $2"; }
    rm -f "$OUT/slower"
    head_of_table "the other" "$("$other" --version | sed -n 's/^lift2k //p')" " --against ..."
    work "5/3 lossless" reversible ""
    work "9/7 full rate" irreversible "-I"
    echo
    for stem in reversible irreversible; do
        cmp "$OUT/$stem-l2k.j2k" "$OUT/$stem-other.j2k" || die "the codestreams differ"
        cmp "$OUT/$stem-l2k.ppm" "$OUT/$stem-other.ppm" || die "the decoded samples differ"
        echo "- $stem: codestreams and decoded files are identical"
    done
    [ ! -s "$OUT/slower" ] || die "slower: $(tr '\n' ';' <"$OUT/slower")"
    exit
fi

# ---- Transcoding

# transcoded NAME IN OPTIONS-OF-TRANSCODE OPTIONS-OF-ENCODE
transcoded() {
    for t in $THREADS; do
        # shellcheck disable=SC2086
        "$OUT/measure" -n "$RUNS" "$LIFT2K" transcode "$2" "$OUT/out.j2k" --quiet -j "$t" $3 -- \
            sh "$OUT/again" "$t" "$2" $4 >"$OUT/runs"
        row "$1, $t thread(s)"
    done
}

if [ -n "$transcode" ]; then
    echo "t=\$1 in=\$2; shift 2; \"$LIFT2K\" decode \$in $OUT/again.ppm --quiet -j \$t &&
        exec \"$LIFT2K\" encode $OUT/again.ppm $OUT/again.j2k --quiet -j \$t \"\$@\"" >"$OUT/again"
    head_of_table "decoding and encoding" "the same lift2k" " --transcode"
    for wavelet in "" -I; do
        # shellcheck disable=SC2086
        "$LIFT2K" encode "$picture" "$OUT/mq.j2k" --quiet $wavelet && "$LIFT2K" transcode "$OUT/mq.j2k" "$OUT/ht.j2k" --quiet --ht
        transcoded "${wavelet:-5/3} MQ to HT" "$OUT/mq.j2k" --ht "--ht $wavelet"
        transcoded "${wavelet:-5/3} HT to MQ" "$OUT/ht.j2k" --mq "$wavelet"
        transcoded "${wavelet:-5/3} MQ to RPCL with TLM" "$OUT/mq.j2k" "-p RPCL --tlm" "-p RPCL --tlm $wavelet"
        transcoded "${wavelet:-5/3} HT to RPCL with TLM" "$OUT/ht.j2k" "-p RPCL --tlm" "--ht -p RPCL --tlm $wavelet"
    done
    exit
fi

# ---- Grok

if [ -n "$grok" ]; then
    encoder() { echo "$GRK_COMPRESS -i $picture -o $OUT/$1-other.j2k -H $2"; }
    decoder() { echo "$GRK_DECOMPRESS -i $OUT/$1-other.j2k -o $OUT/$1-other.ppm -H $2"; }
    head_of_table Grok "$(version_of "$GRK_COMPRESS" -version)" " --grok"
    work "5/3 lossless" reversible ""
    work "9/7 at 20:1" rate "-I -r 20"
    exit
fi

# ---- OpenJPEG

encoder() { echo "$OPJ_COMPRESS -i $picture -o $OUT/$1-other.j2k -C x -threads $2"; }
decoder() { echo "$OPJ_DECOMPRESS -quiet -i $OUT/$1-other.j2k -o $OUT/$1-other.ppm -threads $2"; }
head_of_table OpenJPEG "$(version_of "$OPJ_COMPRESS" -h)" ""
work "5/3 lossless" reversible ""
work "9/7 full rate" irreversible "-I"
work "9/7 at 20:1" rate "-I -r 20"

echo
echo "Checks:"
for stem in reversible irreversible; do
    echo "- $stem, codestreams: $(compared "$OUT/$stem-l2k.j2k" "$OUT/$stem-other.j2k")"
done
for stem in reversible irreversible rate; do
    echo "- $stem, decoded by lift2k against OpenJPEG, samples:" \
        "$(compared "$OUT/$stem-l2k.ppm" "$OUT/$stem-other.ppm")"
done
