/* Messages to the caller's handlers: errors, warnings and information, each a line. */
#include "compat/openjp2/events.h"

#include <stdarg.h>

bool event_send(const events *handlers, event_kind kind, const char *format, ...)
{
    char line[512];
    va_list values;
    if (!handlers->call[kind])
        return false;
    va_start(values, format);
    vsnprintf(line, sizeof line, format, values);
    va_end(values);
    handlers->call[kind](line, handlers->user[kind]);
    return false;
}
