/* The MQ encoder's inner loop (ENCODE, Figure C.3), for lists of decisions with their contexts. Decisions cannot be
 * predicted, so no branch depends on one. */
#ifndef L2K_CODEC_BLOCKS_MQ_MQ_ENCODE_H
#define L2K_CODEC_BLOCKS_MQ_MQ_ENCODE_H

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

/* l2k_mq_encoder with A times 2^16, and C with all the bits that a renormalisation shifts out. */
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

/* BYTEOUT (Figure C.8) for all whole bytes in C. */
L2K_MQ_INLINE void l2k_mq_put_bytes(l2k_mq_registers *mq)
{
    do {
        const int beyond = -mq->ct;
        int below = 19 + beyond;
        mq->ct += 8;
        if (*mq->out != 0xFF) {
            *mq->out += mq->c >> (27 + beyond) & 1;
            mq->c &= ((uint64_t)0x8000000 << beyond) - 1;
        }
        if (__builtin_expect(*mq->out == 0xFF, 0)) {
            below++;
            mq->ct--;
        }
        *++mq->out = (uint8_t)(mq->c >> below);
        mq->c &= ((uint64_t)1 << below) - 1;
    } while (mq->ct <= 0);
}

/* Codes the decisions of a feed. */
static inline void l2k_mq_code_feed(l2k_mq_feed *feed)
{
    l2k_mq_registers mq = {(uint64_t)feed->mq.a << 16, feed->mq.c, feed->mq.ct, feed->mq.out};
    for (const uint8_t *entry = feed->next; entry < feed->end; entry++) {
        l2k_mq_code_entry(&mq, feed->contexts, *entry);
        if (__builtin_expect(mq.ct <= 0, 0))
            l2k_mq_put_bytes(&mq);
    }
    feed->mq = (l2k_mq_encoder){(uint32_t)(mq.a >> 16), (uint32_t)mq.c, mq.ct, mq.out};
    feed->next = feed->end;
}

#endif
