#include "quant/quantiser.h"

#include "base/vector.h"

#define DEFINE_ROW(name, in, out, expression, ...)                                                                     \
    L2K_VECTOR void name(const in *restrict source, size_t n, __VA_ARGS__ out *restrict target)                        \
    {                                                                                                                  \
        L2K_INDEPENDENT                                                                                                \
        for (size_t i = 0; i < n; i++)                                                                                 \
            target[i] = (out)(expression);                                                                             \
    }

#define WITH_STEP      float step,
#define WITH_HALF_STEP float half_step,

DEFINE_ROW(l2k_quantise_row_i16, float, int16_t, l2k_quantise(source[i], step), WITH_STEP)
DEFINE_ROW(l2k_quantise_row_i32, float, int32_t, l2k_quantise(source[i], step), WITH_STEP)
DEFINE_ROW(l2k_dequantise_row_i16, int16_t, float, l2k_dequantise(source[i], half_step), WITH_HALF_STEP)
DEFINE_ROW(l2k_dequantise_row_i32, int32_t, float, l2k_dequantise(source[i], half_step), WITH_HALF_STEP)
DEFINE_ROW(l2k_narrow_row, int32_t, int16_t, source[i], )
DEFINE_ROW(l2k_widen_row, int16_t, int32_t, source[i], )
