/* Messages to the caller's handlers: errors, warnings and information, each a line. */
#include "compat/openjp2/events.h"

#include <stdarg.h>

static void send_line(const events *handlers, event_kind kind, const char *format, va_list values)
{
    char line[512];
    if (!handlers->call[kind])
        return;
    vsnprintf(line, sizeof line, format, values);
    handlers->call[kind](line, handlers->user[kind]);
}

void event_send(const events *handlers, event_kind kind, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    send_line(handlers, kind, format, values);
    va_end(values);
}

bool event_fail(const events *handlers, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    send_line(handlers, EVENT_ERROR, format, values);
    va_end(values);
    return false;
}
