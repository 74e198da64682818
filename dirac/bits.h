/* Plain bits of Dirac and VC-2: most significant first, values in interleaved exp-Golomb codes (Annex A of either
 * standard). Beyond its end a block goes on with ones, as the standards want of bounded blocks; so every code ends. */
#ifndef L2K_DIRAC_BITS_H
#define L2K_DIRAC_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct l2k_dirac_bits {
    const uint8_t *next, *end;
    uint64_t window; /* the next bits, from the highest on; below them zeros */
    unsigned count;  /* bits in the window */
} l2k_dirac_bits;

static inline l2k_dirac_bits l2k_dirac_bits_of(const uint8_t *data, size_t bytes)
{
    return (l2k_dirac_bits){data, data + bytes, 0, 0};
}

/* At least 56 bits in the window. */
static inline void l2k_dirac_fill(l2k_dirac_bits *bits)
{
    while (bits->count <= 56) {
        const uint64_t byte = bits->next < bits->end ? *bits->next : 0xff;
        bits->next += bits->next < bits->end;
        bits->window |= byte << (56 - bits->count);
        bits->count += 8;
    }
}

/* n of 0 to 32. */
static inline uint32_t l2k_dirac_read(l2k_dirac_bits *bits, unsigned n)
{
    if (n == 0)
        return 0;
    if (bits->count < n)
        l2k_dirac_fill(bits);
    const uint32_t value = (uint32_t)(bits->window >> (64 - n));
    bits->window <<= n;
    bits->count -= n;
    return value;
}

static inline bool l2k_dirac_flag(l2k_dirac_bits *bits)
{
    return l2k_dirac_read(bits, 1);
}

/* To the next whole byte. */
static inline void l2k_dirac_align(l2k_dirac_bits *bits)
{
    l2k_dirac_read(bits, bits->count % 8);
}

/* The rest of the block, from the present byte on. */
static inline const uint8_t *l2k_dirac_rest(l2k_dirac_bits *bits)
{
    l2k_dirac_align(bits);
    return bits->next - bits->count / 8;
}

/* Exp-Golomb: pairs of a 0 and a bit of the value, then a 1. Values of more than 32 bits wrap. */
static inline uint32_t l2k_dirac_uint(l2k_dirac_bits *bits)
{
    uint32_t value = 1;
    while (!l2k_dirac_flag(bits))
        value = value << 1 | l2k_dirac_read(bits, 1);
    return value - 1;
}

static inline int32_t l2k_dirac_sint(l2k_dirac_bits *bits)
{
    const uint32_t value = l2k_dirac_uint(bits);
    return value && l2k_dirac_flag(bits) ? (int32_t)-value : (int32_t)value;
}

#endif
