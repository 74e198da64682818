/* From the codestream's components to the image's: component mapping through the palette, channel definitions. */
#include "codec/decoder.h"

#include "base/memory.h"
#include "base/sort.h"

uint32_t l2k_decoder_only_component(const l2k_decoder *decoder)
{
    int64_t only = decoder->options[L2K_DECODER_COMPONENT];
    return only < 0 ? UINT32_MAX : (uint32_t)only;
}

uint32_t l2k_decoder_num_outputs(const l2k_decoder *decoder)
{
    return l2k_decoder_only_component(decoder) != UINT32_MAX ? 1 : decoder->num_outputs;
}

l2k_output l2k_decoder_output(const l2k_decoder *decoder, uint32_t k)
{
    uint32_t only = l2k_decoder_only_component(decoder);
    return only != UINT32_MAX ? (l2k_output){.source = only} : decoder->outputs[k];
}

l2k_status l2k_decoder_area(const l2k_decoder *decoder, l2k_rect *area)
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

l2k_rect l2k_decoder_component_area(const l2k_decoder *decoder, l2k_rect area, uint32_t c)
{
    const l2k_component *component = &decoder->codestream.siz.components[c];
    return l2k_resolution_rect(l2k_component_rect(area, component->dx, component->dy),
                               (unsigned)decoder->options[L2K_DECODER_REDUCE]);
}

/* ---- Order of the outputs ------------------------------------------------------------------------------------ */

static l2k_status map_channels(l2k_decoder *decoder)
{
    const l2k_jp2 *jp2 = &decoder->jp2;
    const l2k_context *context = &decoder->context;
    for (uint32_t k = 0; k < decoder->num_outputs; k++) {
        if (!jp2->num_channels) {
            decoder->outputs[k] = (l2k_output){.source = k};
            continue;
        }
        const l2k_channel_map *map = &jp2->channels[k];
        if (map->component >= decoder->codestream.siz.num_components)
            return l2k_fail(context, L2K_ERROR_CORRUPT, "box 'cmap': component %u does not exist", map->component);
        if (map->through_palette && map->column >= jp2->palette.num_columns)
            return l2k_fail(context, L2K_ERROR_CORRUPT, "box 'cmap': palette column %u does not exist", map->column);
        decoder->outputs[k] = (l2k_output){map->component, map->through_palette, map->column};
    }
    return L2K_OK;
}

static l2k_channel channel_of(unsigned type)
{
    return type <= L2K_CHANNEL_PREMULTIPLIED_OPACITY ? (l2k_channel)type : L2K_CHANNEL_UNSPECIFIED;
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
        decoder->components[d->channel].channel = channel_of(d->type);
        decoder->components[d->channel].association = d->association;
    }
    return L2K_OK;
}

/* Colours first, in the order of their association; the rest as it comes. */
static uint64_t rank(const l2k_component *component)
{
    return component->channel == L2K_CHANNEL_COLOUR ? component->association : UINT64_MAX >> 32;
}

typedef struct ranked {
    uint64_t rank; /* and below it the place before, so that no two are the same */
    l2k_output output;
    l2k_component component;
} ranked;

static int by_rank(const void *a, const void *b)
{
    uint64_t first = ((const ranked *)a)->rank, second = ((const ranked *)b)->rank;
    return first < second ? -1 : first > second;
}

static bool is_sorted(const l2k_decoder *decoder)
{
    for (uint32_t k = 1; k < decoder->num_outputs; k++)
        if (rank(&decoder->components[k]) < rank(&decoder->components[k - 1]))
            return false;
    return true;
}

static l2k_status sort_channels(l2k_decoder *decoder)
{
    if (is_sorted(decoder))
        return L2K_OK;
    ranked *all = l2k_allocate(&decoder->context, decoder->num_outputs, sizeof *all);
    if (!all)
        return l2k_fail(&decoder->context, L2K_ERROR_MEMORY, "out of memory for %u channels", decoder->num_outputs);
    for (uint32_t k = 0; k < decoder->num_outputs; k++)
        all[k] = (ranked){rank(&decoder->components[k]) << 32 | k, decoder->outputs[k], decoder->components[k]};
    l2k_status status = l2k_sort(&decoder->context, all, decoder->num_outputs, sizeof *all, by_rank);
    for (uint32_t k = 0; status == L2K_OK && k < decoder->num_outputs; k++) {
        decoder->outputs[k] = all[k].output;
        decoder->components[k] = all[k].component;
    }
    l2k_release(&decoder->context, all);
    return status;
}

l2k_status l2k_decoder_plan_outputs(l2k_decoder *decoder)
{
    const l2k_context *context = &decoder->context;
    size_t count = decoder->jp2.num_channels ? decoder->jp2.num_channels : decoder->codestream.siz.num_components;
    if (count > L2K_MAX_COMPONENTS)
        return l2k_fail(context, L2K_ERROR_CORRUPT, "box 'cmap': %zu channels", count);
    decoder->num_outputs = (uint32_t)count;
    decoder->outputs = l2k_allocate(context, count, sizeof *decoder->outputs);
    decoder->components = l2k_allocate_zeroed(context, count, sizeof *decoder->components);
    if (!decoder->outputs || !decoder->components)
        return l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for %zu components", count);
    L2K_TRY(map_channels(decoder));
    L2K_TRY(define_channels(decoder));
    return sort_channels(decoder);
}
