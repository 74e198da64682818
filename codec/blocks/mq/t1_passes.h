/* The coding passes of Annex D in their order (D.3), for encoder and decoder. */
#ifndef L2K_CODEC_BLOCKS_MQ_T1_PASSES_H
#define L2K_CODEC_BLOCKS_MQ_T1_PASSES_H

#include "codec/blocks/mq/t1.h"

typedef struct coding_pass {
    unsigned type, plane;
    unsigned number; /* from 0, the first cleanup pass */
} coding_pass;

static inline coding_pass first_pass(unsigned num_planes)
{
    return (coding_pass){PASS_CLEANUP, num_planes - 1, 0};
}

static inline bool is_last_pass(coding_pass pass)
{
    return pass.type == PASS_CLEANUP && pass.plane == 0;
}

static inline coding_pass next_pass(coding_pass pass)
{
    return (coding_pass){(pass.type + 1) % PASS_TYPES, pass.plane - (pass.type == PASS_CLEANUP), pass.number + 1};
}

/* The loops of passes are compiled once for each combination of parameters known in advance. */
#define INLINE static inline __attribute__((always_inline))

#endif
