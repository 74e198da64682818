/* The decoder's context tables (Annex D, Tables D.1 to D.3), and the memory of the block coder. */
#include "codec/blocks/mq/t1.h"

#include "base/integer.h"
#include "base/memory.h"

/* Table D.1. h, v, d: significant neighbours horizontally, vertically, diagonally. */
static unsigned zero_context_low(unsigned h, unsigned v, unsigned d)
{
    if (h == 2)
        return 8;
    if (h == 1)
        return v >= 1 ? 7 : d >= 1 ? 6 : 5;
    if (v >= 1)
        return 2 + v;
    return l2k_min_u32(d, 2);
}

static unsigned zero_context_diagonal(unsigned hv, unsigned d)
{
    if (d >= 3)
        return 8;
    if (d == 2)
        return hv >= 1 ? 7 : 6;
    if (d == 1)
        return 3 + l2k_min_u32(hv, 2);
    return l2k_min_u32(hv, 2);
}

/* `index`: significance of the columns west, east and here in bits 0, 3 and 6, from north to south. */
static unsigned zero_context(unsigned orientation, unsigned index)
{
    unsigned h = (index >> 1 & 1) + (index >> 4 & 1);
    unsigned v = (index >> 6 & 1) + (index >> 8 & 1);
    unsigned d = (index & 1) + (index >> 2 & 1) + (index >> 3 & 1) + (index >> 5 & 1);
    if (orientation == L2K_HH)
        return zero_context_diagonal(h + v, d);
    return orientation == L2K_HL ? zero_context_low(v, h, d) : zero_context_low(h, v, d);
}

/* -1, 0 or 1 from two neighbours, each a significance bit below a sign bit (Table D.2). */
static int sign_contribution(unsigned one, unsigned other)
{
    int sum = 0;
    if (one & 1)
        sum += one & 2 ? -1 : 1;
    if (other & 1)
        sum += other & 2 ? -1 : 1;
    return sum > 0 ? 1 : sum < 0 ? -1 : 0;
}

/* Table D.3, with bit 7 for the XOR bit. `index`: significance in the west, east, north and south in bits 0, 3, 5 and
 * 7, signs above them. */
static uint8_t sign_context(unsigned index)
{
    int v = sign_contribution(index >> 5, index >> 7);
    int h = sign_contribution(index, index >> 3);
    bool flip = h < 0 || (h == 0 && v < 0);
    if (flip) {
        h = -h;
        v = -v;
    }
    int offset = h == 1 ? 3 + v : v;
    return (uint8_t)((L2K_CONTEXT_SIGN + offset) | (flip ? 0x80 : 0));
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
    l2k_t1_free_encoder(t1);
    l2k_release(t1->context, t1);
}

static void make_tables(l2k_t1_decoder *decoder)
{
    l2k_mq_model_create(&decoder->model);
    for (unsigned i = 0; i < 512; i++) {
        for (unsigned orientation = 0; orientation < 4; orientation++)
            decoder->zero_contexts[orientation][i] = (uint8_t)zero_context(orientation, i);
        decoder->sign_context[i] = sign_context(i);
    }
}

/* Called for a thread's first block, since there may be far more threads than blocks. */
static l2k_status make_decoder(l2k_t1 *t1)
{
    if (t1->decoder)
        return L2K_OK;
    t1->decoder = l2k_allocate(t1->context, 1, sizeof *t1->decoder);
    L2K_TRY(l2k_check_memory(t1->context, t1->decoder, "the block coder"));
    make_tables(t1->decoder);
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
