/* What the command says to its user: single lines on standard error. */
#ifndef L2K_PICTURES_USER_REPORT_H
#define L2K_PICTURES_USER_REPORT_H

#include <stdbool.h>

#if defined(__GNUC__)
#define CLI_PRINTF(text, rest) __attribute__((format(printf, text, rest)))
#else
#define CLI_PRINTF(text, rest)
#endif

/* Prints "lift2k: subject: text" and returns false, so that a failing function can say `return cli_error(...)`. Whoever
 * finds the fault prints it; callers only pass the false on. That keeps a failure at exactly one line. */
bool cli_error(const char *subject, const char *format, ...) CLI_PRINTF(2, 3);

void cli_warning(const char *subject, const char *format, ...) CLI_PRINTF(2, 3);

/* A line without the prefix. */
void cli_note(const char *format, ...) CLI_PRINTF(1, 2);

/* What is called around every line, so that nothing else that is drawn there runs into it: with true before, with false
 * after. NULL: nothing. */
void cli_report_guard(void (*guard)(bool begins));

#endif
