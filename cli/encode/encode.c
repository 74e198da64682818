/* `lift2k encode`: what happens to each file, and the command around it. */
#include <stdlib.h>

#include "cli/commands.h"
#include "cli/encode/encode.h"
#include "cli/run/progress.h"
#include "pictures/user/interrupt.h"
#include "pictures/user/limits.h"
#include "pictures/user/report.h"
#include "pictures/user/text.h"

typedef struct coder {
    cli_coder base;
    l2k_encoder *encoder;
    cli_messages messages;
    cli_coded_file check; /* --verify */
} coder;

/* Shared by all files. */
typedef struct encoding {
    l2k_format format;
    cli_boxes boxes; /* of all files */
} encoding;

typedef struct encode_file {
    cli_outcome outcome;
    cli_reader reader; /* with the picture, or some rows of it */
    bool by_rows;
    bool failed;         /* and reported: reading, or its memory */
    l2k_box_data *boxes; /* of the picture */
    cli_output output;
    cli_difference *differences; /* of the components; NULL without --verify */
} encode_file;

/* ---- Encoder and decoder ------------------------------------------------------------------------------------- */

static void close_coder(cli_coder *base)
{
    coder *k = (coder *)base;
    cli_coded_close(&k->check);
    l2k_encoder_free(k->encoder);
    k->encoder = NULL;
}

static bool make_encoder(const cli_batch *batch, coder *k)
{
    cli_messages_init(&k->messages, "encode", batch->options->quiet);
    l2k_hooks hooks = cli_messages_hooks(&k->messages);
    k->encoder = l2k_encoder_new(&hooks);
    if (!k->encoder)
        return cli_error("encode", "out of memory");
    return cli_encode_configure(k->encoder, &k->messages, batch, &k->base, ((const encoding *)batch->context)->format);
}

static bool prepare(const cli_batch *batch, cli_coder *base)
{
    coder *k = (coder *)base;
    return (k->encoder || make_encoder(batch, k)) &&
           l2k_encoder_set(k->encoder, L2K_ENCODER_THREADS, base->threads) == L2K_OK &&
           (!batch->options->verify || cli_verify_prepare(&k->check, batch, base));
}

/* ---- A picture ----------------------------------------------------------------------------------------------- */

/* How often a reader may unpack the same rows. */
#define MOST_REPEATS 16

static bool has_tile_rows(const cli_options *options, const cli_picture *picture)
{
    const int64_t height = options->encoder[L2K_ENCODER_TILE_HEIGHT].value;
    return height && options->encoder[L2K_ENCODER_TILE_Y0].value + height < picture->image.y1;
}

/* Whether to encode a picture, already placed on the grid, by rows: one row of tiles at a time only on request if the
 * result would differ (layer targets, limits of bytes, an output that cannot seek), or the reader would unpack rows too
 * often; not if --verify could not read the picture again. Of many files, one is read while others are encoded, which pays
 * more than reading each in strips. Reading a picture again for --verify would pay less than it costs. */
static bool suits_rows(const cli_options *options, const cli_picture *picture, const cli_task *task)
{
    const bool limited = options->profile.given || options->encoder[L2K_ENCODER_MAX_BYTES].given ||
                         options->encoder[L2K_ENCODER_COMPONENT_BYTES].given || options->num_layer_targets;
    if (!has_tile_rows(options, picture))
        return !picture->at_once && (options->by_rows || (task->is_alone && !options->verify));
    return options->by_rows ||
           (!limited && options->encoder[L2K_ENCODER_TILE_HEIGHT].value * MOST_REPEATS >= picture->together &&
            cli_becomes_file(task->output) && (!options->verify || cli_reader_can_repeat(task->input)));
}

/* A pipe's reader may block the write; a signal that arrives meanwhile must not wait. */
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

l2k_stream cli_encode_stream(cli_output *output)
{
    return (l2k_stream){.write = on_write, .rewrite = cli_output_can_seek(output) ? on_rewrite : NULL, .user = output};
}

/* Reads the next rows. A signal that arrives meanwhile need not wait. */
static bool read_rows(encode_file *file, uint32_t y0, uint32_t y1)
{
    const double start = cli_now();
    cli_reader *reader = &file->reader;
    cli_interrupt_wait(false);
    file->failed = !cli_memory_allowed(cli_picture_strip_bytes(&reader->picture, y1 - y0), reader->name) ||
                   !cli_reader_rows(reader, y0, y1);
    cli_interrupt_wait(true);
    file->outcome.seconds[L2K_STAGE_READ] += cli_now() - start;
    return !file->failed;
}

static l2k_status encode_rows(coder *k, encode_file *file)
{
    l2k_status status = L2K_OK;
    uint32_t y0 = 0, y1 = 0;
    while (status == L2K_OK && (status = l2k_encoder_next_rows(k->encoder, &y0, &y1)) == L2K_OK && y0 < y1) {
        if (!read_rows(file, y0, y1)) {
            l2k_encoder_end(k->encoder); /* an error without the last rows, but it is free for the next picture */
            return L2K_ERROR_IO;
        }
        status = l2k_encoder_put_rows(k->encoder, file->reader.picture.planes);
    }
    return status == L2K_OK ? l2k_encoder_end(k->encoder) : status;
}

