/* Encoding and decoding of MQ code-blocks on a device: parts of a block coder, for its table. */
#ifndef L2K_CODEC_ENGINE_CUDA_MQ_MQ_CUDA_CODING_H
#define L2K_CODEC_ENGINE_CUDA_MQ_MQ_CUDA_CODING_H

#include "codec/engine/cuda/blocks/cuda_blocks.h"
#include "codec/engine/cuda/mq/mq_cuda.h"
#include "codec/engine/cuda/mq/mq_decode_batch.h"

/* In device memory. */
typedef struct l2k_mq_tables_on_cuda {
    l2k_mq_decode_tables decode;
    l2k_mq_cuda_tables encode;
} l2k_mq_tables_on_cuda;

typedef struct l2k_mq_cuda {
    l2k_cuda_blocks blocks;
    /* Encoding: */
    l2k_mq_cuda_encode run;  /* of the batch under way: device memory */
    l2k_mq_cuda_encode host; /* the parts of it that pinned memory has */
    bool complete;
    /* Decoding: */
    l2k_mq_decode_batch decode;        /* of the batch under way: device memory */
    size_t most_segments, most_pieces; /* capacity of the lists */
    bool scattered;                    /* some bytes are not in the batch's */
} l2k_mq_cuda;

l2k_status l2k_mq_cuda_create(const l2k_context *context, l2k_mq_cuda *coder);

/* Between l2k_cuda_blocks_enter and _end. Decoding ends with a mark of the blocks. */
l2k_status l2k_mq_cuda_start_encoding(l2k_mq_cuda *coder);
l2k_status l2k_mq_cuda_finish_encoding(l2k_mq_cuda *coder);
l2k_status l2k_mq_cuda_start_decoding(l2k_mq_cuda *coder);

/* As l2k_cuda_coder_bring and l2k_cuda_coder_coded. */
l2k_status l2k_mq_cuda_bring(l2k_mq_cuda *coder);
void l2k_mq_cuda_coded(const l2k_mq_cuda *coder, l2k_cuda_coded *coded);

#endif
