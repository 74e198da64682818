/* A decoded image in the form that PNG, TIFF and PNM store: unsigned, colours before opacity, every component at every
 * pixel, RGB instead of YCbCr. A view converts row by row during writing, so it needs no second copy of the image. */
#ifndef L2K_PICTURES_COLOUR_H
#define L2K_PICTURES_COLOUR_H

#include "pictures/picture.h"

typedef struct cli_channel {
    const l2k_component *component;
    const l2k_plane *plane;
    const cli_rows *rows;   /* the rows that the plane holds */
    int32_t shift;          /* 2^(precision - 1) for signed samples: makes them unsigned */
    uint32_t column0, row0; /* the first ones on the component's own grid */
} cli_channel;

typedef struct cli_view {
    const l2k_image *image;
    uint32_t width, height;
    uint32_t num_channels;
    uint32_t colours; /* the first channels; the others are opacity */
    cli_channel *channels;
    bool ycc;                       /* channels 0 to 2 are YCbCr and become RGB */
    bool premultiplied;             /* an opacity channel is premultiplied */
    uint32_t dx, column0, dy, row0; /* of the output: the least of all channels */
    uint32_t least, most;           /* precision of the channels */
    uint32_t reduce;
    /* Set by cli_format_check: */
    uint32_t count; /* samples of an output pixel: num_channels, or 3 for one replicated channel */
    uint32_t depth; /* bits of an output sample; channels of other precisions are scaled */
    bool is_signed; /* all channels are signed and remain so, in two's complement */
} cli_view;

/* `picture` must outlive the view; its samples may arrive later. `reduce` is the number of resolution levels left out.
 * Fails, with a report, where up-sampling would enlarge the image too much. */
bool cli_view_create(cli_view *view, const cli_picture *picture, uint32_t reduce, const char *name);
void cli_view_free(cli_view *view);

/* Outside a JP2 file nothing defines a second or fourth component; most likely it is opacity. */
static inline bool cli_view_last_may_be_opacity(const cli_view *view)
{
    return view->image->colour == L2K_COLOUR_UNKNOWN && view->colours == view->num_channels &&
           (view->colours == 2 || view->colours == 4);
}

/* The number of bytes that cli_view_row writes. */
size_t cli_view_row_bytes(const cli_view *view);

/* The number of rows of the view that end above row y of the reference grid. */
uint32_t cli_view_rows_above(const cli_view *view, uint32_t y);

/* Writes row `y`, whose samples must be in memory: `count` samples a pixel; one byte a sample for depths up to 8, two
 * up to 16, otherwise four, high byte first. */
void cli_view_row(const cli_view *view, uint32_t y, uint8_t *bytes);

#endif
