/* The five progression orders and progression order changes (B.12): lists a tile's precincts in the order of the
 * progression, and iterates over their layers. */
#include "codec/packets/packet_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/run.h"

/* Work per packet and per key, for l2k_poll. */
enum { WEIGHT_OF_PACKET = 16, WEIGHT_OF_KEY = 64 };

/* ---- Positions ----------------------------------------------------------------------------------------------- */

/* A position on the reference grid. */
typedef struct grid_point {
    uint32_t x, y;
} grid_point;

/* The first precinct of a row or column is reached at the tile's edge unless it starts exactly there; every other one
 * at its own edge, scaled up to the reference grid (the conditions in B.12.1.3 to B.12.1.5). */
static uint32_t position(uint32_t tile_start, uint32_t resolution_start, uint32_t cell, unsigned log2_size,
                         unsigned levels, uint32_t sub_sampling)
{
    uint64_t edge = (uint64_t)cell << log2_size;
    if (edge < resolution_start)
        return tile_start;
    return (uint32_t)((edge << levels) * sub_sampling);
}

static grid_point point_of(const l2k_tile *tile, uint32_t c, uint32_t r, uint32_t column, uint32_t row)
{
    const l2k_tile_component *component = &tile->components[c];
    const l2k_resolution *resolution = &component->resolutions[r];
    const l2k_partition *p = &resolution->precincts;
    const unsigned levels = component->num_resolutions - 1 - r;
    const unsigned across = l2k_count_across(component->coding->unsplit, levels);
    const unsigned down = l2k_count_down(component->coding->unsplit, levels);
    return (grid_point){
        position(tile->rect.x0, resolution->rect.x0, p->first_x + column, p->log2_width, across, component->dx),
        position(tile->rect.y0, resolution->rect.y0, p->first_y + row, p->log2_height, down, component->dy)};
}

/* ---- The keys of a progression ------------------------------------------------------------------------------- */

static uint16_t *layers_of(const l2k_packet_order *order, const l2k_precinct_key *key)
{
    const l2k_resolution *resolution = &order->tile->components[key->component].resolutions[key->resolution];
    return &order->layers_done[resolution->first_precinct + key->precinct];
}

/* By position; where positions are equal, by component, resolution and precinct. */
static int compare_keys(const void *one, const void *other)
{
    const l2k_precinct_key *a = one, *b = other;
    if (a->y != b->y)
        return a->y < b->y ? -1 : 1;
    if (a->x != b->x)
        return a->x < b->x ? -1 : 1;
    if (a->component != b->component)
        return a->component < b->component ? -1 : 1;
    if (a->resolution != b->resolution)
        return a->resolution < b->resolution ? -1 : 1;
    return a->precinct < b->precinct ? -1 : a->precinct > b->precinct;
}

static void sort_keys(l2k_packet_order *order, size_t start)
{
    qsort(order->keys + start, order->num_keys - start, sizeof *order->keys, compare_keys);
}

/* Appends the precincts of a resolution, if it exists, that lack a layer of the progression. */
static void add_keys(l2k_packet_order *order, uint32_t c, uint32_t r)
{
    const l2k_tile_component *component = &order->tile->components[c];
    const uint32_t count = r < component->num_resolutions ? component->resolutions[r].num_precincts : 0;
    for (uint32_t p = 0; p < count; p++) {
        l2k_precinct_key key = {.precinct = p, .component = (uint16_t)c, .resolution = (uint8_t)r};
        if (*layers_of(order, &key) >= order->num_layers)
            continue;
        const uint32_t across = component->resolutions[r].precincts.across;
        const grid_point at = point_of(order->tile, c, r, p % across, p / across);
        key.x = at.x;
        key.y = at.y;
        order->keys[order->num_keys++] = key;
    }
}

/* Lists the keys of all resolutions and components that a progression covers. */
static void list_keys(l2k_packet_order *order, const l2k_poc *range)
{
    const uint32_t c_end = l2k_min_u32(range->component_end, order->tile->num_components);
    const uint32_t r_end = l2k_min_u32(range->resolution_end, L2K_MAX_LEVELS + 1);
    const bool outer_is_c = order->progression == L2K_CPRL, sorts = outer_is_c || order->progression == L2K_RPCL;
    const uint32_t starts[2] = {range->resolution_start, range->component_start}, ends[2] = {r_end, c_end};
    order->num_keys = 0;
    for (uint32_t outer = starts[outer_is_c]; outer < ends[outer_is_c]; outer++) {
        const size_t start = order->num_keys;
        for (uint32_t inner = starts[!outer_is_c]; inner < ends[!outer_is_c]; inner++)
            add_keys(order, outer_is_c ? outer : inner, outer_is_c ? inner : outer);
        if (sorts)
            sort_keys(order, start);
    }
    if (order->progression == L2K_PCRL)
        sort_keys(order, 0);
}

/* ---- Progressions -------------------------------------------------------------------------------------------- */

/* The end of the keys over which the layer loop repeats: it is outermost (LRCP), inside resolutions (RLCP), or
 * innermost. */
static size_t run_end(const l2k_packet_order *order, size_t start)
{
    if (order->progression == L2K_LRCP)
        return order->num_keys;
    size_t end = start + 1;
    if (order->progression == L2K_RLCP)
        while (end < order->num_keys && order->keys[end].resolution == order->keys[start].resolution)
            end++;
    return end;
}

