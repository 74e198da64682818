/* Subbands arranged as a picture: all of a tile-component in Mallat layout, or those of one level, or one alone, the
 * tiles in their places. */
#ifndef L2K_CLI_COEFFICIENTS_MOSAIC_H
#define L2K_CLI_COEFFICIENTS_MOSAIC_H

#include "cli/coefficients/coefficients.h"

enum { CLI_MOSAIC_CHANNELS = 3, CLI_MOSAIC_TEXT = 16 };

/* A subband in its place. */
typedef struct cli_mosaic_band {
    uint32_t x, y, width, height;
    uint32_t level;
    l2k_orientation orientation;
    bool first_column, first_row; /* of its tile-component: no border to another band there */
} cli_mosaic_band;

typedef struct cli_mosaic {
    const char *name; /* for messages */
    uint32_t width, height, channels;
    /* Channel by channel. In units of the largest sample; NaN where there is no coefficient. */
    float *values;
    bool one_band;    /* all tiles show the same one: between them are tiles' borders alone */
    float low_offset; /* what LL lacks of samples: half of the range (G.1) */
    cli_mosaic_band *bands;
    size_t num_bands, capacity;
    float gains[L2K_MAX_LEVELS + 1][4]; /* by level and orientation */
} cli_mosaic;

/* All NaN. False, with a report, where memory lacks. */
bool cli_mosaic_create(cli_mosaic *mosaic, uint32_t width, uint32_t height, uint32_t channels, const char *name);
void cli_mosaic_free(cli_mosaic *mosaic);

/* Puts a subband of tile-component k into a channel, its first coefficient at (x, y). Those of channel 0 are listed. */
bool cli_mosaic_put(cli_mosaic *mosaic, uint32_t channel, const l2k_tile_coefficients *k, uint32_t band, uint32_t x,
                    uint32_t y, uint32_t precision);

/* Undoes RCT or ICT in the bands from number `first` on, whose three channels are there. */
void cli_mosaic_undo_transform(cli_mosaic *mosaic, size_t first, l2k_wavelet wavelet);

/* A gain for each level and orientation that makes its details visible, or the same for all where `fixed` is not 0.
 * False with a report where the time is up (cli_time_left). */
bool cli_mosaic_choose_gains(cli_mosaic *mosaic, float fixed);

typedef struct cli_mosaic_style {
    bool borders, labels;
    uint32_t zoom; /* pixels a side of a coefficient */
} cli_mosaic_style;

/* A picture of 8 bits, gray or RGB, that the caller frees, also after a failure. */
bool cli_mosaic_draw(const cli_mosaic *mosaic, const cli_mosaic_style *style, cli_picture *picture);

/* Pixels of a picture that is drawn on. */
typedef struct cli_canvas {
    uint8_t *pixels;
    uint32_t width, height, channels;
} cli_canvas;

/* Where it lies on the canvas. */
typedef struct cli_box {
    uint32_t x, y, width, height;
} cli_box;

void cli_canvas_fill(const cli_canvas *canvas, cli_box box, uint8_t value);

/* Letters L and H, digits, x and point, on a dark ground, in the top left corner of `box`, if it is large enough for
 * it. */
bool cli_canvas_label(const cli_canvas *canvas, cli_box box, const char *text);

#endif
