#!/bin/sh
# All tests and benchmarks that need a GPU, in one call.
#   bench/gpu.sh [--quick] [--total SECONDS] [--output FOLDER] [--picture PPM] [--gray PGM] BUILD
# BUILD is a build folder configured with -DL2K_BENCH=ON (and L2K_NVJPEG2K), or what bench/gpu_pack.sh made of one for
# another machine.
#   --quick    fewer cases and sizes, memcheck only, no profiler
#   --total    end after so many seconds: each part gets what is left at most, parts without time are skipped
#   --output   where report.md (what all parts printed) and summary.txt (a line per part) go; gpu-results if not given
#   --picture  a photograph of 3840 x 2160 for cuda_rivals, --gray one of 16 bits; a small photograph if not given
# L2K_CONFORMANCE_SET names a test set (docs/conformance.md), which is decoded as well.
# Nothing else may use the GPU meanwhile: gpu_api, gpu_errors and gpu_tiles fill its memory or measure what is free.
# A part whose program or tool is missing is skipped. Exits with 1 if a part failed or exceeded its time.
set -u
quick=0 total=0 output=gpu-results build='' picture='' gray=''
usage() {
    sed -n '2,13s/^# \{0,1\}//p' "$0"
    exit 2
}
while [ $# -gt 0 ]; do
    case $1 in
        --quick) quick=1 ;;
        --total | --output | --picture | --gray)
            [ $# -gt 1 ] || usage
            case $1 in
                --total) total=$2 ;;
                --output) output=$2 ;;
                --picture) picture=$2 ;;
                --gray) gray=$2 ;;
            esac
            shift
            ;;
        -*) usage ;;
        *) build=$1 ;;
    esac
    shift
done
[ -n "$build" ] && [ -d "$build" ] || usage
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$output" || exit 2
report=$output/report.md summary=$output/summary.txt
: >"$report" && : >"$summary" || exit 2
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
export L2K_REQUIRE_GPU=1
[ ! -d "$build/lib" ] || export LD_LIBRARY_PATH="$build/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
begun=$(date +%s)
failures=0

# Exits with 0 if the program or tool is there.
have() {
    [ -x "$1" ] || command -v "$1" >/dev/null 2>&1
}

line() {
    printf '%-22s %-8s %4s s\n' "$1" "$2" "$3" | tee -a "$summary"
}

# part NAME LIMIT LINES COMMAND...: runs the command for at most LIMIT seconds and adds its last LINES lines to the
# report (0: all of them, as for a part that failed).
part() {
    name=$1 limit=$2 lines=$3
    shift 3
    from=$(date +%s)
    if [ "$total" -gt 0 ]; then
        left=$((total - from + begun))
        [ "$limit" -lt "$left" ] || limit=$left
    fi
    have "$1" || { line "$name" skipped 0; return; }
    [ "$limit" -gt 0 ] || { line "$name" no-time 0; return; }
    timeout -k 5 "$limit" "$@" >"$scratch/part" 2>&1 </dev/null
    status=$?
    case $status in
        0) result=passed ;;
        77) result=skipped lines=0 ;;
        124 | 137) result=TIMEOUT lines=0 failures=$((failures + 1)) ;;
        *) result=FAILED lines=0 failures=$((failures + 1)) ;;
    esac
    {
        printf '## %s: %s\n\n' "$name" "$result"
        if [ "$lines" -gt 0 ]; then tail -n "$lines" "$scratch/part"; else cat "$scratch/part"; fi
        echo
    } >>"$report"
    line "$name" "$result" $(($(date +%s) - from))
}

