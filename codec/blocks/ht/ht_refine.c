/* The HT refinement passes: SigProp (7.4 of T.814) and MagRef (7.5), in stripes of four rows. Both read the same
 * segment, one from its start and the other from its end. Significance is kept per column of a stripe. */
#include <string.h>

#include "base/integer.h"
#include "codec/blocks/ht/ht_block.h"
#include "codec/blocks/ht/ht_streams.h"

typedef struct refinement {
    uint32_t *samples;
    uint8_t *columns; /* the first stripe's first column, inside a border of zeros */
    uint32_t width, height, stride;
    size_t pitch;   /* from stripe to stripe in `columns` */
    unsigned plane; /* scaled bit-plane of both passes */
    bool causal;
} refinement;

static uint8_t *stripe_at(const refinement *r, uint32_t y)
{
    return r->columns + (y >> 2) * r->pitch;
}

static void find_significance(const refinement *r)
{
    memset(r->columns - r->pitch - 1, 0, r->pitch * ((r->height + 3) / 4 + 2));
    for (uint32_t y = 0; y < r->height; y++) {
        const uint32_t *row = r->samples + (size_t)y * r->stride;
        uint8_t *column = stripe_at(r, y);
        for (uint32_t x = 0; x < r->width; x++)
            column[x] |= (uint8_t)((row[x] != 0) << (y & 3));
    }
}

/* The refining bit replaces the bit that put the sample in the middle of its interval. */
static void refine_column(const refinement *r, l2k_ht_window *bits, uint32_t *sample, unsigned significant)
{
    for (; significant; significant >>= 1, sample += r->stride)
        if (significant & 1) {
            uint32_t bit = l2k_ht_take(bits, 1);
            *sample = (*sample & ~(1u << r->plane)) | bit << r->plane | l2k_ht_half(r->plane);
        }
}

static void magnitude_refinement(const refinement *r, l2k_ht_window bits)
{
    for (uint32_t y = 0; y < r->height; y += 4) {
        const uint8_t *column = stripe_at(r, y);
        for (uint32_t x = 0; x < r->width; x++) {
            l2k_ht_refill(&bits);
            refine_column(r, &bits, r->samples + (size_t)y * r->stride + x, column[x]);
        }
    }
}

/* Significance of a column with the samples right above and below it: bits 0 to 5. */
static unsigned tall(const refinement *r, const uint8_t *column)
{
    unsigned below = r->causal ? 0 : column[r->pitch] & 1u;
    return column[-(ptrdiff_t)r->pitch] >> 3 | (unsigned)*column << 1 | below << 5;
}

/* Visits the insignificant samples of a column that have a significant neighbour, including one that has just become
 * significant. Returns the newly significant samples. */
static unsigned visit_column(const refinement *r, l2k_ht_window *bits, const uint8_t *column, unsigned rows)
{
    unsigned here = tall(r, column), others = tall(r, column - 1) | tall(r, column + 1), found = 0;
    for (unsigned k = 0; k < 4; k++) {
        bool visited = rows >> k & 1 && !(here >> (k + 1) & 1) && (here | others) >> k & 7;
        if (visited && l2k_ht_take(bits, 1)) {
            found |= 1u << k;
            here |= 2u << k;
        }
    }
    return found;
}

static void give_signs(const refinement *r, l2k_ht_window *bits, uint32_t *sample, unsigned found)
{
    for (; found; found >>= 1, sample += r->stride)
        if (found & 1)
            *sample = l2k_ht_take(bits, 1) << 31 | 1u << r->plane | l2k_ht_half(r->plane);
}

/* Four columns: first the bits of all of them, then the signs. */
static void propagate_group(const refinement *r, l2k_ht_window *bits, uint32_t y, uint32_t x)
{
    const uint32_t width = l2k_min_u32(4, r->width - x);
    const unsigned rows = r->height - y >= 4 ? 15 : (1u << (r->height - y)) - 1; /* of the stripe, as a mask */
    uint8_t *column = stripe_at(r, y) + x;
    unsigned found[4];
    l2k_ht_refill(bits);
    for (uint32_t i = 0; i < width; i++) {
        found[i] = visit_column(r, bits, column + i, rows);
        column[i] |= (uint8_t)found[i];
    }
    for (uint32_t i = 0; i < width; i++)
        give_signs(r, bits, r->samples + (size_t)y * r->stride + x + i, found[i]);
}

static void significance_propagation(const refinement *r, l2k_ht_window bits)
{
    for (uint32_t y = 0; y < r->height; y += 4)
        for (uint32_t x = 0; x < r->width; x += 4)
            propagate_group(r, &bits, y, x);
}

/* At most a bit for each sample, and in SigProp its sign. */
enum { MAGREF_BYTES = L2K_HT_SAMPLES / 8, SIGPROP_BYTES = 2 * MAGREF_BYTES };

/* MagRef comes first here, because it concerns only what the cleanup pass found. */
void l2k_ht_refine(l2k_ht *ht, const l2k_t1_block *block, const l2k_ht_set *set)
{
    const size_t pitch = block->width + (size_t)2;
    const refinement r = {.samples = ht->samples,
                          .columns = ht->columns + pitch + 1,
                          .width = block->width,
                          .height = block->height,
                          .stride = l2k_ht_stride(block),
                          .pitch = pitch,
                          .plane = set->plane - 1,
                          .causal = block->style & L2K_STYLE_VSC};
    find_significance(&r);
    const uint8_t *data = set->refinement;
    l2k_ht_scratch *s = ht->scratch;
    if (set->passes > 2) {
        const size_t bytes = l2k_ht_unstuff_magref(data, set->refinement_bytes, s->vlc, MAGREF_BYTES);
        magnitude_refinement(&r, l2k_ht_window_at(s->vlc, bytes));
    }
    const size_t bytes = l2k_ht_unstuff_forward(data, set->refinement_bytes, s->magsgn, SIGPROP_BYTES, 0);
    significance_propagation(&r, l2k_ht_window_at(s->magsgn, bytes));
}
