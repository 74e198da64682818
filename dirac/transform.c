/* Transform parameters (VC-2, 12.4; Dirac, 11.3), quantisers, and where subbands are. */
#include "dirac/transform.h"

#include <string.h>

#include "base/memory.h"

/* 4 * 2^(index / 4), rounded as clause 13.3.2 of VC-2 has it. Predicted pictures have offsets of 3/8. */
void l2k_dirac_transform_start(l2k_dirac_transform *transform)
{
    static const uint32_t ratios[4][3] = {
        {4, 0, 1}, {503829, 52958, 105917}, {665857, 58854, 117708}, {440253, 32722, 65444}};
    for (unsigned i = 0; i < L2K_DIRAC_QUANTISERS; i++) {
        const uint32_t *r = ratios[i % 4];
        const uint32_t factor = (uint32_t)((((uint64_t)r[0] << i / 4) + r[1]) / r[2]);
        const uint32_t half = i < 2 ? i + 1 : (uint32_t)(((uint64_t)factor + 1) / 2);
        const uint32_t three_eighths = i < 2 ? i + 1 : (uint32_t)(((uint64_t)factor * 3 + 4) / 8);
        transform->quantisers[0][i] = (l2k_dirac_quantiser){factor, three_eighths + 2};
        transform->quantisers[1][i] = (l2k_dirac_quantiser){factor, half + 2};
    }
    l2k_dirac_codes(transform->codes);
}

void l2k_dirac_transform_end(const l2k_context *context, l2k_dirac_transform *transform)
{
    l2k_release(context, transform->data);
    l2k_release(context, transform->scratch);
}

/* ---- Quantisation matrices ------------------------------------------------------------------------------------- */

/* Per wavelet: the lowest low-pass, then HL and LH alike, and HH, of four levels from the lowest on (Annex D of VC-2). */
static const uint8_t matrices[7][9] = {
    {5, 3, 0, 4, 1, 5, 2, 6, 3},     {4, 2, 0, 4, 2, 5, 3, 7, 5}, {5, 3, 0, 4, 1, 5, 2, 6, 3},
    {20, 16, 12, 12, 8, 8, 4, 4, 0}, {8, 4, 0, 4, 0, 4, 0, 4, 0}, {0, 4, 8, 8, 12, 13, 17, 17, 21},
    {3, 1, 0, 4, 2, 6, 5, 9, 7},
};

static l2k_status read_matrix(const l2k_context *context, l2k_dirac_bits *bits, l2k_dirac_transform *t)
{
    if (l2k_dirac_flag(bits)) {
        for (unsigned b = 0; b < t->num_bands; b++)
            t->matrix[b] = l2k_dirac_uint(bits);
        return L2K_OK;
    }
    if (t->levels > 4 || t->across || t->wavelet[0] != t->wavelet[1])
        return l2k_fail(context, L2K_ERROR_UNSUPPORTED, "no default quantisation matrix for %u and %u levels",
                        t->levels, t->across);
    const uint8_t *matrix = matrices[t->wavelet[0]];
    const uint32_t less = t->wavelet[0] == 3 ? 4 * (4 - t->levels) : 0; /* Haar without a shift counts from the top */
    for (unsigned b = 0; b < t->num_bands; b++)
        t->matrix[b] = t->levels ? matrix[b ? (b - 1) / 3 * 2 + 1 + (b % 3 == 0) : 0] - less : 0;
    return L2K_OK;
}

/* ---- Parameters ------------------------------------------------------------------------------------------------ */

static void read_blocks(l2k_dirac_bits *bits, l2k_dirac_transform *t)
{
    const bool given = l2k_dirac_flag(bits);
    for (unsigned level = 0; level <= t->levels; level++)
        for (unsigned i = 0; i < 2; i++)
            t->blocks[level][i] = given ? l2k_dirac_uint(bits) : 1;
    t->multiquant = given && l2k_dirac_uint(bits) == 1;
}

