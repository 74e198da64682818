/* Rate control of HT code-blocks (J.14): each can be truncated on any bit-plane, but is coded anew for it. So lengths
 * and gains are estimated from counts of its samples, and one list of slopes over all blocks gives the points of
 * truncation. Blocks are coded once; then single ones are coded again, a point of the list further or less far, until
 * the output just fits. Quantiser steps of the 9/7 come first, from the same estimates: between two bit-planes a
 * mixture of blocks is up to 1 dB worse than steps that suit. */
#include "codec/encode/encoder.h"

#include <math.h>
#include <string.h>

#include "base/integer.h"
#include "codec/packets/slopes.h"

/* What the present points of truncation take, measured or predicted: bytes of the output and of each component's
 * packets, and the squared error, relative to a squared peak, summed over samples. */
typedef struct outcome {
    double bytes, error, *components;
} outcome;

typedef struct truncation {
    l2k_encode_call call; /* first, for l2k_encode_begin_tile */
    l2k_encoder *encoder;
    l2k_engine
        *engine; /* that codes the only tile off the host, in the slot; NULL: code-blocks are coded on the host */
    l2k_engine_slot *slot;
    bool done;         /* off the host */
    l2k_context quiet; /* without messages, for layers that are allocated again */
    uint32_t num_components;
    uint64_t samples;
    double most_bytes, component_bytes, least_error; /* the goals: infinite if not given, the last one negative */
    double expected_bytes;                           /* of the first prefix to code, as estimated */
    l2k_slope_list *list, own_list;
    size_t at;        /* the prefix of the list that is coded */
    size_t low, high; /* prefixes known to be within the goals, and beyond */
    outcome now, next;
    uint64_t *bytes; /* of each component */
} truncation;

/* ---- Code-blocks --------------------------------------------------------------------------------------------- */

/* Copies a component's coefficients, since the next tile gets the plan's memory. */
static l2k_status keep_component(const l2k_context *context, l2k_tile *tile, l2k_tile_component *component)
{
    const l2k_coefficients *view = component->view;
    const size_t size = l2k_coefficient_bytes(view->type), row = view->width * size;
    l2k_coefficients *copy = l2k_arena_take(context, &tile->contributions, sizeof *copy);
    char *to = l2k_arena_take(context, &tile->contributions, row * view->height + 1);
    L2K_TRY(l2k_check_memory(context, copy && to, "the coefficients of a tile"));
    *copy = *view;
    copy->base = to;
    copy->stride = view->width;
    for (size_t y = 0; y < view->height; y++)
        memcpy(to + y * row, (const char *)view->base + y * view->stride * size, row);
    component->view = copy;
    return L2K_OK;
}

static l2k_status run(truncation *t, l2k_block_task task, uint32_t distance)
{
    t->call.task = task;
    t->call.distance = distance;
    for (uint32_t i = 0; i < t->encoder->num_tiles; i++)
        l2k_tile_take_steps(&t->encoder->tiles[i]);
    return l2k_workers_run(&t->encoder->workers, t->encoder->num_tiles, NULL, l2k_encode_recode, &t->call);
}

/* Of large images, not all samples are counted. */
static uint32_t distance_of(const truncation *t, uint32_t most)
{
    return l2k_min_u32(1 + (uint32_t)(t->samples >> 20), most);
}

/* A request to the engine off the host, with the tile's present steps. */
static l2k_encode_request request_off_host(truncation *t, uint32_t distance)
{
    t->call.task = L2K_CODE_CUT;
    t->call.distance = distance;
    l2k_tile_take_steps(&t->encoder->tiles[0]);
    return l2k_encode_request_of(&t->call, &t->encoder->tiles[0]);
}

/* Estimates points of truncation, and lists them by slope. */
static l2k_status list_points(truncation *t)
{
    const l2k_context *context = t->encoder->encoding.context;
    if (t->engine) {
        const l2k_encode_request request = request_off_host(t, distance_of(t, 4));
        return l2k_engine_table_of(t->engine, t->slot)->estimate(t->engine, t->slot, &request, NULL, &t->list);
    }
    L2K_TRY(run(t, L2K_ESTIMATE, distance_of(t, 4)));
    const double start = l2k_stage_start(context);
    t->list = &t->own_list;
    const l2k_status status = l2k_slopes_create(context, t->encoder->tiles, t->encoder->num_tiles, t->list);
    l2k_stage_end(context, L2K_STAGE_RATE, start);
    return status;
}

