/* The table of comparisons: for each picture its parameters, and for each stage how many elements there are, how many
 * differ, and by how much at most. Differences are printed when found. */
#ifndef CONFORMANCE_COEFFICIENTS_TABLE_H
#define CONFORMANCE_COEFFICIENTS_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "lift2k/lift2k.h"

typedef enum stage_id {
    STAGE_SHIFT = 0,
    STAGE_JOIN,
    STAGE_WAVELET,
    STAGE_STEPS,
    STAGE_INDEX,
    STAGE_CODE,
    STAGE_STREAM,
    STAGE_INDEX_STREAM,
    STAGE_DECODE,
    STAGE_DEQUANTISE,
    STAGE_UNWAVELET,
    STAGE_SEPARATE,
    STAGE_SAMPLES,
    NUM_STAGES
} stage_id;

const char *stage_name(stage_id s);
/* NUM_STAGES for an unknown name. */
stage_id stage_named(const char *name);

/* The place of values. */
typedef struct spot {
    stage_id stage;
    l2k_backend backend; /* of the transform; AUTO: independent of the backend */
    uint32_t tile, component, levels;
    const l2k_coefficients *view; /* NULL: samples */
} spot;

/* A rectangle of values, integers or floats: a double holds both. */
typedef struct grid {
    uint32_t width, height;
    double *values;
} grid;

grid grid_make(uint32_t width, uint32_t height);
void grid_free(grid *g);

typedef struct tally {
    uint64_t compared, differing;
    double largest;
} tally;

#define TABLE_BACKENDS (L2K_BACKEND_CUDA + 1)

typedef struct stage_table {
    stage_id spoil; /* for the self-test: one value of ours is changed at this stage; otherwise NUM_STAGES */
    bool spoiled;
    bool any_row;
    char image[64], parameters[128];
    unsigned shown; /* shown for this image */
    tally row[NUM_STAGES][TABLE_BACKENDS], all[NUM_STAGES][TABLE_BACKENDS];
    uint64_t missing; /* comparisons that could not be made */
} stage_table;

void table_begin(stage_table *t, const char *image, const char *parameters);
void table_end(stage_table *t);

/* Prints the sums and the count; true if nothing differs. */
bool table_finish(const stage_table *t);

/* OpenJPEG's values, then ours. */
void table_grids(stage_table *t, const spot *s, const grid *theirs, grid *ours);

/* One value of a subband, or of a part that begins at (x, y) in the subband's own coordinates. */
void table_value(stage_table *t, const spot *s, unsigned band, uint32_t x, uint32_t y, const char *what, double theirs,
                 double ours);

/* Bytes of a code-block at such a place, or of the codestream where `band` is L2K_MAX_SUBBANDS. */
void table_bytes(stage_table *t, const spot *s, unsigned band, uint32_t x, uint32_t y, const uint8_t *theirs,
                 size_t theirs_size, const uint8_t *ours, size_t ours_size);

/* Reports that something to compare is missing. */
void table_missing(stage_table *t, const spot *s, const char *what);

/* Is this the moment to change a value? True once. */
bool table_spoils(stage_table *t, stage_id s);

#endif
