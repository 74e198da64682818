/* Post-compression rate-distortion optimisation (Taubman's EBCOT; Annex J.14 of the standard): which passes of which
 * code-block go into which layer. All tiles and all layers draw on one list: every useful truncation point of every
 * block, the steepest gain per byte first. A layer is a prefix of that list. */
#include "codec/packets/rate.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "codec/packets/packet.h"
#include "codec/packets/slopes.h"

typedef struct rate_control {
    const l2k_context *context;
    l2k_tile *tiles;
    uint32_t num_tiles, num_layers;
    const l2k_layer_targets *targets;
    bool plt;
    l2k_slope_list slopes;
    double rounding; /* of finished samples to integers: 1/12 each, relative to a squared peak */
    uint64_t samples, raw_bytes;
    uint32_t layer; /* being filled */
} rate_control;

/* ---- Layers as prefixes -------------------------------------------------------------------------------------- */

/* Sets a block's end in a layer, never before its end in the layer above. */
static void end_block_at(const rate_control *control, const l2k_hull_segment *segment, uint8_t passes)
{
    const uint32_t layer = control->layer;
    uint8_t *ends = control->tiles[segment->tile].layers + (size_t)segment->block * control->num_layers;
    ends[layer] = layer > 0 && ends[layer - 1] > passes ? ends[layer - 1] : passes;
}

/* Moves the end of the layer from prefix `from` to prefix `to`. A block's segments are in the order of its passes. */
static void move_layer_end(rate_control *control, size_t from, size_t to)
{
    const l2k_hull_segment *segments = control->slopes.segments;
    l2k_slopes_sort(&control->slopes, to); /* `from` was sorted when it was `to` */
    for (size_t i = from; i < to; i++)
        end_block_at(control, &segments[i], segments[i].passes);
    for (size_t i = from; i > to; i--)
        end_block_at(control, &segments[i - 1], segments[i - 1].before);
}

/* What a packet of the layer takes under the present assignment, PLT included. */
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

/* Goes over the packets of a layer: adds up what they take, or, with `bytes` NULL, moves the state of their precincts
 * past them. */
static l2k_status visit_layer(rate_control *control, uint64_t *bytes)
{
    for (uint32_t t = 0; t < control->num_tiles; t++) {
        l2k_tile *tile = &control->tiles[t];
        l2k_packet_id id = {.layer = control->layer};
        for (id.component = 0; id.component < tile->num_components; id.component++)
            for (id.resolution = 0; id.resolution < tile->components[id.component].num_resolutions; id.resolution++) {
                const uint32_t count = tile->components[id.component].resolutions[id.resolution].num_precincts;
                for (id.precinct = 0; id.precinct < count; id.precinct++) {
                    uint64_t packet = 0;
                    L2K_TRY(bytes ? packet_bytes(control, tile, id, &packet)
                                  : l2k_packet_skip(control->context, tile, &id));
                    if (bytes)
                        *bytes += packet;
                }
            }
    }
    return L2K_OK;
}

static l2k_status layer_bytes(rate_control *control, uint64_t *bytes)
{
    *bytes = 0;
    return visit_layer(control, bytes);
}

/* The packets that a block contributes to; their layer is left open. */
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

/* Adds single segments after `prefix` that still fit; the first one there did not. Only worthwhile where more than 0.2
 * % of the room is left, as in small images. */
static l2k_status fill_up(rate_control *control, size_t prefix, uint64_t room, uint64_t *bytes)
{
    l2k_slope_list *list = &control->slopes;
    unsigned tries = 256;
    for (size_t i = prefix; i < list->count && tries > 0 && (room - *bytes) * 500 > room; i++) {
        l2k_slopes_sort(list, i + 1 < list->count ? i + 1 : i);
        l2k_slopes_sort(list, i);
        const l2k_hull_segment *segment = &list->segments[i];
        const uint8_t passes = l2k_segment_block(list, segment)->coded.layer_passes[control->layer];
        if (l2k_segment_bytes(list, segment) > room - *bytes || passes != segment->before)
            continue;
        tries--;
        L2K_TRY(try_segment(control, segment, room, bytes));
    }
    return L2K_OK;
}

