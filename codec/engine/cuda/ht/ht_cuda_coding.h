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

/* Pinned and device memory begin with two lists of blocks, the second for sorting, the form of each, and counters. */
typedef struct l2k_ht_cuda {
    l2k_cuda_blocks blocks;
    l2k_ht_form_range ranges[L2K_HT_FORMS];
    size_t list, forms, counters; /* where they are in both; list: the kernels' */
    /* Encoding: */
    l2k_ht_cuda_encode run;  /* of all forms: device memory */
    l2k_ht_cuda_encode host; /* the parts of it that pinned memory has */
    size_t refinement_units; /* of L2K_HT_CUDA_SCRATCH bytes */
    bool complete;           /* all code had room */
    /* Truncated blocks (L2K_CODE_CUT): */
    const l2k_subband *bands[L2K_HT_CUDA_BANDS]; /* of the list */
    unsigned num_bands, cut_form;                /* cut_form: of the coefficients' type */
    bool wide;          /* of floats: magnitudes may have more than 15 bits with the present steps */
    bool starts;        /* the next cut codes all blocks */
    uint32_t code_used; /* in units of 4 bytes */
    l2k_cuda_memory estimates;
    l2k_cuda_coded estimated; /* blocks as if points of truncation were coding passes */
    /* Decoding: */
    bool any_refined; /* a block has refinement passes, or a region of interest */
    size_t scratch;   /* in device memory */
} l2k_ht_cuda;

l2k_status l2k_ht_cuda_create(const l2k_context *context, l2k_ht_cuda *coder);

/* For a batch: places lists of `size` bytes a block, and empties all ranges. */
l2k_status l2k_ht_cuda_start_lists(l2k_ht_cuda *coder, size_t size);

/* Half warps read short rows; see l2k_ht_cuda_sort_list. */
enum { L2K_HT_SHORT_ROW = 32, L2K_HT_LONG_ROW = 64 };

/* The form of block i. */
static inline void l2k_ht_cuda_note_form(l2k_ht_cuda *coder, size_t i, unsigned form)
{
    coder->blocks.pinned.at[coder->forms + i] = (uint8_t)form;
    coder->ranges[form].count++;
}

/* Sorts the list of the batch's blocks, of `size` bytes each, from the beginning of pinned memory to behind it by form,
 * or leaves it there if all have one form. `joins`: if short rows are few, they are read like longer ones. */
void l2k_ht_cuda_sort_list(l2k_ht_cuda *coder, size_t size, bool joins);

static inline l2k_status l2k_ht_cuda_check_launch(const l2k_ht_cuda *coder, int error)
{
    return l2k_cuda_check(coder->blocks.context, error, "launching the HT block coder");
}

/* Between l2k_cuda_blocks_enter and _end. */
l2k_status l2k_ht_cuda_start_encoding(l2k_ht_cuda *coder);
l2k_status l2k_ht_cuda_finish_encoding(l2k_ht_cuda *coder);
l2k_status l2k_ht_cuda_start_decoding(l2k_ht_cuda *coder);
l2k_status l2k_ht_cuda_finish_decoding(l2k_ht_cuda *coder);

/* As l2k_cuda_coder_coded. */
void l2k_ht_cuda_coded(const l2k_ht_cuda *coder, l2k_cuda_coded *coded);

/* Truncated blocks: batches of L2K_CODE_CUT with a list number, between whose calls steps may change. Between start and
 * finish, one of these is enqueued: estimates, with sums by plane if wanted; blocks chosen as a sample, coded; blocks truncated elsewhere than before, all of them after one of the first
 * two. Finish returns L2K_ERROR_UNSUPPORTED, without a message, if only the host can do it; host.counters then have the
 * sums of the first two, and host.coded the sample. */
l2k_status l2k_ht_cuda_estimate(l2k_ht_cuda *coder, bool sums);
l2k_status l2k_ht_cuda_sample(l2k_ht_cuda *coder, l2k_cuda_coded_block *cut);
l2k_status l2k_ht_cuda_cut(l2k_ht_cuda *coder, const l2k_cuda_coded_block *cut);

#endif
