/* Pictures in memory for the tests: synthetic contents, random shapes, comparison. */
#ifndef CONFORMANCE_PICTURES_H
#define CONFORMANCE_PICTURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lift2k/lift2k.h"

#define PICTURE_MAX_COMPONENTS 260 /* p0_13 of T.803 has 257 */

/* A deterministic generator (splitmix64): the same seed gives the same test on every machine. */
typedef struct rng {
    uint64_t state;
} rng;

uint64_t rng_next(rng *r);
uint32_t rng_below(rng *r, uint32_t bound);                /* 0 .. bound - 1 */
uint32_t rng_between(rng *r, uint32_t low, uint32_t high); /* low .. high */

typedef enum content {
    CONTENT_NATURAL = 0, /* smooth background, texture, edges, a little noise */
    CONTENT_NOISE,
    CONTENT_FLAT,
    CONTENT_EXTREMES, /* a chequerboard of the smallest and the largest value */
    CONTENT_KINDS
} content;

/* Samples are stored as declared (signed or not) in int32; rows have no padding. */
typedef struct picture {
    l2k_image image; /* image.components points at `components` */
    l2k_component components[PICTURE_MAX_COMPONENTS];
    int32_t *samples[PICTURE_MAX_COMPONENTS];
} picture;

/* The properties of a picture. Zeros stand for: origin 0,0; sub-sampling 1x1; unsigned. */
typedef struct shape {
    uint32_t width, height; /* of the image area on the reference grid */
    uint32_t x0, y0;
    uint32_t num_components;
    uint32_t precision;
    bool is_signed;
    bool mixed; /* precisions, up to `precision`, and signs differ between components */
    l2k_size sampling[PICTURE_MAX_COMPONENTS];
    content content;
    uint64_t seed;
} shape;

/* All of these end the program when out of memory. */
picture *picture_make(const shape *s);
picture *picture_empty(const l2k_image *image); /* zeroed samples, sizes as in image->components */
void picture_free(picture *p);
void *test_allocate(size_t count, size_t bytes);

/* A random shape with sides of at most `side`, sub-sampled such that no component is empty. */
shape random_shape(rng *r, uint32_t side, uint32_t max_components, uint32_t max_precision);

/* The declared bits of all samples, divided by 8. */
double picture_raw_bytes(const picture *p);

/* The largest absolute difference over all samples, and its place; -1 if the shapes differ. */
typedef struct difference {
    int64_t peak;
    uint32_t component, x, y;
    int32_t left, right;
} difference;
difference picture_compare(const picture *left, const picture *right);
void difference_print(const difference *d);

/* dB over all components, peak 2^precision - 1 of component 0; 999 for equal pictures. */
double picture_psnr(const picture *left, const picture *right);

/* A PGM or PPM file (P5, P6), or NULL. */
picture *picture_read_pnm(const char *path);

/* Is it a PNG, PGM or PPM file, by its extension? */
bool is_picture_name(const char *name);

/* The picture in such a file, or NULL. The command named by L2K_COMMAND, otherwise lift2k from PATH, converts PNG
 * files, gray or RGB. */
picture *picture_read(const char *path);

#endif
