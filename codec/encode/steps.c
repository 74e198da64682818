/* Rate control by quantiser steps (Annex E), for code-blocks with too few coding passes to cut (T.814): the transform
 * runs once, and its coefficients stay unquantised; a histogram of them (quant/magnitudes.h) gives the base step for
 * the target error, or roughly for the target size. For a size, all blocks are then coded and measured, and the step is
 * corrected until the size fits, usually the second time. */
#include "codec/encode/steps.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/integer.h"
#include "codec/encode/error.h"
#include "codec/encode/keep.h"
#include "codec/encode/setup.h"
#include "quant/magnitudes.h"

typedef atomic_uint_least64_t shared_counts[L2K_MAGNITUDE_BINS];

typedef struct step_search {
    l2k_encoder *encoder;
    l2k_encode_call call;
    uint32_t num_components;
    shared_counts *counts;      /* of each component, filled by worker groups */
    l2k_magnitudes *magnitudes; /* the same afterwards; and for all components */
    l2k_magnitudes all;
    uint64_t *samples, raw_bytes;  /* of each component; of all */
    double finest, coarsest;       /* limits of the base step */
    l2k_coefficients *fetched;     /* if errors are measured: by component, of tiles whose views are off the host */
    atomic_bool left_host;         /* a tile has */
    double base;                   /* of the last coding */
    uint64_t bytes;                /* of the whole output */
    atomic_uint_least64_t *errors; /* of each component: sum of squares over decoded samples */
    l2k_allocation allocation;     /* of its passes to layers */
} step_search;

/* ---- Transform ----------------------------------------------------------------------------------------------- */

/* The step of a subband for a base step of 1, for which QCD has no code. */
static float unit_of(const l2k_tile_component *component, unsigned band)
{
    const l2k_depth depth = l2k_coding_depth(component->coding, l2k_band_resolution(band));
    const unsigned orientation = l2k_band_orientation(band);
    l2k_step step = l2k_step_of_base_at(l2k_coding_wavelet(component->coding), 0x1p-10f, depth, orientation);
    return l2k_step_size(step, component->precision, orientation) * 0x1p10f;
}

/* The histogram leaves out rows of an image of more samples than this. */
#define MOST_COUNTED ((uint64_t)1 << 20)

static l2k_status count_band(const l2k_context *context, l2k_engine *engine, const l2k_coefficients *view,
                             const l2k_band_view *at, uint32_t distance, float unit, l2k_magnitudes *magnitudes)
{
    const size_t rows = ((size_t)at->height + distance - 1) / distance;
    if (!l2k_is_off_host(view)) {
        const float *row = (const float *)view->base + at->y * view->stride + at->x;
        for (size_t y = 0; y < rows; y++)
            l2k_magnitudes_add(magnitudes, row + y * distance * view->stride, at->width, unit, distance);
        return L2K_OK;
    }
    float *copy = l2k_allocate(context, rows * at->width + 1, sizeof *copy);
    if (!copy)
        return l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for rate control");
    const l2k_status status = l2k_engine_fetch(engine, view, at, distance, copy);
    if (status == L2K_OK)
        l2k_magnitudes_add(magnitudes, copy, rows * at->width, unit, distance);
    l2k_release(context, copy);
    return status;
}

static l2k_status count_component(const l2k_context *context, l2k_engine *engine, const l2k_tile_component *component,
                                  uint32_t skip, l2k_magnitudes *magnitudes)
{
    const l2k_coefficients *view = component->view;
    for (unsigned band = 0; band < view->num_bands; band++) {
        const l2k_band_view *at = &view->bands[band];
        const uint32_t distance = l2k_min_u32(skip, l2k_max_u32(at->height / 16, 1));
        L2K_TRY(count_band(context, engine, view, at, distance, unit_of(component, band), magnitudes));
    }
    return L2K_OK;
}

