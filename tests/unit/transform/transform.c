/* The public transform on the CPU: the coefficients of the internal plan, errors, layouts, round trips. */
#include "api_support.h"

#include <math.h>

#include "base/cpu.h"
#include "transform/plan.h"

/* ---- Tools --------------------------------------------------------------------------------------------------- */

typedef struct setting {
    l2k_transform_option option;
    int64_t value;
} setting;

static l2k_transform *make(const l2k_hooks *hooks, const setting *settings, size_t count)
{
    l2k_transform *t = l2k_transform_new(hooks);
    assert_non_null(t);
    assert_int_equal(l2k_transform_set(t, L2K_TRANSFORM_THREADS, 1), L2K_OK);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(l2k_transform_set(t, settings[i].option, settings[i].value), L2K_OK);
    return t;
}

#define MAKE(hooks, ...)                                                                                               \
    make(hooks, (const setting[]){__VA_ARGS__}, sizeof((const setting[]){__VA_ARGS__}) / sizeof(setting))

static const void *element(const l2k_coefficients *view, unsigned band, uint32_t x, uint32_t y)
{
    const l2k_band_view *b = &view->bands[band];
    size_t at = (size_t)(b->y + y) * view->stride + b->x + x;
    return (const uint8_t *)view->base + at * l2k_coefficient_bytes(view->type);
}

static void assert_views_equal(const l2k_coefficients *a, const l2k_coefficients *b)
{
    assert_int_equal(a->num_bands, b->num_bands);
    assert_int_equal(a->type, b->type);
    for (unsigned band = 0; band < a->num_bands; band++) {
        assert_memory_equal(&a->bands[band], &b->bands[band], sizeof a->bands[band]);
        for (uint32_t y = 0; y < a->bands[band].height; y++)
            assert_memory_equal(element(a, band, 0, y), element(b, band, 0, y),
                                a->bands[band].width * l2k_coefficient_bytes(a->type));
    }
}

static void picture_random(picture *p)
{
    uint32_t count = random_between(1, 4);
    picture_shape(p, 1, 1, count);
    p->image.x0 = random_below(100);
    p->image.y0 = random_below(100);
    p->image.x1 = p->image.x0 + random_between(1, 90);
    p->image.y1 = p->image.y0 + random_between(1, 90);
    for (uint32_t c = 0; c < count; c++)
        picture_fill(p, c);
}

/* Coefficients from one view to another of the same type. */
static void copy_view(const l2k_coefficients *from, const l2k_coefficients *to)
{
    for (uint32_t y = 0; y < from->height; y++)
        memcpy((uint8_t *)to->base + y * to->stride * l2k_coefficient_bytes(to->type),
               (const uint8_t *)from->base + y * from->stride * l2k_coefficient_bytes(from->type),
               from->width * l2k_coefficient_bytes(from->type));
}

/* ---- Compared with the internal plan ------------------------------------------------------------------------- */

static void plan_forward(const picture *p, l2k_transform *t, l2k_plan_spec spec, unsigned levels, l2k_wavelet wavelet)
{
    l2k_context context = {.threads = 1};
    l2k_plan_component components[MOST_CHANNELS];
    l2k_plan *plan;
    for (uint32_t c = 0; c < p->image.num_components; c++) {
        components[c] = (l2k_plan_component){.rect = {p->image.x0, p->image.y0, p->image.x1, p->image.y1},
                                             .levels = levels,
                                             .wavelet = wavelet,
                                             .precision = 8};
        for (unsigned band = 0; band <= 3 * levels; band++) {
            l2k_subband_info info;
            assert_int_equal(l2k_transform_subband(t, c, band, &info), L2K_OK);
            components[c].steps[band] = info.step_size;
        }
    }
    spec.num_components = p->image.num_components;
    spec.components = components;
    assert_int_equal(l2k_plan_create(&context, L2K_BACKEND_CPU, &spec, &plan), L2K_OK);
    assert_int_equal(l2k_plan_run(plan, p->planes), L2K_OK);
    for (uint32_t c = 0; c < p->image.num_components; c++)
        assert_views_equal(l2k_transform_coefficients(t, c), l2k_plan_coefficients(plan, c));
    l2k_plan_free(plan);
}

static void test_equals_plan(void **unused)
{
    (void)unused;
    for (int i = 0; i < 200; i++) {
        picture p;
        watch w;
        l2k_hooks hooks = watch_hooks(&w);
        picture_random(&p);
        l2k_wavelet wavelet = random_below(2) ? L2K_WAVELET_9_7 : L2K_WAVELET_5_3;
        unsigned levels = random_below(7);
        bool may_be_float = wavelet == L2K_WAVELET_9_7, fits_int16 = wavelet == L2K_WAVELET_5_3 || levels <= 5;
        l2k_plan_spec spec = {.type = (l2k_coefficient_type)random_between(!fits_int16, 1u + may_be_float),
                              .component_transform = p.image.num_components >= 3 && random_below(2)};
        l2k_transform *t = MAKE(&hooks, {L2K_TRANSFORM_WAVELET, wavelet}, {L2K_TRANSFORM_LEVELS, levels},
                                {L2K_TRANSFORM_COEFFICIENTS, spec.type},
                                {L2K_TRANSFORM_COMPONENT_TRANSFORM, spec.component_transform});
        assert_int_equal(l2k_transform_backend(t), L2K_BACKEND_AUTO);
        assert_int_equal(l2k_transform_prepare(t, &p.image), L2K_OK);
        assert_int_equal(l2k_transform_backend(t), L2K_BACKEND_CPU);
        assert_int_equal(l2k_transform_forward(t, p.planes), L2K_OK);
        plan_forward(&p, t, spec, levels, wavelet);
        l2k_transform_free(t);
        picture_free(&p);
        assert_int_equal(w.live, 0);
        assert_int_equal(w.errors, 0);
    }
}

/* ---- Layout of the coefficients ------------------------------------------------------------------------------ */

/* B-15, in plain words. */
static int64_t band_edge(int64_t u, unsigned level, unsigned high)
{
    if (level == 0)
        return u;
    int64_t half = (int64_t)1 << (level - 1), whole = half * 2, shifted = u - (int64_t)high * half;
    return shifted <= 0 ? 0 : (shifted + whole - 1) / whole;
}

