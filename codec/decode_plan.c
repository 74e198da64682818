/* Which code-blocks of a tile are decoded, and the plan of the inverse transform for them. */
#include <string.h>

#include "codec/decoder.h"

static l2k_status allocate_state(const l2k_context *context, l2k_tile_state *s)
{
    const size_t count = s->tile.num_components;
    s->components = l2k_arena_take(context, &s->tile.arena, count * sizeof *s->components);
    s->planes = l2k_arena_take(context, &s->tile.arena, count * sizeof *s->planes);
    s->plan_component = l2k_arena_take(context, &s->tile.arena, count * sizeof *s->plan_component);
    s->cropped = l2k_arena_take(context, &s->tile.arena, count * sizeof *s->cropped);
    if (!s->components || !s->planes || !s->plan_component || !s->cropped) {
        s->cropped = NULL;
        return l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for a tile");
    }
    memset(s->planes, 0, count * sizeof *s->planes);
    memset(s->plan_component, 0, count * sizeof *s->plan_component);
    memset(s->cropped, 0, count * sizeof *s->cropped);
    return L2K_OK;
}

/* ---- Code-blocks --------------------------------------------------------------------------------------------- */

/* Whether a block has a part in the area. */
static bool is_needed(const l2k_decoding *d, const l2k_block_place *place)
{
    const l2k_tile_component *component = place->band->component;
    l2k_rect area = l2k_component_rect(d->area, component->dx, component->dy), r = place->block->rect;
    unsigned level = l2k_band_level(component->coding->levels, place->band->resolution);
    unsigned support = l2k_coding_wavelet(component->coding)->support;
    return l2k_reaches(r.x0, r.x1, area.x0, area.x1, level, support) &&
           l2k_reaches(r.y0, r.y1, area.y0, area.y1, level, support);
}

/* Every code-block of the wanted resolutions must exist, so that its coefficients are decoded or cleared. */
static l2k_status list_blocks(const l2k_decoding *d, l2k_tile_state *s)
{
    for (uint32_t c = 0; c < s->tile.num_components; c++) {
        const l2k_tile_component *component = &s->tile.components[c];
        for (uint32_t r = 0; l2k_wants_component(d, c) && r + d->discard < component->num_resolutions; r++)
            for (uint32_t p = 0; p < component->resolutions[r].num_precincts; p++)
                L2K_TRY(l2k_precinct_prepare(d->context, &s->tile, component, r, p));
    }
    L2K_TRY(l2k_tile_list_blocks(d->context, &s->tile, d->only, d->discard, &s->places, &s->num_places));
    for (size_t i = 0; i < s->num_places; i++)
        if (s->places[i].block->received.first && !is_needed(d, &s->places[i]))
            s->places[i].block->received = (l2k_received_block){0};
    return L2K_OK;
}

/* Bit-planes of a block's magnitudes once a region of interest has come down to the background (H.1). An HT block does
 * not say how many of its subband's it needs. */
static unsigned magnitude_planes(const l2k_block_place *place)
{
    bool is_mq = place->block->kind == L2K_BLOCK_MQ;
    unsigned planes = is_mq ? place->block->num_planes : l2k_min_u32(place->band->max_planes, UINT8_MAX);
    unsigned shift = place->band->component->coding->roi_shift;
    if (!place->block->received.first)
        return 0;
    return planes <= shift ? planes : planes - shift > shift ? planes - shift : shift;
}

/* The bit-planes that the blocks of each subband of component c have. Blocks are listed component by component: *at is
 * the first of c or of a later one, and then that of the next. */
static void measure_planes(const l2k_tile_state *s, uint32_t c, size_t *at, uint8_t bits[L2K_MAX_SUBBANDS])
{
    memset(bits, 0, L2K_MAX_SUBBANDS);
    for (; *at < s->num_places && s->places[*at].band->component->index == c; ++*at) {
        const l2k_block_place *place = &s->places[*at];
        unsigned band = l2k_band_number(place->band->resolution, place->band->orientation);
        bits[band] = (uint8_t)l2k_max_u32(bits[band], magnitude_planes(place));
    }
}

