/* The handlers of opj_set_error_handler and the like. */
#ifndef COMPAT_OPENJP2_EVENTS_H
#define COMPAT_OPENJP2_EVENTS_H

#include <openjpeg.h>
#include <stdbool.h>

typedef enum event_kind { EVENT_ERROR = 0, EVENT_WARNING, EVENT_INFO, EVENT_KINDS } event_kind;

typedef struct events {
    opj_msg_callback call[EVENT_KINDS];
    void *user[EVENT_KINDS];
} events;

/* Passes a line, which ends with a newline as OpenJPEG's do, to the handler of its kind, if there is one. Returns
 * false. */
bool event_send(const events *handlers, event_kind kind, const char *format, ...) __attribute__((format(printf, 3, 4)));

#define event_fail(handlers, ...) event_send(handlers, EVENT_ERROR, __VA_ARGS__)

#endif
