/* The parameters of picture prediction. */
#include "dirac/motion/blocks.h"

#include <stdlib.h>

#include "base/integer.h"
#include "base/memory.h"

l2k_dirac_motion *l2k_dirac_motion_new(const l2k_context *context)
{
    return l2k_allocate_zeroed(context, 1, sizeof(l2k_dirac_motion));
}

void l2k_dirac_motion_free(const l2k_context *context, l2k_dirac_motion *motion)
{
    if (!motion)
        return;
    l2k_release(context, motion->blocks);
    l2k_release(context, motion->splits);
    l2k_release(context, motion->space);
    l2k_release(context, motion);
}

static l2k_status read_block_sizes(const l2k_context *context, l2k_dirac_motion *motion, l2k_dirac_bits *bits)
{
    static const uint8_t preset[][2] = {{8, 4}, {12, 8}, {16, 12}, {24, 16}}; /* length, separation */
    const uint32_t index = l2k_dirac_uint(bits);
    if (index > sizeof preset / sizeof *preset)
        return l2k_fail(context, L2K_ERROR_CORRUPT, "no block sizes have index %u", (unsigned)index);
    for (unsigned i = 0; i < 2; i++)
        motion->length[i] = index ? preset[index - 1][0] : l2k_dirac_uint(bits);
    for (unsigned i = 0; i < 2; i++) {
        const uint32_t separation = index ? preset[index - 1][1] : l2k_dirac_uint(bits), length = motion->length[i];
        motion->separation[i] = separation;
        if (separation == 0 || length < separation || length > 2 * (uint64_t)separation || (length | separation) % 4)
            return l2k_fail(context, L2K_ERROR_CORRUPT, "blocks of %u samples every %u", (unsigned)length,
                            (unsigned)separation);
        if (length > L2K_DIRAC_MOST_LENGTH)
            return l2k_fail(context, L2K_ERROR_UNSUPPORTED, "blocks of %u samples", (unsigned)length);
    }
    return L2K_OK;
}

static l2k_status read_global(const l2k_context *context, l2k_dirac_global *global, l2k_dirac_bits *bits)
{
    *global = (l2k_dirac_global){.matrix = {{1, 0}, {0, 1}}};
    if (l2k_dirac_flag(bits))
        for (unsigned i = 0; i < 2; i++)
            global->pan[i] = l2k_dirac_sint(bits);
    if (l2k_dirac_flag(bits)) {
        global->matrix_exponent = l2k_dirac_uint(bits);
        for (unsigned i = 0; i < 4; i++)
            global->matrix[i / 2][i % 2] = l2k_dirac_sint(bits);
    }
    if (l2k_dirac_flag(bits)) {
        global->perspective_exponent = l2k_dirac_uint(bits);
        for (unsigned i = 0; i < 2; i++)
            global->perspective[i] = l2k_dirac_sint(bits);
    }
    if (global->matrix_exponent > 31 || global->perspective_exponent > 31)
        return l2k_fail(context, L2K_ERROR_UNSUPPORTED, "global motion with exponents above 31");
    return L2K_OK;
}

static l2k_status read_weights(const l2k_context *context, l2k_dirac_motion *motion, l2k_dirac_bits *bits)
{
    motion->weight_bits = 1;
    motion->weight[0] = motion->weight[1] = 1;
    if (l2k_dirac_flag(bits)) {
        motion->weight_bits = l2k_dirac_uint(bits);
        for (unsigned i = 0; i < motion->references; i++)
            motion->weight[i] = l2k_dirac_sint(bits);
    }
    const int32_t most = 1 << L2K_DIRAC_MOST_WEIGHT_BITS;
    for (unsigned i = 0; i < 2; i++)
        if (motion->weight_bits > L2K_DIRAC_MOST_WEIGHT_BITS || motion->weight[i] > most || motion->weight[i] < -most)
            return l2k_fail(context, L2K_ERROR_UNSUPPORTED, "weights of references above %d", (int)most);
    motion->weighted = motion->weight_bits != 1 || motion->weight[0] != 1 || motion->weight[1] != 1;
    return L2K_OK;
}

l2k_status l2k_dirac_motion_read(const l2k_context *context, l2k_dirac_motion *motion,
                                 const l2k_dirac_sequence *sequence, unsigned references, bool arithmetic,
                                 l2k_dirac_bits *bits)
{
    motion->references = references;
    L2K_TRY(read_block_sizes(context, motion, bits));
    motion->precision = l2k_dirac_uint(bits);
    if (motion->precision > 3)
        return l2k_fail(context, L2K_ERROR_CORRUPT, "vectors with %u bits of fraction", motion->precision);
    motion->global = l2k_dirac_flag(bits);
    for (unsigned i = 0; motion->global && i < references; i++)
        L2K_TRY(read_global(context, &motion->globals[i], bits));
    const uint32_t mode = l2k_dirac_uint(bits);
    if (mode != 0)
        return l2k_fail(context, L2K_ERROR_UNSUPPORTED, "prediction mode %u", (unsigned)mode);
    L2K_TRY(read_weights(context, motion, bits));
    l2k_dirac_align(bits);
    uint32_t width, height;
    l2k_dirac_size(sequence, 0, &width, &height);
    motion->across = 4 * l2k_ceil_div(width, 4 * motion->separation[0]);
    motion->down = 4 * l2k_ceil_div(height, 4 * motion->separation[1]);
    return l2k_dirac_blocks_read(context, motion, arithmetic, bits);
}
