/* Coefficients of volumes in host memory cross the bus a group per copy, from or to device memory of their own, so that
 * the plan can go on meanwhile. */
extern "C" {
#include "base/memory.h"
#include "transform/backend.h"
}
#include "transform/volume/cuda/cuda_volume.cuh"

static l2k_status fill(const l2k_volume *v, l2k_cuda_crossing *x, size_t bytes)
{
    L2K_TRY(check(v, cudaEventCreateWithFlags(&x->moved, cudaEventDisableTiming), "making an event"));
    L2K_TRY(check(v, cudaEventCreateWithFlags(&x->used, cudaEventDisableTiming), "making an event"));
    L2K_TRY(check(v, cudaMalloc((void **)&x->device, bytes), "allocating memory for coefficients"));
    return check(v, cudaMallocHost((void **)&x->pinned, bytes), "allocating pinned memory for coefficients");
}

static void release(const l2k_volume *v, l2k_cuda_crossing *x)
{
    if (x->moved)
        cudaEventDestroy(x->moved);
    if (x->used)
        cudaEventDestroy(x->used);
    if (x->device)
        cudaFree(x->device);
    if (x->pinned)
        cudaFreeHost(x->pinned);
    l2k_release(&v->context, x);
}

extern "C" l2k_status l2k_cuda_crossing_take(const l2k_volume *v, unsigned number, l2k_cuda_crossing **x)
{
    l2k_cuda_crossing **at = &v->cuda->idle;
    while (*at && (*at)->number != number)
        at = &(*at)->next;
    *x = *at;
    if (*x) {
        *at = (*x)->next;
        return L2K_OK;
    }
    size_t bytes;
    l2k_plan_coefficient_memory(v->stages[number].plan, &bytes);
    l2k_cuda_crossing *made = (l2k_cuda_crossing *)l2k_allocate_zeroed(&v->context, 1, sizeof *made);
    L2K_TRY(l2k_check_memory(&v->context, made, "a volume"));
    const l2k_status status = fill(v, made, bytes);
    if (status != L2K_OK) {
        release(v, made);
        return status;
    }
    made->number = number;
    made->older = v->cuda->crossings;
    v->cuda->crossings = *x = made;
    return L2K_OK;
}

extern "C" l2k_status l2k_cuda_crossing_down(const l2k_volume *v, l2k_cuda_crossing *x)
{
    const l2k_cuda_volume *d = v->cuda;
    size_t bytes;
    const void *start = l2k_plan_coefficient_memory(v->stages[x->number].plan, &bytes);
    cudaError_t error = cudaMemcpyAsync(x->device, start, bytes, cudaMemcpyDeviceToDevice, d->stream);
    L2K_TRY(check(v, error, "copying coefficients"));
    L2K_TRY(hand_over(v, x->used, d->stream, d->down));
    error = cudaMemcpyAsync(x->pinned, x->device, bytes, cudaMemcpyDeviceToHost, d->down);
    L2K_TRY(check(v, error, "downloading coefficients"));
    return check(v, cudaEventRecord(x->moved, d->down), "downloading coefficients");
}

extern "C" l2k_status l2k_cuda_crossing_up(const l2k_volume *v, l2k_cuda_crossing *x)
{
    const l2k_cuda_volume *d = v->cuda;
    size_t bytes;
    void *start = l2k_plan_coefficient_memory(v->stages[x->number].plan, &bytes);
    L2K_TRY(check(v, cudaStreamWaitEvent(d->up, x->used, 0), "ordering streams"));
    cudaError_t error = cudaMemcpyAsync(x->device, x->pinned, bytes, cudaMemcpyHostToDevice, d->up);
    L2K_TRY(check(v, error, "uploading coefficients"));
    L2K_TRY(hand_over(v, x->moved, d->up, d->stream));
    error = cudaMemcpyAsync(start, x->device, bytes, cudaMemcpyDeviceToDevice, d->stream);
    L2K_TRY(check(v, error, "copying coefficients"));
    return check(v, cudaEventRecord(x->used, d->stream), "ordering streams");
}

extern "C" void l2k_cuda_crossing_show(const l2k_volume *v, const l2k_cuda_crossing *x)
{
    size_t bytes;
    const char *start = (const char *)l2k_plan_coefficient_memory(v->stages[x->number].plan, &bytes);
    for (uint32_t c = 0; c < components_of(v); c++) {
        v->views[c].base = x->pinned + ((const char *)v->views[c].base - start);
        v->views[c].on_device = false;
    }
}

extern "C" void l2k_cuda_crossings_rewind(const l2k_volume *v)
{
    l2k_cuda_volume *d = v->cuda;
    d->idle = d->coming = d->shown = NULL;
    d->givable = 0;
    for (l2k_cuda_crossing *x = d->crossings; x; x = x->older) {
        x->next = d->idle;
        d->idle = x;
    }
}

extern "C" void l2k_cuda_crossings_release(const l2k_volume *v)
{
    l2k_cuda_volume *d = v->cuda;
    while (d->crossings) {
        l2k_cuda_crossing *x = d->crossings;
        d->crossings = x->older;
        release(v, x);
    }
}
