/* The rows of a level pass: one decomposition level of two-dimensional analysis (F.4) or synthesis (F.3), with the
 * pixel work of Annex G at the one end and the quantiser of Annex E at the other. */
#include "transform/cpu/cpu.h"

#include <string.h>

#include "base/run.h"

/* ---- Where rows are ------------------------------------------------------------------------------------------ */

/* Row y of the caller's planes of all joined components. */
static void locate_pixels(const l2k_plan *plan, const l2k_level_pass *s, int64_t y,
                          l2k_pixel_row pixels[L2K_MAX_JOINED])
{
    for (unsigned j = 0; j < s->num_joined; j++) {
        const l2k_plane *plane = &plan->planes[s->first + j];
        const l2k_plan_component *component = &plan->components[s->first + j];
        const int64_t first = ((const l2k_cpu_state *)plan->state)->components[s->first + j].first_row;
        pixels[j] =
            (l2k_pixel_row){(char *)plane->data + (ptrdiff_t)(y - first) * plane->row_stride, plane->sample_stride,
                            plane->type, l2k_level_shift_make(component->precision, component->is_signed)};
    }
}

/* A horizontally analysed row has two halves, each in a subband of the view, or in the LL buffer for another level. */
typedef struct half {
    void *at;
    size_t n;
    l2k_coefficient_type type;
    float step;
} half;

static l2k_coefficient_type type_of_values(const l2k_level_pass *s)
{
    return s->wavelet->is_float ? L2K_COEFFICIENT_FLOAT32 : L2K_COEFFICIENT_INT32;
}

/* Row y of a level's part of the subband of that orientation. */
static half band_row(const l2k_plan *plan, const l2k_level_pass *s, unsigned j, unsigned orientation, int64_t y)
{
    const l2k_coefficients *view = &plan->views[s->first + j];
    const l2k_band_rows *b = &s->bands[orientation];
    const size_t bytes = l2k_coefficient_bytes(view->type), row = b->y0 + (size_t)y;
    const size_t first = (b->y + row - b->first) * view->stride + b->x;
    return (half){(char *)view->base + first * bytes, b->width, view->type,
                  plan->components[s->first + j].steps[l2k_cpu_band(s, orientation)]};
}

/* Row y of a level's LL, inside the samples of the component's next level. */
static half next_row(const l2k_plan *plan, const l2k_level_pass *s, unsigned j, int64_t y)
{
    const l2k_cpu_component *components = ((const l2k_cpu_state *)plan->state)->components;
    const l2k_level_pass *next = &components[s->first + j].passes[s->level - s->discard];
    return (half){l2k_cpu_sample_row(next, 0, next->shape.passed.y0 + y) + next->shape.passed.x0, s->shape.low_width,
                  type_of_values(s), 1};
}

/* The low ([0]) and high ([1]) half of row y of a level. */
static void locate_halves(const l2k_plan *plan, const l2k_level_pass *s, unsigned j, int64_t y, half halves[2])
{
    const unsigned high_row = s->shape.unsplit_y ? 0 : ((unsigned)y + s->shape.parity_y) & 1;
    const int64_t row = s->shape.unsplit_y ? y : y / 2;
    if (!high_row && s->level < s->levels)
        halves[0] = next_row(plan, s, j, row);
    else
        halves[0] = band_row(plan, s, j, high_row ? L2K_LH : L2K_LL, row);
    halves[1] = band_row(plan, s, j, high_row ? L2K_HH : L2K_HL, row);
}

/* Vertical scaling of row y, which horizontal lifting does as well. A column of one sample is not scaled. */
static float row_scale(const l2k_level_pass *s, const float scales[2], int64_t y)
{
    return s->shape.height == 1 || s->shape.unsplit_y ? 1.0f : scales[((unsigned)y + s->shape.parity_y) & 1];
}

