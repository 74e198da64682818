/* Encoding MQ code-blocks on a device: the interface between host and kernels. */
#ifndef L2K_CODEC_ENGINE_CUDA_MQ_MQ_CUDA_H
#define L2K_CODEC_ENGINE_CUDA_MQ_MQ_CUDA_H

#include "base/scalar.h"
#include "codec/engine/cuda/blocks/cuda_memory.h"
#include "codec/blocks/mq/mq.h"
#include "codec/blocks/mq/t1_ends.h"

/* Words of 8 columns of a stripe: a thread's. Blocks of 4 columns have the most. */
enum { L2K_MQ_WORD_COLUMNS = 8, L2K_MQ_MOST_WORDS = 256 };

/* The MQ coder's states for a device: entry 2 i + s is row i of Table C.2 with MPS s. Qe in the upper half, the MPS in
 * bit 14, in bits 7 to 13 the entry after the LPS, in bits 0 to 6 after a renormalisation with the MPS. The last entry
 * is for a context whose decisions change nothing. */
enum { L2K_MQ_STATES = 95, L2K_MQ_NOTHING = L2K_MQ_STATES - 1, L2K_MQ_STATE_MPS = 1 << 14 };

/* A context after those of Table D.7, for decisions that pad lists. */
enum { L2K_MQ_FILLER_CONTEXT = L2K_NUM_CONTEXTS, L2K_MQ_CUDA_CONTEXTS };

typedef struct l2k_mq_cuda_tables {
    uint32_t states[L2K_MQ_STATES];
    uint32_t first[L2K_MQ_CUDA_CONTEXTS]; /* the state of a context at the beginning (Table D.7) */
} l2k_mq_cuda_tables;

typedef struct l2k_mq_cuda_encode_block {
    l2k_cuda_view view;
    uint8_t orientation, style;
    uint8_t reversible; /* affects the distortion */
    uint8_t wide;       /* coefficients of 32 bits */
    uint32_t unused;
} l2k_mq_cuda_encode_block;

/* A block on its way from kernel to kernel. */
typedef struct l2k_mq_cuda_work {
    uint32_t list;   /* where its lists begin, in units of 16 bytes */
    uint32_t words;  /* of all its lists, which estimates the time of coding */
    uint32_t ends;   /* number of its first pass among those of all blocks */
    uint32_t planes; /* 0: nothing to code */
} l2k_mq_cuda_work;

/* Blocks are sorted roughly by the length of their lists. */
enum { L2K_MQ_BINS = 1024 };

/* Counters that the blocks of a batch share. */
typedef struct l2k_mq_cuda_counters {
    uint32_t bins[L2K_MQ_BINS];  /* blocks, by the length of their lists, the longest first */
    uint32_t taken[L2K_MQ_BINS]; /* those with a place in the order */
    uint32_t list;               /* units of 16 bytes that lists take, or would take */
    uint32_t passes;             /* of all blocks */
    uint32_t code;               /* units of 4 bytes that the code takes, or would take */
    uint32_t failed;             /* the least index of a block with too large a magnitude */
    uint32_t coded;              /* blocks that are not empty */
    uint32_t unused[3];
} l2k_mq_cuda_counters;

typedef struct l2k_mq_cuda_encode {
    l2k_mq_cuda_encode_block *blocks;
    uint32_t num_blocks;
    uint32_t words, cells; /* most of any block */
    uint32_t area;         /* samples, likewise */
    bool wide;             /* some coefficients have 32 bits */
    bool styled;           /* some blocks have passes that end segments or reset contexts */
    const l2k_mq_cuda_tables *tables;
    l2k_mq_cuda_counters *counters;
    l2k_mq_cuda_work *work; /* per block */
    uint32_t *order;        /* blocks, the longest first */
    uint32_t *lists;        /* of decisions; codes take their place */
    uint32_t list_capacity; /* units of 16 bytes */
    uint32_t pass_capacity;
    l2k_pass_mark *marks; /* per pass */
    int64_t *gains;       /* per pass, as t1_ends.h has them; NULL: not wanted */
    double *distortions;  /* per pass; NULL: not wanted */
    l2k_cuda_coded_block *coded;
    uint32_t *pass_ends;
    uint8_t *code;          /* of all blocks, in any order */
    uint32_t code_capacity; /* units of 4 bytes */
} l2k_mq_cuda_encode;

