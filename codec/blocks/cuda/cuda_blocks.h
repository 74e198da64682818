/* What block coders on a device share: the code-blocks of a batch as kernels see them, and memory that grows and stays.
 */
#ifndef L2K_CODEC_BLOCKS_CUDA_CUDA_BLOCKS_H
#define L2K_CODEC_BLOCKS_CUDA_CUDA_BLOCKS_H

#include "base/memory.h"
#include "codec/blocks/block_coder.h"
#include "codec/blocks/cuda/cuda_memory.h"
#include "codec/blocks/mq/t1.h"

/* The code of encoded blocks until `forget`: chunks of pinned memory, of which one has free space. */
enum { L2K_CUDA_CHUNKS = 64 };

typedef struct l2k_cuda_blocks {
    const l2k_context *context;
    void *stream;           /* a cudaStream_t; the coder's own */
    uint32_t processors;    /* of the device */
    l2k_cuda_memory device; /* all of a batch on the device, besides coefficients */
    l2k_cuda_memory pinned; /* what of it crosses the bus, besides code of encoded blocks */
    l2k_cuda_memory code[L2K_CUDA_CHUNKS];
    unsigned chunk;        /* the one with free space */
    size_t used;           /* of it */
    l2k_arena arena;       /* pass lengths of encoded blocks */
    l2k_block_batch batch; /* the one under way, unless it has no blocks */
    void *running;         /* the stream it is in */
} l2k_cuda_blocks;

l2k_status l2k_cuda_blocks_create(const l2k_context *context, l2k_cuda_blocks *blocks);
/* Waits for the batch under way. */
void l2k_cuda_blocks_free(l2k_cuda_blocks *blocks);
void l2k_cuda_blocks_forget(l2k_cuda_blocks *blocks);

/* Starts on a batch. */
l2k_status l2k_cuda_blocks_enter(l2k_cuda_blocks *blocks, const l2k_block_batch *batch);

/* Waits for the batch under way. */
l2k_status l2k_cuda_blocks_wait(l2k_cuda_blocks *blocks);

/* Ends a batch: it counts as done in the progress, or, after an error, not. Nothing of it is at work afterwards. */
void l2k_cuda_blocks_leave(l2k_cuda_blocks *blocks);
void l2k_cuda_blocks_abandon(l2k_cuda_blocks *blocks);

/* `bytes` bytes of pinned memory until `forget`. */
l2k_status l2k_cuda_take_code(l2k_cuda_blocks *blocks, size_t bytes, uint8_t **code);

/* A block's coefficients for kernels. L2K_ERROR_ARGUMENT if they are not integers in device memory. */
l2k_status l2k_cuda_block_of(const l2k_context *context, const l2k_t1_block *block, const l2k_block_place *place,
                             l2k_cuda_view *view);

#endif
