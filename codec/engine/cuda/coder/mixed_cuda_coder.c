/* Decodes tiles that mix HT and MQ code-blocks (B.3 of T.814) on a device, as a table for codec/blocks/block_coder.h:
 * the blocks of each kind are a batch of that kind's coder. */
#include "base/memory.h"
#include "codec/blocks/mq/t1.h"
#include "codec/engine/cuda/coder/cuda_coder.h"

/* A coder for each kind, and the places of its blocks. */
typedef struct mixed_part {
    l2k_block_coder *coder;
    l2k_block_place *places;
    size_t count;
} mixed_part;

enum { PART_HT, PART_MQ, PARTS };

typedef struct mixed_coder {
    mixed_part parts[PARTS];
    size_t capacity; /* of the lists */
} mixed_coder;

/* ---- Lists ---------------------------------------------------------------------------------------------------- */

static l2k_status reserve_lists(const l2k_context *context, mixed_coder *m, size_t count)
{
    if (count <= m->capacity)
        return L2K_OK;
    m->capacity = 0;
    for (unsigned k = 0; k < PARTS; k++) {
        l2k_release(context, m->parts[k].places);
        m->parts[k].places = l2k_allocate(context, count, sizeof *m->parts[k].places);
        if (!m->parts[k].places)
            return l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for %zu code-blocks", count);
    }
    m->capacity = count;
    return L2K_OK;
}

/* Blocks whose kind no packet tells have no code, so any coder will do. */
static unsigned part_of(const l2k_block_place *place)
{
    const bool ht = place->band->component->coding->style & L2K_STYLE_HT;
    return ht && place->block->kind != L2K_BLOCK_MQ ? PART_HT : PART_MQ;
}

static l2k_status divide(const l2k_context *context, mixed_coder *m, const l2k_block_batch *batch)
{
    L2K_TRY(reserve_lists(context, m, batch->num_places));
    for (unsigned k = 0; k < PARTS; k++)
        m->parts[k].count = 0;
    for (size_t i = 0; i < batch->num_places; i++) {
        mixed_part *part = &m->parts[part_of(&batch->places[i])];
        part->places[part->count++] = batch->places[i];
    }
    return L2K_OK;
}

/* ---- The table ----------------------------------------------------------------------------------------------- */

static l2k_status finish_parts(mixed_coder *m, unsigned count)
{
    l2k_status first = L2K_OK;
    for (unsigned k = 0; k < count; k++) {
        l2k_block_coder *coder = m->parts[k].coder;
        const l2k_status status = coder->table->finish(coder);
        first = first == L2K_OK ? status : first;
    }
    return first;
}

/* The first part reports the progress of both. */
static l2k_status begin_decode(l2k_block_coder *coder, const l2k_block_batch *batch)
{
    mixed_coder *m = coder->state;
    L2K_TRY(divide(coder->context, m, batch));
    for (unsigned k = 0; k < PARTS; k++) {
        l2k_block_batch part = *batch;
        part.places = m->parts[k].places;
        part.num_places = m->parts[k].count;
        part.units = k == 0 ? batch->units : 0;
        const l2k_status status = m->parts[k].coder->table->begin_decode(m->parts[k].coder, &part);
        if (status != L2K_OK) {
            finish_parts(m, k);
            return status;
        }
    }
    return L2K_OK;
}

static l2k_status begin_encode(l2k_block_coder *coder, const l2k_block_batch *batch)
{
    (void)batch;
    return l2k_fail(coder->context, L2K_ERROR_UNSUPPORTED, "CUDA: encoding both HT and MQ code-blocks");
}

static l2k_status finish(l2k_block_coder *coder)
{
    return finish_parts(coder->state, PARTS);
}

static l2k_status create(l2k_block_coder *coder)
{
    const l2k_block_coder_table *const tables[PARTS] = {&l2k_ht_on_cuda, &l2k_mq_on_cuda};
    mixed_coder *m = coder->state = l2k_allocate_zeroed(coder->context, 1, sizeof *m);
    if (!m)
        return l2k_fail(coder->context, L2K_ERROR_MEMORY, "out of memory for the block coder");
    for (unsigned k = 0; k < PARTS; k++)
        L2K_TRY(l2k_block_coder_create(coder->context, tables[k], &m->parts[k].coder));
    return L2K_OK;
}

static void free_coder(l2k_block_coder *coder)
{
    mixed_coder *m = coder->state;
    if (!m)
        return;
    for (unsigned k = 0; k < PARTS; k++) {
        l2k_block_coder_free(m->parts[k].coder);
        l2k_release(coder->context, m->parts[k].places);
    }
    l2k_release(coder->context, m);
}

static void forget(l2k_block_coder *coder)
{
    mixed_coder *m = coder->state;
    for (unsigned k = 0; k < PARTS; k++)
        m->parts[k].coder->table->forget(m->parts[k].coder);
}

const l2k_block_coder_table l2k_mixed_on_cuda = {
    .name = "HT and MQ on CUDA",
    .max_planes = L2K_MAX_BIT_PLANES,
    .bytes_per_thread = sizeof(mixed_coder),
    .create = create,
    .free = free_coder,
    .begin_encode = begin_encode,
    .begin_decode = begin_decode,
    .finish = finish,
    .forget = forget,
    .ends_segment = l2k_pass_terminates,
};
