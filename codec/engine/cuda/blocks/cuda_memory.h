/* Device and pinned memory of block coders, the stream that they work in, and code-blocks as kernels see them. */
#ifndef L2K_CODEC_ENGINE_CUDA_BLOCKS_CUDA_MEMORY_H
#define L2K_CODEC_ENGINE_CUDA_BLOCKS_CUDA_MEMORY_H

#include "base/context.h"

/* A code-block's coefficients. */
typedef struct l2k_cuda_view {
    void *coefficients; /* the top left coefficient, int16 or int32, in device memory */
    uint32_t stride;    /* coefficients from row to row */
    uint16_t width, height;
} l2k_cuda_view;

/* An encoded block in device memory, for packets made there. */
typedef struct l2k_cuda_coded_block {
    uint32_t at;        /* offset of its bytes from l2k_cuda_coded.code, in units of 4 bytes */
    uint32_t bytes;     /* bytes of all passes */
    uint32_t ends;      /* number of its first pass in l2k_cuda_coded.pass_ends; not read for a block of one pass */
    uint8_t num_planes; /* as l2k_block has them; 0 and 0: nothing coded */
    uint8_t num_passes;
    uint8_t magnitude_bits; /* of its largest magnitude; num_planes, or for HT more */
    uint8_t unused;
} l2k_cuda_coded_block;

/* The encoded blocks of a batch while they are on the device. The pointers are device memory. */
typedef struct l2k_cuda_coded {
    const l2k_cuda_coded_block *blocks; /* in the order of the batch's places */
    const uint32_t *pass_ends;          /* per pass: as l2k_coded_block.pass_bytes; NULL if no block has several */
    const double *distortions;          /* per pass, as l2k_coded_block.pass_distortion; NULL: not wanted */
    uint32_t num_passes;                /* capacity in passes */
    const uint8_t *code;                /* aligned to 4 bytes */
    uint32_t capacity;                  /* of the code, in units of 4 bytes; nothing beyond may be read */
    bool complete;                      /* after `finish`: all code had room */
} l2k_cuda_coded;

/* Memory that is reallocated only to grow. */
typedef struct l2k_cuda_memory {
    uint8_t *at;
    size_t bytes;
    bool pinned; /* host memory for copies; else device memory */
} l2k_cuda_memory;

/* Kernels may read this many bytes beyond the bytes to decode, on both sides: zeros. Parts of memory begin at multiples
 * of it. */
enum { L2K_CUDA_ALIGNMENT = 64 };

static inline size_t l2k_cuda_aligned(size_t bytes)
{
    return (bytes + L2K_CUDA_ALIGNMENT - 1) / L2K_CUDA_ALIGNMENT * L2K_CUDA_ALIGNMENT;
}

/* Makes room for `bytes` bytes; the memory must not be in use. Its content is lost. pin: in pinned memory. */
l2k_status l2k_cuda_reserve(const l2k_context *context, l2k_cuda_memory *memory, size_t bytes);
l2k_status l2k_cuda_pin(const l2k_context *context, l2k_cuda_memory *memory, size_t bytes);
void l2k_cuda_release(l2k_cuda_memory *memory);

/* The next part of memory of which *used bytes are taken. Functions that place parts run twice: to learn how much to
 * reserve, and then for the addresses. */
static inline void *l2k_cuda_part(const l2k_cuda_memory *memory, size_t *used, size_t bytes)
{
    const uintptr_t at = (uintptr_t)memory->at + *used;
    *used = l2k_cuda_aligned(*used + bytes);
    return (void *)at;
}

/* Bytes from one part of memory to another. */
static inline size_t l2k_cuda_span(const void *from, const void *to)
{
    return (size_t)((uintptr_t)to - (uintptr_t)from);
}

/* A stream (cudaStream_t) and the number of the device's multiprocessors. L2K_ERROR_BACKEND if no device is usable. */
l2k_status l2k_cuda_open(const l2k_context *context, void **stream, uint32_t *processors);
/* Waits for the stream; NULL is allowed. */
void l2k_cuda_close(void *stream);

/* Copy between pinned and device memory, in the order of the stream. */
l2k_status l2k_cuda_upload(const l2k_context *context, void *stream, void *device, const void *pinned, size_t bytes);
l2k_status l2k_cuda_download(const l2k_context *context, void *stream, void *pinned, const void *device, size_t bytes);
l2k_status l2k_cuda_wait(const l2k_context *context, void *stream);

l2k_status l2k_cuda_clear(const l2k_context *context, void *stream, void *device, size_t bytes);

/* mark records an event (cudaEvent_t) after all work now in the stream, and creates it on first use; the others wait
 * for it, in a stream or on the host. */
l2k_status l2k_cuda_mark(const l2k_context *context, void **event, void *stream);
l2k_status l2k_cuda_follow(const l2k_context *context, void *stream, void *event);
l2k_status l2k_cuda_wait_to_mark(const l2k_context *context, void *event);
/* Accepts NULL. */
void l2k_cuda_unmark(void *event);

/* Waits for the stream, even after an error, which has been reported. */
void l2k_cuda_settle(void *stream);

#endif
