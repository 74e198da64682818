/* A plan with a window against the same part of what the whole plan gives: random tile-components, windows, cells and
 * samples. What the window's views hold beyond the needed coefficients is garbage, NaN for floats. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/sample.h"
#include "dwt/wavelet.h"
#include "transform/window.h"

#define MOST_COMPONENTS 4
#define POISON          0xa5

static uint32_t state = 11;

static uint32_t below(uint32_t n)
{
    state = state * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)(state ^ state >> 15) * n) >> 32);
}

static uint32_t between(uint32_t first, uint32_t last)
{
    return first + below(last - first + 1);
}

/* ---- A case -------------------------------------------------------------------------------------------------- */

typedef struct test_case {
    l2k_plan_spec whole, part;
    l2k_plan_component components[2][MOST_COMPONENTS]; /* of the whole, of the part */
    l2k_sample_type samples[MOST_COMPONENTS];
} test_case;

/* Windows at all borders, of one sample, empty, and of everything. */
static void choose_side(uint32_t first, uint32_t end, uint32_t *low, uint32_t *high)
{
    *low = *high = first;
    if (first == end)
        return;
    *low = below(4) ? between(first, end - 1) : first;
    *high = below(4) ? between(*low + 1, end) : end;
    if (below(6) == 0)
        *high = *low + 1;
    if (below(60) == 0)
        *high = *low;
}

static void choose_window(l2k_plan_component *c)
{
    const l2k_rect r = l2k_unsplit_resolution(c->rect, c->unsplit, c->discard);
    choose_side(r.x0, r.x1, &c->window.x0, &c->window.x1);
    choose_side(r.y0, r.y1, &c->window.y0, &c->window.y1);
    c->cell_log2_width = (uint8_t)(below(2) ? below(8) : 0);
    c->cell_log2_height = (uint8_t)(below(2) ? below(8) : 0);
}

static l2k_wavelet_descriptor own_wavelets[L2K_WAVELET_W4 + 1]; /* kernels */

static void make_own_wavelets(void)
{
    for (int w = L2K_WAVELET_HAAR; w <= L2K_WAVELET_W4; w++)
        l2k_wavelet_of_kernel(&l2k_wavelet_get((l2k_wavelet)w)->kernel, &own_wavelets[w]);
}

static l2k_plan_component random_component(uint32_t largest, bool is_float)
{
    static const unsigned most[] = {8, 16, 31};
    l2k_plan_component c = {0};
    const uint32_t far = below(8) == 0 ? 0xffffff00u - largest : 0;
    c.rect.x0 = far + below(100);
    c.rect.y0 = far + below(100);
    c.rect.x1 = c.rect.x0 + (below(40) ? 1 + below(largest) : below(2));
    c.rect.y1 = c.rect.y0 + (below(40) ? 1 + below(largest) : below(2));
    c.levels = below(12) ? below(8) : below(33);
    c.discard = below(3) ? 0 : below(c.levels + 1);
    if (below(3) == 0) /* of some levels one direction */
        c.unsplit = (l2k_unsplit){below(0xffffffffu) & below(0xffffffffu), below(0xffffffffu) & below(0xffffffffu)};
    c.unsplit.down &= ~c.unsplit.across;
    c.wavelet = is_float || below(2) ? L2K_WAVELET_9_7 : L2K_WAVELET_5_3;
    if (below(3) == 0) {
        const uint32_t which =
            is_float ? L2K_WAVELET_W4 : L2K_WAVELET_HAAR + below(L2K_WAVELET_W4 - L2K_WAVELET_HAAR + 1);
        c.wavelet = (l2k_wavelet)which;
        c.own = &own_wavelets[c.wavelet];
    }
    c.precision = 1 + below(most[below(3)]);
    c.is_signed = below(2);
    for (unsigned b = 0; b < L2K_MAX_SUBBANDS; b++)
        c.steps[b] = 0.02f + (float)below(1000) / 300.0f;
    return c;
}

