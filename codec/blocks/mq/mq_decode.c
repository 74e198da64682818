/* What the MQ decoder of Annex C does rarely: its states and contexts, and BYTEIN next to a 0xFF. */
#include "codec/blocks/mq/mq_decode.h"

static uint64_t number(const l2k_mq_state *state)
{
    return (uint64_t)(state - l2k_mq_states);
}

void l2k_mq_model_create(l2k_mq_model *model)
{
    for (size_t i = 0; i < sizeof model->states / sizeof *model->states; i++) {
        const l2k_mq_state *state = &l2k_mq_states[i];
        model->states[i] = (uint64_t)state->qe << 48 | (uint64_t)state->mps << 16 | number(state->next_lps) << 8 |
                           number(state->next_mps);
    }
    l2k_mq_model_reset(model);
}

void l2k_mq_model_reset(l2k_mq_model *model)
{
    l2k_mq_contexts contexts;
    l2k_mq_reset_contexts(contexts);
    for (size_t i = 0; i < L2K_NUM_CONTEXTS; i++)
        model->contexts[i] = model->states[number(contexts[i])];
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
