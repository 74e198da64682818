/* The options that OpenJPEG 2.5.0 cannot write or read. */
#include "conformance/opj/opj.h"

typedef struct box {
    uint32_t x0, y0, x1, y1;
} box;

static uint32_t ceil_div(uint64_t a, uint32_t b)
{
    return (uint32_t)((a + b - 1) / b);
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* Tile number `tile` of a component (B-7 to B-12). */
static box tile_component(const picture *p, const coding *o, uint32_t c, uint32_t tile)
{
    const l2k_image *m = &p->image;
    uint32_t width = o->tile.width ? o->tile.width : m->x1 - o->tile_x0;
    uint32_t height = o->tile.height ? o->tile.height : m->y1 - o->tile_y0;
    uint32_t across = ceil_div(m->x1 - o->tile_x0, width);
    uint32_t x = o->tile_x0 + tile % across * width, y = o->tile_y0 + tile / across * height;
    uint32_t dx = p->components[c].dx, dy = p->components[c].dy;
    return (box){ceil_div(larger(x, m->x0), dx), ceil_div(larger(y, m->y0), dy),
                 ceil_div(m->x1 < x + width ? m->x1 : x + width, dx),
                 ceil_div(m->y1 < y + height ? m->y1 : y + height, dy)};
}

static const char *level_trouble(const coding *o, box r, uint32_t level)
{
    bool filtered = level < coding_levels(o), empty_x = r.x0 == r.x1, empty_y = r.y0 == r.y1;
    if (o->irreversible && (empty_x || empty_y))
        return "9/7: it stops in an assertion where a resolution is empty";
    if (o->irreversible && filtered && ((r.x1 - r.x0 == 1 && r.x0 % 2) || (r.y1 - r.y0 == 1 && r.y0 % 2)))
        return "9/7: it does not double a single line at an odd coordinate";
    if (filtered && empty_x && !empty_y)
        return "5/3: it damages other samples where a resolution has a height but no width";
    if (o->tile_parts && (empty_x || empty_y))
        return "tile-parts: it divides wrongly where a resolution is empty";
    return NULL;
}

const char *opj_cannot_encode(const picture *p, const coding *o)
{
    uint32_t width = o->tile.width ? o->tile.width : p->image.x1 - o->tile_x0;
    uint32_t height = o->tile.height ? o->tile.height : p->image.y1 - o->tile_y0, levels = coding_levels(o);
    const char *trouble = opj_misses_precincts(p, o) ? "RPCL or PCRL: it misses precincts" : NULL;
    if (levels > 31 || width >> levels == 0 || height >> levels == 0)
        return "tiles smaller than 2^levels";
    if (o->tile_parts && o->num_precincts)
        return "tile-parts: it divides wrongly, or by precincts as well, where there are several";
    for (uint32_t tile = 0; tile < coding_tiles(o, &p->image); tile++)
        for (uint32_t c = 0; c < p->image.num_components; c++) {
            box r = tile_component(p, o, c, tile);
            for (uint32_t level = 0; level <= levels; level++) {
                trouble = trouble ? trouble : level_trouble(o, r, level);
                r = (box){ceil_div(r.x0, 2), ceil_div(r.y0, 2), ceil_div(r.x1, 2), ceil_div(r.y1, 2)};
            }
        }
    return trouble;
}

static uint32_t ceil_shift(uint32_t value, uint32_t shift)
{
    return (uint32_t)(((uint64_t)value + ((uint64_t)1 << shift) - 1) >> shift);
}

bool has_empty_tile_component(const picture *p, const coding *o, uint32_t reduce)
{
    for (uint32_t tile = 0; tile < coding_tiles(o, &p->image); tile++)
        for (uint32_t c = 0; c < p->image.num_components; c++) {
            box r = tile_component(p, o, c, tile);
            if (ceil_shift(r.x0, reduce) == ceil_shift(r.x1, reduce) ||
                ceil_shift(r.y0, reduce) == ceil_shift(r.y1, reduce))
                return true;
        }
    return false;
}

bool has_thin_resolution(const picture *p, const coding *o, uint32_t least)
{
    const uint32_t levels = coding_levels(o);
    for (uint32_t tile = 0; tile < coding_tiles(o, &p->image); tile++)
        for (uint32_t c = 0; c < p->image.num_components; c++) {
            const box r = tile_component(p, o, c, tile);
            if (ceil_shift(r.x1, levels) - ceil_shift(r.x0, levels) < least ||
                ceil_shift(r.y1, levels) - ceil_shift(r.y0, levels) < least)
                return true;
        }
    return false;
}

bool opj_misses_precincts(const picture *p, const coding *o)
{
    bool threes = false, others = false;
    const bool by_position = coding_has_order(o, L2K_RPCL, L2K_CPRL);
    for (uint32_t c = 0; c < p->image.num_components; c++) {
        const uint32_t factor = larger(p->components[c].dx, p->components[c].dy);
        if (by_position && (uint64_t)factor << (15 + coding_levels(o)) >> 31)
            return true;
        bool three = p->components[c].dx % 3 == 0 || p->components[c].dy % 3 == 0;
        threes = threes || three;
        others = others || !three;
    }
    return o->num_precincts && coding_has_order(o, L2K_RPCL, L2K_PCRL) && threes && others;
}
