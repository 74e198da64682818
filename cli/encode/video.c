/* `lift2k encode --vc2`: the frames of a Y4M file into one stream. */
#include <string.h>

#include "cli/commands.h"
#include "cli/run/messages.h"
#include "pictures/user/limits.h"
#include "pictures/user/report.h"
#include "pictures/user/text.h"

static int on_write(void *user, const void *buffer, size_t bytes)
{
    return cli_output_write(user, buffer, bytes) ? 0 : -1;
}

static l2k_status begin(l2k_video_encoder *encoder, const cli_options *options, const cli_reader *film,
                        cli_output *output)
{
    const unsigned words = (unsigned)options->vc2.value, low_delay = words & CLI_VC2_LOW_DELAY;
    const cli_setting settings[L2K_VIDEO_ENCODER_NUM_OPTIONS] = {
        [L2K_VIDEO_ENCODER_PICTURE_BYTES] = options->encoder[L2K_ENCODER_MAX_BYTES],
        [L2K_VIDEO_ENCODER_WAVELET] = {words > low_delay ? __builtin_ctz(words) : 0, true},
        [L2K_VIDEO_ENCODER_LEVELS] = options->encoder[L2K_ENCODER_LEVELS],
        [L2K_VIDEO_ENCODER_SLICE_WIDTH] = options->slice[0],
        [L2K_VIDEO_ENCODER_SLICE_HEIGHT] = options->slice[1],
        [L2K_VIDEO_ENCODER_CPU] = options->cpu};
    l2k_status status = encoder ? L2K_OK : L2K_ERROR_MEMORY;
    for (int i = 0; i < L2K_VIDEO_ENCODER_NUM_OPTIONS && status == L2K_OK; i++)
        if (settings[i].given)
            status = l2k_video_encoder_set(encoder, (l2k_video_encoder_option)i, settings[i].value);
    const l2k_component *k = film->picture.components;
    l2k_video_sequence s = {.profile = low_delay ? 0 : 3, .width = k->width, .height = k->height};
    s.chroma_x = k[1].dx - 1, s.chroma_y = k[1].dy - 1;
    s.depth[0] = s.depth[1] = k->precision;
    memcpy(s.rate, film->rate, sizeof s.rate);
    memcpy(s.aspect, film->aspect, sizeof s.aspect);
    s.interlaced = s.fields = film->scan == 't' || film->scan == 'b';
    s.top_field_first = film->scan == 't';
    return status == L2K_OK ? l2k_video_encoder_begin(encoder, &s, &(l2k_stream){.write = on_write, .user = output})
                            : status;
}

static bool encode(l2k_video_encoder *encoder, const cli_options *options, cli_messages *messages, cli_reader *film,
                   cli_output *output)
{
    const cli_picture *frame = &film->picture;
    bool ended = false;
    if (film->kind != &cli_y4m_reader || frame->image.num_components != 3)
        return cli_error(film->name, "VC-2 is made of a Y4M file with three components");
    if (!cli_memory_allowed(10 * cli_picture_samples(frame), film->name)) /* coefficients and stream included */
        return false;
    l2k_status status = begin(encoder, options, film, output);
    while (status == L2K_OK && !ended) {
        if (!cli_reader_all(film))
            return false;
        status = l2k_video_encoder_encode(encoder, frame->planes);
        if (!cli_y4m_next(film, &ended))
            return false;
    }
    status = status == L2K_OK ? l2k_video_encoder_end(encoder) : status;
    if (output->error)
        return cli_output_fail(output);
    return cli_messages_check(messages, status);
}

int cli_encode_video(const cli_options *options)
{
    cli_messages messages = {0};
    cli_reader film = {0};
    cli_output output = {0};
    char size[CLI_UNITS_ROOM];
    const int64_t wavelets = options->vc2.value & (CLI_VC2_LOW_DELAY - 1);
    if (!cli_video_options(options))
        return CLI_EXIT_USAGE;
    if (options->num_names != 2 || options->out_dir || (wavelets & (wavelets - 1)))
        return cli_error("--vc2", "takes one wavelet, a Y4M file, and an output for all frames"), CLI_EXIT_USAGE;
    cli_messages_init(&messages, options->names[0], options->quiet);
    const l2k_hooks hooks = cli_messages_hooks(&messages);
    l2k_video_encoder *encoder = l2k_video_encoder_new(&hooks);
    const bool done = cli_reader_open(&film, options->names[0], &(cli_read_options){.page = 1}) &&
                      cli_output_open(&output, options->names[1]) &&
                      encode(encoder, options, &messages, &film, &output) && cli_output_commit(&output);
    if (done && !options->quiet)
        cli_report("%s -> %s %s", film.name, output.name, cli_bytes_text(output.bytes, size));
    cli_output_discard(&output);
    l2k_video_encoder_free(encoder);
    cli_reader_close(&film);
    return done ? CLI_EXIT_OK : CLI_EXIT_FAILURE;
}
