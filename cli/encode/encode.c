#include <string.h>

#include "cli/commands.h"
#include "cli/encode/encode_options.h"
#include "cli/encode/encode_rows.h"
#include "cli/run/messages.h"
#include "cli/run/pipeline.h"
#include "cli/run/progress.h"
#include "cli/run/tally.h"
#include "cli/run/timings.h"
#include "cli/encode/verify.h"
#include "pictures/user/interrupt.h"
#include "pictures/user/limits.h"
#include "pictures/user/report.h"
#include "pictures/user/text.h"

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
    cli_reader reader; /* with the picture, or some rows of it */
    bool by_rows;
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

/* A reader of a pipe may keep one waiting; a signal that comes meanwhile need not wait, too. */
static int on_write(void *user, const void *buffer, size_t bytes)
{
    const bool may_block = !cli_output_can_seek(user);
    if (may_block)
        cli_interrupt_wait(false);
    bool done = cli_output_write(user, buffer, bytes);
    if (may_block)
        cli_interrupt_wait(true);
    return done ? 0 : -1;
}

static int on_rewrite(void *user, uint64_t offset, const void *buffer, size_t bytes)
{
    return cli_output_write_at(user, offset, buffer, bytes) ? 0 : -1;
}

/* Samples in memory while the library is at work. */
static uint64_t sample_bytes(const encoding *e, const encode_file *file)
{
    const cli_picture *picture = &file->reader.picture;
    return file->by_rows ? cli_encode_rows_bytes(e->options, picture) : cli_picture_bytes(picture);
}

/* The library gets what the samples leave of the memory that the user allows. */
static l2k_status limit_memory(l2k_encoder *encoder, uint64_t taken)
{
    return l2k_encoder_set(encoder, L2K_ENCODER_LIMIT_MEMORY, (int64_t)cli_memory_left(taken));
}

static bool encode_picture(encoding *e, encode_file *file)
{
    cli_output *output = &file->output;
    cli_reader *reader = &file->reader;
    const l2k_stream stream = {
        .write = on_write, .rewrite = cli_output_can_seek(output) ? on_rewrite : NULL, .user = output};
    bool read_failed = false;
    cli_messages_init(&e->messages, reader->name, e->options->common.quiet);
    cli_progress_span(0, e->options->verify ? CLI_VERIFY_FROM : 1);
    const uint64_t taken = sample_bytes(e, file);
    if (!cli_memory_allowed(taken, reader->name))
        return false;
    l2k_status status = limit_memory(e->encoder, taken);
    cli_interrupt_wait(true);
    if (status == L2K_OK)
        status =
            file->by_rows
                ? cli_encode_rows(e->encoder, reader, &stream, &read_failed, &file->timings.seconds[L2K_STAGE_READ])
                : l2k_encoder_encode(e->encoder, &reader->picture.image, reader->picture.planes, &stream);
    cli_interrupt_wait(false);
    if (output->error) /* errno knows better than the library why writing failed */
        return cli_output_fail(output);
    return status == L2K_OK || (!read_failed && cli_messages_fail(&e->messages, status));
}

/* ---- Encoder and decoder ---- */

static bool make_encoder(encoding *e)
{
    cli_messages_init(&e->messages, "encode", e->options->common.quiet);
    l2k_hooks hooks = cli_messages_hooks(&e->messages);
    e->encoder = l2k_encoder_new(&hooks);
    if (!e->encoder)
        return cli_error("encode", "out of memory");
    l2k_status status = configure(e->encoder, e->options);
    return status == L2K_OK || cli_messages_fail(&e->messages, status);
}

/* What is not there. */
static bool make_coders(encoding *e)
{
    return (e->encoder || make_encoder(e)) &&
           (!e->options->verify || e->check.decoder || cli_verify_create(&e->check, &e->options->common));
}

static void free_encoder(encoding *e)
{
    l2k_encoder_free(e->encoder);
    e->encoder = NULL;
}

/* ---- The steps of a file ---- */

