/* `lift2k view`: draws subbands as a picture. */
#include <math.h>
#include <stdio.h>

#include "cli/commands.h"
#include "cli/run/progress.h"
#include "cli/view/mosaic.h"
#include "pictures/formats.h"
#include "pictures/user/limits.h"
#include "pictures/user/report.h"
#include "pictures/writer.h"

typedef struct view_job {
    const cli_options *options;
    cli_format format;
    cli_coefficients input;
    uint32_t shown; /* the component, without --rgb */
    uint32_t level; /* of --band or --level */
    cli_mosaic mosaic;
    cli_area area;     /* of the mosaic, in the domain of its bands */
    size_t first_band; /* of the current tile, in the mosaic */
} view_job;

/* ---- Places -------------------------------------------------------------------------------------------------- */

static cli_area band_area(cli_area r, uint32_t level, unsigned orientation)
{
    return (cli_area){cli_band_side(r.x0, level, orientation & 1), cli_band_side(r.y0, level, orientation >> 1),
                      cli_band_side(r.x1, level, orientation & 1), cli_band_side(r.y1, level, orientation >> 1)};
}

/* The position of a band's first coefficient in the mosaic: by its own coordinates if it is alone, else from the tile's
 * corner, as in the tile's view. */
static void place_band(const view_job *job, const l2k_tile_coefficients *k, uint32_t band, uint32_t *x, uint32_t *y)
{
    if (job->options->has_band) {
        *x = k->bands[band].x0 - job->area.x0;
        *y = k->bands[band].y0 - job->area.y0;
        return;
    }
    cli_area corner = band_area((cli_area){k->x0, k->y0, k->x1, k->y1}, job->input.reduce, L2K_LL);
    *x = corner.x0 - job->area.x0 + k->view->bands[band].x;
    *y = corner.y0 - job->area.y0 + k->view->bands[band].y;
}

/* ---- Filling the mosaic -------------------------------------------------------------------------------------- */

static bool show_component(void *user, const l2k_tile_coefficients *k)
{
    view_job *job = user;
    const cli_options *options = job->options;
    uint32_t x, y, precision = job->input.info.image.components[k->component].precision;
    uint32_t channel = options->rgb ? k->component : 0;
    if (channel >= job->mosaic.channels)
        return true;
    if (channel == 0)
        job->first_band = job->mosaic.num_bands;
    for (uint32_t band = 0; band < k->view->num_bands; band++) {
        const l2k_subband_info *info = &k->bands[band];
        if (((options->has_band || options->level.given) && info->level != job->level) ||
            (options->has_band && info->orientation != options->orientation))
            continue;
        place_band(job, k, band, &x, &y);
        if (!cli_mosaic_put(&job->mosaic, channel, k, band, x, y, precision))
            return false;
    }
    if (k->component_transform && channel + 1 == CLI_MOSAIC_CHANNELS)
        cli_mosaic_undo_transform(&job->mosaic, job->first_band, k->wavelet);
    return true;
}

static bool check_rgb(const cli_coefficients *input)
{
    const l2k_component *c = input->info.image.components;
    if (input->info.image.num_components < 3)
        return cli_error("--rgb", "%s has %u component%s, three are needed", input->file.name,
                         input->info.image.num_components, input->info.image.num_components == 1 ? "" : "s");
    for (int i = 1; i < 3; i++)
        if (c[i].dx != c[0].dx || c[i].dy != c[0].dy || c[i].precision != c[0].precision)
            return cli_error("--rgb", "components 0 to 2 of %s differ in size or precision", input->file.name);
    return true;
}

static bool make_mosaic(view_job *job)
{
    const cli_options *options = job->options;
    uint32_t c = options->rgb ? 0 : job->shown;
    if (options->rgb && !check_rgb(&job->input))
        return false;
    cli_area area = cli_component_area(&job->input, c);
    job->area = options->has_band ? band_area(area, job->level, options->orientation)
                                  : band_area(area, job->input.reduce, L2K_LL);
    if (job->area.x0 >= job->area.x1 || job->area.y0 >= job->area.y1)
        return cli_error(job->input.file.name, "nothing to show: the selected part of component %u is empty", c);
    bool done = cli_mosaic_create(&job->mosaic, job->area.x1 - job->area.x0, job->area.y1 - job->area.y0,
                                  options->rgb ? CLI_MOSAIC_CHANNELS : 1, job->input.file.name);
    job->mosaic.one_band = options->has_band;
    return done;
}

