/* Reads JPEG (ISO/IEC 10918-1) through libjpeg-turbo: gray, RGB or CMYK of 8 bits, with ICC profile, density, Exif, XMP
 * and IPTC. */
#include "pictures/reader.h"

#include "pictures/user/report.h"

#ifdef L2K_WITH_JPEG

#include <stdio.h>

#include <jerror.h>
#include <jpeglib.h>
#include <setjmp.h>
#include <string.h>

#include "pictures/user/limits.h"

/* Each scan of a progressive file passes through the whole picture; encoders make some ten. */
enum { BUFFER_BYTES = 1 << 16, MOST_SCANS = 200 };

/* State that must survive longjmp is kept here, not in locals. */
typedef struct jpeg_job {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    jmp_buf failed;
    cli_reader *reader;
    bool reported, warned, inverts;
    JOCTET buffer[BUFFER_BYTES];
} jpeg_job;

static void fail(j_common_ptr jpeg)
{
    jpeg_job *job = jpeg->client_data;
    char text[JMSG_LENGTH_MAX];
    jpeg->err->format_message(jpeg, text);
    if (!job->reported)
        cli_error(job->reader->name, "JPEG: %s", text);
    longjmp(job->failed, 1);
}

/* For failures reported already. */
static void fail_reported(jpeg_job *job)
{
    job->reported = true;
    longjmp(job->failed, 1);
}

/* Reports the first damage that libjpeg recovers from. */
static void on_message(j_common_ptr jpeg, int level)
{
    jpeg_job *job = jpeg->client_data;
    char text[JMSG_LENGTH_MAX];
    if (level >= 0 || job->warned || job->reader->options.quiet)
        return;
    jpeg->err->format_message(jpeg, text);
    cli_warning(job->reader->name, "JPEG: %s", text);
    job->warned = true;
}

static void watch(j_common_ptr jpeg)
{
    jpeg_job *job = jpeg->client_data;
    if (job->jpeg.input_scan_number > MOST_SCANS) {
        cli_error(job->reader->name, "JPEG: more than %d scans", MOST_SCANS);
        fail_reported(job);
    }
}

/* ---- Input --------------------------------------------------------------------------------------------------- */

static void nothing(j_decompress_ptr jpeg)
{
    (void)jpeg;
}

static boolean fill(j_decompress_ptr jpeg)
{
    jpeg_job *job = jpeg->client_data;
    job->source.bytes_in_buffer = cli_input_read(&job->reader->input, job->buffer, BUFFER_BYTES);
    job->source.next_input_byte = job->buffer;
    if (!job->source.bytes_in_buffer) {
        cli_input_ended(&job->reader->input);
        fail_reported(job);
    }
    return TRUE;
}

static void skip(j_decompress_ptr jpeg, long bytes)
{
    jpeg_job *job = jpeg->client_data;
    for (; bytes > (long)job->source.bytes_in_buffer; fill(jpeg))
        bytes -= (long)job->source.bytes_in_buffer;
    if (bytes > 0) {
        job->source.next_input_byte += bytes;
        job->source.bytes_in_buffer -= (size_t)bytes;
    }
}

/* ---- Metadata ------------------------------------------------------------------------------------------------ */

static bool take_metadata(jpeg_job *job)
{
    static const char xmp[] = "http://ns.adobe.com/xap/1.0/", resources[] = "Photoshop 3.0"; /* each with its 0 */
    bool done = true;
    for (jpeg_saved_marker_ptr m = job->jpeg.marker_list; done && m; m = m->next) {
        if (m->marker == JPEG_APP0 + 1 && cli_metadata_has_signature(m->data, m->data_length))
            done = cli_reader_keep(job->reader, L2K_CONTENT_EXIF, m->data, m->data_length);
        else if (m->marker == JPEG_APP0 + 1 && m->data_length > sizeof xmp && memcmp(m->data, xmp, sizeof xmp) == 0)
            done = cli_reader_keep(job->reader, L2K_CONTENT_XMP, m->data + sizeof xmp, m->data_length - sizeof xmp);
        else if (m->marker == JPEG_APP0 + 13 && m->data_length > sizeof resources &&
                 memcmp(m->data, resources, sizeof resources) == 0) {
            const uint8_t *at = m->data + sizeof resources, *end = m->data + m->data_length;
            if (cli_metadata_find_iptc(&at, &end))
                done = cli_reader_keep(job->reader, L2K_CONTENT_IPTC, at, (size_t)(end - at));
        }
    }
    return done;
}

static void take_profile(jpeg_job *job, cli_picture *picture)
{
    JOCTET *profile;
    unsigned bytes;
    if (!jpeg_read_icc_profile(&job->jpeg, &profile, &bytes))
        return;
    picture->icc = profile; /* from malloc */
    picture->image.icc = profile;
    picture->image.icc_bytes = bytes;
    picture->image.colour = L2K_COLOUR_ICC;
}

