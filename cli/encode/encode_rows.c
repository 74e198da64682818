#include "cli/encode/encode_rows.h"

#include "pictures/user/interrupt.h"
#include "pictures/user/limits.h"

/* How often a reader may unpack the same rows. */
#define MOST_REPEATS 16

bool cli_encode_by_rows(const cli_encode_options *options, const cli_picture *picture, const cli_task *task)
{
    const int64_t *v = options->values;
    if (options->by_rows)
        return true;
    return v[L2K_ENCODER_TILE_HEIGHT] && v[L2K_ENCODER_TILE_Y0] + v[L2K_ENCODER_TILE_HEIGHT] < picture->image.y1 &&
           v[L2K_ENCODER_TILE_HEIGHT] * MOST_REPEATS >= picture->together && !options->num_layers &&
           cli_becomes_file(task->output) && (!options->verify || cli_reader_can_repeat(task->input));
}

uint64_t cli_encode_rows_bytes(const cli_encode_options *options, const cli_picture *picture)
{
    const int64_t tile = options->values[L2K_ENCODER_TILE_HEIGHT], rows = picture->image.y1 - picture->image.y0;
    return cli_picture_strip_bytes(picture, (uint32_t)(tile && tile < rows ? tile : rows));
}

/* The next rows. A signal that comes while they are read need not wait. */
static bool read_rows(cli_reader *reader, uint32_t y0, uint32_t y1, double *seconds)
{
    double start = cli_now();
    cli_interrupt_wait(false);
    bool done = cli_reader_rows(reader, y0, y1);
    cli_interrupt_wait(true);
    *seconds += cli_now() - start;
    return done;
}

/* Without its last rows the end is an error, but an end: the encoder is ready for the next picture. */
static l2k_status give_up(l2k_encoder *encoder)
{
    l2k_encoder_end(encoder);
    return L2K_ERROR_IO;
}

l2k_status cli_encode_rows(l2k_encoder *encoder, cli_reader *reader, const l2k_stream *stream, bool *read_failed,
                           double *read_seconds)
{
    l2k_status status = l2k_encoder_begin(encoder, &reader->picture.image, stream);
    uint32_t y0 = 0, y1 = 0;
    while (status == L2K_OK && (status = l2k_encoder_next_rows(encoder, &y0, &y1)) == L2K_OK && y0 < y1) {
        *read_failed = !read_rows(reader, y0, y1, read_seconds);
        if (*read_failed)
            return give_up(encoder);
        status = l2k_encoder_put_rows(encoder, reader->picture.planes);
    }
    return status == L2K_OK ? l2k_encoder_end(encoder) : status;
}