# sanitized TOOL LIMIT: compute-sanitizer on a small selection.
sanitized() {
    have compute-sanitizer || { line "$1" skipped 0; return; }
    part "$1-parity" "$2" 2 compute-sanitizer --tool "$1" --error-exitcode 1 "$build/tests/gpu_parity" 12 5 80
    part "$1-kernels" "$2" 7 compute-sanitizer --tool "$1" --error-exitcode 1 "$build/tests/gpu_parity" 4 5 80 kernels
    part "$1-blocks" "$2" 2 compute-sanitizer --tool "$1" --error-exitcode 1 "$build/tests/gpu_blocks" 40 5
    part "$1-mq-decode" "$2" 2 compute-sanitizer --tool "$1" --error-exitcode 1 "$build/tests/gpu_mq_decode" 40 5
    part "$1-packets" "$2" 2 compute-sanitizer --tool "$1" --error-exitcode 1 "$build/tests/gpu_packets" 2 7
    part "$1-decode" "$2" 2 compute-sanitizer --tool "$1" --error-exitcode 1 "$build/tests/gpu_decode" 4 50
    part "$1-images" "$2" 2 compute-sanitizer --tool "$1" --error-exitcode 1 "$build/tests/gpu_images" 16
    part "$1-prisms" "$2" 1 compute-sanitizer --tool "$1" --error-exitcode 1 "$build/tests/gpu_volume" 3 5 40 prisms
    part "$1-hostile" "$2" 2 compute-sanitizer --tool "$1" --error-exitcode 1 "$build/tests/gpu_hostile" 20
    [ $quick = 1 ] || part "$1-ladder" "$2" 2 compute-sanitizer --tool "$1" --error-exitcode 1 "$build/gpu_ladder" --check
    [ $quick = 1 ] || part "$1-tables" "$2" 2 compute-sanitizer --tool "$1" --error-exitcode 1 "$build/gpu_tables" --check
}

# A test set on the GPU: as the references have it, and, in one process, as the CPU decodes it.
test_set() {
    [ -n "${L2K_CONFORMANCE_SET:-}" ] || { line t803 skipped 0; return; }
    export L2K_COMMAND="$build/lift2k"
    part t803 900 11 "$build/conformance/conformance_t803" --backend cuda "$L2K_CONFORMANCE_SET"
    # shellcheck disable=SC2046
    part files 600 1 "$build/tests/gpu_files" $(find "$L2K_CONFORMANCE_SET" -type f \( -name '*.j2[kc]' -o -name '*.jp2' \
        -o -name '*.jp[hc]' -o -name '*.jhc' \) | sort)
}

# The command's own times, of a picture there and back.
timings() {
    for direction in encode decode; do
        [ $direction = encode ] && in=$root/tests/data/coffee.png out=$scratch/coffee.jp2 ||
            in=$scratch/coffee.jp2 out=$scratch/coffee.ppm
        part "command-$direction" 60 0 "$build/lift2k" $direction "$in" "$out" --backend cuda --timings
    done
}

tests() {
    cases=3000 images=3000 damaged=10000 pictures=5 breaks=all
    [ $quick = 0 ] || cases=600 images=300 damaged=1000 pictures=1 breaks=some
    part parity 300 1 "$build/tests/gpu_parity" $cases 1
    part parity-kernels 480 7 "$build/tests/gpu_parity" $cases 1 300 kernels
    part blocks 300 1 "$build/tests/gpu_blocks" $((cases * 2))
    part mq-decode 300 1 "$build/tests/gpu_mq_decode" $((cases / 2)) 1
    part decode 300 1 "$build/tests/gpu_decode" $((cases * 2 / 3))
    part packets 300 1 "$build/tests/gpu_packets" $((cases / 3)) 1
    part images 600 1 "$build/tests/gpu_images" $images
    part hostile 600 26 "$build/tests/gpu_hostile" $damaged
    part api 120 0 "$build/tests/gpu_api"
    part example-subband 60 0 "$build/examples/cuda_subband"
    part example-graph 60 0 "$build/examples/cuda_graph"
    part errors 120 2 "$build/tests/gpu_errors"
    part tiles 120 2 "$build/tests/gpu_tiles"
    part allocations 400 0 "$build/tests/gpu_allocations" $breaks
    part concurrency 120 0 "$build/tests/unit_concurrency" cuda
    part devices 120 0 "$build/tests/gpu_devices"
    part devices-command 120 1 bash "$root/tests/gpu/gpu_devices_cli.sh" "$build/tests/lift2k_virtual" "$root/tests/data"
    part batches 300 1 "$build/tests/gpu_batch" $((cases / 20))
    part volumes 300 1 "$build/tests/gpu_volume" $((cases / 20)) 1
    part prisms 300 1 "$build/tests/gpu_volume" $((cases / 30)) 2 300 prisms
    part windows 300 1 "$build/conformance/conformance_windows" $((cases * 5 / 3)) 1 cuda
    part unit-batch 120 0 "$build/tests/unit_batch" cuda
    part example-encode 60 0 "$build/examples/cuda_encode"
    part example-decode 60 0 "$build/examples/cuda_decode"
    part example-batch 60 0 "$build/examples/batch" --cuda
    part command 420 1 bash "$root/tests/gpu/gpu_cli.sh" "$build/lift2k" "$root/tests/data" $pictures
    timings
    test_set
}

