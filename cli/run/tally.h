/* The outcome of a command: how many files succeeded, and where the time went (--timings). */
#ifndef L2K_CLI_RUN_TALLY_H
#define L2K_CLI_RUN_TALLY_H

#include "lift2k/lift2k.h"

typedef struct cli_tally {
    size_t skipped;                      /* files, because their output exists */
    size_t done, failed, incomplete;     /* files; `done` includes incomplete ones */
    uint64_t picture_bytes, coded_bytes; /* of the files done: packed samples; JPEG 2000 files */
    const char *first_failed;            /* of the files that failed */
    double start;
} cli_tally;

void cli_tally_begin(cli_tally *tally, size_t skipped);

/* `status` is the exit status that the file alone would give; its name stays until the end. */
void cli_tally_file(cli_tally *tally, int status, const char *name);

/* Reports "12 files: 7 done, 3 skipped, 2 failed, first in/3.png; ...". */
void cli_tally_print(const cli_tally *tally);

/* The exit status of the command. */
int cli_tally_status(const cli_tally *tally);

typedef struct cli_timings {
    double seconds[L2K_NUM_STAGES]; /* the library's, and the command's own reading and writing of picture files */
    double verify;                  /* --verify */
    double samples;                 /* coded */
} cli_timings;

void cli_timings_add(cli_timings *all, const cli_timings *more);

/* Reports a table; `total` is wall time. */
void cli_timings_print(const cli_timings *timings, double total);

#endif
