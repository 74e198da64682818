/* Translates the options of `lift2k encode` to those of the library's encoder. */
#include "cli/encode/encode.h"

#include <string.h>

#include "pictures/user/report.h"

/* All outputs have the extension of the first. Boxes around HT code-blocks are a JPH file. */
bool cli_encode_format(const char *output, bool ht, l2k_format *format)
{
    static const struct {
        const char *extension;
        l2k_format format;
        bool only_mq, only_ht;
    } known[] = {{".jp2", L2K_FORMAT_JP2, true, false},         {".jph", L2K_FORMAT_JP2, false, true},
                 {".j2k", L2K_FORMAT_CODESTREAM, false, false}, {".j2c", L2K_FORMAT_CODESTREAM, false, false},
                 {".jpc", L2K_FORMAT_CODESTREAM, false, false}, {".jhc", L2K_FORMAT_CODESTREAM, false, true}};
    *format = L2K_FORMAT_JP2;
    for (size_t i = 0; !cli_is_stream(output) && i <= sizeof known / sizeof known[0]; i++) {
        if (i == sizeof known / sizeof known[0])
            return cli_error(output, "unknown output format; known are .jp2 .jph .j2k .j2c .jpc .jhc");
        if (!cli_same_text(cli_extension(output), known[i].extension))
            continue;
        if (known[i].only_mq && ht)
            return cli_error(output, "a JP2 file has no HT code-blocks: --ht writes .jph, or .j2c, .j2k, .jpc, .jhc");
        if (known[i].only_ht && !ht)
            return cli_error(output, "%s is for HT code-blocks: it needs --ht", known[i].extension);
        *format = known[i].format;
        break;
    }
    return true;
}

static bool check_kernel(const cli_options *options)
{
    const cli_setting wavelet = options->encoder[L2K_ENCODER_WAVELET];
    if (options->has_kernel && wavelet.given && wavelet.value == L2K_WAVELET_9_7)
        return cli_error("--kernel", "takes the place of the 9/7: not with --irreversible");
    return true;
}

bool cli_encode_check(const cli_options *options, const cli_tasks *tasks, l2k_format *format)
{
    const char *output = tasks->items[0].output;
    if (!check_kernel(options) || !cli_encode_format(output, options->ht, format))
        return false;
    if (*format == L2K_FORMAT_CODESTREAM && (options->num_boxes || options->palette))
        return cli_error(output, "a bare codestream has no boxes: --%s needs a .jp2 or .jph file",
                         options->palette ? "palette" : options->boxes[0].name);
    if (options->palette && options->has_raw)
        return cli_error("--palette", "raw samples have none");
    if (options->palette && !cli_encode_is_lossless(options))
        return cli_error("--palette", "indices that change are other colours: only for lossless files");
    return !options->verify || !cli_is_stream(output) ||
           cli_error("--verify", "the output must be a file, which can be read again");
}

bool cli_encode_configure(l2k_encoder *encoder, cli_messages *messages, const cli_batch *batch, cli_coder *coder,
                          l2k_format format)
{
    const cli_options *options = batch->options;
    const cli_share *share = &batch->share;
    const cli_place place = cli_place_of(share, coder);
    cli_setting settings[L2K_ENCODER_NUM_OPTIONS];
    memcpy(settings, options->encoder, sizeof settings);
    settings[L2K_ENCODER_FORMAT] = (cli_setting){format, true};
    settings[L2K_ENCODER_BACKEND] = place.backend;
    settings[L2K_ENCODER_DEVICE] = place.device;
    settings[L2K_ENCODER_DEVICES] = place.devices;
    settings[L2K_ENCODER_CPU] = options->cpu;
    settings[L2K_ENCODER_IN_FLIGHT] = (cli_setting){share->coders, true};
    settings[L2K_ENCODER_GPU_MIN_SAMPLES] = share->gpu_min_samples;
    settings[L2K_ENCODER_TIMINGS] = (cli_setting){options->timings, true};
    if (options->ht)
        settings[L2K_ENCODER_STYLE] =
            (cli_setting){cli_setting_or(options->encoder[L2K_ENCODER_STYLE], 0) | L2K_STYLE_HT, true};
    l2k_status status = cli_set_encoder(encoder, settings);
    if (status == L2K_OK && options->kernel)
        status = l2k_encoder_set_kernel(encoder, options->kernel);
    if (status == L2K_OK && options->splits)
        status = l2k_encoder_set_splits(encoder, options->splits);
    if (status == L2K_OK)
        status = l2k_encoder_set_step(encoder, options->base_step);
    if (status == L2K_OK && options->num_precincts)
        status = l2k_encoder_set_precincts(encoder, options->precincts, options->num_precincts);
    if (status == L2K_OK)
        status = l2k_encoder_set_poc(encoder, options->poc, options->num_poc);
    if (status == L2K_OK)
        status = l2k_encoder_set_comment(encoder, options->comment);
    if (status == L2K_OK && options->num_layer_targets)
        status = l2k_encoder_set_layers(encoder, options->target, options->layer_targets, options->num_layer_targets);
    if (status == L2K_OK && options->profile.given)
        status = l2k_encoder_set_profile(encoder, (uint32_t)options->profile.value, options->frames_per_second);
    messages->failed = place.failed;
    return cli_messages_check(messages, status);
}

bool cli_encode_is_lossless(const cli_options *options)
{
    const double last = options->num_layer_targets ? options->layer_targets[options->num_layer_targets - 1] : 0;
    const int64_t wavelet = cli_setting_or(options->encoder[L2K_ENCODER_WAVELET], L2K_WAVELET_5_3);
    /* A profile may choose the 9/7, or set limits. */
    const bool may_cut = options->profile.given || options->encoder[L2K_ENCODER_MAX_BYTES].given ||
                         options->encoder[L2K_ENCODER_COMPONENT_BYTES].given;
    return !may_cut && !options->kernel && l2k_wavelet_reversible((l2k_wavelet)wavelet) &&
           cli_setting_or(options->encoder[L2K_ENCODER_HT_PASSES], 1) == 1 &&
           last <= (options->target == L2K_TARGET_RATIO ? 1 : 0);
}
