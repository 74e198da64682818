/* Encoding a picture file row of tiles by row of tiles, so that no more of it is in memory. */
#ifndef L2K_CLI_ENCODE_ROWS_H
#define L2K_CLI_ENCODE_ROWS_H

#include "cli/encode_options.h"
#include "cli/reader.h"

/* Is that wanted of a picture that has its place? Where the result would be another one (layer targets, an output that
 * cannot be gone back in), only if the user says so. */
bool cli_encode_by_rows(const cli_encode_options *options, const cli_picture *picture, const cli_output *output);

/* `read_failed` tells a failure that the reader has reported already. */
l2k_status cli_encode_rows(l2k_encoder *encoder, cli_reader *reader, const l2k_stream *stream, bool *read_failed);

#endif
