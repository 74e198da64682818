/* The adaptive binary arithmetic decoder of Dirac (Annex B). Beyond its end a block goes on with ones. */
#ifndef L2K_DIRAC_ARITHMETIC_H
#define L2K_DIRAC_ARITHMETIC_H

#include <stddef.h>
#include <stdint.h>

enum { L2K_DIRAC_CONTEXTS = 32 }; /* no block of Dirac has more; their numbers are the reader's affair */

typedef struct l2k_dirac_arithmetic {
    const uint8_t *next, *end;
    uint64_t window; /* the top 16 bits: the code word less the interval's lower end; below them bits to come */
    uint32_t range;  /* of the interval: 0x4001 to 0x8000 between symbols, at first 0xffff */
    int ahead;       /* valid bits below the top 16 */
    uint16_t zero[L2K_DIRAC_CONTEXTS]; /* the probability of 0 in each context, in 65536ths */
} l2k_dirac_arithmetic;

/* What a symbol adds to or takes from a probability, by its upper byte. */
extern const uint16_t l2k_dirac_adaptation[256];

/* Sets all contexts to one half and reads the first bits. */
void l2k_dirac_arithmetic_start(l2k_dirac_arithmetic *decoder, const uint8_t *data, size_t bytes);

/* Brings `ahead` from a negative value to 32 or more. */
void l2k_dirac_arithmetic_fill_end(l2k_dirac_arithmetic *decoder);

static inline void l2k_dirac_arithmetic_fill(l2k_dirac_arithmetic *decoder)
{
    if (decoder->end - decoder->next < 8) {
        l2k_dirac_arithmetic_fill_end(decoder);
        return;
    }
    uint64_t word = 0;
    for (unsigned i = 0; i < 8; i++) /* compilers make one load of it */
        word = word << 8 | decoder->next[i];
    const int valid = decoder->ahead + 16, bytes = (64 - valid) / 8;
    decoder->window |= word >> valid; /* bits of a byte that does not fit whole are put there again next time */
    decoder->next += bytes;
    decoder->ahead += 8 * bytes;
}

/* The next symbol, 0 or 1. Probabilities stay between 0xfe and 0xff01 by the table, and the range is below 0x8001 from
 * the first symbol on, as the first one's probability is a half. */
static inline unsigned l2k_dirac_arithmetic_bit(l2k_dirac_arithmetic *decoder, unsigned context)
{
    const uint32_t zero = decoder->zero[context], range = decoder->range, split = range * zero >> 16;
    const uint64_t threshold = (uint64_t)split << 48, window = decoder->window;
    const uint32_t bit = window >= threshold, mask = 0 - bit;
    const uint32_t change = l2k_dirac_adaptation[zero >> 8 ^ (~mask & 0xff)];
    decoder->zero[context] = (uint16_t)(zero + (change ^ mask) + bit);
    const uint32_t rest = bit ? range - split : split;
    const unsigned shift = (unsigned)__builtin_clz(rest - 1) - 17; /* until the range is above 0x4000 */
    decoder->range = rest << shift;
    decoder->window = (bit ? window - threshold : window) << shift;
    decoder->ahead -= (int)shift;
    if (decoder->ahead < 0)
        l2k_dirac_arithmetic_fill(decoder);
    return bit;
}

#endif