static void check_band(const l2k_transform *t, const picture *p, unsigned levels, unsigned band, uint8_t *painted)
{
    const l2k_coefficients *view = l2k_transform_coefficients(t, 0);
    const l2k_band_view *b = &view->bands[band];
    l2k_subband_info info;
    assert_int_equal(l2k_transform_subband(t, 0, band, &info), L2K_OK);
    unsigned resolution = band ? (band - 1) / 3 + 1 : 0, orientation = band ? (band - 1) % 3 + 1 : 0;
    unsigned level = resolution ? levels + 1 - resolution : levels;
    assert_int_equal(info.resolution, resolution);
    assert_int_equal(info.orientation, orientation);
    assert_int_equal(info.level, level);
    assert_int_equal(info.x0, band_edge(p->image.x0, level, orientation & 1));
    assert_int_equal(info.x1, band_edge(p->image.x1, level, orientation & 1));
    assert_int_equal(info.y0, band_edge(p->image.y0, level, orientation >> 1));
    assert_int_equal(info.y1, band_edge(p->image.y1, level, orientation >> 1));
    assert_int_equal(b->width, info.x1 - info.x0);
    assert_int_equal(b->height, info.y1 - info.y0);
    for (uint32_t y = b->y; y < b->y + b->height; y++)
        for (uint32_t x = b->x; x < b->x + b->width; x++) {
            assert_true(x < view->width && y < view->height);
            assert_int_equal(painted[y * view->width + x]++, 0);
        }
}

/* Subbands have the sizes of B-15 and together cover the view, without overlap. */
static void test_rectangles(void **unused)
{
    (void)unused;
    for (int i = 0; i < 200; i++) {
        picture p;
        picture_random(&p);
        unsigned levels = random_below(8);
        l2k_transform *t = MAKE(NULL, {L2K_TRANSFORM_LEVELS, levels});
        assert_int_equal(l2k_transform_prepare(t, &p.image), L2K_OK);
        const l2k_coefficients *view = l2k_transform_coefficients(t, 0);
        assert_int_equal(view->num_bands, 3 * levels + 1);
        assert_int_equal(view->width, p.image.x1 - p.image.x0);
        assert_int_equal(view->height, p.image.y1 - p.image.y0);
        assert_int_equal((uintptr_t)view->base % 64, 0);
        assert_int_equal(view->stride % 32, 0);
        assert_false(view->on_device);
        uint8_t *painted = calloc(view->width, view->height);
        for (unsigned band = 0; band < view->num_bands; band++)
            check_band(t, &p, levels, band, painted);
        for (size_t at = 0; at < (size_t)view->width * view->height; at++)
            assert_int_equal(painted[at], 1);
        free(painted);
        l2k_transform_free(t);
        picture_free(&p);
    }
}

/* For a tile of the same shape elsewhere, the memory stays, but the subbands' positions change. */
static void test_same_shape(void **unused)
{
    (void)unused;
    picture p;
    l2k_subband_info first, second;
    picture_make(&p, 64, 48, 1);
    l2k_transform *t = MAKE(NULL, {L2K_TRANSFORM_LEVELS, 3});
    assert_int_equal(l2k_transform_prepare(t, &p.image), L2K_OK);
    const void *base = l2k_transform_coefficients(t, 0)->base;
    assert_int_equal(l2k_transform_subband(t, 0, 4, &first), L2K_OK);
    p.image.x0 += 64;
    p.image.x1 += 64;
    assert_int_equal(l2k_transform_prepare(t, &p.image), L2K_OK);
    assert_ptr_equal(l2k_transform_coefficients(t, 0)->base, base);
    assert_int_equal(l2k_transform_subband(t, 0, 4, &second), L2K_OK);
    assert_int_equal(second.x0, first.x0 + 16);
    assert_int_equal(l2k_transform_set(t, L2K_TRANSFORM_LEVELS, 2), L2K_OK);
    assert_int_equal(l2k_transform_coefficients(t, 0)->num_bands, 10); /* until it is prepared again */
    assert_int_equal(l2k_transform_prepare(t, &p.image), L2K_OK);
    assert_int_equal(l2k_transform_coefficients(t, 0)->num_bands, 7);
    p.image.x1 = p.image.x0;
    assert_int_equal(l2k_transform_prepare(t, &p.image), L2K_ERROR_ARGUMENT);
    assert_null(l2k_transform_coefficients(t, 0));
    l2k_transform_free(t);
    picture_free(&p);
}

/* ---- Steps --------------------------------------------------------------------------------------------------- */

/* The QCD marker segment of a codestream: FF5C, length, Sqcd, then 8 or 16 bits a subband (A.6.4). */
static const uint8_t *find_qcd(const memory_file *file)
{
    for (size_t i = 0; i + 4 < file->size; i++)
        if (file->data[i] == 0xFF && file->data[i + 1] == 0x5C)
            return file->data + i + 4;
    fail();
    return NULL;
}

static void test_encoder_steps(void **unused)
{
    (void)unused;
    for (unsigned round = 0; round < 40; round++) {
        picture p;
        unsigned levels = round / 4 % 10, precision = round % 2 ? 8 : 13;
        l2k_wavelet wavelet = round & 2 ? L2K_WAVELET_9_7 : L2K_WAVELET_5_3;
        picture_shape(&p, 33, 18, 1);
        p.components[0].precision = precision;
        picture_fill(&p, 0);
        memory_file out = memory_of(NULL, 0);
        l2k_encoder *encoder = l2k_encoder_new(NULL);
        l2k_encoder_set(encoder, L2K_ENCODER_WAVELET, wavelet);
        l2k_encoder_set(encoder, L2K_ENCODER_LEVELS, levels);
        l2k_encoder_set(encoder, L2K_ENCODER_FORMAT, L2K_FORMAT_CODESTREAM);
        assert_int_equal(run_encoder(encoder, &p, &out), L2K_OK);
        l2k_encoder_free(encoder);
        l2k_transform *t = MAKE(NULL, {L2K_TRANSFORM_WAVELET, wavelet}, {L2K_TRANSFORM_LEVELS, levels});
        assert_int_equal(l2k_transform_prepare(t, &p.image), L2K_OK);
        const uint8_t *qcd = find_qcd(&out);
        unsigned guard = *qcd++ >> 5;
        for (unsigned band = 0; band <= 3 * levels; band++) {
            l2k_subband_info info;
            assert_int_equal(l2k_transform_subband(t, 0, band, &info), L2K_OK);
            unsigned written = wavelet == L2K_WAVELET_9_7 ? (unsigned)qcd[2 * band] << 8 | qcd[2 * band + 1]
                                                          : (unsigned)qcd[band] << 8;
            assert_int_equal(written >> 11, info.step.exponent);
            assert_int_equal(written & 0x7ff, info.step.mantissa);
            assert_int_equal(info.magnitude_bits, guard + info.step.exponent - 1);
        }
        l2k_transform_free(t);
        free(out.data);
        picture_free(&p);
    }
}

