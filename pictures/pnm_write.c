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

/* Eight pixels a byte in place; in PBM, 1 is black. */
static size_t pack_bits(uint8_t *row, uint32_t width)
{
    size_t bytes = 0;
    for (uint32_t x = 0; x < width; x += 8) {
        uint32_t packed = 0;
        for (uint32_t bit = 0; bit < 8 && x + bit < width; bit++)
            packed |= (uint32_t)!row[x + bit] << (7 - bit);
        row[bytes++] = (uint8_t)packed;
    }
    return bytes;
}

static bool open_pnm(cli_writer *writer)
{
    return write_header(&writer->output, writer->view, writer->format);
}

static bool write_row(cli_writer *writer, uint8_t *bytes)
{
    const cli_view *view = writer->view;
    size_t length = writer->format == CLI_FORMAT_PBM ? pack_bits(bytes, view->width) : cli_view_row_bytes(view);
    return cli_output_write(&writer->output, bytes, length);
}

const cli_writer_kind cli_pnm_writer = {open_pnm, write_row, NULL, NULL, NULL};
