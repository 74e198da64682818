/* A volume on a CUDA device. Slices are asked by groups, each group by one program across all levels of Z, and then
 * transformed by a plan that has the slices of the group as components. In device memory, forward, one group goes
 * across slices while another is transformed within them. From and to host memory there are three plans, and a stream
 * for each direction of the bus: while a group is worked on, the samples of the next one go up and the coefficients of
 * the last one come down (Franco, Bernabe, Fernandez, Ujaldon, 2010, had two frames a step, and no overlap).
 */
#include <string.h>

extern "C" {
#include "base/memory.h"
#include "transform/backend.h"
}
#include "transform/volume/cuda_volume.cuh"

namespace
{

/* Samples of all components in a group, at most, unless one slice has more. Measured: with a quarter of as many,
 * launches leave more of the device idle than its cache saves. */
const size_t GROUP_SAMPLES = (size_t)1 << 24;

/* In device memory so many slices are a group even if they have more samples, up to the second number: each group reads
 * and writes the slices in the windows of its levels once more. */
const size_t LEAST_SLICES = 32, MOST_SAMPLES = (size_t)1 << 27;

/* Forward, in device memory, groups of at most so many bytes are under way two at a time. What gains is that launches
 * end side by side, which is nothing to large ones; and it doubles the memory. */
const size_t MOST_BESIDE = (size_t)1 << 26;

/* Copies of so many bytes cross the bus as fast as larger ones; so many slices at most are put into one, since the
 * caller's planes are in use for twice as many. */
const size_t BATCH_BYTES = (size_t)1 << 21;
const unsigned MOST_IN_BATCH = 4;

/* ---- Life ---------------------------------------------------------------------------------------------------- */

void choose_sizes(l2k_volume *v)
{
    l2k_cuda_volume *d = v->cuda;
    const size_t samples = stage_of(v)->samples ? stage_of(v)->samples : 1;
    const bool floats = !l2k_wavelet_reversible(v->spec.z_wavelet);
    size_t group = GROUP_SAMPLES / samples;
    if (!d->on_device && group > L2K_CUDA_HOST_GROUP)
        group = L2K_CUDA_HOST_GROUP;
    if (d->on_device && group < LEAST_SLICES)
        group = MOST_SAMPLES / samples < LEAST_SLICES ? MOST_SAMPLES / samples : LEAST_SLICES;
    if (v->most_slices && group > v->most_slices)
        group = v->most_slices;
    group = group < 1 ? 1 : group > L2K_CUDA_GROUP ? L2K_CUDA_GROUP : group;
    const size_t depth = v->spec.z1 - v->spec.z0, groups = (depth + group - 1) / group;
    d->group = (unsigned)((depth + groups - 1) / groups); /* all groups alike: a plan runs with all its slices */
    d->value = floats                                            ? L2K_CUDA_FLOAT32
               : v->spec.tile.plan.type == L2K_COEFFICIENT_INT16 ? L2K_CUDA_INT16
                                                                 : L2K_CUDA_INT32;
    d->value_bytes = d->value == L2K_CUDA_INT16 ? 2 : 4;
    d->slice_bytes = (samples * d->value_bytes + 255) / 256 * 256;
    d->raw_bytes = samples * 4;
    const size_t batch = BATCH_BYTES / d->slice_bytes;
    const bool is_whole = !d->on_device && samples * d->value_bytes == d->slice_bytes;
    d->in_batch = !is_whole || batch < 1 ? 1 : batch > MOST_IN_BATCH ? MOST_IN_BATCH : (unsigned)batch;
    const bool beside = !is_inverse(v) && d->group * d->slice_bytes <= MOST_BESIDE;
    d->slots = !d->on_device ? L2K_CUDA_SLOTS : beside ? 2 : 1;
}

l2k_status make_slot(l2k_volume *v, l2k_cuda_slot *s)
{
    L2K_TRY(l2k_stage_make_plan(v, 0, v->cuda->group, v->cuda->prisms, &s->plan));
    L2K_TRY(check(v, cudaEventCreateWithFlags(&s->moved, cudaEventDisableTiming), "making an event"));
    L2K_TRY(check(v, cudaEventCreateWithFlags(&s->used, cudaEventDisableTiming), "making an event"));
    L2K_TRY(check(v, cudaEventCreateWithFlags(&s->crossed, cudaEventDisableTiming), "making an event"));
    L2K_TRY(check(v, cudaEventCreateWithFlags(&s->asked, cudaEventDisableTiming), "making an event"));
    if (v->cuda->on_device)
        return L2K_OK;
    l2k_plan_coefficient_memory(s->plan, &s->bytes);
    return check(v, cudaMallocHost((void **)&s->pinned, s->bytes), "allocating pinned memory for coefficients");
}

l2k_status make_raw(l2k_volume *v, l2k_cuda_raw_slice *raw)
{
    L2K_TRY(check(v, cudaMalloc((void **)&raw->device, v->cuda->raw_bytes), "allocating memory for samples"));
    L2K_TRY(check(v, cudaEventCreateWithFlags(&raw->moved, cudaEventDisableTiming), "making an event"));
    return check(v, cudaEventCreateWithFlags(&raw->used, cudaEventDisableTiming), "making an event");
}

l2k_status make_streams(l2k_volume *v)
{
    l2k_cuda_volume *d = v->cuda;
    d->stream = (cudaStream_t)v->stream;
    char reason[160];
    if (!l2k_cuda_usable(l2k_device_of_share(&v->context, 0), reason, sizeof reason))
        return l2k_fail(&v->context, L2K_ERROR_BACKEND, "CUDA: no usable GPU: %s", reason);
    d->within = d->stream;
    if (d->on_device)
        return d->slots == 1
                   ? L2K_OK
                   : check(v, cudaStreamCreateWithFlags(&d->within, cudaStreamNonBlocking), "making a stream");
    L2K_TRY(check(v, cudaStreamCreateWithFlags(&d->stream, cudaStreamNonBlocking), "making a stream"));
    d->within = d->stream;
    L2K_TRY(check(v, cudaStreamCreateWithFlags(&d->up, cudaStreamNonBlocking), "making a stream"));
    return check(v, cudaStreamCreateWithFlags(&d->down, cudaStreamNonBlocking), "making a stream");
}

void free_slot(l2k_cuda_slot *s)
{
    l2k_plan_free(s->plan);
    if (s->pinned)
        cudaFreeHost(s->pinned);
    if (s->moved)
        cudaEventDestroy(s->moved);
    if (s->used)
        cudaEventDestroy(s->used);
    if (s->crossed)
        cudaEventDestroy(s->crossed);
    if (s->asked)
        cudaEventDestroy(s->asked);
}

/* ---- Interface ----------------------------------------------------------------------------------------------- */

l2k_status make(l2k_volume *volume)
{
    l2k_cuda_volume *d = (l2k_cuda_volume *)l2k_allocate_zeroed(&volume->context, 1, sizeof *d);
    volume->cuda = d;
    if (!d)
        return l2k_fail(&volume->context, L2K_ERROR_MEMORY, "out of memory for a volume");
    d->on_device = volume->spec.tile.plan.on_device;
    choose_sizes(volume);
    const size_t count = components_of(volume);
    d->planes = (l2k_plane *)l2k_allocate_zeroed(&volume->context, count * d->group, sizeof *d->planes);
    d->raw_planes = (l2k_plane *)l2k_allocate_zeroed(&volume->context, count, sizeof *d->raw_planes);
    d->waiting = (l2k_cuda_slice_parts *)l2k_allocate_zeroed(&volume->context, count, sizeof *d->waiting);
    if (!d->planes || !d->raw_planes || !d->waiting)
        return l2k_fail(&volume->context, L2K_ERROR_MEMORY, "out of memory for a volume");
    L2K_TRY(make_streams(volume));
    d->prisms = l2k_cuda_has_prisms(volume);
    for (unsigned i = 0; i < d->slots; i++)
        L2K_TRY(make_slot(volume, &d->slot_of[i]));
    for (int i = 0; i < L2K_CUDA_RING && !d->on_device; i++)
        L2K_TRY(make_raw(volume, &d->raw[i]));
    return L2K_OK;
}

void destroy(l2k_volume *volume)
{
    l2k_cuda_volume *d = volume->cuda;
    if (!d)
        return;
    cudaStream_t streams[] = {d->up, d->down, d->stream};
    if (d->on_device && d->within != d->stream)
        cudaStreamSynchronize(d->within);
    for (cudaStream_t stream : streams)
        if (stream || d->on_device)
            cudaStreamSynchronize(stream);
    for (l2k_cuda_slot &s : d->slot_of)
        free_slot(&s);
    for (l2k_cuda_raw_slice &raw : d->raw)
        l2k_cuda_free_raw(volume, &raw);
    for (l2k_z_slice *slice = volume->stages ? stage_of(volume)->all : NULL; slice; slice = slice->older)
        if (slice->values)
            cudaFree(slice->values);
    for (int i = 0; i < 3 && !d->on_device; i++)
        if (streams[i])
            cudaStreamDestroy(streams[i]);
    if (d->on_device && d->within != d->stream)
        cudaStreamDestroy(d->within);
    l2k_cuda_batches_release(volume);
    l2k_release(&volume->context, d->planes);
    l2k_release(&volume->context, d->raw_planes);
    l2k_release(&volume->context, d->waiting);
    l2k_release(&volume->context, d);
    volume->cuda = NULL;
}

/* What the last volume has under way ends first; in device memory the stream sees to that. */
l2k_status rewind_all(l2k_volume *volume)
{
    l2k_cuda_volume *d = volume->cuda;
    cudaStream_t streams[] = {d->up, d->stream, d->down};
    for (int i = 0; i < 3 && !d->on_device; i++)
        L2K_TRY(check(volume, cudaStreamSynchronize(streams[i]), "ending a volume"));
    for (l2k_cuda_slot &s : d->slot_of) {
        if (s.used && d->on_device)
            L2K_TRY(check(volume, cudaStreamWaitEvent(d->stream, s.used, 0), "ending a volume"));
        s.count = s.given = 0;
    }
    for (uint32_t c = 0; c < components_of(volume); c++)
        d->waiting[c].count = 0;
    l2k_cuda_batches_rewind(volume);
    d->begun = d->served = d->next_raw = 0;
    d->is_lifted = false;
    d->held = d->leaving = d->got = d->spare = l2k_z_queue{};
    d->waits = false;
    d->found = l2k_z_walk{};
    return L2K_OK;
}

/* ---- Slices -------------------------------------------------------------------------------------------------- */

/* With several groups under way the slices of the last one stay free: they may be in use yet when the next ones come.
 */
l2k_z_slice *reuse(const l2k_volume *v)
{
    l2k_z_queue *free = &stage_of(v)->free;
    return v->cuda->slots == 1 || free->count > v->cuda->group ? l2k_z_take(free) : NULL;
}

} // namespace

