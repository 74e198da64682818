/* Coefficients of the core syntax (Dirac, clause 13): subbands of code-blocks, arithmetically or plainly coded. */
#include "dirac/arithmetic.h"
#include "dirac/transform.h"

/* Contexts: the first bit of a magnitude by zero parent and zero neighbours, later ones by the parent. */
enum { FIRST, FOLLOW = 4, DATA = 14, SIGN, ZERO_BLOCK = 18, INDEX_FOLLOW, INDEX_DATA, INDEX_SIGN };

/* A code-block in its subband, and its source, of which either the one or the other reader is used. */
typedef struct block {
    const l2k_dirac_component *component;
    const l2k_dirac_band *band, *parent; /* parent: the same of the next lower level, or NULL */
    bool above, left;                    /* which neighbour predicts signs */
    uint32_t x0, x1, y0, y1, over;
    l2k_dirac_quantiser quantiser;
    l2k_dirac_arithmetic arithmetic;
    l2k_dirac_bits plain;
    bool is_plain;
} block;

/* Exp-Golomb codes as in dirac/bits.h; from the second on, each pair has the next context, up to the fifth. */
L2K_HD uint32_t magnitude(l2k_dirac_arithmetic *decoder, unsigned first, unsigned follow, unsigned contexts,
                          unsigned data)
{
    uint32_t value = 1;
    if (l2k_dirac_arithmetic_bit(decoder, first))
        return 0;
    for (unsigned i = 0; value < 1u << 30; i += i + 1 < contexts) {
        value = value << 1 | l2k_dirac_arithmetic_bit(decoder, data);
        if (l2k_dirac_arithmetic_bit(decoder, follow + i))
            break;
    }
    return value - 1;
}

/* Coefficients are zero before they are read, and so is what stands for a row above the first. */
L2K_HD void read_arithmetic(block *b, bool wide)
{
    const l2k_dirac_band *band = b->band, *parent_band = b->parent;
    const void *data = b->component->data;
    l2k_dirac_arithmetic decoder = b->arithmetic;
    for (size_t y = b->y0; y < b->y1; y++) {
        void *row = l2k_dirac_at(data, band->at + y * band->stride, wide);
        const void *above = l2k_dirac_at(data, band->at + (y ? y - 1 : 0) * band->stride, wide);
        const void *parent =
            parent_band ? l2k_dirac_at(data, parent_band->at + y / 2 * parent_band->stride, wide) : NULL;
        int32_t left = b->x0 ? l2k_dirac_get(row, b->x0 - 1, wide) : 0;
        int32_t corner = b->x0 && y ? l2k_dirac_get(above, b->x0 - 1, wide) : 0;
        for (size_t x = b->x0; x < b->x1; x++) {
            const int32_t up = y ? l2k_dirac_get(above, x, wide) : 0;
            const unsigned zeros = !(left | up | corner), no_parent = !(parent && l2k_dirac_get(parent, x / 2, wide));
            const uint32_t q = magnitude(&decoder, FIRST + 2 * no_parent + zeros, FOLLOW + 5 * no_parent, 5, DATA);
            left = 0, corner = up;
            if (q) {
                const int32_t hint = b->above ? up : b->left ? l2k_dirac_get(row, x - (x > 0), wide) : 0;
                left = l2k_dirac_dequantise((int32_t)q, b->quantiser);
                left = l2k_dirac_arithmetic_bit(&decoder, SIGN + (hint > 0) + 2 * (hint < 0)) ? -left : left;
                b->over |= l2k_dirac_put(row, x, left, wide);
            }
        }
    }
    b->arithmetic = decoder;
}

L2K_HD void read_plain(block *b, bool wide)
{
    for (size_t y = b->y0; y < b->y1; y++) {
        void *row = l2k_dirac_at(b->component->data, b->band->at + y * b->band->stride, wide);
        for (size_t x = b->x0; x < b->x1; x++)
            b->over |= l2k_dirac_put(row, x, l2k_dirac_dequantise(l2k_dirac_sint(&b->plain), b->quantiser), wide);
    }
}

static int32_t index_change(block *b)
{
    if (b->is_plain)
        return l2k_dirac_sint(&b->plain);
    const int32_t size = (int32_t)magnitude(&b->arithmetic, INDEX_FOLLOW, INDEX_FOLLOW, 1, INDEX_DATA);
    return size && l2k_dirac_arithmetic_bit(&b->arithmetic, INDEX_SIGN) ? -size : size;
}

static l2k_status read_band(const l2k_context *context, l2k_dirac_transform *t, block *b, const uint32_t blocks[2],
                            uint32_t index)
{
    const bool several = blocks[0] > 1 || blocks[1] > 1;
    for (uint64_t i = 0; i < (uint64_t)blocks[0] * blocks[1]; i++) {
        const uint64_t x = i % blocks[0], y = i / blocks[0];
        if (several && (b->is_plain ? l2k_dirac_flag(&b->plain) : l2k_dirac_arithmetic_bit(&b->arithmetic, ZERO_BLOCK)))
            continue;
        index += t->multiquant ? (uint32_t)index_change(b) : 0;
        if (index >= L2K_DIRAC_QUANTISERS)
            return l2k_fail(context, L2K_ERROR_CORRUPT, "quantiser index %d of a code-block", (int)index);
        b->quantiser = t->quantisers[t->intra][index];
        b->x0 = (uint32_t)(x * b->band->width / blocks[0]), b->x1 = (uint32_t)((x + 1) * b->band->width / blocks[0]);
        b->y0 = (uint32_t)(y * b->band->height / blocks[1]), b->y1 = (uint32_t)((y + 1) * b->band->height / blocks[1]);
        if (b->is_plain)
            t->wide ? read_plain(b, true) : read_plain(b, false);
        else
            t->wide ? read_arithmetic(b, true) : read_arithmetic(b, false);
    }
    return L2K_OK;
}

l2k_status l2k_dirac_core_read(const l2k_context *context, l2k_dirac_bits *bits, l2k_dirac_transform *t)
{
    for (unsigned i = 0; i < L2K_DIRAC_PLANES * l2k_dirac_bands(t); i++) {
        const unsigned c = i / l2k_dirac_bands(t), number = i % l2k_dirac_bands(t);
        const l2k_dirac_band *band = &t->components[c].bands[number];
        l2k_dirac_align(bits);
        const uint32_t length = l2k_dirac_uint(bits), index = length ? l2k_dirac_uint(bits) : 0;
        block b = {.component = &t->components[c], .band = band, .parent = number > 3 ? band - 3 : NULL};
        b.above = number % 3 == 1, b.left = number % 3 == 2;
        b.is_plain = t->syntax == L2K_DIRAC_PLAIN;
        if (length == 0)
            continue;
        b.plain = l2k_dirac_block(bits, length);
        if (b.plain.bytes < length)
            return l2k_fail(context, L2K_ERROR_TRUNCATED, "subband %u of plane %u ends early", number, c);
        l2k_dirac_arithmetic_start(&b.arithmetic, b.plain.data, b.plain.bytes);
        const l2k_status status = read_band(context, t, &b, t->blocks[(number + 2) / 3], index);
        t->over |= b.over;
        L2K_TRY(status);
    }
    return l2k_dirac_is_over(bits) ? l2k_fail(context, L2K_ERROR_TRUNCATED, "a picture ends early") : L2K_OK;
}
