/* Subbands arranged as a picture: those of a tile-component in Mallat layout, those of one level, or a single one, with
 * the tiles in their places. */
#ifndef L2K_CLI_VIEW_MOSAIC_H
#define L2K_CLI_VIEW_MOSAIC_H

#include "cli/coefficients/coefficients.h"

enum { CLI_MOSAIC_CHANNELS = 3 };

/* A subband in its place. */
typedef struct cli_mosaic_band {
    uint32_t x, y, width, height;
    uint32_t level;
    l2k_orientation orientation;
    bool first_column, first_row; /* of its tile-component: borders another tile there */
} cli_mosaic_band;

typedef struct cli_mosaic {
    const char *name; /* for messages */
    uint32_t width, height, channels;
    /* Channel by channel, in units of the largest sample; NaN for no coefficient. */
    float *values;
    bool one_band;    /* every tile shows the same band, so all borders are between tiles */
    float unit;       /* a step of the samples */
    float low_offset; /* from LL, times its gain, to gray: half of the range (G.1), unless LL is stretched */
    cli_mosaic_band *bands;
    size_t num_bands;
    float gains[L2K_MAX_LEVELS + 1][4]; /* by level and orientation */
} cli_mosaic;

/* All NaN. False, with a report, if out of memory. */
bool cli_mosaic_create(cli_mosaic *mosaic, uint32_t width, uint32_t height, uint32_t channels, const char *name);
void cli_mosaic_free(cli_mosaic *mosaic);

/* Puts a subband of tile-component k into a channel, its first coefficient at (x, y). Those of channel 0 are listed. */
bool cli_mosaic_put(cli_mosaic *mosaic, uint32_t channel, const l2k_tile_coefficients *k, uint32_t band, uint32_t x,
                    uint32_t y, uint32_t precision);

/* Undoes RCT or ICT in the bands from number `first` on, whose three channels are complete. */
void cli_mosaic_undo_transform(cli_mosaic *mosaic, size_t first, l2k_wavelet wavelet);

/* Chooses a gain for each level and orientation that makes its details visible, and one for LL if its values are close
 * together, or uses `fixed` for all details if not 0. */
void cli_mosaic_choose_gains(cli_mosaic *mosaic, float fixed);

/* Draws a picture of 8 bits, gray or RGB, with the lines and labels of the options; the caller frees it, also
 * after a failure. */
bool cli_mosaic_draw(const cli_mosaic *mosaic, const cli_options *options, cli_picture *picture);

#endif
