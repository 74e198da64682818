/* Writes TIFF through libtiff: strips, or tiles of JPEG 2000, samples in their own precision, BigTIFF where 4 GiB do not suffice. */
#include "pictures/user/report.h"
#include "pictures/writer.h"

#ifdef L2K_WITH_TIFF

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pictures/formats/tiff.h"
#include "pictures/user/limits.h"

#define STRIP_BYTES ((size_t)1 << 18)

typedef struct tiff_job {
    cli_tiff_io io;
    uint16_t scheme;  /* of compression */
    size_t row_bytes; /* of the view; with tiles of JPEG 2000, to the edge of the last one */
    uint32_t row;
    uint8_t *packed; /* a row as stored in the file; with tiles of JPEG 2000, a row of these, to their edges */
} tiff_job;

static uint32_t rows_per_strip(const cli_view *view)
{
    const size_t rows = STRIP_BYTES / cli_view_row_bytes(view);
    return rows < 1 ? 1 : rows < view->height ? (uint32_t)rows : view->height;
}

/* Offsets in TIFF have 32 bits. Includes an allowance for what compression may add to noise, and for the tables. */
static bool needs_big(const cli_writer *writer)
{
    const cli_view *view = writer->view;
    uint64_t bytes = (uint64_t)cli_view_row_bytes(view) * view->height;
    if (writer->options.compression != CLI_COMPRESSION_NONE)
        bytes += bytes / 2;
    bytes += (uint64_t)view->height / rows_per_strip(view) * 16 + view->image->icc_bytes + (1 << 20);
    for (int kind = 0; writer->options.metadata && kind < CLI_NUM_METADATA; kind++)
        bytes += writer->options.metadata->blobs[kind].bytes;
    return bytes > UINT32_MAX;
}

/* Returns how many of the first channels are colours, and sets their meaning. A profile's header states its colour
 * space (ICC.1, 7.2.8). */
static uint32_t base_colours(const cli_view *view, uint16_t *photometric)
{
    const l2k_image *image = view->image;
    const bool profile = image->colour == L2K_COLOUR_ICC && image->icc && image->icc_bytes >= 20;
    const bool cmyk = image->colour == L2K_COLOUR_CMYK || (profile && memcmp(image->icc + 16, "CMYK", 4) == 0);
    const bool gray = image->colour == L2K_COLOUR_GRAY || (profile && memcmp(image->icc + 16, "GRAY", 4) == 0);
    *photometric = PHOTOMETRIC_MINISBLACK;
    if (gray || view->colours < 3)
        return 1;
    *photometric = cmyk && view->colours >= 4 ? PHOTOMETRIC_SEPARATED : PHOTOMETRIC_RGB;
    return *photometric == PHOTOMETRIC_SEPARATED ? 4 : 3;
}

static void set_colours(TIFF *tiff, const cli_view *view)
{
    uint16_t photometric, extra[L2K_MAX_COMPONENTS];
    const uint32_t base = base_colours(view, &photometric);
    for (uint32_t k = base; k < view->num_channels; k++)
        extra[k - base] = k < view->colours ? EXTRASAMPLE_UNSPECIFIED
                          : view->channels[k].component->channel == L2K_CHANNEL_PREMULTIPLIED_OPACITY
                              ? EXTRASAMPLE_ASSOCALPHA
                              : EXTRASAMPLE_UNASSALPHA;
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, photometric);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, (uint16_t)view->count);
    if (view->num_channels > base)
        TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, (uint16_t)(view->num_channels - base), extra);
}

