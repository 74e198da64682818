/* What the MQ decoder of Annex C does rarely: the words of its contexts, and BYTEIN next to a 0xFF. */
#include "codec/blocks/mq/mq_decoder.h"

void l2k_mq_make_words(l2k_mq_words *words)
{
    for (size_t i = 0; i < 94; i++) {
        const l2k_mq_state *state = &l2k_mq_states[i];
        words->word[i] = (uint64_t)state->qe << 48 | (uint64_t)(state->next_mps - l2k_mq_states) << 16 |
                         (uint64_t)(state->next_lps - l2k_mq_states) << 8 | state->mps;
    }
}

void l2k_mq_first_words(const l2k_mq_words *words, uint64_t contexts[L2K_NUM_CONTEXTS])
{
    l2k_mq_contexts states;
    l2k_mq_reset_contexts(states);
    for (size_t i = 0; i < L2K_NUM_CONTEXTS; i++)
        contexts[i] = words->word[states[i] - l2k_mq_states];
}

/* More bits than any block takes. */
enum { STUCK = 1 << 30 };

static bool may_read(const l2k_mq_decoder *mq)
{
    return mq->bits < 0 || *mq->in != 0xFF || mq->in[1] < 0x80 || mq->in[1] > 0x8F;
}

l2k_mq_decoder l2k_mq_refill_bytes(l2k_mq_decoder mq)
{
    while (mq.bits <= 40 && may_read(&mq)) {
        const bool stuffed = *mq.in == 0xFF;
        uint64_t byte = mq.in[1];
        int width = stuffed ? 7 : 8;
        if (stuffed && byte > 0x8F) { /* a marker or the end: only ones from here on */
            byte = 0xFF;
            width = 8;
        } else {
            mq.in++;
        }
        mq.bits += width;
        if (__builtin_add_overflow(mq.c, byte << (48 - mq.bits), &mq.c) || mq.c >= mq.a) {
            mq.c = mq.a;
            mq.bits = STUCK;
        }
    }
    return mq;
}
