#!/bin/sh
# neon.sh [FOLDER]: builds the library for 64-bit ARM with Debian's cross compiler, and runs its unit tests and random round
# trips under qemu's user mode: every NEON function against the one in plain C. The build goes to ./build-neon by default.
# Needs the packages of `setup.sh --tests`; takes about a minute on two cores.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-$root/build-neon}
echo "== NEON"
if [ "$(uname -m)" = aarch64 ]; then
    echo "neon: nothing to do, this processor has it: the ordinary tests run it"
    exit 0
fi
for program in aarch64-linux-gnu-gcc qemu-aarch64; do
    command -v $program >/dev/null || {
        echo "neon: $program is needed: scripts/setup.sh --tests installs it" >&2
        exit 1
    }
done
"$root/scripts/build.sh" "$folder" -DCMAKE_TOOLCHAIN_FILE="$root/scripts/arm64.cmake" -DL2K_CUDA=OFF -DL2K_LIBRARY_ONLY=ON
# Left out: what is the same on every processor and slow under emulation.
(cd "$folder" && OMP_WAIT_POLICY=passive ctest --output-on-failure --parallel "$(nproc)" \
    -E '^(unit_(thread_memory|progress|limits|reuse)|fuzz_(header|images))$')
