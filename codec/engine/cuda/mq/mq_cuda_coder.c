/* The MQ block coder of Annexes C and D on a device, as a table for codec/blocks/block_coder.h. */
#include "codec/engine/cuda/mq/mq_cuda_decode.h"
#include "codec/engine/cuda/mq/mq_cuda_encode.h"
#include "codec/blocks/mq/t1.h"

typedef struct mq_coder {
    l2k_cuda_blocks blocks;
    l2k_mq_cuda_encoding encoding;
    l2k_mq_cuda_decoding decoding;
    bool encodes; /* the batch under way */
} mq_coder;

static l2k_status begin(l2k_block_coder *coder, const l2k_block_batch *batch, bool encodes)
{
    mq_coder *c = coder->state;
    L2K_TRY(l2k_cuda_blocks_enter(&c->blocks, batch));
    c->encodes = encodes;
    if (!encodes)
        c->encoding.listed.same = 0; /* decoding takes the same memory */
    if (batch->num_places == 0)
        return L2K_OK;
    const l2k_status status = encodes ? l2k_mq_cuda_start_encoding(&c->blocks, &c->encoding)
                                      : l2k_mq_cuda_start_decoding(&c->blocks, &c->decoding);
    if (status != L2K_OK)
        l2k_cuda_blocks_abandon(&c->blocks);
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
    mq_coder *c = coder->state;
    l2k_status status = L2K_OK;
    if (c->blocks.batch.num_places)
        status = c->encodes ? l2k_mq_cuda_finish_encoding(&c->blocks, &c->encoding)
                            : l2k_mq_cuda_finish_decoding(&c->blocks);
    if (status == L2K_OK)
        l2k_cuda_blocks_leave(&c->blocks);
    else
        l2k_cuda_blocks_abandon(&c->blocks);
    return status;
}

static l2k_status create(l2k_block_coder *coder)
{
    mq_coder *c = coder->state = l2k_allocate_zeroed(coder->context, 1, sizeof *c);
    if (!c)
        return l2k_fail(coder->context, L2K_ERROR_MEMORY, "out of memory for the block coder");
    L2K_TRY(l2k_cuda_blocks_create(coder->context, &c->blocks));
    L2K_TRY(l2k_mq_cuda_create_encoding(&c->blocks, &c->encoding));
    return l2k_mq_cuda_create_decoding(&c->blocks, &c->decoding);
}

static void free_coder(l2k_block_coder *coder)
{
    mq_coder *c = coder->state;
    if (!c)
        return;
    l2k_cuda_blocks_free(&c->blocks);
    l2k_mq_cuda_free_encoding(&c->encoding);
    l2k_mq_cuda_free_decoding(&c->decoding);
    l2k_release(coder->context, c);
}

static void forget(l2k_block_coder *coder)
{
    l2k_cuda_blocks_forget(&((mq_coder *)coder->state)->blocks);
}

static void coded(const l2k_block_coder *coder, l2k_cuda_coded *to)
{
    l2k_mq_cuda_coded(&((const mq_coder *)coder->state)->encoding, to);
}

static l2k_status bring(l2k_block_coder *coder, const l2k_block_batch *batch)
{
    mq_coder *c = coder->state;
    c->blocks.batch = *batch;
    const l2k_status status = l2k_mq_cuda_bring(&c->blocks, &c->encoding);
    if (status != L2K_OK)
        l2k_cuda_settle(c->blocks.running);
    c->blocks.batch.num_places = 0;
    return status;
}

static void send(l2k_block_coder *coder, const uint8_t *bytes, size_t num_bytes)
{
    l2k_cuda_bytes_send(&((mq_coder *)coder->state)->blocks, bytes, num_bytes);
}

const l2k_block_coder_table l2k_mq_on_cuda = {
    .name = "MQ on CUDA",
    .max_planes = L2K_MAX_BIT_PLANES,
    .bytes_per_thread = sizeof(mq_coder),
    .create = create,
    .free = free_coder,
    .begin_encode = begin_encode,
    .begin_decode = begin_decode,
    .finish = finish,
    .forget = forget,
    .ends_segment = l2k_pass_terminates,
    .send = send,
    .coded = coded,
    .bring = bring,
};
