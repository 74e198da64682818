/* The block coders on a device: one state for HT blocks (T.814) or MQ blocks (Annexes C, D). */
#include "codec/engine/cuda/coder/cuda_coder.h"

#include "base/memory.h"
#include "codec/blocks/ht/ht_encode.h"
#include "codec/blocks/mq/t1.h"
#include "codec/engine/cuda/ht/ht_cuda_coding.h"
#include "codec/engine/cuda/mq/mq_cuda_coding.h"

typedef struct ht_part {
    l2k_ht_cuda_lists lists;
    l2k_ht_cuda_encoding encoding;
    l2k_ht_cuda_decoding decoding;
} ht_part;

typedef struct mq_part {
    l2k_cuda_blocks blocks;
    l2k_mq_cuda_encoding encoding;
    l2k_mq_cuda_decoding decoding;
} mq_part;

typedef struct cuda_coder {
    bool is_ht;
    bool encodes;            /* the batch under way */
    l2k_cuda_blocks *blocks; /* of one of these: */
    ht_part ht;
    mq_part mq;
} cuda_coder;

/* ---- A batch ------------------------------------------------------------------------------------------------- */

static l2k_status start(cuda_coder *c)
{
    if (c->is_ht)
        return c->encodes ? l2k_ht_cuda_start_encoding(&c->ht.encoding) : l2k_ht_cuda_start_decoding(&c->ht.decoding);
    return c->encodes ? l2k_mq_cuda_start_encoding(c->blocks, &c->mq.encoding)
                      : l2k_mq_cuda_start_decoding(c->blocks, &c->mq.decoding);
}

static l2k_status end(cuda_coder *c)
{
    if (c->is_ht)
        return c->encodes ? l2k_ht_cuda_finish_encoding(&c->ht.encoding) : l2k_ht_cuda_finish_decoding(&c->ht.decoding);
    return c->encodes ? l2k_mq_cuda_finish_encoding(c->blocks, &c->mq.encoding)
                      : l2k_cuda_wait_to_mark(c->blocks->context, c->blocks->done);
}

static l2k_status begin(l2k_block_coder *coder, const l2k_block_batch *batch, bool encodes)
{
    cuda_coder *c = coder->state;
    L2K_TRY(l2k_cuda_blocks_enter(c->blocks, batch));
    c->encodes = encodes;
    if (!encodes) /* decoding overwrites the list */
        c->ht.encoding.listed.same = c->mq.encoding.listed.same = 0;
    const l2k_status status = batch->num_places ? start(c) : L2K_OK;
    if (status != L2K_OK)
        l2k_cuda_blocks_abandon(c->blocks);
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
    cuda_coder *c = coder->state;
    const l2k_status status = c->blocks->batch.num_places ? end(c) : L2K_OK;
    if (status == L2K_OK)
        l2k_cuda_blocks_leave(c->blocks);
    else
        l2k_cuda_blocks_abandon(c->blocks);
    return status;
}

/* ---- The table ----------------------------------------------------------------------------------------------- */

static l2k_status create(l2k_block_coder *coder)
{
    cuda_coder *c = coder->state = l2k_allocate_zeroed(coder->context, 1, sizeof *c);
    L2K_TRY(l2k_check_memory(coder->context, c, "the block coder"));
    c->is_ht = coder->table == &l2k_ht_on_cuda;
    c->blocks = c->is_ht ? &c->ht.lists.blocks : &c->mq.blocks;
    c->ht.encoding.lists = c->ht.decoding.lists = &c->ht.lists;
    if (c->is_ht)
        return l2k_ht_cuda_create_lists(coder->context, &c->ht.lists);
    L2K_TRY(l2k_cuda_blocks_create(coder->context, c->blocks));
    L2K_TRY(l2k_mq_cuda_create_encoding(c->blocks, &c->mq.encoding));
    return l2k_mq_cuda_create_decoding(c->blocks, &c->mq.decoding);
}

static void free_coder(l2k_block_coder *coder)
{
    cuda_coder *c = coder->state;
    if (!c)
        return;
    if (c->is_ht) {
        l2k_ht_cuda_free_lists(&c->ht.lists);
        l2k_cuda_release(&c->ht.encoding.estimated);
    } else {
        l2k_cuda_blocks_free(c->blocks);
        l2k_cuda_release(&c->mq.encoding.tables);
        l2k_cuda_release(&c->mq.decoding.tables);
    }
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
        l2k_ht_cuda_coded(&c->ht.encoding, coded);
    else
        l2k_mq_cuda_coded(&c->mq.encoding, coded);
}

bool l2k_cuda_coder_can_bring(const l2k_block_coder *coder)
{
    return coder->table == &l2k_mq_on_cuda;
}

l2k_status l2k_cuda_coder_bring(l2k_block_coder *coder, const l2k_block_batch *batch)
{
    cuda_coder *c = coder->state;
    c->blocks->batch = *batch;
    const l2k_status status = l2k_mq_cuda_bring(c->blocks, &c->mq.encoding);
    if (status != L2K_OK)
        l2k_cuda_settle(c->blocks->running);
    c->blocks->batch.num_places = 0;
    return status;
}

l2k_ht_cuda_encoding *l2k_cuda_coder_truncation(const l2k_block_coder *coder)
{
    return &((cuda_coder *)coder->state)->ht.encoding;
}

void l2k_cuda_coder_send(l2k_block_coder *coder, const uint8_t *bytes, size_t num_bytes)
{
    l2k_cuda_bytes_send(((const cuda_coder *)coder->state)->blocks, bytes, num_bytes);
}
