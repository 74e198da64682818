/* Slices and coefficients in host memory for a volume of the isotropic order in device memory (cuda_isotropic.cu).
 * Forward, a stream takes samples up, one computes, and one takes coefficients down, out of memory of their own: while
 * a group of slices is worked on, the next one goes up, and the last one comes down. Inverse, coefficients go up in the
 * stream that computes, and another makes samples of values, which a third takes down, one for each slice that is put.
 */
#include <string.h>

extern "C" {
#include "base/memory.h"
#include "transform/backend.h"
}
#include "transform/volume/cuda_host.cuh"

namespace
{

/* Slices that are worked on together: few, so that little of a volume is on its way before the bus is in use both ways.
 */
const size_t GROUP_SAMPLES = (size_t)1 << 24, LEAST_SLICES = 4, MOST_SLICES = 16;

/* ---- Life ---------------------------------------------------------------------------------------------------- */

l2k_status make_events(const l2k_volume *v, l2k_cuda_raw_slice *raw)
{
    L2K_TRY(check(v, cudaEventCreateWithFlags(&raw->moved, cudaEventDisableTiming), "making an event"));
    return check(v, cudaEventCreateWithFlags(&raw->used, cudaEventDisableTiming), "making an event");
}

void free_crossing(const l2k_volume *v, l2k_cuda_crossing *x)
{
    l2k_cuda_free_raw(v, &x->raw);
    if (x->link.memory)
        cudaFreeHost(x->link.memory);
    l2k_release(&v->context, x->views);
    l2k_release(&v->context, x);
}

l2k_status fill_crossing(const l2k_volume *v, l2k_cuda_crossing *x, size_t bytes, uint32_t components)
{
    L2K_TRY(make_events(v, &x->raw));
    if (components == 0 || !is_inverse(v))
        L2K_TRY(check(v, cudaMalloc((void **)&x->raw.device, bytes + 1), "allocating memory for a slice"));
    x->link.values = (uint32_t *)x->raw.device;
    if (components == 0)
        return L2K_OK;
    L2K_TRY(check(v, cudaMallocHost(&x->link.memory, bytes + 1), "allocating pinned memory for coefficients"));
    x->views = (l2k_coefficients *)l2k_allocate_zeroed(&v->context, components, sizeof *x->views);
    return x->views ? L2K_OK : l2k_fail(&v->context, L2K_ERROR_MEMORY, "out of memory for a slice");
}

/* What cuda_samples.cu needs. */
l2k_status make_samples(l2k_volume *v)
{
    const uint32_t count = components_of(v);
    l2k_cuda_volume *d = (l2k_cuda_volume *)l2k_allocate_zeroed(&v->context, 1, sizeof *d);
    v->cuda = d;
    if (!d)
        return l2k_fail(&v->context, L2K_ERROR_MEMORY, "out of memory for a volume");
    d->raw_planes = (l2k_plane *)l2k_allocate_zeroed(&v->context, count, sizeof *d->raw_planes);
    d->planes = (l2k_plane *)l2k_allocate_zeroed(&v->context, count, sizeof *d->planes);
    d->waiting = (l2k_cuda_slice_parts *)l2k_allocate_zeroed(&v->context, count, sizeof *d->waiting);
    if (!d->raw_planes || !d->planes || !d->waiting)
        return l2k_fail(&v->context, L2K_ERROR_MEMORY, "out of memory for a volume");
    const l2k_coefficient_type type = v->spec.tile.plan.type;
    d->value = type == L2K_COEFFICIENT_INT16   ? L2K_CUDA_INT16
               : type == L2K_COEFFICIENT_INT32 ? L2K_CUDA_INT32
                                               : L2K_CUDA_FLOAT32;
    d->value_bytes = l2k_coefficient_bytes(type);
    d->raw_bytes = stage_of(v)->samples * 4;
    return L2K_OK;
}

l2k_status make_streams(l2k_volume *v)
{
    cudaStream_t *const streams[] = {&v->cuda->stream, &v->cuda->up, &v->cuda->down, &v->host->stream};
    char reason[160];
    if (!l2k_cuda_usable(l2k_device_of_share(&v->context, 0), reason, sizeof reason))
        return l2k_fail(&v->context, L2K_ERROR_BACKEND, "CUDA: no usable GPU: %s", reason);
    for (cudaStream_t *stream : streams)
        L2K_TRY(check(v, cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking), "making a stream"));
    return L2K_OK;
}

