/* Describes an opened file and the image that decoding it will give. */
#include "codec/decode/decoder.h"

static void describe_colour(const l2k_decoder *decoder, l2k_image *image)
{
    image->colour = decoder->jp2.colour;
    image->icc = decoder->jp2.icc;
    image->icc_bytes = decoder->jp2.icc_bytes;
    image->lab = decoder->jp2.lab;
    image->density_x = decoder->jp2.density_x;
    image->density_y = decoder->jp2.density_y;
}

/* The meaning of components that are channels themselves. */
static void describe_channels(l2k_decoder *decoder)
{
    const l2k_siz *siz = &decoder->codestream.siz;
    for (uint32_t c = 0; c < siz->num_components; c++) {
        siz->components[c].channel = L2K_CHANNEL_COLOUR;
        siz->components[c].association = c + 1;
    }
    for (uint32_t k = 0; k < decoder->num_outputs; k++) {
        l2k_output_source output = decoder->outputs[k];
        if (output.through_palette)
            continue;
        siz->components[output.component].channel = decoder->components[k].channel;
        siz->components[output.component].association = decoder->components[k].association;
    }
}

/* Ccap15 (A.3 of T.814). */
static void describe_capabilities(const l2k_capabilities *capabilities, l2k_info *info)
{
    const unsigned word = capabilities->ht;
    info->capabilities = capabilities->parts;
    info->profile_number = capabilities->profile;
    info->corresponding_profile =
        capabilities->corresponding_profile > INT64_MAX ? INT64_MAX : (int64_t)capabilities->corresponding_profile - 1;
    info->ht = capabilities->parts & L2K_PART_15;
    if (!info->ht)
        return;
    info->ht_blocks = (l2k_ht_blocks)(word >> 14);
    info->ht_multiple_sets = word >> 13 & 1;
    info->ht_regions = word >> 12 & 1;
    info->ht_mixed_tiles = word & L2K_HT_HETEROGENEOUS;
    info->ht_irreversible = word & L2K_HT_IRREVERSIBLE;
    info->ht_magnitude_bits = l2k_magnitude_bound(word & L2K_HT_MAGNITUDE_BITS);
}

l2k_status l2k_decoder_info(l2k_decoder *decoder, l2k_info *info)
{
    L2K_TRY(l2k_decoder_check_open(decoder));
    const l2k_codestream *cs = &decoder->codestream;
    const l2k_tile_grid *grid = &cs->siz.grid;
    const l2k_component_coding *first = &cs->coding.components[0];
    *info = (l2k_info){.image = {.x0 = grid->image.x0,
                                 .y0 = grid->image.y0,
                                 .x1 = grid->image.x1,
                                 .y1 = grid->image.y1,
                                 .num_components = cs->siz.num_components,
                                 .components = cs->siz.components},
                       .format = decoder->is_jp2 ? L2K_FORMAT_JP2 : L2K_FORMAT_CODESTREAM,
                       .profile = cs->siz.profile,
                       .tile_x0 = grid->tile_x0,
                       .tile_y0 = grid->tile_y0,
                       .tile_width = grid->tile_width,
                       .tile_height = grid->tile_height,
                       .tiles_across = l2k_tiles_across(grid),
                       .tiles_down = l2k_tiles_down(grid),
                       .num_tile_parts = (uint32_t)cs->num_parts,
                       .palette_entries = decoder->jp2.palette.num_entries,
                       .codestream_bytes = (uint64_t)(cs->end - cs->data),
                       .tlm = cs->has_tlm,
                       .comment = cs->comment,
                       .wavelet = (l2k_wavelet)first->wavelet,
                       .levels = first->levels,
                       .block_width = 1u << first->log2_block_width,
                       .block_height = 1u << first->log2_block_height,
                       .style = first->style,
                       .guard_bits = first->guard_bits,
                       .default_precincts = !first->user_precincts,
                       .progression = (l2k_progression)cs->coding.progression,
                       .num_layers = cs->coding.num_layers,
                       .component_transform = cs->coding.component_transform,
                       .sop = cs->coding.sop,
                       .eph = cs->coding.eph};
    for (unsigned r = 0; r <= first->levels; r++)
        info->precincts[r] = (l2k_size){1u << first->log2_precinct_width[r], 1u << first->log2_precinct_height[r]};
    L2K_TRY(l2k_codestream_has_plt(cs, &info->plt));
    for (uint32_t c = 0; c < cs->siz.num_components; c++)
        l2k_component_size(&info->image, c, &cs->siz.components[c].width, &cs->siz.components[c].height);
    describe_channels(decoder);
    describe_colour(decoder, &info->image);
    describe_capabilities(&cs->coding.capabilities, info);
    return L2K_OK;
}

