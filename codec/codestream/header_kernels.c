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
} atk;

static l2k_status wrong(const atk *a, const char *what)
{
    return l2k_segment_wrong(a->state, a->segment, what);
}

static l2k_status take_bytes(atk *a, unsigned bytes, uint64_t *value)
{
    if ((size_t)(a->segment->end - a->at) < bytes)
        return wrong(a, "its length does not fit its content");
    *value = 0;
    for (unsigned i = 0; i < bytes; i++)
        *value = *value << 8 | a->at[i];
    a->at += bytes;
    return L2K_OK;
}

/* A float of 128 bits from its upper half; the lower half is beyond a double's precision. */
static double wide_float(uint64_t upper)
{
    const int exponent = (int)(upper >> 48 & 0x7FFF);
    const double mantissa = (double)(upper & UINT64_C(0xFFFFFFFFFFFF)) * 0x1p-48;
    const double value = exponent == 0x7FFF ? (double)INFINITY : exponent ? ldexp(1 + mantissa, exponent - 16383) : 0;
    return upper >> 63 ? -value : value;
}

static l2k_status take_coefficient(atk *a, double *out)
{
    static const uint8_t bytes[L2K_ATK_NUM_TYPES] = {1, 2, 4, 8, 8};
    uint64_t bits = 0, rest;
    L2K_TRY(take_bytes(a, bytes[a->type], &bits));
    const uint32_t low = (uint32_t)bits;
    float narrow;
    memcpy(&narrow, &low, sizeof narrow);
    switch (a->type) {
    case L2K_ATK_INTEGER_8:
        *out = (int8_t)bits;
        break;
    case L2K_ATK_INTEGER_16:
        *out = (int16_t)bits;
        break;
    case L2K_ATK_FLOAT_32:
        *out = (double)narrow;
        break;
    case L2K_ATK_FLOAT_64:
        memcpy(out, &bits, sizeof *out);
        break;
    default:
        *out = wide_float(bits);
        return take_bytes(a, 8, &rest);
    }
    return L2K_OK;
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
    const bool symmetric = a->satk & L2K_ATK_SYMMETRIC, reversible = a->satk & L2K_ATK_REVERSIBLE;
    uint64_t offset = 0, shift = 0, count = 0;
    double rounding = 0, tap = 0;
    if (!symmetric)
        L2K_TRY(take_bytes(a, 1, &offset));
    if (reversible) {
        L2K_TRY(take_bytes(a, 1, &shift));
        L2K_TRY(take_coefficient(a, &rounding));
    }
    L2K_TRY(take_bytes(a, 1, &count));
    if (count == 0)
        return wrong(a, "a lifting step without taps");
    if (count > L2K_KERNEL_TAPS / (symmetric ? 2 : 1))
        return l2k_fail(a->state->context, L2K_ERROR_UNSUPPORTED, "ATK: a lifting step of more than %u taps",
                        L2K_KERNEL_TAPS);
    step->offset = (int8_t)offset;
    step->shift = (uint8_t)shift;
    step->rounding = (int16_t)rounding;
    step->num_taps = (uint8_t)count;
    for (unsigned k = 0; k < count; k++) {
        L2K_TRY(take_coefficient(a, &tap));
        step->taps[k] = (float)tap;
    }
    if (symmetric)
        mirror_taps(step);
    return L2K_OK;
}

/* Steps are in the order of the reconstruction. */
static l2k_status parse_kernel(atk *a, l2k_kernel *kernel)
{
    uint64_t steps = 0;
    double scale = 1;
    *kernel =
        (l2k_kernel){.reversible = a->satk & L2K_ATK_REVERSIBLE, .mirrors = a->satk & L2K_ATK_MIRRORS, .scale = 1};
    if (!kernel->reversible)
        L2K_TRY(take_coefficient(a, &scale));
    kernel->scale = (float)scale;
    L2K_TRY(take_bytes(a, 1, &steps));
    if (steps > L2K_KERNEL_STEPS)
        return l2k_fail(a->state->context, L2K_ERROR_UNSUPPORTED, "ATK: more than %u lifting steps", L2K_KERNEL_STEPS);
    kernel->num_steps = (uint8_t)steps;
    for (unsigned s = 0; s < steps; s++) {
        l2k_kernel_step *step = &kernel->steps[steps - 1 - s];
        step->high = ((a->satk & L2K_ATK_ODD_FIRST) != 0) ^ (s & 1);
        L2K_TRY(parse_step(a, step));
    }
    if (a->at != a->segment->end)
        return wrong(a, "its length does not fit its content");
    const char *what = l2k_kernel_wrong(kernel);
    return what ? wrong(a, what) : L2K_OK;
}

l2k_status l2k_parse_atk(l2k_header_state *state, const l2k_segment *segment)
{
    atk a = {.state = state, .segment = segment, .at = segment->data};
    uint64_t satk = 0;
    if (state->kind != L2K_MAIN_HEADER)
        return l2k_fail(state->context, L2K_ERROR_UNSUPPORTED, "ATK in a tile-part header");
    L2K_TRY(take_bytes(&a, 2, &satk));
    a.satk = (unsigned)satk;
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
