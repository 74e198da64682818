/* Values of the options of `lift2k encode` that are more than a number or a name. */
#ifndef L2K_CLI_ENCODE_ENCODE_VALUES_H
#define L2K_CLI_ENCODE_ENCODE_VALUES_H

#include "cli/encode/encode_options.h"

bool cli_encode_set(cli_encode_options *options, l2k_encoder_option option, int64_t value);

/* Each takes the text behind the option `name`, or reports what is wrong with it. */
bool cli_parse_layers(cli_encode_options *options, l2k_target target, const char *name, const char *text);
bool cli_parse_tile(cli_encode_options *options, const char *name, const char *text);
bool cli_parse_tile_origin(cli_encode_options *options, const char *name, const char *text);
bool cli_parse_origin(cli_encode_options *options, const char *name, const char *text);
bool cli_parse_block(cli_encode_options *options, const char *name, const char *text);
bool cli_parse_precincts(cli_encode_options *options, const char *name, const char *text);

#endif