/* Dots per inch where that is a whole number, otherwise dots per centimetre. */
static void set_density(TIFF *tiff, const l2k_image *image)
{
    const double x = image->density_x * 0.0254, y = image->density_y * 0.0254;
    const bool inches = fabs(x - floor(x + 0.5)) < 0.01 && fabs(y - floor(y + 0.5)) < 0.01;
    if (!(image->density_x > 0 && image->density_y > 0))
        return;
    TIFFSetField(tiff, TIFFTAG_RESOLUTIONUNIT, inches ? RESUNIT_INCH : RESUNIT_CENTIMETER);
    TIFFSetField(tiff, TIFFTAG_XRESOLUTION, inches ? floor(x + 0.5) : image->density_x / 100);
    TIFFSetField(tiff, TIFFTAG_YRESOLUTION, inches ? floor(y + 0.5) : image->density_y / 100);
}

static void set_tags(TIFF *tiff, const cli_view *view, uint16_t scheme)
{
    const bool j2k = cli_tiff_is_j2k(scheme);
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, view->width);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, view->height);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, (uint16_t)view->depth);
    TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, view->is_signed ? SAMPLEFORMAT_INT : SAMPLEFORMAT_UINT);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(tiff, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, scheme);
    if (scheme != COMPRESSION_NONE && !j2k && (view->depth == 8 || view->depth == 16))
        TIFFSetField(tiff, TIFFTAG_PREDICTOR, PREDICTOR_HORIZONTAL);
    set_colours(tiff, view);
    if (scheme == CLI_TIFF_APERIO_YCC) {
        TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_YCBCR);
        TIFFSetField(tiff, TIFFTAG_YCBCRSUBSAMPLING, 1, 1);
    }
    if (j2k) {
        TIFFSetField(tiff, TIFFTAG_TILEWIDTH, CLI_TIFF_TILE);
        TIFFSetField(tiff, TIFFTAG_TILELENGTH, CLI_TIFF_TILE);
    } else
        TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, rows_per_strip(view));
    set_density(tiff, view->image);
    if (view->image->icc && view->image->icc_bytes && view->image->icc_bytes <= UINT32_MAX)
        TIFFSetField(tiff, TIFFTAG_ICCPROFILE, (uint32_t)view->image->icc_bytes, view->image->icc);
}

static bool check_j2k(const cli_writer *writer, uint16_t scheme)
{
    const cli_view *view = writer->view;
    uint16_t photometric;
    const bool rgb = base_colours(view, &photometric) == 3 && photometric == PHOTOMETRIC_RGB;
    if ((view->depth != 8 && view->depth != 16) || view->count > 4)
        return cli_error(writer->name, "%u samples of %u bits: JPEG 2000 in TIFF takes 1 to 4 of 8 or 16", view->count,
                         view->depth);
    if (scheme == CLI_TIFF_APERIO_YCC && (!rgb || view->count != 3 || view->is_signed))
        return cli_error(writer->name, "--tiff-compression aperio-ycc: there are more or fewer than three RGB samples");
    return true;
}

static bool open_tiff(cli_writer *writer)
{
    static const uint16_t schemes[] = {COMPRESSION_NONE, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_LZW,
                                       CLI_TIFF_J2K,     CLI_TIFF_APERIO,           CLI_TIFF_APERIO_YCC};
    tiff_job *job = writer->state;
    const cli_view *view = writer->view;
    job->scheme = schemes[writer->options.compression];
    const bool j2k = cli_tiff_is_j2k(job->scheme);
    const size_t unit = j2k ? CLI_TIFF_TILE : 1;
    job->row_bytes = cli_view_row_bytes(view) / view->width * ((view->width + unit - 1) / unit * unit);
    if (j2k && (!check_j2k(writer, job->scheme) || !cli_memory_allowed(job->row_bytes * unit, writer->name)))
        return false;
    job->packed = malloc(job->row_bytes * unit);
    if (!job->packed)
        return cli_error(writer->name, "out of memory");
    if (!cli_output_can_seek(&writer->output))
        return cli_error(writer->name, "TIFF needs an output that can seek; write to a file");
    job->io.output = &writer->output;
    if (!cli_tiff_open(&job->io, writer->name, needs_big(writer) ? "w8" : "w4"))
        return writer->output.error ? false : cli_tiff_fail(&job->io, writer->name, "libtiff cannot start");
    set_tags(job->io.tiff, view, job->scheme);
    if (job->io.message[0])
        return cli_tiff_fail(&job->io, writer->name, "");
    cli_tiff_put_metadata(writer, &job->io, needs_big(writer));
    return true;
}