/* In this order. Each is a cudaError_t. */
int l2k_mq_cuda_launch_lists(const l2k_mq_cuda_encode *encode, void *stream);
int l2k_mq_cuda_launch_order(const l2k_mq_cuda_encode *encode, void *stream);
int l2k_mq_cuda_launch_code(const l2k_mq_cuda_encode *encode, void *stream);
int l2k_mq_cuda_launch_ends(const l2k_mq_cuda_encode *encode, void *stream);

/* ---- Lists of decisions ---------------------------------------------------------------------------------------- */

/* The lists of a block's passes follow each other in the order of coding, each of whole words and at least one: a byte
 * per decision, context times 2 plus decision; the last word is padded, and its top bit is set. Room for code precedes
 * them, which overwrites lists once they are read: code never takes more bytes than decisions, and at each end of a
 * segment up to L2K_MQ_END_BYTES more. (A decision shifts out more than 7.5 bits only in rows 39 to 45 of Table C.2, in
 * total less than 16 bits beyond that before a context leaves those rows, and reaching them from a first state takes at
 * least three decisions that shift out one bit or two.) */
enum {
    L2K_MQ_END_BYTES = 8,
    L2K_MQ_HEADER = 16,
    L2K_MQ_CODE_AT = 8,
    L2K_MQ_BEFORE = 4,
    L2K_MQ_DECISION_AT = 5,
    L2K_MQ_LAST_WORD_AT = 31
};
#define L2K_MQ_FILLER 0x13131313u /* context 19, decision 0 */

/* Words after the last list that the coder reads ahead; it looks up the context that follows a decision, too. */
enum { L2K_MQ_WORDS_AHEAD = 12 };

/* The most decisions of a bit-plane's passes for the samples of a word: 10 for a run-length column. */
enum { L2K_MQ_WORD_DECISIONS = 80 };

L2K_HD uint32_t l2k_mq_cuda_passes(uint32_t planes)
{
    return planes ? 3 * planes - 2 : 0;
}

/* Bytes before the first list. */
L2K_HD uint32_t l2k_mq_cuda_lead(uint32_t planes)
{
    return (L2K_MQ_HEADER + l2k_mq_cuda_passes(planes) * L2K_MQ_END_BYTES + 15) / 16 * 16;
}

/* Units of 16 bytes of a block: for each sample a decision per bit-plane and one sign, for each column a run-length
 * decision and two more that end the run, the segmentation symbols, padding, and words read ahead. */
L2K_HD uint32_t l2k_mq_cuda_list_units(uint32_t width, uint32_t height, uint32_t planes)
{
    const uint32_t columns = width * ((height + 3) / 4), passes = l2k_mq_cuda_passes(planes);
    const uint32_t decisions = width * height * (planes + 1) + 2 * columns + 4 * planes;
    return (l2k_mq_cuda_lead(planes) + decisions + 4 * passes + 4 * L2K_MQ_WORDS_AHEAD + 15) / 16;
}

/* Of lists of `words` words, in a batch whose largest block has `area` samples. */
L2K_HD uint32_t l2k_mq_cuda_bin(uint32_t words, uint32_t area)
{
    const uint32_t number = words / (area / (L2K_MQ_BINS / 2) + 1);
    return number < L2K_MQ_BINS ? L2K_MQ_BINS - 1 - number : 0;
}

L2K_HD uint32_t l2k_mq_cuda_words_across(uint32_t width)
{
    return (width + L2K_MQ_WORD_COLUMNS - 1) / L2K_MQ_WORD_COLUMNS;
}

L2K_HD uint32_t l2k_mq_cuda_words(uint32_t width, uint32_t height)
{
    return l2k_mq_cuda_words_across(width) * ((height + 3) / 4);
}

/* Words with an empty one after each stripe, and before and after all of them an empty stripe. */
L2K_HD uint32_t l2k_mq_cuda_cells(uint32_t width, uint32_t height)
{
    return (l2k_mq_cuda_words_across(width) + 1) * ((height + 3) / 4 + 2) + 1;
}

#endif