/* Leaves out resolutions above the selected part. Tiles may have fewer levels than the main header says. */
static bool choose_part(view_job *job)
{
    const cli_options *options = job->options;
    const uint32_t levels = job->input.info.levels;
    const bool low = options->has_band && options->orientation == L2K_LL;
    if (!options->has_band && !options->level.given)
        return true;
    if (low ? job->level != levels : job->level > levels)
        return cli_error(options->has_band ? "--band" : "--level", "%s has no such %s; it has %u level%s",
                         job->input.file.name, options->has_band ? "subband" : "level", levels, levels == 1 ? "" : "s");
    job->input.reduce = job->level - !low;
    return true;
}

/* ---- Writing ------------------------------------------------------------------------------------------------- */

static void print_summary(const view_job *job, const cli_picture *picture)
{
    char size[80], what[40];
    const cli_options *options = job->options;
    cli_picture_text(picture, size, sizeof size);
    if (options->rgb)
        snprintf(what, sizeof what, "components 0 to 2");
    else
        snprintf(what, sizeof what, "component %u", job->shown);
    cli_note(NULL, "%s %s, %s, %u level%s -> %s %s", job->input.file.name, what,
             l2k_wavelet_name(job->input.info.wavelet), job->input.info.levels, job->input.info.levels == 1 ? "" : "s",
             job->input.output, size);
}

/* All refusals precede this. */
static bool draw(view_job *job)
{
    cli_picture picture = {0};
    cli_coefficients_close(&job->input); /* everything drawn is in the mosaic */
    cli_mosaic_choose_gains(&job->mosaic, (float)job->options->gain);
    bool done = cli_mosaic_draw(&job->mosaic, job->options, &picture);
    cli_memory_hold(cli_picture_bytes(&picture));
    const cli_write_options how = {.png_level = CLI_PNG_LEVEL, .quiet = job->options->quiet};
    done = done && cli_write_picture(job->input.output, job->format, &picture, &how);
    if (done && !job->options->quiet)
        print_summary(job, &picture);
    cli_picture_free(&picture);
    return done;
}

/* ---- The command --------------------------------------------------------------------------------------------- */

/* Also checks options that exclude each other. */
static bool set_up(view_job *job)
{
    const cli_options *options = job->options;
    if (!cli_coefficients_begin(&job->input, options))
        return false;
    if (options->has_band && options->level.given)
        return cli_error("--band", "--band and --level exclude each other");
    if ((options->has_band || options->level.given) && options->reduce.value)
        return cli_error("--reduce", "has no use with %s, which selects what is shown",
                         options->has_band ? "--band" : "--level");
    if (options->rgb && options->component.given)
        return cli_error("--component", "excludes --rgb, which shows components 0 to 2");
    job->shown = (uint32_t)options->component.value;
    job->input.component = options->rgb ? -1 : (int64_t)job->shown;
    job->level = options->has_band ? options->band_level : (uint32_t)options->level.value;
    return cli_format_of_name(job->input.output, &job->format);
}

int cli_view_command(const cli_options *options)
{
    view_job job = {.options = options};
    if (!set_up(&job))
        return CLI_EXIT_USAGE;
    cli_progress_begin(options, "drawing", 1);
    cli_progress_file();
    const bool done = cli_coefficients_open(&job.input) && choose_part(&job) && make_mosaic(&job) &&
                      cli_coefficients_each(&job.input, show_component, &job) && draw(&job);
    cli_progress_end();
    cli_mosaic_free(&job.mosaic);
    cli_coefficients_close(&job.input);
    return !done ? CLI_EXIT_FAILURE : job.input.file.coded.incomplete ? CLI_EXIT_INCOMPLETE : CLI_EXIT_OK;
}
