/* Gains of the passes of an HT code-block: the squared error that each removes from a sample, in quarters of a squared
 * quantiser step. */
#ifndef L2K_CODEC_BLOCKS_HT_HT_GAINS_H
#define L2K_CODEC_BLOCKS_HT_HT_GAINS_H

#include <stdbool.h>

#include "codec/blocks/gains.h"

/* Reconstruction points are in half quantiser steps: 2 m for an integer that is restored exactly, 2 m + 1 for the
 * middle of an interval. Both factors are less than 2^32 and more than 0. */
L2K_HD uint64_t l2k_ht_gain(uint32_t magnitude, uint64_t point, bool reversible)
{
    const uint64_t twice_true = 2 * (uint64_t)magnitude + !reversible;
    return point * (2 * twice_true - point);
}

/* The gain of knowing a magnitude's bits from `plane` up. */
L2K_HD uint64_t l2k_ht_gain_at(uint32_t magnitude, unsigned plane, bool reversible)
{
    return l2k_ht_gain(magnitude, (2 * (uint64_t)(magnitude >> plane) + !(reversible && plane == 0)) << plane,
                       reversible);
}

/* Adds the gains of cleanup pass, SigProp and MagRef. The cleanup pass is on `plane`, the others are on the one below;
 * `found`: SigProp made the sample significant. */
L2K_HD void l2k_ht_add_gains(uint32_t magnitude, bool found, unsigned plane, bool reversible, l2k_gains gains[3])
{
    const unsigned below = plane ? plane - 1 : 0;
    if (magnitude >> plane) {
        const uint64_t cleanup = l2k_ht_gain_at(magnitude, plane, reversible);
        l2k_gains_add(&gains[0], cleanup);
        l2k_gains_add_signed(&gains[2], (int64_t)(l2k_ht_gain_at(magnitude, below, reversible) - cleanup));
    } else if (found) {
        l2k_gains_add(&gains[1], l2k_ht_gain_at(magnitude, below, reversible));
    }
}

#endif
