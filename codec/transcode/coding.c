/* The headers of a transcoded codestream: what comes from the input, and what the encoder's options change. */
#include "codec/transcode/transcode.h"

#include <string.h>

#include "base/integer.h"
#include "base/partial.h"
#include "codec/codestream/markers.h"

enum { KINDS = L2K_STYLE_HT | L2K_STYLE_HT_MIXED };

static int64_t option(const l2k_transcoding *t, l2k_encoder_option option)
{
    return t->encoder->options[option];
}

bool l2k_transcode_recodes(const l2k_transcoding *t, const l2k_component_coding *coding)
{
    return l2k_transcode_given(t, L2K_ENCODER_STYLE) &&
           (coding->style & KINDS) != (option(t, L2K_ENCODER_STYLE) & L2K_STYLE_HT);
}

static unsigned discarded(const l2k_transcoding *t)
{
    return (unsigned)t->decoder->options[L2K_DECODER_REDUCE];
}

/* ---- A component, and a tile ----------------------------------------------------------------------------------- */

/* Levels split as before, the highest ones left out. */
static void reduce_component(unsigned discard, l2k_component_coding *coding)
{
    coding->levels = (uint8_t)(coding->levels - l2k_min_u32(discard, coding->levels));
    coding->unsplit = l2k_unsplit_behind(coding->unsplit, discard);
    if (l2k_splits_all(coding->unsplit))
        coding->split_style = 0;
    if (coding->quantisation != L2K_QUANT_DERIVED)
        coding->num_steps = (uint8_t)l2k_coding_bands(coding);
}

/* Vertically causal contexts say which samples a SigProp pass has, in both kinds of code-blocks. */
static l2k_status change_component(const l2k_transcoding *t, l2k_component_coding *coding)
{
    const bool recodes = l2k_transcode_recodes(t, coding);
    if (coding->style & L2K_STYLE_HT_MIXED && !recodes)
        return l2k_fail(&t->encoder->context, L2K_ERROR_UNSUPPORTED,
                        "HT and MQ code-blocks in one subband are only coded again, as one of the two");
    if (discarded(t))
        reduce_component(discarded(t), coding);
    if (recodes) {
        coding->style = (uint8_t)((coding->style | option(t, L2K_ENCODER_STYLE)) & L2K_STYLE_VSC) |
                        (uint8_t)(option(t, L2K_ENCODER_STYLE) & ~L2K_STYLE_VSC);
        coding->roi_shift = 0;
    }
    if (t->encoder->num_precincts)
        l2k_encode_set_precincts(&t->settings, coding);
    return L2K_OK;
}

/* Layers of MQ code-blocks end where no HT set does. */
static uint32_t layers_of(const l2k_transcoding *t, const l2k_tile_coding *from)
{
    const uint32_t wanted = (uint32_t)t->decoder->options[L2K_DECODER_LAYERS];
    for (uint32_t c = 0; c < t->input->siz.num_components; c++)
        if (l2k_transcode_recodes(t, &from->components[c]) && option(t, L2K_ENCODER_STYLE) & L2K_STYLE_HT)
            return 1;
    return wanted ? l2k_min_u32(wanted, from->num_layers) : from->num_layers;
}

