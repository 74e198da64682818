#ifndef L2K_CLI_COEFFICIENTS_VIEW_OPTIONS_H
#define L2K_CLI_COEFFICIENTS_VIEW_OPTIONS_H

#include "cli/coefficients/mosaic.h"
#include "pictures/formats.h"

typedef struct cli_view_options {
    cli_coefficient_options coefficients; /* of one component, unless rgb */
    cli_format format;
    cli_mosaic_style style;
    double gain; /* 0 = chosen for each subband */
    bool rgb;
    bool has_band, has_level; /* one subband, or those of one level, instead of all */
    uint32_t level;
    l2k_orientation orientation; /* of the band */
} cli_view_options;

bool cli_view_options_parse(cli_view_options *options, int count, char **arguments);

#endif
