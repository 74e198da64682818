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

static void get_below(l2k_ht_pass *p)
{
    find_contexts(p);
    get_quads(p, false);
}

#ifdef __BMI2__

static void get_columns(l2k_ht_pass *p, size_t count)
{
    for (size_t i = 0; i < count; i++)
        p->position = get_column(p, p->bits, p->position, i);
}

/* Mostly both quads have significant samples, or neither. */
INLINE uint32_t get_columns_of_pair(l2k_ht_pass *p, const uint8_t *bits, uint32_t position, size_t i)
{
    if ((p->added[i] | p->added[i + 1]) == 0) {
        memset(p->columns + 2 + 2 * i, 0, 4 * sizeof *p->columns);
        return position;
    }
    position = get_column(p, bits, position, i);
    return get_column(p, bits, position, i + 1);
}

/* Columns of a row, and the quads of the next. */
static void get_both(l2k_ht_pass *p)
{
    const size_t count = p->num_quads;
    const uint8_t *bits = p->bits;
    uint32_t position = p->position;
    find_contexts(p);
    streams s = begin_streams(p);
    size_t i = 0;
    for (; i + 1 < count; i += 2) {
        get_pair(p, false, &s, i);
        position = get_columns_of_pair(p, bits, position, i);
    }
    if (i < count) {
        get_odd(p, false, &s, i);
        position = get_column(p, bits, position, i++);
    }
    for (; i & (L2K_HT_GROUP - 1); i++)
        get_column(p, bits, position, i);
    end_streams(p, &s);
    p->position = position;
}

#endif

/* In whole groups. */
INLINE uint32_t count_quads(const l2k_ht_pass *p)
{
    return (p->num_quads + L2K_HT_GROUP - 1) & ~(L2K_HT_GROUP - 1u);
}

INLINE void get_in_form(l2k_ht_pass *p, l2k_ht_form form, uint32_t most, bool last)
{
    const uint32_t count = count_quads(p);
    p->waits = false;
#ifdef __BMI2__
    if (p->deposits && most <= MOST_IN_DEPOSITS) {
        p->waits = true;
        find_deposits(p, count);
        extend(p, p->position + 4 * MOST_IN_DEPOSITS * p->num_quads);
        if (last)
            get_columns(p, count);
        else
            get_both(p);
        return;
    }
#endif
    find_starts(p, count);
    extend(p, p->position);
    if (most <= MOST_IN_VECTORS)
        get_vectors(p, form, p->top, p->bottom);
    else
        get_singly(p, form, p->top, p->bottom);
    if (!last)
        get_below(p);
}

static bool get_row(l2k_ht_pass *p, bool last)
{
    const uint32_t most = find_bounds(p, count_quads(p));
    if (most > p->planes + 1)
        return false;
    if (p->form == L2K_HT_INT16)
        get_in_form(p, L2K_HT_INT16, most, last);
    else if (p->form == L2K_HT_INT32)
        get_in_form(p, L2K_HT_INT32, most, last);
    else
        get_in_form(p, L2K_HT_SIGNED_MAGNITUDE, most, last);
    return true;
}

static void put_row(l2k_ht_pass *p)
{
#ifdef __BMI2__
    const uint32_t count = 2 * count_quads(p);
    if (!p->waits)
        return;
    if (p->form == L2K_HT_INT16)
        put_int16(p, count, p->top, p->bottom);
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
