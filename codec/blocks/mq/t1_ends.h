/* Properties of a code-block's coding passes: their kinds and order, which of them end a codeword segment (Tables D.8
 * and D.9), the fewest bytes that one can be cut to, and the squared error that one removes. For encoders on the CPU
 * and on devices. */
#ifndef L2K_CODEC_BLOCKS_MQ_T1_ENDS_H
#define L2K_CODEC_BLOCKS_MQ_T1_ENDS_H

#include <stdbool.h>

#include "codec/blocks/gains.h"
#include "lift2k/lift2k.h"

#define L2K_MAX_BIT_PLANES 30
#define L2K_MAX_PASSES     (3 * L2K_MAX_BIT_PLANES - 2)

enum { PASS_SIGNIFICANCE, PASS_REFINEMENT, PASS_CLEANUP, PASS_TYPES };

/* Passes 0 to 9, the first clean-up pass and three bit-planes, always use MQ. From then on, bypass codes significance
 * and refinement raw; pass 10 is a significance pass. */
enum { L2K_FIRST_RAW_PASS = 10 };

/* Whether a pass is coded with raw bits. Pass 0 is a block's first cleanup pass. */
L2K_HD bool l2k_pass_is_raw(unsigned style, unsigned pass)
{
    return (style & L2K_STYLE_BYPASS) && pass >= L2K_FIRST_RAW_PASS && pass % 3 != 0;
}

/* Whether a pass always ends its codeword segment in this style. The last pass of a block ends one, too, which is not
 * considered here. */
L2K_HD bool l2k_pass_terminates(unsigned style, unsigned pass)
{
    if (style & L2K_STYLE_TERMALL)
        return true;
    /* The MQ segment ends before the first raw pass; after that, two raw passes and one MQ pass alternate. */
    return (style & L2K_STYLE_BYPASS) && pass + 1 >= L2K_FIRST_RAW_PASS && pass % 3 != 1;
}

/* ---- Lengths ------------------------------------------------------------------------------------------------- */

/* The MQ coder's interval at the end of a pass that does not end its segment: [c, c + a) after byte `at`, whose value
 * was `byte` then and can still get a carry. */
typedef struct l2k_pass_mark {
    uint32_t c, a;
    int32_t at; /* -1: before the first byte */
    uint8_t byte, ct;
    bool open;
} l2k_pass_mark;

/* The fewest bytes from which the decoder, which reads ones past their end, decodes an open pass correctly: the
 * truncated code, extended by ones, must be in the interval. (It can fall short of it if the last byte kept is 0xFF,
 * because the stuffing bit after that may be a carry.) Numbers are in units of the registers, times 2^32. Not more than
 * `most`, unless the pass already has as many; with a larger `most` the result is the same or larger than that. */
L2K_HD uint32_t l2k_shortest_cut(const l2k_pass_mark *mark, const uint8_t *start, uint32_t most)
{
    uint8_t before = start[mark->at];
    int64_t low = (int64_t)mark->c << 32, high = (int64_t)(mark->c + mark->a) << 32;
    int64_t value = ((int64_t)before - mark->byte) * ((int64_t)1 << (32 + 27 - mark->ct));
    int place = 27 - mark->ct; /* of the last bit kept */
    uint32_t bytes = (uint32_t)(mark->at + 1);
    for (; bytes < most; bytes++) {
        if (place < -24) /* as fine as can be resolved */
            return most;
        int64_t filled = value + ((int64_t)1 << (32 + place));
        if (filled > low && filled <= high)
            break;
        place -= before == 0xFF ? 7 : 8;
        before = start[bytes];
        value += (int64_t)before << (32 + place);
    }
    return bytes;
}

/* ---- Distortion ---------------------------------------------------------------------------------------------- */

/* Samples of a coding pass, as sums that give the squared error that the pass removes: their number, and the sum of the
 * bits below the bit-plane in their magnitudes. */
typedef struct l2k_t1_moments {
    uint64_t count, below;
} l2k_t1_moments;

/* Squared error is counted in quarters of a squared quantiser step: reconstruction points are compared in half steps,
 * 2 m for an integer that is restored exactly, 2 m + 1 for the middle of an interval. Here it is also divided by 2^p in
 * bit-plane p, which leaves an integer below 2^60.
 *
 * Of a sample whose magnitude m is k 2^p + l, 0 <= l < 2^p, the coder knows k after bit-plane p: the point is
 * (2 k + 1) 2^p, or 2 k if it is restored exactly. Before it becomes significant, the point is 0; k is then 1. */
L2K_HD int64_t l2k_gain_of_significance(l2k_t1_moments became, unsigned plane, bool reversible)
{
    const bool exact = plane == 0 && reversible;
    const int64_t point = exact ? 2 : (int64_t)3 << plane, offset = reversible ? 0 : 2;
    const int64_t count = (int64_t)became.count, magnitudes = count * ((int64_t)1 << plane) + (int64_t)became.below;
    return (exact ? 2 : 3) * (4 * magnitudes + count * (offset - point));
}

/* Of samples refined by a bit 0, and by a bit 1. */
L2K_HD int64_t l2k_gain_of_refinement(l2k_t1_moments to_0, l2k_t1_moments to_1, unsigned plane, bool reversible)
{
    const int64_t zeros = (int64_t)to_0.count, ones = (int64_t)to_1.count;
    if (plane == 0 && reversible)
        return 4 * zeros;
    const int64_t below = (int64_t)to_1.below - (int64_t)to_0.below, offset = reversible ? 0 : 2;
    return 4 * below + offset * (ones - zeros) + (3 * zeros - ones) * ((int64_t)1 << plane);
}

/* Adds a gain of bit-plane `plane`. */
L2K_HD void l2k_gains_add_of_plane(l2k_gains *sum, int64_t gain, unsigned plane)
{
    const int64_t unit = (int64_t)1 << (32 - plane);
    int64_t high = gain / unit, low = gain % unit;
    if (low < 0) {
        high--;
        low += unit;
    }
    sum->high += high;
    sum->low += (uint64_t)low << plane;
}

#endif
