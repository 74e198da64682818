#ifndef L2K_CLI_DECODE_OPTIONS_H
#define L2K_CLI_DECODE_OPTIONS_H

#include "cli/writer.h"

typedef struct cli_decode_options {
    const char *input, *output;
    cli_format format;
    int64_t reduce, layers, component, threads, backend;
    int64_t gpu_min_samples; /* -1: the library's own */
    uint32_t region[4];      /* X0, Y0, X1, Y1 */
    bool has_region, has_raw, has_compression, by_rows, strict, rgb8, help;
    cli_write_options write;
} cli_decode_options;

/* Values are checked against the ranges in lift2k.h, so that a fault names the option. What only the file can tell is
 * left to the library. */
bool cli_decode_options_parse(cli_decode_options *options, int count, char **arguments);

#endif
