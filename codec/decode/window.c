/* The parts of a tile that a window of the picture needs: a part of each subband, in whole code-blocks, and their
 * precincts. Other parts of the tile get no memory, and their packets are skipped. */
#include "codec/decode/tile_state.h"

#include "transform/window.h"

typedef struct resolution_window {
    l2k_rect wanted;     /* columns and rows of precincts */
    l2k_rect windows[3]; /* of its subbands */
    l2k_rect held[3];    /* of these, by the view */
} resolution_window;

l2k_rect l2k_window_output(const l2k_decoding *d, uint32_t c)
{
    const l2k_component *component = &d->codestream->siz.components[c];
    return l2k_reduced_rect(d->codestream, c, l2k_component_rect(d->area, component->dx, component->dy), d->discard);
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

static resolution_window find_window(const l2k_decoding *d, const l2k_plan_component *k,
                                     const l2k_tile_component *component, uint32_t r)
{
    resolution_window found = {0};
    const l2k_resolution *resolution = &component->resolutions[r];
    if (!l2k_wants_component(d, component->index) || r + d->discard >= component->num_resolutions)
        return found;
    for (uint32_t b = 0; b < resolution->num_bands; b++) {
        const unsigned band = l2k_band_number(r, resolution->bands[b].orientation);
        found.windows[b] = found.held[b] = resolution->bands[b].rect;
        if (l2k_has_window(k)) {
            found.windows[b] = l2k_needed_part(k, band);
            found.held[b] = l2k_held_part(k, band);
        }
        found.wanted = join_precincts(found.wanted, &resolution->precincts, found.windows[b],
                                      l2k_coding_halves_across(component->coding, r),
                                      l2k_coding_halves_down(component->coding, r));
    }
    return found;
}

static l2k_window_change set_resolution(const resolution_window *found, l2k_resolution *resolution)
{
    l2k_window_change change = L2K_WINDOW_SAME;
    for (uint32_t b = 0; b < resolution->num_bands; b++) {
        l2k_subband *band = &resolution->bands[b];
        if (!l2k_rect_equals(band->window, found->windows[b]))
            change = L2K_WINDOW_OTHER_BLOCKS;
        band->window = found->windows[b];
        band->view_x = found->held[b].x0 - band->rect.x0;
        band->view_y = found->held[b].y0 - band->rect.y0;
    }
    if (!l2k_rect_equals(resolution->wanted, found->wanted))
        change = L2K_WINDOW_OTHER_PRECINCTS;
    resolution->wanted = found->wanted;
    return change;
}

/* Whether the tile-component has the wanted window already, which is common if the decoder stays open. */
static bool is_set(const l2k_decoding *d, uint32_t c, l2k_component_window *window)
{
    const l2k_component_window before = *window;
    *window = (l2k_component_window){true, l2k_wants_component(d, c), d->discard, l2k_window_output(d, c)};
    return before.is_set && before.is_wanted == window->is_wanted && before.discard == window->discard &&
           l2k_rect_equals(before.output, window->output);
}

l2k_window_change l2k_window_set(const l2k_decoding *d, l2k_tile *tile)
{
    l2k_window_change all = L2K_WINDOW_SAME;
    for (uint32_t c = 0; c < tile->num_components; c++) {
        if (is_set(d, c, &tile->components[c].window))
            continue;
        const l2k_plan_component k = plan_component(d, tile, c);
        for (uint32_t r = 0; r < tile->components[c].num_resolutions; r++) {
            const resolution_window found = find_window(d, &k, &tile->components[c], r);
            const l2k_window_change change = set_resolution(&found, &tile->components[c].resolutions[r]);
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
