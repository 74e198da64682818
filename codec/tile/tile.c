/* Builds the tree of a tile (Annex B.4 to B.7) and lists its code-blocks. */
#include "codec/tile/tile.h"

#include <string.h>

#include "base/run.h"

static l2k_status check_memory(const l2k_context *context, bool obtained)
{
    return l2k_check_memory(context, obtained, "the packets and code-blocks of a tile");
}

static void *take_zeroed(const l2k_context *context, l2k_arena *arena, uint64_t count, size_t size)
{
    if (count > SIZE_MAX / 2 / size)
        return NULL;
    void *block = l2k_arena_take(context, arena, (size_t)count * size);
    return block ? memset(block, 0, (size_t)count * size) : NULL;
}

/* The cell of a precinct in a subband: precincts of a resolution r > 0 halve with its subbands (B.6, B.7). */
static l2k_rect precinct_in_band(const l2k_resolution *resolution, const l2k_subband *band, uint32_t precinct)
{
    const l2k_partition *p = &resolution->precincts;
    const l2k_component_coding *coding = band->component->coding;
    uint64_t x = (uint64_t)(p->first_x + precinct % p->across), y = (uint64_t)(p->first_y + precinct / p->across);
    unsigned w = p->log2_width - l2k_coding_halves_across(coding, band->resolution);
    unsigned h = p->log2_height - l2k_coding_halves_down(coding, band->resolution);
    /* Coordinates stay below 2^32 because the precinct meets the resolution; only its far edge may not. */
    l2k_rect cell = {(uint32_t)(x << w), (uint32_t)(y << h), 0, 0};
    uint64_t x1 = (x + 1) << w, y1 = (y + 1) << h;
    cell.x1 = x1 > UINT32_MAX ? UINT32_MAX : (uint32_t)x1;
    cell.y1 = y1 > UINT32_MAX ? UINT32_MAX : (uint32_t)y1;
    return l2k_rect_intersect(cell, band->rect);
}

/* Mb (E-2), and the shift of a region of interest (H.1). */
static uint16_t planes_of(const l2k_component_coding *coding, unsigned resolution, unsigned orientation)
{
    const l2k_step step = l2k_coding_step(coding, resolution, orientation);
    return (uint16_t)(l2k_magnitude_bits(step, coding->guard_bits) + coding->roi_shift);
}

static l2k_status check_precincts(const l2k_context *context, uint64_t count, uint64_t most)
{
    if (count > most)
        return l2k_fail(context, L2K_ERROR_TRUNCATED, "the file is too short for the packets that its header promises");
    return L2K_OK;
}

static l2k_status outline_resolution(const l2k_context *context, l2k_tile *tile, const l2k_tile_component *component,
                                     uint32_t r, uint64_t most_precincts)
{
    const l2k_component_coding *coding = component->coding;
    l2k_resolution *resolution = &component->resolutions[r];
    resolution->rect = l2k_unsplit_resolution(component->rect, coding->unsplit, coding->levels - r);
    unsigned width = coding->log2_precinct_width[r], height = coding->log2_precinct_height[r];
    resolution->precincts = l2k_partition_make(resolution->rect, width, height);
    uint64_t count = (uint64_t)resolution->precincts.across * resolution->precincts.down;
    resolution->first_precinct = tile->num_precincts;
    tile->num_precincts += count;
    L2K_TRY(check_precincts(context, tile->num_precincts, most_precincts));
    if (count > UINT32_MAX)
        return l2k_fail(context, L2K_ERROR_UNSUPPORTED, "more than 2^32 precincts in a resolution");
    resolution->num_precincts = (uint32_t)count;
    resolution->num_bands = r == 0 ? 1 : 3;
    resolution->wanted = (l2k_rect){0, 0, resolution->precincts.across, resolution->precincts.down};
    for (uint32_t b = 0; b < resolution->num_bands; b++) {
        l2k_subband *band = &resolution->bands[b];
        band->component = component;
        band->resolution = (uint8_t)r;
        band->orientation = (uint8_t)(r == 0 ? L2K_LL : b + 1);
        band->rect =
            l2k_unsplit_subband(component->rect, coding->unsplit, l2k_band_level(coding->levels, r), band->orientation);
        band->window = band->rect;
        band->max_planes = planes_of(coding, r, band->orientation);
    }
    return L2K_OK;
}

