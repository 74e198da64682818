#!/usr/bin/env bash
# portability.sh [--all] [SYSTEM...]: builds for other systems and processors, runs tests there, and compares the
# codestreams and decoded pictures that they make with this system's, byte by byte. SYSTEM is one of
#
#     clang    this system, with clang; and the public header with several C++ compilers
#     musl     Linux with musl in place of glibc, linked statically, without OpenMP
#     aarch64  64-bit ARM, under qemu's user mode: also every NEON function against the one in plain C
#     s390x    IBM Z, a big-endian processor, under qemu's user mode
#     windows  64-bit Windows: MinGW-w64, and Wine to run the programs
#
# or all of them by default. All warnings are errors. Installs what it needs (setup.sh --systems) where it may; what is
# not to be had is reported as SKIPPED. The library's tests are a selection, --all runs all of them.
# Builds go to ./build-systems; the files of this system come from ./build if that has been built.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
builds=$root/build-systems
all=
[ "${1:-}" != --all ] || { all=yes; shift; }
[ $# -gt 0 ] || set -- clang musl aarch64 s390x windows
export OMP_WAIT_POLICY=passive
export WINEPREFIX=$builds/wine WINEDEBUG=-all WINEDLLOVERRIDES='mscoree,mshtml=' # no window asks for anything
failed=

# The files that are compared, and tests of what differs: bits, arithmetic, instruction sets, threads, files read in parts.
files="fuzz_corpus cli_systems"
selection="bits streams quantiser steps row_tables batch windows"
# Left out under --all, too: what is the same on every processor and slow under emulation.
slow='^(unit_(thread_memory|progress|limits|reuse)|fuzz_(header|images|video|transcode))$'

fail() {
    echo "FAILED: $*"
    failed=yes
}

needs() { # needs PROGRAM...: false, with a line, if one is missing
    for program; do
        command -v "$program" >/dev/null || {
            echo "SKIPPED: $system: $program is not installed (scripts/setup.sh --systems)"
            return 1
        }
    done
}

build() { # build FOLDER "TARGETS" OPTIONS...
    local folder=$1 targets=$2
    shift 2
    mkdir -p "$folder"
    # shellcheck disable=SC2086
    { cmake -S "$root" -B "$folder" -DL2K_CUDA=OFF -DL2K_OPENCL=OFF "$@" &&
        cmake --build "$folder" --parallel "$(nproc)" --target $targets; } >"$folder/build.log" 2>&1 || {
        grep -E -A5 'error|undefined|Error' "$folder/build.log" | head -40
        fail "$system does not build; the log is $folder/build.log"
        return 1
    }
}

tests() { # tests FOLDER CTEST-OPTIONS...
    local folder=$1
    shift
    (cd "$folder" && ctest --output-on-failure --parallel "$(nproc)" "$@") >"$folder/test.log" 2>&1 || {
        grep -vE '^ *Start |Passed' "$folder/test.log" | tail -60
        fail "$system: the log is $folder/test.log"
    }
    grep -E 'tests passed|tests failed' "$folder/test.log" || fail "$system: no test ran"
}

# Those of this system.
reference=$root/build
make_reference() {
    system=$(uname -m)
    if [ ! -x "$reference/lift2k" ] || [ ! -x "$reference/tests/fuzz/make_corpus" ]; then
        reference=$builds/reference
        build "$reference" "lift2k_command make_corpus" -DL2K_PNG=OFF || exit 1
    fi
    tests "$reference" -R "^(${files// /|})$"
}

compare() { # compare FOLDER
    local part count
    for part in systems tests/fuzz/corpus; do
        count=$(find "$reference/$part" -type f | wc -l)
        if diff -rq "$reference/$part" "$1/$part" >"$1/differences" 2>&1 && [ "$count" -gt 20 ]; then
            echo "$system: the same $count files in $part"
        else
            head -5 "$1/differences"
            fail "$system makes other files than this system in $part"
        fi
    done
}

# run SYSTEM OPTIONS...: builds, tests, compares
run() {
    system=$1
    shift
    local names="unit_${selection// / unit_} fuzz_round_trip"
    case $system in
    windows) names="$names windows_calls" ;;
    aarch64) names="$names unit_ht unit_ht_encode unit_t1_sets unit_motion unit_volume unit_strips fuzz_blocks" ;;
    esac
    if [ -n "$all" ]; then
        build "$builds/$system" all "$@" || return 0
        tests "$builds/$system" -E "$slow"
    else
        build "$builds/$system" "lift2k_command make_corpus $names" "$@" || return 0
        names="$files $names"
        tests "$builds/$system" -R "^(${names// /|})$"
    fi
    compare "$builds/$system"
}

# The selection is built with -O1 on musl and s390x, which takes half the time; --all builds as shipped.
cross() { # cross SYSTEM
    local kind=Release flags=-Werror
    case $1 in musl | s390x) [ -n "$all" ] || { kind=None && flags="-O1 -Werror"; } ;; esac
    run "$1" -DCMAKE_TOOLCHAIN_FILE="$root/scripts/systems/$1.cmake" -DL2K_PNG=OFF -DCMAKE_BUILD_TYPE="$kind" \
        -DCMAKE_C_FLAGS="$flags"
}

header_in_cpp() {
    local compiler standard
    system="the header in C++"
    printf '#include "lift2k/lift2k.h"\nint main() { return *l2k_version() == 0; }\n' >"$builds/header.cpp"
    for compiler in g++ clang++ x86_64-w64-mingw32-g++; do
        needs $compiler || continue
        for standard in c++98 c++11 c++17 c++20; do
            $compiler -std=$standard -pedantic -Wall -Wextra -Werror -Wno-long-long -Wno-c++98-compat-pedantic -fsyntax-only \
                -I"$root/include" "$builds/header.cpp" || fail "lift2k.h: $compiler -std=$standard"
        done
    done
}

run_system() {
    echo "== $1"
    system=$1
    case $1 in
    clang)
        header_in_cpp
        system=clang
        needs clang && run clang -DCMAKE_C_COMPILER=clang -DCMAKE_C_FLAGS=-Werror -DL2K_PNG=OFF
        ;;
    musl) needs musl-gcc && cross musl ;;
    aarch64)
        if [ "$(uname -m)" = aarch64 ]; then
            echo "aarch64: nothing to do, this processor is one: the ordinary tests run on it"
        else
            needs aarch64-linux-gnu-gcc qemu-aarch64 && cross aarch64
        fi
        ;;
    s390x) needs s390x-linux-gnu-gcc qemu-s390x && cross s390x ;;
    windows)
        if [ "$(uname -m)" != x86_64 ]; then
            echo "SKIPPED: windows: Wine runs programs for x86-64 on such a processor only"
        elif needs x86_64-w64-mingw32-gcc-posix wine script; then
            mkdir -p "$builds"
            wine wineboot --init >/dev/null 2>&1 || true # else tests that run at once would do it at once
            cross windows
        fi
        ;;
    *)
        echo "portability: $1 is none of clang, musl, aarch64, s390x, windows" >&2
        exit 2
        ;;
    esac
}

"$root/scripts/setup.sh" --systems || echo "SKIPPED: what is not installed for other systems, see above"
mkdir -p "$builds"
make_reference
for each; do
    run_system "$each" || true
done
[ -z "$failed" ]
