/* The whole CPU transform stage compared with a plain one made of tests/support/reference_wavelet.h and the equations
 * of Annexes E and G: random shapes, every sample type and layout, both directions, any number of threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>

#include "base/cpu.h"
#include "base/pool.h"
#include "base/sample.h"
#include "reference_wavelet.h"
#include "transform/plan.h"

#define MAX_COMPONENTS 4
#define POISON         0xa5

static uint32_t state = 7;

static uint32_t below(uint32_t n)
{
    state = state * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)(state ^ state >> 15) * n) >> 32);
}

/* ---- A case: a specification, planes, and the reference's copy of both --------------------------------------- */

typedef struct test_case {
    l2k_plan_spec spec;
    l2k_plan_component components[MAX_COMPONENTS];
    l2k_plane planes[MAX_COMPONENTS];
    uint8_t *memory; /* of all planes, with gaps */
    size_t bytes;
} test_case;

static uint32_t side(uint32_t a0, uint32_t a1, unsigned levels)
{
    uint64_t up = ((uint64_t)1 << levels) - 1;
    return (uint32_t)((a1 + up) >> levels) - (uint32_t)((a0 + up) >> levels);
}

/* Width and height after `levels` decompositions, and parities of the origin there. */
static void size_at(const l2k_plan_component *c, unsigned levels, uint32_t *w, uint32_t *h, unsigned *px, unsigned *py)
{
    unsigned across = 0, down = 0;
    for (unsigned level = 0; level < levels; level++) {
        across += !(c->unsplit.across >> level & 1);
        down += !(c->unsplit.down >> level & 1);
    }
    *w = side(c->rect.x0, c->rect.x1, across);
    *h = side(c->rect.y0, c->rect.y1, down);
    *px = ((c->rect.x0 + ((uint64_t)1 << across) - 1) >> across) & 1;
    *py = ((c->rect.y0 + ((uint64_t)1 << down) - 1) >> down) & 1;
}

static unsigned discard_of(const test_case *t, uint32_t c)
{
    return t->spec.direction == L2K_INVERSE ? t->components[c].discard : 0;
}

static l2k_plan_component random_component(uint32_t largest)
{
    l2k_plan_component c = {0};
    uint32_t far = below(8) == 0 ? 0xffffff00u - largest : 0;
    c.rect.x0 = far + below(100);
    c.rect.y0 = far + below(100);
    c.rect.x1 = c.rect.x0 + (below(20) ? 1 + below(largest) : below(2));
    c.rect.y1 = c.rect.y0 + (below(20) ? 1 + below(largest) : below(2));
    c.levels = below(12) ? below(7) : below(33);
    c.discard = below(3) ? 0 : below(c.levels + 1);
    if (below(3) == 0) /* of some levels one direction */
        c.unsplit = (l2k_unsplit){below(0xffffffffu) & below(0xffffffffu), below(0xffffffffu) & below(0xffffffffu)};
    c.unsplit.down &= ~c.unsplit.across;
    c.wavelet = below(2) ? L2K_WAVELET_9_7 : L2K_WAVELET_5_3;
    for (unsigned b = 0; b < L2K_MAX_SUBBANDS; b++)
        c.steps[b] = 0.02f + (float)below(1000) / 300.0f;
    return c;
}

static void choose_samples(l2k_plan_component *c, l2k_sample_type *type)
{
    static const unsigned most[] = {8, 8, 16, 16, 31};
    *type = (l2k_sample_type)below(5);
    c->precision = 1 + below(most[*type]);
    c->is_signed = *type == L2K_SAMPLE_S8 || *type == L2K_SAMPLE_S16 || (*type == L2K_SAMPLE_S32 && below(2));
    if ((*type == L2K_SAMPLE_S8 || *type == L2K_SAMPLE_S16) && below(2)) {
        c->precision = c->precision > 1 ? c->precision - 1 : 1; /* an unsigned component in a signed type */
        c->is_signed = false;
    }
}

