/* The five progression orders and progression order changes (B.12): lists a tile's precincts, sorts them as the
 * progression demands, and iterates over their layers. */
#include "codec/packets/packet_order.h"

#include <stdlib.h>

#include "base/run.h"

/* Work per packet and per key, for l2k_poll. */
enum { WEIGHT_OF_PACKET = 16, WEIGHT_OF_KEY = 64 };

/* ---- The keys of a tile -------------------------------------------------------------------------------------- */

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

static void add_keys(l2k_packet_order *order, const l2k_tile *tile, uint32_t c, uint32_t r)
{
    const l2k_tile_component *component = &tile->components[c];
    const l2k_resolution *resolution = &component->resolutions[r];
    const l2k_partition *p = &resolution->precincts;
    const unsigned levels = component->num_resolutions - 1 - r;
    const unsigned across = l2k_count_across(component->coding->unsplit, levels);
    const unsigned down = l2k_count_down(component->coding->unsplit, levels);
    for (uint32_t i = 0; i < resolution->num_precincts; i++) {
        uint32_t column = p->first_x + i % p->across, row = p->first_y + i / p->across;
        order->keys[order->num_all++] = (l2k_precinct_key){
            position(tile->rect.x0, resolution->rect.x0, column, p->log2_width, across, component->dx),
            position(tile->rect.y0, resolution->rect.y0, row, p->log2_height, down, component->dy),
            i,
            (uint16_t)c,
            0,
            (uint8_t)r};
    }
}

static uint32_t most_resolutions(const l2k_tile *tile)
{
    uint32_t most = 0;
    for (uint32_t c = 0; c < tile->num_components; c++)
        if (tile->components[c].num_resolutions > most)
            most = tile->components[c].num_resolutions;
    return most;
}

/* Resolution by resolution, which is the order of LRCP and RLCP already. */
static void add_all_keys(l2k_packet_order *order, const l2k_tile *tile)
{
    const uint32_t most = most_resolutions(tile);
    for (uint32_t r = 0; r < most; r++)
        for (uint32_t c = 0; c < tile->num_components; c++)
            if (r < tile->components[c].num_resolutions)
                add_keys(order, tile, c, r);
    order->num_keys = order->num_all;
}

/* ---- Sorting ------------------------------------------------------------------------------------------------- */

/* All comparisons are total orders: component, resolution and precinct tell any two keys apart. */
#define COMPARE(member)                                                                                                \
    if (a->member != b->member)                                                                                        \
    return a->member < b->member ? -1 : 1

static int compare_resolution_first(const void *one, const void *other)
{
    const l2k_precinct_key *a = one, *b = other;
    COMPARE(resolution);
    COMPARE(component);
    COMPARE(precinct);
    return 0;
}

static int compare_rpcl(const void *one, const void *other)
{
    const l2k_precinct_key *a = one, *b = other;
    COMPARE(resolution);
    COMPARE(y);
    COMPARE(x);
    COMPARE(component);
    COMPARE(precinct);
    return 0;
}

static int compare_pcrl(const void *one, const void *other)
{
    const l2k_precinct_key *a = one, *b = other;
    COMPARE(y);
    COMPARE(x);
    COMPARE(component);
    COMPARE(resolution);
    COMPARE(precinct);
    return 0;
}

static int compare_cprl(const void *one, const void *other)
{
    const l2k_precinct_key *a = one, *b = other;
    COMPARE(component);
    COMPARE(y);
    COMPARE(x);
    COMPARE(resolution);
    COMPARE(precinct);
    return 0;
}

typedef int (*key_comparison)(const void *one, const void *other);

static const key_comparison comparisons[5] = {
    [L2K_LRCP] = compare_resolution_first,
    [L2K_RLCP] = compare_resolution_first,
    [L2K_RPCL] = compare_rpcl,
    [L2K_PCRL] = compare_pcrl,
    [L2K_CPRL] = compare_cprl,
};

static bool is_sorted(const l2k_packet_order *order, key_comparison compare)
{
    for (size_t i = 1; i < order->num_keys; i++)
        if (compare(&order->keys[i - 1], &order->keys[i]) > 0)
            return false;
    return true;
}

static void sort_keys(l2k_packet_order *order)
{
    key_comparison compare = comparisons[order->progression];
    if (!is_sorted(order, compare))
        qsort(order->keys, order->num_keys, sizeof *order->keys, compare);
}