static bool open_reader(cli_reader *reader, const cli_task *task, const cli_encode_options *options, bool quiet)
{
    if (!cli_reader_open(reader, task->input, options->has_raw ? &options->raw : NULL, quiet) ||
        !cli_picture_place(&reader->picture, options->x0, options->y0, reader->name))
        return false;
    guess_colour(&reader->picture);
    return true;
}

/* By rows, the samples are left to the next step. */
static bool read_file(void *state, const cli_task *task, void *context)
{
    const cli_encode_options *options = ((encoding *)context)->options;
    encode_file *file = state;
    double start = cli_now();
    if (!open_reader(&file->reader, task, options, options->common.quiet))
        return false;
    file->by_rows = cli_encode_by_rows(options, &file->reader.picture, task);
    if (file->by_rows && options->verify && !cli_reader_can_repeat(task->input))
        return cli_error("--verify", "with --by-rows the picture is read twice; %s can only be read once",
                         file->reader.name);
    if (!file->by_rows && !cli_reader_all(&file->reader))
        return false;
    file->timings.seconds[L2K_STAGE_READ] = cli_now() - start;
    return true;
}

static void take_timings(const l2k_encoder *encoder, encode_file *file)
{
    double read = file->timings.seconds[L2K_STAGE_READ];
    l2k_encoder_timings(encoder, file->timings.seconds);
    file->timings.seconds[L2K_STAGE_READ] += read;
    file->timings.samples = (double)cli_picture_samples(&file->reader.picture);
}

/* A picture by rows goes back to its beginning. What encoder and decoder keep for the next file would be too much for
 * --max-memory, of which each is to have all that the samples leave. */
static bool verify_file(encoding *e, encode_file *file, const cli_task *task)
{
    const bool limited = cli_allowed.memory != CLI_NO_LIMIT;
    double start = cli_now();
    if (limited)
        free_encoder(e);
    if (file->by_rows)
        cli_reader_close(&file->reader);
    bool done = (!file->by_rows || open_reader(&file->reader, task, e->options, true)) &&
                cli_verify(&e->check, &file->output, &file->reader, file->by_rows, cli_encode_is_lossless(e->options));
    if (limited)
        cli_source_close(&e->check);
    file->timings.verify = cli_now() - start;
    return done;
}

static bool code_file(void *state, const cli_task *task, void *context)
{
    encoding *e = context;
    encode_file *file = state;
    if (!make_coders(e) || !cli_output_open(&file->output, task->output) || !encode_picture(e, file))
        return false;
    take_timings(e->encoder, file);
    return !e->options->verify || verify_file(e, file, task);
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
    (void)task;
    (void)context;
    if (!cli_output_commit(&file->output))
        return false;
    file->timings.seconds[L2K_STAGE_WRITE] += cli_now() - start;
    return true;
}

static void release_file(void *state, void *context)
{
    encode_file *file = state;
    (void)context;
    cli_output_discard(&file->output);
    cli_reader_close(&file->reader);
}

static void count_file(void *context, const cli_task *task, const void *state, bool done)
{
    encoding *e = context;
    const encode_file *file = state;
    (void)task;
    cli_tally_file(&e->tally, done ? CLI_EXIT_OK : CLI_EXIT_FAILURE);
    if (!done)
        return;
    e->tally.picture_bytes += cli_picture_raw_bytes(&file->reader.picture);
    e->tally.coded_bytes += file->output.bytes;
    cli_timings_add(&e->timings, &file->timings);
    if (!e->options->common.quiet)
        print_summary(file->reader.name, &file->reader.picture, &file->output);
}

/* ---- The command ---- */

/* Returns the exit status. */
static int run(const cli_encode_options *options)
{
    static const cli_steps steps = {sizeof(encode_file), read_file, code_file, write_file, release_file};
    encoding e = {.options = options};
    int status = CLI_EXIT_FAILURE;
    if (make_coders(&e)) {
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
    free_encoder(&e);
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
