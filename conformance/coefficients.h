/* The comparison with OpenJPEG at the seam of the coefficients: what each stage of the transform and tier-1 takes and
 * gives, in both directions. */
#ifndef CONFORMANCE_COEFFICIENTS_H
#define CONFORMANCE_COEFFICIENTS_H

#include "conformance/opj_watch.h"
#include "conformance/table.h"

/* A picture, and how it is coded and decoded. */
typedef struct trial {
    char name[64];
    picture *p;
    coding o;
    decoding d;
} trial;

/* ---- Trials (coefficients_cases.c) ----------------------------------------------------------------------------- */

/* Some ways of coding a picture that is at hand: the number of them, and number `i`. What the trial does not own is the
 * picture. */
#define PICTURE_TRIALS 8
trial picture_trial(const char *name, picture *p, unsigned i);

/* A picture and options drawn with a seed, such that OpenJPEG can write and read them. */
trial random_trial(uint64_t seed);

void describe_trial(const trial *t, char *text, size_t size);

/* ---- lift2k's transform (coefficients_lift.c) ------------------------------------------------------------------ */

typedef struct wish {
    l2k_backend backend;
    l2k_direction direction;
    l2k_wavelet wavelet;
    unsigned levels, reduce;
    bool joint;
    l2k_coefficient_type type;
} wish;

/* The program ends with a message where the library refuses. */
l2k_transform *wish_prepare(const wish *w, const l2k_image *tile);

/* The same, but NULL where int16 does not suffice. */
l2k_transform *wish_prepare_int16(wish w, const l2k_image *tile);

void lift_forward(l2k_transform *t, const l2k_plane *planes);
void lift_inverse(l2k_transform *t, const l2k_plane *planes);

/* A tile as an image, and its tile-components. */
typedef struct tile_frame {
    uint32_t index;
    l2k_image image;
    l2k_rect rects[PICTURE_MAX_COMPONENTS];
} tile_frame;

tile_frame trial_tile(const trial *t, uint32_t index);

/* An image that is a rectangle of `count` components with signed samples of 31 bits, which leaves what comes out of the
 * inverse transforms as it is. `component` must live as long. */
l2k_image bare_image(l2k_rect rect, uint32_t count, l2k_component components[3]);

grid grid_of_view(const l2k_coefficients *view);
grid grid_of_watched(const watch_plane *plane, bool floats);
void view_set(const l2k_coefficients *view, uint32_t x, uint32_t y, double value);

/* ---- The comparisons ------------------------------------------------------------------------------------------- */

/* What a backend makes of the picture against what OpenJPEG did (coefficients_forward.c). */
void compare_forward(stage_table *table, const trial *t, l2k_backend backend, const watch_log *log,
                     const bytes *stream);

/* lift2k's tier-1 on OpenJPEG's coefficients (coefficients_code.c). */
void compare_coded_blocks(stage_table *table, const trial *t, const watch_log *log);

/* The way back (coefficients_inverse.c). */
void compare_inverse(stage_table *table, const trial *t, l2k_backend backend, const watch_log *log);

/* Decodes all code-blocks of a tile-component into the view of an inverse transform (coefficients_blocks.c). */
void decode_blocks(const trial *t, const tile_frame *tile, uint32_t component, const watch_log *log,
                   const l2k_coefficients *view);

#endif
