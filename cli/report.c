#include "cli/report.h"

#include <stdarg.h>
#include <stdio.h>

/* File names may hold any byte. A control character would break the line or move the cursor. */
static void make_printable(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = '?';
}

static void print_line(const char *label, const char *subject, const char *format, va_list arguments)
{
    char name[1024], text[1024];
    snprintf(name, sizeof name, "%s", subject);
    vsnprintf(text, sizeof text, format, arguments);
    make_printable(name);
    make_printable(text);
    fprintf(stderr, "lift2k: %s: %s%s\n", name, label, text);
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

void cli_note(const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    make_printable(text);
    fprintf(stderr, "%s\n", text);
}

void cli_messages_init(cli_messages *messages, const char *subject, bool quiet)
{
    messages->subject = subject;
    messages->quiet = quiet;
    messages->first_error[0] = 0;
    atomic_flag_clear(&messages->taken);
}

static void take_message(void *user, l2k_severity severity, const char *text)
{
    cli_messages *messages = user;
    if (severity == L2K_SEVERITY_ERROR) {
        if (!atomic_flag_test_and_set(&messages->taken))
            snprintf(messages->first_error, sizeof messages->first_error, "%s", text);
    } else if (severity == L2K_SEVERITY_WARNING && !messages->quiet) {
        cli_warning(messages->subject, "%s", text);
    } else if (!messages->quiet) {
        cli_note("lift2k: %s: %s", messages->subject, text);
    }
}

l2k_hooks cli_messages_hooks(cli_messages *messages)
{
    l2k_hooks hooks = {0};
    hooks.message = take_message;
    hooks.user = messages;
    return hooks;
}

bool cli_messages_fail(const cli_messages *messages, l2k_status status)
{
    return cli_error(messages->subject, "%s",
                     messages->first_error[0] ? messages->first_error : l2k_strerror(status));
}
