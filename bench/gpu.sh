#!/bin/sh
# Everything that needs a GPU, in one call: parity with the CPU, the public interface, failures, compute-sanitizer on a
# small selection, the benchmarks.
#   bench/gpu.sh BUILD        BUILD was configured with -DL2K_BENCH=ON
# Prints to standard output; redirect it into bench/results/.
set -eu
build=${1:?the build folder}
export L2K_REQUIRE_GPU=1
echo "## Parity"
"$build/tests/gpu_parity" 3000 1
echo
echo "## The public interface"
"$build/tests/gpu_api"
"$build/examples/cuda_subband"
"$build/examples/cuda_graph"
echo
echo "## The command on both backends"
bash "$(dirname "$0")/../tests/gpu_cli.sh" "$build/lift2k" "$(dirname "$0")/../tests/data"
echo
echo "## Memory and failures"
"$build/tests/gpu_errors"
"$build/tests/gpu_tiles"
"$build/tests/gpu_allocations" 2>&1
echo
echo "## Eight threads"
"$build/tests/unit_concurrency" cuda 2>&1
compute-sanitizer --tool memcheck --error-exitcode 1 "$build/tests/unit_concurrency" cuda 2>&1 | tail -n 1
echo
echo "## Where the command's time goes"
for direction in encode decode; do
    in=$(dirname "$0")/../tests/data/coffee.png
    [ $direction = encode ] || in=/tmp/lift2k-$$.jp2
    out=/tmp/lift2k-$$.jp2
    [ $direction = encode ] || out=/tmp/lift2k-$$.ppm
    "$build/lift2k" $direction "$in" "$out" --backend cuda --timings
done
rm -f /tmp/lift2k-$$.jp2 /tmp/lift2k-$$.ppm
for tool in memcheck racecheck initcheck synccheck; do
    echo
    echo "## compute-sanitizer $tool"
    compute-sanitizer --tool $tool --error-exitcode 1 "$build/tests/gpu_parity" 12 5 80 | tail -n 2
    compute-sanitizer --tool $tool --error-exitcode 1 "$build/gpu_ladder" --check 2>/dev/null | tail -n 2
done
echo
echo "## Speed"
"$build/gpu_transform"
echo
echo "## A stream of images, host to host"
"$build/gpu_stream"
echo
echo "## CPU and GPU, host memory"
"$build/backends"
echo
echo "## Kernels"
if command -v ncu >/dev/null; then
    "$(dirname "$0")/gpu_kernels.sh" "$build"
else
    echo "no profiler (ncu)"
fi
echo
echo "## Ladder"
"$build/gpu_ladder"
