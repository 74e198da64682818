/* In place of png_read.c and png_write.c in a build without libpng (-DL2K_PNG=OFF): PNG files are refused. */
#include "pictures/reader.h"
#include "pictures/user/report.h"
#include "pictures/writer.h"

static bool refuse_to_read(cli_reader *reader)
{
    return cli_error(reader->name, "this build of lift2k has no libpng to read PNG");
}

static void close_reader(cli_reader *reader)
{
    (void)reader;
}

static bool refuse_to_write(cli_writer *writer)
{
    return cli_error(writer->name, "this build of lift2k has no libpng to write PNG; tif or pam may do");
}

static bool write_rows(cli_writer *writer, uint8_t *bytes, uint32_t count)
{
    (void)writer, (void)bytes, (void)count;
    return false;
}

static bool finish(cli_writer *writer)
{
    (void)writer;
    return false;
}

static void close_writer(cli_writer *writer)
{
    (void)writer;
}

const cli_reader_kind cli_png_reader = {refuse_to_read, refuse_to_read, close_reader};
const cli_writer_kind cli_png_writer = {refuse_to_write, write_rows, NULL, finish, close_writer};