/* The error of the code-blocks as coded. */
static double coded_error(const truncation *t)
{
    double error = 0;
    for (uint32_t i = 0; i < t->encoder->num_tiles; i++) {
        const l2k_tile *tile = &t->encoder->tiles[i];
        for (size_t k = 0; k < tile->num_places; k++)
            error += l2k_distortion_weight(tile, tile->places[k].band) * tile->truncations[k].error;
    }
    return error;
}

static l2k_status code_off_host(truncation *t)
{
    const l2k_encode_request request = request_off_host(t, 1);
    uint64_t bytes;
    L2K_TRY(l2k_output_find_fixed_bytes(t->encoder));
    L2K_TRY(l2k_engine_table_of(t->engine, t->slot)->cut(t->engine, t->slot, &request, t->at, &bytes));
    t->now.bytes = (double)(t->encoder->output.fixed_bytes + bytes);
    return L2K_OK;
}

/* Codes all blocks whose points have changed, in layers, and measures them. */
static l2k_status code(truncation *t)
{
    const l2k_encoding *e = &t->encoder->encoding;
    if (t->engine)
        return code_off_host(t);
    L2K_TRY(run(t, L2K_CODE_CUT, 1));
    t->now.error = t->least_error < 0 ? 0 : coded_error(t);
    t->encoder->encoding.targets.error = t->now.error;
    t->encoder->encoding.context = &t->quiet;
    const l2k_status allocated = l2k_encode_layers(t->encoder);
    t->encoder->encoding.context = &t->encoder->context;
    L2K_TRY(allocated);
    const double start = l2k_stage_start(e->context);
    const l2k_status status =
        l2k_layers_measure(e->context, t->encoder->tiles, t->encoder->num_tiles, e->plt, t->bytes);
    t->now.bytes = (double)t->encoder->output.fixed_bytes;
    for (uint32_t c = 0; c < t->num_components; c++)
        t->now.bytes += t->now.components[c] = (double)t->bytes[c];
    l2k_stage_end(e->context, L2K_STAGE_RATE, start);
    return status;
}

/* ---- Goals --------------------------------------------------------------------------------------------------- */

/* The mean squared error of integers that are rounded from values whose errors are Gaussian and have this mean square:
 * 1/12 more for large errors, 0 for small ones. */
static double rounded_error(double mean_square)
{
    double sum = 0;
    if (mean_square > 4)
        return mean_square + 1.0 / 12;
    for (int k = 1; k < 40 && mean_square > 0; k++) /* P(|error| >= k) from the square of k - 1 to that of k */
        sum += (2 * k - 1) * erfc((k - 0.5) / sqrt(2 * mean_square));
    return sum;
}

/* The error of coefficients that leaves a PSNR after samples are rounded; with the 5/3, whose lifting rounds too, as for
 * MQ code-blocks. */
static double error_of_psnr(const truncation *t, double psnr)
{
    const bool rounds = l2k_coding_wavelet(&t->encoder->encoding.coding.components[0])->reversible;
    const double peak = ldexp(1, (int)t->encoder->encoding.siz.components[0].precision) - 1;
    const double goal = peak * peak * pow(10, -psnr / 10);
    double low = 0, high = goal;
    for (int i = 0; i < 50; i++) {
        const double middle = (low + high) / 2;
        *((rounds ? middle + 1.0 / 12 : rounded_error(middle)) < goal ? &low : &high) = middle;
    }
    return low / (peak * peak) * (double)t->samples;
}

