/* Quantiser step sizes: E-3 to E-5, with OpenJPEG's choice of steps. */
#include "quant/steps.h"

#include <math.h>

#include "base/integer.h"

unsigned l2k_log2_gain(unsigned orientation)
{
    return (orientation & 1) + (orientation >> 1);
}

/* Of a subband of decomposition level `level`, 0 only for LL without decomposition. */
static double norm_of_level(const l2k_wavelet_descriptor *wavelet, unsigned level, unsigned orientation)
{
    /* A row for each gain, so that HL and LH share one; high bands of level 1 are in column 0, as LL of level 0 is. */
    unsigned column = orientation == L2K_LL ? level : level - 1;
    if (column >= L2K_NORM_LEVELS)
        column = L2K_NORM_LEVELS - 1;
    return wavelet->norms[l2k_log2_gain(orientation)][column];
}

/* Bases are products of one function for each direction, so that LL's and HH's norms are squares. */
double l2k_norm_at(const l2k_wavelet_descriptor *wavelet, l2k_depth depth, unsigned orientation)
{
    if (depth.across == depth.down)
        return norm_of_level(wavelet, depth.across, orientation);
    return sqrt(norm_of_level(wavelet, depth.across, orientation & L2K_HL ? L2K_HH : L2K_LL) *
                norm_of_level(wavelet, depth.down, orientation & L2K_LH ? L2K_HH : L2K_LL));
}

/* The number of bits by which a coefficient may exceed a sample, rounded up. */
static unsigned log2_gain_of(const l2k_wavelet_descriptor *wavelet, l2k_depth depth, unsigned orientation)
{
    if (!wavelet->gains[0][0]) /* not measured */
        return l2k_log2_gain(orientation);
    return (unsigned)fmax(0, ceil(log2(l2k_wavelet_gain(wavelet, depth.across, depth.down, orientation)) - 1e-6));
}

/* By E-3 an index is the coefficient's part of 2^(precision + gain) in units of 2^-exponent, so Mb must exceed the
 * exponent by the bits by which the coefficient exceeds that range, or half of it for samples with signs. */
unsigned l2k_guard_bits_of(const l2k_wavelet_descriptor *wavelet, unsigned levels)
{
    unsigned most = L2K_GUARD_BITS;
    for (unsigned band = 0; band <= 3 * levels && wavelet->quantised; band++) {
        const unsigned orientation = l2k_band_orientation(band);
        const unsigned level = l2k_band_level(levels, l2k_band_resolution(band));
        const unsigned gain = log2_gain_of(wavelet, (l2k_depth){level, level}, orientation),
                       nominal = l2k_log2_gain(orientation);
        most = l2k_max_u32(most, gain > nominal ? gain - nominal + 1 : 0);
    }
    return most;
}

l2k_step l2k_step_choose(const l2k_wavelet_descriptor *wavelet, unsigned precision, l2k_depth depth,
                         unsigned orientation)
{
    if (!wavelet->quantised)
        return (l2k_step){(uint8_t)(precision + log2_gain_of(wavelet, depth, orientation)), 0};
    /* 1 / norm in units of 2^-13, as a power of two and the eleven bits below it. */
    const double reciprocal = floor(8192.0 / l2k_norm_at(wavelet, depth, orientation));
    uint32_t fixed = (uint32_t)fmin(fmax(reciprocal, 1), 0x1p13 * (double)((uint32_t)1 << l2k_min_u32(precision, 16)));
    unsigned top = l2k_log2(fixed);
    uint32_t mantissa = top > 11 ? fixed >> (top - 11) : fixed << (11 - top);
    return (l2k_step){(uint8_t)(precision + 13 - top), (uint16_t)(mantissa & 0x7ff)};
}

static float factor_norm(const l2k_wavelet_descriptor *wavelet, unsigned level, bool high)
{
    unsigned column = high ? level - 1 : level;
    return wavelet->factor_norms[high][l2k_min_u32(column, L2K_NORM_LEVELS)];
}

static float factor_norms(const l2k_wavelet_descriptor *wavelet, l2k_depth depth, unsigned orientation)
{
    return factor_norm(wavelet, depth.across, orientation & 1) * factor_norm(wavelet, depth.down, orientation >> 1);
}

/* The nearest step that QCD can express. */
static l2k_step nearest_step(float step)
{
    unsigned exponent = 0;
    for (; step < 1 && exponent < 31; exponent++)
        step *= 2;
    const long mantissa = lroundf(fminf(step, 2) * 2048) - 2048; /* `long` may have 32 bits */
    return (l2k_step){(uint8_t)exponent, (uint16_t)(mantissa < 0 ? 0 : mantissa > 2047 ? 2047 : mantissa)};
}

