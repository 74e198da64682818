#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "pictures/files/units.h"

#include <stdio.h>
#include <time.h>

/* Four digits with one of the prefixes, from 1000 on. */
static const char *scaled(double value, const char *prefixes, const char *unit, char *text)
{
    size_t step = 0;
    while (value >= 999.95 && prefixes[step]) {
        value /= 1000;
        step++;
    }
    snprintf(text, CLI_UNITS_ROOM, "%.*f %c%s",
             value < 9.9995   ? 3
             : value < 99.995 ? 2
                              : 1,
             value, prefixes[step - 1], unit);
    return text;
}

const char *cli_bytes_text(uint64_t bytes, char text[CLI_UNITS_ROOM])
{
    if (bytes >= 1000)
        return scaled((double)bytes, "kMGTPE", "B", text);
    snprintf(text, CLI_UNITS_ROOM, "%u byte%s", (unsigned)bytes, bytes == 1 ? "" : "s");
    return text;
}

const char *cli_count_text(double count, const char *unit, char text[CLI_UNITS_ROOM])
{
    if (count >= 1000)
        return scaled(count, "kMGTPE", unit, text);
    snprintf(text, CLI_UNITS_ROOM, "%.0f %s", count, unit);
    return text;
}

const char *cli_seconds_text(double seconds, char text[CLI_UNITS_ROOM])
{
    unsigned long whole = (unsigned long)(seconds + 0.5);
    if (seconds < 99.95)
        snprintf(text, CLI_UNITS_ROOM, "%.*f s", seconds < 9.9995 ? 3 : 1, seconds);
    else if (whole < 3600)
        snprintf(text, CLI_UNITS_ROOM, "%lu min %02lu s", whole / 60, whole % 60);
    else
        snprintf(text, CLI_UNITS_ROOM, "%lu h %02lu min", whole / 3600, whole / 60 % 60);
    return text;
}

double cli_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
