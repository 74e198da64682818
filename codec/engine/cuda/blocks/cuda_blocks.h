/* Shared by block coders on a device: the code-blocks of a batch as kernels see them, and memory that only grows. */
#ifndef L2K_CODEC_ENGINE_CUDA_BLOCKS_CUDA_BLOCKS_H
#define L2K_CODEC_ENGINE_CUDA_BLOCKS_CUDA_BLOCKS_H

#include "codec/blocks/block_coder.h"
#include "codec/engine/cuda/blocks/cuda_memory.h"

/* The code of encoded blocks until `forget` lies in chunks of pinned memory, one of which has free space. */
enum { L2K_CUDA_CHUNKS = 64 };

/* Bytes to decode on their way to the device: in one copy if a batch has them together, else gathered by the host. */
typedef struct l2k_cuda_bytes {
    l2k_cuda_memory gathered; /* pinned; also for bytes uploaded from memory that is not pinned */
    l2k_cuda_memory device;
    bool direct;
    const uint8_t *sent; /* bytes sent ahead, in the coder's own stream; NULL: none */
    size_t num_sent;
    void *arrived; /* a cudaEvent_t after them */
} l2k_cuda_bytes;

/* Further input of a coder on a device; l2k_block_batch.engine points to it; NULL means all 0. */
typedef struct l2k_cuda_batch {
    void *stream;  /* a cudaStream_t to work in, after the work enqueued there; NULL: one of the coder's own */
    uint64_t same; /* not 0: batches of this coder with the same number share places, views and steps, so that the list
                      of them can stay on the device */
    bool stays;    /* encoding: the coded data stays on the device, and no block is touched */
    void *idle;    /* encoding: device memory to use until the batch is done, aligned to 256 bytes; or NULL */
    size_t idle_bytes;
    const uint8_t *bytes; /* decoding: memory with all contributions, uploaded in one copy; NULL: the host gathers */
    size_t num_bytes;
} l2k_cuda_batch;

/* Identifies a list of blocks to encode. */
typedef struct l2k_cuda_list_key {
    uint64_t same; /* l2k_cuda_batch.same; 0: no list */
    const void *base, *device;
    l2k_coefficient_type type;
    bool distortions;
    l2k_block_task task;
} l2k_cuda_list_key;

typedef struct l2k_cuda_blocks {
    const l2k_context *context;
    void *stream;           /* a cudaStream_t; the coder's own */
    uint32_t processors;    /* number of the device's multiprocessors */
    l2k_cuda_memory tables; /* for kernels */
    l2k_cuda_memory device; /* all of a batch but its coefficients */
    l2k_cuda_memory pinned; /* the part of it that crosses the bus, but for code of encoded blocks */
    l2k_cuda_memory code[L2K_CUDA_CHUNKS];
    unsigned chunk;           /* number of the chunk with free space */
    size_t used;              /* bytes used in that chunk */
    l2k_block_batch batch;    /* the batch under way; zeros if it has no blocks */
    l2k_cuda_batch more;      /* further input of that batch */
    l2k_cuda_list_key listed; /* on the device */
    void *running;            /* the stream that the batch runs in */
    void *done;               /* a cudaEvent_t after the batch */
    l2k_cuda_bytes bytes;
} l2k_cuda_blocks;

/* Makes room for `table_bytes` bytes of tables, which begin in pinned memory; then send_tables uploads them. */
l2k_status l2k_cuda_blocks_create(const l2k_context *context, l2k_cuda_blocks *blocks, size_t table_bytes);
l2k_status l2k_cuda_blocks_send_tables(l2k_cuda_blocks *blocks);
/* Waits for the batch under way. */
void l2k_cuda_blocks_free(l2k_cuda_blocks *blocks);
void l2k_cuda_blocks_forget(l2k_cuda_blocks *blocks);

l2k_status l2k_cuda_blocks_enter(l2k_cuda_blocks *blocks, const l2k_block_batch *batch);

/* Ends a batch and returns `status`; L2K_OK counts it as done in the progress. None of its work runs afterwards. */
l2k_status l2k_cuda_blocks_end(l2k_cuda_blocks *blocks, l2k_status status);

/* Brings `units` times 4 bytes of code to memory that stays until `forget`, with the lengths and distortions of passes
 * that `on_device` has, for `passes` passes, and points the batch's blocks to it. `coded`: these blocks on the host. */
