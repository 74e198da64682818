/* Writes PNG through libpng, with ICC profile, density and, for scaled samples, the significant bits. */
#include <math.h>
#include <png.h>
#include <stdlib.h>

#include "pictures/user/report.h"
#include "pictures/writer.h"

typedef struct png_job {
    cli_writer *writer;
    png_structp png;
    png_infop info;
} png_job;

static void on_error(png_structp png, png_const_charp text)
{
    png_job *job = png_get_error_ptr(png);
    if (!job->writer->output.error)
        cli_error(job->writer->name, "PNG: %s", text);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp text)
{
    (void)png, (void)text;
}

static void on_write(png_structp png, png_bytep data, size_t bytes)
{
    png_job *job = png_get_io_ptr(png);
    if (!cli_output_write(&job->writer->output, data, bytes))
        png_error(png, "write failed");
}

static void on_flush(png_structp png)
{
    (void)png;
}

/* The precision before scaling (sBIT), which also records that scaling took place. */
static void write_significant_bits(png_job *job)
{
    const cli_channel *k = job->writer->view->channels;
    png_color_8 bits = {0};
    bits.gray = bits.red = (png_byte)k[0].component->precision;
    if (job->writer->view->colours == 3) {
        bits.green = (png_byte)k[1].component->precision;
        bits.blue = (png_byte)k[2].component->precision;
    }
    bits.alpha = (png_byte)k[job->writer->view->num_channels - 1].component->precision;
    png_set_sBIT(job->png, job->info, &bits);
}

/* libpng refuses profiles that are damaged or do not match the colour type; the picture is then written without one. */
static void write_profile(png_job *job)
{
    const l2k_image *image = job->writer->view->image;
    if (image->icc && image->icc_bytes && image->icc_bytes <= UINT32_MAX)
        png_set_iCCP(job->png, job->info, "ICC profile", PNG_COMPRESSION_TYPE_BASE, image->icc,
                     (png_uint_32)image->icc_bytes);
    if (image->icc && !job->writer->options.quiet && !png_get_valid(job->png, job->info, PNG_INFO_iCCP))
        cli_warning(job->writer->name, "libpng refuses the ICC profile; the file is written without it");
}

/* PNG can express "unknown unit", but not that only one of the two densities is known. */
static void write_density(png_job *job)
{
    const l2k_image *image = job->writer->view->image;
    double x = floor(image->density_x + 0.5), y = floor(image->density_y + 0.5);
    if (x >= 1 && y >= 1 && x <= PNG_UINT_31_MAX && y <= PNG_UINT_31_MAX)
        png_set_pHYs(job->png, job->info, (png_uint_32)x, (png_uint_32)y, PNG_RESOLUTION_METER);
}

/* Exif and XMP as chunks before the samples. Readers expect XMP uncompressed and under this keyword. PNG has no place
 * for the rest. */
static void write_metadata(png_job *job)
{
    static const char head[] = "XML:com.adobe.xmp\0\0\0\0"; /* not compressed; no language, no translated keyword */
    const cli_blob *exif = &job->writer->options.metadata->blobs[L2K_CONTENT_EXIF],
                   *xmp = &job->writer->options.metadata->blobs[L2K_CONTENT_XMP];
    if (exif->data)
        png_write_chunk(job->png, (png_const_bytep) "eXIf", exif->data, exif->bytes);
    if (xmp->data) {
        png_write_chunk_start(job->png, (png_const_bytep) "iTXt", (png_uint_32)(sizeof head + xmp->bytes));
        png_write_chunk_data(job->png, (png_const_bytep)head, sizeof head);
        png_write_chunk_data(job->png, xmp->data, xmp->bytes);
        png_write_chunk_end(job->png);
    }
    for (int kind = L2K_CONTENT_IPTC; kind <= L2K_CONTENT_GEOTIFF; kind++)
        if (job->writer->options.metadata->blobs[kind].data && !job->writer->options.quiet)
            cli_warning(job->writer->name, "%s has no place in PNG and is left out; tif can hold it",
                        cli_metadata_names[kind]);
}

static void write_header(png_job *job)
{
    const cli_view *view = job->writer->view;
    const int type = (view->colours == 1 ? 0 : PNG_COLOR_MASK_COLOR) |
                     (view->num_channels > view->colours ? PNG_COLOR_MASK_ALPHA : 0);
    png_set_IHDR(job->png, job->info, view->width, view->height, (int)view->depth, type, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (view->least != view->depth || view->most != view->depth)
        write_significant_bits(job);
    write_profile(job);
    write_density(job);
    png_write_info(job->png, job->info);
    if (job->writer->options.metadata)
        write_metadata(job);
    png_set_packing(job->png); /* rows have a byte a sample below 8 bits as well */
}

static bool open_png(cli_writer *writer)
{
    png_job *job = writer->state;
    job->writer = writer;
    job->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, job, on_error, on_warning);
    job->info = job->png ? png_create_info_struct(job->png) : NULL;
    if (!job->info)
        return cli_error(writer->name, "out of memory");
    if (setjmp(png_jmpbuf(job->png)))
        return false;
    png_set_write_fn(job->png, job, on_write, on_flush);
    png_set_user_limits(job->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_benign_errors(job->png, 1);
    png_set_compression_level(job->png, writer->options.png_level);
    write_header(job);
    return true;
}

static bool write_row(cli_writer *writer, uint8_t *row)
{
    png_job *job = writer->state;
    if (setjmp(png_jmpbuf(job->png)))
        return false;
    png_write_row(job->png, row);
    return true;
}

static bool finish_png(cli_writer *writer)
{
    png_job *job = writer->state;
    if (setjmp(png_jmpbuf(job->png)))
        return false;
    png_write_end(job->png, NULL);
    return true;
}

static void close_png(cli_writer *writer)
{
    png_job *job = writer->state;
    png_destroy_write_struct(&job->png, &job->info);
}

const cli_writer_kind cli_png_writer = {open_png, write_row, NULL, finish_png, close_png, sizeof(png_job)};
