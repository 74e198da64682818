/* `lift2k dump`: writes the coefficients of each subband into a file, and a description of all of them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/coefficients/coefficients.h"
#include "cli/run/json.h"
#include "cli/run/progress.h"
#include "cli/run/tasks.h"
#include "pictures/formats.h"
#include "pictures/user/interrupt.h"
#include "pictures/user/report.h"
#include "pictures/words.h"

#define DESCRIPTION "subbands.json"

typedef struct dump_job {
    cli_coefficients input;
    const char *folder;
    bool folder_made;
    cli_dump_format format;
    cli_output description;
    char *description_path; /* owned */
    cli_json json;
    uint64_t num_files;
} dump_job;

/* ---- Names --------------------------------------------------------------------------------------------------- */

static int digits_of(uint64_t most)
{
    return snprintf(NULL, 0, "%llu", (unsigned long long)most);
}

enum { MOST_NAME = 64 };

/* "t03_c0_b05_HL2.pgx": names sort by tile, component, and the order of QCD. */
static void name_band(const dump_job *dump, const l2k_tile_coefficients *k, uint32_t band, char name[MOST_NAME])
{
    const l2k_subband_info *info = &k->bands[band];
    uint64_t tiles = (uint64_t)dump->input.info.tiles_across * dump->input.info.tiles_down;
    snprintf(name, MOST_NAME, "t%0*u_c%0*u_b%02u_%s%u.%s", digits_of(tiles - 1), k->tile,
             digits_of(dump->input.info.image.num_components - 1), k->component, band,
             cli_orientation_names[info->orientation], info->level, dump->format == CLI_DUMP_RAW ? "raw" : "pgx");
}

/* ---- Files of subbands --------------------------------------------------------------------------------------- */

enum { MAX_PGX_BITS = 31 };

/* The sign and Mb (E-2), and another bit after RCT, for which the forward transform relies on the guard bits. The
 * decoder accepts at most 30 bit-planes, so more are never needed. */
static uint32_t band_bits(const l2k_tile_coefficients *k, uint32_t band)
{
    bool rct = k->component_transform && l2k_wavelet_reversible(k->wavelet);
    uint32_t bits = k->bands[band].magnitude_bits + 1 + rct;
    return bits < MAX_PGX_BITS ? bits : MAX_PGX_BITS;
}

static bool write_values(const dump_job *dump, cli_output *output, const l2k_tile_coefficients *k, uint32_t band)
{
    const l2k_band_view *view = &k->view->bands[band];
    const size_t first = (size_t)view->y * k->view->stride + view->x;
    const l2k_plane plane = {(int32_t *)k->view->base + first, (ptrdiff_t)(k->view->stride * 4), 4, L2K_SAMPLE_S32};
    const l2k_component component = {
        .precision = band_bits(k, band), .is_signed = true, .width = view->width, .height = view->height};
    return dump->format == CLI_DUMP_PGX ? cli_pgx_write_plane(output, &plane, &component)
                                        : cli_words_write(&(cli_words){.precision = 32, .is_signed = true}, output, 0,
                                                          &plane, view->width, view->height);
}

/* ---- The description, subbands.json ------------------------------------------------------------------------------ */

/* It is written along with the subbands, and gets its name when they all have theirs. Keys may be added; existing ones
 * keep their names and meaning (the help lists them). */
static bool begin_description(dump_job *dump)
{
    const cli_coefficients *input = &dump->input;
    const l2k_image *image = &input->info.image;
    if (!cli_output_open(&dump->description, dump->description_path))
        return false;
    dump->json.file = cli_output_stream(&dump->description);
    if (!dump->json.file)
        return cli_output_fail(&dump->description);
    cli_json_put(&dump->json, "{ file %s source %s format %s", input->file.name,
                 input->file.is_jpeg2000 ? "codestream" : "picture", dump->format == CLI_DUMP_RAW ? "raw" : "pgx");
    cli_json_put(&dump->json, "image { x0 %u y0 %u x1 %u y1 %u } tiles_across %u tiles_down %u", image->x0, image->y0,
                 image->x1, image->y1, input->info.tiles_across, input->info.tiles_down);
    cli_json_put(&dump->json, "components [");
    for (const l2k_component *k = image->components; k < image->components + image->num_components; k++)
        cli_json_put(&dump->json, "{ precision %u signed %d dx %u dy %u }", k->precision, k->is_signed, k->dx, k->dy);
    cli_json_put(&dump->json, "] subbands [");
    return true;
}

