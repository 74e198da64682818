/* Tier-1 of one tile: its code-blocks into the views of the plan, and how many bits they bring. */
#include "codec/decode_job.h"

#include <string.h>

#include "base/memory.h"
#include "base/run.h"
#include "codec/blocks/block_view.h"

/* Whether a block has a part in the area. */
static bool needed(const l2k_tile_blocks *b, const l2k_block_place *place)
{
    const l2k_tile_component *component = &b->tile->components[place->component];
    l2k_rect area = l2k_component_rect(b->job->area, component->dx, component->dy), r = place->block->rect;
    unsigned level = l2k_band_level(component->coding->levels, place->resolution);
    return l2k_reaches(r.x0, r.x1, area.x0, area.x1, level, L2K_SUPPORT) &&
           l2k_reaches(r.y0, r.y1, area.y0, area.y1, level, L2K_SUPPORT);
}

static void clear_block(const l2k_t1_block *block)
{
    size_t bytes = l2k_coefficient_bytes(block->type);
    for (uint32_t y = 0; y < block->height; y++)
        memset((uint8_t *)block->coefficients + y * block->stride * bytes, 0, block->width * bytes);
}

/* Joins the contributions to codeword segments in the coder's memory. */
static l2k_status gather(const l2k_decode_job *job, l2k_t1 *coder, const l2k_block *block,
                         l2k_t1_segment segments[L2K_MAX_RECEIVED_PASSES], size_t *count)
{
    if (block->received.bytes > UINT32_MAX)
        return l2k_fail(job->context, L2K_ERROR_CORRUPT, "a code-block of more than 2^32 bytes");
    L2K_TRY(l2k_t1_reserve(coder, (size_t)block->received.bytes + 2 * L2K_MAX_RECEIVED_PASSES));
    uint8_t *to = coder->bytes;
    *count = 0;
    for (const l2k_contribution *c = block->received.first; c; c = c->next) {
        if (c->starts_segment || *count == 0) {
            to += *count ? 2 : 0;
            segments[(*count)++] = (l2k_t1_segment){0, 0};
        }
        l2k_copy(job->context, to, c->data, c->bytes);
        to += c->bytes;
        segments[*count - 1].bytes += c->bytes;
        segments[*count - 1].passes += c->passes;
    }
    return L2K_OK;
}

/* In progress, of the blocks listed before this one. */
static uint64_t units_before(const l2k_tile_blocks *b, size_t index)
{
    return (uint64_t)L2K_UNITS_BLOCKS * index / b->num_places;
}

l2k_status l2k_decode_block(void *opaque, l2k_t1 *coder, unsigned thread, size_t index)
{
    (void)thread;
    const l2k_tile_blocks *b = opaque;
    const l2k_block_place *place = &b->places[index];
    l2k_run_advance(b->job->context, units_before(b, index + 1) - units_before(b, index));
    l2k_t1_block block =
        l2k_block_in_view(b->tile, place, l2k_plan_coefficients(b->plan, b->plan_component[place->component]));
    if (!place->block->received.first || !needed(b, place)) {
        clear_block(&block);
        return L2K_OK;
    }
    l2k_t1_segment segments[L2K_MAX_RECEIVED_PASSES];
    size_t count = 0;
    L2K_TRY(gather(b->job, coder, place->block, segments, &count));
    b->job->decoder->blocks_decoded++;
    l2k_t1_decode(coder, &block, place->block->num_planes, segments, count);
    return L2K_OK;
}

/* Bit-planes of a block's magnitudes once a region of interest has come down to the background (H.1). */
static unsigned magnitude_planes(const l2k_tile *tile, const l2k_block_place *place)
{
    unsigned planes = place->block->num_planes, shift = tile->components[place->component].coding->roi_shift;
    if (!place->block->received.first)
        return 0;
    return planes <= shift ? planes : planes - shift > shift ? planes - shift : shift;
}

l2k_status l2k_measure_planes(const l2k_context *context, l2k_tile_state *s, uint32_t c, size_t *at,
                              uint8_t bits[L2K_MAX_SUBBANDS])
{
    memset(bits, 0, L2K_MAX_SUBBANDS);
    for (; *at < s->num_places && s->places[*at].component == c; ++*at) {
        const l2k_block_place *place = &s->places[*at];
        unsigned band = l2k_band_number(place->resolution, place->band->orientation);
        unsigned planes = magnitude_planes(&s->tile, place);
        if (planes > bits[band])
            bits[band] = (uint8_t)planes;
        L2K_TRY(l2k_check_steps(context, &s->tile.steps, 1));
    }
    return L2K_OK;
}
