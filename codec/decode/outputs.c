/* From the codestream's components to the image's: component mapping through the palette, channel definitions (I.5.3.4
 * to I.5.3.6). */
#include "codec/decode/decoder.h"

#include <stdlib.h>

#include "base/sample.h"

uint32_t l2k_decoder_only_component(const l2k_decoder *decoder)
{
    int64_t only = decoder->options[L2K_DECODER_COMPONENT];
    return only < 0 ? UINT32_MAX : (uint32_t)only;
}

uint32_t l2k_decoder_num_outputs(const l2k_decoder *decoder)
{
    return l2k_decoder_only_component(decoder) != UINT32_MAX ? 1 : decoder->num_outputs;
}

l2k_output_source l2k_decoder_output(const l2k_decoder *decoder, uint32_t k)
{
    uint32_t only = l2k_decoder_only_component(decoder);
    return only != UINT32_MAX ? (l2k_output_source){.component = only} : decoder->outputs[k];
}

void l2k_decoder_describe_output(const l2k_decoder *decoder, l2k_rect area, l2k_output_source output,
                                 l2k_component *component)
{
    const l2k_component *source = &decoder->codestream.siz.components[output.component];
    l2k_rect rect =
        l2k_reduced_rect(&decoder->codestream, output.component, area, (unsigned)decoder->options[L2K_DECODER_REDUCE]);
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

/* ---- Order of the outputs ------------------------------------------------------------------------------------ */

static l2k_status map_channels(l2k_decoder *decoder)
{
    const l2k_jp2 *jp2 = &decoder->jp2;
    const l2k_context *context = &decoder->context;
    for (uint32_t k = 0; k < decoder->num_outputs; k++) {
        if (!jp2->num_channels) {
            decoder->outputs[k] = (l2k_output_source){.component = k};
            continue;
        }
        const l2k_channel_map *map = &jp2->channels[k];
        if (map->component >= decoder->codestream.siz.num_components)
            return l2k_fail(context, L2K_ERROR_CORRUPT, "box 'cmap': component %u does not exist", map->component);
        if (map->through_palette && map->column >= jp2->palette.num_columns)
            return l2k_fail(context, L2K_ERROR_CORRUPT, "box 'cmap': palette column %u does not exist", map->column);
        decoder->outputs[k] = (l2k_output_source){map->component, map->through_palette, map->column};
    }
    return L2K_OK;
}

/* Without a definition every channel is the next colour (I.5.3.6). */
static l2k_status define_channels(l2k_decoder *decoder)
{
    for (uint32_t k = 0; k < decoder->num_outputs; k++)
        decoder->components[k] = (l2k_component){.channel = L2K_CHANNEL_COLOUR, .association = k + 1};
    for (size_t i = 0; i < decoder->jp2.num_definitions; i++) {
        const l2k_channel_definition *d = &decoder->jp2.definitions[i];
        if (d->channel >= decoder->num_outputs)
            return l2k_fail(&decoder->context, L2K_ERROR_CORRUPT, "box 'cdef': channel %u does not exist", d->channel);
        decoder->components[d->channel].channel =
            d->type <= L2K_CHANNEL_PREMULTIPLIED_OPACITY ? (l2k_channel)d->type : L2K_CHANNEL_UNSPECIFIED;
        decoder->components[d->channel].association = d->association;
    }
    return L2K_OK;
}

/* Colours come first, in the order of their association; the rest as it comes. */
typedef struct ranked {
    uint64_t rank; /* in the low bits the original place, so that no two are equal */
    l2k_output_source output;
    l2k_component component;
} ranked;

static int by_rank(const void *a, const void *b)
{
    uint64_t first = ((const ranked *)a)->rank, second = ((const ranked *)b)->rank;
    return first < second ? -1 : first > second;
}

static l2k_status sort_channels(l2k_decoder *decoder)
{
    ranked *all = l2k_allocate(&decoder->context, decoder->num_outputs, sizeof *all);
    L2K_TRY(l2k_check_memory(&decoder->context, all, "%u channels", decoder->num_outputs));
    for (uint32_t k = 0; k < decoder->num_outputs; k++) {
        const l2k_component *own = &decoder->components[k];
        const uint64_t rank = own->channel == L2K_CHANNEL_COLOUR ? own->association : UINT32_MAX;
        all[k] = (ranked){rank << 32 | k, decoder->outputs[k], *own};
    }
    qsort(all, decoder->num_outputs, sizeof *all, by_rank);
    for (uint32_t k = 0; k < decoder->num_outputs; k++) {
        decoder->outputs[k] = all[k].output;
        decoder->components[k] = all[k].component;
    }
    l2k_release(&decoder->context, all);
    return L2K_OK;
}

l2k_status l2k_decoder_plan_outputs(l2k_decoder *decoder, const l2k_sample_limits *limits)
{
    const l2k_context *context = &decoder->context;
    const l2k_rect image = decoder->codestream.siz.grid.image;
    size_t count = decoder->jp2.num_channels ? decoder->jp2.num_channels : decoder->codestream.siz.num_components;
    if (count > L2K_MAX_COMPONENTS)
        return l2k_fail(context, L2K_ERROR_CORRUPT, "box 'cmap': %zu channels", count);
    decoder->num_outputs = (uint32_t)count;
    decoder->outputs = l2k_allocate(context, count, sizeof *decoder->outputs);
    decoder->components = l2k_allocate_zeroed(context, count, sizeof *decoder->components);
    L2K_TRY(l2k_check_memory(context, decoder->outputs && decoder->components, "%zu components", count));
    L2K_TRY(map_channels(decoder));
    L2K_TRY(define_channels(decoder));
    L2K_TRY(sort_channels(decoder));
    for (uint32_t k = 0; k < decoder->num_outputs; k++)
        l2k_decoder_describe_output(decoder, image, decoder->outputs[k], &decoder->components[k]);
    return l2k_check_samples(context, limits, image, decoder->num_outputs, decoder->components);
}

/* ---- Into the caller's planes -------------------------------------------------------------------------------- */

static l2k_status check_plane(const l2k_decoder *decoder, const l2k_plane *plane, uint32_t k)
{
    const l2k_component *component = &decoder->shown[k];
    if (!plane->data && component->width && component->height)
        return l2k_fail(&decoder->context, L2K_ERROR_ARGUMENT, "plane %u is missing", k);
    if (!l2k_sample_type_holds(plane->type, component->precision, component->is_signed))
        return l2k_fail(&decoder->context, L2K_ERROR_ARGUMENT, "the sample type of plane %u cannot hold %u bits", k,
                        component->precision);
    const ptrdiff_t size = (ptrdiff_t)l2k_sample_bytes(plane->type);
    if (decoder->options[L2K_DECODER_MEMORY] != L2K_MEMORY_HOST &&
        ((uintptr_t)plane->data % (uintptr_t)size || plane->row_stride % size || plane->sample_stride % size))
        return l2k_fail(&decoder->context, L2K_ERROR_ARGUMENT, "plane %u: address and strides must be whole samples",
                        k);
    return L2K_OK;
}

/* Allocates memory of its own for a component that no single output takes unchanged. */
static l2k_status own_source(const l2k_decoder *decoder, l2k_rect area, uint32_t c, l2k_sources *sources)
{
    if (decoder->options[L2K_DECODER_MEMORY] != L2K_MEMORY_HOST)
        return l2k_fail(
            &decoder->context, L2K_ERROR_UNSUPPORTED,
            "palettes, and components that are shown several times or not at all, need planes in host memory");
    l2k_rect rect = l2k_reduced_rect(&decoder->codestream, c, area, (unsigned)decoder->options[L2K_DECODER_REDUCE]);
    size_t row = l2k_rect_width(rect) * sizeof(int32_t);
    void *data = l2k_allocate(&decoder->context, l2k_rect_height(rect), row);
    sources->planes[c] = (l2k_plane){data, (ptrdiff_t)row, sizeof(int32_t), L2K_SAMPLE_S32};
    sources->owned[c] = true;
    return l2k_check_memory(&decoder->context, data, "component %u", c);
}

l2k_status l2k_sources_prepare(const l2k_decoder *decoder, l2k_rect area, const l2k_plane *outputs,
                               l2k_sources *sources)
{
    const l2k_context *context = &decoder->context;
    uint32_t count = decoder->codestream.siz.num_components, only = l2k_decoder_only_component(decoder);
    sources->planes = l2k_allocate_zeroed(context, count, sizeof *sources->planes);
    sources->owned = l2k_allocate_zeroed(context, count, sizeof *sources->owned);
    L2K_TRY(l2k_check_memory(context, sources->planes && sources->owned, "planes"));
    for (uint32_t k = 0; k < l2k_decoder_num_outputs(decoder); k++) {
        L2K_TRY(check_plane(decoder, &outputs[k], k));
        const l2k_output_source output = l2k_decoder_output(decoder, k);
        bool *owned = &sources->owned[output.component];
        *owned = *owned || output.through_palette || sources->planes[output.component].data;
        sources->planes[output.component] = *owned ? (l2k_plane){0} : outputs[k];
    }
    for (uint32_t c = 0; only == UINT32_MAX && c < count; c++)
        if (!sources->planes[c].data)
            L2K_TRY(own_source(decoder, area, c, sources));
    return L2K_OK;
}

void l2k_sources_release(const l2k_decoder *decoder, l2k_sources *sources)
{
    for (uint32_t c = 0; sources->planes && sources->owned && c < decoder->codestream.siz.num_components; c++)
        if (sources->owned[c])
            l2k_release(&decoder->context, sources->planes[c].data);
    l2k_release(&decoder->context, sources->planes);
    l2k_release(&decoder->context, sources->owned);
}

/* An index beyond the palette takes its last entry. */
static int32_t look_up(const l2k_palette *palette, uint32_t column, int32_t value)
{
    uint32_t index = value < 0 ? 0 : l2k_min_u32((uint32_t)value, palette->num_entries - 1);
    return palette->values[index * palette->num_columns + column];
}

static l2k_status fill_output(const l2k_decoder *decoder, l2k_output_source output, const int32_t *samples,
                              const l2k_component *component, const l2k_plane *plane)
{
    const uint32_t width = component->width;
    for (uint32_t y = 0; y < component->height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            int32_t value = samples[(size_t)y * width + x];
            if (output.through_palette)
                value = look_up(&decoder->jp2.palette, output.column, value);
            l2k_sample_store(plane, x, y, value);
        }
        L2K_TRY(l2k_poll(&decoder->context, 4 * (uint64_t)width));
    }
    return L2K_OK;
}

