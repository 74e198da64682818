/* Encoding and decoding of HT code-blocks on a device: parts of a block coder, for its table. */
#ifndef L2K_CODEC_ENGINE_CUDA_HT_HT_CUDA_CODING_H
#define L2K_CODEC_ENGINE_CUDA_HT_HT_CUDA_CODING_H

#include <string.h>

#include "codec/engine/cuda/blocks/cuda_blocks.h"
#include "codec/engine/cuda/ht/ht_cuda.h"
#include "transform/cuda/cuda_device.h"

/* Blocks of one form are adjacent. */
typedef struct l2k_ht_form_range {
    uint32_t first, count;
} l2k_ht_form_range;

typedef struct l2k_ht_cuda_lists {
    l2k_cuda_blocks blocks;
    l2k_cuda_memory tables; /* l2k_ht_cuda_tables */
    uint8_t *forms;         /* of the batch's blocks */
    size_t forms_capacity;
    l2k_ht_form_range ranges[L2K_HT_FORMS];
    size_t list;     /* where the kernels' list of blocks is, in pinned and device memory */
    size_t counters; /* likewise, l2k_ht_cuda_counters */
} l2k_ht_cuda_lists;

l2k_status l2k_ht_cuda_create_lists(const l2k_context *context, l2k_ht_cuda_lists *lists);
/* Waits for the batch under way. */
void l2k_ht_cuda_free_lists(l2k_ht_cuda_lists *lists);

/* For a batch: empties all ranges. */
l2k_status l2k_ht_cuda_start_forms(l2k_ht_cuda_lists *lists);

/* Half warps read short rows; see l2k_ht_cuda_sort_list. */
enum { L2K_HT_SHORT_ROW = 32, L2K_HT_LONG_ROW = 64 };

/* The form of block i. */
static inline void l2k_ht_cuda_note_form(l2k_ht_cuda_lists *lists, size_t i, unsigned form)
{
    lists->forms[i] = (uint8_t)form;
    lists->ranges[form].count++;
}

/* Sorts the list of the batch's blocks, of `size` bytes each, from the beginning of pinned memory to behind it by form,
 * or leaves it there if all have one form. `joins`: if short rows are few, they are read like longer ones. */
void l2k_ht_cuda_sort_list(l2k_ht_cuda_lists *lists, size_t size, bool joins);

static inline l2k_status l2k_ht_cuda_check_launch(const l2k_ht_cuda_lists *lists, int error)
{
    return l2k_cuda_check(lists->blocks.context, error, "launching the HT block coder");
}

static inline void l2k_ht_cuda_reset_counters(l2k_ht_cuda_lists *lists)
{
    memcpy(lists->blocks.pinned.at + lists->counters, &(l2k_ht_cuda_counters){.failed = UINT32_MAX},
           sizeof(l2k_ht_cuda_counters));
}

/* ---- Encoding ---------------------------------------------------------------------------------------------------- */

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

/* ---- Decoding -------------------------------------------------------------------------------------------------- */

typedef struct l2k_ht_cuda_decoding {
    l2k_ht_cuda_lists *lists;
    bool any_refined; /* a block has refinement passes, or a region of interest */
    size_t scratch;   /* in device memory */
} l2k_ht_cuda_decoding;

/* Between l2k_cuda_blocks_enter and _leave or _abandon. */
l2k_status l2k_ht_cuda_start_decoding(l2k_ht_cuda_decoding *decoding);
l2k_status l2k_ht_cuda_finish_decoding(l2k_ht_cuda_decoding *decoding);

#endif
