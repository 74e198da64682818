/* The pixel work of Annex G, DC level shift and component transforms, as scalars for all backends. Rows of the CPU are
 * in pixel_rows.h. */
#ifndef L2K_TILING_PIXEL_PIXEL_H
#define L2K_TILING_PIXEL_PIXEL_H

#include "base/scalar.h"
#include "lift2k/lift2k.h"

/* The DC level shift of a component: forward, sample - shift (G-1); inverse, the value is clamped to low .. high, the
 * range of a signed component, before the shift is added. Clamping first keeps sums within int32. */
typedef struct l2k_level_shift {
    int32_t shift; /* 2^(precision - 1) for unsigned components, else 0 */
    int32_t low, high;
} l2k_level_shift;

/* precision 1 to 31. */
L2K_HD l2k_level_shift l2k_level_shift_make(unsigned precision, int is_signed)
{
    int32_t middle = (int32_t)1 << (precision - 1);
    l2k_level_shift result = {is_signed ? 0 : middle, -middle, middle - 1};
    return result;
}

L2K_HD int32_t l2k_shift_down(int32_t sample, l2k_level_shift s)
{
    return l2k_wrap_sub(sample, s.shift);
}

L2K_HD int32_t l2k_shift_up(int32_t value, l2k_level_shift s)
{
    return l2k_clamp_i32(value, s.low, s.high) + s.shift;
}

/* Float values are rounded to the nearest integer, ties to even, and saturate. */
L2K_HD int32_t l2k_shift_up_f32(float value, l2k_level_shift s)
{
    return l2k_shift_up(l2k_round_f32(value), s);
}

/* Reversible component transform (G-3 to G-8), in place; sums wrap. */
L2K_HD void l2k_rct_forward(int32_t *c0, int32_t *c1, int32_t *c2)
{
    int32_t r = *c0, g = *c1, b = *c2;
    *c0 = l2k_wrap_add(l2k_wrap_add(r, l2k_wrap_double(g)), b) >> 2;
    *c1 = l2k_wrap_sub(b, g);
    *c2 = l2k_wrap_sub(r, g);
}

L2K_HD void l2k_rct_inverse(int32_t *c0, int32_t *c1, int32_t *c2)
{
    int32_t u = *c1, v = *c2;
    int32_t g = l2k_wrap_sub(*c0, l2k_wrap_add(u, v) >> 2);
    *c0 = l2k_wrap_add(v, g);
    *c1 = g;
    *c2 = l2k_wrap_add(u, g);
}

/* Irreversible component transform (G-9 to G-14), in place, with OpenJPEG's constants and order of operations. */
L2K_HD void l2k_ict_forward(float *c0, float *c1, float *c2)
{
    float r = *c0, g = *c1, b = *c2;
    *c0 = (r * 0.299f + g * 0.587f) + b * 0.114f;
    *c1 = (r * -0.16875f + g * -0.331260f) + b * 0.5f;
    *c2 = (r * 0.5f + g * -0.41869f) + b * -0.08131f;
}

L2K_HD void l2k_ict_inverse(float *c0, float *c1, float *c2)
{
    float y = *c0, u = *c1, v = *c2;
    *c0 = y + v * 1.402f;
    *c1 = (y - u * 0.34413f) - v * 0.71414f;
    *c2 = y + u * 1.772f;
}

#endif