static void set_goals(truncation *t)
{
    const l2k_layer_targets *targets = &t->encoder->encoding.truncation;
    t->most_bytes = targets->most_bytes ? (double)targets->most_bytes : INFINITY;
    t->component_bytes = targets->component_bytes ? (double)targets->component_bytes : INFINITY;
    t->least_error = -INFINITY;
    if (!targets->count || l2k_target_is_everything(targets->kind, targets->targets[0]))
        return;
    if (targets->kind == L2K_TARGET_PSNR)
        t->least_error = error_of_psnr(t, targets->targets[0]);
    else
        t->most_bytes =
            fmin(t->most_bytes, (double)l2k_ratio_goal(t->encoder->tiles, t->encoder->num_tiles, targets->targets[0]));
}

/* The share of a limit of bytes that is used, of the one that is nearest to its end. */
static double share_used(const truncation *t, const outcome *o)
{
    double share = o->bytes / t->most_bytes;
    for (uint32_t c = 0; c < t->num_components; c++)
        share = fmax(share, o->components[c] / t->component_bytes);
    return share;
}

/* Whether the outcome exceeds a limit, or is better than the PSNR asks for. */
static bool is_beyond(const truncation *t, const outcome *o)
{
    return share_used(t, o) > 1 || o->error < t->least_error;
}

/* ---- Prefixes of the list ------------------------------------------------------------------------------------ */

static l2k_block_truncation *truncation_of(const truncation *t, const l2k_hull_segment *segment)
{
    return &t->encoder->tiles[segment->tile].truncations[segment->block];
}

/* Moves a block over a segment of the list, and predicts the outcome; bytes a little worse than estimated. Off the host
 * the prefix says where blocks are truncated, and components have no limits. */
static l2k_status step(truncation *t, size_t i, bool up)
{
    const double bytes_share = up ? 1.05 : -0.95;
    const l2k_hull_segment *segment;
    L2K_TRY(l2k_slopes_segment(t->list, i, &segment));
    const l2k_block_place *place = &t->encoder->tiles[segment->tile].places[segment->block];
    if (!t->engine)
        truncation_of(t, segment)->point = up ? segment->passes : segment->before;
    t->next.bytes += bytes_share * segment->bytes;
    t->next.components[place->band->component->index] += bytes_share * segment->bytes;
    t->next.error -= (up ? 1 : -1) * segment->slope * segment->bytes;
    return L2K_OK;
}

static void predict_from_now(truncation *t)
{
    double *components = t->next.components;
    memcpy(components, t->now.components, t->num_components * sizeof *components);
    t->next = (outcome){t->now.bytes, t->now.error, components};
}

/* Starts with a prefix that ends with a bin. */
static void start_at(truncation *t, size_t end)
{
    t->at = end;
    t->low = 0;
    t->high = t->list->count + 1;
    for (uint32_t i = 0; i < t->encoder->num_tiles && !t->engine; i++)
        for (size_t k = 0; k < t->encoder->tiles[i].num_places; k++) {
            t->encoder->tiles[i].truncations[k].point = 0;
            t->encoder->tiles[i].truncations[k].coded_point = L2K_NOT_CODED;
        }
    for (size_t i = 0; i < end && !t->engine; i++) {
        l2k_block_truncation *block = truncation_of(t, &t->list->segments[i]);
        block->point = (uint8_t)l2k_max_u32(block->point, t->list->segments[i].passes);
    }
}

/* About the bytes outside bodies. */
static l2k_status other_bytes(truncation *t, double *bytes)
{
    const l2k_encoding *e = &t->encoder->encoding;
    L2K_TRY(l2k_output_find_fixed_bytes(t->encoder));
    *bytes = (double)t->encoder->output.fixed_bytes;
    for (uint32_t i = 0; i < t->encoder->num_tiles; i++)
        *bytes += (double)(t->encoder->tiles[i].num_precincts * e->coding.num_layers) +
                  2.2 * (double)t->encoder->tiles[i].num_places;
    return L2K_OK;
}

/* The first prefix to code. */
static l2k_status guess(truncation *t)
{
    const l2k_slope_bin *bin = t->list->bins, *last = bin + L2K_SLOPE_BINS;
    double others, error = t->list->distortion;
    L2K_TRY(other_bytes(t, &others));
    for (; bin < last && (double)bin[1].bytes + others <= t->expected_bytes && error >= t->least_error; bin++)
        error -= bin->gain;
    start_at(t, bin->start);
    return L2K_OK;
}

