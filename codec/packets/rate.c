/* Post-compression rate-distortion optimisation (Taubman's EBCOT; Annex J.14 of the standard): assigns the passes of
 * code-blocks to layers. All tiles and layers share one list: every useful truncation point of every block, the
 * steepest gain per byte first. A layer is a prefix of that list. */
#include "codec/packets/rate.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "codec/packets/packet.h"
#include "codec/packets/slopes.h"
#include "codec/tile/tag_tree.h"

typedef struct rate_control {
    const l2k_context *context;
    l2k_tile *tiles;
    uint32_t num_tiles, num_layers;
    const l2k_layer_targets *targets;
    bool plt;
    l2k_slope_list slopes;
    double rounding; /* of finished samples to integers: 1/12 each, relative to a squared peak */
    uint64_t samples;
    uint32_t layer; /* being filled */
    size_t at;      /* the prefix of the list for it and the layers above */
    uint64_t empty; /* about the most bytes of a layer without contributions */
    uint64_t *ends; /* ratios: by layer, the most bytes that it and those above may take; UINT64_MAX: any */
    /* With limits: bytes of the layers above, and `empty`; of the output, and of each component. */
    uint64_t used;
    struct component_bytes {
        uint64_t used, empty, now; /* now: of the layer as measured last */
    } * component_bytes;
} rate_control;

/* ---- Layers as prefixes -------------------------------------------------------------------------------------- */

/* Sets a block's end in a layer, never before its end in the layer above. */
static void end_block_at(const rate_control *control, const l2k_hull_segment *segment, uint8_t passes)
{
    const uint32_t layer = control->layer;
    uint8_t *ends = control->tiles[segment->tile].layers + (size_t)segment->block * control->num_layers;
    ends[layer] = layer > 0 && ends[layer - 1] > passes ? ends[layer - 1] : passes;
}

/* Moves the end of the layer to a prefix. A block's segments are in the order of its passes. */
static l2k_status move_layer_end(rate_control *control, size_t to)
{
    const l2k_hull_segment *segments = control->slopes.segments;
    L2K_TRY(l2k_slopes_sort(&control->slopes, to)); /* the end so far has been sorted before */
    for (size_t i = control->at; i < to; i++)
        end_block_at(control, &segments[i], segments[i].passes);
    for (size_t i = control->at; i > to; i--)
        end_block_at(control, &segments[i - 1], segments[i - 1].before);
    control->at = to;
    return L2K_OK;
}

/* The bytes of a packet of the layer under the present assignment, PLT included. */
static l2k_status packet_bytes(rate_control *control, l2k_tile *tile, l2k_packet_id id, uint64_t *bytes)
{
    size_t packet;
    id.layer = control->layer;
    L2K_TRY(l2k_packet_measure(control->context, tile, &id, &packet));
    *bytes = packet;
    for (size_t rest = control->plt ? packet : 0; rest; rest >>= 7)
        ++*bytes;
    return L2K_OK;
}

/* Adds up the bytes of the packets of a layer and a component or, with `bytes` NULL, advances the state of their
 * precincts past them. */
static l2k_status visit_component(rate_control *control, l2k_tile *tile, uint32_t c, uint64_t *bytes)
{
    const l2k_tile_component *component = &tile->components[c];
    l2k_packet_id id = {.layer = control->layer, .component = c};
    for (id.resolution = 0; id.resolution < component->num_resolutions; id.resolution++)
        for (id.precinct = 0; id.precinct < component->resolutions[id.resolution].num_precincts; id.precinct++) {
            uint64_t packet = 0;
            L2K_TRY(bytes ? packet_bytes(control, tile, id, &packet) : l2k_packet_skip(control->context, tile, &id));
            if (bytes)
                *bytes += packet;
        }
    return L2K_OK;
}

/* The same for all components, whose bytes are added to bytes[0], bytes[stride] and so on. */
static l2k_status visit_layer(rate_control *control, uint64_t *bytes, uint32_t stride)
{
    for (uint32_t t = 0; t < control->num_tiles; t++)
        for (uint32_t c = 0; c < control->tiles[t].num_components; c++)
            L2K_TRY(visit_component(control, &control->tiles[t], c, bytes ? &bytes[c * stride] : NULL));
    return L2K_OK;
}

