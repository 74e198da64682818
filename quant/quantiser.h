/* The dead-zone quantiser of Annex E and its inverse, and the conversion between the wavelet's values (int32 for the
 * 5/3, float for the 9/7) and stored coefficients. The scalars serve all backends; the rows are the CPU's. */
#ifndef L2K_QUANT_QUANTISER_H
#define L2K_QUANT_QUANTISER_H

#include <stddef.h>

#include "base/device.h"

/* The quantiser of E.2 as OpenJPEG computes it: v / step with six binary places, rounded to nearest, and the places
 * then cut off towards 0. step > 0. |index| <= 2^25: larger quotients saturate. */
L2K_HD int32_t l2k_quantise(float v, float step)
{
    return l2k_round_f32((v / step) * 64.0f) / 64;
}

/* The same index without a division. The product with a reciprocal that is a little too small, and with one that is a
 * little too large, enclose the quotient; where both give one index, it is l2k_quantise's, elsewhere (once in some ten
 * thousand) the division must decide. docs/numerics.md has the proof. */
typedef struct l2k_quantiser_step {
    float step, below, above;
} l2k_quantiser_step;

L2K_HD l2k_quantiser_step l2k_quantiser_step_make(float step)
{
    float reciprocal = 1.0f / step;
    l2k_quantiser_step result = {step, reciprocal * (1.0f - 1.0f / 3145728), reciprocal * (1.0f + 1.0f / 3145728)};
    return result;
}

#define L2K_INDEX_LIMIT 4194304.0f /* 2^22 */

/* The index that a reciprocal gives, where |v * reciprocal| < L2K_INDEX_LIMIT, as the low bits of a float: adding
 * 1.5 * 2^23 rounds to the nearest integer and leaves it, in two's complement, in the mantissa. */
L2K_HD float l2k_index_in_mantissa(float v, float reciprocal)
{
    return fmaf(v, reciprocal, -copysignf(63.0f / 128, v)) + 12582912.0f;
}

#define L2K_MANTISSA_ZERO 0x4B400000u /* what index 0 looks like */

/* E-6: `doubled` is twice the index at which to reconstruct, half_step half the step; in units of samples. */
L2K_HD float l2k_dequantise(int32_t doubled, float half_step)
{
    return (float)doubled * half_step;
}

/* Rows of n coefficients. 16-bit stores keep the low 16 bits: the maker of the plan has seen to it that the values fit.
 */
void l2k_quantise_row_i16(const float *row, size_t n, float step, int16_t *coefficients);
void l2k_quantise_row_i32(const float *row, size_t n, float step, int32_t *coefficients);
void l2k_dequantise_row_i16(const int16_t *coefficients, size_t n, float half_step, float *row);
void l2k_dequantise_row_i32(const int32_t *coefficients, size_t n, float half_step, float *row);
void l2k_narrow_row(const int32_t *row, size_t n, int16_t *coefficients);
void l2k_widen_row(const int16_t *coefficients, size_t n, int32_t *row);

#endif
