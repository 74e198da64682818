#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/encode_options.h"
#include "cli/encode_rows.h"
#include "cli/report.h"

/* What PNM and PNG say themselves is kept. Bare planes are gray, RGB, or YCbCr where the second and third are
 * sub-sampled. */
static void guess_colour(cli_picture *picture)
{
    const l2k_component *c = picture->components;
    l2k_image *image = &picture->image;
    if (image->colour != L2K_COLOUR_UNKNOWN)
        return;
    if (image->num_components == 1)
        image->colour = L2K_COLOUR_GRAY;
    else if (image->num_components == 3 && c[1].dx == c[2].dx && c[1].dy == c[2].dy)
        image->colour = c[1].dx > c[0].dx || c[1].dy > c[0].dy ? L2K_COLOUR_SYCC : L2K_COLOUR_SRGB;
}

static l2k_status configure(l2k_encoder *encoder, const cli_encode_options *options)
{
    l2k_status status = L2K_OK;
    for (int option = 0; status == L2K_OK && option < (int)CLI_NUM_ENCODER_OPTIONS; option++)
        if (options->given[option])
            status = l2k_encoder_set(encoder, (l2k_encoder_option)option, options->values[option]);
    if (status == L2K_OK && options->num_precincts)
        status = l2k_encoder_set_precincts(encoder, options->precincts, options->num_precincts);
    if (status == L2K_OK && options->num_layers)
        status = l2k_encoder_set_layers(encoder, options->target, options->layers, options->num_layers);
    return status;
}

static int on_write(void *user, const void *buffer, size_t bytes)
{
    return cli_output_write(user, buffer, bytes) ? 0 : -1;
}

static int on_rewrite(void *user, uint64_t offset, const void *buffer, size_t bytes)
{
    return cli_output_write_at(user, offset, buffer, bytes) ? 0 : -1;
}

static bool encode_picture(const cli_encode_options *options, cli_reader *reader, cli_output *output)
{
    const bool by_rows = cli_encode_by_rows(options, &reader->picture, output);
    const l2k_stream stream = {
        .write = on_write, .rewrite = cli_output_can_seek(output) ? on_rewrite : NULL, .user = output};
    const char *name = reader->name;
    bool read_failed = !by_rows && !cli_reader_all(reader);
    if (read_failed)
        return false;
    cli_messages messages;
    cli_messages_init(&messages, name, options->quiet);
    l2k_hooks hooks = cli_messages_hooks(&messages);
    l2k_encoder *encoder = l2k_encoder_new(&hooks);
    if (!encoder)
        return cli_error(name, "out of memory");
    l2k_status status = configure(encoder, options);
    if (status == L2K_OK)
        status = by_rows ? cli_encode_rows(encoder, reader, &stream, &read_failed)
                         : l2k_encoder_encode(encoder, &reader->picture.image, reader->picture.planes, &stream);
    l2k_encoder_free(encoder);
    if (output->error) /* errno knows better than the library why writing failed */
        return cli_output_fail(output);
    return status == L2K_OK || (!read_failed && cli_messages_fail(&messages, status));
}

static void print_summary(const char *from, const cli_picture *picture, const char *to, uint64_t bytes)
{
    char size[80];
    uint64_t raw = cli_picture_raw_bytes(picture);
    cli_picture_text(picture, size, sizeof size);
    cli_note("%s %s, %llu bytes -> %s %llu bytes, ratio %.3f", from, size, (unsigned long long)raw, to,
             (unsigned long long)bytes, bytes ? (double)raw / (double)bytes : 0.0);
}

static bool run(const cli_encode_options *options, cli_reader *reader)
{
    cli_output output;
    if (!cli_reader_open(reader, options->input, options->has_raw ? &options->raw : NULL, options->quiet) ||
        !cli_picture_place(&reader->picture, options->x0, options->y0, reader->name))
        return false;
    guess_colour(&reader->picture);
    if (!cli_output_open(&output, options->output))
        return false;
    if (!encode_picture(options, reader, &output)) {
        cli_output_discard(&output);
        return false;
    }
    if (!cli_output_commit(&output))
        return false;
    if (!options->quiet)
        print_summary(reader->name, &reader->picture, output.name, output.bytes);
    return true;
}

int cli_encode(int count, char **arguments)
{
    cli_encode_options options;
    cli_reader reader = {0};
    int status = CLI_EXIT_USAGE;
    if (cli_encode_options_parse(&options, count, arguments)) {
        if (options.help)
            status = cli_print_help(cli_help_encode);
        else
            status = run(&options, &reader) ? CLI_EXIT_OK : CLI_EXIT_FAILURE;
    }
    cli_reader_close(&reader);
    free(options.layers);
    return status;
}
