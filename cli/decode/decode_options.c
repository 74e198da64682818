#include "cli/decode/decode_options.h"

#include <string.h>

#include "cli/options/options.h"
#include "cli/options/raw.h"
#include "pictures/user/report.h"

enum {
    OPTION_REDUCE = CLI_LONG_ONLY,
    OPTION_LAYERS,
    OPTION_REGION,
    OPTION_COMPONENT,
    OPTION_STRICT,
    OPTION_RGB8,
    OPTION_RAW,
    OPTION_BY_ROWS,
    OPTION_TIFF_COMPRESSION
};

static const char letters[] = ":j:h";

static const struct option table[] = {{"reduce", required_argument, NULL, OPTION_REDUCE},
                                      {"layers", required_argument, NULL, OPTION_LAYERS},
                                      {"region", required_argument, NULL, OPTION_REGION},
                                      {"component", required_argument, NULL, OPTION_COMPONENT},
                                      {"strict", no_argument, NULL, OPTION_STRICT},
                                      {"rgb8", no_argument, NULL, OPTION_RGB8},
                                      {"raw", required_argument, NULL, OPTION_RAW},
                                      {"by-rows", no_argument, NULL, OPTION_BY_ROWS},
                                      {"tiff-compression", required_argument, NULL, OPTION_TIFF_COMPRESSION},
                                      CLI_LONG_WORK_OPTIONS,
                                      CLI_LIMIT_OPTIONS,
                                      CLI_CODING_OPTIONS,
                                      {NULL, 0, NULL, 0}};

static bool parse_region(cli_decode_options *options, const char *name, const char *text)
{
    uint32_t *r = options->region;
    if (!cli_parse_numbers(name, text, "X0,Y0,X1,Y1", r, 4))
        return false;
    if (r[0] >= r[2] || r[1] >= r[3])
        return cli_bad_value(name, text, "the region is empty: X0 must be less than X1 and Y0 less than Y1");
    return options->has_region = true;
}

static bool parse_compression(cli_decode_options *options, const char *name, const char *text)
{
    static const cli_name schemes[] = {
        {"none", CLI_COMPRESSION_NONE}, {"deflate", CLI_COMPRESSION_DEFLATE}, {"lzw", CLI_COMPRESSION_LZW}, {NULL, 0}};
    int64_t value;
    if (!cli_parse_name(name, text, schemes, &value))
        return false;
    options->write.compression = (cli_compression)value;
    return options->has_compression = true;
}

/* All outputs have the extension of the first. Options that say how a format is written are for that format. --raw also
 * says so of standard output. */
static bool choose_format(cli_decode_options *options)
{
    const char *output = options->tasks.items[0].output;
    if (!cli_format_of_name(output, &options->format))
        return false;
    if (options->has_raw && cli_is_stream(output))
        options->format = CLI_FORMAT_RAW;
    if (options->has_raw && options->format != CLI_FORMAT_RAW)
        return cli_error("--raw", "%s is not a .raw file", output);
    if (options->has_compression && options->format != CLI_FORMAT_TIFF)
        return cli_error("--tiff-compression", "%s is not a .tif file", output);
    return true;
}

static bool take_option(cli_decode_options *options, int kind)
{
    const char *name = cli_option_name(table, kind), *text = optarg;
    switch (kind) {
    case OPTION_REDUCE:
        return cli_parse_number(name, text, 0, L2K_MAX_LEVELS, &options->reduce);
    case OPTION_LAYERS:
        return cli_parse_number(name, text, 0, 65535, &options->layers);
    case OPTION_REGION:
        return parse_region(options, name, text);
    case OPTION_COMPONENT:
        return cli_parse_number(name, text, 0, L2K_MAX_COMPONENTS - 1, &options->component);
    case OPTION_STRICT:
        return options->strict = true;
    case OPTION_RGB8:
        return options->rgb8 = true;
    case OPTION_RAW:
        return options->has_raw =
                   cli_raw_parse_order(name, text, &options->write.big_endian, &options->write.interleaved);
    case OPTION_BY_ROWS:
        return options->by_rows = true;
    case OPTION_TIFF_COMPRESSION:
        return parse_compression(options, name, text);
    default:
        return cli_common_option(&options->common, table, kind);
    }
}

bool cli_decode_options_parse(cli_decode_options *options, int count, char **arguments)
{
    static const char *const codestreams[] = {".jp2", ".j2k", ".j2c", ".jpc", NULL};
    int kind;
    memset(options, 0, sizeof *options);
    options->common = CLI_NO_COMMON_OPTIONS;
    options->component = -1;
    while ((kind = cli_next_option(count, arguments, letters, table, "decode")) != -1)
        if (!take_option(options, kind))
            return false;
    if (options->common.help)
        return true;
    options->write.quiet = options->common.quiet;
    return cli_tasks_make(&options->tasks, count, arguments, "decode", &options->common, codestreams, "png") &&
           choose_format(options);
}
