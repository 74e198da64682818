/* Post-compression rate-distortion optimisation (Taubman's EBCOT; Annex J.14 of the standard): which passes of which
 * code-block go into which layer. All tiles and all layers draw on one list: every useful truncation point of every
 * block, the steepest gain per byte first. A layer is a prefix of that list. */
#include "codec/packets/rate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/run.h"
#include "codec/packets/packet.h"
#include "quant/steps.h"

/* A segment of the convex hull of a block's rate-distortion curve. */
typedef struct hull_step {
    double slope; /* distortion removed per byte */
    double gain;  /* distortion removed */
    l2k_block *block;
    uint32_t bytes;         /* that it adds */
    uint32_t order;         /* of the block in the image: makes the sort total */
    uint8_t before, passes; /* of the block, up to the segment and up to its end */
} hull_step;

typedef struct rate_control {
    const l2k_context *context;
    l2k_tile *tiles;
    uint32_t num_tiles, num_layers;
    const l2k_layer_targets *targets;
    bool plt;
    hull_step *steps;
    size_t num_steps;
    l2k_packet_order *orders; /* per tile */
    l2k_buffer scratch;
    double distortion; /* of an image without any pass, relative to a squared peak, summed over samples */
    double rounding;   /* of finished samples to integers: 1/12 each, in the same units */
    uint64_t samples, raw_bytes;
    uint32_t layer; /* being filled */
} rate_control;

/* What a squared error of one quantiser step in a subband is worth in squared samples of the image, in units of each
 * component's squared peak: the L2 norm of the subband's basis, and that of the inverse component transform's column.
 */
static double distortion_weight(const l2k_tile *tile, const l2k_subband *band)
{
    static const double transform_norms[2][3] = {{1.732, .8292, .8292}, {1.732, 1.805, 1.573}};
    const l2k_tile_component *component = band->component;
    const l2k_component_coding *coding = component->coding;
    unsigned level = l2k_band_level(coding->levels, band->resolution), precision = component->precision;
    double weight = l2k_subband_norm((l2k_wavelet)coding->wavelet, level, band->orientation);
    if (l2k_coding_wavelet(coding)->quantised) /* that norm and the step both contain the gain */
        weight *=
            l2k_step_size(l2k_coding_step(coding, band->resolution, band->orientation), precision, band->orientation) /
            (1u << l2k_log2_gain(band->orientation));
    if (tile->coding->component_transform && component->index < 3)
        weight *= transform_norms[coding->wavelet][component->index];
    weight /= (double)((1u << precision) - 1);
    return weight * weight;
}

/* ---- The list ------------------------------------------------------------------------------------------------ */

typedef struct hull {
    unsigned count;
    uint8_t passes[256];
    uint32_t bytes[256];
    double distortion[256];
} hull;

/* Gain per byte from a hull point to another one; infinite where bytes are free. */
static double slope_between(double gain, uint32_t bytes)
{
    return bytes ? gain / bytes : INFINITY;
}

/* The passes on the upper convex hull of (bytes, distortion removed). Point 0 is no pass. */
static void find_hull(const l2k_block *block, double weight, hull *h)
{
    const l2k_coded_block *coded = &block->coded;
    h->count = 1;
    h->passes[0] = 0;
    h->bytes[0] = 0;
    h->distortion[0] = 0;
    for (unsigned p = 0; p < block->num_passes; p++) {
        uint32_t bytes = coded->pass_bytes[p] & ~L2K_PASS_TERMINATED;
        double distortion = weight * coded->pass_distortion[p];
        if (distortion <= h->distortion[h->count - 1])
            continue;
        while (h->count > 1) {
            unsigned top = h->count - 1;
            double before =
                slope_between(h->distortion[top] - h->distortion[top - 1], h->bytes[top] - h->bytes[top - 1]);
            if (slope_between(distortion - h->distortion[top], bytes - h->bytes[top]) < before)
                break;
            h->count--;
        }
        h->passes[h->count] = (uint8_t)(p + 1);
        h->bytes[h->count] = bytes;
        h->distortion[h->count++] = distortion;
    }
}