static l2k_status count_tile(step_search *s, const l2k_tile *tile, l2k_engine *engine)
{
    const l2k_context *context = s->call.encoding->context;
    double start = l2k_stage_start(context);
    l2k_status status = L2K_OK;
    for (uint32_t c = 0; status == L2K_OK && c < tile->num_components; c++) {
        l2k_magnitudes magnitudes = {0};
        status = count_component(context, engine, &tile->components[c], 1 + (uint32_t)(s->samples[c] / MOST_COUNTED),
                                 &magnitudes);
        for (unsigned bin = 0; bin < L2K_MAGNITUDE_BINS; bin++)
            if (magnitudes.count[bin])
                atomic_fetch_add(&s->counts[c][bin], magnitudes.count[bin]);
    }
    l2k_stage_end(context, L2K_STAGE_RATE, start);
    return status;
}

/* Copies a view to the tile's host memory. */
static l2k_status copy_view(const l2k_context *context, l2k_engine *engine, l2k_tile *tile,
                            const l2k_coefficients *view, l2k_coefficients *copy)
{
    const l2k_band_view all = {.width = view->width, .height = view->height};
    *copy = *view;
    copy->on_device = false;
    copy->stride = view->width;
    copy->base = l2k_arena_take(context, &tile->contributions, (size_t)view->height * view->width * sizeof(float));
    if (!copy->base)
        return l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for the coefficients of a tile");
    return l2k_engine_fetch(engine, view, &all, 1, copy->base);
}

/* Copies a component's coefficients, since the next tile gets the plan's memory. */
static l2k_status keep_component(const l2k_context *context, l2k_engine *engine, l2k_tile *tile,
                                 l2k_tile_component *component)
{
    const l2k_coefficients *view = component->view;
    l2k_coefficients *copy = l2k_arena_take(context, &tile->contributions, sizeof *copy);
    if (!copy)
        return l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for the coefficients of a tile");
    L2K_TRY(l2k_is_off_host(view) ? l2k_engine_keep(engine, view, copy) : copy_view(context, engine, tile, view, copy));
    component->view = copy;
    return L2K_OK;
}

static bool is_off_host(const l2k_tile *tile)
{
    return l2k_is_off_host(tile->components[0].view);
}

static l2k_status keep_tile(step_search *s, l2k_engine *engine, uint32_t t)
{
    const l2k_encoding *e = s->call.encoding;
    l2k_tile *tile = &s->call.tiles[t];
    const bool measures = is_off_host(tile) && e->by_step.kind == L2K_TARGET_PSNR; /* errors are measured in host
                                                                                      memory */
    for (uint32_t c = 0; c < tile->num_components && measures; c++)
        L2K_TRY(copy_view(e->context, engine, tile, tile->components[c].view,
                          &s->fetched[(size_t)t * s->num_components + c]));
    L2K_TRY(count_tile(s, tile, engine));
    for (uint32_t c = 0; c < tile->num_components && s->encoder->num_tiles > 1; c++)
        L2K_TRY(keep_component(e->context, engine, tile, &tile->components[c]));
    return L2K_OK;
}

static void transform_share(void *opaque, l2k_workers *workers, l2k_worker_group *group)
{
    step_search *s = opaque;
    l2k_job job;
    while (l2k_next_job(workers, group, &job)) {
        l2k_status status;
        if (job.begins) {
            status = l2k_encode_begin_coefficients(&s->call, &group->engine, &job);
            if (l2k_engine_has_left_host(job.slot))
                atomic_store(&s->left_host, true);
        } else {
            status = l2k_engine_finish_transform(job.slot);
            if (status == L2K_OK)
                status = keep_tile(s, &group->engine, job.tile);
        }
        l2k_end_job(workers, group, &job, status);
    }
}

/* ---- Code-blocks --------------------------------------------------------------------------------------------- */

static void code_share(void *opaque, l2k_workers *workers, l2k_worker_group *group)
{
    step_search *s = opaque;
    l2k_job job;
    while (l2k_next_job(workers, group, &job)) {
        l2k_status status = L2K_OK;
        if (!job.begins)
            status = l2k_encode_recode(&s->call, &group->engine, &s->call.tiles[job.tile]);
        l2k_end_job(workers, group, &job, status);
    }
}

