/* Host memory that a device copies from and to by itself: a buffer in host memory, mapped for all its life. */
#ifndef L2K_CODEC_ENGINE_OPENCL_CL_PINNED_H
#define L2K_CODEC_ENGINE_OPENCL_CL_PINNED_H

#include "transform/opencl/cl_runtime.h"

/* Zero-initialise before the first use. */
typedef struct l2k_cl_pinned {
    uint8_t *at;
    size_t bytes;
    cl_mem buffer;
} l2k_cl_pinned;

/* Reallocates only to grow; the content is lost, and must not be in use. Errors: L2K_ERROR_MEMORY,
 * L2K_ERROR_BACKEND. */
l2k_status l2k_cl_pin(const l2k_context *context, const l2k_cl_device *device, cl_command_queue queue,
                      l2k_cl_pinned *memory, size_t bytes);
void l2k_cl_unpin(cl_command_queue queue, l2k_cl_pinned *memory);

/* Memory in chunks; pieces stay valid until `used` and `chunk` are reset to 0. */
enum { L2K_CL_CHUNKS = 64 };

typedef struct l2k_cl_chunks {
    l2k_cl_pinned chunks[L2K_CL_CHUNKS];
    unsigned chunk; /* the one with free space */
    size_t used;    /* of it */
} l2k_cl_chunks;

/* `bytes` bytes, aligned to 64 bytes. */
l2k_status l2k_cl_reserve_pinned(const l2k_context *context, const l2k_cl_device *device, cl_command_queue queue,
                                 l2k_cl_chunks *chunks, size_t bytes, uint8_t **at);

#endif
