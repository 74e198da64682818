#!/bin/sh
# The layering test must fail where it should: forbidden arrows, one by one, in a house of four files. Argument:
# layering.sh.
layering=${1:?layering.sh is needed}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
failures=0
cases=0

house() { # house FILE LINE: builds a house that is in order except for one line in one file
    rm -rf "$work/house"
    mkdir -p "$work/house/include/lift2k" "$work/house/codec/tile" "$work/house/codec/encode" "$work/house/${1%/*}"
    echo '#include <stdint.h>' >"$work/house/include/lift2k/lift2k.h"
    echo '#include "base/memory.h"' >"$work/house/codec/tile/good.c"
    echo '#include "codec/encode/c.h"' >"$work/house/codec/encode/b.h"
    echo "$2" >>"$work/house/$1"
}

refused() {
    cases=$((cases + 1))
    house "$1" "$2"
    if sh "$layering" "$work/house" >/dev/null; then
        echo "FAILED: not found: $1: $2"
        failures=$((failures + 1))
    fi
}

accepted() {
    cases=$((cases + 1))
    house "$1" "$2"
    if ! sh "$layering" "$work/house" >"$work/log"; then
        cat "$work/log"
        echo "FAILED: should be allowed: $1: $2"
        failures=$((failures + 1))
    fi
}

# ---- Between the rooms at the top ----

refused include/lift2k/lift2k.h '#include "base/memory.h"'
refused base/a.c '#include "tiling/geometry.h"'
refused base/a.c '#include "codec/blocks/mq/mq.h"'
refused tiling/a.c '#include "dwt/lifting.h"'
refused dwt/a.h '#include "tiling/geometry.h"'
refused quant/a.h '#include "dwt/lifting.h"'
refused tiling/a.h '#include "dwt/wavelet.h"'
refused quant/a.h '#include "transform/plan.h"'
refused transform/a.c '#include "codec/blocks/mq/t1.h"'
refused codec/decode/a.c '#include "dwt/lifting.h"'
refused codec/decode/a.c '#include "cli/file.h"'
refused codec/decode/a.c '#  include   "dwt/lifting.h" // with odd spaces'
refused codec/decode/a.c '#include "../dwt/lifting.h"'
refused codec/decode/a.c '#include "t1.h"'
refused codec/decode/a.c '#include "tests/support/support.h"'
refused cli/a.c '#include "base/memory.h"'
refused cli/run/a.c '#include "base/memory.h"'
refused cli/run/a.c '#include "cli/input/input.h"'
refused cli/decode/a.c '#include "cli/encode/encode.h"'
refused pictures/a.c '#include "cli/options/options.h"'
refused pictures/a.c '#include "base/memory.h"'
refused cli/a.c '#include "lift2k/private.h"'
refused examples/a.c '#include "codec/blocks/mq/mq.h"'
refused compat/openjp2/a.c '#include "base/memory.h"'
refused compat/openjp2/a.c '#include "codec/decode/decoder.h"'
refused python/a.c '#include "cli/run/json.h"'
refused plugins/gstreamer/a.c '#include "base/memory.h"'
refused cli/a.c '#include <gst/video/video.h>'
accepted base/a.c '#include "lift2k/lift2k.h"'
accepted tiling/a.c '#include "base/integer.h"'
accepted transform/a.c '#include "dwt/lifting.h"'
accepted codec/decode/a.c '#include "codec/engine/engine.h"'
accepted cli/a.c '#include "pictures/reader.h"'
accepted cli/run/a.c '#include "cli/options/options.h"'
accepted cli/dump/a.c '#include "cli/coefficients/coefficients.h"'
accepted compat/openjp2/a.c '#include "lift2k/lift2k.h"'
accepted python/a.c '#include "lift2k/lift2k.h"'
accepted python/a.c '#include "pictures/rgb8.h"'
accepted tests/a.c '#include "dwt/lifting.h"'
accepted tests/unit/a.c '#include "codec/blocks/mq/t1.h"'

# ---- Between the rooms inside a folder ----