/* Interleaved planes if type and size allow it, else separate ones; gaps everywhere. */
static void place_planes(test_case *t)
{
    uint32_t n = t->spec.num_components;
    size_t at = 16 + below(8), starts[MAX_COMPONENTS];
    bool interleaved = t->spec.component_transform && n == 3 && below(2);
    for (uint32_t c = 0; c < n; c++) {
        unsigned px, py;
        uint32_t w, h;
        l2k_plane *p = &t->planes[c];
        size_at(&t->components[c], discard_of(t, c), &w, &h, &px, &py);
        if (interleaved) {
            p->type = t->planes[0].type;
            t->components[c].precision = t->components[0].precision;
            t->components[c].is_signed = t->components[0].is_signed;
        }
        size_t size = l2k_sample_bytes(p->type);
        if (!interleaved || c == 0) {
            p->sample_stride = (ptrdiff_t)(interleaved ? size * (3 + below(2)) : below(2) ? size : size + below(5));
            p->row_stride = (ptrdiff_t)((size_t)p->sample_stride * w + size * 3 + below(7));
            if (below(2)) { /* aligned */
                at = (at + 7) / 8 * 8;
                p->row_stride = (p->row_stride + 7) / 8 * 8;
            }
            starts[c] = at;
            at += (size_t)p->row_stride * h + 16 + below(8);
        } else {
            p->sample_stride = t->planes[0].sample_stride;
            p->row_stride = t->planes[0].row_stride;
            starts[c] = starts[0] + c * size;
        }
    }
    t->bytes = at + 16;
    t->memory = malloc(t->bytes);
    memset(t->memory, POISON, t->bytes);
    for (uint32_t c = 0; c < n; c++)
        t->planes[c].data = t->memory + starts[c];
    if (below(6) == 0) /* upside down: negative row strides */
        for (uint32_t c = 0; c < n; c++) {
            unsigned px, py;
            uint32_t w, h;
            size_at(&t->components[c], discard_of(t, c), &w, &h, &px, &py);
            if (h == 0)
                continue;
            t->planes[c].data = (char *)t->planes[c].data + (ptrdiff_t)(h - 1) * t->planes[c].row_stride;
            t->planes[c].row_stride = -t->planes[c].row_stride;
        }
}

static test_case random_case(l2k_direction direction, uint32_t largest)
{
    test_case t = {0};
    static const uint32_t counts[] = {1, 3, 4};
    t.spec.direction = direction;
    t.spec.type = below(2) ? L2K_COEFFICIENT_INT16 : L2K_COEFFICIENT_INT32;
    t.spec.truncates = direction == L2K_FORWARD && below(4) == 0;
    t.spec.num_components = counts[below(3)];
    t.spec.component_transform = t.spec.num_components >= 3 && below(2);
    for (uint32_t c = 0; c < t.spec.num_components; c++) {
        t.components[c] = random_component(largest);
        if (c > 0 && c < 3 && t.spec.component_transform)
            t.components[c] = t.components[0];
        choose_samples(&t.components[c], &t.planes[c].type);
    }
    place_planes(&t);
    return t;
}

static int64_t sample_low(const l2k_plan_component *c)
{
    return c->is_signed ? -((int64_t)1 << (c->precision - 1)) : 0;
}

static void put(const l2k_plane *p, uint32_t x, uint32_t y, int64_t value)
{
    char *at = (char *)p->data + (ptrdiff_t)y * p->row_stride + (ptrdiff_t)x * p->sample_stride;
    int8_t v8 = (int8_t)value;
    int16_t v16 = (int16_t)value;
    int32_t v32 = (int32_t)value;
    size_t size = l2k_sample_bytes(p->type);
    memcpy(at, size == 1 ? (void *)&v8 : size == 2 ? (void *)&v16 : (void *)&v32, size);
}

