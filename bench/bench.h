/* What the benchmarks of the build share: a clock, and a hook for the library's messages. Needs _POSIX_C_SOURCE 199309L
 * or later. */
#ifndef L2K_BENCH_BENCH_H
#define L2K_BENCH_BENCH_H

#include <stdio.h>
#include <time.h>

#include "lift2k/lift2k.h"

/* Of a clock that is not set; its differences count. In seconds. */
static inline double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline double now_ms(void)
{
    return 1e3 * now();
}

/* A message hook: all of them, to standard error. */
static inline void report_message(void *user, l2k_severity severity, const char *text)
{
    (void)user, (void)severity;
    fprintf(stderr, "lift2k: %s\n", text);
}

#endif
