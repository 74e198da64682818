/* Lists the decisions of a code-block's coding passes and their contexts (D.3), for 64 samples or a vector of such
 * cells at a time: since the encoder knows all significances, bit masks tell which samples a pass codes. Compiled once
 * for each instruction set. */
#include "codec/blocks/mq/t1_lists.h"

#include "base/integer.h"
#include "codec/blocks/mq/mq_encode.h"
#include "codec/blocks/mq/t1_bytes.h"

#if defined(__AVX2__)
enum { LANES = 4 };
#else
enum { LANES = 2 };
#endif
typedef uint64_t vector __attribute__((vector_size(LANES * sizeof(uint64_t))));

#define L2K_MASK        vector
#define L2K_MASK_BITS   64
#define L2K_MASK_INLINE INLINE
#include "codec/blocks/mq/t1_masks.h"

/* ---- A block as cells ---------------------------------------------------------------------------------------- */

#define DEFINE_MAGNITUDES(name, type, unsigned_type)                                                                   \
    static uint32_t name(const l2k_t1_block *block)                                                                    \
    {                                                                                                                  \
        unsigned_type all = 0;                                                                                         \
        for (uint32_t y = 0; y < block->height; y++) {                                                                 \
            const type *row = (const type *)block->coefficients + y * block->stride;                                   \
            for (uint32_t x = 0; x < block->width; x++)                                                                \
                all |= row[x] < 0 ? (unsigned_type)(0 - (unsigned_type)row[x]) : (unsigned_type)row[x];                \
        }                                                                                                              \
        return all;                                                                                                    \
    }

DEFINE_MAGNITUDES(magnitudes_int16, int16_t, uint16_t)
DEFINE_MAGNITUDES(magnitudes_int32, int32_t, uint32_t)

static uint32_t magnitudes(const l2k_t1_block *block)
{
    return (block->type == L2K_COEFFICIENT_INT16 ? magnitudes_int16 : magnitudes_int32)(block);
}

/* Samples of up to 16 stripe columns, 0 beyond the block. */
typedef int32_t cell_samples[4][16];

/* The cell at column x, row y. */
#define DEFINE_GATHER(name, type)                                                                                      \
    INLINE void name(const l2k_t1_block *block, uint32_t x, uint32_t y, cell_samples samples)                          \
    {                                                                                                                  \
        const type *from = (const type *)block->coefficients + y * block->stride + x;                                  \
        const uint32_t columns = l2k_min_u32(block->width - x, 16), rows = l2k_min_u32(block->height - y, 4);          \
        memset(samples, 0, sizeof(cell_samples));                                                                      \
        for (uint32_t k = 0; k < rows; k++, from += block->stride)                                                     \
            for (uint32_t i = 0; i < columns; i++)                                                                     \
                samples[k][i] = from[i];                                                                               \
    }

DEFINE_GATHER(gather_int16, int16_t)
DEFINE_GATHER(gather_int32, int32_t)

INLINE void load_cell(cell_samples samples, unsigned num_planes, l2k_t1_planes *p, size_t cell)
{
    uint32_t columns[16];
    for (unsigned i = 0; i < 16; i++)
        columns[i] = ((uint32_t)samples[0][i] >> 31) | ((uint32_t)samples[1][i] >> 31) << 8 |
                     ((uint32_t)samples[2][i] >> 31) << 16 | ((uint32_t)samples[3][i] >> 31) << 24;
    bytes_to_masks(columns, &p->sign[cell], 1, 1);
    for (unsigned k = 0; k < 4; k++)
        for (unsigned i = 0; i < 16; i++)
            samples[k][i] = samples[k][i] < 0 ? -samples[k][i] : samples[k][i];
    for (unsigned plane = 0; plane < num_planes; plane += 8) {
        for (unsigned i = 0; i < 16; i++)
            columns[i] = ((uint32_t)samples[0][i] >> plane & 0xFF) | ((uint32_t)samples[1][i] >> plane & 0xFF) << 8 |
                         ((uint32_t)samples[2][i] >> plane & 0xFF) << 16 |
                         ((uint32_t)samples[3][i] >> plane & 0xFF) << 24;
        bytes_to_masks(columns, &p->planes[plane * p->spacing + cell], p->spacing, l2k_min_u32(num_planes - plane, 8));
    }
}

/* The existing samples of a cell. */
static uint64_t live_samples(uint32_t columns, uint32_t rows)
{
    const uint64_t stripe = rows < 4 ? ROW_0 * ((1u << rows) - 1) : ~(uint64_t)0;
    return columns < 16 ? stripe & (((uint64_t)1 << 4 * columns) - 1) : stripe;
}

