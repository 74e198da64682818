/* Waiting for pipes, sockets and devices. They can make a read or write block, and a descriptor may have been inherited
 * in non-blocking mode. --timeout bounds all of it, from opening on: deadlines are in terms of cli_now, 0 is none. All
 * functions fail with errno, which is ETIME when the deadline has passed. */
#ifndef L2K_PICTURES_FILES_PIPE_H
#define L2K_PICTURES_FILES_PIPE_H

#include <stdbool.h>
#include <stddef.h>

/* Opens for writing; -1 on failure. */
int cli_open_within(const char *path, double deadline);

bool cli_write_all(int descriptor, const void *data, size_t bytes, double deadline);

/* Waits until the descriptor is ready for `events` (POLLIN, POLLOUT). */
bool cli_wait_ready(int descriptor, short events, double deadline);

#endif
