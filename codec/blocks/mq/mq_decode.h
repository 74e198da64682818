/* The decoder of the MQ coder (C.3) and of the raw bits of the bypass mode (D.6). It is inline: the coding passes keep
 * the registers in local variables. No branch depends on a decision: decisions are close to random, and a mispredicted
 * branch costs more than a whole decision without one. */
#ifndef L2K_CODEC_BLOCKS_MQ_MQ_DECODE_H
#define L2K_CODEC_BLOCKS_MQ_MQ_DECODE_H

#include <string.h>

#include "codec/blocks/mq/mq.h"

/* The states of Table C.2 as words, and the states that the contexts are in. A word has Qe in bits 47 to 62, the MPS in
 * bit 16, and in bits 8 to 15 and 0 to 7 which entry of `states` follows an LPS and an MPS. */
typedef struct l2k_mq_model {
    uint64_t states[94]; /* row i of Table C.2 with MPS s is entry 2 i + s */
    uint64_t contexts[L2K_NUM_CONTEXTS];
} l2k_mq_model;

void l2k_mq_model_create(l2k_mq_model *model);

/* Initial states (Table D.7). */
void l2k_mq_model_reset(l2k_mq_model *model);

/* A and C of Annex C in bits 47 to 62, so that the sign of a difference tells which is less. Below C stand bits that
 * were read ahead, and below these a one; when that one reaches bit 47, bits are missing. `in` points at the last byte
 * read; NULL if C has reached A. Two bytes 0xFF must follow the segment, and L2K_MQ_READ_AHEAD bytes after these be
 * readable. */
enum { L2K_MQ_READ_AHEAD = 6 };

typedef struct l2k_mq_decoder {
    uint64_t a, c;
    const uint8_t *in;
} l2k_mq_decoder;

/* Whether any byte is 0xFF. */
static inline bool l2k_mq_any_ff(uint64_t bytes)
{
    return ((~bytes - 0x0101010101010101u) & bytes & 0x8080808080808080u) != 0;
}

static inline uint64_t l2k_mq_big_endian(const uint8_t *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap64(value) : value;
}

/* BYTEIN, Figure C.19: five bytes at once if no 0xFF is near. The bit that follows a 0xFF is added to it, and from then
 * on counts in comparisons; so such a byte must not be read earlier than the standard's decoder does, or damaged code
 * would decode differently. In damaged code C can reach A: it then stays there. All is inline, because engines of
 * WebAssembly keep every register in memory for the sake of a call. */
static inline void l2k_mq_refill(l2k_mq_decoder *mq)
{
    unsigned end = (unsigned)__builtin_ctzll(mq->c);
    if (!mq->in) {
        mq->c = mq->a | 1;
        return;
    }
    mq->c ^= 1ull << end;
    const uint64_t bytes = l2k_mq_big_endian(mq->in);
    if (__builtin_expect(!l2k_mq_any_ff(bytes), 1)) {
        mq->c += (bytes << 8 >> 23 | 1) << (end - 40);
        mq->in += 5;
        return;
    }
    do {
        const bool stuffed = *mq->in == 0xFF, ended = stuffed && mq->in[1] > 0x8F; /* then only ones follow */
        const unsigned width = stuffed && !ended ? 7 : 8;
        mq->c += (ended ? 0xFFull : mq->in[1]) << (end + 1 - width);
        mq->in += !ended;
        end -= width;
        if (mq->c >= mq->a) {
            mq->c = mq->a;
            mq->in = NULL;
            end = 0;
        }
    } while (end >= 47);
    mq->c |= 1ull << end;
}

static inline void l2k_mq_decode_start(l2k_mq_decoder *mq, const uint8_t *data)
{
    *mq = (l2k_mq_decoder){.a = 1ull << 62, .c = (uint64_t)*data << 54 | 1ull << 53, .in = data};
    l2k_mq_refill(mq);
}

static inline uint64_t l2k_mq_if_negative(uint64_t x, uint64_t then, uint64_t otherwise)
{
    return (int64_t)x < 0 ? then : otherwise;
}

/* DECODE, Figure C.20, with both outcomes side by side and all renormalisation shifts in one. */
static inline uint32_t l2k_mq_decode(l2k_mq_decoder *mq, l2k_mq_model *model, unsigned context)
{
    const uint64_t state = model->contexts[context], qe = state & ~0x1FFFFull;
    const uint64_t after_mps = model->states[state & 0xFF], after_lps = model->states[state >> 8 & 0xFF];
    const uint64_t rest = mq->a - qe, above = mq->c - qe, lps = above ^ (rest - qe); /* by their signs */
    const uint64_t a = l2k_mq_if_negative(above, qe, rest), c = mq->c < above ? mq->c : above;
    const uint64_t next = l2k_mq_if_negative(lps, after_lps, after_mps);
    model->contexts[context] = l2k_mq_if_negative(a << 1, state, next);
    const uint64_t shift = (uint64_t)__builtin_clzll(a) - 1;
    mq->a = a << shift;
    mq->c = c << shift;
    if (__builtin_expect(mq->c << 17 == 0, 0))
        l2k_mq_refill(mq);
    return (uint32_t)((state >> 16 & 1) ^ lps >> 63);
}

/* Raw bits: `byte` is the current byte, `bits` how many of its bits are left, `in` the next byte. Two bytes 0xFF must
 * follow the segment. */
typedef struct l2k_raw_decoder {
    uint32_t byte, bits;
    const uint8_t *in;
} l2k_raw_decoder;

static inline void l2k_raw_decode_start(l2k_raw_decoder *raw, const uint8_t *data)
{
    *raw = (l2k_raw_decoder){.in = data};
}

static inline uint32_t l2k_raw_decode(l2k_raw_decoder *raw)
{
    if (raw->bits == 0) {
        if (raw->byte == 0xFF && *raw->in > 0x8F) {
            raw->bits = 8; /* past the end: ones */
        } else {
            raw->bits = raw->byte == 0xFF ? 7 : 8;
            raw->byte = *raw->in++;
        }
    }
    raw->bits--;
    return raw->byte >> raw->bits & 1;
}

#endif
