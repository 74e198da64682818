/* Block data: how superblocks split, and mode, vectors or DC values of each prediction unit, all coded as differences
 * from what the neighbours above and to the left predict. */
#include "dirac/motion/blocks.h"

#include <string.h>

#include "base/memory.h"
#include "base/scalar.h"
#include "dirac/arithmetic.h"

/* The parts of block data, in their order; each is a block of coded values of its own. */
enum { SPLITS, MODES, VECTORS, DC = VECTORS + 4, PARTS = DC + L2K_DIRAC_PLANES };

/* Contexts of a part: the first ones tell of one more bit of a value. MODES has one for each kind of its flags. */
enum { VALUE_BITS = 5, VALUE_SIGN, REFERENCE_0 = 0, REFERENCE_1, GLOBAL };

typedef struct source {
    bool arithmetic;
    l2k_dirac_bits bits;
    l2k_dirac_arithmetic decoder;
} source;

static unsigned symbol(source *part, unsigned context)
{
    return part->arithmetic ? l2k_dirac_arithmetic_bit(&part->decoder, context) : l2k_dirac_flag(&part->bits);
}

/* Values of more than 31 bits end there, as only a damaged one can have them. */
static uint32_t value(source *part, unsigned contexts)
{
    uint32_t result = 1;
    for (unsigned more = 0; result < 0x80000000u && !symbol(part, more); more += more + 1 < contexts)
        result = result << 1 | symbol(part, VALUE_BITS);
    return result - 1;
}

static int32_t signed_value(source *part, unsigned contexts)
{
    const int32_t magnitude = (int32_t)(value(part, contexts) & INT32_MAX);
    return magnitude && symbol(part, VALUE_SIGN) ? -magnitude : magnitude;
}

typedef struct reader {
    l2k_dirac_motion *motion;
    source parts[PARTS];
    l2k_dirac_motion_block *at;            /* the unit's first block */
    const l2k_dirac_motion_block *near[3]; /* blocks to the left, above, and between; those that exist */
    unsigned num_near;
} reader;

static void find_neighbours(reader *r, uint32_t x, uint32_t y)
{
    const size_t across = r->motion->across;
    r->at = &r->motion->blocks[y * across + x];
    r->num_near = 0;
    if (x > 0)
        r->near[r->num_near++] = r->at - 1;
    if (y > 0)
        r->near[r->num_near++] = r->at - across;
    if (x > 0 && y > 0)
        r->near[r->num_near++] = r->at - across - 1;
}

/* What most neighbours have. There are never two of them. */
static unsigned majority(unsigned count, unsigned near)
{
    return near == 3 ? count >= 2 : count;
}

static unsigned read_references(reader *r)
{
    unsigned result = 0;
    for (unsigned i = 0; i < r->motion->references; i++) {
        unsigned count = 0;
        for (unsigned n = 0; n < r->num_near; n++)
            count += r->near[n]->references >> i & 1;
        result |= (majority(count, r->num_near) ^ symbol(&r->parts[MODES], REFERENCE_0 + i)) << i;
    }
    return result;
}

static bool read_global(reader *r)
{
    unsigned count = 0;
    for (unsigned n = 0; n < r->num_near; n++)
        count += r->near[n]->global;
    return majority(count, r->num_near) ^ symbol(&r->parts[MODES], GLOBAL);
}

static int32_t median(const int32_t *v)
{
    const int32_t low = v[0] < v[1] ? v[0] : v[1], high = v[0] < v[1] ? v[1] : v[0];
    return l2k_clamp_i32(v[2], low, high);
}

/* The mean of n values, rounded to the nearest integer. */
static int32_t mean(const int32_t *v, unsigned n)
{
    int64_t sum = n / 2;
    for (unsigned i = 0; i < n; i++)
        sum += v[i];
    return n ? (int32_t)((sum - (sum < 0 ? n - 1 : 0)) / n) : 0;
}

static int32_t read_component(reader *r, unsigned reference, bool vertical)
{
    int32_t known[3];
    unsigned n = 0;
    for (unsigned i = 0; i < r->num_near; i++)
        if (r->near[i]->references >> reference & 1 && !r->near[i]->global)
            known[n++] = vertical ? r->near[i]->vector[reference].y : r->near[i]->vector[reference].x;
    const int32_t difference = signed_value(&r->parts[VECTORS + 2 * reference + vertical], 5);
    return l2k_wrap_add(n == 3 ? median(known) : mean(known, n), difference);
}