/* The lowest `num_fine` subbands of each component get the steps of a finer base step. */
static void set_steps(step_search *s, double base, double fine, unsigned num_fine)
{
    l2k_encoding *e = &s->encoder->encoding;
    l2k_step finer[L2K_MAX_SUBBANDS];
    for (uint32_t c = 0; c < s->num_components; c++) {
        l2k_component_coding *coding = &e->coding.components[c];
        const unsigned count = l2k_min_u32(num_fine, coding->num_steps);
        l2k_coding_steps_of_base(coding, (float)base, coding->steps);
        l2k_coding_steps_of_base(coding, (float)fine, finer);
        memcpy(coding->steps, finer, count * sizeof *finer);
    }
    for (uint32_t t = 0; t < s->encoder->num_tiles; t++)
        l2k_tile_take_steps(&s->call.tiles[t]);
    s->base = base;
}

/* Codes all blocks with the present steps, in layers. */
static l2k_status code(step_search *s)
{
    l2k_encoder *encoder = s->encoder;
    l2k_workers_forget(&encoder->workers);
    L2K_TRY(l2k_workers_run(&encoder->workers, encoder->num_tiles, code_share, s));
    return l2k_encode_layers(encoder, &s->allocation);
}

/* ---- PSNR ---------------------------------------------------------------------------------------------------- */

/* The mean squared error of a component as coded, in squares of its range. A row of tiles may have none of
 * its samples. */
static double coded_error(const step_search *s, uint32_t c, double base)
{
    return s->samples[c] ? l2k_magnitudes_error(&s->magnitudes[c], base) / (double)s->samples[c] : 0;
}

/* The same in the image: the inverse ICT (G-6 to G-8) mixes the errors of the three coded components. */
static double component_error(const step_search *s, uint32_t c, const double coded[3], double base)
{
    static const double shares[3][3] = {
        {1, 0, 1.402 * 1.402}, {1, .344136 * .344136, .714136 * .714136}, {1, 1.772 * 1.772, 0}};
    if (s->call.encoding->coding.component_transform && c < 3)
        return shares[c][0] * coded[0] + shares[c][1] * coded[1] + shares[c][2] * coded[2];
    return coded_error(s, c, base);
}

/* The mean squared error of all samples after rounding, in units of each component's squared peak. */
static double mean_error(const step_search *s, double base)
{
    double coded[3] = {0}, sum = 0, samples = 0;
    for (uint32_t c = 0; c < s->num_components && c < 3; c++)
        coded[c] = coded_error(s, c, base);
    for (uint32_t c = 0; c < s->num_components; c++) {
        const double range = ldexp(1, (int)s->call.encoding->siz.components[c].precision);
        const double error = l2k_rounded_error(component_error(s, c, coded, base) * range * range);
        sum += (double)s->samples[c] * error / ((range - 1) * (range - 1));
        samples += (double)s->samples[c];
    }
    return sum / samples;
}

/* The base step at which a rising or falling function reaches a value, within the limits. */
typedef double step_function(const step_search *s, double base);

static double solve(const step_search *s, step_function *function, bool rises, double value)
{
    double low = log2(s->finest), high = log2(s->coarsest);
    for (int i = 0; i < 40; i++) {
        const double middle = (low + high) / 2;
        if ((function(s, exp2(middle)) < value) == rises)
            low = middle;
        else
            high = middle;
    }
    return exp2(low);
}

/* The interval between a step that is too fine and one that is too coarse, or coarse enough; 0 = unknown. */
typedef struct interval {
    double fine, coarse;
} interval;

/* The next step to try: the one found, unless it lies outside the known interval; after some rounds without success, a
 * bolder one. */
static double next_step(const step_search *s, double found, interval known, int round)
{
    enum { PATIENCE = 3 };
    if (known.fine > 0 && known.coarse > 0)
        return round > PATIENCE || found <= known.fine || found >= known.coarse ? sqrt(known.fine * known.coarse)
                                                                                : found;
    if (round > PATIENCE)
        found = known.fine > 0 ? fmax(found, s->base * 4) : fmin(found, s->base / 4);
    return fmin(fmax(found, s->finest), s->coarsest);
}

