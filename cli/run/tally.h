/* The outcome of a command: how many files succeeded, and where the time went (--timings). */
#ifndef L2K_CLI_RUN_TALLY_H
#define L2K_CLI_RUN_TALLY_H

#include "lift2k/lift2k.h"

/* What a file that is done, or all of them, came to. */
typedef struct cli_outcome {
    bool incomplete;
    uint64_t picture_bytes, coded_bytes; /* packed samples; JPEG 2000 files */
    double seconds[L2K_NUM_STAGES];      /* the library's, and the command's own reading and writing of picture files */
    double verify;                       /* seconds of --verify */
    double samples;                      /* coded */
} cli_outcome;

typedef struct cli_tally {
    size_t skipped;                  /* files, because their output exists */
    size_t done, failed, incomplete; /* files; `done` includes incomplete ones */
    cli_outcome all;                 /* files done, together */
    const char *first_failed;        /* of the files that failed */
    double start;                    /* by cli_now */
} cli_tally;

/* NULL for a file that failed. Its name stays until the end. */
void cli_tally_file(cli_tally *tally, const cli_outcome *outcome, const char *name);

/* Reports "12 files: 7 done, 3 skipped, 2 failed, first in/3.png; ...". */
void cli_tally_print(const cli_tally *tally);

/* Reports a table of stages. */
void cli_tally_print_timings(const cli_tally *tally);

/* The exit status of the command. */
int cli_tally_status(const cli_tally *tally);

#endif
