/* What the files of volumes on a CUDA device share. Internal to them. */
#ifndef L2K_TRANSFORM_VOLUME_CUDA_VOLUME_CUH
#define L2K_TRANSFORM_VOLUME_CUDA_VOLUME_CUH

#include <cuda_runtime.h>

extern "C" {
#include "transform/cuda/cuda_device.h"
#include "transform/volume/cuda_slices.h"
#include "transform/volume/volume.h"
#include "transform/volume/z_walk.h"
}

/* The most slices that are worked on together: of one component as many as a launch takes. */
enum { L2K_CUDA_GROUP = 64 };
/* From and to host memory groups are small, so that little of the volume is on its way before both directions of the
 * bus are in use, and one of them crosses it each way while another is worked on. */
enum { L2K_CUDA_HOST_GROUP = 16, L2K_CUDA_RING = 4, L2K_CUDA_SLOTS = 3 };

/* Slices of the period of a walk. Groups of some periods end with one. */
enum { L2K_CUDA_PERIOD = 1 << L2K_Z_WALK_LEVELS };

/* What of a group is enqueued: nothing; inverse, its slices are all there; the first of the two halves, across slices
 * and within them, inverse the other way round. From and to host memory the host enqueues a half with one slice and
 * the other one with the next: while it does so, no more than two slices are on their way across the bus. */
typedef enum l2k_cuda_half { L2K_CUDA_NONE, L2K_CUDA_COMPLETE, L2K_CUDA_FIRST } l2k_cuda_half;

/* A group on its way through its plans. */
struct l2k_cuda_slot {
    l2k_plan *plan; /* its components are the slices */
    l2k_plan *now;  /* this one, or the one of short groups; it has `room` for slices */
    unsigned room;
    char *pinned; /* host memory: the plan's coefficients */
    size_t bytes; /* of these */
    l2k_z_slice *slices[L2K_CUDA_GROUP];
    l2k_z_place places[L2K_CUDA_GROUP];
    unsigned count, given;
    cudaEvent_t moved, used; /* the coefficients crossed the bus; all that is enqueued for the group has run */
    cudaEvent_t asked;       /* the same of `beside`; device memory: the caller's stream */
    cudaEvent_t crossed;     /* samples that were on the bus when the group was begun */
};

/* Inverse, in device memory: a group that goes across slices once the next one is under way within them. */
typedef struct l2k_cuda_later {
    l2k_z_levels z; /* as they were when the group was complete, with its programs */
    bool there;
} l2k_cuda_later;

/* A slice's samples as the caller has them, on the device, packed, unless they cross the bus as values. */
struct l2k_cuda_raw_slice {
    char *device;
    char *gathered; /* host, for planes that are not packed by rows */
    cudaEvent_t moved, used;
};

