/* Decoded code-blocks of an opened file that are kept for the next window, as many as a number of bytes allows: those
 * that were used last. On the host only. */
#ifndef L2K_CODEC_DECODE_CACHE_H
#define L2K_CODEC_DECODE_CACHE_H

#include <pthread.h>

#include "codec/tile/tile.h"

typedef struct l2k_block_cache {
    pthread_mutex_t lock;       /* of what follows, for worker groups at different tiles */
    const l2k_context *context; /* whose memory it takes */
    uint64_t limit, bytes;      /* of kept blocks, with what belongs to them */
    uint64_t opened;            /* the file that they are of */
    uint32_t layers;            /* decoded of them */
    struct l2k_kept_block **table, *newest, *oldest;
} l2k_block_cache;

void l2k_block_cache_init(l2k_block_cache *cache, const l2k_context *context);

/* Before a decoding: blocks of another file, or of other layers of this one, go, and those beyond the limit. */
void l2k_block_cache_start(l2k_block_cache *cache, uint64_t limit, uint64_t opened, uint32_t layers);

/* After that: in this decoding it may take no more than `bytes` in addition to what it has. */
void l2k_block_cache_bound(l2k_block_cache *cache, uint64_t bytes);

/* Everything goes, and nothing is kept before the next decoding. */
void l2k_block_cache_clear(l2k_block_cache *cache);
void l2k_block_cache_end(l2k_block_cache *cache);

/* Writes the coefficients of blocks that are kept to their places in the views, and puts the others, in order, into
 * `rest`, which has room for all. Returns how many these are. */
size_t l2k_block_cache_fetch(l2k_block_cache *cache, uint32_t tile, const l2k_block_place *places, size_t count,
                             l2k_block_place *rest);

/* Keeps blocks that have been decoded. Where there is no memory, fewer. */
void l2k_block_cache_store(l2k_block_cache *cache, uint32_t tile, const l2k_block_place *places, size_t count);

#endif
