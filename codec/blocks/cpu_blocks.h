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

/* Calls `work` for every block of a batch, or, as long as there are plenty of blocks for every thread, `work_of_two`,
 * unless it is NULL, for two consecutive blocks of the list, at `place` and behind it. Advances the progress. Returns
 * the failure of the lowest index; later blocks may be left undone. */
typedef l2k_status l2k_cpu_block_work(const l2k_block_batch *batch, const l2k_block_place *place, void *worker,
                                      const l2k_context *context, l2k_arena *arena);
l2k_status l2k_cpu_coder_run(l2k_block_coder *coder, const l2k_block_batch *batch, l2k_cpu_block_work *work,
                             l2k_cpu_block_work *work_of_two);

#endif
