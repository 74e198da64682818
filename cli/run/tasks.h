/* Which input becomes which output: "IN OUT", or "FILE|DIRECTORY... --out-dir D". */
#ifndef L2K_CLI_RUN_TASKS_H
#define L2K_CLI_RUN_TASKS_H

#include "cli/options/options.h"

typedef struct cli_task {
    char *input, *output; /* as typed; "-" is standard input or output */
    unsigned page;        /* --page: 1 and more; 0 without it */
    bool is_alone;        /* the only task */
} cli_task;

/* Of JPEG 2000 files, as cli_tasks_make takes them. */
extern const char *const cli_coded_extensions[];

typedef struct cli_tasks {
    const cli_options *options;
    const char *const *extensions; /* of the files that are taken from folders */
    const char *extension;         /* of the outputs with --out-dir */
    cli_task *items;
    size_t count;
    bool together;  /* all inputs become one output, in this order: the frames of a film */
    size_t skipped; /* by --skip-existing */
    size_t num_cut; /* inputs of --page all that end with a page that cannot be read, as was reported */
    char *cut;      /* the first of them */
} cli_tasks;

/* Makes tasks of options->names. With --out-dir, which is created if it does not exist, each file keeps its name except
 * for the extension; a directory gives its files with one of the `extensions` in the order of their names, with
 * --recursive also those of its folders, which are kept. Without --out-dir, decode puts several inputs into one Y4M
 * file. Two inputs with the same output are a fault. With --skip-existing the list may be empty, after a
 * report. Call cli_tasks_free in either case. */
bool cli_tasks_make(cli_tasks *tasks, const cli_options *options, const char *const *extensions,
                    const char *default_extension);
void cli_tasks_free(cli_tasks *tasks);

/* For messages: "standard input" and "standard output" for "-". */
const char *cli_input_name(const char *path);
const char *cli_output_name(const char *path);

/* ---- Directories (directory.c) ---- */

bool cli_is_folder(const char *path);

typedef struct cli_names {
    char **items; /* "PATH/name", sorted */
    size_t count;
} cli_names;

/* What is directly in a directory, except hidden names. False after a report; to be freed in either case. */
bool cli_names_list(cli_names *names, const char *path);
void cli_names_free(cli_names *names);

#endif
