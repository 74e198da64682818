/* Chooses the code-blocks of a tile to decode, and makes the plan of the inverse transform for them. */
#include "codec/decode/tile_state.h"

#include <string.h>

static void *take_zeroed(const l2k_context *context, l2k_tile_state *s, size_t size)
{
    const size_t bytes = s->tile.num_components * size;
    void *block = l2k_arena_take(context, &s->tile.arena, bytes);
    return block ? memset(block, 0, bytes) : NULL;
}

/* Allocated once for all images that use the tile. */
static l2k_status allocate_state(const l2k_context *context, l2k_tile_state *s)
{
    if (s->joined)
        return L2K_OK;
    s->components = take_zeroed(context, s, sizeof *s->components);
    s->planes = take_zeroed(context, s, sizeof *s->planes);
    s->host_planes = take_zeroed(context, s, sizeof *s->host_planes);
    s->uploads = take_zeroed(context, s, sizeof *s->uploads);
    if (s->components && s->planes && s->host_planes && s->uploads)
        s->joined = take_zeroed(context, s, sizeof *s->joined);
    if (!s->joined)
        s->uploads = NULL;
    return l2k_check_memory(context, s->joined, "a tile");
}

/* ---- Code-blocks --------------------------------------------------------------------------------------------- */

/* Every code-block of the windows must exist, so that its coefficients are decoded or cleared. */
l2k_status l2k_list_blocks(const l2k_decoding *d, l2k_tile_state *s)
{
    L2K_TRY(allocate_state(d->context, s));
    L2K_TRY(l2k_tile_prepare(d->context, &s->tile));
    return s->places ? L2K_OK : l2k_tile_list_blocks(d->context, &s->tile, &s->places, &s->num_places);
}

l2k_status l2k_fetch_blocks(const l2k_decoding *d, l2k_tile_state *s)
{
    s->to_decode = s->places;
    s->num_to_decode = s->num_places;
    l2k_release(d->context, s->rest);
    s->rest = NULL;
    if (!d->cache || l2k_is_off_host(s->tile.components[d->only == UINT32_MAX ? 0 : d->only].view) ||
        atomic_load(&d->findings->lengths_are_wrong))
        return L2K_OK;
    s->to_decode = s->rest = l2k_allocate(d->context, s->num_places, sizeof *s->rest);
    L2K_TRY(l2k_check_memory(d->context, s->rest, "code-blocks"));
    s->num_to_decode = l2k_block_cache_fetch(d->cache, s->tile.index, s->places, s->num_places, s->rest);
    return L2K_OK;
}

l2k_status l2k_need_blocks(const l2k_decoding *d, const l2k_tile_state *s)
{
    l2k_need_list list = {.context = d->context};
    for (size_t i = 0; d->context->partial && i < s->num_to_decode; i++)
        for (const l2k_contribution *k = s->to_decode[i].block->received.first; k; k = k->next)
            l2k_need_add(&list, k->data, k->bytes);
    return l2k_need_listed(&list);
}

/* Bit-planes that are left of `planes` bit-planes once a region of interest is shifted down (H.1). */
static unsigned planes_below(unsigned planes, unsigned shift)
{
    return planes <= shift ? planes : planes - shift > shift ? planes - shift : shift;
}

/* The most bit-planes of any block of a subband, or of one that may still arrive. An HT block does not state how many
 * of its subband's it needs, and an engine may decode it before a region of interest is shifted down. */
static unsigned measure_band(l2k_tile_state *s, const l2k_subband *band, bool arrives, size_t *at)
{
    const bool only_ht = (band->component->coding->style & (L2K_STYLE_HT | L2K_STYLE_HT_MIXED)) == L2K_STYLE_HT;
    unsigned of_ht = arrives ? l2k_min_u32(band->max_planes, UINT8_MAX) : 0, of_mq = 0;
    for (; *at < s->num_places && s->places[*at].band == band; ++*at) {
        const l2k_block *block = s->places[*at].block;
        if ((of_ht && only_ht) || !block->received.first)
            continue;
        if (block->kind == L2K_BLOCK_MQ)
            of_mq = l2k_max_u32(of_mq, block->num_planes);
        else
            of_ht = l2k_min_u32(band->max_planes, UINT8_MAX);
    }
    return l2k_max_u32(of_ht, planes_below(of_mq, band->component->coding->roi_shift));
}

