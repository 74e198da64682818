/* The MQ encoder's inner loop (ENCODE, Figure C.3), for lists of decisions with their contexts. Decisions cannot be
 * predicted, so no branch depends on one; nor can the times at which bytes are complete, so three are written at a
 * time. */
#ifndef L2K_CODEC_BLOCKS_MQ_MQ_ENCODE_H
#define L2K_CODEC_BLOCKS_MQ_MQ_ENCODE_H

#include <string.h>

#include "codec/blocks/mq/mq.h"

/* The effect of a decision in a state. Next states are as in l2k_mq_encoder_contexts. */
typedef struct l2k_mq_transition {
    uint32_t qe;      /* times 2^16 */
    int32_t exchange; /* -1 for the less probable symbol, else 0 */
    uint32_t next;    /* after a renormalisation; times 2^16, without one */
    uint32_t unused;
} l2k_mq_transition;

/* Entry 2 (2 i + s) + d: row i of Table C.2 with MPS s, decision d. */
extern const l2k_mq_transition l2k_mq_transitions[188];

/* l2k_mq_encoder with A times 2^16, and C with all the bits that are still to be written. */
typedef struct l2k_mq_registers {
    uint64_t a, c;
    int ct; /* 0 or less while whole bytes are still to be written */
    uint8_t *out;
} l2k_mq_registers;

#define L2K_MQ_INLINE static inline __attribute__((always_inline))

/* Codes an entry, without BYTEOUT. */
L2K_MQ_INLINE void l2k_mq_code_entry(l2k_mq_registers *mq, uint16_t *contexts, uint32_t entry)
{
    uint16_t *context = &contexts[entry >> 1];
    const l2k_mq_transition *t =
        (const l2k_mq_transition *)((const char *)(l2k_mq_transitions + (entry & 1)) + *context);
    uint64_t qe = t->qe, rest = mq->a - qe;
    uint32_t next = t->next, same = next >> 16;
    *context = (uint16_t)(rest & 0x80000000u ? same : next);
    /* The less probable symbol gets the smaller part, A - Qe or Qe. */
    int64_t is_qe = ((int64_t)(rest - qe) ^ t->exchange) >> 63;
    mq->c += qe >> 16 & ~(uint64_t)is_qe;
    uint32_t part = (uint32_t)(is_qe ? qe : rest);
    int shift = __builtin_clz(part);
    mq->a = part << shift;
    mq->c <<= shift;
    mq->ct -= shift;
}

/* BYTEOUT (Figure C.8) for all whole bytes in C. Bytes written late are the same, since carries reach them either way,
 * unless a byte was 0xFF at its time and a carry came afterwards, which belongs in the bit stuffed behind it. Such a
 * byte is 0 by now, and so are the three bits behind it, since the interval was smaller than those. If `late`, returns
 * false for any byte like that. */
L2K_MQ_INLINE bool l2k_mq_put_bytes(l2k_mq_registers *mq, bool late)
{
    do {
        const int beyond = -mq->ct;
        const uint32_t top = (uint32_t)(mq->c >> (16 + beyond)); /* carry, eight bits, three bits */
        if (late && !(top & 0x7FF))
            return false;
        int below = 19 + beyond;
        mq->ct += 8;
        if (__builtin_expect(*mq->out == 0xFF, 0)) {
            below++;
            mq->ct--;
        } else {
            *mq->out += top >> 11 & 1;
            mq->c &= ((uint64_t)0x8000000 << beyond) - 1;
            if (__builtin_expect(*mq->out == 0xFF, 0)) {
                below++;
                mq->ct--;
            }
        }
        *++mq->out = (uint8_t)(mq->c >> below);
        mq->c &= ((uint64_t)1 << below) - 1;
    } while (mq->ct <= 0);
    return true;
}

/* Codes entries; unless `late`, writes every byte at its time. False: the entries must be coded again, not `late`. */
L2K_MQ_INLINE bool l2k_mq_code_entries(l2k_mq_registers *registers, uint16_t *contexts, const uint8_t *entries,
                                       size_t count, bool late)
{
    const int full = late ? -16 : 0; /* C then has 27 + 16 bits, of which a shift makes 15 more */
    l2k_mq_registers mq = *registers;
    for (size_t i = 0; i < count; i++) {
        l2k_mq_code_entry(&mq, contexts, entries[i]);
        if (__builtin_expect(mq.ct <= full, 0) && !l2k_mq_put_bytes(&mq, late))
            return false;
    }
    if (mq.ct <= 0 && !l2k_mq_put_bytes(&mq, late))
        return false;
    *registers = mq;
    return true;
}

/* Codes the decisions of a feed, in chunks that are cheap to repeat. */
static inline void l2k_mq_code_feed(l2k_mq_feed *feed)
{
    enum { CHUNK = 256 };
    for (size_t left; (left = (size_t)(feed->end - feed->next)) > 0;) {
        const size_t count = left < CHUNK ? left : CHUNK;
        l2k_mq_registers r = {(uint64_t)feed->mq.a << 16, feed->mq.c, feed->mq.ct, feed->mq.out};
        l2k_mq_encoder_contexts before;
        const uint8_t last = *r.out;
        memcpy(before, feed->contexts, sizeof before);
        if (!l2k_mq_code_entries(&r, feed->contexts, feed->next, count, true)) {
            memcpy(feed->contexts, before, sizeof before);
            *r.out = last;
            l2k_mq_code_entries(&r, feed->contexts, feed->next, count, false);
        }
        feed->mq = (l2k_mq_encoder){(uint32_t)(r.a >> 16), (uint32_t)r.c, r.ct, r.out};
        feed->next += count;
    }
}

#endif
