/* The HT block coder (Part 15, T.814) on a device, as a table for codec/blocks/block_coder.h. */
#include "codec/engine/cuda/ht/ht_cuda_decode.h"
#include "codec/engine/cuda/ht/ht_cuda_encode.h"
#include "codec/blocks/ht/ht_encode.h"

typedef struct ht_coder {
    l2k_ht_cuda_lists lists;
    l2k_ht_cuda_encoding encoding;
    l2k_ht_cuda_decoding decoding;
    bool encodes; /* the batch under way */
} ht_coder;

static l2k_status begin(l2k_block_coder *coder, const l2k_block_batch *batch, bool encodes)
{
    ht_coder *c = coder->state;
    L2K_TRY(l2k_cuda_blocks_enter(&c->lists.blocks, batch));
    c->encodes = encodes;
    if (!encodes)
        c->encoding.listed.same = 0; /* decoding takes the same memory */
    if (batch->num_places == 0)
        return L2K_OK;
    const l2k_status status =
        encodes ? l2k_ht_cuda_start_encoding(&c->encoding) : l2k_ht_cuda_start_decoding(&c->decoding);
    if (status != L2K_OK)
        l2k_cuda_blocks_abandon(&c->lists.blocks);
    return status;
}

static l2k_status begin_encode(l2k_block_coder *coder, const l2k_block_batch *batch)
{
    return begin(coder, batch, true);
}

static l2k_status begin_decode(l2k_block_coder *coder, const l2k_block_batch *batch)
{
    return begin(coder, batch, false);
}

static l2k_status finish(l2k_block_coder *coder)
{
    ht_coder *c = coder->state;
    l2k_status status = L2K_OK;
    if (c->lists.blocks.batch.num_places)
        status = c->encodes ? l2k_ht_cuda_finish_encoding(&c->encoding) : l2k_ht_cuda_finish_decoding(&c->decoding);
    if (status == L2K_OK)
        l2k_cuda_blocks_leave(&c->lists.blocks);
    else
        l2k_cuda_blocks_abandon(&c->lists.blocks);
    return status;
}

static l2k_status create(l2k_block_coder *coder)
{
    ht_coder *c = coder->state = l2k_allocate_zeroed(coder->context, 1, sizeof *c);
    if (!c)
        return l2k_fail(coder->context, L2K_ERROR_MEMORY, "out of memory for the block coder");
    c->encoding.lists = c->decoding.lists = &c->lists;
    return l2k_ht_cuda_create_lists(coder->context, &c->lists);
}

static void free_coder(l2k_block_coder *coder)
{
    ht_coder *c = coder->state;
    if (!c)
        return;
    l2k_ht_cuda_free_lists(&c->lists);
    l2k_release(coder->context, c);
}

static void forget(l2k_block_coder *coder)
{
    l2k_cuda_blocks_forget(&((ht_coder *)coder->state)->lists.blocks);
}

static l2k_status fetch(l2k_block_coder *coder, const l2k_coefficients *view, const l2k_band_view *part,
                        uint32_t distance, void *to)
{
    return l2k_cuda_blocks_fetch(&((ht_coder *)coder->state)->lists.blocks, view, part, distance, to);
}

static l2k_status keep(l2k_block_coder *coder, const l2k_coefficients *view, l2k_coefficients *copy)
{
    return l2k_cuda_blocks_keep(&((ht_coder *)coder->state)->lists.blocks, view, copy);
}

static void drop(l2k_block_coder *coder)
{
    l2k_cuda_blocks_drop(&((ht_coder *)coder->state)->lists.blocks);
}

static void coded(const l2k_block_coder *coder, l2k_cuda_coded *to)
{
    l2k_ht_cuda_coded(&((const ht_coder *)coder->state)->encoding, to);
}

static void send(l2k_block_coder *coder, const uint8_t *bytes, size_t num_bytes)
{
    l2k_cuda_bytes_send(&((ht_coder *)coder->state)->lists.blocks, bytes, num_bytes);
}

const l2k_block_coder_table l2k_ht_on_cuda = {
    .name = "HT on CUDA",
    .max_planes = L2K_HT_MAX_BIT_PLANES,
    .bytes_per_thread = sizeof(ht_coder),
    .create = create,
    .free = free_coder,
    .begin_encode = begin_encode,
    .begin_decode = begin_decode,
    .finish = finish,
    .forget = forget,
    .ends_segment = l2k_pass_terminates,
    .coded = coded,
    .send = send,
    .fetch = fetch,
    .keep = keep,
    .drop = drop,
};
