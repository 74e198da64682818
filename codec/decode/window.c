/* The parts of a tile that a window of the picture needs: a part of each subband, in whole code-blocks, and their
 * precincts. Other parts of the tile get no memory, and their packets are skipped. */
#include "codec/decode/tile_state.h"

#include "transform/window.h"

l2k_rect l2k_window_output(const l2k_decoding *d, uint32_t c)
{
    return l2k_reduced_rect(d->codestream, c, d->area, d->discard);
}

void l2k_window_enter(const l2k_decoding *d, uint32_t c, l2k_plan_component *component)
{
    const l2k_rect whole = l2k_unsplit_resolution(component->rect, component->unsplit, component->discard);
    const l2k_rect part = l2k_rect_intersect(l2k_window_output(d, c), whole);
    if (l2k_rect_empty(whole) || l2k_rect_equals(part, whole))
        return;
    component->window = l2k_rect_empty(part) ? (l2k_rect){whole.x1, whole.y1, whole.x1, whole.y1} : part;
}

/* The component as in the plan, without steps and samples. */
static l2k_plan_component plan_component(const l2k_decoding *d, const l2k_tile *tile, uint32_t c)
{
    const l2k_tile_component *component = &tile->components[c];
    const l2k_component_coding *coding = component->coding;
    l2k_plan_component k = {.rect = component->rect,
                            .levels = coding->levels,
                            .unsplit = coding->unsplit,
                            .discard = l2k_min_u32(d->discard, coding->levels),
                            .wavelet = (l2k_wavelet)coding->wavelet,
                            .own = coding->own};
    l2k_coding_set_cells(tile->coding, tile->num_components, c, &k);
    l2k_window_enter(d, c, &k);
    return k;
}

/* Widens a rectangle of precincts by those that have a part of the subband's window. */
static l2k_rect join_precincts(l2k_rect wanted, const l2k_partition *p, l2k_rect window, unsigned halve_x,
                               unsigned halve_y)
{
    const unsigned w = p->log2_width - halve_x, h = p->log2_height - halve_y;
    if (l2k_rect_empty(window))
        return wanted;
    const l2k_rect more = {(window.x0 >> w) - p->first_x, (window.y0 >> h) - p->first_y,
                           ((window.x1 - 1) >> w) - p->first_x + 1, ((window.y1 - 1) >> h) - p->first_y + 1};
    if (l2k_rect_empty(wanted))
        return more;
    return (l2k_rect){l2k_min_u32(wanted.x0, more.x0), l2k_min_u32(wanted.y0, more.y0), l2k_max_u32(wanted.x1, more.x1),
                      l2k_max_u32(wanted.y1, more.y1)};
}

static l2k_window_change set_resolution(const l2k_decoding *d, const l2k_plan_component *k,
                                        const l2k_tile_component *component, uint32_t r)
{
    l2k_resolution *resolution = &component->resolutions[r];
    const bool is_wanted = l2k_wants_component(d, component->index) && r + d->discard < component->num_resolutions;
    const bool is_cut = is_wanted && l2k_has_window(k);
    l2k_window_change change = L2K_WINDOW_SAME;
    l2k_rect wanted = {0};
    for (uint32_t b = 0; b < resolution->num_bands; b++) {
        l2k_subband *band = &resolution->bands[b];
        const unsigned number = l2k_band_number(r, band->orientation);
        const l2k_rect held = is_cut ? l2k_held_part(k, number) : band->rect;
        l2k_rect window = is_cut ? l2k_needed_part(k, number) : band->rect;
        if (!is_wanted)
            window = (l2k_rect){0};
        if (!l2k_rect_equals(band->window, window))
            change = L2K_WINDOW_OTHER_BLOCKS;
        band->window = window;
        band->view_x = held.x0 - band->rect.x0;
        band->view_y = held.y0 - band->rect.y0;
        wanted = join_precincts(wanted, &resolution->precincts, window, l2k_coding_halves_across(component->coding, r),
                                l2k_coding_halves_down(component->coding, r));
    }
    if (!l2k_rect_equals(resolution->wanted, wanted))
        change = L2K_WINDOW_OTHER_PRECINCTS;
    resolution->wanted = wanted;
    return change;
}

l2k_window_change l2k_window_set(const l2k_decoding *d, l2k_tile *tile)
{
    l2k_window_change all = L2K_WINDOW_SAME;
    for (uint32_t c = 0; c < tile->num_components; c++) {
        const l2k_plan_component k = plan_component(d, tile, c);
        for (uint32_t r = 0; r < tile->components[c].num_resolutions; r++) {
            const l2k_window_change change = set_resolution(d, &k, &tile->components[c], r);
            all = change > all ? change : all;
        }
    }
    return all;
}

uint64_t l2k_window_precincts(const l2k_tile *tile)
{
    uint64_t precincts = 0;
    for (uint32_t c = 0; c < tile->num_components; c++)
        for (uint32_t r = 0; r < tile->components[c].num_resolutions; r++)
            precincts += l2k_rect_area(tile->components[c].resolutions[r].wanted);
    return precincts;
}