/* The caller's steps: those of a component take precedence over those of all, and without them the default returns. */
static void test_own_steps(void **unused)
{
    (void)unused;
    picture p;
    l2k_subband_info info;
    l2k_step all[4] = {{8, 0}, {9, 0}, {9, 1024}, {10, 2047}}, one[4] = {{5, 0}, {5, 0}, {5, 0}, {5, 0}};
    picture_make(&p, 20, 20, 2);
    l2k_transform *t = MAKE(NULL, {L2K_TRANSFORM_WAVELET, L2K_WAVELET_9_7}, {L2K_TRANSFORM_LEVELS, 1});
    assert_int_equal(l2k_transform_set_steps(t, 1, one, 4), L2K_OK);
    assert_int_equal(l2k_transform_set_steps(t, L2K_ALL_COMPONENTS, one, 4), L2K_OK);
    assert_int_equal(l2k_transform_set_steps(t, L2K_ALL_COMPONENTS, all, 4), L2K_OK);
    memset(all, 0, sizeof all); /* copied */
    assert_int_equal(l2k_transform_prepare(t, &p.image), L2K_OK);
    assert_int_equal(l2k_transform_forward(t, p.planes), L2K_OK);
    l2k_transform_subband(t, 0, 0, &info);
    assert_true(info.step_size == 1.0f && info.magnitude_bits == 9);
    l2k_transform_subband(t, 0, 2, &info);
    assert_true(info.step_size == 1.5f && info.step.exponent == 9 && info.step.mantissa == 1024);
    l2k_transform_subband(t, 1, 3, &info);
    assert_true(info.step_size == 32.0f && info.step.exponent == 5);
    assert_int_equal(l2k_transform_set_steps(t, 1, NULL, 0), L2K_OK);
    assert_int_equal(l2k_transform_prepare(t, &p.image), L2K_OK);
    l2k_transform_subband(t, 1, 3, &info);
    assert_int_equal(info.step.mantissa, 2047);
    assert_int_equal(l2k_transform_set_steps(t, 2, one, 4), L2K_OK);
    assert_int_equal(l2k_transform_prepare(t, &p.image), L2K_ERROR_ARGUMENT); /* no such component */
    l2k_transform_free(t);
    picture_free(&p);
}

/* ---- Round trips --------------------------------------------------------------------------------------------- */

static l2k_transform *forward(const picture *p, l2k_wavelet wavelet, l2k_coefficient_type type)
{
    l2k_transform *t = MAKE(NULL, {L2K_TRANSFORM_WAVELET, wavelet}, {L2K_TRANSFORM_COEFFICIENTS, type},
                            {L2K_TRANSFORM_COMPONENT_TRANSFORM, p->image.num_components >= 3});
    assert_int_equal(l2k_transform_prepare(t, &p->image), L2K_OK);
    assert_int_equal(l2k_transform_forward(t, p->planes), L2K_OK);
    return t;
}

static void double_indices(const l2k_coefficients *view)
{
    int32_t *at = view->base;
    for (size_t i = 0; i < view->stride * view->height; i++)
        if (i % view->stride < view->width)
            at[i] = at[i] > 0 ? 2 * at[i] + 1 : at[i] < 0 ? 2 * at[i] - 1 : 0;
}

/* Largest difference of a sample after forward and inverse transform. */
static int64_t round_trip(const picture *p, l2k_wavelet wavelet, l2k_coefficient_type type)
{
    picture got;
    int64_t most = 0;
    l2k_transform *there = forward(p, wavelet, type);
    l2k_transform *back =
        MAKE(NULL, {L2K_TRANSFORM_DIRECTION, L2K_INVERSE}, {L2K_TRANSFORM_WAVELET, wavelet},
             {L2K_TRANSFORM_COEFFICIENTS, type}, {L2K_TRANSFORM_COMPONENT_TRANSFORM, p->image.num_components >= 3});
    assert_int_equal(l2k_transform_prepare(back, &p->image), L2K_OK);
    l2k_image image = p->image;
    l2k_component components[MOST_CHANNELS];
    image.components = components;
    for (uint32_t c = 0; c < image.num_components; c++) {
        components[c] = p->components[c];
        components[c].width = p->width[c];
        components[c].height = p->height[c];
    }
    picture_adopt(&got, &image);
    for (uint32_t c = 0; c < image.num_components; c++) {
        copy_view(l2k_transform_coefficients(there, c), l2k_transform_coefficients(back, c));
        if (wavelet == L2K_WAVELET_9_7 && type == L2K_COEFFICIENT_INT32)
            double_indices(l2k_transform_coefficients(back, c));
    }
    assert_int_equal(l2k_transform_inverse(back, got.planes), L2K_OK);
    for (uint32_t c = 0; c < image.num_components; c++)
        for (size_t i = 0; i < (size_t)p->width[c] * p->height[c]; i++) {
            int64_t d = llabs((long long)p->samples[c][i] - got.samples[c][i]);
            most = d > most ? d : most;
        }
    picture_free(&got);
    l2k_transform_free(there);
    l2k_transform_free(back);
    return most;
}

