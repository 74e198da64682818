/* Lifting of slices that arrive one after the other, over all levels of the third direction: which slice is wanted,
 * which lifting steps the slices present allow, and which ones are finished. Slices are lifted in place; none is copied
 * from level to level.
 *
 * The work is recorded as lists of operations on whole slices, one a level; they run one after the other, forward from
 * the finest level on, inverse from the deepest. Since every operation works sample by sample, lists may run over any
 * part of the slices from the first operation to the last before the next part is begun: so a group of slices goes
 * through all levels while a part of each is in the cache. */
#ifndef L2K_TRANSFORM_VOLUME_Z_LEVELS_H
#define L2K_TRANSFORM_VOLUME_Z_LEVELS_H

#include "base/context.h"
#include "dwt/wavelet.h"

enum {
    L2K_CHAIN_STEPS = 4,
    L2K_CHAIN_PAIRS = 4
}; /* most steps of Part 1's wavelets; most pairs of slices in a chain */

#define L2K_Z_ROWS (L2K_CHAIN_STEPS + 2 * L2K_CHAIN_PAIRS)

/* Slices that a level may hold: those in use, five with the 5/3 and some 23 with fidelity, and half as many when the
 * last ones of the level before come all at once; or two that are finished and wait. */
#define L2K_Z_WINDOW 40

/* A slice of samples (level 0), or of the low-pass or high-pass of a level of the third direction, and its place there,
 * from 0 on. */
typedef struct l2k_z_place {
    uint32_t level;
    bool high;
    uint32_t index;
} l2k_z_place;

/* A slice. A backend's own data follow the structure. */
typedef struct l2k_z_slice {
    struct l2k_z_slice *next;  /* in a queue or list */
    struct l2k_z_slice *older; /* made before, in the list of all */
    uint32_t *values;          /* samples of four bytes, on a device perhaps of two, of all components */
    l2k_z_place place;         /* once finished */
} l2k_z_slice;

/* Slices in the order in which they were appended. */
typedef struct l2k_z_queue {
    l2k_z_slice *first, *last;
    unsigned count;
} l2k_z_queue;

void l2k_z_append(l2k_z_queue *queue, l2k_z_slice *slice);
void l2k_z_push(l2k_z_queue *queue,
                l2k_z_slice *slice); /* as the first: for lists of free slices, whose last one is in the cache */
l2k_z_slice *l2k_z_take(l2k_z_queue *queue); /* NULL if the queue is empty */

typedef enum l2k_z_kind {
    /* All steps on rows[0 .. steps + 1], step 0 on rows[steps], step 1 on rows[steps - 1] and so on down to rows[1];
     * then on rows[2 ..] and so on, `pairs` times. Each also scales a low and a high slice: forward its first two, which are finished; inverse its last two, before anything else. */
    L2K_Z_CHAIN,
    L2K_Z_STEP, /* one step on rows[0], with rows[1] and rows[2] before and after it */
    L2K_Z_TAPS, /* one step of a kernel on rows[0], with a row for each tap behind it */
    L2K_Z_LONE, /* the only slice of a level, at an odd coordinate: rows[0] */
    L2K_Z_SCALE /* rows[0] times `factor` */
} l2k_z_kind;

typedef struct l2k_z_op {
    l2k_z_kind kind;
    unsigned step, pairs;
    float factor;
    l2k_z_slice *rows[L2K_Z_ROWS];
} l2k_z_op;

typedef struct l2k_z_list {
    l2k_z_op *ops;
    size_t count, room;
} l2k_z_list;

/* One level. Slices of coordinates left .. come - 1 are present, those before `finished` done. Forward, chains
 * scale slices chained .. scaled - 1. */
typedef struct l2k_z_level {
    int64_t first, end, come, finished, left, chained, scaled;
    int64_t done[L2K_KERNEL_STEPS];    /* by step: the next slice that it changes */
    l2k_z_slice *window[L2K_Z_WINDOW]; /* by coordinate */
} l2k_z_level;

typedef struct l2k_z_levels {
    const l2k_wavelet_descriptor *wavelet;
    const l2k_kernel *kernel; /* NULL: a wavelet of Part 1 */
    unsigned steps;           /* lifting steps of a level */
    const float *scales;      /* of low and high slices: after forward lifting, before inverse lifting */
    bool inverse;
    unsigned levels;
    l2k_z_level level[L2K_MAX_LEVELS + 1];
    l2k_z_list list[L2K_MAX_LEVELS + 1]; /* by level */
    l2k_z_queue out;                     /* finished slices, valid once the operations have run */
} l2k_z_levels;

/* Prepares for the first slice of a volume of coordinates z0 .. z1 - 1, z0 < z1. `wavelet`, of the third direction,
 * must stay. A step of a kernel has fewer taps than an operation has rows. Keeps the memory of earlier lists. */
void l2k_z_start(l2k_z_levels *z, const l2k_wavelet_descriptor *wavelet, bool inverse, unsigned levels, uint32_t z0,
                 uint32_t z1);
void l2k_z_release(const l2k_context *context, l2k_z_levels *z);

/* The number of slices of a low-pass or high-pass; level 0: of samples. */
uint32_t l2k_z_depth(uint32_t z0, uint32_t z1, unsigned level, bool high);

/* The slice to put next; false if none is left. Forward: the samples in order. Inverse: what the next slice of samples
 * needs. */
bool l2k_z_wanted(const l2k_z_levels *z, l2k_z_place *place);

/* Puts the wanted slice. Records operations and appends finished slices to `out`. L2K_ERROR_MEMORY. */
l2k_status l2k_z_put(const l2k_context *context, l2k_z_levels *z, l2k_z_slice *slice);

/* The step that an operation names by `number`. */
const l2k_kernel_step *l2k_z_step(const l2k_z_levels *z, unsigned number);

/* l2k_z_list_at: the lists in the order in which they run, `number` from 0 to levels - 1. Call l2k_z_forget when all of
 * them have run. */
const l2k_z_list *l2k_z_list_at(const l2k_z_levels *z, unsigned number);
void l2k_z_forget(l2k_z_levels *z);

#endif
