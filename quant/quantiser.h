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

/* v / step without a division, correctly rounded, for steps as QCD has them: of at most 12 significant bits.
 * docs/numerics.md has the proof, and which v may be too large or too small for it. */
typedef struct l2k_quantiser_step {
    float step, reciprocal;
} l2k_quantiser_step;

L2K_HD l2k_quantiser_step l2k_quantiser_step_make(float step)
{
    l2k_quantiser_step result = {step, 1.0f / step};
    return result;
}

L2K_HD float l2k_quotient(float v, l2k_quantiser_step s)
{
    float near = v * s.reciprocal;
    return fmaf(fmaf(-near, s.step, v), s.reciprocal, near);
}

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
