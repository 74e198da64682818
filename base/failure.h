/* The failure that several threads report: that of the lowest index, whichever thread fails first. */
#ifndef L2K_BASE_FAILURE_H
#define L2K_BASE_FAILURE_H

#include <stdatomic.h>

#include "lift2k/lift2k.h"

/* Index and status in one word, so that one exchange settles it. Indices beyond 2^32 - 2 share one rank. */
typedef atomic_uint_least64_t l2k_first_failure;

#define L2K_NO_FAILURE UINT64_MAX

static inline uint64_t l2k_failure_rank(uint64_t index)
{
    return index < UINT32_MAX - 1 ? index : UINT32_MAX - 1;
}

/* Records the status of `index`; true if it is L2K_OK. */
static inline bool l2k_record_status(l2k_first_failure *first, uint64_t index, l2k_status status)
{
    uint_least64_t own = l2k_failure_rank(index) << 32 | (uint32_t)status, seen = atomic_load(first);
    while (status != L2K_OK && own < seen && !atomic_compare_exchange_weak(first, &seen, own)) {
    }
    return status == L2K_OK;
}

/* Whether a lower index has failed, so that the outcome of `index` does not matter. */
static inline bool l2k_failed_before(const l2k_first_failure *first, uint64_t index)
{
    return atomic_load(first) >> 32 < l2k_failure_rank(index);
}

static inline l2k_status l2k_first_status(const l2k_first_failure *first)
{
    uint_least64_t word = atomic_load(first);
    return word == L2K_NO_FAILURE ? L2K_OK : (l2k_status)(uint32_t)word;
}

#endif
