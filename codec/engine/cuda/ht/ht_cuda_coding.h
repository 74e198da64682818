/* Encoding and decoding of HT code-blocks on a device: parts of a block coder, for its table. */
#ifndef L2K_CODEC_ENGINE_CUDA_HT_HT_CUDA_CODING_H
#define L2K_CODEC_ENGINE_CUDA_HT_HT_CUDA_CODING_H

#include "codec/engine/cuda/ht/ht_cuda_lists.h"

typedef struct l2k_ht_cuda_encoding {
    l2k_ht_cuda_lists *lists;
    l2k_cuda_list_key listed;
    size_t gains, pass_ends, coded, results_end; /* results, behind the counters */
    size_t refined, behind_results, refinement;  /* in device memory only */
    size_t refinement_units;                     /* of L2K_HT_CUDA_SCRATCH bytes */
    uint8_t *slots, *code;
    uint32_t code_capacity; /* in units of 4 bytes */
    unsigned most_passes;   /* of a block: 1 or 3 */
    bool complete;          /* all code had room */
} l2k_ht_cuda_encoding;

/* Between l2k_cuda_blocks_enter and _leave or _abandon. */
l2k_status l2k_ht_cuda_start_encoding(l2k_ht_cuda_encoding *encoding);
l2k_status l2k_ht_cuda_finish_encoding(l2k_ht_cuda_encoding *encoding);

/* For the table's `coded`. */
void l2k_ht_cuda_coded(const l2k_ht_cuda_encoding *encoding, l2k_cuda_coded *coded);

/* ---- Decoding ---- */

typedef struct l2k_ht_cuda_decoding {
    l2k_ht_cuda_lists *lists;
    bool any_refined; /* a block has refinement passes, or a region of interest */
    size_t scratch;   /* in device memory */
} l2k_ht_cuda_decoding;

/* Between l2k_cuda_blocks_enter and _leave or _abandon. */
l2k_status l2k_ht_cuda_start_decoding(l2k_ht_cuda_decoding *decoding);
l2k_status l2k_ht_cuda_finish_decoding(l2k_ht_cuda_decoding *decoding);

#endif
