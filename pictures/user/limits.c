/* The limits of pixels and memory that the user sets, and the clock. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "pictures/user/limits.h"

#include <time.h>

#include "pictures/user/report.h"
#include "pictures/user/text.h"

cli_limits cli_allowed = {CLI_NO_LIMIT, CLI_NO_LIMIT};

bool cli_pixels_allowed(uint64_t width, uint64_t height, const char *name)
{
    char size[CLI_UNITS_ROOM], most[CLI_UNITS_ROOM];
    if (!height || width <= cli_allowed.pixels / height)
        return true;
    return cli_error(name, "%llu x %llu are %s, the limit is %s; --max-pixels N allows more", (unsigned long long)width,
                     (unsigned long long)height, cli_count_text((double)width * (double)height, "pixels", size),
                     cli_count_text((double)cli_allowed.pixels, "pixels", most));
}

static uint64_t held;

void cli_memory_hold(uint64_t bytes)
{
    held += bytes;
}

void cli_memory_let_go(uint64_t bytes)
{
    held -= bytes;
}

uint64_t cli_memory_left(uint64_t taken)
{
    if (cli_allowed.memory == CLI_NO_LIMIT)
        return CLI_NO_LIMIT;
    return held + taken < cli_allowed.memory ? cli_allowed.memory - held - taken : 1;
}

bool cli_memory_allowed(uint64_t bytes, const char *name)
{
    char need[CLI_UNITS_ROOM], most[CLI_UNITS_ROOM];
    bytes += held;
    if (cli_allowed.memory == CLI_NO_LIMIT || bytes <= cli_allowed.memory)
        return true;
    return cli_error(name, "the samples take %s of memory, the limit is %s; --max-memory BYTES allows more",
                     cli_bytes_text(bytes, need), cli_bytes_text(cli_allowed.memory, most));
}

double cli_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
