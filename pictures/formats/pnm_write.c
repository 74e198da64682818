/* P4 to P7 in their binary forms. */
#include <stdio.h>

#include "pictures/writer.h"

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

/* Eight pixels a byte, to the row's own place or before it; in PBM, 1 is black. */
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

static bool open_pnm(cli_writer *writer)
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

const cli_writer_kind cli_pnm_writer = {open_pnm, write_rows, NULL, NULL, NULL};
