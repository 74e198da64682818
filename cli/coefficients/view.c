/* `lift2k view`: subbands as a picture. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/run/progress.h"
#include "cli/coefficients/view_options.h"
#include "pictures/formats.h"
#include "pictures/user/limits.h"
#include "pictures/user/report.h"
#include "pictures/writer.h"

typedef struct view_job {
    cli_view_options *options;
    cli_coefficients source;
    cli_mosaic mosaic;
    uint32_t reduce;   /* resolutions that are not in the mosaic */
    cli_area area;     /* of the mosaic, in the domain of what it shows */
    size_t first_band; /* of the tile in hand, in the mosaic */
} view_job;

/* ---- Places -------------------------------------------------------------------------------------------------- */

/* One side of a subband in its domain (B-15), or of the resolution below `level` where orientation is 0. */
static uint32_t band_side(uint32_t side, uint32_t level, uint32_t high)
{
    uint64_t scale = (uint64_t)1 << level, offset = high ? scale / 2 : 0;
    return side > offset ? cli_ceil_div(side - offset, scale) : 0;
}

static cli_area band_area(cli_area r, uint32_t level, unsigned orientation)
{
    return (cli_area){band_side(r.x0, level, orientation & 1), band_side(r.y0, level, orientation >> 1),
                      band_side(r.x1, level, orientation & 1), band_side(r.y1, level, orientation >> 1)};
}

static bool is_wanted(const cli_view_options *options, const l2k_subband_info *band)
{
    if (options->has_band)
        return band->level == options->level && band->orientation == options->orientation;
    return !options->has_level || band->level == options->level;
}

/* Where the mosaic has the first coefficient of a band: alone, by its own coordinates; else as the tile's view has it,
 * from the tile's corner on. */
static void place_band(const view_job *job, const l2k_tile_coefficients *k, uint32_t band, uint32_t *x, uint32_t *y)
{
    if (job->options->has_band) {
        *x = k->bands[band].x0 - job->area.x0;
        *y = k->bands[band].y0 - job->area.y0;
        return;
    }
    cli_area corner = band_area((cli_area){k->x0, k->y0, k->x1, k->y1}, job->reduce, L2K_LL);
    *x = corner.x0 - job->area.x0 + k->view->bands[band].x;
    *y = corner.y0 - job->area.y0 + k->view->bands[band].y;
}

/* ---- Filling the mosaic -------------------------------------------------------------------------------------- */

static bool show_component(void *user, const l2k_tile_coefficients *k)
{
    view_job *job = user;
    uint32_t x, y, precision = job->source.image.components[k->component].precision;
    uint32_t channel = job->options->rgb ? k->component : 0;
    if (channel >= job->mosaic.channels)
        return true;
    if (channel == 0)
        job->first_band = job->mosaic.num_bands;
    for (uint32_t band = 0; band < k->view->num_bands; band++) {
        if (!is_wanted(job->options, &k->bands[band]))
            continue;
        place_band(job, k, band, &x, &y);
        if (!cli_mosaic_put(&job->mosaic, channel, k, band, x, y, precision))
            return false;
    }
    if (k->component_transform && channel + 1 == CLI_MOSAIC_CHANNELS)
        cli_mosaic_undo_transform(&job->mosaic, job->first_band, k->wavelet);
    return true;
}

static bool same_size(const l2k_component *a, const l2k_component *b)
{
    return a->dx == b->dx && a->dy == b->dy && a->precision == b->precision;
}

static bool check_rgb(const cli_coefficients *source)
{
    const l2k_component *c = source->image.components;
    if (source->image.num_components < 3)
        return cli_error("--rgb", "%s has %u component%s, three are needed", source->file.name,
                         source->image.num_components, source->image.num_components == 1 ? "" : "s");
    return (same_size(&c[0], &c[1]) && same_size(&c[0], &c[2])) ||
           cli_error("--rgb", "components 0 to 2 of %s differ in size or precision", source->file.name);
}

static bool make_mosaic(view_job *job)
{
    const cli_view_options *options = job->options;
    uint32_t c = options->rgb ? 0 : (uint32_t)options->coefficients.component;
    if (options->rgb && !check_rgb(&job->source))
        return false;
    cli_area area = cli_component_area(&job->source, cli_wanted_area(&job->source), c);
    job->area = options->has_band ? band_area(area, options->level, options->orientation)
                                  : band_area(area, job->reduce, L2K_LL);
    if (job->area.x0 >= job->area.x1 || job->area.y0 >= job->area.y1)
        return cli_error(job->source.file.name, "nothing to show: what is wanted of component %u is empty", c);
    bool done = cli_mosaic_create(&job->mosaic, job->area.x1 - job->area.x0, job->area.y1 - job->area.y0,
                                  options->rgb ? CLI_MOSAIC_CHANNELS : 1, job->source.file.name);
    job->mosaic.one_band = options->has_band;
    return done;
}

