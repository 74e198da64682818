/* The bit streams of HT code-blocks (7.1 of T.814): MEL, VLC, MagSgn, SigProp and MagRef. All but MEL are un-stuffed
 * first, into buffers of bits that can be loaded from any position. After the last bit, MEL and MagSgn read ones, the
 * others zeros. */
#ifndef L2K_CODEC_BLOCKS_HT_HT_STREAMS_H
#define L2K_CODEC_BLOCKS_HT_HT_STREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t l2k_ht_load(const uint8_t *from)
{
    uint64_t word;
    memcpy(&word, from, sizeof word);
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap64(word) : word;
}

static inline void l2k_ht_store(uint8_t *to, uint64_t word)
{
    word = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap64(word) : word;
    memcpy(to, &word, sizeof word);
}

/* ---- Un-stuffing --------------------------------------------------------------------------------------------- */

/* Bytes after a buffer, for whole words that are stored and loaded; the first L2K_HT_FILLER after its bits
 * are filler. */
enum { L2K_HT_SLACK = 1408, L2K_HT_FILLER = 1344 };

/* Bits so far, lowest first; `pending` has those of an incomplete byte. */
typedef struct l2k_ht_bits {
    uint8_t *next, *end; /* un-stuffing stops at `end` */
    uint64_t pending;
    unsigned count; /* of pending bits, 0 to 7 */
} l2k_ht_bits;

/* Appends the low `count` bits of a word, 7 to 64; bits above them may be anything. */
static inline void l2k_ht_append(l2k_ht_bits *to, uint64_t word, unsigned count)
{
    const unsigned all = to->count + count, rest = all & 7;
    l2k_ht_store(to->next, to->pending | word << to->count);
    to->next += all >> 3;
    to->pending = rest ? word >> (count - rest) & ((1u << rest) - 1) : 0;
    to->count = rest;
}

/* Appends up to eight bytes of `word`, at most `left`, ending with the first short one, if any. The bytes marked in
 * `is_short` (bit 7) have seven bits. Returns their number. */
static inline size_t l2k_ht_append_bytes(l2k_ht_bits *to, uint64_t word, uint64_t is_short, size_t left)
{
    size_t bytes = is_short ? ((unsigned)__builtin_ctzll(is_short) >> 3) + 1 : 8;
    const bool cut = is_short && bytes <= left;
    bytes = bytes < left ? bytes : left;
    l2k_ht_append(to, word, (unsigned)(8 * bytes) - cut);
    return bytes;
}

/* Bit 7 of each byte whose low seven bits are ones. */
static inline uint64_t l2k_ht_low_ones(uint64_t word)
{
    return (word & 0x7F7F7F7F7F7F7F7Fu) + 0x0101010101010101u;
}

/* Loads `bytes` bytes, at most eight. */
static inline uint64_t l2k_ht_load_some(const uint8_t *from, size_t bytes)
{
    uint64_t word = 0;
    if (bytes >= 8)
        return l2k_ht_load(from);
    for (size_t i = bytes; i-- > 0;)
        word = word << 8 | from[i];
    return word;
}

/* Ends a buffer: its last bits, then `filler` in L2K_HT_FILLER bytes. Returns the number of its bytes, the last perhaps
 * partly filler. */
static inline size_t l2k_ht_end_bits(const l2k_ht_bits *bits, const uint8_t *start, uint8_t filler)
{
    uint8_t *end = bits->next;
    memset(end, filler, L2K_HT_FILLER);
    if (bits->count)
        *end++ = (uint8_t)(bits->pending | (unsigned)filler << bits->count);
    return (size_t)(end - start);
}

/* MagSgn and SigProp: bytes from the first to the last, each from its lowest bit; the byte after 0xFF has seven bits.
 * `to` has room for `room` bytes and, after them, L2K_HT_SLACK. */
static inline size_t l2k_ht_unstuff_forward(const uint8_t *data, size_t bytes, uint8_t *to, size_t room, uint8_t filler)
{
    l2k_ht_bits bits = {.next = to, .end = to + room};
    uint64_t after_ff = 0; /* bit 7 */
    while (bytes > 0 && bits.next < bits.end) {
        const uint64_t word = l2k_ht_load_some(data, bytes), ff = l2k_ht_low_ones(word) & word & 0x8080808080808080u;
        const size_t done = l2k_ht_append_bytes(&bits, word, ff << 8 | after_ff, bytes);
        after_ff = ff >> (8 * (done - 1)) & 0x80;
        data += done;
        bytes -= done;
    }
    return l2k_ht_end_bits(&bits, to, filler);
}

/* VLC and MagRef: bytes from the last to the first, each from its lowest bit; a byte whose low seven bits are ones has
 * only those if the byte read before it exceeds 0x8F. `bits` may hold the start of the stream already. */
