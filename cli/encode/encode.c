/* `lift2k encode`: the stages that each file passes through, and the command around them. */
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/encode/encode.h"
#include "cli/run/messages.h"
#include "cli/run/pipeline.h"
#include "cli/run/progress.h"
#include "cli/run/tally.h"
#include "pictures/user/limits.h"
#include "pictures/user/report.h"
#include "pictures/user/text.h"

/* Codes one file after another. */
typedef struct coder {
    int device; /* of --devices, where each coder has one */
    l2k_encoder *encoder;
    cli_messages messages;
    cli_coded_file check; /* --verify */
} coder;

/* Shared by all files. */
typedef struct encoding {
    const cli_options *options;
    l2k_format format;
    bool is_alone; /* there is only one file */
    cli_share share;
    cli_boxes boxes; /* of all files */
    coder *coders;   /* share.coders of them */
    cli_tally tally;
    cli_timings timings;
} encoding;

/* What a file keeps from stage to stage. */
typedef struct encode_file {
    cli_reader reader; /* with the picture, or some rows of it */
    bool by_rows;
    l2k_box_data *boxes; /* of the picture */
    cli_output output;
    char *verified; /* lines for the user, NULL without --verify */
    cli_timings timings;
} encode_file;

/* ---- Encoder and decoder ------------------------------------------------------------------------------------- */

static bool make_encoder(const encoding *e, coder *k)
{
    cli_messages_init(&k->messages, "encode", e->options->quiet);
    k->messages.on_device = e->share.devices.divided;
    l2k_hooks hooks = cli_messages_hooks(&k->messages);
    k->encoder = l2k_encoder_new(&hooks);
    if (!k->encoder)
        return cli_error("encode", "out of memory");
    l2k_status status = cli_encode_configure(k->encoder, e->options, &e->share, k->device, e->format);
    return status == L2K_OK || cli_messages_fail(&k->messages, status);
}

static bool make_check(const encoding *e, coder *k)
{
    if (!cli_verify_create(&k->check, e->options, &e->share, k->device))
        return false;
    k->check.messages.on_device = e->share.devices.divided;
    return true;
}

/* Makes those that do not exist yet. */
static bool make_coder(const encoding *e, coder *k)
{
    return (k->encoder || make_encoder(e, k)) && (!e->options->verify || k->check.decoder || make_check(e, k));
}

static void free_encoder(coder *k)
{
    l2k_encoder_free(k->encoder);
    k->encoder = NULL;
}

/* ---- Reading ------------------------------------------------------------------------------------------------- */

/* PNM and PNG state their colours. Bare planes are taken as gray, RGB, or YCbCr if the second and third are
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

static bool open_reader(cli_reader *reader, const cli_task *task, const cli_options *options, bool quiet)
{
    const cli_raw *raw = options->has_raw ? &options->raw : NULL;
    const bool open = options->palette ? cli_reader_open_indexed(reader, task->input, quiet)
                      : task->page     ? cli_reader_open_page(reader, task->input, task->page, quiet)
                                       : cli_reader_open(reader, task->input, raw, quiet);
    if (!open ||
        (options->precision.given &&
         !cli_reader_set_precision(reader, (uint32_t)options->precision.value, options->keeps_values)) ||
        !cli_picture_place(&reader->picture, options->x0, options->y0, reader->name))
        return false;
    guess_colour(&reader->picture);
    if (options->palette && !reader->picture.num_entries && !quiet)
        cli_warning(reader->name, "has no palette: --palette changes nothing");
    return true;
}

/* By rows, the next stage reads the samples. */
static bool read_file(void *state, const cli_task *task, void *context)
{
    const encoding *e = context;
    const cli_options *options = e->options;
    encode_file *file = state;
    double start = cli_now();
    if (!open_reader(&file->reader, task, options, options->quiet) ||
        !cli_encode_check_profile(options, &file->reader.picture.image, file->reader.name))
        return false;
    file->by_rows = cli_encode_by_rows(options, &file->reader.picture, task, e->is_alone);
    if (file->by_rows && options->verify && !cli_reader_can_repeat(task->input))
        return cli_error("--verify", "with --by-rows the picture is read twice; %s can only be read once",
                         file->reader.name);
    if (!file->by_rows && !cli_reader_all(&file->reader))
        return false;
    file->timings.seconds[L2K_STAGE_READ] = cli_now() - start;
    return true;
}

