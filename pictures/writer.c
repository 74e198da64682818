/* Writes picture files by rows through their format's functions; the file appears when it is complete. */
#include "pictures/writer.h"

#include <stdlib.h>
#include <string.h>

#include "pictures/user/report.h"

static const cli_writer_kind *const kinds[] = {
    [CLI_FORMAT_PNG] = &cli_png_writer, [CLI_FORMAT_PBM] = &cli_pnm_writer, [CLI_FORMAT_PGM] = &cli_pnm_writer,
    [CLI_FORMAT_PPM] = &cli_pnm_writer, [CLI_FORMAT_PAM] = &cli_pnm_writer, [CLI_FORMAT_TIFF] = &cli_tiff_writer,
    [CLI_FORMAT_PGX] = &cli_pgx_writer, [CLI_FORMAT_RAW] = &cli_raw_writer, [CLI_FORMAT_Y4M] = &cli_y4m_writer};

static void release(cli_writer *writer)
{
    if (writer->kind->close && writer->state)
        writer->kind->close(writer);
    free(writer->state);
    free(writer->row);
    if (writer->options.film)
        writer->options.film->output = writer->output;
    else
        cli_output_discard(&writer->output);
}

/* A failed write has its own message, whatever the format reported. */
static bool fail(cli_writer *writer)
{
    if (writer->output.error)
        cli_output_fail(&writer->output);
    release(writer);
    return false;
}

static bool allocate(cli_writer *writer)
{
    const size_t state = writer->kind->state_bytes;
    writer->row = malloc(writer->view ? cli_view_row_bytes(writer->view) : 1);
    writer->state = state ? calloc(1, state) : NULL;
    return (writer->row && (writer->state || !state)) || cli_error(writer->name, "out of memory");
}

bool cli_writer_open(cli_writer *writer, const char *path, cli_format format, const cli_picture *picture,
                     const cli_view *view, const cli_write_options *options)
{
    memset(writer, 0, sizeof *writer);
    writer->path = writer->name = path;
    writer->format = format;
    writer->picture = picture;
    writer->view = view;
    writer->options = *options;
    writer->kind = kinds[format];
    if (options->film) {
        writer->output = options->film->output;
    } else if (format != CLI_FORMAT_PGX) {
        if (!cli_output_open(&writer->output, path))
            return false;
        writer->name = writer->output.name;
    }
    return (allocate(writer) && (!writer->kind->open || writer->kind->open(writer))) || fail(writer);
}

bool cli_writer_rows(cli_writer *writer, uint32_t end)
{
    bool done = true;
    if (writer->kind->planes)
        return writer->kind->planes(writer);
    for (; done && writer->next < end; writer->next++) {
        cli_view_row(writer->view, writer->next, writer->row);
        done = writer->kind->write_row(writer, writer->row);
    }
    return done;
}

bool cli_writer_close(cli_writer *writer, bool done)
{
    if (!done || (writer->kind->finish && !writer->kind->finish(writer)))
        return fail(writer);
    done = !writer->output.buffer || writer->options.film || cli_output_commit(&writer->output);
    release(writer);
    return done;
}

bool cli_write_picture(const char *path, cli_format format, const cli_picture *picture, const cli_write_options *how)
{
    const bool planes = format >= CLI_FORMAT_PGX;
    cli_view view = {0};
    cli_writer writer;
    bool done = (planes || (cli_view_create(&view, picture, 0, path) && cli_format_check(&format, &view, path))) &&
                cli_writer_open(&writer, path, format, picture, planes ? NULL : &view, how);
    done = done && cli_writer_close(&writer, cli_writer_rows(&writer, view.height));
    cli_view_free(&view);
    return done;
}

bool cli_writer_takes_rows(const char *path, cli_format format, const cli_write_options *options)
{
    return (format != CLI_FORMAT_RAW && format != CLI_FORMAT_Y4M) || options->interleaved || cli_becomes_file(path);
}
