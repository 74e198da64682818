/* Tiles, tile-components, resolutions, subbands and partitions (B.3 to B.7), as rectangles. */
#include "tiling/geometry.h"

l2k_rect l2k_rect_intersect(l2k_rect a, l2k_rect b)
{
    return (l2k_rect){l2k_max_u32(a.x0, b.x0), l2k_max_u32(a.y0, b.y0), l2k_min_u32(a.x1, b.x1),
                      l2k_min_u32(a.y1, b.y1)};
}

uint32_t l2k_tiles_across(const l2k_tile_grid *grid)
{
    return l2k_ceil_div(grid->image.x1 - grid->tile_x0, grid->tile_width);
}

uint32_t l2k_tiles_down(const l2k_tile_grid *grid)
{
    return l2k_ceil_div(grid->image.y1 - grid->tile_y0, grid->tile_height);
}

static uint32_t clip_u64(uint64_t value, uint32_t low, uint32_t high)
{
    return value < low ? low : value > high ? high : (uint32_t)value;
}

l2k_rect l2k_tile_rect(const l2k_tile_grid *grid, uint32_t index)
{
    uint32_t across = l2k_tiles_across(grid);
    uint64_t x = grid->tile_x0 + (uint64_t)(index % across) * grid->tile_width;
    uint64_t y = grid->tile_y0 + (uint64_t)(index / across) * grid->tile_height;
    return (l2k_rect){clip_u64(x, grid->image.x0, grid->image.x1), clip_u64(y, grid->image.y0, grid->image.y1),
                      clip_u64(x + grid->tile_width, grid->image.x0, grid->image.x1),
                      clip_u64(y + grid->tile_height, grid->image.y0, grid->image.y1)};
}

l2k_rect l2k_component_rect(l2k_rect r, uint32_t dx, uint32_t dy)
{
    return (l2k_rect){l2k_ceil_div(r.x0, dx), l2k_ceil_div(r.y0, dy), l2k_ceil_div(r.x1, dx), l2k_ceil_div(r.y1, dy)};
}

l2k_rect l2k_unsplit_resolution(l2k_rect tile_component, l2k_unsplit unsplit, unsigned levels)
{
    const unsigned across = l2k_count_across(unsplit, levels), down = l2k_count_down(unsplit, levels);
    return (l2k_rect){l2k_ceil_shift(tile_component.x0, across), l2k_ceil_shift(tile_component.y0, down),
                      l2k_ceil_shift(tile_component.x1, across), l2k_ceil_shift(tile_component.y1, down)};
}

l2k_rect l2k_resolution_rect(l2k_rect tile_component, unsigned levels)
{
    return l2k_unsplit_resolution(tile_component, (l2k_unsplit){0}, levels);
}

/* ceil((a - 2^(level-1) * offset) / 2^level), never negative, since the subtrahend is below 2^level. Level 0 has no
 * offset. */
static uint32_t subband_coordinate(uint32_t a, unsigned level, unsigned offset)
{
    uint64_t rounding = ((uint64_t)1 << level) - 1;
    uint64_t shift = offset ? (uint64_t)1 << (level - 1) : 0;
    return (uint32_t)((a + rounding - shift) >> level);
}

l2k_rect l2k_unsplit_subband(l2k_rect tile_component, l2k_unsplit unsplit, unsigned level, unsigned orientation)
{
    if (level == 0)
        return tile_component;
    if (!l2k_band_exists(unsplit, level, orientation))
        return (l2k_rect){0};
    const unsigned across = l2k_count_across(unsplit, level), down = l2k_count_down(unsplit, level);
    unsigned xo = orientation & 1, yo = orientation >> 1;
    return (l2k_rect){
        subband_coordinate(tile_component.x0, across, xo), subband_coordinate(tile_component.y0, down, yo),
        subband_coordinate(tile_component.x1, across, xo), subband_coordinate(tile_component.y1, down, yo)};
}

l2k_rect l2k_subband_rect(l2k_rect tile_component, unsigned level, unsigned orientation)
{
    return l2k_unsplit_subband(tile_component, (l2k_unsplit){0}, level, orientation);
}

l2k_partition l2k_partition_make(l2k_rect rect, unsigned log2_width, unsigned log2_height)
{
    l2k_partition p = {rect, log2_width, log2_height, rect.x0 >> log2_width, rect.y0 >> log2_height, 0, 0};
    if (!l2k_rect_empty(rect)) {
        p.across = l2k_ceil_shift(rect.x1, log2_width) - p.first_x;
        p.down = l2k_ceil_shift(rect.y1, log2_height) - p.first_y;
    }
    return p;
}

l2k_rect l2k_partition_cell(const l2k_partition *partition, uint32_t index)
{
    uint64_t x = (uint64_t)(partition->first_x + index % partition->across) << partition->log2_width;
    uint64_t y = (uint64_t)(partition->first_y + index / partition->across) << partition->log2_height;
    const l2k_rect *r = &partition->rect;
    return (l2k_rect){clip_u64(x, r->x0, r->x1), clip_u64(y, r->y0, r->y1),
                      clip_u64(x + ((uint64_t)1 << partition->log2_width), r->x0, r->x1),
                      clip_u64(y + ((uint64_t)1 << partition->log2_height), r->y0, r->y1)};
}

void l2k_component_size(const l2k_image *image, uint32_t c, uint32_t *width, uint32_t *height)
{
    l2k_rect area = {image->x0, image->y0, image->x1, image->y1};
    l2k_rect r = l2k_component_rect(area, image->components[c].dx, image->components[c].dy);
    *width = l2k_rect_width(r);
    *height = l2k_rect_height(r);
}