/* Moves the end of the prefix to where the outcome is predicted to be just within the goals; after some rounds without
 * success, half-way between those known to be within and beyond. */
static l2k_status move(truncation *t, unsigned round)
{
    enum { PATIENCE = 5 };
    const bool up = !is_beyond(t, &t->now), halve = round > PATIENCE;
    const size_t from = t->at, middle = t->low + (t->high - t->low) / 2;
    predict_from_now(t);
    while (up && t->at + 1 < t->high && (halve ? t->at < middle : !is_beyond(t, &t->next)))
        L2K_TRY(step(t, t->at++, true));
    if (up && !halve && t->at > from + 1 && is_beyond(t, &t->next))
        L2K_TRY(step(t, --t->at, false));
    while (!up && t->at > t->low + 1 && (halve ? t->at > middle : is_beyond(t, &t->next)))
        L2K_TRY(step(t, --t->at, false));
    return L2K_OK;
}

/* Whether at most this share of the bytes, or as little of the error, is left to be gained. */
static bool is_near(const truncation *t, double share)
{
    return share_used(t, &t->now) > 1 - share || t->now.error <= t->least_error + fabs(t->least_error) * share;
}

/* Moves a block over a segment that starts at its present point, or over a part of it, if that fits. */
static l2k_status try_segment(truncation *t, const l2k_hull_segment *segment)
{
    l2k_block_truncation *block = truncation_of(t, segment);
    const outcome before = t->now;
    if (block->point != segment->before)
        return L2K_OK;
    for (uint8_t point = segment->passes; point > segment->before && point + 3 > segment->passes; point--) {
        block->point = point;
        L2K_TRY(code(t));
        if (!is_beyond(t, &t->now))
            return L2K_OK;
    }
    block->point = segment->before;
    t->now.bytes = before.bytes;
    t->now.error = before.error;
    return L2K_OK;
}

/* In small images, where a segment is a considerable part: adds what still fits. */
static l2k_status fill_up(truncation *t)
{
    enum { TRIES = 64 };
    const double share = t->list->count > L2K_FEW_SEGMENTS ? 0.003 : 0.001;
    if (t->engine)
        return t->at == t->list->count || is_near(t, share) ? L2K_OK : L2K_ERROR_UNSUPPORTED;
    for (size_t i = t->at, last = i + TRIES; i < t->list->count && i < last && !is_near(t, share); i++) {
        const l2k_hull_segment *segment;
        L2K_TRY(l2k_slopes_segment(t->list, i, &segment));
        L2K_TRY(try_segment(t, segment));
    }
    return code(t);
}

static l2k_status trim(truncation *t)
{
    for (unsigned round = 0;; round++) {
        t->call.advances = round == 0;
        L2K_TRY(code(t));
        *(is_beyond(t, &t->now) ? &t->high : &t->low) = t->at;
        if (t->high - t->low <= 1 || (t->low == t->at && is_near(t, 0.001)))
            break;
        L2K_TRY(move(t, round));
    }
    if (t->at > t->low) {
        L2K_TRY(step(t, --t->at, false));
        L2K_TRY(code(t));
    }
    return fill_up(t);
}

/* ---- Steps --------------------------------------------------------------------------------------------------- */

static unsigned highest_exponent(const l2k_component_coding *coding, double base)
{
    l2k_step steps[L2K_MAX_SUBBANDS];
    unsigned highest = 0;
    l2k_coding_steps(coding, (float)base, (l2k_quality_of){0}, steps);
    for (unsigned band = 0; band < coding->num_steps; band++)
        highest = l2k_max_u32(highest, steps[band].exponent);
    return highest;
}

/* The base step, at least, that quantises a sixteenth as finely as samples are. */
static double finest_base(const truncation *t)
{
    const l2k_encoding *e = &t->encoder->encoding;
    double base = 1;
    for (uint32_t c = 0; c < t->num_components; c++)
        base = fmin(base, ldexp(1, -4 - (int)e->siz.components[c].precision));
    for (uint32_t c = 0; c < t->num_components; c++)
        while (highest_exponent(&e->coding.components[c], base) > L2K_MOST_EXPONENT)
            base *= 2;
    return base;
}

