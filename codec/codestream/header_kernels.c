/* The parser of ATK, arbitrary transformation kernels (T.801, A.3), and the search for the ATK whose index COD or COC
 * names. Where public streams and the bits of Rsiz disagree, this library goes by the marker segments. */
#include <math.h>
#include <string.h>

#include "codec/codestream/header_parser.h"

typedef struct atk {
    const l2k_header_state *state;
    const l2k_segment *segment;
    const uint8_t *at;
    unsigned satk, type;
    bool has_ended; /* bytes were wanted behind the last one */
} atk;

/* Damage may be bytes that are missing, which read as 0. */
static l2k_status wrong(const atk *a, const char *what)
{
    return l2k_segment_wrong(a->state, a->segment, a->has_ended ? "its length does not fit its content" : what);
}

static uint64_t take_bytes(atk *a, unsigned bytes)
{
    uint64_t value = 0;
    a->has_ended = a->has_ended || (size_t)(a->segment->end - a->at) < bytes;
    for (unsigned i = 0; i < bytes && !a->has_ended; i++)
        value = value << 8 | *a->at++;
    return value;
}

/* A float of 128 bits from its upper half; the lower half is beyond a double's precision. */
static double wide_float(uint64_t upper)
{
    const int exponent = (int)(upper >> 48 & 0x7FFF);
    const double mantissa = (double)(upper & UINT64_C(0xFFFFFFFFFFFF)) * 0x1p-48;
    const double value = exponent == 0x7FFF ? (double)INFINITY : exponent ? ldexp(1 + mantissa, exponent - 16383) : 0;
    return upper >> 63 ? -value : value;
}

static double take_coefficient(atk *a)
{
    static const uint8_t bytes[L2K_ATK_NUM_TYPES] = {1, 2, 4, 8, 8};
    const uint64_t bits = take_bytes(a, bytes[a->type]);
    const uint32_t low = (uint32_t)bits;
    float narrow;
    double value;
    memcpy(&narrow, &low, sizeof narrow);
    memcpy(&value, &bits, sizeof value);
    switch (a->type) {
    case L2K_ATK_INTEGER_8:
        return (int8_t)bits;
    case L2K_ATK_INTEGER_16:
        return (int16_t)bits;
    case L2K_ATK_FLOAT_32:
        return (double)narrow;
    case L2K_ATK_FLOAT_64:
        return value;
    default:
        (void)take_bytes(a, 8);
        return wide_float(bits);
    }
}

/* One half of symmetric taps begins next to the changed sample. */
static void mirror_taps(l2k_kernel_step *step)
{
    const unsigned half = step->num_taps;
    for (unsigned k = 0; k < half; k++)
        step->taps[half + k] = step->taps[k];
    for (unsigned k = 0; k < half; k++)
        step->taps[k] = step->taps[2 * half - 1 - k];
    step->num_taps = (uint8_t)(2 * half);
    step->offset = (int8_t)(step->high ? 1 - (int)half : -(int)half);
}

/* Oatk, Eatk, Batk, LCatk and Aatk, those that the kernel has. */
static l2k_status parse_step(atk *a, l2k_kernel_step *step)
{
    const bool symmetric = a->satk & L2K_ATK_SYMMETRIC;
    if (!symmetric)
        step->offset = (int8_t)take_bytes(a, 1);
    if (a->satk & L2K_ATK_REVERSIBLE) {
        step->shift = (uint8_t)take_bytes(a, 1);
        step->rounding = (int16_t)take_coefficient(a);
    }
    step->num_taps = (uint8_t)take_bytes(a, 1);
    if (step->num_taps == 0)
        return wrong(a, "a lifting step without taps");
    if (step->num_taps > L2K_KERNEL_TAPS / (symmetric ? 2 : 1))
        return l2k_fail(a->state->context, L2K_ERROR_UNSUPPORTED, "ATK: a lifting step of more than %u taps",
                        L2K_KERNEL_TAPS);
    for (unsigned k = 0; k < step->num_taps; k++)
        step->taps[k] = (float)take_coefficient(a);
    if (symmetric)
        mirror_taps(step);
    return L2K_OK;
}