l2k_status l2k_sources_deliver(const l2k_decoder *decoder, l2k_rect area, const l2k_sources *sources,
                               const l2k_plane *outputs)
{
    for (uint32_t k = 0; k < l2k_decoder_num_outputs(decoder); k++) {
        l2k_output_source output = l2k_decoder_output(decoder, k);
        if (!sources->owned[output.component])
            continue;
        l2k_component shape;
        l2k_decoder_describe_output(decoder, area, output, &shape);
        L2K_TRY(fill_output(decoder, output, sources->planes[output.component].data, &shape, &outputs[k]));
    }
    return L2K_OK;
}

/* ---- Planes of the decoder's own ----------------------------------------------------------------------------- */

static l2k_sample_type smallest_type(const l2k_component *component)
{
    if (component->precision > 16)
        return L2K_SAMPLE_S32;
    if (component->precision > 8)
        return component->is_signed ? L2K_SAMPLE_S16 : L2K_SAMPLE_U16;
    return component->is_signed ? L2K_SAMPLE_S8 : L2K_SAMPLE_U8;
}

l2k_status l2k_decoder_take_planes(l2k_decoder *decoder, const l2k_image *image)
{
    const l2k_context *context = &decoder->context;
    l2k_arena *memory = &decoder->memory;
    decoder->memory_planes = l2k_arena_take(context, memory, image->num_components * sizeof *decoder->memory_planes);
    L2K_TRY(l2k_check_memory(context, decoder->memory_planes, "the samples"));
    for (uint32_t c = 0; c < image->num_components; c++) {
        const l2k_component *k = &image->components[c];
        const l2k_sample_type type = smallest_type(k);
        const size_t size = l2k_sample_bytes(type), row = size * k->width;
        void *data = k->height <= SIZE_MAX / row ? l2k_arena_take(context, memory, row * k->height) : NULL;
        L2K_TRY(l2k_check_memory(context, data, "%zu bytes of samples", row * k->height));
        decoder->memory_planes[c] = (l2k_plane){data, (ptrdiff_t)row, (ptrdiff_t)size, type};
    }
    return L2K_OK;
}
