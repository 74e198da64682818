/* Creates and frees block coders, and spreads the code-blocks of a batch over the CPU's threads. */
#include "codec/blocks/block_coder.h"

#include "base/failure.h"
#include "base/run.h"

const l2k_block_coder_table *l2k_block_coder_for(unsigned style)
{
    return style & L2K_STYLE_HT ? &l2k_ht_on_cpu : &l2k_mq_on_cpu;
}

l2k_status l2k_block_coder_create(const l2k_context *context, const l2k_block_coder_table *table, l2k_block_coder **out)
{
    l2k_block_coder *coder = l2k_allocate_zeroed(context, 1, sizeof *coder);
    L2K_TRY(l2k_check_memory(context, coder, "the block coder"));
    coder->table = table;
    coder->context = context;
    l2k_status status = table->create(coder);
    if (status != L2K_OK) {
        l2k_block_coder_free(coder);
        return status;
    }
    *out = coder;
    return L2K_OK;
}

void l2k_block_coder_free(l2k_block_coder *coder)
{
    if (!coder)
        return;
    coder->table->free(coder);
    l2k_release(coder->context, coder);
}

/* A coder's state. */
typedef struct cpu_blocks {
    void **workers;    /* one per thread */
    l2k_arena *arenas; /* one per thread, for the code of blocks */
} cpu_blocks;

l2k_status l2k_cpu_coder_create(l2k_block_coder *coder)
{
    const l2k_context *context = coder->context;
    cpu_blocks *blocks = coder->state = l2k_allocate_zeroed(context, 1, sizeof *blocks);
    L2K_TRY(l2k_check_memory(context, blocks, "the block coder"));
    blocks->workers = l2k_allocate_zeroed(context, context->threads, sizeof *blocks->workers);
    blocks->arenas = l2k_allocate_zeroed(context, context->threads, sizeof *blocks->arenas);
    L2K_TRY(l2k_check_memory(context, blocks->workers && blocks->arenas, "%u threads", context->threads));
    for (unsigned i = 0; i < context->threads; i++) {
        const l2k_context **worker = blocks->workers[i] = l2k_allocate_zeroed(context, 1, coder->table->worker_bytes);
        L2K_TRY(l2k_check_memory(context, worker, "the block coder"));
        *worker = context;
    }
    return L2K_OK;
}

void l2k_cpu_coder_forget(l2k_block_coder *coder)
{
    const cpu_blocks *blocks = coder->state;
    for (unsigned i = 0; blocks->arenas && i < coder->context->threads; i++)
        l2k_arena_release(coder->context, &blocks->arenas[i]);
}

void l2k_cpu_coder_free(l2k_block_coder *coder)
{
    cpu_blocks *blocks = coder->state;
    if (!blocks)
        return;
    l2k_cpu_coder_forget(coder);
    for (unsigned i = 0; blocks->workers && i < coder->context->threads; i++)
        coder->table->free_worker(blocks->workers[i]);
    l2k_release(coder->context, blocks->workers);
    l2k_release(coder->context, blocks->arenas);
    l2k_release(coder->context, blocks);
}

l2k_status l2k_cpu_coder_finish(l2k_block_coder *coder)
{
    (void)coder;
    return L2K_OK;
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
static l2k_status run_blocks(const l2k_block_coder *coder, const l2k_block_batch *batch, l2k_cpu_block_work *work,
                             size_t i, size_t count, unsigned thread)
{
    const l2k_context *context = coder->context;
    const cpu_blocks *blocks = coder->state;
    const l2k_block_place *places = &batch->places[i];
    uint64_t samples = 0;
    for (size_t k = 0; k < count; k++)
        samples += l2k_rect_area(places[k].block->rect);
    L2K_TRY(l2k_poll(context, WEIGHT_OF_SAMPLE * samples));
    L2K_TRY(work(batch, places, count, blocks->workers[thread], context, &blocks->arenas[thread]));
    l2k_run_advance(context, units_of(batch, i + count) - units_of(batch, i));
    return L2K_OK;
}

/* The least number of blocks per thread: with fewer, threads would wait for each other's last two blocks. */
enum { PLENTY = 8 };

l2k_status l2k_cpu_coder_run(l2k_block_coder *coder, const l2k_block_batch *batch, size_t most,
                             l2k_cpu_block_work *work)
{
    l2k_first_failure first = L2K_NO_FAILURE;
    const unsigned all = coder->context->threads, threads = batch->num_places > 1 ? all : 1;
    const size_t each = all == 1 || batch->num_places / PLENTY >= all ? most : 1;
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (threads > 1)
    for (size_t i = 0; i < batch->num_places; i += each) {
        const unsigned thread = threads > 1 ? l2k_thread_index() : 0;
        const size_t count = batch->num_places - i < each ? 1 : each;
        if (!l2k_failed_before(&first, i))
            l2k_record_status(&first, i, run_blocks(coder, batch, work, i, count, thread));
    }
    return l2k_first_status(&first);
}
