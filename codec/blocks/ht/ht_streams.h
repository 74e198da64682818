/* The bit streams of HT code-blocks (7.1 of T.814): MEL, VLC, MagSgn, SigProp and MagRef. No reader leaves its bytes;
 * what follows the last of them is defined: ones for MEL and MagSgn, zeros for the others. */
#ifndef L2K_CODEC_BLOCKS_HT_HT_STREAMS_H
#define L2K_CODEC_BLOCKS_HT_HT_STREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Forward: MagSgn and SigProp ----------------------------------------------------------------------------- */

/* Bytes from the first to the last, each from its lowest bit; the byte after 0xFF has seven bits. */
typedef struct l2k_ht_forward {
    const uint8_t *next, *end;
    uint64_t bits; /* the next `count` bits of the stream; zeros above them */
    unsigned count;
    bool after_ff;
    uint8_t filler;
} l2k_ht_forward;

static inline l2k_ht_forward l2k_ht_forward_start(const uint8_t *data, size_t bytes, uint8_t filler)
{
    return (l2k_ht_forward){.next = data, .end = data + bytes, .filler = filler};
}

/* Four bytes at once where none of them is or follows 0xFF. */
static inline bool l2k_ht_forward_fill_word(l2k_ht_forward *s)
{
    if (s->after_ff || s->end - s->next < 4)
        return false;
    const uint8_t *at = s->next;
    uint32_t word = at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
    if ((~word - 0x01010101u) & word & 0x80808080u) /* a zero byte in ~word */
        return false;
    s->bits |= (uint64_t)word << s->count;
    s->count += 32;
    s->next += 4;
    return true;
}

/* Leaves at least 32 bits in s->bits. */
static inline void l2k_ht_forward_fill(l2k_ht_forward *s)
{
    while (s->count < 32) {
        if (l2k_ht_forward_fill_word(s))
            return;
        uint8_t byte = s->next < s->end ? *s->next++ : s->filler;
        s->bits |= (uint64_t)(s->after_ff ? byte & 0x7F : byte) << s->count;
        s->count += s->after_ff ? 7 : 8;
        s->after_ff = byte == 0xFF;
    }
}

/* count 0 to 32. */
static inline uint32_t l2k_ht_forward_take(l2k_ht_forward *s, unsigned count)
{
    l2k_ht_forward_fill(s);
    uint32_t value = (uint32_t)(s->bits & (((uint64_t)1 << count) - 1));
    s->bits >>= count;
    s->count -= count;
    return value;
}

/* ---- Backward: VLC and MagRef -------------------------------------------------------------------------------- */

/* Bytes from the last to the first, each from its lowest bit; a byte whose low seven bits are ones has only those if
 * the byte read before it exceeds 0x8F. */
typedef struct l2k_ht_backward {
    const uint8_t *start, *next; /* bytes [start, next) are left */
    uint64_t bits;
    unsigned count;
    bool after_large;
} l2k_ht_backward;

static inline void l2k_ht_backward_fill(l2k_ht_backward *s)
{
    while (s->count <= 56) {
        uint8_t byte = s->next > s->start ? *--s->next : 0;
        bool short_byte = s->after_large && (byte & 0x7F) == 0x7F;
        s->bits |= (uint64_t)(short_byte ? 0x7F : byte) << s->count;
        s->count += short_byte ? 7 : 8;
        s->after_large = byte > 0x8F;
    }
}

/* After l2k_ht_backward_fill at least 57 bits may be taken. */
static inline uint32_t l2k_ht_backward_take(l2k_ht_backward *s, unsigned count)
{
    uint32_t value = (uint32_t)s->bits & ((1u << count) - 1);
    s->bits >>= count;
    s->count -= count;
    return value;
}

/* VLC bits end below the low nibble of the second last byte of a cleanup segment, which belongs to its length field. */
static inline l2k_ht_backward l2k_ht_vlc_start(const uint8_t *start, const uint8_t *end)
{
    unsigned nibble = end[-2] >> 4;
    bool short_nibble = (nibble & 7) == 7;
    return (l2k_ht_backward){.start = start,
                             .next = end - 2,
                             .bits = short_nibble ? 7 : nibble,
                             .count = short_nibble ? 3 : 4,
                             .after_large = (end[-2] | 0x0F) > 0x8F};
}

static inline l2k_ht_backward l2k_ht_magref_start(const uint8_t *data, size_t bytes)
{
    return (l2k_ht_backward){.start = data, .next = data + bytes, .after_large = true};
}

/* ---- MEL ----------------------------------------------------------------------------------------------------- */

/* Adaptive run lengths; bytes from the first to the last, each from its highest bit. */
typedef struct l2k_ht_mel {
    const uint8_t *next, *end;
    uint8_t byte;
    unsigned left; /* unread bits of `byte` */
    unsigned state, run;
    bool one_follows; /* the run ends in a one */
} l2k_ht_mel;

static inline l2k_ht_mel l2k_ht_mel_start(const uint8_t *data, const uint8_t *end)
{
    return (l2k_ht_mel){.next = data, .end = end};
}

/* The low nibble of the last byte is part of the length field and reads as ones. */
static inline unsigned l2k_ht_mel_bit(l2k_ht_mel *s)
{
    if (s->left == 0) {
        s->left = s->byte == 0xFF ? 7 : 8;
        s->byte = s->next < s->end ? *s->next : 0xFF;
        if (s->end - s->next == 1)
            s->byte |= 0x0F;
        s->next += s->next < s->end;
    }
    return s->byte >> --s->left & 1;
}

static inline void l2k_ht_mel_get_run(l2k_ht_mel *s)
{
    static const uint8_t exponents[13] = {0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5};
    unsigned exponent = exponents[s->state];
    s->one_follows = !l2k_ht_mel_bit(s);
    if (!s->one_follows) {
        s->run = 1u << exponent;
        s->state += s->state < 12;
        return;
    }
    while (exponent-- > 0)
        s->run = s->run << 1 | l2k_ht_mel_bit(s);
    s->state -= s->state > 0;
}

static inline unsigned l2k_ht_mel_take(l2k_ht_mel *s)
{
    if (s->run == 0 && !s->one_follows)
        l2k_ht_mel_get_run(s);
    if (s->run > 0) {
        s->run--;
        return 0;
    }
    s->one_follows = false;
    return 1;
}

#endif
