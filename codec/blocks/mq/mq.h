/* The MQ arithmetic coder of Annex C, the raw coder of the bypass mode (D.6), and the table of probability states. The
 * code for a decision is inline: the block coder's coding passes keep the registers in local variables. */
#ifndef L2K_CODEC_BLOCKS_MQ_MQ_H
#define L2K_CODEC_BLOCKS_MQ_MQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One row of Table C.2 for one sense of the more probable symbol. */
typedef struct l2k_mq_state {
    uint32_t qe;
    uint32_t mps;
    const struct l2k_mq_state *next_mps, *next_lps;
} l2k_mq_state;

/* Row i with MPS s is entry 2 i + s. */
extern const l2k_mq_state l2k_mq_states[94];

/* Contexts of the block coder (Table D.7). */
enum {
    L2K_CONTEXT_ZERO = 0,    /* nine zero-coding contexts */
    L2K_CONTEXT_SIGN = 9,    /* five */
    L2K_CONTEXT_REFINE = 14, /* three */
    L2K_CONTEXT_RUN = 17,
    L2K_CONTEXT_UNIFORM = 18,
    L2K_NUM_CONTEXTS = 19
};

typedef const l2k_mq_state *l2k_mq_contexts[L2K_NUM_CONTEXTS];

/* Initial states (Table D.7). */
void l2k_mq_reset_contexts(l2k_mq_contexts contexts);

/* ---- Encoder (C.2) ------------------------------------------------------------------------------------------- */

/* The registers. `out` points at the last byte written; the byte before the first must exist and must not be 0xFF. */
typedef struct l2k_mq_encoder {
    uint32_t a, c;
    int ct;
    uint8_t *out;
} l2k_mq_encoder;

/* The encoder's contexts: distances in bytes into its table of transitions (mq_encode.h). */
typedef uint16_t l2k_mq_encoder_contexts[L2K_NUM_CONTEXTS];

/* An encoder with a list of decisions still to be coded: each a context times 2 plus the decision. */
typedef struct l2k_mq_feed {
    l2k_mq_encoder mq;
    l2k_mq_encoder_contexts contexts;
    const uint8_t *next, *end;
} l2k_mq_feed;

/* Initial states (Table D.7). */
void l2k_mq_encoder_reset(l2k_mq_encoder_contexts contexts);

static inline void l2k_mq_encode_start(l2k_mq_encoder *mq, uint8_t *last_byte_before)
{
    mq->a = 0x8000;
    mq->c = 0;
    mq->ct = *last_byte_before == 0xFF ? 13 : 12;
    mq->out = last_byte_before;
}

/* BYTEOUT, Figure C.8: only seven bits follow a 0xFF, so a carry never propagates past one byte. */
static inline void l2k_mq_byte_out(l2k_mq_encoder *mq)
{
    if (*mq->out != 0xFF && (mq->c & 0x8000000)) {
        ++*mq->out;
        mq->c &= 0x7FFFFFF;
    }
    if (*mq->out == 0xFF) {
        *++mq->out = (uint8_t)(mq->c >> 20);
        mq->c &= 0xFFFFF;
        mq->ct = 7;
    } else {
        *++mq->out = (uint8_t)(mq->c >> 19);
        mq->c &= 0x7FFFF;
        mq->ct = 8;
    }
}

/* FLUSH (C.2.9): afterwards `out` is one past the last byte, and that byte is not 0xFF. */
void l2k_mq_flush(l2k_mq_encoder *mq);

/* The predictable termination of D.4.2; ends like l2k_mq_flush. */
void l2k_mq_flush_predictable(l2k_mq_encoder *mq);

/* ---- Raw bits (D.6) ------------------------------------------------------------------------------------------ */

/* `out` points at the next byte to write; `c` has `ct` free bits. In a segment without any bit, `ct` is
 * L2K_RAW_UNTOUCHED. */
enum { L2K_RAW_UNTOUCHED = 64 };

static inline void l2k_raw_encode_start(l2k_mq_encoder *mq)
{
    mq->c = 0;
    mq->ct = L2K_RAW_UNTOUCHED;
}

