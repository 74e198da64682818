/* Decoding of MQ code-blocks on a device: the part of a block coder, for its table. */
#ifndef L2K_CODEC_ENGINE_CUDA_MQ_MQ_CUDA_DECODE_H
#define L2K_CODEC_ENGINE_CUDA_MQ_MQ_CUDA_DECODE_H

#include "codec/engine/cuda/blocks/cuda_blocks.h"
#include "codec/engine/cuda/mq/mq_decode_batch.h"

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
void l2k_mq_cuda_free_decoding(l2k_mq_cuda_decoding *decoding);

/* Between l2k_cuda_blocks_enter and _leave or _abandon. */
l2k_status l2k_mq_cuda_start_decoding(l2k_cuda_blocks *blocks, l2k_mq_cuda_decoding *decoding);
l2k_status l2k_mq_cuda_finish_decoding(l2k_cuda_blocks *blocks);

#endif
