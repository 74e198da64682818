/* The HT block coder (Part 15, T.814) on the CPU's threads, as a table for codec/blocks/block_coder.h. Keeps the code
 * of encoded blocks, and finds the HT set of a received block and its segments. MQ blocks go to the MQ decoder. */
#include <string.h>

#include "base/integer.h"
#include "codec/blocks/ht/ht_block.h"
#include "codec/blocks/ht/ht_encode.h"
#include "codec/blocks/mq/mq_coder.h"
#include "quant/quantiser_rows.h"

/* ---- Workers ------------------------------------------------------------------------------------------------- */

/* All but the context is allocated on demand. */
typedef struct worker {
    const l2k_context *context;
    l2k_ht *ht;
    l2k_t1 *t1; /* for MQ blocks, and for a refinement segment that came in several parts */
    l2k_ht_encoder *encoder;
    int32_t *indices; /* of a block, or samples of it and copies of these */
} worker;

static void free_worker(void *opaque)
{
    worker *w = opaque;
    if (!w)
        return;
    l2k_t1_free(w->t1);
    l2k_release(w->context, w->ht);
    l2k_release(w->context, w->encoder);
    l2k_release(w->context, w->indices);
    l2k_release(w->context, w);
}

static l2k_status take_decoder(worker *w)
{
    if (w->ht)
        return L2K_OK;
    w->ht = l2k_allocate(w->context, 1, sizeof *w->ht);
    L2K_TRY(l2k_check_memory(w->context, w->ht, "the block coder"));
    w->ht->rows = l2k_ht_rows_get(w->context->cpu);
    w->ht->deposits = l2k_cpu_deposits();
    l2k_ht_make_decode_tables(&w->ht->tables);
    return L2K_OK;
}

static l2k_status take_t1(worker *w)
{
    return w->t1 ? L2K_OK : l2k_t1_create(w->context, &w->t1);
}

/* ---- Sets ---------------------------------------------------------------------------------------------------- */

/* Each set has three passes: cleanup, SigProp, MagRef. A contribution ends with its only cleanup pass, or has
 * refinement passes of one set, or placeholders, which have no bytes. */
l2k_ht_received_set l2k_ht_find_set(const l2k_received_block *received)
{
    l2k_ht_received_set set = {0};
    unsigned end = 0;
    for (const l2k_contribution *c = received->first; c; c = c->next) {
        const unsigned begin = end;
        end += c->passes;
        if ((end - 1) % 3 == 0 && c->bytes > 0)
            set = (l2k_ht_received_set){.cleanup = c, .last = c, .number = (end - 1) / 3, .passes = 1};
        else if (set.cleanup && begin / 3 == set.number && begin % 3 != 0) {
            set.passes = end - 3 * set.number;
            set.refinement_bytes += c->bytes;
            set.last = c;
        }
    }
    if (set.refinement_bytes == 0) /* refinement passes without bytes do not count (B.3 of T.814) */
        set.passes = 1;
    return set;
}

/* Magnitudes of reversible blocks have 31 bits, others, doubled, 30. */
enum { SAMPLE_BITS = 31 };

/* The first set's cleanup pass is on bit-plane num_planes - 1 and codes all planes from there up to the subband's
 * highest. */
