/* The geometry of Annex B: pure functions from rectangles to rectangles. All rectangles are half open. */
#ifndef L2K_TILING_GEOMETRY_H
#define L2K_TILING_GEOMETRY_H

#include "base/integer.h"
#include "lift2k/lift2k.h"
#include "tiling/splits.h"

typedef struct l2k_rect {
    uint32_t x0, y0, x1, y1;
} l2k_rect;

static inline uint32_t l2k_rect_width(l2k_rect r)
{
    return r.x1 > r.x0 ? r.x1 - r.x0 : 0;
}

static inline uint32_t l2k_rect_height(l2k_rect r)
{
    return r.y1 > r.y0 ? r.y1 - r.y0 : 0;
}

static inline bool l2k_rect_empty(l2k_rect r)
{
    return r.x1 <= r.x0 || r.y1 <= r.y0;
}

static inline uint64_t l2k_rect_area(l2k_rect r)
{
    return (uint64_t)l2k_rect_width(r) * l2k_rect_height(r);
}

static inline bool l2k_rect_equals(l2k_rect a, l2k_rect b)
{
    return a.x0 == b.x0 && a.y0 == b.y0 && a.x1 == b.x1 && a.y1 == b.y1;
}

/* The common part, possibly empty. */
l2k_rect l2k_rect_intersect(l2k_rect a, l2k_rect b);

/* The tile grid (B.3): the image area, the origin of tile 0, the nominal tile size. */
typedef struct l2k_tile_grid {
    l2k_rect image;
    uint32_t tile_x0, tile_y0, tile_width, tile_height;
} l2k_tile_grid;

/* numXtiles and numYtiles (B-5). */
uint32_t l2k_tiles_across(const l2k_tile_grid *grid);
uint32_t l2k_tiles_down(const l2k_tile_grid *grid);

/* Tile `index` in raster order, clipped to the image area (B-7 to B-10). */
l2k_rect l2k_tile_rect(const l2k_tile_grid *grid, uint32_t index);

/* A rectangle of the reference grid in the domain of a component with sub-sampling dx, dy (B-12). */
l2k_rect l2k_component_rect(l2k_rect r, uint32_t dx, uint32_t dy);

/* A tile-component after `levels` decompositions, 0 to 32, that is resolution r = NL - levels (B-14). */
l2k_rect l2k_resolution_rect(l2k_rect tile_component, unsigned levels);

/* The subband of decomposition level `level` (nb of B-15), 1 to 32; LL of level 0 is the tile-component. */
l2k_rect l2k_subband_rect(l2k_rect tile_component, unsigned level, unsigned orientation);

/* l2k_resolution_rect and l2k_subband_rect where some levels are unsplit. A subband that is high in a direction in
 * which its level does not split is empty: it has no coefficients, no code-blocks and no step in QCD. */
l2k_rect l2k_unsplit_resolution(l2k_rect tile_component, l2k_unsplit unsplit, unsigned levels);
l2k_rect l2k_unsplit_subband(l2k_rect tile_component, l2k_unsplit unsplit, unsigned level, unsigned orientation);

/* A rectangle cut by a grid of cells of 2^log2_width x 2^log2_height anchored at 0: precincts of a resolution (B.6) and
 * code-blocks of a subband (B.7). An empty rectangle has no cells. */
typedef struct l2k_partition {
    l2k_rect rect;
    unsigned log2_width, log2_height;
    uint32_t first_x, first_y; /* grid column and row of the first cell */
    uint32_t across, down;     /* cells that meet the rectangle */
} l2k_partition;

l2k_partition l2k_partition_make(l2k_rect rect, unsigned log2_width, unsigned log2_height);

/* Cell `index` in raster order, clipped to the rectangle. */
l2k_rect l2k_partition_cell(const l2k_partition *partition, uint32_t index);

#endif
