/* SIZ (A.5.1). */
#include "codec/codestream/header_segments.h"

#include "base/memory.h"

static l2k_status check_grid(const l2k_context *context, const l2k_tile_grid *g)
{
    if (g->image.x0 >= g->image.x1 || g->image.y0 >= g->image.y1)
        return l2k_fail(context, L2K_ERROR_CORRUPT, "SIZ: an image area without samples");
    if (g->tile_width == 0 || g->tile_height == 0)
        return l2k_fail(context, L2K_ERROR_CORRUPT, "SIZ: a tile size of 0");
    if (g->tile_x0 > g->image.x0 || g->tile_y0 > g->image.y0 || (uint64_t)g->tile_x0 + g->tile_width <= g->image.x0 ||
        (uint64_t)g->tile_y0 + g->tile_height <= g->image.y0)
        return l2k_fail(context, L2K_ERROR_CORRUPT, "SIZ: the first tile lies outside the image");
    return L2K_OK;
}

static l2k_status parse_component_size(const l2k_context *context, const uint8_t *data, uint32_t c,
                                       l2k_component *component)
{
    *component =
        (l2k_component){.dx = data[1], .dy = data[2], .precision = (data[0] & 0x7Fu) + 1, .is_signed = data[0] >> 7};
    if (component->dx == 0 || component->dy == 0)
        return l2k_fail(context, L2K_ERROR_CORRUPT, "SIZ: component %u has a sub-sampling factor of 0", c);
    if (component->precision > 38)
        return l2k_fail(context, L2K_ERROR_CORRUPT, "SIZ: component %u has %u bits a sample, at most 38 are possible",
                        c, component->precision);
    if (component->precision > 31)
        return l2k_fail(context, L2K_ERROR_UNSUPPORTED,
                        "SIZ: component %u has %u bits a sample, at most 31 are "
                        "implemented",
                        c, component->precision);
    return L2K_OK;
}

l2k_status l2k_parse_siz(const l2k_context *context, const l2k_segment *segment, l2k_siz *siz)
{
    const uint8_t *d = segment->data;
    if (l2k_segment_length(segment) < 36)
        return l2k_fail(context, L2K_ERROR_CORRUPT, "SIZ: too short");
    siz->profile = l2k_get_be(d, 2);
    siz->grid =
        (l2k_tile_grid){{l2k_get_be(d + 10, 4), l2k_get_be(d + 14, 4), l2k_get_be(d + 2, 4), l2k_get_be(d + 6, 4)},
                        l2k_get_be(d + 26, 4),
                        l2k_get_be(d + 30, 4),
                        l2k_get_be(d + 18, 4),
                        l2k_get_be(d + 22, 4)};
    siz->num_components = l2k_get_be(d + 34, 2);
    L2K_TRY(check_grid(context, &siz->grid));
    if (siz->num_components == 0 || siz->num_components > L2K_MAX_COMPONENTS)
        return l2k_fail(context, L2K_ERROR_CORRUPT, "SIZ: %u components", siz->num_components);
    if (l2k_segment_length(segment) != 36 + 3 * (size_t)siz->num_components)
        return l2k_fail(context, L2K_ERROR_CORRUPT, "SIZ: its length does not fit %u components", siz->num_components);
    siz->components = l2k_allocate(context, siz->num_components, sizeof *siz->components);
    if (!siz->components)
        return l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for %u components", siz->num_components);
    for (uint32_t c = 0; c < siz->num_components; c++)
        L2K_TRY(parse_component_size(context, d + 36 + 3 * (size_t)c, c, &siz->components[c]));
    return L2K_OK;
}
