/* The block coders on a device: one state for HT blocks (T.814), MQ blocks (Annexes C, D), or both (B.3 of T.814), of
 * which each kind is a batch of its own. */
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

enum { HT, MQ, KINDS };

typedef struct cuda_coder {
    l2k_cuda_blocks *blocks[KINDS]; /* NULL: no blocks of this kind */
    bool encodes;                   /* the batch under way */
    ht_part ht;
    mq_part mq;
    l2k_block_place *places; /* of a batch of both kinds, with room for all as either */
    size_t capacity;
} cuda_coder;

static bool is_mixed(const cuda_coder *c)
{
    return c->blocks[HT] && c->blocks[MQ];
}

/* ---- A batch ------------------------------------------------------------------------------------------------- */

static l2k_status start(cuda_coder *c, unsigned kind)
{
    if (kind == HT)
        return c->encodes ? l2k_ht_cuda_start_encoding(&c->ht.encoding) : l2k_ht_cuda_start_decoding(&c->ht.decoding);
    return c->encodes ? l2k_mq_cuda_start_encoding(&c->mq.blocks, &c->mq.encoding)
                      : l2k_mq_cuda_start_decoding(&c->mq.blocks, &c->mq.decoding);
}

static l2k_status end(cuda_coder *c, unsigned kind)
{
    if (kind == HT)
        return c->encodes ? l2k_ht_cuda_finish_encoding(&c->ht.encoding) : l2k_ht_cuda_finish_decoding(&c->ht.decoding);
    return c->encodes ? l2k_mq_cuda_finish_encoding(&c->mq.blocks, &c->mq.encoding)
                      : l2k_cuda_wait_to_mark(c->mq.blocks.context, c->mq.blocks.done);
}

static l2k_status begin_kind(cuda_coder *c, unsigned kind, const l2k_block_batch *batch)
{
    L2K_TRY(l2k_cuda_blocks_enter(c->blocks[kind], batch));
    if (!c->encodes) /* decoding overwrites the list */
        c->ht.encoding.listed.same = c->mq.encoding.listed.same = 0;
    if (batch->num_places == 0)
        return L2K_OK;
    const l2k_status status = start(c, kind);
    if (status != L2K_OK)
        l2k_cuda_blocks_abandon(c->blocks[kind]);
    return status;
}

static l2k_status finish_kind(cuda_coder *c, unsigned kind)
{
    const l2k_status status = c->blocks[kind]->batch.num_places ? end(c, kind) : L2K_OK;
    if (status == L2K_OK)
        l2k_cuda_blocks_leave(c->blocks[kind]);
    else
        l2k_cuda_blocks_abandon(c->blocks[kind]);
    return status;
}

/* ---- Batches of both kinds ----------------------------------------------------------------------------------- */

/* Blocks whose kind no packet tells have no code, so any coder will do. */
static bool is_ht(const l2k_block_place *place)
{
    return place->band->component->coding->style & L2K_STYLE_HT && place->block->kind != L2K_BLOCK_MQ;
}

/* The first batch reports the progress of both. */
static l2k_status divide(const l2k_context *context, cuda_coder *c, const l2k_block_batch *batch,
                         l2k_block_batch of[KINDS])
{
    const size_t count = batch->num_places;
    if (count > c->capacity) {
        l2k_release(context, c->places);
        c->places = l2k_allocate(context, count, KINDS * sizeof *c->places);
        c->capacity = c->places ? count : 0;
        L2K_TRY(l2k_check_memory(context, c->places, "%zu code-blocks", count));
    }
    size_t counts[KINDS] = {0, 0};
    for (size_t i = 0; i < count; i++) {
        const unsigned kind = is_ht(&batch->places[i]) ? HT : MQ;
        c->places[kind * count + counts[kind]++] = batch->places[i];
    }
    for (unsigned kind = 0; kind < KINDS; kind++) {
        of[kind] = *batch;
        of[kind].places = c->places + kind * count;
        of[kind].num_places = counts[kind];
    }
    of[MQ].units = 0;
    return L2K_OK;
}

/* ---- The table ----------------------------------------------------------------------------------------------- */

/* Ends the batches of the first `count` kinds. */
static l2k_status finish_kinds(cuda_coder *c, unsigned count)
{
    l2k_status first = L2K_OK;
    for (unsigned kind = 0; kind < count; kind++) {
        const l2k_status status = c->blocks[kind] ? finish_kind(c, kind) : L2K_OK;
        first = first == L2K_OK ? status : first;
    }
    return first;
}

