/* The pixel work of Annex G on rows, between the caller's planes and the wavelet's rows: DC level shift and component
 * transforms. The inner loops are a table of functions per instruction set. */
#ifndef L2K_TILING_PIXEL_PIXEL_ROWS_H
#define L2K_TILING_PIXEL_PIXEL_ROWS_H

#include "base/cpu.h"
#include "tiling/pixel/pixel.h"

/* A row of n samples in a caller's plane. Samples may be at any address. */
typedef struct l2k_pixel_row {
    void *data;
    ptrdiff_t stride; /* bytes */
    l2k_sample_type type;
    l2k_level_shift shift;
} l2k_pixel_row;

/* Values of a row are int32 or float ([is_float]); float samples go with float values only. The component transform
 * is the RCT on int32 and the ICT on float. */
typedef struct l2k_pixel_rows {
    /* One component: samples to level-shifted values, and values to clamped samples. By l2k_sample_type. */
    void (*load[2][6])(const l2k_pixel_row *pixels, size_t n, void *row);
    void (*store[2][6])(const l2k_pixel_row *pixels, size_t n, const void *row);
    /* Three components that alternate in memory from `samples` on, u8 [0] or u16 [1], after the component transform. */
    void (*store_interleaved[2][2])(void *samples, const l2k_pixel_row pixels[3], size_t n, const void *c0,
                                    const void *c1, const void *c2);
    /* The component transform in place. */
    void (*forward[2])(size_t n, void *c0, void *c1, void *c2);
    void (*inverse[2])(size_t n, void *c0, void *c1, void *c2);
} l2k_pixel_rows;

L2K_CPU_DECLARE(l2k_pixel_rows);

/* The functions of a usable instruction set, or of the best one. */
const l2k_pixel_rows *l2k_pixel_rows_get(l2k_cpu cpu);

/* A row of one component, or of the three that a component transform joins, between the caller's samples and the
 * wavelet's values. Storing destroys the rows. */
void l2k_pixels_load(const l2k_pixel_rows *kernels, bool is_float, unsigned components, const l2k_pixel_row *pixels,
                     size_t n, void *const *rows);
void l2k_pixels_store(const l2k_pixel_rows *kernels, bool is_float, unsigned components, const l2k_pixel_row *pixels,
                      size_t n, void *const *rows);

/* Copies n integer samples to a row of another type or stride. */
void l2k_pixels_convert(const l2k_pixel_rows *kernels, const l2k_pixel_row *from, const l2k_pixel_row *to, size_t n);

#endif
