/* What the files of volumes on a CUDA device share. Internal to them. */
#ifndef L2K_TRANSFORM_VOLUME_CUDA_CUDA_VOLUME_CUH
#define L2K_TRANSFORM_VOLUME_CUDA_CUDA_VOLUME_CUH

#include <cuda_runtime.h>

extern "C" {
#include "transform/cuda/cuda_device.h"
#include "transform/volume/cuda/cuda_slices.h"
#include "transform/volume/volume.h"
}

/* The most slices that are worked on together: of one component as many as a launch takes; from and to host memory few,
 * so that little of the volume is on its way before both directions of the bus are in use. */
enum { L2K_CUDA_GROUP = 64, L2K_CUDA_HOST_GROUP = 16 };

typedef struct l2k_cuda_slice {
    l2k_z_slice slice;
    /* Where the values are until an operation moves them, or go with it, in the caller's planes; else NULL. */
    char *samples;
    unsigned uses; /* by operations that are to be launched */
} l2k_cuda_slice;

/* A group's coefficients on their way across the bus, as the plan of its stage has them. */
typedef struct l2k_cuda_crossing {
    struct l2k_cuda_crossing *next, *older; /* in a queue; made before, in the list of all */
    unsigned number;                        /* of the stage */
    char *device, *pinned;
    cudaEvent_t moved, used; /* it has crossed; what is on the device has been read */
    l2k_z_place places[L2K_CUDA_GROUP];
    unsigned count, given;
} l2k_cuda_crossing;

/* A stage's group: its slices are the components of the stage's plan. */
typedef struct l2k_cuda_group {
    unsigned size; /* in slices */
    size_t slice_bytes;
    l2k_plane *planes;
    l2k_z_slice *slices[L2K_CUDA_GROUP];
    l2k_z_slice *lows[L2K_CUDA_GROUP]; /* inverse: of the next stage, for LL; NULL: the caller gives it */
    l2k_z_place places[L2K_CUDA_GROUP];
    unsigned count, given;
    l2k_cuda_crossing *filled, *last; /* inverse, host memory: what the caller fills, and what he filled before */
} l2k_cuda_group;

/* A slice's samples as the caller has them, on the device, packed. */
typedef struct l2k_cuda_raw_slice {
    char *device;
    char *gathered; /* host, for planes that are not packed by rows */
    cudaEvent_t moved, used;
} l2k_cuda_raw_slice;

/* As many slices of pinned planes are in use, as l2k_volume_prepare says. */
enum { L2K_CUDA_RAW = 4 };

struct l2k_cuda_volume {
    bool on_device;
    cudaStream_t stream;          /* all work on values; the caller's in device memory */
    cudaStream_t up, down, store; /* host memory: across the bus, and inverse from values to samples */
    cudaEvent_t order;
    l2k_cuda_value value;
    size_t value_bytes;
    unsigned count; /* stages that have slices */
    l2k_cuda_group *groups;
    l2k_cuda_slice_parts *waiting; /* by first component: slices whose samples are to be loaded or stored together */
    l2k_plane *raw_planes;         /* of a slice's samples on the device */
    l2k_cuda_raw_slice raw[L2K_CUDA_RAW];
    unsigned next_raw;
    l2k_cuda_group *giving; /* forward, device memory: whose coefficients the caller gets */
    /* Forward, host memory: coefficients on their way down, the first `givable` of which the caller may get; those that
     * he gets. */
    l2k_cuda_crossing *crossings, *idle, *coming, *shown;
    unsigned givable;
    /* Inverse, device memory: slices whose planes are known, for operations that wait until all are. */
    l2k_z_queue got;
    bool waits;
    l2k_z_queue held; /* inverse, host memory: those of the last group, which are got while the next one goes up */
};

namespace
{

inline l2k_status check(const l2k_volume *v, int error, const char *what)
{
    return l2k_cuda_check(&v->context, error, what);
}

inline bool is_inverse(const l2k_volume *v)
{
    return v->spec.tile.plan.direction == L2K_INVERSE;
}

inline uint32_t components_of(const l2k_volume *v)
{
    return v->spec.tile.plan.num_components;
}

inline l2k_cuda_slice *of_device(l2k_z_slice *slice)
{
    return (l2k_cuda_slice *)slice; /* its first member */
}

inline bool all_put(const l2k_volume_stage *stage)
{
    l2k_z_place place;
    return !l2k_z_wanted(&stage->z, &place);
}

inline void join(l2k_z_queue *to, l2k_z_queue *from)
{
    while (from->first)
        l2k_z_append(to, l2k_z_take(from));
}

/* What is enqueued in `to` from now on follows what is in `from`. */
inline l2k_status hand_over(const l2k_volume *v, cudaEvent_t event, cudaStream_t from, cudaStream_t to)
{
    cudaError_t error = cudaEventRecord(event, from);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(to, event, 0);
    return check(v, error, "ordering streams");
}

} // namespace

