/* Sums of squared errors that do not depend on the order of their terms, for any number of bit-planes: block coders on
 * all backends add up the same integers, in quarters of a squared quantiser step, and round once, at the end. */
#ifndef L2K_CODEC_BLOCKS_GAINS_H
#define L2K_CODEC_BLOCKS_GAINS_H

#include "base/scalar.h"

/* The sum high 2^32 + low. With up to 2^20 terms both parts stay below 2^53. */
typedef struct l2k_gains {
    int64_t high;
    uint64_t low;
} l2k_gains;

L2K_HD void l2k_gains_add(l2k_gains *sum, uint64_t term)
{
    sum->high += (int64_t)(term >> 32);
    sum->low += (uint32_t)term;
}

L2K_HD void l2k_gains_add_signed(l2k_gains *sum, int64_t term)
{
    const uint32_t low = (uint32_t)(uint64_t)term;
    sum->high += (term - (int64_t)low) / ((int64_t)1 << 32);
    sum->low += low;
}

L2K_HD void l2k_gains_join(l2k_gains *sum, l2k_gains other)
{
    sum->high += other.high;
    sum->low += other.low;
}

/* The sum in squared quantiser steps. Both products are exact, so only their sum is rounded. */
L2K_HD double l2k_gains_value(l2k_gains sum)
{
    return ((double)sum.high * 4294967296.0 + (double)sum.low) / 4;
}

#endif
