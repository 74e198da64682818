#!/bin/sh
# Builds the WebAssembly modules with emscripten, with and without threads, and the package of them, build-web/package/: plain
# files for a server or a registry. Tests it in Node, Chromium and Firefox against the native command. Installs what is missing
# for that (Debian, Ubuntu). CODINGS=N: that many random codings in place of 500.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
scripts/setup.sh --web
export NODE_PATH=/usr/share/nodejs # Debian's emscripten finds acorn there

build() { # folder, targets, cmake options...
    folder=build-web/$1
    targets=$2
    shift 2
    mkdir -p "$folder"
    # shellcheck disable=SC2086 # targets
    emcmake cmake -S . -B "$folder" -Wno-dev -DL2K_LIBRARY_ONLY=ON -DL2K_CUDA=OFF -DL2K_OPENCL=OFF -DL2K_DIRAC=OFF -DL2K_TESTS=OFF \
        -DCMAKE_C_FLAGS=-Werror "$@" >"$folder/build.log" 2>&1 &&
        cmake --build "$folder" --parallel "$(nproc)" --target $targets >>"$folder/build.log" 2>&1 || {
        tail -40 "$folder/build.log"
        return 1
    }
}

# Side by side, because configuring and linking take one processor each. The tests compare SIMD128 with plain C.
tests="unit_row_tables unit_ht unit_ht_encode unit_t1_sets"
build all web &
builds=$!
build decode web -DL2K_WEB_DECODER=ON &
builds="$builds $!"
build threads web -DL2K_WEB_THREADS=ON &
builds="$builds $!"
build tests "$tests" -DL2K_TESTS=ON -DCMAKE_EXE_LINKER_FLAGS="-sALLOW_MEMORY_GROWTH -sTOTAL_STACK=4MB" &
for built in $builds $!; do
    wait "$built"
done
for test in $tests; do
    node --no-experimental-fetch "build-web/tests/tests/$test.js"
done

package=build-web/package
rm -rf $package
mkdir -p $package/threads
cp -r web/package.json web/*.js web/lift2k.d.ts web/faces web/viewer LICENSE build-web/lift2k.wasm \
    build-web/lift2k-decode.wasm $package
cp build-web/lift2k-threads.* $package/threads
echo '{ "type": "commonjs" }' >$package/threads/package.json # as emscripten's worker script is in Node
cp python/lift2k/server/page/viewer.js $package/viewer/canvas.js
rm -f build-web/package.tgz
tar -C build-web -czf build-web/package.tgz package
ls -l build-web/package.tgz $package/*.wasm

[ -x build/lift2k ] || scripts/build.sh build -DL2K_TESTS=OFF
node --experimental-wasm-relaxed-simd --test web/tests/node.mjs web/tests/faces.mjs web/tests/browsers.mjs
