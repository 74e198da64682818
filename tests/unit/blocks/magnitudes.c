/* quant/magnitudes.h: what a histogram says about quantiser steps, compared with quantising. */
#include "support.h"

#include <math.h>

#include "quant/magnitudes.h"

enum { COUNT = 200000 };

static float values[COUNT];

/* Laplacian, as coefficients are, in units of the step for a base step of 1. */
static void draw(double scale)
{
    for (size_t i = 0; i < COUNT; i++) {
        double uniform = ((double)random_below(1u << 30) + 0.5) / (1u << 30);
        values[i] = (float)(random_below(2) ? scale * log(uniform) : -scale * log(uniform));
    }
}

static double quantised_error(double base)
{
    double sum = 0;
    for (size_t i = 0; i < COUNT; i++) {
        double magnitude = fabs((double)values[i]), index = floor(magnitude / base);
        double error = index > 0 ? magnitude - (index + 0.5) * base : magnitude;
        sum += error * error;
    }
    return sum;
}

static void test_error(void **unused)
{
    (void)unused;
    for (double scale = 1e-6; scale < 100; scale *= 7) {
        l2k_magnitudes magnitudes = {0};
        draw(scale);
        l2k_magnitudes_add(&magnitudes, values, COUNT, 1, 1);
        for (double base = scale / 64; base < scale * 64; base *= 1.7) {
            double ratio = l2k_magnitudes_error(&magnitudes, base) / quantised_error(base);
            assert_true(ratio > 0.985 && ratio < 1.015);
        }
    }
}

/* Weights and units: twice the weight is twice the sum, twice the unit half the magnitude. */
static void test_units(void **unused)
{
    (void)unused;
    l2k_magnitudes one = {0}, two = {0};
    draw(0.01);
    l2k_magnitudes_add(&one, values, COUNT, 1, 1);
    l2k_magnitudes_add(&two, values, COUNT, 2, 2);
    assert_true(l2k_magnitudes_error(&two, 0.005) == l2k_magnitudes_error(&one, 0.01) / 2);
    assert_true(l2k_magnitudes_bits(&two, 0.005) == l2k_magnitudes_bits(&one, 0.01) * 2);
    memset(values, 0, sizeof values);
    l2k_magnitudes_add(&one, values, COUNT, 1, 1); /* zeros change nothing */
    assert_true(l2k_magnitudes_bits(&two, 0.005) == l2k_magnitudes_bits(&one, 0.01) * 2);
}

/* Coarser steps take fewer bits: smoothly, so that a size can be solved for. */
static void test_bits(void **unused)
{
    (void)unused;
    l2k_magnitudes magnitudes = {0};
    draw(0.05);
    l2k_magnitudes_add(&magnitudes, values, COUNT, 1, 1);
    double before = l2k_magnitudes_bits(&magnitudes, 1e-4);
    assert_true(before > 8 * (double)COUNT && before < 16 * (double)COUNT);
    for (double base = 1.01e-4; base < 3; base *= 1.01) {
        double bits = l2k_magnitudes_bits(&magnitudes, base);
        assert_true(bits < before && bits > 0.9 * before);
        before = bits;
    }
}

/* The mean square of a rounded Gaussian, by adding up its density. */
static void test_rounding(void **unused)
{
    (void)unused;
    for (double deviation = 0.1; deviation < 4; deviation *= 1.3) {
        double sum = 0, total = 0;
        for (double x = -10 * deviation; x < 10 * deviation; x += deviation / 5000) {
            double density = exp(-x * x / (2 * deviation * deviation)), rounded = floor(x + 0.5);
            sum += density * rounded * rounded;
            total += density;
        }
        double found = l2k_rounded_error(deviation * deviation);
        assert_true(fabs(found - sum / total) < 1e-3 * sum / total + 1e-7);
    }
    assert_true(l2k_rounded_error(0) == 0);
    assert_true(l2k_rounded_error(0.001) < 1e-50);
    assert_true(fabs(l2k_rounded_error(3.9999) - l2k_rounded_error(4.0001)) < 1e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_error),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_rounding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