static void test_round_trips(void **unused)
{
    (void)unused;
    for (int i = 0; i < 60; i++) {
        picture p;
        picture_random(&p);
        assert_int_equal(round_trip(&p, L2K_WAVELET_5_3, L2K_COEFFICIENT_INT16), 0);
        assert_int_equal(round_trip(&p, L2K_WAVELET_5_3, L2K_COEFFICIENT_INT32), 0);
        assert_in_range(round_trip(&p, L2K_WAVELET_9_7, L2K_COEFFICIENT_FLOAT32), 0, 1);
        assert_in_range(round_trip(&p, L2K_WAVELET_9_7, L2K_COEFFICIENT_INT32), 0, 8);
        picture_free(&p);
    }
}

/* Float samples in and out: no level shift, no rounding to integers. */
static void test_float_planes(void **unused)
{
    (void)unused;
    enum { WIDTH = 37, HEIGHT = 29 };
    static float from[HEIGHT][WIDTH], to[HEIGHT][WIDTH];
    picture p;
    picture_make(&p, WIDTH, HEIGHT, 1);
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        from[i / WIDTH][i % WIDTH] = (float)random_below(100000) / 1000.0f - 50.0f;
    l2k_plane in = {from, sizeof from[0], sizeof(float), L2K_SAMPLE_F32}, out = in;
    out.data = to;
    l2k_transform *there =
        MAKE(NULL, {L2K_TRANSFORM_WAVELET, L2K_WAVELET_9_7}, {L2K_TRANSFORM_COEFFICIENTS, L2K_COEFFICIENT_FLOAT32});
    l2k_transform *back = MAKE(NULL, {L2K_TRANSFORM_WAVELET, L2K_WAVELET_9_7}, {L2K_TRANSFORM_DIRECTION, L2K_INVERSE},
                               {L2K_TRANSFORM_COEFFICIENTS, L2K_COEFFICIENT_FLOAT32});
    assert_int_equal(l2k_transform_prepare(there, &p.image), L2K_OK);
    assert_int_equal(l2k_transform_prepare(back, &p.image), L2K_OK);
    assert_int_equal(l2k_transform_forward(there, &in), L2K_OK);
    copy_view(l2k_transform_coefficients(there, 0), l2k_transform_coefficients(back, 0));
    assert_int_equal(l2k_transform_inverse(back, &out), L2K_OK);
    for (int i = 0; i < WIDTH * HEIGHT; i++) /* 1/K is not exact in the inverse */
        assert_true(fabsf(from[i / WIDTH][i % WIDTH] - to[i / WIDTH][i % WIDTH]) < 0.05f);
    l2k_transform_free(there);
    l2k_transform_free(back);
    picture_free(&p);
}

static void test_reduced(void **unused)
{
    (void)unused;
    picture p;
    l2k_subband_info info;
    int32_t samples[7 * 9];
    l2k_plane plane = {samples, 9 * sizeof(int32_t), sizeof(int32_t), L2K_SAMPLE_S32};
    picture_make(&p, 35, 27, 1);
    l2k_transform *t =
        MAKE(NULL, {L2K_TRANSFORM_DIRECTION, L2K_INVERSE}, {L2K_TRANSFORM_LEVELS, 3}, {L2K_TRANSFORM_REDUCE, 2});
    assert_int_equal(l2k_transform_prepare(t, &p.image), L2K_OK);
    const l2k_coefficients *view = l2k_transform_coefficients(t, 0);
    assert_int_equal(view->width, 9);
    assert_int_equal(view->height, 7);
    assert_int_equal(view->num_bands, 4);
    assert_int_equal(l2k_transform_subband(t, 0, 3, &info), L2K_OK);
    assert_int_equal(info.level, 3);
    assert_int_equal(l2k_transform_subband(t, 0, 4, &info), L2K_ERROR_ARGUMENT);
    memset(view->base, 0, view->stride * view->height * sizeof(int32_t));
    assert_int_equal(l2k_transform_inverse(t, &plane), L2K_OK);
    for (size_t i = 0; i < 7 * 9; i++)
        assert_int_equal(samples[i], 128);
    l2k_transform_free(t);
    picture_free(&p);
}

/* ---- Regions ------------------------------------------------------------------------------------------------- */

/* ceil(ceil(a / d) / 2^reduce). */
static uint32_t place_of(uint32_t a, uint32_t d, unsigned reduce)
{
    return (uint32_t)((((uint64_t)a + d - 1) / d + ((1u << reduce) - 1)) >> reduce);
}

/* Copies what a transform's view holds of its subbands from that of the whole tile. */
static void give_part(const l2k_transform *whole, const l2k_transform *part, uint32_t c)
{
    const l2k_coefficients *from = l2k_transform_coefficients(whole, c), *to = l2k_transform_coefficients(part, c);
    assert_int_equal(from->num_bands, to->num_bands);
    for (unsigned band = 0; band < to->num_bands; band++) {
        l2k_subband_info all, held;
        assert_int_equal(l2k_transform_subband(whole, c, band, &all), L2K_OK);
        assert_int_equal(l2k_transform_subband(part, c, band, &held), L2K_OK);
        assert_int_equal(held.x1 - held.x0, to->bands[band].width);
        assert_int_equal(held.y1 - held.y0, to->bands[band].height);
        for (uint32_t y = held.y0; y < held.y1; y++)
            memcpy((void *)(uintptr_t)element(to, band, 0, y - held.y0),
                   element(from, band, held.x0 - all.x0, y - all.y0),
                   (held.x1 - held.x0) * l2k_coefficient_bytes(to->type));
    }
}

static void fill_view(const l2k_coefficients *view)
{
    for (size_t i = 0; i < view->stride * view->height; i++)
        ((int32_t *)view->base)[i] = (int32_t)random_below(200) - 100;
}

/* Compares the region's samples of a component with those of the tile. */
static void check_part(const picture *p, uint32_t c, unsigned reduce, const uint32_t region[4], const int32_t *whole,
                       const int32_t *part)
{
    const uint32_t dx = p->components[c].dx, dy = p->components[c].dy;
    const uint32_t x0 = place_of(p->image.x0, dx, reduce), x1 = place_of(p->image.x1, dx, reduce);
    const uint32_t y0 = place_of(p->image.y0, dy, reduce);
    const uint32_t left = place_of(region[0], dx, reduce), right = place_of(region[2], dx, reduce);
    const uint32_t top = place_of(region[1], dy, reduce), bottom = place_of(region[3], dy, reduce);
    for (uint32_t y = top; y < bottom; y++)
        assert_memory_equal(part + (size_t)(y - top) * 128, whole + (size_t)(y - y0) * (x1 - x0) + (left - x0),
                            (right - left) * sizeof(int32_t));
}

