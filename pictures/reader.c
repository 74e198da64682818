/* Opens picture files by content, and reads them by rows through their format's functions. */
#include "pictures/reader.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pictures/formats.h"
#include "pictures/user/report.h"

/* Of TIFF files, "II" and "MM" give the byte order; 42 is TIFF, 43 BigTIFF. */
static const cli_reader_kind *kind_by_content(const cli_input *input)
{
    static const struct {
        const cli_reader_kind *kind;
        size_t bytes;
        const char *head;
    } known[] = {{&cli_png_reader, 8, "\x89PNG\r\n\x1a\n"},
                 {&cli_jpeg_reader, 3, "\xFF\xD8\xFF"},
                 {&cli_tiff_reader, 4, "II*\0"},
                 {&cli_tiff_reader, 4, "II+\0"},
                 {&cli_tiff_reader, 4, "MM\0*"},
                 {&cli_tiff_reader, 4, "MM\0+"},
                 {&cli_pgx_reader, 3, "PG "},
                 {&cli_pgx_reader, 3, "PG\t"},
                 {&cli_y4m_reader, 10, "YUV4MPEG2 "}};
    const uint8_t *head = input->buffer;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (input->filled >= known[i].bytes && memcmp(head, known[i].head, known[i].bytes) == 0)
            return known[i].kind;
    return input->filled >= 3 && head[0] == 'P' && head[1] >= '1' && head[1] <= '7' ? &cli_pnm_reader : NULL;
}

bool cli_reader_knows(const cli_input *input)
{
    return kind_by_content(input) != NULL;
}

bool cli_is_plane_set(const char *path)
{
    struct stat facts;
    if (strcmp(path, "-") == 0 || !cli_same_text(cli_extension(path), ".pgx") || stat(path, &facts) == 0)
        return false;
    return cli_count_planes(path) > 0;
}

bool cli_reader_can_repeat(const char *path)
{
    struct stat facts;
    return cli_is_plane_set(path) || (strcmp(path, "-") != 0 && stat(path, &facts) == 0 && S_ISREG(facts.st_mode));
}

static bool unknown(const cli_input *input)
{
    const char *name = input->name;
    if (cli_same_text(cli_extension(name), ".raw"))
        return cli_error(name, "samples without a header need --raw W,H,C,BITS,u or s; see lift2k encode --help");
    if (input->filled >= 2 && memcmp(input->buffer, "BM", 2) == 0)
        return cli_error(name, "BMP is not read; a pipe is: magick %s ppm:- | lift2k encode - OUT.jp2",
                         input->descriptor == STDIN_FILENO ? "bmp:-" : name);
    return cli_error(name, "not a PNG, JPEG, TIFF, PNM, PAM, PGX or Y4M file");
}

static bool open_kind(cli_reader *reader, const cli_reader_kind *kind)
{
    reader->state = kind->state_bytes ? calloc(1, kind->state_bytes) : NULL;
    bool done = reader->state || !kind->state_bytes || cli_error(reader->name, "out of memory");
    if (done) {
        reader->kind = kind;
        done = kind->open(reader);
    }
    if (!done)
        cli_reader_close(reader);
    return done;
}

bool cli_reader_open_input(cli_reader *reader, const cli_input *input, const cli_read_options *options)
{
    const cli_reader_kind *kind = options->raw ? &cli_raw_reader : kind_by_content(input);
    *reader = (cli_reader){.input = *input, .name = input->name, .options = *options};
    if (kind && options->page > 1 && kind != &cli_tiff_reader && kind != &cli_y4m_reader)
        cli_error(input->name, "there is no page %u", options->page);
    else if (kind)
        return open_kind(reader, kind);
    else
        unknown(input);
    cli_reader_close(reader);
    return false;
}

bool cli_reader_open(cli_reader *reader, const char *path, const cli_read_options *options)
{
    cli_input input;
    *reader = (cli_reader){.name = path, .options = *options};
    if (options->raw || options->page || !cli_is_plane_set(path))
        return cli_input_open(&input, path) && cli_reader_open_input(reader, &input, options);
    return open_kind(reader, &cli_planes_reader);
}

bool cli_reader_pages(const char *path, unsigned *count)
{
    cli_reader reader;
    bool more = true;
    for (*count = 0; more; ++*count) {
        if (!cli_reader_open(&reader, path, &(cli_read_options){.page = *count + 1, .quiet = true}))
            return false;
        more = reader.more_pages;
        cli_reader_close(&reader);
    }
    return true;
}

bool cli_reader_set_precision(cli_reader *reader, uint32_t bits, bool keeps_values)
{
    cli_picture *picture = &reader->picture;
    if (picture->num_entries)
        return cli_error(reader->name, "palette indices cannot change their precision");
    reader->precisions = malloc(picture->image.num_components);
    if (!reader->precisions)
        return cli_error(reader->name, "out of memory");
    reader->precision = bits;
    reader->keeps_values = keeps_values;
    for (uint32_t c = 0; c < picture->image.num_components; c++) {
        reader->precisions[c] = (uint8_t)picture->components[c].precision;
        picture->components[c].precision = bits;
    }
    return true;
}

/* The kind reads samples in the file's precision. */
static void restore_precision(cli_reader *reader)
{
    for (uint32_t c = 0; reader->precision && c < reader->picture.image.num_components; c++)
        reader->picture.components[c].precision = reader->precisions[c];
}

static bool read_samples(cli_reader *reader)
{
    return reader->kind->read(reader) &&
           (!reader->precision || cli_picture_rescale(&reader->picture, reader->layout, reader->precision,
                                                      reader->keeps_values, reader->name));
}

bool cli_reader_all(cli_reader *reader)
{
    restore_precision(reader);
    return cli_picture_allocate(&reader->picture, reader->layout, reader->name) && read_samples(reader);
}

bool cli_reader_rows(cli_reader *reader, uint32_t y0, uint32_t y1)
{
    restore_precision(reader);
    return cli_picture_window(&reader->picture, y0, y1, 0, reader->layout, reader->name) && read_samples(reader);
}

bool cli_reader_keep(cli_reader *reader, l2k_content kind, const void *data, size_t bytes)
{
    return cli_metadata_keep(&reader->picture.metadata, kind, data, bytes, reader->options.quiet, reader->name);
}

bool cli_reader_at_end(const cli_reader *reader)
{
    const cli_picture *picture = &reader->picture;
    for (uint32_t c = 0; c < picture->image.num_components; c++)
        if (picture->rows[c].first + picture->rows[c].count < picture->components[c].height)
            return false;
    return true;
}

void cli_reader_close(cli_reader *reader)
{
    if (reader->kind && reader->kind->close)
        reader->kind->close(reader);
    reader->kind = NULL;
    free(reader->state);
    reader->state = NULL;
    cli_input_close(&reader->input);
    cli_picture_free(&reader->picture);
    free(reader->precisions);
    reader->precisions = NULL;
}