static void describe_band(dump_job *dump, const l2k_tile_coefficients *k, uint32_t band, const char *name)
{
    cli_json *json = &dump->json;
    const l2k_subband_info *info = &k->bands[band];
    const bool reversible = l2k_wavelet_reversible(k->wavelet);
    cli_json_put(json, "{ file %s tile %u component %u band %u resolution %u orientation %s level %u", name, k->tile,
                 k->component, band, info->resolution, cli_orientation_names[info->orientation], info->level);
    cli_json_put(json, "width %u height %u rect { x0 %u y0 %u x1 %u y1 %u }", info->x1 - info->x0, info->y1 - info->y0,
                 info->x0, info->y0, info->x1, info->y1);
    cli_json_put(json, "tile_component { x0 %u y0 %u x1 %u y1 %u }", k->x0, k->y0, k->x1, k->y1);
    cli_json_put(json, "wavelet %s component_transform %s value %s", l2k_wavelet_name(k->wavelet),
                 !k->component_transform ? "none"
                 : reversible            ? "RCT"
                                         : "ICT",
                 reversible ? "coefficient" : "quantiser index");
    cli_json_put(json, "step_exponent %u step_mantissa %u step_size %g magnitude_bits %u bits %u }",
                 info->step.exponent, info->step.mantissa, info->step_size, info->magnitude_bits,
                 dump->format == CLI_DUMP_RAW ? 32 : band_bits(k, band));
}

static bool end_description(dump_job *dump)
{
    cli_json_put(&dump->json, "] complete %d }", !dump->input.file.coded.incomplete);
    if (fflush(dump->description.stream) == 0 && !ferror(dump->description.stream))
        return cli_output_commit(&dump->description);
    dump->description.error = errno ? errno : EIO;
    return cli_output_fail(&dump->description);
}

/* ---- Writing ------------------------------------------------------------------------------------------------- */

/* An existing folder may have other files, but no subbands that are complete. */
static bool make_folder(dump_job *dump)
{
    struct stat facts;
    dump->description_path = cli_join(dump->folder, DESCRIPTION);
    if (!dump->description_path)
        return cli_error(dump->folder, "out of memory");
    if (stat(dump->description_path, &facts) == 0)
        return cli_error(dump->description_path,
                         "the folder has subbands already; remove them, or name another folder");
    dump->folder_made = mkdir(dump->folder, 0777) == 0;
    if (!dump->folder_made && errno != EEXIST)
        return cli_error(dump->folder, "%s", strerror(errno));
    return cli_is_folder(dump->folder) ||
           cli_error(dump->folder, "%s; a folder is needed for the subbands' files", strerror(ENOTDIR));
}

/* If the file is an existing pipe, its reader may keep us waiting: a signal then ends the command at once, although the
 * library, which hands out the coefficients of a codestream, is working. */
static bool write_band(dump_job *dump, const l2k_tile_coefficients *k, uint32_t band, const char *name)
{
    const bool at_work = cli_interrupt_wait(false);
    cli_output output = {0};
    char *path = cli_join(dump->folder, name);
    const bool done = (path || cli_error(name, "out of memory")) && cli_output_open(&output, path) &&
                      write_values(dump, &output, k, band) && cli_output_commit(&output);
    cli_output_discard(&output);
    free(path);
    cli_interrupt_wait(at_work);
    return done;
}

static bool dump_component(void *user, const l2k_tile_coefficients *k)
{
    dump_job *dump = user;
    char name[MOST_NAME];
    for (uint32_t band = 0; band < k->view->num_bands; band++) {
        const l2k_band_view *view = &k->view->bands[band];
        const bool empty = !view->width || !view->height; /* no file format can hold an empty subband */
        name_band(dump, k, band, name);
        if (!empty && !write_band(dump, k, band, name))
            return false;
        dump->num_files += !empty;
        describe_band(dump, k, band, empty ? NULL : name);
    }
    return true;
}

int cli_dump_command(const cli_options *options)
{
    dump_job dump = {.format = (cli_dump_format)cli_setting_or(options->dump_format, CLI_DUMP_PGX)};
    if (!cli_coefficients_begin(&dump.input, options))
        return CLI_EXIT_USAGE;
    dump.folder = dump.input.output;
    if (strcmp(dump.folder, "-") == 0) {
        cli_error("dump", "a folder is needed: standard output cannot hold many files");
        return CLI_EXIT_USAGE;
    }
    cli_progress_begin(options, "dumping", 1);
    cli_progress_file();
    const bool done = cli_coefficients_open(&dump.input) && make_folder(&dump) && begin_description(&dump) &&
                      cli_coefficients_each(&dump.input, dump_component, &dump) && end_description(&dump);
    cli_output_discard(&dump.description);
    free(dump.description_path);
    if (!done && dump.folder_made)
        rmdir(dump.folder); /* fails unless it is empty */
    cli_progress_end();
    if (done && !options->quiet)
        cli_note(NULL, "%s -> %s %llu subbands, described in %s", dump.input.file.name, dump.folder,
                 (unsigned long long)dump.num_files, DESCRIPTION);
    cli_coefficients_close(&dump.input);
    return !done ? CLI_EXIT_FAILURE : dump.input.file.coded.incomplete ? CLI_EXIT_INCOMPLETE : CLI_EXIT_OK;
}