/* ---- Progressions -------------------------------------------------------------------------------------------- */

/* Moves the keys that a progression covers to the front, except those that have all their layers. */
static void select_keys(l2k_packet_order *order, const l2k_progression_change *change)
{
    order->num_keys = 0;
    for (size_t i = 0; i < order->num_all; i++) {
        l2k_precinct_key key = order->keys[i];
        if (key.resolution < change->resolution_start || key.resolution >= change->resolution_end ||
            key.component < change->component_start || key.component >= change->component_end ||
            key.layers_done >= order->num_layers)
            continue;
        order->keys[i] = order->keys[order->num_keys];
        order->keys[order->num_keys++] = key;
    }
}

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
        order->layer = l2k_min_u32(order->layer, order->keys[i].layers_done);
}

static void start_progression(l2k_packet_order *order)
{
    const l2k_tile_coding *coding = order->coding;
    order->progression = (l2k_progression)coding->progression;
    order->num_layers = coding->num_layers;
    if (coding->num_changes) {
        const l2k_progression_change *change = &coding->changes[order->change];
        order->progression = (l2k_progression)change->progression;
        order->num_layers = l2k_min_u32(change->layer_end, coding->num_layers);
        select_keys(order, change);
    }
    sort_keys(order);
    start_run(order, 0);
    order->status = l2k_poll(order->context, WEIGHT_OF_KEY * (uint64_t)order->num_all);
}

/* ---- The iterator -------------------------------------------------------------------------------------------- */

l2k_status l2k_packet_order_create(const l2k_context *context, const l2k_tile *tile, l2k_packet_order *order)
{
    *order = (l2k_packet_order){.context = context, .coding = tile->coding};
    if (tile->num_precincts <= SIZE_MAX)
        order->keys = l2k_allocate(context, (size_t)tile->num_precincts, sizeof *order->keys);
    if (!order->keys)
        return l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for the packet order of a tile");
    add_all_keys(order, tile);
    start_progression(order);
    if (order->status != L2K_OK)
        l2k_packet_order_release(context, order);
    return order->status;
}

void l2k_packet_order_release(const l2k_context *context, l2k_packet_order *order)
{
    l2k_release(context, order->keys);
    order->keys = NULL;
    order->num_all = order->num_keys = 0;
}

void l2k_packet_order_restart(l2k_packet_order *order)
{
    for (size_t i = 0; i < order->num_all; i++)
        order->keys[i].layers_done = 0;
    order->change = 0;
    order->num_keys = order->num_all;
    if (order->status == L2K_OK)
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
    if (order->status == L2K_OK)
        order->status = l2k_poll(order->context, WEIGHT_OF_PACKET);
    while (order->status == L2K_OK) {
        if (!advance(order)) {
            if (order->change + 1 >= order->coding->num_changes)
                return false;
            order->change++;
            start_progression(order);
            continue;
        }
        l2k_precinct_key *key = &order->keys[order->at++];
        if (key->layers_done != order->layer) {
            order->skipped++; /* an earlier progression had this packet */
            continue;
        }
        key->layers_done++;
        *id = (l2k_packet_id){key->component, key->resolution, key->precinct, order->layer, key->x, key->y};
        return true;
    }
    return false;
}

/* ---- Tile-parts ---------------------------------------------------------------------------------------------- */

/* The loops of each progression order from the outermost in, as in its name. */
static const char *const loops[5] = {"LRCP", "RLCP", "RPCL", "PCRL", "CPRL"};

static bool loop_moved(char loop, const l2k_packet_id *before, const l2k_packet_id *after)
{
    switch (loop) {
    case 'L':
        return before->layer != after->layer;
    case 'R':
        return before->resolution != after->resolution;
    case 'C':
        return before->component != after->component;
    default:
        return before->x != after->x || before->y != after->y || before->precinct != after->precinct;
    }
}

bool l2k_packet_starts_part(l2k_progression progression, l2k_tile_parts parts, const l2k_packet_id *before,
                            const l2k_packet_id *after)
{
    static const char letters[] = {0, 'R', 'L', 'C'};
    if (parts == L2K_TILE_PARTS_ONE)
        return false;
    for (const char *loop = loops[progression]; *loop; loop++) {
        if (loop_moved(*loop, before, after))
            return true;
        if (*loop == letters[parts])
            return false;
    }
    return false;
}
