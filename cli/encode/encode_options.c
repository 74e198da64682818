#include "cli/encode/encode_options.h"

#include <stdlib.h>
#include <string.h>

#include "cli/encode/encode_values.h"
#include "cli/options/options.h"
#include "cli/options/raw.h"
#include "pictures/files/file.h"
#include "pictures/user/report.h"

enum {
    OPTION_LEVELS = CLI_LONG_ONLY,
    OPTION_TILE_ORIGIN,
    OPTION_STYLE,
    OPTION_NO_MCT,
    OPTION_SOP,
    OPTION_EPH,
    OPTION_PLT,
    OPTION_TLM,
    OPTION_TILE_PARTS,
    OPTION_RAW,
    OPTION_BY_ROWS,
    OPTION_VERIFY
};

static const char letters[] = ":r:q:It:d:b:c:p:j:h";

static const struct option table[] = {{"rate", required_argument, NULL, 'r'},
                                      {"psnr", required_argument, NULL, 'q'},
                                      {"irreversible", no_argument, NULL, 'I'},
                                      {"levels", required_argument, NULL, OPTION_LEVELS},
                                      {"tile", required_argument, NULL, 't'},
                                      {"tile-origin", required_argument, NULL, OPTION_TILE_ORIGIN},
                                      {"origin", required_argument, NULL, 'd'},
                                      {"block", required_argument, NULL, 'b'},
                                      {"precincts", required_argument, NULL, 'c'},
                                      {"progression", required_argument, NULL, 'p'},
                                      {"style", required_argument, NULL, OPTION_STYLE},
                                      {"no-mct", no_argument, NULL, OPTION_NO_MCT},
                                      {"sop", no_argument, NULL, OPTION_SOP},
                                      {"eph", no_argument, NULL, OPTION_EPH},
                                      {"plt", no_argument, NULL, OPTION_PLT},
                                      {"tlm", no_argument, NULL, OPTION_TLM},
                                      {"tile-parts", required_argument, NULL, OPTION_TILE_PARTS},
                                      {"raw", required_argument, NULL, OPTION_RAW},
                                      {"by-rows", no_argument, NULL, OPTION_BY_ROWS},
                                      {"verify", no_argument, NULL, OPTION_VERIFY},
                                      CLI_LONG_WORK_OPTIONS,
                                      CLI_LIMIT_OPTIONS,
                                      CLI_CODING_OPTIONS,
                                      {NULL, 0, NULL, 0}};

static const cli_name progressions[] = {{"LRCP", L2K_LRCP}, {"RLCP", L2K_RLCP}, {"RPCL", L2K_RPCL},
                                        {"PCRL", L2K_PCRL}, {"CPRL", L2K_CPRL}, {NULL, 0}};

static const cli_name styles[] = {{"bypass", L2K_STYLE_BYPASS},
                                  {"reset", L2K_STYLE_RESET},
                                  {"termall", L2K_STYLE_TERMALL},
                                  {"vsc", L2K_STYLE_VSC},
                                  {"pterm", L2K_STYLE_PTERM},
                                  {"segsym", L2K_STYLE_SEGSYM},
                                  {NULL, 0}};

static const cli_name tile_parts[] = {
    {"R", L2K_TILE_PARTS_RESOLUTION}, {"L", L2K_TILE_PARTS_LAYER}, {"C", L2K_TILE_PARTS_COMPONENT}, {NULL, 0}};

static bool parse_named(cli_encode_options *options, l2k_encoder_option option, const char *name, const char *text,
                        const cli_name *names)
{
    int64_t value;
    return cli_parse_name(name, text, names, &value) && cli_encode_set(options, option, value);
}

static bool parse_styles(cli_encode_options *options, const char *name, const char *text)
{
    int64_t value;
    return cli_parse_names(name, text, styles, &value) && cli_encode_set(options, L2K_ENCODER_STYLE, value);
}

static bool parse_number(cli_encode_options *options, l2k_encoder_option option, const char *name, const char *text,
                         uint32_t most)
{
    int64_t value;
    return cli_parse_number(name, text, 0, most, &value) && cli_encode_set(options, option, value);
}

