/* Where a code-block lies in the coefficients of a plan. */
#ifndef L2K_CODEC_BLOCKS_BLOCK_VIEW_H
#define L2K_CODEC_BLOCKS_BLOCK_VIEW_H

#include "codec/blocks/mq/t1.h"
#include "codec/tile/tile.h"

/* The block at `place` of a tile, in the view of its component, as tier-1 wants it. */
static inline l2k_t1_block l2k_block_in_view(const l2k_tile *tile, const l2k_block_place *place,
                                             const l2k_coefficients *view)
{
    const l2k_component_coding *coding = tile->components[place->component].coding;
    const l2k_band_view *band = &view->bands[l2k_band_number(place->resolution, place->band->orientation)];
    l2k_rect r = place->block->rect;
    size_t offset =
        (size_t)(band->y + r.y0 - place->band->rect.y0) * view->stride + band->x + r.x0 - place->band->rect.x0;
    return (l2k_t1_block){.coefficients = (uint8_t *)view->base + offset * l2k_coefficient_bytes(view->type),
                          .type = view->type,
                          .stride = view->stride,
                          .width = l2k_rect_width(r),
                          .height = l2k_rect_height(r),
                          .orientation = place->band->orientation,
                          .style = coding->style,
                          .reversible = coding->wavelet == L2K_WAVELET_5_3,
                          .roi_shift = coding->roi_shift};
}

#endif
