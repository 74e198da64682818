#!/usr/bin/env bash
# What scripts/test.sh says and does, with commands in place of those that it runs, which only say that they ran; what the
# configuration says about the CUDA backend. Arguments: the root of the repository, cmake, the C compiler.
root=$(realpath "$1")
cmake=$2
cc=$3
. "$(dirname "$0")/../cli/support.sh"

mkdir -p repository/scripts repository/build repository/build-sanitize repository/.ci tools
cp "$root/scripts/test.sh" repository/scripts/
cp "$root/.ci/run" repository/.ci/
for name in setup build portability python web package; do
    printf '#!/bin/sh\necho "%s $*" >>"%s/ran"\n' "$name" "$work" >"repository/scripts/$name.sh"
done
printf '#!/bin/sh\necho "ctest $*" >>"%s/ran"\n' "$work" >tools/ctest
printf '#!/bin/sh\nexit 1\n' >tools/nvidia-smi
chmod +x repository/scripts/*.sh tools/*

ran() { # ran NAME PROGRAM EXPECTED
    : >ran
    checks=$((checks + 1))
    PATH=$work/tools:$PATH "repository/$2" ${3:+"$3"} >said || fault "$1: status $?"
}

ran "the plain run" scripts/test.sh
check "it says how long it takes" grep -q 'minutes' <(head -3 said)
check "it names --all" grep -q -- '--all' said
check "it installs little" test "$(grep -c setup ran) $(grep -c 'setup --tests' ran)" = "1 1"
check "it leaves out long tests" grep -q 'ctest.* -LE long' ran
check "it tests Python" grep -q '^python' ran
check "no other systems" test "$(grep -cE 'portability|SANITIZE' ran)" = 0
for script in "scripts/test.sh --all" ".ci/run"; do
    ran "$script" $script
    check "$script says how long it takes" grep -qE 'hour|minutes' <(head -3 said)
    check "$script installs all" grep -q 'setup --programs' ran
    check "$script tests the WebAssembly modules" grep -q "^web" ran
    check "$script builds packages" grep -q "^package check" ran
    check "$script leaves out nothing" test "$(grep -c ctest ran) $(grep -c -- '-LE' ran)" = "2 0"
    check "$script: other systems and sanitizers" test "$(grep -cE 'portability|SANITIZE=ON' ran)" = 2
done
: >ran
check "an unknown option" sh -c '! repository/scripts/test.sh --al 2>/dev/null'
check "nothing runs" test ! -s ran

# ---- What the configuration announces ----

configure() { # configure OPTIONS...
    "$cmake" -S "$root" -B made "-DCMAKE_C_COMPILER=$cc" -DL2K_TESTS=OFF "$@" 2>&1 | grep '^-- CUDA backend' >said
}
configure -DL2K_CUDA=OFF
check "without CUDA" grep -q 'left out (L2K_CUDA is OFF)' said
rm -rf made
configure -DL2K_CUDA=AUTO '-DL2K_CUDA_ARCHITECTURES=80-real;90'
check "with CUDA, or without a compiler for it" grep -qE '80-real;90 .* processor minutes; -DL2K_CUDA=OFF|L2K_CUDA is AUTO' said
finish