/* The packets to which a block contributes; their layer is left open. */
static l2k_packet_id packet_of(const rate_control *control, const l2k_hull_segment *segment)
{
    const l2k_block_place *place = &control->tiles[segment->tile].places[segment->block];
    const l2k_precinct *precinct = place->band->precincts;
    while (place->block < precinct->blocks || place->block >= precinct->blocks + l2k_precinct_blocks(precinct))
        precinct++;
    return (l2k_packet_id){.component = place->band->component->index,
                           .resolution = place->band->resolution,
                           .precinct = (uint32_t)(precinct - place->band->precincts)};
}

/* Adds a segment to the layer if it fits. */
static l2k_status try_segment(rate_control *control, const l2k_hull_segment *segment, uint64_t room, uint64_t *bytes)
{
    l2k_tile *tile = &control->tiles[segment->tile];
    const l2k_packet_id id = packet_of(control, segment);
    uint64_t without, with;
    L2K_TRY(packet_bytes(control, tile, id, &without));
    end_block_at(control, segment, segment->passes);
    L2K_TRY(packet_bytes(control, tile, id, &with));
    if (*bytes - without + with <= room)
        *bytes += with - without;
    else
        end_block_at(control, segment, segment->before);
    return L2K_OK;
}

/* Adds single segments after the prefix that still fit; the first of them does not. */
static l2k_status fill_up(rate_control *control, uint64_t room, uint64_t *bytes)
{
    l2k_slope_list *list = &control->slopes;
    unsigned tries = 256;
    for (size_t i = control->at; i < list->count && tries > 0 && l2k_leaves_room(room, *bytes); i++) {
        const l2k_hull_segment *segment;
        L2K_TRY(l2k_slopes_segment(list, i, &segment));
        const uint8_t passes =
            control->tiles[segment->tile].places[segment->block].block->coded.layer_passes[control->layer];
        if (segment->bytes > room - *bytes || passes != segment->before)
            continue;
        tries--;
        L2K_TRY(try_segment(control, segment, room, bytes));
    }
    return L2K_OK;
}

/* ---- Targets ------------------------------------------------------------------------------------------------- */

/* The l2k_prefix_measure of the search. */
static l2k_status measure_prefix(void *control, size_t prefix, uint64_t *bytes)
{
    L2K_TRY(move_layer_end(control, prefix));
    *bytes = 0;
    return visit_layer(control, bytes, 0);
}

/* Ends a layer at the shortest prefix that leaves no more error than the PSNR allows. */
static l2k_status fit_psnr(rate_control *control, double psnr)
{
    const double allowed = (double)control->samples * pow(10, -psnr / 10);
    const double all = control->slopes.distortion + control->targets->error + control->rounding;
    const size_t end = l2k_slopes_removing(&control->slopes, all - allowed);
    return move_layer_end(control, end < control->at ? control->at : end);
}

/* ---- Limits -------------------------------------------------------------------------------------------------- */

/* Starts the layer at the end of the one above, the first layer empty; or gives it everything. */
static void start_layer(rate_control *control, bool everything)
{
    const uint32_t layer = control->layer;
    for (uint32_t t = 0; t < control->num_tiles; t++) {
        const l2k_tile *tile = &control->tiles[t];
        uint8_t *ends = tile->layers;
        for (size_t i = 0; i < tile->num_places; i++, ends += control->num_layers)
            ends[layer] = everything ? tile->places[i].block->num_passes : layer > 0 ? ends[layer - 1] : 0;
    }
}

/* About the most bytes of a packet whose code-blocks are in other layers: a bit for each code-block, or for each node
 * of the tag tree, with stuffing and markers. */
static uint64_t empty_packet_bytes(const rate_control *control, const l2k_tile *tile, const l2k_resolution *resolution,
                                   uint32_t precinct)
{
    uint64_t bits = 1;
    for (uint32_t b = 0; b < resolution->num_bands; b++) {
        const l2k_partition *grid = &resolution->bands[b].precincts[precinct].grid;
        bits += l2k_tag_nodes(grid->across, grid->down);
    }
    return 1 + bits / 7 + (tile->coding->sop ? 6 : 0) + (tile->coding->eph ? 2 : 0) + (control->plt ? 1 : 0);
}

