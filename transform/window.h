/* A window of a tile-component: the samples and coefficients of each decomposition level that it needs (F.3). Pure
 * functions of a plan's component, for the transform and for code that fills its views. Without a window all of them
 * give whole resolutions and subbands.
 *
 * A level of a window is the level of a smaller picture. Where that ends inside the tile-component, symmetric extension
 * gives wrong values, which a lifting step carries one sample further; so on each such side a level has more samples
 * than it passes on, as many as the wavelet has steps, and columns up to a multiple of 8. */
#ifndef L2K_TRANSFORM_WINDOW_H
#define L2K_TRANSFORM_WINDOW_H

#include "transform/plan.h"

bool l2k_has_window(const l2k_plan_component *component);

/* The samples that an inverse plan gives, in the domain of the reduced tile-component. */
l2k_rect l2k_output_rect(const l2k_plan_component *component);

/* The samples that decomposition `level`, 1 to component->levels and above `discard`, yields, in the domain of its
 * resolution. The next level's samples lie inside the LL of these, or equal it without a window. */
l2k_rect l2k_level_rect(const l2k_plan_component *component, unsigned level);

/* The part of those samples that is passed on, to the level above or as output. */
l2k_rect l2k_passed_rect(const l2k_plan_component *component, unsigned level);

/* The coefficients of subband `band` that the output depends on, and one or two around them, in the subband's domain
 * (B-15). Its resolution must not be left out. */
l2k_rect l2k_needed_part(const l2k_plan_component *component, unsigned band);

/* The needed coefficients and some more columns: the plan reads them all, whatever their values. */
l2k_rect l2k_read_part(const l2k_plan_component *component, unsigned band);

/* The part of the subband that a view holds: the coefficients that the plan reads, and all of the component's cells
 * with a needed coefficient. */
l2k_rect l2k_held_part(const l2k_plan_component *component, unsigned band);

/* Where the coefficients that the plan reads begin in each subband of a view. */
void l2k_list_first(const l2k_plan_component *component, const l2k_coefficients *view, size_t first[L2K_MAX_SUBBANDS]);

#endif