struct l2k_cuda_volume {
    cudaStream_t stream, up, down; /* `stream` is the caller's in device memory */
    cudaStream_t within;           /* for the levels within slices, if two groups are under way; else `stream` */
    /* Host memory: slices of samples cross the bus in two streams in turn, so that one begins when the other ends; this
     * is the next but one's, of the direction of the slices. */
    cudaStream_t beside;
    bool on_device;
    unsigned group, slots; /* group: slices */
    l2k_cuda_value value;
    size_t value_bytes, slice_bytes, raw_bytes;
    l2k_plane *planes;             /* of a group's values, for plans */
    l2k_plane *raw_planes;         /* of a slice's samples on the device */
    l2k_cuda_slice_parts *waiting; /* by first component: slices whose samples are to be loaded or stored together */
    l2k_cuda_slot slot_of[L2K_CUDA_SLOTS];
    /* Where two groups are under way, nothing is beside the first steps of the first one and the last of the last one,
     * so these have fewer slices. 0: all groups are alike. */
    unsigned short_group;
    l2k_plan *short_plan;
    unsigned put;           /* inverse: slices of coefficients */
    unsigned begun, served; /* groups */
    unsigned awaited[2];    /* groups, counted from 1, behind which the next slice's stream goes, and `beside` */
    l2k_cuda_half half;     /* of the next group */
    l2k_cuda_raw_slice raw[L2K_CUDA_RING];
    unsigned next_raw;
    /* Inverse, host memory: samples of the last group, and of the one before it, which are got as the next group is
     * put, so that slices cross the bus both ways. */
    l2k_z_queue held, leaving;
    l2k_z_queue got; /* inverse, device memory: slices whose planes are known, for the program that `waits` */
    bool waits;
    l2k_cuda_later later[2]; /* by group: the one that `waits` for planes, and the one behind it */
    unsigned whose;          /* the group that waits */
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

inline l2k_volume_stage *stage_of(const l2k_volume *v)
{
    return v->stages;
}

/* Whether values that leave, inverse, to host memory are clamped to the samples' range, which leaves them values. */
inline bool l2k_cuda_values_are_clamped(const l2k_volume *v)
{
    const l2k_plan_component *components = v->spec.tile.components;
    bool clamped = !v->spec.tile.plan.component_transform;
    for (uint32_t c = 0; c < components_of(v); c++)
        clamped = clamped && components[c].is_signed && components[c].precision == components[0].precision;
    return clamped;
}

/* The values of component c of a slice. */
inline char *values_of(const l2k_volume *v, const l2k_z_slice *slice, uint32_t c)
{
    return (char *)slice->values + stage_of(v)->offsets[c] * v->cuda->value_bytes;
}

inline bool all_put(const l2k_volume *v)
{
    l2k_z_place place;
    return !l2k_z_wanted(&stage_of(v)->z, &place);
}

inline l2k_cuda_slot *slot_number(l2k_cuda_volume *d, unsigned number)
{
    return &d->slot_of[number % d->slots];
}

/* From one stream to another. */
inline l2k_status hand_over(const l2k_volume *v, cudaEvent_t event, cudaStream_t from, cudaStream_t to)
{
    cudaError_t error = cudaEventRecord(event, from);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(to, event, 0);
    return check(v, error, "ordering streams");
}

/* The stream in which the next slice of samples crosses the bus goes behind a group. */
inline l2k_status await_group(const l2k_volume *v, cudaStream_t stream, unsigned group)
{
    l2k_cuda_volume *d = v->cuda;
    if (d->awaited[0] > group)
        return L2K_OK;
    d->awaited[0] = group + 1;
    return check(v, cudaStreamWaitEvent(stream, slot_number(d, group)->used, 0), "ordering streams");
}

/* What has been enqueued for slices of samples on their way across the bus ends before what comes next in `stream`. */
inline l2k_status await_samples(const l2k_volume *v, const l2k_cuda_slot *s)
{
    l2k_cuda_volume *d = v->cuda;
    L2K_TRY(hand_over(v, s->crossed, is_inverse(v) ? d->down : d->up, d->stream));
    return hand_over(v, s->asked, d->beside, d->stream);
}

/* The other stream is the next slice's. */
inline void take_turns(const l2k_volume *v)
{
    l2k_cuda_volume *d = v->cuda;
    cudaStream_t *across = is_inverse(v) ? &d->down : &d->up;
    const cudaStream_t stream = *across;
    const unsigned awaited = d->awaited[0];
    *across = d->beside;
    d->beside = stream;
    d->awaited[0] = d->awaited[1];
    d->awaited[1] = awaited;
}

/* Opens the slot of a group; `left`: at most so many slices are left for it. The short plan's coefficients of group 0
 * have been used when group 2 comes. */
inline l2k_cuda_slot *open_slot(const l2k_volume *v, unsigned number, unsigned left)
{
    l2k_cuda_volume *d = v->cuda;
    l2k_cuda_slot *s = slot_number(d, number);
    const bool is_short = d->short_group && (number == 0 || (number >= 2 && left <= d->short_group));
    s->now = is_short ? d->short_plan : s->plan;
    s->room = is_short ? d->short_group : d->group;
    return s;
}

inline bool has_periods(const l2k_volume *v)
{
    return v->cuda->group >= 2 * L2K_CUDA_PERIOD;
}

} // namespace