/* ---- Coding -------------------------------------------------------------------------------------------------- */

/* A bit for each kind read so far: PNG files may have metadata behind the samples. */
static unsigned metadata_of(const cli_picture *picture)
{
    unsigned found = 0;
    for (int kind = 0; kind < CLI_NUM_METADATA; kind++)
        found |= (picture->metadata.blobs[kind].data ? 1u : 0u) << kind;
    return found;
}

static bool encode_picture(const encoding *e, coder *k, encode_file *file)
{
    cli_picture *picture = &file->reader.picture;
    cli_messages_init(&k->messages, file->reader.name, e->options->quiet);
    cli_progress_span(0, e->options->verify ? CLI_VERIFY_FROM : 1);
    if (!cli_boxes_attach(&e->boxes, !e->options->no_metadata, picture, &file->boxes))
        return false;
    const unsigned found = metadata_of(picture);
    if (!cli_encode_picture(k->encoder, &k->messages, e->options, &file->reader, &file->by_rows, &file->output,
                            &file->timings.seconds[L2K_STAGE_READ]))
        return false;
    if (metadata_of(picture) != found && !e->options->no_metadata && !e->options->quiet)
        cli_warning(file->reader.name, "metadata behind the samples are left out, since it was read by rows");
    return true;
}

static void take_timings(const l2k_encoder *encoder, encode_file *file)
{
    double read = file->timings.seconds[L2K_STAGE_READ];
    l2k_encoder_timings(encoder, file->timings.seconds);
    file->timings.seconds[L2K_STAGE_READ] += read;
    file->timings.samples = (double)cli_picture_samples(&file->reader.picture);
}

/* A picture by rows is read again from its beginning. Under --max-memory, encoder and decoder each get everything that
 * the samples leave, so neither may keep memory for the next file while the other works. */
static bool verify_file(const encoding *e, coder *k, encode_file *file, const cli_task *task)
{
    const bool limited = cli_allowed.memory != CLI_NO_LIMIT;
    double start = cli_now();
    cli_progress_span(CLI_VERIFY_FROM, 1);
    if (limited)
        free_encoder(k);
    if (file->by_rows)
        cli_reader_close(&file->reader);
    bool done = (!file->by_rows || open_reader(&file->reader, task, e->options, true)) &&
                cli_verify(&k->check, &file->output, &file->reader, file->by_rows, e->options, &file->verified);
    if (limited)
        cli_coded_close(&k->check);
    file->timings.verify = cli_now() - start;
    return done;
}

static bool code_once(const encoding *e, coder *k, encode_file *file, const cli_task *task)
{
    if (!make_coder(e, k) || !cli_output_open(&file->output, task->output) || !encode_picture(e, k, file))
        return false;
    take_timings(k->encoder, file);
    return !e->options->verify || verify_file(e, k, file, task);
}

/* Moves to another device if the coder's has failed. */
static bool move(encoding *e, coder *k, unsigned number)
{
    const bool failed = k->messages.device_failed, unverified = k->check.messages.device_failed;
    k->messages.device_failed = k->check.messages.device_failed = false;
    if ((!failed && !unverified) ||
        !cli_device_failed(&e->share.devices, number, &k->device, failed ? &k->messages : &k->check.messages))
        return false;
    cli_coded_close(&k->check);
    free_encoder(k);
    return true;
}

/* Discards the output; rows that were read step by step are read again. */
static bool rewind_file(const encoding *e, encode_file *file, const cli_task *task)
{
    cli_output_discard(&file->output);
    if (!file->by_rows)
        return true;
    cli_reader_close(&file->reader);
    return open_reader(&file->reader, task, e->options, true);
}

static bool code_file(void *state, const cli_task *task, void *context, unsigned number)
{
    encoding *e = context;
    coder *k = &e->coders[number];
    encode_file *file = state;
    while (!code_once(e, k, file, task))
        if (!move(e, k, number) || !rewind_file(e, file, task))
            return false;
    return true;
}

/* ---- Writing ------------------------------------------------------------------------------------------------- */

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
    free(file->verified);
    free(file->boxes);
}

