/* Coefficients in slices: low delay and high quality (VC-2, 13.5). */
#include "dirac/transform.h"

/* A slice, and the quantiser index before the matrix. */
typedef struct slice {
    uint32_t x, y, index;
} slice;

size_t l2k_dirac_slice_parts(const l2k_dirac_transform *t, unsigned component, uint32_t sx, uint32_t sy,
                             l2k_dirac_band parts[L2K_DIRAC_BANDS])
{
    size_t n = 0;
    for (unsigned b = 0; b < l2k_dirac_bands(t); b++) {
        const l2k_dirac_band *band = &t->components[component].bands[b];
        const uint32_t x = l2k_dirac_share(band->width, sx, t->slices[0]),
                       y = l2k_dirac_share(band->height, sy, t->slices[1]);
        parts[b] = (l2k_dirac_band){.at = band->at + y * band->stride + x,
                                    .stride = band->stride,
                                    .width = l2k_dirac_share(band->width, sx + 1, t->slices[0]) - x,
                                    .height = l2k_dirac_share(band->height, sy + 1, t->slices[1]) - y};
        n += (size_t)parts[b].width * parts[b].height;
    }
    return n;
}

/* `planes` of them, interleaved, from the first one on. */
static void read_values(l2k_dirac_transform *t, unsigned first, unsigned planes, slice s, l2k_dirac_bits bits)
{
    l2k_dirac_band parts[L2K_DIRAC_BANDS];
    const size_t n = l2k_dirac_slice_parts(t, first, s.x, s.y, parts);
    int32_t *values = t->scratch, *apart = values + n * planes + L2K_DIRAC_CODE_VALUES;
    t->rows->values(t->codes, bits, values, n * planes);
    for (unsigned c = 0; c < planes; c++) {
        const l2k_dirac_component *component = &t->components[first + c];
        const int32_t *next = planes > 1 ? apart : values;
        for (size_t i = 0; i < n && planes > 1; i++)
            apart[i] = values[i * planes + c];
        for (unsigned b = 0; b < l2k_dirac_bands(t); next += (size_t)parts[b].width * parts[b].height, b++) {
            const uint32_t index = s.index > t->matrix[b] ? s.index - t->matrix[b] : 0;
            t->over |= t->rows->dequantise[t->wide](
                next, parts[b].width, parts[b].height, t->quantisers[1][l2k_min_u32(index, L2K_DIRAC_QUANTISERS - 1)],
                l2k_dirac_at(component->data, parts[b].at, t->wide), parts[b].stride);
        }
    }
}

/* 13.5.3: a quantiser index, the length of luma in bits, luma, both chroma components interleaved. */
static bool read_low_delay(l2k_dirac_transform *t, slice s, l2k_dirac_bits *bits)
{
    const uint64_t number = (uint64_t)s.y * t->slices[0] + s.x, of = t->slice_bytes[0], per = t->slice_bytes[1];
    const uint64_t bytes = (number + 1) * of / per - number * of / per;
    l2k_dirac_bits chroma = l2k_dirac_block(bits, bytes), luma = chroma;
    if (chroma.bytes < bytes || bytes > UINT32_MAX / 8)
        return false;
    s.index = l2k_dirac_read(&chroma, 7);
    const unsigned length_bits = l2k_bit_length((uint32_t)(8 * bytes - 8)), head = 7 + length_bits;
    const uint64_t end = head + (uint64_t)l2k_dirac_read(&chroma, length_bits);
    if (end > 8 * bytes)
        return false;
    luma.bytes = (size_t)(end + 7) / 8;
    luma.foreign = (unsigned)(8 * luma.bytes - end);
    luma.at = head / 8;
    l2k_dirac_read(&luma, head % 8);
    read_values(t, 0, 1, s, luma);
    chroma.at = (size_t)end / 8, chroma.window = chroma.count = 0;
    l2k_dirac_read(&chroma, end % 8);
    read_values(t, 1, 2, s, chroma);
    return true;
}

/* 13.5.4: a quantiser index, then each component with its length. */
static bool read_high_quality(l2k_dirac_transform *t, slice s, l2k_dirac_bits *bits)
{
    l2k_dirac_block(bits, t->slice_bytes[0]);
    s.index = l2k_dirac_read(bits, 8);
    for (unsigned c = 0; c < L2K_DIRAC_PLANES; c++) {
        const uint64_t length = (uint64_t)l2k_dirac_read(bits, 8) * t->slice_bytes[1];
        l2k_dirac_bits block = l2k_dirac_block(bits, length);
        if (block.bytes < length)
            return false;
        if (length)
            read_values(t, c, 1, s, block);
    }
    return true;
}

l2k_status l2k_dirac_slices_read(const l2k_context *context, l2k_dirac_bits *bits, l2k_dirac_transform *t)
{
    for (slice s = {0}; s.y < t->slices[1]; s.y++)
        for (s.x = 0; s.x < t->slices[0]; s.x++)
            if (!(t->syntax == L2K_DIRAC_LOW_DELAY ? read_low_delay : read_high_quality)(t, s, bits))
                return l2k_fail(context, L2K_ERROR_TRUNCATED, "slice %u, %u ends early", s.x, s.y);
    return L2K_OK;
}
