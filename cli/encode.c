#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/encode_options.h"
#include "cli/formats.h"
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

static bool encode_picture(const cli_encode_options *options, const cli_picture *picture, const char *name,
                           cli_output *output)
{
    cli_messages messages;
    cli_messages_init(&messages, name, options->quiet);
    l2k_hooks hooks = cli_messages_hooks(&messages);
    l2k_encoder *encoder = l2k_encoder_new(&hooks);
    if (!encoder)
        return cli_error(name, "out of memory");
    const l2k_stream stream = {.write = on_write, .user = output};
    l2k_status status = configure(encoder, options);
    if (status == L2K_OK)
        status = l2k_encoder_encode(encoder, &picture->image, picture->planes, &stream);
    l2k_encoder_free(encoder);
    if (output->error) /* errno knows better than the library why writing failed */
        return cli_output_fail(output);
    return status == L2K_OK || cli_messages_fail(&messages, status);
}

static void print_summary(const char *from, const cli_picture *picture, const char *to, uint64_t bytes)
{
    char size[80];
    uint64_t raw = cli_picture_raw_bytes(picture);
    cli_picture_text(picture, size, sizeof size);
    cli_note("%s %s, %llu bytes -> %s %llu bytes, ratio %.3f", from, size, (unsigned long long)raw, to,
             (unsigned long long)bytes, bytes ? (double)raw / (double)bytes : 0.0);
}

static bool run(const cli_encode_options *options, cli_picture *picture)
{
    cli_output output;
    const char *name = strcmp(options->input, "-") == 0 ? "standard input" : options->input;
    if (!cli_picture_read(picture, options->input) || !cli_picture_place(picture, options->x0, options->y0, name))
        return false;
    guess_colour(picture);
    if (!cli_output_open(&output, options->output))
        return false;
    if (!encode_picture(options, picture, name, &output)) {
        cli_output_discard(&output);
        return false;
    }
    if (!cli_output_commit(&output))
        return false;
    if (!options->quiet)
        print_summary(name, picture, output.name, output.bytes);
    return true;
}

int cli_encode(int count, char **arguments)
{
    cli_encode_options options;
    cli_picture picture = {0};
    int status = CLI_EXIT_USAGE;
    if (cli_encode_options_parse(&options, count, arguments)) {
        if (options.help)
            status = cli_print_help(cli_help_encode);
        else
            status = run(&options, &picture) ? CLI_EXIT_OK : CLI_EXIT_FAILURE;
    }
    cli_picture_free(&picture);
    free(options.layers);
    return status;
}
