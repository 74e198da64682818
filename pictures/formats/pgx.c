/* PGX (ISO/IEC 15444-4): a text line "PG ML|LM [+|-]precision width height", then one component's samples of 1, 2 or 4
 * bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pictures/reader.h"
#include "pictures/user/report.h"
#include "pictures/words.h"
#include "pictures/writer.h"

#define MAX_HEADER    128u
#define MAX_PRECISION 31u

typedef struct pgx_header {
    cli_words words;
    uint32_t width, height;
    size_t bytes; /* of the text line */
} pgx_header;

/* A number of more than ten digits is split, or does not fit the line. */
static bool read_header(cli_input *input, pgx_header *header)
{
    char line[MAX_HEADER], order[3], sign[2] = "+";
    unsigned long long bits, width, height;
    int end = 0, c = 0;
    for (header->bytes = 0; c != '\n' && header->bytes < MAX_HEADER; header->bytes++) {
        c = cli_input_byte(input);
        if (c == EOF)
            return cli_input_ended(input);
        line[header->bytes] = c == '\n' ? 0 : (char)c;
    }
    if (c != '\n' ||
        (sscanf(line, "PG %2[ML] %1[+-] %10llu %10llu %10llu %n", order, sign, &bits, &width, &height, &end) != 5 &&
         sscanf(line, "PG %2[ML] %10llu %10llu %10llu %n", order, &bits, &width, &height, &end) != 4) ||
        line[end] || (strcmp(order, "ML") != 0 && strcmp(order, "LM") != 0) || bits > UINT32_MAX ||
        width > UINT32_MAX || height > UINT32_MAX)
        return cli_error(input->name, "bad PGX header");
    header->words = (cli_words){(uint32_t)bits, *sign == '-', *order == 'M'};
    header->width = (uint32_t)width;
    header->height = (uint32_t)height;
    return (bits && bits <= MAX_PRECISION && width && height) ||
           cli_error(input->name, "PGX: %llu x %llu with %llu bits is not supported", width, height, bits);
}

static size_t row_bytes(const pgx_header *header)
{
    return (size_t)header->width * cli_sample_bytes(header->words.precision);
}

/* Describes component c from the header. */
static bool describe(cli_reader *reader, uint32_t c, const cli_input *input, const pgx_header *header)
{
    l2k_component *component = &reader->picture.components[c];
    component->width = header->width;
    component->height = header->height;
    component->precision = header->words.precision;
    component->is_signed = header->words.is_signed;
    return cli_picture_allowed(&reader->picture, input->name) &&
           cli_input_holds(input, header->bytes + (uint64_t)row_bytes(header) * header->height);
}

static bool read_rows(cli_reader *reader, uint32_t c, cli_input *input, const pgx_header *header)
{
    const size_t samples = (size_t)header->width * reader->picture.rows[c].count;
    return cli_words_read(&header->words, input, reader->picture.planes[c].data, samples);
}

static bool open_pgx(cli_reader *reader)
{
    reader->layout = CLI_PLANAR;
    return cli_picture_create(&reader->picture, 1, reader->name) && read_header(&reader->input, reader->state) &&
           describe(reader, 0, &reader->input, reader->state);
}

static bool read_pgx(cli_reader *reader)
{
    return read_rows(reader, 0, &reader->input, reader->state);
}

const cli_reader_kind cli_pgx_reader = {open_pgx, read_pgx, NULL, sizeof(pgx_header)};

/* ---- Numbered planes ----------------------------------------------------------------------------------------- */

/* Describes plane c, or reads its next rows. There can be more planes than files a process may open, so each is open
 * only while it is used. */
static bool take_plane(cli_reader *reader, uint32_t c, bool describes)
{
    cli_input input;
    pgx_header *header = (pgx_header *)reader->state + c;
    char *name = cli_numbered_name(reader->name, c, 1);
    if (!name)
        return cli_error(reader->name, "out of memory");
    bool done = cli_input_open(&input, name);
    if (done) {
        done =
            describes
                ? read_header(&input, header) && describe(reader, c, &input, header)
                : cli_input_seek(&input, header->bytes + (uint64_t)row_bytes(header) * reader->picture.rows[c].first) &&
                      read_rows(reader, c, &input, header);
        cli_input_close(&input);
    }
    free(name);
    return done;
}

