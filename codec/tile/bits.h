/* Bits of packet headers (B.10.1): after a byte 0xFF a 0 is stuffed into the top of the next byte. */
#ifndef L2K_CODEC_TILE_BITS_H
#define L2K_CODEC_TILE_BITS_H

#include "base/buffer.h"

/* Writes to `buffer`, or only counts bytes if it is NULL. */
typedef struct l2k_bit_writer {
    l2k_buffer *buffer;
    size_t bytes;    /* complete so far */
    uint64_t window; /* its low `held` bits are not in a byte yet */
    unsigned held;   /* below 32 between calls */
    bool after_ff;   /* the last byte was 0xFF */
} l2k_bit_writer;

static inline l2k_bit_writer l2k_bits_to(l2k_buffer *buffer)
{
    return (l2k_bit_writer){.buffer = buffer};
}

/* The number of bits in the next byte. */
static inline unsigned l2k_bits_width(const l2k_bit_writer *bits)
{
    return bits->after_ff ? 7 : 8;
}

static inline void l2k_bits_put_byte(l2k_bit_writer *bits)
{
    const unsigned width = l2k_bits_width(bits);
    bits->held -= width;
    const uint8_t byte = (uint8_t)(bits->window >> bits->held & ((1u << width) - 1));
    if (bits->buffer)
        l2k_buffer_put_byte(bits->buffer, byte);
    bits->bytes++;
    bits->after_ff = byte == 0xFF;
}

/* Writes the low `count` bits of value, highest first; count up to 32. */
static inline void l2k_bits_put(l2k_bit_writer *bits, uint32_t value, unsigned count)
{
    bits->window = bits->window << count | (value & ((UINT64_C(1) << count) - 1));
    bits->held += count;
    while (bits->held >= 32)
        l2k_bits_put_byte(bits);
}

/* Pads the last byte with zeros; a header must not end in 0xFF. */
static inline void l2k_bits_flush(l2k_bit_writer *bits)
{
    while (bits->held >= l2k_bits_width(bits))
        l2k_bits_put_byte(bits);
    if (bits->held > 0 || bits->after_ff)
        l2k_bits_put(bits, 0, l2k_bits_width(bits) - bits->held);
    if (bits->held > 0)
        l2k_bits_put_byte(bits);
}

/* Reads from [start, end). Reading past the end gives 0 and sets `exhausted`. The functions below are inline and let a
 * reader live in registers, since a packet header is a chain of short reads, each of which depends on the one
 * before. */
typedef struct l2k_bit_reader {
    uint64_t window; /* the next bit on top; 0 after the last one of the data */
    int left;        /* bits in it, below 64 */
    bool after_ff;   /* the last byte that entered the window was 0xFF */
    bool exhausted;
    const uint8_t *next, *end; /* bytes not yet in the window */
    const uint8_t *start;
} l2k_bit_reader;

static inline l2k_bit_reader l2k_bits_from(const uint8_t *data, const uint8_t *end)
{
    return (l2k_bit_reader){.next = data, .end = end, .start = data};
}

/* Passed by value: a reader whose address is taken would have to be in memory. */
__attribute__((noinline, unused)) static l2k_bit_reader l2k_bits_refill_at_end(l2k_bit_reader bits)
{
    while (bits.left < 56 && bits.next < bits.end) {
        const unsigned byte = *bits.next++, width = bits.after_ff ? 7 : 8;
        bits.left += (int)width;
        bits.window |= (uint64_t)(byte & (0xFFu >> (8 - width))) << (64 - bits.left);
        bits.after_ff = byte == 0xFF;
    }
    return bits;
}

/* If fewer than 56 bits are left, ensures at least 32, mostly 56, unless the data ends earlier. Takes whole bytes, up to
 * the first 0xFF at a time. */
static inline void l2k_bits_refill(l2k_bit_reader *bits)
{
    do {
        if (bits->end - bits->next < 8) {
            *bits = l2k_bits_refill_at_end(*bits);
            return;
        }
        const uint64_t word = (uint64_t)l2k_get_be(bits->next, 4) << 32 | l2k_get_be(bits->next + 4, 4);
        const uint64_t tops = 0x8080808080808080u, is_ff = ((word & ~tops) + (tops >> 7)) & word & tops;
        const int plain = is_ff ? __builtin_clzll(is_ff) / 8 + 1 : 8, room = (63 - bits->left) / 8;
        const int taken = plain < room ? plain : room, stuffed = bits->after_ff;
        bits->window |= (word >> (64 - 8 * taken) << (64 - 8 * taken + stuffed)) >> bits->left;
        bits->left += 8 * taken - stuffed;
        bits->next += taken;
        bits->after_ff = is_ff && taken == plain;
    } while (bits->left < 32);
}

/* Removes `count` bits, up to 63, that the window has. */
static inline void l2k_bits_remove(l2k_bit_reader *bits, unsigned count)
{
    bits->window <<= count;
    bits->left -= (int)count;
}

/* `count` up to 63; the window has that many bits, or the data is at its end. */
static inline void l2k_bits_skip(l2k_bit_reader *bits, unsigned count)
{
    l2k_bits_remove(bits, count);
    if (bits->left < 0) {
        bits->exhausted = true;
        bits->left = 0;
    }
}

/* The next `count` bits, up to 32, which stay. */
static inline uint32_t l2k_bits_peek(l2k_bit_reader *bits, unsigned count)
{
    if (bits->left < (int)count)
        l2k_bits_refill(bits);
    return (uint32_t)(bits->window >> 1 >> (63 - count));
}

/* The next `count` bits, up to 32. */
static inline uint32_t l2k_bits_get(l2k_bit_reader *bits, unsigned count)
{
    const uint32_t value = l2k_bits_peek(bits, count);
    l2k_bits_skip(bits, count);
    return value;
}

/* Reads bits up to the first that differs from `bit`, this one included, or up to `most`; returns how many
 * were equal. */
static inline uint32_t l2k_bits_run(l2k_bit_reader *bits, unsigned bit, uint32_t most)
{
    if (bits->left < 32)
        l2k_bits_refill(bits);
    const uint32_t equal = (uint32_t)__builtin_clzll((bit ? ~bits->window : bits->window) | 1);
    const uint32_t run = equal < most ? equal : most, used = run + (equal < most);
    if ((int)used <= bits->left) {
        l2k_bits_remove(bits, used);
        return run;
    }
    uint32_t count = 0;
    while (count < most && l2k_bits_get(bits, 1) == bit)
        count++;
    return count;
}

/* Whether the byte at `at` follows 0xFF and so has 7 bits. */
static inline bool l2k_bits_is_stuffed(const l2k_bit_reader *bits, const uint8_t *at)
{
    return at > bits->start && at[-1] == 0xFF;
}

/* Skips to the end of the header; a stuffed byte after a final 0xFF belongs to it. `next` is then behind the header. */
static inline void l2k_bits_align(l2k_bit_reader *bits)
{
    while (bits->next > bits->start && bits->left >= 8 - l2k_bits_is_stuffed(bits, bits->next - 1)) {
        bits->next--;
        bits->left -= 8 - l2k_bits_is_stuffed(bits, bits->next);
    }
    if (l2k_bits_is_stuffed(bits, bits->next)) {
        if (bits->next < bits->end)
            bits->next++;
        else
            bits->exhausted = true;
    }
    bits->start = bits->next;
    bits->window = 0;
    bits->left = 0;
    bits->after_ff = false;
}

#endif