static void set_steps(truncation *t, double base)
{
    l2k_component_coding *components = t->encoder->encoding.coding.components;
    for (uint32_t c = 0; c < t->num_components; c++)
        l2k_coding_steps(&components[c], (float)base, (l2k_quality_of){0}, components[c].steps);
}

/* Bytes and error at base steps an octave apart, as logarithms, with a margin at both ends. */
enum { OCTAVES = L2K_PLANE_SUMS };
typedef struct curve {
    double at[OCTAVES + 3];
} curve;

/* Cubic interpolation. */
static double value_at(const curve *c, double x)
{
    const double *y = c->at + (int)x, f = x - (int)x;
    return y[1] +
           f / 2 * (y[2] - y[0] + f * (2 * y[0] - 5 * y[1] + 4 * y[2] - y[3] + f * (3 * (y[1] - y[2]) + y[3] - y[0])));
}

static void extend(curve *c)
{
    c->at[0] = 2 * c->at[1] - c->at[2];
    c->at[OCTAVES + 1] = c->at[OCTAVES + 2] = c->at[OCTAVES];
}

/* Adds what the cleanup pass on each plane takes and leaves. */
static void add_block(const l2k_block *block, double weight, uint64_t *bytes, double *error)
{
    const l2k_coded_block *coded = &block->coded;
    for (unsigned i = 0, point = block->num_passes; i < OCTAVES && point > 0; i++, point -= l2k_min_u32(point, 3)) {
        bytes[i] += coded->pass_bytes[point - 1];
        error[i] += weight * (coded->pass_distortion[block->num_passes - 1] - coded->pass_distortion[point - 1]);
    }
    for (unsigned i = (block->num_passes + 2) / 3; block->num_passes && i < OCTAVES; i++)
        error[i] += weight * coded->pass_distortion[block->num_passes - 1];
}

/* At the present steps, which are fine. Errors are left out if no goal needs them, as off the host. */
static l2k_status measure_octaves(truncation *t, curve *bytes, curve *error)
{
    uint64_t planes[OCTAVES] = {0};
    double others, left[OCTAVES] = {0};
    L2K_TRY(other_bytes(t, &others));
    if (t->engine) {
        const l2k_encode_request request = request_off_host(t, distance_of(t, 8));
        L2K_TRY(l2k_engine_table_of(t->engine, t->slot)->estimate(t->engine, t->slot, &request, planes, NULL));
    } else {
        L2K_TRY(run(t, L2K_ESTIMATE, distance_of(t, 8)));
    }
    for (uint32_t i = 0; i < t->encoder->num_tiles && !t->engine; i++) {
        const l2k_tile *tile = &t->encoder->tiles[i];
        for (size_t k = 0; k < tile->num_places; k++)
            add_block(tile->places[k].block, t->least_error < 0 ? 0 : l2k_distortion_weight(tile, tile->places[k].band),
                      planes, left);
    }
    for (unsigned i = 0; i < OCTAVES; i++) {
        bytes->at[i + 1] = log((double)planes[i] + others);
        error->at[i + 1] = t->least_error < 0 ? 0 : log(fmax(left[i], 1e-30));
    }
    extend(bytes);
    extend(error);
    return L2K_OK;
}

/* The octave, and part of it, at which bytes and error just meet goals. */
static double solve(const curve *bytes, const curve *error, double bytes_goal, double error_goal)
{
    double low = 0, high = OCTAVES - 1;
    for (int i = 0; i < 30; i++) {
        const double middle = (low + high) / 2;
        *(value_at(bytes, middle) > bytes_goal || value_at(error, middle) < error_goal ? &low : &high) = middle;
    }
    return high;
}

