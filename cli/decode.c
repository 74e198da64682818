#include <string.h>

#include "cli/commands.h"
#include "cli/decode_options.h"
#include "cli/report.h"
#include "cli/rgb8.h"
#include "cli/source.h"
#include "cli/strips.h"
#include "cli/writer.h"

typedef cli_decode_options decode_options;

typedef struct decoding {
    const decode_options *options;
    cli_picture picture;
    cli_rgb8 conversion;        /* --rgb8 */
    const cli_picture *written; /* `picture`, or what --rgb8 makes of it */
    cli_format format;
    cli_view view; /* of `written`, unless planes are wanted */
    cli_writer writer;
} decoding;

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

static void warn_of_changes(const decoding *d)
{
    const cli_view *view = &d->view;
    if ((d->format != CLI_FORMAT_PNG && d->format != CLI_FORMAT_TIFF) || d->options->write.quiet)
        return;
    if (cli_view_is_scaled(view))
        cli_warning(d->options->output, "%u-bit samples are scaled to %u bits",
                    view->channels[0].precision != view->depth ? view->channels[0].precision
                                                               : view->channels[view->num_channels - 1].precision,
                    view->depth);
    if (view->premultiplied && d->format == CLI_FORMAT_PNG)
        cli_warning(d->options->output, "premultiplied opacity is written as it is");
}

static bool has_view(const decoding *d)
{
    return d->format < CLI_FORMAT_PGX;
}

/* Everything that can be refused is refused before samples are decoded. */
static bool prepare(decoding *d)
{
    const decode_options *options = d->options;
    uint32_t reduce = (uint32_t)options->reduce;
    d->format = options->format;
    d->written = &d->picture;
    if (options->rgb8) {
        if (!cli_rgb8_create(&d->conversion, &d->picture, options))
            return false;
        d->written = &d->conversion.picture;
        reduce = 0;
    }
    if (has_view(d) && (!cli_view_create(&d->view, d->written, reduce, output_name(options)) ||
                        !cli_format_check(&d->format, &d->view, output_name(options))))
        return false;
    return cli_writer_open(&d->writer, options->output, d->format, d->written, has_view(d) ? &d->view : NULL,
                           &options->write);
}

/* Up to which row of the output the strip goes. */
static uint32_t strip_end(const decoding *d, uint32_t y1)
{
    return d->options->rgb8 ? cli_view_rows_above(&d->conversion.source, y1)
           : has_view(d)    ? cli_view_rows_above(&d->view, y1)
                            : 0;
}

static bool decode_strip(decoding *d, cli_source *source, cli_layout layout, const cli_strips *strip)
{
    const uint32_t end = strip_end(d, strip->y1);
    if (!cli_source_decode_rows(source, &d->picture, layout, strip->y0, strip->y1, strip->reduce))
        return false;
    if (d->options->rgb8 && !cli_rgb8_convert(&d->conversion, strip_end(d, strip->y0), end, output_name(d->options)))
        return false;
    return cli_writer_rows(&d->writer, end);
}

/* Row of tiles by row of tiles, so that no more of the picture is in memory. */
static bool decode_strips(decoding *d, cli_source *source, const l2k_info *info)
{
    const bool planar = d->options->rgb8 || !has_view(d) || !cli_picture_can_interleave(&d->picture);
    const uint64_t least = !cli_writer_takes_rows(d->options->output, d->format, &d->options->write) ? UINT64_MAX
                           : d->options->by_rows                                                     ? 0
                                                 : CLI_STRIP_SAMPLES;
    cli_strips strips;
    cli_strips_begin(&strips, &d->picture, info, (uint32_t)d->options->reduce, least);
    while (cli_strips_next(&strips))
        if (!decode_strip(d, source, planar ? CLI_PLANAR : CLI_INTERLEAVED, &strips))
            return false;
    return true;
}

static bool decode_source(decoding *d, cli_source *source)
{
    l2k_image image;
    l2k_info info;
    l2k_status status = configure(source->decoder, d->options);
    if (status == L2K_OK)
        status = l2k_decoder_info(source->decoder, &info);
    if (status == L2K_OK)
        status = l2k_decoder_image(source->decoder, &image);
    if (status != L2K_OK)
        return cli_messages_fail(&source->messages, status);
    if (!cli_picture_adopt(&d->picture, &image, source->messages.subject) || !prepare(d))
        return false;
    if (!d->options->rgb8 && has_view(d))
        warn_of_changes(d);
    return cli_writer_close(&d->writer, decode_strips(d, source, &info));
}

/* Returns the exit status. */
static int run(const decode_options *options)
{
    cli_source source;
    decoding d = {.options = options};
    char size[80];
    if (!cli_source_open(&source, options->input, options->write.quiet, options->strict))
        return CLI_EXIT_FAILURE;
    bool done = decode_source(&d, &source);
    if (done && !options->write.quiet) {
        cli_picture_text(&d.picture, size, sizeof size);
        cli_note("%s -> %s %s", source.messages.subject, output_name(options), size);
    }
    cli_view_free(&d.view);
    cli_rgb8_free(&d.conversion);
    cli_picture_free(&d.picture);
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
