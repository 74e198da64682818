/* `lift2k decode`: the stages that each file passes through, and the command around them. */
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/decode/decode.h"
#include "cli/run/messages.h"
#include "cli/run/pipeline.h"
#include "cli/run/progress.h"
#include "pictures/user/limits.h"
#include "pictures/user/report.h"

/* Decodes one file after another. */
typedef struct coder {
    int device;           /* of --devices, where each coder has one */
    cli_coded_file coded; /* NULL decoder: not made yet */
} coder;

typedef struct decoding {
    cli_decode_job job;
    cli_share share;
    coder *coders; /* share.coders of them */
    cli_tally tally;
    cli_timings timings;
} decoding;

static l2k_status configure(l2k_decoder *decoder, const cli_options *options, const cli_share *share, int device)
{
    const cli_place place = cli_place_of(share, device);
    const struct {
        l2k_decoder_option option;
        cli_setting setting;
    } settings[] = {
        {L2K_DECODER_REDUCE, options->reduce},          {L2K_DECODER_LAYERS, options->layers},
        {L2K_DECODER_COMPONENT, options->component},    {L2K_DECODER_THREADS, share->threads},
        {L2K_DECODER_BACKEND, place.backend},           {L2K_DECODER_DEVICE, place.device},
        {L2K_DECODER_DEVICES, place.devices},           {L2K_DECODER_CPU, options->cpu},
        {L2K_DECODER_IN_FLIGHT, {share->coders, true}}, {L2K_DECODER_GPU_MIN_SAMPLES, share->gpu_min_samples}};
    const uint32_t *r = options->region;
    l2k_status status = L2K_OK;
    for (size_t i = 0; status == L2K_OK && i < sizeof settings / sizeof settings[0]; i++)
        if (settings[i].setting.given)
            status = l2k_decoder_set(decoder, settings[i].option, settings[i].setting.value);
    if (status == L2K_OK && options->has_region)
        status = l2k_decoder_set_region(decoder, r[0], r[1], r[2], r[3]);
    return status;
}

/* ---- The stages of a file ------------------------------------------------------------------------------------ */

static bool read_file(void *state, const cli_task *task, void *context)
{
    cli_decode_file *file = state;
    (void)context;
    if (!cli_input_open(&file->input, task->input))
        return false;
    cli_input_ahead(&file->input);
    return true;
}

/* The decoder owns the profile, and may have the next file when this one is written. */
static bool keep_profile(cli_picture *picture, const char *name)
{
    if (!picture->image.icc)
        return true;
    picture->icc = malloc(picture->image.icc_bytes);
    if (!picture->icc)
        return cli_error(name, "out of memory");
    memcpy(picture->icc, picture->image.icc, picture->image.icc_bytes);
    picture->image.icc = picture->icc;
    return true;
}

/* Georeferencing refers to the whole picture in full size. */
static cli_part part_of(const l2k_image *whole, const l2k_image *part, uint32_t reduce)
{
    const double scale = (double)((uint64_t)1 << reduce);
    return (cli_part){cli_grid_start(part->x0, 1, reduce) * scale - whole->x0,
                      cli_grid_start(part->y0, 1, reduce) * scale - whole->y0, scale};
}

