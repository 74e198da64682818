/* The CxtVLC and U-VLC codes of the HT cleanup pass (Annex C and 7.3.6 of ISO/IEC 15444-15, ITU-T T.814). */
#ifndef L2K_CODEC_BLOCKS_HT_HT_TABLES_H
#define L2K_CODEC_BLOCKS_HT_HT_TABLES_H

#include <stdint.h>

/* Indexed by context << 7 | the next seven bits, first bit lowest. An entry holds, from bit 0: the codeword's length
 * (3 bits), u_off (1), and for the quad's four samples rho, e_1 and e_k (4 each). */
typedef uint16_t l2k_ht_vlc[1024];

static inline unsigned l2k_ht_length(unsigned entry)
{
    return entry & 7;
}

static inline unsigned l2k_ht_u_off(unsigned entry)
{
    return entry >> 3 & 1;
}

static inline unsigned l2k_ht_rho(unsigned entry)
{
    return entry >> 4 & 15;
}

static inline unsigned l2k_ht_e_1(unsigned entry)
{
    return entry >> 8 & 15;
}

static inline unsigned l2k_ht_e_k(unsigned entry)
{
    return entry >> 12;
}

/* Tables for the first row of quads and for all others. */
void l2k_ht_make_vlc(l2k_ht_vlc tables[2]);

/* For encoding: indexed by context << 8 | rho << 4 | the samples whose exponent is the quad's bound (none where u_off
 * is 0). Of the codewords that describe the quad, holds the one that tells most about its samples, which is always the
 * best. An entry holds, from bit 0: the codeword's length (3 bits), e_k (4), the codeword. */
typedef uint16_t l2k_ht_codes[2048];

/* An index whose codeword has no bits, and whose context is not 0. */
enum { L2K_HT_NO_INDEX = 1 << 8 | 1 };

enum { L2K_HT_E_K_AT = 3 };

static inline unsigned l2k_ht_code_length(unsigned entry)
{
    return entry & 7;
}

static inline unsigned l2k_ht_codeword(unsigned entry)
{
    return entry >> 7;
}

/* Both U-VLC codes of a pair of quads (7.3.6), indexed by 32 times the second residual and the first: the code's length
 * (5 bits), then its bits. */
enum { L2K_HT_RESIDUALS = 32 };
typedef uint32_t l2k_ht_pairs[L2K_HT_RESIDUALS * L2K_HT_RESIDUALS];

/* Those of the first row of quads and of all others. */
void l2k_ht_make_codes(l2k_ht_codes codes[2], l2k_ht_pairs pairs[2]);

/* A U-VLC prefix: its length, the bits of its suffix, and the least value it stands for. */
typedef struct l2k_ht_prefix {
    uint8_t length, suffix, base;
} l2k_ht_prefix;

/* Indexed by the next three bits, first bit lowest. */
extern const l2k_ht_prefix l2k_ht_prefixes[8];

/* Suffixes from here on have an extension of four bits, which counts by fours. */
enum { L2K_HT_EXTENDED_SUFFIX = 28, L2K_HT_EXTENSION_BITS = 4 };

#endif
