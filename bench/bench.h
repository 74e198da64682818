/* What the benchmarks of the build share: a clock, a hook for the library's messages, and medians. Needs
 * _POSIX_C_SOURCE 199309L or later. */
#ifndef L2K_BENCH_BENCH_H
#define L2K_BENCH_BENCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* A message hook: warnings and errors, to standard error. */
static inline void report_message(void *user, l2k_severity severity, const char *text)
{
    (void)user;
    if (severity != L2K_SEVERITY_NOTE)
        fprintf(stderr, "lift2k: %s\n", text);
}

/* Ends the program with a message if something is not right. */
static inline void check(bool right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "%s failed\n", what);
    exit(1);
}

/* The code of an image, in memory that stays from turn to turn; append_code is for streams. */
typedef struct coded_image {
    uint8_t *bytes;
    size_t count, room;
} coded_image;

static inline int append_code(void *user, const void *bytes, size_t count)
{
    coded_image *to = (coded_image *)user;
    if (to->count + count > to->room) {
        to->room = 2 * (to->count + count);
        to->bytes = (uint8_t *)realloc(to->bytes, to->room);
        check(to->bytes != NULL, "memory");
    }
    memcpy(to->bytes + to->count, bytes, count);
    to->count += count;
    return 0;
}

static inline int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts the values. */
static inline double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, by_value);
    return values[count / 2];
}

/* An option with a number. */
typedef struct number_option {
    const char *name;
    unsigned *value;
} number_option;

static inline bool take_number(const number_option *known, size_t count, const char *name, const char *value)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, known[i].name) == 0) {
            *known[i].value = (unsigned)strtoul(value, NULL, 10);
            return true;
        }
    return false;
}

static inline l2k_cpu cpu_named(const char *name)
{
    static const char *const names[] = {"auto", "c", "avx2", "avx512", "neon"};
    for (int i = 0; i < 5; i++)
        if (strcmp(name, names[i]) == 0)
            return (l2k_cpu)i;
    fprintf(stderr, "unknown instruction set %s\n", name);
    exit(1);
}

#endif