/* Scales a row of a level that does not split horizontally. */
static void scale_row(const l2k_level_pass *s, float scale, void *row)
{
    if (s->wavelet->is_float && scale != 1.0f)
        s->lifting.rows->scale(row, s->shape.width, scale);
}

static l2k_ring start_ring(const l2k_plan *plan, const l2k_level_pass *s, uint32_t *scratch, int64_t begin, int64_t end)
{
    const size_t stride = ((const l2k_cpu_state *)plan->state)->sizes.row_stride;
    l2k_ring ring = {.lifting = s->shape.unsplit_y ? NULL : &s->lifting,
                     .inverse = plan->spec.direction == L2K_INVERSE,
                     .width = s->shape.width,
                     .height = s->shape.height,
                     .parity = s->shape.parity_y,
                     .num_joined = s->num_joined,
                     .rows = scratch + 2 * stride,
                     .stride = stride};
    ring.period = l2k_ring_period(&ring);
    l2k_ring_start(&ring, begin, end);
    return ring;
}

/* Row y of all joined components, from sample x on. */
static void ring_rows(const l2k_ring *ring, int64_t y, size_t x, void *rows[L2K_MAX_JOINED])
{
    for (unsigned j = 0; j < ring->num_joined; j++)
        rows[j] = (uint32_t *)l2k_ring_row(ring, j, y) + x;
}

static uint64_t samples_of_rows(const l2k_level_pass *s, unsigned rows)
{
    return (uint64_t)s->shape.width * s->num_joined * rows;
}

/* ---- Forward ------------------------------------------------------------------------------------------------- */

static void quantise_half(const l2k_plan *plan, const l2k_level_pass *s, const void *values, const half *to)
{
    const l2k_quantiser_rows *rows = ((const l2k_cpu_state *)plan->state)->quantiser;
    if (plan->spec.truncates && s->wavelet->is_float)
        rows->truncate[to->type](values, to->n, 1 / to->step, to->at);
    else
        rows->store[s->wavelet->is_float][to->type](values, to->n, to->step, to->at);
}

/* Row y of a level's samples: from the planes, or kept. */
static void load_samples(const l2k_plan *plan, const l2k_level_pass *s, int64_t y, void *rows[L2K_MAX_JOINED])
{
    const l2k_cpu_state *state = plan->state;
    if (s->level <= 1 && y >= state->components[s->first].first_row) {
        l2k_pixel_row pixels[L2K_MAX_JOINED];
        locate_pixels(plan, s, y, pixels);
        l2k_pixels_load(state->pixel, s->wavelet->is_float, s->num_joined, pixels, s->shape.width, rows);
        return;
    }
    for (unsigned j = 0; j < s->num_joined; j++)
        memcpy(rows[j], l2k_cpu_sample_row(s, j, y), s->shape.width * sizeof(uint32_t));
}

/* Horizontal analysis of a vertically finished row, and quantisation. Halves that need no quantiser go straight to
 * their place. */
static void analyse_row(const l2k_plan *plan, const l2k_level_pass *s, unsigned j, int64_t y, const void *row,
                        uint32_t *scratch)
{
    const l2k_cpu_state *state = plan->state;
    half halves[2];
    void *at[2];
    locate_halves(plan, s, j, y, halves);
    for (int i = 0; i < 2; i++)
        at[i] = halves[i].type == type_of_values(s) ? halves[i].at : scratch + i * state->sizes.row_stride;
    const float scale = row_scale(s, s->wavelet->forward_scale, y);
    if (s->shape.unsplit_x)
        scale_row(s, scale, memcpy(at[0], row, s->shape.width * sizeof(uint32_t)));
    else
        l2k_kernel_analyse(&s->lifting, row, s->shape.width, s->shape.parity_x, scale, at[0], at[1]);
    for (int i = 0; i < 2; i++)
        if (at[i] != halves[i].at)
            quantise_half(plan, s, at[i], &halves[i]);
}

