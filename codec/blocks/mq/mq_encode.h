/* The MQ encoder's inner loop (ENCODE, Figure C.3), for lists of decisions with their contexts. Which way a decision
 * goes cannot be predicted, so there is no branch on it; the only one is that of a byte to write. */
#ifndef L2K_CODEC_BLOCKS_MQ_MQ_ENCODE_H
#define L2K_CODEC_BLOCKS_MQ_MQ_ENCODE_H

#include "codec/blocks/mq/mq.h"

/* What a decision does in a state, entry 2 * state + decision of a table. */
typedef struct l2k_mq_transition {
    uint32_t less_probable; /* 0 or 1 */
    uint16_t qe;
    uint8_t next[2]; /* state; [1] where the interval stays above 0x8000 */
} l2k_mq_transition;

/* Entry 2 (2 i + s) + d: row i of Table C.2 with MPS s, decision d. */
extern const l2k_mq_transition l2k_mq_transitions[188];

static inline void l2k_mq_code_list(l2k_mq_encoder *mq, l2k_mq_encoder_contexts contexts, const uint8_t *entries, size_t count)
{
    uint32_t a = mq->a;
    uint64_t c = mq->c;
    int ct = mq->ct;
    uint8_t *out = mq->out;
    for (size_t i = 0; i < count; i++) {
        uint32_t entry = entries[i];
        uint8_t *context = &contexts[entry >> 1];
        const l2k_mq_transition *t = &l2k_mq_transitions[2 * *context + (entry & 1)];
        uint32_t qe = t->qe;
        a -= qe;
        *context = t->next[a >> 15];
        /* Conditional exchange: the less probable symbol gets the smaller part. */
        uint32_t smaller = a < qe ? a : qe, larger = a < qe ? qe : a;
        uint32_t part = t->less_probable ? smaller : larger;
        c += (a < qe) == t->less_probable ? qe : 0;
        int shift = __builtin_clz(part) - 16;
        a = part << shift;
        c <<= shift;
        ct -= shift;
        while (ct <= 0) {
            int beyond = -ct;
            if (*out != 0xFF && (c >> beyond & 0x8000000)) {
                ++*out;
                c -= (uint64_t)0x8000000 << beyond;
            }
            int below = (*out == 0xFF ? 20 : 19) + beyond;
            ct += *out == 0xFF ? 7 : 8;
            *++out = (uint8_t)(c >> below);
            c &= ((uint64_t)1 << below) - 1;
        }
    }
    mq->a = a;
    mq->c = (uint32_t)c;
    mq->ct = ct;
    mq->out = out;
}

#endif