/* Codes one in `distance` of the blocks with its cleanup pass on plane 1. */
static l2k_status sample_on_host(truncation *t, uint32_t distance, l2k_block_sample *sample)
{
    size_t number = 0;
    for (uint32_t i = 0; i < t->encoder->num_tiles; i++)
        for (size_t k = 0; k < t->encoder->tiles[i].num_places; k++) {
            const l2k_block *block = t->encoder->tiles[i].places[k].block;
            const unsigned point = block->num_passes > 3 ? block->num_passes - 3u : 0;
            const uint32_t bytes = point ? block->coded.pass_bytes[point - 1] : 0;
            const bool chosen = number++ % distance == distance / 2;
            t->encoder->tiles[i].truncations[k].point = (uint8_t)(chosen ? point : 0);
            t->encoder->tiles[i].truncations[k].coded_point = L2K_NOT_CODED;
            sample->estimated += chosen ? bytes : 0;
            sample->all += bytes;
        }
    L2K_TRY(run(t, L2K_CODE_CUT, 1));
    for (uint32_t i = 0; i < t->encoder->num_tiles; i++)
        for (size_t k = 0; k < t->encoder->tiles[i].num_places; k++) {
            const l2k_block *block = t->encoder->tiles[i].places[k].block;
            sample->coded += l2k_bytes_of_passes(block, block->num_passes);
        }
    return L2K_OK;
}

/* How much larger than the goal all blocks with their cleanup pass on plane 1 would be, judged by some of them. With
 * steps that correct this, about these passes are coded first. */
static l2k_status sample_blocks(truncation *t, double *excess)
{
    enum { SAMPLES = 96, LEAST_DISTANCE = 2, MOST_DISTANCE = 12 };
    l2k_block_sample sample = {0};
    double others;
    size_t count = 0;
    L2K_TRY(other_bytes(t, &others));
    for (uint32_t i = 0; i < t->encoder->num_tiles; i++)
        count += t->encoder->tiles[i].num_places;
    const uint32_t distance = count / SAMPLES < LEAST_DISTANCE  ? LEAST_DISTANCE
                              : count / SAMPLES > MOST_DISTANCE ? MOST_DISTANCE
                                                                : (uint32_t)(count / SAMPLES);
    if (t->engine) {
        const l2k_encode_request request = request_off_host(t, distance);
        L2K_TRY(l2k_engine_table_of(t->engine, t->slot)->sample(t->engine, t->slot, &request, &sample));
    } else {
        L2K_TRY(sample_on_host(t, distance, &sample));
    }
    t->expected_bytes = others + (double)sample.all;
    *excess = t->expected_bytes / t->most_bytes * (double)(sample.coded + 1) / (double)(sample.estimated + 1);
    return L2K_OK;
}

/* Chooses the base step at which blocks with their cleanup pass on plane 1 just meet the goals, so that they can be
 * truncated both more and less. The list is that of a step close by. */
static l2k_status choose_steps(truncation *t)
{
    const double finest = finest_base(t), bytes_goal = log(t->most_bytes),
                 error_goal = log(fmax(t->least_error, 1e-30));
    double excess = 1;
    curve bytes = {0}, error = {0};
    set_steps(t, finest);
    L2K_TRY(measure_octaves(t, &bytes, &error));
    const double octave = solve(&bytes, &error, bytes_goal, error_goal);
    set_steps(t, fmax(finest, finest * exp2(octave) / 2));
    L2K_TRY(list_points(t));
    if (t->least_error >= 0 || octave < 1)
        return L2K_OK;
    L2K_TRY(sample_blocks(t, &excess));
    set_steps(t, fmax(finest, finest * exp2(solve(&bytes, &error, bytes_goal - log(excess), error_goal)) / 2));
    return L2K_OK;
}

/* ---- All together -------------------------------------------------------------------------------------------- */

static l2k_status take_truncations(const l2k_context *context, l2k_tile *tile)
{
    const size_t bytes = tile->num_places * sizeof *tile->truncations;
    tile->truncations = l2k_arena_take(context, &tile->contributions, bytes);
    L2K_TRY(l2k_check_memory(context, tile->truncations, "rate control"));
    memset(tile->truncations, 0, bytes);
    return L2K_OK;
}

