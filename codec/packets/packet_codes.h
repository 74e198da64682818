/* The codes of a packet header for a code-block's coding passes and their lengths (B.10.6, B.10.7). Compiled by the C
 * compiler and by nvcc. */
#ifndef L2K_CODEC_PACKETS_PACKET_CODES_H
#define L2K_CODEC_PACKETS_PACKET_CODES_H

#include "base/scalar.h"

/* Lblock before a block's first packet. */
enum { L2K_FIRST_LBLOCK = 3 };

/* The codeword of a number of coding passes, 1 to 164 (Table B.4), and its number of bits. */
L2K_HD uint32_t l2k_pass_count_code(unsigned passes, unsigned *bits)
{
    *bits = passes == 1 ? 1 : passes == 2 ? 2 : passes <= 5 ? 4 : passes <= 36 ? 9 : 16;
    return passes == 1    ? 0
           : passes == 2  ? 2
           : passes <= 5  ? 0xC | (passes - 3)
           : passes <= 36 ? 0x1E0 | (passes - 6)
                          : 0xFF80 | (passes - 37);
}

/* The number of bits by which the length of `passes` passes may exceed Lblock. */
L2K_HD unsigned l2k_pass_bits(unsigned passes)
{
    return l2k_bit_length(passes) - 1;
}

/* Lblock, increased if the length of a segment of `passes` passes needs it. */
L2K_HD unsigned l2k_lblock_for(unsigned lblock, unsigned passes, uint32_t bytes)
{
    const unsigned pass_bits = l2k_pass_bits(passes), needed = l2k_bit_length(bytes);
    return needed > lblock + pass_bits ? needed - pass_bits : lblock;
}

#endif
