/* Post-compression rate-distortion optimisation (Taubman's EBCOT; Annex J.14 of the standard): which passes of which
 * code-block go into which layer. All tiles and all layers draw on one list: every useful truncation point of every
 * block, the steepest gain per byte first. A layer is a prefix of that list. */
#include "codec/encoder.h"

#include <math.h>
#include <string.h>

#include "base/sort.h"
#include "codec/packets/packet.h"

/* A step along the convex hull of a block's rate-distortion curve. */
typedef struct hull_step {
    double slope; /* distortion removed per byte */
    double gain;  /* distortion removed */
    l2k_block *block;
    uint32_t bytes;         /* that it adds */
    uint32_t order;         /* of the block in the image: makes the sort total */
    uint8_t before, passes; /* of the block, until and once the step is taken */
} hull_step;

typedef struct rate_control {
    l2k_encode_job *job;
    hull_step *steps;
    size_t num_steps;
    l2k_packet_order *orders; /* per tile */
    l2k_buffer scratch;
    double distortion; /* of an image without any pass, relative to a squared peak, summed over samples */
    double rounding;   /* of finished samples to integers: 1/12 each, in the same units */
    uint64_t samples;
    uint32_t layer; /* being filled */
    size_t looks;   /* at passes and packets, since it was asked whether to go on */
} rate_control;

/* ---- The list -------------------------------------------------------------------------------------------------------
 */

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