/* Work per resolution, for l2k_poll, besides clearing its precincts. */
enum { WEIGHT_OF_RESOLUTION = 100 };

static l2k_status outline_component(const l2k_context *context, l2k_tile *tile, const l2k_component *size,
                                    const l2k_component_coding *coding, l2k_tile_component *component,
                                    uint64_t most_precincts)
{
    component->rect = l2k_component_rect(tile->rect, size->dx, size->dy);
    component->dx = size->dx;
    component->dy = size->dy;
    component->precision = size->precision;
    component->coding = coding;
    component->num_resolutions = coding->levels + 1u;
    component->resolutions =
        take_zeroed(context, &tile->arena, component->num_resolutions, sizeof *component->resolutions);
    L2K_TRY(check_memory(context, component->resolutions));
    for (uint32_t r = 0; r < component->num_resolutions; r++)
        L2K_TRY(outline_resolution(context, tile, component, r, most_precincts));
    return l2k_poll(context, component->num_resolutions * WEIGHT_OF_RESOLUTION);
}

l2k_status l2k_tile_outline(const l2k_context *context, const l2k_siz *siz, const l2k_tile_coding *coding,
                            uint32_t index, uint64_t most_precincts, l2k_tile *tile)
{
    *tile = (l2k_tile){.index = index,
                       .rect = l2k_tile_rect(&siz->grid, index),
                       .num_components = siz->num_components,
                       .coding = coding};
    tile->components = take_zeroed(context, &tile->arena, siz->num_components, sizeof *tile->components);
    l2k_status status = check_memory(context, tile->components);
    for (uint32_t c = 0; c < siz->num_components && status == L2K_OK; c++) {
        tile->components[c].index = c;
        status = outline_component(context, tile, &siz->components[c], &coding->components[c], &tile->components[c],
                                   most_precincts);
    }
    if (status != L2K_OK)
        l2k_tile_release(context, tile);
    return status;
}

static l2k_status take_precincts(const l2k_context *context, l2k_tile *tile, l2k_resolution *resolution)
{
    const uint64_t count = l2k_rect_area(resolution->wanted);
    for (uint32_t b = 0; b < resolution->num_bands; b++) {
        resolution->bands[b].precincts = take_zeroed(context, &tile->arena, count, sizeof(l2k_precinct));
        L2K_TRY(check_memory(context, resolution->bands[b].precincts));
    }
    return l2k_poll(context, count);
}

l2k_status l2k_tile_take_precincts(const l2k_context *context, l2k_tile *tile)
{
    l2k_status status = L2K_OK;
    for (uint32_t c = 0; c < tile->num_components; c++)
        for (uint32_t r = 0; r < tile->components[c].num_resolutions && status == L2K_OK; r++)
            status = take_precincts(context, tile, &tile->components[c].resolutions[r]);
    if (status != L2K_OK)
        l2k_tile_release(context, tile);
    return status;
}

l2k_status l2k_tile_create(const l2k_context *context, const l2k_siz *siz, const l2k_tile_coding *coding,
                           uint32_t index, uint64_t most_precincts, l2k_tile *tile)
{
    L2K_TRY(l2k_tile_outline(context, siz, coding, index, most_precincts, tile));
    return l2k_tile_take_precincts(context, tile);
}

void l2k_tile_release(const l2k_context *context, l2k_tile *tile)
{
    l2k_arena_release(context, &tile->passed);
    tile->num_passed = 0;
    l2k_arena_release(context, &tile->arena);
    l2k_arena_release(context, &tile->contributions);
    l2k_release(context, tile->pending.at);
    tile->pending = (l2k_pending_list){0};
    tile->components = NULL;
    tile->num_components = 0;
}

bool l2k_tile_fits(const l2k_tile *tile, const l2k_siz *siz, uint32_t index)
{
    const l2k_rect rect = l2k_tile_rect(&siz->grid, index);
    if (!tile->components || tile->index != index || tile->num_components != siz->num_components ||
        !l2k_rect_equals(tile->rect, rect))
        return false;
    for (uint32_t c = 0; c < siz->num_components; c++) {
        const l2k_tile_component *component = &tile->components[c];
        const l2k_component *size = &siz->components[c];
        if (component->dx != size->dx || component->dy != size->dy || component->precision != size->precision)
            return false;
    }
    return true;
}