unsigned choose_group(const l2k_volume *v)
{
    const size_t group = GROUP_SAMPLES / (stage_of(v)->samples + 1);
    return (unsigned)(group < LEAST_SLICES ? LEAST_SLICES : group > MOST_SLICES ? MOST_SLICES : group);
}

l2k_status make_order(const l2k_volume *v)
{
    l2k_cuda_host *h = v->host;
    cudaEvent_t *const events[] = {&h->made, &h->read[0], &h->read[1], &h->landed[0], &h->landed[1]};
    for (cudaEvent_t *event : events)
        L2K_TRY(check(v, cudaEventCreateWithFlags(event, cudaEventDisableTiming), "making an event"));
    return L2K_OK;
}

l2k_status make(l2k_volume *v)
{
    l2k_cuda_host *h = (l2k_cuda_host *)l2k_allocate_zeroed(&v->context, 1, sizeof *h);
    v->host = h;
    if (!h)
        return l2k_fail(&v->context, L2K_ERROR_MEMORY, "out of memory for a volume");
    L2K_TRY(make_samples(v));
    L2K_TRY(make_streams(v));
    L2K_TRY(make_order(v));
    for (int i = 0; i < L2K_CUDA_DOWN && is_inverse(v); i++) {
        L2K_TRY(make_events(v, &h->raw[i]));
        L2K_TRY(
            check(v, cudaMalloc((void **)&h->raw[i].device, v->cuda->raw_bytes + 1), "allocating memory for samples"));
    }
    const l2k_cuda_part how = {
        0, v->spec.levels, true, is_inverse(v), choose_group(v), &l2k_volume_cuda_isotropic, h->stream};
    return l2k_cuda_part_make(v, &how, &h->device);
}

void free_samples(l2k_volume *v)
{
    l2k_release(&v->context, v->cuda->raw_planes);
    l2k_release(&v->context, v->cuda->planes);
    l2k_release(&v->context, v->cuda->waiting);
    l2k_release(&v->context, v->cuda);
    v->cuda = NULL;
}

void destroy(l2k_volume *v)
{
    l2k_cuda_host *h = v->host;
    if (!h)
        return;
    const cudaStream_t streams[] = {v->cuda ? v->cuda->up : NULL, h->stream, v->cuda ? v->cuda->stream : NULL,
                                    v->cuda ? v->cuda->down : NULL};
    for (cudaStream_t stream : streams)
        if (stream)
            cudaStreamSynchronize(stream);
    l2k_cuda_part_free(&h->device);
    while (h->all) {
        l2k_cuda_crossing *x = from_link(h->all);
        h->all = x->link.older;
        free_crossing(v, x);
    }
    for (l2k_cuda_raw_slice &raw : h->raw)
        l2k_cuda_free_raw(v, &raw);
    const cudaEvent_t events[] = {h->made, h->read[0], h->read[1], h->landed[0], h->landed[1]};
    for (cudaEvent_t event : events)
        if (event)
            cudaEventDestroy(event);
    for (cudaStream_t stream : streams)
        if (stream)
            cudaStreamDestroy(stream);
    if (v->cuda)
        free_samples(v);
    l2k_release(&v->context, h);
    v->host = NULL;
}

