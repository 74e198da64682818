/* encode --verify: what was written, decoded and held against what was encoded. */
#ifndef L2K_CLI_ENCODE_VERIFY_H
#define L2K_CLI_ENCODE_VERIFY_H

#include "cli/options/common_options.h"
#include "cli/decode/source.h"
#include "pictures/reader.h"

/* Which part of a bar is before the checking. */
#define CLI_VERIFY_FROM 0.5

/* Makes the decoder that checks one file after the other. */
bool cli_verify_create(cli_source *check, const cli_common_options *options);

/* `output` is written, but not committed. `original` is what was encoded: all of it in memory, or, `by_rows`, at its
 * beginning again, to be read strip by strip. Reports what differs, and where nothing should, that is a failure. */
bool cli_verify(cli_source *check, cli_output *output, cli_reader *original, bool by_rows, bool lossless);

#endif
