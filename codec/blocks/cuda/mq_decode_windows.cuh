/* The samples of MQ code-blocks as bits of words (Annex D). A word has eight columns of a stripe in the order of the
 * scan, the first sample on top. A window has such a word with the samples around it, in columns of six bits: row r (-1
 * to 4) of column c (-1 to 8) is bit 55 - 6 c - r. So the order of the scan is that of bits from the top, and the
 * neighbours of a sample are 1, 5, 6 and 7 bits away. */
#ifndef L2K_CODEC_BLOCKS_CUDA_MQ_DECODE_WINDOWS_CUH
#define L2K_CODEC_BLOCKS_CUDA_MQ_DECODE_WINDOWS_CUH

#include "base/device.h"

/* Row 0 of all columns of the word; all of its samples. */
#define L2K_MQ_TOP_ROW  (0x0000041041041041ull << 13)
#define L2K_MQ_INTERIOR (L2K_MQ_TOP_ROW | L2K_MQ_TOP_ROW >> 1 | L2K_MQ_TOP_ROW >> 2 | L2K_MQ_TOP_ROW >> 3)

/* Four columns: 16 bits with two between the columns. */
L2K_HD uint32_t l2k_mq_spread(uint32_t columns)
{
    const uint32_t pairs = (columns & 0xFF) | (columns & 0xFF00) << 4;
    return (pairs & 0x00F00F) | (pairs & 0x0F00F0) << 2;
}

L2K_HD uint32_t l2k_mq_pack(uint32_t spread)
{
    const uint32_t pairs = (spread & 0x00F00F) | (spread >> 2 & 0x0F00F0);
    return (pairs & 0xFF) | (pairs >> 4 & 0xFF00);
}

L2K_HD uint64_t l2k_mq_expand(uint32_t word)
{
    return (uint64_t)l2k_mq_spread(word & 0xFFFF) << 10 | (uint64_t)l2k_mq_spread(word >> 16) << 34;
}

/* The word inside a window. */
L2K_HD uint32_t l2k_mq_compress(uint64_t window)
{
    return l2k_mq_pack((uint32_t)(window >> 10)) | l2k_mq_pack((uint32_t)(window >> 34)) << 16;
}

/* A word and those around it; 0 where there is none. */
typedef struct l2k_mq_around {
    uint32_t own, west, east, above, above_west, above_east, below, below_west, below_east;
} l2k_mq_around;

L2K_HD uint64_t l2k_mq_window(const l2k_mq_around *w)
{
    /* the last row above and the first one below, at their places in a word, where they do not meet */
    const uint64_t rows = l2k_mq_expand((w->above & 0x11111111u) | (w->below & 0x88888888u));
    uint64_t window = l2k_mq_expand(w->own) | (rows & L2K_MQ_TOP_ROW >> 3) << 4 | (rows & L2K_MQ_TOP_ROW) >> 4;
    window |= (uint64_t)(w->west & 15) << 58 | (w->east >> 28 << 4);
    window |= (uint64_t)((w->above_west & 1) << 5 | (w->below_west >> 3 & 1)) << 57;
    return window | (w->above_east >> 28 & 1) << 8 | (w->below_east >> 31) << 3;
}

/* Samples with a significant neighbour. */
L2K_HD uint64_t l2k_mq_neighbours(uint64_t significant)
{
    const uint64_t vertical = significant << 1 | significant >> 1, column = vertical | significant;
    return vertical | column << 6 | column >> 6;
}

/* The samples of a window that exist, where `columns` and `rows` are left of the block from its first one on. */
L2K_HD uint64_t l2k_mq_live(uint32_t columns, uint32_t rows)
{
    uint64_t live = L2K_MQ_INTERIOR;
    if (rows < 4)
        live &= L2K_MQ_TOP_ROW | (rows > 1 ? L2K_MQ_TOP_ROW >> 1 : 0) | (rows > 2 ? L2K_MQ_TOP_ROW >> 2 : 0);
    if (columns < 8)
        live &= ~0ull << (58 - 6 * columns);
    return live;
}

#endif