/* Forgets skipped precincts whose last packet was not reached. */
static void forget_passed(l2k_tile *tile)
{
    for (uint32_t c = 0; c < tile->num_components; c++)
        for (uint32_t r = 0; r < tile->components[c].num_resolutions; r++) {
            l2k_resolution *resolution = &tile->components[c].resolutions[r];
            if (resolution->passed)
                memset(resolution->passed, 0, resolution->num_precincts * sizeof(l2k_precinct *));
        }
    tile->num_passed = 0;
    l2k_arena_rewind(&tile->passed);
}

l2k_status l2k_tile_restart(const l2k_context *context, uint64_t most_precincts, l2k_tile *tile)
{
    L2K_TRY(check_precincts(context, tile->num_precincts, most_precincts));
    if (tile->num_passed)
        forget_passed(tile);
    tile->image++;
    tile->has_contributions = false;
    l2k_arena_rewind(&tile->contributions);
    return L2K_OK;
}

static void move_in_precinct(const l2k_tile *tile, const l2k_precinct *precinct, const uint8_t *from, const uint8_t *to)
{
    const uint64_t count = l2k_rect_area(precinct->kept);
    if (!precinct->blocks || precinct->image != tile->image)
        return;
    for (uint64_t i = 0; i < count; i++)
        for (l2k_contribution *k = precinct->blocks[i].received.first; k; k = k->next)
            k->data = to + (k->data - from);
}

void l2k_tile_move_contributions(l2k_tile *tile, const uint8_t *from, const uint8_t *to)
{
    for (uint32_t c = 0; c < tile->num_components; c++)
        for (uint32_t r = 0; r < tile->components[c].num_resolutions; r++) {
            const l2k_resolution *resolution = &tile->components[c].resolutions[r];
            const uint64_t count = l2k_rect_area(resolution->wanted);
            for (uint32_t b = 0; b < resolution->num_bands; b++)
                for (uint64_t p = 0; p < count; p++)
                    move_in_precinct(tile, &resolution->bands[b].precincts[p], from, to);
        }
}

uint64_t l2k_tile_samples(const l2k_tile *tile)
{
    uint64_t samples = 0;
    for (uint32_t c = 0; c < tile->num_components; c++)
        samples += l2k_rect_area(tile->components[c].rect);
    return samples;
}

float l2k_band_step_size(const l2k_subband *band)
{
    const l2k_tile_component *component = band->component;
    return l2k_step_size(l2k_coding_step(component->coding, band->resolution, band->orientation), component->precision,
                         band->orientation);
}

void l2k_tile_take_steps(l2k_tile *tile)
{
    tile->missing_guard_bits = 0;
    tile->magnitude_bound = 0;
    for (uint32_t c = 0; c < tile->num_components; c++)
        for (uint32_t r = 0; r < tile->components[c].num_resolutions; r++)
            for (uint32_t b = 0; b < tile->components[c].resolutions[r].num_bands; b++) {
                l2k_subband *band = &tile->components[c].resolutions[r].bands[b];
                band->max_planes = planes_of(tile->components[c].coding, r, band->orientation);
            }
}

void l2k_tile_add_guard_bits(l2k_tile *tile, unsigned bits)
{
    for (uint32_t c = 0; c < tile->num_components; c++)
        for (uint32_t r = 0; r < tile->components[c].num_resolutions; r++)
            for (uint32_t b = 0; b < tile->components[c].resolutions[r].num_bands; b++)
                tile->components[c].resolutions[r].bands[b].max_planes += (uint16_t)bits;
}

static void renew_blocks(l2k_precinct *precinct)
{
    const uint64_t count = l2k_rect_area(precinct->kept);
    for (uint64_t i = 0; i < count; i++)
        precinct->blocks[i] = (l2k_block){.rect = precinct->blocks[i].rect, .lblock = 3};
}

