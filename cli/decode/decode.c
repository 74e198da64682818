#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/decode/decode_file.h"
#include "cli/run/messages.h"
#include "cli/run/pipeline.h"
#include "cli/run/progress.h"
#include "cli/run/tally.h"
#include "pictures/user/limits.h"
#include "pictures/user/report.h"

/* What all files share. */
typedef struct decoding {
    const cli_decode_options *options;
    cli_source source;
    cli_tally tally;
    cli_timings timings;
} decoding;

static l2k_status configure(l2k_decoder *decoder, const cli_decode_options *options)
{
    const cli_common_options *common = &options->common;
    const struct {
        l2k_decoder_option option;
        int64_t value;
    } settings[] = {{L2K_DECODER_REDUCE, options->reduce},
                    {L2K_DECODER_LAYERS, options->layers},
                    {L2K_DECODER_COMPONENT, options->component},
                    {L2K_DECODER_THREADS, common->threads},
                    {L2K_DECODER_BACKEND, common->backend}};
    const uint32_t *r = options->region;
    l2k_status status = L2K_OK;
    for (size_t i = 0; status == L2K_OK && i < sizeof settings / sizeof settings[0]; i++)
        status = l2k_decoder_set(decoder, settings[i].option, settings[i].value);
    if (status == L2K_OK && common->gpu_min_samples >= 0)
        status = l2k_decoder_set(decoder, L2K_DECODER_GPU_MIN_SAMPLES, common->gpu_min_samples);
    if (status == L2K_OK && options->has_region)
        status = l2k_decoder_set_region(decoder, r[0], r[1], r[2], r[3]);
    return status;
}

/* ---- The steps of a file ---- */

static bool read_file(void *state, const cli_task *task, void *context)
{
    cli_decode_file *file = state;
    (void)context;
    if (!cli_input_open(&file->input, task->input))
        return false;
    cli_input_ahead(&file->input);
    return true;
}

/* The profile goes with the decoder, which has the next file when this one is written. */
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

static bool describe(cli_decode_file *file, cli_source *source, const cli_decode_options *options, l2k_info *info)
{
    l2k_image image;
    l2k_status status = configure(source->decoder, options);
    if (status == L2K_OK)
        status = l2k_decoder_info(source->decoder, info);
    if (status == L2K_OK)
        status = l2k_decoder_image(source->decoder, &image);
    if (status != L2K_OK)
        return cli_messages_fail(&source->messages, status);
    file->coded_bytes = info->codestream_bytes;
    return cli_picture_adopt(&file->picture, &image, source->messages.subject) &&
           keep_profile(&file->picture, source->messages.subject);
}

static bool code_file(void *state, const cli_task *task, void *context)
{
    cli_decode_file *file = state;
    decoding *d = context;
    l2k_info info;
    if (!cli_source_next(&d->source, &file->input) || !describe(file, &d->source, d->options, &info) ||
        !cli_decode_prepare(file, d->options, task))
        return false;
    bool done = cli_decode_strips(file, &d->source, d->options, &info, task);
    file->incomplete = d->source.incomplete;
    l2k_decoder_timings(d->source.decoder, file->timings.seconds);
    file->timings.samples = (double)cli_picture_samples(&file->picture);
    return done;
}

static bool write_file(void *state, const cli_task *task, void *context)
{
    cli_decode_file *file = state;
    bool done = cli_decode_write(file, ((decoding *)context)->options, task);
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
    if (file->has_writer)
        cli_writer_close(&file->writer, false);
    cli_input_close(&file->input);
    cli_view_free(&file->view);
    cli_rgb8_free(&file->conversion);
    cli_picture_free(&file->picture);
}

static void count_file(void *context, const cli_task *task, const void *state, bool done)
{
    decoding *d = context;
    const cli_decode_file *file = state;
    char size[80];
    cli_tally_file(&d->tally, !done ? CLI_EXIT_FAILURE : file->incomplete ? CLI_EXIT_INCOMPLETE : CLI_EXIT_OK);
    if (!done)
        return;
    d->tally.picture_bytes += cli_picture_raw_bytes(&file->picture);
    d->tally.coded_bytes += file->coded_bytes;
    cli_timings_add(&d->timings, &file->timings);
    cli_picture_text(&file->picture, size, sizeof size);
    if (!d->options->common.quiet)
        cli_note("%s -> %s %s", cli_input_name(task->input), cli_output_name(task->output), size);
}

/* ---- The command ---- */

/* Timings are wanted from the opening on. */
static bool set_up(decoding *d)
{
    const cli_decode_options *options = d->options;
    if (!cli_source_create(&d->source, "decode", options->common.quiet, options->strict))
        return false;
    l2k_status status = l2k_decoder_set(d->source.decoder, L2K_DECODER_TIMINGS, options->common.timings);
    return status == L2K_OK || cli_messages_fail(&d->source.messages, status);
}

/* Returns the exit status. */
static int run(const cli_decode_options *options)
{
    static const cli_steps steps = {sizeof(cli_decode_file), read_file, code_file, write_file, release_file};
    decoding d = {.options = options};
    int status = CLI_EXIT_FAILURE;
    if (set_up(&d)) {
        cli_tally_begin(&d.tally);
        cli_progress_begin(&options->common, "decoding", options->tasks.count);
        cli_pipeline_run(&options->tasks, &steps, count_file, &d);
        cli_progress_end();
        if (options->tasks.many && !options->common.quiet)
            cli_tally_print(&d.tally);
        if (options->common.timings)
            cli_timings_print(&d.timings, cli_now() - d.tally.start);
        status = cli_tally_status(&d.tally);
    }
    cli_source_close(&d.source);
    return status;
}

int cli_decode(int count, char **arguments)
{
    cli_decode_options options;
    int status = CLI_EXIT_USAGE;
    if (cli_decode_options_parse(&options, count, arguments))
        status = options.common.help ? cli_print_help(cli_help_decode) : run(&options);
    cli_tasks_free(&options.tasks);
    return status;
}
