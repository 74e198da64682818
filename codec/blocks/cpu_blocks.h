/* Shared by block coders on the CPU: the code-blocks of a batch are spread over the threads of the coder's context,
 * each with a worker and an arena of its own. */
#ifndef L2K_CODEC_BLOCKS_CPU_BLOCKS_H
#define L2K_CODEC_BLOCKS_CPU_BLOCKS_H

#include "base/memory.h"
#include "codec/blocks/block_coder.h"

/* One block coder, for one thread. */
typedef struct l2k_cpu_worker_kind {
    l2k_status (*create)(const l2k_context *context, void **worker);
    void (*free)(void *worker); /* accepts NULL */
} l2k_cpu_worker_kind;

/* The functions of a coder's table that all coders on the CPU share. Their begin functions do all the work. */
l2k_status l2k_cpu_coder_create(l2k_block_coder *coder, const l2k_cpu_worker_kind *kind);
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
