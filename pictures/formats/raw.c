/* Samples without a header, as --raw describes them: component after component, or pixel after pixel. */

#include "pictures/words.h"
#include "pictures/reader.h"
#include "pictures/user/report.h"
#include "pictures/writer.h"

/* ---- Reading ---- */

static uint64_t file_bytes(const cli_raw *raw)
{
    return (uint64_t)raw->width * raw->height * raw->count * cli_sample_bytes(raw->precision);
}

/* Only the length can reveal a wrong description. */
static bool check_size(const cli_reader *reader)
{
    const cli_raw *raw = reader->options.raw;
    uint64_t there, wanted = file_bytes(raw);
    if (!cli_input_size(&reader->input, &there) || there == wanted)
        return true;
    return cli_error(reader->name, "the file has %llu bytes; --raw %u,%u,%u,%u,%c describes %llu",
                     (unsigned long long)there, raw->width, raw->height, raw->count, raw->precision,
                     raw->is_signed ? 's' : 'u', (unsigned long long)wanted);
}

static bool open_reader(cli_reader *reader)
{
    const cli_raw *raw = reader->options.raw;
    cli_picture *picture = &reader->picture;
    uint64_t bytes;
    reader->layout = raw->interleaved ? CLI_INTERLEAVED : CLI_PLANAR;
    if (!cli_picture_create(picture, raw->count, reader->name))
        return false;
    cli_picture_uniform(picture, raw->width, raw->height, raw->precision, false);
    for (uint32_t c = 0; c < raw->count; c++)
        picture->components[c].is_signed = raw->is_signed;
    picture->at_once = !raw->interleaved && raw->count > 1 && !cli_input_size(&reader->input, &bytes);
    return cli_picture_allowed(picture, reader->name) && check_size(reader);
}

bool cli_read_planes(cli_reader *reader, const cli_words *words, uint64_t start, uint64_t most)
{
    const cli_picture *picture = &reader->picture;
    const cli_rows *rows = picture->rows;
    const bool apart = rows->count < picture->components->height;
    if (apart && !cli_input_make_seekable(&reader->input, most))
        return false;
    for (uint32_t c = 0; c < picture->image.num_components; c++) {
        const l2k_component *k = &picture->components[c];
        const uint64_t row_bytes = (uint64_t)k->width * cli_sample_bytes(words->precision);
        if (apart && !cli_input_seek(&reader->input, start + row_bytes * rows[c].first))
            return false;
        if (!cli_words_read(words, &reader->input, picture->planes[c].data, (size_t)k->width * rows[c].count))
            return false;
        start += row_bytes * k->height;
    }
    return true;
}

/* The length of a pipe is only known at its end. */
static bool check_end(cli_reader *reader)
{
    if (!cli_reader_at_end(reader) || cli_input_byte(&reader->input) == EOF)
        return true;
    return cli_error(reader->name, "the input has more than the %llu bytes that --raw describes",
                     (unsigned long long)file_bytes(reader->options.raw));
}

static bool read_samples(cli_reader *reader)
{
    const cli_raw *raw = reader->options.raw;
    const cli_words words = {raw->precision, raw->is_signed, raw->big_endian};
    const size_t samples = (size_t)raw->width * raw->count * reader->picture.rows->count;
    return (raw->interleaved ? cli_words_read(&words, &reader->input, reader->picture.planes->data, samples)
                             : cli_read_planes(reader, &words, 0, file_bytes(raw) + 1)) && /* for check_end */
           check_end(reader);
}

const cli_reader_kind cli_raw_reader = {.open = open_reader, .read = read_samples};

/* ---- Writing ---- */

static bool open_writer(cli_writer *writer)
{
    const l2k_component *k = writer->picture->components;
    bool alike = true;
    writer->start = writer->output.bytes;
    for (uint32_t c = 1; c < writer->picture->image.num_components; c++)
        alike = alike && cli_components_alike(&k[0], &k[c]);
    if (!writer->options.interleaved || alike)
        return true;
    return cli_error(writer->name, "components of different size or precision cannot be interleaved; leave out "
                                   "'interleaved', or write pgx");
}

bool cli_write_planes(cli_writer *writer)
{
    const cli_picture *picture = writer->picture;
    uint64_t start = writer->start; /* of the component in the file */
    for (uint32_t c = 0; c < picture->image.num_components; c++) {
        const l2k_component *component = &picture->components[c];
        const uint64_t row_bytes = (uint64_t)component->width * cli_sample_bytes(component->precision);
        const cli_words words = {component->precision, component->is_signed, writer->options.big_endian};
        if (!cli_words_write(&words, &writer->output, start + row_bytes * picture->rows[c].first, &picture->planes[c],
                             component->width, picture->rows[c].count))
            return false;
        start += row_bytes * component->height;
    }
    return true;
}

/* In interleaved layout, the first plane goes on with the samples of the others. */
static bool write_samples(cli_writer *writer)
{
    const cli_picture *picture = writer->picture;
    const l2k_component *k = picture->components;
    const cli_words words = {k->precision, k->is_signed, writer->options.big_endian};
    l2k_plane plane = *picture->planes;
    if (!writer->options.interleaved)
        return cli_write_planes(writer);
    plane.sample_stride = cli_sample_bytes(k->precision);
    return cli_words_write(&words, &writer->output, writer->output.bytes, &plane,
                           (size_t)k->width * picture->image.num_components, picture->rows->count);
}

const cli_writer_kind cli_raw_writer = {.open = open_writer, .planes = write_samples};
