/* quant/steps.h: the steps that OpenJPEG writes for a known image, the formula, and norms compared with synthesis bases
 * computed here. */
#include "support.h"

#include <math.h>

#include "quant/steps.h"

/* ---- Known values -------------------------------------------------------------------------------------------- */

/* The QCD marker segment that OpenJPEG 2.5.0 writes for 8 bits and five levels (opj_compress -I), LL to HH1. */
static const l2k_step known[16] = {{14, 1824}, {14, 1776}, {14, 1776}, {14, 1728}, {13, 1792}, {13, 1792},
                                   {13, 1760}, {12, 1872}, {12, 1872}, {12, 1896}, {10, 5},    {10, 5},
                                   {10, 71},   {10, 2003}, {10, 2003}, {10, 1890}};

static void test_known(void **unused)
{
    (void)unused;
    for (unsigned band = 0; band < 16; band++) {
        unsigned level = band == 0 ? 5 : 5 - (band - 1) / 3, orientation = band == 0 ? 0 : (band - 1) % 3 + 1;
        l2k_step step = l2k_step_choose(l2k_wavelet_get(L2K_WAVELET_9_7), 8, level, orientation);
        assert_int_equal(step.exponent, known[band].exponent);
        assert_int_equal(step.mantissa, known[band].mantissa);
    }
}

/* The same for any precision, from the norm alone: 1 / norm in 13 binary places, truncated, as exponent and eleven
 * bits. */
static void test_choice(void **unused)
{
    (void)unused;
    for (unsigned precision = 1; precision <= 16; precision++)
        for (unsigned level = 1; level <= 32; level++)
            for (unsigned b = 0; b < 4; b++) {
                unsigned exponent = precision,
                         fixed = (unsigned)(8192 / l2k_subband_norm(l2k_wavelet_get(L2K_WAVELET_9_7), level, b));
                double inverse = fixed / 8192.0;
                for (; inverse < 1; inverse *= 2)
                    exponent++;
                l2k_step step = l2k_step_choose(l2k_wavelet_get(L2K_WAVELET_9_7), precision, level, b);
                assert_int_equal(step.exponent, exponent);
                assert_int_equal(step.mantissa, (int)floor((inverse - 1) * 2048));
                step = l2k_step_choose(l2k_wavelet_get(L2K_WAVELET_5_3), precision, level,
                                       b); /* E.1: exponents as large as the range */
                assert_int_equal(step.exponent, precision + (b & 1) + (b >> 1));
                assert_int_equal(step.mantissa, 0);
            }
}

/* E-3: Delta = 2^(R - epsilon) (1 + mu / 2^11), R the precision plus the gain of Table E.1. */
static void test_size(void **unused)
{
    (void)unused;
    static const unsigned gains[4] = {0, 1, 1, 2};
    for (unsigned b = 0; b < 4; b++) {
        assert_int_equal(l2k_log2_gain(b), gains[b]);
        for (unsigned precision = 1; precision <= 31; precision++)
            for (unsigned exponent = 0; exponent < 32; exponent++)
                for (unsigned mantissa = 0; mantissa < 2048; mantissa += 89) {
                    l2k_step step = {(uint8_t)exponent, (uint16_t)mantissa};
                    double size = ldexp(2048.0 + mantissa, (int)(precision + gains[b]) - (int)exponent - 11);
                    assert_true(l2k_step_size(step, precision, b) == (float)size);
                }
    }
    assert_true(l2k_step_size((l2k_step){8, 0}, 8, 0) == 1.0f);
    assert_true(l2k_step_size((l2k_step){10, 1024}, 8, 3) == 1.5f);
}

/* ---- Norms --------------------------------------------------------------------------------------------------- */

enum { LENGTH = 2048 };

static double line[LENGTH];

/* One lifting step of F.3.6 or F.3.8.2 on the samples of one parity; the impulse is far from both ends, so nothing is
 * extended. */
static void lift(unsigned parity, double factor)
{
    for (unsigned i = 2 + parity; i + 2 < LENGTH; i += 2)
        line[i] += factor * (line[i - 1] + line[i + 1]);
}

static void scale(unsigned parity, double factor)
{
    for (unsigned i = parity; i < LENGTH; i += 2)
        line[i] *= factor;
}

/* The reversible transform without its rounding. */
static void inverse_5_3(void)
{
    lift(0, -0.25);
    lift(1, 0.5);
}

static void inverse_9_7(void)
{
    scale(0, 1.230174104914001);
    scale(1, 1 / 1.230174104914001);
    lift(0, -0.443506852043971);
    lift(1, -0.882911075530934);
    lift(0, 0.052980118572961);
    lift(1, 1.586134342059924);
}

/* L2 norm of the contribution of one coefficient of level `level` along a line. */
static double line_norm(l2k_wavelet wavelet, unsigned level, bool high)
{
    unsigned center = LENGTH >> level;
    center = center / 2 & ~1u;
    memset(line, 0, sizeof line);
    line[2 * (center / 2) + high] = 1; /* interleaved: low-pass at even positions */
    for (unsigned n = 0; n < level; n++) {
        if (n > 0)
            for (unsigned i = LENGTH / 2; i-- > 0;) { /* the result is the low-pass of the next larger level */
                double value = line[i];
                line[2 * i + 1] = 0;
                line[2 * i] = value;
            }
        if (wavelet == L2K_WAVELET_5_3)
            inverse_5_3();
        else
            inverse_9_7();
    }
    double sum = 0;
    for (unsigned i = 0; i < LENGTH; i++)
        sum += line[i] * line[i];
    return sqrt(sum);
}

