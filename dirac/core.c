/* Coefficients of the core syntax (Dirac, clause 13): subbands of code-blocks, arithmetically or plainly coded. */
#include "dirac/arithmetic.h"
#include "dirac/transform.h"

/* Contexts: the first bit of a magnitude by zero parent and zero neighbours, later ones by the parent. */
enum { FIRST, FOLLOW = 4, DATA = 14, SIGN, ZERO_BLOCK = 18, INDEX_FOLLOW, INDEX_DATA, INDEX_SIGN };

/* Exp-Golomb codes as in dirac/bits.h; from the second on, each pair has the next context, up to the fifth. */
static inline __attribute__((always_inline)) uint32_t magnitude(l2k_dirac_arithmetic *decoder, unsigned first,
                                                                unsigned follow, unsigned contexts, unsigned data)
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

/* A code-block in its subband. */
typedef struct block {
    const l2k_dirac_component *component;
    const l2k_dirac_band *band, *parent; /* parent: the same of the next lower level, or NULL */
    uint32_t x0, x1, y0, y1;
    l2k_dirac_quantiser quantiser;
    uint32_t over;
} block;

static inline __attribute__((always_inline)) int32_t get(const void *row, size_t x, bool wide)
{
    return wide ? ((const int32_t *)row)[x] : ((const int16_t *)row)[x];
}

static inline __attribute__((always_inline)) void *row_of(const l2k_dirac_component *component,
                                                          const l2k_dirac_band *band, size_t y, bool wide)
{
    return (char *)component->data + (band->at + y * band->stride) * (wide ? 4 : 2);
}

static inline __attribute__((always_inline)) void put(void *row, size_t x, int32_t value, bool wide)
{
    if (wide)
        ((int32_t *)row)[x] = value;
    else
        ((int16_t *)row)[x] = (int16_t)value;
}

/* Coefficients are zero before they are read, and so is what stands for a row above the first. */
static inline __attribute__((always_inline)) void read_arithmetic(block *b, l2k_dirac_arithmetic *shared, bool wide)
{
    l2k_dirac_arithmetic decoder = *shared;
    for (uint32_t y = b->y0; y < b->y1; y++) {
        void *row = row_of(b->component, b->band, y, wide);
        const void *above = y ? row_of(b->component, b->band, y - 1, wide) : row;
        const void *parent = b->parent ? row_of(b->component, b->parent, y / 2, wide) : NULL;
        int32_t left = b->x0 ? get(row, b->x0 - 1, wide) : 0, corner = b->x0 && y ? get(above, b->x0 - 1, wide) : 0;
        for (uint32_t x = b->x0; x < b->x1; x++) {
            const int32_t up = get(above, x, wide);
            const unsigned zeros = !(left | up | corner), no_parent = !(parent && get(parent, x / 2, wide));
            const uint32_t q = magnitude(&decoder, FIRST + 2 * no_parent + zeros, FOLLOW + 5 * no_parent, 5, DATA);
            int32_t value = 0;
            if (q) {
                const int32_t hint = b->band->across == b->band->down ? 0 : b->band->across ? up : left;
                value = l2k_dirac_dequantise((int32_t)q, b->quantiser);
                value = l2k_dirac_arithmetic_bit(&decoder, SIGN + (hint > 0) + 2 * (hint < 0)) ? -value : value;
                put(row, x, value, wide);
                b->over |= (uint32_t)value + 0x8000;
            }
            corner = up;
            left = value;
        }
    }
    *shared = decoder;
}

static void read_plain(block *b, const l2k_dirac_transform *t, const l2k_dirac_rows *rows, l2k_dirac_bits *bits)
{
    enum { CHUNK = 256, MORE = L2K_DIRAC_CODE_VALUES - 1 };
    int32_t values[CHUNK + MORE];
    for (uint32_t y = b->y0; y < b->y1; y++)
        for (size_t x = b->x0, n; x < b->x1; x += n) {
            n = l2k_min_u32(b->x1 - (uint32_t)x, CHUNK);
            for (size_t i = n > MORE ? rows->values(t->codes, bits, values, n - MORE) : 0; i < n; i++)
                values[i] = l2k_dirac_sint(bits);
            void *to = (char *)row_of(b->component, b->band, y, t->wide) + x * (t->wide ? 4 : 2);
            b->over |= rows->dequantise[t->wide](values, n, 1, b->quantiser, to, 0);
        }
}

