/* Which files become which: "IN OUT", or "FILE|DIRECTORY... --out-dir D". */
#ifndef L2K_CLI_RUN_TASKS_H
#define L2K_CLI_RUN_TASKS_H

#include "cli/options/common_options.h"

typedef struct cli_task {
    char *input, *output; /* as typed, "-" is standard input or output */
} cli_task;

typedef struct cli_tasks {
    cli_task *items;
    size_t count, room;
    bool many; /* --out-dir was given */
} cli_tasks;

/* From the arguments that are left after the options. With --out-dir, which is made where it is not there, each file
 * keeps its name but for the extension; of a directory, files with one of the `extensions` are taken in the order of
 * their names. Two inputs for one output are a fault. The tasks are to be freed also after a fault. */
bool cli_tasks_make(cli_tasks *tasks, int count, char **arguments, const char *command,
                    const cli_common_options *options, const char *const *extensions, const char *default_extension);
void cli_tasks_free(cli_tasks *tasks);

/* For messages: "standard input" for "-". */
const char *cli_input_name(const char *path);
const char *cli_output_name(const char *path);

#endif
