/* The arithmetic of motion compensation on single samples. */
#ifndef L2K_DIRAC_MOTION_SCALARS_H
#define L2K_DIRAC_MOTION_SCALARS_H

#include "base/scalar.h"

/* Halfway between two samples: the sums of the pairs around it, the nearest first. Up to 8 bits it fits 16. */
L2K_HD int32_t l2k_dirac_half(int32_t first, int32_t second, int32_t third, int32_t fourth)
{
    return 21 * first - 7 * second + 3 * third - fourth + 16;
}

/* The weight, in eighths, of a block at a place in an overlap of 2 * offset samples, counted from the block's edge. */
L2K_HD int32_t l2k_dirac_ramp(int32_t place, int32_t offset)
{
    if (place >= 2 * offset)
        return 8;
    return offset == 1 ? 3 + 2 * place : 1 + (6 * place + offset - 1) / (2 * offset - 1);
}

/* Between four neighbouring half-samples, a b above c d, at x and y quarters of their distance. */
L2K_HD int32_t l2k_dirac_between(int32_t a, int32_t b, int32_t c, int32_t d, int32_t x, int32_t y)
{
    return ((4 - x) * (4 - y) * a + x * (4 - y) * b + (4 - x) * y * c + x * y * d + 8) >> 4;
}

/* Two predictions weighted; `half` is what stands for the signed value 0. */
L2K_HD int32_t l2k_dirac_weigh(int32_t a, int32_t b, int32_t weight_a, int32_t weight_b, uint32_t bits, int32_t half)
{
    return half + (((a - half) * weight_a + (b - half) * weight_b + (1 << bits >> 1)) >> bits);
}

#endif