static uint64_t empty_layer_bytes(const rate_control *control, uint32_t c)
{
    uint64_t bytes = 0;
    for (uint32_t t = 0; t < control->num_tiles; t++) {
        const l2k_tile_component *component = &control->tiles[t].components[c];
        for (uint32_t r = 0; r < component->num_resolutions; r++)
            for (uint32_t p = 0; p < component->resolutions[r].num_precincts; p++)
                bytes += empty_packet_bytes(control, &control->tiles[t], &component->resolutions[r], p);
    }
    return bytes;
}

static l2k_status prepare_limits(rate_control *control, size_t fixed_bytes)
{
    const uint32_t count = control->tiles[0].num_components;
    control->component_bytes = l2k_allocate_zeroed(control->context, count, sizeof *control->component_bytes);
    L2K_TRY(l2k_check_memory(control->context, control->component_bytes, "%u components", count));
    control->used = fixed_bytes;
    for (uint32_t c = 0; c < count; c++)
        control->component_bytes[c].empty = empty_layer_bytes(control, c);
    return L2K_OK;
}

static bool keeps(uint64_t limit, uint64_t bytes)
{
    return limit == 0 || bytes <= limit;
}

/* As bytes of one limit for all: no fewer than the packets have, and within it if and only if all limits are kept. */
static uint64_t room_of(const rate_control *control)
{
    const l2k_layer_targets *targets = control->targets;
    return targets->most_bytes ? targets->most_bytes : targets->component_bytes * control->tiles[0].num_components;
}

static uint64_t in_room(uint64_t room, uint64_t limit, uint64_t bytes)
{
    const uint64_t share = limit ? (uint64_t)((double)bytes / (double)limit * (double)room) : 0;
    return keeps(limit, bytes) ? (share < room ? share : room) : share > room ? share : room + 1;
}

/* Measures the packets of the layer, and in the room of all limits, together with the layers above and below. */
static l2k_status measure_components(rate_control *control, uint64_t *all, uint64_t *used)
{
    const l2k_layer_targets *targets = control->targets;
    const uint64_t below = control->num_layers - 1 - control->layer, room = room_of(control);
    *all = *used = 0;
    for (uint32_t c = 0; c < control->tiles[0].num_components; c++) {
        struct component_bytes *own = &control->component_bytes[c];
        own->now = 0;
        for (uint32_t t = 0; t < control->num_tiles; t++)
            L2K_TRY(visit_component(control, &control->tiles[t], c, &own->now));
        *all += own->now;
        const uint64_t share = in_room(room, targets->component_bytes, own->used + own->now + below * own->empty);
        *used = share > *used ? share : *used;
    }
    const uint64_t share = in_room(room, targets->most_bytes, control->used + *all + below * control->empty);
    *used = share > *used ? share : *used;
    return L2K_OK;
}

/* The l2k_prefix_measure of limits. */
static l2k_status measure_limits(void *control, size_t prefix, uint64_t *used)
{
    uint64_t bytes;
    L2K_TRY(move_layer_end(control, prefix));
    return measure_components(control, &bytes, used);
}

/* After the last layer. */
static void check_limits(const rate_control *control)
{
    const uint64_t most = control->targets->most_bytes, of_component = control->targets->component_bytes;
    if (!keeps(most, control->used))
        l2k_warn(control->context, "the headers alone take more than %llu bytes", (unsigned long long)most);
    for (uint32_t c = 0; c < control->tiles[0].num_components; c++)
        if (!keeps(of_component, control->component_bytes[c].used)) {
            l2k_warn(control->context, "the packet headers of component %u alone take more than %llu bytes", c,
                     (unsigned long long)of_component);
            return; /* one warning is enough */
        }
}

/* Keeps the layer, which began at prefix `first`, within the limits. */
static l2k_status keep_limits(rate_control *control, size_t first, bool everything)
{
    const l2k_prefix_measure measure = {measure_limits, control};
    l2k_fitted_prefix fitted;
    uint64_t bytes, used;
    L2K_TRY(measure_components(control, &bytes, &used));
    if (used > room_of(control)) {
        const size_t end = everything ? control->slopes.count : control->at;
        start_layer(control, false); /* drops passes that the list lacks or has after that end */
        control->at = first;
        L2K_TRY(move_layer_end(control, end));
        L2K_TRY(l2k_fit_prefix(&control->slopes, &measure, room_of(control), first, &fitted));
        L2K_TRY(move_layer_end(control, fitted.prefix));
        L2K_TRY(measure_components(control, &bytes, &used));
    }
    control->used += bytes;
    for (uint32_t c = 0; c < control->tiles[0].num_components; c++)
        control->component_bytes[c].used += control->component_bytes[c].now;
    if (control->layer + 1 == control->num_layers)
        check_limits(control);
    return L2K_OK;
}