static l2k_sample_type type_for(const l2k_plan_component *c, bool joined)
{
    if (l2k_plan_wavelet(c)->is_float && !joined && below(4) == 0)
        return L2K_SAMPLE_F32;
    if (c->precision > 16)
        return L2K_SAMPLE_S32;
    if (c->precision > 8)
        return c->is_signed ? L2K_SAMPLE_S16 : L2K_SAMPLE_U16;
    return c->is_signed ? L2K_SAMPLE_S8 : L2K_SAMPLE_U8;
}

static void make_case(test_case *t, uint32_t largest)
{
    static const uint32_t counts[] = {1, 1, 3, 4};
    *t = (test_case){0};
    t->whole.direction = L2K_INVERSE;
    t->whole.type = (l2k_coefficient_type)below(3);
    t->whole.num_components = counts[below(4)];
    t->whole.component_transform = t->whole.num_components >= 3 && below(2);
    for (uint32_t c = 0; c < t->whole.num_components; c++) {
        l2k_plan_component *whole = &t->components[0][c], *part = &t->components[1][c];
        const bool joined = c < 3 && t->whole.component_transform;
        *whole = *part = random_component(largest, t->whole.type == L2K_COEFFICIENT_FLOAT32);
        choose_window(part);
        if (c > 0 && joined) {
            *whole = t->components[0][0];
            *part = t->components[1][0];
        }
        t->samples[c] = type_for(whole, joined);
    }
    t->part = t->whole;
    t->whole.components = t->components[0];
    t->part.components = t->components[1];
}

/* ---- Planes and views ---------------------------------------------------------------------------------------- */

typedef struct canvas {
    uint8_t *memory;
    size_t bytes;
    l2k_plane plane;
} canvas;

static canvas make_canvas(l2k_sample_type type, l2k_rect r, bool gaps)
{
    const size_t size = l2k_sample_bytes(type), before = gaps ? 8 * below(5) : 0;
    canvas made = {.plane.type = type};
    made.plane.sample_stride = (ptrdiff_t)(size * (gaps ? 1 + below(3) : 1));
    made.plane.row_stride = (ptrdiff_t)(made.plane.sample_stride * l2k_rect_width(r) + (gaps ? size * below(9) : 0));
    made.bytes = before + (size_t)made.plane.row_stride * l2k_rect_height(r) + 32;
    made.memory = malloc(made.bytes);
    memset(made.memory, POISON, made.bytes);
    made.plane.data = made.memory + before;
    return made;
}

static uint8_t *sample_at(const canvas *c, uint32_t x, uint32_t y)
{
    return (uint8_t *)c->plane.data + (ptrdiff_t)y * c->plane.row_stride + (ptrdiff_t)x * c->plane.sample_stride;
}

/* Coefficients as a decoder has them, sometimes of the whole range. */
static void fill_whole(const l2k_coefficients *view)
{
    const unsigned bits = below(5) == 0 ? 32 : 3 + below(12);
    for (size_t i = 0; i < view->stride * view->height; i++) {
        const int32_t value = (int32_t)(below(0xffffffffu) << (32 - bits)) >> (32 - bits);
        if (view->type == L2K_COEFFICIENT_INT16)
            ((int16_t *)view->base)[i] = (int16_t)value;
        else if (view->type == L2K_COEFFICIENT_INT32)
            ((int32_t *)view->base)[i] = value;
        else
            ((float *)view->base)[i] = (float)value / 8;
    }
}

static char *coefficient_at(const l2k_coefficients *view, unsigned band, uint32_t x, uint32_t y)
{
    const size_t at = (view->bands[band].y + y) * view->stride + view->bands[band].x + x;
    return (char *)view->base + at * l2k_coefficient_bytes(view->type);
}

static bool contains(l2k_rect outer, l2k_rect inner)
{
    return l2k_rect_empty(inner) ||
           (inner.x0 >= outer.x0 && inner.y0 >= outer.y0 && inner.x1 <= outer.x1 && inner.y1 <= outer.y1);
}

