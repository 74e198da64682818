/* For view and dump: the coefficients of any file that the command reads, tile by tile. They are those of a JPEG 2000
 * file, or of the file that the encoder would make of a picture. */
#ifndef L2K_CLI_COEFFICIENTS_COEFFICIENTS_H
#define L2K_CLI_COEFFICIENTS_COEFFICIENTS_H

#include "cli/input/input.h"
#include "cli/options/options.h"
#include "cli/run/messages.h"

/* Takes a tile-component; false, after a report, stops. */
typedef bool cli_coefficient_sink(void *user, const l2k_tile_coefficients *coefficients);

typedef struct cli_coefficients {
    const cli_options *options;
    const char *output; /* the second file name */
    uint32_t reduce;    /* resolutions left out; --reduce unless the caller changes it */
    int64_t component;  /* -1 = all */
    cli_any_file file;  /* the first file name */
    l2k_info info;
    cli_coefficient_sink *sink;
    void *user;         /* of the sink */
    bool refused;       /* by the sink */
    uint32_t num_given; /* tile-components so far */
    uint8_t *bytes;     /* of a picture, coded; NULL for other files */
    size_t held;        /* bytes of the picture's samples, later of `bytes` */
} cli_coefficients;

/* Takes the two file names of the options, and checks how the options fit together; false after a report. */
bool cli_coefficients_begin(cli_coefficients *input, const cli_options *options);

/* Opens the input and checks the options against it. Call cli_coefficients_close in either case; the object must not be
 * moved while it is open. */
bool cli_coefficients_open(cli_coefficients *input);
/* Keeps the image and the file's name; may be called twice. */
void cli_coefficients_close(cli_coefficients *input);

/* Hands out the tile-components that the options select, in order. Reports faults of the file. */
bool cli_coefficients_each(cli_coefficients *input, cli_coefficient_sink *sink, void *user);

typedef struct cli_area {
    uint32_t x0, y0, x1, y1;
} cli_area;

/* The tile of --tile-index, or the whole image, in the domain of component c (B-12). */
cli_area cli_component_area(const cli_coefficients *input, uint32_t c);

static inline uint32_t cli_ceil_div(uint64_t a, uint64_t b)
{
    return (uint32_t)((a + b - 1) / b);
}

/* One side of a subband in its domain (B-15), from that of the component; without `high`, of the resolution. */
static inline uint32_t cli_band_side(uint32_t side, uint32_t level, bool high)
{
    const uint64_t scale = (uint64_t)1 << level, offset = high ? scale / 2 : 0;
    return side > offset ? cli_ceil_div(side - offset, scale) : 0;
}

/* LL, HL, LH, HH. */
extern const char *const cli_orientation_names[4];

#endif
