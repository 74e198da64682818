/* Code-blocks from one coder to the other by their quantiser indices, as far as these are known. A code-block whose last
 * passes are missing has a last bit-plane and perhaps some passes on the next one, which an HT set and passes of Annex D
 * can both express. */
#include "codec/transcode/transcode.h"

#include <string.h>

#include "base/integer.h"
#include "codec/blocks/ht/ht_block.h"

/* No passes: more are missing than there are. */
enum { NOTHING = UINT8_MAX };

/* The passes that an MQ code-block lacks in the end, or would lack with the same knowledge of its samples; once a region
 * of interest is shifted down, which is done as far as it is whole. */
static unsigned missing_passes(const l2k_block_place *place, const l2k_received_block *received)
{
    const l2k_block *block = place->block;
    const unsigned all = 3u * block->num_planes - 2, shift = place->band->component->coding->roi_shift;
    unsigned missing = NOTHING, passes = 0;
    if (!received->first || !block->num_planes)
        return NOTHING;
    if (block->kind == L2K_BLOCK_MQ) {
        for (const l2k_contribution *c = received->first; c; c = c->next)
            passes += c->passes;
        missing = all - l2k_min_u32(all, passes);
    } else {
        const l2k_ht_received_set set = l2k_ht_find_set(received);
        if (!set.cleanup || set.number >= block->num_planes)
            return NOTHING;
        const unsigned plane = block->num_planes - 1u - set.number;
        missing = plane ? 3 * plane + 1 - set.passes : 0;
    }
    return (missing + 2) / 3 > shift ? missing - 3 * shift : 0;
}

/* Any number of bit-planes that leaves a point of truncation for all that may be missing. */
enum { COUNTED_BITS = 64 };

static l2k_block_truncation truncation_of(const l2k_block_place *place)
{
    const unsigned missing = missing_passes(place, &place->block->received);
    if (missing == NOTHING)
        return (l2k_block_truncation){.coded_point = L2K_NOT_CODED};
    return (l2k_block_truncation){
        .counted_bits = COUNTED_BITS, .point = (uint8_t)(3 * COUNTED_BITS - 2 - missing), .coded_point = L2K_NOT_CODED};
}

l2k_status l2k_transcode_divide(const l2k_transcoding *t, const l2k_block_place *from, l2k_tile *tile, l2k_block *to)
{
    const uint32_t num_layers = tile->coding->num_layers;
    const unsigned all = 3u * to->num_planes - 2;
    unsigned passes = 0;
    if (!to->num_passes || num_layers == 1)
        return L2K_OK;
    uint8_t *layers = to->coded.layer_passes = l2k_arena_take(&t->encoder->context, &tile->contributions, num_layers);
    L2K_TRY(l2k_check_memory(&t->encoder->context, layers, "coded blocks"));
    memset(layers, 0, num_layers);
    for (l2k_contribution *c = from->block->received.first, *next; c; c = next) {
        next = c->next;
        c->next = NULL; /* what has come so far */
        const unsigned missing = missing_passes(from, &from->block->received);
        c->next = next;
        passes = missing < all ? l2k_max_u32(passes, l2k_min_u32(all - missing, to->num_passes)) : passes;
        memset(layers + l2k_transcode_layer(c, num_layers), (int)passes,
               num_layers - l2k_transcode_layer(c, num_layers));
    }
    return L2K_OK;
}

/* Room for the coefficients of one code-block, which looks like a subband of its own to the decoding and to the encoding
 * coder. */
typedef struct cell {
    l2k_tile_component components[2];
    l2k_subband bands[2];
    l2k_coefficients view;
    int32_t samples[L2K_HT_SAMPLES];
} cell;

enum { CELLS = 128 };

/* What the coders get at once. */
typedef struct workshop {
    cell cells[CELLS];
    l2k_block_place places[2][CELLS]; /* [0] of the input */
    l2k_block_truncation truncations[CELLS];
    size_t count;
    uint64_t samples;
} workshop;