extern "C" {

/* ---- Slices and their values (cuda_volume.cu) ---------------------------------------------------------------- */

/* A slice without samples, of memory that may be written to in the order of the streams. And back, when all that uses
 * it is enqueued. */
l2k_status l2k_cuda_new_slice(const l2k_volume *v, l2k_z_slice **slice);
void l2k_cuda_give_back(const l2k_volume *v, l2k_z_slice *slice);

/* The values of a group as planes. Places without a slice get those of `rest`. */
const l2k_plane *l2k_cuda_planes_of(const l2k_volume *v, const l2k_cuda_slot *s, const l2k_z_slice *rest);

/* Slice `i` of a slot for the caller. */
void l2k_cuda_show(l2k_volume *v, const l2k_cuda_slot *s, unsigned i, l2k_z_place place, l2k_volume_slice *slice);

/* ---- Directions (cuda_volume_forward.cu, cuda_volume_inverse.cu) ---------------------------------------------- */

/* As l2k_volume_functions has them. */
l2k_status l2k_cuda_put_samples(l2k_volume *volume, const l2k_plane *planes);
bool l2k_cuda_is_full(const l2k_volume *volume);
l2k_status l2k_cuda_get_coefficients(l2k_volume *volume, l2k_volume_slice *slice);
l2k_status l2k_cuda_next_coefficients(l2k_volume *volume, l2k_volume_slice *slice);
l2k_status l2k_cuda_put_coefficients(l2k_volume *volume);
l2k_status l2k_cuda_get_samples(l2k_volume *volume, const l2k_plane *planes, bool *got);

/* ---- Across slices (cuda_program.cu) ------------------------------------------------------------------------- */

/* Enqueues what has been recorded in z, that of the volume or a copy, behind which the slices of `leaving` are where
 * they belong. */
l2k_status l2k_cuda_programs_run(const l2k_volume *v, l2k_z_levels *z, const l2k_z_queue *leaving);

/* ---- Samples (cuda_samples.cu) ------------------------------------------------------------------------------- */

/* Has values of a slice loaded from planes on the device (forward) or stored to them, on a stream, when there are
 * enough of them for a launch or at l2k_cuda_samples_move. */
l2k_status l2k_cuda_samples_add(const l2k_volume *v, const l2k_z_slice *slice, const l2k_plane *planes,
                                cudaStream_t stream);
l2k_status l2k_cuda_samples_move(const l2k_volume *v, cudaStream_t stream);

/* Whether samples lie in planes on the device as a slice's values do, one component behind the other, but for a level
 * shift that all have: a program then takes them from there, or leaves them. */
bool l2k_cuda_samples_are_values(const l2k_volume *v, const l2k_plane *planes);

/* Whether samples in host memory can cross the bus as they are in between the memory of a slice and planes. */
bool l2k_cuda_samples_cross_as_values(const l2k_volume *v, const l2k_plane *planes);

/* These to a slice's memory (forward), or back. */
l2k_status l2k_cuda_samples_copy_values(const l2k_volume *v, const l2k_z_slice *slice, const l2k_plane *planes);

/* The caller's samples in host memory to `raw`, and back. raw_planes are then those of `raw`. */
l2k_status l2k_cuda_samples_upload(const l2k_volume *v, l2k_cuda_raw_slice *raw, const l2k_plane *planes);
l2k_status l2k_cuda_samples_download(const l2k_volume *v, l2k_cuda_raw_slice *raw, const l2k_plane *planes);

/* Sets raw_planes to those of `raw` for samples like the caller's. */
void l2k_cuda_samples_place(const l2k_volume *v, l2k_cuda_raw_slice *raw, const l2k_plane *planes);

} // extern "C"

#endif
