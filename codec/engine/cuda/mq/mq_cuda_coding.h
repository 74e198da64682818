/* Encoding and decoding of MQ code-blocks on a device: parts of a block coder, for its table. */
#ifndef L2K_CODEC_ENGINE_CUDA_MQ_MQ_CUDA_CODING_H
#define L2K_CODEC_ENGINE_CUDA_MQ_MQ_CUDA_CODING_H

#include "codec/engine/cuda/blocks/cuda_blocks.h"
#include "codec/engine/cuda/mq/mq_cuda.h"
#include "codec/engine/cuda/mq/mq_decode_batch.h"

typedef struct l2k_mq_cuda_encoding {
    l2k_cuda_memory tables; /* l2k_mq_cuda_tables */
    l2k_mq_cuda_encode run; /* of the batch under way */
    l2k_cuda_list_key listed;
    size_t counters, coded, results_end; /* results, in pinned and device memory; blocks are at 0 */
    bool complete;
} l2k_mq_cuda_encoding;

l2k_status l2k_mq_cuda_create_encoding(l2k_cuda_blocks *blocks, l2k_mq_cuda_encoding *encoding);

/* Between l2k_cuda_blocks_enter and _leave or _abandon. */
l2k_status l2k_mq_cuda_start_encoding(l2k_cuda_blocks *blocks, l2k_mq_cuda_encoding *encoding);
l2k_status l2k_mq_cuda_finish_encoding(l2k_cuda_blocks *blocks, l2k_mq_cuda_encoding *encoding);

/* For the table's `bring`, likewise. */
l2k_status l2k_mq_cuda_bring(l2k_cuda_blocks *blocks, const l2k_mq_cuda_encoding *encoding);

/* For the table's `coded`. */
void l2k_mq_cuda_coded(const l2k_mq_cuda_encoding *encoding, l2k_cuda_coded *coded);

/* ---- Decoding ---- */

typedef struct l2k_mq_cuda_decoding {
    l2k_cuda_memory tables;
    l2k_cuda_bytes *bytes;             /* the blocks' */
    size_t most_segments, most_pieces; /* capacity of the lists */
    bool scattered;                    /* some bytes are not in the batch's */
    size_t order, starts, segments, pieces,
        lists_end; /* where they are, in pinned and device memory; blocks are at 0 */
    l2k_mq_decode_batch run;
} l2k_mq_cuda_decoding;

l2k_status l2k_mq_cuda_create_decoding(l2k_cuda_blocks *blocks, l2k_mq_cuda_decoding *decoding);

/* Between l2k_cuda_blocks_enter and _leave or _abandon; ends with a mark of the blocks. */
l2k_status l2k_mq_cuda_start_decoding(l2k_cuda_blocks *blocks, l2k_mq_cuda_decoding *decoding);

#endif