/* ---- All layers ---------------------------------------------------------------------------------------------- */

/* The samples of a component in all tiles. */
static uint64_t samples_of(const l2k_tile *tiles, uint32_t num_tiles, uint32_t component)
{
    uint64_t samples = 0;
    for (uint32_t t = 0; t < num_tiles; t++)
        samples += l2k_rect_area(tiles[t].components[component].rect);
    return samples;
}

static void count_samples(rate_control *control)
{
    for (uint32_t c = 0; c < control->tiles[0].num_components; c++) {
        const uint64_t samples = samples_of(control->tiles, control->num_tiles, c);
        const unsigned precision = control->tiles[0].components[c].precision;
        control->samples += samples;
        control->rounding += (double)samples / 12 / pow(ldexp(1, (int)precision) - 1, 2);
    }
}

uint64_t l2k_ratio_goal(const l2k_tile *tiles, uint32_t num_tiles, double ratio)
{
    uint64_t bits = 0;
    for (uint32_t c = 0; c < tiles[0].num_components; c++)
        bits += samples_of(tiles, num_tiles, c) * tiles[0].components[c].precision;
    return (uint64_t)((double)(bits / 8) / ratio);
}

void l2k_ratio_check(const l2k_context *context, uint64_t used, uint64_t goal, double ratio)
{
    if (used > goal)
        l2k_warn(context, "the headers alone take more than a ratio of %g allows", ratio);
}

/* A layer ends at its own goal, or earlier, to leave room for the empty packets of layers below with close goals. */
static l2k_status prepare_ratios(rate_control *control)
{
    const l2k_layer_targets *targets = control->targets;
    uint64_t end = UINT64_MAX;
    control->ends = l2k_allocate_zeroed(control->context, control->num_layers, sizeof *control->ends);
    L2K_TRY(l2k_check_memory(control->context, control->ends, "%u layers", control->num_layers));
    for (uint32_t layer = control->num_layers; layer-- > 0;) {
        const double target = targets->count ? targets->targets[layer] : 0;
        if (end < UINT64_MAX)
            end = end > control->empty ? end - control->empty : 0;
        if (!l2k_target_is_everything(targets->kind, target)) {
            const uint64_t goal = l2k_ratio_goal(control->tiles, control->num_tiles, target);
            end = goal < end ? goal : end;
        }
        control->ends[layer] = end;
    }
    return L2K_OK;
}

/* Ends a layer at a prefix that leaves room, not shorter than that of the layer above. */
static l2k_status fit_ratio(rate_control *control, double target, uint64_t *used)
{
    const l2k_prefix_measure measure = {measure_prefix, control};
    const uint64_t goal = l2k_ratio_goal(control->tiles, control->num_tiles, target);
    const uint64_t end = control->ends[control->layer], room = end > *used ? end - *used : 0;
    l2k_fitted_prefix fitted;
    L2K_TRY(l2k_fit_prefix(&control->slopes, &measure, room, control->at, &fitted));
    L2K_TRY(move_layer_end(control, fitted.prefix));
    if (fitted.leaves_room)
        L2K_TRY(fill_up(control, room, &fitted.bytes));
    *used += fitted.bytes;
    l2k_ratio_check(control->context, *used, goal, target);
    return L2K_OK;
}

/* `used`: bytes of the layers above, if a ratio needs them. */
static l2k_status fill_layer(rate_control *control, uint64_t *used)
{
    const l2k_layer_targets *targets = control->targets;
    const double target = targets->count ? targets->targets[control->layer] : 0;
    const bool everything = l2k_target_is_everything(targets->kind, target), limited = l2k_targets_have_limits(targets);
    const size_t first = control->at;
    start_layer(control, everything);
    if (!everything)
        L2K_TRY(targets->kind == L2K_TARGET_PSNR ? fit_psnr(control, target) : fit_ratio(control, target, used));
    if (limited)
        L2K_TRY(keep_limits(control, first, everything));
    const bool measures = targets->kind == L2K_TARGET_RATIO || limited;
    return measures && control->layer + 1 < control->num_layers ? visit_layer(control, NULL, 0) : L2K_OK;
}

