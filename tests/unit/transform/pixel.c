/* tiling/pixel/: scalars compared with the equations of Annex G; rows of every sample type, distance and address
 * compared with the scalars; and nothing written outside the samples. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tiling/pixel/pixel_rows.h"

static uint32_t state = 5;

static uint32_t random_u32(void)
{
    state = state * 1664525u + 1013904223u;
    return state ^ state >> 15;
}

static void test_level_shift(void **unused)
{
    (void)unused;
    l2k_level_shift u8 = l2k_level_shift_make(8, 0), s8 = l2k_level_shift_make(8, 1), u31 = l2k_level_shift_make(31, 0);
    assert_int_equal(l2k_shift_down(0, u8), -128);
    assert_int_equal(l2k_shift_down(255, u8), 127);
    assert_int_equal(l2k_shift_down(-128, s8), -128);
    assert_int_equal(l2k_shift_up(127, u8), 255);
    assert_int_equal(l2k_shift_up(128, u8), 255);
    assert_int_equal(l2k_shift_up(-1000, u8), 0);
    assert_int_equal(l2k_shift_up(INT32_MAX, u31), INT32_MAX);
    assert_int_equal(l2k_shift_up(INT32_MIN, u31), 0);
    assert_int_equal(l2k_shift_up(INT32_MAX, s8), 127);
    assert_int_equal(l2k_shift_up_f32(2.5f, s8), 2);
    assert_int_equal(l2k_shift_up_f32(3.5f, s8), 4);
    assert_int_equal(l2k_shift_up_f32(1e30f, u8), 255);
    assert_int_equal(l2k_shift_up_f32(-1e30f, u8), 0);
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a >= 0 ? a / b : -((-a + b - 1) / b);
}

static void test_component_transforms(void **unused)
{
    (void)unused;
    for (int i = 0; i < 100000; i++) {
        int32_t rgb[3], c[3];
        for (int k = 0; k < 3; k++)
            c[k] = rgb[k] = (int32_t)(random_u32() >> 5) - (1 << 26);
        l2k_rct_forward(&c[0], &c[1], &c[2]);
        assert_int_equal(c[0], floor_div((int64_t)rgb[0] + 2 * (int64_t)rgb[1] + rgb[2], 4)); /* G-3 to G-5 */
        assert_int_equal(c[1], rgb[2] - rgb[1]);
        assert_int_equal(c[2], rgb[0] - rgb[1]);
        l2k_rct_inverse(&c[0], &c[1], &c[2]);
        assert_memory_equal(c, rgb, sizeof c);

        float f[3] = {(float)(rgb[0] >> 15), (float)(rgb[1] >> 15), (float)(rgb[2] >> 15)}, g[3];
        memcpy(g, f, sizeof g);
        l2k_ict_forward(&g[0], &g[1], &g[2]);
        assert_true(fabs(g[0] - (0.299 * f[0] + 0.587 * f[1] + 0.114 * f[2])) < 1e-2); /* G-9 to G-11 */
        assert_true(fabs(g[1] - (-0.16875 * f[0] - 0.33126 * f[1] + 0.5 * f[2])) < 1e-2);
        assert_true(fabs(g[2] - (0.5 * f[0] - 0.41869 * f[1] - 0.08131 * f[2])) < 1e-2);
        l2k_ict_inverse(&g[0], &g[1], &g[2]);
        for (int k = 0; k < 3; k++)
            assert_true(fabs(g[k] - f[k]) < 0.5);
    }
}

/* ---- Rows ---------------------------------------------------------------------------------------------------- */

static const size_t sizes[] = {1, 1, 2, 2, 4};
#define MAX_SAMPLES 2100 /* more than the component transforms take in one piece */

/* `rows` are MAX_SAMPLES values apart. */
static void load(bool is_float, unsigned components, const l2k_pixel_row *pixels, size_t n, void *rows)
{
    uint32_t *first = rows;
    l2k_pixels_load(l2k_pixel_rows_get(L2K_CPU_AUTO), is_float, components, pixels, n,
                    (void *[3]){first, first + MAX_SAMPLES, first + 2 * MAX_SAMPLES});
}

static void store(bool is_float, unsigned components, const l2k_pixel_row *pixels, size_t n, void *rows)
{
    uint32_t *first = rows;
    l2k_pixels_store(l2k_pixel_rows_get(L2K_CPU_AUTO), is_float, components, pixels, n,
                     (void *[3]){first, first + MAX_SAMPLES, first + 2 * MAX_SAMPLES});
}

static int32_t get(const uint8_t *at, l2k_sample_type type)
{
    int16_t s16;
    uint16_t u16;
    int32_t s32;
    memcpy(&s16, at, sizes[type] < 2 ? 1 : 2);
    memcpy(&u16, at, sizes[type] < 2 ? 1 : 2);
    if (type == L2K_SAMPLE_U8)
        return *at;
    if (type == L2K_SAMPLE_S8)
        return (int8_t)*at;
    if (type == L2K_SAMPLE_S32) {
        memcpy(&s32, at, 4);
        return s32;
    }
    return type == L2K_SAMPLE_U16 ? u16 : s16;
}