/* The first of each kind. Formats other than PNG and TIFF have no place for them. */
static bool take_metadata(const cli_coded_file *coded, const cli_decode_job *job, const l2k_info *info,
                          cli_picture *picture)
{
    static const struct {
        l2k_content content;
        cli_metadata_kind kind;
    } kinds[] = {{L2K_CONTENT_XMP, CLI_XMP},
                 {L2K_CONTENT_EXIF, CLI_EXIF},
                 {L2K_CONTENT_IPTC, CLI_IPTC},
                 {L2K_CONTENT_GEOTIFF, CLI_GEO}};
    l2k_box_data box;
    picture->metadata.part = part_of(&info->image, &picture->image, (uint32_t)job->options->reduce.value);
    if (job->options->no_metadata || (job->format != CLI_FORMAT_PNG && job->format != CLI_FORMAT_TIFF))
        return true;
    for (size_t i = 0; l2k_decoder_box_data(coded->decoder, i, &box) == L2K_OK; i++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            if (box.content == kinds[k].content &&
                !cli_metadata_keep(&picture->metadata, kinds[k].kind, box.data, box.bytes, job->options->quiet,
                                   coded->messages.subject))
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

static bool describe(cli_decode_file *file, coder *k, const decoding *d, l2k_info *info)
{
    cli_coded_file *coded = &k->coded;
    l2k_image image;
    l2k_status status = configure(coded->decoder, d->job.options, &d->share, k->device);
    if (status == L2K_OK)
        status = l2k_decoder_info(coded->decoder, info);
    if (status == L2K_OK)
        status = l2k_decoder_image(coded->decoder, &image);
    if (status != L2K_OK)
        return cli_messages_fail(&coded->messages, status);
    file->coded_bytes = bytes_of_file(coded->decoder, info);
    return check_sizes(&image, (uint32_t)d->job.options->reduce.value, coded->messages.subject) &&
           cli_picture_adopt(&file->picture, &image, coded->messages.subject) &&
           keep_profile(&file->picture, coded->messages.subject) && take_metadata(coded, &d->job, info, &file->picture);
}

/* Timings are needed from the opening of a file on. */
static bool make_coder(const decoding *d, cli_coded_file *coded)
{
    const cli_options *options = d->job.options;
    if (!cli_coded_create(coded, "decode", options->quiet, options->strict))
        return false;
    coded->messages.on_device = d->share.devices.divided;
    l2k_status status = l2k_decoder_set(coded->decoder, L2K_DECODER_TIMINGS, options->timings);
    return status == L2K_OK || cli_messages_fail(&coded->messages, status);
}

static bool code_once(cli_decode_file *file, const decoding *d, coder *k, const cli_task *task)
{
    cli_coded_file *coded = &k->coded;
    l2k_info info;
    if ((!coded->decoder && !make_coder(d, coded)) || !cli_coded_next(coded, &file->input) ||
        !describe(file, k, d, &info) || !cli_decode_prepare(file, &d->job, task))
        return false;
    bool done = cli_decode_strips(file, coded, &d->job, &info, task);
    file->incomplete = coded->incomplete;
    l2k_decoder_timings(coded->decoder, file->timings.seconds);
    file->timings.samples = (double)cli_picture_samples(&file->picture);
    return done;
}

/* Moves to another device if the coder's has failed. */
static bool move(decoding *d, coder *k, unsigned number)
{
    cli_messages *messages = &k->coded.messages;
    const bool failed = messages->device_failed;
    messages->device_failed = false;
    if (!failed || !cli_device_failed(&d->share.devices, number, &k->device, messages))
        return false;
    cli_coded_close(&k->coded);
    return true;
}

/* Drops the picture, written or not. */
static void drop_picture(cli_decode_file *file)
{
    if (file->has_writer)
        cli_writer_close(&file->writer, false);
    cli_view_free(&file->view);
    cli_rgb8_free(&file->conversion);
    cli_picture_free(&file->picture);
}

static bool code_file(void *state, const cli_task *task, void *context, unsigned number)
{
    cli_decode_file *file = state;
    decoding *d = context;
    coder *k = &d->coders[number];
    while (!code_once(file, d, k, task)) {
        if (!move(d, k, number))
            return false;
        drop_picture(file);
        *file = (cli_decode_file){.input = file->input};
    }
    return true;
}

static bool write_file(void *state, const cli_task *task, void *context)
{
    cli_decode_file *file = state;
    bool done = cli_decode_write(file, &((decoding *)context)->job, task);
    double start = cli_now();
    file->has_writer = false;
    if (!cli_writer_close(&file->writer, done))
        return false;
    file->timings.seconds[L2K_STAGE_WRITE] += file->writing + cli_now() - start;
    return true;
}

static void release_file(void *state, void *context)
{
    cli_decode_file *file = state;
    (void)context;
    drop_picture(file);
    cli_input_close(&file->input);
}

static void count_file(void *context, const cli_task *task, const void *state, bool done)
{
    decoding *d = context;
    const cli_decode_file *file = state;
    char size[80];
    cli_tally_file(&d->tally,
                   !done              ? CLI_EXIT_FAILURE
                   : file->incomplete ? CLI_EXIT_INCOMPLETE
                                      : CLI_EXIT_OK,
                   task->input);
    if (!done)
        return;
    d->tally.picture_bytes += cli_picture_raw_bytes(file->written);
    d->tally.coded_bytes += file->coded_bytes;
    cli_timings_add(&d->timings, &file->timings);
    cli_picture_text(file->written, size, sizeof size);
    if (!d->job.options->quiet)
        cli_report("%s -> %s %s", cli_input_name(task->input), cli_output_name(task->output), size);
}

/* ---- The command --------------------------------------------------------------------------------------------- */

/* All outputs have the extension of the first. Options that say how a format is written need that format; --raw also
 * chooses it for standard output. */
static bool choose_format(cli_decode_job *job, const char *output)
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

static int run_all(decoding *d, const cli_tasks *tasks)
{
    static const cli_stages stages = {sizeof(cli_decode_file), read_file, code_file, write_file, release_file};
    const cli_options *options = d->job.options;
    cli_tally_begin(&d->tally, tasks->skipped);
    d->job.is_alone = tasks->count == 1;
    cli_progress_begin(options, "decoding", tasks->count);
    cli_pipeline_run(tasks, &stages, count_file, d, d->share.coders);
    cli_progress_end();
    if ((tasks->many || tasks->skipped) && !options->quiet)
        cli_tally_print(&d->tally);
    if (options->timings)
        cli_timings_print(&d->timings, cli_now() - d->tally.start);
    return cli_tally_status(&d->tally);
}

static int run(decoding *d, const cli_tasks *tasks)
{
    cli_share_work(tasks, d->job.options, &d->share);
    d->coders = calloc(d->share.coders, sizeof *d->coders);
    if (!d->coders)
        return cli_error("decode", "out of memory"), CLI_EXIT_FAILURE;
    for (unsigned i = 0; i < d->share.coders; i++)
        d->coders[i].device = cli_device_of_coder(&d->share.devices, i);
    int status = make_coder(d, &d->coders[0].coded) ? run_all(d, tasks) : CLI_EXIT_FAILURE;
    for (unsigned i = 0; i < d->share.coders; i++)
        cli_coded_close(&d->coders[i].coded);
    free(d->coders);
    return status;
}

/* Without one of its frames there is no film. */
static int run_film(decoding *d, const cli_tasks *tasks)
{
    cli_film film = {0};
    const char *path = tasks->items[0].output;
    if (!cli_output_open(&film.output, path))
        return CLI_EXIT_FAILURE;
    d->job.write.film = &film;
    int status = run(d, tasks);
    if (status == CLI_EXIT_FAILURE)
        cli_output_discard(&film.output);
    else if (!cli_output_commit(&film.output))
        status = CLI_EXIT_FAILURE;
    free(film.header);
    return status;
}

int cli_decode(const cli_options *options)
{
    static const char *const codestreams[] = {".jp2", ".jph", ".j2k", ".j2c", ".jpc", ".jhc", NULL};
    decoding d = {.job = {.options = options}};
    cli_tasks tasks;
    int status = CLI_EXIT_USAGE;
    if (!cli_devices_find(&d.share.devices, options))
        return status;
    if (cli_tasks_make(&tasks, options, codestreams, "png") &&
        (!tasks.count || choose_format(&d.job, tasks.items[0].output)))
        status = !tasks.count ? CLI_EXIT_OK : tasks.together ? run_film(&d, &tasks) : run(&d, &tasks);
    cli_tasks_report_skipped(&tasks, options);
    cli_tasks_free(&tasks);
    return status;
}
