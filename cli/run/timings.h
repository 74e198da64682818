/* --timings: where the time of a command goes. */
#ifndef L2K_CLI_RUN_TIMINGS_H
#define L2K_CLI_RUN_TIMINGS_H

#include "lift2k/lift2k.h"

typedef struct cli_timings {
    double seconds[L2K_NUM_STAGES]; /* the library's, and the command's own reading and writing of picture files */
    double verify;                  /* --verify */
    double samples;                 /* that were coded */
} cli_timings;

void cli_timings_add(cli_timings *all, const cli_timings *more);

/* A table on standard error; `total` is what a clock on the wall says. */
void cli_timings_print(const cli_timings *timings, double total);

#endif