/* ---- The plan ------------------------------------------------------------------------------------------------ */

/* Annex G requires components of one size, but their numbers of levels may differ (COC). The plan then gives values
 * without level shift: 5/3 ones in the widest range, 9/7 ones as floats, which only the CPU's plans can give. */
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

/* The narrowest type for the received blocks: int16 if every magnitude, for 9/7 doubled, has at most 15 bits. Blocks are
 * listed component by component, and subband by subband. */
static l2k_coefficient_type measure_components(l2k_tile_state *s, bool arrives)
{
    size_t at = 0;
    l2k_coefficient_type type = L2K_COEFFICIENT_INT16;
    for (uint32_t c = 0; c < s->tile.num_components; c++) {
        uint8_t bits[L2K_MAX_SUBBANDS] = {0};
        l2k_plan_component *k = &s->components[c];
        while (at < s->num_places && s->places[at].band->component->index == c) {
            const l2k_subband *band = s->places[at].band;
            const unsigned planes = measure_band(s, band, arrives, &at);
            bits[l2k_band_number(band->resolution, band->orientation)] = (uint8_t)planes;
            if (planes + l2k_wavelet_get(k->wavelet)->quantised > 15)
                type = L2K_COEFFICIENT_INT32;
        }
        k->narrow_low = l2k_low_fits_int16(k, bits);
    }
    return type;
}

/* The components' style; if only some have HT code-blocks, the style of both kinds. */
static unsigned style_of(const l2k_tile_state *s)
{
    enum { KINDS = L2K_STYLE_HT | L2K_STYLE_HT_MIXED };
    const unsigned style = s->tile.coding->components[0].style;
    for (uint32_t c = 1; c < s->tile.num_components; c++)
        if ((s->tile.coding->components[c].style ^ style) & KINDS)
            return KINDS;
    return style;
}

l2k_decode_request l2k_decode_request_of(const l2k_decoding *d, l2k_tile_state *s)
{
    return (l2k_decode_request){.style = style_of(s),
                                .off_host = d->off_host,
                                .stream = d->stream,
                                .coefficients = !d->planes,
                                .blocks_on_host = d->blocks_on_host,
                                .places = s->to_decode,
                                .num_places = s->num_to_decode,
                                .tile = &s->tile,
                                .one_component = d->only != UINT32_MAX,
                                .bytes = s->bytes,
                                .num_bytes = s->num_bytes,
                                .damaged = &s->damaged,
                                .units = L2K_UNITS_TILE_BLOCKS,
                                .planes = s->planes};
}

/* For the only wanted component there is no component transform. If the plan will not run, only its views matter. */
l2k_status l2k_prepare_blocks(const l2k_decoding *d, l2k_tile_state *s, l2k_engine *engine, l2k_engine_slot *slot)
{
    l2k_decode_request request = l2k_decode_request_of(d, s);
    const uint32_t forced = d->context->strip_samples; /* the least strips for rows that are waited for */
    l2k_plan_spec spec = {.direction = L2K_INVERSE,
                          .by_rows = d->planes && !d->cache,
                          .strip_samples = d->arrives && !forced ? 1 : forced};
    l2k_coding_plan_spec(&d->codestream->siz, &s->coding, s->tile.rect, d->discard, s->components, &spec);
    for (uint32_t c = 0; c < s->tile.num_components; c++)
        l2k_window_enter(d, c, &s->components[c]);
    spec.type = measure_components(s, d->arrives);
    if (!d->planes)
        spec.type = L2K_COEFFICIENT_INT32;
    spec.component_transform = spec.component_transform && d->planes;
    if (d->only != UINT32_MAX) {
        spec.component_transform = false;
        spec.num_components = 1;
        spec.components = &s->components[d->only];
    }
    join_later(s, &spec);
    request.spec = &spec;
    L2K_TRY(l2k_engine_prepare_decode(engine, slot, &request, &s->on_host));
    for (uint32_t c = 0; c < s->tile.num_components; c++)
        if (l2k_wants_component(d, c))
            l2k_engine_set_view(slot, l2k_number_in_plan(d, c), &s->tile.components[c]);
    return L2K_OK;
}
