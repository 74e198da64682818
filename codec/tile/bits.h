/* Bits of packet headers (B.10.1): after a byte 0xFF a 0 is stuffed into the top of the next byte. */
#ifndef L2K_CODEC_TILE_BITS_H
#define L2K_CODEC_TILE_BITS_H

#include "base/buffer.h"

/* Writes to `buffer`, or only counts bytes if it is NULL. */
typedef struct l2k_bit_writer {
    l2k_buffer *buffer;
    size_t bytes;  /* complete so far */
    uint32_t byte; /* being filled */
    unsigned room; /* unused bits of `byte` */
} l2k_bit_writer;

static inline l2k_bit_writer l2k_bits_to(l2k_buffer *buffer)
{
    return (l2k_bit_writer){buffer, 0, 0, 8};
}

static inline void l2k_bits_put_byte(l2k_bit_writer *bits)
{
    if (bits->buffer)
        l2k_buffer_put_byte(bits->buffer, (uint8_t)bits->byte);
    bits->bytes++;
    bits->room = bits->byte == 0xFF ? 7 : 8;
    bits->byte = 0;
}

/* Writes the low `count` bits of value, highest first; count up to 32. */
static inline void l2k_bits_put(l2k_bit_writer *bits, uint32_t value, unsigned count)
{
    while (count-- > 0) {
        bits->byte |= (value >> count & 1) << --bits->room;
        if (bits->room == 0)
            l2k_bits_put_byte(bits);
    }
}

/* Pads the last byte with zeros; a header must not end in 0xFF. */
static inline void l2k_bits_flush(l2k_bit_writer *bits)
{
    if (bits->room < 8)
        l2k_bits_put_byte(bits);
    if (bits->room == 7)
        l2k_bits_put_byte(bits);
}

/* Reads from [next, end). Reading past the end gives 0 and sets `exhausted`. */
typedef struct l2k_bit_reader {
    const uint8_t *next, *end;
    uint32_t byte;
    unsigned left; /* unread bits of `byte` */
    bool exhausted;
} l2k_bit_reader;

static inline l2k_bit_reader l2k_bits_from(const uint8_t *data, const uint8_t *end)
{
    return (l2k_bit_reader){data, end, 0, 0, false};
}

static inline void l2k_bits_take_byte(l2k_bit_reader *bits)
{
    bits->left = bits->byte == 0xFF ? 7 : 8;
    if (bits->next < bits->end) {
        bits->byte = *bits->next++;
    } else {
        bits->byte = 0;
        bits->exhausted = true;
    }
}

static inline uint32_t l2k_bits_get(l2k_bit_reader *bits, unsigned count)
{
    uint32_t value = 0;
    while (count-- > 0) {
        if (bits->left == 0)
            l2k_bits_take_byte(bits);
        value = value << 1 | (bits->byte >> --bits->left & 1);
    }
    return value;
}

/* Skips to the end of the header: the stuffed byte after a final 0xFF belongs to it. */
static inline void l2k_bits_align(l2k_bit_reader *bits)
{
    bits->left = 0;
    if (bits->byte == 0xFF)
        l2k_bits_take_byte(bits);
    bits->left = 0;
    bits->byte = 0;
}

#endif
