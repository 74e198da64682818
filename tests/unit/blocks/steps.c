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
        l2k_step step = l2k_step_choose(l2k_wavelet_get(L2K_WAVELET_9_7), 8, (l2k_depth){level, level}, orientation);
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
                unsigned exponent = precision, fixed = (unsigned)(8192 / l2k_norm_at(l2k_wavelet_get(L2K_WAVELET_9_7),
                                                                                     (l2k_depth){level, level}, b));
                double inverse = fixed / 8192.0;
                for (; inverse < 1; inverse *= 2)
                    exponent++;
                l2k_step step =
                    l2k_step_choose(l2k_wavelet_get(L2K_WAVELET_9_7), precision, (l2k_depth){level, level}, b);
                assert_int_equal(step.exponent, exponent);
                assert_int_equal(step.mantissa, (int)floor((inverse - 1) * 2048));
                step = l2k_step_choose(l2k_wavelet_get(L2K_WAVELET_5_3), precision, (l2k_depth){level, level},
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
            double ratio = l2k_norm_at(l2k_wavelet_get(wavelet), (l2k_depth){level, level}, b) / expected;
            if (fabs(ratio - 1) > tolerance)
                print_message("wavelet %d level %u band %u: %g instead of %g\n", wavelet, level, b,
                              l2k_norm_at(l2k_wavelet_get(wavelet), (l2k_depth){level, level}, b), expected);
            assert_true(fabs(ratio - 1) <= tolerance);
        }
    assert_true(l2k_norm_at(l2k_wavelet_get(wavelet), (l2k_depth){0, 0}, 0) == 1);
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
                assert_true(l2k_norm_at(l2k_wavelet_get((l2k_wavelet)w), (l2k_depth){level, level}, b) ==
                            l2k_norm_at(l2k_wavelet_get((l2k_wavelet)w), (l2k_depth){10, 10}, b));
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
    for (unsigned i = 0; i < 2; i++)
        for (unsigned band = 0; band < 16; band++) {
            const unsigned level = l2k_band_level(5, l2k_band_resolution(band));
            const l2k_step step = l2k_step_of_base(l2k_wavelet_get(L2K_WAVELET_9_7), bases[i],
                                                   (l2k_depth){level, level}, l2k_band_orientation(band));
            assert_int_equal(step.exponent << 11 | step.mantissa, written[i][band]);
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
                    double step = l2k_step_size(
                        l2k_step_of_base(l2k_wavelet_get(L2K_WAVELET_9_7), base, (l2k_depth){level, level}, b),
                        precision, b);
                    double norm = line_norm(L2K_WAVELET_9_7, level, b & 1) * line_norm(L2K_WAVELET_9_7, level, b >> 1);
                    assert_true(fabs(ldexp(step * norm, -(int)precision) / (double)base - 1) < 5e-4);
                }
}

static void test_base_limits(void **unused)
{
    (void)unused;
    l2k_step step = l2k_step_of_base(l2k_wavelet_get(L2K_WAVELET_9_7), 1000, (l2k_depth){1, 1}, L2K_HH);
    assert_true(step.exponent == 0 && step.mantissa == 2047);
    step = l2k_step_of_base(l2k_wavelet_get(L2K_WAVELET_9_7), 0x1p-60f, (l2k_depth){1, 1}, L2K_HH);
    assert_true(step.exponent == 31 && step.mantissa == 0);
    step = l2k_step_of_base(l2k_wavelet_get(L2K_WAVELET_9_7), 0.01f, (l2k_depth){10, 10}, L2K_LL);
    for (unsigned level = 11; level <= 32; level++) {
        l2k_step deeper = l2k_step_of_base(l2k_wavelet_get(L2K_WAVELET_9_7), 0.01f, (l2k_depth){level, level}, L2K_LL);
        assert_true(deeper.exponent == step.exponent && deeper.mantissa == step.mantissa);
    }
}

