/* Messages to the user: single lines, on standard error except for reports of a batch. */
#ifndef L2K_PICTURES_USER_REPORT_H
#define L2K_PICTURES_USER_REPORT_H

#include <stdbool.h>

#if defined(__GNUC__)
#define CLI_PRINTF(text, rest) __attribute__((format(printf, text, rest)))
#else
#define CLI_PRINTF(text, rest)
#endif

/* Prints "lift2k: subject: text" and returns false, so that a failing function can `return cli_error(...)`. The
 * function that detects a fault prints it; callers only pass on the false. So a failure prints exactly one line. */
bool cli_error(const char *subject, const char *format, ...) CLI_PRINTF(2, 3);

void cli_warning(const char *subject, const char *format, ...) CLI_PRINTF(2, 3);

/* Prints a line without the prefix. */
void cli_note(const char *format, ...) CLI_PRINTF(1, 2);

/* The same for the outcome of a file and of all files. After cli_reports_to_output, for commands that write no picture
 * to standard output, it goes there, so that standard error has only failures. */
void cli_report(const char *format, ...) CLI_PRINTF(1, 2);
void cli_reports_to_output(void);

/* Sets a function called before (true) and after (false) every line, so that nothing else on the screen mixes with it.
 * NULL: none. */
void cli_report_guard(void (*guard)(bool begins));

#endif
