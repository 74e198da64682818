/* Vertical lifting of a picture that streams through a few rows: rows are loaded from top to bottom into a ring, every
 * step follows one row behind the one before it, and finished rows leave. The working set is steps + 2 rows a lane
 * whatever the height, so it stays in the cache; a picture is cut into stripes only to feed several threads, at the
 * price of `steps` rows read again on either side of a cut.
 *
 * Lanes are components that go together, because a component transform joins them at the rim. */
#ifndef L2K_DWT_SLIDE_H
#define L2K_DWT_SLIDE_H

#include "dwt/rows.h"

#define L2K_MAX_LANES  3
#define L2K_SLIDE_ROWS (L2K_MAX_STEPS + 2) /* ring rows a lane needs at most */

typedef struct l2k_slide {
    const l2k_lifting *lifting;
    size_t width;    /* samples in a row, at least 1 */
    int64_t height;  /* rows, at least 1 */
    unsigned parity; /* of the coordinate of row 0 */
    unsigned lanes;  /* 1 to L2K_MAX_LANES */
    /* The ring: row slot s of lane k starts at ring + (k * L2K_SLIDE_ROWS + s) * stride; samples of four bytes. */
    void *ring;
    size_t stride;
    /* Fills rows[lane] with row y; takes finished row y from rows[lane], which it may change. */
    void (*load)(void *user, int64_t y, void *const *rows);
    void (*emit)(void *user, int64_t y, void *const *rows);
    /* Asked before each piece of work, which goes over so many samples, at most a row of all lanes; once false, always
     * false, and the slide ends where it is. */
    bool (*goes_on)(void *user, size_t samples);
    void *user;
} l2k_slide;

/* Emits rows begin .. end - 1 in ascending order, 0 <= begin < end <= height. Loads come in ascending order as well. */
void l2k_slide_run(const l2k_slide *slide, int64_t begin, int64_t end);

#endif
