#include "base/sort.h"

#include <string.h>

#include "base/memory.h"
#include "base/run.h"

/* Two runs are merged when they have come out of as many runs as each other, so there are no more at a time than bits
 * in a count, and the one on top. */
enum { MOST_RUNS = 65 };

typedef struct sorter {
    const l2k_context *context;
    uint8_t *elements, *scratch;
    size_t count, size;
    l2k_compare compare;
    size_t steps;
    bool stopped;
    size_t starts[MOST_RUNS]; /* of the runs that wait; each ends where the next one starts */
    unsigned num_runs;
} sorter;

static uint8_t *element(const sorter *s, size_t i)
{
    return s->elements + i * s->size;
}

static bool goes_on(sorter *s)
{
    s->stopped = s->stopped || !l2k_goes_on_after(s->context, &s->steps, 1);
    return !s->stopped;
}

/* Where the run that starts at `start` ends; before that where the sorter is stopped. */
static size_t run_end(sorter *s, size_t start)
{
    size_t end = start + 1;
    while (end < s->count && goes_on(s) && s->compare(element(s, end - 1), element(s, end)) <= 0)
        end++;
    return end;
}

/* Merges [start, middle) and [middle, end), by way of a copy of the first. */
static void merge(sorter *s, size_t start, size_t middle, size_t end)
{
    const size_t size = s->size;
    while (start < middle && goes_on(s) && s->compare(element(s, start), element(s, middle)) <= 0)
        start++;
    const uint8_t *left = s->scratch, *left_end = left + (middle - start) * size;
    const uint8_t *right = element(s, middle), *right_end = element(s, end);
    uint8_t *to = element(s, start);
    l2k_copy(s->context, s->scratch, to, (middle - start) * size);
    for (; left < left_end && right < right_end && goes_on(s); to += size) {
        const uint8_t **from = s->compare(left, right) <= 0 ? &left : &right;
        memcpy(to, *from, size);
        *from += size;
    }
    l2k_copy(s->context, to, left, (size_t)(left_end - left));
}

/* Merges the two runs on top, the second of which ends at `end`. */
static void merge_top(sorter *s, size_t end)
{
    s->num_runs--;
    merge(s, s->starts[s->num_runs - 1], s->starts[s->num_runs], end);
}

static void merge_runs(sorter *s)
{
    size_t found = 0;
    for (size_t start = 0, end; start < s->count && !s->stopped; start = end) {
        end = run_end(s, start);
        s->starts[s->num_runs++] = start;
        found++;
        for (size_t alike = found; alike % 2 == 0; alike /= 2)
            merge_top(s, end);
    }
    while (s->num_runs > 1 && !s->stopped)
        merge_top(s, s->count);
}

l2k_status l2k_sort(const l2k_context *context, void *elements, size_t count, size_t size, l2k_compare compare)
{
    sorter s = {.context = context, .elements = elements, .count = count, .size = size, .compare = compare};
    if (count < 2 || run_end(&s, 0) == count)
        return L2K_OK;
    L2K_TRY(l2k_check_run(context));
    s.scratch = l2k_allocate(context, count, size);
    if (!s.scratch)
        return l2k_fail(context, L2K_ERROR_MEMORY, "out of memory to sort %zu elements", count);
    merge_runs(&s);
    l2k_release(context, s.scratch);
    return l2k_check_run(context);
}
