/* Writers of the bit streams of HT code-blocks (7.1 of T.814): the counterparts of ht_streams.h. The caller provides
 * enough room. */
#ifndef L2K_CODEC_BLOCKS_HT_HT_WRITERS_H
#define L2K_CODEC_BLOCKS_HT_HT_WRITERS_H

#include "codec/blocks/ht/ht_streams.h"

/* The most bits of a code to put, as up to seven may be left from before. */
enum { L2K_HT_PUT_MOST = 56 };

/* Of each byte. */
#define L2K_HT_LOWEST_BITS  0x0101010101010101u
#define L2K_HT_HIGHEST_BITS 0x8080808080808080u

/* ---- Forward: MagSgn and SigProp ----------------------------------------------------------------------------- */

/* Bytes from the first to the last, each from its lowest bit; the byte after 0xFF has seven bits. Whole bytes are
 * written with each code, so less than eight bits are left. */
typedef struct l2k_ht_forward_writer {
    uint8_t *next;
    uint64_t bits;
    unsigned count;
    bool after_ff;
} l2k_ht_forward_writer;

static inline void l2k_ht_forward_byte(l2k_ht_forward_writer *w)
{
    const unsigned size = w->after_ff ? 7 : 8;
    const uint8_t byte = (uint8_t)(w->bits & ((1u << size) - 1));
    *w->next++ = byte;
    w->bits >>= size;
    w->count -= size;
    w->after_ff = byte == 0xFF;
}

/* count 0 to L2K_HT_PUT_MOST; value has no bits beyond it. Stores all bytes at once unless one is or follows 0xFF:
 * adding 1 to such a byte clears its highest bit. */
static inline void l2k_ht_forward_put(l2k_ht_forward_writer *w, uint64_t value, unsigned count)
{
    w->bits |= value << w->count;
    w->count += count;
    if (((w->bits & ~(w->bits + L2K_HT_LOWEST_BITS)) & L2K_HT_HIGHEST_BITS) | w->after_ff) {
        while (w->count >= (w->after_ff ? 7u : 8u))
            l2k_ht_forward_byte(w);
        return;
    }
    l2k_ht_store(w->next, w->bits);
    w->next += w->count >> 3;
    w->bits >>= w->count & ~7u;
    w->count &= 7;
}

/* Fills the last byte of MagSgn with ones. A last 0xFF is left out, since readers read ones past the end. */
static inline void l2k_ht_forward_flush(l2k_ht_forward_writer *w)
{
    if (w->count) {
        w->bits |= (uint64_t)0xFF << w->count;
        w->count = w->after_ff ? 7 : 8;
        l2k_ht_forward_byte(w);
    }
    w->next -= w->after_ff;
}

/* ---- Backward: VLC and MagRef -------------------------------------------------------------------------------- */

/* Bytes from the last to the first, each from its lowest bit; where the one before it exceeds 0x8F, seven ones end a
 * byte. Right after the last one there must be a byte of 0xFF. */
typedef struct l2k_ht_backward_writer {
    uint8_t *first; /* of the bytes written */
    uint64_t bits;
    unsigned count;
} l2k_ht_backward_writer;

static inline void l2k_ht_backward_byte(l2k_ht_backward_writer *w, bool is_short)
{
    *--w->first = (uint8_t)(is_short ? 0x7F : w->bits);
    w->bits >>= is_short ? 7 : 8;
    w->count -= is_short ? 7 : 8;
}

static inline void l2k_ht_backward_bytes(l2k_ht_backward_writer *w)
{
    for (;;) {
        const bool is_short = w->count >= 7 && *w->first > 0x8F && (w->bits & 0x7F) == 0x7F;
        if (w->count < 8 && !is_short)
            return;
        l2k_ht_backward_byte(w, is_short);
    }
}

/* count 0 to L2K_HT_PUT_MOST; value has no bits beyond it. Stores all bytes at once unless one has seven ones. */
static inline void l2k_ht_backward_put(l2k_ht_backward_writer *w, uint64_t value, unsigned count)
{
    w->bits |= value << w->count;
    w->count += count;
    if (((w->bits & ~L2K_HT_HIGHEST_BITS) + L2K_HT_LOWEST_BITS) & L2K_HT_HIGHEST_BITS) {
        l2k_ht_backward_bytes(w);
        return;
    }
    l2k_ht_store(w->first - 8, __builtin_bswap64(w->bits));
    w->first -= w->count >> 3;
    w->bits >>= w->count & ~7u;
    w->count &= 7;
}

/* ---- MEL ----------------------------------------------------------------------------------------------------- */

/* Adaptive run lengths (7.3.3); bytes from the first to the last, each from its highest bit. */
typedef struct l2k_ht_mel_writer {
    uint8_t *next;
    unsigned byte, room; /* unused bits of `byte` */
    unsigned state, run;
} l2k_ht_mel_writer;

/* count 1 to 6; the first bit is the highest. */
static inline void l2k_ht_mel_bits(l2k_ht_mel_writer *w, unsigned value, unsigned count)
{
    if (count >= w->room) {
        count -= w->room;
        w->byte |= value >> count;
        *w->next++ = (uint8_t)w->byte;
        w->room = w->byte == 0xFF ? 7 : 8;
        w->byte = 0;
        value &= (1u << count) - 1;
    }
    w->room -= count;
    w->byte |= value << w->room;
}

static inline void l2k_ht_mel_zeros(l2k_ht_mel_writer *w, unsigned count)
{
    w->run += count;
    while (w->run >= 1u << l2k_ht_mel_exponents[w->state]) {
        w->run -= 1u << l2k_ht_mel_exponents[w->state];
        w->state += w->state < 12;
        l2k_ht_mel_bits(w, 1, 1);
    }
}

/* Codes a one: a zero bit, then the length of the run before it. */
static inline void l2k_ht_mel_one(l2k_ht_mel_writer *w)
{
    l2k_ht_mel_bits(w, w->run, 1u + l2k_ht_mel_exponents[w->state]);
    w->state -= w->state > 0;
    w->run = 0;
}

static inline void l2k_ht_mel_put(l2k_ht_mel_writer *w, bool symbol)
{
    if (symbol)
        l2k_ht_mel_one(w);
    else
        l2k_ht_mel_zeros(w, 1);
}

#endif