static void run_region(const picture *p, const uint32_t region[4], const setting *settings, unsigned reduce)
{
    enum { ROW = 128 };
    l2k_transform *t[2];
    int32_t *samples[2][MOST_CHANNELS];
    l2k_plane planes[2][MOST_CHANNELS];
    for (int i = 0; i < 2; i++) {
        t[i] = make(NULL, settings, 5);
        if (i == 1)
            assert_int_equal(l2k_transform_set_region(t[1], region[0], region[1], region[2], region[3]), L2K_OK);
        assert_int_equal(l2k_transform_prepare(t[i], &p->image), L2K_OK);
    }
    for (uint32_t c = 0; c < p->image.num_components; c++) {
        const uint32_t dx = p->components[c].dx;
        const uint32_t width = place_of(p->image.x1, dx, reduce) - place_of(p->image.x0, dx, reduce);
        fill_view(l2k_transform_coefficients(t[0], c));
        give_part(t[0], t[1], c);
        for (int i = 0; i < 2; i++) {
            samples[i][c] = calloc((size_t)ROW * ROW, sizeof(int32_t));
            planes[i][c] = (l2k_plane){samples[i][c], (ptrdiff_t)((i ? ROW : width) * sizeof(int32_t)), sizeof(int32_t),
                                       L2K_SAMPLE_S32};
        }
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(l2k_transform_inverse(t[i], planes[i]), L2K_OK);
    for (uint32_t c = 0; c < p->image.num_components; c++) {
        check_part(p, c, reduce, region, samples[0][c], samples[1][c]);
        free(samples[0][c]);
        free(samples[1][c]);
    }
    l2k_transform_free(t[0]);
    l2k_transform_free(t[1]);
}

/* A region gives the same samples as the tile, of every component, sub-sampled or not. */
static void test_regions(void **unused)
{
    (void)unused;
    for (int i = 0; i < 200; i++) {
        picture p;
        picture_random(&p);
        const l2k_image *tile = &p.image;
        const unsigned levels = random_below(6), reduce = random_below(levels + 1);
        const bool joined = tile->num_components >= 3 && random_below(2);
        if (!joined && tile->num_components > 1) {
            p.components[1].dx = random_between(1, 4);
            p.components[1].dy = random_between(1, 4);
        }
        const uint32_t x0 = random_between(tile->x0, tile->x1 - 1), y0 = random_between(tile->y0, tile->y1 - 1);
        const uint32_t region[4] = {x0, y0, random_between(x0 + 1, tile->x1), random_between(y0 + 1, tile->y1)};
        const setting settings[] = {{L2K_TRANSFORM_DIRECTION, L2K_INVERSE},
                                    {L2K_TRANSFORM_WAVELET, random_below(2)},
                                    {L2K_TRANSFORM_LEVELS, levels},
                                    {L2K_TRANSFORM_REDUCE, reduce},
                                    {L2K_TRANSFORM_COMPONENT_TRANSFORM, joined}};
        run_region(&p, region, settings, reduce);
        picture_free(&p);
    }
}

/* Clipped to the tile; what cannot be is refused; memory does not follow the tile's size. */
static void test_region_settings(void **unused)
{
    (void)unused;
    picture p;
    watch w;
    l2k_hooks hooks = watch_hooks(&w);
    picture_shape(&p, 1u << 15, 1u << 15, 1);
    l2k_transform *t = MAKE(&hooks, {L2K_TRANSFORM_DIRECTION, L2K_INVERSE});
    assert_int_equal(l2k_transform_set_region(t, 5, 5, 5, 9), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_transform_set_region(t, 5, 9, 7, 9), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_transform_set_region(t, 1u << 15, 0, 1u << 16, 9), L2K_OK);
    assert_int_equal(l2k_transform_prepare(t, &p.image), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_transform_set_region(t, 32000, 32000, UINT32_MAX, UINT32_MAX), L2K_OK);
    assert_int_equal(l2k_transform_prepare(t, &p.image), L2K_OK);
    assert_in_range(l2k_transform_coefficients(t, 0)->width, 768, 900);
    l2k_subband_info info;
    assert_int_equal(l2k_transform_subband(t, 0, 15, &info), L2K_OK);
    assert_int_equal(info.x1, 1 << 14);
    assert_in_range(info.x0, 15990, 16000);
    /* A device's memory, in a build that knows it. */
    uint64_t bytes;
    const size_t errors = w.errors;
    if (l2k_transform_device_bytes(t, &p.image, &bytes) == L2K_OK)
        assert_in_range(bytes, 768 * 768 * 4, 3 * 768 * 768 * 4);
    w.errors = errors;
    /* The same memory serves a region elsewhere that is cut alike. */
    assert_int_equal(l2k_transform_set_region(t, 1024, 1024, 1280, 1280), L2K_OK);
    assert_int_equal(l2k_transform_prepare(t, &p.image), L2K_OK);
    const void *base = l2k_transform_coefficients(t, 0)->base;
    assert_int_equal(l2k_transform_set_region(t, 2048, 512, 2304, 768), L2K_OK);
    assert_int_equal(l2k_transform_prepare(t, &p.image), L2K_OK);
    assert_ptr_equal(l2k_transform_coefficients(t, 0)->base, base);
    assert_int_equal(w.errors, 3);
    assert_int_equal(l2k_transform_set(t, L2K_TRANSFORM_DIRECTION, L2K_FORWARD), L2K_OK);
    assert_int_equal(l2k_transform_prepare(t, &p.image), L2K_ERROR_ARGUMENT);
    assert_int_equal(w.errors, 4);
    assert_false(w.bad_line);
    l2k_transform_free(t);
    assert_int_equal(w.live, 0);
}

/* ---- Errors -------------------------------------------------------------------------------------------------- */

static void test_ranges(void **unused)
{
    (void)unused;
    static const struct {
        l2k_transform_option option;
        int64_t least, most;
    } ranges[] = {{L2K_TRANSFORM_DIRECTION, 0, 1}, {L2K_TRANSFORM_WAVELET, 0, L2K_WAVELET_W4},
                  {L2K_TRANSFORM_LEVELS, 0, 32},   {L2K_TRANSFORM_REDUCE, 0, 32},
                  {L2K_TRANSFORM_MEMORY, 0, 1},    {L2K_TRANSFORM_COMPONENT_TRANSFORM, 0, 1},
                  {L2K_TRANSFORM_BACKEND, 0, 3},   {L2K_TRANSFORM_COEFFICIENTS, 0, 2},
                  {L2K_TRANSFORM_THREADS, 0, 1024}};
    static const l2k_step exponent = {32, 0}, mantissa = {0, 2048}, fine[98] = {{0, 0}};
    watch w;
    l2k_hooks hooks = watch_hooks(&w);
    l2k_transform *t = l2k_transform_new(&hooks);
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        unsigned errors = w.errors;
        assert_int_equal(l2k_transform_set(t, ranges[i].option, ranges[i].least), L2K_OK);
        assert_int_equal(l2k_transform_set(t, ranges[i].option, ranges[i].most), L2K_OK);
        assert_int_equal(l2k_transform_set(t, ranges[i].option, ranges[i].least - 1), L2K_ERROR_ARGUMENT);
        assert_int_equal(l2k_transform_set(t, ranges[i].option, ranges[i].most + 1), L2K_ERROR_ARGUMENT);
        assert_int_equal(w.errors, errors + 2);
    }
    unsigned errors = w.errors;
    assert_int_equal(l2k_transform_set(t, (l2k_transform_option)1000, 0), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_transform_set(t, L2K_TRANSFORM_LIMIT_SAMPLES, -1), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_transform_set_steps(t, 0, &exponent, 1), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_transform_set_steps(t, 0, &mantissa, 1), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_transform_set_steps(t, 0, NULL, 1), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_transform_set_steps(t, 0, fine, 98), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_transform_set_steps(t, L2K_MAX_COMPONENTS, fine, 1), L2K_ERROR_ARGUMENT);
    assert_int_equal(w.errors, errors + 7);
    assert_int_equal(l2k_transform_set_steps(t, 0, fine, 97), L2K_OK);
    l2k_transform_free(t);
    l2k_transform_free(NULL);
    assert_int_equal(w.live, 0);
    assert_false(w.bad_line);
}

