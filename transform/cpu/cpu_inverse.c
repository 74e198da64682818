#include "transform/cpu/cpu.h"

#include <string.h>

#include "base/run.h"
#include "dwt/lifting.h"
#include "quant/quantiser.h"

/* Rows of the pass's lanes to pixels: inverse component transform, level shift, clamp. Destroys the rows. */
static void store_pixels(const l2k_cpu_pass *pass, int64_t y, void *const *rows)
{
    bool reversible = pass->wavelet == L2K_WAVELET_5_3;
    size_t n = pass->shape.width;
    l2k_pixel_row pixels[L2K_MAX_LANES];
    for (unsigned lane = 0; lane < pass->lanes; lane++)
        pixels[lane] = l2k_cpu_pixel_row(pass, lane, y);
    if (pass->lanes == 1 && reversible)
        l2k_pixels_store_i32(pixels, n, rows[0]);
    else if (pass->lanes == 1)
        l2k_pixels_store_f32(pixels, n, rows[0]);
    else if (reversible)
        l2k_pixels_store_rct(pixels, n, (int32_t *const[3]){rows[0], rows[1], rows[2]});
    else
        l2k_pixels_store_ict(pixels, n, (float *const[3]){rows[0], rows[1], rows[2]});
}

static void load_band(const l2k_cpu_pass *pass, unsigned lane, unsigned band, int64_t y, void *row, size_t n)
{
    const l2k_plan *plan = pass->plan;
    bool narrow = plan->spec.type == L2K_COEFFICIENT_INT16;
    const void *source = l2k_cpu_band_row(pass, lane, band, y);
    float half_step = 0.5f * plan->components[pass->first + lane].steps[band];
    if (n == 0)
        return;
    if (plan->spec.type == L2K_COEFFICIENT_FLOAT32)
        memcpy(row, source, n * sizeof(float));
    else if (pass->wavelet == L2K_WAVELET_9_7 && narrow)
        l2k_dequantise_row_i16(source, n, half_step, row);
    else if (pass->wavelet == L2K_WAVELET_9_7)
        l2k_dequantise_row_i32(source, n, half_step, row);
    else if (narrow)
        l2k_widen_row(source, n, row);
    else
        memcpy(row, source, n * sizeof(int32_t));
}

/* The halves of a row from their bands, and their horizontal synthesis. */
static void load_row(const l2k_cpu_worker *worker, unsigned lane, int64_t y, void *row)
{
    const l2k_cpu_pass *pass = worker->pass;
    const l2k_level *shape = &pass->shape;
    bool high_row = ((unsigned)y + shape->parity_y) & 1, last = pass->level == pass->levels;
    unsigned low_band = l2k_band_number(pass->levels - pass->level + 1, high_row ? L2K_LH : L2K_LL);
    unsigned high_band = l2k_band_number(pass->levels - pass->level + 1, high_row ? L2K_HH : L2K_HL);
    void *low = worker->half[0], *high = worker->half[1];
    if (high_row || last)
        load_band(pass, lane, low_band, y / 2, low, shape->low_width);
    else
        memcpy(low, l2k_cpu_low_row(pass, lane, pass->level, shape->low_width, y / 2),
               shape->low_width * sizeof(uint32_t));
    load_band(pass, lane, high_band, y / 2, high, shape->width - shape->low_width);
    if (pass->wavelet == L2K_WAVELET_5_3) {
        l2k_row_inverse_5_3(low, high, shape->width, shape->parity_x, row);
    } else {
        float scale = shape->height == 1 ? 1.0f : high_row ? L2K_9_7_INVERSE_HIGH : L2K_9_7_INVERSE_LOW;
        l2k_row_inverse_9_7(low, high, shape->width, shape->parity_x, scale, row);
    }
}

static void load_rows(void *user, int64_t y, void *const *rows)
{
    l2k_cpu_worker *worker = user;
    unsigned lanes = worker->pass->lanes;
    for (unsigned lane = 0; lane < lanes && l2k_cpu_goes_on(worker, worker->pass->shape.width); lane++)
        load_row(worker, lane, y, rows[lane]);
}

static void emit_pixels(void *user, int64_t y, void *const *rows)
{
    store_pixels(((const l2k_cpu_worker *)user)->pass, y, rows);
}

static void emit_low(void *user, int64_t y, void *const *rows)
{
    const l2k_cpu_pass *pass = ((const l2k_cpu_worker *)user)->pass;
    size_t n = pass->shape.width;
    for (unsigned lane = 0; lane < pass->lanes; lane++)
        memcpy(l2k_cpu_low_row(pass, lane, pass->level - 1, pass->shape.width, y), rows[lane], n * sizeof(uint32_t));
}

static void synthesise(l2k_cpu_worker *worker, int64_t begin, int64_t end)
{
    const l2k_cpu_pass *pass = worker->pass;
    l2k_slide slide = l2k_cpu_slide(worker, l2k_lifting_inverse(pass->wavelet));
    slide.load = load_rows;
    slide.emit = pass->level == pass->discard + 1 ? emit_pixels : emit_low;
    l2k_slide_run(&slide, begin, end);
}

/* No decomposition left: the LL straight to pixels. */
static void copy(l2k_cpu_worker *worker, int64_t begin, int64_t end)
{
    const l2k_cpu_pass *pass = worker->pass;
    l2k_slide slide = l2k_cpu_slide(worker, NULL);
    void *rows[L2K_MAX_LANES];
    for (unsigned lane = 0; lane < L2K_MAX_LANES; lane++)
        rows[lane] = (uint32_t *)slide.ring + (lane < pass->lanes ? lane : 0) * slide.stride;
    for (int64_t y = begin; y < end && l2k_cpu_goes_on(worker, pass->shape.width); y++) {
        for (unsigned lane = 0; lane < pass->lanes; lane++)
            load_band(pass, lane, 0, y, rows[lane], pass->shape.width);
        store_pixels(pass, y, rows);
    }
}

/* All levels but the last of each lane on its own, since they share a buffer; the last one of all lanes together. */
static void inverse_lanes(l2k_plan *plan, const l2k_plane *planes, uint32_t first, unsigned lanes)
{
    unsigned levels = plan->components[first].levels, discard = plan->components[first].discard;
    l2k_cpu_pass pass;
    for (unsigned lane = 0; lane < lanes; lane++)
        for (unsigned level = levels; level > discard + 1; level--) {
            pass = l2k_cpu_pass_make(plan, planes, first + lane, 1, level);
            l2k_cpu_run(&pass, synthesise);
        }
    pass = l2k_cpu_pass_make(plan, planes, first, lanes, levels > discard ? discard + 1 : discard);
    l2k_cpu_run(&pass, levels > discard ? synthesise : copy);
}

l2k_status l2k_cpu_inverse(l2k_plan *plan, const l2k_plane *planes)
{
    for (uint32_t c = 0; c < plan->spec.num_components;) {
        unsigned lanes = l2k_cpu_lanes(&plan->spec, c);
        inverse_lanes(plan, planes, c, lanes);
        c += lanes;
        L2K_TRY(l2k_check_run(plan->context));
    }
    return L2K_OK;
}
