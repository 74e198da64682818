/* The CPU backend: its memory, and what its two directions share. Internal to transform/cpu*.c.
 *
 * A level is one pass over its samples. Rows stream through a small ring (dwt/slide.h): forward they come from the
 * pixels or from the LL buffer of the level before, are filtered vertically in the ring and horizontally as they leave
 * it, and go to the next LL buffer and, quantised, to the view; the inverse runs the same way back. The LL of level 1
 * lies in one buffer per lane, that of level 2 in a buffer that all lanes take turns with, then the two alternate.
 * (With discarded resolutions, level 1 is here the highest one that is left.) */
#ifndef L2K_TRANSFORM_CPU_CPU_H
#define L2K_TRANSFORM_CPU_CPU_H

#include "dwt/slide.h"
#include "tiling/pixel/pixel.h"
#include "transform/backend.h"
#include "transform/layout.h"

typedef struct l2k_cpu_state {
    void *low[L2K_MAX_LANES]; /* LL of odd depth, one per lane */
    void *low_even;           /* LL of even depth */
    uint32_t *scratch; /* per thread at work: one row for each of the two halves of a row, then rings of all lanes */
    size_t scratch_samples; /* samples of four bytes per thread */
    size_t row_stride;      /* samples between rows of a ring */
} l2k_cpu_state;

/* One pass: components first .. first + lanes - 1 at one level. level == discard stands for no decomposition. */
typedef struct l2k_cpu_pass {
    l2k_plan *plan;
    const l2k_plane *planes;
    uint32_t first;
    unsigned lanes;
    unsigned low_first; /* the LL buffer of lane 0 */
    unsigned levels, discard, level;
    l2k_wavelet wavelet;
    l2k_level shape;
} l2k_cpu_pass;

/* A thread's view of a pass: the `user` of slide callbacks. */
typedef struct l2k_cpu_worker {
    const l2k_cpu_pass *pass;
    void *ring;
    void *half[2]; /* low, high */
    size_t steps;  /* since it was asked whether to go on */
    bool stopped;
} l2k_cpu_worker;

/* What runs rows begin .. end - 1 of a pass. */
typedef void l2k_cpu_stripe(l2k_cpu_worker *worker, int64_t begin, int64_t end);

/* How many components from `first` on go together: 3 where the component transform joins them, else 1. */
unsigned l2k_cpu_lanes(const l2k_plan_spec *spec, uint32_t first);

/* A pass of `level` over `lanes` components. */
l2k_cpu_pass l2k_cpu_pass_make(l2k_plan *plan, const l2k_plane *planes, uint32_t first, unsigned lanes, unsigned level);

/* Cuts the pass into stripes and runs them on the context's threads. */
void l2k_cpu_run(const l2k_cpu_pass *pass, l2k_cpu_stripe *stripe);

/* Row y of the LL that decomposition `level` of lane `lane` leaves, and its neighbours' distance is the LL's width
 * rounded up to 16. For levels between discard and levels, exclusively. */
void *l2k_cpu_low_row(const l2k_cpu_pass *pass, unsigned lane, unsigned level, uint32_t width, int64_t y);

/* Row y of a band in the view of lane `lane`. */
void *l2k_cpu_band_row(const l2k_cpu_pass *pass, unsigned lane, unsigned band, int64_t y);

/* Row y of the caller's plane of lane `lane`. */
l2k_pixel_row l2k_cpu_pixel_row(const l2k_cpu_pass *pass, unsigned lane, int64_t y);

/* A slide over the pass, load and emit left to fill in. */
l2k_slide l2k_cpu_slide(l2k_cpu_worker *worker, const l2k_lifting *lifting);

/* Whether to go on with the plan's run, and work on so many samples; once false, always false. */
bool l2k_cpu_goes_on(l2k_cpu_worker *worker, size_t samples);

l2k_status l2k_cpu_forward(l2k_plan *plan, const l2k_plane *planes);
l2k_status l2k_cpu_inverse(l2k_plan *plan, const l2k_plane *planes);

#endif
