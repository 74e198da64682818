/* The MQ coder of Annex C but for its inner loops: the probability states of Table C.2 and context initialisation. */
#include "codec/blocks/mq/mq_decode.h"
#include "codec/blocks/mq/mq_encode.h"

/* Table C.2: row, Qe, next row after an MPS, next row after an LPS, whether the LPS switches the sense of the MPS. */
#define TABLE_C2(ROW)                                                                                                  \
    ROW(0, 0x5601, 1, 1, 1), ROW(1, 0x3401, 2, 6, 0), ROW(2, 0x1801, 3, 9, 0), ROW(3, 0x0AC1, 4, 12, 0),               \
        ROW(4, 0x0521, 5, 29, 0), ROW(5, 0x0221, 38, 33, 0), ROW(6, 0x5601, 7, 6, 1), ROW(7, 0x5401, 8, 14, 0),        \
        ROW(8, 0x4801, 9, 14, 0), ROW(9, 0x3801, 10, 14, 0), ROW(10, 0x3001, 11, 17, 0), ROW(11, 0x2401, 12, 18, 0),   \
        ROW(12, 0x1C01, 13, 20, 0), ROW(13, 0x1601, 29, 21, 0), ROW(14, 0x5601, 15, 14, 1),                            \
        ROW(15, 0x5401, 16, 14, 0), ROW(16, 0x5101, 17, 15, 0), ROW(17, 0x4801, 18, 16, 0),                            \
        ROW(18, 0x3801, 19, 17, 0), ROW(19, 0x3401, 20, 18, 0), ROW(20, 0x3001, 21, 19, 0),                            \
        ROW(21, 0x2801, 22, 19, 0), ROW(22, 0x2401, 23, 20, 0), ROW(23, 0x2201, 24, 21, 0),                            \
        ROW(24, 0x1C01, 25, 22, 0), ROW(25, 0x1801, 26, 23, 0), ROW(26, 0x1601, 27, 24, 0),                            \
        ROW(27, 0x1401, 28, 25, 0), ROW(28, 0x1201, 29, 26, 0), ROW(29, 0x1101, 30, 27, 0),                            \
        ROW(30, 0x0AC1, 31, 28, 0), ROW(31, 0x09C1, 32, 29, 0), ROW(32, 0x08A1, 33, 30, 0),                            \
        ROW(33, 0x0521, 34, 31, 0), ROW(34, 0x0441, 35, 32, 0), ROW(35, 0x02A1, 36, 33, 0),                            \
        ROW(36, 0x0221, 37, 34, 0), ROW(37, 0x0141, 38, 35, 0), ROW(38, 0x0111, 39, 36, 0),                            \
        ROW(39, 0x0085, 40, 37, 0), ROW(40, 0x0049, 41, 38, 0), ROW(41, 0x0025, 42, 39, 0),                            \
        ROW(42, 0x0015, 43, 40, 0), ROW(43, 0x0009, 44, 41, 0), ROW(44, 0x0005, 45, 42, 0),                            \
        ROW(45, 0x0001, 45, 43, 0), ROW(46, 0x5601, 46, 46, 0)

/* The encoder's entries of a row with either sense of the MPS: decision 0, then 1. */
#define STATE(row, mps) ((2 * (row) + (mps)) * 2u * (unsigned)sizeof(l2k_mq_transition))
#define MOVE_MPS(i, s, qe, nmps)                                                                                       \
    {                                                                                                                  \
        qe##u << 16, 0, STATE(nmps, s) | STATE(i, s) << 16, 0                                                          \
    }
#define MOVE_LPS(s, qe, nlps, flip)                                                                                    \
    {                                                                                                                  \
        qe##u << 16, -1, STATE(nlps, s ^ flip) | STATE(nlps, s ^ flip) << 16, 0                                        \
    }
#define MOVES(i, qe, nmps, nlps, flip)                                                                                 \
    MOVE_MPS(i, 0, qe, nmps), MOVE_LPS(0, qe, nlps, flip), MOVE_LPS(1, qe, nlps, flip), MOVE_MPS(i, 1, qe, nmps)

const l2k_mq_transition l2k_mq_transitions[188] = {TABLE_C2(MOVES)};

void l2k_mq_encoder_reset(l2k_mq_encoder_contexts contexts)
{
    for (int i = 0; i < L2K_NUM_CONTEXTS; i++)
        contexts[i] = STATE(0, 0);
    contexts[L2K_CONTEXT_ZERO] = STATE(4, 0);
    contexts[L2K_CONTEXT_RUN] = STATE(3, 0);
    contexts[L2K_CONTEXT_UNIFORM] = STATE(46, 0);
}

/* The decoder's words of a row with either sense of the MPS. */
#define WORD(mps, qe, nmps, nlps, flip)                                                                                \
    ((uint64_t)qe << 47 | (uint64_t)mps << 16 | (2 * nlps + (mps ^ flip)) << 8 | (2 * nmps + mps))
#define WORDS(i, qe, nmps, nlps, flip) WORD(0, qe, nmps, nlps, flip), WORD(1, qe, nmps, nlps, flip)

void l2k_mq_model_create(l2k_mq_model *model)
{
    static const uint64_t states[94] = {TABLE_C2(WORDS)};
    memcpy(model->states, states, sizeof model->states);
    l2k_mq_model_reset(model);
}

void l2k_mq_model_reset(l2k_mq_model *model)
{
    for (int i = 0; i < L2K_NUM_CONTEXTS; i++)
        model->contexts[i] = model->states[2 * 0];
    model->contexts[L2K_CONTEXT_ZERO] = model->states[2 * 4];
    model->contexts[L2K_CONTEXT_RUN] = model->states[2 * 3];
    model->contexts[L2K_CONTEXT_UNIFORM] = model->states[2 * 46];
}