/* The columns and rows of a precinct's code-blocks that meet the subband's window. */
static l2k_rect blocks_in_window(const l2k_partition *grid, l2k_rect window)
{
    const l2k_rect r = l2k_rect_intersect(grid->rect, window);
    if (l2k_rect_empty(r))
        return (l2k_rect){0};
    return (l2k_rect){(r.x0 >> grid->log2_width) - grid->first_x, (r.y0 >> grid->log2_height) - grid->first_y,
                      ((r.x1 - 1) >> grid->log2_width) - grid->first_x + 1,
                      ((r.y1 - 1) >> grid->log2_height) - grid->first_y + 1};
}

static l2k_partition grid_of(const l2k_resolution *resolution, const l2k_subband *band, uint32_t precinct)
{
    const l2k_component_coding *coding = band->component->coding;
    const unsigned across = l2k_coding_halves_across(coding, band->resolution);
    return l2k_partition_make(precinct_in_band(resolution, band, precinct),
                              l2k_min_u32(coding->log2_block_width, resolution->precincts.log2_width - across),
                              l2k_coding_block_height(coding, band->resolution));
}

static l2k_status make_blocks(const l2k_context *context, l2k_tile *tile, const l2k_subband *band,
                              l2k_precinct *precinct)
{
    const l2k_partition *grid = &precinct->grid;
    precinct->kept =
        tile->keeps_windows ? blocks_in_window(grid, band->window) : (l2k_rect){0, 0, grid->across, grid->down};
    const uint64_t count = l2k_rect_area(precinct->kept);
    if (count <= SIZE_MAX / sizeof(l2k_block))
        precinct->blocks = l2k_arena_take(context, &tile->arena, (size_t)count * sizeof(l2k_block));
    L2K_TRY(check_memory(context, precinct->blocks));
    for (uint32_t y = precinct->kept.y0; y < precinct->kept.y1; y++)
        for (uint32_t x = precinct->kept.x0; x < precinct->kept.x1; x++)
            l2k_precinct_block(precinct, x, y)->rect = l2k_partition_cell(grid, y * grid->across + x);
    renew_blocks(precinct);
    return L2K_OK;
}

/* ---- What packet headers need --------------------------------------------------------------------------------- */

static void renew_headers(l2k_precinct *precinct)
{
    const uint32_t count = l2k_precinct_blocks(precinct);
    for (uint32_t i = 0; i < count; i++)
        precinct->states[i] = (l2k_block_state){.lblock = 3};
    l2k_tag_tree_restart(&precinct->inclusion);
    l2k_tag_tree_restart(&precinct->zero_planes);
}

l2k_status l2k_precinct_make_trees(const l2k_context *context, l2k_arena *arena, l2k_precinct *precinct)
{
    const uint32_t across = precinct->grid.across, down = precinct->grid.down;
    L2K_TRY(l2k_tag_tree_create(context, arena, across, down, &precinct->inclusion));
    return l2k_tag_tree_create(context, arena, across, down, &precinct->zero_planes);
}

static l2k_status make_headers(const l2k_context *context, l2k_arena *arena, l2k_precinct *precinct)
{
    const uint64_t count = (uint64_t)precinct->grid.across * precinct->grid.down;
    L2K_TRY(l2k_precinct_make_trees(context, arena, precinct));
    if (count <= UINT32_MAX)
        precinct->states = l2k_arena_take(context, arena, (size_t)count * sizeof *precinct->states);
    L2K_TRY(check_memory(context, precinct->states));
    renew_headers(precinct);
    return L2K_OK;
}

/* ---- Precincts ------------------------------------------------------------------------------------------------- */

/* *index: the precinct's place among the wanted ones. */
static bool is_wanted(const l2k_resolution *resolution, uint32_t precinct, size_t *index)
{
    const l2k_rect wanted = resolution->wanted;
    const uint32_t x = precinct % resolution->precincts.across, y = precinct / resolution->precincts.across;
    *index = (size_t)(y - wanted.y0) * (wanted.x1 - wanted.x0) + (x - wanted.x0);
    return x >= wanted.x0 && x < wanted.x1 && y >= wanted.y0 && y < wanted.y1;
}

bool l2k_precinct_is_wanted(const l2k_resolution *resolution, uint32_t precinct)
{
    size_t index;
    return is_wanted(resolution, precinct, &index);
}

l2k_precinct *l2k_precinct_of(const l2k_resolution *resolution, uint32_t band, uint32_t precinct)
{
    size_t index;
    if (is_wanted(resolution, precinct, &index))
        return &resolution->bands[band].precincts[index];
    return resolution->passed && resolution->passed[precinct] ? &resolution->passed[precinct][band] : NULL;
}

