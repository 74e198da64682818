/* Output to pipes, sockets and devices. Their readers can make a write block, and the descriptor may have been
 * inherited in non-blocking mode. --timeout bounds all of it, from opening on. */
#ifndef L2K_PICTURES_FILES_PIPE_H
#define L2K_PICTURES_FILES_PIPE_H

#include "pictures/files/file.h"

/* Opens `path`, or takes over a stream. Sets output->stream, which is afterwards only closed, and output->pipe, which
 * is to be freed. These functions return false with errno, which is ETIME when the time limit has passed. */
bool cli_pipe_open(cli_output *output, const char *path);
bool cli_pipe_take(cli_output *output, FILE *stream);

/* Buffered. */
bool cli_pipe_write(cli_output *output, const void *data, size_t bytes);
bool cli_pipe_flush(cli_output *output);

/* Waits until the descriptor is ready for `events` (POLLIN, POLLOUT). False with errno, which is ETIME when the
 * deadline has passed; a deadline of 0 is none. */
bool cli_wait_ready(int descriptor, short events, double deadline);

#endif