l2k_status l2k_cpu_analyse(const l2k_plan *plan, const l2k_level_pass *s, uint32_t *scratch, int64_t begin, int64_t end)
{
    void *rows[L2K_MAX_JOINED];
    l2k_ring ring = start_ring(plan, s, scratch, begin, end);
    while (l2k_ring_next(&ring)) {
        for (int64_t y = ring.load.first; y < ring.load.end; y++) {
            ring_rows(&ring, y, 0, rows);
            load_samples(plan, s, y, rows);
        }
        l2k_ring_lift(&ring);
        for (int64_t y = ring.finished.first; y < ring.finished.end; y++)
            for (unsigned j = 0; j < s->num_joined; j++)
                analyse_row(plan, s, j, y, l2k_ring_row(&ring, j, y), scratch);
        L2K_TRY(l2k_poll(plan->context, samples_of_rows(s, 2)));
    }
    return L2K_OK;
}

void l2k_cpu_keep_rows(const l2k_plan *plan, const l2k_level_pass *first, int64_t begin, int64_t end)
{
    for (int64_t y = begin; y < end; y++) {
        void *rows[L2K_MAX_JOINED];
        for (unsigned j = 0; j < first->num_joined; j++)
            rows[j] = l2k_cpu_sample_row(first, j, y);
        load_samples(plan, first, y, rows);
    }
}

/* ---- Inverse ------------------------------------------------------------------------------------------------- */

/* Dequantises the halves of a row and synthesises it. */
static void synthesise_row(const l2k_plan *plan, const l2k_level_pass *s, unsigned j, int64_t y, void *row,
                           uint32_t *scratch)
{
    const l2k_cpu_state *state = plan->state;
    void *const at[2] = {s->shape.unsplit_x ? row : scratch, scratch + state->sizes.row_stride};
    half halves[2];
    locate_halves(plan, s, j, y, halves);
    for (int i = 0; i < 2; i++)
        state->quantiser->load[s->wavelet->is_float][halves[i].type](halves[i].at, halves[i].n, 0.5f * halves[i].step,
                                                                     at[i]);
    const float scale = row_scale(s, s->wavelet->inverse_scale, y);
    if (s->shape.unsplit_x)
        scale_row(s, scale, row);
    else
        l2k_kernel_synthesise(&s->lifting, at[0], at[1], s->shape.width, s->shape.parity_x, scale, row);
}

l2k_status l2k_cpu_synthesise(const l2k_plan *plan, const l2k_level_pass *s, uint32_t *scratch, int64_t begin,
                              int64_t end)
{
    const l2k_cpu_state *state = plan->state;
    const size_t width = s->shape.width;
    void *rows[L2K_MAX_JOINED];
    l2k_pixel_row pixels[L2K_MAX_JOINED];
    l2k_ring ring = start_ring(plan, s, scratch, begin, end);
    while (l2k_ring_next(&ring)) {
        for (int64_t y = ring.load.first; y < ring.load.end; y++)
            for (unsigned j = 0; j < s->num_joined; j++)
                synthesise_row(plan, s, j, y, l2k_ring_row(&ring, j, y), scratch);
        l2k_ring_lift(&ring);
        for (int64_t y = ring.finished.first; y < ring.finished.end; y++) {
            if (s->level <= s->discard + 1) {
                ring_rows(&ring, y, s->shape.passed.x0, rows);
                locate_pixels(plan, s, y, pixels);
                l2k_pixels_store(state->pixel, s->wavelet->is_float, s->num_joined, pixels,
                                 l2k_rect_width(s->shape.passed), rows);
            } else {
                memcpy(l2k_cpu_sample_row(s, 0, y), l2k_ring_row(&ring, 0, y), width * sizeof(uint32_t));
            }
        }
        L2K_TRY(l2k_poll(plan->context, samples_of_rows(s, 2)));
    }
    return L2K_OK;
}