/* What is under way ends first. */
l2k_status rewind_all(l2k_volume *v)
{
    l2k_cuda_host *h = v->host;
    const cudaStream_t streams[] = {v->cuda->up, h->stream, v->cuda->stream, v->cuda->down};
    for (cudaStream_t stream : streams)
        L2K_TRY(check(v, cudaStreamSynchronize(stream), "ending a volume"));
    h->free = h->taken = h->leaving = h->finished = h->coming = l2k_z_queue{};
    memset(h->empty, 0, sizeof h->empty);
    h->last = h->got = h->givable = h->reads = h->downloads = 0;
    h->put = h->shown = NULL;
    for (l2k_z_slice *link = h->all; link; link = link->older)
        l2k_z_append(from_link(link)->views ? &h->empty[from_link(link)->slice.level] : &h->free, link);
    for (uint32_t c = 0; c < components_of(v); c++)
        v->cuda->waiting[c].count = 0;
    return l2k_cuda_part_rewind(&h->device);
}

} // namespace

/* ---- What crosses the bus ------------------------------------------------------------------------------------ */

/* A multiple of 64, as strides are. */
extern "C" size_t l2k_cuda_view_bytes(const l2k_coefficients *view)
{
    return view->stride * view->height * l2k_coefficient_bytes(view->type);
}

extern "C" l2k_status l2k_cuda_crossing_make(const l2k_volume *v, size_t bytes, uint32_t components,
                                             l2k_cuda_crossing **x)
{
    *x = (l2k_cuda_crossing *)l2k_allocate_zeroed(&v->context, 1, sizeof **x);
    if (!*x)
        return l2k_fail(&v->context, L2K_ERROR_MEMORY, "out of memory for a slice");
    const l2k_status status = fill_crossing(v, *x, bytes, components);
    if (status != L2K_OK) {
        free_crossing(v, *x);
        return status;
    }
    (*x)->link.older = v->host->all;
    v->host->all = &(*x)->link;
    return L2K_OK;
}

extern "C" l2k_status l2k_cuda_crossing_take(const l2k_volume *v, const l2k_volume_slice *slice, l2k_cuda_crossing **x)
{
    l2k_z_queue *empty = &v->host->empty[slice->level];
    size_t bytes = 0;
    if (empty->count >= (is_inverse(v) ? L2K_CUDA_UP : 1)) {
        *x = from_link(l2k_z_take(empty));
        return L2K_OK;
    }
    for (uint32_t c = 0; c < slice->num_components; c++)
        bytes += l2k_cuda_view_bytes(&slice->views[c]);
    L2K_TRY(l2k_cuda_crossing_make(v, bytes, slice->num_components, x));
    (*x)->slice.level = slice->level;
    return L2K_OK;
}

extern "C" void l2k_cuda_crossing_place(const l2k_volume_slice *slice, l2k_cuda_crossing *x)
{
    char *base = (char *)x->link.memory;
    for (uint32_t c = 0; c < slice->num_components; c++) {
        x->views[c] = slice->views[c];
        x->views[c].base = base;
        x->views[c].on_device = false;
        base += l2k_cuda_view_bytes(&x->views[c]);
    }
    x->slice = *slice;
    x->slice.views = x->views;
}

extern "C" size_t l2k_cuda_crossing_bytes(const l2k_cuda_crossing *x)
{
    const l2k_coefficients *last = &x->views[x->slice.num_components - 1];
    return (size_t)((char *)last->base - (char *)x->link.memory) + l2k_cuda_view_bytes(last);
}

extern "C" const l2k_volume_functions l2k_volume_cuda_host = {make,
                                                              destroy,
                                                              rewind_all,
                                                              l2k_cuda_host_is_full,
                                                              l2k_cuda_host_put,
                                                              l2k_cuda_host_get_coefficients,
                                                              l2k_cuda_host_next_coefficients,
                                                              l2k_cuda_host_put_coefficients,
                                                              l2k_cuda_host_get_slice};