typedef struct fault {
    const char *says; /* a part of the message */
    setting settings[3];
    uint32_t components;
    void (*spoil)(picture *p);
    l2k_status status;
} fault;

static void spoil_area(picture *p)
{
    p->image.y0 = p->image.y1;
}
static void spoil_sub_sampling(picture *p)
{
    p->components[0].dx = 0;
}
static void spoil_large_sub_sampling(picture *p)
{
    p->components[0].dy = 256;
}
static void spoil_precision(picture *p)
{
    p->components[0].precision = 0;
}
static void spoil_deep(picture *p)
{
    p->components[0].precision = 25;
}
static void spoil_17(picture *p)
{
    p->components[0].precision = 17;
}
static void spoil_13(picture *p)
{
    p->components[0].precision = 13;
}
static void spoil_likeness(picture *p)
{
    p->components[2].precision = 9;
}
static void spoil_count(picture *p)
{
    p->image.num_components = 0;
}
static void spoil_large_count(picture *p)
{
    p->image.num_components = L2K_MAX_COMPONENTS + 1;
}
static void spoil_components(picture *p)
{
    p->image.components = NULL;
}
static void spoil_nothing(picture *p)
{
    (void)p;
}

#define OPTION(name, value)                                                                                            \
    {                                                                                                                  \
        L2K_TRANSFORM_##name, value                                                                                    \
    }

/* Every error has its status and one message, takes no memory, and leaves the transform usable. */
static void test_faults(void **unused)
{
    (void)unused;
    static const fault faults[] = {
        {"area", {OPTION(LEVELS, 5)}, 1, spoil_area, L2K_ERROR_ARGUMENT},
        {"sub-sampling", {OPTION(LEVELS, 5)}, 1, spoil_sub_sampling, L2K_ERROR_ARGUMENT},
        {"sub-sampling", {OPTION(LEVELS, 5)}, 1, spoil_large_sub_sampling, L2K_ERROR_ARGUMENT},
        {"precision", {OPTION(LEVELS, 5)}, 1, spoil_precision, L2K_ERROR_ARGUMENT},
        {"precision", {OPTION(LEVELS, 5)}, 1, spoil_deep, L2K_ERROR_ARGUMENT},
        {"precision", {OPTION(WAVELET, L2K_WAVELET_9_7)}, 1, spoil_17, L2K_ERROR_ARGUMENT},
        {"int16", {OPTION(COEFFICIENTS, L2K_COEFFICIENT_INT16)}, 1, spoil_13, L2K_ERROR_ARGUMENT},
        {"components", {OPTION(LEVELS, 5)}, 1, spoil_count, L2K_ERROR_ARGUMENT},
        {"components", {OPTION(LEVELS, 5)}, 1, spoil_large_count, L2K_ERROR_ARGUMENT},
        {"components", {OPTION(LEVELS, 5)}, 1, spoil_components, L2K_ERROR_ARGUMENT},
        {"three", {OPTION(COMPONENT_TRANSFORM, 1)}, 2, spoil_nothing, L2K_ERROR_ARGUMENT},
        {"three", {OPTION(COMPONENT_TRANSFORM, 1)}, 3, spoil_likeness, L2K_ERROR_ARGUMENT},
        {"inverse", {OPTION(REDUCE, 1)}, 1, spoil_nothing, L2K_ERROR_ARGUMENT},
        {"left out", {OPTION(DIRECTION, L2K_INVERSE), OPTION(REDUCE, 6)}, 1, spoil_nothing, L2K_ERROR_ARGUMENT},
        {"5/3", {OPTION(COEFFICIENTS, L2K_COEFFICIENT_FLOAT32)}, 1, spoil_nothing, L2K_ERROR_ARGUMENT},
        {"device", {OPTION(BACKEND, L2K_BACKEND_CPU), OPTION(MEMORY, 1)}, 1, spoil_nothing, L2K_ERROR_ARGUMENT},
        {"limit", {OPTION(LIMIT_SAMPLES, 30 * 20 - 1)}, 1, spoil_nothing, L2K_ERROR_LIMIT},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        picture p;
        watch w;
        l2k_hooks hooks = watch_hooks(&w);
        uint64_t bytes;
        picture_make(&p, 30, 20, faults[i].components);
        l2k_transform *t = l2k_transform_new(&hooks);
        for (size_t k = 0; k < 3 && (k == 0 || faults[i].settings[k].option); k++)
            assert_int_equal(l2k_transform_set(t, faults[i].settings[k].option, faults[i].settings[k].value), L2K_OK);
        size_t live = w.live;
        faults[i].spoil(&p);
        assert_int_equal(l2k_transform_prepare(t, &p.image), faults[i].status);
        assert_int_equal(w.errors, 1);
        assert_non_null(strstr(w.text, faults[i].says));
        assert_int_equal(l2k_transform_device_bytes(t, &p.image, &bytes), faults[i].status);
        assert_int_equal(w.errors, 2);
        assert_int_equal(w.live, live);
        assert_false(w.bad_line);
        l2k_transform_free(t);
        assert_int_equal(w.live, 0);
        picture_free(&p);
    }
}

