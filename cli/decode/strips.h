/* A tiled picture cut into strips that can be decoded and written one after the other. */
#ifndef L2K_CLI_DECODE_STRIPS_H
#define L2K_CLI_DECODE_STRIPS_H

#include "pictures/picture.h"

typedef struct cli_strips {
    const cli_picture *picture;
    uint32_t reduce;
    uint32_t tile_y0, tile_height;
    uint64_t unit;   /* rows of the reference grid that no cut may divide */
    uint32_t least;  /* rows worth a strip */
    uint32_t y0, y1; /* the strip, on the reference grid */
} cli_strips;

/* With fewer samples a strip would leave threads idle. */
#define CLI_STRIP_SAMPLES ((uint64_t)1 << 24)

/* `picture` is what the decoder's region and `reduce` leave; it must stay. A strip has at least so many samples. */
void cli_strips_begin(cli_strips *strips, const cli_picture *picture, const l2k_info *info, uint32_t reduce,
                      uint64_t least_samples);

/* Its strip in hand is that part of the bar from `from` to `to`, of which all strips together are the whole. */
void cli_strips_progress(const cli_strips *strips, double from, double to);

/* False when there is no more. */
bool cli_strips_next(cli_strips *strips);

#endif
