/* The comparison with OpenJPEG at the coefficients: the input and output of each stage of the transform and of tier-1,
 * in both directions. */
#ifndef CONFORMANCE_COEFFICIENTS_H
#define CONFORMANCE_COEFFICIENTS_H

#include "conformance/opj/watch.h"
#include "conformance/coefficients/table.h"

/* A picture, and how it is encoded and decoded. */
typedef struct trial {
    char name[64];
    picture *p;
    coding o;
    decoding d;
} trial;

/* ---- Trials (cases.c) ------------------------------------------------------------------------------------------ */

/* The number of trials made of a given picture, and trial number `i`. The trial does not own the picture. */
#define PICTURE_TRIALS 8
trial picture_trial(const char *name, picture *p, unsigned i);

/* A random picture and options that OpenJPEG can write and read. */
trial random_trial(uint64_t seed);

/* A picture of one column with `length` samples. */
trial line_trial(uint32_t length, bool irreversible);

void describe_trial(const trial *t, char *text, size_t size);

/* ---- lift2k's transform (lift.c) ------------------------------------------------------------------------------- */

typedef struct wish {
    l2k_backend backend;
    l2k_direction direction;
    l2k_wavelet wavelet;
    unsigned levels, reduce;
    bool joint;
    l2k_coefficient_type type;
} wish;

/* Ends the program with a message where the library refuses. */
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

/* An image of `count` components with signed 31-bit samples, which leaves the results of the inverse transforms
 * unchanged. `component` must outlive it. */
l2k_image bare_image(l2k_rect rect, uint32_t count, l2k_component components[3]);

grid grid_of_view(const l2k_coefficients *view);
grid grid_of_watched(const watch_plane *plane, bool floats);
void view_set(const l2k_coefficients *view, uint32_t x, uint32_t y, double value);

/* ---- The comparisons ------------------------------------------------------------------------------------------- */

/* Compares a backend's forward transform of the picture with OpenJPEG's (forward.c). */
void compare_forward(stage_table *table, const trial *t, l2k_backend backend, const watch_log *log,
                     const bytes *stream);

/* Compares a volume of slices of one sample with a picture of one column (volume.c); nothing for others.
 */
void compare_volume(stage_table *table, const trial *t, const watch_log *log);

/* Compares lift2k's tier-1 on OpenJPEG's coefficients (code.c). */
void compare_coded_blocks(stage_table *table, const trial *t, const watch_log *log);

/* Compares decoding (inverse.c). */
void compare_inverse(stage_table *table, const trial *t, l2k_backend backend, const watch_log *log);

/* Decodes all code-blocks of a tile-component into the view of an inverse transform (blocks.c). */
void decode_blocks(const trial *t, const tile_frame *tile, uint32_t component, const watch_log *log,
                   const l2k_coefficients *view);

#endif