void l2k_cuda_give_back(const l2k_volume *v, l2k_z_slice *slice)
{
    if (v->cuda->slots == 1)
        l2k_z_push(&stage_of(v)->free, slice);
    else
        l2k_z_append(&stage_of(v)->free, slice);
}

/* Values start as 0, also behind the last sample, where programs go as well. */
l2k_status l2k_cuda_new_slice(const l2k_volume *v, cudaStream_t stream, l2k_z_slice **slice)
{
    l2k_cuda_volume *d = v->cuda;
    l2k_volume_stage *stage = stage_of(v);
    *slice = reuse(v);
    if (*slice) {
        (*slice)->samples = NULL;
        (*slice)->uses = 0;
        (*slice)->slot = -1;
        (*slice)->batch = NULL;
        (*slice)->in_prism = false;
        return L2K_OK;
    }
    l2k_z_slice *made = (l2k_z_slice *)l2k_allocate_zeroed(&v->context, 1, sizeof *made);
    if (!made)
        return l2k_fail(&v->context, L2K_ERROR_MEMORY, "out of memory for a slice");
    const l2k_status status =
        check(v, cudaMalloc((void **)&made->values, d->slice_bytes), "allocating memory for a slice");
    if (status != L2K_OK) {
        l2k_release(&v->context, made);
        return status;
    }
    made->slot = -1;
    made->older = stage->all;
    stage->all = made;
    *slice = made;
    return check(v, cudaMemsetAsync(made->values, 0, d->slice_bytes, stream), "clearing memory for a slice");
}

