/* Decoded code-blocks of an opened file, kept for the next window: those used last, up to a limit in bytes. On the host
 * only. */
#ifndef L2K_CODEC_DECODE_CACHE_H
#define L2K_CODEC_DECODE_CACHE_H

#include <pthread.h>

#include "codec/tile/tile.h"

typedef struct l2k_block_cache {
    pthread_mutex_t lock;       /* guards the members below, for worker groups at different tiles */
    const l2k_context *context; /* whose memory the blocks take */
    uint64_t limit, bytes;      /* of kept blocks, with their bookkeeping */
    uint64_t opened;            /* number of the file that the blocks belong to */
    uint32_t layers;            /* number of layers decoded */
    struct l2k_kept_block **table, *newest, *oldest;
} l2k_block_cache;

/* Call before a decoding. Drops blocks of another file or of other layers, and blocks beyond the limit. */
void l2k_block_cache_start(l2k_block_cache *cache, uint64_t limit, uint64_t opened, uint32_t layers);

/* Call after l2k_block_cache_start: in this decoding the cache may grow by at most `bytes`. */
void l2k_block_cache_bound(l2k_block_cache *cache, uint64_t bytes);

/* Drops all blocks; the cache keeps none until the next decoding. */
void l2k_block_cache_clear(l2k_block_cache *cache);

/* Writes the coefficients of kept blocks to their places in the views and puts the other places, in order, into `rest`,
 * which has room for all. Returns the number of places in `rest`. */
size_t l2k_block_cache_fetch(l2k_block_cache *cache, uint32_t tile, const l2k_block_place *places, size_t count,
                             l2k_block_place *rest);

/* Keeps decoded blocks; fewer if memory runs out. */
void l2k_block_cache_store(l2k_block_cache *cache, uint32_t tile, const l2k_block_place *places, size_t count);

#endif