/* What OpenJPH 0.31 writes with -qfactor for 8 bits and five levels: of LL, HL4, LH4, HH4, HL1, LH1 and HH1. */
static void test_quality(void **unused)
{
    (void)unused;
    static const struct {
        unsigned quality, role, across, down;
        uint16_t steps[7];
    } cases[] = {
        {1, 0, 0, 0, {0x2F1D, 0x2705, 0x2705, 0x26E7, 0x07FF, 0x07FF, 0x07FF}},
        {26, 0, 0, 0, {0x499F, 0x4190, 0x4190, 0x417D, 0x1925, 0x1925, 0x159A}},
        {50, 0, 0, 0, {0x5253, 0x4A43, 0x4A43, 0x4A2F, 0x21D0, 0x21D0, 0x1E99}},
        {75, 0, 0, 0, {0x5C49, 0x5435, 0x5435, 0x541D, 0x29C9, 0x29C9, 0x247D}},
        {90, 0, 0, 0, {0x66FF, 0x5EE8, 0x5EE8, 0x5ECA, 0x3EC7, 0x3EC7, 0x346D}},
        {100, 0, 0, 0, {0x72AC, 0x6A9B, 0x6A9B, 0x6A86, 0x5330, 0x5330, 0x52E0}},
        {1, 1, 0, 0, {0x2E80, 0x1B0C, 0x1B0C, 0x1D22, 0x07FF, 0x07FF, 0x07FF}},
        {26, 1, 0, 0, {0x493B, 0x4611, 0x4611, 0x385C, 0x1605, 0x1605, 0x032D}},
        {50, 1, 0, 0, {0x51E9, 0x4F19, 0x4F19, 0x40F9, 0x1F0C, 0x1F0C, 0x0BFF}},
        {75, 1, 0, 0, {0x5BCA, 0x4878, 0x4878, 0x49D3, 0x24CC, 0x24CC, 0x10AC}},
        {90, 1, 0, 0, {0x6664, 0x50D1, 0x50D1, 0x518F, 0x3488, 0x3488, 0x2AE7}},
        {100, 1, 0, 0, {0x723D, 0x6A2D, 0x6A2D, 0x6A19, 0x52BC, 0x52BC, 0x526F}},
        {1, 2, 0, 0, {0x2052, 0x1A04, 0x1A04, 0x1B5D, 0x07FF, 0x07FF, 0x07FF}},
        {26, 2, 0, 0, {0x4A97, 0x44C1, 0x44C1, 0x4677, 0x1F21, 0x1F21, 0x08BA}},
        {50, 2, 0, 0, {0x535E, 0x4DB0, 0x4DB0, 0x4F87, 0x181E, 0x181E, 0x115E}},
        {75, 2, 0, 0, {0x5D86, 0x57DC, 0x57DC, 0x48D5, 0x2F50, 0x2F50, 0x27B1}},
        {90, 2, 0, 0, {0x5841, 0x5103, 0x5103, 0x518D, 0x31EF, 0x31EF, 0x36BF}},
        {100, 2, 0, 0, {0x73C0, 0x6BAD, 0x6BAD, 0x6B96, 0x5451, 0x5451, 0x53F9}},
        {1, 1, 1, 0, {0x2A41, 0x2512, 0x279F, 0x2780, 0x07FF, 0x07FF, 0x07FF}},
        {26, 1, 1, 0, {0x550E, 0x4052, 0x41F2, 0x41DE, 0x2558, 0x11EB, 0x11A3}},
        {50, 1, 1, 0, {0x5E03, 0x48EE, 0x4AAD, 0x4A97, 0x2E53, 0x1AA5, 0x1A58}},
        {75, 1, 1, 0, {0x58BE, 0x52C4, 0x548F, 0x5476, 0x36D4, 0x217E, 0x213A}},
        {90, 1, 1, 0, {0x6425, 0x5DA2, 0x5EE1, 0x5EC3, 0x3C67, 0x3293, 0x3247}},
        {100, 1, 1, 0, {0x723D, 0x6A2D, 0x6A2D, 0x6A19, 0x52BC, 0x52BC, 0x526F}},
        {1, 2, 1, 0, {0x2BC4, 0x2468, 0x262A, 0x260E, 0x06EE, 0x07FF, 0x07FF}},
        {26, 2, 1, 0, {0x56FB, 0x4FCC, 0x4104, 0x40F2, 0x2181, 0x1AB2, 0x1A66}},
        {50, 2, 1, 0, {0x500A, 0x487A, 0x49AE, 0x499A, 0x2A34, 0x237B, 0x2329}},
        {75, 2, 1, 0, {0x5A07, 0x527D, 0x53C3, 0x53AB, 0x3346, 0x2B5B, 0x2B09}},
        {90, 2, 1, 0, {0x65EE, 0x5E41, 0x5F36, 0x5F17, 0x3B43, 0x3062, 0x3025}},
        {100, 2, 1, 0, {0x73C0, 0x6BAD, 0x6BAD, 0x6B96, 0x5451, 0x5451, 0x53F9}},
        {1, 1, 1, 1, {0x3680, 0x213E, 0x213E, 0x221A, 0x06D3, 0x06D3, 0x07FF}},
        {26, 1, 1, 1, {0x513B, 0x4BC4, 0x4BC4, 0x4CDD, 0x2170, 0x2170, 0x18A2}},
        {50, 1, 1, 1, {0x59E9, 0x54A1, 0x54A1, 0x55CE, 0x2A21, 0x2A21, 0x2144}},
        {75, 1, 1, 1, {0x64F6, 0x5FF8, 0x5FF8, 0x509D, 0x32FF, 0x32FF, 0x293A}},
        {90, 1, 1, 1, {0x623F, 0x5B81, 0x5B81, 0x5BF8, 0x3A77, 0x3A77, 0x3DDE}},
        {100, 1, 1, 1, {0x723D, 0x6A2D, 0x6A2D, 0x6A19, 0x52BC, 0x52BC, 0x526F}},
        {1, 2, 1, 1, {0x2852, 0x20C6, 0x20C6, 0x215B, 0x028F, 0x028F, 0x07FF}},
        {26, 2, 1, 1, {0x5297, 0x4B2B, 0x4B2B, 0x4BE9, 0x2D71, 0x2D71, 0x2263}},
        {50, 2, 1, 1, {0x5B5E, 0x53FD, 0x53FD, 0x54C8, 0x366D, 0x366D, 0x2B25}},
        {75, 2, 1, 1, {0x66DF, 0x5F8E, 0x5F8E, 0x5036, 0x305C, 0x305C, 0x3420}},
        {90, 2, 1, 1, {0x63C1, 0x5C07, 0x5C07, 0x5C5D, 0x3981, 0x3981, 0x3B98}},
        {100, 2, 1, 1, {0x73C0, 0x6BAD, 0x6BAD, 0x6B96, 0x5451, 0x5451, 0x53F9}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (unsigned k = 0; k < 7; k++) {
            const unsigned level = k == 0 ? 5 : k < 4 ? 4 : 1, orientation = k == 0 ? 0 : (k - 1) % 3 + 1;
            const l2k_viewing viewing = {cases[i].role, cases[i].across, cases[i].down, L2K_QUALITY_DISTANCE};
            const l2k_quality_of of = {cases[i].quality, 8, viewing};
            const l2k_step step =
                l2k_step_of_quality(l2k_wavelet_get(L2K_WAVELET_9_7), of, (l2k_depth){level, level}, orientation);
            assert_int_equal(step.exponent << 11 | step.mantissa, cases[i].steps[k]);
        }
}

/* Weights at 4000 samples are those of the quality factor; at half the distance, those of a level further down; and no
 * eye sees finer details from farther off. */
static void test_visual_weights(void **unused)
{
    (void)unused;
    for (unsigned role = 0; role < 3; role++)
        for (unsigned o = L2K_LL; o <= L2K_HH; o++)
            for (unsigned level = 1; level < 8; level++)
                for (unsigned halved = 0; halved < 4; halved++) {
                    const l2k_viewing none = {role, halved & 1, halved == 3, 0},
                                      far = {role, halved & 1, halved == 3, 4000},
                                      near = {role, halved & 1, halved == 3, 2000};
                    const l2k_depth depth = {level, level}, next = {level + 1, level + 1};
                    float before = 3;
                    assert_true(l2k_error_weight(none, depth, o) == 1);
                    assert_true(l2k_error_weight(near, depth, o) < l2k_error_weight(near, next, o) || level > 3);
                    assert_true(l2k_visual_weight(near, depth, o) == l2k_visual_weight(far, next, o));
                    for (unsigned distance = 1; distance <= 16000; distance += distance / 7 + 1) {
                        const l2k_viewing from = {role, halved & 1, halved == 3, distance};
                        const float weight = l2k_visual_weight(from, depth, o);
                        assert_true(weight > 0 && weight <= before);
                        before = weight;
                    }
                }
    const l2k_viewing luma = {L2K_LUMA, false, false, 4000};
    assert_true(fabsf(l2k_visual_weight(luma, (l2k_depth){1, 1}, L2K_HH) - .0901f) < 1e-6f);
    assert_true(fabsf(l2k_visual_weight(luma, (l2k_depth){2, 2}, L2K_LH) - .8378f) < 1e-6f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),     cmocka_unit_test(test_choice),         cmocka_unit_test(test_size),
        cmocka_unit_test(test_norms_5_3), cmocka_unit_test(test_norms_9_7),      cmocka_unit_test(test_deep_levels),
        cmocka_unit_test(test_base),      cmocka_unit_test(test_base_norms),     cmocka_unit_test(test_base_limits),
        cmocka_unit_test(test_quality),   cmocka_unit_test(test_visual_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
