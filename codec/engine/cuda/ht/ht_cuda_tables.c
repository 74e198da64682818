/* Tables of the HT kernels, made from those of the CPU's coder: a decoder's lane gets all that it needs of a CxtVLC
 * entry, or both U-VLC codes of a pair of quads, from one look-up. */
#include <stdbool.h>
#include <string.h>

#include "codec/engine/cuda/ht/ht_cuda.h"

/* Bits 0 to 4: the codeword's length; 8: u_off; 9 to 11: in the first row the next context; 10: in others whether one
 * of the right samples is significant. From bit 20 on e_k and e_1, four bits each, then significance of samples 0, 2, 3
 * and 1, so that the lower ones end up on top. */
static uint32_t quad_entry(unsigned entry, bool first_row)
{
    const unsigned rho = l2k_ht_rho(entry);
    const uint32_t next = first_row ? (rho >> 1 | (rho & 1)) << 9 : rho >> 2 ? L2K_HT_CUDA_WEST : 0;
    const uint32_t samples = (rho & 1) | (rho >> 2 & 1) << 1 | (rho >> 3 & 1) << 2 | (rho >> 1 & 1) << 3;
    return l2k_ht_length(entry) | l2k_ht_u_off(entry) * L2K_HT_CUDA_U_OFF | next | l2k_ht_e_k(entry) << 20 |
           (uint32_t)l2k_ht_e_1(entry) << 24 | samples << 28;
}

/* Below the first row, the first and the last bit of a context are exchanged; the second half of the contexts repeats
 * those that are not 0. */
static void make_quads(const l2k_ht_vlc entries[2], l2k_ht_cuda_tables *tables)
{
    for (unsigned i = 0; i < 1024; i++)
        tables->first_quads[i] = quad_entry(entries[0][i], true);
    for (unsigned i = 0; i < L2K_HT_CUDA_ENTRIES; i++) {
        const unsigned place = i >> 7 & 7, context = (place & 2) | place >> 2 | (place & 1) << 2;
        if (i < 1024 || context)
            tables->quads[i] = quad_entry(entries[1][context << 7 | (i & 127)], false);
    }
}

/* Bits 0 to 4: the length; from 5 and 10 on, where each suffix begins, five bits, two more than its place; 15 and 20:
 * masks of the suffixes; 25 and 28: the residuals without suffixes, three bits. */
static uint32_t residual_entry(l2k_ht_prefix first, l2k_ht_prefix second)
{
    const uint32_t prefixes = (uint32_t)first.length + second.length, up_to_first = prefixes + first.suffix;
    const uint32_t first_mask = (1u << first.suffix) - 1, second_mask = (1u << second.suffix) - 1;
    return (up_to_first + second.suffix) | (prefixes + 2) << 5 | (up_to_first + 2) << 10 | first_mask << 15 |
           second_mask << 20 | (uint32_t)first.base << 25 | (uint32_t)second.base << 28;
}

/* Which quads of the pair have a residual, and in the first row, for both, MEL's symbol. */
enum { SECOND_HAS = 1, FIRST_HAS = 2, BOTH_LARGE = 4 };

/* 7.3.6; `bits` are the next six. */
static uint32_t residuals_of(unsigned mode, bool first_row, unsigned bits)
{
    static const l2k_ht_prefix none = {0, 0, 0};
    l2k_ht_prefix first = none, second = none;
    const bool large = mode == BOTH_LARGE, both = large || mode == (FIRST_HAS | SECOND_HAS);
    if (both || mode == FIRST_HAS) {
        first = l2k_ht_prefixes[bits & 7];
        bits >>= first.length;
    }
    if (both || mode == SECOND_HAS)
        second = l2k_ht_prefixes[bits & 7];
    if (both && first_row && !large && first.length == 3)
        second = (l2k_ht_prefix){.length = 1, .suffix = 0, .base = (uint8_t)((bits & 1) + 1)};
    first.base = (uint8_t)(first.base + (large ? 2 : 0));
    second.base = (uint8_t)(second.base + (large ? 2 : 0));
    return residual_entry(first, second);
}

/* Decodes the next six bits of MEL in a state, first bit highest, as far as runs are complete: up to 32 symbols, of
 * which 1s are among the first 15, or last. Bits 0 to 4: number of bits; 5: whether the last symbol is a 1 beyond the
 * first 15; 8 to 11: the next state; 12 to 16: symbols less one; 17 to 31: the first 15. */
static uint32_t runs_of(unsigned state, unsigned bits)
{
    static const uint8_t exponents[13] = {0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5};
    uint32_t count = 0, first = 0, last = 0, used = 0;
    while (used < 6 && !last) {
        const unsigned exponent = exponents[state], zeros = bits >> (5 - used) & 1;
        const unsigned width = zeros ? 1 : 1 + exponent;
        if (used + width > 6)
            break;
        const uint32_t run = bits >> (6 - used - width) & ((1u << exponent) - 1);
        const uint32_t symbols = zeros ? 1u << exponent : run + 1;
        if (count + symbols > 32)
            break;
        count += symbols;
        used += width;
        state = zeros ? state + (state < 12) : state - (state > 0);
        if (!zeros && count <= 15)
            first |= 1u << (count - 1);
        last = !zeros && count > 15;
    }
    return used | last << 5 | state << 8 | (count - 1) << 12 | first << 17;
}

void l2k_ht_cuda_make_tables(l2k_ht_cuda_tables *tables)
{
    l2k_ht_vlc entries[2];
    memset(tables, 0, sizeof *tables);
    l2k_ht_make_codes(tables->codes, tables->pairs);
    l2k_ht_make_vlc(entries);
    make_quads(entries, tables);
    for (unsigned i = 0; i < L2K_HT_CUDA_MODES; i++)
        tables->residuals[i] = residuals_of(i >> 6, false, i & 63);
    for (unsigned i = 0; i < L2K_HT_CUDA_FIRST_MODES; i++)
        tables->residuals[L2K_HT_CUDA_MODES + i] = residuals_of(i >> 6, true, i & 63);
    for (unsigned i = 0; i < L2K_HT_CUDA_RUNS; i++)
        tables->runs[i] = runs_of(i >> 6, i & 63);
}