/* Swaps a tile's views with those in host memory, or back; `views` keeps them meanwhile. */
static void exchange_views(step_search *s, uint32_t t, const l2k_coefficients **views)
{
    l2k_tile *tile = &s->call.tiles[t];
    for (uint32_t c = 0; c < tile->num_components; c++) {
        const l2k_coefficients *own = tile->components[c].view;
        tile->components[c].view = views[c];
        views[c] = own;
    }
}

static l2k_status measure_error(step_search *s, const l2k_engine *engine, uint32_t t)
{
    const l2k_context *context = s->call.encoding->context;
    l2k_tile *tile = &s->call.tiles[t];
    if (!is_off_host(tile))
        return l2k_encode_tile_error(&s->call, engine, tile, s->errors);
    const l2k_coefficients **views = l2k_allocate(context, tile->num_components, sizeof *views);
    if (!views)
        return l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for rate control");
    for (uint32_t c = 0; c < tile->num_components; c++)
        views[c] = &s->fetched[(size_t)t * s->num_components + c];
    exchange_views(s, t, views);
    const l2k_status status = l2k_encode_tile_error(&s->call, engine, tile, s->errors);
    exchange_views(s, t, views);
    l2k_release(context, views);
    return status;
}

static void error_share(void *opaque, l2k_workers *workers, l2k_worker_group *group)
{
    step_search *s = opaque;
    l2k_job job;
    while (l2k_next_job(workers, group, &job)) {
        l2k_status status = L2K_OK;
        if (!job.begins)
            status = measure_error(s, &group->engine, job.tile);
        l2k_end_job(workers, group, &job, status);
    }
}

/* The mean error of decoding with the present steps. */
static l2k_status decoded_error(step_search *s, double *mean)
{
    double sum = 0, samples = 0;
    for (uint32_t c = 0; c < s->num_components; c++)
        atomic_store(&s->errors[c], 0);
    L2K_TRY(l2k_workers_run(&s->encoder->workers, s->encoder->num_tiles, error_share, s));
    for (uint32_t c = 0; c < s->num_components; c++) {
        const double peak = ldexp(1, (int)s->call.encoding->siz.components[c].precision) - 1;
        sum += (double)atomic_load(&s->errors[c]) / (peak * peak);
        samples += (double)s->samples[c];
    }
    *mean = sum / samples;
    return L2K_OK;
}

enum { MOST_TRIALS = 16 };

/* The histogram ignores clipping, and that rounding removes the small error of smooth parts. So its answer is tried and
 * corrected by its error, and the correction is tried again only if it is large. In pictures of few values the error
 * jumps, and the best of several trials counts. */
static l2k_status fit_psnr(step_search *s, double psnr)
{
    const double goal = pow(10, -psnr / 10);
    interval known = {0, 0};
    double correction = 1, best = 0, wrong = INFINITY; /* the best trial, and its deviation in units of 10 dB */
    for (int trial = 0; trial < MOST_TRIALS && wrong > 0.03; trial++) {
        const double base = next_step(s, solve(s, mean_error, true, goal * correction), known, trial);
        double found;
        if (base == s->base) /* a limit */
            break;
        set_steps(s, base, 0, 0);
        L2K_TRY(decoded_error(s, &found));
        *(found > goal ? &known.coarse : &known.fine) = base;
        found = fmax(found, goal / 100); /* it may be 0 */
        if (fabs(log10(found / goal)) < wrong) {
            wrong = fabs(log10(found / goal));
            best = base;
        }
        correction = mean_error(s, base) / found;
    }
    if (wrong > 0.01 && wrong <= 0.03)
        best = solve(s, mean_error, true, goal * correction);
    set_steps(s, best, 0, 0);
    return code(s);
}

/* ---- Size ---------------------------------------------------------------------------------------------------- */