/* ---- Foresight ----------------------------------------------------------------------------------------------- */

/* What prefixes take, as far as it is clear without measuring: the bytes of their segments, and about as much around
 * them as was measured at another prefix. */
typedef struct forecast {
    bool usable;
    uint64_t bodies;  /* of the prefix measured */
    uint64_t headers; /* and what was around them */
} forecast;

static double difference(uint64_t a, uint64_t b)
{
    return a > b ? (double)(a - b) : (double)(b - a);
}

static void learn(forecast *f, uint64_t bodies, uint64_t bytes)
{
    f->bodies = bodies;
    f->headers = bytes > bodies ? bytes - bodies : 0;
}

/* Headers around so many bytes of bodies, and how wrong that may be. */
static double expect(const forecast *f, uint64_t bodies, double *wrong)
{
    const double share = (double)f->headers / (double)(f->bodies + 1), far = difference(bodies, f->bodies);
    *wrong = far * (share + 0.02) + 16;
    return (double)f->headers + (bodies > f->bodies ? share * far : -share * far);
}

/* A search in progress: what is known of prefixes, in the list's order. */
typedef struct search {
    uint64_t room, start; /* the layer's; bytes of the segments that layers above have */
    size_t at;            /* the layer ends there now */
    size_t low, high;     /* the longest prefix that is known to fit, the shortest that is not */
    uint64_t low_bytes;
    bool low_measured, high_measured;
    forecast forecast;
} search;

static uint64_t bodies_of(rate_control *control, const search *s, size_t prefix)
{
    const uint64_t bytes = l2k_slopes_bytes(&control->slopes, prefix);
    return bytes > s->start ? bytes - s->start : 0;
}

/* The end of the bin where `room` is about reached; beyond `low`. */
static size_t guess_end(rate_control *control, const search *s)
{
    const l2k_slope_list *list = &control->slopes;
    size_t bin = l2k_slopes_bin(list, s->low) + 1;
    double wrong;
    for (; list->bins[bin].start < list->count; bin++) {
        const uint64_t bodies = list->bins[bin].bytes - s->start;
        if ((double)bodies + expect(&s->forecast, bodies, &wrong) > (double)s->room)
            break;
    }
    return list->bins[bin].start;
}

static l2k_status measure_at(rate_control *control, search *s, size_t prefix, uint64_t *bytes)
{
    move_layer_end(control, s->at, prefix);
    s->at = prefix;
    L2K_TRY(layer_bytes(control, bytes));
    if (s->forecast.usable)
        learn(&s->forecast, bodies_of(control, s, prefix), *bytes);
    return L2K_OK;
}

/* Measures twice near the end that the search will find. */
static l2k_status look_ahead(rate_control *control, search *s)
{
    uint64_t bytes;
    const uint64_t all = bodies_of(control, s, control->slopes.count);
    s->forecast.usable = control->slopes.count - s->low > 4096 && all > s->room;
    s->forecast.headers = s->room / 20;
    s->forecast.bodies = s->room - s->room / 20;
    for (int round = 0; s->forecast.usable && round < 2; round++)
        L2K_TRY(measure_at(control, s, guess_end(control, s), &bytes));
    return L2K_OK;
}

/* Whether it is clear that a prefix does not fit, or that it does and leaves more room than the search accepts. */
static bool foresee(rate_control *control, const search *s, size_t prefix, bool *fits)
{
    double wrong;
    if (!s->forecast.usable)
        return false;
    const l2k_slope_bin *bins = control->slopes.bins;
    const size_t bin = l2k_slopes_bin(&control->slopes, prefix);
    uint64_t least = bins[bin].bytes, most = prefix < control->slopes.count ? bins[bin + 1].bytes : least;
    least = least > s->start ? least - s->start : 0;
    most = most > s->start ? most - s->start : 0;
    const double lower = (double)least + expect(&s->forecast, least, &wrong) - wrong;
    const double upper = (double)most + expect(&s->forecast, most, &wrong) + wrong;
    *fits = upper < (double)(s->room - s->room / 5000);
    if (*fits || lower > (double)s->room)
        return true;
    const uint64_t bodies = bodies_of(control, s, prefix);
    const double bytes = (double)bodies + expect(&s->forecast, bodies, &wrong);
    *fits = bytes + wrong < (double)(s->room - s->room / 5000);
    return *fits || bytes - wrong > (double)s->room;
}

