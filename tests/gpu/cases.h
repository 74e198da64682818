/* Random shapes for the GPU tests, planes with guard bands, and bit-exact comparison. */
#ifndef L2K_TESTS_GPU_CASES_H
#define L2K_TESTS_GPU_CASES_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sample.h"
#include "device.h"
#include "transform/device.h"
#include "transform/window.h"

enum { FEW_COMPONENTS = 4, MAX_COMPONENTS = 20, GUARD = 64 };

static uint64_t state;

static uint32_t next_random(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

static uint32_t below(uint32_t n)
{
    return next_random() % n;
}

typedef struct test_case {
    l2k_plan_component components[MAX_COMPONENTS];
    l2k_plan_spec spec;
    l2k_sample_type type;
    bool interleaved;
    bool pinned;
    unsigned padding;     /* samples after each row, and before the first */
    bool lines_up;        /* rows are multiples of 64 bytes, so that all of them are aligned as the first one */
    unsigned narrow_bits; /* of coefficients if LL samples have 16 bits */
    unsigned extreme;     /* 0 random, 1 only the ends of the range, 2 smooth */
} test_case;

static uint32_t random_side(uint32_t most)
{
    switch (below(4)) {
    case 0:
        return 1 + below(9);
    case 1:
        return 1 + below(70);
    default:
        return 1 + below(most);
    }
}

static l2k_sample_type type_for(unsigned precision, bool is_signed)
{
    if (below(4) == 0)
        return L2K_SAMPLE_S32;
    if (is_signed)
        return precision <= 8 ? L2K_SAMPLE_S8 : L2K_SAMPLE_S16;
    return precision <= 8 ? L2K_SAMPLE_U8 : L2K_SAMPLE_U16;
}

/* The wavelets of all cases; -1: 5/3 or 9/7. A kernel's descriptor is measured once. */
static int chosen_wavelet = -1;
static l2k_wavelet_descriptor chosen_kernel;

static inline void choose_wavelet(const l2k_context *context, int wavelet)
{
    int64_t number;
    chosen_wavelet = wavelet;
    if (wavelet > L2K_WAVELET_9_7 &&
        l2k_wavelet_take_kernel(context, &l2k_wavelet_get((l2k_wavelet)wavelet)->kernel, &chosen_kernel, &number))
        exit(1);
}

/* A kernel's coefficients have 15 bits in the worst case, quantised with the finest step that there is here. */
static bool kernel_fits_int16(unsigned precision, unsigned levels)
{
    double most = 1;
    for (unsigned level = 1; level <= levels; level++)
        for (unsigned o = 0; o < 4; o++)
            most = fmax(most, l2k_wavelet_gain(&chosen_kernel, level, level, o));
    return ldexp(most, (int)precision) * (chosen_kernel.quantised ? 32 : 1) < 32000;
}

/* int16 coefficients only where the encoder would choose them: Mb <= 15. */
static bool fits_int16(unsigned precision, l2k_wavelet wavelet, unsigned levels)
{
    if (wavelet > L2K_WAVELET_9_7)
        return kernel_fits_int16(precision, levels);
    return wavelet == L2K_WAVELET_5_3 ? precision + 3 <= 15 : precision + 2 + levels <= 15;
}

static void make_case(test_case *t, uint32_t most)
{
    memset(t, 0, sizeof *t);
    unsigned precision = below(3) == 0 ? 1 + below(16) : below(2) ? 8 : 12;
    bool is_signed = below(4) == 0;
    uint32_t x0 = below(3) ? below(300) : 0, y0 = below(3) ? below(300) : 0;
    l2k_wavelet wavelet = below(2) ? L2K_WAVELET_9_7 : L2K_WAVELET_5_3;
    if (chosen_wavelet >= 0)
        wavelet = (l2k_wavelet)chosen_wavelet;
    unsigned levels = below(9);
    const bool many = below(6) == 0; /* alike, most of the time: they share launches */
    t->spec.num_components = many ? 8 + below(MAX_COMPONENTS - 7) : 1 + below(FEW_COMPONENTS);
    const uint32_t width = random_side(many ? most / 4 : most), height = random_side(many ? most / 4 : most);
    /* Kernels with a component transform are the CPU's. */
    const bool joined = t->spec.num_components >= 3 && below(3) > 0 && wavelet <= L2K_WAVELET_9_7;
    t->spec.component_transform = joined;
    const bool mixed = joined && below(6) == 0; /* components of one transform that differ in their signs */
    t->type = mixed ? L2K_SAMPLE_S32 : type_for(precision, is_signed);
    if (below(8) == 0)
        t->type = L2K_SAMPLE_S32;
    t->interleaved = below(2);
    t->pinned = below(2);
    t->padding = below(5);
    t->lines_up = below(3) == 0;
    t->extreme = below(3);
    for (uint32_t c = 0; c < t->spec.num_components; c++) {
        l2k_plan_component *p = &t->components[c];
        *p = (l2k_plan_component){.rect = {x0, y0, x0 + width, y0 + height},
                                  .levels = levels,
                                  .wavelet = wavelet,
                                  .own = wavelet > L2K_WAVELET_9_7 ? &chosen_kernel : NULL,
                                  .precision = joined || below(3) ? precision : 1 + below(precision),
                                  .is_signed = is_signed ^ (mixed && below(2))};
        for (unsigned b = 0; b < L2K_MAX_SUBBANDS; b++)
            p->steps[b] = (1 + (float)below(2048) / 2048) / (float)(1 << below(5));
        if (many && c > 0 && below(20))
            memcpy(p->steps, t->components[0].steps, sizeof p->steps);
    }
    t->spec.components = t->components;
    t->spec.type = below(2) && fits_int16(precision, wavelet, levels) ? L2K_COEFFICIENT_INT16 : L2K_COEFFICIENT_INT32;
    if (l2k_wavelet_get(wavelet)->is_float && below(4) == 0)
        t->spec.type = L2K_COEFFICIENT_FLOAT32;
}

/* ---- Planes with guard bands --------------------------------------------------------------------------------- */

typedef struct picture {
    uint8_t *memory;
    size_t bytes;
    bool pinned;
    l2k_plane planes[MAX_COMPONENTS];
    uint32_t width, height;
} picture;

static picture make_picture(const test_case *t, unsigned discard)
{
    picture p = {.pinned = t->pinned};
    l2k_rect r = l2k_has_window(&t->components[0]) ? l2k_output_rect(&t->components[0])
                                                   : l2k_resolution_rect(t->components[0].rect, discard);
    size_t size = l2k_sample_bytes(t->type), count = t->spec.num_components, step = size * (t->interleaved ? count : 1);
    p.width = l2k_rect_width(r);
    p.height = l2k_rect_height(r);
    size_t row = p.width * step + size * t->padding, first = GUARD + size * t->padding;
    if (t->lines_up) { /* some with the window's first sample in the middle of what a lane of the device has */
        row = (row + 63) / 64 * 64;
        first = GUARD + (t->padding % 2 ? r.x0 % 8 * step : 0);
    }
    size_t plane = row * p.height;
    p.bytes = first + (t->interleaved ? plane : plane * count) + GUARD;
    p.memory = p.pinned ? gpu_take_pinned(p.bytes) : malloc(p.bytes);
    if (!p.memory)
        exit(1);
    memset(p.memory, 0xA5, p.bytes);
    for (size_t c = 0; c < count; c++)
        p.planes[c] = (l2k_plane){p.memory + first + (t->interleaved ? c * size : c * plane), (ptrdiff_t)row,
                                  (ptrdiff_t)(t->interleaved ? count * size : size), t->type};
    return p;
}

static void free_picture(const picture *p)
{
    if (p->pinned)
        gpu_give_back_pinned(p->memory);
    else
        free(p->memory);
}

static int32_t random_sample(const test_case *t, uint32_t c, uint32_t x, uint32_t y)
{
    int32_t low = t->components[c].is_signed ? -(1 << (t->components[c].precision - 1)) : 0;
    uint32_t range = 1u << t->components[c].precision;
    if (t->extreme == 1)
        return below(2) ? low : low + (int32_t)(range - 1);
    if (t->extreme == 2)
        return low + (int32_t)((x * 3 + y * 5 + below(3)) % range);
    return low + (int32_t)below(range);
}

static void fill_picture(const test_case *t, const picture *p)
{
    for (uint32_t c = 0; c < t->spec.num_components; c++)
        for (uint32_t y = 0; y < p->height; y++)
            for (uint32_t x = 0; x < p->width; x++) {
                int32_t v = random_sample(t, c, x, y);
                float f = (float)v * 0.77f;
                memcpy(l2k_sample_at(&p->planes[c], x, y), t->type == L2K_SAMPLE_F32 ? (void *)&f : (void *)&v,
                       l2k_sample_bytes(t->type));
            }
}

/* ---- Comparison ---------------------------------------------------------------------------------------------- */

static void describe(const test_case *t, const char *what)
{
    static const char *const types[] = {"u8", "s8", "u16", "s16", "s32", "f32"};
    const l2k_plan_component *p = &t->components[0];
    fprintf(
        stderr,
        "%s: %s x %u%s%s, %u x %u at %u,%u, window %u,%u,%u,%u, %u levels (%u left out), %u bit %s, samples %s %s%s%s, "
        "coefficients %d\n",
        what, l2k_wavelet_get(p->wavelet)->name, t->spec.num_components, t->spec.component_transform ? " joined" : "",
        t->spec.direction == L2K_INVERSE ? " inverse" : " forward", l2k_rect_width(p->rect), l2k_rect_height(p->rect),
        p->rect.x0, p->rect.y0, p->window.x0, p->window.y0, p->window.x1, p->window.y1, p->levels, p->discard,
        p->precision, p->is_signed ? "signed" : "unsigned", types[t->type], t->interleaved ? "interleaved" : "planar",
        t->pinned ? " pinned" : "", l2k_plan_on_device(&t->spec) ? " on the device" : "", (int)t->spec.type);
}

static double value_at(const l2k_coefficients *view, size_t i)
{
    if (view->type == L2K_COEFFICIENT_INT16)
        return ((const int16_t *)view->base)[i];
    return view->type == L2K_COEFFICIENT_INT32 ? ((const int32_t *)view->base)[i] : ((const float *)view->base)[i];
}

static void describe_row(const l2k_coefficients *a, const l2k_coefficients *b, uint32_t n, uint32_t y)
{
    const l2k_band_view *band = &a->bands[n];
    size_t at = (band->y + y) * a->stride + band->x;
    uint32_t x = 0, differ = 0;
    for (uint32_t i = 0; i < band->width; i++)
        if (value_at(a, at + i) != value_at(b, at + i) && differ++ == 0)
            x = i;
    fprintf(stderr, "band %u (%u x %u), row %u: %u differ, first at %u: %.9g and %.9g\n", n, band->width, band->height,
            y, differ, x, value_at(a, at + x), value_at(b, at + x));
}

/* Compares subband by subband: the rows between them are unused. */
static bool same_coefficients(const l2k_coefficients *a, const l2k_coefficients *b)
{
    size_t size = l2k_coefficient_bytes(a->type);
    for (uint32_t n = 0; n < a->num_bands; n++) {
        const l2k_band_view *band = &a->bands[n];
        for (uint32_t y = 0; y < band->height; y++) {
            size_t at = ((band->y + y) * a->stride + band->x) * size;
            if (memcmp((uint8_t *)a->base + at, (uint8_t *)b->base + at, band->width * size) != 0) {
                describe_row(a, b, n, y);
                return false;
            }
        }
    }
    return true;
}

static size_t view_bytes(const l2k_coefficients *view)
{
    return view->stride * view->height * l2k_coefficient_bytes(view->type);
}

/* The memory after the rows of a view is unused and stays 0. */
static bool guard_is_clean(const l2k_coefficients *view)
{
    uint8_t guard[256];
    const uint8_t *at = (uint8_t *)view->base + view_bytes(view);
    if (view->on_device)
        gpu_copy_out(guard, at, sizeof guard);
    else
        memcpy(guard, at, sizeof guard);
    for (size_t i = 0; i < sizeof guard; i++)
        if (guard[i])
            return false;
    return true;
}

static void poison(const l2k_coefficients *view)
{
    memset(view->base, 0x5A, view_bytes(view));
}

static void fill_coefficients(const test_case *t, const l2k_coefficients *a, const l2k_coefficients *b)
{
    size_t count = a->stride * a->height;
    const int32_t most = (1 << t->narrow_bits) - 1;
    for (size_t i = 0; i < count; i++) {
        int32_t v = below(3) ? (int32_t)below(64) - 32 : (int32_t)below(1u << 13) - (1 << 12);
        if (t->components[0].narrow_low)
            v = t->extreme == 1 ? (below(2) ? most : -most) : (int32_t)below(2 * (uint32_t)most + 1) - most;
        else if (t->extreme == 1 && a->type != L2K_COEFFICIENT_FLOAT32)
            v = a->type == L2K_COEFFICIENT_INT16 ? (below(2) ? INT16_MIN : INT16_MAX) : (int32_t)(next_random() * 2);
        if (a->type == L2K_COEFFICIENT_FLOAT32)
            ((float *)a->base)[i] = ((float *)b->base)[i] = (float)v * 0.37f;
        else if (a->type == L2K_COEFFICIENT_INT16)
            ((int16_t *)a->base)[i] = ((int16_t *)b->base)[i] = (int16_t)v;
        else
            ((int32_t *)a->base)[i] = ((int32_t *)b->base)[i] = v;
    }
}

#endif
