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

/* A group on its way through its plans. */
struct l2k_cuda_slot {
    l2k_plan *plan; /* its components are the slices */
    char *pinned;   /* host memory: the plan's coefficients */
    size_t bytes;   /* of these */
    l2k_z_slice *slices[L2K_CUDA_GROUP];
    l2k_z_place places[L2K_CUDA_GROUP];
    unsigned count, given;
    cudaEvent_t moved, used; /* the coefficients crossed the bus; all that is enqueued for the group has run */
    cudaEvent_t asked;       /* device memory: the caller's stream, behind which the levels within slices go */
    cudaEvent_t crossed;     /* samples that were on the bus when the group was begun */
};

/* A slice's samples as the caller has them, on the device, packed, unless they cross the bus as values. */
struct l2k_cuda_raw_slice {
    char *device;
    char *gathered; /* host, for planes that are not packed by rows */
    cudaEvent_t moved, used;
};

/* Memory on the device for samples of some slices that cross the bus in one copy. */
struct l2k_cuda_batch {
    l2k_cuda_batch *older; /* made before, in the list of all */
    char *device;
    unsigned group; /* forward: the last one that reads it */
    unsigned users; /* inverse: slices that have yet to go */
    cudaEvent_t moved;
};

struct l2k_cuda_volume {
    cudaStream_t stream, up, down; /* `stream` is the caller's in device memory */
    cudaStream_t within;           /* for the levels within slices, if two groups are under way; else `stream` */
    bool on_device;
    unsigned group, slots; /* group: slices */
    l2k_cuda_value value;
    size_t value_bytes, slice_bytes, raw_bytes;
    l2k_plane *planes;             /* of a group's values, for plans */
    l2k_plane *raw_planes;         /* of a slice's samples on the device */
    l2k_cuda_slice_parts *waiting; /* by first component: slices whose samples are to be loaded or stored together */
    l2k_cuda_slot slot_of[L2K_CUDA_SLOTS];
    unsigned begun, served; /* groups */
    bool prisms;            /* walks do level 1 within slices, too */
    l2k_z_walk found;       /* in the group whose programs run next */
    l2k_z_queue spare;      /* memory that only what is in `stream` uses, for prisms */
    bool is_lifted;         /* forward: the next group is enqueued across slices, but not yet within them */
    l2k_cuda_raw_slice raw[L2K_CUDA_RING];
    unsigned next_raw;
    unsigned in_batch;                     /* slices that cross the bus together, at most; 1: none do */
    l2k_cuda_batch *batches, *open, *sent; /* all; the one whose copy is yet to be made, and the one before it */
    unsigned taken;                        /* inverse: places of `open` that slices have got */
    unsigned pending;                      /* slices of the copy */
    char *pending_host, *pending_device;
    /* Inverse, host memory: samples of the last group, and of the one before it, which are got as the next group is
     * put, so that slices cross the bus both ways. */
    l2k_z_queue held, leaving;
    l2k_z_queue got; /* inverse, device memory: slices whose planes are known, for the program that `waits` */
    bool waits;
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

inline bool is_pinned(const l2k_plane *plane)
{
    cudaPointerAttributes attributes;
    if (cudaPointerGetAttributes(&attributes, plane->data) == cudaSuccess)
        return attributes.type != cudaMemoryTypeUnregistered;
    cudaGetLastError();
    return false;
}

/* Walks alone are for two levels or more, by Part 1's wavelets: a single level has nothing between its chains but
 * slices that wait. */
inline bool has_walks(const l2k_volume *v)
{
    const l2k_z_levels *z = &stage_of(v)->z;
    return v->cuda->prisms || (z->levels > 1 && !z->kernel);
}

inline bool has_periods(const l2k_volume *v)
{
    return v->cuda->group >= 2 * L2K_CUDA_PERIOD && has_walks(v);
}

inline int64_t vectors_of(const l2k_volume *v, size_t bytes)
{
    return (int64_t)((stage_of(v)->samples * v->cuda->value_bytes + bytes - 1) / bytes);
}

/* All components of a slice whose samples are taken where they are have one level shift. */
inline l2k_cuda_z_samples samples_of(const l2k_volume *v)
{
    const l2k_plan_component *component = v->spec.tile.components;
    const bool converts = v->cuda->value != L2K_CUDA_FLOAT32 && (is_inverse(v) || !component->is_signed);
    return l2k_cuda_z_samples{converts, component->is_signed,
                              l2k_level_shift_make(component->precision, component->is_signed)};
}

inline l2k_cuda_z_step kernel_step(const l2k_z_levels *z, unsigned number)
{
    const l2k_kernel_step *step = l2k_z_step(z, number);
    l2k_cuda_z_step to = {{0}, step->rounding, step->num_taps, step->shift};
    for (unsigned i = 0; i < L2K_CUDA_Z_TAPS; i++)
        to.taps[i] = step->taps[i];
    return to;
}

} // namespace

