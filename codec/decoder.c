#include "codec/decoder.h"

#include <string.h>

#include "base/memory.h"
#include "base/options.h"

static const l2k_option_rule rules[] = {
    [L2K_DECODER_REDUCE] = {"number of resolutions to leave out", 0, L2K_MAX_LEVELS, 0},
    [L2K_DECODER_LAYERS] = {"number of layers", 0, 65535, 0},
    [L2K_DECODER_COMPONENT] = {"component", -1, L2K_MAX_COMPONENTS - 1, -1},
    [L2K_DECODER_THREADS] = {"number of threads", 0, 1024, 0},
    [L2K_DECODER_BACKEND] = {"backend", 0, L2K_BACKEND_CUDA, L2K_BACKEND_AUTO},
    [L2K_DECODER_LIMIT_SAMPLES] = {"limit of samples", 0, INT64_MAX, (int64_t)1 << 36},
    [L2K_DECODER_LIMIT_BYTES] = {"limit of bytes", 0, INT64_MAX, (int64_t)1 << 40},
    [L2K_DECODER_GPU_MIN_SAMPLES] = {"number of samples for the GPU", 0, INT64_MAX, L2K_GPU_MIN_SAMPLES},
    [L2K_DECODER_STRICT] = {"strictness", 0, 1, 0},
};

enum { NUM_OPTIONS = sizeof rules / sizeof *rules };

l2k_decoder *l2k_decoder_new(const l2k_hooks *hooks)
{
    l2k_context context = {.threads = 1};
    if (hooks)
        context.hooks = *hooks;
    l2k_decoder *decoder = l2k_allocate_zeroed(&context, 1, sizeof *decoder);
    if (!decoder)
        return NULL;
    decoder->context = context;
    decoder->context.choice = &decoder->choice;
    l2k_options_reset(rules, NUM_OPTIONS, decoder->options);
    return decoder;
}

static void close_file(l2k_decoder *decoder)
{
    decoder->is_open = false;
    l2k_codestream_close(&decoder->codestream);
    l2k_jp2_close(&decoder->jp2);
    l2k_release(&decoder->context, decoder->outputs);
    l2k_release(&decoder->context, decoder->components);
    decoder->outputs = NULL;
    decoder->components = NULL;
    decoder->num_outputs = 0;
    decoder->file.context = &decoder->context;
    l2k_buffer_release(&decoder->file);
}

void l2k_decoder_free(l2k_decoder *decoder)
{
    if (!decoder)
        return;
    close_file(decoder);
    l2k_context context = decoder->context;
    l2k_release(&context, decoder);
}

l2k_status l2k_decoder_set(l2k_decoder *decoder, l2k_decoder_option option, int64_t value)
{
    return l2k_option_set(&decoder->context, rules, NUM_OPTIONS, decoder->options, option, value);
}

l2k_status l2k_decoder_set_region(l2k_decoder *decoder, uint32_t x0, uint32_t y0, uint32_t x1, uint32_t y1)
{
    if (x0 >= x1 || y0 >= y1)
        return l2k_fail(&decoder->context, L2K_ERROR_ARGUMENT, "region %u,%u,%u,%u is empty", x0, y0, x1, y1);
    decoder->region = (l2k_rect){x0, y0, x1, y1};
    decoder->has_region = true;
    return L2K_OK;
}

/* ---- Opening ------------------------------------------------------------------------------------------------- */

static l2k_status read_all(l2k_decoder *decoder, const l2k_stream *stream)
{
    const l2k_context *context = &decoder->context;
    l2k_buffer *file = &decoder->file;
    uint64_t limit = (uint64_t)decoder->options[L2K_DECODER_LIMIT_BYTES];
    for (;;) {
        if (!l2k_buffer_grow(file, 1 << 16))
            return l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for the file");
        ptrdiff_t got = stream->read(stream->user, file->data + file->size, file->capacity - file->size);
        if (got < 0)
            return l2k_fail(context, L2K_ERROR_IO, "reading failed");
        if (got == 0)
            return L2K_OK;
        file->size += (size_t)got;
        if (file->size > limit)
            return l2k_fail(context, L2K_ERROR_LIMIT, "the file has more than %llu bytes", (unsigned long long)limit);
    }
}

