/* The options by which `view` and `dump` choose coefficients: how those of a picture are made, which of those of a
 * codestream are wanted. */
#ifndef L2K_CLI_COEFFICIENTS_COEFFICIENT_OPTIONS_H
#define L2K_CLI_COEFFICIENTS_COEFFICIENT_OPTIONS_H

#include "cli/options/common_options.h"
#include "lift2k/lift2k.h"

typedef struct cli_coefficient_options {
    cli_common_options common; /* without backend and many files */
    const char *input, *output;
    int64_t levels, reduce, layers;
    int64_t component, tile_index;    /* -1: all */
    uint32_t tile_width, tile_height; /* 0 = one tile */
    uint32_t x0, y0;
    l2k_wavelet wavelet;
    bool no_mct;
    /* The last option that only pictures have, or only codestreams, for messages; NULL where none was given. */
    const char *picture_option, *codestream_option;
} cli_coefficient_options;

#define CLI_COEFFICIENT_DEFAULTS                                                                                       \
    {                                                                                                                  \
        .common.gpu_min_samples = -1, .levels = 5, .component = -1, .tile_index = -1                                   \
    }

enum {
    CLI_OPTION_LEVELS = 3 * CLI_LONG_ONLY,
    CLI_OPTION_NO_MCT,
    CLI_OPTION_REDUCE,
    CLI_OPTION_LAYERS,
    CLI_OPTION_COMPONENT,
    CLI_OPTION_TILE_INDEX
};

/* The letters, and rows for a command's own table. */
#define CLI_COEFFICIENT_LETTERS ":It:d:j:h"
#define CLI_COEFFICIENT_ROWS                                                                                           \
    {"irreversible", no_argument, NULL, 'I'}, {"levels", required_argument, NULL, CLI_OPTION_LEVELS},                  \
        {"tile", required_argument, NULL, 't'}, {"origin", required_argument, NULL, 'd'},                              \
        {"no-mct", no_argument, NULL, CLI_OPTION_NO_MCT}, {"reduce", required_argument, NULL, CLI_OPTION_REDUCE},      \
        {"layers", required_argument, NULL, CLI_OPTION_LAYERS},                                                        \
        {"component", required_argument, NULL, CLI_OPTION_COMPONENT},                                                  \
        {"tile-index", required_argument, NULL, CLI_OPTION_TILE_INDEX}, CLI_LIMIT_OPTIONS, CLI_PROGRESS_OPTIONS,       \
        {"threads", required_argument, NULL, 'j'}, {"quiet", no_argument, NULL, CLI_OPTION_QUIET},                     \
    {                                                                                                                  \
        "help", no_argument, NULL, 'h'                                                                                 \
    }

/* Takes one of these options, with its value in optarg; `table` is the command's. False for any other, and after a
 * report. */
bool cli_take_coefficient_option(cli_coefficient_options *options, const struct option *table, int kind);

/* The two names at the end, and what options have to do with each other. */
bool cli_end_coefficient_options(cli_coefficient_options *options, int count, char **arguments, const char *command);

#endif
