/* A volume on a CUDA device. Slices go in groups: lists of operations lift a group across slices, then a plan that has
 * its slices as components transforms it. In the isotropic order each stage has groups of its own, and LL of low-pass
 * slices goes from one to the next. In device memory the caller's stream orders all of it. From and to host memory each
 * direction of the bus has a stream: while the device works on a group, the samples of the next one go up and the
 * coefficients of the last one come down, or the reverse (Franco, Bernabe, Fernandez, Ujaldon, 2010, had two frames a
 * step, and no overlap). */
extern "C" {
#include "base/memory.h"
#include "transform/backend.h"
#include "transform/device.h"
}
#include "transform/volume/cuda/cuda_volume.cuh"

namespace
{

/* The most samples of all components in a group, unless one slice has more. Measured: with a quarter of them, launches
 * leave more of the device idle than its cache saves. */
const size_t GROUP_SAMPLES = (size_t)1 << 24;

/* In device memory LEAST_SLICES form a group even with more samples, up to MOST_SAMPLES: each group reads and writes
 * the slices in the windows of its levels once more. */
const size_t LEAST_SLICES = 32, MOST_SAMPLES = (size_t)1 << 27;

/* ---- Life ---------------------------------------------------------------------------------------------------- */

unsigned choose_size(const l2k_volume *v, unsigned number)
{
    const size_t samples = v->stages[number].samples ? v->stages[number].samples : 1;
    size_t size = GROUP_SAMPLES / samples;
    if (!v->cuda->on_device && size > L2K_CUDA_HOST_GROUP)
        size = L2K_CUDA_HOST_GROUP;
    if (v->cuda->on_device && size < LEAST_SLICES)
        size = MOST_SAMPLES / samples < LEAST_SLICES ? MOST_SAMPLES / samples : LEAST_SLICES;
    size = size < 1 ? 1 : size > L2K_CUDA_GROUP ? L2K_CUDA_GROUP : size;
    const size_t depth = l2k_z_depth(v->spec.z0, v->spec.z1, number, false), groups = (depth + size - 1) / size;
    return (unsigned)((depth + groups - 1) / groups); /* all groups alike: a plan runs with all its slices */
}

/* Stages after one whose low-pass has no slice have none. */
unsigned count_stages(const l2k_volume *v)
{
    unsigned count = 1;
    while (count < v->num_stages && l2k_z_depth(v->spec.z0, v->spec.z1, count, false) > 0)
        count++;
    return count;
}

l2k_status make_group(l2k_volume *v, unsigned number)
{
    l2k_cuda_volume *d = v->cuda;
    l2k_cuda_group *g = &d->groups[number];
    const size_t bytes = (v->stages[number].samples + 1) * d->value_bytes;
    g->size = choose_size(v, number);
    g->slice_bytes = (bytes + 255) / 256 * 256;
    g->planes = (l2k_plane *)l2k_allocate_zeroed(&v->context, (size_t)components_of(v) * g->size, sizeof *g->planes);
    L2K_TRY(l2k_check_memory(&v->context, g->planes, "a volume"));
    return l2k_stage_make_plan(v, number, g->size);
}

l2k_status make_raw(l2k_volume *v, l2k_cuda_raw_slice *raw)
{
    const size_t bytes = (v->stages[0].samples + 1) * 4;
    L2K_TRY(check(v, cudaMalloc((void **)&raw->device, bytes), "allocating memory for samples"));
    L2K_TRY(check(v, cudaEventCreateWithFlags(&raw->moved, cudaEventDisableTiming), "making an event"));
    return check(v, cudaEventCreateWithFlags(&raw->used, cudaEventDisableTiming), "making an event");
}

void free_raw(const l2k_volume *v, l2k_cuda_raw_slice *raw)
{
    if (raw->device)
        cudaFree(raw->device);
    if (raw->moved)
        cudaEventDestroy(raw->moved);
    if (raw->used)
        cudaEventDestroy(raw->used);
    l2k_release(&v->context, raw->gathered);
}

l2k_status make_streams(l2k_volume *v)
{
    l2k_cuda_volume *d = v->cuda;
    char reason[160];
    if (!l2k_cuda_usable(l2k_device_of_share(&v->context, 0), reason, sizeof reason))
        return l2k_fail(&v->context, L2K_ERROR_BACKEND, "CUDA: no usable GPU: %s", reason);
    d->stream = (cudaStream_t)v->stream;
    if (d->on_device)
        return L2K_OK;
    d->stream = NULL;
    for (cudaStream_t *stream : {&d->stream, &d->up, &d->down, &d->store})
        L2K_TRY(check(v, cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking), "making a stream"));
    L2K_TRY(check(v, cudaEventCreateWithFlags(&d->order, cudaEventDisableTiming), "making an event"));
    for (l2k_cuda_raw_slice &raw : d->raw)
        L2K_TRY(make_raw(v, &raw));
    return L2K_OK;
}

