/* Encodes one picture from its reader into its output: all of it, or one row of tiles after another. */
#include "cli/encode/encode.h"

#include "cli/run/messages.h"
#include "cli/run/progress.h"
#include "pictures/user/interrupt.h"
#include "pictures/user/limits.h"

/* How often a reader may unpack the same rows. */
#define MOST_REPEATS 16

bool cli_encode_by_rows(const cli_options *options, const cli_picture *picture, const cli_task *task)
{
    const int64_t height = options->encoder[L2K_ENCODER_TILE_HEIGHT].value;
    const bool limited = options->profile.given || options->encoder[L2K_ENCODER_MAX_BYTES].given ||
                         options->encoder[L2K_ENCODER_COMPONENT_BYTES].given;
    if (options->by_rows)
        return true;
    return !limited && height && options->encoder[L2K_ENCODER_TILE_Y0].value + height < picture->image.y1 &&
           height * MOST_REPEATS >= picture->together && !options->num_layer_targets &&
           cli_becomes_file(task->output) && (!options->verify || cli_reader_can_repeat(task->input));
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

/* ---- Rows of tiles ------------------------------------------------------------------------------------------- */

typedef struct row_input {
    cli_reader *reader;
    double *seconds;
    bool failed; /* and reported by the reader */
} row_input;

/* Reads the next rows. A signal that arrives meanwhile need not wait. */
static bool read_rows(row_input *input, uint32_t y0, uint32_t y1)
{
    const double start = cli_now();
    cli_interrupt_wait(false);
    input->failed = !cli_reader_rows(input->reader, y0, y1);
    cli_interrupt_wait(true);
    *input->seconds += cli_now() - start;
    return !input->failed;
}

static l2k_status encode_rows(l2k_encoder *encoder, row_input *input, const l2k_stream *stream)
{
    const cli_picture *picture = &input->reader->picture;
    l2k_status status = l2k_encoder_begin(encoder, &picture->image, stream);
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
    const int64_t tile = options->encoder[L2K_ENCODER_TILE_HEIGHT].value, rows = picture->image.y1 - picture->image.y0;
    return by_rows ? cli_picture_strip_bytes(picture, (uint32_t)(tile && tile < rows ? tile : rows))
                   : cli_picture_bytes(picture);
}

bool cli_encode_picture(l2k_encoder *encoder, cli_messages *messages, const cli_options *options, cli_reader *reader,
                        bool by_rows, cli_output *output, double *read_seconds)
{
    const l2k_stream stream = {
        .write = on_write, .rewrite = cli_output_can_seek(output) ? on_rewrite : NULL, .user = output};
    const uint64_t taken = sample_bytes(options, &reader->picture, by_rows);
    row_input input = {.reader = reader, .seconds = read_seconds};
    if (!cli_memory_allowed(taken, reader->name))
        return false;
    l2k_status status = l2k_encoder_set(encoder, L2K_ENCODER_LIMIT_MEMORY, (int64_t)cli_memory_left(taken));
    const cli_picture *picture = &reader->picture;
    if (status == L2K_OK)
        status = l2k_encoder_set_palette(encoder, picture->palette, picture->num_entries, picture->num_columns);
    cli_interrupt_wait(true);
    if (status == L2K_OK)
        status = by_rows ? encode_rows(encoder, &input, &stream)
                         : l2k_encoder_encode(encoder, &reader->picture.image, reader->picture.planes, &stream);
    cli_interrupt_wait(false);
    if (output->error) /* errno is more precise than the library's error */
        return cli_output_fail(output);
    return status == L2K_OK || (!input.failed && cli_messages_fail(messages, status));
}
