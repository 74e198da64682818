/* The MQ coder's states for a device, made from those of the CPU's encoder. */
#ifndef L2K_CODEC_ENGINE_CUDA_MQ_MQ_TABLES_H
#define L2K_CODEC_ENGINE_CUDA_MQ_MQ_TABLES_H

#include "codec/engine/cuda/mq/mq_cuda.h"
#include "codec/blocks/mq/mq_encode.h"

/* Converts byte distances into the CPU's table, of two transitions a state, to numbers of states. */
static inline uint32_t l2k_mq_state_number(uint32_t distance)
{
    return distance / (2 * (uint32_t)sizeof(l2k_mq_transition));
}

static inline void l2k_mq_cuda_make_tables(l2k_mq_cuda_tables *tables)
{
    l2k_mq_encoder_contexts contexts;
    for (uint32_t i = 0; i < L2K_MQ_NOTHING; i++) {
        const uint32_t mps = i & 1;
        const l2k_mq_transition *more = &l2k_mq_transitions[2 * i + mps], *less = &l2k_mq_transitions[2 * i + !mps];
        tables->states[i] = more->qe | mps << 14 | l2k_mq_state_number(less->next & 0xFFFF) << 7 |
                            l2k_mq_state_number(more->next & 0xFFFF);
    }
    tables->states[L2K_MQ_NOTHING] = L2K_MQ_NOTHING << 7 | L2K_MQ_NOTHING;
    l2k_mq_encoder_reset(contexts);
    for (uint32_t i = 0; i < L2K_MQ_CUDA_CONTEXTS; i++) {
        const uint32_t entry = i == L2K_MQ_FILLER_CONTEXT ? L2K_MQ_NOTHING : l2k_mq_state_number(contexts[i]);
        tables->first[i] = tables->states[entry];
    }
}

#endif
