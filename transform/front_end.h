/* The public transform (l2k_transform): options, and a plan for the prepared tile. Internal to transform/. */
#ifndef L2K_TRANSFORM_FRONT_END_H
#define L2K_TRANSFORM_FRONT_END_H

#include "transform/plan.h"

#ifndef __cplusplus /* C++ has other atomics */
#include "transform/choice.h"
#endif

/* Steps that the caller has set: a list entry for one component or for all of them. */
typedef struct l2k_own_steps {
    struct l2k_own_steps *next;
    uint32_t component; /* or L2K_ALL_COMPONENTS */
    uint32_t count;
    l2k_step steps[L2K_MAX_SUBBANDS];
} l2k_own_steps;

/* A plan's specification with the memory it points to, and the steps as a codestream has them. */
typedef struct l2k_tile_spec {
    l2k_plan_spec plan;
    l2k_plan_component *components;
    unsigned bands;  /* 3 * levels + 1, of every component */
    l2k_step *steps; /* `bands` per component */
} l2k_tile_spec;

#ifndef __cplusplus
struct l2k_transform {
    l2k_context context;
    l2k_choice choice;
    int64_t options[L2K_TRANSFORM_NUM_OPTIONS];
    l2k_own_steps *own_steps;
    l2k_wavelet_descriptor own; /* descriptor of the wavelet option, if it names a kernel */
    l2k_unsplit unsplit;        /* from l2k_transform_set_splits, which covered num_splits levels */
    unsigned num_splits;
    l2k_rect region;    /* on the reference grid; empty: everything */
    bool changed;       /* options or steps have changed since the plan was made */
    l2k_plan *plan;     /* NULL: not prepared */
    l2k_tile_spec tile; /* what the plan was made for */
};
#endif

/* Makes the specification for a tile under the options, after every check that needs more than one of them. After an
 * error `out` owns nothing. */
l2k_status l2k_tile_spec_make(const l2k_transform *transform, const l2k_image *tile, l2k_tile_spec *out);
void l2k_tile_spec_release(const l2k_context *context, l2k_tile_spec *spec);

/* Whether a caller's plane suits component c: memory if there are samples, a type that holds them, alignment. */
l2k_status l2k_plane_check(const l2k_context *context, const l2k_plane *plane, const l2k_plan_component *component,
                           bool has_samples, uint32_t c);

#endif
