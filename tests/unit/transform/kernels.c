/* Kernels as data against a plain reference: any length, origin and parity, forward and inverse, named ones and random
 * ones; 5/3 and 9/7 as kernels against their own code; descriptions as text; norms and gains. */
#include <math.h>

#include "base/cpu.h"
#include "dwt/kernel.h"
#include "quant/steps.h"
#include "reference_kernel.h"
#include "support.h"
#include "transform/layout.h"
#include "transform/plan.h"

#define LARGEST 150

static l2k_context context;

/* ---- Wavelets ------------------------------------------------------------------------------------------------ */

static l2k_wavelet_descriptor named(l2k_wavelet wavelet)
{
    l2k_wavelet_descriptor own;
    assert_int_equal(l2k_wavelet_of_kernel(&l2k_wavelet_get(wavelet)->kernel, &own), wavelet);
    return own;
}

static l2k_kernel_step random_step(bool reversible, bool high)
{
    l2k_kernel_step step = {.high = high, .num_taps = (uint8_t)random_between(1, random_below(3) ? 3 : 9)};
    step.offset = (int8_t)((int)random_below(9) - 4 - step.num_taps / 2);
    if (reversible) {
        step.shift = (uint8_t)random_below(9);
        step.rounding = (int16_t)((int)random_below(512) - 256);
    }
    for (unsigned k = 0; k < step.num_taps; k++)
        step.taps[k] = reversible ? (float)((int)random_below(200) - 100) : (float)random_below(2000) / 1000.0f - 1.0f;
    for (unsigned k = 0; k < step.num_taps && random_below(2); k++)
        step.taps[step.num_taps - 1 - k] = step.taps[k];
    return step;
}

static l2k_wavelet_descriptor random_wavelet(void)
{
    l2k_kernel kernel;
    do {
        kernel = (l2k_kernel){.reversible = random_below(2),
                              .mirrors = random_below(2),
                              .num_steps = (uint8_t)random_between(1, 4),
                              .scale = 1};
        if (!kernel.reversible)
            kernel.scale = 0.5f + (float)random_below(100) / 64.0f;
        bool high = random_below(2);
        for (unsigned s = 0; s < kernel.num_steps; s++, high = !high)
            kernel.steps[s] = random_step(kernel.reversible, high);
    } while (l2k_kernel_reach(&kernel) > L2K_KERNEL_REACH);
    assert_null(l2k_kernel_wrong(&kernel));
    l2k_wavelet_descriptor own;
    l2k_wavelet_of_kernel(&kernel, &own);
    return own;
}

/* ---- A transform --------------------------------------------------------------------------------------------- */

typedef struct test_case {
    l2k_plan_component component;
    l2k_plan_spec spec;
    uint32_t width, height;
    ref_value samples[LARGEST * LARGEST], expected[LARGEST * LARGEST];
} test_case;

static test_case t;

static void choose_case(const l2k_wavelet_descriptor *own, l2k_wavelet wavelet, unsigned precision)
{
    const uint32_t most = random_below(8) ? 40 : LARGEST, far = random_below(6) ? 0 : 0xFFFFFE00u;
    l2k_rect r = {far + random_below(70), far + random_below(70), 0, 0};
    r.x1 = r.x0 + random_between(1, most);
    r.y1 = r.y0 + random_between(1, most);
    t.component = (l2k_plan_component){.rect = r,
                                       .levels = random_below(5),
                                       .wavelet = wavelet,
                                       .own = own,
                                       .precision = precision,
                                       .is_signed = true};
    for (unsigned level = 0; level < t.component.levels && random_below(3) == 0; level++)
        *(random_below(2) ? &t.component.unsplit.across : &t.component.unsplit.down) |= random_below(2) << level;
    for (unsigned b = 0; b < L2K_MAX_SUBBANDS; b++)
        t.component.steps[b] = 1;
    t.spec = (l2k_plan_spec){.type = own && own->is_float ? L2K_COEFFICIENT_FLOAT32 : L2K_COEFFICIENT_INT32,
                             .num_components = 1,
                             .components = &t.component};
    t.width = l2k_rect_width(r);
    t.height = l2k_rect_height(r);
    for (uint32_t i = 0; i < t.width * t.height; i++) {
        const int32_t x = (int32_t)random_below((uint64_t)1 << precision) - (int32_t)(1 << (precision - 1));
        t.samples[i].i = random_below(40) ? x : -(1 << (precision - 1));
        if (own && own->is_float)
            t.samples[i].f = (float)t.samples[i].i;
    }
    memcpy(t.expected, t.samples, sizeof t.samples);
    context.threads = 1 + random_below(3);
}