static l2k_status read_slices(const l2k_context *context, l2k_dirac_bits *bits, l2k_dirac_transform *t)
{
    const bool low_delay = t->syntax == L2K_DIRAC_LOW_DELAY;
    uint32_t *const numbers[] = {&t->slices[0], &t->slices[1], low_delay ? &t->slice_bytes[0] : &t->prefix,
                                 low_delay ? &t->slice_bytes[1] : &t->scaler};
    for (unsigned i = 0; i < 4; i++)
        *numbers[i] = l2k_dirac_uint(bits);
    if (!t->slices[0] || !t->slices[1] || t->slices[0] > t->components[0].width ||
        t->slices[1] > t->components[0].height ||
        (low_delay && (!t->slice_bytes[1] || t->slice_bytes[0] < t->slice_bytes[1])))
        return l2k_fail(context, L2K_ERROR_CORRUPT, "a picture of %u x %u slices of %u / %u bytes", t->slices[0],
                        t->slices[1], t->slice_bytes[0], t->slice_bytes[1]);
    return read_matrix(context, bits, t);
}

static void place_bands(const l2k_dirac_transform *t, l2k_dirac_component *component)
{
    for (unsigned b = 0; b < t->num_bands; b++) {
        l2k_dirac_band *band = &component->bands[b];
        const unsigned level = l2k_dirac_level(t, b),
                       orientation = level > t->across ? (b - t->across - 1) % 3 + 1 : b > 0;
        const unsigned above = t->levels + t->across - (b ? level : 1); /* levels behind the one with this subband */
        const bool down = (b ? level : 1) > t->across;                  /* which splits vertically, too */
        const size_t row = (size_t)component->width << (above < t->levels ? above : t->levels);
        if (t->num_bands == 1) {
            *band = (l2k_dirac_band){0, component->width, component->width, component->height, false, false};
            continue;
        }
        *band = (l2k_dirac_band){.width = component->width >> above >> 1,
                                 .height = component->height >> (down ? above + 1 : t->levels),
                                 .stride = row << down,
                                 .across = orientation & 1,
                                 .down = orientation >> 1};
        band->at = (band->down ? row : 0) + (band->across ? band->width : 0);
    }
}

l2k_status l2k_dirac_transform_read(const l2k_context *context, const l2k_dirac_sequence *sequence,
                                    l2k_dirac_bits *bits, l2k_dirac_transform *t)
{
    const bool slices = t->syntax >= L2K_DIRAC_LOW_DELAY;
    t->wavelet[0] = t->wavelet[1] = l2k_dirac_uint(bits);
    t->levels = l2k_dirac_uint(bits);
    t->across = 0;
    if (slices && sequence->major_version >= 3) {
        if (l2k_dirac_flag(bits))
            t->wavelet[1] = l2k_dirac_uint(bits);
        if (l2k_dirac_flag(bits))
            t->across = l2k_dirac_uint(bits);
    }
    if (t->wavelet[0] > 6 || t->wavelet[1] > 6 || t->levels > L2K_DIRAC_LEVELS ||
        t->across > L2K_DIRAC_LEVELS - t->levels)
        return l2k_fail(context, L2K_ERROR_UNSUPPORTED, "wavelets %u and %u, %u and %u levels", t->wavelet[0],
                        t->wavelet[1], t->levels, t->across);
    t->num_bands = 1 + t->across + 3 * t->levels;
    for (unsigned c = 0; c < L2K_DIRAC_PLANES; c++) {
        const uint32_t across = (1u << (t->levels + t->across)) - 1, down = (1u << t->levels) - 1;
        l2k_dirac_component *component = &t->components[c];
        l2k_dirac_size(sequence, c, &component->width, &component->height);
        component->width = (component->width + across) & ~across;
        component->height = (component->height + down) & ~down;
        place_bands(t, component);
    }
    if (slices)
        return read_slices(context, bits, t);
    read_blocks(bits, t);
    return L2K_OK;
}