static void clear_cells(l2k_t1_planes *p, unsigned num_planes)
{
    const size_t bytes = p->spacing * sizeof(uint64_t);
    memset(p->live, 0, bytes);
    memset(p->sign, 0, bytes);
    memset(p->refined, 0, bytes);
    memset(p->before, 0, bytes);
    memset(p->visited, 0, bytes);
    memset(p->after, 0, bytes);
    memset(p->planes, 0, num_planes * bytes);
}

static void load(const l2k_t1_block *block, unsigned num_planes, l2k_t1_planes *p)
{
    clear_cells(p, num_planes);
    for (uint32_t y = 0; y < block->height; y += 4)
        for (uint32_t x = 0; x < block->width; x += 16) {
            const size_t cell = p->first + y / 4 * p->row + x / 16;
            cell_samples samples;
            if (block->type == L2K_COEFFICIENT_INT16)
                gather_int16(block, x, y, samples);
            else
                gather_int32(block, x, y, samples);
            p->live[cell] = live_samples(block->width - x, block->height - y);
            load_cell(samples, num_planes, p, cell);
        }
}

/* ---- The significance pass ----------------------------------------------------------------------------------- */

INLINE uint64_t with_west_and_east(const uint64_t *cell)
{
    return cell[0] | cell[0] << 4 | cell[-1] >> 60 | cell[0] >> 4 | cell[1] << 60;
}

/* Samples with a neighbour significant before this cell is coded: `early` and `late` are the significances of the cells
 * before and after it in scan order; `late` includes the cell itself. */
INLINE uint64_t near_significant(const uint64_t *early, const uint64_t *late, size_t row, bool causal)
{
    const uint64_t here = late[0] | late[0] << 4 | early[-1] >> 60 | late[0] >> 4 | late[1] << 60;
    uint64_t near = here | (here << 1 & ~ROW_0) | (here >> 1 & ~ROW_3);
    near |= with_west_and_east(early - row) >> 3 & ROW_0;
    if (!causal)
        near |= with_west_and_east(late + row) << 3 & ROW_3;
    return near;
}

/* The samples of a cell that become significant: those near a significant one, and the later ones near them. `ones` are
 * those that can. */
INLINE uint64_t spread(uint64_t near, uint64_t ones)
{
    uint64_t became = near & ones, last;
    do {
        last = became;
        uint64_t reached = became << 4 | ((became << 1 | became << 5) & ~ROW_0) | (became << 3 & ~ROW_3);
        became |= reached & ones;
    } while (became != last);
    return became;
}

/* Sets p->visited. */
static void significance_pass(l2k_t1_planes *p, const uint64_t *plane)
{
    for (size_t i = p->first; i < p->end; i++) {
        const uint64_t *late = p->before + i, ones = plane[i] & ~*late;
        uint64_t *early = p->visited + i;
        *early = *late;
        if (ones)
            *early |= spread(near_significant(early, late, p->row, p->causal), ones);
    }
}

/* ---- Contexts, for a vector of cells ------------------------------------------------------------------------- */

INLINE vector load_vector(const uint64_t *cells)
{
    vector v;
    memcpy(&v, cells, sizeof v);
    return v;
}

INLINE void store_vector(uint64_t *cells, vector v)
{
    memcpy(cells, &v, sizeof v);
}

/* A cell and those around it; with vertically causal contexts `below` is 0 and hides the stripe below. */
INLINE mask_square load_square(const uint64_t *cell, size_t row, uint64_t below)
{
    mask_square square;
    square.nw = load_vector(cell - row - 1);
    square.n = load_vector(cell - row);
    square.ne = load_vector(cell - row + 1);
    square.w = load_vector(cell - 1);
    square.here = load_vector(cell);
    square.e = load_vector(cell + 1);
    square.sw = load_vector(cell + row - 1) & below;
    square.s = load_vector(cell + row) & below;
    square.se = load_vector(cell + row + 1) & below;
    return square;
}

INLINE neighbours look_around(const uint64_t *early, const uint64_t *late, size_t row, uint64_t below)
{
    const mask_square before = load_square(early, row, below), after = load_square(late, row, below);
    return neighbours_of(&before, &after);
}

INLINE void look_at_signs(const uint64_t *sign, size_t row, surroundings *at)
{
    at->sign = load_vector(sign);
    at->sign_w = west_of(at->sign, load_vector(sign - 1));
    at->sign_e = east_of(at->sign, load_vector(sign + 1));
    at->sign_n = north_of(at->sign, load_vector(sign - row));
    at->sign_s = south_of(at->sign, load_vector(sign + row));
}

