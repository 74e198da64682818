/* Encodes one picture from its reader into its output: all of it, or by rows of tiles or strips of a single tile. */
#include "cli/encode/encode.h"

#include "cli/run/messages.h"
#include "pictures/user/interrupt.h"
#include "pictures/user/limits.h"

/* How often a reader may unpack the same rows. */
#define MOST_REPEATS 16

static bool has_tile_rows(const cli_options *options, const cli_picture *picture)
{
    const int64_t height = options->encoder[L2K_ENCODER_TILE_HEIGHT].value;
    return height && options->encoder[L2K_ENCODER_TILE_Y0].value + height < picture->image.y1;
}

/* Whether the file stays the same, and the reader unpacks no rows too often. */
static bool suits_tile_rows(const cli_options *options, const cli_picture *picture, const cli_task *task)
{
    const bool limited = options->profile.given || options->encoder[L2K_ENCODER_MAX_BYTES].given ||
                         options->encoder[L2K_ENCODER_COMPONENT_BYTES].given;
    return !limited && options->encoder[L2K_ENCODER_TILE_HEIGHT].value * MOST_REPEATS >= picture->together &&
           !options->num_layer_targets && cli_becomes_file(task->output) &&
           (!options->verify || cli_reader_can_repeat(task->input));
}

/* Of many files, one is read while others are encoded, which pays more than reading each in strips. Reading a picture
 * again for --verify would pay less than it costs. */
bool cli_encode_by_rows(const cli_options *options, const cli_picture *picture, const cli_task *task)
{
    if (has_tile_rows(options, picture))
        return options->by_rows || suits_tile_rows(options, picture, task);
    return !picture->at_once && (options->by_rows || (task->is_alone && !options->verify));
}

/* ---- Output -------------------------------------------------------------------------------------------------- */

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

/* ---- By rows ------------------------------------------------------------------------------------------------- */

typedef struct row_input {
    cli_reader *reader;
    cli_messages *messages;
    double *seconds;
    double end;  /* of the last reading */
    bool failed; /* and reported */
} row_input;

/* Reads the next rows. A signal that arrives meanwhile need not wait. Reading and coding each have the time of
 * --timeout. */
static bool read_rows(row_input *input, uint32_t y0, uint32_t y1)
{
    const double start = cli_now();
    cli_reader *reader = input->reader;
    if (reader->input.deadline > 0)
        reader->input.deadline += start - input->end;
    cli_interrupt_wait(false);
    input->failed = !cli_memory_allowed(cli_picture_strip_bytes(&reader->picture, y1 - y0), reader->name) ||
                    !cli_reader_rows(reader, y0, y1);
    cli_interrupt_wait(true);
    input->end = cli_now();
    *input->seconds += input->end - start;
    if (input->messages->deadline > 0)
        input->messages->deadline += input->end - start;
    return !input->failed;
}

static l2k_status encode_rows(l2k_encoder *encoder, row_input *input)
{
    const cli_picture *picture = &input->reader->picture;
    l2k_status status = L2K_OK;
    uint32_t y0 = 0, y1 = 0;
    while (status == L2K_OK && (status = l2k_encoder_next_rows(encoder, &y0, &y1)) == L2K_OK && y0 < y1) {
        if (!read_rows(input, y0, y1)) {
            l2k_encoder_end(encoder); /* an error without the last rows, but the encoder is free for the next picture */
            return L2K_ERROR_IO;
        }
        status = l2k_encoder_put_rows(encoder, picture->planes);
    }
    return status == L2K_OK ? l2k_encoder_end(encoder) : status;
}

/* ---- Both ---------------------------------------------------------------------------------------------------- */

/* Bytes of samples in memory while the library works. */
static uint64_t sample_bytes(const cli_options *options, const cli_picture *picture, bool by_rows)
{
    enum { ROWS_OF_STRIP = 256 };
    const int64_t tile = options->encoder[L2K_ENCODER_TILE_HEIGHT].value, rows = picture->image.y1 - picture->image.y0;
    const int64_t part = has_tile_rows(options, picture) ? tile : ROWS_OF_STRIP;
    return cli_picture_strip_bytes(picture, (uint32_t)(by_rows && part < rows ? part : rows));
}

/* The encoder gets the memory that the samples leave. */
static l2k_status share_memory(l2k_encoder *encoder, row_input *input, uint64_t taken)
{
    input->failed = !cli_memory_allowed(taken, input->reader->name);
    return input->failed ? L2K_ERROR_LIMIT
                         : l2k_encoder_set(encoder, L2K_ENCODER_LIMIT_MEMORY, (int64_t)cli_memory_left(taken));
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
static l2k_status read_whole(l2k_encoder *encoder, row_input *input)
{
    const cli_picture *picture = &input->reader->picture;
    l2k_status status = L2K_OK;
    if (cli_allowed.memory != CLI_NO_LIMIT) {
        l2k_encoder_end(encoder);
        status = share_memory(encoder, input, cli_picture_strip_bytes(picture, picture->image.y1 - picture->image.y0));
    }
    if (status == L2K_OK && !read_rows(input, picture->image.y0, picture->image.y1))
        status = L2K_ERROR_IO;
    cli_messages_restart(input->messages);
    return status;
}

bool cli_encode_picture(l2k_encoder *encoder, cli_messages *messages, const cli_options *options, cli_reader *reader,
                        bool *by_rows, cli_output *output, double *read_seconds)
{
    const l2k_stream stream = {
        .write = on_write, .rewrite = cli_output_can_seek(output) ? on_rewrite : NULL, .user = output};
    const cli_picture *picture = &reader->picture;
    row_input input = {.reader = reader, .messages = messages, .seconds = read_seconds};
    l2k_status status = share_memory(encoder, &input, sample_bytes(options, picture, *by_rows));
    if (status == L2K_OK)
        status = l2k_encoder_set_palette(encoder, picture->palette, picture->num_entries, picture->num_columns);
    cli_interrupt_wait(true);
    if (status == L2K_OK && *by_rows) {
        status = l2k_encoder_begin(encoder, &picture->image, &stream);
        *by_rows = goes_by_rows(encoder, options, picture);
        if (!*by_rows)
            status = read_whole(encoder, &input);
    }
    if (status == L2K_OK)
        status = *by_rows ? encode_rows(encoder, &input)
                          : l2k_encoder_encode(encoder, &picture->image, picture->planes, &stream);
    cli_interrupt_wait(false);
    if (output->error) /* errno is more precise than the library's error */
        return cli_output_fail(output);
    return status == L2K_OK || (!input.failed && cli_messages_fail(messages, status));
}