static int compare_steps(const void *one, const void *other)
{
    const hull_step *a = one, *b = other;
    if (a->slope != b->slope)
        return a->slope > b->slope ? -1 : 1;
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    return a->passes < b->passes ? -1 : a->passes > b->passes;
}

/* Appends the segments of one block, or only counts them where control->steps is NULL. */
static void add_block(rate_control *control, l2k_block *block, double weight, uint32_t order)
{
    hull h;
    find_hull(block, weight, &h);
    for (unsigned i = 1; control->steps && i < h.count; i++) {
        double gain = h.distortion[i] - h.distortion[i - 1];
        uint32_t bytes = h.bytes[i] - h.bytes[i - 1];
        control->steps[control->num_steps + i - 1] =
            (hull_step){slope_between(gain, bytes), gain, block, bytes, order, h.passes[i - 1], h.passes[i]};
    }
    control->num_steps += h.count - 1;
}

/* What a block loses without any pass, as far as passes can restore it. */
static void add_distortion(rate_control *control, l2k_block *block, double weight, uint32_t order)
{
    (void)order;
    if (block->num_passes)
        control->distortion += weight * block->coded.pass_distortion[block->num_passes - 1];
}

/* In l2k_poll, of a visit to a block with its tens of passes. */
enum { WEIGHT_OF_BLOCK = 200 };

typedef void visit_block(rate_control *control, l2k_block *block, double weight, uint32_t order);

static l2k_status for_each_block(rate_control *control, visit_block *visit)
{
    uint32_t order = 0;
    for (uint32_t t = 0; t < control->num_tiles; t++) {
        const l2k_tile *tile = &control->tiles[t];
        l2k_block_place *places;
        size_t count;
        L2K_TRY(l2k_tile_list_blocks(control->context, tile, UINT32_MAX, 0, &places, &count));
        for (size_t i = 0; i < count; i++)
            visit(control, places[i].block, distortion_weight(tile, places[i].band), order++);
        l2k_release(control->context, places);
        L2K_TRY(l2k_poll(control->context, count * WEIGHT_OF_BLOCK));
    }
    return L2K_OK;
}

static l2k_status list_steps(rate_control *control)
{
    L2K_TRY(for_each_block(control, add_block));
    control->steps = l2k_allocate(control->context, control->num_steps, sizeof *control->steps);
    if (!control->steps)
        return l2k_fail(control->context, L2K_ERROR_MEMORY, "out of memory for rate control");
    control->num_steps = 0;
    L2K_TRY(for_each_block(control, add_block));
    qsort(control->steps, control->num_steps, sizeof *control->steps, compare_steps);
    return for_each_block(control, add_distortion);
}

/* ---- Layers as prefixes -------------------------------------------------------------------------------------- */

/* Sets a block's end in a layer, never before its end in the layer above. */
static void end_block_at(l2k_block *block, uint32_t layer, uint8_t passes)
{
    uint8_t *ends = block->coded.layer_passes;
    ends[layer] = layer > 0 && ends[layer - 1] > passes ? ends[layer - 1] : passes;
}

/* Moves the end of `layer` from prefix `from` to prefix `to`. A block's segments are in the order of its passes. */
static void move_layer_end(rate_control *control, uint32_t layer, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        end_block_at(control->steps[i].block, layer, control->steps[i].passes);
    for (size_t i = from; i > to; i--)
        end_block_at(control->steps[i - 1].block, layer, control->steps[i - 1].before);
}

/* Goes over the packets of a layer: adds up what they take under the present assignment, PLT included, or, with `bytes`
 * NULL, moves the state of their precincts past them. */
