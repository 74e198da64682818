/* The seam between the coefficients and the packets: a block coder codes or decodes all code-blocks of a batch in one
 * call. A batch is any list of code-blocks: a tile's, part of a tile's, those of several images. Coders are tables of
 * functions, one per coder and place: MQ on the CPU (mq/); others come in by adding a table.
 *
 * Encoding reads each block's coefficients where its view has them and sets block->num_planes, num_passes and coded.
 * Decoding reads block->received and writes the coefficients, 0 where nothing was received.
 * Annexes C and D of the standard, for the coders of Part 1. */
#ifndef L2K_CODEC_BLOCKS_BLOCK_CODER_H
#define L2K_CODEC_BLOCKS_BLOCK_CODER_H

#include <stdatomic.h>

#include "codec/tile/tile.h"

typedef struct l2k_block_batch {
    const l2k_block_place *places; /* of the blocks; each one's band->component->view holds its coefficients */
    size_t num_places;
    bool distortions;     /* encoding: pass_distortion is wanted, which costs time */
    atomic_bool *damaged; /* decoding: set where a block's bytes cannot be right; the block is then zeros */
    uint64_t units;       /* of progress (l2k_run_advance) that the whole batch is worth */
    const void *engine;   /* what an engine's own coder reads besides, as its folder says; NULL: nothing */
} l2k_block_batch;

/* A coder at work, with its tables, scratch memory, and the code it has given back. */
typedef struct l2k_block_coder {
    const struct l2k_block_coder_table *table;
    const l2k_context *context; /* whose threads a coder on the CPU uses; outlives the coder */
    void *state;                /* the table's */
} l2k_block_coder;

/* Some encoders send empty passes beyond the last bit-plane; they are received, counted in a byte, and not decoded. */
#define L2K_MAX_RECEIVED_PASSES 255

typedef struct l2k_block_coder_table {
    const char *name;
    unsigned max_planes;     /* magnitude bit-planes of a code-block; when decoding, of an MQ one */
    size_t bytes_per_thread; /* of host memory for decoding, for blocks no longer than their samples */
    /* Takes coder->state. After an error `free` is called. */
    l2k_status (*create)(l2k_block_coder *coder);
    /* Releases the state, finished or not; NULL where there is none. */
    void (*free)(l2k_block_coder *coder);
    /* Start on a batch, which must stay until `finish`, and may return before the work is done: nothing else may touch
     * its blocks and coefficients meanwhile. One batch at a time. Errors, here or from `finish`: L2K_ERROR_MEMORY;
     * L2K_ERROR_CANCELLED (the progress hook is asked between blocks); encoding L2K_ERROR_ARGUMENT for a coefficient
     * of more than max_planes; decoding L2K_ERROR_CORRUPT. The error is that of the first block in the list that
     * fails. */
    l2k_status (*begin_encode)(l2k_block_coder *coder, const l2k_block_batch *batch);
    l2k_status (*begin_decode)(l2k_block_coder *coder, const l2k_block_batch *batch);
    l2k_status (*finish)(l2k_block_coder *coder);
    /* Releases what the coded blocks of all batches so far point to. */
    void (*forget)(l2k_block_coder *coder);
    /* For packet headers (B.10.7): whether coding pass `pass` of an MQ block (0 = its first) always ends a codeword
     * segment in code-block style `style` (l2k_style values). The last pass of a block ends one, too. */
    bool (*ends_segment)(unsigned style, unsigned pass);
} l2k_block_coder_table;

/* The MQ coder of Annexes C and D on the CPU's threads. */
extern const l2k_block_coder_table l2k_mq_on_cpu;

/* The HT coder of Part 15 on the CPU's threads; it decodes MQ blocks as well, since both kinds may stand in one
 * subband. */
extern const l2k_block_coder_table l2k_ht_on_cpu;

/* The table for code-blocks of a style (SPcod, Table A.19). */
const l2k_block_coder_table *l2k_block_coder_for(unsigned style);

/* `context` must outlive the coder. Errors: L2K_ERROR_MEMORY. */
l2k_status l2k_block_coder_create(const l2k_context *context, const l2k_block_coder_table *table,
                                  l2k_block_coder **coder);
void l2k_block_coder_free(l2k_block_coder *coder);

#endif