/* The 9/7 norms, as OpenJPEG has them, include a factor of two for each high-pass direction: 2^gain times the norms of
 * the standard's filters. They are inexact by up to 1.4 % (LL of level 2) and must stay so: the steps in the codestream
 * follow from them. */
static void check_norms(l2k_wavelet wavelet)
{
    double tolerance = wavelet == L2K_WAVELET_9_7 ? 0.014 : 0.001;
    for (unsigned level = 1; level <= 5; level++)
        for (unsigned b = 0; b < 4; b++) {
            double expected = line_norm(wavelet, level, b & 1) * line_norm(wavelet, level, b >> 1);
            if (wavelet == L2K_WAVELET_9_7)
                expected *= 1u << l2k_log2_gain(b);
            double ratio = l2k_subband_norm(l2k_wavelet_get(wavelet), level, b) / expected;
            if (fabs(ratio - 1) > tolerance)
                print_message("wavelet %d level %u band %u: %g instead of %g\n", wavelet, level, b,
                              l2k_subband_norm(l2k_wavelet_get(wavelet), level, b), expected);
            assert_true(fabs(ratio - 1) <= tolerance);
        }
    assert_true(l2k_subband_norm(l2k_wavelet_get(wavelet), 0, 0) == 1);
}

static void test_norms_5_3(void **unused)
{
    (void)unused;
    check_norms(L2K_WAVELET_5_3);
}

static void test_norms_9_7(void **unused)
{
    (void)unused;
    check_norms(L2K_WAVELET_9_7);
}

/* Levels deeper than the table's give its last entry and read nothing outside it. */
static void test_deep_levels(void **unused)
{
    (void)unused;
    for (unsigned level = 11; level <= 32; level++)
        for (unsigned b = 0; b < 4; b++)
            for (int w = 0; w < 2; w++)
                assert_true(l2k_subband_norm(l2k_wavelet_get((l2k_wavelet)w), level, b) ==
                            l2k_subband_norm(l2k_wavelet_get((l2k_wavelet)w), 10, b));
}

/* ---- Steps of a base step ------------------------------------------------------------------------------------ */

/* The QCD marker segments that OpenJPH 0.31 writes for five levels and -qstep 1/256 and 0.01, LL to HH1. */
static void test_base(void **unused)
{
    (void)unused;
    static const uint16_t written[2][16] = {{0x7718, 0x76ea, 0x76ea, 0x76bc, 0x6f00, 0x6f00, 0x6ee2, 0x674c, 0x674c,
                                             0x6764, 0x5003, 0x5003, 0x5046, 0x57d2, 0x57d2, 0x5761},
                                            {0x61a9, 0x618b, 0x618b, 0x616e, 0x5999, 0x5999, 0x5986, 0x51cb, 0x51cb,
                                             0x51da, 0x4a42, 0x4a42, 0x4a96, 0x4220, 0x4220, 0x41d8}};
    static const float bases[2] = {0x1p-8f, 0.01f};
    l2k_step steps[16];
    for (unsigned i = 0; i < 2; i++) {
        l2k_steps_of_base(l2k_wavelet_get(L2K_WAVELET_9_7), bases[i], 5, steps);
        for (unsigned band = 0; band < 16; band++)
            assert_int_equal(steps[band].exponent << 11 | steps[band].mantissa, written[i][band]);
    }
}

/* Delta_b times the norm of the basis is the base step, in units of the range, for any precision. */
static void test_base_norms(void **unused)
{
    (void)unused;
    for (unsigned precision = 1; precision <= 16; precision += 5)
        for (unsigned level = 1; level <= 5; level++)
            for (unsigned b = 0; b < 4; b++)
                for (float base = 1e-6f; base < 0.5f; base *= 3.7f) {
                    double step =
                        l2k_step_size(l2k_step_of_base(l2k_wavelet_get(L2K_WAVELET_9_7), base, level, b), precision, b);
                    double norm = line_norm(L2K_WAVELET_9_7, level, b & 1) * line_norm(L2K_WAVELET_9_7, level, b >> 1);
                    assert_true(fabs(ldexp(step * norm, -(int)precision) / (double)base - 1) < 5e-4);
                }
}

static void test_base_limits(void **unused)
{
    (void)unused;
    l2k_step step = l2k_step_of_base(l2k_wavelet_get(L2K_WAVELET_9_7), 1000, 1, L2K_HH);
    assert_true(step.exponent == 0 && step.mantissa == 2047);
    step = l2k_step_of_base(l2k_wavelet_get(L2K_WAVELET_9_7), 0x1p-60f, 1, L2K_HH);
    assert_true(step.exponent == 31 && step.mantissa == 0);
    step = l2k_step_of_base(l2k_wavelet_get(L2K_WAVELET_9_7), 0.01f, 10, L2K_LL);
    for (unsigned level = 11; level <= 32; level++) {
        l2k_step deeper = l2k_step_of_base(l2k_wavelet_get(L2K_WAVELET_9_7), 0.01f, level, L2K_LL);
        assert_true(deeper.exponent == step.exponent && deeper.mantissa == step.mantissa);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),     cmocka_unit_test(test_choice),     cmocka_unit_test(test_size),
        cmocka_unit_test(test_norms_5_3), cmocka_unit_test(test_norms_9_7),  cmocka_unit_test(test_deep_levels),
        cmocka_unit_test(test_base),      cmocka_unit_test(test_base_norms), cmocka_unit_test(test_base_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
