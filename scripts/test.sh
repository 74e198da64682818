#!/bin/sh
# Installs missing packages, builds, and runs all tests: once as shipped, then some of them for other systems and
# processors (scripts/portability.sh) and those of the Python package (scripts/python.sh), then all under AddressSanitizer
# and UndefinedBehaviorSanitizer. --quick skips the last round.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
scripts/setup.sh --tests
scripts/setup.sh --programs || echo "SKIPPED: tests of programs that are not installed, see above"

run_tests() { # folder, cmake options...
    folder=$1
    shift
    scripts/build.sh "$folder" -DL2K_TESTS=ON "$@"
    (cd "$folder" && ctest --output-on-failure --parallel "$(nproc)")
}

# The kernels are compiled wherever there is a compiler for them; without a GPU, one architecture suffices.
kernels=
nvidia-smi -L >/dev/null 2>&1 || kernels=-DL2K_CUDA_ARCHITECTURES=90-real

echo "== Release build"
run_tests build -DL2K_CUDA=AUTO -DCMAKE_C_FLAGS=-Werror $kernels
scripts/portability.sh
scripts/python.sh
[ "${1:-}" = --quick ] || {
    echo "== Sanitizer build"
    run_tests build-sanitize -DL2K_SANITIZE=ON -DL2K_CUDA=OFF
}
