/* `lift2k decode`: what happens to each file, and the command around it. */
#include <stdlib.h>

#include "cli/commands.h"
#include "cli/input/input.h"
#include "cli/run/batch.h"
#include "pictures/rgb8.h"
#include "pictures/user/limits.h"
#include "pictures/user/report.h"
#include "pictures/writer.h"

typedef struct coder {
    cli_coder base;
    cli_coded_file coded;
} coder;

/* Shared by all files. */
typedef struct decode_job {
    const cli_options *options;
    cli_format format; /* of all outputs */
    cli_write_options write;
} decode_job;

typedef struct decode_file {
    cli_outcome outcome;
    const cli_task *task;
    const decode_job *job;
    cli_coded_file *coded; /* of the coder */
    l2k_info info;
    cli_input input;
    cli_picture picture;
    cli_rgb8 conversion;        /* --rgb8 */
    cli_picture shown;          /* what it makes of `picture`, pixel by pixel */
    const cli_picture *written; /* one of them */
    cli_view view;              /* of `written`, unless planes are written */
    cli_format format;
    cli_writer writer;
    bool has_writer;
    double writing; /* seconds */
} decode_file;

static bool configure(cli_coded_file *coded, const cli_batch *batch, cli_coder *base)
{
    const cli_options *options = batch->options;
    const cli_share *share = &batch->share;
    const cli_place place = cli_place_of(share, base);
    const cli_setting settings[L2K_DECODER_NUM_OPTIONS] = {
        [L2K_DECODER_REDUCE] = options->reduce,          [L2K_DECODER_LAYERS] = options->layers,
        [L2K_DECODER_COMPONENT] = options->component,    [L2K_DECODER_THREADS] = {base->threads, true},
        [L2K_DECODER_BACKEND] = place.backend,           [L2K_DECODER_DEVICE] = place.device,
        [L2K_DECODER_DEVICES] = place.devices,           [L2K_DECODER_CPU] = options->cpu,
        [L2K_DECODER_IN_FLIGHT] = {share->coders, true}, [L2K_DECODER_GPU_MIN_SAMPLES] = share->gpu_min_samples};
    const uint32_t *r = options->region;
    return cli_messages_check(&coded->messages, cli_set_decoder(coded->decoder, settings)) &&
           (!options->has_region ||
            cli_messages_check(&coded->messages, l2k_decoder_set_region(coded->decoder, r[0], r[1], r[2], r[3])));
}

/* ---- The picture --------------------------------------------------------------------------------------------- */

/* The first of each kind. Formats other than PNG and TIFF have no place for them. */
static bool take_metadata(decode_file *file)
{
    const decode_job *job = file->job;
    cli_picture *picture = &file->picture;
    const l2k_image *whole = &file->info.image, *part = &picture->image;
    const uint32_t reduce = (uint32_t)job->options->reduce.value;
    const double scale = (double)((uint64_t)1 << reduce);
    l2k_box_data box;
    /* Georeferencing refers to the whole picture in full size. */
    picture->metadata.part = (cli_part){cli_grid_start(part->x0, 1, reduce) * scale - whole->x0,
                                        cli_grid_start(part->y0, 1, reduce) * scale - whole->y0, scale};
    if (job->options->no_metadata || (job->format != CLI_FORMAT_PNG && job->format != CLI_FORMAT_TIFF))
        return true;
    for (size_t i = 0; l2k_decoder_box_data(file->coded->decoder, i, &box) == L2K_OK; i++)
        if (box.content != L2K_CONTENT_OTHER && box.content <= L2K_CONTENT_GEOTIFF &&
            !cli_metadata_keep(&picture->metadata, box.content, box.data, box.bytes, job->options->quiet,
                               file->coded->messages.subject))
            return false;
    return true;
}

/* Includes boxes. */
static uint64_t bytes_of_file(const l2k_decoder *decoder, const l2k_info *info)
{
    uint64_t end = info->codestream_bytes;
    l2k_box box;
    for (size_t i = 0; l2k_decoder_box(decoder, i, &box) == L2K_OK; i++)
        end = box.depth == 0 ? box.offset + box.bytes : end;
    return end;
}

