/* How many threads and tiles fit below the memory limit. */
#ifndef L2K_CODEC_DECODE_MEMORY_H
#define L2K_CODEC_DECODE_MEMORY_H

#include "codec/decode/decoder.h"

/* The coder for all code-blocks of a codestream, whatever the styles of its components and tiles. */
static inline const l2k_block_coder_table *l2k_decode_coders(const l2k_codestream *codestream)
{
    return l2k_block_coder_for(codestream->coding.capabilities.parts & L2K_PART_15 ? L2K_STYLE_HT : 0);
}

/* Threads or, off the host, tiles that fit below the memory limit, at least 1; and whether plans are kept from tile to
 * tile. */
typedef struct l2k_thread_room {
    unsigned threads, tiles;
    bool keep_plans;
    bool indices; /* packet indices are kept */
} l2k_thread_room;

/* How many of the context's threads fit; with `by_tile`, each has tiles of its own. Drops data kept from earlier images
 * if these threads need its memory. */
l2k_thread_room l2k_decode_threads(l2k_decoder *decoder, const l2k_decoding *d, bool by_tile);

#endif
