/* Options that several commands have: one table, one meaning. */
#ifndef L2K_CLI_OPTIONS_COMMON_OPTIONS_H
#define L2K_CLI_OPTIONS_COMMON_OPTIONS_H

#include "cli/options/options.h"

typedef enum cli_when { CLI_WHEN_TERMINAL, CLI_ALWAYS, CLI_NEVER } cli_when;

typedef struct cli_common_options {
    int64_t threads, backend;
    int64_t gpu_min_samples;         /* -1: the library's own */
    const char *out_dir, *extension; /* NULL where not given */
    cli_when progress;
    bool timings, quiet, help;
} cli_common_options;

/* The limits go to cli_allowed. */
#define CLI_NO_COMMON_OPTIONS                                                                                          \
    (cli_common_options)                                                                                               \
    {                                                                                                                  \
        .gpu_min_samples = -1                                                                                          \
    }

enum {
    CLI_OPTION_BACKEND = 2 * CLI_LONG_ONLY,
    CLI_OPTION_GPU_MIN_SAMPLES,
    CLI_OPTION_MAX_PIXELS,
    CLI_OPTION_MAX_MEMORY,
    CLI_OPTION_TIMEOUT,
    CLI_OPTION_OUT_DIR,
    CLI_OPTION_EXT,
    CLI_OPTION_PROGRESS,
    CLI_OPTION_NO_PROGRESS,
    CLI_OPTION_TIMINGS,
    CLI_OPTION_QUIET
};

/* Rows for a command's own table. */
#define CLI_LIMIT_OPTIONS                                                                                              \
    {"max-pixels", required_argument, NULL, CLI_OPTION_MAX_PIXELS},                                                    \
        {"max-memory", required_argument, NULL, CLI_OPTION_MAX_MEMORY},                                                \
    {                                                                                                                  \
        "timeout", required_argument, NULL, CLI_OPTION_TIMEOUT                                                         \
    }

/* Of commands that code: letters "j:h" as well. */
#define CLI_CODING_OPTIONS                                                                                             \
    {"threads", required_argument, NULL, 'j'}, {"backend", required_argument, NULL, CLI_OPTION_BACKEND},               \
        {"gpu-min-samples", required_argument, NULL, CLI_OPTION_GPU_MIN_SAMPLES},                                      \
        {"quiet", no_argument, NULL, CLI_OPTION_QUIET},                                                                \
    {                                                                                                                  \
        "help", no_argument, NULL, 'h'                                                                                 \
    }

/* Of commands that take a long time, and of those that take many files as well. */
#define CLI_PROGRESS_OPTIONS                                                                                           \
    {"progress", no_argument, NULL, CLI_OPTION_PROGRESS},                                                              \
    {                                                                                                                  \
        "no-progress", no_argument, NULL, CLI_OPTION_NO_PROGRESS                                                       \
    }

#define CLI_LONG_WORK_OPTIONS                                                                                          \
    {"out-dir", required_argument, NULL, CLI_OPTION_OUT_DIR}, {"ext", required_argument, NULL, CLI_OPTION_EXT},        \
        CLI_PROGRESS_OPTIONS,                                                                                          \
    {                                                                                                                  \
        "timings", no_argument, NULL, CLI_OPTION_TIMINGS                                                               \
    }

/* Takes the option that cli_next_option found, with optarg; `table` is for its name. False, after a report, for a value
 * that cannot be, and for what is none of the options above. */
bool cli_common_option(cli_common_options *options, const struct option *table, int kind);

#endif