/* Starts a run at the first layer that one of its precincts lacks. */
static void start_run(l2k_packet_order *order, size_t start)
{
    order->run_start = order->at = start;
    order->run_end = start < order->num_keys ? run_end(order, start) : start;
    order->layer = order->run_end > start ? UINT32_MAX : 0;
    for (size_t i = start; i < order->run_end; i++)
        order->layer = l2k_min_u32(order->layer, *layers_of(order, &order->keys[i]));
}

static void start_progression(l2k_packet_order *order)
{
    const l2k_tile_coding *coding = order->tile->coding;
    l2k_poc range = {.resolution_end = L2K_MAX_LEVELS + 1, .component_end = L2K_MAX_COMPONENTS};
    order->progression = (l2k_progression)coding->progression;
    order->num_layers = coding->num_layers;
    if (coding->num_changes) {
        range = coding->changes[order->change];
        order->progression = range.progression;
        order->num_layers = l2k_min_u32(range.layer_end, coding->num_layers);
    }
    list_keys(order, &range);
    start_run(order, 0);
    order->status = l2k_poll(order->context, WEIGHT_OF_KEY * order->tile->num_precincts);
}

/* ---- The iterator -------------------------------------------------------------------------------------------- */

l2k_status l2k_packet_order_create(const l2k_context *context, const l2k_tile *tile, l2k_packet_order *order)
{
    *order = (l2k_packet_order){.context = context, .tile = tile};
    if (tile->num_precincts <= SIZE_MAX) {
        order->keys = l2k_allocate(context, (size_t)tile->num_precincts, sizeof *order->keys);
        order->layers_done = l2k_allocate_zeroed(context, (size_t)tile->num_precincts, sizeof *order->layers_done);
    }
    order->status = l2k_check_memory(context, order->keys && order->layers_done, "the packet order of a tile");
    if (order->status == L2K_OK)
        start_progression(order);
    if (order->status != L2K_OK)
        l2k_packet_order_release(context, order);
    return order->status;
}

void l2k_packet_order_release(const l2k_context *context, l2k_packet_order *order)
{
    l2k_release(context, order->keys);
    l2k_release(context, order->layers_done);
    order->keys = NULL;
    order->layers_done = NULL;
    order->num_keys = 0;
}

void l2k_packet_order_restart(l2k_packet_order *order)
{
    if (order->status != L2K_OK)
        return;
    memset(order->layers_done, 0, (size_t)order->tile->num_precincts * sizeof *order->layers_done);
    order->change = 0;
    start_progression(order);
}

/* Moves to the next position in the loops of the current progression; false at their end. */
static bool advance(l2k_packet_order *order)
{
    if (order->at < order->run_end)
        return true;
    if (order->at > order->run_start && ++order->layer < order->num_layers) {
        order->at = order->run_start;
        return true;
    }
    if (order->run_end == order->num_keys)
        return false;
    start_run(order, order->run_end);
    return true;
}

bool l2k_packet_order_next(l2k_packet_order *order, l2k_packet_id *id)
{
    order->begins_change = false;
    if (order->status == L2K_OK)
        order->status = l2k_poll(order->context, WEIGHT_OF_PACKET);
    while (order->status == L2K_OK) {
        if (!advance(order)) {
            if (order->change + 1 >= order->tile->coding->num_changes)
                return false;
            order->change++;
            order->begins_change = true;
            start_progression(order);
            continue;
        }
        const l2k_precinct_key *key = &order->keys[order->at++];
        uint16_t *layers_done = layers_of(order, key);
        if (*layers_done != order->layer) {
            order->skipped++; /* an earlier progression had this packet */
            continue;
        }
        ++*layers_done;
        *id = (l2k_packet_id){key->component, key->resolution, key->precinct, order->layer};
        return true;
    }
    return false;
}

/* ---- Tile-parts ---------------------------------------------------------------------------------------------- */

/* The loops of each progression order from the outermost in, as in its name. */
static const char *const loops[5] = {"LRCP", "RLCP", "RPCL", "PCRL", "CPRL"};

static grid_point point_of_packet(const l2k_tile *tile, const l2k_packet_id *id)
{
    const uint32_t across = tile->components[id->component].resolutions[id->resolution].precincts.across;
    return point_of(tile, id->component, id->resolution, id->precinct % across, id->precinct / across);
}

static bool position_moved(const l2k_tile *tile, const l2k_packet_id *before, const l2k_packet_id *after)
{
    const grid_point a = point_of_packet(tile, before), b = point_of_packet(tile, after);
    return a.x != b.x || a.y != b.y || before->precinct != after->precinct;
}

static bool loop_moved(const l2k_tile *tile, char loop, const l2k_packet_id *before, const l2k_packet_id *after)
{
    switch (loop) {
    case 'L':
        return before->layer != after->layer;
    case 'R':
        return before->resolution != after->resolution;
    case 'C':
        return before->component != after->component;
    default:
        return position_moved(tile, before, after);
    }
}

bool l2k_packet_starts_part(const l2k_packet_order *order, l2k_tile_parts parts, const l2k_packet_id *before,
                            const l2k_packet_id *after)
{
    static const char letters[] = {0, 'R', 'L', 'C'};
    if (order->begins_change || parts == L2K_TILE_PARTS_ONE)
        return order->begins_change;
    for (const char *loop = loops[order->progression]; *loop; loop++) {
        if (loop_moved(order->tile, *loop, before, after))
            return true;
        if (*loop == letters[parts])
            return false;
    }
    return false;
}