static l2k_status begin(l2k_block_coder *coder, const l2k_block_batch *batch, bool encodes)
{
    cuda_coder *c = coder->state;
    l2k_block_batch of[KINDS] = {*batch, *batch};
    c->encodes = encodes;
    if (is_mixed(c))
        L2K_TRY(divide(coder->context, c, batch, of));
    for (unsigned kind = 0; kind < KINDS; kind++) {
        const l2k_status status = c->blocks[kind] ? begin_kind(c, kind, &of[kind]) : L2K_OK;
        if (status != L2K_OK) {
            finish_kinds(c, kind);
            return status;
        }
    }
    return L2K_OK;
}

static l2k_status begin_encode(l2k_block_coder *coder, const l2k_block_batch *batch)
{
    if (is_mixed(coder->state))
        return l2k_fail(coder->context, L2K_ERROR_UNSUPPORTED, "CUDA: encoding both HT and MQ code-blocks");
    return begin(coder, batch, true);
}

static l2k_status begin_decode(l2k_block_coder *coder, const l2k_block_batch *batch)
{
    return begin(coder, batch, false);
}

static l2k_status finish(l2k_block_coder *coder)
{
    return finish_kinds(coder->state, KINDS);
}

static l2k_status create(l2k_block_coder *coder)
{
    cuda_coder *c = coder->state = l2k_allocate_zeroed(coder->context, 1, sizeof *c);
    L2K_TRY(l2k_check_memory(coder->context, c, "the block coder"));
    c->ht.encoding.lists = c->ht.decoding.lists = &c->ht.lists;
    if (coder->table != &l2k_mq_on_cuda) {
        c->blocks[HT] = &c->ht.lists.blocks;
        L2K_TRY(l2k_ht_cuda_create_lists(coder->context, &c->ht.lists));
    }
    if (coder->table == &l2k_ht_on_cuda)
        return L2K_OK;
    c->blocks[MQ] = &c->mq.blocks;
    L2K_TRY(l2k_cuda_blocks_create(coder->context, &c->mq.blocks));
    L2K_TRY(l2k_mq_cuda_create_encoding(&c->mq.blocks, &c->mq.encoding));
    return l2k_mq_cuda_create_decoding(&c->mq.blocks, &c->mq.decoding);
}

static void free_coder(l2k_block_coder *coder)
{
    cuda_coder *c = coder->state;
    if (!c)
        return;
    if (c->blocks[HT]) {
        l2k_ht_cuda_free_lists(&c->ht.lists);
        l2k_cuda_release(&c->ht.encoding.estimated);
    }
    if (c->blocks[MQ]) {
        l2k_cuda_blocks_free(&c->mq.blocks);
        l2k_cuda_release(&c->mq.encoding.tables);
        l2k_cuda_release(&c->mq.decoding.tables);
    }
    l2k_release(coder->context, c->places);
    l2k_release(coder->context, c);
}

static void forget(l2k_block_coder *coder)
{
    const cuda_coder *c = coder->state;
    for (unsigned kind = 0; kind < KINDS; kind++)
        if (c->blocks[kind])
            l2k_cuda_blocks_forget(c->blocks[kind]);
}

#define CODER(coder_name, planes)                                                                                      \
    {                                                                                                                  \
        .name = coder_name, .max_planes = planes, .bytes_per_thread = sizeof(cuda_coder), .create = create,            \
        .free = free_coder, .begin_encode = begin_encode, .begin_decode = begin_decode, .finish = finish,              \
        .forget = forget, .ends_segment = l2k_pass_terminates                                                          \
    }

const l2k_block_coder_table l2k_ht_on_cuda = CODER("HT on CUDA", L2K_HT_MAX_BIT_PLANES);
const l2k_block_coder_table l2k_mq_on_cuda = CODER("MQ on CUDA", L2K_MAX_BIT_PLANES);
const l2k_block_coder_table l2k_mixed_on_cuda = CODER("HT and MQ on CUDA", L2K_MAX_BIT_PLANES);

/* ---- What stays on the device -------------------------------------------------------------------------------- */

void l2k_cuda_coder_coded(const l2k_block_coder *coder, l2k_cuda_coded *coded)
{
    const cuda_coder *c = coder->state;
    if (c->blocks[HT])
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
    c->mq.blocks.batch = *batch;
    const l2k_status status = l2k_mq_cuda_bring(&c->mq.blocks, &c->mq.encoding);
    if (status != L2K_OK)
        l2k_cuda_settle(c->mq.blocks.running);
    c->mq.blocks.batch.num_places = 0;
    return status;
}

l2k_ht_cuda_encoding *l2k_cuda_coder_truncation(const l2k_block_coder *coder)
{
    return &((cuda_coder *)coder->state)->ht.encoding;
}

void l2k_cuda_coder_send(l2k_block_coder *coder, const uint8_t *bytes, size_t num_bytes)
{
    const cuda_coder *c = coder->state;
    if (!is_mixed(c))
        l2k_cuda_bytes_send(c->blocks[c->blocks[HT] ? HT : MQ], bytes, num_bytes);
}
