/* From the options of `lift2k encode` to those of the library's encoder. */
#include "cli/encode/encode.h"

#include "pictures/user/report.h"

/* B.3: tile 0 must contain a part of the image, that is XTOsiz <= XOsiz < XTOsiz + XTsiz, and the same for y. */
static bool check_grid(const cli_options *options)
{
    const cli_setting *s = options->encoder;
    const int64_t x = s[L2K_ENCODER_TILE_X0].value, y = s[L2K_ENCODER_TILE_Y0].value;
    const cli_setting width = s[L2K_ENCODER_TILE_WIDTH], height = s[L2K_ENCODER_TILE_HEIGHT];
    if (x > options->x0 || y > options->y0)
        return cli_error("--tile-origin", "%lld,%lld is beyond the image's --origin %u,%u", (long long)x, (long long)y,
                         options->x0, options->y0);
    if (width.given && (x + width.value <= options->x0 || y + height.value <= options->y0))
        return cli_error("--tile", "the first tile of %lld,%lld ends before the image's --origin %u,%u",
                         (long long)width.value, (long long)height.value, options->x0, options->y0);
    return true;
}

/* All outputs have the extension of the first. */
static bool choose_format(const char *output, l2k_format *format)
{
    const char *extension = cli_extension(output);
    *format = L2K_FORMAT_JP2;
    if (cli_is_stream(output) || cli_same_text(extension, ".jp2"))
        return true;
    *format = L2K_FORMAT_CODESTREAM;
    return cli_same_text(extension, ".j2k") || cli_same_text(extension, ".j2c") || cli_same_text(extension, ".jpc") ||
           cli_error(output, "unknown output format; known are .jp2 .j2k .j2c .jpc");
}

bool cli_encode_check(const cli_options *options, const cli_tasks *tasks, l2k_format *format)
{
    const char *output = tasks->items[0].output;
    if (!check_grid(options) || !choose_format(output, format))
        return false;
    return !options->verify || !cli_is_stream(output) ||
           cli_error("--verify", "the output must be a file, which can be read again");
}

l2k_status cli_encode_configure(l2k_encoder *encoder, const cli_options *options, l2k_format format)
{
    const struct {
        l2k_encoder_option option;
        cli_setting setting;
    } common[] = {{L2K_ENCODER_FORMAT, {format, true}},
                  {L2K_ENCODER_THREADS, options->threads},
                  {L2K_ENCODER_BACKEND, options->backend},
                  {L2K_ENCODER_CPU, options->cpu},
                  {L2K_ENCODER_GPU_MIN_SAMPLES, options->gpu_min_samples},
                  {L2K_ENCODER_TIMINGS, {options->timings, true}}};
    l2k_status status = L2K_OK;
    for (size_t i = 0; status == L2K_OK && i < sizeof common / sizeof common[0]; i++)
        if (common[i].setting.given)
            status = l2k_encoder_set(encoder, common[i].option, common[i].setting.value);
    for (int option = 0; status == L2K_OK && option < (int)L2K_ENCODER_NUM_OPTIONS; option++)
        if (options->encoder[option].given)
            status = l2k_encoder_set(encoder, (l2k_encoder_option)option, options->encoder[option].value);
    if (status == L2K_OK && options->num_precincts)
        status = l2k_encoder_set_precincts(encoder, options->precincts, options->num_precincts);
    if (status == L2K_OK && options->num_layer_targets)
        status = l2k_encoder_set_layers(encoder, options->target, options->layer_targets, options->num_layer_targets);
    return status;
}

bool cli_encode_is_lossless(const cli_options *options)
{
    const double last = options->num_layer_targets ? options->layer_targets[options->num_layer_targets - 1] : 0;
    return cli_setting_or(options->encoder[L2K_ENCODER_WAVELET], L2K_WAVELET_5_3) == L2K_WAVELET_5_3 &&
           last <= (options->target == L2K_TARGET_RATIO ? 1 : 0);
}
