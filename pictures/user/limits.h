/* The user's limits for one picture: --max-pixels, --max-memory. Set once, before the work begins, for all files; the
 * readers of picture files check them as well. */
#ifndef L2K_PICTURES_USER_LIMITS_H
#define L2K_PICTURES_USER_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#define CLI_NO_LIMIT ((uint64_t)1 << 62)

typedef struct cli_limits {
    uint64_t pixels; /* CLI_NO_LIMIT: none */
    uint64_t memory; /* bytes for samples and library together; CLI_NO_LIMIT: none */
} cli_limits;

extern cli_limits cli_allowed;

/* Each reports what exceeds which option, naming the file, and returns false. */
bool cli_pixels_allowed(uint64_t width, uint64_t height, const char *name);
bool cli_memory_allowed(uint64_t bytes, const char *name);

/* For commands that handle one file after another: memory that counts from now on until it is released. */
void cli_memory_hold(uint64_t bytes);
void cli_memory_let_go(uint64_t bytes);

/* The memory left beside that and `taken` bytes: CLI_NO_LIMIT, or at least 1, as the library reads 0 as its own
 * default. */
uint64_t cli_memory_left(uint64_t taken);

/* Seconds on a monotonic clock. */
double cli_now(void);

#endif
