/* A picture cut into strips that can be decoded and written one after another. */
#ifndef L2K_CLI_INPUT_STRIPS_H
#define L2K_CLI_INPUT_STRIPS_H

#include "cli/input/coded_file.h"

typedef struct cli_strips {
    cli_coded_file *file; /* makes the cuts itself if in_strips; else they are at ends of rows of tiles */
    const cli_picture *picture;
    uint32_t reduce;
    uint32_t tile_y0, tile_height;
    uint64_t unit;   /* rows of the reference grid that no cut may divide */
    uint32_t least;  /* fewest rows of a strip */
    uint32_t y0, y1; /* the strip, on the reference grid */
} cli_strips;

/* A strip with fewer samples would leave threads idle. */
#define CLI_STRIP_SAMPLES ((uint64_t)1 << 24)

/* `picture`, which must outlive the strips, is the decoder's region after `reduce`. Each strip has at least
 * `least_samples` samples, unless they may be `low` and the decoder can make them so (l2k_decoder_begin). Each is to be
 * decoded by cli_coded_decode_rows, and the end called after the last one. */
bool cli_strips_begin(cli_strips *strips, cli_coded_file *file, const cli_picture *picture, const l2k_info *info,
                      uint32_t reduce, uint64_t least_samples, bool low);
bool cli_strips_end(const cli_strips *strips);

/* Gives the current strip its share of the progress bar between `from` and `to`. */
void cli_strips_progress(const cli_strips *strips, double from, double to);

/* False after the last. */
bool cli_strips_next(cli_strips *strips);

#endif
