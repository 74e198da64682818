/* The decoder's context tables (Annex D, Tables D.1 to D.3), from the encoder's logic on masks, and the memory of the
 * block coder. */
#include "codec/blocks/mq/t1_lists.h"

#include "base/memory.h"
#include "codec/blocks/mq/t1_masks.h"

/* `index`: significance of the columns west, east and here in bits 0, 3 and 6, from north to south. */
static uint8_t zero_context(unsigned orientation, unsigned index)
{
    const neighbours a = {.nw = index & 1,
                          .w = index >> 1 & 1,
                          .sw = index >> 2 & 1,
                          .ne = index >> 3 & 1,
                          .e = index >> 4 & 1,
                          .se = index >> 5 & 1,
                          .n = index >> 6 & 1,
                          .s = index >> 8 & 1};
    uint32_t entry[ENTRY_BITS];
    zero_contexts(&a, orientation == L2K_HH, orientation == L2K_HL, entry);
    return (uint8_t)((entry[1] & 1) | (entry[2] & 1) << 1 | (entry[3] & 1) << 2 | (entry[4] & 1) << 3);
}

/* With bit 7 for the XOR bit. `index`: significance in the west, east, north and south in bits 0, 3, 5 and 7, signs
 * above them. */
static uint8_t sign_context(unsigned index)
{
    const neighbours a = {.w = index & 1, .e = index >> 3 & 1, .n = index >> 5 & 1, .s = index >> 7 & 1};
    const surroundings at = {.sign_w = index >> 1, .sign_e = index >> 4, .sign_n = index >> 6, .sign_s = index >> 8};
    uint32_t entry[SIGN_BITS];
    sign_contexts(&a, &at, entry);
    return (uint8_t)(8 | (entry[1] & 1) | (entry[2] & 1) << 1 | (entry[3] & 1) << 2 | (entry[0] & 1) << 7);
}

l2k_status l2k_t1_create(const l2k_context *context, l2k_t1 **out)
{
    l2k_t1 *t1 = l2k_allocate_zeroed(context, 1, sizeof *t1);
    L2K_TRY(l2k_check_memory(context, t1, "the block coder"));
    t1->context = context;
    *out = t1;
    return L2K_OK;
}

void l2k_t1_free(l2k_t1 *t1)
{
    if (!t1)
        return;
    l2k_release(t1->context, t1->decoder);
    l2k_release(t1->context, t1->bytes);
    if (t1->encoder) {
        l2k_release(t1->context, t1->encoder->bytes);
        l2k_release(t1->context, t1->encoder->planes.planes);
        l2k_release(t1->context, t1->encoder);
    }
    l2k_release(t1->context, t1);
}

/* Called for a thread's first block, since there may be far more threads than blocks. */
static l2k_status make_decoder(l2k_t1 *t1)
{
    if (t1->decoder)
        return L2K_OK;
    l2k_t1_decoder *decoder = t1->decoder = l2k_allocate(t1->context, 1, sizeof *decoder);
    L2K_TRY(l2k_check_memory(t1->context, decoder, "the block coder"));
    l2k_mq_model_create(&decoder->model);
    for (unsigned i = 0; i < 512; i++) {
        for (unsigned orientation = 0; orientation < 4; orientation++)
            decoder->zero_contexts[orientation][i] = zero_context(orientation, i);
        decoder->sign_context[i] = sign_context(i);
    }
    return L2K_OK;
}

l2k_status l2k_t1_reserve(l2k_t1 *t1, size_t bytes)
{
    if (bytes + L2K_MQ_READ_AHEAD <= t1->bytes_capacity)
        return L2K_OK;
    L2K_TRY(make_decoder(t1));
    size_t capacity = bytes + bytes / 2 + L2K_MQ_READ_AHEAD;
    uint8_t *grown = l2k_enlarge(t1->context, t1->bytes, t1->bytes_capacity, capacity, 1);
    L2K_TRY(l2k_check_memory(t1->context, grown, "%zu bytes of a code-block", bytes));
    t1->bytes = grown;
    t1->bytes_capacity = capacity;
    return L2K_OK;
}