/* Steps are in the order of the reconstruction. */
static l2k_status parse_kernel(atk *a, l2k_kernel *kernel)
{
    *kernel =
        (l2k_kernel){.reversible = a->satk & L2K_ATK_REVERSIBLE, .mirrors = a->satk & L2K_ATK_MIRRORS, .scale = 1};
    if (!kernel->reversible)
        kernel->scale = (float)take_coefficient(a);
    const unsigned steps = (unsigned)take_bytes(a, 1);
    if (steps > L2K_KERNEL_STEPS)
        return l2k_fail(a->state->context, L2K_ERROR_UNSUPPORTED, "ATK: more than %u lifting steps", L2K_KERNEL_STEPS);
    kernel->num_steps = (uint8_t)steps;
    for (unsigned s = 0; s < steps; s++) {
        l2k_kernel_step *step = &kernel->steps[steps - 1 - s];
        step->high = ((a->satk & L2K_ATK_ODD_FIRST) != 0) ^ (s & 1);
        L2K_TRY(parse_step(a, step));
    }
    if (a->has_ended || a->at != a->segment->end)
        return wrong(a, "its length does not fit its content");
    const char *what = l2k_kernel_wrong(kernel);
    return what ? wrong(a, what) : L2K_OK;
}

l2k_status l2k_parse_atk(l2k_header_state *state, const l2k_segment *segment)
{
    atk a = {.state = state, .segment = segment, .at = segment->data};
    if (state->kind != L2K_MAIN_HEADER)
        return l2k_fail(state->context, L2K_ERROR_UNSUPPORTED, "ATK in a tile-part header");
    a.satk = (unsigned)take_bytes(&a, 2);
    a.type = a.satk >> L2K_ATK_TYPE_SHIFT & 7;
    const unsigned index = a.satk & 0xFF;
    if (index < 2)
        return wrong(&a, "an index of 0 or 1, which are the wavelets of Part 1");
    if (!state->coding->kernels && !(state->siz->profile & L2K_RSIZ_PART_2))
        l2k_warn(state->context, "ATK, but Rsiz %04X does not announce Part 2", (unsigned)state->siz->profile);
    if (l2k_kernels_find(state->coding->kernels, index))
        return wrong(&a, "the same index twice");
    if (a.type >= L2K_ATK_NUM_TYPES)
        return wrong(&a, "an impossible type of coefficients");
    if (a.satk & L2K_ATK_REVERSIBLE && a.type > L2K_ATK_INTEGER_16)
        return wrong(&a, "a reversible kernel whose coefficients are not integers");
    l2k_kernel kernel;
    L2K_TRY(parse_kernel(&a, &kernel));
    l2k_wavelet_descriptor wavelet;
    l2k_wavelet_of_kernel(&kernel, &wavelet);
    wavelet.code = (uint8_t)index;
    return l2k_kernels_add(state->context, &state->coding->kernels, &wavelet);
}

l2k_status l2k_find_kernel(const l2k_header_state *state, uint32_t c)
{
    l2k_component_coding *coding = &state->coding->components[c];
    coding->own = NULL;
    coding->wavelet = coding->kernel == 1 ? L2K_WAVELET_5_3 : L2K_WAVELET_9_7;
    if (coding->kernel < 2)
        return L2K_OK;
    coding->own = l2k_kernels_find(state->coding->kernels, coding->kernel);
    if (!coding->own)
        return l2k_fail(state->context, L2K_ERROR_CORRUPT, "component %u: a wavelet transform %u that no ATK describes",
                        (unsigned)c, coding->kernel);
    coding->wavelet = (uint8_t)l2k_wavelet_of(coding->own);
    return L2K_OK;
}
