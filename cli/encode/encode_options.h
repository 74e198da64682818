#ifndef L2K_CLI_ENCODE_ENCODE_OPTIONS_H
#define L2K_CLI_ENCODE_ENCODE_OPTIONS_H

#include "cli/options/common_options.h"
#include "cli/run/tasks.h"
#include "lift2k/lift2k.h"
#include "pictures/reader.h"

#define CLI_NUM_ENCODER_OPTIONS L2K_ENCODER_NUM_OPTIONS

typedef struct cli_encode_options {
    cli_tasks tasks;
    cli_common_options common;
    uint32_t x0, y0;                         /* --origin */
    int64_t values[CLI_NUM_ENCODER_OPTIONS]; /* indexed by l2k_encoder_option */
    bool given[CLI_NUM_ENCODER_OPTIONS];
    l2k_size precincts[L2K_MAX_LEVELS + 1];
    size_t num_precincts;
    l2k_target target;
    double *layers;
    size_t num_layers;
    cli_raw raw;
    bool has_raw, by_rows, verify;
} cli_encode_options;

/* Values are checked against the ranges in lift2k.h, so that a fault names the option. What only the image can tell is
 * left to the library. To be freed also after a fault. */
bool cli_encode_options_parse(cli_encode_options *options, int count, char **arguments);
/* No sample may change: 5/3, and everything in the last layer. */
bool cli_encode_is_lossless(const cli_encode_options *options);

void cli_encode_options_free(cli_encode_options *options);

#endif
