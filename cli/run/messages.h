/* What the library says about a file, on its way to the user; and how the user stops it. */
#ifndef L2K_CLI_RUN_MESSAGES_H
#define L2K_CLI_RUN_MESSAGES_H

#include <stdatomic.h>
#include <stdbool.h>

#include "lift2k/lift2k.h"

/* Collects what the library says about one file. The first 20 warnings and notes are printed as they come; of the
 * errors, which may come from several threads, the first is kept until cli_messages_fail decides what to print. */
typedef struct cli_messages {
    const char *subject;
    bool quiet;
    atomic_flag taken;
    char first_error[256];
    _Atomic uint64_t said[16]; /* hashes of warnings, which decoding part by part would repeat */
    atomic_uint lines;         /* of warnings and notes */
    double deadline;           /* of --timeout, by cli_now; 0 = none */
} cli_messages;

/* From here on the time of --timeout runs, too. */
void cli_messages_init(cli_messages *messages, const char *subject, bool quiet);

/* Has the time of --timeout passed? */
bool cli_messages_late(const cli_messages *messages);

/* Hooks with malloc and free and this message sink. The progress hook draws the bar and stops the work for Ctrl-C and
 * --timeout. */
l2k_hooks cli_messages_hooks(cli_messages *messages);

/* Prints the first error of the library, or the text of the status where there was none; where a limit was met, also
 * which option allows more. Returns false. */
bool cli_messages_fail(const cli_messages *messages, l2k_status status);

#endif