static int32_t read_dc(reader *r, unsigned plane)
{
    int32_t known[3];
    unsigned n = 0;
    for (unsigned i = 0; i < r->num_near; i++)
        if (r->near[i]->references == 0)
            known[n++] = r->near[i]->dc[plane];
    return l2k_wrap_add(mean(known, n), signed_value(&r->parts[DC + plane], 2));
}

/* Reads a prediction unit of size x size blocks. */
static void read_unit(reader *r, uint32_t x, uint32_t y, unsigned size)
{
    find_neighbours(r, x, y);
    l2k_dirac_motion_block block;
    memset(&block, 0, sizeof block); /* with what pads it: equal blocks have equal bytes */
    block.references = (uint8_t)read_references(r);
    block.global = block.references && r->motion->global && read_global(r);
    for (unsigned i = 0; i < 2; i++)
        if (block.references >> i & 1 && !block.global) {
            block.vector[i].x = read_component(r, i, false);
            block.vector[i].y = read_component(r, i, true);
        }
    for (unsigned i = 0; i < L2K_DIRAC_PLANES && block.references == 0; i++)
        block.dc[i] = read_dc(r, i);
    for (unsigned i = 0; i < size; i++)
        for (unsigned k = 0; k < size; k++)
            r->at[i * r->motion->across + k] = block;
}

static void read_superblock(reader *r, uint32_t x, uint32_t y)
{
    const size_t row = r->motion->across / 4;
    uint8_t *at = &r->motion->splits[y * row + x];
    const unsigned left = x ? at[-1] : 0, above = y ? at[-(ptrdiff_t)row] : 0;
    const unsigned predicted = x && y ? (left + above + at[-(ptrdiff_t)row - 1] + 1) / 3 : left + above;
    *at = (uint8_t)((predicted + value(&r->parts[SPLITS], 2)) % 3);
    const unsigned size = 4 >> *at;
    for (unsigned i = 0; i < 4; i += size)
        for (unsigned k = 0; k < 4; k += size)
            read_unit(r, 4 * x + k, 4 * y + i, size);
}

static void begin_parts(reader *r, bool arithmetic, l2k_dirac_bits *bits)
{
    for (unsigned i = 0; i < PARTS; i++) {
        if (r->motion->references < 2 && (i == VECTORS + 2 || i == VECTORS + 3))
            continue;
        source *part = &r->parts[i];
        part->arithmetic = arithmetic;
        part->bits = l2k_dirac_block(bits, l2k_dirac_uint(bits));
        l2k_dirac_arithmetic_start(&part->decoder, part->bits.data, part->bits.bytes);
    }
}

l2k_status l2k_dirac_reserve(const l2k_context *context, void **block, size_t *bytes, size_t count, size_t size)
{
    if (*block && count <= *bytes / size)
        return L2K_OK;
    l2k_release(context, *block);
    *block = l2k_allocate(context, count, size);
    *bytes = *block ? count * size : 0;
    return l2k_check_memory(context, *block, "motion compensation");
}

l2k_status l2k_dirac_blocks_read(const l2k_context *context, l2k_dirac_motion *motion, bool arithmetic,
                                 l2k_dirac_bits *bits)
{
    const size_t count = (size_t)motion->across * motion->down;
    if (count > motion->capacity) {
        l2k_release(context, motion->blocks);
        l2k_release(context, motion->splits);
        motion->blocks = l2k_allocate(context, count, sizeof *motion->blocks);
        motion->splits = l2k_allocate(context, count / 16, 1);
        motion->capacity = motion->blocks && motion->splits ? count : 0;
        L2K_TRY(l2k_check_memory(context, motion->capacity, "the blocks of a picture"));
    }
    reader r = {.motion = motion};
    begin_parts(&r, arithmetic, bits);
    for (uint32_t y = 0; y < motion->down / 4; y++)
        for (uint32_t x = 0; x < motion->across / 4; x++)
            read_superblock(&r, x, y);
    return L2K_OK;
}
