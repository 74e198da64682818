/* Opens a file of any format that the command reads, recognised by its first bytes. */
#include "cli/input/any_file.h"

#include <string.h>

#include "pictures/reader.h"
#include "pictures/user/report.h"

/* SOC (A.4.1), or the signature box of a JP2 file (I.5.1); the library checks the rest. */
static bool is_jpeg2000(const cli_input *input)
{
    static const uint8_t codestream[2] = {0xff, 0x4f}, signature[8] = {0, 0, 0, 12, 'j', 'P', ' ', ' '};
    return (input->filled >= sizeof codestream && memcmp(input->buffer, codestream, sizeof codestream) == 0) ||
           (input->filled >= sizeof signature && memcmp(input->buffer, signature, sizeof signature) == 0);
}

static bool read_other(cli_any_file *file, cli_reader *reader, bool opened)
{
    bool done = opened && cli_reader_all(reader);
    return cli_reader_finish(reader, done, &file->picture);
}

bool cli_any_file_open(cli_any_file *file, const char *path, bool quiet)
{
    const cli_read_options how = {.quiet = quiet};
    cli_input input;
    cli_reader reader;
    memset(file, 0, sizeof *file);
    file->name = strcmp(path, "-") == 0 ? "standard input" : path;
    if (cli_is_plane_set(path))
        return read_other(file, &reader, cli_reader_open(&reader, path, &how));
    if (!cli_input_open(&input, path))
        return false;
    file->is_jpeg2000 = is_jpeg2000(&input);
    if (file->is_jpeg2000)
        return cli_coded_open(&file->coded, &input, quiet);
    if (cli_reader_knows(&input))
        return read_other(file, &reader, cli_reader_open_input(&reader, &input, &how));
    cli_input_close(&input);
    return cli_error(file->name, "neither JPEG 2000 nor a PNG, JPEG, TIFF, PNM, PAM, PGX or Y4M file");
}

void cli_any_file_close(cli_any_file *file)
{
    if (file->is_jpeg2000)
        cli_coded_close(&file->coded);
    cli_picture_free(&file->picture);
}

static bool decode(cli_coded_file *coded, cli_picture *picture)
{
    l2k_image image;
    l2k_status status = l2k_decoder_image(coded->decoder, &image);
    if (status != L2K_OK)
        return cli_messages_fail(&coded->messages, status);
    if (!cli_picture_adopt(picture, &image, coded->messages.subject))
        return false;
    picture->image.icc = NULL; /* belongs to the decoder */
    picture->image.icc_bytes = 0;
    if (!cli_coded_decode_rows(coded, picture, CLI_PLANAR, image.y0, image.y1, 0))
        return false;
    return coded->incomplete ? cli_error(coded->messages.subject, "the file ends before its picture does") : true;
}

/* Quiet: warnings about a file that can be decoded do not matter here. */
bool cli_any_picture_read(cli_picture *picture, const char *path)
{
    cli_any_file file;
    bool done = cli_any_file_open(&file, path, true);
    if (done && file.is_jpeg2000)
        done = decode(&file.coded, &file.picture);
    *picture = file.picture;
    memset(&file.picture, 0, sizeof file.picture);
    cli_any_file_close(&file);
    return done;
}