static l2k_status open_bytes(l2k_decoder *decoder, const uint8_t *data, size_t bytes)
{
    const l2k_context *context = &decoder->context;
    if (bytes == 0)
        return l2k_fail(context, L2K_ERROR_TRUNCATED, "the file is empty");
    decoder->is_jp2 = l2k_jp2_detect(data, bytes);
    if (decoder->is_jp2) {
        L2K_TRY(l2k_jp2_open(context, data, bytes, &decoder->jp2));
        data += decoder->jp2.codestream_at;
        bytes = decoder->jp2.codestream_bytes;
    } else if (bytes < 2 || data[0] != 0xFF || data[1] != 0x4F) {
        return l2k_fail(context, L2K_ERROR_FORMAT, "neither a JP2 file nor a JPEG 2000 codestream");
    }
    l2k_codestream_limits limits = {(uint64_t)decoder->options[L2K_DECODER_LIMIT_SAMPLES],
                                    decoder->options[L2K_DECODER_STRICT]};
    L2K_TRY(l2k_codestream_open(context, data, bytes, &limits, &decoder->codestream));
    return l2k_decoder_plan_outputs(decoder);
}

static l2k_status finish_opening(l2k_decoder *decoder, l2k_status status)
{
    if (status != L2K_OK)
        close_file(decoder);
    else
        decoder->is_open = true;
    return status;
}

l2k_status l2k_decoder_open(l2k_decoder *decoder, const l2k_stream *stream)
{
    if (!stream || !stream->read)
        return l2k_fail(&decoder->context, L2K_ERROR_ARGUMENT, "no stream to read from");
    close_file(decoder);
    l2k_status status = read_all(decoder, stream);
    if (status == L2K_OK)
        status = open_bytes(decoder, decoder->file.data, decoder->file.size);
    return finish_opening(decoder, status);
}

l2k_status l2k_decoder_open_memory(l2k_decoder *decoder, const void *data, size_t bytes)
{
    const l2k_context *context = &decoder->context;
    if (!data)
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "no file to read from");
    close_file(decoder);
    if (bytes > (uint64_t)decoder->options[L2K_DECODER_LIMIT_BYTES])
        return l2k_fail(context, L2K_ERROR_LIMIT, "a file of %zu bytes is more than the limit allows", bytes);
    return finish_opening(decoder, open_bytes(decoder, data, bytes));
}

/* ---- Facts --------------------------------------------------------------------------------------------------- */

static l2k_status not_open(const l2k_decoder *decoder)
{
    return l2k_fail(&decoder->context, L2K_ERROR_STATE, "no file has been opened");
}

static void describe_colour(const l2k_decoder *decoder, l2k_image *image)
{
    image->colour = decoder->jp2.colour;
    image->icc = decoder->jp2.icc;
    image->icc_bytes = decoder->jp2.icc_bytes;
    image->lab = decoder->jp2.lab;
    image->density_x = decoder->jp2.density_x;
    image->density_y = decoder->jp2.density_y;
}

/* What the components mean, as far as they are channels themselves. */
static void describe_channels(l2k_decoder *decoder)
{
    const l2k_siz *siz = &decoder->codestream.siz;
    for (uint32_t c = 0; c < siz->num_components; c++) {
        siz->components[c].channel = L2K_CHANNEL_COLOUR;
        siz->components[c].association = c + 1;
    }
    for (uint32_t k = 0; k < decoder->num_outputs; k++) {
        l2k_output output = decoder->outputs[k];
        if (output.through_palette)
            continue;
        siz->components[output.source].channel = decoder->components[k].channel;
        siz->components[output.source].association = decoder->components[k].association;
    }
}

static void describe_coding(const l2k_decoder *decoder, l2k_info *info)
{
    const l2k_tile_coding *coding = &decoder->codestream.coding;
    const l2k_component_coding *first = &coding->components[0];
    info->wavelet = (l2k_wavelet)first->wavelet;
    info->levels = first->levels;
    info->block_width = 1u << first->log2_block_width;
    info->block_height = 1u << first->log2_block_height;
    info->style = first->style;
    info->guard_bits = first->guard_bits;
    info->default_precincts = !first->user_precincts;
    for (unsigned r = 0; r <= first->levels; r++)
        info->precincts[r] = (l2k_size){1u << first->log2_precinct_width[r], 1u << first->log2_precinct_height[r]};
    info->progression = (l2k_progression)coding->progression;
    info->num_layers = coding->num_layers;
    info->component_transform = coding->component_transform;
    info->sop = coding->sop;
    info->eph = coding->eph;
}