static void test_step_faults(void **unused)
{
    (void)unused;
    static const l2k_step steps[16] = {{8, 0}};
    picture p;
    watch w;
    l2k_hooks hooks = watch_hooks(&w);
    picture_make(&p, 30, 20, 1);
    l2k_transform *t = l2k_transform_new(&hooks);
    assert_int_equal(l2k_transform_prepare(t, NULL), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_transform_set_steps(t, L2K_ALL_COMPONENTS, steps, 15), L2K_OK);
    assert_int_equal(l2k_transform_prepare(t, &p.image), L2K_ERROR_ARGUMENT); /* 5/3 has none */
    l2k_transform_set(t, L2K_TRANSFORM_WAVELET, L2K_WAVELET_9_7);
    assert_int_equal(l2k_transform_prepare(t, &p.image), L2K_ERROR_ARGUMENT); /* one too few */
    assert_int_equal(w.errors, 3);
    assert_int_equal(l2k_transform_set_steps(t, L2K_ALL_COMPONENTS, steps, 16), L2K_OK);
    assert_int_equal(l2k_transform_prepare(t, &p.image), L2K_OK);
    assert_int_equal(w.errors, 3);
    l2k_transform_free(t);
    assert_int_equal(w.live, 0);
    picture_free(&p);
}

static void test_states(void **unused)
{
    (void)unused;
    picture p;
    watch w;
    l2k_hooks hooks = watch_hooks(&w);
    l2k_subband_info info;
    picture_make(&p, 30, 20, 1);
    l2k_transform *t = MAKE(&hooks, {L2K_TRANSFORM_LEVELS, 2});
    assert_int_equal(l2k_transform_forward(t, p.planes), L2K_ERROR_STATE);
    assert_int_equal(l2k_transform_inverse(t, p.planes), L2K_ERROR_STATE);
    assert_int_equal(l2k_transform_forward_on_device(t, p.planes, NULL), L2K_ERROR_STATE);
    assert_int_equal(l2k_transform_inverse_on_device(t, p.planes, NULL), L2K_ERROR_STATE);
    assert_int_equal(l2k_transform_subband(t, 0, 0, &info), L2K_ERROR_STATE);
    assert_null(l2k_transform_coefficients(t, 0));
    assert_int_equal(w.errors, 6);
    assert_int_equal(l2k_transform_prepare(t, &p.image), L2K_OK);
    assert_int_equal(l2k_transform_inverse(t, p.planes), L2K_ERROR_STATE);
    assert_int_equal(l2k_transform_forward_on_device(t, p.planes, NULL), L2K_ERROR_STATE);
    assert_int_equal(l2k_transform_inverse_on_device(t, p.planes, NULL), L2K_ERROR_STATE);
    assert_int_equal(l2k_transform_subband(t, 1, 0, &info), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_transform_subband(t, 0, 7, &info), L2K_ERROR_ARGUMENT);
    assert_null(l2k_transform_coefficients(t, 1));
    assert_int_equal(l2k_transform_forward(t, NULL), L2K_ERROR_ARGUMENT);
    assert_int_equal(w.errors, 13);
    assert_int_equal(l2k_transform_forward(t, p.planes), L2K_OK);
    assert_int_equal(w.errors, 13);
    assert_false(w.bad_line);
    l2k_transform_free(t);
    assert_int_equal(w.live, 0);
    picture_free(&p);
}

static void test_bad_planes(void **unused)
{
    (void)unused;
    picture p;
    watch w;
    l2k_hooks hooks = watch_hooks(&w);
    picture_make(&p, 30, 20, 1);
    l2k_transform *t = MAKE(&hooks, {L2K_TRANSFORM_LEVELS, 2});
    assert_int_equal(l2k_transform_prepare(t, &p.image), L2K_OK);
    l2k_plane good = p.planes[0], bad[6] = {good, good, good, good, good, good};
    bad[0].data = NULL;
    bad[1].type = L2K_SAMPLE_S8; /* cannot hold 0 .. 255 */
    bad[2].type = (l2k_sample_type)77;
    bad[3].type = L2K_SAMPLE_F32; /* not with the 5/3 */
    bad[4].row_stride += 2;
    bad[5].data = (uint8_t *)good.data + 1;
    for (unsigned i = 0; i < 6; i++) {
        assert_int_equal(l2k_transform_forward(t, &bad[i]), L2K_ERROR_ARGUMENT);
        assert_int_equal(w.errors, i + 1);
    }
    assert_int_equal(l2k_transform_forward(t, &good), L2K_OK);
    l2k_transform_free(t);
    picture_free(&p);
}

