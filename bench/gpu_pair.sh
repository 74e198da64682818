#!/bin/sh
# Compares the GPU benchmarks of two builds, run alternately so that both see the same state of the device.
#   bench/gpu_pair.sh [--rounds N] [--sizes "N ..."] [--levels] [--output FOLDER] OLD NEW
# OLD and NEW are build folders configured with -DL2K_BENCH=ON, or what bench/gpu_pack.sh made of them; either has
# gpu_transform and gpu_stream. For each case one row: the smallest time of each build, new over old, "self", which is
# old over old in odd and even rounds and thus the noise, and each build's largest over smallest time. An arrow marks
# what is more than 2 % slower than noise explains.
#   --rounds   4 if not given; at least 2
#   --sizes    of gpu_transform, "1024 2048 4096 8192" if not given
#   --levels   then also one and two levels per launch, new build, at 8192
#   --output   where raw.txt and pair.txt go; gpu-pair if not given
# Exits with 1 if a benchmark failed or gpu_stream found coefficients that differ.
set -u
rounds=4 sizes="1024 2048 4096 8192" levels=0 output=gpu-pair
usage() {
    sed -n '2,12s/^# \{0,1\}//p' "$0"
    exit 2
}
while [ $# -gt 0 ]; do
    case $1 in
        --levels) levels=1 ;;
        --rounds | --sizes | --output)
            [ $# -gt 1 ] || usage
            case $1 in --rounds) rounds=$2 ;; --sizes) sizes=$2 ;; *) output=$2 ;; esac
            shift
            ;;
        -*) usage ;;
        *) break ;;
    esac
    shift
done
if [ $# -ne 2 ] || [ ! -x "$1/gpu_transform" ] || [ ! -x "$2/gpu_transform" ] || [ "$rounds" -lt 2 ]; then
    usage
fi
old=$1 new=$2
mkdir -p "$output" || exit 2
raw=$output/raw.txt
: >"$raw" || exit 2
failures=0

# run FOLDER PROGRAM ARGUMENT...: with the libraries of its pack, or if it has none those of the other one.
run() {
    folder=$1 program=$2
    shift 2
    LD_LIBRARY_PATH=$folder/lib:$old/lib:$new/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "$folder/$program" "$@"
}

# Both benchmarks print tables; each of their lines becomes "build;round;case;microseconds" or, from gpu_stream,
# milliseconds.
transform() { # BUILD ROUND FOLDER
    for n in $sizes; do
        run "$3" gpu_transform "$n" >"$output/part.txt" || failures=1
        awk -F' *[|] *' -v build="$1" -v round="$2" '$3 ~ /^[0-9]+$/ {
            print build ";" round ";" $2 " n=" $3 " forward;" $5
            print build ";" round ";" $2 " n=" $3 " inverse;" $7
        }' "$output/part.txt" >>"$raw"
    done
}

stream() { # BUILD ROUND FOLDER
    [ -x "$3/gpu_stream" ] || return
    run "$3" gpu_stream >"$output/part.txt" || failures=1
    awk -F' *[|] *' -v build="$1" -v round="$2" '$3 ~ /^[0-9]+$/ {
        print build ";" round ";stream " $2 " plans=" $3 ";" $10
    }' "$output/part.txt" >>"$raw"
}

round=1
while [ "$round" -le "$rounds" ]; do
    for build in old new; do
        [ $build = old ] && where=$old || where=$new
        transform $build "$round" "$where"
        stream $build "$round" "$where"
    done
    round=$((round + 1))
done
rm -f "$output/part.txt"

awk -F';' '
function take(group, name, time) {
    if (!((group, name) in low) || time < low[group, name]) low[group, name] = time
    if (!((group, name) in high) || time > high[group, name]) high[group, name] = time
}
function spread(group, name) {
    return low[group, name] > 0 ? high[group, name] / low[group, name] : 0
}
NF == 4 {
    if (!($3 in seen)) { seen[$3] = 1; order[++count] = $3 }
    take($1, $3, $4 + 0)
    if ($1 == "old") take("half" ($2 % 2), $3, $4 + 0)
}
END {
    printf "%-52s %9s %9s %7s %6s  %s\n", "case", "old", "new", "new/old", "self", "spread old, new"
    for (i = 1; i <= count; i++) {
        name = order[i]
        if (!(("new", name) in low && ("half0", name) in low && ("half1", name) in low)) continue
        ratio = low["new", name] / low["old", name]
        self = low["half1", name] / low["half0", name]
        mark = ratio > 1.02 * (self < 1 ? 1 / self : self) ? " <--" : ""
        printf "%-52s %9.3f %9.3f %7.3f %6.3f  %.3f %.3f%s\n", name, low["old", name], low["new", name], ratio, \
            self, spread("old", name), spread("new", name), mark
    }
}' "$raw" | tee "$output/pair.txt"

if [ $levels = 1 ]; then
    echo && echo "levels per launch at 8192, microseconds"
    for work in 0 1 2 3 4 5 6 7 8; do
        for count in 1 2; do
            run "$new" gpu_transform 8192 $work $count | awk -F' *[|] *' -v count=$count '$3 == 8192 {
                print count ": " $2 ": forward " $5 ", inverse " $7
            }'
        done
    done | tee "$output/levels.txt"
fi
[ $failures -eq 0 ]
