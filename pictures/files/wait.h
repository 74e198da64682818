/* Waiting for the other side of a pipe, socket or terminal, within --timeout. */
#ifndef L2K_PICTURES_FILES_WAIT_H
#define L2K_PICTURES_FILES_WAIT_H

#include <stdbool.h>

/* When the time of --timeout that begins now is up, by cli_now; 0 where there is no limit. */
double cli_deadline(void);

/* Has it passed? Never that of 0. */
bool cli_is_late(double deadline);

/* Until the descriptor is ready for `events` (POLLIN, POLLOUT). False with errno, which is ETIME where the deadline has
 * passed; 0 is none. */
bool cli_wait_ready(int descriptor, short events, double deadline);

#endif
