/* Where the coefficients of a tile-component lie: the sizes of its decomposition levels and the rectangles of its
 * subbands in Mallat layout. Backends read their loops off these. */
#ifndef L2K_TRANSFORM_LAYOUT_H
#define L2K_TRANSFORM_LAYOUT_H

#include "transform/plan.h"

/* One decomposition: width x height samples become 2 x 2 subbands. A side of a band is low or what is left of the
 * whole. */
typedef struct l2k_level {
    uint32_t width, height;         /* of the samples: resolution `level - 1` counted from the full size */
    uint32_t low_width, low_height; /* of the LL band; either side may be 0, and so may the other bands' sides */
    unsigned parity_x, parity_y;    /* of the samples' origin: 1 = the first sample is high */
} l2k_level;

/* Decomposition `level`, 1 to component->levels. */
l2k_level l2k_level_of(const l2k_plan_component *component, unsigned level);

/* Resolutions that a plan leaves out: the component's `discard` where the direction has it. */
unsigned l2k_discarded(l2k_direction direction, const l2k_plan_component *component);

/* Fills everything but the memory: type, size, bands, and a stride good for `base` aligned to 64 bytes. */
void l2k_layout(l2k_direction direction, l2k_coefficient_type type, const l2k_plan_component *component,
                l2k_coefficients *view);

/* What is to be known about subband `band` of a component, whose step is `step`. */
l2k_subband_info l2k_describe_band(const l2k_plan_component *component, unsigned band, l2k_step step,
                                   unsigned guard_bits);

#endif
