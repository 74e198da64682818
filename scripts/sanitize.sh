#!/bin/sh
# sanitize.sh [thread] [memory] [valgrind]: the unit tests under ThreadSanitizer, MemorySanitizer (both with clang) and
# valgrind; all three without arguments. scripts/test.sh --all covers AddressSanitizer and UndefinedBehaviorSanitizer, bench/gpu.sh
# the GPU's kernels under compute-sanitizer.
#
# ThreadSanitizer recognises OpenMP's barriers through Archer, a part of LLVM's runtime (Debian: clang libomp-14-dev).
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
[ $# -gt 0 ] || set -- thread memory valgrind

need() {
    command -v "$1" >/dev/null || {
        echo "sanitize: $1 is needed: install $2 (Debian, Ubuntu)" >&2
        exit 1
    }
}

# Runs the unit tests of a build folder under a command; stops at the first failure.
run_units() { # folder, command...
    folder=$1
    shift
    count=0
    for program in "$folder"/tests/unit_*; do
        [ -f "$program" ] && [ -x "$program" ] || continue
        case " $slow " in *" ${program##*/} "*) continue ;; esac
        if ! "$@" "$program" >"$folder/sanitize.log" 2>&1; then
            tail -60 "$folder/sanitize.log" >&2
            echo "sanitize: ${program##*/} failed" >&2
            exit 1
        fi
        count=$((count + 1))
    done
    echo "$count programs, nothing reported"
}

slow=
for kind; do
    case $kind in
    thread)
        need clang "clang libomp-14-dev"
        scripts/build.sh build-thread -DCMAKE_C_COMPILER=clang -DL2K_SANITIZE=THREAD -DL2K_CUDA=OFF
        echo "== ThreadSanitizer"
        run_units build-thread env OMP_NUM_THREADS=4 TSAN_OPTIONS=ignore_noninstrumented_modules=1
        ;;
    memory)
        need clang clang
        scripts/build.sh build-memory -DCMAKE_C_COMPILER=clang -DL2K_SANITIZE=MEMORY -DL2K_CUDA=OFF
        echo "== MemorySanitizer"
        run_units build-memory env
        ;;
    valgrind)
        need valgrind valgrind
        scripts/build.sh build-valgrind -DCMAKE_BUILD_TYPE=RelWithDebInfo -DL2K_CUDA=OFF
        # These count or repeat too much for an emulated processor.
        slow="unit_api unit_batch unit_dwt unit_limits unit_mq unit_plan unit_pixel unit_quantiser unit_reuse unit_t1 unit_tile_parts"
        slow="$slow unit_transform unit_guard_bits unit_steps unit_region"
        echo "== valgrind"
        run_units build-valgrind env OMP_NUM_THREADS=1 valgrind -q --error-exitcode=9 --leak-check=full \
            --errors-for-leak-kinds=definite,indirect
        slow=
        ;;
    *)
        echo "sanitize: thread, memory or valgrind, not $kind" >&2
        exit 2
        ;;
    esac
done
