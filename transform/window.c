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

static l2k_rect low_of(l2k_rect samples, l2k_unsplit unsplit)
{
    return l2k_unsplit_resolution(samples, unsplit, 1);
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

/* Rounds columns outwards to multiples of `columns`. */
static l2k_rect round_columns(l2k_rect r, uint32_t columns, l2k_rect limits)
{
    if (l2k_rect_empty(r))
        return r;
    r.x0 = l2k_max_u32(r.x0 / columns * columns, limits.x0);
    r.x1 = up_to(r.x1, (columns - r.x1 % columns) % columns, limits.x1);
    return r;
}

/* Iterates over the levels, from the pixels on. */
typedef struct level_iterator {
    const l2k_plan_component *component;
    bool is_exact; /* only needed samples: no rounding to multiples */
    unsigned margin;
    l2k_rect passed, samples; /* of the present level */
} level_iterator;

/* Enters level `level`, whose samples must contain `passed`. */
static void enter(level_iterator *iterator, unsigned level, l2k_rect passed)
{
    const l2k_plan_component *component = iterator->component;
    const l2k_rect limits = l2k_unsplit_resolution(component->rect, component->unsplit, level - 1);
    iterator->passed = passed;
    iterator->samples = widen(passed, iterator->margin, unsplit_at(component, level), limits);
    if (!iterator->is_exact)
        iterator->samples = round_columns(iterator->samples, COLUMNS, limits);
}

/* Enters the first level that is not left out. */
static level_iterator start_iterator(const l2k_plan_component *component, bool is_exact)
{
    level_iterator iterator = {component, is_exact, l2k_kernel_reach(&l2k_plan_wavelet(component)->kernel), {0}, {0}};
    enter(&iterator, component->discard + 1, l2k_output_rect(component));
    return iterator;
}

static void enter_next(level_iterator *iterator, unsigned level)
{
    enter(iterator, level, low_of(iterator->samples, unsplit_at(iterator->component, level - 1)));
}

static level_iterator iterate_to(const l2k_plan_component *component, unsigned level, bool is_exact)
{
    level_iterator iterator = start_iterator(component, is_exact);
    for (unsigned next = component->discard + 2; next <= level; next++)
        enter_next(&iterator, next);
    return iterator;
}

l2k_rect l2k_level_rect(const l2k_plan_component *component, unsigned level)
{
    if (!l2k_has_window(component))
        return l2k_unsplit_resolution(component->rect, component->unsplit, level - 1);
    return iterate_to(component, level, false).samples;
}

l2k_rect l2k_passed_rect(const l2k_plan_component *component, unsigned level)
{
    return l2k_has_window(component) ? iterate_to(component, level, false).passed : l2k_level_rect(component, level);
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
    return l2k_unsplit_subband(iterate_to(component, level, is_exact).samples, unsplit_at(component, level), 1,
                               orientation);
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
static l2k_rect hold(const l2k_plan_component *component, unsigned band, l2k_rect needed, l2k_rect read)
{
    const unsigned across = component->cell_log2_width, down = component->cell_log2_height;
    if (l2k_rect_empty(needed))
        return read;
    const unsigned level = l2k_band_level(component->levels, l2k_band_resolution(band));
    const l2k_rect all = l2k_unsplit_subband(component->rect, component->unsplit, level, l2k_band_orientation(band));
    const l2k_rect cells = {l2k_max_u32(needed.x0 >> across << across, all.x0),
                            l2k_max_u32(needed.y0 >> down << down, all.y0), round_up(needed.x1, across, all.x1),
                            round_up(needed.y1, down, all.y1)};
    return (l2k_rect){l2k_min_u32(cells.x0, read.x0), l2k_min_u32(cells.y0, read.y0), l2k_max_u32(cells.x1, read.x1),
                      l2k_max_u32(cells.y1, read.y1)};
}

l2k_rect l2k_held_part(const l2k_plan_component *component, unsigned band)
{
    const l2k_rect read = l2k_read_part(component, band);
    return l2k_has_window(component) ? hold(component, band, l2k_needed_part(component, band), read) : read;
}

/* Sets the parts of a level's subbands, LL included at the last level. */
static void hold_level(const level_iterator *exact, const level_iterator *wide, unsigned level, l2k_rect *held,
                       l2k_rect *read)
{
    const l2k_plan_component *component = wide->component;
    const l2k_unsplit unsplit = unsplit_at(component, level);
    for (unsigned o = level == component->levels ? L2K_LL : L2K_HL; o <= L2K_HH; o++) {
        const unsigned band = o == L2K_LL ? 0 : l2k_band_number(component->levels - level + 1, o);
        read[band] = l2k_unsplit_subband(wide->samples, unsplit, 1, o);
        held[band] = hold(component, band, l2k_unsplit_subband(exact->samples, unsplit, 1, o), read[band]);
    }
}

void l2k_list_parts(const l2k_plan_component *component, unsigned bands, l2k_rect held[], l2k_rect read[])
{
    if (!l2k_has_window(component) || component->levels == component->discard) {
        for (unsigned band = 0; band < bands; band++) {
            read[band] = l2k_read_part(component, band);
            held[band] = l2k_has_window(component) ? l2k_held_part(component, band) : read[band];
        }
        return;
    }
    level_iterator exact = start_iterator(component, true), wide = start_iterator(component, false);
    hold_level(&exact, &wide, component->discard + 1, held, read);
    for (unsigned level = component->discard + 2; level <= component->levels; level++) {
        enter_next(&exact, level);
        enter_next(&wide, level);
        hold_level(&exact, &wide, level, held, read);
    }
}

void l2k_list_first(const l2k_plan_component *component, const l2k_coefficients *view, size_t first[L2K_MAX_SUBBANDS])
{
    l2k_rect held[L2K_MAX_SUBBANDS], read[L2K_MAX_SUBBANDS];
    l2k_list_parts(component, view->num_bands, held, read);
    for (unsigned band = 0; band < view->num_bands; band++)
        first[band] = (view->bands[band].y + (size_t)(read[band].y0 - held[band].y0)) * view->stride +
                      view->bands[band].x + (read[band].x0 - held[band].x0);
}
