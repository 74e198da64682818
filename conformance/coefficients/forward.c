/* Encoding: compares level shift, component transform, wavelet and quantiser with OpenJPEG's, and OpenJPEG's tier-1 on
 * their results. */
#include "conformance/coefficients/coefficients.h"

#include <math.h>
#include <stdlib.h>

#include "base/sample.h"

typedef struct forward {
    stage_table *table;
    const trial *t;
    l2k_backend backend;
    const watch_log *log;
    bool joint; /* the log shows a component transform */
} forward;

static bool irreversible(const forward *f)
{
    return f->t->o.irreversible;
}

static wish wish_for(const forward *f, unsigned levels, bool joint, l2k_coefficient_type type)
{
    return (wish){.backend = f->backend,
                  .wavelet = irreversible(f) ? L2K_WAVELET_9_7 : L2K_WAVELET_5_3,
                  .levels = levels,
                  .joint = joint,
                  .type = type};
}

static l2k_transform *transform_tile(const forward *f, const tile_frame *tile, l2k_transform *transform)
{
    const picture *p = f->t->p;
    l2k_plane planes[PICTURE_MAX_COMPONENTS];
    for (uint32_t c = 0; c < p->image.num_components; c++) {
        const l2k_component *k = &p->components[c];
        l2k_rect whole =
            l2k_component_rect((l2k_rect){p->image.x0, p->image.y0, p->image.x1, p->image.y1}, k->dx, k->dy);
        planes[c] = (l2k_plane){p->samples[c], (ptrdiff_t)k->width * 4, 4, L2K_SAMPLE_S32};
        if (!l2k_rect_empty(tile->rects[c]))
            planes[c].data = l2k_sample_at(&planes[c], tile->rects[c].x0 - whole.x0, tile->rects[c].y0 - whole.y0);
    }
    lift_forward(transform, planes);
    return transform;
}

/* ---- One stage of one tile ------------------------------------------------------------------------------------- */

/* Runs everything up to a stage, with OpenJPEG's kind of values: integers for the 5/3, floats for the 9/7. Without
 * decomposition levels the coefficients are the samples before the wavelet. */
static void compare_stage(forward *f, const tile_frame *tile, stage_id stage, watch_kind kind, unsigned levels,
                          bool joint)
{
    wish w = wish_for(f, levels, joint, irreversible(f) ? L2K_COEFFICIENT_FLOAT32 : L2K_COEFFICIENT_INT32);
    l2k_transform *transform = transform_tile(f, tile, wish_prepare(&w, &tile->image));
    for (uint32_t c = 0; c < tile->image.num_components; c++) {
        const l2k_coefficients *view = l2k_transform_coefficients(transform, c);
        const watch_plane *theirs = watch_find(f->log, kind, c, tile->rects[c]);
        spot s = {stage, f->backend, tile->index, c, levels, levels ? view : NULL};
        if (l2k_rect_empty(tile->rects[c]) || (stage == STAGE_JOIN && c >= 3))
            continue;
        if (!theirs) {
            table_missing(f->table, &s, "a tile-component of OpenJPEG's");
            continue;
        }
        grid a = grid_of_watched(theirs, irreversible(f)), b = grid_of_view(view);
        table_grids(f->table, &s, &a, &b);
        grid_free(&a);
        grid_free(&b);
    }
    l2k_transform_free(transform);
}

/* OpenJPEG's tier-1 quantises when it loads a code-block: rounds to six binary places, then truncates. */
static double index_of(float value, float step)
{
    return (double)(lrintf(value / step * 64.0f) / 64);
}

static grid indices_of(const watch_plane *theirs, const l2k_coefficients *view)
{
    grid g = grid_make(theirs->width, theirs->height);
    for (unsigned band = 0; band < view->num_bands; band++) {
        const l2k_band_view *v = &view->bands[band];
        for (uint32_t y = v->y; y < v->y + v->height; y++)
            for (uint32_t x = v->x; x < v->x + v->width; x++) {
                size_t at = (size_t)y * theirs->width + x;
                g.values[at] = index_of(theirs->values[at].f, theirs->steps[band]);
            }
    }
    return g;
}