/* All levels of t.expected, as the layout has them (without a window: Mallat). */
static void transform_expected(const l2k_wavelet_descriptor *w, bool undo)
{
    for (unsigned i = 1; i <= t.component.levels; i++) {
        const unsigned level = undo ? t.component.levels + 1 - i : i;
        const l2k_level shape = l2k_level_of(&t.component, level);
        const long width = shape.width, height = shape.height, stride = t.width;
        for (long x = 0; x < width && !undo && !shape.unsplit_y; x++) {
            ref_kernel_line(w, t.expected + x, height, stride, shape.parity_y, false);
            ref_kernel_sort(t.expected + x, height, stride, shape.parity_y, false);
        }
        for (long y = 0; y < height && !shape.unsplit_x; y++) {
            ref_value *row = t.expected + y * stride;
            if (undo)
                ref_kernel_sort(row, width, 1, shape.parity_x, true);
            ref_kernel_line(w, row, width, 1, shape.parity_x, undo);
            if (!undo)
                ref_kernel_sort(row, width, 1, shape.parity_x, false);
        }
        for (long x = 0; x < width && undo && !shape.unsplit_y; x++) {
            ref_kernel_sort(t.expected + x, height, stride, shape.parity_y, true);
            ref_kernel_line(w, t.expected + x, height, stride, shape.parity_y, true);
        }
    }
}

static l2k_plane plane_of(ref_value *samples)
{
    const bool is_float = t.spec.type == L2K_COEFFICIENT_FLOAT32;
    return (l2k_plane){samples, (ptrdiff_t)(t.width * sizeof *samples), sizeof *samples,
                       is_float ? L2K_SAMPLE_F32 : L2K_SAMPLE_S32};
}

static void assert_same(const ref_value *got, size_t stride, const ref_value *expected)
{
    for (uint32_t y = 0; y < t.height; y++)
        assert_memory_equal(got + y * stride, expected + y * t.width, t.width * sizeof *got);
}

/* Forward, and then inverse; coefficients as expected. */
static void check_both_ways(bool restores)
{
    static ref_value back[LARGEST * LARGEST];
    l2k_plan *plan;
    l2k_plane plane = plane_of(t.samples), into = plane_of(back);
    t.spec.direction = L2K_FORWARD;
    assert_int_equal(l2k_plan_create(&context, L2K_BACKEND_CPU, &t.spec, &plan), L2K_OK);
    assert_int_equal(l2k_plan_run(plan, &plane), L2K_OK);
    const l2k_coefficients *view = l2k_plan_coefficients(plan, 0);
    assert_same(view->base, view->stride, t.expected);
    l2k_plan_free(plan);

    t.spec.direction = L2K_INVERSE;
    assert_int_equal(l2k_plan_create(&context, L2K_BACKEND_CPU, &t.spec, &plan), L2K_OK);
    view = l2k_plan_coefficients(plan, 0);
    for (uint32_t y = 0; y < t.height; y++)
        memcpy((ref_value *)view->base + y * view->stride, t.expected + y * t.width, t.width * sizeof *back);
    assert_int_equal(l2k_plan_run(plan, &into), L2K_OK);
    l2k_plan_free(plan);
    if (restores)
        assert_same(back, t.width, t.samples);
}

/* Random kernels can make numbers that wrap, which is undone but where a line of one sample is doubled. */
static bool has_lone_lines(void)
{
    return t.width >> t.component.levels < 2 || t.height >> t.component.levels < 2;
}

static void check_wavelet(const l2k_wavelet_descriptor *own, l2k_wavelet wavelet, unsigned precision)
{
    choose_case(own, wavelet, precision);
    transform_expected(own, false);
    check_both_ways(own->reversible && !(wavelet == L2K_WAVELET_REVERSIBLE_KERNEL && has_lone_lines()));
}

/* Coefficients of any value: floats, since integers are clamped to the range of samples. */
static void check_inverse(const l2k_wavelet_descriptor *own, l2k_wavelet wavelet)
{
    l2k_plan *plan;
    choose_case(own, wavelet, 16);
    l2k_plane plane = plane_of(t.samples);
    t.spec.direction = L2K_INVERSE;
    assert_int_equal(l2k_plan_create(&context, L2K_BACKEND_CPU, &t.spec, &plan), L2K_OK);
    const l2k_coefficients *view = l2k_plan_coefficients(plan, 0);
    for (uint32_t y = 0; y < t.height; y++)
        memcpy((ref_value *)view->base + y * view->stride, t.expected + y * t.width, t.width * sizeof *t.samples);
    assert_int_equal(l2k_plan_run(plan, &plane), L2K_OK);
    transform_expected(own, true);
    assert_same(t.samples, t.width, t.expected);
    l2k_plan_free(plan);
}

