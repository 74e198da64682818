/* What the user allows one picture to take: --max-pixels, --max-memory, --timeout. Set once, before the work begins,
 * and the same for all files; readers of picture files ask here, too. */
#ifndef L2K_PICTURES_USER_LIMITS_H
#define L2K_PICTURES_USER_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#define CLI_NO_LIMIT ((uint64_t)1 << 62)

typedef struct cli_limits {
    uint64_t pixels; /* CLI_NO_LIMIT: none */
    uint64_t memory; /* bytes for samples and library together; CLI_NO_LIMIT: none */
    double seconds;  /* 0: none */
} cli_limits;

extern cli_limits cli_allowed;

/* Each reports what exceeds which option, naming the file, and gives false. The last one has nothing to compare. */
bool cli_pixels_allowed(uint64_t width, uint64_t height, const char *name);
bool cli_memory_allowed(uint64_t bytes, const char *name);
bool cli_time_is_up(const char *name);

/* For commands that do one thing at a time: what is taken and stays so counts from now on, until it is let go. */
void cli_memory_hold(uint64_t bytes);
void cli_memory_let_go(uint64_t bytes);

/* What is left beside that and the bytes that are `taken`: at least 1, as 0 would be the library's own choice, or
 * CLI_NO_LIMIT. */
uint64_t cli_memory_left(uint64_t taken);

/* Seconds of a clock that only goes forward. */
double cli_now(void);

/* When the time of --timeout that begins now is up, by cli_now; 0 where there is no limit. */
double cli_deadline(void);

/* Has it passed? Never that of 0. */
bool cli_is_late(double deadline);

/* For work that nobody else bounds: it starts now, and false with a report when it has taken longer than --timeout. For
 * commands that do one thing at a time. */
void cli_time_starts(void);
bool cli_time_left(const char *name);

#endif