/* ---- Reference ----------------------------------------------------------------------------------------------- */

static void ref_component_transform(ref_sample *d[3], size_t count, int real, int inverse)
{
    for (size_t i = 0; i < count; i++) {
        ref_sample a = d[0][i], b = d[1][i], c = d[2][i], x, y, z;
        if (real && !inverse) {
            x.f = (a.f * 0.299f + b.f * 0.587f) + c.f * 0.114f;
            y.f = (a.f * -0.16875f + b.f * -0.331260f) + c.f * 0.5f;
            z.f = (a.f * 0.5f + b.f * -0.41869f) + c.f * -0.08131f;
        } else if (real) {
            x.f = a.f + c.f * 1.402f;
            y.f = (a.f - b.f * 0.34413f) - c.f * 0.71414f;
            z.f = a.f + b.f * 1.772f;
        } else if (!inverse) {
            x.i = (int32_t)ref_floor_div(ref_wrap((int64_t)a.i + 2 * (int64_t)b.i + c.i), 4);
            y.i = ref_wrap((int64_t)c.i - b.i);
            z.i = ref_wrap((int64_t)a.i - b.i);
        } else {
            y.i = ref_wrap((int64_t)a.i - ref_floor_div(ref_wrap((int64_t)b.i + c.i), 4));
            x.i = ref_wrap((int64_t)c.i + y.i);
            z.i = ref_wrap((int64_t)b.i + y.i);
        }
        d[0][i] = x;
        d[1][i] = y;
        d[2][i] = z;
    }
}

static void ref_wavelet(const l2k_plan_component *c, unsigned discard, ref_sample *data, uint32_t stride, int inverse)
{
    int real = c->wavelet == L2K_WAVELET_9_7;
    for (unsigned k = discard; k < c->levels; k++) {
        unsigned level = inverse ? c->levels - 1 - (k - discard) : k, px, py;
        uint32_t w, h;
        size_at(c, level, &w, &h, &px, &py);
        ref_split(data, stride, w, h, px, py, real, inverse, !(c->unsplit.across >> level & 1),
                  !(c->unsplit.down >> level & 1));
    }
}

/* The number of the band of coefficient x, y, from the sizes of the resolutions alone. */
static unsigned band_at(const l2k_plan_component *c, uint32_t x, uint32_t y)
{
    unsigned level = 0, px, py;
    uint32_t w, h;
    for (level = c->levels; level > 0; level--) {
        size_at(c, level, &w, &h, &px, &py);
        if (x < w && y < h)
            break;
        uint32_t full_w, full_h;
        size_at(c, level - 1, &full_w, &full_h, &px, &py);
        if (x < full_w && y < full_h)
            return 3 * (c->levels - level) + (x >= w) + 2 * (y >= h);
    }
    return 0;
}

static int32_t ref_quantise(float v, float step, bool truncates)
{
    if (truncates)
        return (int32_t)fmin(fmax((double)(v * (1 / step)), -1073741760.0), 1073741760.0);
    double scaled = nearbyint((double)((v / step) * 64.0f)); /* a float: conversion and rounding are exact */
    return (int32_t)trunc(scaled / 64.0);
}

static int64_t ref_pixel(const l2k_plan_component *c, ref_sample v)
{
    int64_t low = sample_low(c), high = low + ((int64_t)1 << c->precision) - 1;
    double value = c->wavelet == L2K_WAVELET_9_7 ? nearbyint((double)v.f) : v.i;
    value += c->is_signed ? 0 : (double)((int64_t)1 << (c->precision - 1));
    return value < (double)low ? low : value > (double)high ? high : (int64_t)value;
}

static int32_t coefficient(const l2k_coefficients *view, uint32_t x, uint32_t y)
{
    size_t at = y * view->stride + x;
    return view->type == L2K_COEFFICIENT_INT16 ? ((int16_t *)view->base)[at] : ((int32_t *)view->base)[at];
}

