/* The parameters of picture prediction, and block data: how superblocks split, and mode, vectors or DC values of each
 * prediction unit, all coded as differences from what the neighbours above and to the left predict. */
#include "dirac/motion/motion.h"

#include "base/memory.h"
#include "base/scalar.h"
#include "dirac/arithmetic.h"

/* ---- Parameters --------------------------------------------------------------------------------------------- */

static void read_global(l2k_dirac_global *global, l2k_dirac_bits *bits)
{
    int32_t *const groups[] = {global->pan, global->matrix, global->perspective, NULL};
    *global = (l2k_dirac_global){.matrix = {1, 0, 0, 1}};
    for (unsigned i = 0; groups[i]; i++) {
        if (!l2k_dirac_flag(bits))
            continue;
        global->exponent[i] = i ? l2k_dirac_uint(bits) : 0;
        for (unsigned k = 0; k < (i == 1 ? 4 : 2); k++)
            groups[i][k] = l2k_dirac_sint(bits);
    }
}

static l2k_status read_parameters(const l2k_context *context, l2k_dirac_motion *motion, l2k_dirac_bits *bits)
{
    static const uint8_t preset[][2] = {{0, 0}, {8, 4}, {12, 8}, {16, 12}, {24, 16}}; /* length, separation */
    const int32_t most = 1 << L2K_DIRAC_MOST_WEIGHT_BITS;
    const uint32_t index = l2k_dirac_uint(bits);
    bool right = true;
    for (unsigned i = 0; i < 4; i++)
        *(i < 2 ? &motion->length[i] : &motion->separation[i - 2]) =
            index ? preset[index <= 4 ? index : 0][i / 2] : l2k_dirac_uint(bits);
    for (unsigned i = 0; i < 2; i++) {
        const uint32_t length = motion->length[i], separation = motion->separation[i];
        right &= length > 0 && length <= L2K_DIRAC_MOST_LENGTH && separation <= length && length <= 2 * separation &&
                 (length | separation) % 4 == 0;
    }
    motion->precision = l2k_dirac_uint(bits);
    motion->global = l2k_dirac_flag(bits);
    for (unsigned i = 0; motion->global && i < motion->references; i++) {
        read_global(&motion->globals[i], bits);
        right &= (motion->globals[i].exponent[1] | motion->globals[i].exponent[2]) <= 31;
    }
    const uint32_t mode = l2k_dirac_uint(bits);
    const bool weighted = l2k_dirac_flag(bits);
    motion->weight_bits = weighted ? l2k_dirac_uint(bits) : 1;
    for (unsigned i = 0; i < 2; i++) {
        motion->weight[i] = weighted && i < motion->references ? l2k_dirac_sint(bits) : 1;
        right &= motion->weight[i] >= -most && motion->weight[i] <= most;
    }
    if (!right || motion->precision > 3 || mode != 0 || motion->weight_bits > L2K_DIRAC_MOST_WEIGHT_BITS)
        return l2k_fail(context, L2K_ERROR_UNSUPPORTED, "parameters of prediction: sizes, precision, mode or weights");
    l2k_dirac_align(bits);
    return L2K_OK;
}

/* ---- Block data --------------------------------------------------------------------------------------------- */

/* The parts of block data, in their order; each is a block of coded values of its own. */
enum { SPLITS, MODES, VECTORS, DC = VECTORS + 4, PARTS = DC + L2K_DIRAC_PLANES };

/* Contexts of a part. The first ones tell of one more bit of a value; or, in MODES, of a bit of the mode each. */
enum { VALUE_BITS = 5, VALUE_SIGN };

typedef struct reader {
    l2k_dirac_motion *motion;
    uint8_t *splits; /* of superblocks: log2 of their prediction units across and down */
    bool arithmetic; /* else the parts are plain bits */
    l2k_dirac_arithmetic parts[PARTS];
    const l2k_dirac_motion_block *near[3]; /* blocks to the left, above, and between; those that exist */
    unsigned num_near;                     /* 0, 1 or 3 */
} reader;

static int32_t symbol(reader *r, unsigned part, unsigned context)
{
    return r->arithmetic ? (int32_t)l2k_dirac_arithmetic_bit(&r->parts[part], context)
                         : l2k_dirac_flag(&r->parts[part].bits);
}

/* Ends at 31 bits, as only damaged values have more. */
static int32_t value(reader *r, unsigned part, unsigned contexts)
{
    uint32_t result = 1;
    for (unsigned more = 0; result >> 30 == 0 && !symbol(r, part, more); more += more + 1 < contexts)
        result = result << 1 | (uint32_t)symbol(r, part, VALUE_BITS);
    return (int32_t)(result - 1);
}

/* The median of three values, for vectors, or else the mean, rounded to the nearest integer; of those neighbours that
 * have a value of this kind: with the bit of a reference in their mode, or 0 for DC. */
