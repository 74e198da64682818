#include "cli/encode_rows.h"

bool cli_encode_by_rows(const cli_encode_options *options, const cli_picture *picture, const cli_output *output)
{
    const int64_t *v = options->values;
    if (options->by_rows)
        return true;
    return v[L2K_ENCODER_TILE_HEIGHT] && v[L2K_ENCODER_TILE_Y0] + v[L2K_ENCODER_TILE_HEIGHT] < picture->image.y1 &&
           !options->num_layers && cli_output_can_seek(output);
}

l2k_status cli_encode_rows(l2k_encoder *encoder, cli_reader *reader, const l2k_stream *stream, bool *read_failed)
{
    l2k_status status = l2k_encoder_begin(encoder, &reader->picture.image, stream);
    uint32_t y0 = 0, y1 = 0;
    *read_failed = false;
    while (status == L2K_OK && (status = l2k_encoder_next_rows(encoder, &y0, &y1)) == L2K_OK && y0 < y1) {
        *read_failed = !cli_reader_rows(reader, y0, y1);
        if (*read_failed)
            return L2K_ERROR_IO;
        status = l2k_encoder_put_rows(encoder, reader->picture.planes);
    }
    return status == L2K_OK ? l2k_encoder_end(encoder) : status;
}
