/* A picture as a viewer shows it, in 8 bits, gray or sRGB, whatever its colours are: --rgb8, and the same in Python and in
 * the browser. */
#ifndef L2K_PICTURES_RGB8_H
#define L2K_PICTURES_RGB8_H

#include "pictures/colour.h"

typedef struct cli_icc cli_icc;

typedef struct cli_rgb8 {
    cli_view decoded;  /* the decoded picture, up-sampled, in 16 bits, or in 8 if nothing else is converted */
    uint32_t colours;  /* its channels in use: 1, 3, or what the profile takes */
    uint32_t channels; /* of the result: gray or RGB */
    int32_t opacity;   /* the decoded picture's opacity channel, which the result has last; -1: none */
    /* One pixel to sRGB, 0 to 1 or outside; NULL if the profile does it, or if only the depth changes. */
    void (*convert)(const struct cli_rgb8 *conversion, const uint16_t *pixel, double *rgb);
    double offset[3], scale[3]; /* of YCC and CIELab: value = scale * (sample / 65535 - offset) */
    double matrix[3][3];        /* CIELab: from X, Y, Z relative to white to linear sRGB */
    cli_icc *icc;
    uint8_t *bytes, *rgb; /* a row of the decoded picture, and of its colours converted */
    uint16_t *samples;    /* a row of its colours */
} cli_rgb8;

/* Chooses how `picture`, whose samples need not exist yet and which must outlive the conversion, is shown. `name` is for
 * messages; if `quiet`, colours beyond RGB are left out without one. */
bool cli_rgb8_create(cli_rgb8 *conversion, const cli_picture *picture, uint32_t reduce, bool quiet, const char *name);
void cli_rgb8_free(cli_rgb8 *conversion);

/* Samples of a pixel of the result: its channels, and opacity. */
static inline uint32_t cli_rgb8_count(const cli_rgb8 *conversion)
{
    return conversion->channels + (conversion->opacity >= 0);
}

/* Converts row `y`, whose decoded samples must be in memory, to decoded.width pixels. */
void cli_rgb8_row(const cli_rgb8 *conversion, uint32_t y, uint8_t *pixels);

/* ---- ICC profiles, and white points of CIELab (icc.c), through Little CMS if the build includes it ---- */

/* A transform from 16-bit samples to 8-bit sRGB with the profile's rendering intent. *colours is the number of channels
 * available, and becomes the number that the profile takes. NULL with a report if the build has no Little CMS; NULL
 * with a warning and *usable false if the profile does not match. */
cli_icc *cli_icc_open(const l2k_image *image, uint32_t *colours, const char *name, bool *usable);
void cli_icc_row(const cli_icc *icc, const uint16_t *samples, uint8_t *rgb, uint32_t pixels);
void cli_icc_close(cli_icc *icc);

/* The matrix from X, Y, Z relative to the white of an illuminant (ISO/IEC 15444-2, M.11.7.4.1) to linear sRGB; that of D50,
 * with a warning, for an unknown one. False with a report if the build has no Little CMS. */
#define CLI_D50 UINT32_C(0x00443530)
bool cli_lab_matrix(uint32_t illuminant, double matrix[3][3], const char *name);

#endif
