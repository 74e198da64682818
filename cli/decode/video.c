/* `lift2k decode` and `lift2k info` of Dirac and VC-2: all frames into one film, or each into a picture of a folder. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/commands.h"
#include "cli/run/json.h"
#include "cli/run/messages.h"
#include "cli/run/tasks.h"
#include "pictures/user/limits.h"
#include "pictures/user/report.h"

typedef struct video {
    cli_input input;
    cli_messages messages;
    l2k_video_decoder *decoder;
    const l2k_video_frame *frame; /* NULL at the end */
    bool incomplete;              /* a frame was damaged, as was reported */
} video;

bool cli_is_video(const cli_options *options)
{
    char start[4] = "";
    const char *path = options->num_names > 0 ? options->names[0] : "-";
    const bool can_be = options->command == CLI_DECODE || options->command == CLI_INFO;
    FILE *file = can_be && strcmp(path, "-") != 0 && cli_becomes_file(path) ? fopen(path, "rb") : NULL;
    const bool is_video = file && fread(start, 1, 4, file) == 4 && memcmp(start, "BBCD", 4) == 0;
    if (file)
        fclose(file);
    return is_video;
}

static bool next_frame(video *v)
{
    uint8_t bytes[1 << 15];
    l2k_status status;
    while ((status = l2k_video_decoder_pull(v->decoder, &v->frame)) == L2K_OK && !v->frame) {
        const size_t count = cli_input_read(&v->input, bytes, sizeof bytes);
        if (count == 0 && v->input.error)
            return cli_input_ended(&v->input);
        status = l2k_video_decoder_push(v->decoder, bytes, count);
        if (status == L2K_ERROR_STATE)
            return true;
        if (status != L2K_OK)
            return cli_messages_check(&v->messages, status);
    }
    if (status == L2K_INCOMPLETE && !v->incomplete && !v->messages.quiet)
        cli_warning(v->messages.subject, "frame %u is incomplete. %s", v->frame->number, v->messages.first_error);
    v->incomplete = v->incomplete || status == L2K_INCOMPLETE;
    if (!v->frame)
        return cli_messages_check(&v->messages, status);
    return cli_pixels_allowed(v->frame->sequence.width, v->frame->sequence.height, v->messages.subject);
}

/* Samples stay the decoder's. */
static bool write_frame(const l2k_video_frame *frame, const char *path, cli_format format, const cli_write_options *how)
{
    cli_picture picture = {0};
    bool done = cli_picture_adopt(&picture, &frame->image, path);
    for (uint32_t c = 0; done && c < frame->image.num_components; c++) {
        picture.planes[c] = frame->planes[c];
        picture.rows[c] = (cli_rows){0, frame->image.components[c].height};
    }
    done = done && cli_write_picture(path, format, &picture, how);
    cli_picture_free(&picture);
    return done;
}

/* To "FOLDER/000012.png" and so on, or, where there is no folder, to the film of `how`. */
static bool write_frames(video *v, const char *folder, const char *extension, cli_format format, cli_write_options *how)
{
    char name[64], *path = NULL;
    bool done = next_frame(v);
    if (done && v->frame && !how->fps[0] && v->frame->sequence.rate[0] && v->frame->sequence.rate[1])
        memcpy(how->fps, v->frame->sequence.rate, sizeof how->fps);
    for (; done && v->frame; done = done && next_frame(v)) {
        snprintf(name, sizeof name, "%06u%.32s", v->frame->number, extension);
        done = (!folder || (path = cli_join(folder, name))) && write_frame(v->frame, path ? path : name, format, how);
        free(path);
    }
    return done;
}

bool cli_video_options(const cli_options *options)
{
    return !options->still_option || cli_error(options->names[0], "--%s is not for video", options->still_option);
}

