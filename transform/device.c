/* The library's interface to devices: the tables of this build's backends, and what stands in for CUDA's functions. */
#include "transform/device.h"

#include <stdio.h>

#include "base/sample.h"
#include "transform/backend.h"

/* ---- Devices ------------------------------------------------------------------------------------------------- */

const l2k_backend_functions *l2k_backend_functions_of(l2k_backend backend)
{
#ifdef L2K_WITH_CUDA
    if (backend == L2K_BACKEND_CUDA)
        return &l2k_backend_cuda;
#endif
#ifdef L2K_WITH_OPENCL
    if (backend == L2K_BACKEND_OPENCL)
        return &l2k_backend_opencl;
#endif
    return backend == L2K_BACKEND_CPU ? &l2k_backend_cpu : NULL;
}

const char *l2k_backend_name(l2k_backend backend)
{
    static const char *const names[] = {"AUTO", "CPU", "CUDA", "OpenCL"};
    return names[backend];
}

static bool is_usable(l2k_backend backend, int device, char *text, size_t bytes)
{
    const l2k_backend_functions *functions = l2k_backend_functions_of(backend);
    if (functions)
        return functions->device->usable(device, text, bytes);
    snprintf(text, bytes, L2K_NO_BACKEND, l2k_backend_name(backend));
    return false;
}

bool l2k_backend_usable(l2k_backend backend, char *text, size_t bytes)
{
    if (backend == L2K_BACKEND_CUDA || backend == L2K_BACKEND_OPENCL)
        return is_usable(backend, -1, text, bytes);
    snprintf(text, bytes, "always there");
    return true;
}

bool l2k_device_usable(const l2k_context *context, l2k_backend backend, char *text, size_t bytes)
{
    return is_usable(backend, l2k_device_of_share(context, 0), text, bytes);
}

uint32_t l2k_device_base(l2k_backend backend)
{
    const l2k_backend_functions *before = l2k_backend_functions_of(L2K_BACKEND_CUDA);
    return backend == L2K_BACKEND_OPENCL && before ? before->device->count() : 0;
}

bool l2k_device(uint32_t device, l2k_device_info *info)
{
    for (l2k_backend backend = L2K_BACKEND_CUDA; backend <= L2K_BACKEND_OPENCL; backend++) {
        const l2k_backend_functions *functions = l2k_backend_functions_of(backend);
        const uint32_t count = functions ? functions->device->count() : 0;
        if (device < count) {
            const bool is_described = functions->device->describe(device, info);
            info->backend = backend;
            return is_described;
        }
        device -= count;
    }
    *info = (l2k_device_info){.reason = "no such device"};
    return false;
}

int l2k_device_enter(const l2k_context *context)
{
    const int device = l2k_device_of_share(context, 0);
    const int before = device < 0 ? -1 : l2k_current_device();
    if (before < 0 || before == device)
        return -1;
    l2k_device_leave(device);
    return before;
}

void *l2k_opencl_context(int32_t device)
{
    const l2k_backend_functions *functions = l2k_backend_functions_of(L2K_BACKEND_OPENCL);
    return functions ? functions->device->context(device) : NULL;
}

/* ---- Plans on a device --------------------------------------------------------------------------------------- */

void l2k_plan_use(l2k_plan *plan, const l2k_context *context)
{
    plan->context = context;
}

void *l2k_plan_stream(const l2k_plan *plan)
{
    return plan->stream;
}

l2k_status l2k_plan_follow(l2k_plan *plan, void *stream)
{
    return plan->backend->follow ? plan->backend->follow(plan, stream) : L2K_OK;
}

void *l2k_plan_coefficient_memory(const l2k_plan *plan, size_t *bytes)
{
    const l2k_coefficients *last = &plan->views[plan->spec.num_components - 1];
    char *start = plan->views[0].base;
    *bytes = (size_t)((char *)last->base - start) + last->stride * last->height * l2k_coefficient_bytes(last->type);
    return start;
}

void *l2k_plan_idle_memory(const l2k_plan *plan, size_t *bytes)
{
    *bytes = plan->idle_bytes;
    return plan->idle;
}

/* ---- Planes in device memory --------------------------------------------------------------------------------- */

/* Bytes from the first to the last of `count` samples or rows; before the first if the stride is negative. */
static size_t reach(ptrdiff_t stride, uint32_t count)
{
    return (size_t)(stride < 0 ? -stride : stride) * (count - 1);
}

size_t l2k_plane_extent(const l2k_plane *plane, uint32_t width, uint32_t height)
{
    if (width == 0 || height == 0)
        return 0;
    return reach(plane->sample_stride, width) + reach(plane->row_stride, height) + l2k_sample_bytes(plane->type);
}

l2k_status l2k_plane_fetch(const l2k_context *context, l2k_plane *plane, uint32_t width, uint32_t height, void *stream,
                           void *host)
{
    const size_t before = (plane->sample_stride < 0 ? reach(plane->sample_stride, width) : 0) +
                          (plane->row_stride < 0 ? reach(plane->row_stride, height) : 0);
    L2K_TRY(l2k_device_download(context, host, (const char *)plane->data - before,
                                l2k_plane_extent(plane, width, height), stream));
    plane->data = (char *)host + before;
    return L2K_OK;
}

#ifndef L2K_WITH_CUDA /* else in transform/cuda/ */
int l2k_current_device(void)
{
    return -1;
}

void l2k_device_leave(int before)
{
    (void)before;
}

static l2k_status no_device(const l2k_context *context, ...)
{
    return l2k_fail(context, L2K_ERROR_BACKEND, L2K_NO_BACKEND, l2k_backend_name(L2K_BACKEND_CUDA));
}

l2k_status l2k_device_reserve(const l2k_context *context, l2k_device_memory *memory, size_t bytes)
{
    return no_device(context, memory, bytes);
}

void l2k_device_release(l2k_device_memory *memory)
{
    (void)memory;
}

l2k_status l2k_device_fill(const l2k_context *context, const l2k_plane *to, uint32_t width, uint32_t height,
                           int32_t value, void *stream)
{
    return no_device(context, to, width, height, value, stream);
}

l2k_status l2k_device_copy(const l2k_context *context, const l2k_plane *to, const l2k_plane *from, uint32_t width,
                           uint32_t height, void *stream)
{
    return no_device(context, to, from, width, height, stream);
}

l2k_status l2k_device_upload(const l2k_context *context, void *to, const void *host, size_t bytes, void *stream)
{
    return no_device(context, to, host, bytes, stream);
}

l2k_status l2k_device_download(const l2k_context *context, void *host, const void *device, size_t bytes, void *stream)
{
    return no_device(context, host, device, bytes, stream);
}

l2k_status l2k_device_wait(const l2k_context *context, void *stream)
{
    return no_device(context, stream);
}
#endif
