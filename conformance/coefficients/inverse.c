/* Decoding: compares lift2k's inverse wavelet and component transforms on OpenJPEG's values. */
#include "conformance/coefficients/inverse.h"

#include <math.h>
#include <stdlib.h>

#include "base/scalar.h"
#include "quant/steps.h"
#include "tiling/pixel/pixel.h"

wish inverse_wish(const inverse *v, l2k_coefficient_type type)
{
    return (wish){.backend = v->backend,
                  .direction = L2K_INVERSE,
                  .wavelet = v->t->o.irreversible ? L2K_WAVELET_9_7 : L2K_WAVELET_5_3,
                  .levels = coding_levels(&v->t->o),
                  .reduce = v->t->d.reduce,
                  .type = type};
}

l2k_rect inverse_rect(const inverse *v, const tile_frame *tile, uint32_t c)
{
    return l2k_resolution_rect(tile->rects[c], v->t->d.reduce);
}

/* OpenJPEG's decoder halves its quantiser steps for each high-pass direction and doubles in the wavelet instead
 * (docs/numerics.md): its coefficients times this gain are in units of samples. Powers of two change no bit. */
static float gain_of(unsigned band)
{
    return (float)(1u << l2k_log2_gain(l2k_band_orientation(band)));
}

grid inverse_coefficients(const inverse *v, const watch_plane *plane, const l2k_coefficients *view, bool doubled)
{
    grid g = grid_of_watched(plane, v->t->o.irreversible);
    for (unsigned band = 0; v->t->o.irreversible && band < view->num_bands; band++) {
        const l2k_band_view *b = &view->bands[band];
        for (uint32_t y = b->y; y < b->y + b->height; y++)
            for (uint32_t x = b->x; x < b->x + b->width; x++) {
                double *value = &g.values[(size_t)y * plane->width + x];
                if (doubled)
                    *value = (double)lrintf((float)*value / (0.5f * plane->steps[band]));
                else
                    *value *= gain_of(band);
            }
    }
    return g;
}

grid grid_of_ints(const int32_t *samples, uint32_t width, uint32_t height)
{
    grid g = grid_make(width, height);
    for (size_t i = 0; i < (size_t)width * height; i++)
        g.values[i] = samples[i];
    return g;
}

static grid grid_of_floats(const float *samples, uint32_t width, uint32_t height)
{
    grid g = grid_make(width, height);
    for (size_t i = 0; i < (size_t)width * height; i++)
        g.values[i] = (double)samples[i];
    return g;
}

/* ---- One stage, on OpenJPEG's input to it ---- */

static void fill(const inverse *v, const watch_plane *before, const l2k_coefficients *view)
{
    grid g = inverse_coefficients(v, before, view, false);
    for (uint32_t y = 0; y < view->height; y++)
        for (uint32_t x = 0; x < view->width; x++)
            view_set(view, x, y, g.values[(size_t)y * g.width + x]);
    grid_free(&g);
}

/* Runs components of one size through a transform of lift2k's that neither shifts nor clamps. */
static void run_bare(const inverse *v, wish w, l2k_rect rect, const watch_plane *const before[], uint32_t count,
                     bool floats, grid ours[])
{
    l2k_component components[3];
    l2k_plane planes[3];
    l2k_image bare = bare_image(rect, count, components);
    l2k_rect r = l2k_resolution_rect(rect, w.reduce);
    uint32_t width = l2k_rect_width(r), height = l2k_rect_height(r);
    l2k_transform *transform = wish_prepare(&w, &bare);
    for (uint32_t c = 0; c < count; c++) {
        fill(v, before[c], l2k_transform_coefficients(transform, c));
        planes[c] = (l2k_plane){test_allocate((size_t)width * height, 4), (ptrdiff_t)width * 4, 4,
                                floats ? L2K_SAMPLE_F32 : L2K_SAMPLE_S32};
    }
    lift_inverse(transform, planes);
    for (uint32_t c = 0; c < count; c++) {
        ours[c] = floats ? grid_of_floats(planes[c].data, width, height) : grid_of_ints(planes[c].data, width, height);
        free(planes[c].data);
    }
    l2k_transform_free(transform);
}

static void compare_after(inverse *v, spot s, const watch_plane *after, bool rounded, grid *ours)
{
    grid theirs = grid_of_watched(after, v->t->o.irreversible);
    for (size_t i = 0; rounded && i < (size_t)theirs.width * theirs.height; i++)
        theirs.values[i] = l2k_round_f32((float)theirs.values[i]);
    table_grids(v->table, &s, &theirs, ours);
    grid_free(&theirs);
    grid_free(ours);
}