/* Either source; only one of them is used. */
typedef struct source {
    l2k_dirac_arithmetic arithmetic;
    l2k_dirac_bits plain;
    bool is_plain;
} source;

static bool is_zero_block(source *from)
{
    return from->is_plain ? l2k_dirac_flag(&from->plain) : l2k_dirac_arithmetic_bit(&from->arithmetic, ZERO_BLOCK);
}

static int32_t index_change(source *from)
{
    if (from->is_plain)
        return l2k_dirac_sint(&from->plain);
    const int32_t size = (int32_t)magnitude(&from->arithmetic, INDEX_FOLLOW, INDEX_FOLLOW, 1, INDEX_DATA);
    return size && l2k_dirac_arithmetic_bit(&from->arithmetic, INDEX_SIGN) ? -size : size;
}

static l2k_status read_band(const l2k_context *context, l2k_dirac_transform *t, unsigned c, unsigned number,
                            l2k_dirac_bits data, uint32_t index)
{
    l2k_dirac_band *band = &t->components[c].bands[number];
    const uint32_t *blocks = t->blocks[l2k_dirac_level(t, number)];
    block b = {.component = &t->components[c], .band = band, .parent = number > 3 ? band - 3 : NULL};
    const l2k_dirac_rows *rows = l2k_dirac_rows_get(context->cpu);
    source from = {.plain = data, .is_plain = t->syntax == L2K_DIRAC_PLAIN};
    if (!from.is_plain)
        l2k_dirac_arithmetic_start(&from.arithmetic, data.data, data.bytes);
    if (!blocks[0] || !blocks[1] || blocks[0] > t->components[0].width || blocks[1] > t->components[0].height)
        return l2k_fail(context, L2K_ERROR_CORRUPT, "a subband of %u x %u code-blocks", blocks[0], blocks[1]);
    for (uint32_t i = 0; i < blocks[0] * blocks[1]; i++) {
        const uint64_t x = i % blocks[0], y = i / blocks[0];
        if (blocks[0] * blocks[1] > 1 && is_zero_block(&from))
            continue;
        if (t->multiquant)
            index += (uint32_t)index_change(&from);
        if (index >= L2K_DIRAC_QUANTISERS)
            return l2k_fail(context, L2K_ERROR_CORRUPT, "quantiser index %d of a code-block", (int)index);
        b.quantiser = t->quantisers[t->intra][index];
        b.x0 = (uint32_t)(x * band->width / blocks[0]), b.x1 = (uint32_t)((x + 1) * band->width / blocks[0]);
        b.y0 = (uint32_t)(y * band->height / blocks[1]), b.y1 = (uint32_t)((y + 1) * band->height / blocks[1]);
        if (from.is_plain)
            read_plain(&b, t, rows, &from.plain);
        else
            t->wide ? read_arithmetic(&b, &from.arithmetic, true) : read_arithmetic(&b, &from.arithmetic, false);
    }
    t->over |= b.over;
    return L2K_OK;
}

l2k_status l2k_dirac_core_read(const l2k_context *context, l2k_dirac_bits *bits, l2k_dirac_transform *t)
{
    for (unsigned c = 0; c < L2K_DIRAC_PLANES; c++)
        for (unsigned b = 0; b < t->num_bands; b++) {
            l2k_dirac_align(bits);
            const uint32_t length = l2k_dirac_uint(bits), index = length ? l2k_dirac_uint(bits) : 0;
            if (length == 0)
                continue;
            const l2k_dirac_bits data = l2k_dirac_block(bits, length);
            if (data.bytes < length)
                return l2k_fail(context, L2K_ERROR_TRUNCATED, "subband %u of plane %u ends early", b, c);
            L2K_TRY(read_band(context, t, c, b, data, index));
        }
    return L2K_OK;
}