l2k_status wait(const l2k_volume *v)
{
    const l2k_cuda_volume *d = v->cuda;
    for (cudaStream_t stream : {d->up, d->stream, d->store, d->down})
        if (stream || d->on_device)
            L2K_TRY(check(v, cudaStreamSynchronize(stream), "ending a volume"));
    return L2K_OK;
}

/* ---- Interface ----------------------------------------------------------------------------------------------- */

l2k_status make(l2k_volume *volume)
{
    l2k_cuda_volume *d = (l2k_cuda_volume *)l2k_allocate_zeroed(&volume->context, 1, sizeof *d);
    volume->cuda = d;
    L2K_TRY(l2k_check_memory(&volume->context, d, "a volume"));
    d->on_device = l2k_plan_on_device(&volume->spec.tile.plan);
    d->value = !l2k_wavelet_reversible(volume->spec.z_wavelet)        ? L2K_SAMPLE_F32
               : volume->spec.tile.plan.type == L2K_COEFFICIENT_INT16 ? L2K_SAMPLE_S16
                                                                      : L2K_SAMPLE_S32;
    d->value_bytes = d->value == L2K_SAMPLE_S16 ? 2 : 4;
    d->count = count_stages(volume);
    const size_t components = components_of(volume);
    d->groups = (l2k_cuda_group *)l2k_allocate_zeroed(&volume->context, d->count, sizeof *d->groups);
    d->raw_planes = (l2k_plane *)l2k_allocate_zeroed(&volume->context, components, sizeof *d->raw_planes);
    d->waiting = (l2k_cuda_slice_parts *)l2k_allocate_zeroed(&volume->context, components, sizeof *d->waiting);
    L2K_TRY(l2k_check_memory(&volume->context, d->groups && d->raw_planes && d->waiting, "a volume"));
    L2K_TRY(make_streams(volume));
    for (unsigned i = 0; i < d->count; i++)
        L2K_TRY(make_group(volume, i));
    return L2K_OK;
}

/* These calls return errors of earlier calls, which have been reported. */
void destroy(l2k_volume *volume)
{
    l2k_cuda_volume *d = volume->cuda;
    if (!d)
        return;
    const cudaStream_t streams[] = {d->up, d->stream, d->store, d->down};
    for (cudaStream_t stream : streams)
        if (stream || d->on_device)
            cudaStreamSynchronize(stream);
    for (unsigned i = 0; i < volume->num_stages; i++)
        for (l2k_z_slice *slice = volume->stages[i].all; slice; slice = slice->older)
            cudaFree(slice->values);
    for (unsigned i = 0; d->groups && i < d->count; i++)
        l2k_release(&volume->context, d->groups[i].planes);
    l2k_cuda_crossings_release(volume);
    for (l2k_cuda_raw_slice &raw : d->raw)
        free_raw(volume, &raw);
    if (d->order)
        cudaEventDestroy(d->order);
    for (cudaStream_t stream : streams)
        if (stream && !d->on_device)
            cudaStreamDestroy(stream);
    l2k_release(&volume->context, d->groups);
    l2k_release(&volume->context, d->raw_planes);
    l2k_release(&volume->context, d->waiting);
    l2k_release(&volume->context, d);
    volume->cuda = NULL;
}