static l2k_status search(truncation *t)
{
    const l2k_encoding *e = &t->encoder->encoding;
    t->call.advances = false;
    t->samples = 0;
    for (uint32_t i = 0; i < t->encoder->num_tiles; i++) {
        t->samples += l2k_tile_samples(&t->encoder->tiles[i]);
        if (!t->engine)
            L2K_TRY(take_truncations(e->context, &t->encoder->tiles[i]));
    }
    set_goals(t);
    t->expected_bytes = t->most_bytes;
    L2K_TRY(e->finds_steps ? choose_steps(t) : list_points(t));
    L2K_TRY(guess(t));
    return trim(t);
}

/* Does all of it where the coefficients are, up to packets. */
static l2k_status search_off_host(truncation *t, l2k_engine *engine, l2k_engine_slot *slot)
{
    const l2k_context *context = t->encoder->encoding.context;
    const double start = l2k_stage_start(context);
    t->engine = engine;
    t->slot = slot;
    l2k_status status = search(t);
    if (status == L2K_OK) {
        const l2k_encode_request request = request_off_host(t, 1);
        status = l2k_engine_finish_encode(engine, slot, &request, &t->encoder->output.packets);
    } else {
        l2k_engine_finish(slot);
    }
    l2k_stage_end(context, L2K_STAGE_RATE, start);
    t->done = status == L2K_OK;
    t->engine = NULL;
    t->call.advances = true;
    return status;
}

/* What the engine cannot do off the host, or fails to do with AUTO, is done again on the host. */
static l2k_status end_transform(void *opaque, l2k_worker_group *group, const l2k_job *job)
{
    truncation *t = opaque;
    l2k_tile *tile = &t->encoder->tiles[job->tile];
    if (l2k_is_off_host(tile->components[0].view)) {
        const l2k_status status = search_off_host(t, &group->engine, job->slot);
        if (status != L2K_ERROR_UNSUPPORTED && !l2k_engine_may_try_again(&group->engine, status))
            return status;
        t->call.blocks_on_host = true;
        L2K_TRY(l2k_encode_begin_tile(&t->call, group, job));
    }
    L2K_TRY(l2k_encode_end_transform(&t->call, &group->engine, job));
    for (uint32_t c = 0; c < tile->num_components && t->encoder->num_tiles > 1; c++)
        L2K_TRY(keep_component(t->encoder->encoding.context, tile, &tile->components[c]));
    return L2K_OK;
}

static l2k_status truncate_blocks(truncation *t)
{
    const l2k_encoding *e = &t->encoder->encoding;
    const uint32_t count = t->num_components = e->siz.num_components;
    t->now.components = l2k_allocate_zeroed(e->context, count, sizeof *t->now.components);
    t->next.components = l2k_allocate_zeroed(e->context, count, sizeof *t->next.components);
    t->bytes = l2k_allocate(e->context, count, sizeof *t->bytes);
    L2K_TRY(l2k_check_memory(e->context, t->now.components && t->next.components && t->bytes, "rate control"));
    L2K_TRY(l2k_workers_run(&t->encoder->workers, t->encoder->num_tiles, l2k_encode_begin_tile, end_transform, t));
    if (!t->done)
        L2K_TRY(search(t));
    return l2k_encode_layers(t->encoder);
}

/* A warning if headers alone are beyond a limit. */
static void check(const truncation *t)
{
    const l2k_layer_targets *targets = &t->encoder->encoding.truncation;
    if (share_used(t, &t->now) <= 1)
        return;
    if (targets->count && targets->kind == L2K_TARGET_RATIO)
        l2k_warn(t->encoder->encoding.context, "the headers alone take more than a ratio of %g allows",
                 targets->targets[0]);
    else
        l2k_warn(t->encoder->encoding.context, "the headers alone take more than the limit of bytes");
}

l2k_status l2k_encode_truncated(l2k_encoder *encoder, const l2k_encode_call *call)
{
    const l2k_context *context = call->encoder->encoding.context;
    truncation t = {.encoder = encoder, .call = *call, .quiet = *context, .own_list = {.context = context}};
    t.quiet.hooks.message = NULL;
    const l2k_status status = truncate_blocks(&t);
    if (status == L2K_OK)
        check(&t);
    l2k_slopes_release(&t.own_list);
    l2k_release(context, t.now.components);
    l2k_release(context, t.next.components);
    l2k_release(context, t.bytes);
    return status;
}
