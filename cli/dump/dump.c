/* `lift2k dump`: writes the coefficients of each subband into a file, and a description of all of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/dump/dump.h"
#include "cli/run/progress.h"
#include "pictures/formats.h"
#include "pictures/user/interrupt.h"
#include "pictures/user/limits.h"
#include "pictures/user/report.h"

/* ---- Names --------------------------------------------------------------------------------------------------- */

static int digits_of(uint64_t most)
{
    return snprintf(NULL, 0, "%llu", (unsigned long long)most);
}

/* "t03_c0_b05_HL2.pgx": names sort by tile, component, and the order of QCD. */
static void name_band(const cli_dump *dump, const l2k_tile_coefficients *k, uint32_t band, char name[CLI_DUMP_NAME])
{
    const l2k_subband_info *info = &k->bands[band];
    uint64_t tiles = (uint64_t)dump->input.info.tiles_across * dump->input.info.tiles_down;
    snprintf(name, CLI_DUMP_NAME, "t%0*u_c%0*u_b%02u_%s%u.%s", digits_of(tiles - 1), k->tile,
             digits_of(dump->input.info.image.num_components - 1), k->component, band,
             cli_orientation_names[info->orientation], info->level, dump->format == CLI_DUMP_RAW ? "raw" : "pgx");
}

/* ---- Files of subbands --------------------------------------------------------------------------------------- */

enum { MAX_PGX_BITS = 31 };

/* The sign and Mb (E-2), and another bit after RCT, for which the forward transform relies on the guard bits. The
 * decoder accepts at most 30 bit-planes, so more are never needed. */
uint32_t cli_dump_bits(const l2k_tile_coefficients *k, uint32_t band)
{
    bool rct = k->component_transform && l2k_wavelet_reversible(k->wavelet);
    uint32_t bits = k->bands[band].magnitude_bits + 1 + rct;
    return bits < MAX_PGX_BITS ? bits : MAX_PGX_BITS;
}

static bool write_values(const cli_dump *dump, cli_output *output, const l2k_tile_coefficients *k, uint32_t band)
{
    const l2k_band_view *view = &k->view->bands[band];
    const l2k_plane plane = cli_dump_plane(k->view, band);
    const l2k_component component = {
        .precision = cli_dump_bits(k, band), .is_signed = true, .width = view->width, .height = view->height};
    return dump->format == CLI_DUMP_PGX
               ? cli_pgx_write_plane(output, &plane, &component)
               : cli_words_write(&cli_dump_words, output, 0, &plane, view->width, view->height);
}

/* ---- Writing ------------------------------------------------------------------------------------------------- */

/* If the file is an existing pipe, its reader may keep us waiting: a signal then ends the command at once, although the
 * library, which hands out the coefficients of a codestream, is working. */
static bool write_band(cli_dump *dump, const l2k_tile_coefficients *k, uint32_t band, const char *name)
{
    const bool at_work = cli_interrupt_wait(false);
    cli_output *output = cli_dump_open_file(dump, name);
    bool done = output && write_values(dump, output, k, band) && cli_dump_end_file(output);
    cli_interrupt_wait(at_work);
    return done;
}

static bool dump_band(cli_dump *dump, const l2k_tile_coefficients *k, uint32_t band)
{
    char name[CLI_DUMP_NAME];
    const l2k_band_view *view = &k->view->bands[band];
    bool empty = !view->width || !view->height; /* no file format can hold an empty subband */
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

/* Coding and writing alternate, so they share the time of --timeout. */
static bool dump_all(cli_dump *dump)
{
    cli_time_starts();
    if (!cli_dump_begin_description(dump))
        return false;
    bool done = cli_coefficients_each(&dump->input, dump_component, dump);
    if (done && dump->input.file.is_jpeg2000 && dump->input.num_given == 0)
        done = cli_error(dump->input.file.name, "the file ends before the first coefficient");
    return done && cli_dump_end_description(dump);
}

static int run(cli_dump *dump, const cli_options *options)
{
    cli_progress_begin(options, "dumping", 1);
    cli_progress_file(options->names[0]);
    bool done =
        cli_coefficients_open(&dump->input) && cli_dump_make_folder(dump, CLI_DUMP_DESCRIPTION) && dump_all(dump);
    done = cli_dump_end(dump, done);
    cli_progress_end();
    if (done && !options->quiet)
        cli_note("%s -> %s %llu subbands, described in %s", dump->input.file.name, dump->folder,
                 (unsigned long long)dump->num_files, CLI_DUMP_DESCRIPTION);
    cli_coefficients_close(&dump->input);
    return !done ? CLI_EXIT_FAILURE : dump->input.file.coded.incomplete ? CLI_EXIT_INCOMPLETE : CLI_EXIT_OK;
}

int cli_dump_command(const cli_options *options)
{
    cli_dump dump = {.format = (cli_dump_format)cli_setting_or(options->dump_format, CLI_DUMP_PGX)};
    if (!cli_coefficients_begin(&dump.input, options))
        return CLI_EXIT_USAGE;
    if (strcmp(dump.input.output, "-") == 0) {
        cli_error("dump", "a folder is needed: standard output cannot hold many files");
        return CLI_EXIT_USAGE;
    }
    dump.folder = dump.input.output;
    return run(&dump, options);
}
