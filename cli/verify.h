/* encode --verify: what was written, decoded and held against what was encoded. */
#ifndef L2K_CLI_VERIFY_H
#define L2K_CLI_VERIFY_H

#include "cli/common_options.h"
#include "cli/source.h"

/* Makes the decoder that checks one file after the other. */
bool cli_verify_create(cli_source *check, const cli_common_options *options);

/* `output` is written, but not committed. Reports what differs, and where nothing should, that is a failure. */
bool cli_verify(cli_source *check, cli_output *output, const cli_picture *picture, bool lossless);

#endif