static l2k_status prepare_in_band(const l2k_context *context, l2k_tile *tile, const l2k_resolution *resolution,
                                  const l2k_subband *band, uint32_t index, l2k_precinct *precinct)
{
    const bool is_new = !precinct->blocks, is_old = !is_new && precinct->image != tile->image;
    precinct->image = tile->image;
    if (is_old)
        renew_blocks(precinct);
    if (is_old && precinct->states)
        renew_headers(precinct);
    if (!is_new)
        return L2K_OK;
    precinct->grid = grid_of(resolution, band, index);
    return make_blocks(context, tile, band, precinct);
}

/* Allocates the state of an unwanted precinct's packet headers, until the last of them. */
static l2k_status prepare_passed(const l2k_context *context, l2k_tile *tile, l2k_resolution *resolution,
                                 uint32_t precinct)
{
    l2k_precinct *parts;
    if (!resolution->passed)
        resolution->passed = take_zeroed(context, &tile->arena, resolution->num_precincts, sizeof(l2k_precinct *));
    L2K_TRY(check_memory(context, resolution->passed));
    if (resolution->passed[precinct])
        return L2K_OK;
    resolution->passed[precinct] = parts =
        take_zeroed(context, &tile->passed, resolution->num_bands, sizeof(l2k_precinct));
    L2K_TRY(check_memory(context, parts));
    tile->num_passed++;
    for (uint32_t b = 0; b < resolution->num_bands; b++) {
        parts[b].grid = grid_of(resolution, &resolution->bands[b], precinct);
        L2K_TRY(make_headers(context, &tile->passed, &parts[b]));
    }
    return L2K_OK;
}

void l2k_precinct_leave(l2k_tile *tile, l2k_resolution *resolution, uint32_t precinct)
{
    if (!resolution->passed || !resolution->passed[precinct])
        return;
    resolution->passed[precinct] = NULL;
    if (--tile->num_passed == 0)
        l2k_arena_rewind(&tile->passed);
}

/* Work per code-block and its nodes of tag trees, for l2k_poll. */
enum { WEIGHT_OF_BLOCK = 10 };

l2k_status l2k_precinct_prepare(const l2k_context *context, l2k_tile *tile, const l2k_tile_component *component,
                                uint32_t r, uint32_t precinct)
{
    l2k_resolution *resolution = &component->resolutions[r];
    size_t index;
    uint64_t blocks = 1;
    if (!is_wanted(resolution, precinct, &index))
        return L2K_OK;
    for (uint32_t b = 0; b < resolution->num_bands; b++) {
        l2k_precinct *part = &resolution->bands[b].precincts[index];
        L2K_TRY(prepare_in_band(context, tile, resolution, &resolution->bands[b], precinct, part));
        blocks += l2k_rect_area(part->kept);
    }
    return l2k_poll(context, WEIGHT_OF_BLOCK * blocks);
}

static l2k_status prepare_wanted(const l2k_context *context, l2k_tile *tile, const l2k_tile_component *component,
                                 uint32_t r)
{
    const l2k_rect wanted = component->resolutions[r].wanted;
    for (uint32_t y = wanted.y0; y < wanted.y1; y++)
        for (uint32_t x = wanted.x0; x < wanted.x1; x++)
            L2K_TRY(
                l2k_precinct_prepare(context, tile, component, r, y * component->resolutions[r].precincts.across + x));
    return L2K_OK;
}

l2k_status l2k_tile_prepare(const l2k_context *context, l2k_tile *tile)
{
    for (uint32_t c = 0; c < tile->num_components; c++)
        for (uint32_t r = 0; r < tile->components[c].num_resolutions; r++)
            L2K_TRY(prepare_wanted(context, tile, &tile->components[c], r));
    return L2K_OK;
}

