/* What a person wants to see: the picture in 8 bits, gray or sRGB, whatever it is made of. */
#ifndef L2K_CLI_DECODE_RGB8_H
#define L2K_CLI_DECODE_RGB8_H

#include "cli/decode/decode_options.h"
#include "cli/decode/icc.h"
#include "pictures/colour.h"

typedef struct cli_rgb8 {
    cli_picture picture; /* the result: gray or RGB, and opacity where the format has room for it */
    cli_view source;     /* the decoded picture at 16 bits, up-sampled */
    uint32_t colours;    /* of the source that are used: 1, 3, or as many as the profile wants */
    int32_t opacity;     /* the source's channel for it, or -1 */
    /* One pixel to sRGB from 0 to 1, or outside; NULL where the profile does it. */
    void (*convert)(const struct cli_rgb8 *conversion, const uint16_t *pixel, double *rgb);
    double offset[3], scale[3]; /* of YCC and CIELab: value = scale * (sample / 65535 - offset) */
    double matrix[3][3];        /* CIELab: from X, Y, Z relative to white to linear sRGB */
    cli_icc *icc;
} cli_rgb8;

/* Settles how `picture`, whose samples need not be there yet, becomes conversion->picture, whose shape is then known.
 * `name` is for messages. */
bool cli_rgb8_create(cli_rgb8 *conversion, const cli_picture *picture, const cli_decode_options *options,
                     const char *name);

/* Fills in rows from `first` to `end`, of which the samples that were decoded must be there. */
bool cli_rgb8_convert(cli_rgb8 *conversion, uint32_t first, uint32_t end, const char *name);
void cli_rgb8_free(cli_rgb8 *conversion);

/* The matrix for CIELab under an illuminant as the file has it; an unknown one is taken for D50 and gives false. */
bool cli_lab_matrix(uint32_t illuminant, double matrix[3][3]);

#endif
