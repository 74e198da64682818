/* dwt/ compared with a plain transcription of Annex F, and by its own properties: every length, parity, stripe and
 * extreme value. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dwt/lifting.h"
#include "dwt/ring.h"
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

static l2k_kernel_lifting lifting_of(int real)
{
    return l2k_kernel_lifting_of(L2K_CPU_AUTO, l2k_wavelet_get(real ? L2K_WAVELET_9_7 : L2K_WAVELET_5_3), 8, 1);
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
    const l2k_kernel_lifting lifting = lifting_of(real);
    l2k_kernel_analyse(&lifting, row, n, parity, 1.0f, low, high);
    assert_memory_equal(low, expected, lows * sizeof *low);
    assert_memory_equal(high, expected + lows, (n - lows) * sizeof *high);

    ref_sort(expected, (long)n, 1, parity, 1);
    ref_line(expected, (long)n, 1, parity, real, 1);
    row[n].i = 12345;
    l2k_kernel_synthesise(&lifting, low, high, n, parity, 1.0f, row);
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

/* ---- Ring: a picture in, the vertically filtered picture out ------------------------------------------------- */

typedef struct picture {
    const ref_sample *in;
    ref_sample *out;
    size_t width;
    int64_t last_loaded, last_finished;
} picture;

static void load_rows(const l2k_ring *ring, picture *p)
{
    for (int64_t y = ring->load.first; y < ring->load.end; y++) {
        assert_true(y > p->last_loaded);
        p->last_loaded = y;
        memcpy(l2k_ring_row(ring, 0, y), p->in + (size_t)y * p->width, p->width * sizeof *p->in);
    }
}

static void take_rows(const l2k_ring *ring, picture *p)
{
    for (int64_t y = ring->finished.first; y < ring->finished.end; y++) {
        assert_true(y == p->last_finished + 1);
        p->last_finished = y;
        memcpy(p->out + (size_t)y * p->width, l2k_ring_row(ring, 0, y), p->width * sizeof *p->out);
        memset(l2k_ring_row(ring, 0, y), 0xa5, p->width * sizeof *p->out); /* a finished row belongs to the caller */
    }
}

static void undo_scaling(ref_sample *column, long n, long distance, unsigned parity, int inverse)
{
    for (long i = 0; i < n && n > 1 && !inverse; i++)
        column[i * distance].f *= (i + parity) & 1
                                      ? L2K_9_7_FORWARD_HIGH
                                      : L2K_9_7_FORWARD_LOW; /* the ring leaves this to the row functions */
}

static void one_ring(size_t width, int64_t height, unsigned parity, int real, int inverse, int64_t cut)
{
    size_t count = width * (size_t)height;
    ref_sample *in = malloc(count * sizeof *in), *expected = malloc(count * sizeof *in),
               *out = malloc(count * sizeof *in);
    const size_t period = (size_t)(real ? 4 : 2) + 3 + (random_u32() % 2 ? (size_t)height : 0);
    ref_sample *memory = malloc(period * width * sizeof *memory);
    for (size_t i = 0; i < count; i++)
        in[i] = expected[i] = random_sample(real, 0);
    if (real && inverse && height > 1)
        for (size_t i = 0; i < count; i++)
            in[i].f *= (i / width + parity) & 1 ? L2K_9_7_INVERSE_HIGH : L2K_9_7_INVERSE_LOW;
    for (size_t x = 0; x < width; x++)
        ref_line(expected + x, (long)height, (long)width, parity, real, inverse);
    picture p = {in, out, width, -1, -1};
    const l2k_kernel_lifting lifting = lifting_of(real);
    l2k_ring ring = {.lifting = &lifting,
                     .inverse = inverse,
                     .width = width,
                     .height = height,
                     .parity = parity,
                     .num_joined = 1,
                     .rows = (uint32_t *)memory,
                     .stride = width,
                     .period = period};
    for (int64_t begin = 0; begin < height; begin += cut) {
        p.last_loaded = -1;
        l2k_ring_start(&ring, begin, begin + cut < height ? begin + cut : height);
        while (l2k_ring_next(&ring)) {
            load_rows(&ring, &p);
            l2k_ring_lift(&ring);
            take_rows(&ring, &p);
        }
    }
    assert_true(p.last_finished == height - 1);
    if (real)
        for (size_t x = 0; x < width; x++)
            undo_scaling(out + x, (long)height, (long)width, parity, inverse);
    assert_memory_equal(out, expected, count * sizeof *out);
    free(in);
    free(expected);
    free(out);
    free(memory);
}

