/* Reads PNG through libpng: every colour type becomes gray or RGB with or without opacity, 1 byte a sample up to 8
 * bits, otherwise 2. Palettes stay on request. */
#include "pictures/reader.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>

#include "pictures/formats/png_texts.h"
#include "pictures/user/limits.h"
#include "pictures/user/report.h"

/* State that must survive libpng's longjmp is kept here, not in locals. */
typedef struct png_job {
    cli_reader *reader;
    png_structp png;
    png_infop info;
    size_t row_bytes;
    bool reported; /* the error is already reported */
    bool interlaced;
    int texts;      /* chunks of text with metadata so far */
    uint8_t *whole; /* an interlaced picture, whose rows are complete only after the last pass */
} png_job;

static void on_error(png_structp png, png_const_charp text)
{
    png_job *job = png_get_error_ptr(png);
    if (!job->reported)
        cli_error(job->reader->name, "PNG: %s", text);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp text)
{
    (void)png, (void)text;
}

static void on_read(png_structp png, png_bytep buffer, size_t bytes)
{
    png_job *job = png_get_io_ptr(png);
    if (!cli_input_exact(&job->reader->input, buffer, bytes)) {
        job->reported = true;
        png_error(png, "read failed");
    }
}

/* Palettes and transparent colours become channels. Gray of 1, 2 and 4 bits is stored unscaled in bytes, unless it has
 * a transparent level: libpng can only expand that together with the depth. */
static void set_transforms(png_structp png, png_infop info, bool indexed)
{
    if (!indexed && png_get_color_type(png, info) == PNG_COLOR_TYPE_PALETTE)
        png_set_palette_to_rgb(png);
    if (!indexed && png_get_valid(png, info, PNG_INFO_tRNS))
        png_set_tRNS_to_alpha(png);
    if (png_get_bit_depth(png, info) < 8)
        png_set_packing(png);
    if (png_get_bit_depth(png, info) == 16 && cli_is_little_endian())
        png_set_swap(png);
}

static void read_profile(png_job *job)
{
    png_charp name;
    png_bytep profile;
    png_uint_32 bytes;
    int method;
    if (png_get_iCCP(job->png, job->info, &name, &method, &profile, &bytes) &&
        !cli_picture_take_profile(&job->reader->picture, profile, bytes))
        png_error(job->png, "out of memory");
}

/* Without opacity in the file, three columns. */
static void read_palette(png_job *job, cli_picture *picture)
{
    png_colorp colours = NULL;
    png_bytep opacity = NULL;
    int count = 0, num_opacities = 0;
    png_get_PLTE(job->png, job->info, &colours, &count);
    if (png_get_valid(job->png, job->info, PNG_INFO_tRNS))
        png_get_tRNS(job->png, job->info, &opacity, &num_opacities, NULL);
    uint8_t *to = picture->palette;
    for (int i = 0; i < count && i < 256; i++) {
        *to++ = colours[i].red;
        *to++ = colours[i].green;
        *to++ = colours[i].blue;
        if (opacity)
            *to++ = i < num_opacities ? opacity[i] : 255;
    }
    picture->num_columns = opacity ? 4 : 3;
    picture->num_entries = (uint32_t)(to - picture->palette) / picture->num_columns;
}

/* Deflate shrinks rows by a factor of at most 1032. Called before libpng allocates two rows. */
static bool check_size(png_job *job)
{
    cli_reader *reader = job->reader;
    const uint64_t width = reader->picture.components->width;
    const uint32_t bits = png_get_channels(job->png, job->info) * png_get_bit_depth(job->png, job->info);
    return cli_picture_allowed(&reader->picture, reader->name) &&
           cli_input_holds(&reader->input, width * reader->picture.components->height * bits / 8 / 1032) &&
           cli_memory_allowed(reader->picture.held, reader->name);
}

/* Describes the picture as set_transforms will leave it; png_read_update_info reports 8 bits of unpacked storage. */
static bool describe(png_job *job)
{
    png_structp png = job->png;
    png_infop info = job->info;
    cli_picture *picture = &job->reader->picture;
    const uint32_t depth = png_get_bit_depth(png, info), opacity = png_get_valid(png, info, PNG_INFO_tRNS) ? 1 : 0;
    const bool has_palette = png_get_color_type(png, info) == PNG_COLOR_TYPE_PALETTE,
               indexed = job->reader->options.indexed && has_palette;
    const uint32_t precision = depth < 8 && !indexed && (has_palette || opacity) ? 8 : depth;
    const uint32_t channels = indexed ? 1 : (has_palette ? 3 : png_get_channels(png, info)) + opacity;
    png_uint_32 x, y;
    int unit;
    if (!cli_picture_create(picture, channels, job->reader->name))
        return false;
    cli_picture_uniform(picture, png_get_image_width(png, info), png_get_image_height(png, info), precision,
                        channels == 2 || channels == 4);
    picture->image.colour = channels < 3 && !indexed ? L2K_COLOUR_GRAY : L2K_COLOUR_SRGB;
    if (indexed)
        read_palette(job, picture);
    read_profile(job);
    if (png_get_pHYs(png, info, &x, &y, &unit) && unit == PNG_RESOLUTION_METER) {
        picture->image.density_x = x;
        picture->image.density_y = y;
    }
    job->row_bytes = (size_t)picture->components->width * channels * cli_sample_bytes(precision);
    picture->held = 2 * (uint64_t)job->row_bytes; /* libpng's */
    picture->at_once = png_get_interlace_type(png, info) != PNG_INTERLACE_NONE;
    if (picture->at_once)
        picture->extra = (uint64_t)job->row_bytes * picture->components->height;
    return check_size(job);
}

