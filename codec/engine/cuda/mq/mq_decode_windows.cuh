/* The samples of MQ code-blocks as bits of words (Annex D). A word has eight columns of a stripe in the order of the
 * scan, the first sample on top. A window has such a word with the samples around it, in columns of six bits: row r (-1
 * to 4) of column c (-1 to 8) is bit 55 - 6 c - r. So the order of the scan is that of bits from the top, and the
 * neighbours of a sample are 1, 5, 6 and 7 bits away. */
#ifndef L2K_CODEC_ENGINE_CUDA_MQ_MQ_DECODE_WINDOWS_CUH
#define L2K_CODEC_ENGINE_CUDA_MQ_MQ_DECODE_WINDOWS_CUH

#include "base/scalar.h"

/* Rows 0 and 3 of all columns of the word; all of its samples. */
#define L2K_MQ_TOP_ROW  (0x0000041041041041ull << 13)
#define L2K_MQ_LAST_ROW (L2K_MQ_TOP_ROW >> 3)
#define L2K_MQ_INTERIOR (L2K_MQ_TOP_ROW | L2K_MQ_TOP_ROW >> 1 | L2K_MQ_TOP_ROW >> 2 | L2K_MQ_LAST_ROW)

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

/* A strip is a window without the columns on both sides. `above` and `below` are the words there, or 0. */
L2K_HD uint64_t l2k_mq_strip(uint32_t own, uint32_t above, uint32_t below)
{
    /* the last row above and the first one below do not overlap within a word */
    const uint64_t rows = l2k_mq_expand((above & 0x11111111u) | (below & 0x88888888u));
    return l2k_mq_expand(own) | (rows & L2K_MQ_LAST_ROW) << 4 | (rows & L2K_MQ_TOP_ROW) >> 4;
}

/* With the last column of the window west of it, and the first one of the strip east of it. */
L2K_HD uint64_t l2k_mq_window(uint64_t strip, uint64_t west, uint64_t east)
{
    return strip | (west & 0x7E00) << 48 | (east >> 48 & 0x1F8);
}

/* Samples with a significant neighbour. */
L2K_HD uint64_t l2k_mq_neighbours(uint64_t significant)
{
    const uint64_t vertical = significant << 1 | significant >> 1, column = vertical | significant;
    return vertical | column << 6 | column >> 6;
}

/* The samples of a window that exist if the last word of a stripe has `columns` columns, or the last stripe `rows`
 * rows. */
L2K_HD uint64_t l2k_mq_live_columns(uint32_t columns)
{
    return L2K_MQ_INTERIOR & ~0ull << (58 - 6 * columns);
}

L2K_HD uint64_t l2k_mq_live_rows(uint32_t rows)
{
    const uint64_t two = L2K_MQ_TOP_ROW | (rows > 1 ? L2K_MQ_TOP_ROW >> 1 : 0);
    return two | (rows > 2 ? L2K_MQ_TOP_ROW >> 2 : 0) | (rows > 3 ? L2K_MQ_LAST_ROW : 0);
}

#endif