refused tiling/a.c '#include "tiling/pixel/pixel.h"'
accepted tiling/pixel/a.c '#include "tiling/geometry.h"'
refused transform/a.c '#include "transform/cpu/cpu.h"'
refused transform/plan.c '#include "transform/cuda/cuda_pass.h"'
refused transform/cpu/a.c '#include "transform/cuda/cuda_pass.h"'
refused transform/cuda/a.cu '#include "transform/cpu/cpu.h"'
accepted transform/cpu/a.c '#include "transform/backend.h"'
accepted transform/cuda/a.cu '#include "tiling/pixel/pixel_cuda.cuh"'
refused codec/decode/a.c '#include "transform/cpu/cpu.h"'
refused codec/tile/a.c '#include "codec/codestream/markers.h"'
refused codec/tile/a.c '#include "codec/packets/packet.h"'
refused codec/tile/a.c '#include "codec/encode/encoder.h"'
accepted codec/tile/a.c '#include "dwt/wavelet.h"'
accepted codec/tile/a.c '#include "transform/plan.h"'
refused codec/blocks/a.c '#include "codec/codestream/markers.h"'
refused codec/blocks/a.c '#include "codec/blocks/mq/t1.h"'
refused codec/blocks/mq/a.c '#include "codec/packets/packet.h"'
refused codec/blocks/mq/a.c '#include "codec/run/workers.h"'
accepted codec/blocks/a.c '#include "codec/tile/tile.h"'
accepted codec/blocks/mq/a.c '#include "codec/blocks/blocks.h"'
refused codec/packets/a.c '#include "codec/codestream/markers.h"'
refused codec/packets/a.c '#include "codec/blocks/mq/t1.h"'
refused codec/packets/a.c '#include "codec/decode_job.h"'
accepted codec/packets/a.c '#include "codec/blocks/blocks.h"'
refused codec/codestream/a.c '#include "codec/packets/packet.h"'
refused codec/codestream/a.c '#include "codec/jp2/jp2.h"'
accepted codec/codestream/a.c '#include "codec/tile/coding.h"'
refused codec/jp2/a.c '#include "codec/blocks/blocks.h"'
refused codec/jp2/a.c '#include "codec/decode/decoder.h"'
accepted codec/jp2/a.c '#include "codec/codestream/header_parser.h"'
refused codec/decode/a.c '#include "codec/engine/cuda/blocks/cuda_blocks.h"'
refused codec/decode/a.c '/* what CUDA does */'
refused codec/engine/a.c '/* OpenCL */'
refused codec/engine/cpu/a.c '/* as on CUDA */'
refused codec/engine/cuda/a.c '/* as in OpenCL */'
refused codec/run/a.c '/* NVIDIA has it */'
refused codec/run/a.c 'static bool is_gpu;'
refused codec/encode/a.c '/* or Metal */'
accepted codec/engine/cuda/a.c '/* CUDA */'
accepted codec/encode/options.c '    {"backend", 0, L2K_BACKEND_CUDA},'
accepted codec/encode/start.c 'options[L2K_ENCODER_GPU_MIN_SAMPLES]'
refused codec/engine/a.c '#include "codec/engine/cpu/cpu_engine.h"'
refused codec/engine/cpu/a.c '#include "codec/engine/cuda/blocks/cuda_blocks.h"'
refused codec/engine/cuda/ht/a.c '#include "codec/engine/engine.h"'
accepted codec/engine/cuda/a.c '#include "codec/engine/cpu/cpu_engine.h"'
accepted codec/engine/choose.c '/* CUDA first */'
refused codec/new_room/a.c '#include "base/memory.h"'
refused pictures/user/a.c '#include "pictures/files/file.h"'
refused pictures/files/a.c '#include "pictures/formats/tiff.h"'
refused pictures/files/a.c '#include "pictures/reader.h"'
refused pictures/a.c '#include "pictures/formats/tiff.h"'
refused pictures/formats/a.c '#include "cli/options/options.h"'
refused cli/a.c '#include "pictures/formats/tiff.h"'
accepted pictures/files/a.c '#include "pictures/user/report.h"'
accepted pictures/formats/a.c '#include "pictures/reader.h"'

# ---- Circles in a room: codec/encode/b.h includes c.h ----

refused codec/encode/c.c '#include "codec/encode/b.h"'
accepted codec/encode/c.c '#include "codec/encode/d.h"'
accepted codec/encode/c.c '#include "codec/encode/encoder.h"'

# ---- The headers of others ----

refused transform/plan.c '#include <cuda_runtime.h>'
refused transform/plan.h '#include "cuda_runtime.h"'
refused dwt/kernels.cu '#include <stdint.h>'
refused codec/decode/a.c '#include <png.h>'
refused pictures/files/a.c '#include <png.h>'
refused codec/decode/a.c '#include <openjpeg.h>'
accepted transform/cuda/plan.cu '#include <cuda_runtime.h>'
accepted dwt/warp_cuda.cuh '#include <cuda_runtime.h>'
accepted pictures/formats/a.c '#include <png.h>'
accepted quant/a.h '#include "dwt/wavelet.h"'
accepted codec/decode/a.c '#include "dwt/wavelet.h"'
accepted codec/packets/a.c '#include "dwt/wavelet.h"'
refused tiling/a.c '#include "dwt/wavelet.h"'

# ---- An exception allows one header in one file, and is a fault when it is no longer needed ----

cp "$layering" "$work/real.sh"
layering=$work/excepting.sh
awk '{ print } /^BEGIN/ { print "exception[\"dwt/a.c tiling/geometry.h\"]" }' "$work/real.sh" >"$layering"
accepted dwt/a.c '#include "tiling/geometry.h"'
refused dwt/b.c '#include "tiling/geometry.h"'
refused dwt/a.c '#include "tiling/other.h"'
refused dwt/a.c '#include "base/memory.h"'
layering=$work/real.sh

mkdir "$work/empty"
cases=$((cases + 1))
if sh "$layering" "$work/empty" >/dev/null; then
    echo "FAILED: an empty folder passes"
    failures=$((failures + 1))
fi
echo "$cases cases, $failures failed"
[ "$failures" -eq 0 ]