static bool take_option(cli_encode_options *options, int kind)
{
    const char *name = cli_option_name(table, kind), *text = optarg;
    switch (kind) {
    case 'r':
        return cli_parse_layers(options, L2K_TARGET_RATIO, name, text);
    case 'q':
        return cli_parse_layers(options, L2K_TARGET_PSNR, name, text);
    case 'I':
        return cli_encode_set(options, L2K_ENCODER_WAVELET, L2K_WAVELET_9_7);
    case OPTION_LEVELS:
        return parse_number(options, L2K_ENCODER_LEVELS, name, text, L2K_MAX_LEVELS);
    case 't':
        return cli_parse_tile(options, name, text);
    case OPTION_TILE_ORIGIN:
        return cli_parse_tile_origin(options, name, text);
    case 'd':
        return cli_parse_origin(options, name, text);
    case 'b':
        return cli_parse_block(options, name, text);
    case 'c':
        return cli_parse_precincts(options, name, text);
    case 'p':
        return parse_named(options, L2K_ENCODER_PROGRESSION, name, text, progressions);
    case OPTION_STYLE:
        return parse_styles(options, name, text);
    case OPTION_NO_MCT:
        return cli_encode_set(options, L2K_ENCODER_COMPONENT_TRANSFORM, 0);
    case OPTION_SOP:
        return cli_encode_set(options, L2K_ENCODER_SOP, 1);
    case OPTION_EPH:
        return cli_encode_set(options, L2K_ENCODER_EPH, 1);
    case OPTION_PLT:
        return cli_encode_set(options, L2K_ENCODER_PLT, 1);
    case OPTION_TLM:
        return cli_encode_set(options, L2K_ENCODER_TLM, 1);
    case OPTION_TILE_PARTS:
        return parse_named(options, L2K_ENCODER_TILE_PARTS, name, text, tile_parts);
    case OPTION_RAW:
        return options->has_raw = cli_raw_parse(name, text, &options->raw);
    case OPTION_BY_ROWS:
        return options->by_rows = true;
    case OPTION_VERIFY:
        return options->verify = true;
    default:
        return cli_common_option(&options->common, table, kind);
    }
}

/* B.3: tile 0 must hold a part of the image, that is XTOsiz <= XOsiz < XTOsiz + XTsiz, and the same for y. */
static bool check_grid(const cli_encode_options *options)
{
    const int64_t *v = options->values;
    int64_t x = v[L2K_ENCODER_TILE_X0], y = v[L2K_ENCODER_TILE_Y0];
    if (x > options->x0 || y > options->y0)
        return cli_error("--tile-origin", "%lld,%lld lies beyond the image's --origin %u,%u", (long long)x,
                         (long long)y, options->x0, options->y0);
    if (options->given[L2K_ENCODER_TILE_WIDTH] &&
        (x + v[L2K_ENCODER_TILE_WIDTH] <= options->x0 || y + v[L2K_ENCODER_TILE_HEIGHT] <= options->y0))
        return cli_error("--tile", "the first tile of %lld,%lld ends before the image's --origin %u,%u",
                         (long long)v[L2K_ENCODER_TILE_WIDTH], (long long)v[L2K_ENCODER_TILE_HEIGHT], options->x0,
                         options->y0);
    return true;
}

/* All outputs have the extension of the first. */
static bool choose_format(cli_encode_options *options)
{
    const char *output = options->tasks.items[0].output, *extension = cli_extension(output);
    if (cli_is_stream(output) || cli_same_text(extension, ".jp2"))
        return cli_encode_set(options, L2K_ENCODER_FORMAT, L2K_FORMAT_JP2);
    if (cli_same_text(extension, ".j2k") || cli_same_text(extension, ".j2c") || cli_same_text(extension, ".jpc"))
        return cli_encode_set(options, L2K_ENCODER_FORMAT, L2K_FORMAT_CODESTREAM);
    return cli_error(output, "unknown output format; known are .jp2 .j2k .j2c .jpc");
}

static bool check_verify(const cli_encode_options *options)
{
    if (!options->verify || !cli_is_stream(options->tasks.items[0].output))
        return true;
    return cli_error("--verify", "the output must be a file, which can be read again");
}

static void set_common(cli_encode_options *options)
{
    const cli_common_options *common = &options->common;
    cli_encode_set(options, L2K_ENCODER_THREADS, common->threads);
    cli_encode_set(options, L2K_ENCODER_BACKEND, common->backend);
    cli_encode_set(options, L2K_ENCODER_TIMINGS, common->timings);
    if (common->gpu_min_samples >= 0)
        cli_encode_set(options, L2K_ENCODER_GPU_MIN_SAMPLES, common->gpu_min_samples);
}

bool cli_encode_options_parse(cli_encode_options *options, int count, char **arguments)
{
    static const char *const pictures[] = {".png", ".tif", ".tiff", ".pnm", ".pbm",
                                           ".pgm", ".ppm", ".pam",  ".pgx", NULL};
    static const char *const raw[] = {".raw", NULL}; /* --raw describes them all */
    int kind;
    memset(options, 0, sizeof *options);
    options->common = CLI_NO_COMMON_OPTIONS;
    while ((kind = cli_next_option(count, arguments, letters, table, "encode")) != -1)
        if (!take_option(options, kind))
            return false;
    if (options->common.help)
        return true;
    set_common(options);
    return cli_tasks_make(&options->tasks, count, arguments, "encode", &options->common,
                          options->has_raw ? raw : pictures, "jp2") &&
           check_grid(options) && choose_format(options) && check_verify(options);
}

bool cli_encode_is_lossless(const cli_encode_options *options)
{
    double last = options->num_layers ? options->layers[options->num_layers - 1] : 0;
    return options->values[L2K_ENCODER_WAVELET] == L2K_WAVELET_5_3 &&
           last <= (options->target == L2K_TARGET_RATIO ? 1 : 0);
}

void cli_encode_options_free(cli_encode_options *options)
{
    cli_tasks_free(&options->tasks);
    free(options->layers);
}
