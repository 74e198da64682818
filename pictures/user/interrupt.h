/* Ctrl-C and similar signals: no partial file remains, and the exit status is the signal's. */
#ifndef L2K_PICTURES_USER_INTERRUPT_H
#define L2K_PICTURES_USER_INTERRUPT_H

#include <stdbool.h>

/* From here on SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE and SIGXCPU, unless the caller of the program ignores them,
 * remove the temporary files registered below and end the program by the same signal: at once or, while the library is
 * working, when it has stopped. SIGPIPE and a second signal do not wait for the library. SIGXFSZ is ignored: writing
 * fails instead. */
void cli_interrupt_watch(void);

/* States whether the library is working for this thread, with a progress hook that asks cli_interrupted. Returns the
 * thread's previous state. */
bool cli_interrupt_wait(bool works);
bool cli_interrupted(void);

/* Ends the program if a signal arrived; to be called when the library has stopped. */
void cli_interrupt_end(void);

/* Registers a temporary file to be removed. The name is copied. Returns a handle for cli_interrupt_forget, which also
 * accepts NULL, the result when out of memory. */
void *cli_interrupt_register(const char *temporary);
void cli_interrupt_forget(void *registered);

/* The last text that a signal writes to standard error, which erases a progress bar; "" for none. At most 511 bytes. */
void cli_interrupt_farewell(const char *text);

#endif
