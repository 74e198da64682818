/* A file whose parts are read on demand. What has been read counts as memory in use. As a file in memory, it has
 * addresses for all of its bytes, but memory only for the parts read: the rest is zeros, which are not the file's bytes
 * until l2k_need has read them. */
#ifndef L2K_BASE_PARTIAL_H
#define L2K_BASE_PARTIAL_H

#include <pthread.h>

#include "base/context.h"

typedef struct l2k_partial {
    const l2k_context *context;
    l2k_file file;
    uint8_t *data;                  /* file.bytes of address space */
    pthread_mutex_t lock;           /* guards the members below, and the file */
    struct l2k_partial_range *read; /* parts that have been read, in order, with gaps between them */
    size_t num_read, capacity;
    uint64_t bytes, calls; /* totals of the file's read_at */
    bool comes_later;      /* a call failed because it does not wait for bytes */
} l2k_partial;

/* Errors: L2K_ERROR_MEMORY, after which there is nothing to close. */
l2k_status l2k_partial_open(const l2k_context *context, const l2k_file *file, l2k_partial *partial);
void l2k_partial_close(l2k_partial *partial);

/* Ensures that [from, to) has been read; if any byte of it is missing, reads all missing bytes up to `ahead`. Errors:
 * L2K_ERROR_IO, L2K_ERROR_MEMORY. */
l2k_status l2k_partial_need(l2k_partial *partial, const uint8_t *from, const uint8_t *to, const uint8_t *ahead);

/* Gives back the memory of whole pages of [from, to); they would have to be read again. */
void l2k_partial_forget(l2k_partial *partial, const uint8_t *from, const uint8_t *to);

/* The number of bytes that have been read. */
uint64_t l2k_partial_present(const l2k_partial *partial);

/* Ensures that a part of the opened file has been read; does nothing for files in memory. */
static inline l2k_status l2k_need(const l2k_context *context, const uint8_t *from, const uint8_t *to)
{
    return context->partial ? l2k_partial_need(context->partial, from, to, to) : L2K_OK;
}

/* Whether `read_at` does not wait: it should learn of all that a call needs, which fails with L2K_ERROR_IO. */
static inline bool l2k_comes_later(const l2k_context *context)
{
    return context->partial && context->partial->comes_later;
}

/* Ensures that a part of a header which ends by `end` has been read; reads a little ahead, for the rest of the
 * header. */
static inline l2k_status l2k_need_header(const l2k_context *context, const uint8_t *from, size_t bytes,
                                         const uint8_t *end)
{
    enum { AHEAD = 512 };
    const size_t left = (size_t)(end - from), now = bytes < left ? bytes : left;
    const size_t more = left - now < AHEAD ? left : now + AHEAD;
    return context->partial ? l2k_partial_need(context->partial, from, from + now, from + more) : L2K_OK;
}

/* Parts that are read together. Zero-initialise but for the context. */
typedef struct l2k_need_list {
    const l2k_context *context;
    struct l2k_needed *parts;
    size_t count, capacity;
    bool failed;
} l2k_need_list;

/* Adds a part; does nothing for files in memory. */
void l2k_need_add(l2k_need_list *list, const uint8_t *from, uint64_t bytes);

/* Reads all parts that were added, those close to each other in one call, and ends the list. Where bytes come later, the
 * others are asked for as well. */
l2k_status l2k_need_listed(l2k_need_list *list);

#endif