static void put_place(cell *c, int side, const l2k_block_place *place, l2k_block_place *to)
{
    c->components[side] = *place->band->component;
    c->components[side].view = &c->view;
    c->components[side].first_rows = NULL;
    c->bands[side] = *place->band;
    c->bands[side].component = &c->components[side];
    c->bands[side].rect = place->block->rect;
    c->bands[side].view_x = c->bands[side].view_y = 0;
    *to = (l2k_block_place){place->block, &c->bands[side]};
}

static void put_block(workshop *w, const l2k_block_place *from, const l2k_block_place *to)
{
    cell *c = &w->cells[w->count];
    const l2k_rect rect = from->block->rect;
    const l2k_band_view band = {0, 0, l2k_rect_width(rect), l2k_rect_height(rect)};
    put_place(c, 0, from, &w->places[0][w->count]);
    put_place(c, 1, to, &w->places[1][w->count]);
    c->view.base = c->samples;
    c->view.type = L2K_COEFFICIENT_INT32;
    c->view.stride = band.width;
    c->view.bands[l2k_band_number(from->band->resolution, from->band->orientation)] = band;
    w->truncations[w->count++] = truncation_of(from);
    w->samples += l2k_rect_area(rect);
}

/* Tier-1 leaves twice the index at which to reconstruct (E.1.1.2). Its half, rounded towards 0, is the index itself if
 * all its bits are known, else the middle of its interval. */
static void halve(workshop *w)
{
    for (size_t i = 0; i < w->count; i++)
        if (l2k_coding_wavelet(w->cells[i].components[0].coding)->quantised)
            for (uint64_t k = 0; k < l2k_rect_area(w->cells[i].bands[0].rect); k++)
                w->cells[i].samples[k] /= 2;
}

/* Decodes and codes what has been put; `damaged` is the tile's. */
static l2k_status work(l2k_transcoding *t, workshop *w, atomic_bool *damaged, bool lengths)
{
    const unsigned style = (unsigned)t->encoder->options[L2K_ENCODER_STYLE];
    const l2k_block_batch in = {.places = w->places[0],
                                .num_places = w->count,
                                .damaged = damaged,
                                .units = L2K_UNITS_BLOCKS * w->samples},
                          out = {.places = w->places[1],
                                 .num_places = w->count,
                                 .distortions = lengths,
                                 .task = L2K_CODE_CUT,
                                 .truncations = w->truncations};
    if (!t->coders[0])
        L2K_TRY(l2k_block_coder_create(&t->encoder->context, l2k_decode_coders(t->input), &t->coders[0]));
    if (!t->coders[1])
        L2K_TRY(l2k_block_coder_create(&t->encoder->context, l2k_block_coder_for(style), &t->coders[1]));
    if (!w->count)
        return L2K_OK;
    L2K_TRY(t->coders[0]->table->begin_decode(t->coders[0], &in));
    L2K_TRY(t->coders[0]->table->finish(t->coders[0]));
    halve(w);
    L2K_TRY(t->coders[1]->table->begin_encode(t->coders[1], &out));
    w->count = 0;
    w->samples = 0;
    return t->coders[1]->table->finish(t->coders[1]);
}

static l2k_status code_blocks(l2k_transcoding *t, l2k_tile_state *s, const l2k_tile *tile, workshop *w)
{
    const bool lengths = tile->coding->num_layers > 1; /* of passes */
    for (size_t i = 0; i < tile->num_places; i++) {
        if (!s->places[i].block->received.first || !l2k_transcode_recodes(t, s->places[i].band->component->coding))
            continue;
        put_block(w, &s->places[i], &tile->places[i]);
        if (w->count == CELLS)
            L2K_TRY(work(t, w, &s->damaged, lengths));
    }
    return work(t, w, &s->damaged, lengths);
}

l2k_status l2k_transcode_recode(l2k_transcoding *t, l2k_tile_state *s, const l2k_tile *tile)
{
    const l2k_context *context = &t->encoder->context;
    const double start = l2k_stage_start(context);
    workshop *w = l2k_allocate_zeroed(context, 1, sizeof *w);
    l2k_status status = l2k_check_memory(context, w, "code-blocks");
    if (status == L2K_OK)
        status = code_blocks(t, s, tile, w);
    l2k_release(context, w);
    l2k_stage_end(context, L2K_STAGE_TIER1, start);
    return status;
}