/* ---- The picture --------------------------------------------------------------------------------------------- */

static l2k_colour choose_colours(jpeg_job *job)
{
    struct jpeg_decompress_struct *jpeg = &job->jpeg;
    switch (jpeg->jpeg_color_space) {
    case JCS_GRAYSCALE:
        jpeg->out_color_space = JCS_GRAYSCALE;
        return L2K_COLOUR_GRAY;
    case JCS_YCbCr:
    case JCS_RGB:
        jpeg->out_color_space = JCS_RGB;
        return L2K_COLOUR_SRGB;
    case JCS_CMYK:
    case JCS_YCCK:
        jpeg->out_color_space = JCS_CMYK;
        job->inverts = jpeg->saw_Adobe_marker; /* its programs write 255 for no ink */
        return L2K_COLOUR_CMYK;
    default:
        jpeg->out_color_space = jpeg->jpeg_color_space;
        return L2K_COLOUR_UNKNOWN;
    }
}

/* A block takes a bit at least; coded arithmetically it may take a thousandth of one. Called before libjpeg allocates
 * memory of the picture's size, as it does for several scans. */
static bool check_size(jpeg_job *job)
{
    cli_reader *reader = job->reader;
    const struct jpeg_decompress_struct *jpeg = &job->jpeg;
    const uint64_t area = (uint64_t)jpeg->image_width * jpeg->image_height;
    reader->picture.held = sizeof *job + (uint64_t)jpeg->image_width * 64 * (uint64_t)jpeg->num_components;
    if (jpeg_has_multiple_scans(&job->jpeg))
        reader->picture.held += area * (uint64_t)jpeg->num_components * sizeof(JCOEF);
    return cli_picture_allowed(&reader->picture, reader->name) &&
           cli_input_holds(&reader->input, area / (DCTSIZE2 * 8) / (jpeg->arith_code ? 1024 : 1)) &&
           cli_memory_allowed(reader->picture.held, reader->name);
}

static bool open_jpeg(cli_reader *reader)
{
    jpeg_job *job = reader->state;
    struct jpeg_decompress_struct *jpeg = &job->jpeg;
    reader->layout = CLI_INTERLEAVED;
    job->reader = reader;
    jpeg->err = jpeg_std_error(&job->errors);
    jpeg->client_data = job;
    job->errors.error_exit = fail;
    job->errors.emit_message = on_message;
    job->source = (struct jpeg_source_mgr){.init_source = nothing,
                                           .fill_input_buffer = fill,
                                           .skip_input_data = skip,
                                           .resync_to_restart = jpeg_resync_to_restart,
                                           .term_source = nothing};
    job->progress.progress_monitor = watch;
    if (setjmp(job->failed))
        return false;
    jpeg_create_decompress(jpeg);
    jpeg->src = &job->source;
    jpeg->progress = &job->progress;
    for (int marker = 1; marker <= 13; marker = marker == 2 ? 13 : marker + 1)
        jpeg_save_markers(jpeg, JPEG_APP0 + marker, 0xFFFF);
    jpeg_read_header(jpeg, TRUE);
    const l2k_colour colour = choose_colours(job);
    if (!cli_picture_create(&reader->picture, (uint32_t)jpeg->num_components, reader->name))
        return false;
    cli_picture_uniform(&reader->picture, jpeg->image_width, jpeg->image_height, 8, false);
    reader->picture.image.colour = colour;
    take_profile(job, &reader->picture);
    const double metre = jpeg->density_unit == 1 ? 1 / 0.0254 : jpeg->density_unit == 2 ? 100 : 0;
    reader->picture.image.density_x = jpeg->X_density * metre;
    reader->picture.image.density_y = jpeg->Y_density * metre;
    if (!take_metadata(job) || !check_size(job))
        return false;
    jpeg_start_decompress(jpeg);
    return jpeg->output_components == jpeg->num_components ||
           cli_error(reader->name, "JPEG: unexpected number of components");
}

static void close_jpeg(cli_reader *reader)
{
    jpeg_destroy_decompress(&((jpeg_job *)reader->state)->jpeg);
}

static bool read_jpeg(cli_reader *reader)
{
    jpeg_job *job = reader->state;
    const l2k_plane *plane = reader->picture.planes;
    const size_t bytes = (size_t)job->jpeg.output_width * (size_t)job->jpeg.output_components;
    if (setjmp(job->failed))
        return false;
    for (uint32_t y = 0; y < reader->picture.rows->count; y++) {
        JSAMPROW row = (JSAMPROW)plane->data + (ptrdiff_t)y * plane->row_stride;
        jpeg_read_scanlines(&job->jpeg, &row, 1);
        for (size_t i = 0; job->inverts && i < bytes; i++)
            row[i] = (JSAMPLE)~row[i];
    }
    return true;
}

const cli_reader_kind cli_jpeg_reader = {open_jpeg, read_jpeg, close_jpeg, sizeof(jpeg_job)};

#endif