/* The search aims at this part of the target size, and accepts no less than `least`. */
static const double aim = 0.99, least = 0.98;

static double expected_bits(const step_search *s, double base)
{
    return l2k_magnitudes_bits(&s->all, base);
}

/* Bytes of the output if all packets were empty. */
static double empty_bytes(const step_search *s)
{
    const l2k_tile_coding *coding = &s->call.encoding->coding;
    double bytes = (double)s->allocation.fixed_bytes;
    for (uint32_t t = 0; t < s->encoder->num_tiles; t++)
        bytes += (double)(s->call.tiles[t].num_precincts * coding->num_layers);
    return bytes;
}

static l2k_status measure(step_search *s, double base, double fine, unsigned num_fine)
{
    const l2k_encoding *e = s->call.encoding;
    set_steps(s, base, fine, num_fine);
    L2K_TRY(code(s));
    double start = l2k_stage_start(e->context);
    l2k_status status = l2k_layers_measure(e->context, s->call.tiles, s->encoder->num_tiles, e->plt, &s->bytes);
    s->bytes += s->allocation.fixed_bytes;
    l2k_stage_end(e->context, L2K_STAGE_RATE, start);
    return status;
}

static bool is_good(const step_search *s, double goal)
{
    return (double)s->bytes <= goal && (double)s->bytes >= goal * least;
}

/* The step whose expected size, corrected by the ratio of measured to expected at the present step, is the goal. */
static double next_base(const step_search *s, double goal, interval known, int round)
{
    const double empty = empty_bytes(s), coded = fmax((double)s->bytes - empty, 1);
    const double expected = expected_bits(s, s->base) * fmax(goal * aim - empty, 0) / coded;
    return next_step(s, solve(s, expected_bits, false, expected), known, round);
}

/* In pictures of few values, the size jumps at certain steps, but not at the same one in all subbands. */
static l2k_status fit_bands(step_search *s, double goal, interval known)
{
    unsigned fits = 0, exceeds = s->call.encoding->coding.components[0].num_steps, last = exceeds;
    while (exceeds - fits > 1) {
        last = fits + (exceeds - fits) / 2;
        L2K_TRY(measure(s, known.coarse, known.fine, last));
        if (is_good(s, goal))
            return L2K_OK;
        *((double)s->bytes <= goal ? &fits : &exceeds) = last;
    }
    return last == fits ? L2K_OK : measure(s, known.coarse, known.fine, fits);
}

static l2k_status fit_size(step_search *s, double goal)
{
    interval known = {0, 0};
    double base = solve(s, expected_bits, false, 8 * goal * aim);
    for (int round = 0; known.fine == 0 || known.coarse == 0 || known.coarse > known.fine * 1.002; round++) {
        L2K_TRY(measure(s, base, 0, 0));
        const bool fits = (double)s->bytes <= goal;
        if (is_good(s, goal) || (fits && base <= s->finest * 1.001))
            return L2K_OK;
        if (!fits && base >= s->coarsest * 0.999) {
            l2k_warn(s->call.encoding->context, "the headers alone take more than a ratio of %g allows",
                     s->call.encoding->by_step.value);
            return L2K_OK;
        }
        *(fits ? &known.coarse : &known.fine) = base;
        base = next_base(s, goal, known, round);
    }
    return fit_bands(s, goal, known);
}

/* ---- Both ---------------------------------------------------------------------------------------------------- */

static unsigned highest_exponent(const l2k_component_coding *coding, double base)
{
    l2k_step steps[L2K_MAX_SUBBANDS];
    unsigned highest = 0;
    l2k_coding_steps_of_base(coding, (float)base, steps);
    for (unsigned band = 0; band < coding->num_steps; band++)
        highest = l2k_max_u32(highest, steps[band].exponent);
    return highest;
}