/* Writers expect both sides of a reduced picture to be halved alike. */
static bool check_sizes(const l2k_image *image, uint32_t reduce, const char *name)
{
    for (uint32_t c = 0; c < image->num_components; c++) {
        const l2k_component *k = &image->components[c];
        if (k->width != cli_grid_start(image->x1, k->dx, reduce) - cli_grid_start(image->x0, k->dx, reduce) ||
            k->height != cli_grid_start(image->y1, k->dy, reduce) - cli_grid_start(image->y0, k->dy, reduce))
            return cli_error(name, "--reduce leaves out only levels that split both ways");
    }
    return true;
}

static bool describe(decode_file *file, const cli_batch *batch, cli_coder *base)
{
    cli_coded_file *coded = file->coded;
    l2k_image image;
    if (!configure(coded, batch, base) ||
        !cli_messages_check(&coded->messages, l2k_decoder_info(coded->decoder, &file->info)) ||
        !cli_messages_check(&coded->messages, l2k_decoder_image(coded->decoder, &image)))
        return false;
    file->outcome.coded_bytes = bytes_of_file(coded->decoder, &file->info);
    return check_sizes(&image, (uint32_t)batch->options->reduce.value, coded->messages.subject) &&
           cli_picture_adopt(&file->picture, &image, coded->messages.subject) && take_metadata(file);
}

/* ---- The writer ---------------------------------------------------------------------------------------------- */

static bool has_view(const decode_file *file)
{
    return file->format < CLI_FORMAT_PGX;
}

static void warn_of_changes(const decode_file *file, const char *target)
{
    const cli_view *view = &file->view;
    if (file->format != CLI_FORMAT_PNG && file->format != CLI_FORMAT_TIFF)
        return;
    if (view->least != view->depth || view->most != view->depth)
        cli_warning(target, "%u-bit samples are scaled to %u bits",
                    view->channels[0].component->precision != view->depth
                        ? view->channels[0].component->precision
                        : view->channels[view->num_channels - 1].component->precision,
                    view->depth);
    if (view->premultiplied && file->format == CLI_FORMAT_PNG)
        cli_warning(target, "premultiplied opacity is written unchanged");
}

/* --rgb8: chooses the conversion, and gives the result its shape. */
static bool shape_shown(decode_file *file)
{
    const decode_job *job = file->job;
    const char *name = cli_input_name(file->task->input);
    const bool quiet = job->options->quiet;
    const bool room = file->format == CLI_FORMAT_PNG || file->format == CLI_FORMAT_PAM ||
                      file->format == CLI_FORMAT_NETPBM || file->format == CLI_FORMAT_PGX;
    cli_rgb8 *conversion = &file->conversion;
    cli_picture *shown = &file->shown;
    if (!cli_rgb8_create(conversion, &file->picture, (uint32_t)job->options->reduce.value, quiet, name))
        return false;
    if (conversion->opacity >= 0 && !room) {
        if (!quiet)
            cli_warning(name, "opacity does not fit this format and is dropped; png or pam can hold it");
        conversion->opacity = -1;
    }
    if (!cli_picture_create(shown, cli_rgb8_count(conversion), name))
        return false;
    shown->image.colour = conversion->channels == 1 ? L2K_COLOUR_GRAY : L2K_COLOUR_SRGB;
    shown->image.density_x = file->picture.image.density_x;
    shown->image.density_y = file->picture.image.density_y;
    cli_picture_uniform(shown, conversion->decoded.width, conversion->decoded.height, 8, conversion->opacity >= 0);
    return cli_picture_place(shown, 0, 0, name);
}

