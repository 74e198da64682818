#!/bin/bash
# Fuzzes one target for a while and reports the outcome:
#
#     tests/fuzz/run.sh [--fuzzer libfuzzer|afl] [--binaries FOLDER] [--work FOLDER] TARGET SECONDS JOBS
#
# TARGET is decode, header, blocks, round_trip, video, ... or `all`, for which SECONDS are divided among the targets. Builds
# first (clang, or AFL++'s afl-clang-fast), into WORK/build; --binaries takes a folder built elsewhere, with fuzz_TARGET
# and make_corpus, which need nothing but libc (images: libtiff). WORK/TARGET keeps the corpus, and the inputs that
# crash, leak, take more than 10 seconds or more than 2 GiB: these count as findings and make the script fail. WORK is
# ./fuzz by default.
set -eu
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
fuzzer=libfuzzer binaries='' work=fuzz
usage() {
    sed -n 's/^# \{0,1\}//; 2,10p' "${BASH_SOURCE[0]}" >&2
    exit 2
}

while [ $# -gt 3 ]; do
    case $1 in
    --fuzzer) fuzzer=$2 ;;
    --binaries) binaries=$(cd "$2" && pwd) ;;
    --work) work=$2 ;;
    *) usage ;;
    esac
    shift 2
done
[ $# -eq 3 ] || usage
target=$1 seconds=$2 jobs=$3
case $seconds$jobs in *[!0-9]*) usage ;; esac
mkdir -p "$work"
work=$(cd "$work" && pwd)

build() {
    compiler=clang
    [ "$fuzzer" = libfuzzer ] || compiler=afl-clang-fast
    command -v $compiler >/dev/null || {
        echo "$0: $compiler is missing (Debian: clang, afl++)" >&2
        exit 2
    }
    binaries=$work/build/tests/fuzz
    cmake -S "$here/../.." -B "$work/build" -DL2K_FUZZ="$fuzzer" -DL2K_CUDA=OFF -DCMAKE_C_COMPILER=$compiler >"$work/build.log"
    cmake --build "$work/build" --parallel "$jobs" --target fuzz_all >>"$work/build.log"
}

inputs_of() { # target: its part of the corpus
    case $1 in
    decode | header | coefficients) echo codestreams ;;
    images | blocks) echo "$1" ;;
    video) echo videos ;;
    *) echo parameters ;;
    esac
}

last() { # log, pattern with a number: the largest over all jobs
    { cat "$1"/fuzz-*.log | sed -n "s/.*$2.*/\1/p"; echo 0; } | sort -n | tail -1
}
total() {
    { cat "$1"/fuzz-*.log | sed -n "s/.*$2.*/\1/p"; echo 0; } | awk '{ sum += $1 } END { print sum }'
}

findings_of() { # folder
    find "$1" -maxdepth 4 \( -name 'crash-*' -o -name 'leak-*' -o -name 'timeout-*' -o -name 'oom-*' \
        -o -path '*/crashes/id*' -o -path '*/hangs/id*' \) | wc -l
}

row() { # target, processor time, executions, features, corpus, slowest, memory, findings
    printf '%-14s %9s %12s %9s %7s %9s %9s %9s\n' "$@"
}

# Waits for the fuzzers; `spent` is then their processor time, user and system. `times` reports only the shell it runs
# in, hence a file in place of a pipe.
wait_for_jobs() {
    times >times-before.txt
    wait
    times >times-after.txt
    spent=$(awk -F '[ms ]+' 'FNR == 2 { sum = $1 * 60 + $2 + $3 * 60 + $4 - sum } END { printf "%d s", sum }' \
        times-before.txt times-after.txt)
    rm times-before.txt times-after.txt
}

# Runs until the time is up: a finding ends a run of libFuzzer, and the next run continues with the corpus.
libfuzzer_job() { # job, target, end, seeds
    dictionary=()
    [ "$4" != codestreams ] || dictionary=("-dict=$here/jpeg2000.dict")
    longest=8192
    [ "$4" != videos ] || longest=131072 # those of tests/data/dirac
    while [ "$SECONDS" -lt "$3" ]; do
        "$binaries/fuzz_$2" -max_total_time=$(($3 - SECONDS)) -max_len=$longest -timeout=10 -rss_limit_mb=2048 -reload=10 \
            -report_slow_units=2 -print_final_stats=1 -seed=$(($1 + RANDOM)) "${dictionary[@]}" corpus "$work/seeds/$4" \
            >>"fuzz-$1.log" 2>&1 || sleep 1
    done
}

run_libfuzzer() { # target, seconds, seeds
    rm -f fuzz-*.log
    for job in $(seq "$jobs"); do # all share one corpus and pick up each other's inputs
        libfuzzer_job "$job" "$1" $((SECONDS + $2)) "$3" &
    done
    wait_for_jobs
    row "$1" "$spent" "$(total . 'number_of_executed_units: \([0-9]*\)')" "$(last . ' ft: \([0-9]*\)')" \
        "$(find corpus -type f | wc -l)" "$(last . 'slowest_unit_time_sec: *\([0-9]*\)') s" \
        "$(last . 'peak_rss_mb: *\([0-9]*\)') MiB" "$(findings_of .)"
}

run_afl() { # target, seconds, seeds
    dictionary=()
    [ "$3" != codestreams ] || dictionary=(-x "$here/jpeg2000.dict")
    export AFL_NO_UI=1 AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_NO_AFFINITY=1 AFL_AUTORESUME=1
    for job in $(seq "$jobs"); do
        role=-S
        [ "$job" -gt 1 ] || role=-M
        afl-fuzz -V "$2" -t 10000 -m none "${dictionary[@]}" -i "$work/seeds/$3" -o afl $role "job$job" \
            -- "$binaries/fuzz_$1" >"fuzz-$job.log" 2>&1 &
    done
    wait_for_jobs
    stat() { sed -n "s/^$1 *: *\([0-9]*\).*/\1/p" afl/*/fuzzer_stats; }
    row "$1" "$spent" "$(stat execs_done | awk '{ sum += $1 } END { print sum + 0 }')" "$(stat edges_found | sort -n | tail -1)" \
        "$(find afl -path '*/queue/id*' | wc -l)" - - "$(findings_of afl)"
}

[ -n "$binaries" ] || build
"$binaries/make_corpus" "$work/seeds" >/dev/null
cp "$here"/../data/dirac/*.drc "$work/seeds/videos"
targets=$target
[ "$target" != all ] || targets=$(cd "$binaries" && find . -maxdepth 1 -type f -name 'fuzz_*' -perm -100 | sed 's/.*fuzz_//' | sort)
count=$(echo "$targets" | wc -w)
row target processor executions features corpus slowest memory findings
found=0
for t in $targets; do
    [ -x "$binaries/fuzz_$t" ] || {
        echo "$0: there is no target $t in $binaries" >&2
        exit 2
    }
    mkdir -p "$work/$t/corpus"
    cd "$work/$t"
    "run_$fuzzer" "$t" $((seconds / count)) "$(inputs_of "$t")"
    found=$((found + $(findings_of .)))
done
[ "$found" -eq 0 ] || echo "$found findings in $work"
[ "$found" -eq 0 ]
