/* Sorting arrays that may be large: with memory from the context, and asked whether to go on. */
#ifndef L2K_BASE_SORT_H
#define L2K_BASE_SORT_H

#include "base/context.h"

/* Less than, equal to or greater than 0, as qsort has it. */
typedef int (*l2k_compare)(const void *one, const void *other);

/* Sorts `count` elements of `size` bytes; what is equal stays in its order. Elements that are in order already are only
 * looked at, and runs of them are merged as they are: n log(runs). Takes as much memory again unless all is in order.
 * L2K_ERROR_MEMORY or L2K_ERROR_CANCELLED are reported here, and leave elements in any order, some perhaps twice. */
l2k_status l2k_sort(const l2k_context *context, void *elements, size_t count, size_t size, l2k_compare compare);

#endif