static void test_named(void **unused)
{
    (void)unused;
    for (int w = L2K_WAVELET_HAAR; w <= L2K_WAVELET_W4; w++) {
        const l2k_wavelet_descriptor own = named((l2k_wavelet)w);
        for (unsigned turn = 0; turn < 120; turn++)
            check_wavelet(&own, (l2k_wavelet)w, 1 + turn % 24);
    }
}

static void test_random(void **unused)
{
    (void)unused;
    for (unsigned turn = 0; turn < 400; turn++) {
        const l2k_wavelet_descriptor own = random_wavelet();
        const l2k_wavelet wavelet = own.reversible ? L2K_WAVELET_REVERSIBLE_KERNEL : L2K_WAVELET_IRREVERSIBLE_KERNEL;
        check_wavelet(&own, wavelet, 1 + turn % 24);
        if (!own.reversible)
            check_inverse(&own, wavelet);
    }
}

/* ---- Part 1's wavelets as kernels ------------------------------------------------------------------------------ */

static const char text_5_3[] =
    "reversible\nborder mirror\nhigh 0 round 1 shift 1 : -1 -1\nlow -1 round 2 shift 2 : 1 1\n";

static l2k_wavelet_descriptor parsed(const char *text)
{
    l2k_kernel kernel;
    l2k_wavelet_descriptor own;
    assert_int_equal(l2k_kernel_parse(&context, text, &kernel), L2K_OK);
    l2k_wavelet_of_kernel(&kernel, &own);
    return own;
}

/* With the constants of this library, whose inverse is scaled as OpenJPEG does it. */
static l2k_wavelet_descriptor kernel_9_7(void)
{
    const l2k_wavelet_descriptor *built_in = l2k_wavelet_get(L2K_WAVELET_9_7);
    l2k_wavelet_descriptor own;
    l2k_wavelet_of_kernel(&built_in->kernel, &own);
    assert_memory_equal(own.forward_scale, built_in->forward_scale, sizeof own.forward_scale);
    own.inverse_scale[1] = built_in->inverse_scale[1];
    return own;
}

/* The built-in wavelet gives what is expected of the kernel. */
static void check_built_in(const l2k_wavelet_descriptor *own, l2k_wavelet wavelet)
{
    choose_case(own, wavelet, 1 + random_below(own->reversible ? 24 : 16));
    transform_expected(own, false);
    check_both_ways(own->reversible);
    t.component.own = NULL;
    check_both_ways(own->reversible);
}

static void test_built_in(void **unused)
{
    (void)unused;
    const l2k_wavelet_descriptor own_5_3 = parsed(text_5_3), own_9_7 = kernel_9_7();
    for (unsigned turn = 0; turn < 300; turn++) {
        check_built_in(&own_5_3, L2K_WAVELET_5_3);
        check_built_in(&own_9_7, L2K_WAVELET_9_7);
        t.component.own = &own_9_7;
        check_inverse(&own_9_7, L2K_WAVELET_9_7);
    }
}

/* ---- The public transform ------------------------------------------------------------------------------------ */

/* A named kernel, and the same one by its description. */
static void test_public(void **unused)
{
    static char text[4096], text_of_splits[L2K_MAX_LEVELS + 1];
    (void)unused;
    for (int w = L2K_WAVELET_HAAR; w <= L2K_WAVELET_W4; w++) {
        const l2k_wavelet_descriptor own = named((l2k_wavelet)w);
        l2k_kernel_print(&own.kernel, text, sizeof text);
        for (unsigned by_text = 0; by_text < 2; by_text++) {
            l2k_transform *transform = l2k_transform_new(NULL);
            choose_case(&own, (l2k_wavelet)w, 8);
            transform_expected(&own, false);
            assert_int_equal(by_text ? l2k_transform_set_kernel(transform, text)
                                     : l2k_transform_set(transform, L2K_TRANSFORM_WAVELET, w),
                             L2K_OK);
            assert_int_equal(l2k_transform_set(transform, L2K_TRANSFORM_COEFFICIENTS, t.spec.type), L2K_OK);
            assert_int_equal(l2k_transform_set(transform, L2K_TRANSFORM_LEVELS, t.component.levels), L2K_OK);
            assert_int_equal(l2k_transform_set(transform, L2K_TRANSFORM_BACKEND, L2K_BACKEND_CPU), L2K_OK);
            l2k_splits_print(t.component.unsplit, t.component.levels, text_of_splits, sizeof text_of_splits);
            assert_int_equal(l2k_transform_set_splits(transform, text_of_splits), L2K_OK);
            const l2k_rect r = t.component.rect;
            l2k_component component = {.dx = 1, .dy = 1, .precision = 8, .is_signed = true};
            const l2k_image tile = {
                .x0 = r.x0, .y0 = r.y0, .x1 = r.x1, .y1 = r.y1, .num_components = 1, .components = &component};
            assert_int_equal(l2k_transform_prepare(transform, &tile), L2K_OK);
            const l2k_plane plane = plane_of(t.samples);
            assert_int_equal(l2k_transform_forward(transform, &plane), L2K_OK);
            const l2k_coefficients *view = l2k_transform_coefficients(transform, 0);
            assert_same(view->base, view->stride, t.expected);
            l2k_transform_free(transform);
        }
    }
}