/* Copies what is needed of a subband, a row at a time, and checks the rectangles. */
static void fill_band(const l2k_plan_component *c, unsigned band, const l2k_coefficients *from,
                      const l2k_coefficients *to)
{
    const l2k_rect needed = l2k_needed_part(c, band), held = l2k_held_part(c, band);
    assert_true(contains(l2k_read_part(c, band), needed) && contains(held, l2k_read_part(c, band)));
    const l2k_rect all = l2k_unsplit_subband(c->rect, c->unsplit, l2k_band_level(c->levels, l2k_band_resolution(band)),
                                             l2k_band_orientation(band));
    assert_true(contains(held, needed) && contains(all, held));
    assert_int_equal(to->bands[band].width, l2k_rect_width(held));
    assert_int_equal(to->bands[band].height, l2k_rect_height(held));
    assert_true(to->bands[band].x + to->bands[band].width <= to->width &&
                to->bands[band].y + to->bands[band].height <= to->height && to->width <= to->stride);
    if (l2k_rect_empty(needed))
        return;
    for (uint32_t y = needed.y0; y < needed.y1; y++)
        memcpy(coefficient_at(to, band, needed.x0 - held.x0, y - held.y0),
               coefficient_at(from, band, needed.x0 - all.x0, y - all.y0),
               l2k_rect_width(needed) * l2k_coefficient_bytes(to->type));
}

static void fill_views(const test_case *t, const l2k_plan *whole, const l2k_plan *part)
{
    for (uint32_t c = 0; c < t->whole.num_components; c++) {
        const l2k_coefficients *from = l2k_plan_coefficients(whole, c), *to = l2k_plan_coefficients(part, c);
        fill_whole(from);
        memset(to->base, 0xff, to->stride * to->height * l2k_coefficient_bytes(to->type));
        assert_int_equal(to->num_bands, from->num_bands);
        for (unsigned band = 0; band < to->num_bands; band++)
            fill_band(&t->part.components[c], band, from, to);
    }
}

/* No two subbands share a coefficient. */
static void check_apart(const l2k_coefficients *view)
{
    for (unsigned a = 0; a < view->num_bands; a++)
        for (unsigned b = 0; b < a; b++) {
            const l2k_band_view *p = &view->bands[a], *q = &view->bands[b];
            const l2k_rect r = {p->x, p->y, p->x + p->width, p->y + p->height},
                           s = {q->x, q->y, q->x + q->width, q->y + q->height};
            assert_true(l2k_rect_empty(r) || l2k_rect_empty(s) || l2k_rect_empty(l2k_rect_intersect(r, s)));
        }
}

/* ---- Comparing ----------------------------------------------------------------------------------------------- */

static void ignore(void *user, l2k_severity severity, const char *text)
{
    (void)user, (void)severity, (void)text;
}

/* With any available instruction set. */
static l2k_context context_of(unsigned threads)
{
    l2k_cpu cpu = (l2k_cpu)below(L2K_CPU_SIMD128 + 1);
    return (l2k_context){
        .hooks = {.message = ignore}, .threads = threads, .cpu = l2k_cpu_usable(cpu) ? cpu : L2K_CPU_AUTO};
}

/* Copies the window of the whole over a poisoned canvas: the memory of the part must then be the same. */
static void compare(const l2k_plan_component *c, const canvas *whole, const canvas *part)
{
    const l2k_rect r = l2k_unsplit_resolution(c->rect, c->unsplit, c->discard), w = l2k_output_rect(c);
    canvas expected = *part;
    expected.memory = malloc(part->bytes);
    memset(expected.memory, POISON, part->bytes);
    expected.plane.data = expected.memory + ((uint8_t *)part->plane.data - part->memory);
    for (uint32_t y = w.y0; y < w.y1; y++)
        for (uint32_t x = w.x0; x < w.x1; x++)
            memcpy(sample_at(&expected, x - w.x0, y - w.y0), sample_at(whole, x - r.x0, y - r.y0),
                   l2k_sample_bytes(part->plane.type));
    assert_memory_equal(part->memory, expected.memory, part->bytes);
    free(expected.memory);
}