static l2k_status visit_layer(rate_control *control, uint32_t layer, uint64_t *bytes)
{
    for (uint32_t t = 0; t < control->num_tiles; t++) {
        const l2k_packet_order *order = &control->orders[t];
        for (size_t i = 0; i < order->num_keys; i++) {
            const l2k_precinct_key *key = &order->keys[i];
            l2k_packet_id id = {key->component, key->resolution, key->precinct, layer, 0, 0};
            size_t packet = 0;
            if (!bytes) {
                L2K_TRY(l2k_packet_skip(control->context, &control->tiles[t], &id));
                continue;
            }
            L2K_TRY(l2k_packet_measure(control->context, &control->tiles[t], &id, &control->scratch, &packet));
            *bytes += packet;
            for (size_t rest = control->plt ? packet : 0; rest; rest >>= 7)
                ++*bytes;
        }
    }
    return L2K_OK;
}

static l2k_status layer_bytes(rate_control *control, uint32_t layer, uint64_t *bytes)
{
    *bytes = 0;
    return visit_layer(control, layer, bytes);
}

/* Adds single segments after `prefix` that still fit; the first one there did not. Only worthwhile where more than 0.2
 * % of the room is left, as in small images. */
static l2k_status fill_up(rate_control *control, uint32_t layer, size_t prefix, uint64_t room, uint64_t bytes)
{
    unsigned tries = 256;
    for (size_t i = prefix; i < control->num_steps && tries > 0 && (room - bytes) * 500 > room; i++) {
        const hull_step *step = &control->steps[i];
        uint8_t *passes = &step->block->coded.layer_passes[layer];
        if (step->bytes > room - bytes || *passes != step->before)
            continue;
        *passes = step->passes;
        uint64_t now;
        tries--;
        L2K_TRY(layer_bytes(control, layer, &now));
        if (now <= room)
            bytes = now;
        else
            *passes = step->before;
    }
    return L2K_OK;
}

/* Ends a layer at the longest prefix, not shorter than *prefix, whose packets take at most `room` bytes. */
static l2k_status fit_bytes(rate_control *control, uint32_t layer, uint64_t room, size_t *prefix)
{
    uint64_t bytes, low_bytes = 0;
    size_t at = *prefix, low = *prefix, high = control->num_steps + 1;
    while (high - low > 1) {
        /* Everything first: it often fits, and then nothing has to be searched. */
        size_t middle = high > control->num_steps ? control->num_steps : low + (high - low) / 2;
        move_layer_end(control, layer, at, middle);
        at = middle;
        L2K_TRY(layer_bytes(control, layer, &bytes));
        if (bytes > room) {
            high = middle;
            continue;
        }
        low = middle;
        low_bytes = bytes;
        if (room - bytes <= room / 5000)
            break;
    }
    move_layer_end(control, layer, at, low);
    *prefix = low;
    return low_bytes ? fill_up(control, layer, low, room, low_bytes) : L2K_OK;
}

/* Ends a layer at the shortest prefix that leaves no more error than the PSNR allows. */
static void fit_psnr(rate_control *control, uint32_t layer, double psnr, size_t *prefix)
{
    double allowed = (double)control->samples * pow(10, -psnr / 10), left = control->distortion + control->rounding;
    size_t end = 0;
    while (end < control->num_steps && left > allowed)
        left -= control->steps[end++].gain;
    if (end < *prefix)
        end = *prefix;
    move_layer_end(control, layer, *prefix, end);
    *prefix = end;
}

/* ---- All layers ---------------------------------------------------------------------------------------------- */

/* The current layer starts where the one above ended, the first one with nothing. */
static void inherit(rate_control *control, l2k_block *block, double weight, uint32_t order)
{
    (void)weight, (void)order;
    uint8_t *ends = block->coded.layer_passes;
    if (block->num_passes)
        ends[control->layer] = control->layer > 0 ? ends[control->layer - 1] : 0;
}

