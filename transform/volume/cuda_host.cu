/* Slices and coefficients in host memory for a volume of the isotropic order in device memory (cuda_isotropic.cu). A
 * stream takes what goes up, another what comes down, and one computes: while a group of slices is worked on, the next
 * one goes up, and coefficients of the last one come down. What crosses the bus has memory of its own on both sides, so
 * no stream waits but for what another one has made for it. */
#include <string.h>

extern "C" {
#include "base/memory.h"
#include "transform/backend.h"
}
#include "transform/volume/cuda_part.cuh"
#include "transform/volume/cuda_volume.cuh"

namespace
{

/* Slices that are worked on together: few, so that little of a volume is on its way before the bus is in use both ways.
 */
const size_t GROUP_SAMPLES = (size_t)1 << 24, LEAST_SLICES = 4, MOST_SLICES = 16;

/* Inverse: slices of coefficients of a level that may be on their way up, and slices of samples on their way down. */
enum { UP = 4, DOWN = 2 };

/* A slice of samples (forward), of values (inverse, on the device alone) or of coefficients. */
struct crossing {
    l2k_z_slice link; /* in queues; values: as raw.device, memory: pinned, on the host */
    l2k_cuda_raw_slice raw;
    l2k_volume_slice slice; /* coefficients, with views of link.memory */
    l2k_coefficients *views;
};

crossing *from_link(l2k_z_slice *link)
{
    return (crossing *)link; /* its first member */
}

} // namespace

struct l2k_cuda_host {
    l2k_volume device; /* inverse, its samples are values, since the type of samples is known when they are got */
    cudaStream_t stream;
    l2k_z_slice *all;  /* crossings */
    l2k_z_queue free;  /* those of samples or values without content */
    l2k_z_queue taken; /* forward: that the device may not have read yet */
    unsigned last;     /* forward: samples that it read last, and may still read */
    crossing *put;     /* forward: the last one */
    /* Inverse: values that leave one by one as coefficients are put, so that slices cross the bus both ways; and those
     * that may be got. */
    l2k_z_queue leaving, finished;
    l2k_cuda_raw_slice raw[DOWN];
    unsigned got; /* inverse: slices of samples */
    /* Coefficients: those without content, by level of Z; forward, those on their way down, of which so many may be
     * given; and what the caller has in hand. */
    l2k_z_queue empty[L2K_MAX_LEVELS + 1], coming;
    unsigned givable;
    crossing *shown;
};