/* Changes a copy of the input's parameters. A given order replaces progression order changes. */
static l2k_status change_coding(const l2k_transcoding *t, l2k_tile_coding *coding)
{
    const unsigned discard = discarded(t);
    coding->num_layers = layers_of(t, coding);
    if (t->encoder->num_poc || l2k_transcode_given(t, L2K_ENCODER_PROGRESSION))
        coding->num_changes = 0;
    l2k_clip_changes(coding, t->input->siz.num_components);
    if (l2k_transcode_given(t, L2K_ENCODER_PROGRESSION))
        coding->progression = (uint8_t)option(t, L2K_ENCODER_PROGRESSION);
    if (l2k_transcode_given(t, L2K_ENCODER_SOP))
        coding->sop = option(t, L2K_ENCODER_SOP);
    if (l2k_transcode_given(t, L2K_ENCODER_EPH))
        coding->eph = option(t, L2K_ENCODER_EPH);
    coding->levels = (uint8_t)(coding->levels - l2k_min_u32(discard, coding->levels));
    for (unsigned i = 1; i <= L2K_MOST_DFS; i++) {
        uint8_t *levels = &coding->splits.levels[i];
        *levels = (uint8_t)(*levels - l2k_min_u32(discard, *levels));
        coding->splits.of[i] = l2k_unsplit_behind(coding->splits.of[i], discard);
    }
    for (uint32_t c = 0; c < t->input->siz.num_components; c++)
        L2K_TRY(change_component(t, &coding->components[c]));
    return L2K_OK;
}

/* What CAP says of HT code-blocks that are coded again; the order of packets does not matter to it. */
static void note_capabilities(const l2k_transcoding *t, l2k_encoding *e, l2k_tile_coding as_main)
{
    as_main.changes = e->coding.changes;
    as_main.num_changes = e->coding.num_changes;
    if (!l2k_transcode_given(t, L2K_ENCODER_STYLE) || !e->coding.capabilities.parts)
        return;
    for (uint32_t c = 0; c < e->siz.num_components; c++)
        if (!l2k_coding_wavelet(&as_main.components[c])->reversible)
            e->coding.capabilities.ht |= L2K_HT_IRREVERSIBLE;
    if (!l2k_tile_coding_equals(&as_main, &e->coding, e->siz.num_components))
        e->coding.capabilities.ht |= L2K_HT_HETEROGENEOUS;
}

l2k_status l2k_transcode_take_coding(l2k_transcoding *t, uint32_t tile, const l2k_tile_coding *from)
{
    l2k_encoding *e = &t->encoder->encoding;
    const l2k_tile_coding *given = l2k_coding_of_tile(e, tile);
    L2K_TRY(l2k_tile_coding_copy(e->context, from, e->siz.num_components, &t->own));
    L2K_TRY(change_coding(t, &t->own));
    note_capabilities(t, e, t->own);
    t->shown = t->own;
    if (t->encoder->num_poc) {
        t->shown.changes = given->changes;
        t->shown.num_changes = given->num_changes;
    }
    e->present = &t->shown;
    return L2K_OK;
}

void l2k_transcode_release_coding(l2k_transcoding *t)
{
    t->encoder->encoding.present = NULL;
    l2k_tile_coding_release(&t->encoder->context, &t->own);
}

/* ---- The main header ------------------------------------------------------------------------------------------- */

/* Divides the reference grid as often as the highest levels divide the picture. */
static l2k_status reduce_grid(const l2k_transcoding *t, l2k_siz *siz)
{
    const l2k_context *context = &t->encoder->context;
    const l2k_component_coding *components = t->input->coding.components;
    const unsigned discard = discarded(t), across = l2k_count_across(components[0].unsplit, discard),
                   down = l2k_count_down(components[0].unsplit, discard);
    const l2k_tile_grid from = siz->grid;
    l2k_tile_grid *to = &siz->grid;
    const bool alone[] = {l2k_tiles_across(&from) == 1, l2k_tiles_down(&from) == 1};
    to->image = (l2k_rect){l2k_ceil_shift(from.image.x0, across), l2k_ceil_shift(from.image.y0, down),
                           l2k_ceil_shift(from.image.x1, across), l2k_ceil_shift(from.image.y1, down)};
    to->tile_x0 = l2k_ceil_shift(from.tile_x0, across);
    to->tile_y0 = l2k_ceil_shift(from.tile_y0, down);
    to->tile_width = alone[0] ? l2k_max_u32(to->image.x1 - to->tile_x0, 1) : from.tile_width >> across;
    to->tile_height = alone[1] ? l2k_max_u32(to->image.y1 - to->tile_y0, 1) : from.tile_height >> down;
    bool fits = (alone[0] || to->tile_width << across == from.tile_width) &&
                (alone[1] || to->tile_height << down == from.tile_height) && !l2k_rect_empty(to->image);
    fits = fits && l2k_tiles_across(to) == l2k_tiles_across(&from) && l2k_tiles_down(to) == l2k_tiles_down(&from) &&
           !l2k_rect_empty(l2k_tile_rect(to, 0));
    for (uint32_t c = 0; fits && c < siz->num_components; c++)
        fits = l2k_same_splits(components[c].unsplit, components[0].unsplit, discard) &&
               !l2k_rect_empty(l2k_component_rect(to->image, siz->components[c].dx, siz->components[c].dy));
    if (!fits)
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "without %u resolutions the tiles of %u x %u have no regular size",
                        discard, from.tile_width, from.tile_height);
    return L2K_OK;
}

