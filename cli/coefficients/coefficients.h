/* The coefficients of any file that the command reads, tile by tile: those that a JPEG 2000 file has, or those that the
 * transform stage makes of a picture, as the encoder would. */
#ifndef L2K_CLI_COEFFICIENTS_COEFFICIENTS_H
#define L2K_CLI_COEFFICIENTS_COEFFICIENTS_H

#include "cli/compare/any_picture.h"
#include "cli/coefficients/coefficient_options.h"
#include "cli/run/messages.h"

typedef struct cli_coefficients {
    const cli_coefficient_options *options;
    cli_any_file file;
    l2k_image image;                   /* all of it, on the reference grid; components in the order of the codestream */
    uint32_t tile_x0, tile_y0;         /* of the tile grid */
    uint32_t tile_width, tile_height;  /* of a tile of it */
    uint32_t tiles_across, tiles_down; /* of the grid */
    l2k_wavelet wavelet;               /* of component 0, where tiles do not say otherwise, like the next */
    uint32_t levels;
    bool component_transform;
    bool incomplete;    /* a codestream that ends early, as it turned out */
    uint32_t num_given; /* tile-components */
    l2k_transform *transform;
    uint64_t held;         /* bytes of a picture's samples, and of the transform of its largest tile */
    cli_messages messages; /* of the transform */
} cli_coefficients;

/* Opens options->input and holds the options against it. To be closed also after a failure; it must not be moved while
 * it is open. */
bool cli_coefficients_open(cli_coefficients *source, const cli_coefficient_options *options);
/* Image and name of the file stay; closing once more does nothing. */
void cli_coefficients_close(cli_coefficients *source);

/* Takes a tile-component; false, after a report, ends it all. */
typedef bool cli_coefficient_sink(void *user, const l2k_tile_coefficients *coefficients);

/* Hands out the tile-components that the options ask for, in order. What is wrong with the file is reported. */
bool cli_coefficients_each(cli_coefficients *source, cli_coefficient_sink *sink, void *user);

typedef struct cli_area {
    uint32_t x0, y0, x1, y1;
} cli_area;

/* The part of the reference grid that a tile covers. */
cli_area cli_tile_area(const cli_coefficients *source, uint32_t index);

/* Of the tile that alone is wanted, or of the image. */
cli_area cli_wanted_area(const cli_coefficients *source);

/* The same in the domain of component c (B-12). */
cli_area cli_component_area(const cli_coefficients *source, cli_area area, uint32_t c);

static inline uint32_t cli_ceil_div(uint64_t a, uint64_t b)
{
    return (uint32_t)((a + b - 1) / b);
}

/* LL, HL, LH, HH. */
extern const char *const cli_orientation_names[4];

#endif
