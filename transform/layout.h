/* The coefficients of a tile-component in memory: the sizes of its decomposition levels and the rectangles of its
 * subbands in Mallat layout. The loops of all backends follow from these. */
#ifndef L2K_TRANSFORM_LAYOUT_H
#define L2K_TRANSFORM_LAYOUT_H

#include "transform/plan.h"

/* One decomposition: width x height samples become 2 x 2 subbands, whose sides are low_... or the rest. In a direction
 * in which the level does not split, low_... is the whole side, and the parity 0. */
typedef struct l2k_level {
    uint32_t width, height;         /* of the samples, which are the LL of level - 1 */
    uint32_t low_width, low_height; /* of the LL band; either side may be 0, and so may the other bands' sides */
    unsigned parity_x, parity_y;    /* of the samples' origin: 1 = the first sample is high */
    unsigned unsplit_x, unsplit_y;  /* the level does not split in that direction */
    l2k_rect passed;                /* inverse: the samples passed on, counted from the first; all of them unless
                                       there is a window */
} l2k_level;

/* Decomposition `level`, 1 to component->levels; of a window, the samples that l2k_level_rect gives. */
l2k_level l2k_level_of(const l2k_plan_component *component, unsigned level);

/* The number of resolutions that a plan leaves out: the component's `discard`, if the direction is inverse. */
unsigned l2k_discarded(l2k_direction direction, const l2k_plan_component *component);

/* Subbands that a plan does not leave out. */
unsigned l2k_plan_bands(l2k_direction direction, const l2k_plan_component *component);

/* The samples of a plane. */
l2k_rect l2k_plan_output(l2k_direction direction, const l2k_plan_component *component);

/* Whether components have rectangles, windows, cells, levels and wavelets alike. */
bool l2k_share_shape(const l2k_plan_component *a, const l2k_plan_component *b);

/* How planes cross a bus: the smallest sample type that holds all values of `count` components, and whether planes are
 * of a type and interleaved, or, one plane, have samples side by side. */
l2k_sample_type l2k_packed_type(const l2k_plan_component *components, unsigned count);
bool l2k_are_packed(const l2k_plane *planes, unsigned count, l2k_sample_type type);

/* Fills in everything but the memory: type, size, bands, and a stride for a `base` aligned to 64 bytes. */
void l2k_layout(l2k_direction direction, l2k_coefficient_type type, const l2k_plan_component *component,
                l2k_coefficients *view);

/* The same, from the parts of subbands that the view holds (transform/window.h). */
void l2k_layout_parts(l2k_direction direction, l2k_coefficient_type type, const l2k_plan_component *component,
                      const l2k_rect *parts, l2k_coefficients *view);

/* Lays out such a view anew: it has rows[b] rows of subband b at a time, or all of them if that is 0. */
void l2k_layout_rows(const l2k_rect *parts, const uint32_t *rows, l2k_coefficients *view);

/* Describes subband `band` of a component, whose step is `step`. */
l2k_subband_info l2k_describe_band(const l2k_plan_component *component, unsigned band, l2k_step step,
                                   unsigned guard_bits);

#endif