/* ---- Running ------------------------------------------------------------------------------------------------- */

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

static void check_bands(const test_case *t, uint32_t c, const l2k_coefficients *view)
{
    unsigned px, py;
    uint32_t w, h, area = 0;
    size_at(&t->components[c], discard_of(t, c), &w, &h, &px, &py);
    assert_int_equal(view->width, w);
    assert_int_equal(view->height, h);
    assert_true(view->stride >= w && view->stride % 16 == 0 && (uintptr_t)view->base % 64 == 0);
    assert_int_equal(view->num_bands, 3 * (t->components[c].levels - discard_of(t, c)) + 1);
    for (unsigned b = 0; b < view->num_bands; b++) {
        const l2k_band_view *v = &view->bands[b];
        area += v->width * v->height;
        if (v->width && v->height) {
            assert_int_equal(band_at(&t->components[c], v->x, v->y), b);
            assert_int_equal(band_at(&t->components[c], v->x + v->width - 1, v->y + v->height - 1), b);
        }
    }
    assert_int_equal(area, w * h);
}

static ref_sample *blank(const test_case *t, uint32_t c, uint32_t *w, uint32_t *h)
{
    unsigned px, py;
    size_at(&t->components[c], discard_of(t, c), w, h, &px, &py);
    return calloc((size_t)*w * *h + 1, sizeof(ref_sample));
}

static void fill_source(test_case *t, ref_sample *data[])
{
    bool extreme = below(4) == 0;
    for (uint32_t c = 0; c < t->spec.num_components; c++) {
        const l2k_plan_component *k = &t->components[c];
        uint32_t w, h;
        data[c] = blank(t, c, &w, &h);
        for (uint32_t i = 0; i < w * h; i++) {
            uint64_t range = (uint64_t)1 << k->precision;
            uint32_t r = extreme ? below(2) * (uint32_t)(range - 1) : below((uint32_t)range);
            int64_t value = sample_low(k) + r, centred = value - (k->is_signed ? 0 : (int64_t)(range / 2));
            put(&t->planes[c], i % w, i / w, value);
            if (k->wavelet == L2K_WAVELET_9_7)
                data[c][i].f = (float)centred;
            else
                data[c][i].i = (int32_t)centred;
        }
    }
}

static void check_forward(test_case *t, const l2k_plan *plan, ref_sample *data[])
{
    if (t->spec.component_transform) {
        uint32_t w, h;
        free(blank(t, 0, &w, &h));
        ref_component_transform(data, (size_t)w * h, t->components[0].wavelet == L2K_WAVELET_9_7, 0);
    }
    for (uint32_t c = 0; c < t->spec.num_components; c++) {
        const l2k_plan_component *k = &t->components[c];
        const l2k_coefficients *view = l2k_plan_coefficients(plan, c);
        check_bands(t, c, view);
        ref_wavelet(k, 0, data[c], view->width, 0);
        for (uint32_t y = 0; y < view->height; y++)
            for (uint32_t x = 0; x < view->width; x++) {
                ref_sample v = data[c][y * view->width + x];
                const float step = k->steps[band_at(k, x, y)];
                int32_t expected = k->wavelet == L2K_WAVELET_9_7 ? ref_quantise(v.f, step, t->spec.truncates) : v.i;
                if (view->type == L2K_COEFFICIENT_INT16)
                    expected = (int16_t)expected;
                assert_int_equal(coefficient(view, x, y), expected);
            }
    }
}

