/* What of the programs of a group of slices (z_levels.h), where they are chains, repeats itself on all of the finest
 * levels: periods of 2^levels slices of samples, in which each level lifts half as many pairs as the level before.
 * Whoever goes through the periods with what waits at each level in registers loads and stores each slice once. */
#ifndef L2K_TRANSFORM_VOLUME_Z_WALK_H
#define L2K_TRANSFORM_VOLUME_Z_WALK_H

#include "transform/volume/z_levels.h"

enum { L2K_Z_WALK_LEVELS = 3 }; /* at most */

/* The chains of a level that follow each other, as pairs of slices; a walk takes `walked` of them from `first` on. */
typedef struct l2k_z_run {
    const l2k_z_program *program;
    size_t begin, end; /* operations */
    unsigned pairs, first, walked;
} l2k_z_run;

typedef struct l2k_z_walk {
    unsigned levels, periods; /* no periods: nothing repeats itself */
    l2k_z_run runs[L2K_Z_WALK_LEVELS];
} l2k_z_walk;

/* That of the levels that takes most pairs, of `least` levels or more. */
l2k_z_walk l2k_z_find_walk(const l2k_z_levels *z, unsigned least);

/* Whether a walk could end with the last slice that was put: others leave pairs to operations. */
bool l2k_z_may_end(const l2k_z_levels *z);

/* How many slices wait for a pair; those, before the two of pair j. The first two are finished with it. */
unsigned l2k_z_waiting(const l2k_z_levels *z);
l2k_z_slice *const *l2k_z_rows(const l2k_z_run *run, unsigned j);

/* Slice i of the samples of a walk: forward a new one, inverse one that leaves. */
l2k_z_slice *l2k_z_walk_sample(const l2k_z_levels *z, const l2k_z_walk *walk, unsigned i);

/* Slice i of the coefficients of a period: high ones of the finest level, of the next ones, the low one. */
l2k_z_slice *l2k_z_walk_band(const l2k_z_levels *z, const l2k_z_walk *walk, unsigned period, unsigned i);

#endif