static void test_ring(void **unused)
{
    (void)unused;
    for (int64_t height = 1; height < 40; height++)
        for (unsigned variant = 0; variant < 8; variant++)
            for (int64_t cut = 1; cut <= height; cut += 1 + random_u32() % 5)
                one_ring(1 + random_u32() % 20, height, variant & 1, variant >> 1 & 1, variant >> 2, cut);
}

/* ---- Descriptors --------------------------------------------------------------------------------------------- */

enum { LINE = 128, DEEPEST = 5 };

/* Inverse of `levels` levels of a line with a single non-zero coefficient: no sample changes that is further away than
 * the lifting steps reach. `place` is the index of the coefficient in its subband. */
static void check_reach(l2k_wavelet wavelet, unsigned levels, bool is_high, size_t place)
{
    const l2k_wavelet_descriptor *descriptor = l2k_wavelet_get(wavelet);
    const l2k_kernel_lifting lifting = l2k_kernel_lifting_of(L2K_CPU_C, descriptor, 8, 1);
    ref_sample low[LINE], high[LINE], row[LINE] = {{0}};
    ref_sample *coefficient = is_high ? &high[place] : &row[place];
    for (unsigned level = levels; level > 0; level--) {
        size_t n = LINE >> (level - 1);
        memset(high, 0, sizeof high);
        if (level == levels && descriptor->is_float)
            coefficient->f = 1e6f;
        else if (level == levels)
            coefficient->i = 1 << 20;
        memcpy(low, row, n / 2 * sizeof *low);
        l2k_kernel_synthesise(&lifting, low, high, n, 0, 1.0f, row);
    }
    for (size_t x = 0; x < LINE; x++)
        if (row[x].i) {
            size_t at = x >> levels;
            assert_true((at > place ? at - place : place - at) <= descriptor->kernel.num_steps);
        }
}

static void test_reach(void **unused)
{
    (void)unused;
    for (unsigned levels = 1; levels <= DEEPEST; levels++)
        for (size_t place = 0; place < (size_t)LINE >> levels; place++)
            for (int i = 0; i < 4; i++)
                check_reach(i & 1 ? L2K_WAVELET_9_7 : L2K_WAVELET_5_3, levels, i >> 1, place);
}

/* A descriptor's taps are those that the row functions use. */
static void test_factors(void **unused)
{
    (void)unused;
    for (int wavelet = L2K_WAVELET_5_3; wavelet <= L2K_WAVELET_9_7; wavelet++) {
        const l2k_wavelet_descriptor *descriptor = l2k_wavelet_get((l2k_wavelet)wavelet);
        const l2k_wavelet_rows *rows = l2k_wavelet_rows_get(L2K_CPU_C, (l2k_wavelet)wavelet);
        for (unsigned i = 0; i < descriptor->kernel.num_steps; i++) {
            const l2k_kernel_step *step = &descriptor->kernel.steps[i];
            ref_sample x = {0}, other;
            if (descriptor->is_float)
                other.f = 0.5f;
            else
                other.i = 1 << 20;
            rows->step(step, false, &x, (const void *[]){&other, &other}, 1);
            double factor = descriptor->is_float ? x.f : x.i / (double)(1 << 21);
            assert_true(factor == (double)step->taps[0] / (1 << step->shift) && step->taps[1] == step->taps[0]);
        }
    }
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
        cmocka_unit_test(test_scalars), cmocka_unit_test(test_rows),    cmocka_unit_test(test_ring),
        cmocka_unit_test(test_reach),   cmocka_unit_test(test_factors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
