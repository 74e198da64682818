#include "lift2k/lift2k.h"

#include "tiling/geometry.h"

void l2k_component_size(const l2k_image *image, uint32_t c, uint32_t *width, uint32_t *height)
{
    l2k_rect area = {image->x0, image->y0, image->x1, image->y1};
    l2k_rect r = l2k_component_rect(area, image->components[c].dx, image->components[c].dy);
    *width = l2k_rect_width(r);
    *height = l2k_rect_height(r);
}