/* ---- Lists --------------------------------------------------------------------------------------------------- */

/* The decisions of a vector of cells. */
typedef struct decisions {
    uint64_t entry[ENTRY_BITS][LANES]; /* for samples, or for a run-length column at its first sample */
    uint64_t sign[SIGN_BITS][LANES];
    uint64_t coded[PASS_TYPES][LANES];  /* where `entry` is coded, by pass */
    uint64_t became[PASS_TYPES][LANES]; /* where a sign follows */
    uint64_t hits[LANES];               /* run-length columns with a significant sample, at their first one */
} decisions;

/* Finds the decisions of the vector of cells from `i` on. */
INLINE void decide(const l2k_t1_planes *p, const uint64_t *plane, size_t i, decisions *d)
{
    const uint64_t below = p->causal ? 0 : ~(uint64_t)0;
    surroundings at;
    mask_decisions m;
    at.live = load_vector(p->live + i);
    at.refined = load_vector(p->refined + i);
    at.before = load_vector(p->before + i);
    at.bits = load_vector(plane + i);
    at.first = look_around(p->visited + i, p->before + i, p->row, below);
    at.last = look_around(p->after + i, p->visited + i, p->row, below);
    look_at_signs(p->sign + i, p->row, &at);
    decide_masks(&at, p->orientation == L2K_HH, p->orientation == L2K_HL, p->raw, &m);
    for (unsigned k = 0; k < ENTRY_BITS; k++)
        store_vector(d->entry[k], m.entry[k]);
    for (unsigned k = 0; k < SIGN_BITS; k++)
        store_vector(d->sign[k], m.sign[k]);
    store_vector(d->coded[PASS_SIGNIFICANCE], m.significance);
    store_vector(d->coded[PASS_REFINEMENT], m.refinement);
    store_vector(d->coded[PASS_CLEANUP], m.cleanup);
    store_vector(d->became[PASS_SIGNIFICANCE], m.became_first);
    store_vector(d->became[PASS_CLEANUP], m.became_last);
    store_vector(d->hits, m.hits);
}

/* The entries of a cell, for each column those of its four samples, then of their signs. */
typedef uint8_t cell_entries[16][8];

/* Lists entries and signs. A run-length column that ends in a significant sample has its place in two decisions. */
static void list_pairs(l2k_t1_list *list, const l2k_t1_planes *p, cell_entries cell, uint64_t coded, uint64_t became,
                       uint64_t hits)
{
    uint8_t *to = list->entries + list->count;
    for (unsigned x = 0; x < 16; x++) {
        unsigned index = (coded >> 4 * x & 15) | (became >> 4 * x & 15) << 4; /* into `pairs` */
        if (hits >> 4 * x & 1) {
            const unsigned place = (unsigned)__builtin_ctz(index >> 4);
            *to++ = cell[x][0];
            *to++ = (uint8_t)(L2K_CONTEXT_UNIFORM << 1 | place >> 1);
            *to++ = (uint8_t)(L2K_CONTEXT_UNIFORM << 1 | (place & 1));
            index &= ~1u;
        }
        pick_bytes(cell[x], p->pairs[index], to);
        to += p->ones[index];
    }
    list->count = (size_t)(to - list->entries);
}

static void list_entries(l2k_t1_list *list, const l2k_t1_planes *p, const uint8_t entries[64], uint64_t coded)
{
    uint8_t *to = list->entries + list->count;
    for (unsigned x = 0; x < 8; x++) {
        const unsigned index = coded >> 8 * x & 0xFF;
        pick_bytes(entries + 8 * x, p->singles[index], to);
        to += p->ones[index];
    }
    list->count = (size_t)(to - list->entries);
}

/* Lists the decisions of cell `k` of a vector. */
static void list_cell(l2k_t1_planes *p, const decisions *d, unsigned k)
{
    const uint64_t significance = d->coded[PASS_SIGNIFICANCE][k], refinement = d->coded[PASS_REFINEMENT][k];
    const uint64_t cleanup = d->coded[PASS_CLEANUP][k];
    uint8_t entries[64], signs[64];
    cell_entries cell;
    masks_to_bytes(&d->entry[0][k], LANES, ENTRY_BITS, entries);
    if (refinement)
        list_entries(&p->lists[PASS_REFINEMENT], p, entries, refinement);
    if (!(significance | cleanup))
        return;
    masks_to_bytes(&d->sign[0][k], LANES, SIGN_BITS, signs);
    for (unsigned i = 0; i < 64; i++)
        signs[i] |= 8 << 1; /* contexts 9 to 13 */
    for (unsigned x = 0; x < 16; x++) {
        memcpy(cell[x], entries + 4 * x, 4);
        memcpy(cell[x] + 4, signs + 4 * x, 4);
    }
    if (significance)
        list_pairs(&p->lists[PASS_SIGNIFICANCE], p, cell, significance, d->became[PASS_SIGNIFICANCE][k], 0);
    if (cleanup)
        list_pairs(&p->lists[PASS_CLEANUP], p, cell, cleanup, d->became[PASS_CLEANUP][k], d->hits[k]);
}

