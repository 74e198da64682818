/* A batch of HT code-blocks on a device: the forms of its blocks, and the list of blocks by form. A frame may have tens
 * of thousands of blocks, so the work for each is kept short. */
#include "codec/engine/cuda/ht/ht_cuda_coding.h"

l2k_status l2k_ht_cuda_start_lists(l2k_ht_cuda *c, size_t size)
{
    const size_t count = c->blocks.batch.num_places;
    c->forms = 2 * l2k_cuda_aligned(count * size);
    c->counters = l2k_cuda_aligned(c->forms + count);
    memset(c->ranges, 0, sizeof c->ranges);
    return count <= UINT32_MAX / 2
               ? L2K_OK
               : l2k_fail(c->blocks.context, L2K_ERROR_UNSUPPORTED, "CUDA: %zu code-blocks at once", count);
}

/* Half warps only pay for many short rows; few are read like those of up to L2K_HT_LONG_ROW samples. */
enum { LEAST_SHORT_SHARE = 8 };

static void join_short_rows(l2k_ht_cuda *c)
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
static unsigned place_forms(l2k_ht_cuda *c)
{
    unsigned used = 0;
    for (unsigned form = 0; form < L2K_HT_FORMS; form++) {
        c->ranges[form].first = form ? c->ranges[form - 1].first + c->ranges[form - 1].count : 0;
        used += c->ranges[form].count > 0;
    }
    return used;
}

void l2k_ht_cuda_sort_list(l2k_ht_cuda *c, size_t size, bool joins)
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
        unsigned form = c->blocks.pinned.at[c->forms + i];
        if (c->ranges[form].count == 0) /* short rows that were joined */
            form &= L2K_HT_WIDE;
        memcpy(c->blocks.pinned.at + sorted + size * next[form]++, c->blocks.pinned.at + size * i, size);
    }
    c->list = sorted;
}

l2k_status l2k_ht_cuda_create(const l2k_context *context, l2k_ht_cuda *c)
{
    L2K_TRY(l2k_cuda_blocks_create(context, &c->blocks, sizeof(l2k_ht_cuda_tables)));
    l2k_ht_cuda_make_tables((l2k_ht_cuda_tables *)c->blocks.pinned.at);
    return l2k_cuda_blocks_send_tables(&c->blocks);
}