static void run_forward(uint32_t largest, unsigned threads)
{
    test_case t = random_case(L2K_FORWARD, largest);
    ref_sample *data[MAX_COMPONENTS];
    l2k_context context = context_of(threads);
    l2k_plan *plan;
    t.spec.components = t.components;
    for (uint32_t c = 0; c < t.spec.num_components; c++)
        if (t.components[c].wavelet == L2K_WAVELET_9_7 && t.components[c].precision > 16)
            t.components[c].precision = 16; /* indices saturate above 2^25, in the reference they do not */
    fill_source(&t, data);
    uint8_t *before = malloc(t.bytes);
    memcpy(before, t.memory, t.bytes);
    assert_int_equal(l2k_plan_create(&context, L2K_BACKEND_AUTO, &t.spec, &plan), L2K_OK);
    assert_int_equal(l2k_plan_run(plan, t.planes), L2K_OK);
    assert_memory_equal(before, t.memory, t.bytes);
    check_forward(&t, plan, data);
    l2k_plan_free(plan);
    for (uint32_t c = 0; c < t.spec.num_components; c++)
        free(data[c]);
    free(before);
    free(t.memory);
}

/* Puts random coefficients into the view and, in units of samples, into the reference. */
static void fill_coefficients(const test_case *t, const l2k_plan *plan, ref_sample *data[])
{
    unsigned bits = below(5) == 0 ? 32 : 3 + below(12);
    for (uint32_t c = 0; c < t->spec.num_components; c++) {
        const l2k_plan_component *k = &t->components[c];
        const l2k_coefficients *view = l2k_plan_coefficients(plan, c);
        uint32_t w, h;
        data[c] = blank(t, c, &w, &h);
        check_bands(t, c, view);
        for (uint32_t y = 0; y < h; y++)
            for (uint32_t x = 0; x < w; x++) {
                int32_t q = (int32_t)(below(0xffffffffu) << (32 - bits)) >> (32 - bits);
                if (view->type == L2K_COEFFICIENT_INT16)
                    ((int16_t *)view->base)[y * view->stride + x] = (int16_t)(q = (int16_t)q);
                else
                    ((int32_t *)view->base)[y * view->stride + x] = q;
                if (k->wavelet == L2K_WAVELET_9_7)
                    data[c][y * w + x].f = (float)q * (k->steps[band_at(k, x, y)] / 2);
                else
                    data[c][y * w + x].i = q;
            }
    }
}

/* The expected content of the planes' memory, gaps included. */
static uint8_t *expected_memory(const test_case *t, ref_sample *data[])
{
    test_case out = *t;
    out.memory = malloc(t->bytes);
    memset(out.memory, POISON, t->bytes);
    for (uint32_t c = 0; c < t->spec.num_components; c++) {
        uint32_t w, h;
        free(blank(t, c, &w, &h));
        ref_wavelet(&t->components[c], t->components[c].discard, data[c], w, 1);
        out.planes[c].data = out.memory + ((uint8_t *)t->planes[c].data - t->memory);
    }
    for (uint32_t c = 0; c < t->spec.num_components; c++) {
        uint32_t w, h;
        free(blank(t, c, &w, &h));
        if (c == 0 && t->spec.component_transform)
            ref_component_transform(data, (size_t)w * h, t->components[0].wavelet == L2K_WAVELET_9_7, 1);
        for (uint32_t i = 0; i < w * h; i++)
            put(&out.planes[c], i % w, i / w, ref_pixel(&t->components[c], data[c][i]));
    }
    return out.memory;
}

static void run_inverse(uint32_t largest, unsigned threads)
{
    test_case t = random_case(L2K_INVERSE, largest);
    ref_sample *data[MAX_COMPONENTS];
    l2k_context context = context_of(threads);
    l2k_plan *plan;
    t.spec.components = t.components;
    assert_int_equal(l2k_plan_create(&context, L2K_BACKEND_CPU, &t.spec, &plan), L2K_OK);
    fill_coefficients(&t, plan, data);
    assert_int_equal(l2k_plan_run(plan, t.planes), L2K_OK);
    uint8_t *expected = expected_memory(&t, data);
    assert_memory_equal(t.memory, expected, t.bytes);
    l2k_plan_free(plan);
    for (uint32_t c = 0; c < t.spec.num_components; c++)
        free(data[c]);
    free(expected);
    free(t.memory);
}