/* ---- The wavelet ------------------------------------------------------------------------------------------------ */

/* The CPU accepts float planes and so shows the 9/7's values unchanged; CUDA accepts them only in device memory, so its
 * values are compared after rounding to integers. */
static void compare_wavelet(inverse *v, const tile_frame *tile, uint32_t c)
{
    bool irreversible = v->t->o.irreversible, floats = irreversible && v->backend == L2K_BACKEND_CPU;
    const watch_plane *before = watch_find(v->log, WATCH_DEQUANTISED, c, tile->rects[c]);
    const watch_plane *after = watch_find(v->log, WATCH_SYNTHESISED, c, tile->rects[c]);
    spot s = {STAGE_UNWAVELET, v->backend, tile->index, c, coding_levels(&v->t->o), NULL};
    grid ours;
    if (!before || !after) {
        table_missing(v->table, &s, "a tile-component of OpenJPEG's");
        return;
    }
    run_bare(v, inverse_wish(v, irreversible ? L2K_COEFFICIENT_FLOAT32 : L2K_COEFFICIENT_INT32), tile->rects[c],
             &before, 1, floats, &ours);
    compare_after(v, s, after, irreversible && !floats, &ours);
}

/* ---- The component transform ------------------------------------------------------------------------------------ */

static void compare_separated(inverse *v, const tile_frame *tile, l2k_backend backend, bool rounded, grid ours[3])
{
    for (uint32_t c = 0; c < 3; c++) {
        const watch_plane *after = watch_find(v->log, WATCH_SEPARATED, c, tile->rects[c]);
        spot s = {STAGE_SEPARATE, backend, tile->index, c, 0, NULL};
        if (after) {
            compare_after(v, s, after, rounded, &ours[c]);
            continue;
        }
        table_missing(v->table, &s, "a tile-component of OpenJPEG's");
        grid_free(&ours[c]);
    }
}

/* The ICT in the library's scalar form, since its planes only show rounded samples. */
static void compare_ict(inverse *v, const tile_frame *tile, const watch_plane *const before[3])
{
    grid ours[3];
    for (int c = 0; c < 3; c++)
        ours[c] = grid_of_watched(before[c], true);
    for (size_t i = 0; i < (size_t)ours[0].width * ours[0].height; i++) {
        float c0 = (float)ours[0].values[i], c1 = (float)ours[1].values[i], c2 = (float)ours[2].values[i];
        l2k_ict_inverse(&c0, &c1, &c2);
        ours[0].values[i] = (double)c0;
        ours[1].values[i] = (double)c1;
        ours[2].values[i] = (double)c2;
    }
    compare_separated(v, tile, L2K_BACKEND_AUTO, false, ours);
}

/* Without decomposition levels the coefficients stand for the wavelet's output. */
static void compare_component_transform(inverse *v, const tile_frame *tile)
{
    bool irreversible = v->t->o.irreversible;
    const watch_plane *before[3];
    wish w = inverse_wish(v, irreversible ? L2K_COEFFICIENT_FLOAT32 : L2K_COEFFICIENT_INT32);
    grid ours[3];
    w.levels = w.reduce = 0;
    w.joint = true;
    for (uint32_t c = 0; c < 3; c++)
        if (!(before[c] = watch_find(v->log, WATCH_SYNTHESISED, c, tile->rects[c])))
            return; /* reported by compare_wavelet */
    run_bare(v, w, inverse_rect(v, tile, 0), before, 3, false, ours);
    compare_separated(v, tile, v->backend, irreversible, ours);
    if (irreversible && v->backend == L2K_BACKEND_CPU)
        compare_ict(v, tile, before);
}

void compare_inverse(stage_table *table, const trial *t, l2k_backend backend, const watch_log *log)
{
    inverse v = {.table = table, .t = t, .backend = backend, .log = log};
    for (size_t i = 0; i < log->num_planes; i++)
        v.joint = v.joint || log->planes[i].kind == WATCH_SEPARATED;
    for (uint32_t i = 0; i < coding_tiles(&t->o, &t->p->image); i++) {
        tile_frame tile = trial_tile(t, i);
        for (uint32_t c = 0; c < tile.image.num_components; c++)
            if (!l2k_rect_empty(inverse_rect(&v, &tile, c)))
                compare_wavelet(&v, &tile, c);
        if (v.joint && !l2k_rect_empty(inverse_rect(&v, &tile, 0)))
            compare_component_transform(&v, &tile);
        compare_from_blocks(&v, &tile);
    }
}