static void take_everything(rate_control *control, l2k_block *block, double weight, uint32_t order)
{
    (void)weight, (void)order;
    if (block->num_passes)
        block->coded.layer_passes[control->layer] = block->num_passes;
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
    double target = control->targets->targets[control->layer];
    L2K_TRY(for_each_block(control, inherit));
    if (l2k_target_is_everything(control->targets->kind, target))
        return for_each_block(control, take_everything);
    if (control->targets->kind == L2K_TARGET_PSNR) {
        fit_psnr(control, control->layer, target, prefix);
        return L2K_OK;
    }
    uint64_t goal = (uint64_t)((double)control->raw_bytes / target), bytes;
    L2K_TRY(fit_bytes(control, control->layer, goal > *used ? goal - *used : 0, prefix));
    L2K_TRY(layer_bytes(control, control->layer, &bytes));
    *used += bytes;
    if (*used > goal)
        l2k_warn(control->context, "the headers alone take more than a ratio of %g allows", target);
    return visit_layer(control, control->layer, NULL);
}

static l2k_status fill_layers(rate_control *control, size_t fixed_bytes)
{
    uint64_t used = fixed_bytes;
    size_t prefix = 0;
    count_samples(control);
    L2K_TRY(list_steps(control));
    for (uint32_t t = 0; t < control->num_tiles; t++)
        L2K_TRY(l2k_packets_restart(control->context, &control->tiles[t]));
    for (control->layer = 0; control->layer < control->num_layers; control->layer++)
        L2K_TRY(fill_layer(control, &used, &prefix));
    return L2K_OK;
}

static l2k_status create_orders(rate_control *control)
{
    control->orders = l2k_allocate_zeroed(control->context, control->num_tiles, sizeof *control->orders);
    if (!control->orders)
        return l2k_fail(control->context, L2K_ERROR_MEMORY, "out of memory for rate control");
    for (uint32_t t = 0; t < control->num_tiles; t++)
        L2K_TRY(l2k_packet_order_create(control->context, &control->tiles[t], &control->orders[t]));
    return L2K_OK;
}

static void release(rate_control *control)
{
    for (uint32_t t = 0; control->orders && t < control->num_tiles; t++)
        l2k_packet_order_release(control->context, &control->orders[t]);
    l2k_release(control->context, control->orders);
    l2k_release(control->context, control->steps);
    l2k_buffer_release(&control->scratch);
}

static l2k_status measure_layers(rate_control *control, uint64_t *bytes)
{
    *bytes = 0;
    for (uint32_t t = 0; t < control->num_tiles; t++)
        L2K_TRY(l2k_packets_restart(control->context, &control->tiles[t]));
    for (uint32_t layer = 0; layer < control->num_layers; layer++) {
        L2K_TRY(visit_layer(control, layer, bytes));
        L2K_TRY(visit_layer(control, layer, NULL));
    }
    return L2K_OK;
}

/* Room for the layers of every block that has passes: all passes in every layer, or, to be filled, none. */
static l2k_status take_layers(const l2k_context *context, l2k_tile *tile, bool all)
{
    const size_t num_layers = tile->coding->num_layers;
    l2k_block_place *places;
    size_t count;
    L2K_TRY(l2k_tile_list_blocks(context, tile, UINT32_MAX, 0, &places, &count));
    uint8_t *layers =
        count <= SIZE_MAX / num_layers ? l2k_arena_take(context, &tile->contributions, count * num_layers) : NULL;
    for (size_t i = 0; layers && i < count; i++) {
        l2k_block *block = places[i].block;
        block->coded.layer_passes = layers + i * num_layers;
        memset(block->coded.layer_passes, all ? block->num_passes : 0, num_layers);
    }
    l2k_release(context, places);
    return layers ? L2K_OK : l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for %zu layers", num_layers);
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
                            .scratch = {.context = context}};
    l2k_status status = create_orders(&control);
    if (status == L2K_OK)
        status = fill_layers(&control, fixed_bytes);
    release(&control);
    return status;
}

l2k_status l2k_layers_measure(const l2k_context *context, l2k_tile *tiles, uint32_t num_tiles, bool plt,
                              uint64_t *bytes)
{
    rate_control control = {.context = context,
                            .tiles = tiles,
                            .num_tiles = num_tiles,
                            .num_layers = tiles[0].coding->num_layers,
                            .plt = plt,
                            .scratch = {.context = context}};
    l2k_status status = create_orders(&control);
    if (status == L2K_OK)
        status = measure_layers(&control, bytes);
    release(&control);
    return status;
}