static void one_row(l2k_sample_type type, ptrdiff_t stride, size_t offset, size_t n)
{
    static _Alignas(64) uint8_t memory[MAX_SAMPLES * 16 + 64], copy[sizeof memory];
    int32_t rows_i[3][MAX_SAMPLES];
    float rows_f[3][MAX_SAMPLES];
    unsigned precision = type <= L2K_SAMPLE_S8 ? 8 : type <= L2K_SAMPLE_S16 ? 16 : 22;
    int is_signed = type == L2K_SAMPLE_S8 || type == L2K_SAMPLE_S16 || type == L2K_SAMPLE_S32;
    l2k_level_shift shift = l2k_level_shift_make(precision, is_signed);
    size_t start = offset + (stride < 0 ? (size_t)-stride * (n - 1) : 0);
    l2k_pixel_row row = {memory + start, stride, type, shift};
    for (size_t i = 0; i < sizeof memory; i++)
        copy[i] = memory[i] = (uint8_t)random_u32();
    for (size_t i = 0; type == L2K_SAMPLE_S32 && i < n; i++) { /* within the precision */
        int32_t v = (int32_t)random_u32() >> 10;
        memcpy(memory + start + (ptrdiff_t)i * stride, &v, 4);
        memcpy(copy + start + (ptrdiff_t)i * stride, &v, 4);
    }
    load(false, 1, &row, n, rows_i[0]);
    load(true, 1, &row, n, rows_f[0]);
    assert_memory_equal(memory, copy, sizeof memory);
    for (size_t i = 0; i < n; i++) {
        uint8_t *at = memory + start + (ptrdiff_t)i * stride;
        assert_int_equal(rows_i[0][i], l2k_shift_down(get(at, type), shift));
        assert_true(rows_f[0][i] == (float)rows_i[0][i]);
        memset(at, 0x5a, sizes[type]);
    }
    store(false, 1, &row, n, rows_i[0]);
    assert_memory_equal(memory, copy, sizeof memory);
    for (size_t i = 0; i < n; i++)
        memset(memory + start + (ptrdiff_t)i * stride, 0x5a, sizes[type]);
    store(true, 1, &row, n, rows_f[0]);
    assert_memory_equal(memory, copy, sizeof memory);

    l2k_pixel_row three[3] = {row, row, row};
    load(false, 3, three, n, rows_i[0]);
    load(true, 3, three, n, rows_f[0]);
    for (size_t i = 0; i < n; i++) {
        int32_t x = l2k_shift_down(get(memory + start + (ptrdiff_t)i * stride, type), shift), y = x, z = x;
        float f = (float)x, g = f, h = f;
        l2k_rct_forward(&x, &y, &z);
        l2k_ict_forward(&f, &g, &h);
        assert_true(rows_i[0][i] == x && rows_i[1][i] == y && rows_i[2][i] == z);
        assert_true(rows_f[0][i] == f && rows_f[1][i] == g && rows_f[2][i] == h);
    }
    store(false, 3, three, n, rows_i[0]);
    assert_memory_equal(memory, copy, sizeof memory);
}

static void test_rows(void **unused)
{
    (void)unused;
    for (int type = L2K_SAMPLE_U8; type <= L2K_SAMPLE_S32; type++) {
        ptrdiff_t size = (ptrdiff_t)sizes[type];
        const ptrdiff_t strides[] = {size, 2 * size, 3 * size, 4 * size, 4 * size - 1, -size, 3 * size + 1};
        for (size_t s = 0; s < sizeof strides / sizeof *strides; s++)
            for (size_t offset = 0; offset < 4; offset++)
                for (size_t n = 1; n < MAX_SAMPLES; n = n < 40 ? n + 1 : n * 3)
                    if (strides[s] >= size || strides[s] <= -size)
                        one_row((l2k_sample_type)type, strides[s], offset, n);
    }
}

/* Interleaved pixels of three and four samples, as image files have them. */
static void test_interleaved(void **unused)
{
    (void)unused;
    for (size_t channels = 3; channels <= 4; channels++)
        for (int wide = 0; wide < 2; wide++)
            for (size_t n = 1; n < MAX_SAMPLES; n = n < 70 ? n + 1 : n * 2) {
                size_t size = wide ? 2 : 1;
                uint8_t *memory = malloc(n * channels * size), *copy = malloc(n * channels * size);
                int32_t rows[3][MAX_SAMPLES], expected[3];
                l2k_pixel_row pixels[3];
                for (size_t i = 0; i < n * channels * size; i++)
                    copy[i] = memory[i] = (uint8_t)random_u32();
                for (size_t c = 0; c < 3; c++)
                    pixels[c] =
                        (l2k_pixel_row){memory + c * size, (ptrdiff_t)(channels * size),
                                        wide ? L2K_SAMPLE_U16 : L2K_SAMPLE_U8, l2k_level_shift_make(wide ? 16 : 8, 0)};
                load(false, 3, pixels, n, rows[0]);
                for (size_t i = 0; i < n; i++) {
                    for (size_t c = 0; c < 3; c++)
                        expected[c] = get(memory + (i * channels + c) * size, pixels[c].type) - (wide ? 32768 : 128);
                    l2k_rct_forward(&expected[0], &expected[1], &expected[2]);
                    for (size_t c = 0; c < 3; c++)
                        assert_int_equal(rows[c][i], expected[c]);
                    for (size_t c = 0; c < 3; c++)
                        memset(memory + (i * channels + c) * size, 0, size);
                }
                store(false, 3, pixels, n, rows[0]);
                assert_memory_equal(memory, copy, n * channels * size);
                free(memory);
                free(copy);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_level_shift),
        cmocka_unit_test(test_component_transforms),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_interleaved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