/* Bytes of samples in memory while the library works. */
static uint64_t sample_bytes(const cli_options *options, const cli_picture *picture, bool by_rows)
{
    enum { ROWS_OF_STRIP = 256 };
    const int64_t tile = options->encoder[L2K_ENCODER_TILE_HEIGHT].value, rows = picture->image.y1 - picture->image.y0;
    const int64_t part = has_tile_rows(options, picture) ? tile : ROWS_OF_STRIP;
    return cli_picture_strip_bytes(picture, (uint32_t)(by_rows && part < rows ? part : rows));
}

/* The encoder gets the memory that the samples leave. */
static l2k_status share_memory(const coder *k, encode_file *file, uint64_t taken)
{
    file->failed = !cli_memory_allowed(taken, file->reader.name);
    return file->failed ? L2K_ERROR_LIMIT
                        : l2k_encoder_set(k->encoder, L2K_ENCODER_LIMIT_MEMORY, (int64_t)cli_memory_left(taken));
}

/* Whether an image that has begun goes on by rows: not if the encoder takes them all at once, or the reader would
 * unpack rows of a file again for each strip. */
static bool goes_by_rows(const l2k_encoder *encoder, const cli_options *options, const cli_picture *picture)
{
    const uint32_t rows = picture->image.y1 - picture->image.y0;
    uint32_t y0, y1;
    return has_tile_rows(options, picture) || (l2k_encoder_next_rows(encoder, &y0, &y1) == L2K_OK && y1 - y0 < rows &&
                                               (options->by_rows || y1 - y0 >= picture->together));
}

/* With --max-memory, the image that has begun must end before the encoder takes a new limit. */
static l2k_status read_whole(coder *k, encode_file *file)
{
    const cli_picture *picture = &file->reader.picture;
    l2k_status status = L2K_OK;
    if (cli_allowed.memory != CLI_NO_LIMIT) {
        l2k_encoder_end(k->encoder);
        status = share_memory(k, file, cli_picture_strip_bytes(picture, picture->image.y1 - picture->image.y0));
    }
    if (status == L2K_OK && !read_rows(file, picture->image.y0, picture->image.y1))
        status = L2K_ERROR_IO;
    cli_messages_restart(&k->messages);
    return status;
}

/* All of the picture, or by rows; reads all where an image without tiles cannot be encoded so. */
static bool encode_image(const cli_options *options, coder *k, encode_file *file)
{
    const l2k_stream stream = cli_encode_stream(&file->output);
    const cli_picture *picture = &file->reader.picture;
    l2k_status status = share_memory(k, file, sample_bytes(options, picture, file->by_rows));
    if (status == L2K_OK)
        status = l2k_encoder_set_palette(k->encoder, picture->palette, picture->num_entries, picture->num_columns);
    cli_interrupt_wait(true);
    if (status == L2K_OK && file->by_rows) {
        status = l2k_encoder_begin(k->encoder, &picture->image, &stream);
        file->by_rows = goes_by_rows(k->encoder, options, picture);
        if (!file->by_rows)
            status = read_whole(k, file);
    }
    if (status == L2K_OK)
        status = file->by_rows ? encode_rows(k, file)
                               : l2k_encoder_encode(k->encoder, &picture->image, picture->planes, &stream);
    cli_interrupt_wait(false);
    if (file->output.error) /* errno is more precise than the library's error */
        return cli_output_fail(&file->output);
    return !file->failed && cli_messages_check(&k->messages, status);
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
    const cli_read_options how = {.raw = options->has_raw ? &options->raw : NULL,
                                  .page = task->page,
                                  .indexed = options->palette,
                                  .quiet = quiet};
    if (!cli_reader_open(reader, task->input, &how) ||
        (options->precision.given &&
         !cli_reader_set_precision(reader, (uint32_t)options->precision.value, options->keeps_values)) ||
        !cli_picture_place(&reader->picture, (uint32_t)options->origin[0].value, (uint32_t)options->origin[1].value,
                           reader->name))
        return false;
    guess_colour(&reader->picture);
    if (options->palette && !reader->picture.num_entries && !quiet)
        cli_warning(reader->name, "has no palette: --palette changes nothing");
    return true;
}

/* All of the picture, or, by rows, what precedes the samples. */
static bool read_file(const cli_batch *batch, const cli_task *task, encode_file *file)
{
    const cli_options *options = batch->options;
    double start = cli_now();
    if (!open_reader(&file->reader, task, options, options->quiet))
        return false;
    file->by_rows = suits_rows(options, &file->reader.picture, task);
    if (file->by_rows && options->verify && !cli_reader_can_repeat(task->input))
        return cli_error("--verify", "with --by-rows the picture is read twice; %s can only be read once",
                         file->reader.name);
    if (!file->by_rows && !cli_reader_all(&file->reader))
        return false;
    file->outcome.seconds[L2K_STAGE_READ] = cli_now() - start;
    return true;
}

