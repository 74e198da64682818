/* The third direction: a volume whose slices are single samples has the coefficients that OpenJPEG's encoder has for a
 * picture of one column. */
#include "conformance/coefficients/coefficients.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/sample.h"

static void must(l2k_status status, const char *what)
{
    if (status == L2K_OK)
        return;
    printf("FAIL: %s: %s\n", what, l2k_strerror(status));
    exit(1);
}

/* A column at coordinate 0, which no horizontal level changes, without sub-sampling. */
static bool is_line(const trial *t, const tile_frame *tile)
{
    return t->p->image.num_components == 1 && t->p->components[0].dx == 1 && t->p->components[0].dy == 1 &&
           tile->rects[0].x0 == 0 && tile->rects[0].x1 == 1;
}

static l2k_volume *make(const trial *t, const tile_frame *tile)
{
    const l2k_image slice = {.x1 = 1, .y1 = 1, .num_components = 1, .components = t->p->components};
    l2k_volume *volume = l2k_volume_new(NULL);
    must(volume ? L2K_OK : L2K_ERROR_MEMORY, "a volume");
    must(l2k_volume_set(volume, L2K_VOLUME_WAVELET, t->o.irreversible ? L2K_WAVELET_9_7 : L2K_WAVELET_5_3),
         "a wavelet");
    must(l2k_volume_set(volume, L2K_VOLUME_LEVELS, 0), "levels");
    must(l2k_volume_set(volume, L2K_VOLUME_Z_LEVELS, coding_levels(&t->o)), "levels in Z");
    must(l2k_volume_prepare(volume, &slice, tile->rects[0].y0, tile->rects[0].y1), "preparing a volume");
    return volume;
}

/* All coefficients, from low to high. */
static grid transform(l2k_volume *volume, const trial *t, const tile_frame *tile)
{
    const uint32_t count = tile->rects[0].y1 - tile->rects[0].y0, before = tile->rects[0].y0 - t->p->image.y0;
    grid g = grid_make(1, count);
    for (uint32_t z = 0; z < count; z++) {
        const l2k_plane plane = {(int32_t *)t->p->samples[0] + before + z, 4, 4, L2K_SAMPLE_S32};
        l2k_volume_slice slice;
        must(l2k_volume_put_slice(volume, &plane), "putting a slice");
        for (must(l2k_volume_get_coefficients(volume, &slice), "coefficients"); slice.views;
             must(l2k_volume_get_coefficients(volume, &slice), "coefficients")) {
            const uint32_t lows = slice.high ? l2k_volume_depth(volume, slice.level, false) : 0;
            const void *value = slice.views[0].base;
            g.values[lows + slice.index] = t->o.irreversible ? *(const float *)value : *(const int32_t *)value;
        }
    }
    return g;
}

void compare_volume(stage_table *table, const trial *t, const watch_log *log)
{
    const tile_frame tile = trial_tile(t, 0);
    const watch_plane *theirs = is_line(t, &tile) ? watch_find(log, WATCH_ANALYSED, 0, tile.rects[0]) : NULL;
    const spot s = {STAGE_WAVELET, L2K_BACKEND_CPU, 0, 0, coding_levels(&t->o), NULL};
    if (!theirs)
        return;
    l2k_volume *volume = make(t, &tile);
    grid a = grid_of_watched(theirs, t->o.irreversible), b = transform(volume, t, &tile);
    table_grids(table, &s, &a, &b);
    grid_free(&a);
    grid_free(&b);
    l2k_volume_free(volume);
}