l2k_status l2k_decoder_info(l2k_decoder *decoder, l2k_info *info)
{
    if (!decoder->is_open)
        return not_open(decoder);
    const l2k_codestream *cs = &decoder->codestream;
    const l2k_tile_grid *grid = &cs->siz.grid;
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
                       .comment = cs->comment};
    for (uint32_t c = 0; c < cs->siz.num_components; c++)
        l2k_component_size(&info->image, c, &cs->siz.components[c].width, &cs->siz.components[c].height);
    L2K_TRY(l2k_decoder_plan_outputs(decoder)); /* l2k_decoder_image may have put one component in their place */
    describe_channels(decoder);
    describe_colour(decoder, &info->image);
    describe_coding(decoder, info);
    return L2K_OK;
}

l2k_status l2k_decoder_box(const l2k_decoder *decoder, size_t index, l2k_box *box)
{
    if (!decoder->is_open)
        return not_open(decoder);
    if (index >= decoder->jp2.num_boxes)
        return L2K_ERROR_ARGUMENT;
    *box = decoder->jp2.boxes[index];
    return L2K_OK;
}

/* What only the opened file can tell; whether a tile has enough resolutions, decoding checks. */
static l2k_status check_options(const l2k_decoder *decoder)
{
    const l2k_codestream *cs = &decoder->codestream;
    uint32_t only = l2k_decoder_only_component(decoder);
    if (only != UINT32_MAX && only >= cs->siz.num_components)
        return l2k_fail(&decoder->context, L2K_ERROR_ARGUMENT, "component %u of only %u", only, cs->siz.num_components);
    return L2K_OK;
}

static void describe_output(const l2k_decoder *decoder, l2k_rect area, uint32_t k, l2k_component *component)
{
    l2k_output output = l2k_decoder_output(decoder, k);
    const l2k_component *source = &decoder->codestream.siz.components[output.source];
    l2k_rect rect = l2k_decoder_component_area(decoder, area, output.source);
    component->dx = source->dx;
    component->dy = source->dy;
    component->precision = source->precision;
    component->is_signed = source->is_signed;
    component->width = l2k_rect_width(rect);
    component->height = l2k_rect_height(rect);
    if (output.through_palette) {
        component->precision = decoder->jp2.palette.precision[output.column];
        component->is_signed = decoder->jp2.palette.is_signed[output.column];
    }
}

l2k_status l2k_decoder_image(l2k_decoder *decoder, l2k_image *image)
{
    if (!decoder->is_open)
        return not_open(decoder);
    l2k_rect area;
    L2K_TRY(check_options(decoder));
    L2K_TRY(l2k_decoder_area(decoder, &area));
    *image = (l2k_image){.x0 = area.x0,
                         .y0 = area.y0,
                         .x1 = area.x1,
                         .y1 = area.y1,
                         .num_components = l2k_decoder_num_outputs(decoder),
                         .components = decoder->components};
    describe_colour(decoder, image);
    if (l2k_decoder_only_component(decoder) != UINT32_MAX) {
        image->colour = L2K_COLOUR_UNKNOWN;
        image->icc = NULL;
        image->icc_bytes = 0;
        decoder->components[0] = (l2k_component){.channel = L2K_CHANNEL_COLOUR, .association = 1};
    } else {
        L2K_TRY(l2k_decoder_plan_outputs(decoder));
        image->components = decoder->components;
    }
    for (uint32_t k = 0; k < image->num_components; k++) {
        describe_output(decoder, area, k, &decoder->components[k]);
        if (decoder->components[k].width == 0 || decoder->components[k].height == 0)
            return l2k_fail(&decoder->context, L2K_ERROR_ARGUMENT, "component %u has no samples in this region", k);
    }
    return L2K_OK;
}