l2k_status l2k_ht_take_set(const l2k_context *context, const l2k_subband *band, const l2k_block *block,
                           const l2k_ht_received_set *received, l2k_ht_set *set)
{
    const unsigned scale = l2k_coding_wavelet(band->component->coding)->quantised ? 1 : 0;
    const unsigned lowest = block->num_planes - 1u - received->number;
    *set = (l2k_ht_set){0};
    if (received->number >= block->num_planes)
        return L2K_OK;
    if (lowest + scale >= SAMPLE_BITS)
        return l2k_fail(context, L2K_ERROR_UNSUPPORTED, "an HT code-block in bit-plane %u", lowest);
    if (received->refinement_bytes > UINT32_MAX)
        return l2k_fail(context, L2K_ERROR_CORRUPT, "a code-block of more than 2^32 bytes");
    const bool refines = lowest > 0 && received->passes > 1; /* bit-plane 0 leaves nothing to refine */
    *set = (l2k_ht_set){.cleanup = received->cleanup->data,
                        .cleanup_bytes = received->cleanup->bytes,
                        .refinement_bytes = refines ? (uint32_t)received->refinement_bytes : 0,
                        .passes = refines ? received->passes : 1,
                        .plane = lowest + scale,
                        .planes = l2k_min_u32(band->max_planes - lowest, SAMPLE_BITS - lowest - scale)};
    return L2K_OK;
}

void l2k_ht_copy_refinement(const l2k_ht_received_set *received, uint8_t *to)
{
    for (const l2k_contribution *c = received->cleanup; c != received->last; to += c->bytes) {
        c = c->next;
        if (c->bytes)
            memcpy(to, c->data, c->bytes);
    }
}

/* Finds the refinement segment, or joins it in the worker's memory. */
static l2k_status find_refinement(worker *w, const l2k_ht_received_set *from, l2k_ht_set *set)
{
    set->refinement = from->last->data;
    if (from->last->bytes == set->refinement_bytes || set->refinement_bytes == 0)
        return L2K_OK;
    L2K_TRY(take_t1(w));
    L2K_TRY(l2k_t1_reserve(w->t1, set->refinement_bytes));
    l2k_ht_copy_refinement(from, w->t1->bytes);
    set->refinement = w->t1->bytes;
    return L2K_OK;
}

/* ---- Encoding ------------------------------------------------------------------------------------------------ */

static l2k_status take_encoder(const l2k_context *context, worker *w)
{
    if (w->encoder)
        return L2K_OK;
    w->encoder = l2k_allocate(context, 1, sizeof *w->encoder);
    L2K_TRY(l2k_check_memory(context, w->encoder, "the block coder"));
    l2k_ht_encoder_prepare(context, w->encoder);
    return L2K_OK;
}

static l2k_status take_indices(const l2k_context *context, worker *w)
{
    if (!w->indices)
        w->indices = l2k_allocate(context, 4 * L2K_HT_SAMPLES, sizeof *w->indices);
    return l2k_check_memory(context, w->indices, "the block coder");
}

/* Quantises 9/7 coefficients, which arrive unquantised, into the worker's memory. */
static l2k_status quantise(const l2k_context *context, float reciprocal, worker *w, l2k_t1_block *block)
{
    const l2k_quantiser_rows *rows = l2k_quantiser_rows_get(context->cpu);
    L2K_TRY(take_indices(context, w));
    for (uint32_t y = 0; y < block->height; y++)
        rows->truncate[L2K_COEFFICIENT_INT32]((const float *)block->coefficients + y * block->stride, block->width,
                                              reciprocal, w->indices + (size_t)y * block->width);
    block->coefficients = w->indices;
    block->type = L2K_COEFFICIENT_INT32;
    block->stride = block->width;
    return L2K_OK;
}

/* ---- Estimates ----------------------------------------------------------------------------------------------- */

enum { GROUP = L2K_HT_COUNTED_GROUP };

static void copy_group(const l2k_t1_block *from, size_t at, uint32_t count, int32_t *to)
{
    if (from->type == L2K_COEFFICIENT_INT16)
        for (uint32_t i = 0; i < count; i++)
            to[i] = ((const int16_t *)from->coefficients)[at + i];
    else if (count == GROUP)
        memcpy(to, (const int32_t *)from->coefficients + at, GROUP * sizeof *to);
    else
        memcpy(to, (const int32_t *)from->coefficients + at, count * sizeof *to);
}