static int decode(const cli_options *options, video *v)
{
    const char *out = options->out_dir ? options->out_dir : options->names[options->num_names - 1];
    const char *folder = options->out_dir || cli_is_folder(out) ? out : NULL;
    char extension[40];
    cli_film film = {0};
    cli_write_options how = options->write;
    cli_format format = !folder && cli_is_stream(out) ? CLI_FORMAT_Y4M : CLI_FORMAT_RAW;
    snprintf(extension, sizeof extension, ".%.32s", options->extension ? options->extension : "png");
    how.png_level = (int)cli_setting_or(options->png_level, CLI_PNG_LEVEL);
    how.film = folder ? NULL : &film;
    if (options->num_names == (options->out_dir ? 1 : 2) && format == CLI_FORMAT_RAW &&
        (folder || !cli_same_text(cli_extension(out), ".yuv")) &&
        !cli_format_of_name(folder ? extension : out, &format))
        return CLI_EXIT_USAGE;
    if (options->num_names != (options->out_dir ? 1 : 2) || (!folder && format < CLI_FORMAT_RAW))
        return cli_error(out, "the frames of one video go into a .y4m or .yuv file, or into a folder"), CLI_EXIT_USAGE;
    if (folder && mkdir(folder, 0777) != 0 && errno != EEXIST)
        return cli_error(folder, "%s", strerror(errno)), CLI_EXIT_FAILURE;
    bool done = (folder || cli_output_open(&film.output, out)) && write_frames(v, folder, extension, format, &how);
    if (!folder && !done)
        cli_output_discard(&film.output);
    done = done && (folder || cli_output_commit(&film.output));
    if (done && !options->quiet)
        cli_report("%s -> %s", v->messages.subject, cli_output_name(out));
    return done ? CLI_EXIT_OK : CLI_EXIT_FAILURE;
}

/* What the first frame tells. */
static int print_info(video *v, bool as_json)
{
    static const char *const chroma[] = {"4:4:4", "4:2:2", "4:2:0"};
    if (!next_frame(v) || !v->frame)
        return CLI_EXIT_FAILURE;
    const l2k_video_sequence *s = &v->frame->sequence;
    cli_json json = {.file = stdout, .text = !as_json};
    cli_json_put(&json, "{ file %s format %s version %u profile %u level %u", v->messages.subject,
                 s->profile < 4 ? "VC-2" : "Dirac", s->version, s->profile, s->level);
    cli_json_put(
        &json, "frames { width %u height %u chroma %s bits %u chroma_bits %u interlaced %d coded_as_fields %d }",
        s->width, s->height, chroma[s->chroma_x + s->chroma_y], s->depth[0], s->depth[1], s->interlaced, s->fields);
    cli_json_put(&json, "frame_rate { frames %u seconds %u } sample_aspect { width %u height %u } }", s->rate[0],
                 s->rate[1], s->aspect[0], s->aspect[1]);
    return cli_finish_output();
}

static bool set_up(l2k_video_decoder *decoder, const cli_options *options)
{
    const uint64_t memory = cli_memory_left(0), pixels = cli_allowed.pixels, most = CLI_MAX_SAMPLES;
    const cli_setting settings[L2K_VIDEO_NUM_OPTIONS] = {
        [L2K_VIDEO_BACKEND] = {cli_setting_or(options->backend, L2K_BACKEND_CPU), true},
        [L2K_VIDEO_CPU] = options->cpu,
        [L2K_VIDEO_LIMIT_MEMORY] = {(int64_t)memory, memory != CLI_NO_LIMIT},
        [L2K_VIDEO_LIMIT_SAMPLES] = {(int64_t)(pixels < most / 3 ? 3 * pixels : most), pixels != CLI_NO_LIMIT}};
    bool done = decoder;
    for (int i = 0; done && i < L2K_VIDEO_NUM_OPTIONS; i++)
        done = !settings[i].given || l2k_video_decoder_set(decoder, (l2k_video_option)i, settings[i].value) == L2K_OK;
    return done;
}

int cli_video(const cli_options *options)
{
    video v = {0};
    int status = CLI_EXIT_FAILURE;
    if (!cli_video_options(options))
        return CLI_EXIT_USAGE;
    if (options->command == CLI_INFO && options->num_names > 1)
        return cli_error(options->names[0], "a video is described alone"), CLI_EXIT_USAGE;
    cli_messages_init(&v.messages, options->names[0], options->quiet);
    const l2k_hooks hooks = cli_messages_hooks(&v.messages);
    if (!cli_input_open(&v.input, options->names[0]))
        return status;
    v.decoder = l2k_video_decoder_new(&hooks);
    if (set_up(v.decoder, options))
        status = options->command == CLI_INFO ? print_info(&v, options->json) : decode(options, &v);
    else
        cli_messages_check(&v.messages, L2K_ERROR_BACKEND);
    l2k_video_decoder_free(v.decoder);
    cli_input_close(&v.input);
    return status == CLI_EXIT_OK && v.incomplete ? CLI_EXIT_INCOMPLETE : status;
}