static void test_forward(void **unused)
{
    (void)unused;
    for (int i = 0; i < 3000; i++)
        run_forward(i % 3 ? 70 : 6, 1 + (unsigned)i % 5);
}

static void test_inverse(void **unused)
{
    (void)unused;
    for (int i = 0; i < 3000; i++)
        run_inverse(i % 3 ? 70 : 6, 1 + (unsigned)i % 5);
}

/* Large enough for several stripes. */
static void test_threads(void **unused)
{
    (void)unused;
    static const unsigned threads[] = {1, 2, 5};
    for (int i = 0; i < 60; i++) {
        run_forward(700, threads[i % 3]);
        run_inverse(700, threads[i % 3]);
    }
}

/* ---- Properties ---------------------------------------------------------------------------------------------- */

static void run_lossless(uint32_t largest)
{
    test_case t = random_case(L2K_FORWARD, largest);
    ref_sample *data[MAX_COMPONENTS];
    l2k_context context = context_of(1);
    l2k_plan *forward, *inverse;
    t.spec.components = t.components;
    t.spec.type = L2K_COEFFICIENT_INT32;
    for (uint32_t c = 0; c < t.spec.num_components; c++) {
        t.components[c].wavelet = L2K_WAVELET_5_3;
        t.components[c].discard = 0;
        if (t.components[c].precision > 26)
            t.components[c].precision = 26; /* coefficients may have four more bits and a sign */
    }
    fill_source(&t, data);
    assert_int_equal(l2k_plan_create(&context, L2K_BACKEND_CPU, &t.spec, &forward), L2K_OK);
    t.spec.direction = L2K_INVERSE;
    assert_int_equal(l2k_plan_create(&context, L2K_BACKEND_CPU, &t.spec, &inverse), L2K_OK);
    assert_int_equal(l2k_plan_run(forward, t.planes), L2K_OK);
    for (uint32_t c = 0; c < t.spec.num_components; c++) {
        const l2k_coefficients *a = l2k_plan_coefficients(forward, c), *b = l2k_plan_coefficients(inverse, c);
        memcpy(b->base, a->base, a->stride * a->height * sizeof(int32_t));
    }
    uint8_t *before = malloc(t.bytes);
    memcpy(before, t.memory, t.bytes);
    memset(t.memory, POISON, t.bytes);
    assert_int_equal(l2k_plan_run(inverse, t.planes), L2K_OK);
    assert_memory_equal(t.memory, before, t.bytes);
    l2k_plan_free(forward);
    l2k_plan_free(inverse);
    for (uint32_t c = 0; c < t.spec.num_components; c++)
        free(data[c]);
    free(before);
    free(t.memory);
}

static void test_lossless(void **unused)
{
    (void)unused;
    for (int i = 0; i < 1000; i++)
        run_lossless(70);
}

static void test_fits(void **unused)
{
    (void)unused;
    l2k_context context = context_of(1);
    l2k_plan_component c = {.rect = {3, 5, 40, 60}, .levels = 3, .wavelet = L2K_WAVELET_9_7, .precision = 8};
    for (unsigned b = 0; b < 10; b++)
        c.steps[b] = 1.0f;
    l2k_plan_spec spec = {.type = L2K_COEFFICIENT_INT16, .num_components = 1, .components = &c};
    l2k_plan *plan;
    assert_int_equal(l2k_plan_create(&context, L2K_BACKEND_CPU, &spec, &plan), L2K_OK);
    assert_true(l2k_plan_fits(plan, &spec));
    c.rect = (l2k_rect){11, 5 + 64, 48, 60 + 64};
    assert_true(l2k_plan_fits(plan, &spec));
    c.steps[10] = 7.0f; /* no such band */
    c.discard = 2;      /* not forward */
    assert_true(l2k_plan_fits(plan, &spec));
    c.steps[9] = 7.0f;
    assert_false(l2k_plan_fits(plan, &spec));
    c.steps[9] = 1.0f;
    c.rect = (l2k_rect){7, 5, 44, 60};
    assert_false(l2k_plan_fits(plan, &spec));
    c.rect = (l2k_rect){3, 5, 41, 60};
    assert_false(l2k_plan_fits(plan, &spec));
    l2k_plan_free(plan);
}

