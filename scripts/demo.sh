#!/bin/sh
# Installs missing packages, builds lift2k, encodes a photograph losslessly and at 20:1, decodes both, and shows sizes, ratios
# and PSNR. All output is in build/.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
scripts/setup.sh
# Without a GPU, compiling the kernels would only take time.
cuda=OFF
if nvidia-smi -L >/dev/null 2>&1; then cuda=AUTO; fi
echo "Building (a minute or so; the log is build/build.log)" >&2
scripts/build.sh build -DL2K_TESTS=OFF -DL2K_CUDA=$cuda

lift2k=build/lift2k
photo=tests/data/coffee.png
out=build/demo
mkdir -p "$out"

echo "Lossless (5/3):"
$lift2k encode "$photo" "$out/lossless.jp2"
$lift2k decode "$out/lossless.jp2" "$out/lossless.png"
$lift2k encode "$out/lossless.png" "$out/again.jp2" --quiet
build/examples/psnr "$out/lossless.jp2" "$out/again.jp2"

echo "20:1 (9/7):"
$lift2k encode "$photo" "$out/lossy.jp2" -I -r 20
$lift2k decode "$out/lossy.jp2" "$out/lossy.png"
build/examples/psnr "$out/lossless.jp2" "$out/lossy.jp2"