/* Before the text about a component, which is empty after an error. */
static l2k_status start_text(const l2k_decoder *decoder, uint32_t component, char *text, size_t bytes, size_t *length)
{
    *length = 0;
    if (bytes)
        *text = 0;
    L2K_TRY(l2k_decoder_check_open(decoder));
    if (component >= decoder->codestream.siz.num_components)
        return l2k_fail(&decoder->context, L2K_ERROR_ARGUMENT, "there is no component %u", (unsigned)component);
    return L2K_OK;
}

l2k_status l2k_decoder_kernel(const l2k_decoder *decoder, uint32_t component, char *text, size_t bytes, size_t *length)
{
    L2K_TRY(start_text(decoder, component, text, bytes, length));
    const l2k_wavelet_descriptor *own = decoder->codestream.coding.components[component].own;
    if (own)
        *length = l2k_kernel_print(&own->kernel, text, bytes);
    return L2K_OK;
}

l2k_status l2k_decoder_splits(const l2k_decoder *decoder, uint32_t component, char *text, size_t bytes, size_t *length)
{
    L2K_TRY(start_text(decoder, component, text, bytes, length));
    const l2k_component_coding *coding = &decoder->codestream.coding.components[component];
    *length = l2k_splits_print(coding->unsplit, coding->levels, text, bytes);
    return L2K_OK;
}

l2k_status l2k_decoder_box(const l2k_decoder *decoder, size_t index, l2k_box *box)
{
    L2K_TRY(l2k_decoder_check_open(decoder));
    if (index >= decoder->jp2.num_boxes)
        return L2K_ERROR_ARGUMENT;
    *box = decoder->jp2.boxes[index];
    return L2K_OK;
}

l2k_status l2k_decoder_box_data(l2k_decoder *decoder, size_t index, l2k_box_data *data)
{
    l2k_box box;
    L2K_TRY(l2k_decoder_box(decoder, index, &box));
    const uint8_t *at = decoder->data + box.offset;
    if (decoder->context.partial)
        decoder->pool.limit = l2k_decoder_memory_limit(decoder); /* the option may have changed */
    if (decoder->context.partial && box.bytes > decoder->pool.limit)
        return l2k_fail(&decoder->context, L2K_ERROR_LIMIT, "box '%s': %llu bytes are more than the limit allows",
                        box.type, (unsigned long long)box.bytes);
    L2K_TRY(l2k_need(&decoder->context, at, at + box.bytes));
    l2k_jp2_describe_box(decoder->data, &box, data);
    return L2K_OK;
}

/* The part of the reference grid to decode: the intersection of region and image area. */
static l2k_status find_area(const l2k_decoder *decoder, l2k_rect *area)
{
    const l2k_rect *image = &decoder->codestream.siz.grid.image;
    *area = decoder->has_region ? l2k_rect_intersect(decoder->region, *image) : *image;
    if (l2k_rect_empty(*area))
        return l2k_fail(&decoder->context, L2K_ERROR_ARGUMENT,
                        "region %u,%u,%u,%u lies outside the image, which is %u,%u,%u,%u", decoder->region.x0,
                        decoder->region.y0, decoder->region.x1, decoder->region.y1, image->x0, image->y0, image->x1,
                        image->y1);
    return L2K_OK;
}

l2k_status l2k_decoder_image(l2k_decoder *decoder, l2k_image *image)
{
    l2k_rect area;
    L2K_TRY(l2k_decoder_check_options(decoder));
    L2K_TRY(find_area(decoder, &area));
    *image = (l2k_image){
        .x0 = area.x0, .y0 = area.y0, .x1 = area.x1, .y1 = area.y1, .num_components = l2k_decoder_num_outputs(decoder)};
    decoder->shown = decoder->components;
    describe_colour(decoder, image);
    if (l2k_decoder_only_component(decoder) != UINT32_MAX) {
        image->colour = L2K_COLOUR_UNKNOWN;
        image->icc = NULL;
        image->icc_bytes = 0;
        decoder->alone = (l2k_component){.channel = L2K_CHANNEL_COLOUR, .association = 1};
        decoder->shown = &decoder->alone;
    }
    image->components = decoder->shown;
    for (uint32_t k = 0; k < image->num_components; k++) {
        l2k_decoder_describe_output(decoder, area, l2k_decoder_output(decoder, k), &decoder->shown[k]);
        if (decoder->shown[k].width == 0 || decoder->shown[k].height == 0)
            return l2k_fail(&decoder->context, L2K_ERROR_ARGUMENT, "component %u has no samples in this region", k);
    }
    return L2K_OK;
}
