/* The adaptive binary arithmetic decoder of Dirac (Annex B). */
#ifndef L2K_DIRAC_ARITHMETIC_H
#define L2K_DIRAC_ARITHMETIC_H

#include "dirac/bits.h"

enum { L2K_DIRAC_CONTEXTS = 32 }; /* no block of Dirac has more; their numbers are the reader's affair */

typedef struct l2k_dirac_arithmetic {
    l2k_dirac_bits bits; /* the window's top 16: the code word less the interval's lower end; then bits to come */
    uint32_t range;      /* of the interval: 0x4001 to 0x8000 between symbols, at first 0xffff */
    uint16_t zero[L2K_DIRAC_CONTEXTS]; /* the probability of 0 in each context, in 65536ths */
} l2k_dirac_arithmetic;

/* What a symbol adds to or takes from a probability, by its upper byte. */
extern const uint16_t l2k_dirac_adaptation[256];

/* Sets all contexts to one half. */
void l2k_dirac_arithmetic_start(l2k_dirac_arithmetic *decoder, const uint8_t *data, size_t bytes);

/* The next symbol, 0 or 1. Probabilities stay between 0xfe and 0xff01 by the table, and the range is below 0x8001 from
 * the first symbol on, as the first one's probability is a half. */
static inline unsigned l2k_dirac_arithmetic_bit(l2k_dirac_arithmetic *decoder, unsigned context)
{
    const uint32_t zero = decoder->zero[context], range = decoder->range, split = range * zero >> 16;
    const uint64_t threshold = (uint64_t)split << 48, window = decoder->bits.window;
    const uint32_t bit = window >= threshold, mask = 0 - bit;
    const uint32_t change = l2k_dirac_adaptation[zero >> 8 ^ (~mask & 0xff)];
    decoder->zero[context] = (uint16_t)(zero + (change ^ mask) + bit);
    const uint32_t rest = bit ? range - split : split;
    const unsigned shift = (unsigned)__builtin_clz(rest - 1) - 17; /* until the range is above 0x4000 */
    decoder->range = rest << shift;
    decoder->bits.window = bit ? window - threshold : window;
    l2k_dirac_skip(&decoder->bits, shift);
    if (decoder->bits.count < 16)
        l2k_dirac_fill(&decoder->bits);
    return bit;
}

#endif
