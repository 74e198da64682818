/* What became of the files of a command. */
#ifndef L2K_CLI_RUN_TALLY_H
#define L2K_CLI_RUN_TALLY_H

#include <stddef.h>
#include <stdint.h>

typedef struct cli_tally {
    size_t done, failed, incomplete;     /* files; incomplete ones are done, too */
    uint64_t picture_bytes, coded_bytes; /* of files that are done: samples, packed; JPEG 2000 files */
    double start;
} cli_tally;

void cli_tally_begin(cli_tally *tally);

/* `status` is a file's exit status. */
void cli_tally_file(cli_tally *tally, int status);

/* "12 files: 11 done, 1 failed; ..." on standard error. */
void cli_tally_print(const cli_tally *tally);

/* The command's exit status. */
int cli_tally_status(const cli_tally *tally);

#endif
