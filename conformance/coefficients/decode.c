/* Decoding: OpenJPEG's code-blocks through lift2k's tier-1, dequantiser and inverse transform. */
#include <stdlib.h>

#include "conformance/coefficients/inverse.h"
#include "quant/quantiser.h"

/* ---- Into the inverse wavelet ---------------------------------------------------------------------------------- */

static grid dequantised(const l2k_transform *transform, uint32_t c, const l2k_coefficients *view)
{
    grid g = grid_of_view(view);
    for (unsigned band = 0; band < view->num_bands; band++) {
        const l2k_band_view *b = &view->bands[band];
        l2k_subband_info info = {.step_size = 1};
        l2k_transform_subband(transform, c, band, &info);
        for (uint32_t y = b->y; y < b->y + b->height; y++)
            for (uint32_t x = b->x; x < b->x + b->width; x++) {
                double *value = &g.values[(size_t)y * view->width + x];
                *value = (double)l2k_dequantise((int32_t)*value, 0.5f * info.step_size);
            }
    }
    return g;
}

static void compare_into(inverse *v, spot s, const l2k_transform *transform, const watch_plane *theirs)
{
    grid a = inverse_coefficients(v, theirs, s.view, true), b = grid_of_view(s.view);
    s.stage = STAGE_DECODE;
    s.backend = L2K_BACKEND_AUTO;
    table_grids(v->table, &s, &a, &b);
    grid_free(&a);
    grid_free(&b);
    if (!v->t->o.irreversible)
        return;
    s.stage = STAGE_DEQUANTISE;
    a = inverse_coefficients(v, theirs, s.view, false);
    b = dequantised(transform, s.component, s.view);
    table_grids(v->table, &s, &a, &b);
    grid_free(&a);
    grid_free(&b);
}

/* ---- Samples ---------------------------------------------------------------------------------------------------- */

/* The tile's part of OpenJPEG's picture. */
static grid part_of_picture(const inverse *v, const watch_plane *whole, const tile_frame *tile, uint32_t c)
{
    const l2k_image *m = &v->t->p->image;
    const l2k_component *k = &m->components[c];
    l2k_rect area =
        l2k_resolution_rect(l2k_component_rect((l2k_rect){m->x0, m->y0, m->x1, m->y1}, k->dx, k->dy), v->t->d.reduce);
    l2k_rect part = inverse_rect(v, tile, c);
    grid g = grid_make(l2k_rect_width(part), l2k_rect_height(part));
    for (uint32_t y = 0; y < g.height; y++)
        for (uint32_t x = 0; x < g.width; x++)
            g.values[(size_t)y * g.width + x] =
                whole->values[(size_t)(part.y0 - area.y0 + y) * whole->width + part.x0 - area.x0 + x].i;
    return g;
}

static void compare_samples(inverse *v, const tile_frame *tile, uint32_t c, const l2k_plane *plane)
{
    const watch_plane *whole = watch_find(v->log, WATCH_PICTURE, c, (l2k_rect){0, 0, 0, 0});
    spot s = {STAGE_SAMPLES, v->backend, tile->index, c, 0, NULL};
    if (!whole) {
        table_missing(v->table, &s, "a component of OpenJPEG's");
        return;
    }
    grid a = part_of_picture(v, whole, tile, c), b = grid_of_ints(plane->data, a.width, a.height);
    table_grids(v->table, &s, &a, &b);
    grid_free(&a);
    grid_free(&b);
}

void compare_from_blocks(inverse *v, const tile_frame *tile)
{
    wish w = inverse_wish(v, L2K_COEFFICIENT_INT32);
    l2k_plane planes[PICTURE_MAX_COMPONENTS];
    uint32_t count = tile->image.num_components;
    w.joint = v->joint;
    l2k_transform *transform = wish_prepare(&w, &tile->image);
    for (uint32_t c = 0; c < count; c++) {
        const l2k_coefficients *view = l2k_transform_coefficients(transform, c);
        const watch_plane *theirs = watch_find(v->log, WATCH_DEQUANTISED, c, tile->rects[c]);
        spot s = {STAGE_DECODE, v->backend, tile->index, c, w.levels, view};
        decode_blocks(v->t, tile, c, v->log, view);
        if (theirs && v->backend == L2K_BACKEND_CPU) /* independent of the backend: once is enough */
            compare_into(v, s, transform, theirs);
        l2k_rect r = inverse_rect(v, tile, c);
        planes[c] = (l2k_plane){test_allocate((size_t)l2k_rect_width(r) * l2k_rect_height(r), 4),
                                (ptrdiff_t)l2k_rect_width(r) * 4, 4, L2K_SAMPLE_S32};
    }
    lift_inverse(transform, planes);
    for (uint32_t c = 0; c < count; c++) {
        compare_samples(v, tile, c, &planes[c]);
        free(planes[c].data);
    }
    l2k_transform_free(transform);
}