/* Tile-components may have no samples: sub-sampling can do that to narrow tiles. */
static void test_empty_component(void **unused)
{
    (void)unused;
    picture p;
    picture_make(&p, 30, 20, 2);
    p.image.x0 = 1;
    p.image.x1 = 2;
    p.components[1].dx = 4;
    p.planes[1].data = NULL;
    l2k_transform *t = MAKE(NULL, {L2K_TRANSFORM_LEVELS, 3});
    assert_int_equal(l2k_transform_prepare(t, &p.image), L2K_OK);
    assert_int_equal(l2k_transform_coefficients(t, 1)->width, 0);
    assert_int_equal(l2k_transform_forward(t, p.planes), L2K_OK);
    l2k_transform_free(t);
    picture_free(&p);
}

/* Every instruction set gives the same coefficients; an unavailable one is refused when the transform is prepared. */
static void test_instruction_sets(void **unused)
{
    (void)unused;
    picture p;
    watch w;
    l2k_hooks hooks = watch_hooks(&w);
    picture_make(&p, 90, 70, 3);
    l2k_transform *plain = MAKE(&hooks, {L2K_TRANSFORM_WAVELET, L2K_WAVELET_9_7}, {L2K_TRANSFORM_CPU, L2K_CPU_C});
    assert_int_equal(l2k_transform_prepare(plain, &p.image), L2K_OK);
    assert_int_equal(l2k_transform_forward(plain, p.planes), L2K_OK);
    l2k_transform *t = MAKE(&hooks, {L2K_TRANSFORM_WAVELET, L2K_WAVELET_9_7});
    for (int cpu = L2K_CPU_AUTO; cpu <= L2K_CPU_SIMD128; cpu++) {
        const unsigned errors = w.errors;
        assert_int_equal(l2k_transform_set(t, L2K_TRANSFORM_CPU, cpu), L2K_OK);
        if (!l2k_cpu_usable((l2k_cpu)cpu)) {
            assert_int_equal(l2k_transform_prepare(t, &p.image), L2K_ERROR_BACKEND);
            assert_int_equal(w.errors, errors + 1);
            assert_non_null(strstr(w.text, l2k_cpu_name((l2k_cpu)cpu)));
            continue;
        }
        assert_int_equal(l2k_transform_prepare(t, &p.image), L2K_OK);
        assert_int_equal(l2k_transform_forward(t, p.planes), L2K_OK);
        for (uint32_t c = 0; c < 3; c++)
            assert_views_equal(l2k_transform_coefficients(t, c), l2k_transform_coefficients(plain, c));
    }
    assert_int_equal(l2k_transform_set(t, L2K_TRANSFORM_CPU, L2K_CPU_SIMD128 + 1), L2K_ERROR_ARGUMENT);
    l2k_transform_free(t);
    l2k_transform_free(plain);
    assert_int_equal(w.live, 0);
    picture_free(&p);
}

/* Device memory in builds without CUDA and on machines without a GPU. */
static void test_no_device(void **unused)
{
    (void)unused;
    picture p;
    watch w;
    char text[200];
    uint64_t bytes;
    l2k_hooks hooks = watch_hooks(&w);
    if (l2k_backend_usable(L2K_BACKEND_CUDA, text, sizeof text)) {
        print_message("found a GPU: %s\n", text);
        skip();
    }
    picture_make(&p, 30, 20, 1);
    l2k_transform *t = MAKE(&hooks, {L2K_TRANSFORM_MEMORY, L2K_MEMORY_DEVICE});
    assert_int_equal(l2k_transform_prepare(t, &p.image), L2K_ERROR_BACKEND);
    assert_int_equal(w.errors, 1);
    assert_non_null(strstr(w.text, "CUDA"));
    l2k_transform_set(t, L2K_TRANSFORM_MEMORY, L2K_MEMORY_HOST);
    l2k_transform_set(t, L2K_TRANSFORM_BACKEND, L2K_BACKEND_CUDA);
    assert_int_equal(l2k_transform_prepare(t, &p.image), L2K_ERROR_BACKEND);
    assert_int_equal(w.errors, 2);
    l2k_status status = l2k_transform_device_bytes(t, &p.image, &bytes); /* needs the build, but no GPU */
    assert_true(status == L2K_OK ? bytes > 0 : status == L2K_ERROR_BACKEND && w.errors == 3);
    assert_false(w.bad_line);
    l2k_transform_free(t);
    assert_int_equal(w.live, 0);
    picture_free(&p);
}

/* The n-th allocation fails and all after it, for every n until none fails. */
static void test_failing_allocations(void **unused)
{
    (void)unused;
    static const l2k_step steps[16] = {{8, 0}};
    picture p;
    picture_make(&p, 40, 30, 3);
    l2k_status status = L2K_ERROR_MEMORY;
    for (size_t n = 0; status != L2K_OK; n++) {
        watch w;
        l2k_hooks hooks = watch_hooks(&w);
        w.fail_at = n;
        l2k_transform *t = l2k_transform_new(&hooks);
        assert_true(t || n == 0);
        if (!t)
            continue;
        l2k_transform_set(t, L2K_TRANSFORM_THREADS, 1);
        l2k_transform_set(t, L2K_TRANSFORM_WAVELET, L2K_WAVELET_9_7);
        status = l2k_transform_set_steps(t, 1, steps, 16);
        if (status == L2K_OK)
            status = l2k_transform_prepare(t, &p.image);
        if (status == L2K_OK)
            status = l2k_transform_forward(t, p.planes);
        l2k_transform_set(t, L2K_TRANSFORM_DIRECTION, L2K_INVERSE);
        l2k_transform_set_region(t, 5, 6, 20, 21);
        if (status == L2K_OK)
            status = l2k_transform_prepare(t, &p.image);
        assert_true(status == L2K_OK || status == L2K_ERROR_MEMORY);
        assert_int_equal(w.errors, status != L2K_OK);
        l2k_transform_free(t);
        assert_int_equal(w.live, 0);
        assert_false(w.bad_line);
    }
    picture_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equals_plan),
        cmocka_unit_test(test_rectangles),
        cmocka_unit_test(test_same_shape),
        cmocka_unit_test(test_encoder_steps),
        cmocka_unit_test(test_own_steps),
        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_float_planes),
        cmocka_unit_test(test_reduced),
        cmocka_unit_test(test_regions),
        cmocka_unit_test(test_region_settings),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_step_faults),
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_bad_planes),
        cmocka_unit_test(test_empty_component),
        cmocka_unit_test(test_instruction_sets),
        cmocka_unit_test(test_no_device),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
