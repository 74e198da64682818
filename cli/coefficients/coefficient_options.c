#include "cli/coefficients/coefficient_options.h"

#include "pictures/user/report.h"

static bool take_tile(cli_coefficient_options *options, const char *name, const char *text)
{
    uint32_t size[2];
    if (!cli_parse_numbers(name, text, "W,H", size, 2))
        return false;
    if (!size[0] || !size[1])
        return cli_bad_value(name, text, "a tile must be at least 1,1");
    options->tile_width = size[0];
    options->tile_height = size[1];
    return true;
}

static bool take_origin(cli_coefficient_options *options, const char *name, const char *text)
{
    uint32_t at[2];
    if (!cli_parse_numbers(name, text, "X,Y", at, 2))
        return false;
    options->x0 = at[0];
    options->y0 = at[1];
    return true;
}

static bool take_picture_option(cli_coefficient_options *options, int kind, const char *name)
{
    options->picture_option = name;
    switch (kind) {
    case 'I':
        options->wavelet = L2K_WAVELET_9_7;
        return true;
    case CLI_OPTION_LEVELS:
        return cli_parse_number(name, optarg, 0, L2K_MAX_LEVELS, &options->levels);
    case 't':
        return take_tile(options, name, optarg);
    case 'd':
        return take_origin(options, name, optarg);
    default:
        return options->no_mct = true;
    }
}

bool cli_take_coefficient_option(cli_coefficient_options *options, const struct option *table, int kind)
{
    const char *name = cli_option_name(table, kind);
    switch (kind) {
    case 'I':
    case CLI_OPTION_LEVELS:
    case 't':
    case 'd':
    case CLI_OPTION_NO_MCT:
        return take_picture_option(options, kind, name);
    case CLI_OPTION_LAYERS:
        options->codestream_option = name;
        return cli_parse_number(name, optarg, 0, 65535, &options->layers);
    case CLI_OPTION_REDUCE:
        return cli_parse_number(name, optarg, 0, L2K_MAX_LEVELS, &options->reduce);
    case CLI_OPTION_COMPONENT:
        return cli_parse_number(name, optarg, 0, L2K_MAX_COMPONENTS - 1, &options->component);
    case CLI_OPTION_TILE_INDEX:
        return cli_parse_number(name, optarg, 0, UINT32_MAX - 1, &options->tile_index);
    default:
        return cli_common_option(&options->common, table, kind);
    }
}

bool cli_end_coefficient_options(cli_coefficient_options *options, int count, char **arguments, const char *command)
{
    if (!cli_two_names(count, arguments, command, &options->input, &options->output))
        return false;
    if (options->tile_width && (options->x0 >= options->tile_width || options->y0 >= options->tile_height))
        return cli_error("--tile", "the first tile of %u,%u ends before the image's --origin %u,%u",
                         options->tile_width, options->tile_height, options->x0, options->y0);
    return true;
}