/* ---- Layers of a size ---------------------------------------------------------------------------------------- */

/* Halves the interval until a prefix leaves little room, or nothing is between. */
static l2k_status halve(rate_control *control, search *s)
{
    const size_t count = control->slopes.count;
    while (s->high - s->low > 1) {
        /* Everything first: it often fits, and then nothing has to be searched. */
        const size_t middle = s->high > count ? count : s->low + (s->high - s->low) / 2;
        uint64_t bytes = 0;
        bool fits;
        const bool measured = !foresee(control, s, middle, &fits);
        if (measured) {
            L2K_TRY(measure_at(control, s, middle, &bytes));
            fits = bytes <= s->room;
        }
        if (!fits) {
            s->high = middle;
            s->high_measured = measured;
            continue;
        }
        s->low = middle;
        s->low_measured = measured;
        s->low_bytes = bytes;
        if (measured && s->room - bytes <= s->room / 5000)
            return L2K_OK;
    }
    return L2K_OK;
}

/* Whether what the search took for clear was so. */
static l2k_status confirm(rate_control *control, search *s, size_t first, bool *right)
{
    uint64_t bytes = 0;
    *right = true;
    if (!s->high_measured && s->high <= control->slopes.count && s->high - s->low == 1) {
        L2K_TRY(measure_at(control, s, s->high, &bytes));
        *right = bytes > s->room;
    }
    if (!s->low_measured && s->low > first && *right) {
        L2K_TRY(measure_at(control, s, s->low, &s->low_bytes));
        *right = s->low_bytes <= s->room;
    }
    return L2K_OK;
}

/* Ends a layer at the longest prefix, not shorter than *prefix, whose packets take at most `room` bytes, or a shorter
 * one that leaves next to nothing. */
static l2k_status fit_bytes(rate_control *control, uint64_t room, size_t *prefix, uint64_t *bytes)
{
    const size_t first = *prefix, count = control->slopes.count;
    search s = {.room = room, .at = first, .low = first, .high = count + 1};
    bool right;
    s.start = l2k_slopes_bytes(&control->slopes, first);
    L2K_TRY(look_ahead(control, &s));
    L2K_TRY(halve(control, &s));
    L2K_TRY(confirm(control, &s, first, &right));
    if (!right) { /* measure all that is asked */
        s = (search){.room = room, .at = s.at, .low = first, .high = count + 1};
        L2K_TRY(halve(control, &s));
    }
    move_layer_end(control, s.at, s.low);
    *prefix = s.low;
    *bytes = s.low_bytes;
    return s.low_bytes ? fill_up(control, s.low, room, bytes) : layer_bytes(control, bytes);
}

/* Ends a layer at the shortest prefix that leaves no more error than the PSNR allows. */
static void fit_psnr(rate_control *control, double psnr, size_t *prefix)
{
    const double allowed = (double)control->samples * pow(10, -psnr / 10);
    size_t end = l2k_slopes_removing(&control->slopes, control->slopes.distortion + control->rounding - allowed);
    if (end < *prefix)
        end = *prefix;
    move_layer_end(control, *prefix, end);
    *prefix = end;
}

/* ---- All layers ---------------------------------------------------------------------------------------------- */

/* The layer starts where the one above ended, the first one with nothing; or takes everything. */
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

/* All components have the same size in every tile, so their sums over the tiles are those of the image. */
static void count_samples(rate_control *control)
{
    uint64_t bits = 0;
    for (uint32_t c = 0; c < control->tiles[0].num_components; c++) {
        uint64_t samples = 0;
        unsigned precision = control->tiles[0].components[c].precision;
        for (uint32_t t = 0; t < control->num_tiles; t++) {
            l2k_rect rect = control->tiles[t].components[c].rect;
            samples += (uint64_t)l2k_rect_width(rect) * l2k_rect_height(rect);
        }
        control->samples += samples;
        control->rounding += (double)samples / 12 / pow(ldexp(1, (int)precision) - 1, 2);
        bits += samples * precision;
    }
    control->raw_bytes = bits / 8;
}

