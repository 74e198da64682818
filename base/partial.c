/* Parts of a file in address space that is reserved for all of it. */
#include "base/partial.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pages.h"
#include "base/pool.h"

/* Wide loads may touch this many bytes around a part, though nothing depends on their values. */
#define MARGIN ((uint64_t)256)

typedef struct l2k_partial_range {
    uint64_t from, to;
} range;

l2k_status l2k_partial_open(const l2k_context *context, const l2k_file *file, l2k_partial *partial)
{
    void *data = NULL;
    if (file->bytes > 0 && file->bytes <= SIZE_MAX)
        data = l2k_pages_reserve((size_t)file->bytes);
    if (!data)
        return l2k_fail(context, L2K_ERROR_MEMORY, "no address space for a file of %llu bytes",
                        (unsigned long long)file->bytes);
    *partial = (l2k_partial){.context = context, .file = *file, .data = data};
    pthread_mutex_init(&partial->lock, NULL);
    return L2K_OK;
}

/* The first part that ends at or behind `from`. */
static size_t find(const l2k_partial *partial, uint64_t from)
{
    size_t low = 0, high = partial->num_read;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (partial->read[middle].to < from)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Makes room for one more part. */
static l2k_status grow(l2k_partial *partial)
{
    if (partial->num_read < partial->capacity)
        return L2K_OK;
    const size_t capacity = 2 * partial->capacity + 16;
    range *read = l2k_enlarge(partial->context, partial->read, partial->num_read, capacity, sizeof *read);
    L2K_TRY(l2k_check_memory(partial->context, read, "the parts of a file"));
    partial->read = read;
    partial->capacity = capacity;
    return L2K_OK;
}

static void uncount(const l2k_partial *partial, uint64_t bytes)
{
    if (partial->context->pool)
        l2k_pool_uncount(partial->context->pool, bytes);
}

void l2k_partial_close(l2k_partial *partial)
{
    uncount(partial, l2k_partial_present(partial));
    l2k_pages_release(partial->data, (size_t)partial->file.bytes);
    pthread_mutex_destroy(&partial->lock);
    l2k_release(partial->context, partial->read);
    *partial = (l2k_partial){0};
}

static l2k_status read_part(l2k_partial *partial, uint64_t from, uint64_t to)
{
    const uint64_t first = from > MARGIN ? from - MARGIN : 0,
                   end = partial->file.bytes - to > MARGIN ? to + MARGIN : partial->file.bytes;
    L2K_TRY(l2k_check_memory(partial->context, l2k_pages_use(partial->data + first, (size_t)(end - first)),
                             "a part of a file"));
    partial->calls++;
    const int result = partial->file.read_at(partial->file.user, from, partial->data + from, (size_t)(to - from));
    partial->comes_later = partial->comes_later || result > 0;
    if (result != 0)
        return l2k_fail(partial->context, L2K_ERROR_IO, result > 0 ? "bytes have not come yet" : "reading failed");
    partial->bytes += to - from;
    return L2K_OK;
}

/* Counts the bytes of [from, to) not read yet; `first` is find(from). */
static uint64_t missing(const l2k_partial *partial, size_t first, uint64_t from, uint64_t to)
{
    uint64_t bytes = to - from;
    for (size_t i = first; i < partial->num_read && partial->read[i].from < to; i++) {
        const range part = partial->read[i];
        bytes -= (part.to < to ? part.to : to) - (part.from > from ? part.from : from);
    }
    return bytes;
}

/* Reads the missing bytes of [from, to), then merges it with all parts that it meets. */
static l2k_status fill(l2k_partial *partial, size_t first, uint64_t from, uint64_t to)
{
    range whole = {from, to};
    size_t last = first;
    uint64_t at = from;
    for (; last < partial->num_read && partial->read[last].from <= to; last++) {
        const range *next = &partial->read[last];
        if (next->from > at)
            L2K_TRY(read_part(partial, at, next->from));
        at = next->to > at ? next->to : at;
        whole.from = next->from < whole.from ? next->from : whole.from;
        whole.to = next->to > whole.to ? next->to : whole.to;
    }
    if (at < to)
        L2K_TRY(read_part(partial, at, to));
    L2K_TRY(grow(partial));
    memmove(&partial->read[first + 1], &partial->read[last], (partial->num_read - last) * sizeof *partial->read);
    partial->read[first] = whole;
    partial->num_read = partial->num_read + 1 - (last - first);
    return L2K_OK;
}

static l2k_status count_and_fill(l2k_partial *partial, size_t first, uint64_t from, uint64_t to)
{
    const l2k_context *context = partial->context;
    const uint64_t more = missing(partial, first, from, to);
    L2K_TRY(l2k_check_memory(context, !context->pool || l2k_pool_count(context->pool, &context->hooks, more),
                             "the parts of a file"));
    const l2k_status status = fill(partial, first, from, to);
    if (status != L2K_OK)
        uncount(partial, more);
    return status;
}

l2k_status l2k_partial_need(l2k_partial *partial, const uint8_t *from, const uint8_t *to, const uint8_t *ahead)
{
    l2k_status status = L2K_OK;
    if (from < partial->data || ahead > partial->data + partial->file.bytes || from >= to)
        return L2K_OK; /* points to other memory, such as packed headers */
    pthread_mutex_lock(&partial->lock);
    const uint64_t low = (uint64_t)(from - partial->data), high = (uint64_t)(to - partial->data);
    const size_t at = find(partial, low);
    if (at == partial->num_read || partial->read[at].from > low || partial->read[at].to < high)
        status = count_and_fill(partial, at, low, (uint64_t)(ahead - partial->data));
    pthread_mutex_unlock(&partial->lock);
    return status;
}

/* Removes [from, to) from the parts, which may split one. */
static l2k_status take_out(l2k_partial *partial, uint64_t from, uint64_t to)
{
    size_t first = find(partial, from + 1), last = first;
    L2K_TRY(grow(partial));
    if (first < partial->num_read && partial->read[first].from < from) {
        memmove(&partial->read[first + 1], &partial->read[first], (partial->num_read - first) * sizeof(range));
        partial->num_read++;
        partial->read[first].to = from;
        partial->read[++first].from = from;
        last = first;
    }
    while (last < partial->num_read && partial->read[last].to <= to)
        last++;
    if (last < partial->num_read && partial->read[last].from < to)
        partial->read[last].from = to;
    memmove(&partial->read[first], &partial->read[last], (partial->num_read - last) * sizeof(range));
    partial->num_read -= last - first;
    return L2K_OK;
}

void l2k_partial_forget(l2k_partial *partial, const uint8_t *from, const uint8_t *to)
{
    const uint64_t page = l2k_page_size(), before = l2k_partial_present(partial);
    const uint64_t start = ((uint64_t)(from - partial->data) + page - 1) / page * page;
    const uint64_t end = (uint64_t)(to - partial->data) / page * page;
    if (start >= end || take_out(partial, start, end) != L2K_OK)
        return;
    l2k_pages_forget(partial->data + start, (size_t)(end - start));
    uncount(partial, before - l2k_partial_present(partial));
}

uint64_t l2k_partial_present(const l2k_partial *partial)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < partial->num_read; i++)
        bytes += partial->read[i].to - partial->read[i].from;
    return bytes;
}