extern "C" {

/* ---- Slices, groups and their values (cuda_volume.cu) -------------------------------------------------------- */

/* A slice of a stage without content, of memory that may be written to in the order of `stream`. */
l2k_status l2k_cuda_new_slice(const l2k_volume *v, unsigned number, l2k_z_slice **slice);

/* The values of a slice of a stage as planes. */
void l2k_cuda_planes_of(const l2k_volume *v, unsigned number, const l2k_z_slice *slice, l2k_plane *planes);

/* The levels within the slices of a stage's group; those that it lacks are `rest`. */
l2k_status l2k_cuda_plan_run(const l2k_volume *v, unsigned number, const l2k_z_slice *rest);

/* Between LL of slice `i` of a stage's group and a slice of the next stage. */
l2k_status l2k_cuda_copy_low(const l2k_volume *v, unsigned number, unsigned i, const l2k_z_slice *low, bool back);

/* ---- Directions (cuda_volume_forward.cu, cuda_volume_inverse.cu), as l2k_volume_functions has them ------------ */

l2k_status l2k_cuda_put_samples(l2k_volume *volume, const l2k_plane *planes);
bool l2k_cuda_is_full(const l2k_volume *volume);
l2k_status l2k_cuda_get_coefficients(l2k_volume *volume, l2k_volume_slice *slice);
l2k_status l2k_cuda_next_coefficients(l2k_volume *volume, l2k_volume_slice *slice);
l2k_status l2k_cuda_put_coefficients(l2k_volume *volume);
l2k_status l2k_cuda_get_samples(l2k_volume *volume, const l2k_plane *planes, bool *got);

/* ---- Across slices (cuda_ops.cu) ----------------------------------------------------------------------------- */

/* Enqueues the op list of a stage, behind which the slices of `leaving` are where they belong. */
l2k_status l2k_cuda_ops_run(const l2k_volume *v, unsigned number, const l2k_z_queue *leaving);

/* ---- Samples (cuda_samples.cu) ------------------------------------------------------------------------------- */

/* Has values of a slice loaded from planes on the device (forward) or stored to them, on a stream, when there are
 * enough of them for a launch or at l2k_cuda_samples_move. */
l2k_status l2k_cuda_samples_add(const l2k_volume *v, const l2k_z_slice *slice, const l2k_plane *planes,
                                cudaStream_t stream);
l2k_status l2k_cuda_samples_move(const l2k_volume *v, cudaStream_t stream);

/* Whether samples lie in planes on the device as a slice's values do, one component behind the other, but for a level
 * shift that all have: operations then take them from there, or leave them. */
bool l2k_cuda_samples_are_values(const l2k_volume *v, const l2k_plane *planes);

/* The caller's samples in host memory to `raw`, and back. raw_planes are then those of `raw`. */
l2k_status l2k_cuda_samples_upload(const l2k_volume *v, l2k_cuda_raw_slice *raw, const l2k_plane *planes);
l2k_status l2k_cuda_samples_download(const l2k_volume *v, l2k_cuda_raw_slice *raw, const l2k_plane *planes);

/* Sets raw_planes to those of `raw` for samples like the caller's. */
void l2k_cuda_samples_place(const l2k_volume *v, l2k_cuda_raw_slice *raw, const l2k_plane *planes);

/* ---- Coefficients across the bus (cuda_crossing.cu) ----------------------------------------------------------- */

/* One without content, for the coefficients of a stage. */
l2k_status l2k_cuda_crossing_take(const l2k_volume *v, unsigned number, l2k_cuda_crossing **x);

/* Coefficients of a stage's group down, out of the memory of the plan, which is free behind `stream`; and up. */
l2k_status l2k_cuda_crossing_down(const l2k_volume *v, l2k_cuda_crossing *x);
l2k_status l2k_cuda_crossing_up(const l2k_volume *v, l2k_cuda_crossing *x);

/* Makes the views that l2k_stage_show has given those of host memory. */
void l2k_cuda_crossing_show(const l2k_volume *v, const l2k_cuda_crossing *x);

/* All of them become idle; all memory. */
void l2k_cuda_crossings_rewind(const l2k_volume *v);
void l2k_cuda_crossings_release(const l2k_volume *v);

} // extern "C"

#endif
