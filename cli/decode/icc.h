/* Colours by ICC profile, through Little CMS where the build has it. */
#ifndef L2K_CLI_DECODE_ICC_H
#define L2K_CLI_DECODE_ICC_H

#include "lift2k/lift2k.h"

typedef struct cli_icc cli_icc;

/* A transform from 16-bit samples to 8-bit sRGB, with the profile's rendering intent. *colours channels are there; it
 * is set to what the profile takes of them. NULL with a report where the build has no Little CMS; NULL with a warning
 * and *usable false where the profile does not suit. */
cli_icc *cli_icc_open(const l2k_image *image, uint32_t *colours, const char *name, bool *usable);
void cli_icc_row(const cli_icc *icc, const uint16_t *samples, uint8_t *rgb, uint32_t pixels);
void cli_icc_close(cli_icc *icc);

#endif