/* ---- Lists --------------------------------------------------------------------------------------------------- */

typedef struct l2k_needed {
    const uint8_t *from, *to;
} needed;

void l2k_need_add(l2k_need_list *list, const uint8_t *from, uint64_t bytes)
{
    if (!list->context->partial || bytes == 0)
        return;
    if (list->count == list->capacity) {
        const size_t capacity = 2 * list->capacity + 64;
        needed *parts = l2k_enlarge(list->context, list->parts, list->count, capacity, sizeof *parts);
        list->failed = list->failed || !parts;
        if (!parts)
            return;
        list->parts = parts;
        list->capacity = capacity;
    }
    list->parts[list->count++] = (needed){from, from + bytes};
}

static int by_place(const void *one, const void *other)
{
    const needed *a = one, *b = other;
    return (a->from > b->from) - (a->from < b->from);
}

/* Reading across a gap this small costs less than a second call. */
enum { GAP = 128 };

l2k_status l2k_need_listed(l2k_need_list *list)
{
    l2k_status status = l2k_check_memory(list->context, !list->failed, "parts of the file");
    if (list->count)
        qsort(list->parts, list->count, sizeof *list->parts, by_place);
    for (size_t i = 0, next; i < list->count && (status == L2K_OK || l2k_comes_later(list->context)); i = next) {
        const uint8_t *to = list->parts[i].to;
        for (next = i + 1; next < list->count && list->parts[next].from <= to + GAP; next++)
            to = list->parts[next].to > to ? list->parts[next].to : to;
        const l2k_status read = l2k_need(list->context, list->parts[i].from, to);
        status = status == L2K_OK ? read : status;
    }
    l2k_release(list->context, list->parts);
    list->parts = NULL;
    return status;
}
