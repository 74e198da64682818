#!/bin/sh
# All tests and benchmarks that need a GPU, in one call: the tests with CTest's labels gpu (CUDA) and opencl,
# compute-sanitizer's four tools on a small selection of them, and the benchmarks.
#   bench/gpu.sh [--only PATTERN] [--total SECONDS] [--output FOLDER] [--picture PPM] [--gray PGM] BUILD
#   bench/gpu.sh --pack BUILD FOLDER
# BUILD is a build folder configured with -DL2K_CUDA=ON -DL2K_BENCH=ON, or what --pack made of one for a machine that has
# neither a compiler nor this one's libraries, in a copy of the repository: the programs, stripped, and the libraries
# that they load. A build for that GPU alone packs smallest (-DL2K_CUDA_ARCHITECTURES=90-real).
#   --only     parts whose name fits a shell pattern: 'test-*' (CTest's labels), 'memcheck-*', 'racecheck-*',
#              'initcheck-*', 'synccheck-*' (compute-sanitizer on small selections), 'bench-*', 'paper-*', or one name
#   --total    end after so many seconds: each part gets what is left at most, parts without time are skipped
#   --output   where report.md (device, driver, date, and what all parts printed) and summary.txt (a line per part) go;
#              gpu-results if not given
#   --picture  a photograph of 3840 x 2160 for the benchmarks, --gray one of 16 bits; a small photograph if not given
# L2K_CONFORMANCE_SET names a test set (docs/conformance.md), which is decoded as well.
# Nothing else may use the GPU meanwhile: some tests fill its memory or measure what is free.
# Tests with the label gpu fail without a GPU; those of OpenCL are skipped without a device, or fail with
# L2K_REQUIRE_OPENCL=1. A part whose program or tool is missing is skipped. Exits with 1 if a part failed or exceeded its time.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
usage() {
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
    exit 2
}

# The tests with these labels, a line each: name, seconds, command, with names for the build and the repository.
list_tests() {
    ctest --test-dir "$1" -L '^(gpu|opencl)$' --show-only=json-v1 2>/dev/null | python3 -c '
import json, shlex, sys
build, root = sys.argv[1:]
for test in json.load(sys.stdin)["tests"]:
    facts = {p["name"]: p["value"] for p in test["properties"]}
    command = ["env", *facts["ENVIRONMENT"]] if "ENVIRONMENT" in facts else []
    line = shlex.join(command + test.get("command", ["false"])).replace(build, "$build").replace(root, "$root")
    print(test["name"], int(facts.get("TIMEOUT", 300)), line)' "$(realpath "$1")" "$root"
}

pack() {
    build=$1 folder=$2
    mkdir -p "$folder/lib" && list_tests "$build" >"$folder/gpu_tests" || exit 1
    {
        grep -o '\$build/[^ ]*' "$folder/gpu_tests" | cut -d/ -f2-
        printf '%s\n' lift2k plugins/gstreamer/libgstlift2k.so tests/gpu_files conformance/conformance_windows gpu_transform \
            gpu_stream batches cuda_rivals cuda_devices paper_registers paper_lifting paper_frames paper_dirac \
            paper_opencl_passes opencl_transform
    } | sort -u | while read -r program; do
        [ ! -d "$build/$program" ] || continue
        [ -x "$build/$program" ] || { echo "$program is not built and is left out" >&2; continue; }
        mkdir -p "$folder/$(dirname "$program")"
        strip -o "$folder/$program" "$build/$program"
        ldd "$build/$program" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }'
    done | sort -u | grep -Ev '/(libc|libm|libdl|librt|libpthread|ld-linux[^/]*)\.so' | while read -r library; do
        cp -L "$library" "$folder/lib/"
    done
    du -sh "$folder"
}

only='*' total=0 output=gpu-results build='' picture='' gray=''
while [ $# -gt 0 ]; do
    case $1 in
        --pack)
            [ $# -eq 3 ] && [ -d "$2" ] || usage
            pack "$2" "$3"
            exit
            ;;
        --only | --total | --output | --picture | --gray)
            [ $# -gt 1 ] || usage
            case $1 in
                --only) only=$2 ;;
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
build=$(cd "$build" && pwd)
mkdir -p "$output" || exit 2
report=$output/report.md summary=$output/summary.txt
touch "$report" "$summary" || exit 2
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
    printf '%-32s %-8s %4s s\n' "$1" "$2" "$3" | tee -a "$summary"
}

