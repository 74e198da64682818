/* Transform parameters (VC-2, 12.4; Dirac, 11.3), quantisers, and coefficients but for their codes. */
#include "dirac/transform.h"

#include "base/memory.h"

/* 4 * 2^(index / 4), rounded as clause 13.3.2 of VC-2 has it. Offsets are 3/8 of a step in predicted pictures, else 1/2. */
void l2k_dirac_transform_start(l2k_dirac_transform *t)
{
    static const uint32_t ratios[4][3] = {
        {4, 0, 1}, {503829, 52958, 105917}, {665857, 58854, 117708}, {440253, 32722, 65444}};
    for (unsigned i = 0; i < L2K_DIRAC_QUANTISERS; i++) {
        const uint64_t factor = (((uint64_t)ratios[i % 4][0] << i / 4) + ratios[i % 4][1]) / ratios[i % 4][2];
        for (unsigned intra = 0; intra < 2; intra++) {
            const uint64_t offset = i < 2 ? i + 1 : intra ? (factor + 1) / 2 : (factor * 3 + 4) / 8;
            t->quantisers[intra][i] = (l2k_dirac_quantiser){(uint32_t)factor, (uint32_t)offset + 2};
        }
    }
    l2k_dirac_codes_start(t->codes);
}

/* ---- Parameters ------------------------------------------------------------------------------------------------ */

/* Annex D of VC-2: per wavelet the lowest low-pass, then HL and LH alike, and HH, of four levels from the lowest on.
 * Haar without a shift counts from the highest level. */
static uint32_t default_matrix(const l2k_dirac_transform *t, unsigned band)
{
    static const uint8_t matrices[7][9] = {{5, 3, 0, 4, 1, 5, 2, 6, 3}, {4, 2, 0, 4, 2, 5, 3, 7, 5},
                                           {5, 3, 0, 4, 1, 5, 2, 6, 3}, {20, 16, 12, 12, 8, 8, 4, 4, 0},
                                           {8, 4, 0, 4, 0, 4, 0, 4, 0}, {0, 4, 8, 8, 12, 13, 17, 17, 21},
                                           {3, 1, 0, 4, 2, 6, 5, 9, 7}};
    const unsigned column = band ? (band - 1) / 3 * 2 + 1 + (band % 3 == 0) : 0;
    return t->levels && column < 9 ? matrices[t->wavelet][column] - (t->wavelet == 3 ? 4 * (4 - t->levels) : 0) : 0;
}

static const char *read_slices(l2k_dirac_bits *bits, l2k_dirac_transform *t)
{
    uint32_t *const numbers[] = {&t->slices[0], &t->slices[1], &t->slice_bytes[0], &t->slice_bytes[1]};
    for (unsigned i = 0; i < 4; i++)
        *numbers[i] = l2k_dirac_uint(bits);
    const bool given = l2k_dirac_flag(bits);
    if (!given && t->levels > 4)
        return "no quantisation matrix";
    for (unsigned b = 0; b < l2k_dirac_bands(t) && given; b++)
        t->matrix[b] = l2k_dirac_uint(bits);
    for (unsigned i = 0; i < 2; i++)
        if (!t->slices[i] || t->slices[i] > (i ? t->components[0].height : t->components[0].width))
            return "a wrong number of slices";
    const bool low_delay = t->syntax == L2K_DIRAC_LOW_DELAY;
    return !t->slice_bytes[1] || (low_delay && t->slice_bytes[0] < t->slice_bytes[1]) ? "slices of no bytes" : NULL;
}

/* Empty code-blocks take time, too. */
static const char *read_blocks(l2k_dirac_bits *bits, l2k_dirac_transform *t)
{
    enum { MOST_EMPTY = 4096 };
    const bool given = l2k_dirac_flag(bits);
    for (unsigned level = 0; level <= t->levels; level++) {
        const l2k_dirac_band *band = &t->components[0].bands[3 * level];
        uint32_t *blocks = t->blocks[level];
        for (unsigned i = 0; i < 2; i++)
            blocks[i] = given ? l2k_dirac_uint(bits) : 1;
        if (!blocks[0] || !blocks[1] ||
            (uint64_t)blocks[0] * blocks[1] > (uint64_t)band->width * band->height + MOST_EMPTY)
            return "a wrong number of code-blocks";
    }
    t->multiquant = given && l2k_dirac_uint(bits) == 1;
    return NULL;
}

static void place_bands(l2k_dirac_component *component, uint32_t levels)
{
    const size_t width = component->width;
    component->bands[0] = (l2k_dirac_band){0, width << levels, component->width >> levels, component->height >> levels};
    for (unsigned b = 1; b <= 3 * levels; b++) {
        const unsigned above = levels - (b + 2) / 3, across = (b - 1) % 3 != 1, down = (b - 1) % 3 > 0;
        l2k_dirac_band *band = &component->bands[b];
        *band = (l2k_dirac_band){.stride = width << above << 1,
                                 .width = component->width >> above >> 1,
                                 .height = component->height >> above >> 1};
        band->at = (down ? width << above : 0) + (across ? band->width : 0);
    }
}

