/* Shared by the files of volumes on a CUDA device. */
#ifndef L2K_TRANSFORM_VOLUME_CUDA_CUDA_VOLUME_CUH
#define L2K_TRANSFORM_VOLUME_CUDA_CUDA_VOLUME_CUH

#include <cuda_runtime.h>

extern "C" {
#include "transform/cuda/cuda_device.h"
#include "transform/volume/cuda/cuda_slices.h"
#include "transform/volume/volume.h"
}

/* The most slices of a group: with one component as many as a launch takes; from and to host memory few, so that both
 * directions of the bus are soon in use. */
enum { L2K_CUDA_GROUP = 64, L2K_CUDA_HOST_GROUP = 16 };

typedef struct l2k_cuda_slice {
    l2k_z_slice slice;
    /* In the caller's planes: where the values are until an operation moves them, or where the last one leaves them;
     * else NULL. */
    char *samples;
    unsigned uses; /* by operations yet to be launched */
} l2k_cuda_slice;

/* A group's coefficients on their way across the bus, laid out as in the plan of its stage. */
typedef struct l2k_cuda_crossing {
    struct l2k_cuda_crossing *next, *older; /* in a queue; in the list of all */
    unsigned number;                        /* of the stage */
    char *device, *pinned;
    cudaEvent_t moved, used; /* it has crossed; the device's copy has been read */
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
    l2k_cuda_crossing *filled, *last; /* inverse, host memory: the caller fills it; the one before */
} l2k_cuda_group;

/* A slice's samples as the caller has them, on the device, packed. */
typedef struct l2k_cuda_raw_slice {
    char *device;
    char *gathered; /* host, for planes that are not packed by rows */
    cudaEvent_t moved, used;
} l2k_cuda_raw_slice;

/* Slices of pinned planes in use at once, documented at l2k_volume_prepare. */
enum { L2K_CUDA_RAW = 4 };

struct l2k_cuda_volume {
    bool on_device;
    cudaStream_t stream;          /* all work on values; the caller's in device memory */
    cudaStream_t up, down, store; /* host memory: across the bus, and inverse from values to samples */
    cudaEvent_t order;
    l2k_sample_type value; /* between the directions: S16 where all values of the volume fit, else S32; or F32 */
    size_t value_bytes;
    unsigned count; /* stages that have slices */
    l2k_cuda_group *groups;
    l2k_cuda_slice_parts *waiting; /* by first component: slices whose samples are to be loaded or stored together */
    l2k_plane *raw_planes;         /* of a slice's samples on the device */
    l2k_cuda_raw_slice raw[L2K_CUDA_RAW];
    unsigned next_raw;
    l2k_cuda_group *giving; /* forward, device memory: the caller gets its coefficients */
    /* Forward, host memory: `coming` are on their way down, of which the caller may get the first `givable`; `shown` is
     * the one that the caller gets. */
    l2k_cuda_crossing *crossings, *idle, *coming, *shown;
    unsigned givable;
    /* Inverse, device memory: slices with known planes; operations wait until all planes are known. */
    l2k_z_queue got;
    bool waits;
    l2k_z_queue held; /* inverse, host memory: slices of the last group, which come down while the next one goes up */
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

/* Work enqueued in `to` from now on follows the work in `from`. */
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

/* An empty slice of a stage, whose memory may be written in the order of `stream`. */
l2k_status l2k_cuda_new_slice(const l2k_volume *v, unsigned number, l2k_z_slice **slice);

/* Runs the levels within the slices of a stage's group; `rest` stands in for slices that it lacks. */
l2k_status l2k_cuda_plan_run(const l2k_volume *v, unsigned number, const l2k_z_slice *rest);

/* Copies LL of slice `i` of a stage's group to a slice of the next stage, or back. */
l2k_status l2k_cuda_copy_low(const l2k_volume *v, unsigned number, unsigned i, const l2k_z_slice *low, bool back);

/* ---- Directions (cuda_volume_forward.cu, cuda_volume_inverse.cu), as l2k_volume_functions has them ------------ */

l2k_status l2k_cuda_put_samples(l2k_volume *volume, const l2k_plane *planes);
bool l2k_cuda_is_full(const l2k_volume *volume);
l2k_status l2k_cuda_get_coefficients(l2k_volume *volume, l2k_volume_slice *slice);
l2k_status l2k_cuda_next_coefficients(l2k_volume *volume, l2k_volume_slice *slice);
l2k_status l2k_cuda_put_coefficients(l2k_volume *volume);
l2k_status l2k_cuda_get_samples(l2k_volume *volume, const l2k_plane *planes, bool *got);

/* ---- Across slices (cuda_ops.cu) ----------------------------------------------------------------------------- */

/* Enqueues the op list of a stage, and then moves of the slices of `leaving` that are not yet in place. */
l2k_status l2k_cuda_ops_run(const l2k_volume *v, unsigned number, const l2k_z_queue *leaving);

/* ---- Samples (cuda_samples.cu) ------------------------------------------------------------------------------- */

/* Adds a slice whose values are to be loaded from planes on the device (forward) or stored to them (inverse), on a
 * stream, once a launch is full or at l2k_cuda_samples_move. */
l2k_status l2k_cuda_samples_add(const l2k_volume *v, const l2k_z_slice *slice, const l2k_plane *planes,
                                cudaStream_t stream);
l2k_status l2k_cuda_samples_move(const l2k_volume *v, cudaStream_t stream);

/* Whether samples on the device have the layout of a slice's values, one component behind the other, and differ at most
 * by a common level shift: operations then load them from the planes, or store them there. */
bool l2k_cuda_samples_are_values(const l2k_volume *v, const l2k_plane *planes);

/* Sets raw_planes to those of `raw` for samples like the caller's, packed. */
void l2k_cuda_samples_place(const l2k_volume *v, const l2k_cuda_raw_slice *raw, const l2k_plane *planes);

/* Copies the caller's samples in host memory to raw_planes, which are those of `raw`, inverse back. */
l2k_status l2k_cuda_samples_cross(const l2k_volume *v, l2k_cuda_raw_slice *raw, const l2k_plane *planes);

/* ---- Coefficients across the bus (cuda_crossing.cu) ----------------------------------------------------------- */

/* An empty one, for the coefficients of a stage. */
l2k_status l2k_cuda_crossing_take(const l2k_volume *v, unsigned number, l2k_cuda_crossing **x);

/* Copies coefficients of a stage's group down, out of the plan's memory, which is then free in the order of `stream`;
 * and up. */
l2k_status l2k_cuda_crossing_down(const l2k_volume *v, l2k_cuda_crossing *x);
l2k_status l2k_cuda_crossing_up(const l2k_volume *v, l2k_cuda_crossing *x);

/* Points the views that l2k_stage_show has filled in to host memory. */
void l2k_cuda_crossing_show(const l2k_volume *v, const l2k_cuda_crossing *x);

/* Makes all of them idle; releases all memory. */
void l2k_cuda_crossings_rewind(const l2k_volume *v);
void l2k_cuda_crossings_release(const l2k_volume *v);

} // extern "C"

#endif
