/* Plain bits of Dirac and VC-2, read and written: most significant first, values in interleaved exp-Golomb codes (Annex A
 * of either standard). Beyond its end a block goes on with ones, as the standards want of bounded blocks; so every code ends. */
#ifndef L2K_DIRAC_BITS_H
#define L2K_DIRAC_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/scalar.h"

#ifdef __CUDACC__
#define L2K_DIRAC_INLINE __host__ __device__ static inline
#else
#define L2K_DIRAC_INLINE static inline
#endif

typedef struct l2k_dirac_bits {
    const uint8_t *data;
    size_t bytes, at; /* at: the first byte that is not in the window; counts on behind the end */
    uint64_t window;  /* the next bits, from the highest on; below them zeros, or bits that come again */
    unsigned count;   /* bits in the window */
    unsigned foreign; /* low bits of the last byte that are not the block's */
} l2k_dirac_bits;

L2K_DIRAC_INLINE l2k_dirac_bits l2k_dirac_bits_of(const uint8_t *data, size_t bytes)
{
    const l2k_dirac_bits bits = {data, bytes, 0, 0, 0, 0};
    return bits;
}

/* Eight bytes. On a GPU aligned words with up to four bytes behind them are read. */
L2K_DIRAC_INLINE uint64_t l2k_dirac_word(const uint8_t *at)
{
#ifdef __CUDA_ARCH__
    const uint32_t *words = (const uint32_t *)((uintptr_t)at & ~(uintptr_t)3);
    const uint32_t skip = (uint32_t)((uintptr_t)at & 3) * 8, second = words[1];
    const uint32_t low = __funnelshift_r(words[0], second, skip), high = __funnelshift_r(second, words[2], skip);
    return (uint64_t)__byte_perm(low, 0, 0x0123) << 32 | __byte_perm(high, 0, 0x0123);
#else
    uint64_t word = 0;
    for (unsigned i = 0; i < 8; i++) /* compilers make one load of it */
        word = word << 8 | at[i];
    return word;
#endif
}

/* At least 56 bits in the window. */
L2K_DIRAC_INLINE void l2k_dirac_fill(l2k_dirac_bits *bits)
{
    if (bits->bytes > 8 && bits->at < bits->bytes - 8) {
        uint64_t word = l2k_dirac_word(bits->data + bits->at);
        bits->window |= word >> bits->count;
        bits->at += (63 - bits->count) / 8;
        bits->count |= 56;
        return;
    }
    bits->window &= bits->count ? ~(uint64_t)0 << (64 - bits->count) : 0;
    for (; bits->count <= 56; bits->count += 8, bits->at++) {
        const unsigned foreign = bits->at + 1 == bits->bytes ? bits->foreign : 0;
        const uint64_t byte = bits->at < bits->bytes ? bits->data[bits->at] | ((1u << foreign) - 1) : 0xff;
        bits->window |= byte << (56 - bits->count);
    }
}

L2K_DIRAC_INLINE void l2k_dirac_skip(l2k_dirac_bits *bits, unsigned n)
{
    bits->window <<= n;
    bits->count -= n;
}

/* n of 0 to 32. */
L2K_DIRAC_INLINE uint32_t l2k_dirac_read(l2k_dirac_bits *bits, unsigned n)
{
    if (bits->count < n)
        l2k_dirac_fill(bits);
    const uint32_t value = (uint32_t)(bits->window >> 32 >> (32 - n));
    l2k_dirac_skip(bits, n);
    return value;
}

L2K_DIRAC_INLINE bool l2k_dirac_flag(l2k_dirac_bits *bits)
{
    return l2k_dirac_read(bits, 1);
}

/* Takes the next n whole bytes, or all that are left, as a block of its own. */
L2K_DIRAC_INLINE l2k_dirac_bits l2k_dirac_block(l2k_dirac_bits *bits, uint64_t n)
{
    const size_t next = bits->at - bits->count / 8, at = next < bits->bytes ? next : bits->bytes,
                 left = bits->bytes - at;
    const l2k_dirac_bits block = l2k_dirac_bits_of(bits->data + at, n < left ? (size_t)n : left);
    *bits = l2k_dirac_bits_of(bits->data, bits->bytes);
    bits->at = at + block.bytes;
    return block;
}

