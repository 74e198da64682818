/* An image in memory: the library's description and the samples it describes. */
#ifndef L2K_PICTURES_PICTURE_H
#define L2K_PICTURES_PICTURE_H

#include "lift2k/lift2k.h"

/* Same as the library's own default. It bounds what a header alone can make the readers allocate. */
#define CLI_MAX_SAMPLES ((uint64_t)1 << 36)

typedef enum cli_layout {
    CLI_INTERLEAVED, /* pixel after pixel, one sample type; all components must have the same size */
    CLI_PLANAR       /* each component on its own, in the smallest type that holds it */
} cli_layout;

/* Which rows of a component are in memory. */
typedef struct cli_rows {
    uint32_t first, count;
} cli_rows;

typedef struct cli_picture {
    l2k_image image;           /* image.components points to `components` */
    l2k_component *components; /* width and height are filled in by readers too */
    l2k_plane *planes;         /* begin with row rows[c].first of their component */
    cli_rows *rows;
    void **buffers;    /* what this picture owns: one in interleaved layout, one per component in planar */
    void *icc;         /* owned, or NULL */
    uint64_t held;     /* bytes that its reader takes while it is open */
    uint64_t beside;   /* further ones that it takes where it gives rows in parts */
    uint32_t together; /* rows that its reader unpacks all together, anew for each part of them that it gives; or 0 */
} cli_picture;

/* An unplaced picture of `count` unsigned colour components without samples. `name` is for messages. */
bool cli_picture_create(cli_picture *picture, uint32_t count, const char *name);

/* The same from the description that a decoder gives. The ICC profile stays the decoder's. */
bool cli_picture_adopt(cli_picture *picture, const l2k_image *image, const char *name);

/* How many samples the components have; more than CLI_MAX_SAMPLES, or than the user allows, are reported
 * and give false. */
bool cli_picture_count(const cli_picture *picture, uint64_t *samples, const char *name);

uint64_t cli_picture_samples(const cli_picture *picture);

/* Bytes of memory that the rows take which are there, and that any so many rows of the reference grid can take, each
 * with what the reader needs for it. */
uint64_t cli_picture_bytes(const cli_picture *picture);
uint64_t cli_picture_strip_bytes(const cli_picture *picture, uint32_t rows);

/* Takes memory for all samples; sizes, precisions and signs must be known. */
bool cli_picture_allocate(cli_picture *picture, cli_layout layout, const char *name);

/* The same for the rows of the reference grid from y0 to y1 alone, in memory that earlier rows had. A picture decoded
 * with `reduce` resolutions left out has its origin on the full grid and its sizes reduced (B-14). */
bool cli_picture_window(cli_picture *picture, uint32_t y0, uint32_t y1, uint32_t reduce, cli_layout layout,
                        const char *name);

/* Where a component's own grid begins: ceil(x0 / dx), and ceil(that / 2^reduce) with resolutions left out (B-14). */
uint32_t cli_grid_start(uint32_t x0, uint32_t dx, uint32_t reduce);

void cli_picture_free(cli_picture *picture);

/* Sets size, precision and association of a picture of equal, unsigned components; the last one is opacity if asked. */
void cli_picture_uniform(cli_picture *picture, uint32_t width, uint32_t height, uint32_t precision, bool opacity);

/* Puts the picture at x0, y0 of the reference grid and finds the sub-sampling that gives the components their sizes,
 * first trying the one they have. */
bool cli_picture_place(cli_picture *picture, uint32_t x0, uint32_t y0, const char *name);

/* 1, 2 or 4 bytes: up to 8, up to 16 and more bits. */
uint32_t cli_sample_bytes(uint32_t precision);
l2k_sample_type cli_sample_type(uint32_t precision, bool is_signed);

/* Do all components have the same size? The same size in bytes of a sample and the same sign? */
bool cli_picture_can_interleave(const cli_picture *picture);

/* Size of the samples in bytes, packed to their precision: what compression ratios refer to. */
uint64_t cli_picture_raw_bytes(const cli_picture *picture);

/* "WxHxN P bit" into `text`. */
void cli_picture_text(const cli_picture *picture, char *text, size_t room);

/* One sample of a plane. Not of L2K_SAMPLE_F32, which no picture of the command has. */
static inline int32_t cli_load_sample(const char *at, l2k_sample_type type)
{
    switch (type) {
    case L2K_SAMPLE_U8:
        return *(const uint8_t *)at;
    case L2K_SAMPLE_S8:
        return *(const int8_t *)at;
    case L2K_SAMPLE_U16:
        return *(const uint16_t *)(const void *)at;
    case L2K_SAMPLE_S16:
        return *(const int16_t *)(const void *)at;
    default:
        return *(const int32_t *)(const void *)at;
    }
}

#endif
