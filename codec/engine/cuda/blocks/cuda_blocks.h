/* What block coders on a device share: the code-blocks of a batch as kernels see them, and memory that
 * grows and stays. */
#ifndef L2K_CODEC_ENGINE_CUDA_BLOCKS_CUDA_BLOCKS_H
#define L2K_CODEC_ENGINE_CUDA_BLOCKS_CUDA_BLOCKS_H

#include "codec/blocks/block_coder.h"
#include "codec/engine/cuda/blocks/cuda_memory.h"

/* The code of encoded blocks until `forget`: chunks of pinned memory, of which one has free space. */
enum { L2K_CUDA_CHUNKS = 64 };

/* Bytes to decode on their way up: as a whole where a batch has them together, else gathered by the host. */
typedef struct l2k_cuda_bytes {
    l2k_cuda_memory gathered; /* pinned; also for bytes that go up from memory that is not */
    l2k_cuda_memory device;
    bool direct;
    const uint8_t *sent; /* those sent ahead, in the coder's own stream; NULL: none */
    size_t num_sent;
    void *arrived; /* a cudaEvent_t after them */
} l2k_cuda_bytes;

/* What a coder on a device reads of a batch besides l2k_block_batch, whose `engine` points to it; NULL is all 0. */
typedef struct l2k_cuda_batch {
    void *stream;  /* a cudaStream_t to work in, after the work already enqueued there; NULL: one of the coder's own */
    uint64_t same; /* not 0: batches of this coder with the same number have the same places, views and steps, so
                      that its list of them can stay on the device */
    bool stays;    /* encoding: what is coded stays on the device, and no block is touched */
    void *idle;    /* encoding: device memory that is free until the batch is done, aligned to 256 bytes; or NULL */
    size_t idle_bytes;
    const uint8_t *bytes; /* decoding: memory with all contributions, which then goes up in one copy; NULL: they are
                             gathered first */
    size_t num_bytes;
} l2k_cuda_batch;

typedef struct l2k_cuda_blocks {
    const l2k_context *context;
    void *stream;           /* a cudaStream_t; the coder's own */
    uint32_t processors;    /* of the device */
    l2k_cuda_memory device; /* all of a batch on the device, besides coefficients */
    l2k_cuda_memory pinned; /* what of it crosses the bus, besides code of encoded blocks */
    l2k_cuda_memory code[L2K_CUDA_CHUNKS];
    unsigned chunk;        /* the one with free space */
    size_t used;           /* of it */
    l2k_block_batch batch; /* the one under way, unless it has no blocks */
    l2k_cuda_batch more;   /* of it */
    void *running;         /* the stream it is in */
    void *done;            /* a cudaEvent_t after all of it */
    l2k_cuda_bytes bytes;
} l2k_cuda_blocks;

l2k_status l2k_cuda_blocks_create(const l2k_context *context, l2k_cuda_blocks *blocks);
/* Waits for the batch under way. */
void l2k_cuda_blocks_free(l2k_cuda_blocks *blocks);
void l2k_cuda_blocks_forget(l2k_cuda_blocks *blocks);

/* Starts on a batch. */
l2k_status l2k_cuda_blocks_enter(l2k_cuda_blocks *blocks, const l2k_block_batch *batch);

/* Waits for the batch under way, and whatever else is in its stream. */
l2k_status l2k_cuda_blocks_wait(l2k_cuda_blocks *blocks);

/* Waits for the batch alone: what is in its stream when it is marked. */
l2k_status l2k_cuda_blocks_mark(l2k_cuda_blocks *blocks);
l2k_status l2k_cuda_blocks_wait_to_mark(l2k_cuda_blocks *blocks);

/* Ends a batch: it counts as done in the progress, or, after an error, not. Nothing of it is at work afterwards. */
void l2k_cuda_blocks_leave(l2k_cuda_blocks *blocks);
void l2k_cuda_blocks_abandon(l2k_cuda_blocks *blocks);

/* `bytes` bytes of pinned memory until `forget`, aligned like the sizes taken before. */
l2k_status l2k_cuda_take_code(l2k_cuda_blocks *blocks, size_t bytes, uint8_t **code);

/* Kernels may read this many bytes beyond those to decode, on both sides: zeros. Parts of memory begin at multiples of
 * it. */
