#include <string.h>

#include "cli/commands.h"
#include "cli/decode_options.h"
#include "cli/report.h"
#include "cli/rgb8.h"
#include "cli/source.h"

typedef cli_decode_options decode_options;

static l2k_status configure(l2k_decoder *decoder, const decode_options *options)
{
    const struct {
        l2k_decoder_option option;
        int64_t value;
    } settings[] = {{L2K_DECODER_REDUCE, options->reduce},       {L2K_DECODER_LAYERS, options->layers},
                    {L2K_DECODER_COMPONENT, options->component}, {L2K_DECODER_THREADS, options->threads},
                    {L2K_DECODER_BACKEND, options->backend},     {L2K_DECODER_LIMIT_SAMPLES, (int64_t)CLI_MAX_SAMPLES}};
    const uint32_t *r = options->region;
    l2k_status status = L2K_OK;
    for (size_t i = 0; status == L2K_OK && i < sizeof settings / sizeof settings[0]; i++)
        status = l2k_decoder_set(decoder, settings[i].option, settings[i].value);
    if (status == L2K_OK && options->gpu_min_samples >= 0)
        status = l2k_decoder_set(decoder, L2K_DECODER_GPU_MIN_SAMPLES, options->gpu_min_samples);
    if (status == L2K_OK && options->has_region)
        status = l2k_decoder_set_region(decoder, r[0], r[1], r[2], r[3]);
    return status;
}

/* For messages. */
static const char *output_name(const decode_options *options)
{
    return strcmp(options->output, "-") == 0 ? "standard output" : options->output;
}

static void warn_of_changes(const cli_view *view, const decode_options *options)
{
    if (options->format != CLI_FORMAT_PNG || options->quiet)
        return;
    if (cli_view_is_scaled(view))
        cli_warning(options->output, "%u-bit samples are scaled to %u bits",
                    view->channels[0].precision != view->depth ? view->channels[0].precision
                                                               : view->channels[view->num_channels - 1].precision,
                    view->depth);
    if (view->premultiplied)
        cli_warning(options->output, "premultiplied opacity is written as it is");
}

static bool write_view(const cli_view *view, cli_format format, const decode_options *options)
{
    cli_output output;
    if (!cli_output_open(&output, options->output))
        return false;
    bool done =
        format == CLI_FORMAT_PNG ? cli_png_write(&output, view, options->quiet) : cli_pnm_write(&output, view, format);
    if (done)
        return cli_output_commit(&output);
    cli_output_discard(&output);
    return false;
}

/* Everything that can be refused is refused before the samples are decoded. */
static bool decode_to_view(cli_source *source, cli_picture *picture, const decode_options *options)
{
    cli_view view;
    cli_format format = options->format;
    const char *target = output_name(options);
    cli_layout layout = cli_picture_can_interleave(picture) ? CLI_INTERLEAVED : CLI_PLANAR;
    if (!cli_view_create(&view, picture, (uint32_t)options->reduce, target))
        return false;
    bool done = cli_format_check(&format, &view, target) && cli_source_decode(source, picture, layout);
    if (done) {
        warn_of_changes(&view, options);
        done = write_view(&view, format, options);
    }
    cli_view_free(&view);
    return done;
}

/* The same by way of a picture of 8 bits in sRGB, made beside the decoded one. */
static bool decode_to_rgb8(cli_source *source, cli_picture *picture, const decode_options *options)
{
    cli_rgb8 conversion;
    cli_view view = {0};
    cli_format format = options->format;
    const char *target = output_name(options);
    if (!cli_rgb8_create(&conversion, picture, options))
        return false;
    bool done = cli_view_create(&view, &conversion.picture, 0, target) &&
                (format == CLI_FORMAT_PGX || cli_format_check(&format, &view, target)) &&
                cli_source_decode(source, picture, CLI_PLANAR) && cli_rgb8_convert(&conversion, target);
    if (done)
        done = format == CLI_FORMAT_PGX ? cli_pgx_write(options->output, &conversion.picture)
                                        : write_view(&view, format, options);
    cli_view_free(&view);
    cli_rgb8_free(&conversion);
    return done;
}

static bool decode_source(cli_source *source, cli_picture *picture, const decode_options *options)
{
    l2k_image image;
    l2k_status status = configure(source->decoder, options);
    if (status == L2K_OK)
        status = l2k_decoder_image(source->decoder, &image);
    if (status != L2K_OK)
        return cli_messages_fail(&source->messages, status);
    if (!cli_picture_adopt(picture, &image, source->messages.subject))
        return false;
    if (options->rgb8)
        return decode_to_rgb8(source, picture, options);
    if (options->format == CLI_FORMAT_PGX)
        return cli_source_decode(source, picture, CLI_PLANAR) && cli_pgx_write(options->output, picture);
    return decode_to_view(source, picture, options);
}

/* Returns the exit status. */
static int run(const decode_options *options)
{
    cli_source source;
    cli_picture picture = {0};
    char size[80];
    if (!cli_source_open(&source, options->input, options->quiet, options->strict))
        return CLI_EXIT_FAILURE;
    bool done = decode_source(&source, &picture, options);
    if (done && !options->quiet) {
        cli_picture_text(&picture, size, sizeof size);
        cli_note("%s -> %s %s", source.messages.subject, output_name(options), size);
    }
    cli_picture_free(&picture);
    cli_source_close(&source);
    return !done ? CLI_EXIT_FAILURE : source.incomplete ? CLI_EXIT_INCOMPLETE : CLI_EXIT_OK;
}

int cli_decode(int count, char **arguments)
{
    decode_options options;
    if (!cli_decode_options_parse(&options, count, arguments))
        return CLI_EXIT_USAGE;
    if (options.help)
        return cli_print_help(cli_help_decode);
    return run(&options);
}