static inline size_t l2k_ht_unstuff_backward(const uint8_t *data, size_t bytes, bool after_large, l2k_ht_bits bits)
{
    uint8_t *const to = bits.next;
    uint64_t before = after_large ? 0x80 : 0;
    while (bytes > 0 && bits.next < bits.end) {
        const uint64_t word = bytes >= 8 ? __builtin_bswap64(l2k_ht_load(data + bytes - 8))
                                         : __builtin_bswap64(l2k_ht_load_some(data, bytes)) >> (64 - 8 * bytes);
        const uint64_t large = ((word & 0x7F7F7F7F7F7F7F7Fu) + 0x7070707070707070u) & word & 0x8080808080808080u;
        const uint64_t ones = l2k_ht_low_ones(word) & 0x8080808080808080u;
        const size_t done = l2k_ht_append_bytes(&bits, word, ones & (large << 8 | before), bytes);
        before = large >> (8 * (done - 1)) & 0x80;
        bytes -= done;
    }
    return l2k_ht_end_bits(&bits, to, 0);
}

/* The VLC bits of a cleanup segment whose MEL and VLC bytes are [start, end). They end below the low nibble of the
 * second last byte, which belongs to the length field. */
static inline size_t l2k_ht_unstuff_vlc(const uint8_t *start, const uint8_t *end, uint8_t *to, size_t room)
{
    const unsigned nibble = end[-2] >> 4, is_short = (nibble & 7) == 7;
    l2k_ht_bits bits = {.next = to, .end = to + room, .pending = is_short ? 7 : nibble, .count = is_short ? 3 : 4};
    return l2k_ht_unstuff_backward(start, (size_t)(end - 2 - start), (end[-2] | 0x0F) > 0x8F, bits);
}

static inline size_t l2k_ht_unstuff_magref(const uint8_t *data, size_t bytes, uint8_t *to, size_t room)
{
    return l2k_ht_unstuff_backward(data, bytes, true, (l2k_ht_bits){.next = to, .end = to + room});
}

/* ---- Reading from a buffer of bits --------------------------------------------------------------------------- */

/* The next bits of a buffer: at least `count` of `bits` are right, and those above them are right or 0. */
typedef struct l2k_ht_window {
    uint64_t bits;
    unsigned count;
    const uint8_t *next, *end; /* filler from `end` on */
} l2k_ht_window;

static inline l2k_ht_window l2k_ht_window_at(const uint8_t *bits, size_t bytes)
{
    return (l2k_ht_window){.next = bits, .end = bits + bytes};
}

/* Ensures at least 56 bits. */
static inline void l2k_ht_refill(l2k_ht_window *w)
{
    w->bits |= l2k_ht_load(w->next) << w->count;
    w->next += (63 - w->count) >> 3;
    w->next = w->next < w->end ? w->next : w->end;
    w->count |= 56;
}

static inline uint32_t l2k_ht_take(l2k_ht_window *w, unsigned count)
{
    uint32_t value = (uint32_t)w->bits & ((1u << count) - 1);
    w->bits >>= count;
    w->count -= count;
    return value;
}

/* ---- MEL ----------------------------------------------------------------------------------------------------- */

static const uint8_t l2k_ht_mel_exponents[13] = {0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5};

/* Adaptive run lengths; bytes from the first to the last, each from its highest bit. */
typedef struct l2k_ht_mel {
    const uint8_t *next, *end;
    uint64_t bits;  /* from the highest on */
    unsigned count; /* of them */
    unsigned state;
    bool after_ff;
    unsigned num_events;
    uint64_t events; /* decoded ahead, from the lowest bit on */
} l2k_ht_mel;

static inline l2k_ht_mel l2k_ht_mel_start(const uint8_t *data, const uint8_t *end)
{
    return (l2k_ht_mel){.next = data, .end = end};
}

/* The low nibble of the last byte is part of the length field and reads as ones. */
static inline void l2k_ht_mel_get_byte(l2k_ht_mel *s)
{
    unsigned byte = s->next < s->end ? *s->next : 0xFF;
    if (s->end - s->next == 1)
        byte |= 0x0F;
    s->next += s->next < s->end;
    s->count += s->after_ff ? 7 : 8;
    s->bits |= (uint64_t)(s->after_ff ? byte & 0x7F : byte) << (64 - s->count);
    s->after_ff = byte == 0xFF;
}

/* A codeword: 1 for a full run of zeros; or 0, the length of a shorter run, and a one after it. */
static inline void l2k_ht_mel_get_run(l2k_ht_mel *s)
{
    const unsigned exponent = l2k_ht_mel_exponents[s->state], full = (unsigned)(s->bits >> 63),
                   used = full ? 1 : 1 + exponent;
    const unsigned zeros = full ? 1u << exponent : (unsigned)(s->bits >> (63 - exponent));
    s->events |= (uint64_t)!full << (s->num_events + zeros);
    s->num_events += zeros + !full;
    s->state = full ? s->state + (s->state < 12) : s->state - (s->state > 0);
    s->bits <<= used;
    s->count -= used;
}

/* Ensures at least 32 events. One codeword makes up to 32 of them. */
static inline void l2k_ht_mel_fill(l2k_ht_mel *s)
{
    while (s->num_events < 32) {
        while (s->count < 6)
            l2k_ht_mel_get_byte(s);
        l2k_ht_mel_get_run(s);
    }
}

#endif
