/* PNM and PAM: reads the rasters of P1 to P7, writes P4 to P7. pnm_header.c reads the headers. */
#include "pictures/formats/pnm.h"

#include <stdio.h>
#include <stdlib.h>

#include "pictures/user/report.h"
#include "pictures/writer.h"

/* ---- Reading ---- */

static bool above_maxval(const cli_input *input, uint32_t value, uint32_t maxval)
{
    return cli_error(input->name, "a sample of %u exceeds the maximum of %u", value, maxval);
}

/* ASCII samples. In P1 digits need no space between them, and 1 is black. */
static bool read_ascii(cli_input *input, const cli_pnm_header *header, const l2k_plane *plane, size_t samples)
{
    const bool wide = header->maxval > 255;
    for (size_t i = 0; i < samples; i++) {
        uint32_t value;
        if (!(header->bitmap ? cli_pnm_bit(input, &value) : cli_pnm_number(input, &value)))
            return false;
        if (value > header->maxval)
            return above_maxval(input, value, header->maxval);
        if (header->bitmap)
            value = 1 - value;
        if (wide)
            ((uint16_t *)plane->data)[i] = (uint16_t)value;
        else
            ((uint8_t *)plane->data)[i] = (uint8_t)value;
    }
    return true;
}

/* P4: eight pixels a byte, rows padded to bytes, 1 is black. */
static bool read_packed(cli_input *input, const cli_pnm_header *header, const l2k_plane *plane, uint32_t rows)
{
    size_t packed_bytes = ((size_t)header->width + 7) / 8;
    uint8_t *packed = malloc(packed_bytes);
    bool done = packed || cli_error(input->name, "out of memory");
    for (uint32_t y = 0; done && y < rows; y++) {
        uint8_t *row = (uint8_t *)plane->data + (ptrdiff_t)y * plane->row_stride;
        done = cli_input_exact(input, packed, packed_bytes);
        for (uint32_t x = 0; done && x < header->width; x++)
            row[x] = !(packed[x / 8] >> (7 - x % 8) & 1);
    }
    free(packed);
    return done;
}

static bool read_bytes(cli_input *input, const cli_pnm_header *header, const l2k_plane *plane, size_t samples)
{
    const uint8_t *data = plane->data;
    if (!cli_input_exact(input, plane->data, samples))
        return false;
    for (size_t i = 0; header->maxval < 255 && i < samples; i++)
        if (data[i] > header->maxval)
            return above_maxval(input, data[i], header->maxval);
    return true;
}

/* Two bytes a sample, high byte first, converted to native order in place. */
static bool read_words(cli_input *input, const cli_pnm_header *header, const l2k_plane *plane, size_t samples)
{
    const uint8_t *bytes = plane->data;
    uint16_t *words = plane->data;
    if (!cli_input_exact(input, plane->data, 2 * samples))
        return false;
    for (size_t i = 0; i < samples; i++) {
        uint32_t value = (uint32_t)bytes[2 * i] << 8 | bytes[2 * i + 1];
        if (value > header->maxval)
            return above_maxval(input, value, header->maxval);
        words[i] = (uint16_t)value;
    }
    return true;
}

static uint32_t bits_of(uint32_t value)
{
    uint32_t bits = 0;
    for (; value; value >>= 1)
        bits++;
    return bits;
}

/* The fewest bytes that the raster can occupy: 2 characters for an ASCII sample, 1 in P1. */
static uint64_t least_bytes(const cli_pnm_header *header, uint64_t samples)
{
    if (header->packed)
        return samples / 8;
    if (header->ascii)
        return header->bitmap ? samples : 2 * samples - 1;
    return header->maxval > 255 ? 2 * samples : samples;
}

static bool open_reader(cli_reader *reader)
{
    cli_input *input = &reader->input;
    cli_picture *picture = &reader->picture;
    cli_pnm_header *header = malloc(sizeof *header);
    uint64_t samples;
    reader->layout = CLI_INTERLEAVED;
    reader->state = header;
    if (!header)
        return cli_error(reader->name, "out of memory");
    if (!cli_pnm_read_header(input, header) || !cli_picture_create(picture, header->depth, reader->name))
        return false;
    cli_picture_uniform(picture, header->width, header->height, bits_of(header->maxval), header->opacity);
    picture->image.colour = header->colour;
    return cli_picture_count(picture, &samples, reader->name) && cli_input_holds(input, least_bytes(header, samples));
}

