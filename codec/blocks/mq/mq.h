/* The MQ arithmetic coder of Annex C, the raw coder of the bypass mode (D.6), and the table of probability states. The
 * code for a decision is inline: the block coder's coding passes keep the registers in local variables. */
#ifndef L2K_CODEC_BLOCKS_MQ_MQ_H
#define L2K_CODEC_BLOCKS_MQ_MQ_H

#include <stdbool.h>
#include <stdint.h>

#include "base/scalar.h"

/* Contexts of the block coder (Table D.7). */
enum {
    L2K_CONTEXT_ZERO = 0,    /* nine zero-coding contexts */
    L2K_CONTEXT_SIGN = 9,    /* five */
    L2K_CONTEXT_REFINE = 14, /* three */
    L2K_CONTEXT_RUN = 17,
    L2K_CONTEXT_UNIFORM = 18,
    L2K_NUM_CONTEXTS = 19
};

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

L2K_HD void l2k_mq_encode_start(l2k_mq_encoder *mq, uint8_t *last_byte_before)
{
    mq->a = 0x8000;
    mq->c = 0;
    mq->ct = *last_byte_before == 0xFF ? 13 : 12;
    mq->out = last_byte_before;
}

/* BYTEOUT, Figure C.8: only seven bits follow a 0xFF, so a carry never propagates past one byte. */
L2K_HD void l2k_mq_byte_out(l2k_mq_encoder *mq)
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
L2K_HD void l2k_mq_flush(l2k_mq_encoder *mq)
{
    /* SETBITS, Figure C.12: as many trailing ones as the interval allows. */
    uint32_t end = mq->c + mq->a;
    mq->c |= 0xFFFF;
    if (mq->c >= end)
        mq->c -= 0x8000;
    for (int i = 0; i < 2; i++) {
        mq->c <<= mq->ct;
        l2k_mq_byte_out(mq);
    }
    if (*mq->out != 0xFF) /* a segment must not end in it; the decoder supplies one itself */
        mq->out++;
}

/* The predictable termination of D.4.2; ends like l2k_mq_flush. */
L2K_HD void l2k_mq_flush_predictable(l2k_mq_encoder *mq)
{
    int bits = 12 - mq->ct;
    while (bits > 0) {
        mq->c <<= mq->ct;
        mq->ct = 0;
        l2k_mq_byte_out(mq);
        bits -= mq->ct;
    }
    if (*mq->out != 0xFF)
        l2k_mq_byte_out(mq);
    /* The last byte written only made room for a carry: it is not part of the segment. */
}

/* ---- Raw bits (D.6) ------------------------------------------------------------------------------------------ */

/* `out` points at the next byte to write; `c` has `ct` free bits. In a segment without any bit, `ct` is
 * L2K_RAW_UNTOUCHED. */
enum { L2K_RAW_UNTOUCHED = 64 };

L2K_HD void l2k_raw_encode_start(l2k_mq_encoder *mq)
{
    mq->c = 0;
    mq->ct = L2K_RAW_UNTOUCHED;
}

L2K_HD void l2k_raw_encode(l2k_mq_encoder *mq, uint32_t bit)
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

/* Bytes that the decoder would need, in addition to those written, if a raw segment were truncated here. */
L2K_HD unsigned l2k_raw_pending_bytes(const l2k_mq_encoder *mq, bool predictable)
{
    return mq->ct < 7 || (mq->ct == 7 && (predictable || mq->out[-1] != 0xFF));
}

/* Terminates a raw segment; `predictable`: as in D.4.2. */
L2K_HD void l2k_raw_flush(l2k_mq_encoder *mq, bool predictable)
{
    if (l2k_raw_pending_bytes(mq, predictable)) {
        /* The unused bits alternate from 0, as D.4.2 requires for predictable termination; otherwise they are
         * arbitrary. */
        for (uint32_t bit = 0; mq->ct > 0; bit ^= 1)
            mq->c |= bit << --mq->ct;
        *mq->out++ = (uint8_t)mq->c;
    } else if (mq->ct == 7) {
        mq->out--; /* a final 0xFF is implied */
    } else if (mq->ct == 8 && !predictable && mq->out[-1] == 0x7F && mq->out[-2] == 0xFF) {
        mq->out -= 2; /* so is 0xFF 0x7F: the decoder reads ones past the end */
    }
}

#endif