static l2k_status fill_layer(rate_control *control, uint64_t *used, size_t *prefix)
{
    const double target = control->targets->targets[control->layer];
    const bool everything = l2k_target_is_everything(control->targets->kind, target);
    start_layer(control, everything);
    if (everything)
        return L2K_OK;
    if (control->targets->kind == L2K_TARGET_PSNR) {
        fit_psnr(control, target, prefix);
        return L2K_OK;
    }
    uint64_t goal = (uint64_t)((double)control->raw_bytes / target), bytes;
    L2K_TRY(fit_bytes(control, goal > *used ? goal - *used : 0, prefix, &bytes));
    *used += bytes;
    if (*used > goal)
        l2k_warn(control->context, "the headers alone take more than a ratio of %g allows", target);
    return control->layer + 1 < control->num_layers ? visit_layer(control, NULL) : L2K_OK;
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
    size_t prefix = 0;
    count_samples(control);
    L2K_TRY(l2k_slopes_create(control->context, control->tiles, control->num_tiles, &control->slopes));
    if (control->targets->kind == L2K_TARGET_RATIO)
        L2K_TRY(restart(control));
    for (control->layer = 0; control->layer < control->num_layers; control->layer++)
        L2K_TRY(fill_layer(control, &used, &prefix));
    return L2K_OK;
}

/* Room for the layers of every block: all passes in every layer, or, to be filled, none. */
static l2k_status take_layers(const l2k_context *context, l2k_tile *tile, bool all)
{
    const size_t num_layers = tile->coding->num_layers, count = tile->num_places;
    uint8_t *layers =
        count <= SIZE_MAX / num_layers ? l2k_arena_take(context, &tile->contributions, count * num_layers) : NULL;
    if (!layers)
        return l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for %zu layers", num_layers);
    tile->layers = layers;
    for (size_t i = 0; i < count; i++) {
        l2k_block *block = tile->places[i].block;
        block->coded.layer_passes = layers + i * num_layers;
        memset(block->coded.layer_passes, all ? block->num_passes : 0, num_layers);
    }
    return L2K_OK;
}

bool l2k_layers_need_distortions(const l2k_layer_targets *targets)
{
    for (size_t i = 0; i < targets->count; i++)
        if (!l2k_target_is_everything(targets->kind, targets->targets[i]))
            return true;
    return false;
}

l2k_status l2k_layers_allocate(const l2k_context *context, l2k_tile *tiles, uint32_t num_tiles,
                               const l2k_layer_targets *targets, bool plt, size_t fixed_bytes)
{
    bool all = !l2k_layers_need_distortions(targets);
    for (uint32_t t = 0; t < num_tiles; t++)
        L2K_TRY(take_layers(context, &tiles[t], all));
    if (all)
        return L2K_OK;
    rate_control control = {.context = context,
                            .tiles = tiles,
                            .num_tiles = num_tiles,
                            .num_layers = tiles[0].coding->num_layers,
                            .targets = targets,
                            .plt = plt,
                            .slopes = {.context = context}};
    l2k_status status = fill_layers(&control, fixed_bytes);
    l2k_slopes_release(&control.slopes);
    return status;
}

l2k_status l2k_layers_measure(const l2k_context *context, l2k_tile *tiles, uint32_t num_tiles, bool plt,
                              uint64_t *bytes)
{
    rate_control control = {.context = context, .tiles = tiles, .num_tiles = num_tiles, .plt = plt};
    const uint32_t num_layers = tiles[0].coding->num_layers;
    *bytes = 0;
    L2K_TRY(restart(&control));
    for (control.layer = 0; control.layer < num_layers; control.layer++) {
        L2K_TRY(visit_layer(&control, bytes));
        if (control.layer + 1 < num_layers)
            L2K_TRY(visit_layer(&control, NULL));
    }
    return L2K_OK;
}
