/* Devices: their list, the current one of a thread, the functions of plans on devices, and planes in device memory. In
 * a build without devices every function exists and fails, or finds none. A stream is the backend's own (a
 * cudaStream_t). */
#ifndef L2K_TRANSFORM_DEVICE_H
#define L2K_TRANSFORM_DEVICE_H

#include "transform/plan.h"

/* ---- Devices ------------------------------------------------------------------------------------------------- */

/* The device that is current for the calling thread; -1: none. */
int l2k_current_device(void);

/* enter makes the context's device, or the first of several, current for the calling thread, if it exists, and returns
 * the device to restore by leave. Call them as a pair around each call of the library that may reach a device, and
 * around the work of other threads for the object. */
int l2k_device_enter(const l2k_context *context);
void l2k_device_leave(int before);

/* The same, and returns `status`. */
static inline l2k_status l2k_device_left(int before, l2k_status status)
{
    l2k_device_leave(before);
    return status;
}

/* Whether the context's device can be used by that backend, or else CUDA's current one or OpenCL's first; `text` names
 * it, or says why not. */
bool l2k_device_usable(const l2k_context *context, l2k_backend backend, char *text, size_t bytes);

/* The ordinal of that backend's first device: CUDA's come first, OpenCL's follow. */
uint32_t l2k_device_base(l2k_backend backend);

/* ---- Plans on a device --------------------------------------------------------------------------------------- */

/* Whether planes and coefficients are in device memory. Runs are those of l2k_plan_run_on_device, or of begin and
 * finish in the plan's own stream. */
static inline bool l2k_plan_on_device(const l2k_plan_spec *spec)
{
    return spec->memory >= L2K_PLAN_DEVICE;
}

/* The plan works with another context from now on: the same pool, perhaps other hooks for messages. */
void l2k_plan_use(l2k_plan *plan, const l2k_context *context);

/* The stream in which begin works; NULL on the CPU. Work enqueued there between begin and finish finds the coefficients
 * of a forward plan, and work enqueued before begin can make those of an inverse one. */
void *l2k_plan_stream(const l2k_plan *plan);

/* Work enqueued in the plan's stream from now on waits for the present work in `stream`. */
l2k_status l2k_plan_follow(l2k_plan *plan, void *stream);

/* For plans in device memory: enqueues the transform of the plan's direction on a stream and returns at once;
 * planes[c].data are device pointers. The results are ready when the stream has done this work. */
l2k_status l2k_plan_run_on_device(l2k_plan *plan, const l2k_plane *planes, void *stream);

/* The memory of all components' coefficients, in one piece; free for other work once they have been used. */
void *l2k_plan_coefficient_memory(const l2k_plan *plan, size_t *bytes);

/* The memory of a forward plan in device memory besides coefficients; free for other work after a run in its stream and
 * before the next. NULL for other plans. Aligned to 256 bytes. */
void *l2k_plan_idle_memory(const l2k_plan *plan, size_t *bytes);

/* Device memory that a plan for `spec` takes on CUDA, in bytes: one block. At most 2.5 times the bytes of samples and
 * coefficients together, for sides of 64 and more. Plans for host memory take pinned memory, too: less than
 * that, and forward plans that keep their coefficients there hardly more than 12 MiB for each transform. */
uint64_t l2k_plan_device_bytes(const l2k_plan_spec *spec);

/* ---- Planes in device memory, of CUDA: OpenCL's memory and queues belong to a plan ------------------------------ */

/* Device memory that is reallocated only to grow. Zero-initialise before the first use. */
typedef struct l2k_device_memory {
    void *at;
    size_t bytes;
} l2k_device_memory;

/* Loses the content. Errors: L2K_ERROR_MEMORY, L2K_ERROR_BACKEND. */
l2k_status l2k_device_reserve(const l2k_context *context, l2k_device_memory *memory, size_t bytes);
void l2k_device_release(l2k_device_memory *memory);

/* All enqueue work in `stream`; `from` and `to` have samples of one type. The host memory of upload may change once it
 * has returned. */
l2k_status l2k_device_fill(const l2k_context *context, const l2k_plane *to, uint32_t width, uint32_t height,
                           int32_t value, void *stream);
l2k_status l2k_device_copy(const l2k_context *context, const l2k_plane *to, const l2k_plane *from, uint32_t width,
                           uint32_t height, void *stream);
l2k_status l2k_device_upload(const l2k_context *context, void *to, const void *host, size_t bytes, void *stream);

/* Waits for the work in `stream`, and for the copy, which may go to any host memory. */
l2k_status l2k_device_download(const l2k_context *context, void *host, const void *device, size_t bytes, void *stream);

/* Waits until everything in the stream is done. */
l2k_status l2k_device_wait(const l2k_context *context, void *stream);

/* Bytes from the lowest address of a plane's samples to the end of the highest; 0 without samples. */
size_t l2k_plane_extent(const l2k_plane *plane, uint32_t width, uint32_t height);

/* Copies that extent to `host` and points the plane to the copy, with the same strides. Waits for the work in `stream`,
 * and for the copy. */
l2k_status l2k_plane_fetch(const l2k_context *context, l2k_plane *plane, uint32_t width, uint32_t height, void *stream,
                           void *host);

#endif
