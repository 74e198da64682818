#include <string.h>

#include "cli/commands.h"
#include "cli/encode_options.h"
#include "cli/formats.h"
#include "cli/interrupt.h"
#include "cli/limits.h"
#include "cli/pipeline.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/tally.h"
#include "cli/timings.h"
#include "cli/units.h"
#include "cli/verify.h"

/* What all files share. */
typedef struct encoding {
    const cli_encode_options *options;
    l2k_encoder *encoder;
    cli_messages messages;
    cli_source check; /* --verify */
    cli_tally tally;
    cli_timings timings;
} encoding;

/* What a file keeps from step to step. */
typedef struct encode_file {
    cli_picture picture;
    cli_output output;
    cli_timings timings;
} encode_file;

/* What PNM and PNG say themselves is kept. Bare planes are gray, RGB, or YCbCr where the second and third are
 * sub-sampled. */
static void guess_colour(cli_picture *picture)
{
    const l2k_component *c = picture->components;
    l2k_image *image = &picture->image;
    if (image->colour != L2K_COLOUR_UNKNOWN)
        return;
    if (image->num_components == 1)
        image->colour = L2K_COLOUR_GRAY;
    else if (image->num_components == 3 && c[1].dx == c[2].dx && c[1].dy == c[2].dy)
        image->colour = c[1].dx > c[0].dx || c[1].dy > c[0].dy ? L2K_COLOUR_SYCC : L2K_COLOUR_SRGB;
}

static l2k_status configure(l2k_encoder *encoder, const cli_encode_options *options)
{
    l2k_status status = L2K_OK;
    for (int option = 0; status == L2K_OK && option < (int)CLI_NUM_ENCODER_OPTIONS; option++)
        if (options->given[option])
            status = l2k_encoder_set(encoder, (l2k_encoder_option)option, options->values[option]);
    if (status == L2K_OK && options->num_precincts)
        status = l2k_encoder_set_precincts(encoder, options->precincts, options->num_precincts);
    if (status == L2K_OK && options->num_layers)
        status = l2k_encoder_set_layers(encoder, options->target, options->layers, options->num_layers);
    return status;
}

static int on_write(void *user, const void *buffer, size_t bytes)
{
    return cli_output_write(user, buffer, bytes) ? 0 : -1;
}

static bool encode_picture(encoding *e, const cli_picture *picture, const char *name, cli_output *output)
{
    const l2k_stream stream = {.write = on_write, .user = output};
    cli_messages_init(&e->messages, name, e->options->common.quiet);
    l2k_status status = l2k_encoder_set(e->encoder, L2K_ENCODER_LIMIT_MEMORY,
                                        (int64_t)(cli_allowed.memory - cli_picture_bytes(picture)));
    cli_interrupt_wait(true);
    if (status == L2K_OK)
        status = l2k_encoder_encode(e->encoder, &picture->image, picture->planes, &stream);
    cli_interrupt_wait(false);
    if (output->error) /* errno knows better than the library why writing failed */
        return cli_output_fail(output);
    return status == L2K_OK || cli_messages_fail(&e->messages, status);
}

/* ---- The steps of a file ---- */

static bool read_file(void *state, const cli_task *task, void *context)
{
    const cli_encode_options *options = ((encoding *)context)->options;
    encode_file *file = state;
    cli_picture *picture = &file->picture;
    double start = cli_now();
    if (!cli_picture_read(picture, task->input) ||
        !cli_picture_place(picture, options->x0, options->y0, cli_input_name(task->input)))
        return false;
    guess_colour(picture);
    file->timings.seconds[L2K_STAGE_READ] = cli_now() - start;
    return true;
}

static void take_timings(const l2k_encoder *encoder, encode_file *file)
{
    double read = file->timings.seconds[L2K_STAGE_READ];
    l2k_encoder_timings(encoder, file->timings.seconds);
    file->timings.seconds[L2K_STAGE_READ] += read;
    file->timings.samples = (double)cli_picture_samples(&file->picture);
}

