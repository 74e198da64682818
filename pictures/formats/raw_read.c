/* Samples without a header, as --raw describes them: component after component, or pixel after pixel. */
#include <string.h>

#include "pictures/reader.h"
#include "pictures/files/report.h"
#include "pictures/formats/words.h"

static uint64_t file_bytes(const cli_raw *raw)
{
    return (uint64_t)raw->width * raw->height * raw->count * cli_sample_bytes(raw->precision);
}

/* The length is all that can tell a wrong description. */
static bool check_size(const cli_reader *reader)
{
    const cli_raw *raw = reader->raw;
    uint64_t there, wanted = file_bytes(raw);
    if (!cli_input_size(&reader->input, &there) || there == wanted)
        return true;
    return cli_error(reader->name, "the file has %llu bytes; --raw %u,%u,%u,%u,%c describes %llu",
                     (unsigned long long)there, raw->width, raw->height, raw->count, raw->precision,
                     raw->is_signed ? 's' : 'u', (unsigned long long)wanted);
}

static bool open_raw(cli_reader *reader)
{
    const cli_raw *raw = reader->raw;
    cli_picture *picture = &reader->picture;
    uint64_t samples;
    reader->layout = raw->interleaved ? CLI_INTERLEAVED : CLI_PLANAR;
    if (!cli_picture_create(picture, raw->count, reader->name))
        return false;
    cli_picture_uniform(picture, raw->width, raw->height, raw->precision, false);
    for (uint32_t c = 0; c < raw->count; c++)
        picture->components[c].is_signed = raw->is_signed;
    return cli_picture_count(picture, &samples, reader->name) && check_size(reader);
}

static bool read_plane(cli_reader *reader, uint32_t c, size_t samples)
{
    const cli_raw *raw = reader->raw;
    const cli_words words = {raw->precision, raw->is_signed, raw->big_endian};
    void *data = reader->picture.planes[c].data;
    return cli_input_exact(&reader->input, data, samples * cli_sample_bytes(raw->precision)) &&
           cli_words_to_samples(&words, data, samples, reader->name);
}

/* Rows of one component are apart from those of the next, unless all rows are wanted. */
static bool read_planes(cli_reader *reader)
{
    const cli_raw *raw = reader->raw;
    const cli_rows *rows = reader->picture.rows;
    const uint64_t row_bytes = (uint64_t)raw->width * cli_sample_bytes(raw->precision);
    const bool apart = rows->count < raw->height;
    if (apart && !cli_input_make_seekable(&reader->input, file_bytes(raw) + 1)) /* one too many is told, check_end */
        return false;
    for (uint32_t c = 0; c < raw->count; c++) {
        if (apart && !cli_input_seek(&reader->input, row_bytes * ((uint64_t)c * raw->height + rows->first)))
            return false;
        if (!read_plane(reader, c, (size_t)raw->width * rows->count))
            return false;
    }
    return true;
}

/* What comes through a pipe has no length until it ends. */
static bool check_end(cli_reader *reader)
{
    if (!cli_reader_at_end(reader) || cli_input_byte(&reader->input) == EOF)
        return true;
    return cli_error(reader->name, "there is more than the %llu bytes that --raw describes",
                     (unsigned long long)file_bytes(reader->raw));
}

static bool read_raw(cli_reader *reader)
{
    const cli_raw *raw = reader->raw;
    if (!raw->interleaved)
        return read_planes(reader) && check_end(reader);
    return read_plane(reader, 0, (size_t)raw->width * raw->count * reader->picture.rows->count) && check_end(reader);
}

const cli_reader_kind cli_raw_reader = {open_raw, read_raw, NULL};
