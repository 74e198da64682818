/* Chooses the block coder for a code-block style, and creates and frees coders. */
#include "codec/blocks/block_coder.h"

#include "base/memory.h"

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
