/* The CPU backend: its memory, and the level passes of its two directions. Internal to transform/cpu/.
 *
 * A level pass goes once over the samples of a level. Rows stream through a small ring (dwt/ring.h), or are lifted in
 * place if they are an LL and one thread does the whole level: forward they come from the pixels or from the previous
 * level's LL buffer, are filtered vertically in the ring and horizontally as they leave it, and go to the next LL
 * buffer and, quantised, to the view; the inverse reverses this. The LL of level 1 is in one buffer per joined
 * component, that of level 2 in a buffer that all of them use in turn, then the two alternate. With discarded
 * resolutions, "level 1" is the highest one left. */
#ifndef L2K_TRANSFORM_CPU_CPU_H
#define L2K_TRANSFORM_CPU_CPU_H

#include "dwt/ring.h"
#include "quant/quantiser_rows.h"
#include "tiling/pixel/pixel_rows.h"
#include "transform/backend.h"
#include "transform/layout.h"

/* The sizes of a plan's memory that the specification and the number of threads determine. */
typedef struct l2k_cpu_sizes {
    size_t low_odd, low_even; /* samples of the largest LL of odd and of even depth, as the next level yields them */
    unsigned num_joined;      /* most components that go together */
    size_t row_stride;        /* samples between rows of the scratch memory */
    unsigned ring_rows;       /* per component */
    size_t scratch_samples;   /* per thread */
    size_t threads;           /* most threads at work at once */
} l2k_cpu_sizes;

typedef struct l2k_cpu_state {
    l2k_cpu_sizes sizes;
    l2k_cpu cpu;
    const l2k_pixel_rows *pixel;
    const l2k_quantiser_rows *quantiser;
    uint32_t *low[L2K_MAX_JOINED]; /* LL of odd depth, one per component */
    uint32_t *low_even;            /* LL of even depth */
    uint32_t *scratch; /* per thread: one row for each half of a row, then the rings of all joined components */
} l2k_cpu_state;

/* One level pass: components first .. first + num_joined - 1 at one level; level == discard: no decomposition. */
typedef struct l2k_level_pass {
    uint32_t first;
    unsigned num_joined;
    unsigned low_first; /* the LL buffer of the first */
    unsigned levels, discard, level;
    l2k_level shape;
    l2k_level next;         /* the next level, if any: its samples contain this one's LL */
    l2k_band_view bands[4]; /* the coefficients that this level takes, by orientation; LL of the last level only */
    const l2k_wavelet_descriptor *wavelet;
    const l2k_wavelet_rows *rows; /* NULL: `kernel` is used */
    l2k_kernel_lifting kernel;
} l2k_level_pass;

/* Runs rows begin .. end - 1 of a level pass, within shape.passed; `scratch` is the thread's. Returns
 * L2K_ERROR_CANCELLED or L2K_OK. */
typedef l2k_status l2k_cpu_stripe(const l2k_plan *plan, const l2k_plane *planes, const l2k_level_pass *pass,
                                  uint32_t *scratch, int64_t begin, int64_t end);

l2k_cpu_stripe l2k_cpu_analyse, l2k_cpu_synthesise;

/* Copy between the pixels and the view, without a decomposition. */
l2k_cpu_stripe l2k_cpu_copy_forward, l2k_cpu_copy_inverse;

/* The number of samples between rows of an LL of that width. */
static inline size_t l2k_cpu_low_stride(size_t width)
{
    return (width + 15) / 16 * 16;
}

#endif
