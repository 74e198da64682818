#!/bin/sh
# Installs what is missing, builds, and runs all tests: once as shipped, once under AddressSanitizer and
# UndefinedBehaviorSanitizer. --quick leaves the second round out.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
scripts/setup.sh --tests

run_tests() { # folder, cmake options...
    folder=$1
    shift
    scripts/build.sh "$folder" -DL2K_TESTS=ON "$@"
    (cd "$folder" && ctest --output-on-failure --parallel "$(nproc)")
}

echo "== Release build"
run_tests build
[ "${1:-}" = --quick ] || {
    echo "== Sanitizer build"
    run_tests build-sanitize -DL2K_SANITIZE=ON
}
