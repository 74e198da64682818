/* The block coders on a device: one state for HT blocks (T.814) or MQ blocks (Annexes C, D). */
#include "codec/engine/cuda/coder/cuda_coder.h"

#include "base/memory.h"
#include "codec/blocks/ht/ht_encode.h"
#include "codec/blocks/mq/t1.h"
#include "codec/engine/cuda/ht/ht_cuda_coding.h"
#include "codec/engine/cuda/mq/mq_cuda_coding.h"

typedef struct cuda_coder {
    bool is_ht;
    bool encodes;            /* the batch under way */
    l2k_cuda_blocks *blocks; /* of one of these: */
    union {
        l2k_ht_cuda ht;
        l2k_mq_cuda mq;
    };
} cuda_coder;

/* ---- A batch ------------------------------------------------------------------------------------------------- */

static l2k_status start(cuda_coder *c)
{
    if (c->is_ht)
        return c->encodes ? l2k_ht_cuda_start_encoding(&c->ht) : l2k_ht_cuda_start_decoding(&c->ht);
    return c->encodes ? l2k_mq_cuda_start_encoding(&c->mq) : l2k_mq_cuda_start_decoding(&c->mq);
}

static l2k_status end(cuda_coder *c)
{
    if (c->is_ht)
        return c->encodes ? l2k_ht_cuda_finish_encoding(&c->ht) : l2k_ht_cuda_finish_decoding(&c->ht);
    return c->encodes ? l2k_mq_cuda_finish_encoding(&c->mq)
                      : l2k_cuda_wait_to_mark(c->blocks->context, c->blocks->done);
}

static l2k_status begin(l2k_block_coder *coder, const l2k_block_batch *batch, bool encodes)
{
    cuda_coder *c = coder->state;
    L2K_TRY(l2k_cuda_blocks_enter(c->blocks, batch));
    c->encodes = encodes;
    if (!encodes) /* decoding overwrites the list */
        c->blocks->listed.same = 0;
    const l2k_status status = batch->num_places ? start(c) : L2K_OK;
    return status == L2K_OK ? L2K_OK : l2k_cuda_blocks_end(c->blocks, status);
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
    cuda_coder *c = coder->state;
    return l2k_cuda_blocks_end(c->blocks, c->blocks->batch.num_places ? end(c) : L2K_OK);
}

/* ---- The table ----------------------------------------------------------------------------------------------- */

static l2k_status create(l2k_block_coder *coder)
{
    cuda_coder *c = coder->state = l2k_allocate_zeroed(coder->context, 1, sizeof *c);
    L2K_TRY(l2k_check_memory(coder->context, c, "the block coder"));
    c->is_ht = coder->table == &l2k_ht_on_cuda;
    c->blocks = c->is_ht ? &c->ht.blocks : &c->mq.blocks;
    return c->is_ht ? l2k_ht_cuda_create(coder->context, &c->ht) : l2k_mq_cuda_create(coder->context, &c->mq);
}

static void free_coder(l2k_block_coder *coder)
{
    cuda_coder *c = coder->state;
    if (!c)
        return;
    l2k_cuda_blocks_free(c->blocks);
    if (c->is_ht)
        l2k_cuda_release(&c->ht.estimates);
    l2k_release(coder->context, c);
}

static void forget(l2k_block_coder *coder)
{
    l2k_cuda_blocks_forget(((const cuda_coder *)coder->state)->blocks);
}

#define CODER(coder_name, planes)                                                                                      \
    {                                                                                                                  \
        .name = coder_name, .max_planes = planes, .bytes_per_thread = sizeof(cuda_coder), .create = create,            \
        .free = free_coder, .begin_encode = begin_encode, .begin_decode = begin_decode, .finish = finish,              \
        .forget = forget, .ends_segment = l2k_pass_terminates                                                          \
    }

const l2k_block_coder_table l2k_ht_on_cuda = CODER("HT on CUDA", L2K_HT_MAX_BIT_PLANES);
const l2k_block_coder_table l2k_mq_on_cuda = CODER("MQ on CUDA", L2K_MAX_BIT_PLANES);

/* ---- What stays on the device -------------------------------------------------------------------------------- */

void l2k_cuda_coder_coded(const l2k_block_coder *coder, l2k_cuda_coded *coded)
{
    const cuda_coder *c = coder->state;
    if (c->is_ht)
        l2k_ht_cuda_coded(&c->ht, coded);
    else
        l2k_mq_cuda_coded(&c->mq, coded);
}

l2k_status l2k_cuda_coder_bring(l2k_block_coder *coder, const l2k_block_batch *batch)
{
    cuda_coder *c = coder->state;
    c->blocks->batch = *batch;
    c->blocks->batch.units = 0; /* counted already */
    return l2k_cuda_blocks_end(c->blocks, l2k_mq_cuda_bring(&c->mq));
}

l2k_ht_cuda *l2k_cuda_coder_truncation(const l2k_block_coder *coder)
{
    return &((cuda_coder *)coder->state)->ht;
}

void l2k_cuda_coder_send(l2k_block_coder *coder, const uint8_t *bytes, size_t num_bytes)
{
    l2k_cuda_bytes_send(((const cuda_coder *)coder->state)->blocks, bytes, num_bytes);
}