/* ---- Moments ------------------------------------------------------------------------------------------------- */

INLINE unsigned count_ones(uint64_t mask)
{
    return (unsigned)__builtin_popcountll(mask);
}

/* Adds the samples `mask` of a cell. */
static void add_moments(const l2k_t1_planes *p, size_t cell, unsigned plane, uint64_t mask, l2k_t1_moments *moments)
{
    if (!mask)
        return;
    moments->count += count_ones(mask);
    for (unsigned q = 0; q < plane; q++)
        moments->below += (uint64_t)count_ones(mask & p->planes[q * p->spacing + cell]) << q;
}

static void measure(l2k_t1_planes *p, unsigned plane)
{
    const uint64_t *bits = p->planes + plane * p->spacing;
    memset(p->became, 0, sizeof p->became);
    memset(p->refined_to, 0, sizeof p->refined_to);
    for (size_t i = p->first; i < p->end; i++) {
        const uint64_t refined = l2k_t1_pass_samples(p, PASS_REFINEMENT, i);
        for (unsigned type = 0; type < PASS_TYPES; type++)
            if (type != PASS_REFINEMENT)
                add_moments(p, i, plane, l2k_t1_pass_samples(p, type, i), &p->became[type]);
        add_moments(p, i, plane, refined & ~bits[i], &p->refined_to[0]);
        add_moments(p, i, plane, refined & bits[i], &p->refined_to[1]);
    }
}

/* ---- A bit-plane --------------------------------------------------------------------------------------------- */

/* Moves significance on to the next bit-plane. */
static void step_significance(l2k_t1_planes *p, const uint64_t *plane)
{
    for (size_t i = 0; i < p->spacing; i++) {
        p->refined[i] = p->before[i];
        p->before[i] = p->after[i];
        p->after[i] |= plane[i];
    }
}

static void list(l2k_t1_planes *p, unsigned plane)
{
    const uint64_t *bits = p->planes + plane * p->spacing;
    for (unsigned k = 0; k < PASS_TYPES; k++)
        p->lists[k].count = 0;
    step_significance(p, bits);
    significance_pass(p, bits);
    for (size_t i = p->first; i < p->end; i += LANES) {
        decisions d;
        decide(p, bits, i, &d);
        for (unsigned k = 0; k < LANES; k++)
            if (p->live[i + k])
                list_cell(p, &d, k);
    }
}

const l2k_t1_rows L2K_ROWS_TABLE(l2k_t1_rows) = {magnitudes, load, list, measure, l2k_mq_code_feed};

#ifdef L2K_ROWS_BASE
void l2k_t1_lay_out(const l2k_t1_block *block, l2k_t1_planes *p)
{
    const size_t stripes = (block->height + 3) / 4;
    p->orientation = block->orientation;
    p->causal = block->style & L2K_STYLE_VSC;
    p->row = (block->width + 15) / 16 + 1;
    p->first = p->row + 1;
    p->end = p->first + stripes * p->row;
    p->spacing = (stripes + 2) * p->row + 2 + L2K_T1_VECTOR_CELLS;
}

/* Lists the bits set in a mask, in the order of `place`. */
static void list_order(const uint8_t place[8], unsigned mask, uint8_t order[8])
{
    unsigned n = 0;
    memset(order, 0, 8);
    for (unsigned k = 0; k < 8; k++)
        if (mask >> place[k] & 1)
            order[n++] = place[k];
}

void l2k_t1_list_orders(l2k_t1_planes *p)
{
    static const uint8_t single[8] = {0, 1, 2, 3, 4, 5, 6, 7}, pair[8] = {0, 4, 1, 5, 2, 6, 3, 7};
    for (unsigned mask = 0; mask < 256; mask++) {
        list_order(single, mask, p->singles[mask]);
        list_order(pair, mask, p->pairs[mask]);
        p->ones[mask] = (uint8_t)count_ones(mask);
    }
}

const l2k_t1_rows *l2k_t1_rows_get(l2k_cpu cpu)
{
    static const l2k_t1_rows *const tables[] = L2K_CPU_TABLES(l2k_t1_rows);
    return tables[l2k_cpu_resolve(cpu)];
}
#endif
