#ifndef L2K_CLI_DECODE_DECODE_OPTIONS_H
#define L2K_CLI_DECODE_DECODE_OPTIONS_H

#include "cli/options/common_options.h"
#include "cli/run/tasks.h"
#include "pictures/writer.h"

typedef struct cli_decode_options {
    cli_tasks tasks;
    cli_common_options common;
    cli_format format; /* of all outputs */
    int64_t reduce, layers, component;
    uint32_t region[4]; /* X0, Y0, X1, Y1 */
    bool has_region, has_raw, has_compression, by_rows, strict, rgb8;
    cli_write_options write;
} cli_decode_options;

/* Values are checked against the ranges in lift2k.h, so that a fault names the option. What only the file can tell is
 * left to the library. The tasks are to be freed also after a fault. */
bool cli_decode_options_parse(cli_decode_options *options, int count, char **arguments);

#endif
