/* The lifting steps of Annex F on scalars, written once for all backends.
 *
 * A line is transformed in lifting steps; each changes all samples of one parity from their two neighbours of the
 * other. "Low" samples have even coordinates, "high" samples odd ones. At the end of a line the missing neighbour
 * equals the other one, which is the effect of symmetric extension (F.3.7).
 *
 * A level is filtered vertically, then horizontally; the inverse undoes the horizontal filtering first. The order
 * determines the rounding of the 5/3, and so the file. */
#ifndef L2K_DWT_LIFTING_H
#define L2K_DWT_LIFTING_H

#include <stdbool.h>

#include "base/scalar.h"

/* The samples of a line: coordinates first .. end - 1. */
typedef struct l2k_span {
    int32_t first, end;
} l2k_span;

/* ---- 5/3 reversible: int32, any value; sums wrap ------------------------------------------------------------- */

/* F-9: the high sample from its low neighbours. Undone by l2k_5_3_unpredict (F-6). */
L2K_HD int32_t l2k_5_3_predict(int32_t x, int32_t left, int32_t right)
{
    return l2k_wrap_sub(x, l2k_wrap_add(left, right) >> 1);
}

/* F-10: the low sample from its high neighbours. Undone by l2k_5_3_unupdate (F-5). */
L2K_HD int32_t l2k_5_3_update(int32_t x, int32_t left, int32_t right)
{
    return l2k_wrap_add(x, l2k_wrap_add(l2k_wrap_add(left, right), 2) >> 2);
}

L2K_HD int32_t l2k_5_3_unupdate(int32_t x, int32_t left, int32_t right)
{
    return l2k_wrap_sub(x, l2k_wrap_add(l2k_wrap_add(left, right), 2) >> 2);
}

L2K_HD int32_t l2k_5_3_unpredict(int32_t x, int32_t left, int32_t right)
{
    return l2k_wrap_add(x, l2k_wrap_add(left, right) >> 1);
}

/* A line of one sample: unchanged at an even coordinate, doubled at an odd one (F.4.6). The inverse (F.3.6) meets odd
 * values only in damaged or quantised streams, and then rounds towards 0 as OpenJPEG does. */
L2K_HD int32_t l2k_5_3_lone(int32_t x)
{
    return l2k_wrap_double(x);
}

L2K_HD int32_t l2k_5_3_unlone(int32_t x)
{
    return x / 2;
}

/* ---- 9/7 irreversible: float32, every operation rounded separately ------------------------------------------- */

#define L2K_9_7_ALPHA (-1.586134342f)
#define L2K_9_7_BETA  (-0.052980118f)
#define L2K_9_7_GAMMA 0.882911075f
#define L2K_9_7_DELTA 0.443506852f

/* Scaling after the forward steps and before the inverse ones (F-7, F-11). The last one is not 1 / K but half of the
 * 1.625732422 that OpenJPEG has always used, which compensates for the factor of 2 in its step sizes. Powers of two are
 * exact, so the results are the same. */
#define L2K_9_7_FORWARD_LOW  0.812893093f /* 1 / K */
#define L2K_9_7_FORWARD_HIGH 1.230174105f
#define L2K_9_7_INVERSE_LOW  1.230174105f
#define L2K_9_7_INVERSE_HIGH 0.812866211f

/* Every step of F-7 and F-11. The inverse negates the constant: that changes only the sign of the product, so the
 * result equals the subtraction to the bit. */
L2K_HD float l2k_9_7_lift(float x, float left, float right, float c)
{
    return x + (left + right) * c;
}

/* A line of one sample at an odd coordinate, as in the standard. OpenJPEG's encoder leaves the sample unchanged, a
 * defect: its decoder halves it. */
L2K_HD float l2k_9_7_lone(float x)
{
    return x * 2.0f;
}

L2K_HD float l2k_9_7_unlone(float x)
{
    return x * 0.5f;
}

/* ---- Kernels: steps that are data (dwt/wavelet.h) ------------------------------------------------------------- */

/* A reversible step; `sum` includes its rounding, in 32 bits unless l2k_kernel_is_wide. */
L2K_HD int32_t l2k_kernel_lift_32(int32_t x, int32_t sum, unsigned shift, bool undo)
{
    return undo ? l2k_wrap_sub(x, sum >> shift) : l2k_wrap_add(x, sum >> shift);
}

L2K_HD int32_t l2k_kernel_lift_64(int32_t x, int64_t sum, unsigned shift, bool undo)
{
    const int32_t change = (int32_t)(uint32_t)(uint64_t)(sum >> shift);
    return undo ? l2k_wrap_sub(x, change) : l2k_wrap_add(x, change);
}

L2K_HD int32_t l2k_kernel_add_32(int32_t sum, int32_t tap, int32_t sample)
{
    return (int32_t)((uint32_t)sum + (uint32_t)tap * (uint32_t)sample);
}

L2K_HD int64_t l2k_kernel_add_64(int64_t sum, int32_t tap, int32_t sample)
{
    return sum + (int64_t)tap * sample; /* at most 32 products below 2^46 */
}

/* An irreversible step, every operation rounded separately. The first product is not added to 0. */
L2K_HD float l2k_kernel_add_float(float sum, float tap, float sample)
{
    return sum + sample * tap;
}

L2K_HD float l2k_kernel_lift_float(float x, float sum, bool undo)
{
    return undo ? x - sum : x + sum;
}

#endif