enum { L2K_CUDA_ALIGNMENT = 64 };

static inline size_t l2k_cuda_aligned(size_t bytes)
{
    return (bytes + L2K_CUDA_ALIGNMENT - 1) / L2K_CUDA_ALIGNMENT * L2K_CUDA_ALIGNMENT;
}

/* What tells a list of blocks to encode that is on the device already. */
typedef struct l2k_cuda_list_key {
    uint64_t same; /* l2k_cuda_batch.same; 0: there is none */
    const void *base, *device;
    l2k_coefficient_type type;
    bool distortions;
} l2k_cuda_list_key;

/* Of the batch under way. */
static inline l2k_cuda_list_key l2k_cuda_key_of(const l2k_cuda_blocks *blocks)
{
    const l2k_block_batch *batch = &blocks->batch;
    const l2k_coefficients *view = batch->places[0].band->component->view;
    return (l2k_cuda_list_key){blocks->more.same, view->base, blocks->device.at, view->type, batch->distortions};
}

static inline bool l2k_cuda_is_listed(const l2k_cuda_blocks *blocks, const l2k_cuda_list_key *own)
{
    const l2k_cuda_list_key key = l2k_cuda_key_of(blocks);
    return key.same && key.same == own->same && key.base == own->base && key.device == own->device &&
           key.type == own->type && key.distortions == own->distortions;
}

/* Blocks of a frame are megabytes, which have left the cache since they were last used. */
static inline void l2k_cuda_fetch_ahead(const l2k_block_batch *batch, size_t i)
{
    enum { AHEAD = 12 };
    if (i + AHEAD < batch->num_places)
        __builtin_prefetch(batch->places[i + AHEAD].block);
}

/* Where bytes to decode are on the device. */
static inline uint8_t *l2k_cuda_bytes_at(const l2k_cuda_blocks *blocks)
{
    return blocks->bytes.device.at + L2K_CUDA_ALIGNMENT;
}

/* Starts with all bytes of the batch, if they go up directly; those that were sent ahead are there for what follows in
 * the batch's stream. */
l2k_status l2k_cuda_bytes_start(l2k_cuda_blocks *blocks);
/* For the host to gather `count` bytes in; bytes uploaded directly are needed no longer. */
l2k_status l2k_cuda_bytes_gather(l2k_cuda_blocks *blocks, size_t count);
l2k_status l2k_cuda_bytes_upload(l2k_cuda_blocks *blocks, const uint8_t *from, size_t count);
/* As `send` in the table of an engine. */
void l2k_cuda_bytes_send(l2k_cuda_blocks *blocks, const uint8_t *from, size_t count);

/* Where `count` bytes at `data` are in the batch's; false if they are not there. */
static inline bool l2k_cuda_find_bytes(const l2k_cuda_batch *batch, const uint8_t *data, uint64_t count, uint32_t *at)
{
    const uintptr_t offset = (uintptr_t)data - (uintptr_t)batch->bytes;
    *at = (uint32_t)offset;
    return offset <= batch->num_bytes && count <= batch->num_bytes - offset;
}

/* Takes a quarter more than needed, for another image of that size whose code is longer. */
l2k_status l2k_cuda_reserve_for_code(const l2k_context *context, l2k_cuda_memory *memory, size_t needed);

/* A subband whose code-blocks are on the device: what is the same for all of them, since a batch may have many. */
typedef struct l2k_cuda_band {
    const l2k_subband *band;
    uintptr_t origin; /* where the coefficient at (0, 0) of the subband's domain would be */
    uint32_t stride;  /* coefficients */
    unsigned bytes;   /* of a coefficient */
    bool reversible, is_float;
} l2k_cuda_band;

/* L2K_ERROR_ARGUMENT if its coefficients are not in device memory, or floats where these are not allowed. */
l2k_status l2k_cuda_look_at_band(const l2k_context *context, const l2k_subband *band, bool floats, l2k_cuda_band *to);

static inline l2k_cuda_view l2k_cuda_view_of(const l2k_cuda_band *band, l2k_rect r)
{
    const uintptr_t at = band->origin + ((uintptr_t)r.y0 * band->stride + r.x0) * band->bytes;
    return (l2k_cuda_view){(void *)at, band->stride, (uint16_t)l2k_rect_width(r), (uint16_t)l2k_rect_height(r)};
}

#endif