static int32_t predict(const reader *r, unsigned i, int32_t kind)
{
    int32_t v[3], n = 0;
    int64_t sum = 0;
    for (unsigned k = 0; k < r->num_near; k++) {
        const int32_t mode = r->near[k]->mode;
        if (kind ? mode & kind && !(mode & L2K_DIRAC_GLOBAL) : mode == 0)
            sum += v[n++] = r->near[k]->value[i];
    }
    if (n == 3 && kind)
        return v[0] < v[1] ? l2k_clamp_i32(v[2], v[0], v[1]) : l2k_clamp_i32(v[2], v[1], v[0]);
    sum += n / 2;
    return n ? (int32_t)((sum - (sum < 0 ? n - 1 : 0)) / n) : 0;
}

static int32_t read_value(reader *r, unsigned i, int32_t kind)
{
    const unsigned part = kind ? VECTORS + i : DC + i;
    const int32_t magnitude = value(r, part, kind ? 5 : 2);
    return l2k_wrap_add(predict(r, i, kind), magnitude && symbol(r, part, VALUE_SIGN) ? -magnitude : magnitude);
}

/* Reads a prediction unit of size x size blocks. */
static void read_unit(reader *r, uint32_t x, uint32_t y, unsigned size)
{
    const size_t across = r->motion->across;
    l2k_dirac_motion_block *at = &r->motion->blocks[y * across + x], block = {0, {0}};
    const l2k_dirac_motion_block *const *near = r->near;
    r->num_near = x && y ? 3 : x || y;
    r->near[0] = x ? at - 1 : y ? at - across : NULL;
    int32_t mode = r->near[0] ? near[0]->mode : 0;
    if (x && y) {
        r->near[1] = at - across;
        r->near[2] = at - across - 1;
        mode = (mode & near[1]->mode) | (mode & near[2]->mode) | (near[1]->mode & near[2]->mode);
    }
    for (unsigned i = 0; i < r->motion->references; i++)
        mode ^= symbol(r, MODES, i) << i;
    if ((mode & ~L2K_DIRAC_GLOBAL) == 0)
        mode = 0;
    else if (r->motion->global)
        mode ^= symbol(r, MODES, 2) * L2K_DIRAC_GLOBAL;
    block.mode = mode;
    for (unsigned i = 0; i < 4 && !(mode & L2K_DIRAC_GLOBAL); i++)
        if (mode ? mode >> i / 2 & 1 : i < L2K_DIRAC_PLANES)
            block.value[i] = read_value(r, i, mode ? 1 << i / 2 : 0);
    for (unsigned i = 0; i < size * size; i++)
        at[i / size * across + i % size] = block;
}

static void read_superblock(reader *r, uint32_t x, uint32_t y)
{
    const size_t row = r->motion->across / 4;
    uint8_t *at = &r->splits[y * row + x];
    const int left = x ? at[-1] : 0, above = y ? at[-(ptrdiff_t)row] : 0;
    const int predicted = x && y ? (left + above + at[-(ptrdiff_t)row - 1] + 1) / 3 : left + above;
    *at = (uint8_t)(((unsigned)predicted + (unsigned)value(r, SPLITS, 2)) % 3);
    const unsigned size = 4u >> *at;
    for (unsigned i = 0; i < 4; i += size)
        for (unsigned k = 0; k < 4; k += size)
            read_unit(r, 4 * x + k, 4 * y + i, size);
}

l2k_status l2k_dirac_motion_read(const l2k_context *context, l2k_dirac_motion *motion,
                                 const l2k_dirac_sequence *sequence, unsigned references, bool arithmetic,
                                 l2k_dirac_bits *bits)
{
    uint32_t width, height;
    motion->references = references;
    L2K_TRY(read_parameters(context, motion, bits));
    l2k_dirac_size(sequence, 0, &width, &height);
    motion->across = 4 * l2k_ceil_div(width, 4 * motion->separation[0]);
    motion->down = 4 * l2k_ceil_div(height, 4 * motion->separation[1]);
    const size_t count = (size_t)motion->across * motion->down;
    l2k_release(context, motion->blocks);
    motion->blocks = l2k_allocate(context, count + (count + 15) / 16, sizeof *motion->blocks);
    L2K_TRY(l2k_check_memory(context, motion->blocks, "the blocks of a picture"));
    reader r = {.motion = motion, .arithmetic = arithmetic, .splits = (uint8_t *)(motion->blocks + count)};
    for (unsigned i = 0; i < PARTS; i++) {
        if (references < 2 && (i == VECTORS + 2 || i == VECTORS + 3))
            continue;
        r.parts[i].bits = l2k_dirac_block(bits, l2k_dirac_uint(bits));
        if (arithmetic)
            l2k_dirac_arithmetic_start(&r.parts[i], r.parts[i].bits.data, r.parts[i].bits.bytes);
    }
    for (uint32_t y = 0; y < motion->down / 4; y++)
        for (uint32_t x = 0; x < motion->across / 4; x++)
            read_superblock(&r, x, y);
    return L2K_OK;
}