namespace
{

uint32_t depth_of(const l2k_volume *v)
{
    return v->spec.z1 - v->spec.z0;
}

/* From one stream to another. */
l2k_status order(const l2k_volume *v, cudaEvent_t event, cudaStream_t from, cudaStream_t to)
{
    cudaError_t error = cudaEventRecord(event, from);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(to, event, 0);
    return check(v, error, "ordering streams");
}

l2k_status follow(const l2k_volume *v, cudaStream_t stream, cudaEvent_t event)
{
    return check(v, cudaStreamWaitEvent(stream, event, 0), "ordering streams");
}

void join(l2k_z_queue *to, l2k_z_queue *from)
{
    while (from->first)
        l2k_z_append(to, l2k_z_take(from));
}

/* ---- Life ---------------------------------------------------------------------------------------------------- */

l2k_status make_events(const l2k_volume *v, l2k_cuda_raw_slice *raw)
{
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

void free_crossing(const l2k_volume *v, crossing *x)
{
    free_raw(v, &x->raw);
    if (x->link.memory)
        cudaFreeHost(x->link.memory);
    l2k_release(&v->context, x->views);
    l2k_release(&v->context, x);
}

/* Device memory, and pinned memory if there are to be coefficients of that many components. */
l2k_status fill_crossing(const l2k_volume *v, crossing *x, size_t bytes, uint32_t components)
{
    L2K_TRY(make_events(v, &x->raw));
    L2K_TRY(check(v, cudaMalloc((void **)&x->raw.device, bytes + 1), "allocating memory for a slice"));
    x->link.values = (uint32_t *)x->raw.device;
    if (components == 0)
        return L2K_OK;
    L2K_TRY(check(v, cudaMallocHost(&x->link.memory, bytes + 1), "allocating pinned memory for coefficients"));
    x->views = (l2k_coefficients *)l2k_allocate_zeroed(&v->context, components, sizeof *x->views);
    return x->views ? L2K_OK : l2k_fail(&v->context, L2K_ERROR_MEMORY, "out of memory for a slice");
}

l2k_status new_crossing(const l2k_volume *v, size_t bytes, uint32_t components, crossing **x)
{
    *x = (crossing *)l2k_allocate_zeroed(&v->context, 1, sizeof **x);
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

l2k_status make(l2k_volume *v)
{
    l2k_cuda_host *h = (l2k_cuda_host *)l2k_allocate_zeroed(&v->context, 1, sizeof *h);
    v->host = h;
    if (!h)
        return l2k_fail(&v->context, L2K_ERROR_MEMORY, "out of memory for a volume");
    L2K_TRY(make_samples(v));
    L2K_TRY(make_streams(v));
    for (int i = 0; i < DOWN && is_inverse(v); i++) {
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
        crossing *x = from_link(h->all);
        h->all = x->link.older;
        free_crossing(v, x);
    }
    for (l2k_cuda_raw_slice &raw : h->raw)
        free_raw(v, &raw);
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
    h->last = h->got = h->givable = 0;
    h->put = h->shown = NULL;
    for (l2k_z_slice *link = h->all; link; link = link->older)
        l2k_z_append(from_link(link)->views ? &h->empty[from_link(link)->slice.level] : &h->free, link);
    for (uint32_t c = 0; c < components_of(v); c++)
        v->cuda->waiting[c].count = 0;
    return l2k_cuda_part_rewind(&h->device);
}

/* ---- Coefficients -------------------------------------------------------------------------------------------- */

/* A component of a slice has the memory of its view. */
size_t view_bytes(const l2k_coefficients *view)
{
    return (view->stride * view->height * l2k_coefficient_bytes(view->type) + 255) / 256 * 256;
}

/* Memory for coefficients like `slice`. Inverse, not that of the last ones, which may still be read. */
l2k_status take_coefficients(const l2k_volume *v, const l2k_volume_slice *slice, crossing **x)
{
    l2k_z_queue *empty = &v->host->empty[slice->level];
    size_t bytes = 0;
    if (empty->count >= (is_inverse(v) ? UP : 1)) {
        *x = from_link(l2k_z_take(empty));
        return L2K_OK;
    }
    for (uint32_t c = 0; c < slice->num_components; c++)
        bytes += view_bytes(&slice->views[c]);
    L2K_TRY(new_crossing(v, bytes, slice->num_components, x));
    (*x)->slice.level = slice->level;
    return L2K_OK;
}

/* The place of a slice on the device in host memory. */
void place_coefficients(const l2k_volume_slice *slice, crossing *x)
{
    char *base = (char *)x->link.memory;
    for (uint32_t c = 0; c < slice->num_components; c++) {
        x->views[c] = slice->views[c];
        x->views[c].base = base;
        x->views[c].on_device = false;
        base += view_bytes(&x->views[c]);
    }
    x->slice = *slice;
    x->slice.views = x->views;
}

/* Between the memory of a plan, which belongs to other slices soon, and the slice's own. */
l2k_status copy_coefficients(const l2k_volume *v, const crossing *x, const l2k_coefficients *views)
{
    for (uint32_t c = 0; c < x->slice.num_components; c++) {
        const l2k_coefficients *view = &views[c];
        const size_t bytes = view->stride * view->height * l2k_coefficient_bytes(view->type);
        char *own = x->raw.device + ((char *)x->views[c].base - (char *)x->link.memory);
        if (bytes)
            L2K_TRY(check(v,
                          cudaMemcpyAsync(is_inverse(v) ? view->base : own, is_inverse(v) ? own : view->base, bytes,
                                          cudaMemcpyDeviceToDevice, v->host->stream),
                          "copying coefficients"));
    }
    return L2K_OK;
}

size_t bytes_of(const crossing *x)
{
    const l2k_coefficients *last = &x->views[x->slice.num_components - 1];
    return (size_t)((char *)last->base - (char *)x->link.memory) + view_bytes(last);
}

/* ---- Forward ------------------------------------------------------------------------------------------------- */

/* Memory that the group under way does not use, so that nothing that goes up waits for it. */
l2k_status take_samples(const l2k_volume *v, crossing **x)
{
    l2k_cuda_host *h = v->host;
    if (h->free.count <= h->last)
        return new_crossing(v, v->cuda->raw_bytes, 0, x);
    *x = from_link(l2k_z_take(&h->free));
    return L2K_OK;
}

l2k_status upload(l2k_volume *v, crossing *x, const l2k_plane *planes)
{
    L2K_TRY(follow(v, v->cuda->up, x->raw.used));
    if (x->raw.gathered) /* the host is about to write there */
        L2K_TRY(check(v, cudaEventSynchronize(x->raw.moved), "uploading a slice"));
    L2K_TRY(l2k_cuda_samples_upload(v, &x->raw, planes));
    return order(v, x->raw.moved, v->cuda->up, v->host->stream);
}

/* Returns when the slice before has been uploaded: its planes are the caller's again, even if they are pinned. */
l2k_status put(l2k_volume *v, const l2k_plane *planes)
{
    l2k_cuda_host *h = v->host;
    crossing *x;
    L2K_TRY(take_samples(v, &x));
    L2K_TRY(upload(v, x, planes));
    l2k_z_append(&h->taken, &x->link);
    L2K_TRY(h->device.functions->put(&h->device, v->cuda->raw_planes));
    if (h->put)
        L2K_TRY(check(v, cudaEventSynchronize(h->put->raw.moved), "uploading a slice"));
    h->put = x;
    return v->come + 1 == depth_of(v) ? check(v, cudaEventSynchronize(x->raw.moved), "uploading a slice") : L2K_OK;
}

/* Coefficients show that the device has read all samples that were put, or will have in the order of its stream. */
l2k_status release_taken(const l2k_volume *v)
{
    l2k_cuda_host *h = v->host;
    if (h->taken.first)
        h->last = h->taken.count;
    for (; h->taken.first; l2k_z_append(&h->free, l2k_z_take(&h->taken)))
        L2K_TRY(check(v, cudaEventRecord(from_link(h->taken.first)->raw.used, h->stream), "ordering streams"));
    return L2K_OK;
}

l2k_status download(const l2k_volume *v, const l2k_volume_slice *slice)
{
    l2k_cuda_host *h = v->host;
    crossing *x;
    L2K_TRY(take_coefficients(v, slice, &x));
    place_coefficients(slice, x);
    L2K_TRY(copy_coefficients(v, x, slice->views));
    L2K_TRY(order(v, x->raw.used, h->stream, v->cuda->down));
    cudaError_t error =
        cudaMemcpyAsync(x->link.memory, x->raw.device, bytes_of(x), cudaMemcpyDeviceToHost, v->cuda->down);
    if (error == cudaSuccess)
        error = cudaEventRecord(x->raw.moved, v->cuda->down);
    l2k_z_append(&h->coming, &x->link);
    return check(v, error, "downloading coefficients");
}

/* All that the device has. */
l2k_status download_all(l2k_volume *v)
{
    l2k_cuda_host *h = v->host;
    for (;;) {
        l2k_volume_slice slice = {};
        L2K_TRY(h->device.functions->get_coefficients(&h->device, &slice));
        if (!slice.views)
            return L2K_OK;
        L2K_TRY(release_taken(v));
        L2K_TRY(download(v, &slice));
    }
}

bool device_is_full(const l2k_volume *v)
{
    return v->host->device.functions->is_full(&v->host->device);
}

bool is_full(const l2k_volume *v)
{
    const l2k_cuda_host *h = v->host;
    return h->givable > 0 || device_is_full(v) || (v->come == depth_of(v) && h->coming.first);
}

/* Coefficients are given when the next ones are on their way, or there are none. */
l2k_status get_coefficients(l2k_volume *v, l2k_volume_slice *slice)
{
    l2k_cuda_host *h = v->host;
    if (h->shown)
        l2k_z_append(&h->empty[h->shown->slice.level], &h->shown->link);
    h->shown = NULL;
    if (h->givable == 0 && device_is_full(v)) {
        h->givable = h->coming.count;
        L2K_TRY(download_all(v));
    }
    if (h->givable == 0 && v->come == depth_of(v))
        h->givable = h->coming.count;
    if (h->givable == 0)
        return L2K_OK;
    h->givable--;
    h->shown = from_link(l2k_z_take(&h->coming));
    L2K_TRY(check(v, cudaEventSynchronize(h->shown->raw.moved), "downloading coefficients"));
    *slice = h->shown->slice;
    return L2K_OK;
}

/* ---- Inverse ------------------------------------------------------------------------------------------------- */

l2k_status next_coefficients(l2k_volume *v, l2k_volume_slice *slice)
{
    l2k_cuda_host *h = v->host;
    l2k_volume_slice wanted = {};
    if (h->finished.first)
        return L2K_OK;
    L2K_TRY(h->device.functions->next_coefficients(&h->device, &wanted));
    if (!wanted.views)
        return L2K_OK;
    if (!h->shown)
        L2K_TRY(take_coefficients(v, &wanted, &h->shown));
    place_coefficients(&wanted, h->shown);
    L2K_TRY(check(v, cudaEventSynchronize(h->shown->raw.moved), "uploading coefficients"));
    *slice = h->shown->slice;
    return L2K_OK;
}

/* To where the device wants them. */
l2k_status send(const l2k_volume *v, crossing *x)
{
    L2K_TRY(follow(v, v->cuda->up, x->raw.used));
    L2K_TRY(check(v, cudaMemcpyAsync(x->raw.device, x->link.memory, bytes_of(x), cudaMemcpyHostToDevice, v->cuda->up),
                  "uploading coefficients"));
    L2K_TRY(order(v, x->raw.moved, v->cuda->up, v->host->stream));
    L2K_TRY(copy_coefficients(v, x, v->host->device.views));
    return check(v, cudaEventRecord(x->raw.used, v->host->stream), "ordering streams");
}

/* The values of one more slice, if there is one. */
l2k_status take_values(l2k_volume *v, l2k_z_queue *made, bool *got)
{
    l2k_cuda_host *h = v->host;
    crossing *x;
    if (h->free.first)
        x = from_link(l2k_z_take(&h->free));
    else
        L2K_TRY(new_crossing(v, l2k_cuda_part_slice_bytes(&h->device), 0, &x));
    l2k_cuda_part_planes(&h->device, &x->link, v->cuda->planes);
    l2k_status status = follow(v, h->stream, x->raw.used);
    if (status == L2K_OK)
        status = h->device.functions->get_slice(&h->device, v->cuda->planes, got);
    l2k_z_append(status == L2K_OK && *got ? made : &h->free, &x->link);
    return status;
}

/* All values that the device has; they are there when there are no more. */
l2k_status take_all_values(l2k_volume *v)
{
    l2k_cuda_host *h = v->host;
    l2k_z_queue made = {};
    for (bool got = true; got;)
        L2K_TRY(take_values(v, &made, &got));
    for (l2k_z_slice *link = made.first; link; link = link->next)
        L2K_TRY(check(v, cudaEventRecord(from_link(link)->raw.moved, h->stream), "ordering streams"));
    if (made.first)
        join(&h->finished, &h->leaving);
    join(&h->leaving, &made);
    return L2K_OK;
}

l2k_status put_coefficients(l2k_volume *v)
{
    l2k_cuda_host *h = v->host;
    crossing *x = h->shown;
    h->shown = NULL;
    l2k_z_append(&h->empty[x->slice.level], &x->link);
    L2K_TRY(send(v, x));
    L2K_TRY(h->device.functions->put_coefficients(&h->device));
    L2K_TRY(take_all_values(v));
    if (h->leaving.first)
        l2k_z_append(&h->finished, l2k_z_take(&h->leaving));
    l2k_volume_slice wanted = {};
    L2K_TRY(h->device.functions->next_coefficients(&h->device, &wanted));
    if (!wanted.views)
        join(&h->finished, &h->leaving);
    return L2K_OK;
}

bool is_pinned(const l2k_plane *plane)
{
    cudaPointerAttributes attributes;
    if (cudaPointerGetAttributes(&attributes, plane->data) == cudaSuccess)
        return attributes.type != cudaMemoryTypeUnregistered;
    cudaGetLastError();
    return false;
}

/* Values to samples, and down, each in a stream of its own. */
l2k_status send_back(l2k_volume *v, const crossing *x, l2k_cuda_raw_slice *raw, const l2k_plane *planes)
{
    l2k_cuda_volume *d = v->cuda;
    L2K_TRY(follow(v, d->stream, x->raw.moved));
    l2k_cuda_samples_place(v, raw, planes);
    L2K_TRY(l2k_cuda_samples_add(v, &x->link, d->raw_planes, d->stream));
    L2K_TRY(l2k_cuda_samples_move(v, d->stream));
    L2K_TRY(check(v, cudaEventRecord(x->raw.used, d->stream), "ordering streams"));
    L2K_TRY(order(v, raw->used, d->stream, d->down));
    L2K_TRY(l2k_cuda_samples_download(v, raw, planes));
    return check(v, cudaEventRecord(raw->moved, d->down), "downloading a slice");
}

/* Pinned planes are filled while the caller goes on, until he gets the next slice. */
l2k_status get_slice(l2k_volume *v, const l2k_plane *planes, bool *got)
{
    l2k_cuda_host *h = v->host;
    l2k_z_slice *link = l2k_z_take(&h->finished);
    l2k_cuda_raw_slice *raw = &h->raw[h->got % DOWN], *last = &h->raw[(h->got + DOWN - 1) % DOWN];
    if (!link)
        return L2K_OK;
    l2k_z_append(&h->free, link);
    L2K_TRY(send_back(v, from_link(link), raw, planes));
    if (h->got++ > 0)
        L2K_TRY(check(v, cudaEventSynchronize(last->moved), "downloading a slice"));
    if (h->got == depth_of(v) || !is_pinned(planes))
        L2K_TRY(check(v, cudaEventSynchronize(raw->moved), "downloading a slice"));
    *got = true;
    return L2K_OK;
}

} // namespace

extern "C" const l2k_volume_functions l2k_volume_cuda_host = {
    make, destroy, rewind_all, is_full, put, get_coefficients, next_coefficients, put_coefficients, get_slice};
