#!/bin/sh
# The layering test must fail where it should: forbidden arrows, one at a time, in a house of two files. Argument:
# layering.sh.
layering=${1:?layering.sh is needed}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
failures=0
cases=0

house() { # house FILE LINE: builds a house that is in order but for one line in one file
    rm -rf "$work/house"
    for folder in include/lift2k base tiling dwt quant transform codec pictures cli examples tests; do
        mkdir -p "$work/house/$folder"
    done
    echo '#include <stdint.h>' >"$work/house/include/lift2k/lift2k.h"
    echo '#include "base/memory.h"' >"$work/house/codec/good.c"
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
    if ! sh "$layering" "$work/house"; then
        echo "FAILED: should be allowed: $1: $2"
        failures=$((failures + 1))
    fi
}

refused include/lift2k/lift2k.h '#include "base/memory.h"'
refused base/a.c '#include "tiling/geometry.h"'
refused base/a.c '#include "codec/blocks/mq/mq.h"'
refused tiling/a.c '#include "dwt/lifting.h"'
refused dwt/a.h '#include "tiling/geometry.h"'
refused quant/a.h '#include "dwt/lifting.h"'
refused tiling/a.h '#include "dwt/wavelet.h"'
refused quant/a.h '#include "transform/plan.h"'
refused transform/a.c '#include "codec/blocks/mq/t1.h"'
refused codec/a.c '#include "dwt/lifting.h"'
refused codec/a.c '#include "cli/file.h"'
refused codec/a.c '#  include   "dwt/lifting.h" // with odd spaces'
refused codec/a.c '#include "../dwt/lifting.h"'
refused codec/a.c '#include "t1.h"'
refused codec/a.c '#include "tests/support/support.h"'
refused cli/a.c '#include "base/memory.h"'
refused pictures/a.c '#include "cli/options/options.h"'
refused pictures/a.c '#include "base/memory.h"'
refused cli/a.c '#include "lift2k/private.h"'
refused examples/a.c '#include "codec/blocks/mq/mq.h"'
refused transform/plan.c '#include <cuda_runtime.h>'
refused transform/plan.h '#include "cuda_runtime.h"'
refused dwt/kernels.cu '#include <stdint.h>'
refused codec/a.c '#include <png.h>'
refused codec/a.c '#include <openjpeg.h>'
accepted base/a.c '#include "lift2k/lift2k.h"'
accepted tiling/a.c '#include "base/integer.h"'
accepted transform/a.c '#include "dwt/lifting.h"'
accepted quant/a.h '#include "dwt/wavelet.h"'
accepted codec/a.c '#include "dwt/wavelet.h"'
accepted transform/cuda_plan.cu '#include <cuda_runtime.h>'
accepted codec/a.c '#include "codec/blocks/mq/t1.h"'
accepted pictures/a.c '#include <png.h>'
accepted cli/a.c '#include "pictures/reader.h"'
accepted tests/a.c '#include "dwt/lifting.h"'

mkdir "$work/empty"
cases=$((cases + 1))
if sh "$layering" "$work/empty" >/dev/null; then
    echo "FAILED: an empty folder passes"
    failures=$((failures + 1))
fi
echo "$cases cases, $failures failed"
[ "$failures" -eq 0 ]