static void test_errors(void **unused)
{
    (void)unused;
    l2k_context context = context_of(1);
    l2k_plan_component c[3] = {{.rect = {0, 0, 8, 8}, .precision = 8},
                               {.rect = {0, 0, 8, 8}, .precision = 8},
                               {.rect = {0, 0, 8, 7}, .precision = 8}};
    l2k_plan_spec spec = {
        .type = L2K_COEFFICIENT_INT16, .component_transform = true, .num_components = 3, .components = c};
    l2k_plan *plan;
    assert_int_equal(l2k_plan_create(&context, L2K_BACKEND_CPU, &spec, &plan), L2K_ERROR_ARGUMENT);
    assert_null(plan);
    spec.component_transform = false;
    assert_int_equal(l2k_plan_create(&context, L2K_BACKEND_CPU, &spec, &plan), L2K_OK);
    l2k_plan_free(plan);
    if (!l2k_backend_usable(L2K_BACKEND_CUDA, NULL, 0)) {
        assert_int_equal(l2k_plan_create(&context, L2K_BACKEND_CUDA, &spec, &plan), L2K_ERROR_BACKEND);
        assert_null(plan);
    }
}

/* Begin and finish: their order, errors that leave the plan unchanged, and that both together are a whole run. */
static void test_halves(void **unused)
{
    (void)unused;
    l2k_context context = context_of(1);
    uint8_t pixels[64];
    l2k_plan_component c = {.rect = {0, 0, 8, 8}, .levels = 2, .precision = 8};
    l2k_plan_spec spec = {.type = L2K_COEFFICIENT_INT16, .num_components = 1, .components = &c};
    l2k_plane plane = {pixels, 8, 1, L2K_SAMPLE_U8}, floats = {pixels, 8, 1, L2K_SAMPLE_F32};
    l2k_plan *halves, *whole;
    for (int i = 0; i < 64; i++)
        pixels[i] = (uint8_t)below(256);
    assert_int_equal(l2k_plan_create(&context, L2K_BACKEND_CPU, &spec, &halves), L2K_OK);
    assert_int_equal(l2k_plan_create(&context, L2K_BACKEND_CPU, &spec, &whole), L2K_OK);
    assert_int_equal(l2k_plan_finish(halves), L2K_ERROR_STATE);
    assert_int_equal(l2k_plan_begin(halves, &floats), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_plan_finish(halves), L2K_ERROR_STATE);
    assert_int_equal(l2k_plan_begin(halves, &plane), L2K_OK);
    assert_int_equal(l2k_plan_begin(halves, &plane), L2K_ERROR_STATE);
    assert_int_equal(l2k_plan_run(halves, &plane), L2K_ERROR_STATE);
    assert_int_equal(l2k_plan_finish(halves), L2K_OK);
    assert_int_equal(l2k_plan_finish(halves), L2K_ERROR_STATE);
    assert_int_equal(l2k_plan_run(whole, &plane), L2K_OK);
    const l2k_coefficients *a = l2k_plan_coefficients(halves, 0), *b = l2k_plan_coefficients(whole, 0);
    for (uint32_t y = 0; y < 8; y++)
        assert_memory_equal((int16_t *)a->base + y * a->stride, (int16_t *)b->base + y * b->stride, 16);
    assert_int_equal(l2k_plan_begin(halves, &plane), L2K_OK);
    l2k_plan_free(halves); /* also before the run has finished */
    l2k_plan_free(whole);
}

/* Each allocation in turn fails; nothing may leak or crash (the sanitizers check). */
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

