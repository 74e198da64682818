/* The library's messages about a file on their way to the user; and how the user stops the library. */
#ifndef L2K_CLI_RUN_MESSAGES_H
#define L2K_CLI_RUN_MESSAGES_H

#include <stdatomic.h>
#include <stdbool.h>

#include "lift2k/lift2k.h"

/* Prints the first 20 warnings and notes about a file as they come. Of the errors, which may come from several threads,
 * it keeps the first for cli_messages_check. */
typedef struct cli_messages {
    const char *subject;
    bool quiet;
    atomic_flag taken; /* first_error is */
    char first_error[256];
    _Atomic uint64_t said[16];          /* hashes of warnings, which decoding in parts would repeat */
    atomic_uint lines;                  /* warnings and notes so far */
    const struct cli_messages **failed; /* where the failure of a device is noted, in place of a report; or NULL */
} cli_messages;

/* `failed` stays. */
void cli_messages_init(cli_messages *messages, const char *subject, bool quiet);

/* Forgets errors, but not what was said. */
void cli_messages_restart(cli_messages *messages);

/* Hooks with malloc and free and this message sink. The progress hook draws the bar, and stops the work on Ctrl-C. */
l2k_hooks cli_messages_hooks(cli_messages *messages);

/* True for L2K_OK. Otherwise prints the library's first error, or else the text of the status; for a limit also the option
 * that allows more. */
bool cli_messages_check(cli_messages *messages, l2k_status status);

#endif
