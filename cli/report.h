/* What the command says to its user: single lines on standard error. */
#ifndef L2K_CLI_REPORT_H
#define L2K_CLI_REPORT_H

#include <stdatomic.h>
#include <stdbool.h>

#include "lift2k/lift2k.h"

#if defined(__GNUC__)
#define CLI_PRINTF(text, rest) __attribute__((format(printf, text, rest)))
#else
#define CLI_PRINTF(text, rest)
#endif

/* INCOMPLETE: there is an output, of an input that ends early. */
enum { CLI_EXIT_OK = 0, CLI_EXIT_FAILURE = 1, CLI_EXIT_USAGE = 2, CLI_EXIT_INCOMPLETE = 3 };

/* Prints "lift2k: subject: text" and returns false, so that a failing function can say `return cli_error(...)`. Whoever
 * finds the fault prints it; callers only pass the false on. That keeps a failure at exactly one line. */
bool cli_error(const char *subject, const char *format, ...) CLI_PRINTF(2, 3);

void cli_warning(const char *subject, const char *format, ...) CLI_PRINTF(2, 3);

/* A line without the prefix. */
void cli_note(const char *format, ...) CLI_PRINTF(1, 2);

/* Collects what the library says about one file. Warnings and notes are printed as they come; of the errors, which may
 * come from several threads, the first is kept until cli_messages_fail decides what to print. */
typedef struct cli_messages {
    const char *subject;
    bool quiet;
    atomic_flag taken;
    char first_error[256];
    _Atomic uint64_t said[16]; /* hashes of warnings, which decoding part by part would repeat */
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