/* Rows have high bytes first. libtiff expects 16 and 24 bits in native order, and other depths as stored in the file:
 * without gaps. */
static void pack(const cli_view *view, const uint8_t *bytes, uint8_t *to)
{
    const size_t samples = (size_t)view->width * view->count;
    const uint32_t size = cli_sample_bytes(view->depth);
    const bool swaps = (view->depth == 16 || view->depth == 24) && cli_is_little_endian();
    uint64_t held = 0;
    uint32_t filled = 0;
    for (size_t i = 0; i < samples; i++, bytes += size) {
        uint32_t value = 0;
        for (uint32_t b = 0; b < size; b++)
            value = value << 8 | bytes[b];
        for (uint32_t b = 0; swaps && b < view->depth / 8; b++)
            *to++ = (uint8_t)(value >> 8 * b);
        if (swaps)
            continue;
        held = held << view->depth | (value & (((uint64_t)1 << view->depth) - 1));
        for (filled += view->depth; filled >= 8; filled -= 8)
            *to++ = (uint8_t)(held >> (filled - 8));
    }
    if (filled)
        *to = (uint8_t)(held << (8 - filled));
}

/* Adds a row to a row of tiles, which is written when it is whole or the last one. Edges are filled with the last
 * samples. */
static bool tile_row(cli_writer *writer, uint8_t *row)
{
    tiff_job *job = writer->state;
    const cli_view *view = writer->view;
    const size_t bytes = cli_view_row_bytes(view), whole = job->row_bytes, pixel = bytes / view->width;
    uint8_t *to = job->packed + job->row % CLI_TIFF_TILE * whole;
    if (view->depth == 8)
        memcpy(to, row, bytes);
    else
        pack(view, row, to);
    for (size_t i = bytes; i < whole; i++)
        to[i] = to[i - pixel];
    if (++job->row % CLI_TIFF_TILE && job->row < view->height)
        return true;
    for (uint32_t y = (job->row - 1) % CLI_TIFF_TILE + 1; y < CLI_TIFF_TILE; y++)
        memcpy(job->packed + y * whole, to, whole);
    return cli_tiff_encode(&job->io, view, job->scheme, job->packed, (job->row - 1) / CLI_TIFF_TILE * CLI_TIFF_TILE) ||
           (!writer->output.error && cli_tiff_fail(&job->io, writer->name, "out of memory"));
}

static bool write_row(cli_writer *writer, uint8_t *row)
{
    tiff_job *job = writer->state;
    if (cli_tiff_is_j2k(job->scheme))
        return tile_row(writer, row);
    if (writer->view->depth != 8)
        pack(writer->view, row, job->packed);
    if (TIFFWriteScanline(job->io.tiff, writer->view->depth == 8 ? row : job->packed, job->row++, 0) == 1)
        return true;
    return writer->output.error ? false : cli_tiff_fail(&job->io, writer->name, "a row cannot be written");
}

static bool finish_tiff(cli_writer *writer)
{
    tiff_job *job = writer->state;
    if (TIFFWriteDirectory(job->io.tiff) == 1)
        return true;
    return writer->output.error ? false : cli_tiff_fail(&job->io, writer->name, "the tags cannot be written");
}

static void close_tiff(cli_writer *writer)
{
    tiff_job *job = writer->state;
    cli_tiff_close(&job->io);
    free(job->packed);
}

const cli_writer_kind cli_tiff_writer = {open_tiff, write_row, NULL, finish_tiff, close_tiff, sizeof(tiff_job)};

#endif
