/* The CPU backend: its memory, the rows that each level takes in a strip, and the level passes of its two directions.
 * Internal to transform/cpu/.
 *
 * A level pass goes once over the samples of a level. Rows stream through a small ring (dwt/ring.h): forward they come
 * from the pixels or from the LL of the level before, are filtered vertically in the ring and horizontally as they
 * leave it, and go to the samples of the next level and, quantised, to the view; the inverse reverses this.
 *
 * A plan by rows works in strips, in which every level advances as far as its input allows. It keeps only the rows that
 * a later strip or the block coder still needs: those of a subband move to the top of its part of the view before each
 * strip, a level's samples have row y in row y % num_rows. Any other plan has a single strip. With discarded resolutions, "level 1" is the highest one left. */
#ifndef L2K_TRANSFORM_CPU_CPU_H
#define L2K_TRANSFORM_CPU_CPU_H

#include "dwt/ring.h"
#include "quant/quantiser_rows.h"
#include "tiling/pixel/pixel_rows.h"
#include "transform/backend.h"
#include "transform/layout.h"

/* A subband's coefficients that a level takes. */
typedef struct l2k_band_rows {
    uint32_t x, y; /* in the view: the first column taken, and the first row held */
    uint32_t width;
    uint32_t y0;               /* of the first row taken, in the subband's domain */
    uint32_t held_y0, held_y1; /* rows that the view holds, at one time or another */
    uint32_t rows;             /* that the view holds at a time; 0: all */
    uint32_t first;            /* of these, at present */
} l2k_band_rows;

/* One level pass: components first .. first + num_joined - 1 at one level; level == discard: no
 * decomposition, which is a level that splits in neither direction. */
typedef struct l2k_level_pass {
    uint32_t first;
    unsigned num_joined; /* 0: the pass of another component takes this level, too */
    unsigned levels, discard, level;
    l2k_level shape;
    int64_t y0;    /* of its samples' first row, in their domain; of the first pass only */
    int64_t reach; /* rows that a row depends on, above and below it */
    const l2k_wavelet_descriptor *wavelet;
    l2k_kernel_lifting lifting;
    /* num_rows rows of a level behind another; or of each joined component, rows of earlier planes */
    uint32_t *samples;
    size_t stride, num_rows;
    l2k_band_rows bands[4]; /* by orientation; LL of the last level only */
    int64_t done, goal;     /* end of the rows passed on, before and after this strip */
} l2k_level_pass;

typedef struct l2k_cpu_component {
    l2k_level_pass *passes; /* from the pixels on */
    unsigned num_passes;
    uint32_t *first_rows;       /* of each subband, as in l2k_band_rows */
    int64_t first_row, end_row; /* of the planes, among the first level's */
} l2k_cpu_component;

/* Rows of the reference grid, at the resolution of the output. Forward, strip n passes on samples before row n * rows
 * and reads `margin` more; inverse, it reads those before row n * rows and passes on `margin` less. The first is strip
 * first + 1. rows 0: there is a single strip. */
typedef struct l2k_cpu_strips {
    uint64_t rows, first, margin;
} l2k_cpu_strips;

/* The sizes of a plan's memory that the specification and the number of threads determine. */
typedef struct l2k_cpu_sizes {
    l2k_cpu_strips strips;
    size_t row_stride;      /* samples between rows of the scratch memory */
    size_t scratch_samples; /* per thread */
    size_t threads;         /* most threads at work at once */
} l2k_cpu_sizes;

typedef struct l2k_cpu_state {
    l2k_cpu_sizes sizes;
    l2k_cpu cpu;
    const l2k_pixel_rows *pixel;
    const l2k_quantiser_rows *quantiser;
    l2k_cpu_component *components;
    void *memory;      /* of views, passes' samples and scratch */
    uint32_t *scratch; /* per thread: one row for each half of a row, then the rings of all joined components */
    uint64_t strip;    /* the present one */
    bool takes_planes; /* for each strip */
} l2k_cpu_state;