/* Opens the writer of a picture whose shape is known. All refusals happen here, before samples are decoded. */
static bool open_writer(decode_file *file)
{
    const decode_job *job = file->job;
    const cli_task *task = file->task;
    const char *target = cli_output_name(task->output);
    uint32_t reduce = (uint32_t)job->options->reduce.value;
    file->format = job->format;
    file->written = &file->picture;
    if (job->options->rgb8) {
        if (!shape_shown(file))
            return false;
        file->written = &file->shown;
        reduce = 0;
    }
    if (has_view(file) && (!cli_view_create(&file->view, file->written, reduce, target) ||
                           !cli_format_check(&file->format, &file->view, target)))
        return false;
    cli_write_options write = job->write;
    write.metadata = &file->picture.metadata;
    file->has_writer = cli_writer_open(&file->writer, task->output, file->format, file->written,
                                       has_view(file) ? &file->view : NULL, &write);
    if (file->has_writer && !job->options->rgb8 && has_view(file) && !job->options->quiet)
        warn_of_changes(file, target);
    return file->has_writer;
}

/* ---- Strips -------------------------------------------------------------------------------------------------- */

/* The number of output rows from rows of the reference grid above y1. */
static uint32_t rows_above(const decode_file *file, uint32_t y1)
{
    return file->job->options->rgb8 ? cli_view_rows_above(&file->conversion.decoded, y1)
           : has_view(file)         ? cli_view_rows_above(&file->view, y1)
                                    : 0;
}

static bool show_rows(decode_file *file, uint32_t first, uint32_t end)
{
    cli_picture *shown = &file->shown;
    if (!cli_picture_window(shown, first, end, 0, CLI_INTERLEAVED, cli_output_name(file->task->output)))
        return false;
    const l2k_plane *plane = &shown->planes[0];
    for (uint32_t y = first; y < end; y++)
        cli_rgb8_row(&file->conversion, y,
                     (uint8_t *)plane->data + (ptrdiff_t)(y - shown->rows->first) * plane->row_stride);
    return true;
}

static bool write_strip(decode_file *file, const cli_strips *strip)
{
    const uint32_t end = rows_above(file, strip->y1);
    double start = cli_now();
    bool done = (!file->job->options->rgb8 || show_rows(file, rows_above(file, strip->y0), end)) &&
                cli_writer_rows(&file->writer, end);
    file->writing += cli_now() - start;
    return done;
}

/* A picture with fewer samples than a strip needs is a single strip. Of many files, one is written while others are
 * decoded, which pays more than writing each in strips. */
static bool decode_strips(decode_file *file)
{
    const decode_job *job = file->job;
    const bool planar = job->options->rgb8 || !(has_view(file) || job->write.interleaved) ||
                        !cli_picture_can_interleave(&file->picture);
    const bool by_rows = job->options->by_rows;
    const bool takes_rows = cli_writer_takes_rows(file->task->output, file->format, &job->write);
    cli_strips strips;
    if (!cli_strips_begin(&strips, file->coded, &file->picture, &file->info, (uint32_t)job->options->reduce.value,
                          !takes_rows ? UINT64_MAX
                          : by_rows   ? 0
                                      : CLI_STRIP_SAMPLES,
                          takes_rows && (file->task->is_alone || by_rows)))
        return false;
    while (cli_strips_next(&strips, 0))
        if (!cli_strips_decode(&strips, planar ? CLI_PLANAR : CLI_INTERLEAVED) || !write_strip(file, &strips))
            return false;
    return cli_strips_end(&strips);
}

/* ---- A file -------------------------------------------------------------------------------------------------- */

static void close_coder(cli_coder *base)
{
    cli_coded_close(&((coder *)base)->coded);
}

/* Timings are needed from the opening of a file on. */
static bool prepare(const cli_batch *batch, cli_coder *base)
{
    cli_coded_file *coded = &((coder *)base)->coded;
    if (coded->decoder)
        return true;
    if (!cli_coded_create(coded, "decode", batch->options->quiet, batch->options->strict))
        return false;
    coded->messages.failed = cli_place_of(&batch->share, base).failed;
    return cli_messages_check(&coded->messages,
                              l2k_decoder_set(coded->decoder, L2K_DECODER_TIMINGS, batch->options->timings));
}

