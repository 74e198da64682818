#!/bin/sh
# Tests lift2k on this machine: the library, the command, the guides and the Python package. With --all also what takes long
# (ctest's label long), the WebAssembly modules (web.sh), Debian packages (package.sh), other systems and processors
# (portability.sh), and all tests under AddressSanitizer and UndefinedBehaviorSanitizer. Installs what is missing for that
# (Debian, Ubuntu); builds into build*/.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
case $#${1:-} in
0)
    all= selection="-LE long"
    echo "Builds lift2k and tests library, command, guides and Python package on this machine: 5 to 8 minutes on two cores,"
    echo "and more where a CUDA backend is built. Installs cmocka and OpenJPEG if they are missing, and packages of PyPI into"
    echo "build-python/. scripts/test.sh --all adds long tests, other systems and sanitizers: half an hour on two cores."
    ;;
1--all)
    all=yes selection=
    echo "Builds lift2k and tests it on this machine, with programs that read and write JPEG 2000, for other systems (clang,"
    echo "musl, qemu, Wine) and under sanitizers: half an hour on two cores. Installs a dozen programs where they are missing."
    ;;
*)
    echo "usage: scripts/test.sh [--all]" >&2
    exit 2
    ;;
esac
scripts/setup.sh --tests
[ -z "$all" ] || scripts/setup.sh --programs || echo "SKIPPED: tests of programs that are not installed, see above"

run_tests() { # folder, cmake options...
    folder=$1
    shift
    scripts/build.sh "$folder" -DL2K_TESTS=ON "$@"
    # shellcheck disable=SC2086 # an option and its value
    (cd "$folder" && ctest --output-on-failure --parallel "$(nproc)" $selection)
}

# Without a GPU the kernels are only compiled, for one architecture, where everything is tested; nvcc since 12.9 does that in
# half the time if it need not make them fast.
cuda=OFF
if nvidia-smi -L >/dev/null 2>&1; then
    cuda=AUTO
elif [ "$all" ]; then
    cuda="AUTO -DL2K_CUDA_ARCHITECTURES=90-real"
    ! nvcc --help 2>/dev/null | grep -q -e --Ofast-compile || cuda="$cuda -DCMAKE_CUDA_FLAGS=-Ofc=max"
fi

echo "== Release build"
# shellcheck disable=SC2086 # one to three options
run_tests build -DCMAKE_C_FLAGS=-Werror -DL2K_CUDA=$cuda
[ -z "$all" ] || scripts/portability.sh
scripts/python.sh
[ -z "$all" ] || CODINGS=60 scripts/web.sh
[ -z "$all" ] || scripts/package.sh check
[ -z "$all" ] || {
    echo "== Sanitizer build"
    run_tests build-sanitize -DL2K_SANITIZE=ON -DL2K_CUDA=OFF -DL2K_OPENCL=OFF
}
