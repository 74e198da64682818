/* Runs of plain values, and the slices of the low delay and high quality syntax (VC-2, 13.5). */
#include <string.h>

#include "base/scalar.h"
#include "dirac/transform.h"

/* ---- Values ---------------------------------------------------------------------------------------------------- */

/* The signed value at the start of a word; returns the bits of its code, or 0 if it does not end within the word. */
static unsigned decode(uint64_t word, int32_t *value)
{
    const uint64_t ends = word & 0xaaaaaaaaaaaaaaaa;
    const unsigned pairs = ends ? (unsigned)__builtin_clzll(ends) / 2 : 32;
    uint32_t v = 1;
    if (pairs > 30)
        return 0;
    for (unsigned i = 0; i < pairs; i++)
        v = v << 1 | (word >> (62 - 2 * i) & 1);
    const bool negative = pairs && word >> (62 - 2 * pairs) & 1;
    *value = negative ? 1 - (int32_t)v : (int32_t)v - 1;
    return 2 * pairs + 1 + (pairs > 0);
}

void l2k_dirac_codes(l2k_dirac_code codes[1 << L2K_DIRAC_CODE_BITS])
{
    for (uint64_t index = 0; index < 1 << L2K_DIRAC_CODE_BITS; index++) {
        l2k_dirac_code *code = &codes[index];
        for (unsigned n; code->count < L2K_DIRAC_CODE_VALUES; code->bits = (uint16_t)(code->bits + n), code->count++) {
            n = decode(index << (64 - L2K_DIRAC_CODE_BITS) << code->bits, &code->values[code->count]);
            if (n == 0 || code->bits + n > L2K_DIRAC_CODE_BITS)
                break;
        }
    }
}

void l2k_dirac_values(const l2k_dirac_code *codes, l2k_dirac_bits *shared, int32_t *values, size_t n)
{
    l2k_dirac_bits bits = *shared;
    for (size_t i = 0; i < n;) {
        if (bits.count < 32)
            l2k_dirac_fill(&bits);
        const l2k_dirac_code *code = &codes[bits.window >> (64 - L2K_DIRAC_CODE_BITS)];
        if (code->count && i + code->count <= n) {
            memcpy(&values[i], code->values, sizeof code->values);
            i += code->count;
            l2k_dirac_skip(&bits, code->bits);
            continue;
        }
        l2k_dirac_fill(&bits);
        const unsigned length = decode(bits.window, &values[i]);
        if (length && length <= bits.count)
            l2k_dirac_skip(&bits, length);
        else
            values[i] = l2k_dirac_sint(&bits);
        i++;
    }
    *shared = bits;
}

/* ---- Slices ---------------------------------------------------------------------------------------------------- */

typedef struct slice {
    uint32_t x, y;
    uint32_t index; /* of the quantiser, before the matrix */
} slice;

static uint32_t share(uint32_t size, uint32_t part, uint32_t parts)
{
    return size % parts ? (uint32_t)((uint64_t)size * part / parts) : size / parts * part;
}

/* Distributes a slice's values of component c; every `apart`-th belongs to it. Returns how many there are of it, without
 * `values` only that. */
static inline __attribute__((always_inline)) size_t take(l2k_dirac_transform *t, unsigned c, const slice *s,
                                                         const int32_t *values, size_t apart, bool wide)
{
    l2k_dirac_component *component = &t->components[c];
    size_t n = 0;
    for (unsigned b = 0; b < t->num_bands; b++) {
        l2k_dirac_band *band = &component->bands[b];
        const uint32_t x0 = share(band->width, s->x, t->slices[0]), x1 = share(band->width, s->x + 1, t->slices[0]);
        const uint32_t y0 = share(band->height, s->y, t->slices[1]), y1 = share(band->height, s->y + 1, t->slices[1]);
        const size_t width = x1 - x0;
        const uint32_t index = s->index > t->matrix[b] ? s->index - t->matrix[b] : 0;
        const l2k_dirac_quantiser quantiser = t->quantisers[1][l2k_min_u32(index, L2K_DIRAC_QUANTISERS - 1)];
        uint32_t most = 0;
        for (uint32_t y = y0; values && y < y1; y++, values += width * apart) {
            const size_t at = band->at + y * band->stride + x0;
            for (size_t x = 0; x < width; x++) {
                const int32_t value = values[x * apart];
                most = l2k_max_u32(most, l2k_dirac_magnitude(value));
                if (wide)
                    ((int32_t *)component->data)[at + x] = l2k_dirac_dequantise(value, quantiser);
                else
                    ((int16_t *)component->data)[at + x] = (int16_t)l2k_dirac_dequantise(value, quantiser);
            }
        }
        const uint64_t bound = most ? ((uint64_t)most * quantiser.factor + quantiser.offset) >> 2 : 0;
        band->most = bound > band->most ? bound : band->most;
        n += width * (y1 - y0);
    }
    return n;
}

/* `components` of them, interleaved, from the first one on. */
static void read_values(l2k_dirac_transform *t, unsigned first, unsigned components, const slice *s,
                        l2k_dirac_bits *bits)
{
    int32_t *values = t->scratch;
    const size_t n = take(t, first, s, NULL, 1, false);
    l2k_dirac_values(t->codes, bits, values, n * components);
    for (unsigned c = 0; c < components; c++)
        t->wide ? take(t, first + c, s, values + c, components, true)
                : take(t, first + c, s, values + c, components, false);
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
        slice s = {.x = i % t->slices[0], .y = i / t->slices[0]};
        if (!(t->syntax == L2K_DIRAC_LOW_DELAY ? read_low_delay : read_high_quality)(t, &s, bits))
            return l2k_fail(context, L2K_ERROR_TRUNCATED, "slice %u ends early", i);
    }
    return L2K_OK;
}