static bool take_planes(cli_reader *reader, bool describes)
{
    bool done = true;
    for (uint32_t c = 0; done && c < reader->picture.image.num_components; c++)
        done = take_plane(reader, c, describes);
    return done;
}

static bool open_planes(cli_reader *reader)
{
    uint32_t count = cli_count_planes(reader->name);
    reader->layout = CLI_PLANAR;
    reader->state = calloc(count, sizeof(pgx_header));
    if (!reader->state)
        return cli_error(reader->name, "out of memory");
    return cli_picture_create(&reader->picture, count, reader->name) && take_planes(reader, true);
}

static bool read_planes(cli_reader *reader)
{
    return take_planes(reader, false);
}

const cli_reader_kind cli_planes_reader = {.open = open_planes, .read = read_planes};

/* ---- Writing: NAME_0.pgx, NAME_1.pgx, ..., big-endian, which appear together ---------------------------------- */

/* There can be more planes than files a process may open, multiplied by the threads that write. */
#define MOST_OPEN 32u

uint32_t cli_count_planes(const char *path)
{
    struct stat facts;
    uint32_t count = 0;
    while (count < L2K_MAX_COMPONENTS) {
        char *plane = cli_numbered_name(path, count, 1);
        bool found = plane && stat(plane, &facts) == 0;
        free(plane);
        if (!found)
            break;
        count++;
    }
    return count;
}

typedef struct plane_file {
    cli_output output;
    char *name; /* NULL before the first row */
} plane_file;

static bool open_writer(cli_writer *writer)
{
    writer->state = calloc(writer->picture->image.num_components, sizeof(plane_file));
    return writer->state || cli_error(writer->name, "out of memory");
}

/* Reports an error and discards the output. */
static bool write_header(cli_output *output, const l2k_component *component)
{
    char header[64];
    int length = snprintf(header, sizeof header, "PG ML %c %u %u %u\n", component->is_signed ? '-' : '+',
                          component->precision, component->width, component->height);
    return cli_output_write(output, header, (size_t)length) || cli_output_fail(output);
}

/* Opens the file of component c and writes its header. */
static bool create_plane(plane_file *file, const char *path, uint32_t c, const l2k_component *component)
{
    file->name = cli_numbered_name(path, c, 1);
    if (!file->name)
        return cli_error(path, "out of memory");
    if (cli_output_open(&file->output, file->name) && write_header(&file->output, component))
        return true;
    free(file->name);
    file->name = NULL;
    return false;
}

static bool write_planes(cli_writer *writer)
{
    const cli_picture *picture = writer->picture;
    const uint32_t count = picture->image.num_components;
    for (uint32_t c = 0; c < count; c++) {
        plane_file *file = &((plane_file *)writer->state)[c];
        const l2k_component *component = &picture->components[c];
        const cli_words words = {component->precision, component->is_signed, true};
        if (!file->name && !create_plane(file, writer->path, c, component))
            return false;
        if (!cli_words_write(&words, &file->output, file->output.bytes, &picture->planes[c], component->width,
                             picture->rows[c].count) ||
            (count > MOST_OPEN && !cli_output_rest(&file->output)))
            return file->output.error && cli_output_fail(&file->output);
    }
    return true;
}

/* Everything that can fail is done before the first file gets its name. */
static bool finish_writer(cli_writer *writer)
{
    plane_file *files = writer->state;
    const uint32_t count = writer->picture->image.num_components;
    bool done = true;
    for (uint32_t c = 0; c < count; c++)
        if (!cli_output_rest(&files[c].output))
            return cli_output_fail(&files[c].output);
    for (uint32_t c = 0; done && c < count; c++)
        done = cli_output_commit(&files[c].output);
    return done;
}

static void close_writer(cli_writer *writer)
{
    plane_file *files = writer->state;
    for (uint32_t c = 0; c < writer->picture->image.num_components; c++) {
        if (files[c].name)
            cli_output_discard(&files[c].output);
        free(files[c].name);
    }
}

const cli_writer_kind cli_pgx_writer = {open_writer, NULL, write_planes, finish_writer, close_writer, 0};

/* ---- One plane ----------------------------------------------------------------------------------------------- */

bool cli_pgx_write_plane(cli_output *output, const l2k_plane *plane, const l2k_component *component)
{
    const cli_words words = {component->precision, component->is_signed, true};
    return write_header(output, component) &&
           cli_words_write(&words, output, output->bytes, plane, component->width, component->height);
}
