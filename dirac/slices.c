/* Slices of the low delay and high quality syntax (VC-2, 13.5). */
#include "base/scalar.h"
#include "dirac/transform.h"

/* ---- Slices ---------------------------------------------------------------------------------------------------- */

typedef struct slice {
    uint32_t x, y;
    uint32_t index; /* of the quantiser, before the matrix */
    const l2k_dirac_rows *rows;
} slice;

static uint32_t share(uint32_t size, uint32_t part, uint32_t parts)
{
    return size % parts ? (uint32_t)((uint64_t)size * part / parts) : size / parts * part;
}

/* `components` of them, interleaved, from the first one on. */
static void read_values(l2k_dirac_transform *t, unsigned first, unsigned components, const slice *s,
                        l2k_dirac_bits *bits)
{
    struct {
        uint32_t x, y, width, height;
    } parts[L2K_DIRAC_BANDS];
    size_t n = 0;
    for (unsigned b = 0; b < t->num_bands; b++) {
        const l2k_dirac_band *band = &t->components[first].bands[b];
        parts[b].x = share(band->width, s->x, t->slices[0]);
        parts[b].width = share(band->width, s->x + 1, t->slices[0]) - parts[b].x;
        parts[b].y = share(band->height, s->y, t->slices[1]);
        parts[b].height = share(band->height, s->y + 1, t->slices[1]) - parts[b].y;
        n += (size_t)parts[b].width * parts[b].height;
    }
    int32_t *values = t->scratch;
    s->rows->values(t->codes, bits, values, n * components);
    for (unsigned c = 0; c < components; c++) {
        const l2k_dirac_component *component = &t->components[first + c];
        const int32_t *next = components > 1 ? values + n * components + L2K_DIRAC_CODE_VALUES : values;
        for (size_t i = 0; i < n && components > 1; i++)
            values[n * components + L2K_DIRAC_CODE_VALUES + i] = values[i * components + c];
        for (unsigned b = 0; b < t->num_bands; next += (size_t)parts[b].width * parts[b].height, b++) {
            const l2k_dirac_band *band = &component->bands[b];
            const uint32_t index = s->index > t->matrix[b] ? s->index - t->matrix[b] : 0;
            const l2k_dirac_quantiser quantiser = t->quantisers[1][l2k_min_u32(index, L2K_DIRAC_QUANTISERS - 1)];
            const size_t at = band->at + parts[b].y * band->stride + parts[b].x;
            t->over |= s->rows->dequantise[t->wide](next, parts[b].width, parts[b].height, quantiser,
                                                    (char *)component->data + at * (t->wide ? 4 : 2), band->stride);
        }
    }
}

/* 13.5.3: a quantiser index, the length of luma in bits, luma, both chroma components interleaved. */
static bool read_low_delay(l2k_dirac_transform *t, slice *s, l2k_dirac_bits *bits)
{
    const uint64_t number = (uint64_t)s->y * t->slices[0] + s->x, of = t->slice_bytes[0], per = t->slice_bytes[1];
    const uint64_t bytes = (number + 1) * of / per - number * of / per;
    l2k_dirac_bits chroma = l2k_dirac_block(bits, bytes < SIZE_MAX ? (size_t)bytes : SIZE_MAX), luma = chroma;
    if (chroma.bytes < bytes || bytes > UINT32_MAX / 8)
        return false;
    s->index = l2k_dirac_read(&luma, 7);
    const unsigned length_bits = l2k_bit_length((uint32_t)(8 * bytes - 8)), head = 7 + length_bits;
    const uint64_t end = head + (uint64_t)l2k_dirac_read(&luma, length_bits);
    if (end > 8 * bytes)
        return false;
    luma.bytes = (size_t)(end + 7) / 8;
    luma.foreign = (unsigned)(8 * luma.bytes - end);
    luma.at = luma.count = 0, luma.window = 0;
    l2k_dirac_read(&luma, head % 32), l2k_dirac_read(&luma, head / 32 * 32);
    read_values(t, 0, 1, s, &luma);
    chroma.at = (size_t)end / 8;
    l2k_dirac_read(&chroma, end % 8);
    read_values(t, 1, 2, s, &chroma);
    return true;
}

/* 13.5.4: a quantiser index, then each component with its length. */
static bool read_high_quality(l2k_dirac_transform *t, slice *s, l2k_dirac_bits *bits)
{
    l2k_dirac_block(bits, t->prefix);
    s->index = l2k_dirac_read(bits, 8);
    for (unsigned c = 0; c < L2K_DIRAC_PLANES; c++) {
        const uint64_t length = (uint64_t)l2k_dirac_read(bits, 8) * t->scaler;
        l2k_dirac_bits block = l2k_dirac_block(bits, length < SIZE_MAX ? (size_t)length : SIZE_MAX);
        if (block.bytes < length || bits->at > bits->bytes)
            return false;
        if (length)
            read_values(t, c, 1, s, &block);
    }
    return true;
}

l2k_status l2k_dirac_slices_read(const l2k_context *context, l2k_dirac_bits *bits, l2k_dirac_transform *t,
                                 uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++) {
        slice s = {i % t->slices[0], i / t->slices[0], 0, l2k_dirac_rows_get(context->cpu)};
        if (!(t->syntax == L2K_DIRAC_LOW_DELAY ? read_low_delay : read_high_quality)(t, &s, bits))
            return l2k_fail(context, L2K_ERROR_TRUNCATED, "slice %u ends early", i);
    }
    return L2K_OK;
}