static void compare_subbands(forward *f, l2k_transform *transform, spot s, const watch_plane *theirs)
{
    s.stage = STAGE_STEPS;
    for (unsigned band = 0; band < s.view->num_bands; band++) {
        l2k_subband_info info;
        if (s.view->bands[band].width == 0 || s.view->bands[band].height == 0) /* OpenJPEG leaves them unset */
            continue;
        if (l2k_transform_subband(transform, s.component, band, &info) != L2K_OK) {
            table_missing(f->table, &s, "a subband");
            continue;
        }
        double step = info.step_size, bits = info.magnitude_bits + table_spoils(f->table, STAGE_STEPS);
        if (irreversible(f))
            table_value(f->table, &s, band, 0, 0, "step", theirs->steps[band], step);
        table_value(f->table, &s, band, 0, 0, "bit-planes", theirs->magnitude_bits[band], bits);
    }
}

/* As stored for lift2k's own tier-1: in 32 bits, and in 16 where they suffice. */
static void compare_indices(forward *f, const tile_frame *tile, l2k_transform *transform)
{
    unsigned levels = coding_levels(&f->t->o);
    transform_tile(f, tile, transform);
    for (uint32_t c = 0; c < tile->image.num_components; c++) {
        const l2k_coefficients *view = l2k_transform_coefficients(transform, c);
        const watch_plane *theirs = watch_find(f->log, WATCH_ANALYSED, c, tile->rects[c]);
        spot s = {STAGE_INDEX, f->backend, tile->index, c, levels, view};
        if (!theirs || l2k_rect_empty(tile->rects[c]))
            continue; /* reported by compare_stage */
        grid a = irreversible(f) ? indices_of(theirs, view) : grid_of_watched(theirs, false), b = grid_of_view(view);
        table_grids(f->table, &s, &a, &b);
        compare_subbands(f, transform, s, theirs);
        grid_free(&a);
        grid_free(&b);
    }
    l2k_transform_free(transform);
}

static void compare_tile(forward *f, const tile_frame *tile)
{
    unsigned levels = coding_levels(&f->t->o);
    wish w = wish_for(f, levels, f->joint, L2K_COEFFICIENT_INT32);
    compare_stage(f, tile, STAGE_SHIFT, WATCH_SHIFTED, 0, false);
    if (f->joint)
        compare_stage(f, tile, STAGE_JOIN, WATCH_JOINED, 0, true);
    compare_stage(f, tile, STAGE_WAVELET, WATCH_ANALYSED, levels, f->joint);
    compare_indices(f, tile, wish_prepare(&w, &tile->image));
    l2k_transform *narrow = wish_prepare_int16(w, &tile->image);
    if (narrow)
        compare_indices(f, tile, narrow);
}

/* ---- OpenJPEG's tier-1 on lift2k's coefficients ---------------------------------------------------------------- */

static watch_plane plane_of_view(const forward *f, const l2k_coefficients *view, l2k_rect rect, uint32_t c)
{
    watch_value *values = test_allocate((size_t)view->width * view->height, sizeof *values);
    grid g = grid_of_view(view);
    for (size_t i = 0; i < (size_t)view->width * view->height; i++) {
        if (irreversible(f))
            values[i].f = (float)g.values[i];
        else
            values[i].i = (int32_t)g.values[i];
    }
    grid_free(&g);
    return (watch_plane){.kind = WATCH_ANALYSED,
                         .component = c,
                         .rect = rect,
                         .width = view->width,
                         .height = view->height,
                         .values = values};
}

/* Scales indices back to units of samples, so that OpenJPEG's quantiser, inside its tier-1, finds them again: rounding
 * cannot move the middle of an interval to another index. */
