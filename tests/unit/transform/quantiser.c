/* quant/quantiser.h: scalars compared with exact arithmetic, rows compared with scalars at every length. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "quant/quantiser.h"
#include "quant/quantiser_rows.h"

static uint32_t state = 3;

static uint32_t random_u32(void)
{
    state = state * 1664525u + 1013904223u;
    return state ^ state >> 15;
}

static float random_value(void)
{
    return (float)(int32_t)random_u32() / (float)(1u << random_u32() % 31);
}

static void test_rounding(void **unused)
{
    (void)unused;
    assert_int_equal(l2k_round_f32(0.5f), 0);
    assert_int_equal(l2k_round_f32(1.5f), 2);
    assert_int_equal(l2k_round_f32(-2.5f), -2);
    assert_int_equal(l2k_round_f32(-3.5f), -4);
    assert_int_equal(l2k_round_f32(FLT_MAX), 2147483520);
    assert_int_equal(l2k_round_f32(-FLT_MAX), INT32_MIN);
    assert_int_equal(l2k_round_f32(INFINITY), 2147483520);
    assert_int_equal(l2k_round_f32(-INFINITY), INT32_MIN);
    assert_int_equal(l2k_round_f32(NAN), INT32_MIN);
    for (int i = 0; i < 100000; i++) {
        float x = random_value();
        if (fabsf(x) < 2147483520.0f)
            assert_int_equal(l2k_round_f32(x), lrintf(x));
    }
}

static void test_quantise(void **unused)
{
    (void)unused;
    assert_int_equal(l2k_quantise(0.99f, 1.0f), 0);  /* 63.36 / 64: the dead zone reaches to 1 */
    assert_int_equal(l2k_quantise(0.995f, 1.0f), 1); /* 63.68 rounds up first, as in OpenJPEG */
    assert_int_equal(l2k_quantise(-0.99f, 1.0f), 0);
    assert_int_equal(l2k_quantise(-0.995f, 1.0f), -1);
    assert_int_equal(l2k_quantise(-7.0f, 2.0f), -3);
    for (int i = 0; i < 100000; i++) {
        float v = random_value(), step = 0.01f + (float)(random_u32() % 10000) / 500.0f;
        float scaled = (v / step) * 64.0f;
        if (fabsf(scaled) >= 2147483520.0f)
            continue;
        long q = lrintf(scaled), magnitude = (q < 0 ? -q : q) >> 6;
        assert_int_equal(l2k_quantise(v, step), q < 0 ? -magnitude : magnitude);
    }
}

/* l2k_quotient does not divide, but gives the same float as v / step. */
static void test_quotient(void **unused)
{
    (void)unused;
    for (int i = 0; i < 2000000; i++) {
        l2k_quantiser_step s =
            l2k_quantiser_step_make(ldexpf(1 + (float)(random_u32() % 2048) / 2048, (int)(random_u32() % 30) - 20));
        float near = (float)(random_u32() >> (random_u32() % 20 + 11)) + 1;
        float v = i % 2 ? random_value() : (near - 1.0f / 128) * s.step; /* where the index changes */
        for (int ulp = -3; ulp <= 3; ulp++, v = nextafterf(v, INFINITY))
            assert_true(l2k_quotient(v, s) == v / s.step && l2k_quotient(-v, s) == -v / s.step);
    }
}

#define LONGEST 70

static void test_rows(void **unused)
{
    (void)unused;
    const l2k_quantiser_rows *kernels = l2k_quantiser_rows_get(L2K_CPU_AUTO);
    enum { NARROW = L2K_COEFFICIENT_INT16, WIDE = L2K_COEFFICIENT_INT32 };
    for (size_t n = 0; n < LONGEST; n++) {
        float in[LONGEST], back[LONGEST + 1];
        int32_t wide[LONGEST + 1], again[LONGEST + 1];
        int16_t narrow[LONGEST + 1];
        float step = 0.1f + (float)(random_u32() % 100) / 30.0f;
        for (size_t i = 0; i < n; i++)
            in[i] = random_value();
        wide[n] = again[n] = narrow[n] = 77;
        back[n] = 77.0f;
        kernels->store[true][WIDE](in, n, step, wide);
        kernels->store[true][NARROW](in, n, step, narrow);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(wide[i], l2k_quantise(in[i], step));
            assert_int_equal(narrow[i], (int16_t)wide[i]);
        }
        kernels->load[true][WIDE](wide, n, 0.5f * step, back);
        for (size_t i = 0; i < n; i++)
            assert_true(back[i] == (float)wide[i] * (0.5f * step));
        kernels->load[true][NARROW](narrow, n, 0.5f * step, back);
        for (size_t i = 0; i < n; i++)
            assert_true(back[i] == (float)narrow[i] * (0.5f * step));
        kernels->load[false][NARROW](narrow, n, 1, again);
        kernels->store[false][NARROW](wide, n, 1, narrow);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(again[i], (int16_t)wide[i]);
            assert_int_equal(narrow[i], (int16_t)wide[i]);
        }
        assert_true(wide[n] == 77 && again[n] == 77 && narrow[n] == 77 && back[n] == 77.0f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_quantise),
        cmocka_unit_test(test_quotient),
        cmocka_unit_test(test_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
