#include "cli/coefficients/view_options.h"

#include <stdlib.h>
#include <string.h>

#include "pictures/files/file.h"
#include "pictures/user/report.h"

enum { MAX_ZOOM = 32 };

enum {
    OPTION_RGB = CLI_LONG_ONLY,
    OPTION_BAND,
    OPTION_LEVEL,
    OPTION_GAIN,
    OPTION_LABELS,
    OPTION_NO_BORDERS,
    OPTION_ZOOM
};

static const struct option table[] = {CLI_COEFFICIENT_ROWS,
                                      {"rgb", no_argument, NULL, OPTION_RGB},
                                      {"band", required_argument, NULL, OPTION_BAND},
                                      {"level", required_argument, NULL, OPTION_LEVEL},
                                      {"gain", required_argument, NULL, OPTION_GAIN},
                                      {"labels", no_argument, NULL, OPTION_LABELS},
                                      {"no-borders", no_argument, NULL, OPTION_NO_BORDERS},
                                      {"zoom", required_argument, NULL, OPTION_ZOOM},
                                      {NULL, 0, NULL, 0}};

/* "HL2": orientation and level. */
static bool parse_band(cli_view_options *options, const char *name, const char *text)
{
    static const cli_name orientations[] = {{"LL", L2K_LL}, {"HL", L2K_HL}, {"LH", L2K_LH}, {"HH", L2K_HH}};
    size_t digits = strlen(text) > 2 ? strspn(text + 2, "0123456789") : 0;
    for (size_t i = 0; digits && digits <= 2 && !text[2 + digits] && i < 4; i++) {
        char letters[3] = {text[0], text[1], 0};
        options->level = (uint32_t)strtoul(text + 2, NULL, 10);
        options->orientation = (l2k_orientation)orientations[i].value;
        if (cli_same_text(letters, orientations[i].name) && options->level <= L2K_MAX_LEVELS &&
            (options->level > 0 || options->orientation == L2K_LL))
            return options->has_band = true;
    }
    return cli_bad_value(name, text, "not a subband: LL, HL, LH or HH and its level, such as HL1");
}

static bool parse_level(cli_view_options *options, const char *name, const char *text)
{
    int64_t level;
    if (!cli_parse_number(name, text, 1, L2K_MAX_LEVELS, &level))
        return false;
    options->level = (uint32_t)level;
    return options->has_level = true;
}

static bool parse_gain(cli_view_options *options, const char *name, const char *text)
{
    if (!cli_parse_real(name, text, &options->gain))
        return false;
    return options->gain <= 1e6 || cli_bad_value(name, text, "more than 1e6");
}

static bool parse_zoom(cli_view_options *options, const char *name, const char *text)
{
    int64_t zoom;
    if (!cli_parse_number(name, text, 1, MAX_ZOOM, &zoom))
        return false;
    options->style.zoom = (uint32_t)zoom;
    return true;
}

static bool take_option(cli_view_options *options, int kind)
{
    const char *name = cli_option_name(table, kind);
    switch (kind) {
    case OPTION_RGB:
        return options->rgb = true;
    case OPTION_BAND:
        return parse_band(options, name, optarg);
    case OPTION_LEVEL:
        return parse_level(options, name, optarg);
    case OPTION_GAIN:
        return parse_gain(options, name, optarg);
    case OPTION_LABELS:
        return options->style.labels = true;
    case OPTION_NO_BORDERS:
        options->style.borders = false;
        return true;
    case OPTION_ZOOM:
        return parse_zoom(options, name, optarg);
    default:
        return cli_take_coefficient_option(&options->coefficients, table, kind);
    }
}

static bool check(cli_view_options *options)
{
    bool part = options->has_band || options->has_level;
    if (options->has_band && options->has_level)
        return cli_error("--band", "--band and --level exclude each other");
    if (part && options->coefficients.reduce)
        return cli_error("--reduce", "has no use beside %s, which says what is shown",
                         options->has_band ? "--band" : "--level");
    if (options->rgb && options->coefficients.component >= 0)
        return cli_error("--component", "--rgb shows components 0 to 2; only one of the two is possible");
    if (!options->rgb && options->coefficients.component < 0)
        options->coefficients.component = 0;
    return true;
}

bool cli_view_options_parse(cli_view_options *options, int count, char **arguments)
{
    int kind;
    *options = (cli_view_options){.coefficients = CLI_COEFFICIENT_DEFAULTS, .style = {.borders = true, .zoom = 1}};
    while ((kind = cli_next_option(count, arguments, CLI_COEFFICIENT_LETTERS, table, "view")) != -1)
        if (!take_option(options, kind))
            return false;
    if (options->coefficients.common.help)
        return true;
    return cli_end_coefficient_options(&options->coefficients, count, arguments, "view") && check(options) &&
           cli_format_of_name(options->coefficients.output, &options->format);
}
