/* Messages to the user, each a single printable line. */
#include "pictures/user/report.h"

#include <stdarg.h>
#include <stdio.h>

#include "pictures/user/text.h"

static void (*guard_of_lines)(bool begins);
static FILE *reports; /* NULL: standard error */

void cli_report_guard(void (*guard)(bool begins))
{
    guard_of_lines = guard;
}

/* The text after "lift2k: SUBJECT: ", or alone without a subject. */
static void print_line(FILE *to, const char *subject, const char *label, const char *format, va_list arguments)
{
    char head[1024], text[2048];
    snprintf(head, sizeof head, subject ? "lift2k: %.1000s: " : "%s", subject ? subject : "");
    vsnprintf(text, sizeof text, format, arguments);
    cli_make_printable(head);
    cli_make_printable(text);
    if (guard_of_lines)
        guard_of_lines(true);
    fprintf(to, "%s%s%s\n", head, label, text);
    fflush(to);
    if (guard_of_lines)
        guard_of_lines(false);
}

bool cli_print(l2k_severity severity, const char *subject, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_line(stderr, subject, severity == L2K_SEVERITY_WARNING ? "warning: " : "", format, arguments);
    va_end(arguments);
    return false;
}

void cli_reports_to_output(void)
{
    reports = stdout;
}

void cli_report(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_line(reports ? reports : stderr, NULL, "", format, arguments);
    va_end(arguments);
}