static inline void l2k_raw_encode(l2k_mq_encoder *mq, uint32_t bit)
{
    if (mq->ct == L2K_RAW_UNTOUCHED)
        mq->ct = 8;
    mq->ct--;
    mq->c |= bit << mq->ct;
    if (mq->ct == 0) {
        *mq->out++ = (uint8_t)mq->c;
        mq->ct = mq->c == 0xFF ? 7 : 8;
        mq->c = 0;
    }
}

/* Terminates a raw segment; `predictable`: as in D.4.2. */
void l2k_raw_flush(l2k_mq_encoder *mq, bool predictable);

/* Bytes that the decoder would need, in addition to those written, if a raw segment were truncated here. */
unsigned l2k_raw_pending_bytes(const l2k_mq_encoder *mq, bool predictable);

/* ---- Decoder (C.3) ------------------------------------------------------------------------------------------- */

/* The registers of Annex C times 2^8, both reduced by d = min(A - 0x8000, C): a more probable symbol without
 * renormalisation then costs one subtraction and one test (Taubman and Marcellin, section 17.1.1). `in` points at the
 * last byte read. Two bytes 0xFF 0xFF must follow the segment. */
typedef struct l2k_mq_decoder {
    int32_t d, a, c;
    int ct;
    const uint8_t *in;
} l2k_mq_decoder;

#define L2K_MQ_HALF (0x8000 << 8)

static inline void l2k_mq_byte_in(l2k_mq_decoder *mq)
{
    if (*mq->in != 0xFF) {
        mq->c += *++mq->in;
        mq->ct = 8;
    } else if (mq->in[1] > 0x8F) { /* a marker or the end: only ones from here on */
        mq->c += 0xFF;
        mq->ct = 8;
    } else {
        mq->c += *++mq->in << 1;
        mq->ct = 7;
    }
}

static inline void l2k_mq_rebase(l2k_mq_decoder *mq)
{
    if (mq->c > mq->a)
        mq->c = mq->a; /* only in damaged code; C must not overflow */
    int32_t room = mq->a - L2K_MQ_HALF;
    mq->d = room < mq->c ? room : mq->c;
    mq->a -= mq->d;
    mq->c -= mq->d;
}

static inline void l2k_mq_decode_start(l2k_mq_decoder *mq, const uint8_t *data)
{
    mq->in = data;
    mq->c = *data << 8;
    l2k_mq_byte_in(mq);
    mq->c <<= 7;
    mq->ct -= 7;
    mq->a = L2K_MQ_HALF;
    l2k_mq_rebase(mq);
}

static inline void l2k_mq_decode_renormalise(l2k_mq_decoder *mq)
{
    int shift = __builtin_clz((uint32_t)mq->a) - 8;
    mq->a <<= shift;
    while (shift > mq->ct) {
        mq->c <<= mq->ct;
        shift -= mq->ct;
        l2k_mq_byte_in(mq);
    }
    mq->c <<= shift;
    mq->ct -= shift;
    l2k_mq_rebase(mq);
}

static inline uint32_t l2k_mq_decode(l2k_mq_decoder *mq, const l2k_mq_state **context)
{
    const l2k_mq_state *state = *context;
    int32_t qe = (int32_t)(state->qe << 8);
    uint32_t bit = state->mps;
    mq->d -= qe;
    if (mq->d >= 0)
        return bit;
    mq->a += mq->d;
    mq->c += mq->d;
    bool lower = mq->a < qe; /* conditional exchange */
    if (mq->c < 0) {
        mq->c += qe;
        mq->a = qe;
        lower = !lower;
    }
    bit ^= lower;
    *context = lower ? state->next_lps : state->next_mps;
    l2k_mq_decode_renormalise(mq);
    return bit;
}

/* Raw bits: `c` holds the current byte, `ct` how many of its bits are left, `in` the next byte. */
static inline void l2k_raw_decode_start(l2k_mq_decoder *mq, const uint8_t *data)
{
    mq->in = data;
    mq->c = 0;
    mq->ct = 0;
}

static inline uint32_t l2k_raw_decode(l2k_mq_decoder *mq)
{
    if (mq->ct == 0) {
        if (mq->c == 0xFF && *mq->in > 0x8F) {
            mq->ct = 8; /* past the end: ones */
        } else {
            mq->ct = mq->c == 0xFF ? 7 : 8;
            mq->c = *mq->in++;
        }
    }
    mq->ct--;
    return (uint32_t)mq->c >> mq->ct & 1;
}

#endif