static bool code_file(const cli_batch *batch, cli_coder *base, const cli_task *task, void *state)
{
    decode_file *file = state;
    cli_outcome *outcome = &file->outcome;
    file->task = task;
    file->job = batch->context;
    file->coded = &((coder *)base)->coded;
    if (!cli_input_open(&file->input, task->input))
        return false;
    cli_input_ahead(&file->input);
    if (!cli_coded_next(file->coded, &file->input) || !describe(file, batch, base) || !open_writer(file) ||
        !decode_strips(file))
        return false;
    double start = cli_now();
    file->has_writer = false;
    if (!cli_writer_close(&file->writer, true))
        return false;
    l2k_decoder_timings(file->coded->decoder, outcome->seconds);
    outcome->seconds[L2K_STAGE_WRITE] += file->writing + cli_now() - start;
    outcome->samples = (double)cli_picture_samples(&file->picture);
    outcome->picture_bytes = cli_picture_raw_bytes(&file->written->image);
    outcome->incomplete = file->coded->incomplete;
    return true;
}

static void release_file(void *state)
{
    decode_file *file = state;
    if (file->has_writer)
        cli_writer_close(&file->writer, false);
    cli_view_free(&file->view);
    cli_rgb8_free(&file->conversion);
    cli_picture_free(&file->shown);
    cli_picture_free(&file->picture);
    cli_input_close(&file->input);
}

static void report_file(const cli_batch *batch, const cli_task *task, const void *state)
{
    (void)batch;
    char size[80];
    cli_picture_text(((const decode_file *)state)->written, size, sizeof size);
    cli_report("%s -> %s %s", cli_input_name(task->input), cli_output_name(task->output), size);
}

/* ---- The command --------------------------------------------------------------------------------------------- */

/* All outputs have the extension of the first. Options that say how a format is written need that format; --raw also
 * chooses it for standard output. */
static bool choose_format(decode_job *job, const char *output)
{
    const cli_options *options = job->options;
    if (!cli_format_of_name(output, &job->format))
        return false;
    if (options->has_raw && cli_is_stream(output))
        job->format = CLI_FORMAT_RAW;
    if (options->has_raw && job->format != CLI_FORMAT_RAW)
        return cli_error("--raw", "%s is not a .raw file", output);
    if (options->compression.given && job->format != CLI_FORMAT_TIFF)
        return cli_error("--tiff-compression", "%s is not a .tif file", output);
    if (options->png_level.given && job->format != CLI_FORMAT_PNG)
        return cli_error("--png-level", "%s is not a .png file", output);
    if (options->write.fps[0] && job->format != CLI_FORMAT_Y4M)
        return cli_error("--fps", "%s is not a .y4m file", output);
    job->write = options->write;
    job->write.compression = (cli_compression)options->compression.value;
    job->write.png_level = (int)cli_setting_or(options->png_level, CLI_PNG_LEVEL);
    job->write.quiet = options->quiet;
    if (!job->write.fps[0])
        job->write.fps[0] = 25, job->write.fps[1] = 1;
    return true;
}

/* Without one of its frames there is no film. */
static int run_film(cli_batch *batch, const cli_tasks *tasks)
{
    decode_job *job = batch->context;
    cli_film film = {0};
    const char *path = tasks->items[0].output;
    if (!cli_output_open(&film.output, path))
        return CLI_EXIT_FAILURE;
    job->write.film = &film;
    int status = cli_batch_run(batch, tasks);
    if (status == CLI_EXIT_FAILURE)
        cli_output_discard(&film.output);
    else if (!cli_output_commit(&film.output))
        status = CLI_EXIT_FAILURE;
    return status;
}

int cli_decode(const cli_options *options)
{
    decode_job job = {.options = options};
    cli_batch batch = {options, "decoding", {0},         &job,         sizeof(coder), sizeof(decode_file),
                       prepare, code_file,  report_file, release_file, close_coder};
    cli_tasks tasks;
    int status = CLI_EXIT_USAGE;
    if (!cli_devices_find(&batch.share.devices, options))
        return status;
    if (cli_tasks_make(&tasks, options, cli_coded_extensions, "png") &&
        (!tasks.count || choose_format(&job, tasks.items[0].output)))
        status = !tasks.count ? CLI_EXIT_OK : tasks.together ? run_film(&batch, &tasks) : cli_batch_run(&batch, &tasks);
    cli_tasks_free(&tasks);
    return status;
}