/* ---- Rows of a strip (cpu_rows.c) ----------------------------------------------------------------------------- */

/* Passes of a component: at least one. */
unsigned l2k_cpu_count_passes(const l2k_plan_spec *spec, uint32_t c);

/* Shapes the passes of component c, in l2k_cpu_count_passes elements, which may be temporary. Row kernels and memory
 * are left out. `held` receives the parts of subbands that the view holds. */
void l2k_cpu_shape_passes(const l2k_plan_spec *spec, uint32_t c, l2k_level_pass *passes,
                          l2k_rect held[L2K_MAX_SUBBANDS]);

l2k_cpu_strips l2k_cpu_strips_of(const l2k_plan_spec *spec);

/* Finds the rows that buffers need, by going through all strips: num_rows of passes, `rows` of their bands. */
void l2k_cpu_measure_rows(const l2k_plan_spec *spec, const l2k_cpu_strips *strips, uint32_t c, l2k_level_pass *passes);

/* Returns to the start. */
void l2k_cpu_rewind(l2k_level_pass *passes, unsigned count);

/* The end of the rows that a strip takes from planes or passes on to them; UINT64_MAX: all rows. Of component c, among
 * the rows of its first level. */
uint64_t l2k_cpu_strip_end(const l2k_plan_spec *spec, const l2k_cpu_strips *strips, uint64_t strip);
int64_t l2k_cpu_rows_before(const l2k_plan_spec *spec, uint64_t end, uint32_t c, const l2k_level_pass *first);

/* Sets the goals of a strip, the one before being done. */
void l2k_cpu_set_goals(const l2k_plan_spec *spec, const l2k_cpu_strips *strips, uint64_t strip, uint32_t c,
                       l2k_level_pass *passes);

/* The first row of a subband that this strip or a later one uses; the end of those that the strips before have left. */
uint32_t l2k_cpu_first_row(const l2k_plan_spec *spec, const l2k_level_pass *pass, unsigned orientation);
uint32_t l2k_cpu_rows_end(const l2k_plan_spec *spec, const l2k_level_pass *pass, unsigned orientation, int64_t y);

/* Once a pass has passed on the rows before `y`: the end of the subband's rows in whole cells that are complete
 * (forward), or that it has read (inverse). */
uint32_t l2k_cpu_cells_end(const l2k_plan_spec *spec, const l2k_level_pass *pass, unsigned orientation, int64_t y);

/* ---- Level passes (cpu_stripes.c) ---------------------------------------------------------------------------- */

/* Runs rows begin .. end - 1 of a level pass, within shape.passed; `scratch` is the thread's. Returns
 * L2K_ERROR_CANCELLED or L2K_OK. */
typedef l2k_status l2k_cpu_stripe(const l2k_plan *plan, const l2k_level_pass *pass, uint32_t *scratch, int64_t begin,
                                  int64_t end);

l2k_cpu_stripe l2k_cpu_analyse, l2k_cpu_synthesise;

/* Loads rows begin .. end - 1 of the planes into the first level's samples. */
void l2k_cpu_keep_rows(const l2k_plan *plan, const l2k_level_pass *first, int64_t begin, int64_t end);

/* Whether a pass takes the subband of that orientation, and its number in the view. */
static inline bool l2k_cpu_takes_band(const l2k_level_pass *pass, unsigned orientation)
{
    return orientation == L2K_LL ? pass->level == pass->levels : pass->level > pass->discard;
}

static inline unsigned l2k_cpu_band(const l2k_level_pass *pass, unsigned orientation)
{
    return orientation == L2K_LL ? 0 : l2k_band_number(pass->levels - pass->level + 1, orientation);
}

/* Row y of a level's samples, of joined component j. */
static inline uint32_t *l2k_cpu_sample_row(const l2k_level_pass *pass, unsigned j, int64_t y)
{
    return pass->samples + (j * pass->num_rows + (size_t)y % pass->num_rows) * pass->stride;
}

#endif
