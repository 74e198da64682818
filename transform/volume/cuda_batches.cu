/* Slices of samples that cross the bus together: pinned, one behind the other in host memory. A copy takes some two
 * microseconds besides its bytes, which is a fifth of the time of a slice of 512 KiB, so some are put into one. */
#include <string.h>

extern "C" {
#include "base/memory.h"
}
#include "transform/volume/cuda_volume.cuh"

namespace
{

l2k_status make_batch(const l2k_volume *v, l2k_cuda_batch **batch)
{
    l2k_cuda_volume *d = v->cuda;
    l2k_cuda_batch *made = (l2k_cuda_batch *)l2k_allocate_zeroed(&v->context, 1, sizeof *made);
    if (!made)
        return l2k_fail(&v->context, L2K_ERROR_MEMORY, "out of memory for slices");
    made->older = d->batches;
    d->batches = *batch = made;
    L2K_TRY(check(v, cudaMalloc((void **)&made->device, d->in_batch * d->slice_bytes), "allocating memory for slices"));
    return check(v, cudaEventCreateWithFlags(&made->moved, cudaEventDisableTiming), "making an event");
}

/* Forward, what the groups before the last have read is free behind them; inverse, what has gone, behind `crossed`. */
bool is_free(const l2k_volume *v, const l2k_cuda_batch *batch)
{
    const l2k_cuda_volume *d = v->cuda;
    return batch != d->open && batch != d->sent &&
           (is_inverse(v) ? batch->users == 0 : batch->group + 2 <= d->begun || batch->group == UINT32_MAX);
}

l2k_status open_batch(const l2k_volume *v)
{
    l2k_cuda_volume *d = v->cuda;
    l2k_cuda_batch *batch = d->batches;
    while (batch && !is_free(v, batch))
        batch = batch->older;
    if (!batch)
        L2K_TRY(make_batch(v, &batch));
    d->open = batch;
    d->taken = 0;
    return L2K_OK;
}

/* One more slice for the copy. */
l2k_status add(const l2k_volume *v, char *host, char *device)
{
    l2k_cuda_volume *d = v->cuda;
    if (d->pending == 0) {
        d->pending_host = host;
        d->pending_device = device;
    }
    return ++d->pending == d->in_batch ? l2k_cuda_batch_send(v) : L2K_OK;
}

bool goes_on(const l2k_cuda_volume *d, const char *host, const char *device)
{
    const size_t bytes = d->pending * d->slice_bytes;
    return host == d->pending_host + bytes && (!device || device == d->pending_device + bytes);
}

} // namespace

bool l2k_cuda_may_batch(const l2k_volume *v, const l2k_plane *planes)
{
    return v->cuda->in_batch > 1 && l2k_cuda_samples_cross_as_values(v, planes) &&
           l2k_cuda_samples_are_packed(v, planes) && is_pinned(planes);
}

l2k_status l2k_cuda_batch_up(const l2k_volume *v, l2k_z_slice *slice, const l2k_plane *planes)
{
    l2k_cuda_volume *d = v->cuda;
    char *const host = (char *)planes[0].data;
    if (d->pending > 0 && !goes_on(d, host, NULL))
        L2K_TRY(l2k_cuda_batch_send(v));
    if (d->pending == 0)
        L2K_TRY(open_batch(v));
    slice->samples = d->open->device + d->pending * d->slice_bytes;
    return add(v, host, slice->samples);
}

l2k_status l2k_cuda_batch_places(const l2k_volume *v, const l2k_z_queue *leaving)
{
    l2k_cuda_volume *d = v->cuda;
    l2k_cuda_batch *batch = NULL, *const before = d->open;
    for (l2k_z_slice *slice = leaving->first; slice; slice = slice->next) {
        if (!batch || d->taken == d->in_batch) {
            L2K_TRY(open_batch(v));
            batch = d->open;
        }
        slice->batch = batch;
        slice->samples = slice->in_batch = batch->device + d->taken++ * d->slice_bytes;
        batch->users++;
    }
    d->open = before;
    return L2K_OK;
}

l2k_status l2k_cuda_batch_down(const l2k_volume *v, l2k_z_slice *slice, const l2k_plane *planes)
{
    l2k_cuda_volume *d = v->cuda;
    const bool batched = l2k_cuda_may_batch(v, planes);
    char *const host = (char *)planes[0].data;
    if (d->pending > 0 && (!batched || slice->batch != d->open || !goes_on(d, host, slice->in_batch)))
        L2K_TRY(l2k_cuda_batch_send(v));
    if (!batched) {
        slice->batch->users--;
        return l2k_cuda_samples_copy_values(v, slice->in_batch, planes);
    }
    d->open = slice->batch;
    return add(v, host, slice->in_batch);
}

l2k_status l2k_cuda_batch_leave(const l2k_volume *v, l2k_z_slice *slice)
{
    const cudaError_t error =
        cudaMemcpyAsync(slice->values, slice->in_batch, v->cuda->slice_bytes, cudaMemcpyDeviceToDevice, v->cuda->down);
    slice->batch->users--;
    slice->batch = NULL;
    return check(v, error, "moving a slice");
}

l2k_status l2k_cuda_batch_send(const l2k_volume *v)
{
    l2k_cuda_volume *d = v->cuda;
    l2k_cuda_batch *const batch = d->open, *const before = d->sent;
    const bool inverse = is_inverse(v);
    const size_t bytes = d->pending * d->slice_bytes;
    if (d->pending == 0)
        return L2K_OK;
    batch->users -= inverse ? d->pending : 0;
    batch->group = d->begun + d->is_lifted;
    d->pending = 0;
    d->open = NULL;
    if (!inverse && d->begun >= 2)
        L2K_TRY(check(v, cudaStreamWaitEvent(d->up, slot_number(d, d->begun - 2)->used, 0), "ordering streams"));
    const cudaError_t error =
        inverse ? cudaMemcpyAsync(d->pending_host, d->pending_device, bytes, cudaMemcpyDeviceToHost, d->down)
                : cudaMemcpyAsync(d->pending_device, d->pending_host, bytes, cudaMemcpyHostToDevice, d->up);
    L2K_TRY(check(v, error, inverse ? "downloading slices" : "uploading slices"));
    L2K_TRY(check(v, cudaEventRecord(batch->moved, inverse ? d->down : d->up), "moving slices"));
    d->sent = batch;
    return before && before != batch ? check(v, cudaEventSynchronize(before->moved), "moving slices") : L2K_OK;
}

l2k_status l2k_cuda_batch_finish(const l2k_volume *v)
{
    l2k_cuda_volume *d = v->cuda;
    L2K_TRY(l2k_cuda_batch_send(v));
    return d->sent ? check(v, cudaEventSynchronize(d->sent->moved), "moving slices") : L2K_OK;
}

void l2k_cuda_batches_rewind(const l2k_volume *v)
{
    l2k_cuda_volume *d = v->cuda;
    d->open = d->sent = NULL;
    d->pending = 0;
    for (l2k_cuda_batch *batch = d->batches; batch; batch = batch->older) {
        batch->group = UINT32_MAX; /* read by none */
        batch->users = 0;
    }
}

void l2k_cuda_batches_release(const l2k_volume *v)
{
    l2k_cuda_volume *d = v->cuda;
    while (d->batches) {
        l2k_cuda_batch *batch = d->batches;
        d->batches = batch->older;
        if (batch->device)
            cudaFree(batch->device);
        if (batch->moved)
            cudaEventDestroy(batch->moved);
        l2k_release(&v->context, batch);
    }
}