static void print_verified(const char *name, const char *lines)
{
    for (const char *end; lines && (end = strchr(lines, '\n')) != NULL; lines = end + 1)
        cli_report("%s: %.*s", name, (int)(end - lines), lines);
}

static void print_summary(const char *from, const cli_picture *picture, const cli_output *output)
{
    char size[80], raw_text[CLI_UNITS_ROOM], text[CLI_UNITS_ROOM];
    uint64_t raw = cli_picture_raw_bytes(picture);
    cli_picture_text(picture, size, sizeof size);
    cli_report("%s %s, %s -> %s %s, ratio %.3f", from, size, cli_bytes_text(raw, raw_text), output->name,
               cli_bytes_text(output->bytes, text), output->bytes ? (double)raw / (double)output->bytes : 0.0);
}

static void count_file(void *context, const cli_task *task, const void *state, bool done)
{
    encoding *e = context;
    const encode_file *file = state;
    cli_tally_file(&e->tally, done ? CLI_EXIT_OK : CLI_EXIT_FAILURE, task->input);
    if (!done)
        return;
    e->tally.picture_bytes += cli_picture_raw_bytes(&file->reader.picture);
    e->tally.coded_bytes += file->output.bytes;
    cli_timings_add(&e->timings, &file->timings);
    if (e->options->quiet)
        return;
    print_verified(file->output.name, file->verified);
    print_summary(file->reader.name, &file->reader.picture, &file->output);
}

/* ---- The command --------------------------------------------------------------------------------------------- */

static int run_all(encoding *e, const cli_tasks *tasks)
{
    static const cli_stages stages = {sizeof(encode_file), read_file, code_file, write_file, release_file};
    const cli_options *options = e->options;
    e->is_alone = tasks->count == 1;
    cli_tally_begin(&e->tally, tasks->skipped);
    for (size_t i = 0; i < tasks->num_cut; i++)
        cli_tally_file(&e->tally, CLI_EXIT_FAILURE, tasks->cut);
    cli_progress_begin(options, "encoding", tasks->count);
    cli_pipeline_run(tasks, &stages, count_file, e, e->share.coders);
    cli_progress_end();
    if ((tasks->many || tasks->skipped) && !options->quiet)
        cli_tally_print(&e->tally);
    if (options->timings)
        cli_timings_print(&e->timings, cli_now() - e->tally.start);
    return cli_tally_status(&e->tally);
}

/* The first coder is made before any file is read, to find impossible options at once. */
static int run(encoding *e, const cli_tasks *tasks)
{
    cli_share_work(tasks, e->options, &e->share);
    e->coders = calloc(e->share.coders, sizeof *e->coders);
    if (!e->coders)
        return cli_error("encode", "out of memory"), CLI_EXIT_FAILURE;
    for (unsigned i = 0; i < e->share.coders; i++)
        e->coders[i].device = cli_device_of_coder(&e->share.devices, i);
    const bool ready = cli_boxes_load(&e->boxes, e->options) && make_coder(e, &e->coders[0]);
    int status = ready ? run_all(e, tasks) : CLI_EXIT_FAILURE;
    cli_boxes_unload(&e->boxes);
    for (unsigned i = 0; i < e->share.coders; i++) {
        cli_coded_close(&e->coders[i].check);
        free_encoder(&e->coders[i]);
    }
    free(e->coders);
    return status;
}

int cli_encode(const cli_options *options)
{
    static const char *const pictures[] = {".png", ".jpg", ".jpeg", ".tif", ".tiff", ".pnm", ".pbm",
                                           ".pgm", ".ppm", ".pam",  ".pgx", ".y4m",  NULL};
    static const char *const raw[] = {".raw", NULL}; /* --raw describes them all */
    encoding e = {.options = options};
    cli_tasks tasks;
    int status = CLI_EXIT_USAGE;
    if (!cli_devices_find(&e.share.devices, options))
        return status;
    if (cli_tasks_make(&tasks, options, options->has_raw ? raw : pictures, options->ht ? "jph" : "jp2") &&
        (!tasks.count || cli_encode_check(options, &tasks, &e.format)))
        status = tasks.count ? run(&e, &tasks) : tasks.num_cut ? CLI_EXIT_FAILURE : CLI_EXIT_OK;
    cli_tasks_report_skipped(&tasks, options);
    cli_tasks_free(&tasks);
    return status;
}
