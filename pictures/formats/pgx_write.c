/* PGX files: the planes of a picture as NAME_0.pgx, NAME_1.pgx, ..., big-endian, which appear together; or one plane.
 * pgx_read.c describes the format. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pictures/words.h"
#include "pictures/user/interrupt.h"
#include "pictures/user/report.h"
#include "pictures/writer.h"

/* There can be more planes than files a process may open, multiplied by the threads that write. */
#define MOST_OPEN 32u

/* ---- Names ---- */

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

/* ---- Numbered planes ---- */

typedef struct plane_file {
    cli_output output;
    char *name; /* NULL before the first row */
} plane_file;

static bool open_pgx(cli_writer *writer)
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
static bool open_plane(plane_file *file, const char *path, uint32_t c, const l2k_component *component)
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

static bool write_plane(cli_writer *writer, uint32_t c)
{
    plane_file *file = &((plane_file *)writer->state)[c];
    const cli_picture *picture = writer->picture;
    const l2k_component *component = &picture->components[c];
    const cli_words words = {component->precision, component->is_signed, true};
    if (!file->name && !open_plane(file, writer->path, c, component))
        return false;
    if (cli_output_resume(&file->output) &&
        cli_write_plane_rows(&file->output, file->output.bytes, picture, c, &words) &&
        (picture->image.num_components <= MOST_OPEN || cli_output_rest(&file->output)))
        return true;
    return file->output.error && cli_output_fail(&file->output);
}

static bool write_planes(cli_writer *writer)
{
    for (uint32_t c = 0; c < writer->picture->image.num_components; c++)
        if (!write_plane(writer, c))
            return false;
    return true;
}

/* Everything that can fail is done before the first file gets its name. */
static bool finish_pgx(cli_writer *writer)
{
    plane_file *files = writer->state;
    const uint32_t count = writer->picture->image.num_components;
    bool done = true;
    for (uint32_t c = 0; c < count; c++)
        if (!cli_output_rest(&files[c].output))
            return cli_output_fail(&files[c].output);
    cli_interrupt_hold(true);
    for (uint32_t c = 0; done && c < count; c++)
        done = cli_output_commit(&files[c].output);
    cli_interrupt_hold(false);
    return done;
}

static void close_pgx(cli_writer *writer)
{
    plane_file *files = writer->state;
    for (uint32_t c = 0; files && c < writer->picture->image.num_components; c++) {
        if (files[c].name)
            cli_output_discard(&files[c].output);
        free(files[c].name);
    }
    free(files);
}

const cli_writer_kind cli_pgx_writer = {open_pgx, NULL, write_planes, finish_pgx, close_pgx};

/* ---- One plane ----------------------------------------------------------------------------------------------- */

bool cli_pgx_write_plane(cli_output *output, const l2k_plane *plane, const l2k_component *component)
{
    const cli_words words = {component->precision, component->is_signed, true};
    cli_rows rows = {0, component->height};
    l2k_component its_component = *component;
    l2k_plane its_plane = *plane;
    const cli_picture picture = {.components = &its_component, .planes = &its_plane, .rows = &rows};
    if (!write_header(output, component))
        return false;
    return cli_write_plane_rows(output, output->bytes, &picture, 0, &words) ||
           (output->error && cli_output_fail(output));
}
