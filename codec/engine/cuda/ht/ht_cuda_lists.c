/* A batch of HT code-blocks on a device: the forms of its blocks, and the list of blocks by form. A frame may have tens
 * of thousands of blocks, so the work for each is kept short. */
#include "codec/engine/cuda/ht/ht_cuda_coding.h"

#include "base/memory.h"

/* ---- Forms --------------------------------------------------------------------------------------------------- */

l2k_status l2k_ht_cuda_start_forms(l2k_ht_cuda_lists *c)
{
    const l2k_context *context = c->blocks.context;
    const size_t count = c->blocks.batch.num_places;
    memset(c->ranges, 0, sizeof c->ranges);
    if (count > UINT32_MAX / 2)
        return l2k_fail(context, L2K_ERROR_UNSUPPORTED, "CUDA: %zu code-blocks at once", count);
    if (count <= c->forms_capacity)
        return L2K_OK;
    l2k_release(context, c->forms);
    c->forms_capacity = 0;
    c->forms = l2k_allocate(context, count, 1);
    L2K_TRY(l2k_check_memory(context, c->forms, "%zu code-blocks", count));
    c->forms_capacity = count;
    return L2K_OK;
}

/* Half warps only pay for many short rows; few are read like those of up to L2K_HT_LONG_ROW samples. */
enum { LEAST_SHORT_SHARE = 8 };

static void join_short_rows(l2k_ht_cuda_lists *c)
{
    for (unsigned wide = 0; wide <= L2K_HT_WIDE; wide++) {
        l2k_ht_form_range *few = &c->ranges[L2K_HT_SHORT | wide], *many = &c->ranges[wide];
        if (few->count >= many->count / LEAST_SHORT_SHARE)
            continue;
        many->count += few->count;
        few->count = 0;
    }
}

/* Returns how many forms have blocks. */
static unsigned place_forms(l2k_ht_cuda_lists *c)
{
    unsigned used = 0;
    for (unsigned form = 0; form < L2K_HT_FORMS; form++) {
        c->ranges[form].first = form ? c->ranges[form - 1].first + c->ranges[form - 1].count : 0;
        used += c->ranges[form].count > 0;
    }
    return used;
}

void l2k_ht_cuda_sort_list(l2k_ht_cuda_lists *c, size_t size, bool joins)
{
    const size_t count = c->blocks.batch.num_places, sorted = l2k_cuda_aligned(count * size);
    uint32_t next[L2K_HT_FORMS];
    if (joins)
        join_short_rows(c);
    c->list = 0;
    if (place_forms(c) == 1)
        return;
    for (unsigned form = 0; form < L2K_HT_FORMS; form++)
        next[form] = c->ranges[form].first;
    for (size_t i = 0; i < count; i++) {
        unsigned form = c->forms[i];
        if (c->ranges[form].count == 0) /* short rows that were joined */
            form &= L2K_HT_WIDE;
        memcpy(c->blocks.pinned.at + sorted + size * next[form]++, c->blocks.pinned.at + size * i, size);
    }
    c->list = sorted;
}

/* ---- Birth and end --------------------------------------------------------------------------------------------- */

static l2k_status upload_tables(l2k_ht_cuda_lists *c)
{
    l2k_cuda_blocks *b = &c->blocks;
    const size_t bytes = sizeof(l2k_ht_cuda_tables);
    L2K_TRY(l2k_cuda_reserve(b->context, &c->tables, bytes));
    L2K_TRY(l2k_cuda_reserve(b->context, &b->pinned, bytes));
    l2k_ht_cuda_make_tables((l2k_ht_cuda_tables *)b->pinned.at);
    L2K_TRY(l2k_cuda_upload(b->context, b->stream, c->tables.at, b->pinned.at, bytes));
    return l2k_cuda_wait(b->context, b->stream);
}

l2k_status l2k_ht_cuda_create_lists(const l2k_context *context, l2k_ht_cuda_lists *c)
{
    L2K_TRY(l2k_cuda_blocks_create(context, &c->blocks));
    return upload_tables(c);
}

void l2k_ht_cuda_free_lists(l2k_ht_cuda_lists *c)
{
    l2k_cuda_blocks_free(&c->blocks);
    l2k_cuda_release(&c->tables);
    l2k_release(c->blocks.context, c->forms);
}
