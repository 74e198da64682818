/* The MQ block coder (Annexes C and D) on the CPU's threads, as a table for codec/blocks/block_coder.h. */
#include <string.h>

#include "codec/blocks/mq/mq_coder.h"

l2k_t1_block l2k_mq_block_in_view(const l2k_block_place *place)
{
    const l2k_subband *band = place->band;
    const l2k_coefficients *view = band->component->view;
    const l2k_component_coding *coding = band->component->coding;
    const l2k_band_view at = l2k_block_in_view(place);
    size_t offset = (size_t)at.y * view->stride + at.x;
    return (l2k_t1_block){.coefficients = (uint8_t *)view->base + offset * l2k_coefficient_bytes(view->type),
                          .type = view->type,
                          .stride = view->stride,
                          .width = at.width,
                          .height = at.height,
                          .orientation = band->orientation,
                          .style = coding->style,
                          .reversible = !l2k_coding_wavelet(coding)->quantised,
                          .roi_shift = coding->roi_shift};
}

/* ---- Encoding ------------------------------------------------------------------------------------------------ */

l2k_status l2k_mq_keep_code(const l2k_context *context, const uint8_t *bytes, const l2k_pass *passes, size_t num_passes,
                            bool distortions, l2k_arena *arena, l2k_coded_block *coded)
{
    const size_t count = passes[num_passes - 1].bytes;
    bool lengths = distortions; /* or the block has several segments */
    for (size_t i = 0; i + 1 < num_passes; i++)
        lengths |= passes[i].terminated;
    uint8_t *copy = l2k_arena_take(context, arena, count);
    coded->pass_bytes = lengths ? l2k_arena_take(context, arena, num_passes * sizeof *coded->pass_bytes) : NULL;
    if (distortions)
        coded->pass_distortion = l2k_arena_take(context, arena, num_passes * sizeof *coded->pass_distortion);
    const bool has_memory = copy && (coded->pass_bytes || !lengths) && (coded->pass_distortion || !distortions);
    L2K_TRY(l2k_check_memory(context, has_memory, "coded blocks"));
    memcpy(copy, bytes, count);
    coded->bytes = copy;
    coded->num_bytes = (uint32_t)count;
    for (size_t i = 0; lengths && i < num_passes; i++) {
        coded->pass_bytes[i] = passes[i].bytes | (passes[i].terminated ? L2K_PASS_TERMINATED : 0);
        if (distortions)
            coded->pass_distortion[i] = passes[i].distortion;
    }
    return L2K_OK;
}

static l2k_status encode_block(const l2k_block_batch *batch, const l2k_block_place *place, size_t count, void *worker,
                               const l2k_context *context, l2k_arena *arena)
{
    (void)count;
    l2k_t1_block block = l2k_mq_block_in_view(place);
    l2k_t1_code code;
    if (batch->task == L2K_CODE_CUT)
        block.dropped = l2k_dropped_passes(&batch->truncations[place - batch->places]);
    L2K_TRY(l2k_t1_encode(worker, &block, batch->distortions, &code));
    place->block->num_planes = (uint8_t)code.num_planes;
    place->block->num_passes = (uint8_t)code.num_passes;
    if (code.num_passes == 0)
        return L2K_OK;
    return l2k_mq_keep_code(context, code.bytes, code.passes, code.num_passes, batch->distortions, arena,
                            &place->block->coded);
}

static l2k_status begin_encode(l2k_block_coder *coder, const l2k_block_batch *batch)
{
    return l2k_cpu_coder_run(coder, batch, 1, encode_block);
}

/* ---- Decoding ------------------------------------------------------------------------------------------------ */

void l2k_mq_clear_block(const l2k_t1_block *block)
{
    size_t bytes = l2k_coefficient_bytes(block->type);
    for (uint32_t y = 0; y < block->height; y++)
        memset((uint8_t *)block->coefficients + y * block->stride * bytes, 0, block->width * bytes);
}

/* Joins the contributions to codeword segments in the worker's memory. */
static l2k_status gather(const l2k_context *context, l2k_t1 *t1, const l2k_received_block *received,
                         l2k_t1_segment segments[L2K_MAX_RECEIVED_PASSES], size_t *count)
{
    if (received->bytes > UINT32_MAX)
        return l2k_fail(context, L2K_ERROR_CORRUPT, "a code-block of more than 2^32 bytes");
    L2K_TRY(l2k_t1_reserve(t1, (size_t)received->bytes + 2 * L2K_MAX_RECEIVED_PASSES));
    uint8_t *to = t1->bytes;
    *count = 0;
    for (const l2k_contribution *c = received->first; c; c = c->next) {
        if (c->starts_segment || *count == 0) {
            to += *count ? 2 : 0;
            segments[(*count)++] = (l2k_t1_segment){0, 0};
        }
        if (c->bytes)
            memcpy(to, c->data, c->bytes);
        to += c->bytes;
        segments[*count - 1].bytes += c->bytes;
        segments[*count - 1].passes += c->passes;
    }
    return L2K_OK;
}

l2k_status l2k_mq_decode_block(const l2k_context *context, l2k_t1 *t1, const l2k_block_place *place)
{
    l2k_t1_block block = l2k_mq_block_in_view(place);
    if (!place->block->received.first) {
        l2k_mq_clear_block(&block);
        return L2K_OK;
    }
    l2k_t1_segment segments[L2K_MAX_RECEIVED_PASSES];
    size_t count = 0;
    L2K_TRY(gather(context, t1, &place->block->received, segments, &count));
    l2k_t1_decode(t1, &block, place->block->num_planes, segments, count);
    return L2K_OK;
}

static l2k_status decode_block(const l2k_block_batch *batch, const l2k_block_place *place, size_t count, void *worker,
                               const l2k_context *context, l2k_arena *arena)
{
    (void)batch, (void)count, (void)arena;
    return l2k_mq_decode_block(context, worker, place);
}

static l2k_status begin_decode(l2k_block_coder *coder, const l2k_block_batch *batch)
{
    return l2k_cpu_coder_run(coder, batch, 1, decode_block);
}

static void free_worker(void *worker)
{
    l2k_t1_free(worker);
}

const l2k_block_coder_table l2k_mq_on_cpu = {
    .name = "MQ on the CPU",
    .max_planes = L2K_MAX_BIT_PLANES,
    .bytes_per_thread = L2K_T1_BYTES,
    .create = l2k_cpu_coder_create,
    .free = l2k_cpu_coder_free,
#ifndef L2K_WITHOUT_ENCODER
    .begin_encode = begin_encode,
#endif
    .begin_decode = begin_decode,
    .finish = l2k_cpu_coder_finish,
    .forget = l2k_cpu_coder_forget,
    .ends_segment = l2k_pass_terminates,
    .worker_bytes = sizeof(l2k_t1),
    .free_worker = free_worker,
};
