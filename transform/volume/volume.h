/* l2k_volume, the transform of a volume in the public header: options, and stages that slices go through. Internal to
 * transform/volume/.
 *
 * A stage is a number of levels in the third direction (z_levels.h) and a plan for the levels of each resulting slice.
 * The order "z first" is one stage with all levels; the isotropic order has a stage for each level, whose LL of
 * low-pass slices are the slices of the next one. */
#ifndef L2K_TRANSFORM_VOLUME_VOLUME_H
#define L2K_TRANSFORM_VOLUME_VOLUME_H

#include "tiling/pixel/pixel_rows.h"
#include "dwt/kernel_rows.h"
#include "transform/front_end.h"
#include "transform/volume/z_levels.h"

/* The specification of a volume, after all checks. */
typedef struct l2k_volume_spec {
    l2k_tile_spec tile; /* a slice as in l2k_transform; its components are those of the samples */
    l2k_wavelet wavelet, z_wavelet;
    unsigned levels, z_levels;
    bool isotropic;
    uint32_t z0, z1;
} l2k_volume_spec;

typedef struct l2k_volume_stage {
    l2k_plan *plan;  /* for one slice, or for several */
    size_t *offsets; /* of each component in a slice, in values */
    size_t samples;  /* samples of a slice, all components */
    l2k_z_levels z;
    l2k_z_slice *all;     /* all slices made, in a list */
    unsigned made;        /* number of slices made */
    l2k_z_queue free;     /* slices without content */
    l2k_z_queue finished; /* slices lifted across slices */
} l2k_volume_stage;

/* A backend's functions; l2k_volume_... call them after their checks. */
typedef struct l2k_volume_functions {
    l2k_status (*make)(l2k_volume *volume); /* called when the stages are laid out */
    /* Unless NULL: also after an incomplete `make`; the stages and their slices are released afterwards. */
    void (*free)(l2k_volume *volume);
    l2k_status (*rewind)(l2k_volume *volume); /* unless NULL: for another volume; the stages have been rewound */
    bool (*is_full)(const l2k_volume *volume);
    l2k_status (*put)(l2k_volume *volume, const l2k_plane *planes);
    l2k_status (*get_coefficients)(l2k_volume *volume, l2k_volume_slice *slice);
    l2k_status (*next_coefficients)(l2k_volume *volume, l2k_volume_slice *slice);
    l2k_status (*put_coefficients)(l2k_volume *volume); /* the requested ones */
    l2k_status (*get_slice)(l2k_volume *volume, const l2k_plane *planes, bool *got);
} l2k_volume_functions;

extern const l2k_volume_functions l2k_volume_cpu;
#ifdef L2K_WITH_CUDA
extern const l2k_volume_functions l2k_volume_cuda;
#endif

struct l2k_volume {
    l2k_context context;
    int64_t options[L2K_VOLUME_NUM_OPTIONS];
    bool changed; /* options have changed since it was prepared */
    const l2k_volume_functions *functions;
    struct l2k_cuda_volume *cuda; /* state of the CUDA backend */
    void *stream;                 /* the caller's, for device memory: a cudaStream_t */
    l2k_volume_spec spec;
    l2k_wavelet_descriptor own, z_own; /* descriptors for options that name kernels */
    l2k_cpu cpu;                       /* instruction set of the row functions */
    l2k_kernel_lifting lifting;        /* in Z */
    unsigned num_stages;
    l2k_volume_stage *stages; /* NULL: not prepared */
    l2k_coefficients *views;  /* for the caller, per component */
    l2k_plane *planes;        /* for a backend, per component */
    uint32_t come;            /* forward: number of slices of samples put so far */
    bool asked;               /* inverse: the caller has asked which coefficients are wanted */
};

/* Checks options and shape and fills in `out`, whose tile the caller releases; after an error `out` owns nothing. */
l2k_status l2k_volume_spec_make(const l2k_volume *volume, const l2k_image *slice, uint32_t z0, uint32_t z1,
                                l2k_volume_spec *out);

/* The wavelet of the third direction in volume->spec. */
const l2k_wavelet_descriptor *l2k_volume_z_wavelet(const l2k_volume *volume);

/* ---- Stages (volume_stage.c) --------------------------------------------------------------------------------- */

/* Makes the plan of stage `number`, for the levels of `slices` slices, one after the other as its components. */
l2k_status l2k_stage_make_plan(const l2k_volume *volume, unsigned number, unsigned slices);

/* Lays out all stages of volume->spec, without plans. l2k_stages_release releases whatever was made, including plans;
 * call it also after an error. */
l2k_status l2k_stages_make(l2k_volume *volume);
void l2k_stages_release(l2k_volume *volume);

/* Returns all stages to the first slice. */
void l2k_stages_rewind(l2k_volume *volume);

/* Adds a slice to the list of all slices. The stage then owns it, but not its values. */
l2k_z_slice *l2k_stage_keep(l2k_volume_stage *stage, l2k_z_slice *slice);

/* Whether another stage follows, so that this one's low-pass slices leave without LL. */
bool l2k_stage_has_next(const l2k_volume *volume, unsigned number);

/* Inverse: which coefficients are wanted next, and of which stage. A low-pass slice needs a slice of the next stage for
 * its LL: a finished one or, with `at_once`, one that only has to be lifted. */
bool l2k_stage_wanted(const l2k_volume *volume, bool at_once, unsigned *number, l2k_z_place *place);

/* Shows the views of slice `i` of a stage's plan and the slice's place to the caller. */
void l2k_stage_show(l2k_volume *volume, unsigned number, unsigned i, l2k_z_place place, l2k_volume_slice *slice);

#endif
