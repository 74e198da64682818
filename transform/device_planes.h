/* Planes in device memory, as far as no transform writes them: samples that become one value, or come from elsewhere.
 * Without CUDA in the build everything here fails, and nobody gets here: there are no such planes. */
#ifndef L2K_TRANSFORM_DEVICE_PLANES_H
#define L2K_TRANSFORM_DEVICE_PLANES_H

#include "base/context.h"

/* Device memory that is taken anew only if more is needed. Zero-initialise before the first use. */
typedef struct l2k_device_memory {
    void *at;
    size_t bytes;
} l2k_device_memory;

#ifdef L2K_WITH_CUDA

/* What was there is lost. Errors: L2K_ERROR_MEMORY, L2K_ERROR_BACKEND. */
l2k_status l2k_device_reserve(const l2k_context *context, l2k_device_memory *memory, size_t bytes);
void l2k_device_release(l2k_device_memory *memory);

/* These are enqueued in `stream`, a cudaStream_t; `from` and `to` have samples of one type. Of upload, host memory may
 * change again once it has returned. */
l2k_status l2k_device_fill(const l2k_context *context, const l2k_plane *to, uint32_t width, uint32_t height,
                           int32_t value, void *stream);
l2k_status l2k_device_copy(const l2k_context *context, const l2k_plane *to, const l2k_plane *from, uint32_t width,
                           uint32_t height, void *stream);
l2k_status l2k_device_upload(const l2k_context *context, void *to, const void *host, size_t bytes, void *stream);

/* Waits until everything in the stream is done. */
l2k_status l2k_device_wait(const l2k_context *context, void *stream);

#else

static inline l2k_status l2k_no_device(const l2k_context *context)
{
    return l2k_fail(context, L2K_ERROR_BACKEND, "this build has no CUDA backend");
}

static inline l2k_status l2k_device_reserve(const l2k_context *context, l2k_device_memory *memory, size_t bytes)
{
    (void)memory, (void)bytes;
    return l2k_no_device(context);
}

static inline void l2k_device_release(l2k_device_memory *memory)
{
    (void)memory;
}

static inline l2k_status l2k_device_fill(const l2k_context *context, const l2k_plane *to, uint32_t width,
                                         uint32_t height, int32_t value, void *stream)
{
    (void)to, (void)width, (void)height, (void)value, (void)stream;
    return l2k_no_device(context);
}

static inline l2k_status l2k_device_copy(const l2k_context *context, const l2k_plane *to, const l2k_plane *from,
                                         uint32_t width, uint32_t height, void *stream)
{
    (void)to, (void)from, (void)width, (void)height, (void)stream;
    return l2k_no_device(context);
}

static inline l2k_status l2k_device_upload(const l2k_context *context, void *to, const void *host, size_t bytes,
                                           void *stream)
{
    (void)to, (void)host, (void)bytes, (void)stream;
    return l2k_no_device(context);
}

static inline l2k_status l2k_device_wait(const l2k_context *context, void *stream)
{
    (void)stream;
    return l2k_no_device(context);
}

#endif

#endif
