/* A volume's slices of samples as files: pictures one by one, pages of a TIFF file, or all in one file without a
 * header. */
#include <stdlib.h>
#include <string.h>

#include "cli/input/input.h"
#include "cli/volume/volume.h"
#include "pictures/user/report.h"
#include "pictures/words.h"
#include "pictures/writer.h"

/* ---- Reading ------------------------------------------------------------------------------------------------- */

static bool has_pages(const char *path)
{
    const char *extension = cli_extension(path);
    return cli_same_text(extension, ".tif") || cli_same_text(extension, ".tiff") || cli_same_text(extension, ".y4m");
}

static bool read_page(cli_slices *s, const char *path)
{
    const cli_read_options how = {.page = s->next + 1, .quiet = true};
    cli_reader reader;
    bool done = cli_reader_open(&reader, path, &how) && cli_reader_all(&reader);
    return cli_reader_finish(&reader, done, &s->picture);
}

/* Only the length can reveal a wrong description, and that of a pipe is known at its end. */
static bool check_end(cli_slices *s)
{
    if (s->next + 1 < s->count || cli_input_byte(&s->raw) == EOF)
        return true;
    return cli_error(s->raw.name, "the input has more than the %u slices that --raw describes", s->count);
}

static bool make_raw_picture(cli_slices *s)
{
    const cli_raw *raw = &s->options->raw;
    cli_picture *picture = &s->picture;
    if (picture->planes)
        return true;
    if (!cli_picture_create(picture, 1, s->raw.name))
        return false;
    cli_picture_uniform(picture, raw->width, raw->height, raw->precision, false);
    picture->components[0].is_signed = raw->is_signed;
    return cli_picture_allocate(picture, CLI_PLANAR, s->raw.name);
}

static bool read_raw(cli_slices *s)
{
    const cli_raw *raw = &s->options->raw;
    const cli_words words = {raw->precision, raw->is_signed, raw->big_endian};
    const size_t samples = (size_t)raw->width * raw->height;
    if (!make_raw_picture(s))
        return false;
    return cli_words_read(&words, &s->raw, s->picture.planes[0].data, samples) && check_end(s);
}

static bool read_next(cli_slices *s)
{
    if (s->options->has_raw)
        return read_raw(s);
    cli_picture_free(&s->picture);
    memset(&s->picture, 0, sizeof s->picture);
    return s->by_pages ? read_page(s, s->options->names[0])
                       : cli_any_picture_read(&s->picture, s->options->names[s->next]);
}

static const char *name_of_next(const cli_slices *s)
{
    return s->options->names[s->by_pages || s->options->has_raw ? 0 : s->next];
}

/* Whether the slice is like the first one. */
static bool is_alike(const cli_slices *s)
{
    return cli_pictures_alike(&s->picture.image, &s->facts->image) ||
           cli_error(name_of_next(s), "slice %u differs from the first one in size, precision or components", s->next);
}

/* All slices have the shape of the first. */
static bool take_shape(cli_slices *s)
{
    cli_volume_facts *f = s->facts;
    const size_t bytes = s->picture.image.num_components * sizeof *f->components;
    if (!cli_picture_place(&s->picture, 0, 0, name_of_next(s)))
        return false;
    f->components = malloc(bytes);
    if (!f->components)
        return cli_error(name_of_next(s), "out of memory");
    memcpy(f->components, s->picture.components, bytes);
    f->image = (l2k_image){.x1 = s->picture.image.x1,
                           .y1 = s->picture.image.y1,
                           .num_components = s->picture.image.num_components,
                           .components = f->components};
    f->slices = s->count;
    return true;
}

static bool check_raw(const cli_slices *s)
{
    const cli_raw *raw = &s->options->raw;
    const uint64_t bytes = (uint64_t)raw->width * raw->height * cli_sample_bytes(raw->precision);
    if (raw->interleaved)
        return cli_error("--raw", "the slices of a volume are not interleaved");
    return cli_input_holds(&s->raw, bytes * raw->count);
}

/* The first slice is read, so that its shape is known. */
bool cli_slices_open(cli_slices *slices, const cli_options *options, cli_volume_facts *facts)
{
    *slices = (cli_slices){.options = options, .num_files = options->num_names - 1, .facts = facts};
    slices->raw.descriptor = -1;
    const char *first = options->names[0];
    slices->count = (uint32_t)slices->num_files;
    if (options->has_raw) {
        if (slices->num_files > 1)
            return cli_error(options->names[1], "with --raw all slices are in one file");
        slices->count = options->raw.count;
        if (!cli_input_open(&slices->raw, first) || !check_raw(slices))
            return false;
    } else if (slices->num_files == 1 && has_pages(first)) {
        slices->by_pages = true;
        if (!cli_reader_pages(first, &slices->count))
            return false;
    }
    return read_next(slices) && take_shape(slices);
}

bool cli_slices_read(cli_slices *slices)
{
    if (slices->next > 0 && !(read_next(slices) && is_alike(slices)))
        return false;
    slices->next++;
    return true;
}

void cli_slices_close(cli_slices *slices)
{
    if (slices->raw.descriptor >= 0)
        cli_input_close(&slices->raw);
    cli_picture_free(&slices->picture);
}

/* ---- Writing ------------------------------------------------------------------------------------------------- */

bool cli_slices_create(cli_slices_out *out, const char *path, const cli_volume_facts *facts, bool quiet)
{
    *out = (cli_slices_out){.path = path, .quiet = quiet, .count = facts->slices};
    out->is_raw = cli_same_text(cli_extension(path), ".raw");
    l2k_image image = facts->image;
    image.colour = image.num_components < 3 ? L2K_COLOUR_GRAY : L2K_COLOUR_SRGB;
    return cli_picture_adopt(&out->picture, &image, path) && cli_picture_allocate(&out->picture, CLI_PLANAR, path) &&
           (!out->is_raw || cli_output_open(&out->film.output, path));
}

bool cli_slices_write(cli_slices_out *out)
{
    cli_format format;
    cli_film *film = out->is_raw ? &out->film : NULL;
    char *name = film ? strdup(out->path) : cli_numbered_name(out->path, out->next, out->count);
    if (!name)
        return cli_error(out->path, "out of memory");
    const bool done =
        cli_format_of_name(name, &format) && cli_write_picture(name, format, &out->picture, film, out->quiet);
    free(name);
    out->next += done;
    return done;
}

bool cli_slices_end(cli_slices_out *out, bool done)
{
    if (out->is_raw && done)
        done = cli_output_commit(&out->film.output);
    else if (out->is_raw)
        cli_output_discard(&out->film.output);
    cli_picture_free(&out->picture);
    return done;
}
