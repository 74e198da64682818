#!/bin/sh
# Packs what bench/gpu.sh runs, for a machine with a GPU that has neither a compiler nor this one's libraries: the
# programs, stripped, and in lib/ the shared libraries that they load, but for the C library.
#   bench/gpu_pack.sh BUILD FOLDER
# Then, there, in a copy of the repository: bench/gpu.sh FOLDER, or, with two of them, bench/gpu_pair.sh OLD NEW
# A build for that GPU alone, with compressed kernels, packs smallest:
#   cmake -S . -B BUILD -DL2K_CUDA=ON -DL2K_BENCH=ON -DL2K_CUDA_ARCHITECTURES=90-real \
#       -DCMAKE_CUDA_FLAGS=-Xfatbin=-compress-all
set -eu
build=${1:?the build folder} folder=${2:?the folder to make}
programs="lift2k gpu_transform gpu_stream gpu_ladder gpu_tables backends gpu_codec cuda_blocks cuda_rivals batches examples/cuda_subband examples/cuda_graph
    examples/cuda_encode examples/cuda_decode examples/batch tests/gpu_batch tests/unit_batch
    tests/gpu_parity tests/gpu_blocks tests/gpu_api tests/gpu_errors tests/gpu_tiles tests/gpu_allocations tests/gpu_images
    tests/gpu_hostile tests/gpu_files tests/gpu_decode tests/gpu_mq_decode tests/gpu_packets tests/gpu_volume tests/gpu_devices cuda_volumes
    tests/lift2k_virtual tests/unit_concurrency conformance/conformance_t803
    conformance/conformance_windows plan_windows cuda_windows cuda_devices"
mkdir -p "$folder/tests" "$folder/examples" "$folder/conformance" "$folder/lib"
for program in $programs; do
    if [ ! -x "$build/$program" ]; then
        echo "$program is not built and is left out" >&2
        continue
    fi
    cp "$build/$program" "$folder/$program"
    strip "$folder/$program"
    ldd "$folder/$program" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }'
done | sort -u | grep -Ev '/(libc|libm|libdl|librt|libpthread|ld-linux[^/]*)\.so' | while read -r library; do
    cp -L "$library" "$folder/lib/"
done
du -sh "$folder"
