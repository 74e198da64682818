/* Takes files through three stages: read, code, write. */
#ifndef L2K_CLI_RUN_PIPELINE_H
#define L2K_CLI_RUN_PIPELINE_H

#include "cli/run/tasks.h"

typedef struct cli_stages {
    size_t state_bytes; /* what a file keeps from stage to stage; zeroed before the first */

    /* Each returns false after a report, and the later stages of the file are then skipped. `code` is always called on
     * the thread that called cli_pipeline_run, for one file after another in their order; the others may run on other
     * threads at the same time for other files. */
    bool (*read)(void *state, const cli_task *task, void *context);
    bool (*code)(void *state, const cli_task *task, void *context);
    bool (*write)(void *state, const cli_task *task, void *context);

    /* Always called last. */
    void (*release)(void *state, void *context);
} cli_stages;

/* Called for each file in order, whichever finished first, and by one thread at a time. `state` is what the last stage
 * left, or NULL if there was no memory for it. */
typedef void cli_file_done(void *context, const cli_task *task, const void *state, bool done);

/* A single file stays on this thread. */
void cli_pipeline_run(const cli_tasks *tasks, const cli_stages *stages, cli_file_done *count, void *context);

#endif