/* Copies what decoding does not need: comments, and the components' positions. */
static l2k_status copy_segments(const l2k_transcoding *t, l2k_buffer *to)
{
    const l2k_codestream *input = t->input;
    const uint8_t *at = input->data + 2;
    while (at < input->first) {
        const uint8_t *start = at;
        l2k_segment segment;
        L2K_TRY(l2k_segment_next(input->context, &at, input->first, &segment));
        if (segment.marker != L2K_CRG && (segment.marker != L2K_COM || t->encoder->comment))
            continue;
        L2K_TRY(l2k_need(input->context, start, at));
        l2k_buffer_append(to, start, (size_t)(at - start));
    }
    return l2k_buffer_status(to);
}

/* Rsiz, CAP and CPF: the profile of a codestream with the other coder is its counterpart's. A profile is kept if packets
 * and tile-parts are. */
static l2k_status set_capabilities(l2k_transcoding *t, l2k_encoding *e)
{
    const l2k_capabilities *from = &t->input->coding.capabilities;
    const uint32_t rsiz = t->input->siz.profile & ~L2K_RSIZ_CAP;
    const bool was_ht = from->parts & L2K_PART_15, given = l2k_transcode_given(t, L2K_ENCODER_STYLE),
               is_ht = given ? option(t, L2K_ENCODER_STYLE) & L2K_STYLE_HT : was_ht;
    uint64_t profile = was_ht ? from->corresponding_profile - (from->corresponding_profile > 0) : rsiz;
    static const uint64_t order =
        1 << L2K_ENCODER_PROGRESSION | 1 << L2K_ENCODER_SOP | 1 << L2K_ENCODER_EPH | 1 << L2K_ENCODER_TILE_PARTS;
    if (t->encoder->given & order || t->encoder->num_poc || t->encoder->num_precincts || discarded(t) ||
        rsiz & L2K_RSIZ_PART_2 || profile >= 4095)
        profile = 0;
    e->siz.profile = (rsiz & L2K_RSIZ_PART_2 ? rsiz : 0) | (is_ht ? L2K_RSIZ_CAP : 0);
    e->coding.capabilities = (l2k_capabilities){.parts = is_ht ? L2K_PART_15 : 0};
    if (is_ht && was_ht) {
        e->magnitude_bound = (uint8_t)l2k_magnitude_bound(from->ht & L2K_HT_MAGNITUDE_BITS);
        e->coding.capabilities.ht = given ? from->ht & 0x3FFF : from->ht; /* HT code-blocks alone */
    }
    note_capabilities(t, e, e->coding);
    t->settings.options[L2K_ENCODER_PROFILE] = (int64_t)profile;
    if (l2k_transcode_given(t, L2K_ENCODER_PROFILE)) {
        t->settings.options[L2K_ENCODER_PROFILE] = option(t, L2K_ENCODER_PROFILE);
        return l2k_profile_setup(&t->settings, e);
    }
    if (is_ht && profile)
        e->coding.capabilities.corresponding_profile = profile + 1;
    else
        e->siz.profile |= (uint32_t)profile;
    return L2K_OK;
}

