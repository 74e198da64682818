/* `lift2k dump`: the coefficients of each subband as a file, and a description of all of them. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/coefficients/dump_parts.h"
#include "cli/run/progress.h"
#include "pictures/user/interrupt.h"
#include "pictures/user/limits.h"
#include "pictures/user/report.h"

enum { OPTION_FORMAT = CLI_LONG_ONLY };

static const struct option table[] = {
    CLI_COEFFICIENT_ROWS, {"format", required_argument, NULL, OPTION_FORMAT}, {NULL, 0, NULL, 0}};

static const cli_name formats[] = {{"pgx", CLI_DUMP_PGX}, {"raw", CLI_DUMP_RAW}, {NULL, 0}};

typedef struct dump_options {
    cli_coefficient_options coefficients;
    int64_t format;
} dump_options;

/* ---- Names --------------------------------------------------------------------------------------------------- */

static int digits_of(uint64_t most)
{
    return snprintf(NULL, 0, "%llu", (unsigned long long)most);
}

/* "t03_c0_b05_HL2.pgx": they sort by tile, component, and the order of QCD. */
static void name_band(const cli_dump *dump, const l2k_tile_coefficients *k, uint32_t band, char name[CLI_DUMP_NAME])
{
    const l2k_subband_info *info = &k->bands[band];
    uint64_t tiles = (uint64_t)dump->source.tiles_across * dump->source.tiles_down;
    snprintf(name, CLI_DUMP_NAME, "t%0*u_c%0*u_b%02u_%s%u.%s", digits_of(tiles - 1), k->tile,
             digits_of(dump->source.image.num_components - 1), k->component, band,
             cli_orientation_names[info->orientation], info->level, dump->format == CLI_DUMP_RAW ? "raw" : "pgx");
}

/* ---- Writing ------------------------------------------------------------------------------------------------- */

/* Where somebody has put a pipe, its reader may keep one waiting: a signal that comes then ends the command, though the
 * library, which hands out the coefficients of a codestream, is at work. */
static bool write_band(cli_dump *dump, const l2k_tile_coefficients *k, uint32_t band, const char *name)
{
    const bool at_work = cli_interrupt_wait(false);
    cli_output *output = cli_dump_open_file(dump, name);
    bool done = output && cli_dump_write_band(dump, k, band, output) && cli_dump_end_file(output);
    cli_interrupt_wait(at_work);
    return done;
}

static bool dump_band(cli_dump *dump, const l2k_tile_coefficients *k, uint32_t band)
{
    char name[CLI_DUMP_NAME];
    const l2k_band_view *view = &k->view->bands[band];
    bool empty = !view->width || !view->height; /* no file format has a place for nothing */
    name_band(dump, k, band, name);
    if (!empty && !write_band(dump, k, band, name))
        return false;
    dump->num_files += !empty;
    cli_dump_describe_band(dump, k, band, empty ? NULL : name);
    return true;
}

static bool dump_component(void *user, const l2k_tile_coefficients *k)
{
    for (uint32_t band = 0; band < k->view->num_bands; band++)
        if (!dump_band(user, k, band))
            return false;
    return true;
}

/* Coding and writing take turns, so that they have the time of --timeout together. */
static bool dump_all(cli_dump *dump)
{
    cli_time_starts();
    if (!cli_dump_begin_description(dump))
        return false;
    bool done = cli_coefficients_each(&dump->source, dump_component, dump);
    if (done && dump->source.file.is_jpeg2000 && dump->source.num_given == 0)
        done = cli_error(dump->source.file.name, "the file ends before the first coefficient");
    return done && cli_dump_end_description(dump);
}

/* Returns the exit status. */
static int run(const dump_options *options)
{
    cli_dump dump = {.folder = options->coefficients.output, .format = (cli_dump_format)options->format};
    cli_progress_begin(&options->coefficients.common, "dumping", 1);
    cli_progress_file(0, options->coefficients.input);
    bool done =
        cli_coefficients_open(&dump.source, &options->coefficients) && cli_dump_make_folder(&dump) && dump_all(&dump);
    done = cli_dump_end(&dump, done);
    cli_progress_end();
    if (done && !options->coefficients.common.quiet)
        cli_note("%s -> %s %llu subbands, described in %s", dump.source.file.name, dump.folder,
                 (unsigned long long)dump.num_files, CLI_DUMP_DESCRIPTION);
    cli_coefficients_close(&dump.source);
    return !done ? CLI_EXIT_FAILURE : dump.source.incomplete ? CLI_EXIT_INCOMPLETE : CLI_EXIT_OK;
}

static bool take_option(dump_options *options, int kind)
{
    if (kind == OPTION_FORMAT)
        return cli_parse_name("format", optarg, formats, &options->format);
    return cli_take_coefficient_option(&options->coefficients, table, kind);
}

int cli_dump_command(int count, char **arguments)
{
    int kind;
    dump_options options = {.coefficients = CLI_COEFFICIENT_DEFAULTS, .format = CLI_DUMP_PGX};
    while ((kind = cli_next_option(count, arguments, CLI_COEFFICIENT_LETTERS, table, "dump")) != -1)
        if (!take_option(&options, kind))
            return CLI_EXIT_USAGE;
    if (options.coefficients.common.help)
        return cli_print_help(cli_help_dump);
    if (!cli_end_coefficient_options(&options.coefficients, count, arguments, "dump"))
        return CLI_EXIT_USAGE;
    if (strcmp(options.coefficients.output, "-") == 0) {
        cli_error("dump", "a folder is needed: standard output cannot take several files");
        return CLI_EXIT_USAGE;
    }
    return run(&options);
}
