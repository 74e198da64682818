/* Files one after the other through three steps: read, code, write. */
#ifndef L2K_CLI_RUN_PIPELINE_H
#define L2K_CLI_RUN_PIPELINE_H

#include "cli/run/tasks.h"

typedef struct cli_steps {
    size_t state_bytes; /* of what a file keeps from step to step; all 0 before the first */

    /* Each reports what is wrong and gives false, after which the file's next steps are left out. `code` is always
     * called on the thread that called cli_pipeline_run, for one file after the other in their order; the others at the
     * same time for other files, on other threads. */
    bool (*read)(void *state, const cli_task *task, void *context);
    bool (*code)(void *state, const cli_task *task, void *context);
    bool (*write)(void *state, const cli_task *task, void *context);

    /* In any case, after the last step. */
    void (*release)(void *state, void *context);
} cli_steps;

/* Called for each file in its turn, whichever was done first, and never twice at the same time. `state` is as the last
 * step left it, or NULL where there was no memory for one. */
typedef void cli_file_done(void *context, const cli_task *task, const void *state, bool done);

/* A single file stays on this thread. */
void cli_pipeline_run(const cli_tasks *tasks, const cli_steps *steps, cli_file_done *count, void *context);

#endif