static l2k_status take_main_coding(l2k_transcoding *t, l2k_encoding *e)
{
    const l2k_status status = l2k_tile_coding_copy(e->context, &t->input->coding, e->siz.num_components, &e->coding);
    e->changes = e->coding.changes; /* where an encoding has them */
    L2K_TRY(status);
    L2K_TRY(change_coding(t, &e->coding));
    L2K_TRY(set_capabilities(t, e));
    if (!t->encoder->num_poc)
        return L2K_OK;
    l2k_poc_release(e);
    return l2k_poc_setup(&t->settings, e);
}

l2k_status l2k_transcode_setup(l2k_transcoding *t)
{
    l2k_encoder *encoder = t->encoder;
    const l2k_context *context = &encoder->context;
    const l2k_siz *siz = &t->input->siz;
    l2k_encoding *e = &encoder->encoding;
    l2k_encode_release_tiles(encoder);
    *e = (l2k_encoding){.context = context,
                        .siz = *siz,
                        .num_tiles = t->input->num_tiles,
                        .segments = {.context = context},
                        .boxes = {.context = context},
                        .comment = encoder->comment ? encoder->comment : "",
                        .palette = &encoder->palette,
                        .format = t->decoder->is_jp2 ? L2K_FORMAT_JP2 : L2K_FORMAT_CODESTREAM,
                        .tlm = t->input->has_tlm};
    t->settings = (l2k_settings){.encoder = encoder,
                                 .precincts = encoder->precincts,
                                 .num_precincts = encoder->num_precincts,
                                 .poc = encoder->poc,
                                 .num_poc = encoder->num_poc};
    memcpy(t->settings.options, encoder->options, sizeof encoder->options);
    e->siz.components = l2k_allocate(context, siz->num_components, sizeof *e->siz.components);
    L2K_TRY(l2k_check_memory(context, e->siz.components, "%u components", siz->num_components));
    memcpy(e->siz.components, siz->components, siz->num_components * sizeof *siz->components);
    if (discarded(t))
        L2K_TRY(reduce_grid(t, &e->siz));
    L2K_TRY(take_main_coding(t, e));
    if (l2k_transcode_given(t, L2K_ENCODER_FORMAT))
        e->format = (l2k_format)option(t, L2K_ENCODER_FORMAT);
    if (l2k_transcode_given(t, L2K_ENCODER_TLM))
        e->tlm = option(t, L2K_ENCODER_TLM);
    e->plt = option(t, L2K_ENCODER_PLT);
    if (!l2k_transcode_given(t, L2K_ENCODER_PLT))
        L2K_TRY(l2k_codestream_has_plt(t->input, &e->plt));
    L2K_TRY(copy_segments(t, &e->segments));
    t->image = (l2k_image){.x0 = e->siz.grid.image.x0,
                           .y0 = e->siz.grid.image.y0,
                           .x1 = e->siz.grid.image.x1,
                           .y1 = e->siz.grid.image.y1,
                           .num_components = siz->num_components,
                           .components = e->siz.components};
    e->image = &t->image;
    const uint64_t units =
        L2K_UNITS_PACKETS + (l2k_transcode_given(t, L2K_ENCODER_STYLE) ? (uint64_t)L2K_UNITS_BLOCKS : 0);
    for (uint32_t c = 0; c < siz->num_components; c++)
        encoder->run.total +=
            units * l2k_rect_area(l2k_component_rect(e->siz.grid.image, siz->components[c].dx, siz->components[c].dy));
    encoder->num_tiles = 1;
    encoder->tiles = l2k_allocate_zeroed(context, 1, sizeof *encoder->tiles);
    L2K_TRY(l2k_check_memory(context, encoder->tiles, "a tile"));
    L2K_TRY(l2k_output_start(&encoder->output, context, 1));
    if (e->format == L2K_FORMAT_JP2 && t->decoder->is_jp2)
        return l2k_transcode_boxes(t);
    return L2K_OK;
}
