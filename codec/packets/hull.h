/* The upper convex hull of a code-block's rate-distortion curve (J.14), and the place of its segments in the list of
 * all segments, the steepest first. Compiled by the C compiler and by nvcc. */
#ifndef L2K_CODEC_PACKETS_HULL_H
#define L2K_CODEC_PACKETS_HULL_H

#include <string.h>

#include "base/scalar.h"

/* A segment of the hull. */
typedef struct l2k_hull_segment {
    double slope;           /* distortion removed per byte; infinite for 0 bytes */
    uint32_t bytes;         /* bytes that it adds */
    uint32_t block;         /* its number among the tile's places */
    uint16_t tile;          /* its number among the tiles of the list */
    uint8_t before, passes; /* passes of the block before the segment, and in all up to its end */
} l2k_hull_segment;

/* The bytes up to the end of `passes` passes: l2k_coded_block.pass_bytes without L2K_PASS_TERMINATED. */
L2K_HD uint32_t l2k_hull_bytes(const uint32_t *pass_bytes, unsigned passes)
{
    return passes ? pass_bytes[passes - 1] & 0x7FFFFFFFu : 0;
}

L2K_HD double l2k_hull_distortion(const double *pass_distortion, unsigned passes, double weight)
{
    return passes ? weight * pass_distortion[passes - 1] : 0;
}

/* The gain per byte from one hull point to another. */
L2K_HD double l2k_hull_slope(double gain, uint32_t bytes)
{
    return bytes ? gain / bytes : (double)INFINITY;
}

/* Finds the segments of a block's upper hull of (bytes, distortion removed), at most as many as passes: their slopes,
 * which fall, and the number of passes up to the end of each. Returns the number of segments. Multiplies the squared
 * errors of the block by `weight`. */
L2K_HD unsigned l2k_find_hull(const uint32_t *pass_bytes, const double *pass_distortion, unsigned num_passes,
                              double weight, double *slopes, uint8_t *passes)
{
    double top_distortion = 0, top_slope = 0; /* of the last point so far, and of the segment that leads to it */
    uint32_t top_bytes = 0;
    unsigned count = 0;
    for (unsigned p = 1; p <= num_passes; p++) {
        const uint32_t bytes = l2k_hull_bytes(pass_bytes, p);
        const double distortion = l2k_hull_distortion(pass_distortion, p, weight);
        if (distortion <= top_distortion)
            continue;
        double slope = l2k_hull_slope(distortion - top_distortion, bytes - top_bytes);
        while (count > 0 && slope >= top_slope) {
            const unsigned below = --count ? passes[count - 1] : 0;
            top_slope = count ? slopes[count - 1] : 0;
            slope = l2k_hull_slope(distortion - l2k_hull_distortion(pass_distortion, below, weight),
                                   bytes - l2k_hull_bytes(pass_bytes, below));
        }
        slopes[count] = top_slope = slope;
        passes[count++] = (uint8_t)p;
        top_distortion = distortion;
        top_bytes = bytes;
    }
    return count;
}

/* ---- The list ------------------------------------------------------------------------------------------------ */

/* Bins for 128 octaves of slope, 64 bins each, the steepest first; the first and the last bin also take steeper and
 * flatter ones. */
enum {
    L2K_LOG2_OCTAVE_BINS = 6,
    L2K_SLOPE_OCTAVES = 128,
    L2K_LOWEST_SLOPE = -80,
    L2K_SLOPE_BINS = L2K_SLOPE_OCTAVES << L2K_LOG2_OCTAVE_BINS
};

L2K_HD uint32_t l2k_slope_bin_of(double slope)
{
    uint64_t bits;
    memcpy(&bits, &slope, sizeof bits);
    const int64_t place =
        (int64_t)(bits >> (52 - L2K_LOG2_OCTAVE_BINS)) - ((int64_t)(1023 + L2K_LOWEST_SLOPE) << L2K_LOG2_OCTAVE_BINS);
    return place < 0 ? L2K_SLOPE_BINS - 1 : place >= L2K_SLOPE_BINS ? 0 : (uint32_t)(L2K_SLOPE_BINS - 1 - place);
}

/* The end of a prefix of a tile's list: the bins before `bin`, and the segments of that bin up to a slope, a block and
 * an end. */
typedef struct l2k_slope_end {
    double slope; /* infinite with passes 0: no segment of the bin */
    uint32_t bin, block, passes;
} l2k_slope_end;

/* Whether a segment is in the prefix. Segments of equal slope are in the order of blocks. */
L2K_HD int l2k_is_before_end(double slope, uint32_t block, unsigned passes, const l2k_slope_end *end)
{
    const uint32_t bin = l2k_slope_bin_of(slope);
    if (bin != end->bin)
        return bin < end->bin;
    if (slope != end->slope)
        return slope > end->slope;
    return block < end->block || (block == end->block && passes <= end->passes);
}

#endif
