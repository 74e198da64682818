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
    /* Truncated blocks (L2K_CODE_CUT): */
    const l2k_subband *bands[L2K_HT_CUDA_BANDS]; /* of the list */
    unsigned num_bands, forms;                   /* forms: of the coefficients' type */
    bool wide;                  /* of floats: magnitudes may have more than 15 bits with the present steps */
    bool starts;                /* the next cut codes all blocks */
    uint32_t code_used;         /* in units of 4 bytes */
    size_t reciprocals, points; /* reciprocals in pinned memory as well */
    l2k_cuda_memory estimated;
} l2k_ht_cuda_encoding;

/* Between l2k_cuda_blocks_enter and _leave or _abandon. */
l2k_status l2k_ht_cuda_start_encoding(l2k_ht_cuda_encoding *encoding);
l2k_status l2k_ht_cuda_finish_encoding(l2k_ht_cuda_encoding *encoding);

/* For the table's `coded`. */
void l2k_ht_cuda_coded(const l2k_ht_cuda_encoding *encoding, l2k_cuda_coded *coded);

/* Truncated blocks: batches of L2K_CODE_CUT with a list number, between whose calls steps may change. Between start and
 * finish, one of these is enqueued: estimates, as if points of truncation were coding passes, with sums by plane if
 * wanted; blocks chosen as a sample, coded; blocks truncated elsewhere than before, all of them after one of the first
 * two. Finish returns L2K_ERROR_UNSUPPORTED, without a message, if only the host can do it. */
l2k_status l2k_ht_cuda_estimate(l2k_ht_cuda_encoding *encoding, bool sums, l2k_cuda_coded *estimated);
l2k_status l2k_ht_cuda_sample(l2k_ht_cuda_encoding *encoding, const l2k_cuda_coded *estimated,
                              l2k_cuda_coded_block *cut);
l2k_status l2k_ht_cuda_cut(l2k_ht_cuda_encoding *encoding, const l2k_cuda_coded_block *cut);

/* After finish: sums of the first two (ht_cuda.h), and the bytes of the sample's code. */
const uint64_t *l2k_ht_cuda_plane_sums(const l2k_ht_cuda_encoding *encoding);
uint64_t l2k_ht_cuda_coded_bytes(const l2k_ht_cuda_encoding *encoding);

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
