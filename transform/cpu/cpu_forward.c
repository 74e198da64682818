#include "transform/cpu/cpu.h"

#include <string.h>

#include "base/run.h"
#include "dwt/lifting.h"
#include "quant/quantiser.h"

/* Pixels to the rows of the pass's lanes, level-shifted and component-transformed. */
static void load_pixels(void *user, int64_t y, void *const *rows)
{
    const l2k_cpu_pass *pass = ((const l2k_cpu_worker *)user)->pass;
    bool reversible = pass->wavelet == L2K_WAVELET_5_3;
    size_t n = pass->shape.width;
    l2k_pixel_row pixels[L2K_MAX_LANES];
    for (unsigned lane = 0; lane < pass->lanes; lane++)
        pixels[lane] = l2k_cpu_pixel_row(pass, lane, y);
    if (pass->lanes == 1 && reversible)
        l2k_pixels_load_i32(pixels, n, rows[0]);
    else if (pass->lanes == 1)
        l2k_pixels_load_f32(pixels, n, rows[0]);
    else if (reversible)
        l2k_pixels_load_rct(pixels, n, (int32_t *const[3]){rows[0], rows[1], rows[2]});
    else
        l2k_pixels_load_ict(pixels, n, (float *const[3]){rows[0], rows[1], rows[2]});
}

/* Rows of the LL that the level before left. */
static void load_low(void *user, int64_t y, void *const *rows)
{
    const l2k_cpu_pass *pass = ((const l2k_cpu_worker *)user)->pass;
    size_t n = pass->shape.width;
    for (unsigned lane = 0; lane < pass->lanes; lane++)
        memcpy(rows[lane], l2k_cpu_low_row(pass, lane, pass->level - 1, pass->shape.width, y), n * sizeof(uint32_t));
}

static void store_band(const l2k_cpu_pass *pass, unsigned lane, unsigned band, int64_t y, const void *row, size_t n)
{
    const l2k_plan *plan = pass->plan;
    bool narrow = plan->spec.type == L2K_COEFFICIENT_INT16;
    void *target = l2k_cpu_band_row(pass, lane, band, y);
    float step = plan->components[pass->first + lane].steps[band];
    if (n == 0 || row == target)
        return;
    if (plan->spec.type == L2K_COEFFICIENT_FLOAT32)
        memcpy(target, row, n * sizeof(float));
    else if (pass->wavelet == L2K_WAVELET_9_7 && narrow)
        l2k_quantise_row_i16(row, n, step, target);
    else if (pass->wavelet == L2K_WAVELET_9_7)
        l2k_quantise_row_i32(row, n, step, target);
    else if (narrow)
        l2k_narrow_row(row, n, target);
    else
        memcpy(target, row, n * sizeof(int32_t));
}

/* Horizontal analysis of a vertically finished row; the halves go to their bands. */
static void emit_row(const l2k_cpu_worker *worker, unsigned lane, int64_t y, void *row)
{
    const l2k_cpu_pass *pass = worker->pass;
    const l2k_level *shape = &pass->shape;
    bool high_row = ((unsigned)y + shape->parity_y) & 1, last = pass->level == pass->levels;
    bool in_place = pass->wavelet == L2K_WAVELET_5_3 && pass->plan->spec.type == L2K_COEFFICIENT_INT32;
    unsigned low_band = l2k_band_number(pass->levels - pass->level + 1, high_row ? L2K_LH : L2K_LL);
    unsigned high_band = l2k_band_number(pass->levels - pass->level + 1, high_row ? L2K_HH : L2K_HL);
    void *low = worker->half[0], *high = worker->half[1];
    bool to_next = !high_row && !last;
    if (to_next)
        low = l2k_cpu_low_row(pass, lane, pass->level, shape->low_width, y / 2);
    else if (in_place)
        low = l2k_cpu_band_row(pass, lane, low_band, y / 2);
    if (in_place)
        high = l2k_cpu_band_row(pass, lane, high_band, y / 2);
    if (pass->wavelet == L2K_WAVELET_5_3) {
        l2k_row_forward_5_3(row, shape->width, shape->parity_x, low, high);
    } else {
        float scale = shape->height == 1 ? 1.0f : high_row ? L2K_9_7_FORWARD_HIGH : L2K_9_7_FORWARD_LOW;
        l2k_row_forward_9_7(row, shape->width, shape->parity_x, scale, low, high);
    }
    if (!to_next)
        store_band(pass, lane, low_band, y / 2, low, shape->low_width);
    store_band(pass, lane, high_band, y / 2, high, shape->width - shape->low_width);
}

static void emit_rows(void *user, int64_t y, void *const *rows)
{
    l2k_cpu_worker *worker = user;
    unsigned lanes = worker->pass->lanes;
    for (unsigned lane = 0; lane < lanes && l2k_cpu_goes_on(worker, worker->pass->shape.width); lane++)
        emit_row(worker, lane, y, rows[lane]);
}

static void analyse(l2k_cpu_worker *worker, int64_t begin, int64_t end)
{
    const l2k_cpu_pass *pass = worker->pass;
    l2k_slide slide = l2k_cpu_slide(worker, l2k_lifting_forward(pass->wavelet));
    slide.load = pass->level == 1 ? load_pixels : load_low;
    slide.emit = emit_rows;
    l2k_slide_run(&slide, begin, end);
}

/* No decomposition: pixels straight to the view. */
static void copy(l2k_cpu_worker *worker, int64_t begin, int64_t end)
{
    const l2k_cpu_pass *pass = worker->pass;
    l2k_slide slide = l2k_cpu_slide(worker, NULL);
    void *rows[L2K_MAX_LANES];
    for (unsigned lane = 0; lane < L2K_MAX_LANES; lane++)
        rows[lane] = (uint32_t *)slide.ring + (lane < pass->lanes ? lane : 0) * slide.stride;
    for (int64_t y = begin; y < end && l2k_cpu_goes_on(worker, pass->shape.width); y++) {
        load_pixels(worker, y, rows);
        for (unsigned lane = 0; lane < pass->lanes; lane++)
            store_band(pass, lane, 0, y, rows[lane], pass->shape.width);
    }
}

/* Level 1 of the lanes together, then the deeper levels of each lane on its own, which share a buffer. */
static void forward_lanes(l2k_plan *plan, const l2k_plane *planes, uint32_t first, unsigned lanes)
{
    unsigned levels = plan->components[first].levels;
    l2k_cpu_pass pass = l2k_cpu_pass_make(plan, planes, first, lanes, levels > 0);
    l2k_cpu_run(&pass, levels > 0 ? analyse : copy);
    for (unsigned lane = 0; lane < lanes; lane++)
        for (unsigned level = 2; level <= levels; level++) {
            pass = l2k_cpu_pass_make(plan, planes, first + lane, 1, level);
            l2k_cpu_run(&pass, analyse);
        }
}

l2k_status l2k_cpu_forward(l2k_plan *plan, const l2k_plane *planes)
{
    for (uint32_t c = 0; c < plan->spec.num_components;) {
        unsigned lanes = l2k_cpu_lanes(&plan->spec, c);
        forward_lanes(plan, planes, c, lanes);
        c += lanes;
        L2K_TRY(l2k_check_run(plan->context));
    }
    return L2K_OK;
}