/* A part of a block, about one in `distance`, quantised, as one long row of quads. */
static l2k_t1_block sample_block(const l2k_t1_block *from, uint32_t distance, float reciprocal, worker *w)
{
    const l2k_ht_sampling every = l2k_ht_sampling_of(from->width, distance);
    const l2k_t1_block *next = &w->encoder->next;
    int32_t *copy = w->indices + 2 * L2K_HT_SAMPLES;
    l2k_t1_block to = {.coefficients = copy, .type = L2K_COEFFICIENT_INT32, .stride = L2K_HT_SAMPLES, .height = 2};
    for (uint32_t y = 0; y < from->height; y += 2 * every.down)
        for (uint32_t x = y / 2 / every.down % every.across * GROUP; x < from->width; x += every.across * GROUP) {
            const uint32_t count = l2k_min_u32(GROUP, from->width - x), even = (count + 1) & ~1u;
            for (uint32_t k = 0; k < 2; k++) {
                int32_t *row = copy + k * to.stride + to.width;
                row[even - 1] = 0;
                if (y + k < from->height)
                    copy_group(from, (y + k) * from->stride + x, count, row);
                else
                    memset(row, 0, even * sizeof *row);
                if (y + k < next->height)
                    __builtin_prefetch((const uint8_t *)next->coefficients +
                                       ((y + k) * next->stride + x) * l2k_coefficient_bytes(next->type));
            }
            to.width += even;
        }
    if (from->type != L2K_COEFFICIENT_FLOAT32)
        return to;
    for (uint32_t k = 0; k < 2; k++)
        l2k_quantiser_rows_get(w->context->cpu)
            ->truncate[L2K_COEFFICIENT_INT32](copy + k * to.stride, to.width, reciprocal, w->indices + k * to.stride);
    to.coefficients = w->indices;
    return to;
}

static l2k_block_truncation *truncation_of(const l2k_block_batch *batch, const l2k_block_place *place)
{
    return &batch->truncations[place - batch->places];
}

/* Takes the arrays of a block's points, as if they were passes. */
static l2k_status estimate(const l2k_block_batch *batch, const l2k_block_place *place, worker *w, l2k_arena *arena)
{
    const l2k_context *context = w->context;
    l2k_coded_block *coded = &place->block->coded;
    const l2k_t1_block block = l2k_mq_block_in_view(place);
    const bool is_real = block.type == L2K_COEFFICIENT_FLOAT32;
    const float reciprocal = is_real ? 1 / l2k_band_step_size(place->band) : 0;
    const double quads = ((block.width + 1) / 2) * (double)((block.height + 1) / 2);
    l2k_ht_counts counts;
    L2K_TRY(take_indices(context, w));
    l2k_t1_block sampled = sample_block(&block, batch->distance, reciprocal, w);
    unsigned bits = l2k_t1_magnitude_bits(context, is_real ? &sampled : &block);
    double scale = 2 * quads / sampled.width;
    if (is_real && bits == 0 && scale > 1) {
        sampled = block;
        scale = 1;
        L2K_TRY(quantise(context, reciprocal, w, &sampled));
        bits = l2k_t1_magnitude_bits(context, &sampled);
    }
    const unsigned count = l2k_ht_num_points(bits);
    truncation_of(batch, place)->counted_bits = (uint8_t)bits;
    place->block->num_passes = (uint8_t)count;
    if (bits > L2K_HT_MAX_BIT_PLANES)
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "a sample lies outside its component's precision");
    if (!count)
        return L2K_OK;
    coded->pass_bytes = l2k_arena_take(context, arena, count * sizeof *coded->pass_bytes);
    coded->pass_distortion = l2k_arena_take(context, arena, count * sizeof *coded->pass_distortion);
    L2K_TRY(l2k_check_memory(context, coded->pass_bytes && coded->pass_distortion, "coded blocks"));
    w->encoder->rows->count(w->encoder, &sampled, bits, &counts);
    const l2k_ht_counted counted = {.counts = &counts,
                                    .magnitude_bits = bits,
                                    .passes = place->band->component->coding->ht_passes,
                                    .reversible = block.reversible,
                                    .scale = scale,
                                    .quads = quads};
    l2k_ht_estimate(&counted, coded->pass_bytes, coded->pass_distortion);
    return L2K_OK;
}

