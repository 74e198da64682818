/* dwt/ against the plain transcription of Annex F, and on its own: every length, parity, stripe and extreme value. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dwt/lifting.h"
#include "dwt/slide.h"
#include "reference_wavelet.h"

static uint32_t state = 1;

static uint32_t random_u32(void)
{
    state = state * 1664525u + 1013904223u;
    return state ^ state >> 15;
}

static ref_sample random_sample(int real, int extreme)
{
    ref_sample s;
    if (real)
        s.f = (float)(int32_t)(random_u32() % 8191) - 4095.0f + (float)(random_u32() % 64) / 64.0f;
    else
        s.i = extreme ? (int32_t)(random_u32() % 3 ? random_u32() : 0x80000000u) : (int32_t)(random_u32() % 512) - 256;
    return s;
}

#define LONGEST 140

static void one_row(size_t n, unsigned parity, int real, int extreme)
{
    ref_sample row[LONGEST + 2], low[LONGEST], high[LONGEST], expected[LONGEST];
    size_t lows = (n + 1 - parity) / 2;
    for (size_t i = 0; i < n; i++)
        row[i] = expected[i] = random_sample(real, extreme);
    ref_line(expected, (long)n, 1, parity, real, 0);
    ref_sort(expected, (long)n, 1, parity, 0);
    if (real)
        l2k_row_forward_9_7(&row[0].f, n, parity, 1.0f, &low[0].f, &high[0].f);
    else
        l2k_row_forward_5_3(&row[0].i, n, parity, &low[0].i, &high[0].i);
    assert_memory_equal(low, expected, lows * sizeof *low);
    assert_memory_equal(high, expected + lows, (n - lows) * sizeof *high);

    ref_sort(expected, (long)n, 1, parity, 1);
    ref_line(expected, (long)n, 1, parity, real, 1);
    row[n].i = 12345;
    if (real)
        l2k_row_inverse_9_7(&low[0].f, &high[0].f, n, parity, 1.0f, &row[0].f);
    else
        l2k_row_inverse_5_3(&low[0].i, &high[0].i, n, parity, &row[0].i);
    assert_memory_equal(row, expected, n * sizeof *row);
    assert_int_equal(row[n].i, 12345);
}

static void test_rows(void **unused)
{
    (void)unused;
    for (size_t n = 1; n < LONGEST; n++)
        for (unsigned parity = 0; parity < 2; parity++)
            for (int turn = 0; turn < 4; turn++) {
                one_row(n, parity, 1, 0);
                one_row(n, parity, 0, turn & 1);
            }
}

/* ---- Slide: a picture in, the vertically filtered one out ---------------------------------------------------- */

typedef struct picture {
    ref_sample *in, *out;
    size_t width;
    int64_t last_loaded, last_emitted;
} picture;

static void load(void *user, int64_t y, void *const *rows)
{
    picture *p = user;
    assert_true(y > p->last_loaded);
    p->last_loaded = y;
    memcpy(rows[0], p->in + (size_t)y * p->width, p->width * sizeof *p->in);
}

static bool always(void *user, size_t samples)
{
    (void)user;
    (void)samples;
    return true;
}

static void emit(void *user, int64_t y, void *const *rows)
{
    picture *p = user;
    assert_true(y == p->last_emitted + 1);
    p->last_emitted = y;
    memcpy(p->out + (size_t)y * p->width, rows[0], p->width * sizeof *p->out);
    memset(rows[0], 0xa5, p->width * sizeof *p->out); /* a finished row is the callback's */
}

static void undo_scaling(ref_sample *column, long n, long distance, unsigned parity, int inverse)
{
    for (long i = 0; i < n && n > 1 && !inverse; i++)
        column[i * distance].f *=
            (i + parity) & 1 ? L2K_9_7_FORWARD_HIGH : L2K_9_7_FORWARD_LOW; /* slide leaves this to the rows */
}

static void one_slide(size_t width, int64_t height, unsigned parity, int real, int inverse, int64_t cut)
{
    size_t count = width * (size_t)height;
    ref_sample *in = malloc(count * sizeof *in), *expected = malloc(count * sizeof *in),
               *out = malloc(count * sizeof *in);
    ref_sample *ring = malloc(L2K_SLIDE_ROWS * width * sizeof *ring);
    for (size_t i = 0; i < count; i++)
        in[i] = expected[i] = random_sample(real, 0);
    if (real && inverse && height > 1)
        for (size_t i = 0; i < count; i++)
            in[i].f *= (i / width + parity) & 1 ? L2K_9_7_INVERSE_HIGH : L2K_9_7_INVERSE_LOW;
    for (size_t x = 0; x < width; x++)
        ref_line(expected + x, (long)height, (long)width, parity, real, inverse);
    picture p = {in, out, width, -1, -1};
    l2k_wavelet wavelet = real ? L2K_WAVELET_9_7 : L2K_WAVELET_5_3;
    l2k_slide slide = {inverse ? l2k_lifting_inverse(wavelet) : l2k_lifting_forward(wavelet),
                       width,
                       height,
                       parity,
                       1,
                       ring,
                       width,
                       load,
                       emit,
                       always,
                       &p};
    for (int64_t begin = 0; begin < height; begin += cut) {
        p.last_loaded = -1;
        l2k_slide_run(&slide, begin, begin + cut < height ? begin + cut : height);
    }
    if (real)
        for (size_t x = 0; x < width; x++)
            undo_scaling(out + x, (long)height, (long)width, parity, inverse);
    assert_memory_equal(out, expected, count * sizeof *out);
    free(in);
    free(expected);
    free(out);
    free(ring);
}

static void test_slide(void **unused)
{
    (void)unused;
    for (int64_t height = 1; height < 40; height++)
        for (unsigned variant = 0; variant < 8; variant++)
            for (int64_t cut = 1; cut <= height; cut += 1 + random_u32() % 5)
                one_slide(1 + random_u32() % 20, height, variant & 1, variant >> 1 & 1, variant >> 2, cut);
}

static void test_scalars(void **unused)
{
    (void)unused;
    assert_int_equal(l2k_5_3_predict(10, 3, 4), 7);
    assert_int_equal(l2k_5_3_predict(10, -3, -4), 14); /* floor, not truncation */
    assert_int_equal(l2k_5_3_update(10, -3, -4), 8);
    assert_int_equal(l2k_5_3_unlone(-3), -1);
    assert_int_equal(l2k_5_3_lone(INT32_MIN), 0);
    assert_true(L2K_9_7_INVERSE_HIGH * 2.0f == 1.625732422f);
    for (int i = 0; i < 1000; i++) {
        int32_t x = (int32_t)random_u32(), l = (int32_t)random_u32(), r = (int32_t)random_u32();
        assert_int_equal(l2k_5_3_unpredict(l2k_5_3_predict(x, l, r), l, r), x);
        assert_int_equal(l2k_5_3_unupdate(l2k_5_3_update(x, l, r), l, r), x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scalars),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_slide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
