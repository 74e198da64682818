/* A batch of HT code-blocks on a device: shared by encoding and decoding. */
#ifndef L2K_CODEC_ENGINE_CUDA_HT_HT_CUDA_LISTS_H
#define L2K_CODEC_ENGINE_CUDA_HT_HT_CUDA_LISTS_H

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

#endif
