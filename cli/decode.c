#include <string.h>

#include "cli/commands.h"
#include "cli/formats.h"
#include "cli/options.h"
#include "cli/report.h"
#include "cli/source.h"

#define MAX_THREADS 1024u

enum {
    OPTION_REDUCE = CLI_LONG_ONLY,
    OPTION_LAYERS,
    OPTION_REGION,
    OPTION_COMPONENT,
    OPTION_BACKEND,
    OPTION_GPU_MIN_SAMPLES,
    OPTION_QUIET
};

static const char letters[] = ":j:h";

static const struct option table[] = {{"reduce", required_argument, NULL, OPTION_REDUCE},
                                      {"layers", required_argument, NULL, OPTION_LAYERS},
                                      {"region", required_argument, NULL, OPTION_REGION},
                                      {"component", required_argument, NULL, OPTION_COMPONENT},
                                      {"threads", required_argument, NULL, 'j'},
                                      {"backend", required_argument, NULL, OPTION_BACKEND},
                                      {"gpu-min-samples", required_argument, NULL, OPTION_GPU_MIN_SAMPLES},
                                      {"quiet", no_argument, NULL, OPTION_QUIET},
                                      {"help", no_argument, NULL, 'h'},
                                      {NULL, 0, NULL, 0}};

typedef struct decode_options {
    const char *input, *output;
    cli_format format;
    int64_t reduce, layers, component, threads, backend;
    int64_t gpu_min_samples; /* -1: the library's own */
    uint32_t region[4];      /* X0, Y0, X1, Y1 */
    bool has_region, quiet, help;
} decode_options;

static bool parse_region(decode_options *options, const char *name, const char *text)
{
    uint32_t *r = options->region;
    if (!cli_parse_numbers(name, text, "X0,Y0,X1,Y1", r, 4))
        return false;
    if (r[0] >= r[2] || r[1] >= r[3])
        return cli_bad_value(name, text, "the region is empty: X0 must be less than X1 and Y0 less than Y1");
    return options->has_region = true;
}

static bool take_option(decode_options *options, int kind)
{
    const char *name = cli_option_name(table, kind), *text = optarg;
    switch (kind) {
    case OPTION_REDUCE:
        return cli_parse_number(name, text, 0, L2K_MAX_LEVELS, &options->reduce);
    case OPTION_LAYERS:
        return cli_parse_number(name, text, 0, 65535, &options->layers);
    case OPTION_REGION:
        return parse_region(options, name, text);
    case OPTION_COMPONENT:
        return cli_parse_number(name, text, 0, L2K_MAX_COMPONENTS - 1, &options->component);
    case 'j':
        return cli_parse_number(name, text, 0, MAX_THREADS, &options->threads);
    case OPTION_BACKEND:
        return cli_parse_name(name, text, cli_backend_names, &options->backend);
    case OPTION_GPU_MIN_SAMPLES:
        return cli_parse_number(name, text, 0, UINT32_MAX, &options->gpu_min_samples);
    case OPTION_QUIET:
        return options->quiet = true;
    case 'h':
        return options->help = true;
    default:
        return false;
    }
}

static bool parse(decode_options *options, int count, char **arguments)
{
    int kind;
    memset(options, 0, sizeof *options);
    options->component = -1;
    options->gpu_min_samples = -1;
    while ((kind = cli_next_option(count, arguments, letters, table, "decode")) != -1)
        if (!take_option(options, kind))
            return false;
    if (options->help)
        return true;
    return cli_two_names(count, arguments, "decode", &options->input, &options->output) &&
           cli_format_of_name(options->output, &options->format);
}

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

static bool decode_samples(cli_source *source, cli_picture *picture, cli_layout layout)
{
    if (!cli_picture_allocate(picture, layout, source->messages.subject))
        return false;
    l2k_status status = l2k_decoder_decode(source->decoder, picture->planes);
    return status == L2K_OK || cli_messages_fail(&source->messages, status);
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
    const char *target = strcmp(options->output, "-") == 0 ? "standard output" : options->output;
    cli_layout layout = cli_picture_can_interleave(picture) ? CLI_INTERLEAVED : CLI_PLANAR;
    if (!cli_view_create(&view, picture, (uint32_t)options->reduce, target))
        return false;
    bool done = cli_format_check(&format, &view, target) && decode_samples(source, picture, layout);
    if (done) {
        warn_of_changes(&view, options);
        done = write_view(&view, format, options);
    }
    cli_view_free(&view);
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
    if (options->format == CLI_FORMAT_PGX)
        return decode_samples(source, picture, CLI_PLANAR) && cli_pgx_write(options->output, picture);
    return decode_to_view(source, picture, options);
}

static bool run(const decode_options *options)
{
    cli_source source;
    cli_picture picture = {0};
    char size[80];
    if (!cli_source_open(&source, options->input, options->quiet))
        return false;
    bool done = decode_source(&source, &picture, options);
    if (done && !options->quiet) {
        cli_picture_text(&picture, size, sizeof size);
        cli_note("%s -> %s %s", source.messages.subject,
                 strcmp(options->output, "-") == 0 ? "standard output" : options->output, size);
    }
    cli_picture_free(&picture);
    cli_source_close(&source);
    return done;
}

int cli_decode(int count, char **arguments)
{
    decode_options options;
    if (!parse(&options, count, arguments))
        return CLI_EXIT_USAGE;
    if (options.help)
        return cli_print_help(cli_help_decode);
    return run(&options) ? CLI_EXIT_OK : CLI_EXIT_FAILURE;
}