/* Work of the last volume ends first; in device memory the stream's order ensures that. */
l2k_status rewind_all(l2k_volume *volume)
{
    l2k_cuda_volume *d = volume->cuda;
    if (!d->on_device)
        L2K_TRY(wait(volume));
    for (unsigned i = 0; i < d->count; i++) {
        l2k_cuda_group *g = &d->groups[i];
        g->count = g->given = 0;
        g->filled = g->last = NULL;
    }
    for (uint32_t c = 0; c < components_of(volume); c++)
        d->waiting[c].count = 0;
    l2k_cuda_crossings_rewind(volume);
    d->next_raw = 0;
    d->giving = NULL;
    d->got = d->held = l2k_z_queue{};
    d->waits = false;
    return L2K_OK;
}

} // namespace

/* ---- Slices -------------------------------------------------------------------------------------------------- */

/* Values start as 0, also behind the last sample, which operations touch too. */
extern "C" l2k_status l2k_cuda_new_slice(const l2k_volume *v, unsigned number, l2k_z_slice **slice)
{
    l2k_volume_stage *stage = &v->stages[number];
    const size_t bytes = v->cuda->groups[number].slice_bytes;
    *slice = l2k_z_take(&stage->free);
    if (*slice) {
        of_device(*slice)->samples = NULL;
        of_device(*slice)->uses = 0;
        return L2K_OK;
    }
    l2k_cuda_slice *made = (l2k_cuda_slice *)l2k_allocate_zeroed(&v->context, 1, sizeof *made);
    L2K_TRY(l2k_check_memory(&v->context, made, "a slice"));
    const l2k_status status =
        check(v, cudaMalloc((void **)&made->slice.values, bytes), "allocating memory for a slice");
    if (status != L2K_OK) {
        l2k_release(&v->context, made);
        return status;
    }
    *slice = l2k_stage_keep(stage, &made->slice);
    return check(v, cudaMemsetAsync(made->slice.values, 0, bytes, v->cuda->stream), "clearing memory for a slice");
}

/* The values of a slice of a stage as planes. */
static void planes_of(const l2k_volume *v, unsigned number, const l2k_z_slice *slice, l2k_plane *planes)
{
    const l2k_cuda_volume *d = v->cuda;
    const size_t bytes = d->value_bytes;
    for (uint32_t c = 0; c < components_of(v); c++) {
        const l2k_rect rect = l2k_resolution_rect(v->spec.tile.components[c].rect, number);
        planes[c] = l2k_plane{(char *)slice->values + v->stages[number].offsets[c] * bytes,
                              (ptrdiff_t)(l2k_rect_width(rect) * bytes), (ptrdiff_t)bytes, d->value};
    }
}

extern "C" l2k_status l2k_cuda_plan_run(const l2k_volume *v, unsigned number, const l2k_z_slice *rest)
{
    const l2k_cuda_group *g = &v->cuda->groups[number];
    for (unsigned i = 0; i < g->size; i++)
        planes_of(v, number, i < g->count ? g->slices[i] : rest, g->planes + (size_t)i * components_of(v));
    return l2k_plan_run_on_device(v->stages[number].plan, g->planes, v->cuda->stream);
}

extern "C" l2k_status l2k_cuda_copy_low(const l2k_volume *v, unsigned number, unsigned i, const l2k_z_slice *low,
                                        bool back)
{
    planes_of(v, number + 1, low, v->planes);
    for (uint32_t c = 0; c < components_of(v); c++) {
        const l2k_coefficients *view = l2k_plan_coefficients(v->stages[number].plan, i * components_of(v) + c);
        const l2k_band_view *band = &view->bands[0];
        const ptrdiff_t bytes = (ptrdiff_t)l2k_coefficient_bytes(view->type);
        char *const first = (char *)view->base + ((ptrdiff_t)(band->y * view->stride) + (ptrdiff_t)band->x) * bytes;
        const l2k_plane in_view = {first, (ptrdiff_t)view->stride * bytes, bytes, v->planes[c].type};
        L2K_TRY(l2k_device_copy(&v->context, back ? &in_view : &v->planes[c], back ? &v->planes[c] : &in_view,
                                band->width, band->height, v->cuda->stream));
    }
    return L2K_OK;
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
