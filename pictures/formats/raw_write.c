/* Samples without a header: component after component, or pixel after pixel. */
#include "pictures/formats/plane_rows.h"
#include "pictures/files/report.h"
#include "pictures/writer.h"

static bool same_shape(const cli_picture *picture)
{
    const l2k_component *first = picture->components;
    for (uint32_t c = 1; c < picture->image.num_components; c++) {
        const l2k_component *other = &picture->components[c];
        if (other->width != first->width || other->height != first->height || other->precision != first->precision ||
            other->is_signed != first->is_signed)
            return false;
    }
    return true;
}

static bool open_raw(cli_writer *writer)
{
    if (!writer->options.interleaved || same_shape(writer->picture))
        return true;
    return cli_error(writer->name, "components of different size or precision cannot be interleaved; leave out "
                                   "'interleaved', or write pgx");
}

static cli_words words_of(const cli_writer *writer, uint32_t c)
{
    const l2k_component *component = &writer->picture->components[c];
    return (cli_words){component->precision, component->is_signed, writer->options.big_endian};
}

static bool write_planes(cli_writer *writer)
{
    const cli_picture *picture = writer->picture;
    uint64_t start = 0; /* of the component in the file */
    if (writer->options.interleaved) {
        const cli_words words = words_of(writer, 0);
        return cli_write_pixel_rows(&writer->output, picture, &words);
    }
    for (uint32_t c = 0; c < picture->image.num_components; c++) {
        const l2k_component *component = &picture->components[c];
        const uint64_t row_bytes = (uint64_t)component->width * cli_sample_bytes(component->precision);
        const cli_words words = words_of(writer, c);
        if (!cli_write_plane_rows(&writer->output, start + row_bytes * picture->rows[c].first, picture, c, &words))
            return false;
        start += row_bytes * component->height;
    }
    return true;
}

const cli_writer_kind cli_raw_writer = {open_raw, NULL, write_planes, NULL, NULL};