static void run_case(test_case *t, unsigned threads)
{
    l2k_context contexts[2] = {context_of(1 + below(5)), context_of(threads)};
    l2k_plan *plans[2];
    canvas canvases[2][MOST_COMPONENTS];
    l2k_plane planes[2][MOST_COMPONENTS];
    assert_int_equal(l2k_plan_create(&contexts[0], L2K_BACKEND_CPU, &t->whole, &plans[0]), L2K_OK);
    assert_int_equal(l2k_plan_create(&contexts[1], L2K_BACKEND_CPU, &t->part, &plans[1]), L2K_OK);
    fill_views(t, plans[0], plans[1]);
    for (uint32_t c = 0; c < t->whole.num_components; c++) {
        const l2k_plan_component *k = &t->part.components[c];
        check_apart(l2k_plan_coefficients(plans[1], c));
        canvases[0][c] = make_canvas(t->samples[c], l2k_unsplit_resolution(k->rect, k->unsplit, k->discard), false);
        canvases[1][c] = make_canvas(t->samples[c], l2k_output_rect(k), true);
        planes[0][c] = canvases[0][c].plane;
        planes[1][c] = canvases[1][c].plane;
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(l2k_plan_run(plans[i], planes[i]), L2K_OK);
    for (uint32_t c = 0; c < t->whole.num_components; c++)
        compare(&t->part.components[c], &canvases[0][c], &canvases[1][c]);
    for (int i = 0; i < 2; i++) {
        for (uint32_t c = 0; c < t->whole.num_components; c++)
            free(canvases[i][c].memory);
        l2k_plan_free(plans[i]);
    }
}

static int cases = 2000;

static void test_windows(void **unused)
{
    (void)unused;
    for (int i = 0; i < cases; i++) {
        test_case t;
        make_case(&t, i % 5 == 0 ? 8 : 120);
        run_case(&t, 1 + below(5));
    }
}

/* Several stripes. */
static void test_large(void **unused)
{
    (void)unused;
    for (int i = 0; i < cases / 40; i++) {
        test_case t;
        make_case(&t, 900);
        run_case(&t, 1 + below(5));
    }
}

/* ---- Properties ---------------------------------------------------------------------------------------------- */

static l2k_plan_component square(uint32_t side, l2k_wavelet wavelet, l2k_rect window)
{
    l2k_plan_component c = {
        .rect = {0, 0, side, side}, .levels = 5, .wavelet = wavelet, .precision = 8, .window = window};
    for (unsigned b = 0; b < L2K_MAX_SUBBANDS; b++)
        c.steps[b] = 1;
    return c;
}

/* A level needs what its filters reach, no more: nothing grows with the depth. */
static void test_needed(void **unused)
{
    (void)unused;
    for (int wavelet = 0; wavelet < 2; wavelet++) {
        const l2k_plan_component c = square(1 << 20, (l2k_wavelet)wavelet, (l2k_rect){5001, 7003, 5513, 7515});
        const unsigned steps = l2k_wavelet_get((l2k_wavelet)wavelet)->kernel.num_steps;
        for (unsigned band = 0; band < 16; band++) {
            const unsigned level = l2k_band_level(5, l2k_band_resolution(band));
            const l2k_rect r = l2k_needed_part(&c, band);
            assert_in_range(l2k_rect_width(r), 512 >> level, (512 >> level) + 2 * steps + 1);
            assert_in_range(l2k_rect_height(r), 512 >> level, (512 >> level) + 2 * steps + 1);
        }
    }
}

/* Memory follows the window's size, whatever the tile's. */
static void test_memory(void **unused)
{
    (void)unused;
    uint64_t before = 0;
    for (unsigned log2 = 12; log2 <= 24; log2++) {
        l2k_plan_component c = square((uint32_t)1 << log2, L2K_WAVELET_9_7, (l2k_rect){101, 301, 613, 813});
        const l2k_plan_spec spec = {
            .direction = L2K_INVERSE, .type = L2K_COEFFICIENT_INT32, .num_components = 1, .components = &c};
        c.cell_log2_width = c.cell_log2_height = 6;
        const uint64_t bytes = l2k_plan_host_bytes(&spec, 1);
        assert_true(bytes < 4u * 512 * 512 * sizeof(int32_t));
        assert_true(log2 == 12 || bytes == before);
        before = bytes;
    }
}

static void test_fits(void **unused)
{
    (void)unused;
    l2k_context context = context_of(1);
    l2k_plan_component c = square(2048, L2K_WAVELET_5_3, (l2k_rect){320, 640, 576, 896});
    l2k_plan_spec spec = {
        .direction = L2K_INVERSE, .type = L2K_COEFFICIENT_INT32, .num_components = 1, .components = &c};
    l2k_plan *plan;
    assert_int_equal(l2k_plan_create(&context, L2K_BACKEND_CPU, &spec, &plan), L2K_OK);
    assert_true(l2k_plan_fits(plan, &spec));
    c.window = (l2k_rect){320 + 1024, 640 + 256, 576 + 1024, 896 + 256}; /* by multiples of 8 * 2^5 */
    assert_true(l2k_plan_fits(plan, &spec));
    c.window.x0 += 2;
    c.window.x1 += 2;
    assert_false(l2k_plan_fits(plan, &spec));
    c.window = (l2k_rect){0, 640, 256, 896}; /* at a border */
    assert_false(l2k_plan_fits(plan, &spec));
    c.window = (l2k_rect){0};
    assert_false(l2k_plan_fits(plan, &spec));
    c.window = (l2k_rect){320, 640, 576, 896};
    c.cell_log2_height = 6;
    assert_false(l2k_plan_fits(plan, &spec));
    l2k_plan_free(plan);
}

static void test_errors(void **unused)
{
    (void)unused;
    l2k_context context = context_of(1);
    l2k_plan_component c[3];
    l2k_plan_spec spec = {
        .direction = L2K_INVERSE, .type = L2K_COEFFICIENT_INT32, .num_components = 3, .components = c};
    l2k_plan *plan;
    for (int i = 0; i < 3; i++)
        c[i] = square(64, L2K_WAVELET_5_3, (l2k_rect){3, 4, 20, 30});
    spec.component_transform = true;
    assert_int_equal(l2k_plan_create(&context, L2K_BACKEND_CPU, &spec, &plan), L2K_OK);
    l2k_plan_free(plan);
    c[2].window.x1 = 21;
    assert_int_equal(l2k_plan_create(&context, L2K_BACKEND_CPU, &spec, &plan), L2K_ERROR_ARGUMENT);
    spec.component_transform = false;
    c[2].window.x1 = 65;
    assert_int_equal(l2k_plan_create(&context, L2K_BACKEND_CPU, &spec, &plan), L2K_ERROR_ARGUMENT);
    c[2].window.x1 = 64;
    spec.direction = L2K_FORWARD;
    assert_int_equal(l2k_plan_create(&context, L2K_BACKEND_CPU, &spec, &plan), L2K_ERROR_ARGUMENT);
}

/* ---- Allocation ---------------------------------------------------------------------------------------------- */

static int allocations_left;

static void *allocate(void *user, size_t bytes)
{
    (void)user;
    return allocations_left-- > 0 ? malloc(bytes) : NULL;
}

static void release(void *user, void *block)
{
    (void)user;
    free(block);
}

/* Each allocation in turn fails. */
static void test_out_of_memory(void **unused)
{
    (void)unused;
    l2k_context context = {.hooks = {allocate, release, ignore, NULL, NULL}, .threads = 2};
    test_case t;
    make_case(&t, 50);
    l2k_plan *plan = NULL;
    for (int n = 0; !plan; n++) {
        allocations_left = n;
        l2k_status status = l2k_plan_create(&context, L2K_BACKEND_CPU, &t.part, &plan);
        assert_int_equal(status, plan ? L2K_OK : L2K_ERROR_MEMORY);
        assert_true(n < 100);
    }
    l2k_plan_free(plan);
}

/* unit_window [CASES [SEED]] */
int main(int argc, char **argv)
{
    make_own_wavelets();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_windows),       cmocka_unit_test(test_large), cmocka_unit_test(test_needed),
        cmocka_unit_test(test_memory),        cmocka_unit_test(test_fits),  cmocka_unit_test(test_errors),
        cmocka_unit_test(test_out_of_memory),
    };
    if (argc > 1)
        cases = atoi(argv[1]);
    if (argc > 2)
        state = (uint32_t)atoi(argv[2]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
