/* Rows of quads of the HT cleanup pass. Each codeword of the quads waits for the one before, which leaves most of the
 * processor idle, so samples of the row above are read in between. */
#include "codec/blocks/ht/ht_quads.h"
#include "codec/blocks/ht/ht_samples.h"

#define INLINE static inline __attribute__((always_inline))

INLINE void get_quads(l2k_ht_pass *p, bool first_row)
{
    const size_t count = p->num_quads;
    streams s = begin_streams(p);
    size_t i = 0;
    for (; i + 1 < count; i += 2)
        get_pair(p, first_row, &s, i);
    if (i < count)
        get_odd(p, first_row, &s, i);
    end_streams(p, &s);
}

static void get_first(l2k_ht_pass *p)
{
    get_quads(p, true);
}

/* In whole groups. */
INLINE uint32_t count_quads(const l2k_ht_pass *p)
{
    return (p->num_quads + L2K_HT_GROUP - 1) & ~(L2K_HT_GROUP - 1u);
}

#ifdef L2K_HT_BY_COLUMNS

/* Mostly both quads have significant samples, or neither. */
INLINE uint32_t get_columns_of_pair(l2k_ht_pass *p, const uint8_t *bits, uint32_t position, size_t i)
{
    if (((p->bounded[i] | p->bounded[i + 1]) & 0xF0) == 0) {
        memset(p->columns + 2 + 2 * i, 0, 4 * sizeof *p->columns);
        return position;
    }
    return get_two_columns(p, bits, position, i);
}

static void get_columns(l2k_ht_pass *p, size_t count)
{
    const uint8_t *bits = p->bits;
    uint32_t position = p->position;
    for (size_t i = 0; i < count; i += 2)
        position = get_columns_of_pair(p, bits, position, i);
    p->position = position;
}

/* Columns of a row, and the quads of the next. */
static void get_both(l2k_ht_pass *p)
{
    const size_t count = p->num_quads, all = count_quads(p);
    const uint8_t *bits = p->bits;
    uint32_t position = p->position;
    find_contexts(p);
    streams s = begin_streams(p);
    size_t i = 0;
    for (; i + 1 < count; i += 2) {
        get_pair(p, false, &s, i);
        position = get_columns_of_pair(p, bits, position, i);
    }
    if (i < count)
        get_odd(p, false, &s, i);
    for (; i < all; i += 2)
        position = get_columns_of_pair(p, bits, position, i);
    end_streams(p, &s);
    p->position = position;
}

#endif

static bool get_row(l2k_ht_pass *p, bool last)
{
    const uint32_t count = count_quads(p), most = find_bounds(p, count);
    if (most > p->planes + 1)
        return false;
#ifdef L2K_HT_BY_COLUMNS
    p->waits = most <= MOST_IN_COLUMNS && by_columns(p);
    if (p->waits) {
        find_columns(p, count);
        extend(p, p->position + 4 * MOST_IN_COLUMNS * p->num_quads);
        if (last)
            get_columns(p, count);
        else
            get_both(p);
        return true;
    }
#endif
    find_starts(p, count);
    extend(p, p->position);
    if (p->form == L2K_HT_INT16)
        get_singly(p, L2K_HT_INT16, p->top, p->bottom);
    else if (p->form == L2K_HT_INT32)
        get_singly(p, L2K_HT_INT32, p->top, p->bottom);
    else
        get_singly(p, L2K_HT_SIGNED_MAGNITUDE, p->top, p->bottom);
    if (!last) {
        find_contexts(p);
        get_quads(p, false);
    }
    return true;
}

static void put_row(l2k_ht_pass *p)
{
#ifdef L2K_HT_BY_COLUMNS
    const uint32_t count = 2 * count_quads(p);
    if (!p->waits)
        return;
    if (p->form == L2K_HT_INT16)
        put_columns(p, L2K_HT_INT16, count, p->top, p->bottom);
    else if (p->form == L2K_HT_INT32)
        put_columns(p, L2K_HT_INT32, count, p->top, p->bottom);
    else
        put_columns(p, L2K_HT_SIGNED_MAGNITUDE, count, p->top, p->bottom);
#else
    (void)p;
#endif
}

const l2k_ht_rows L2K_ROWS_TABLE(l2k_ht_rows) = {get_first, get_row, put_row};

#ifdef L2K_ROWS_BASE
const l2k_ht_rows *l2k_ht_rows_get(l2k_cpu cpu)
{
    static const l2k_ht_rows *const tables[] = L2K_CPU_TABLES(l2k_ht_rows);
    return tables[l2k_cpu_resolve(cpu)];
}
#endif
