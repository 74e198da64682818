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

static void guard_line(bool begins)
{
    if (guard_of_lines)
        guard_of_lines(begins);
}

static void print_line(const char *label, const char *subject, const char *format, va_list arguments)
{
    char name[1024], text[1024];
    snprintf(name, sizeof name, "%s", subject);
    vsnprintf(text, sizeof text, format, arguments);
    cli_make_printable(name);
    cli_make_printable(text);
    guard_line(true);
    fprintf(stderr, "lift2k: %s: %s%s\n", name, label, text);
    guard_line(false);
}

bool cli_error(const char *subject, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_line("", subject, format, arguments);
    va_end(arguments);
    return false;
}

void cli_warning(const char *subject, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_line("warning: ", subject, format, arguments);
    va_end(arguments);
}

static void print_text(FILE *to, const char *format, va_list arguments)
{
    char text[2048];
    vsnprintf(text, sizeof text, format, arguments);
    cli_make_printable(text);
    guard_line(true);
    fprintf(to, "%s\n", text);
    fflush(to);
    guard_line(false);
}

void cli_note(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_text(stderr, format, arguments);
    va_end(arguments);
}

void cli_reports_to_output(void)
{
    reports = stdout;
}

void cli_report(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_text(reports ? reports : stderr, format, arguments);
    va_end(arguments);
}