# part NAME LIMIT COMMAND...: runs the command for at most LIMIT seconds and adds what it prints to the report.
part() {
    name=$1 limit=$2
    shift 2
    # shellcheck disable=SC2254 # a pattern
    case $name in $only) ;; *) return ;; esac
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
        77) result=skipped ;;
        124 | 137) result=TIMEOUT failures=$((failures + 1)) ;;
        *) result=FAILED failures=$((failures + 1)) ;;
    esac
    { printf '## %s: %s\n\n' "$name" "$result" && cat "$scratch/part" && echo; } >>"$report"
    line "$name" "$result" $(($(date +%s) - from))
}

{
    printf '%s, %s\n\n' "$("$build/lift2k" --version | head -n 1)" "$(date -u '+%Y-%m-%d %H:%M UTC')"
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
} | tee "$report" "$summary"
echo >>"$report"

# ---- Tests

if [ -f "$build/gpu_tests" ]; then cp "$build/gpu_tests" "$scratch/tests"; else list_tests "$build" >"$scratch/tests"; fi
[ -s "$scratch/tests" ] || { echo "$build has no tests with CTest's labels gpu and opencl" >&2; exit 2; }
export build root
while read -r name limit command; do
    part "test-$name" "$limit" sh -c "cd '$root' && $command"
done <"$scratch/tests"
part test-windows 300 "$build/conformance/conformance_windows" 5000 1 cuda
if [ -n "${L2K_CONFORMANCE_SET:-}" ]; then
    # shellcheck disable=SC2046
    part test-files 600 "$build/tests/gpu_files" $(find "$L2K_CONFORMANCE_SET" -type f \( -name '*.j2[kc]' -o -name '*.jp2' \
        -o -name '*.jp[hc]' -o -name '*.jhc' \) | sort)
fi

# ---- compute-sanitizer

sanitized() { # sanitized NAME PROGRAM ARGUMENT...: by its four tools
    what=$1
    shift
    for tool in memcheck racecheck initcheck synccheck; do
        have compute-sanitizer || { line "$tool-$what" skipped 0; continue; }
        part $tool-$what 240 compute-sanitizer --tool $tool --error-exitcode 1 "$@"
    done
}
sanitized parity "$build/tests/gpu_parity" 12 5 80
sanitized kernels "$build/tests/gpu_parity" 4 5 80 kernels
sanitized blocks "$build/tests/gpu_blocks" 20 5
sanitized mq-decode "$build/tests/gpu_mq_decode" 20 5
sanitized packets "$build/tests/gpu_packets" 1 7
sanitized decode "$build/tests/gpu_decode" 4 50
sanitized volumes "$build/tests/gpu_volume" 3 5 40
sanitized hostile "$build/tests/gpu_hostile" 20
sanitized video "$build/tests/gpu_video" "$root/tests/data/dirac" 4
sanitized registers "$build/paper_registers" --check

# ---- Benchmarks

if [ -z "$picture" ] && have "$build/lift2k"; then
    picture=$scratch/coffee.ppm
    "$build/lift2k" encode "$root/tests/data/coffee.png" "$scratch/coffee.j2c" --quiet --backend cpu &&
        "$build/lift2k" decode "$scratch/coffee.j2c" "$picture" --quiet --backend cpu || exit 1
fi
rivals() { # rivals NAME OPTION...: lift2k beside nvJPEG2000, where that was found
    what=$1
    shift
    part "bench-rivals-$what" 400 "$build/cuda_rivals" --seconds 0.2 "$@" "$picture" ${gray:+"$gray"}
}
rivals photograph --size uhd --interleaved
rivals memory --size uhd --memory --codec lift2k
rivals hd --size hd --interleaved
rivals small --size small --interleaved
[ -z "$gray" ] || rivals gray --size gray
rivals host --size uhd --interleaved --host
rivals pageable --size uhd --interleaved --host --pageable --flight 4 --coding 0
part bench-transform 420 "$build/gpu_transform"
part bench-opencl-transform 240 "$build/opencl_transform"
part bench-stream 120 "$build/gpu_stream"
part bench-batches 600 "$build/batches" "$picture"
part bench-devices 240 "$build/cuda_devices" "$picture"
part paper-registers 240 "$build/paper_registers"
part paper-opencl-passes 400 "$build/paper_opencl_passes"
part paper-lifting 240 "$build/paper_lifting"
part paper-frames 240 "$build/paper_frames"
for stream in "$root"/tests/data/dirac/*.drc; do
    part "paper-dirac-$(basename "$stream" .drc)" 20 "$build/paper_dirac" cuda "$stream" 0.5
done

echo "$failures failures; everything printed is in $report"
[ $failures -eq 0 ]
