/* Output to what is no regular file: pipes, sockets, devices. Whoever reads there may keep one waiting, and whoever
 * started the command may have left it a descriptor that does not wait by itself. --timeout bounds all of it, from the
 * opening on. */
#ifndef L2K_PICTURES_FILES_PIPE_H
#define L2K_PICTURES_FILES_PIPE_H

#include "pictures/files/file.h"

/* Sets output->stream, which is then only to be closed, and output->pipe, which is to be freed: opens what is there
 * under the name, or takes a stream over. False with errno, which is ETIME where time is up; so with the next two. */
bool cli_pipe_open(cli_output *output, const char *path);
bool cli_pipe_take(cli_output *output, FILE *stream);

/* Through a buffer. */
bool cli_pipe_write(cli_output *output, const void *data, size_t bytes);
bool cli_pipe_flush(cli_output *output);

/* Waits until the descriptor is ready for `events` (POLLIN, POLLOUT). False with errno, which is ETIME when the
 * deadline has passed; a deadline of 0 is none. */
bool cli_wait_ready(int descriptor, short events, double deadline);

#endif
