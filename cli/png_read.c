/* PNG through libpng: every colour type becomes gray or RGB with or without opacity, 1 byte a sample up to 8 bits. */
#include "cli/formats.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"

/* All that must survive libpng's longjmp lives here, not in locals. */
typedef struct png_job {
    cli_input *input;
    cli_picture *picture;
    png_structp png;
    png_infop info;
    bool reported; /* the reader has told the user already */
} png_job;

static void on_error(png_structp png, png_const_charp text)
{
    png_job *job = png_get_error_ptr(png);
    if (!job->reported)
        cli_error(job->input->name, "PNG: %s", text);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

static void on_read(png_structp png, png_bytep buffer, size_t bytes)
{
    png_job *job = png_get_io_ptr(png);
    if (!cli_input_exact(job->input, buffer, bytes)) {
        job->reported = true;
        png_error(png, "read failed");
    }
}

static bool little_endian(void)
{
    const uint16_t one = 1;
    return *(const uint8_t *)&one == 1;
}

/* Palettes and transparent colours become channels; gray of 1, 2 and 4 bits stays unscaled in bytes unless it has a
 * transparent level, which libpng can expand only together with the depth. */
static void set_transforms(png_structp png, png_infop info)
{
    if (png_get_color_type(png, info) == PNG_COLOR_TYPE_PALETTE)
        png_set_palette_to_rgb(png);
    if (png_get_valid(png, info, PNG_INFO_tRNS))
        png_set_tRNS_to_alpha(png);
    if (png_get_bit_depth(png, info) < 8)
        png_set_packing(png);
    if (png_get_bit_depth(png, info) == 16 && little_endian())
        png_set_swap(png);
}

/* png_read_update_info reports the 8 bits of unpacked storage, so the precision has to come from the header. */
static uint32_t precision_of(png_structp png, png_infop info)
{
    uint32_t depth = png_get_bit_depth(png, info);
    bool expanded = png_get_color_type(png, info) == PNG_COLOR_TYPE_PALETTE || png_get_valid(png, info, PNG_INFO_tRNS);
    return depth < 8 && expanded ? 8 : depth;
}

static void read_profile(png_job *job, l2k_image *image)
{
    png_charp name;
    png_bytep profile;
    png_uint_32 bytes;
    int method;
    if (!png_get_iCCP(job->png, job->info, &name, &method, &profile, &bytes))
        return;
    job->picture->icc = malloc(bytes);
    if (!job->picture->icc)
        png_error(job->png, "out of memory");
    memcpy(job->picture->icc, profile, bytes);
    image->icc = job->picture->icc;
    image->icc_bytes = bytes;
    image->colour = L2K_COLOUR_ICC;
}

static void read_density(png_job *job, l2k_image *image)
{
    png_uint_32 x, y;
    int unit;
    if (png_get_pHYs(job->png, job->info, &x, &y, &unit) && unit == PNG_RESOLUTION_METER) {
        image->density_x = x;
        image->density_y = y;
    }
}

/* The picture's description. The samples follow in read_samples. */
static bool describe(png_job *job)
{
    png_structp png = job->png;
    png_infop info = job->info;
    png_read_info(png, info);
    uint32_t precision = precision_of(png, info);
    set_transforms(png, info);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
    uint32_t channels = png_get_channels(png, info);
    if (!cli_picture_create(job->picture, channels, job->input->name))
        return false;
    cli_picture_uniform(job->picture, png_get_image_width(png, info), png_get_image_height(png, info), precision,
                        channels == 2 || channels == 4);
    l2k_image *image = &job->picture->image;
    image->colour = channels < 3 ? L2K_COLOUR_GRAY : L2K_COLOUR_SRGB;
    read_profile(job, image);
    read_density(job, image);
    return true;
}

/* Row by row: no array of row pointers, whose size a hostile header could choose. Interlaced images come in 7 passes.
 */
static void read_samples(png_job *job)
{
    const l2k_plane *plane = job->picture->planes;
    uint32_t height = job->picture->components->height;
    int passes = png_get_interlace_type(job->png, job->info) == PNG_INTERLACE_NONE ? 1 : 7;
    for (int pass = 0; pass < passes; pass++)
        for (uint32_t y = 0; y < height; y++)
            png_read_row(job->png, (png_bytep)plane->data + (ptrdiff_t)y * plane->row_stride, NULL);
    png_read_end(job->png, NULL);
}

/* Deflate can shrink rows by a factor of up to 1032, and eight pixels may share a byte. */
static bool allocate(png_job *job)
{
    uint64_t samples;
    const char *name = job->input->name;
    return cli_picture_count(job->picture, &samples, name) && cli_input_holds(job->input, samples / 8 / 1032) &&
           cli_picture_allocate(job->picture, CLI_INTERLEAVED, name);
}

static bool run(png_job *job)
{
    if (setjmp(png_jmpbuf(job->png)))
        return false;
    png_set_read_fn(job->png, job, on_read);
    png_set_user_limits(job->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    if (!describe(job) || !allocate(job))
        return false;
    if (job->picture->planes->row_stride != (ptrdiff_t)png_get_rowbytes(job->png, job->info))
        png_error(job->png, "unexpected size of a row");
    read_samples(job);
    return true;
}

bool cli_png_read(cli_input *input, cli_picture *picture)
{
    png_job job = {input, picture, NULL, NULL, false};
    job.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &job, on_error, on_warning);
    job.info = job.png ? png_create_info_struct(job.png) : NULL;
    bool done = job.info ? run(&job) : cli_error(input->name, "libpng cannot start");
    png_destroy_read_struct(&job.png, &job.info, NULL);
    return done;
}