static l2k_status restart(rate_control *control)
{
    for (uint32_t t = 0; t < control->num_tiles; t++)
        L2K_TRY(l2k_packets_restart(control->context, &control->tiles[t]));
    return L2K_OK;
}

static l2k_status fill_layers(rate_control *control, size_t fixed_bytes)
{
    uint64_t used = fixed_bytes;
    count_samples(control);
    for (uint32_t c = 0; c < control->tiles[0].num_components; c++)
        control->empty += empty_layer_bytes(control, c);
    if (l2k_targets_have_limits(control->targets))
        L2K_TRY(prepare_limits(control, fixed_bytes));
    if (control->targets->kind == L2K_TARGET_RATIO)
        L2K_TRY(prepare_ratios(control));
    L2K_TRY(l2k_slopes_create(control->context, control->tiles, control->num_tiles, &control->slopes));
    if (control->targets->kind == L2K_TARGET_RATIO || l2k_targets_have_limits(control->targets))
        L2K_TRY(restart(control));
    for (control->layer = 0; control->layer < control->num_layers; control->layer++)
        L2K_TRY(fill_layer(control, &used));
    return L2K_OK;
}

/* Allocates the layers of every block, to be filled. */
static l2k_status take_layers(const l2k_context *context, l2k_tile *tile)
{
    const size_t num_layers = tile->coding->num_layers, count = tile->num_places;
    uint8_t *layers =
        count <= SIZE_MAX / num_layers ? l2k_arena_take(context, &tile->contributions, count * num_layers) : NULL;
    L2K_TRY(l2k_check_memory(context, layers, "%zu layers", num_layers));
    tile->layers = layers;
    for (size_t i = 0; i < count; i++) {
        l2k_block *block = tile->places[i].block;
        block->coded.layer_passes = layers + i * num_layers;
        memset(block->coded.layer_passes, 0, num_layers);
    }
    return L2K_OK;
}

bool l2k_layers_need_distortions(const l2k_layer_targets *targets)
{
    for (size_t i = 0; i < targets->count; i++)
        if (!l2k_target_is_everything(targets->kind, targets->targets[i]))
            return true;
    return l2k_targets_have_limits(targets);
}

l2k_status l2k_layers_allocate(const l2k_context *context, l2k_tile *tiles, uint32_t num_tiles,
                               const l2k_layer_targets *targets, bool plt, size_t fixed_bytes)
{
    const bool all = !l2k_layers_need_distortions(targets);
    for (uint32_t t = 0; t < num_tiles && all; t++)
        for (size_t i = 0; i < tiles[t].num_places; i++)
            tiles[t].places[i].block->coded.layer_passes = NULL;
    if (all)
        return L2K_OK;
    for (uint32_t t = 0; t < num_tiles; t++)
        L2K_TRY(take_layers(context, &tiles[t]));
    rate_control control = {.context = context,
                            .tiles = tiles,
                            .num_tiles = num_tiles,
                            .num_layers = tiles[0].coding->num_layers,
                            .targets = targets,
                            .plt = plt,
                            .slopes = {.context = context}};
    l2k_status status = fill_layers(&control, fixed_bytes);
    l2k_slopes_release(&control.slopes);
    l2k_release(context, control.component_bytes);
    l2k_release(context, control.ends);
    return status;
}

l2k_status l2k_layers_measure(const l2k_context *context, l2k_tile *tiles, uint32_t num_tiles, bool plt,
                              uint64_t *bytes)
{
    rate_control control = {.context = context, .tiles = tiles, .num_tiles = num_tiles, .plt = plt};
    const uint32_t num_layers = tiles[0].coding->num_layers;
    memset(bytes, 0, tiles[0].num_components * sizeof *bytes);
    L2K_TRY(restart(&control));
    for (control.layer = 0; control.layer < num_layers; control.layer++) {
        L2K_TRY(visit_layer(&control, bytes, 1));
        if (control.layer + 1 < num_layers)
            L2K_TRY(visit_layer(&control, NULL, 0));
    }
    return L2K_OK;
}