/* ---- Text ---------------------------------------------------------------------------------------------------- */

static void test_text(void **unused)
{
    static char text[4096];
    l2k_kernel kernel;
    (void)unused;
    for (int w = L2K_WAVELET_HAAR; w <= L2K_WAVELET_W4; w++) {
        const l2k_wavelet_descriptor own = named((l2k_wavelet)w);
        assert_true(l2k_kernel_print(&own.kernel, text, sizeof text) < sizeof text);
        assert_int_equal(l2k_kernel_parse(&context, text, &kernel), L2K_OK);
        assert_true(l2k_kernel_equals(&own.kernel, &kernel));
    }
    for (unsigned turn = 0; turn < 200; turn++) {
        const l2k_wavelet_descriptor own = random_wavelet();
        const size_t length = l2k_kernel_print(&own.kernel, text, sizeof text);
        assert_int_equal(strlen(text), length);
        assert_int_equal(l2k_kernel_parse(&context, text, &kernel), L2K_OK);
        assert_true(l2k_kernel_equals(&own.kernel, &kernel));
        assert_int_equal(l2k_kernel_print(&own.kernel, text, 10), length);
        assert_int_equal(strlen(text), 9);
    }
    kernel = parsed("# W4\nirreversible 1.9318516525781366\nlow 0 : 1 # or 2\n").kernel;
    assert_int_equal(kernel.num_steps, 1);
}

static char message[200];

static void keep_message(void *unused, l2k_severity severity, const char *text)
{
    (void)unused, (void)severity;
    snprintf(message, sizeof message, "%s", text);
}

static void test_wrong_text(void **unused)
{
    static const char *const wrong[][2] = {
        {"", "neither reversible nor irreversible"},
        {"reversible\n", "no lifting steps"},
        {"reversible\nlow 0 :\n", "a lifting step without taps"},
        {"irreversible 0\nlow 0 : 1\n", "a scaling factor that is 0 or not a finite number"},
        {"irreversible 1e999\nlow 0 : 1\n", "a scaling factor that is 0 or not a finite number"},
        {"irreversible nan\nlow 0 : 1\n", "no scaling factor"},
        {"irreversible 1\nlow 0 : 1e99\n", "a tap that is not a finite number"},
        {"reversible\nlow 0 : 1.5\n", "not an integer of 16 bits"},
        {"reversible\nlow 0 : 1\nlow 0 : 1\n", "two lifting steps in a row"},
        {"reversible\nlow 32 : 1\n", "an offset that is not an integer from -31 to 31"},
        {"reversible\nlow 31 : 1\nhigh -31 : 1\n", "a support of more than 64"},
        {"reversible\nlow 0 shift 16 : 1\n", "a shift that is not an integer from 0 to 15"},
        {"reversible\nreversible\nlow 0 : 1\n", "line 2"},
        {"reversible\nlow 0 1 : 1\n", "no ':' before the taps"},
        {"reversible\nlow 0 : 1 x\n", "a tap that is not a number"},
        {"reversible\nborder\nlow 0 : 1\n", "neither clamp nor mirror"},
        {"reversible twice\nlow 0 : 1\n", "something after the end"},
    };
    (void)unused;
    l2k_kernel kernel;
    l2k_context loud = context;
    loud.hooks.message = keep_message;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        message[0] = 0;
        assert_int_equal(l2k_kernel_parse(&loud, wrong[i][0], &kernel), L2K_ERROR_ARGUMENT);
        if (!strstr(message, wrong[i][1]))
            print_message("%s: %s\n", wrong[i][0], message);
        assert_non_null(strstr(message, wrong[i][1]));
    }
}

/* ---- Norms, gains -------------------------------------------------------------------------------------------- */