/* Whether more was read than there is. */
L2K_DIRAC_INLINE bool l2k_dirac_is_over(const l2k_dirac_bits *bits)
{
    return bits->at - bits->count / 8 > bits->bytes;
}

/* Goes on at the next whole byte. */
L2K_DIRAC_INLINE void l2k_dirac_align(l2k_dirac_bits *bits)
{
    l2k_dirac_skip(bits, bits->count % 8);
}

/* The number of pairs from the highest bit on that begin with a 0; one is not. */
L2K_DIRAC_INLINE unsigned l2k_dirac_pairs_until(uint64_t ends)
{
#ifdef __CUDA_ARCH__
    return (unsigned)__clzll((long long)ends) / 2;
#else
    return (unsigned)__builtin_clzll(ends) / 2;
#endif
}

/* The exp-Golomb code that a window of at least 56 bits begins with: pairs of a 0 and a bit of the value, then a 1, and a
 * sign if there are pairs. No value of use has more than 27 of them. */
L2K_DIRAC_INLINE int32_t l2k_dirac_value(uint64_t window, bool has_sign, unsigned *length)
{
    const uint64_t ends = 0xaaaaaaaaaaaaaaaa, low = 1 << 8; /* low: the 28th pair's end */
    const unsigned pairs = l2k_dirac_pairs_until((window & ends) | low);
    uint64_t v = window >> 1 >> (63 - 2 * pairs) & ends >> 1; /* each second bit, then side by side */
    v = (v | v >> 1) & 0x3333333333333333;
    v = (v | v >> 2) & 0x0f0f0f0f0f0f0f0f;
    v = (v | v >> 4) & 0x00ff00ff00ff00ff;
    v = (v | v >> 8) & 0x0000ffff0000ffff;
    const unsigned sign = has_sign && pairs; /* without a branch, which would be hard to predict */
    const int32_t value = (int32_t)((uint32_t)(v | v >> 16) + (1u << pairs) - 1);
    const int32_t minus = -(int32_t)(window >> (62 - 2 * pairs) & sign);
    *length = 2 * pairs + 1 + sign;
    return (value ^ minus) - minus;
}

L2K_DIRAC_INLINE int32_t l2k_dirac_code(l2k_dirac_bits *bits, bool has_sign)
{
    unsigned length;
    int32_t value = l2k_dirac_value(bits->window, has_sign, &length);
    if (length > bits->count) {
        l2k_dirac_fill(bits);
        value = l2k_dirac_value(bits->window, has_sign, &length);
    }
    l2k_dirac_skip(bits, length);
    return value;
}

L2K_DIRAC_INLINE uint32_t l2k_dirac_uint(l2k_dirac_bits *bits)
{
    return (uint32_t)l2k_dirac_code(bits, false);
}

L2K_DIRAC_INLINE int32_t l2k_dirac_sint(l2k_dirac_bits *bits)
{
    return l2k_dirac_code(bits, true);
}

typedef struct l2k_dirac_writer {
    l2k_buffer out;
    uint64_t window; /* its lowest bits, fewer than 8, are not in the buffer yet */
    unsigned count;
} l2k_dirac_writer;

/* n of 0 to 32. */
static inline void l2k_dirac_put_bits(l2k_dirac_writer *writer, uint32_t value, unsigned n)
{
    writer->window = writer->window << n | (value & (((uint64_t)1 << n) - 1));
    for (writer->count += n; writer->count >= 8; writer->count -= 8)
        l2k_buffer_put_byte(&writer->out, (uint8_t)(writer->window >> (writer->count - 8)));
}

/* Ones to the next whole byte, and up to a size of the buffer. */
static inline void l2k_dirac_put_ones(l2k_dirac_writer *writer, size_t size)
{
    l2k_dirac_put_bits(writer, 0x7f >> (7 - (8 - writer->count) % 8), (8 - writer->count) % 8);
    for (size_t i = writer->out.size; i < size; i++)
        l2k_buffer_put_byte(&writer->out, 0xff);
}

static inline unsigned l2k_dirac_pairs(uint32_t value)
{
    return l2k_bit_length(value + 1) - 1;
}

static inline void l2k_dirac_put_uint(l2k_dirac_writer *writer, uint32_t value)
{
    for (unsigned i = l2k_dirac_pairs(value); i-- > 0;)
        l2k_dirac_put_bits(writer, (value + 1) >> i & 1, 2);
    l2k_dirac_put_bits(writer, 1, 1);
}

#endif