l2k_status l2k_cuda_fetch_code(l2k_cuda_blocks *blocks, const l2k_cuda_coded *on_device,
                               const l2k_cuda_coded_block *coded, size_t passes, uint32_t units);

static inline l2k_cuda_list_key l2k_cuda_key_of(const l2k_cuda_blocks *blocks)
{
    const l2k_block_batch *batch = &blocks->batch;
    const l2k_coefficients *view = batch->places[0].band->component->view;
    return (l2k_cuda_list_key){blocks->more.same, view->base,         blocks->device.at,
                               view->type,        batch->distortions, batch->task};
}

/* Whether the device holds the batch's list already. */
static inline bool l2k_cuda_is_listed(const l2k_cuda_blocks *blocks)
{
    const l2k_cuda_list_key key = l2k_cuda_key_of(blocks), *own = &blocks->listed;
    return key.same && key.same == own->same && key.base == own->base && key.device == own->device &&
           key.type == own->type && key.distortions == own->distortions && key.task == own->task;
}

/* Makes room on the device. Reallocated memory holds no list, even at the same address. */
l2k_status l2k_cuda_reserve_to_encode(l2k_cuda_blocks *blocks, size_t bytes);

/* Prefetches blocks some places ahead of block i, and what they received: a frame's blocks take megabytes and have left
 * the cache since their last use. */
static inline void l2k_cuda_fetch_ahead(const l2k_block_batch *batch, size_t i)
{
    enum { AHEAD = 24, NEAR = 12 };
    if (i + AHEAD < batch->num_places)
        __builtin_prefetch(batch->places[i + AHEAD].block);
    if (i + NEAR < batch->num_places)
        __builtin_prefetch(batch->places[i + NEAR].block->received.first);
}

static inline uint8_t *l2k_cuda_bytes_at(const l2k_cuda_blocks *blocks)
{
    return blocks->bytes.device.at + L2K_CUDA_ALIGNMENT;
}

/* Starts uploading all bytes of the batch, if they go directly; later work in the batch's stream follows bytes that
 * were sent ahead. */
l2k_status l2k_cuda_bytes_start(l2k_cuda_blocks *blocks);
/* Makes room for the host to gather `count` bytes; bytes uploaded directly are no longer needed. */
l2k_status l2k_cuda_bytes_gather(l2k_cuda_blocks *blocks, size_t count);
l2k_status l2k_cuda_bytes_upload(l2k_cuda_blocks *blocks, const uint8_t *from, size_t count);
/* Implements `send` of an engine's table. */
void l2k_cuda_bytes_send(l2k_cuda_blocks *blocks, const uint8_t *from, size_t count);

/* Finds `count` bytes at `data` among the batch's bytes; false without them. */
static inline bool l2k_cuda_find_bytes(const l2k_cuda_batch *batch, const uint8_t *data, uint64_t count, uint32_t *at)
{
    const uintptr_t offset = (uintptr_t)data - (uintptr_t)batch->bytes;
    *at = (uint32_t)offset;
    return offset <= batch->num_bytes && count <= batch->num_bytes - offset;
}

/* Reserves a quarter more than needed, for a later image of the same size with longer code. */
l2k_status l2k_cuda_reserve_for_code(const l2k_context *context, l2k_cuda_memory *memory, size_t needed);

/* What the code-blocks of a subband on the device have in common, computed once for many blocks. */
typedef struct l2k_cuda_band {
    const l2k_subband *band;
    uintptr_t origin; /* address that the coefficient at (0, 0) of the subband's domain would have */
    uint32_t stride;  /* coefficients */
    unsigned bytes;   /* of a coefficient */
    bool reversible, is_float;
} l2k_cuda_band;

/* Fills in `to`. L2K_ERROR_ARGUMENT if the coefficients are not in device memory, or are floats where these are not
 * allowed. */
l2k_status l2k_cuda_look_at_band(const l2k_context *context, const l2k_subband *band, bool floats, l2k_cuda_band *to);

static inline l2k_cuda_view l2k_cuda_view_of(const l2k_cuda_band *band, l2k_rect r)
{
    const uintptr_t at = band->origin + ((uintptr_t)r.y0 * band->stride + r.x0) * band->bytes;
    return (l2k_cuda_view){(void *)at, band->stride, (uint16_t)l2k_rect_width(r), (uint16_t)l2k_rect_height(r)};
}

#endif