/* Grows to what is needed; the content is lost. */
static l2k_status make_room(const l2k_context *context, void **block, size_t *room, size_t bytes)
{
    if (*room >= bytes)
        return L2K_OK;
    l2k_release(context, *block);
    *block = l2k_allocate(context, bytes, 1);
    *room = *block ? bytes : 0;
    return l2k_check_memory(context, *block, "coefficients");
}

/* Values of a slice's chroma, together and of one component, and two rows with what vectors read beyond them. */
static size_t scratch_values(const l2k_dirac_transform *t)
{
    size_t slice = 0, rows = ((size_t)t->components[0].width + L2K_ALIGNMENT) * 2;
    for (unsigned b = 0; b < t->num_bands && t->syntax >= L2K_DIRAC_LOW_DELAY; b++)
        slice += (size_t)l2k_ceil_div(t->components[0].bands[b].width, t->slices[0]) *
                 l2k_ceil_div(t->components[0].bands[b].height, t->slices[1]);
    slice = 3 * slice + 2 * L2K_DIRAC_CODE_VALUES;
    return slice > rows ? slice : rows;
}

l2k_status l2k_dirac_transform_clear(const l2k_context *context, l2k_dirac_transform *t)
{
    const size_t bytes = t->wide ? sizeof(int32_t) : sizeof(int16_t);
    size_t at[L2K_DIRAC_PLANES + 1] = {0};
    for (unsigned c = 0; c < L2K_DIRAC_PLANES; c++)
        at[c + 1] = at[c] + ((size_t)t->components[c].width * t->components[c].height * bytes + L2K_ALIGNMENT - 1) /
                                L2K_ALIGNMENT * L2K_ALIGNMENT;
    L2K_TRY(make_room(context, &t->data, &t->room, at[L2K_DIRAC_PLANES]));
    L2K_TRY(make_room(context, &t->scratch, &t->scratch_room, scratch_values(t) * sizeof(int32_t)));
    memset(t->data, 0, at[L2K_DIRAC_PLANES]);
    for (unsigned c = 0; c < L2K_DIRAC_PLANES; c++)
        t->components[c].data = (uint8_t *)t->data + at[c];
    t->over = 0;
    return L2K_OK;
}

/* ---- Prediction of the lowest low-pass ------------------------------------------------------------------------- */

static inline __attribute__((always_inline)) uint32_t predict(void *data, const l2k_dirac_band *band, bool wide)
{
#define AT(y, x) (wide ? ((int32_t *)data)[(y)*band->stride + (x)] : ((int16_t *)data)[(y)*band->stride + (x)])
    uint32_t over = 0;
    for (size_t y = 0; y < band->height; y++)
        for (size_t x = 0; x < band->width; x++) {
            int64_t value = AT(y, x);
            if (x && y) {
                const int64_t sum = (int64_t)AT(y, x - 1) + AT(y - 1, x - 1) + AT(y - 1, x) + 1;
                value += sum >= 0 ? sum / 3 : (sum - 2) / 3;
            } else if (x || y) {
                value += x ? AT(y, x - 1) : AT(y - 1, x);
            }
            over |= (uint32_t)value + 0x8000;
            if (wide)
                ((int32_t *)data)[y * band->stride + x] = (int32_t)(uint32_t)value;
            else
                ((int16_t *)data)[y * band->stride + x] = (int16_t)(uint16_t)value;
        }
    return over;
#undef AT
}

void l2k_dirac_predict_dc(l2k_dirac_transform *t)
{
    for (unsigned c = 0; c < L2K_DIRAC_PLANES; c++) {
        const l2k_dirac_component *component = &t->components[c];
        t->over |= t->wide ? predict(component->data, component->bands, true)
                           : predict(component->data, component->bands, false);
    }
}