l2k_status l2k_precinct_receive(const l2k_context *context, l2k_tile *tile, const l2k_tile_component *component,
                                uint32_t r, uint32_t precinct)
{
    l2k_resolution *resolution = &component->resolutions[r];
    uint64_t blocks = 1;
    if (l2k_precinct_is_wanted(resolution, precinct))
        L2K_TRY(l2k_precinct_prepare(context, tile, component, r, precinct));
    else
        L2K_TRY(prepare_passed(context, tile, resolution, precinct));
    for (uint32_t b = 0; b < resolution->num_bands; b++) {
        l2k_precinct *part = l2k_precinct_of(resolution, b, precinct);
        if (!part->states)
            L2K_TRY(make_headers(context, &tile->arena, part));
        blocks += l2k_precinct_blocks(part);
    }
    return l2k_poll(context, WEIGHT_OF_BLOCK * blocks);
}

/* An estimate: all precincts count as the one in the middle. */
static uint64_t blocks_of_band(const l2k_resolution *resolution, const l2k_subband *band)
{
    const l2k_rect w = resolution->wanted;
    if (w.x0 >= w.x1 || w.y0 >= w.y1)
        return 0;
    const uint32_t x = w.x0 + (w.x1 - w.x0) / 2, y = w.y0 + (w.y1 - w.y0) / 2;
    const l2k_partition middle = grid_of(resolution, band, y * resolution->precincts.across + x);
    return l2k_rect_area(w) * middle.across * middle.down;
}

uint64_t l2k_tile_wanted_blocks(const l2k_tile *tile)
{
    uint64_t blocks = 0;
    for (uint32_t c = 0; c < tile->num_components; c++)
        for (uint32_t r = 0; r < tile->components[c].num_resolutions; r++)
            for (uint32_t b = 0; b < tile->components[c].resolutions[r].num_bands; b++)
                blocks +=
                    blocks_of_band(&tile->components[c].resolutions[r], &tile->components[c].resolutions[r].bands[b]);
    return blocks;
}

enum { FIRST_PENDING = 64 };

l2k_status l2k_pending_grow(const l2k_context *context, l2k_pending_list *list)
{
    const size_t used = list->capacity, capacity = used ? 2 * used : FIRST_PENDING;
    l2k_pending *grown = l2k_enlarge(context, list->at, used, capacity, sizeof *grown);
    L2K_TRY(l2k_check_memory(context, grown, "packet contents"));
    *list = (l2k_pending_list){grown, capacity};
    return L2K_OK;
}

static size_t list_precinct(const l2k_subband *band, const l2k_precinct *precinct, l2k_rect window,
                            l2k_block_place *places, size_t count)
{
    const l2k_rect r = blocks_in_window(&precinct->grid, window);
    for (uint32_t y = r.y0; places && y < r.y1; y++)
        for (uint32_t x = r.x0; x < r.x1; x++)
            places[count++] = (l2k_block_place){l2k_precinct_block(precinct, x, y), band};
    return places ? count : count + (size_t)(r.x1 - r.x0) * (r.y1 - r.y0);
}

size_t l2k_tile_list_rows(const l2k_resolution *resolution, const l2k_subband *band, uint32_t y0, uint32_t y1,
                          l2k_block_place *places, size_t count)
{
    const uint64_t num_precincts = l2k_rect_area(resolution->wanted);
    const l2k_rect window = l2k_rect_intersect(band->window, (l2k_rect){0, y0, UINT32_MAX, y1});
    for (uint64_t p = 0; p < num_precincts; p++)
        if (band->precincts[p].blocks)
            count = list_precinct(band, &band->precincts[p], window, places, count);
    return count;
}

static size_t list_tile(const l2k_tile *tile, l2k_block_place *places)
{
    size_t count = 0;
    for (uint32_t c = 0; c < tile->num_components; c++)
        for (uint32_t r = 0; r < tile->components[c].num_resolutions; r++) {
            const l2k_resolution *resolution = &tile->components[c].resolutions[r];
            for (uint32_t b = 0; b < resolution->num_bands; b++)
                count = l2k_tile_list_rows(resolution, &resolution->bands[b], 0, UINT32_MAX, places, count);
        }
    return count;
}

l2k_status l2k_tile_list_blocks(const l2k_context *context, const l2k_tile *tile, l2k_block_place **places,
                                size_t *count)
{
    *count = list_tile(tile, NULL);
    *places = l2k_allocate(context, *count, sizeof **places);
    L2K_TRY(check_memory(context, *places));
    list_tile(tile, *places);
    return L2K_OK;
}