/* ---- Metadata ------------------------------------------------------------------------------------------------ */

/* libpng does not read these chunks: it would decompress and keep thousands of texts of megabytes, of which one or two
 * are used, and give those behind the samples too late for an encoder that works by rows. */

/* Only a malicious file has more. */
enum { MOST_TEXTS = 8 };

static bool take_text(png_job *job, const char *type, const uint8_t *data, size_t bytes)
{
    cli_png_text text;
    if (job->texts == MOST_TEXTS || !cli_png_text_read(type, data, bytes, &text))
        return true;
    job->texts++;
    const bool done = cli_reader_keep(job->reader, text.kind, text.data, text.bytes);
    free(text.memory);
    return done;
}

static bool take_chunk(png_job *job, const char *type, size_t bytes, uint64_t at)
{
    const cli_input *input = &job->reader->input;
    if (bytes > CLI_PNG_MOST_TEXT) {
        if (!job->reader->options.quiet)
            cli_warning(input->name, "a chunk (%.4s) in it is larger than 48 MiB and left out", type);
        return true;
    }
    uint8_t *data = malloc(bytes + 1);
    bool done = data || cli_error(input->name, "out of memory");
    if (done && cli_input_read_at(input, data, bytes, at) == (ptrdiff_t)bytes)
        done = memcmp(type, "eXIf", 4) == 0 ? cli_reader_keep(job->reader, L2K_CONTENT_EXIF, data, bytes)
                                            : take_text(job, type, data, bytes);
    free(data);
    return done;
}

static bool read_metadata(png_job *job)
{
    static const char types[][5] = {"tEXt", "zTXt", "iTXt", "eXIf"};
    uint8_t head[8];
    bool done = true;
    for (uint64_t at = sizeof head;
         done && cli_input_read_at(&job->reader->input, head, 8, at) == 8 && memcmp(head + 4, "IEND", 4) != 0;
         at += 12 + (uint64_t)png_get_uint_32(head))
        for (int i = 0; done && i < 4; i++)
            if (memcmp(head + 4, types[i], 4) == 0)
                done = take_chunk(job, types[i], png_get_uint_32(head), at + sizeof head);
    return done;
}

static void ignore_metadata(png_structp png)
{
#ifdef PNG_HANDLE_AS_UNKNOWN_SUPPORTED
    static const png_byte names[] = "tEXt\0zTXt\0iTXt\0sPLT\0hIST\0eXIf\0pCAL\0sCAL";
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, names, sizeof names / 5);
#endif
}

/* ---- Opening ------------------------------------------------------------------------------------------------- */

static bool open_png(cli_reader *reader)
{
    png_job *job = reader->state;
    reader->layout = CLI_INTERLEAVED;
    job->reader = reader;
    if (!cli_input_make_seekable(&reader->input, cli_memory_left(0))) /* the copy may be in memory as well */
        return false;
    job->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, job, on_error, on_warning);
    job->info = job->png ? png_create_info_struct(job->png) : NULL;
    if (!job->info)
        return cli_error(reader->name, "libpng cannot start");
    if (setjmp(png_jmpbuf(job->png)))
        return false;
    png_set_read_fn(job->png, job, on_read);
    png_set_user_limits(job->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    ignore_metadata(job->png);
    png_read_info(job->png, job->info);
    if (!describe(job) || !read_metadata(job))
        return false;
    set_transforms(job->png, job->info, reader->picture.num_entries > 0);
    job->interlaced = png_set_interlace_handling(job->png) > 1;
    png_read_update_info(job->png, job->info);
    if (job->row_bytes != png_get_rowbytes(job->png, job->info))
        png_error(job->png, "unexpected size of a row");
    return true;
}

static void close_png(cli_reader *reader)
{
    png_job *job = reader->state;
    png_destroy_read_struct(&job->png, &job->info, NULL);
    free(job->whole);
}

/* Reads row by row: an array of row pointers would have a size that a hostile header could choose. */
static void read_rows(png_job *job, uint8_t *data, uint32_t rows)
{
    for (uint32_t y = 0; y < rows; y++)
        png_read_row(job->png, data + y * job->row_bytes, NULL);
}

/* Adam7 interlacing: seven passes over all rows. */
static void read_interlaced(png_job *job, uint8_t *data)
{
    for (int pass = 0; pass < 7; pass++)
        read_rows(job, data, job->reader->picture.components->height);
}

static bool read_held(png_job *job, uint8_t *data, const cli_rows *rows)
{
    if (!job->whole) {
        const cli_picture *picture = &job->reader->picture;
        if (!cli_memory_allowed(picture->extra + cli_picture_bytes(picture), job->reader->name))
            return false;
        job->whole = malloc((size_t)picture->extra);
        if (!job->whole)
            png_error(job->png, "out of memory");
        read_interlaced(job, job->whole);
    }
    memcpy(data, job->whole + rows->first * job->row_bytes, rows->count * job->row_bytes);
    return true;
}

static bool read_png(cli_reader *reader)
{
    png_job *job = reader->state;
    const cli_rows *rows = reader->picture.rows;
    if (setjmp(png_jmpbuf(job->png)))
        return false;
    if (!job->interlaced)
        read_rows(job, reader->picture.planes->data, rows->count);
    else if (rows->count == reader->picture.components->height)
        read_interlaced(job, reader->picture.planes->data);
    else if (!read_held(job, reader->picture.planes->data, rows))
        return false;
    if (cli_reader_at_end(reader))
        png_read_end(job->png, NULL);
    return true;
}

const cli_reader_kind cli_png_reader = {open_png, read_png, close_png, sizeof(png_job)};