static void test_out_of_memory(void **unused)
{
    (void)unused;
    l2k_context context = {.hooks = {allocate, release, ignore, NULL, NULL}, .threads = 2};
    test_case t = random_case(L2K_INVERSE, 50);
    l2k_plan *plan = NULL;
    t.spec.components = t.components;
    for (int n = 0; !plan; n++) {
        allocations_left = n;
        l2k_status status = l2k_plan_create(&context, L2K_BACKEND_CPU, &t.spec, &plan);
        assert_int_equal(status, plan ? L2K_OK : L2K_ERROR_MEMORY);
        assert_true(n < 100);
    }
    allocations_left = 0;
    assert_int_equal(l2k_plan_run(plan, t.planes), L2K_OK);
    l2k_plan_free(plan);
    free(t.memory);
}

/* ---- Memory calculated in advance ---------------------------------------------------------------------------- */

typedef struct meter {
    uint64_t bytes;
} meter;

static void *count(void *user, size_t bytes)
{
    ((meter *)user)->bytes += bytes;
    return malloc(bytes);
}

/* The hook is asked for what l2k_plan_host_bytes gives: with a pool exactly, without one less by the pool's rounding.
 */
static void check_host_bytes(const test_case *t, unsigned threads)
{
    const uint64_t expected = l2k_plan_host_bytes(&t->spec, threads);
    for (int pooled = 0; pooled < 2; pooled++) {
        meter m = {0};
        l2k_pool pool;
        l2k_plan *plan;
        l2k_context context = {.hooks = {count, release, ignore, NULL, &m}, .threads = threads};
        l2k_pool_init(&pool, UINT64_MAX);
        context.pool = pooled ? &pool : NULL;
        assert_int_equal(l2k_plan_create(&context, L2K_BACKEND_CPU, &t->spec, &plan), L2K_OK);
        if (t->spec.direction == L2K_FORWARD && threads < 8) /* a run allocates nothing */
            assert_int_equal(l2k_plan_run(plan, t->planes), L2K_OK);
        assert_true(pooled ? m.bytes == expected : m.bytes <= expected && expected <= m.bytes + m.bytes / 8 + 4096);
        l2k_plan_free(plan);
        l2k_pool_end(&pool, &context.hooks);
    }
}

static void test_host_bytes(void **unused)
{
    (void)unused;
    static const unsigned threads[] = {1, 2, 5, 64};
    for (int i = 0; i < 400; i++) {
        test_case t = random_case(i % 2 ? L2K_FORWARD : L2K_INVERSE, i % 3 ? 60 : 600);
        t.spec.components = t.components;
        check_host_bytes(&t, threads[i % 4]);
        free(t.memory);
    }
}

/* An instruction set that machine or build lacks is refused when a plan is made. */
static void test_forced_set(void **unused)
{
    (void)unused;
    l2k_plan_component c = {.rect = {0, 0, 8, 8}, .precision = 8};
    l2k_plan_spec spec = {.num_components = 1, .components = &c};
    for (int cpu = L2K_CPU_AUTO; cpu <= L2K_CPU_SIMD128 + 1; cpu++) {
        l2k_plan *plan;
        l2k_context context = context_of(1);
        context.cpu = (l2k_cpu)cpu;
        assert_int_equal(l2k_plan_create(&context, L2K_BACKEND_CPU, &spec, &plan),
                         l2k_cpu_usable(context.cpu) ? L2K_OK : L2K_ERROR_BACKEND);
        l2k_plan_free(plan);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forward),    cmocka_unit_test(test_inverse),       cmocka_unit_test(test_threads),
        cmocka_unit_test(test_lossless),   cmocka_unit_test(test_fits),          cmocka_unit_test(test_errors),
        cmocka_unit_test(test_halves),     cmocka_unit_test(test_out_of_memory), cmocka_unit_test(test_host_bytes),
        cmocka_unit_test(test_forced_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