/* The passes on the upper convex hull of (bytes, distortion removed). Point 0 is nothing. */
static void find_hull(const l2k_block *block, hull *h)
{
    const l2k_coded_block *coded = &block->coded;
    h->count = 1;
    h->passes[0] = 0;
    h->bytes[0] = 0;
    h->distortion[0] = 0;
    for (unsigned p = 0; p < block->num_passes; p++) {
        uint32_t bytes = coded->pass_bytes[p] & ~L2K_PASS_TERMINATED;
        double distortion = coded->pass_distortion[p];
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

/* Appends the steps of one block, or only counts them where control->steps is NULL. */
static void add_block(rate_control *control, l2k_block *block, uint32_t order)
{
    hull h;
    find_hull(block, &h);
    for (unsigned i = 1; control->steps && i < h.count; i++) {
        double gain = h.distortion[i] - h.distortion[i - 1];
        uint32_t bytes = h.bytes[i] - h.bytes[i - 1];
        control->steps[control->num_steps + i - 1] =
            (hull_step){slope_between(gain, bytes), gain, block, bytes, order, h.passes[i - 1], h.passes[i]};
    }
    control->num_steps += h.count - 1;
}

/* A block has tens of passes. */
enum { STEPS_OF_BLOCK = 8 };

static l2k_status for_each_block(rate_control *control, void (*visit)(rate_control *, l2k_block *, uint32_t))
{
    l2k_encode_job *job = control->job;
    uint32_t order = 0;
    for (uint32_t t = job->first_tile; t < job->end_tile; t++) {
        l2k_block_place *places;
        size_t count;
        L2K_TRY(l2k_check_run(job->context));
        L2K_TRY(l2k_tile_list_blocks(job->context, &job->tiles[t], UINT32_MAX, 0, &places, &count));
        l2k_status status = L2K_OK;
        for (size_t i = 0; i < count && status == L2K_OK; i++) {
            visit(control, places[i].block, order++);
            status = l2k_check_steps(job->context, &control->looks, STEPS_OF_BLOCK);
        }
        l2k_release(job->context, places);
        L2K_TRY(status);
    }
    return L2K_OK;
}

/* What a block loses without any pass, as far as passes can mend it. */
static void add_distortion(rate_control *control, l2k_block *block, uint32_t order)
{
    (void)order;
    if (block->num_passes)
        control->distortion += block->coded.pass_distortion[block->num_passes - 1];
}

static l2k_status list_steps(rate_control *control)
{
    L2K_TRY(for_each_block(control, add_block));
    control->steps = l2k_allocate(control->job->context, control->num_steps, sizeof *control->steps);
    if (!control->steps)
        return l2k_fail(control->job->context, L2K_ERROR_MEMORY, "out of memory for rate control");
    control->num_steps = 0;
    L2K_TRY(for_each_block(control, add_block));
    L2K_TRY(l2k_sort(control->job->context, control->steps, control->num_steps, sizeof *control->steps, compare_steps));
    return for_each_block(control, add_distortion);
}

/* ---- Layers as prefixes -------------------------------------------------------------------------------------- */

/* Sets a block's end in a layer, never before its end in the layer above. */
static void end_block_at(l2k_block *block, uint32_t layer, uint8_t passes)
{
    uint8_t *ends = block->coded.layer_passes;
    ends[layer] = layer > 0 && ends[layer - 1] > passes ? ends[layer - 1] : passes;
}

/* Moves the end of `layer` from prefix `from` to prefix `to`. A block's steps stand in the order of its passes. */
static l2k_status move_layer_end(rate_control *control, uint32_t layer, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        end_block_at(control->steps[i].block, layer, control->steps[i].passes);
        L2K_TRY(l2k_check_steps(control->job->context, &control->looks, 1));
    }
    for (size_t i = from; i > to; i--) {
        end_block_at(control->steps[i - 1].block, layer, control->steps[i - 1].before);
        L2K_TRY(l2k_check_steps(control->job->context, &control->looks, 1));
    }
    return L2K_OK;
}

/* Goes over the packets of a layer: adds up what they take under the present assignment, PLT included, or, with `bytes`
 * NULL, leaves them behind. */
static l2k_status visit_layer(rate_control *control, uint32_t layer, uint64_t *bytes)
{
    l2k_encode_job *job = control->job;
    bool plt = job->encoder->options[L2K_ENCODER_PLT];
    for (uint32_t t = job->first_tile; t < job->end_tile; t++) {
        const l2k_packet_order *order = &control->orders[t];
        L2K_TRY(l2k_check_run(job->context));
        for (size_t i = 0; i < order->num_keys; i++) {
            const l2k_precinct_key *key = &order->keys[i];
            l2k_packet_id id = {key->component, key->resolution, key->precinct, layer, 0, 0};
            size_t packet = 0;
            if (!bytes) {
                L2K_TRY(l2k_packet_skip(job->context, &job->tiles[t], &id));
                continue;
            }
            L2K_TRY(l2k_packet_measure(job->context, &job->tiles[t], &id, &control->scratch, &packet));
            *bytes += packet;
            for (size_t rest = plt ? packet : 0; rest; rest >>= 7)
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

/* Single steps that still fit behind the prefix that ends at `prefix`; the first one there did not. Only worth the
 * while where more than 0.2 % of the room is left, as happens in small images. */
static l2k_status fill_up(rate_control *control, uint32_t layer, size_t prefix, uint64_t room, uint64_t bytes)
{
    unsigned tries = 256;
    for (size_t i = prefix; i < control->num_steps && tries > 0 && (room - bytes) * 500 > room; i++) {
        const hull_step *step = &control->steps[i];
        uint8_t *passes = &step->block->coded.layer_passes[layer];
        L2K_TRY(l2k_check_steps(control->job->context, &control->looks, 1));
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
        L2K_TRY(move_layer_end(control, layer, at, middle));
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
    L2K_TRY(move_layer_end(control, layer, at, low));
    *prefix = low;
    return low_bytes ? fill_up(control, layer, low, room, low_bytes) : L2K_OK;
}

/* Ends a layer at the shortest prefix that leaves no more error than the PSNR allows. */
static l2k_status fit_psnr(rate_control *control, uint32_t layer, double psnr, size_t *prefix)
{
    double allowed = (double)control->samples * pow(10, -psnr / 10), left = control->distortion + control->rounding;
    size_t end = 0;
    while (end < control->num_steps && left > allowed) {
        left -= control->steps[end++].gain;
        L2K_TRY(l2k_check_steps(control->job->context, &control->looks, 1));
    }
    if (end < *prefix)
        end = *prefix;
    L2K_TRY(move_layer_end(control, layer, *prefix, end));
    *prefix = end;
    return L2K_OK;
}

/* ---- All layers ---------------------------------------------------------------------------------------------- */

/* Before anything is decided no layer has any pass. */
static void take_nothing(rate_control *control, l2k_block *block, uint32_t order)
{
    (void)order;
    if (block->num_passes)
        memset(block->coded.layer_passes, 0, control->job->coding.num_layers);
}

/* `control->layer` starts where the layer above ended. */
static void inherit(rate_control *control, l2k_block *block, uint32_t order)
{
    (void)order;
    if (block->num_passes && control->layer > 0)
        block->coded.layer_passes[control->layer] = block->coded.layer_passes[control->layer - 1];
}

static void take_everything(rate_control *control, l2k_block *block, uint32_t order)
{
    (void)order;
    if (block->num_passes)
        block->coded.layer_passes[control->layer] = block->num_passes;
}

static void count_samples(rate_control *control, uint64_t *raw_bytes)
{
    uint64_t bits = 0;
    const l2k_siz *siz = &control->job->siz;
    for (uint32_t c = 0; c < siz->num_components; c++) {
        const l2k_component *component = &siz->components[c];
        l2k_rect rect = l2k_component_rect(control->job->area, component->dx, component->dy);
        uint64_t samples = (uint64_t)l2k_rect_width(rect) * l2k_rect_height(rect);
        control->samples += samples;
        control->rounding += (double)samples / 12 / pow(ldexp(1, (int)component->precision) - 1, 2);
        bits += samples * component->precision;
    }
    *raw_bytes = bits / 8;
}

static l2k_status allocate_layer(rate_control *control, uint64_t raw_bytes, uint64_t *used, size_t *prefix)
{
    const l2k_encoder *encoder = control->job->encoder;
    double target = encoder->targets[control->layer];
    L2K_TRY(for_each_block(control, inherit));
    if (l2k_target_is_everything(encoder->target_kind, target))
        return for_each_block(control, take_everything);
    if (encoder->target_kind == L2K_TARGET_PSNR)
        return fit_psnr(control, control->layer, target, prefix);
    uint64_t goal = (uint64_t)((double)raw_bytes / target), bytes;
    L2K_TRY(fit_bytes(control, control->layer, goal > *used ? goal - *used : 0, prefix));
    L2K_TRY(layer_bytes(control, control->layer, &bytes));
    *used += bytes;
    if (*used > goal)
        l2k_warn(control->job->context, "the headers alone take more than a ratio of %g allows", target);
    return visit_layer(control, control->layer, NULL);
}

static l2k_status allocate_layers(rate_control *control, size_t fixed_bytes)
{
    uint64_t used = fixed_bytes, raw_bytes;
    size_t prefix = 0;
    count_samples(control, &raw_bytes);
    L2K_TRY(list_steps(control));
    L2K_TRY(for_each_block(control, take_nothing));
    for (uint32_t t = control->job->first_tile; t < control->job->end_tile; t++)
        L2K_TRY(l2k_packets_restart(control->job->context, &control->job->tiles[t]));
    for (control->layer = 0; control->layer < control->job->coding.num_layers; control->layer++)
        L2K_TRY(allocate_layer(control, raw_bytes, &used, &prefix));
    return L2K_OK;
}

static l2k_status create_orders(rate_control *control)
{
    l2k_encode_job *job = control->job;
    control->orders = l2k_allocate_zeroed(job->context, job->num_tiles, sizeof *control->orders);
    if (!control->orders)
        return l2k_fail(job->context, L2K_ERROR_MEMORY, "out of memory for rate control");
    for (uint32_t t = job->first_tile; t < job->end_tile; t++)
        L2K_TRY(l2k_packet_order_create(job->context, &job->tiles[t], &control->orders[t]));
    return L2K_OK;
}

l2k_status l2k_encode_rate(l2k_encode_job *job, size_t fixed_bytes)
{
    if (!job->measure)
        return L2K_OK; /* tier-1 has put everything into the one layer */
    rate_control control = {.job = job, .scratch = {.context = job->context}};
    l2k_status status = create_orders(&control);
    if (status == L2K_OK)
        status = allocate_layers(&control, fixed_bytes);
    for (uint32_t t = job->first_tile; control.orders && t < job->end_tile; t++)
        l2k_packet_order_release(job->context, &control.orders[t]);
    l2k_release(job->context, control.orders);
    l2k_release(job->context, control.steps);
    l2k_buffer_release(&control.scratch);
    return status;
}