/* ---- Coding -------------------------------------------------------------------------------------------------- */

static bool encode_picture(const cli_batch *batch, coder *k, encode_file *file)
{
    const cli_options *options = batch->options;
    cli_picture *picture = &file->reader.picture;
    double *read = &file->outcome.seconds[L2K_STAGE_READ];
    cli_messages_init(&k->messages, file->reader.name, options->quiet);
    cli_progress_span(0, options->verify ? CLI_VERIFY_FROM : 1);
    if (!cli_boxes_attach(&((const encoding *)batch->context)->boxes, !options->no_metadata, picture, &file->boxes))
        return false;
    if (!encode_image(options, k, file))
        return false;
    const double seconds = *read;
    l2k_encoder_timings(k->encoder, file->outcome.seconds);
    *read += seconds;
    file->outcome.samples = (double)cli_picture_samples(picture);
    return true;
}

/* A picture by rows is read again from its beginning. Under --max-memory, encoder and decoder each get everything that
 * the samples leave, so neither may keep memory for the next file while the other works. */
static bool verify_file(const cli_options *options, coder *k, encode_file *file, const cli_task *task)
{
    const bool limited = cli_allowed.memory != CLI_NO_LIMIT;
    double start = cli_now();
    cli_progress_span(CLI_VERIFY_FROM, 1);
    if (limited) {
        l2k_encoder_free(k->encoder);
        k->encoder = NULL;
    }
    if (file->by_rows)
        cli_reader_close(&file->reader);
    bool done = (!file->by_rows || open_reader(&file->reader, task, options, true)) &&
                cli_verify(&k->check, &file->output, &file->reader, file->by_rows, options, &file->differences);
    if (limited)
        cli_coded_close(&k->check);
    file->outcome.seconds[CLI_STAGE_VERIFY] = cli_now() - start;
    return done;
}

static bool code_file(const cli_batch *batch, cli_coder *base, const cli_task *task, void *state)
{
    encode_file *file = state;
    coder *k = (coder *)base;
    if (!read_file(batch, task, file) || !cli_output_open(&file->output, task->output) ||
        !encode_picture(batch, k, file) || (batch->options->verify && !verify_file(batch->options, k, file, task)))
        return false;
    double start = cli_now();
    file->outcome.picture_bytes = cli_picture_raw_bytes(&file->reader.picture.image);
    file->outcome.coded_bytes = file->output.bytes;
    if (!cli_output_commit(&file->output))
        return false;
    file->outcome.seconds[L2K_STAGE_WRITE] += cli_now() - start;
    return true;
}

static void release_file(void *state)
{
    encode_file *file = state;
    cli_output_discard(&file->output);
    cli_reader_close(&file->reader);
    free(file->differences);
    free(file->boxes);
}

static void report_file(const cli_batch *batch, const cli_task *task, const void *state)
{
    const encode_file *file = state;
    const cli_picture *picture = &file->reader.picture;
    const uint64_t raw = cli_picture_raw_bytes(&picture->image), coded = file->output.bytes;
    char size[80], raw_text[CLI_UNITS_ROOM], text[CLI_UNITS_ROOM];
    (void)task;
    if (file->differences)
        cli_verify_report(file->output.name, picture, file->differences, batch->options);
    cli_picture_text(picture, size, sizeof size);
    cli_report("%s %s, %s -> %s %s, ratio %.3f", file->reader.name, size, cli_bytes_text(raw, raw_text),
               file->output.name, cli_bytes_text(coded, text), coded ? (double)raw / (double)coded : 0.0);
}

/* ---- The command --------------------------------------------------------------------------------------------- */

int cli_encode(const cli_options *options)
{
    static const char *const pictures[] = {".png", ".jpg", ".jpeg", ".tif", ".tiff", ".pnm", ".pbm",
                                           ".pgm", ".ppm", ".pam",  ".pgx", ".y4m",  NULL};
    static const char *const raw[] = {".raw", NULL}; /* --raw describes them all */
    encoding e = {0};
    cli_batch batch = {options, "encoding", {0},         &e,           sizeof(coder), sizeof(encode_file),
                       prepare, code_file,  report_file, release_file, close_coder};
    cli_tasks tasks;
    int status = CLI_EXIT_USAGE;
    if (!cli_devices_find(&batch.share.devices, options))
        return status;
    if (cli_tasks_make(&tasks, options, options->has_raw ? raw : pictures, options->ht ? "jph" : "jp2") &&
        (!tasks.count || cli_encode_check(options, &tasks, &e.format)))
        status = !tasks.count                        ? (tasks.num_cut ? CLI_EXIT_FAILURE : CLI_EXIT_OK)
                 : cli_boxes_load(&e.boxes, options) ? cli_batch_run(&batch, &tasks)
                                                     : CLI_EXIT_FAILURE;
    cli_boxes_unload(&e.boxes);
    cli_tasks_free(&tasks);
    return status;
}