/* The limits of base steps: the quantiser's finest, and the one that makes all indices 0. */
static void limit_base(step_search *s)
{
    const l2k_encoding *e = s->call.encoding;
    s->finest = 0x1p-24;
    s->coarsest = 64;
    for (uint32_t c = 0; c < s->num_components; c++) {
        const l2k_component_coding *coding = &e->coding.components[c];
        while (highest_exponent(coding, s->finest) > L2K_MOST_EXPONENT)
            s->finest *= 2;
    }
}

static l2k_status create_search(step_search *s)
{
    const l2k_encoding *e = s->call.encoding;
    const uint32_t count = s->num_components = e->siz.num_components;
    s->counts = l2k_allocate(e->context, count, sizeof *s->counts);
    s->magnitudes = l2k_allocate(e->context, count, sizeof *s->magnitudes);
    s->samples = l2k_allocate_zeroed(e->context, count, sizeof *s->samples);
    s->errors = l2k_allocate(e->context, count, sizeof *s->errors);
    s->fetched = l2k_allocate(e->context, (size_t)count * s->encoder->num_tiles, sizeof *s->fetched);
    if (!s->counts || !s->magnitudes || !s->samples || !s->errors || !s->fetched)
        return l2k_fail(e->context, L2K_ERROR_MEMORY, "out of memory for rate control");
    uint64_t bits = 0;
    for (uint32_t c = 0; c < count; c++) {
        const l2k_component *component = &e->siz.components[c];
        l2k_rect rect = l2k_component_rect(s->call.area, component->dx, component->dy);
        s->samples[c] = (uint64_t)l2k_rect_width(rect) * l2k_rect_height(rect);
        bits += s->samples[c] * component->precision;
        for (unsigned bin = 0; bin < L2K_MAGNITUDE_BINS; bin++)
            atomic_init(&s->counts[c][bin], 0);
    }
    s->raw_bytes = bits / 8;
    limit_base(s);
    return L2K_OK;
}

static void release_search(step_search *s)
{
    const l2k_context *context = s->call.encoding->context;
    l2k_release(context, s->counts);
    l2k_release(context, s->magnitudes);
    l2k_release(context, s->samples);
    l2k_release(context, s->errors);
    l2k_release(context, s->fetched);
    for (unsigned i = 0; i < s->encoder->workers.num_groups; i++)
        l2k_engine_drop(&s->encoder->workers.groups[i].engine);
}

static void sum_counts(step_search *s)
{
    for (uint32_t c = 0; c < s->num_components; c++)
        for (unsigned bin = 0; bin < L2K_MAGNITUDE_BINS; bin++) {
            s->magnitudes[c].count[bin] = atomic_load(&s->counts[c][bin]);
            s->all.count[bin] += s->magnitudes[c].count[bin];
        }
}

static l2k_status search(step_search *s)
{
    const l2k_step_target *target = &s->call.encoding->by_step;
    L2K_TRY(create_search(s));
    L2K_TRY(l2k_workers_run(&s->encoder->workers, s->encoder->num_tiles, transform_share, s));
    sum_counts(s);
    return target->kind == L2K_TARGET_PSNR ? fit_psnr(s, target->value)
                                           : fit_size(s, floor((double)s->raw_bytes / target->value));
}

/* Whether to redo all tiles on the CPU. */
static bool falls_back(const step_search *s, l2k_status status)
{
    l2k_workers *workers = &s->encoder->workers;
    if (!atomic_load(&s->left_host) || !l2k_engines_fall_back(&workers->kind, status))
        return false;
    l2k_workers_drop_plans(workers); /* some may have been begun and not ended */
    for (uint32_t t = 0; t < s->encoder->num_tiles; t++)
        l2k_encode_release_tile(s->call.encoding->context, &s->call.tiles[t]);
    return true;
}

l2k_status l2k_encode_by_steps(l2k_encoder *encoder, const l2k_encode_call *call, l2k_allocation *allocation)
{
    l2k_status status;
    bool again;
    do {
        step_search s = {.encoder = encoder, .call = *call};
        status = search(&s);
        *allocation = s.allocation;
        again = falls_back(&s, status);
        release_search(&s);
    } while (again);
    return status;
}
