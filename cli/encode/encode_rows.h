/* Encoding a picture file row of tiles by row of tiles, so that no more of it is in memory. */
#ifndef L2K_CLI_ENCODE_ENCODE_ROWS_H
#define L2K_CLI_ENCODE_ENCODE_ROWS_H

#include "cli/encode/encode_options.h"
#include "pictures/reader.h"

/* Is that wanted of a picture that has its place? Where the result would be another one (layer targets, an output that
 * cannot be gone back in), or --verify could not read the picture again, only if the user says so. */
bool cli_encode_by_rows(const cli_encode_options *options, const cli_picture *picture, const cli_task *task);

/* Bytes of samples in memory at a time. */
uint64_t cli_encode_rows_bytes(const cli_encode_options *options, const cli_picture *picture);

/* `read_failed` tells a failure that the reader has reported already; what reading takes is added to `read_seconds`. */
l2k_status cli_encode_rows(l2k_encoder *encoder, cli_reader *reader, const l2k_stream *stream, bool *read_failed,
                           double *read_seconds);

#endif
