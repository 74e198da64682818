/* Vertical lifting of a picture that streams through a ring of a few rows: rows are loaded from top to bottom, every
 * lifting step follows some rows after the one before it, and finished rows leave. The ring has as many rows per
 * component as the steps reach over and three more, whatever the height, so it stays in the cache; or it is the whole
 * picture, lifted in place. A picture is cut into stripes only to feed several threads, at the price of rows read again
 * on either side of a cut, as many as the steps reach over.
 *
 * A component transform joins components at the pixels: their rows go through the ring together. */
#ifndef L2K_DWT_RING_H
#define L2K_DWT_RING_H

#include "dwt/kernel_rows.h"

#define L2K_MAX_JOINED 3

/* Rows first .. end - 1; none if end <= first. */
typedef struct l2k_row_range {
    int64_t first, end;
} l2k_row_range;

typedef struct l2k_ring {
    /* Filled in by the caller: */
    const l2k_kernel_lifting *lifting; /* NULL: rows leave as they come */
    bool inverse;                      /* direction of the lifting */
    size_t width;                      /* samples in a row, at least 1 */
    int64_t height;                    /* rows of the picture, at least 1 */
    unsigned parity;                   /* of the coordinate of row 0 */
    unsigned num_joined;               /* 1 to L2K_MAX_JOINED */
    uint32_t *rows;                    /* num_joined * period of them, of samples of four bytes */
    size_t stride;                     /* from one row to the next, in samples */
    size_t period; /* rows of a component: at least l2k_ring_period, or at least `height` to hold the whole picture */
    /* The ring's own: */
    l2k_row_range wanted, read;
    int64_t done[L2K_KERNEL_STEPS + 1]; /* the end of each step's rows */
    /* The caller's turn: it fills the rows `load`, calls l2k_ring_lift, and takes the rows `finished`, which it may
     * change. */
    l2k_row_range load, finished;
} l2k_ring;

/* Rows of a component that a ring needs whose lifting and direction are filled in. */
unsigned l2k_ring_period(const l2k_ring *ring);

/* Begins a stripe: rows begin .. end - 1 are wanted, 0 <= begin < end <= height. */
void l2k_ring_start(l2k_ring *ring, int64_t begin, int64_t end);

/* Advances by two rows: sets `load` and `finished`. False after the last wanted row. Over all calls, rows are loaded
 * and finished in ascending order, each once. */
bool l2k_ring_next(l2k_ring *ring);

/* Does all lifting that the loaded rows allow. */
void l2k_ring_lift(l2k_ring *ring);

/* Row y of joined component j, valid while y is in `load` or `finished`. */
static inline void *l2k_ring_row(const l2k_ring *ring, unsigned j, int64_t y)
{
    return ring->rows + (j * ring->period + (size_t)y % ring->period) * ring->stride;
}

#endif
