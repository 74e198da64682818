/* The dead-zone quantiser of Annex E and its inverse, as scalars for all backends. Rows of the CPU are in
 * quantiser_rows.h. */
#ifndef L2K_QUANT_QUANTISER_H
#define L2K_QUANT_QUANTISER_H

#include <string.h>

#include "base/scalar.h"

/* The quantiser of E.2 as OpenJPEG computes it: v / step is rounded to six binary places, which are then truncated
 * towards 0. step > 0. |index| <= 2^25: larger quotients saturate. */
L2K_HD int32_t l2k_quantise(float v, float step)
{
    return l2k_round_f32((v / step) * 64.0f) / 64;
}

/* The last float below 2^30, as bits. Saturation of the bits as an integer can be vectorised. */
#define L2K_MOST_QUOTIENT 0x4E7FFFFFu

/* The quantiser of E.2 but for one rounding: |v| / step truncated. OpenJPEG's first rounding narrows the dead zone,
 * which costs some 0.05 dB. |index| < 2^30: larger quotients saturate. */
L2K_HD int32_t l2k_index(float v, float reciprocal)
{
    float quotient = v * reciprocal;
    uint32_t bits, magnitude;
    memcpy(&bits, &quotient, sizeof bits);
    magnitude = bits & 0x7FFFFFFFu;
    magnitude = magnitude < L2K_MOST_QUOTIENT ? magnitude : L2K_MOST_QUOTIENT;
    bits = (bits & 0x80000000u) | magnitude;
    memcpy(&quotient, &bits, sizeof quotient);
    return (int32_t)quotient;
}

/* v / step without a division, correctly rounded, for steps of at most 12 significant bits, as QCD has them.
 * docs/numerics.md has the proof and the range of v for which it holds. */
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

#endif