/* Resolutions above the part that is wanted need not be there. Tiles may have fewer levels than the main header says.
 */
static bool choose_part(view_job *job)
{
    cli_view_options *options = job->options;
    uint32_t levels = job->source.levels;
    bool low = options->has_band && options->orientation == L2K_LL;
    if ((options->has_band || options->has_level) && (low ? options->level != levels : options->level > levels))
        return cli_error(options->has_band ? "--band" : "--level", "%s has no such %s; it has %u level%s",
                         job->source.file.name, options->has_band ? "subband" : "level", levels,
                         levels == 1 ? "" : "s");
    if (options->has_band || options->has_level)
        options->coefficients.reduce = options->level - !low;
    job->reduce = (uint32_t)options->coefficients.reduce;
    return true;
}

static bool fill_mosaic(view_job *job)
{
    if (!choose_part(job) || !make_mosaic(job) || !cli_coefficients_each(&job->source, show_component, job))
        return false;
    if (job->source.num_given == 0)
        return cli_error(job->source.file.name, "the file ends before the first coefficient");
    return true;
}

/* ---- Writing ------------------------------------------------------------------------------------------------- */

static bool write_picture(const cli_view_options *options, const cli_picture *picture)
{
    const cli_write_options how = {.quiet = options->coefficients.common.quiet};
    const char *name = options->coefficients.output;
    cli_format format = options->format;
    const bool planes = format >= CLI_FORMAT_PGX;
    cli_view view = {0};
    cli_writer writer;
    bool done = (planes || (cli_view_create(&view, picture, 0, name) && cli_format_check(&format, &view, name))) &&
                cli_writer_open(&writer, name, format, picture, planes ? NULL : &view, &how);
    done = done && cli_writer_close(&writer, cli_writer_rows(&writer, view.height));
    cli_view_free(&view);
    return done;
}

static void print_summary(const view_job *job, const cli_picture *picture)
{
    char size[80], what[40];
    const cli_view_options *options = job->options;
    cli_picture_text(picture, size, sizeof size);
    if (options->rgb)
        snprintf(what, sizeof what, "components 0 to 2");
    else
        snprintf(what, sizeof what, "component %u", (unsigned)options->coefficients.component);
    cli_note("%s %s, %s, %u level%s -> %s %s", job->source.file.name, what,
             job->source.wavelet == L2K_WAVELET_5_3 ? "5/3" : "9/7", job->source.levels,
             job->source.levels == 1 ? "" : "s", options->coefficients.output, size);
}

/* Everything that can be refused is refused before the picture is drawn. */
static bool draw(view_job *job)
{
    cli_picture picture = {0};
    cli_coefficients_close(&job->source); /* the mosaic has all that is drawn */
    cli_time_starts();
    bool done = cli_mosaic_choose_gains(&job->mosaic, (float)job->options->gain) &&
                cli_mosaic_draw(&job->mosaic, &job->options->style, &picture);
    cli_memory_hold(cli_picture_bytes(&picture));
    done = done && write_picture(job->options, &picture);
    if (done && !job->options->coefficients.common.quiet)
        print_summary(job, &picture);
    cli_picture_free(&picture);
    return done;
}

/* Returns the exit status. */
static int run(cli_view_options *options)
{
    view_job job = {.options = options};
    cli_progress_begin(&options->coefficients.common, "drawing", 1);
    cli_progress_file(0, options->coefficients.input);
    bool done = cli_coefficients_open(&job.source, &options->coefficients) && fill_mosaic(&job) && draw(&job);
    cli_progress_end();
    cli_mosaic_free(&job.mosaic);
    cli_coefficients_close(&job.source);
    return !done ? CLI_EXIT_FAILURE : job.source.incomplete ? CLI_EXIT_INCOMPLETE : CLI_EXIT_OK;
}

int cli_view_command(int count, char **arguments)
{
    cli_view_options options;
    if (!cli_view_options_parse(&options, count, arguments))
        return CLI_EXIT_USAGE;
    if (options.coefficients.common.help)
        return cli_print_help(cli_help_view);
    return run(&options);
}
