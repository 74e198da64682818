/* Decoding of HT code-blocks on a device: the part of a block coder, for its table. */
#ifndef L2K_CODEC_ENGINE_CUDA_HT_HT_CUDA_DECODE_H
#define L2K_CODEC_ENGINE_CUDA_HT_HT_CUDA_DECODE_H

#include "codec/engine/cuda/ht/ht_cuda_lists.h"

typedef struct l2k_ht_cuda_decoding {
    l2k_ht_cuda_lists *lists;
    bool any_refined; /* a block has refinement passes, or a region of interest */
    size_t scratch;   /* in device memory */
} l2k_ht_cuda_decoding;

/* Between l2k_cuda_blocks_enter and _leave or _abandon. */
l2k_status l2k_ht_cuda_start_decoding(l2k_ht_cuda_decoding *decoding);
l2k_status l2k_ht_cuda_finish_decoding(l2k_ht_cuda_decoding *decoding);

#endif
