/* Ctrl-C and its kin: nothing half-written stays, and the exit is the signal's. */
#ifndef L2K_PICTURES_USER_INTERRUPT_H
#define L2K_PICTURES_USER_INTERRUPT_H

#include <stdbool.h>

/* From here on SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE and SIGXCPU, unless the caller of the program ignores them,
 * remove the temporary files noted below and end the program by the same signal: at once, or, while the library is at
 * work, when it has stopped. SIGPIPE and a second signal do not wait for the library. SIGXFSZ is ignored: writing fails
 * instead. */
void cli_interrupt_watch(void);

/* The library is at work, and its progress hook asks cli_interrupted. Returns what was said before. */
bool cli_interrupt_wait(bool at_work);
bool cli_interrupted(void);

/* Ends the program if a signal came; to be called when the library has stopped. */
void cli_interrupt_end(void);

/* Around what must not be done by halves, and takes no time: every signal waits for it. Any thread may. */
void cli_interrupt_hold(bool on);

/* A temporary file to be removed, or a folder, where it is empty after all that was noted later. The name is copied.
 * Returns what to forget it by; NULL, which can be forgotten, too, where memory lacks. */
void *cli_interrupt_note(const char *temporary);
void cli_interrupt_forget(void *note);

/* The last thing that a signal writes to standard error, what erases a progress bar; "" for nothing. At most 511 bytes
 * count. */
void cli_interrupt_farewell(const char *text);

#endif
