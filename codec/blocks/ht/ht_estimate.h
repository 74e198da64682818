/* Where an HT code-block can be truncated, and estimates of what each point takes and gains, from counts of samples.
 * Compiled by the C compiler and by nvcc. */
#ifndef L2K_CODEC_BLOCKS_HT_HT_ESTIMATE_H
#define L2K_CODEC_BLOCKS_HT_HT_ESTIMATE_H

#include <stdbool.h>

#include "base/scalar.h"

/* Most bit-planes of a magnitude. */
#define L2K_HT_MAX_BIT_PLANES 31

/* Where a block's code ends: 1 the cleanup pass, on `plane`; 2 SigProp, 3 MagRef as well, on the plane below. */
typedef struct l2k_ht_cut {
    unsigned plane, passes;
} l2k_ht_cut;

/* Points of truncation of a block are numbered from 1 on: three for each bit-plane of its largest magnitude, the highest
 * first: its cleanup pass, with SigProp, with MagRef. There is a single one on plane 0. */
L2K_HD unsigned l2k_ht_num_points(unsigned magnitude_bits)
{
    return magnitude_bits ? 3 * magnitude_bits - 2 : 0;
}

L2K_HD l2k_ht_cut l2k_ht_cut_at(unsigned magnitude_bits, unsigned point)
{
    const l2k_ht_cut cut = {magnitude_bits - 1 - (point - 1) / 3, 1 + (point - 1) % 3};
    return cut;
}

/* The samples that are counted where about one in `distance` is: groups of this many columns of a pair of rows, one in
 * `across`, starting with another one in each such pair; and if that leaves too many, one pair of rows in `down`. */
enum { L2K_HT_COUNTED_GROUP = 16 };

typedef struct l2k_ht_sampling {
    uint32_t across, down;
} l2k_ht_sampling;

L2K_HD l2k_ht_sampling l2k_ht_sampling_of(uint32_t width, uint32_t distance)
{
    enum { SPARSEST = 4 };
    const uint32_t groups = (width + L2K_HT_COUNTED_GROUP - 1) / L2K_HT_COUNTED_GROUP,
                   most = distance < SPARSEST ? distance : SPARSEST;
    const l2k_ht_sampling sampling = {most < groups ? most : groups, distance > SPARSEST ? distance / SPARSEST : 1};
    return sampling;
}

/* Counts by bit-plane, for a cleanup pass on that plane: what its length and gain depend on, and sums in any order. */
typedef struct l2k_ht_counts {
    uint32_t samples[L2K_HT_MAX_BIT_PLANES], quads[L2K_HT_MAX_BIT_PLANES]; /* significant ones */
    uint32_t bits[L2K_HT_MAX_BIT_PLANES]; /* the quads' bounds U, for each significant sample */
} l2k_ht_counts;

/* A block whose samples, or a part of them, have been counted. */
typedef struct l2k_ht_counted {
    const l2k_ht_counts *counts;
    unsigned magnitude_bits, passes; /* passes: at most, of a point */
    bool reversible;
    double scale, quads; /* the block's samples for each one counted; its quads */
} l2k_ht_counted;

/* The sums of a bit-plane, scaled to the whole block, which has a significant sample. */
typedef struct l2k_ht_plane_counts {
    double samples, quads, bits;
} l2k_ht_plane_counts;

L2K_HD l2k_ht_plane_counts l2k_ht_counts_at(const l2k_ht_counted *b, unsigned plane)
{
    const l2k_ht_counts *c = b->counts;
    const l2k_ht_plane_counts scaled = {fmax(b->scale * c->samples[plane], 1.0), fmax(b->scale * c->quads[plane], 1.0),
                                        fmax(b->scale * c->bits[plane], 1.0)};
    return scaled;
}

/* The squared error of a magnitude that is known from `plane` up, and the mean square of one whose highest bit that
 * is, evenly distributed. */
L2K_HD double l2k_ht_mean_error(const l2k_ht_counted *b, unsigned plane)
{
    return b->reversible ? (plane ? (ldexp(1.0, 2 * (int)plane) + 2) / 12 : 0) : ldexp(1.0, 2 * (int)plane) / 12;
}

L2K_HD double l2k_ht_mean_square(const l2k_ht_counted *b, unsigned plane)
{
    const double low = ldexp(1.0, (int)plane);
    return b->reversible ? low * low * 7 / 3 - low * 1.5 + 1.0 / 6 : low * low * 2.25;
}

/* MagSgn takes the bits counted; VLC and MEL are fitted to photographs, and so are SigProp's visits and finds. */
L2K_HD double l2k_ht_cleanup_bits(const l2k_ht_counted *b, l2k_ht_plane_counts c)
{
    return c.bits + 6.9 * c.quads - 0.5 * c.samples + 1.43 * c.quads * (b->quads - c.quads) / b->quads + 74;
}

L2K_HD double l2k_ht_sigprop_bits(const l2k_ht_counted *b, l2k_ht_plane_counts c)
{
    return 1.55 * (4 * c.quads - c.samples) + 5 * c.quads * (b->quads - c.quads) / b->quads + 8;
}

L2K_HD double l2k_ht_samples_found(const l2k_ht_counted *b, l2k_ht_plane_counts c, l2k_ht_plane_counts below)
{
    const double share = c.quads / b->quads;
    return (below.samples - c.samples) * fmin(1.0, share * (2.6 - 1.7 * share));
}

L2K_HD void l2k_ht_estimate_refinement(const l2k_ht_counted *b, unsigned plane, l2k_ht_plane_counts c,
                                       uint32_t bytes[3], double gains[3])
{
    const double found = l2k_ht_samples_found(b, c, l2k_ht_counts_at(b, plane - 1)),
                 error = l2k_ht_mean_error(b, plane - 1);
    const double sigprop = b->passes > 1 ? 1 : 0, magref = b->passes > 2 ? 1 : 0;
    bytes[1] = bytes[0] + (uint32_t)(sigprop * l2k_ht_sigprop_bits(b, c) / 8);
    bytes[2] = bytes[1] + (uint32_t)(magref * c.samples / 8);
    gains[1] = gains[0] + sigprop * found * (l2k_ht_mean_square(b, plane - 1) - error);
    gains[2] = gains[1] + magref * c.samples * (l2k_ht_mean_error(b, plane) - error);
}

/* Estimates the bytes up to each point, and the squared error that they remove, in squared quantiser steps. Points of
 * too many passes equal the one before. */
L2K_HD void l2k_ht_estimate(const l2k_ht_counted *b, uint32_t *bytes, double *gains)
{
    const unsigned count = l2k_ht_num_points(b->magnitude_bits);
    double square = 0, above = 0;
    for (unsigned i = 0; i < count; i += 3) {
        const unsigned plane = b->magnitude_bits - 1 - i / 3;
        const l2k_ht_plane_counts c = l2k_ht_counts_at(b, plane);
        square += (c.samples - above) * l2k_ht_mean_square(b, plane);
        above = c.samples;
        bytes[i] = (uint32_t)(l2k_ht_cleanup_bits(b, c) / 8);
        gains[i] = square - c.samples * l2k_ht_mean_error(b, plane);
        if (plane)
            l2k_ht_estimate_refinement(b, plane, c, bytes + i, gains + i);
    }
    for (unsigned i = count; i-- > 1;) /* a point that takes more bytes than a later one is of no use */
        bytes[i - 1] = bytes[i - 1] < bytes[i] ? bytes[i - 1] : bytes[i];
}

#endif
