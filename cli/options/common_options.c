#include "cli/options/common_options.h"

#include <string.h>

#include "pictures/user/limits.h"

#define MAX_THREADS 1024u

/* Taken with and without its dot. */
static bool parse_extension(cli_common_options *options, const char *name, const char *text)
{
    options->extension = *text == '.' ? text + 1 : text;
    return (*options->extension && !strchr(options->extension, '/')) ||
           cli_bad_value(name, text, "not the end of a file name, such as jp2 or png");
}

bool cli_common_option(cli_common_options *options, const struct option *table, int kind)
{
    const char *name = cli_option_name(table, kind), *text = optarg;
    switch (kind) {
    case 'j':
        return cli_parse_number(name, text, 0, MAX_THREADS, &options->threads);
    case CLI_OPTION_BACKEND:
        return cli_parse_name(name, text, cli_backend_names, &options->backend);
    case CLI_OPTION_GPU_MIN_SAMPLES:
        return cli_parse_number(name, text, 0, UINT32_MAX, &options->gpu_min_samples);
    case CLI_OPTION_MAX_PIXELS:
        return cli_parse_size(name, text, &cli_allowed.pixels);
    case CLI_OPTION_MAX_MEMORY:
        return cli_parse_size(name, text, &cli_allowed.memory);
    case CLI_OPTION_TIMEOUT:
        return cli_parse_real(name, text, &cli_allowed.seconds);
    case CLI_OPTION_OUT_DIR:
        options->out_dir = text;
        return *text || cli_bad_value(name, text, "not the name of a directory");
    case CLI_OPTION_EXT:
        return parse_extension(options, name, text);
    case CLI_OPTION_PROGRESS:
    case CLI_OPTION_NO_PROGRESS:
        options->progress = kind == CLI_OPTION_PROGRESS ? CLI_ALWAYS : CLI_NEVER;
        return true;
    case CLI_OPTION_TIMINGS:
        return options->timings = true;
    case CLI_OPTION_QUIET:
        return options->quiet = true;
    case 'h':
        return options->help = true;
    default:
        return false;
    }
}
