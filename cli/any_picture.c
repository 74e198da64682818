#include "cli/any_picture.h"

#include <string.h>

#include "cli/reader.h"
#include "cli/report.h"
#include "cli/source.h"

/* SOC (A.4.1), or the signature box of a JP2 file (I.5.1); the library looks closer. */
static bool is_jpeg2000(const cli_input *input)
{
    static const uint8_t codestream[2] = {0xff, 0x4f}, signature[8] = {0, 0, 0, 12, 'j', 'P', ' ', ' '};
    return (input->head_filled >= sizeof codestream && memcmp(input->head, codestream, sizeof codestream) == 0) ||
           (input->head_filled >= sizeof signature && memcmp(input->head, signature, sizeof signature) == 0);
}

static bool decode(cli_source *source, cli_picture *picture)
{
    l2k_image image;
    l2k_status status = l2k_decoder_image(source->decoder, &image);
    if (status != L2K_OK)
        return cli_messages_fail(&source->messages, status);
    if (!cli_picture_adopt(picture, &image, source->messages.subject))
        return false;
    picture->image.icc = NULL; /* it goes with the decoder */
    picture->image.icc_bytes = 0;
    if (!cli_source_decode(source, picture, CLI_PLANAR))
        return false;
    return source->incomplete ? cli_error(source->messages.subject, "the file ends before its picture does") : true;
}

/* Quiet: what is wrong with a file matters here only where it cannot be decoded. */
static bool read_jpeg2000(cli_input *input, cli_picture *picture)
{
    cli_source source;
    if (!cli_source_read(&source, input, true, false))
        return false;
    bool done = decode(&source, picture);
    cli_source_close(&source);
    return done;
}

static bool read_other(cli_reader *reader, bool opened, cli_picture *picture)
{
    bool done = opened && cli_reader_all(reader);
    return cli_reader_finish(reader, done, picture);
}

bool cli_any_picture_read(cli_picture *picture, const char *path)
{
    cli_input input;
    cli_reader reader;
    memset(picture, 0, sizeof *picture);
    if (cli_is_plane_set(path))
        return read_other(&reader, cli_reader_open(&reader, path, NULL, true), picture);
    if (!cli_input_open(&input, path))
        return false;
    if (!is_jpeg2000(&input) && !cli_reader_knows(&input)) {
        cli_input_close(&input);
        return cli_error(input.name, "neither JPEG 2000 nor a PNG, TIFF, PNM, PAM or PGX file");
    }
    if (!is_jpeg2000(&input))
        return read_other(&reader, cli_reader_open_input(&reader, &input, NULL, true), picture);
    bool done = read_jpeg2000(&input, picture);
    cli_input_close(&input);
    return done;
}
