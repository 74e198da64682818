/* lift2k's public transform, prepared for the tiles of a trial. */
#include "conformance/coefficients/coefficients.h"

#include <stdio.h>
#include <stdlib.h>

static void show_message(void *user, l2k_severity severity, const char *text)
{
    (void)user;
    if (severity == L2K_SEVERITY_ERROR)
        printf("lift2k: %s\n", text);
}

static void must(l2k_status status, const char *what)
{
    if (status == L2K_OK)
        return;
    printf("FAIL: %s: %s\n", what, l2k_strerror(status));
    exit(1);
}

static l2k_transform *make(const wish *w, const l2k_hooks *hooks)
{
    const struct {
        l2k_transform_option option;
        int64_t value;
    } settings[] = {
        {L2K_TRANSFORM_BACKEND, w->backend},   {L2K_TRANSFORM_DIRECTION, w->direction},
        {L2K_TRANSFORM_WAVELET, w->wavelet},   {L2K_TRANSFORM_LEVELS, w->levels},
        {L2K_TRANSFORM_REDUCE, w->reduce},     {L2K_TRANSFORM_COMPONENT_TRANSFORM, w->joint},
        {L2K_TRANSFORM_COEFFICIENTS, w->type},
    };
    l2k_transform *t = l2k_transform_new(hooks);
    must(t ? L2K_OK : L2K_ERROR_MEMORY, "a transform");
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        must(l2k_transform_set(t, settings[i].option, settings[i].value), "an option of the transform");
    return t;
}

l2k_transform *wish_prepare(const wish *w, const l2k_image *tile)
{
    l2k_transform *t = make(w, &(l2k_hooks){.message = show_message});
    must(l2k_transform_prepare(t, tile), "preparing a transform");
    return t;
}

l2k_transform *wish_prepare_int16(wish w, const l2k_image *tile)
{
    w.type = L2K_COEFFICIENT_INT16;
    l2k_transform *t = make(&w, NULL);
    l2k_status status = l2k_transform_prepare(t, tile);
    if (status == L2K_OK)
        return t;
    l2k_transform_free(t);
    must(status == L2K_ERROR_ARGUMENT ? L2K_OK : status, "preparing a transform");
    return NULL;
}

void lift_forward(l2k_transform *t, const l2k_plane *planes)
{
    must(l2k_transform_forward(t, planes), "a forward transform");
}

void lift_inverse(l2k_transform *t, const l2k_plane *planes)
{
    must(l2k_transform_inverse(t, planes), "an inverse transform");
}

tile_frame trial_tile(const trial *t, uint32_t index)
{
    const l2k_image *m = &t->p->image;
    const coding *o = &t->o;
    l2k_tile_grid tiles = {{m->x0, m->y0, m->x1, m->y1},
                           o->tile_x0,
                           o->tile_y0,
                           o->tile.width ? o->tile.width : m->x1 - o->tile_x0,
                           o->tile.height ? o->tile.height : m->y1 - o->tile_y0};
    l2k_rect r = l2k_tile_rect(&tiles, index);
    tile_frame result = {.index = index, .image = *m};
    result.image.x0 = r.x0;
    result.image.y0 = r.y0;
    result.image.x1 = r.x1;
    result.image.y1 = r.y1;
    for (uint32_t c = 0; c < m->num_components; c++)
        result.rects[c] = l2k_component_rect(r, m->components[c].dx, m->components[c].dy);
    return result;
}

l2k_image bare_image(l2k_rect rect, uint32_t count, l2k_component components[3])
{
    for (uint32_t c = 0; c < count; c++)
        components[c] = (l2k_component){.dx = 1, .dy = 1, .precision = 31, .is_signed = true};
    return (l2k_image){
        .x0 = rect.x0, .y0 = rect.y0, .x1 = rect.x1, .y1 = rect.y1, .num_components = count, .components = components};
}

grid grid_of_view(const l2k_coefficients *view)
{
    grid g = grid_make(view->width, view->height);
    for (uint32_t y = 0; y < view->height; y++)
        for (uint32_t x = 0; x < view->width; x++) {
            size_t from = y * view->stride + x;
            g.values[(size_t)y * view->width + x] = view->type == L2K_COEFFICIENT_INT16 ? ((int16_t *)view->base)[from]
                                                    : view->type == L2K_COEFFICIENT_INT32
                                                        ? ((int32_t *)view->base)[from]
                                                        : ((float *)view->base)[from];
        }
    return g;
}

grid grid_of_watched(const watch_plane *plane, bool floats)
{
    grid g = grid_make(plane->width, plane->height);
    size_t count = (size_t)plane->width * plane->height;
    for (size_t i = 0; i < count; i++)
        g.values[i] = floats ? (double)plane->values[i].f : (double)plane->values[i].i;
    return g;
}

void view_set(const l2k_coefficients *view, uint32_t x, uint32_t y, double value)
{
    size_t at = y * view->stride + x;
    if (view->type == L2K_COEFFICIENT_FLOAT32)
        ((float *)view->base)[at] = (float)value;
    else
        ((int32_t *)view->base)[at] = (int32_t)value;
}
