#include "quant/steps.h"

#include <math.h>

#include "base/integer.h"

unsigned l2k_log2_gain(unsigned orientation)
{
    return (orientation & 1) + (orientation >> 1);
}

/* Four significant digits, as OpenJPEG has them: more digits would give other mantissas than it writes. Indexed by the
 * number of decompositions; LL and HH of each level, then HL, which LH equals. */
static const double norms_5_3[3][10] = {
    {1.000, 1.500, 2.750, 5.375, 10.68, 21.34, 42.67, 85.33, 170.7, 341.3},
    {1.038, 1.592, 2.919, 5.703, 11.33, 22.64, 45.25, 90.48, 180.9, 180.9},
    {.7186, .9218, 1.586, 3.043, 6.019, 12.01, 24.00, 47.97, 95.93, 95.93},
};
static const double norms_9_7[3][10] = {
    {1.000, 1.965, 4.177, 8.403, 16.90, 33.84, 67.69, 135.3, 270.6, 540.9},
    {2.022, 3.989, 8.355, 17.04, 34.27, 68.63, 137.3, 274.6, 549.0, 549.0},
    {2.080, 3.865, 8.307, 17.18, 34.71, 69.59, 139.3, 278.6, 557.2, 557.2},
};

double l2k_subband_norm(l2k_wavelet wavelet, unsigned level, unsigned orientation)
{
    /* High-pass bands of level 1 stand in column 0. */
    unsigned column = orientation == 0 ? level : level - 1;
    if (column > 9)
        column = 9;
    const double(*norms)[10] = wavelet == L2K_WAVELET_9_7 ? norms_9_7 : norms_5_3;
    return norms[l2k_log2_gain(orientation)][column];
}

l2k_step l2k_step_choose(l2k_wavelet wavelet, unsigned precision, unsigned level, unsigned orientation)
{
    if (wavelet == L2K_WAVELET_5_3)
        return (l2k_step){(uint8_t)(precision + l2k_log2_gain(orientation)), 0};
    /* 1 / norm in units of 2^-13, split into a power of two and eleven bits below it. */
    uint32_t fixed = (uint32_t)floor(8192.0 / l2k_subband_norm(wavelet, level, orientation));
    unsigned top = l2k_log2(fixed);
    uint32_t mantissa = top > 11 ? fixed >> (top - 11) : fixed << (11 - top);
    return (l2k_step){(uint8_t)(precision + 13 - top), (uint16_t)(mantissa & 0x7ff)};
}

void l2k_steps_choose(l2k_wavelet wavelet, unsigned precision, unsigned levels, l2k_step *steps)
{
    for (unsigned band = 0; band <= 3 * levels; band++)
        steps[band] = l2k_step_choose(wavelet, precision, l2k_band_level(levels, l2k_band_resolution(band)),
                                      l2k_band_orientation(band));
}

float l2k_step_size(l2k_step step, unsigned precision, unsigned orientation)
{
    int range = (int)(precision + l2k_log2_gain(orientation));
    return (float)((1.0 + step.mantissa / 2048.0) * pow(2.0, range - (int)step.exponent));
}
