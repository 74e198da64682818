/* The seam between the coefficients and the packets: a block coder codes or decodes all code-blocks of a batch in one
 * call. A batch is any list of code-blocks: those of a tile, of part of a tile, or of several images. A coder is a
 * table of functions, one per coder and place, such as MQ on the CPU (mq/); a further coder adds a table.
 *
 * Encoding reads each block's coefficients from its view and sets block->num_planes, num_passes and coded. Decoding
 * reads block->received and writes the coefficients, 0 where nothing was received. Annexes C and D of the standard, for
 * the coders of Part 1. */
#ifndef L2K_CODEC_BLOCKS_BLOCK_CODER_H
#define L2K_CODEC_BLOCKS_BLOCK_CODER_H

#include <stdatomic.h>

#include "base/memory.h"
#include "codec/tile/tile.h"

/* Encoding: all of each block; or, in HT, estimates as if each point of truncation were a pass, from about one in
 * `distance` of its samples; or what truncation at `point` leaves of each block, in HT unless that is coded already. */
typedef enum l2k_block_task { L2K_CODE_ALL, L2K_ESTIMATE, L2K_CODE_CUT } l2k_block_task;

typedef struct l2k_block_batch {
    const l2k_block_place *places; /* the blocks; each one's band->component->view holds its coefficients */
    size_t num_places;
    bool distortions; /* encoding: also compute pass_distortion, which costs time */
    bool errors;      /* HT: also compute the truncations' errors */
    l2k_block_task task;
    l2k_block_truncation *truncations; /* of the places, in all tasks but L2K_CODE_ALL */
    uint32_t distance;
    atomic_bool *damaged; /* decoding: set if a block's bytes cannot be right; the block is then zeros */
    uint64_t units;       /* units of progress (l2k_run_advance) that the whole batch is worth */
    const void *engine;   /* further input for an engine's own coder, described in its folder; NULL: none */
} l2k_block_batch;

/* A coder at work: its tables, its scratch memory, and the code it has returned. */
typedef struct l2k_block_coder {
    const struct l2k_block_coder_table *table;
    const l2k_context *context; /* whose threads a coder on the CPU uses; outlives the coder */
    void *state;                /* state of the table's functions */
} l2k_block_coder;

/* Some encoders send empty passes beyond the last bit-plane; they are received, counted in a byte, and not decoded. */
#define L2K_MAX_RECEIVED_PASSES 255

typedef struct l2k_block_coder_table {
    const char *name;
    unsigned max_planes;     /* most magnitude bit-planes of a code-block; when decoding, of an MQ block */
    size_t bytes_per_thread; /* host memory for decoding blocks no longer than their samples */
    /* Creates coder->state. After an error, `free` is called. */
    l2k_status (*create)(l2k_block_coder *coder);
    /* Releases the state, complete or not; accepts NULL. */
    void (*free)(l2k_block_coder *coder);
    /* Start on a batch, which must stay until `finish`; they may return before the work is done, and nothing else may
     * touch the batch's blocks and coefficients meanwhile. One batch at a time. Errors, here or from `finish`:
     * L2K_ERROR_MEMORY; L2K_ERROR_CANCELLED (the progress hook is asked between blocks); encoding L2K_ERROR_ARGUMENT
     * for a coefficient of more than max_planes; decoding L2K_ERROR_CORRUPT. The error is that of the first failing
     * block in the list. */
    l2k_status (*begin_encode)(l2k_block_coder *coder, const l2k_block_batch *batch);
    l2k_status (*begin_decode)(l2k_block_coder *coder, const l2k_block_batch *batch);
    l2k_status (*finish)(l2k_block_coder *coder);
    /* Releases the code that blocks of all batches so far point to. */
    void (*forget)(l2k_block_coder *coder);
    /* For packet headers (B.10.7): whether coding pass `pass` of an MQ block (0 = its first) always ends a codeword
     * segment in code-block style `style` (l2k_style values). The last pass of a block ends one, too. */
    bool (*ends_segment)(unsigned style, unsigned pass);
    /* On the CPU: a worker is one block coder, for one thread of the context. It begins with a pointer to that and
     * otherwise as zeros, since there may be far more threads than blocks. `free_worker` accepts NULL. */
    size_t worker_bytes;
    void (*free_worker)(void *worker);
} l2k_block_coder_table;

/* The MQ coder of Annexes C and D on the CPU's threads. */
extern const l2k_block_coder_table l2k_mq_on_cpu;

/* The HT coder of Part 15 on the CPU's threads; it also decodes MQ blocks, since one subband may have both kinds. */
extern const l2k_block_coder_table l2k_ht_on_cpu;

/* The table for code-blocks of a style (SPcod, Table A.19). */
const l2k_block_coder_table *l2k_block_coder_for(unsigned style);

/* `context` must outlive the coder. Errors: L2K_ERROR_MEMORY. */
l2k_status l2k_block_coder_create(const l2k_context *context, const l2k_block_coder_table *table,
                                  l2k_block_coder **coder);
void l2k_block_coder_free(l2k_block_coder *coder);

/* ---- For block coders on the CPU (cpu_blocks.c) ------------------------------------------------------------------ */

/* The functions of a coder's table that all coders on the CPU share. Each thread has a worker and an arena of its own;
 * the begin functions do all the work. */
l2k_status l2k_cpu_coder_create(l2k_block_coder *coder);
void l2k_cpu_coder_free(l2k_block_coder *coder);
l2k_status l2k_cpu_coder_finish(l2k_block_coder *coder);
void l2k_cpu_coder_forget(l2k_block_coder *coder);

/* Calls `work` for the blocks of a batch, `count` consecutive ones at a time: one or, if `most` is 2 and there are plenty
 * of blocks for every thread, two as far as there are. Advances the progress. Returns the failure of the lowest index;
 * later blocks may be left undone. */
typedef l2k_status l2k_cpu_block_work(const l2k_block_batch *batch, const l2k_block_place *places, size_t count,
                                      void *worker, const l2k_context *context, l2k_arena *arena);
l2k_status l2k_cpu_coder_run(l2k_block_coder *coder, const l2k_block_batch *batch, size_t most,
                             l2k_cpu_block_work *work);

#endif