static bool verify_file(encoding *e, encode_file *file)
{
    double start = cli_now();
    bool done = cli_verify(&e->check, &file->output, &file->picture, cli_encode_is_lossless(e->options));
    file->timings.verify = cli_now() - start;
    return done;
}

static bool code_file(void *state, const cli_task *task, void *context)
{
    encoding *e = context;
    encode_file *file = state;
    if (!cli_output_open(&file->output, task->output) ||
        !encode_picture(e, &file->picture, cli_input_name(task->input), &file->output))
        return false;
    take_timings(e->encoder, file);
    return !e->options->verify || verify_file(e, file);
}

static void print_summary(const char *from, const cli_picture *picture, const cli_output *output)
{
    char size[80], raw_text[CLI_UNITS_ROOM], text[CLI_UNITS_ROOM];
    uint64_t raw = cli_picture_raw_bytes(picture);
    cli_picture_text(picture, size, sizeof size);
    cli_note("%s %s, %s -> %s %s, ratio %.3f", from, size, cli_bytes_text(raw, raw_text), output->name,
             cli_bytes_text(output->bytes, text), output->bytes ? (double)raw / (double)output->bytes : 0.0);
}

static bool write_file(void *state, const cli_task *task, void *context)
{
    encode_file *file = state;
    double start = cli_now();
    if (!cli_output_commit(&file->output))
        return false;
    file->timings.seconds[L2K_STAGE_WRITE] += cli_now() - start;
    if (!((encoding *)context)->options->common.quiet)
        print_summary(cli_input_name(task->input), &file->picture, &file->output);
    return true;
}

static void release_file(void *state, void *context)
{
    encode_file *file = state;
    (void)context;
    cli_output_discard(&file->output);
    cli_picture_free(&file->picture);
}

static void count_file(void *context, const void *state, bool done)
{
    const encode_file *file = state;
    cli_tally *tally = &((encoding *)context)->tally;
    cli_tally_file(tally, done ? CLI_EXIT_OK : CLI_EXIT_FAILURE);
    if (done) {
        tally->picture_bytes += cli_picture_raw_bytes(&file->picture);
        tally->coded_bytes += file->output.bytes;
        cli_timings_add(&((encoding *)context)->timings, &file->timings);
    }
}

/* ---- The command ---- */

static bool set_up(encoding *e)
{
    const cli_encode_options *options = e->options;
    cli_messages_init(&e->messages, "encode", options->common.quiet);
    l2k_hooks hooks = cli_messages_hooks(&e->messages);
    e->encoder = l2k_encoder_new(&hooks);
    if (!e->encoder)
        return cli_error("encode", "out of memory");
    l2k_status status = configure(e->encoder, options);
    if (status != L2K_OK)
        return cli_messages_fail(&e->messages, status);
    return !options->verify || cli_verify_create(&e->check, &options->common);
}

/* Returns the exit status. */
static int run(const cli_encode_options *options)
{
    static const cli_steps steps = {sizeof(encode_file), read_file, code_file, write_file, release_file};
    encoding e = {.options = options};
    int status = CLI_EXIT_FAILURE;
    if (set_up(&e)) {
        cli_tally_begin(&e.tally);
        cli_progress_begin(&options->common, "encoding", options->tasks.count);
        cli_pipeline_run(&options->tasks, &steps, count_file, &e);
        cli_progress_end();
        if (options->tasks.many && !options->common.quiet)
            cli_tally_print(&e.tally);
        if (options->common.timings)
            cli_timings_print(&e.timings, cli_now() - e.tally.start);
        status = cli_tally_status(&e.tally);
    }
    cli_source_close(&e.check);
    l2k_encoder_free(e.encoder);
    return status;
}

int cli_encode(int count, char **arguments)
{
    cli_encode_options options;
    int status = CLI_EXIT_USAGE;
    if (cli_encode_options_parse(&options, count, arguments))
        status = options.common.help ? cli_print_help(cli_help_encode) : run(&options);
    cli_encode_options_free(&options);
    return status;
}
