/* Shared by the two parts of the PNM and PAM reader. */
#ifndef L2K_PICTURES_FORMATS_PNM_H
#define L2K_PICTURES_FORMATS_PNM_H

#include "pictures/reader.h"

typedef struct cli_pnm_header {
    uint32_t width, height, depth, maxval; /* checked: at least 1, depth at most 16384, maxval at most 65535 */
    bool ascii;                            /* P1, P2, P3 */
    bool bitmap;                           /* P1, P4: 1 is black */
    bool packed;                           /* P4 */
    bool opacity;                          /* the last component is opacity */
    l2k_colour colour;
} cli_pnm_header;

/* All of these report their errors. The header is read up to the first byte of the raster. Comments and space before a
 * number may take up to 1 MiB, as may a whole PAM header. */
bool cli_pnm_read_header(cli_input *input, cli_pnm_header *header);
bool cli_pnm_number(cli_input *input, uint32_t *value);
bool cli_pnm_bit(cli_input *input, uint32_t *value);

#endif