static l2k_ht_cut cut_of(const l2k_block_batch *batch, const l2k_block_place *place)
{
    const unsigned passes = place->band->component->coding->ht_passes;
    if (batch->task == L2K_CODE_ALL)
        return (l2k_ht_cut){passes > 1, l2k_max_u32(passes, 1)};
    const l2k_block_truncation *t = truncation_of(batch, place);
    return t->point ? l2k_ht_cut_at(t->counted_bits, t->point) : (l2k_ht_cut){0, 0};
}

/* The bit-planes that a packet header counts end with the plane of the cleanup pass. */
static l2k_status encode_block(const l2k_block_batch *batch, const l2k_block_place *place, size_t count, void *opaque,
                               const l2k_context *context, l2k_arena *arena)
{
    (void)count;
    worker *w = opaque;
    l2k_t1_block block = l2k_mq_block_in_view(place);
    l2k_coded_block *coded = &place->block->coded;
    const float *exact = block.type == L2K_COEFFICIENT_FLOAT32 ? block.coefficients : NULL;
    const size_t stride = block.stride;
    const float reciprocal = exact ? 1 / l2k_band_step_size(place->band) : 0;
    l2k_block_truncation *truncation = batch->task == L2K_CODE_CUT ? truncation_of(batch, place) : NULL;
    l2k_ht_code code = {.magnitude_bits = truncation ? truncation->counted_bits : 0};
    if (truncation && truncation->point == truncation->coded_point)
        return L2K_OK;
    L2K_TRY(take_encoder(context, w));
    w->encoder->next = (l2k_t1_block){0};
    if ((size_t)(batch->places + batch->num_places - place) > context->threads)
        w->encoder->next = l2k_mq_block_in_view(place + context->threads);
    if (batch->task == L2K_ESTIMATE)
        return estimate(batch, place, w, arena);
    const l2k_ht_cut cut = cut_of(batch, place);
    const bool errors = truncation && batch->errors;
    if (exact && (cut.passes || errors))
        L2K_TRY(quantise(context, reciprocal, w, &block));
    if (cut.passes)
        L2K_TRY(l2k_ht_encode(w->encoder, &block, cut, batch->distortions, &code));
    if (errors)
        truncation->error = l2k_ht_measure_error(w->encoder, &block, cut, exact, stride, reciprocal);
    place->block->num_planes = (uint8_t)(code.num_passes ? code.plane + 1 : 0);
    place->block->num_passes = (uint8_t)code.num_passes;
    coded->magnitude_bits = (uint8_t)code.magnitude_bits;
    if (truncation)
        truncation->coded_point = truncation->point;
    if (code.num_passes == 0)
        return L2K_OK;
    return l2k_mq_keep_code(context, code.bytes, code.passes, code.num_passes, batch->distortions, arena, coded);
}

static l2k_status begin_encode(l2k_block_coder *coder, const l2k_block_batch *batch)
{
    return l2k_cpu_coder_run(coder, batch, 1, encode_block);
}

/* ---- Decoding ------------------------------------------------------------------------------------------------ */

static void damaged(const l2k_block_batch *batch, const l2k_t1_block *block)
{
    l2k_mq_clear_block(block);
    if (batch->damaged)
        atomic_store(batch->damaged, true);
}

/* Into the view, if there are neither refinement passes nor a region of interest. */
static bool goes_straight(const l2k_t1_block *block, const l2k_ht_set *set)
{
    return set->passes == 1 && !block->roi_shift;
}

/* A code-block on its way; set.cleanup is NULL if nothing is left to do. */
typedef struct block_task {
    l2k_t1_block block;
    l2k_ht_received_set received;
    l2k_ht_set set;
} block_task;