const l2k_plane *l2k_cuda_planes_of(const l2k_volume *v, const l2k_cuda_slot *s, const l2k_z_slice *rest)
{
    const uint32_t count = components_of(v);
    l2k_cuda_volume *d = v->cuda;
    for (unsigned i = 0; i < d->group; i++)
        for (uint32_t c = 0; c < count; c++) {
            const l2k_rect rect = v->spec.tile.components[c].rect;
            l2k_plane *plane = &d->planes[i * count + c];
            const l2k_z_slice *slice = i < s->count ? s->slices[i] : rest;
            plane->data = !slice || slice->in_prism ? NULL : values_of(v, slice, c);
            plane->sample_stride = (ptrdiff_t)d->value_bytes;
            plane->row_stride = (ptrdiff_t)(l2k_rect_width(rect) * d->value_bytes);
            plane->type = d->value == L2K_CUDA_INT16   ? L2K_SAMPLE_S16
                          : d->value == L2K_CUDA_INT32 ? L2K_SAMPLE_S32
                                                       : L2K_SAMPLE_F32;
        }
    return d->planes;
}

void l2k_cuda_show(l2k_volume *v, const l2k_cuda_slot *s, unsigned i, l2k_z_place place, l2k_volume_slice *slice)
{
    const uint32_t count = components_of(v);
    size_t bytes;
    const char *start = (const char *)l2k_plan_coefficient_memory(s->plan, &bytes);
    for (uint32_t c = 0; c < count; c++) {
        l2k_coefficients *view = &v->views[c];
        *view = *l2k_plan_coefficients(s->plan, i * count + c);
        if (s->pinned) {
            view->base = s->pinned + ((const char *)view->base - start);
            view->on_device = false;
        }
    }
    *slice = l2k_volume_slice{place.level, place.high, place.index, count, v->views};
}

extern "C" const l2k_volume_functions l2k_volume_cuda = {make,
                                                         destroy,
                                                         rewind_all,
                                                         l2k_cuda_is_full,
                                                         l2k_cuda_put_samples,
                                                         l2k_cuda_get_coefficients,
                                                         l2k_cuda_next_coefficients,
                                                         l2k_cuda_put_coefficients,
                                                         l2k_cuda_get_samples};