extern "C" {

/* ---- Slices and their values (cuda_volume.cu) ---------------------------------------------------------------- */

/* A slice without samples, of memory that may be written to in the order of the streams, from `stream` if it is new.
 * And back, when all that uses it is enqueued. */
l2k_status l2k_cuda_new_slice(const l2k_volume *v, cudaStream_t stream, l2k_z_slice **slice);
void l2k_cuda_give_back(const l2k_volume *v, l2k_z_slice *slice);

/* The values of a group as planes, without data where a prism has them. Places without a slice get those of `rest`, or
 * with prisms none. */
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

/* ---- Across slices (cuda_program.cu, cuda_walks.cu) ----------------------------------------------------------- */

/* Whether walks can do level 1 within slices, with the volume's sizes and on this device. */
bool l2k_cuda_has_prisms(const l2k_volume *v);

/* When all slices of a group have been put, and those that a plan takes or makes have their slots: what a walk takes of
 * it, and which slices are in a prism. */
void l2k_cuda_find_walk(const l2k_volume *v);

/* Enqueues what has been recorded, behind which the slices of `leaving` are where they belong. `slot` is that of the
 * group. */
l2k_status l2k_cuda_programs_run(const l2k_volume *v, const l2k_cuda_slot *slot, const l2k_z_queue *leaving);

/* What the operations before a walk leave to it, and it to those after it. */
l2k_status l2k_cuda_walk_run(const l2k_volume *v, const l2k_cuda_slot *slot);

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

/* And without gaps between rows and components. */
bool l2k_cuda_samples_are_packed(const l2k_volume *v, const l2k_plane *planes);

/* These to the memory of a slice's values (forward), or back. */
l2k_status l2k_cuda_samples_copy_values(const l2k_volume *v, char *values, const l2k_plane *planes);

/* The caller's samples in host memory to `raw`, and back. raw_planes are then those of `raw`. */
l2k_status l2k_cuda_samples_upload(const l2k_volume *v, l2k_cuda_raw_slice *raw, const l2k_plane *planes);
l2k_status l2k_cuda_samples_download(const l2k_volume *v, l2k_cuda_raw_slice *raw, const l2k_plane *planes);

/* Releases what `raw` holds. Takes what is half made. */
void l2k_cuda_free_raw(const l2k_volume *v, l2k_cuda_raw_slice *raw);

/* Sets raw_planes to those of `raw` for samples like the caller's. */
void l2k_cuda_samples_place(const l2k_volume *v, l2k_cuda_raw_slice *raw, const l2k_plane *planes);

/* ---- Slices that cross the bus together (cuda_batches.cu) ---------------------------------------------------- */

/* Whether samples in host memory can be part of a copy: pinned ones that lie as values do. */
bool l2k_cuda_may_batch(const l2k_volume *v, const l2k_plane *planes);

/* Forward: a slice's samples go up, with those before it or after it. */
l2k_status l2k_cuda_batch_up(const l2k_volume *v, l2k_z_slice *slice, const l2k_plane *planes);

/* Inverse: places for the samples of slices that leave, and one of them down. */
l2k_status l2k_cuda_batch_places(const l2k_volume *v, const l2k_z_queue *leaving);
l2k_status l2k_cuda_batch_down(const l2k_volume *v, l2k_z_slice *slice, const l2k_plane *planes);

/* Or, where planes are not as values, to the memory of its values. */
l2k_status l2k_cuda_batch_leave(const l2k_volume *v, l2k_z_slice *slice);

/* Makes the copy that is pending; then the one before it has been made. And waits for it as well. */
l2k_status l2k_cuda_batch_send(const l2k_volume *v);
l2k_status l2k_cuda_batch_finish(const l2k_volume *v);

void l2k_cuda_batches_rewind(const l2k_volume *v);
void l2k_cuda_batches_release(const l2k_volume *v);

} // extern "C"

#endif