/* ---- The plan ------------------------------------------------------------------------------------------------ */

/* Annex G asks for components of one size; their numbers of levels may differ (COC). The plan then gives values without
 * level shift: of the 5/3 in the widest range that there is, of the 9/7 as floats, which reach the host from the CPU's
 * plans alone. */
static void join_later(l2k_tile_state *s, l2k_plan_spec *spec)
{
    l2k_plan_component *k = s->components;
    s->joined_later = spec->component_transform && (k[1].levels != k[0].levels || k[2].levels != k[0].levels);
    if (!s->joined_later)
        return;
    spec->component_transform = false;
    spec->cpu_reason = "components with different numbers of levels are joined on the CPU";
    for (int c = 0; c < 3; c++) {
        k[c].precision = 31;
        k[c].is_signed = true;
    }
}

static unsigned most_bits(const uint8_t bits[L2K_MAX_SUBBANDS])
{
    unsigned most = 0;
    for (unsigned band = 0; band < L2K_MAX_SUBBANDS; band++)
        most = l2k_max_u32(most, bits[band]);
    return most;
}

/* The narrowest type for what has been received: int16 where every magnitude, for 9/7 doubled, has at most 15 bits. */
static l2k_coefficient_type measure_components(l2k_tile_state *s)
{
    size_t at = 0;
    l2k_coefficient_type type = L2K_COEFFICIENT_INT16;
    for (uint32_t c = 0; c < s->tile.num_components; c++) {
        uint8_t bits[L2K_MAX_SUBBANDS];
        l2k_plan_component *k = &s->components[c];
        measure_planes(s, c, &at, bits);
        k->narrow_low = l2k_low_fits_int16(k->levels, k->discard, bits);
        if (most_bits(bits) + l2k_wavelet_get(k->wavelet)->quantised > 15)
            type = L2K_COEFFICIENT_INT32;
        s->plan_component[c] = c;
    }
    return type;
}

/* Whether a device can decode all blocks of the tile. */
static bool device_decodes(const l2k_tile_state *s)
{
    for (size_t i = 0; i < s->num_places; i++)
        if (!l2k_device_coder_for(s->places[i].band->component->coding->style) ||
            (s->places[i].block->received.first && s->places[i].block->kind == L2K_BLOCK_MQ))
            return false;
    return true;
}

/* The plan is for all components, or for the only one that is wanted, then without component transform. Where it will
 * not be run, only its views matter. */
l2k_status l2k_make_decode_plan(const l2k_decoding *d, l2k_tile_state *s, const l2k_team *team, l2k_tile_slot *slot)
{
    l2k_plan_spec spec = {.direction = L2K_INVERSE};
    l2k_coding_plan_spec(&d->codestream->siz, &s->coding, s->tile.rect, d->discard, s->components, &spec);
    spec.type = measure_components(s);
    spec.keeps_coefficients = d->planes && device_decodes(s);
    if (!d->planes)
        spec.type = L2K_COEFFICIENT_INT32;
    spec.component_transform = spec.component_transform && d->planes;
    if (d->only != UINT32_MAX) {
        spec.component_transform = false;
        spec.num_components = 1;
        spec.components = &s->components[d->only];
        s->plan_component[d->only] = 0;
    }
    join_later(s, &spec);
    L2K_TRY(l2k_team_plan(team, slot, &spec));
    for (uint32_t c = 0; c < s->tile.num_components; c++)
        if (d->only == UINT32_MAX || d->only == c)
            s->tile.components[c].view = l2k_plan_coefficients(slot->plan, s->plan_component[c]);
    return L2K_OK;
}

l2k_status l2k_choose_decode_plan(const l2k_decoding *d, l2k_tile_state *s, const l2k_team *team, l2k_tile_slot *slot)
{
    L2K_TRY(allocate_state(d->context, s));
    L2K_TRY(list_blocks(d, s));
    return l2k_make_decode_plan(d, s, team, slot);
}
