/* The code-blocks of a batch on the CPU's threads. */
#include "codec/blocks/cpu_blocks.h"

#include "base/failure.h"
#include "base/run.h"

l2k_status l2k_cpu_blocks_create(const l2k_context *context, const l2k_cpu_worker_kind *kind, l2k_cpu_blocks **out)
{
    l2k_cpu_blocks *blocks = *out = l2k_allocate_zeroed(context, 1, sizeof *blocks);
    if (!blocks)
        return l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for the block coder");
    blocks->context = context;
    blocks->kind = kind;
    blocks->workers = l2k_allocate_zeroed(context, context->threads, sizeof *blocks->workers);
    blocks->arenas = l2k_allocate_zeroed(context, context->threads, sizeof *blocks->arenas);
    if (!blocks->workers || !blocks->arenas)
        return l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for %u threads", context->threads);
    for (unsigned i = 0; i < context->threads; i++)
        L2K_TRY(kind->create(context, &blocks->workers[i]));
    return L2K_OK;
}

void l2k_cpu_blocks_forget(l2k_cpu_blocks *blocks)
{
    for (unsigned i = 0; blocks->arenas && i < blocks->context->threads; i++)
        l2k_arena_release(blocks->context, &blocks->arenas[i]);
}

void l2k_cpu_blocks_free(l2k_cpu_blocks *blocks)
{
    if (!blocks)
        return;
    l2k_cpu_blocks_forget(blocks);
    for (unsigned i = 0; blocks->workers && i < blocks->context->threads; i++)
        blocks->kind->free(blocks->workers[i]);
    l2k_release(blocks->context, blocks->workers);
    l2k_release(blocks->context, blocks->arenas);
    l2k_release(blocks->context, blocks);
}

/* A sample takes some twenty times as long in tier-1 as in the transform, whose samples l2k_poll counts. */
enum { WEIGHT_OF_SAMPLE = 20 };

/* The share of the batch's units for its first `count` blocks, without overflow. */
static uint64_t units_of(const l2k_block_batch *batch, uint64_t count)
{
    const uint64_t all = batch->num_places;
    return batch->units / all * count + batch->units % all * count / all;
}

/* Blocks i to i + count - 1. */
static l2k_status run_blocks(l2k_cpu_blocks *blocks, const l2k_block_batch *batch, l2k_cpu_block_work *work, size_t i,
                             size_t count, unsigned thread)
{
    const l2k_context *context = blocks->context;
    const l2k_block_place *place = &batch->places[i];
    uint64_t samples = 0;
    for (size_t k = 0; k < count; k++)
        samples += l2k_rect_area(place[k].block->rect);
    L2K_TRY(l2k_poll(context, WEIGHT_OF_SAMPLE * samples));
    L2K_TRY(work(batch, place, blocks->workers[thread], context, &blocks->arenas[thread]));
    l2k_run_advance(context, units_of(batch, i + count) - units_of(batch, i));
    return L2K_OK;
}

/* Handles groups of `most` blocks (1 or 2) with `work`, and a single last block with `work_of_rest`. */
static l2k_status run_groups(l2k_cpu_blocks *blocks, const l2k_block_batch *batch, size_t most,
                             l2k_cpu_block_work *work, l2k_cpu_block_work *work_of_rest)
{
    l2k_first_failure first = L2K_NO_FAILURE;
    const unsigned threads = batch->num_places > 1 ? blocks->context->threads : 1;
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (threads > 1)
    for (size_t i = 0; i < batch->num_places; i += most) {
        const unsigned thread = threads > 1 ? l2k_thread_index() : 0;
        const bool whole = batch->num_places - i >= most;
        if (!l2k_failed_before(&first, i))
            l2k_record_status(&first, i,
                              run_blocks(blocks, batch, whole ? work : work_of_rest, i, whole ? most : 1, thread));
    }
    return l2k_first_status(&first);
}

l2k_status l2k_cpu_blocks_run(l2k_cpu_blocks *blocks, const l2k_block_batch *batch, l2k_cpu_block_work *work)
{
    return run_groups(blocks, batch, 1, work, work);
}

/* The least number of blocks per thread: with fewer, threads would wait for each other's last two blocks. */
enum { PLENTY = 8 };

l2k_status l2k_cpu_blocks_run_two(l2k_cpu_blocks *blocks, const l2k_block_batch *batch, l2k_cpu_block_work *work,
                                  l2k_cpu_block_work *work_of_two)
{
    const bool plenty = blocks->context->threads == 1 || batch->num_places / PLENTY >= blocks->context->threads;
    return plenty ? run_groups(blocks, batch, 2, work_of_two, work) : run_groups(blocks, batch, 1, work, work);
}

/* ---- For tables ---------------------------------------------------------------------------------------------- */

l2k_status l2k_cpu_coder_create(l2k_block_coder *coder, const l2k_cpu_worker_kind *kind)
{
    l2k_cpu_blocks *blocks;
    l2k_status status = l2k_cpu_blocks_create(coder->context, kind, &blocks);
    coder->state = blocks;
    return status;
}

void l2k_cpu_coder_free(l2k_block_coder *coder)
{
    l2k_cpu_blocks_free(coder->state);
}

l2k_status l2k_cpu_coder_finish(l2k_block_coder *coder)
{
    (void)coder;
    return L2K_OK;
}

void l2k_cpu_coder_forget(l2k_block_coder *coder)
{
    l2k_cpu_blocks_forget(coder->state);
}