static void scale_by_steps(watch_value *values, uint32_t width, l2k_transform *transform, uint32_t c)
{
    const l2k_coefficients *view = l2k_transform_coefficients(transform, c);
    for (unsigned band = 0; band < view->num_bands; band++) {
        const l2k_band_view *v = &view->bands[band];
        l2k_subband_info info = {.step_size = 1};
        l2k_transform_subband(transform, c, band, &info);
        for (uint32_t y = v->y; y < v->y + v->height; y++)
            for (uint32_t x = v->x; x < v->x + v->width; x++) {
                float *value = &values[(size_t)y * width + x].f;
                *value = (*value > 0 ? *value + 0.5f : *value < 0 ? *value - 0.5f : 0) * info.step_size;
            }
    }
}

/* All tile-components of the picture. */
static watch_plane *take_planes(const forward *f, bool by_index, size_t *count)
{
    uint32_t tiles = coding_tiles(&f->t->o, &f->t->p->image), components = f->t->p->image.num_components;
    watch_plane *planes = test_allocate((size_t)tiles * components, sizeof *planes);
    wish w = wish_for(f, coding_levels(&f->t->o), f->joint,
                      irreversible(f) && !by_index ? L2K_COEFFICIENT_FLOAT32 : L2K_COEFFICIENT_INT32);
    for (uint32_t i = 0; i < tiles; i++) {
        tile_frame tile = trial_tile(f->t, i);
        l2k_transform *transform = transform_tile(f, &tile, wish_prepare(&w, &tile.image));
        for (uint32_t c = 0; c < components; c++) {
            watch_plane *plane = &planes[(size_t)i * components + c];
            *plane = plane_of_view(f, l2k_transform_coefficients(transform, c), tile.rects[c], c);
            if (irreversible(f) && by_index)
                scale_by_steps((watch_value *)plane->values, plane->width, transform, c);
        }
        l2k_transform_free(transform);
    }
    *count = (size_t)tiles * components;
    return planes;
}

/* For the self-test: 64 changes the index whatever the quantiser step. */
static void spoil_planes(const forward *f, const watch_plane *planes)
{
    watch_value *value = (watch_value *)&planes->values[(size_t)planes->width * planes->height / 2];
    if (irreversible(f))
        value->f = value->f > 0 ? -64 : 64;
    else
        value->i = value->i > 0 ? -1 : 1;
}

static void compare_stream(forward *f, stage_id stage, const bytes *stream)
{
    size_t count;
    bytes ours = {0};
    spot s = {stage, f->backend, 0, 0, 0, NULL};
    watch_plane *planes = take_planes(f, stage == STAGE_INDEX_STREAM, &count);
    if (planes->width && planes->height && table_spoils(f->table, stage))
        spoil_planes(f, planes);
    if (opj_watch_encode_from(f->t->p, &f->t->o, planes, count, &ours))
        table_bytes(f->table, &s, L2K_MAX_SUBBANDS, 0, 0, stream->data, stream->size, ours.data, ours.size);
    else
        table_missing(f->table, &s, "a codestream from lift2k's coefficients");
    for (size_t i = 0; i < count; i++)
        free((void *)planes[i].values);
    free(planes);
    bytes_free(&ours);
}

void compare_forward(stage_table *table, const trial *t, l2k_backend backend, const watch_log *log, const bytes *stream)
{
    forward f = {.table = table, .t = t, .backend = backend, .log = log};
    for (size_t i = 0; i < log->num_planes; i++)
        f.joint = f.joint || log->planes[i].kind == WATCH_JOINED;
    for (uint32_t i = 0; i < coding_tiles(&t->o, &t->p->image); i++) {
        tile_frame tile = trial_tile(t, i);
        compare_tile(&f, &tile);
    }
    compare_stream(&f, STAGE_STREAM, stream);
    /* Layers are cut by distortion, which OpenJPEG computes with more precision than the index has. */
    if (irreversible(&f) && t->o.num_targets == 0)
        compare_stream(&f, STAGE_INDEX_STREAM, stream);
}