static l2k_status begin_block(const l2k_block_batch *batch, const l2k_block_place *place, worker *w, block_task *t)
{
    *t = (block_task){0};
    if (place->block->kind == L2K_BLOCK_MQ && place->block->received.first) {
        L2K_TRY(take_t1(w));
        return l2k_mq_decode_block(w->context, w->t1, place);
    }
    t->block = l2k_mq_block_in_view(place);
    t->received = l2k_ht_find_set(&place->block->received);
    if (t->received.cleanup)
        L2K_TRY(l2k_ht_take_set(w->context, place->band, place->block, &t->received, &t->set));
    if (t->set.cleanup)
        return take_decoder(w);
    if (t->received.cleanup)
        damaged(batch, &t->block);
    else
        l2k_mq_clear_block(&t->block);
    return L2K_OK;
}

static l2k_status end_block(const l2k_block_batch *batch, worker *w, block_task *t)
{
    const l2k_t1_block *block = &t->block;
    const bool straight = goes_straight(block, &t->set);
    if (!t->set.cleanup)
        return L2K_OK;
    L2K_TRY(find_refinement(w, &t->received, &t->set));
    const bool is_right =
        l2k_ht_cleanup(w->ht, block, &t->set, straight ? l2k_ht_form_of(block) : L2K_HT_SIGNED_MAGNITUDE);
    if (is_right && t->set.passes > 1)
        l2k_ht_refine(w->ht, block, &t->set);
    if (is_right && !straight)
        l2k_t1_store(block, w->ht->samples, l2k_ht_stride(block), !block->reversible);
    if (!is_right)
        damaged(batch, block);
    return L2K_OK;
}

/* Two blocks side by side if both go straight into the view. */
static l2k_status decode_blocks(const l2k_block_batch *batch, const l2k_block_place *places, size_t count, void *opaque,
                                const l2k_context *context, l2k_arena *arena)
{
    (void)arena, (void)context;
    worker *w = opaque;
    block_task tasks[2];
    bool straight = count == 2, are_right[2];
    for (size_t i = 0; i < count; i++) {
        L2K_TRY(begin_block(batch, &places[i], w, &tasks[i]));
        straight = straight && tasks[i].set.cleanup && goes_straight(&tasks[i].block, &tasks[i].set);
    }
    if (!straight) {
        for (size_t i = 0; i < count; i++)
            L2K_TRY(end_block(batch, w, &tasks[i]));
        return L2K_OK;
    }
    const l2k_t1_block blocks[2] = {tasks[0].block, tasks[1].block};
    const l2k_ht_set sets[2] = {tasks[0].set, tasks[1].set};
    l2k_ht_cleanup_two(w->ht, blocks, sets, are_right);
    for (unsigned i = 0; i < 2; i++)
        if (!are_right[i])
            damaged(batch, &blocks[i]);
    return L2K_OK;
}

static l2k_status begin_decode(l2k_block_coder *coder, const l2k_block_batch *batch)
{
    return l2k_cpu_coder_run(coder, batch, 2, decode_blocks);
}

const l2k_block_coder_table l2k_ht_on_cpu = {
    .name = "HT on the CPU",
    .max_planes = L2K_MAX_BIT_PLANES,
    .bytes_per_thread = sizeof(worker) + sizeof(l2k_ht) + L2K_T1_BYTES,
    .create = l2k_cpu_coder_create,
    .free = l2k_cpu_coder_free,
#ifndef L2K_WITHOUT_ENCODER
    .begin_encode = begin_encode,
#endif
    .begin_decode = begin_decode,
    .finish = l2k_cpu_coder_finish,
    .forget = l2k_cpu_coder_forget,
    .ends_segment = l2k_pass_terminates,
    .worker_bytes = sizeof(worker),
    .free_worker = free_worker,
};