# lift2k beside nvJPEG2000, where that was found.
rivals() {
    name=rivals-$1
    shift
    part "$name" 400 0 "$build/cuda_rivals" --seconds 0.2 "$@" "${picture:-$scratch/coffee.ppm}" ${gray:+"$gray"}
}

benchmarks() {
    rivals photograph --size uhd --interleaved
    rivals memory --size uhd --memory --codec lift2k
    if [ $quick = 1 ]; then
        part transform-1024 60 0 "$build/gpu_transform" 1024
        part transform-4096 60 0 "$build/gpu_transform" 4096
        return
    fi
    part transform 420 0 "$build/gpu_transform"
    part stream 120 0 "$build/gpu_stream"
    part backends 120 0 "$build/backends"
    part codec 180 0 "$build/gpu_codec" "$scratch/coffee.ppm"
    rivals planar --size uhd
    rivals hd --size hd --interleaved
    rivals small --size small --interleaved
    rivals small-16 --size small --interleaved --flight 16
    [ -z "$gray" ] || rivals gray --size gray
    rivals host --size uhd --interleaved --host
    rivals pageable --size uhd --interleaved --coding 0 --pageable
    part sizes 400 0 "$build/batches" "${picture:-$scratch/coffee.ppm}"
    part folder 400 0 "$root/bench/gpu_folder.sh" "$build/lift2k" "${picture:-$scratch/coffee.ppm}"
    part windows-times 120 0 "$build/plan_windows"
    part windows-mq 60 1 "$build/lift2k" encode "${picture:-$scratch/coffee.ppm}" "$scratch/windows.jp2"
    part windows-ht 60 1 "$build/lift2k" encode "${picture:-$scratch/coffee.ppm}" "$scratch/windows.jph" --ht
    part windows-decoded 120 0 "$build/cuda_windows" "$scratch/windows.jp2" "$scratch/windows.jph"
    part volumes-times 120 0 "$build/cuda_volumes"
    part devices-times 240 0 "$build/cuda_devices" "${picture:-$scratch/coffee.ppm}"
    part block-coders 240 0 "$build/cuda_blocks"
    part made-up-bytes 120 0 "$build/cuda_blocks" worst
    part ladder 240 0 "$build/gpu_ladder"
    part tables 240 0 "$root/bench/lab/tables.sh" "$build"
    if have ncu; then part kernels 240 0 "$root/bench/gpu_kernels.sh" "$build"; else line kernels skipped 0; fi
}

sanitizers() {
    sanitized memcheck 180
    [ $quick = 0 ] || return 0
    sanitized racecheck 180
    sanitized initcheck 180
    sanitized synccheck 180
    have compute-sanitizer &&
        part memcheck-concurrency 120 1 compute-sanitizer --tool memcheck --error-exitcode 1 \
            "$build/tests/unit_concurrency" cuda
}

tests
benchmarks
sanitizers
echo "$failures failures; everything printed is in $report"
[ $failures -eq 0 ]