static void check_norms(l2k_wavelet_descriptor own, l2k_wavelet wavelet, double tolerance)
{
    const l2k_wavelet_descriptor *built_in = l2k_wavelet_get(wavelet);
    assert_int_equal(l2k_wavelet_measure(&context, &own), L2K_OK);
    for (unsigned level = 1; level <= 9; level++)
        for (unsigned band = 0; band < 4; band++) {
            const double ratio = l2k_norm_at(&own, (l2k_depth){level, level}, band) /
                                 l2k_norm_at(built_in, (l2k_depth){level, level}, band);
            assert_true(fabs(ratio - 1) < tolerance);
        }
}

static void test_norms(void **unused)
{
    (void)unused;
    check_norms(parsed(text_5_3), L2K_WAVELET_5_3, 0.001);
    check_norms(kernel_9_7(), L2K_WAVELET_9_7, 0.015);
    l2k_wavelet_descriptor w4 = named(L2K_WAVELET_W4); /* orthonormal */
    assert_int_equal(l2k_wavelet_measure(&context, &w4), L2K_OK);
    for (unsigned level = 1; level <= 10; level++)
        assert_true(fabs((double)w4.factor_norms[0][level] - 1) < 1e-6 &&
                    fabs((double)w4.factor_norms[1][level - 1] / 2 - 1) < 1e-6);
}

/* No coefficient needs more bits than its subband has. */
static void test_gains(void **unused)
{
    (void)unused;
    for (int w = L2K_WAVELET_HAAR; w <= L2K_WAVELET_W4; w++) {
        l2k_wavelet_descriptor own = named((l2k_wavelet)w);
        assert_int_equal(l2k_wavelet_measure(&context, &own), L2K_OK);
        for (unsigned turn = 0; turn < 40; turn++) {
            choose_case(&own, (l2k_wavelet)w, 8);
            for (uint32_t i = 0; i < t.width * t.height; i++) {
                const int x = random_below(2) ? -128 : 127;
                t.expected[i] = own.is_float ? (ref_value){.f = (float)x} : (ref_value){.i = x};
            }
            transform_expected(&own, false);
            l2k_coefficients view;
            l2k_layout(L2K_FORWARD, t.spec.type, &t.component, &view);
            for (unsigned band = 0; band < view.num_bands; band++) {
                const l2k_band_view *b = &view.bands[band];
                const unsigned level = l2k_band_level(t.component.levels, l2k_band_resolution(band));
                const l2k_step step = l2k_step_choose(&own, 8, (l2k_depth){level, level}, l2k_band_orientation(band));
                const double unit = own.is_float ? (double)l2k_step_size(step, 8, l2k_band_orientation(band)) : 1;
                const double most =
                    ldexp(1, (int)l2k_magnitude_bits(step, l2k_guard_bits_of(&own, t.component.levels)));
                for (uint32_t i = 0; i < b->width * b->height; i++) {
                    const ref_value v = t.expected[(b->y + i / b->width) * t.width + b->x + i % b->width];
                    assert_true(fabs(own.is_float ? (double)v.f : (double)v.i) / unit < most);
                }
            }
        }
    }
}

/* W4 away from borders is a convolution: the filters of Daubechies, The wavelet transform (1990), table 1. */
static void test_w4(void **unused)
{
    (void)unused;
    const double low[4] = {0.48296291314469025, 0.836516303737469, 0.22414386804185735, -0.12940952255092145};
    const l2k_wavelet_descriptor own = named(L2K_WAVELET_W4);
    ref_value line[100], samples[100];
    for (int i = 0; i < 100; i++)
        samples[i].f = line[i].f = (float)random_below(1000) / 1000.0f;
    ref_kernel_line(&own, line, 100, 1, 0, false);
    for (int n = 4; n < 92; n += 2) {
        double s = 0, d = 0;
        for (int k = 0; k < 4; k++) {
            s += low[k] * (double)samples[n + k].f;
            d += (k % 2 ? 1 : -1) * low[3 - k] * (double)samples[n - 2 + k].f;
        }
        assert_true(fabs((double)line[n].f - s) < 1e-6);
        assert_true(fabs((double)line[n + 1].f - d) < 1e-6);
    }
}

int main(void)
{
    context.threads = 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_named),  cmocka_unit_test(test_random), cmocka_unit_test(test_built_in),
        cmocka_unit_test(test_public), cmocka_unit_test(test_text),   cmocka_unit_test(test_wrong_text),
        cmocka_unit_test(test_norms),  cmocka_unit_test(test_gains),  cmocka_unit_test(test_w4),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