l2k_step l2k_step_of_base(const l2k_wavelet_descriptor *wavelet, float base, l2k_depth depth, unsigned orientation)
{
    return nearest_step(base / factor_norms(wavelet, depth, orientation));
}

/* ---- Contrast sensitivity and quality factor ------------------------------------------------------------------- */

/* The sensitivity `at` levels below level 1, not only whole ones: nearer eyes see the frequencies of a level further
 * down. Above level 1 its logarithm goes on in proportion to the frequency. */
static float sensitivity(unsigned role, float at, bool diagonal)
{
    enum { LEVELS = 5 };
    static const float weights[3][LEVELS + 2][2] = {
        /* of HL and LH, HH */
        {{.2758f, .0901f}, {.8378f, .7018f}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
        {{.0863f, .0263f}, {.2564f, .1362f}, {.4691f, .3346f}, {.6523f, .5444f}, {.7797f, .7078f}, {1, 1}, {1, 1}},
        {{.1835f, .0773f}, {.4130f, .2598f}, {.6464f, .5040f}, {.8254f, .7220f}, {.9424f, .8769f}, {1, 1}, {1, 1}}};
    if (at < 0)
        return powf(weights[role][0][diagonal], exp2f(-at));
    const unsigned level = (unsigned)fminf(at, LEVELS);
    const float part = fminf(at, LEVELS) - (float)level;
    return powf(weights[role][level][diagonal], 1 - part) * powf(weights[role][level + 1][diagonal], part);
}

/* A sub-sampled component's frequencies are those of a level further down, and an error spreads over twice the samples in
 * each direction. */
float l2k_visual_weight(l2k_viewing viewing, l2k_depth depth, unsigned orientation)
{
    const bool both = viewing.halved_across && viewing.halved_down, halved = viewing.halved_across && !both;
    const unsigned level = l2k_max_u32(depth.across, depth.down) + (both || (halved && orientation == L2K_HL));
    const float at = (float)level - 1 + log2f((float)L2K_QUALITY_DISTANCE / (float)viewing.distance);
    const float weight = orientation == L2K_LL ? 1 : sensitivity(viewing.role, at, orientation == L2K_HH && !halved);
    return both ? 2 * weight : halved ? roundf(weight * 14142.1356f) / 10000 : weight;
}

/* The base step of a quality, and the power of visual weights: they count in full up to 65, and from 97 on not at all. */
static float base_of_quality(unsigned quality, unsigned precision, float *power)
{
    const float least = 2 * (1 - 65 / 100.0f), most = 2 * (1 - 97 / 100.0f);
    const float multiplier = quality < 50 ? 50.0f / (float)quality : 2 * (1 - (float)quality / 100.0f);
    *power = quality <= 65 ? 1 : quality >= 97 ? 0 : (logf(multiplier) - logf(most)) / (logf(least) - logf(most));
    const float scale = quality <= 65 ? 0.04f : quality >= 97 ? 0.10f : 0.10f * powf(0.04f / 0.10f, *power);
    return scale * multiplier + sqrtf(0.5f) * ldexpf(1, -(int)precision);
}

/* These factors give the least bytes for the same SSIMULACRA2 (bench/results/visual.md). */
float l2k_error_weight(l2k_viewing viewing, l2k_depth depth, unsigned orientation)
{
    static const float of_role[] = {1, 1, 0.7f};
    const unsigned both = viewing.halved_across && viewing.halved_down;
    const unsigned level = l2k_min_u32(l2k_max_u32(depth.across, depth.down) + both, 5);
    if (!viewing.distance)
        return 1;
    return l2k_visual_weight(viewing, depth, orientation) * of_role[viewing.role] * powf(1.2f, (float)level - 5);
}

l2k_step l2k_step_of_quality(const l2k_wavelet_descriptor *wavelet, l2k_quality_of of, l2k_depth depth,
                             unsigned orientation)
{
    static const float gains[] = {1, 1.8051f / 1.7321f, 1.5734f / 1.7321f}; /* norms of the inverse ICT's columns */
    float power;
    const float base = base_of_quality(of.quality, of.precision, &power);
    return nearest_step(base / (factor_norms(wavelet, depth, orientation) * gains[of.viewing.role] *
                                powf(l2k_visual_weight(of.viewing, depth, orientation), power)));
}

float l2k_step_size(l2k_step step, unsigned precision, unsigned orientation)
{
    int range = (int)(precision + l2k_log2_gain(orientation));
    return (float)((1.0 + step.mantissa / 2048.0) * pow(2.0, range - (int)step.exponent));
}
