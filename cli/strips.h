/* A tiled picture cut into strips that can be decoded and written one after the other. */
#ifndef L2K_CLI_STRIPS_H
#define L2K_CLI_STRIPS_H

#include "cli/picture.h"

typedef struct cli_strips {
    const cli_picture *picture;
    uint32_t reduce;
    uint32_t tile_y0, tile_height;
    uint64_t unit;   /* rows of the reference grid that no cut may divide */
    uint32_t least;  /* rows worth a strip */
    uint32_t y0, y1; /* the strip, on the reference grid */
} cli_strips;

/* `picture` is what the decoder's region and `reduce` leave; it must stay. All is one strip unless `by_rows`. */
void cli_strips_begin(cli_strips *strips, const cli_picture *picture, const l2k_info *info, uint32_t reduce,
                      bool by_rows);

/* False when there is no more. */
bool cli_strips_next(cli_strips *strips);

#endif