static bool read_raster(cli_reader *reader)
{
    cli_input *input = &reader->input;
    const cli_pnm_header *header = reader->state;
    const l2k_plane *plane = reader->picture.planes;
    const uint32_t rows = reader->picture.rows->count;
    const size_t samples = (size_t)header->width * rows * header->depth;
    if (header->ascii)
        return read_ascii(input, header, plane, samples);
    if (header->packed)
        return read_packed(input, header, plane, rows);
    return header->maxval > 255 ? read_words(input, header, plane, samples) : read_bytes(input, header, plane, samples);
}

static void close_reader(cli_reader *reader)
{
    free(reader->state);
}

const cli_reader_kind cli_pnm_reader = {open_reader, read_raster, close_reader};

/* ---- Writing ---- */

static const char *tuple_type(const cli_view *view)
{
    bool opacity = view->num_channels - view->colours == 1;
    if (view->num_channels - view->colours > 1)
        return NULL;
    if (view->colours == 1)
        return opacity ? "GRAYSCALE_ALPHA" : "GRAYSCALE";
    if (view->colours == 3)
        return opacity ? "RGB_ALPHA" : "RGB";
    if (view->image->colour == L2K_COLOUR_CMYK && view->colours == 4)
        return opacity ? "CMYK_ALPHA" : "CMYK";
    return NULL;
}

static bool write_pam_header(cli_output *output, const cli_view *view, uint32_t maxval)
{
    char header[256];
    const char *type = tuple_type(view);
    int length =
        snprintf(header, sizeof header, "P7\nWIDTH %u\nHEIGHT %u\nDEPTH %u\nMAXVAL %u\n%s%s%sENDHDR\n", view->width,
                 view->height, view->count, maxval, type ? "TUPLTYPE " : "", type ? type : "", type ? "\n" : "");
    return cli_output_write(output, header, (size_t)length);
}

static bool write_header(cli_output *output, const cli_view *view, cli_format format)
{
    char header[64];
    const uint32_t maxval = ((uint32_t)1 << view->depth) - 1;
    int length;
    if (format == CLI_FORMAT_PAM)
        return write_pam_header(output, view, maxval);
    if (format == CLI_FORMAT_PBM)
        length = snprintf(header, sizeof header, "P4\n%u %u\n", view->width, view->height);
    else
        length = snprintf(header, sizeof header, "P%c\n%u %u\n%u\n", format == CLI_FORMAT_PGM ? '5' : '6', view->width,
                          view->height, maxval);
    return cli_output_write(output, header, (size_t)length);
}

/* Packs eight pixels into a byte, into the row's own memory or before it; in PBM, 1 is black. */
static size_t pack_bits(const uint8_t *row, uint32_t width, uint8_t *to)
{
    size_t bytes = 0;
    for (uint32_t x = 0; x < width; x += 8) {
        uint32_t packed = 0;
        for (uint32_t bit = 0; bit < 8 && x + bit < width; bit++)
            packed |= (uint32_t)!row[x + bit] << (7 - bit);
        to[bytes++] = (uint8_t)packed;
    }
    return bytes;
}

static bool open_writer(cli_writer *writer)
{
    return write_header(&writer->output, writer->view, writer->format);
}

static bool write_rows(cli_writer *writer, uint8_t *bytes, uint32_t count)
{
    const cli_view *view = writer->view;
    const size_t row = cli_view_row_bytes(view);
    size_t length = 0;
    for (uint32_t i = 0; writer->format == CLI_FORMAT_PBM && i < count; i++)
        length += pack_bits(bytes + i * row, view->width, bytes + length);
    return cli_output_write(&writer->output, bytes, length ? length : count * row);
}

const cli_writer_kind cli_pnm_writer = {open_writer, write_rows, NULL, NULL, NULL};
