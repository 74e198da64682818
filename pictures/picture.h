/* An image in memory: the library's description and the samples it describes. */
#ifndef L2K_PICTURES_PICTURE_H
#define L2K_PICTURES_PICTURE_H

#include "lift2k/lift2k.h"
#include "pictures/metadata.h"

/* Equal to the library's default. Bounds what a header alone can make the readers allocate. */
#define CLI_MAX_SAMPLES ((uint64_t)1 << 36)

typedef enum cli_layout {
    CLI_INTERLEAVED, /* pixel by pixel, one sample type; all components must have the same size */
    CLI_PLANAR       /* each component separately, in the smallest type that holds it */
} cli_layout;

/* The rows of a component that are in memory. */
typedef struct cli_rows {
    uint32_t first, count;
} cli_rows;

typedef struct cli_picture {
    l2k_image image;           /* image.components points to `components` */
    l2k_component *components; /* readers also set width and height */
    l2k_plane *planes;         /* each begins with row rows[c].first of its component */
    cli_rows *rows;
    void **buffers; /* owned: one in interleaved layout, one per component in planar */
    void *icc;      /* owned, or NULL */
    cli_metadata metadata;
    uint8_t palette[4 * 256]; /* the colours of indices, entry by entry */
    uint32_t num_entries;     /* 0: the samples are no indices */
    uint32_t num_columns;     /* 3, or 4 with opacity */
    uint64_t held;            /* bytes that its reader occupies while open */
    uint64_t extra;           /* further bytes where the reader delivers rows in parts */
    uint32_t together;        /* rows that its reader decompresses together, again for each part; 0: none */
    bool at_once;             /* rows in parts would take as much memory */
} cli_picture;

/* Creates a picture of `count` unsigned colour components, without a place on the reference grid and without samples.
 * Only its metadata, zero or a reader's, stay. `name` is for messages. */
bool cli_picture_create(cli_picture *picture, uint32_t count, const char *name);

/* The same from a decoder's description. The ICC profile remains the decoder's. */
bool cli_picture_adopt(cli_picture *picture, const l2k_image *image, const char *name);

/* Copies an ICC profile, which then tells the colours; false when out of memory. */
bool cli_picture_take_profile(cli_picture *picture, const void *profile, size_t bytes);

/* False with a report where the components have more than CLI_MAX_SAMPLES together, or than the user allows. */
bool cli_picture_allowed(const cli_picture *picture, const char *name);

uint64_t cli_picture_samples(const cli_picture *picture);

/* Bytes of memory for the rows that are in memory, and for any `rows` rows of the reference grid; each includes what
 * the reader needs. */
uint64_t cli_picture_bytes(const cli_picture *picture);
uint64_t cli_picture_strip_bytes(const cli_picture *picture, uint32_t rows);

/* Allocates all samples; sizes, precisions and signs must be known. */
bool cli_picture_allocate(cli_picture *picture, cli_layout layout, const char *name);

/* The same for rows y0 to y1 of the reference grid only, reusing the memory of earlier rows. A picture decoded with
 * `reduce` resolution levels left out has its origin on the full grid and its sizes reduced (B-14). */
bool cli_picture_window(cli_picture *picture, uint32_t y0, uint32_t y1, uint32_t reduce, cli_layout layout,
                        const char *name);

/* Gives the samples in memory another precision: scaled, or with their values if `keeps`, which is an error where one
 * does not fit. Fewer bits drop the lowest ones; with more, the largest value becomes the largest value. */
bool cli_picture_rescale(cli_picture *picture, cli_layout layout, uint32_t precision, bool keeps, const char *name);

/* Where a component's own grid begins: ceil(x0 / dx), and ceil(that / 2^reduce) with resolution levels left out
 * (B-14). */
uint32_t cli_grid_start(uint32_t x0, uint32_t dx, uint32_t reduce);

void cli_picture_free(cli_picture *picture);

/* Sets the size and precision of a picture of equal, unsigned components; the last one becomes opacity on request. */
void cli_picture_uniform(cli_picture *picture, uint32_t width, uint32_t height, uint32_t precision, bool opacity);

/* Places the picture at x0, y0 of the reference grid and finds the sub-sampling that gives the components their sizes,
 * trying their present one first. */
bool cli_picture_place(cli_picture *picture, uint32_t x0, uint32_t y0, const char *name);

/* 1 byte up to 8 bits, 2 up to 16, otherwise 4. */
uint32_t cli_sample_bytes(uint32_t precision);
l2k_sample_type cli_sample_type(uint32_t precision, bool is_signed);

static inline bool cli_is_little_endian(void)
{
    return *(const uint8_t *)&(const uint16_t){1} == 1;
}

/* Do two components have the same size, precision and sign? */
bool cli_components_alike(const l2k_component *a, const l2k_component *b);

/* The same of all components of two pictures. */
bool cli_pictures_alike(const l2k_image *a, const l2k_image *b);

/* Do all components have the same size, the same bytes per sample and the same sign? */
bool cli_picture_can_interleave(const cli_picture *picture);

/* Size of the samples in bytes, packed to their precision: the reference for compression ratios. */
uint64_t cli_picture_raw_bytes(const l2k_image *image);

/* Writes "WxHxN P bit" into `text`. */
void cli_picture_text(const cli_picture *picture, char *text, size_t room);

/* Loads one sample of a plane. L2K_SAMPLE_F32 is excluded: the command's pictures have integers. */
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

/* The same for storing one; 31 bits without a sign also are L2K_SAMPLE_S32. */
static inline void cli_store_sample(char *at, l2k_sample_type type, int64_t value)
{
    if (type == L2K_SAMPLE_U8 || type == L2K_SAMPLE_S8)
        *(uint8_t *)at = (uint8_t)value;
    else if (type == L2K_SAMPLE_U16 || type == L2K_SAMPLE_S16)
        *(uint16_t *)(void *)at = (uint16_t)value;
    else
        *(int32_t *)(void *)at = (int32_t)value;
}

#endif
