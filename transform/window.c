/* The samples and coefficients that a window of a tile-component needs, level by level from the pixels on (F.3). */
#include "transform/window.h"

#include <string.h>

#include "dwt/kernel.h"

/* Levels are cut at multiples of this many columns: a lane of a device then has all of its columns or none. */
#define COLUMNS 8u

bool l2k_has_window(const l2k_plan_component *component)
{
    static const l2k_rect none = {0};
    return memcmp(&component->window, &none, sizeof none) != 0;
}

l2k_rect l2k_output_rect(const l2k_plan_component *component)
{
    const l2k_rect w = component->window;
    if (!l2k_has_window(component))
        return l2k_unsplit_resolution(component->rect, component->unsplit, component->discard);
    return l2k_rect_empty(w) ? (l2k_rect){w.x0, w.y0, w.x0, w.y0} : w;
}

/* The unsplit directions from `level` on, which becomes level 1. */
static l2k_unsplit unsplit_at(const l2k_plan_component *component, unsigned level)
{
    return l2k_unsplit_behind(component->unsplit, level - 1);
}

static uint32_t up_to(uint32_t a, uint32_t more, uint32_t most)
{
    return more < most - a ? a + more : most;
}

/* In a direction in which a level does not split, no sample depends on its neighbours. */
static l2k_rect widen(l2k_rect r, unsigned by, l2k_unsplit unsplit, l2k_rect limits)
{
    const unsigned x = l2k_splits_across(unsplit, 1) ? by : 0, y = l2k_splits_down(unsplit, 1) ? by : 0;
    if (l2k_rect_empty(r))
        return r;
    return (l2k_rect){r.x0 - l2k_min_u32(x, r.x0 - limits.x0), r.y0 - l2k_min_u32(y, r.y0 - limits.y0),
                      up_to(r.x1, x, limits.x1), up_to(r.y1, y, limits.y1)};
}

/* Rounds columns outwards to multiples of COLUMNS. */
static l2k_rect round_columns(l2k_rect r, l2k_rect limits)
{
    if (l2k_rect_empty(r))
        return r;
    r.x0 = l2k_max_u32(r.x0 / COLUMNS * COLUMNS, limits.x0);
    r.x1 = up_to(r.x1, (COLUMNS - r.x1 % COLUMNS) % COLUMNS, limits.x1);
    return r;
}

static l2k_rect samples_of(const l2k_plan_component *component, unsigned level, bool is_exact);

/* Of the samples of a level of a window, those that are passed on. */
static l2k_rect passed_of(const l2k_plan_component *component, unsigned level, bool is_exact)
{
    if (level == component->discard + 1)
        return l2k_output_rect(component);
    return l2k_unsplit_resolution(samples_of(component, level - 1, is_exact), unsplit_at(component, level - 1), 1);
}

/* The samples of a level of a window; `is_exact`: only those needed, without rounding to multiples. */
static l2k_rect samples_of(const l2k_plan_component *component, unsigned level, bool is_exact)
{
    const l2k_rect limits = l2k_unsplit_resolution(component->rect, component->unsplit, level - 1);
    const unsigned margin = l2k_kernel_reach(&l2k_plan_wavelet(component)->kernel);
    const l2k_rect needed = widen(passed_of(component, level, is_exact), margin, unsplit_at(component, level), limits);
    return is_exact ? needed : round_columns(needed, limits);
}

l2k_rect l2k_level_rect(const l2k_plan_component *component, unsigned level)
{
    if (!l2k_has_window(component))
        return l2k_unsplit_resolution(component->rect, component->unsplit, level - 1);
    return samples_of(component, level, false);
}

l2k_rect l2k_passed_rect(const l2k_plan_component *component, unsigned level)
{
    return l2k_has_window(component) ? passed_of(component, level, false) : l2k_level_rect(component, level);
}

/* The part of a subband below a level's samples. */
static l2k_rect part_of(const l2k_plan_component *component, unsigned band, bool is_exact)
{
    unsigned level = l2k_band_level(component->levels, l2k_band_resolution(band));
    unsigned orientation = l2k_band_orientation(band);
    if (!l2k_has_window(component))
        return l2k_unsplit_subband(component->rect, component->unsplit, level, orientation);
    if (level <= component->discard)
        return band == 0 ? l2k_output_rect(component) : (l2k_rect){0};
    return l2k_unsplit_subband(samples_of(component, level, is_exact), unsplit_at(component, level), 1, orientation);
}

l2k_rect l2k_needed_part(const l2k_plan_component *component, unsigned band)
{
    return part_of(component, band, true);
}

l2k_rect l2k_read_part(const l2k_plan_component *component, unsigned band)
{
    return part_of(component, band, false);
}

static uint32_t round_up(uint32_t a, unsigned log2, uint32_t most)
{
    const uint64_t end = (uint64_t)l2k_ceil_shift(a, log2) << log2;
    return end < most ? (uint32_t)end : most;
}

/* All whole cells with a needed coefficient, and the coefficients around them that the plan reads. */
l2k_rect l2k_held_part(const l2k_plan_component *component, unsigned band)
{
    const unsigned across = component->cell_log2_width, down = component->cell_log2_height;
    const unsigned level = l2k_band_level(component->levels, l2k_band_resolution(band));
    const l2k_rect read = l2k_read_part(component, band);
    const l2k_rect needed = l2k_has_window(component) ? l2k_needed_part(component, band) : (l2k_rect){0};
    if (l2k_rect_empty(needed))
        return read;
    const l2k_rect all = l2k_unsplit_subband(component->rect, component->unsplit, level, l2k_band_orientation(band));
    const l2k_rect cells = {l2k_max_u32(needed.x0 >> across << across, all.x0),
                            l2k_max_u32(needed.y0 >> down << down, all.y0), round_up(needed.x1, across, all.x1),
                            round_up(needed.y1, down, all.y1)};
    return (l2k_rect){l2k_min_u32(cells.x0, read.x0), l2k_min_u32(cells.y0, read.y0), l2k_max_u32(cells.x1, read.x1),
                      l2k_max_u32(cells.y1, read.y1)};
}

void l2k_list_first(const l2k_plan_component *component, const l2k_coefficients *view, size_t first[L2K_MAX_SUBBANDS])
{
    for (unsigned band = 0; band < view->num_bands; band++) {
        const l2k_rect held = l2k_held_part(component, band), read = l2k_read_part(component, band);
        first[band] = (view->bands[band].y + (size_t)(read.y0 - held.y0)) * view->stride + view->bands[band].x +
                      (read.x0 - held.x0);
    }
}