void l2k_dirac_transform_place(const l2k_dirac_sequence *sequence, l2k_dirac_transform *t)
{
    const uint32_t most = (1u << t->levels) - 1;
    for (unsigned c = 0; c < L2K_DIRAC_PLANES; c++) {
        l2k_dirac_component *component = &t->components[c];
        l2k_dirac_size(sequence, c, &component->width, &component->height);
        component->width = (component->width + most) & ~most;
        component->height = (component->height + most) & ~most;
        place_bands(component, t->levels);
    }
    for (unsigned b = 0; b < l2k_dirac_bands(t); b++)
        t->matrix[b] = default_matrix(t, b);
}

l2k_status l2k_dirac_transform_read(const l2k_context *context, const l2k_dirac_sequence *sequence,
                                    l2k_dirac_bits *bits, l2k_dirac_transform *t)
{
    const bool slices = t->syntax >= L2K_DIRAC_LOW_DELAY;
    t->wavelet = l2k_dirac_uint(bits);
    t->levels = l2k_dirac_uint(bits);
    const char *wrong =
        t->wavelet > 6 || t->levels > L2K_DIRAC_LEVELS ? "an unknown wavelet, or too many levels" : NULL;
    /* The horizontal wavelet, and its own levels. */
    for (unsigned i = 0; i < 2 && slices && sequence->version >= 3; i++)
        if (l2k_dirac_flag(bits) && l2k_dirac_uint(bits) != (i ? 0 : t->wavelet))
            wrong = "an asymmetric transform";
    if (!wrong) {
        l2k_dirac_transform_place(sequence, t);
        wrong = (slices ? read_slices : read_blocks)(bits, t);
    }
    l2k_dirac_align(bits);
    return wrong ? l2k_fail(context, L2K_ERROR_UNSUPPORTED, "a picture has %s", wrong) : L2K_OK;
}

/* ---- Coefficients ---------------------------------------------------------------------------------------------- */

/* 13.4. */
static inline __attribute__((always_inline)) uint32_t predict(void *data, const l2k_dirac_band *band, bool wide)
{
    uint32_t over = 0;
    for (size_t y = 0; y < band->height; y++)
        for (size_t x = 0; x < band->width; x++) {
            void *row = l2k_dirac_at(data, y * band->stride, wide);
            const void *above = l2k_dirac_at(data, (y ? y - 1 : 0) * band->stride, wide);
            const int64_t mean = l2k_dirac_predicted(row, above, x, y, wide);
            over |= l2k_dirac_put(row, x, (int32_t)(uint32_t)(l2k_dirac_get(row, x, wide) + mean), wide);
        }
    return over;
}

l2k_status l2k_dirac_coefficients(const l2k_context *context, l2k_dirac_bits *bits, l2k_dirac_transform *t)
{
    enum { MORE = 64 }; /* of a row, what is read behind its end */
    const l2k_dirac_component *all = t->components;
    const size_t planes[] = {(size_t)all[0].width * all[0].height, (size_t)all[1].width * all[1].height};
    size_t values = (size_t)all[0].width + MORE;
    for (unsigned b = 0; b < l2k_dirac_bands(t) && t->syntax >= L2K_DIRAC_LOW_DELAY; b++) /* chroma twice, and apart */
        values += (size_t)3 * (all->bands[b].width / t->slices[0] + 1) * (all->bands[b].height / t->slices[1] + 1);
    l2k_release(context, t->data);
    l2k_release(context, t->scratch);
    t->data =
        l2k_allocate_zeroed(context, planes[0] + 2 * planes[1] + MORE, t->wide ? sizeof(int32_t) : sizeof(int16_t));
    t->scratch = l2k_allocate(context, values, sizeof(int32_t));
    L2K_TRY(l2k_check_memory(context, t->data && t->scratch, "coefficients"));
    for (unsigned c = 0; c < L2K_DIRAC_PLANES; c++)
        t->components[c].data = l2k_dirac_at(t->data, c ? planes[0] + (c - 1) * planes[1] : 0, t->wide);
    t->rows = l2k_dirac_rows_get(context->cpu);
    t->over = 0;
    if (!bits)
        return L2K_OK;
    const l2k_status status =
        (t->syntax < L2K_DIRAC_LOW_DELAY ? l2k_dirac_core_read : l2k_dirac_slices_read)(context, bits, t);
    for (unsigned c = 0; c < L2K_DIRAC_PLANES && t->intra && t->syntax != L2K_DIRAC_HIGH_QUALITY; c++)
        t->over |= t->wide ? predict(all[c].data, all[c].bands, true) : predict(all[c].data, all[c].bands, false);
    return status;
}
