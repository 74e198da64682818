/* Messages to the user: single lines, on standard error except for reports of a batch. */
#ifndef L2K_PICTURES_USER_REPORT_H
#define L2K_PICTURES_USER_REPORT_H

#include <stdbool.h>

#include "lift2k/lift2k.h"

#if defined(__GNUC__)
#define CLI_PRINTF(text, rest) __attribute__((format(printf, text, rest)))
#else
#define CLI_PRINTF(text, rest)
#endif

/* Prints "lift2k: subject: text", or a note without a subject, which is NULL then. Returns false. */
bool cli_print(l2k_severity severity, const char *subject, const char *format, ...) CLI_PRINTF(3, 4);

/* A failing function can `return cli_error(...)`. The function that detects a fault prints it; callers only pass on the
 * false. So a failure prints exactly one line. */
#define cli_error(subject, ...)   cli_print(L2K_SEVERITY_ERROR, subject, __VA_ARGS__)
#define cli_warning(subject, ...) cli_print(L2K_SEVERITY_WARNING, subject, __VA_ARGS__)
#define cli_note(subject, ...)    cli_print(L2K_SEVERITY_NOTE, subject, __VA_ARGS__)

/* Prints the outcome of a file or of all files. After cli_reports_to_output, for commands that write no picture to
 * standard output, it goes there, so that standard error has only failures. */
void cli_report(const char *format, ...) CLI_PRINTF(1, 2);
void cli_reports_to_output(void);

/* Sets a function called before (true) and after (false) every line, so that nothing else on the screen mixes with it.
 * NULL: none. */
void cli_report_guard(void (*guard)(bool begins));

#endif
