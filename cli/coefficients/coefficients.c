/* Gets coefficients from the decoder, of a picture from what the encoder makes of it. */
#include "cli/coefficients/coefficients.h"

#include <stdlib.h>
#include <string.h>

#include "cli/run/batch.h"
#include "cli/run/progress.h"
#include "pictures/user/interrupt.h"
#include "pictures/user/limits.h"
#include "pictures/user/report.h"

/* The part of the progress that coding a picture takes. */
#define PICTURE_CODED 0.5

const char *const cli_orientation_names[4] = {"LL", "HL", "LH", "HH"};

/* ---- Areas --------------------------------------------------------------------------------------------------- */

/* One side of a tile, clipped to the image (B-7 to B-10). */
static void tile_side(uint32_t origin, uint32_t size, uint32_t number, uint32_t *low, uint32_t *high)
{
    uint64_t from = (uint64_t)origin + (uint64_t)number * size, to = from + size;
    *low = from > *low ? (uint32_t)from : *low;
    *high = to < *high ? (uint32_t)to : *high;
}

cli_area cli_component_area(const cli_coefficients *input, uint32_t c)
{
    const l2k_info *info = &input->info;
    const l2k_component *k = &info->image.components[c];
    const uint32_t tile = (uint32_t)input->options->tile_index.value;
    cli_area area = {info->image.x0, info->image.y0, info->image.x1, info->image.y1};
    if (input->options->tile_index.given) {
        tile_side(info->tile_x0, info->tile_width, tile % info->tiles_across, &area.x0, &area.x1);
        tile_side(info->tile_y0, info->tile_height, tile / info->tiles_across, &area.y0, &area.y1);
    }
    return (cli_area){cli_ceil_div(area.x0, k->dx), cli_ceil_div(area.y0, k->dy), cli_ceil_div(area.x1, k->dx),
                      cli_ceil_div(area.y1, k->dy)};
}

/* ---- Pictures ------------------------------------------------------------------------------------------------ */

/* All that the transform makes of a picture: the 9/7's indices differ in HT code-blocks, which are faster. */
static l2k_status configure_encoder(l2k_encoder *encoder, const cli_options *options)
{
    const bool reversible = !options->encoder[L2K_ENCODER_WAVELET].given;
    cli_setting settings[L2K_ENCODER_NUM_OPTIONS];
    memcpy(settings, options->encoder, sizeof settings);
    settings[L2K_ENCODER_FORMAT] = (cli_setting){L2K_FORMAT_CODESTREAM, true};
    settings[L2K_ENCODER_STYLE] = (cli_setting){reversible ? L2K_STYLE_HT : 0, true};
    settings[L2K_ENCODER_BACKEND] = (cli_setting){L2K_BACKEND_CPU, true};
    settings[L2K_ENCODER_THREADS] = options->threads;
    settings[L2K_ENCODER_CPU] = options->cpu;
    settings[L2K_ENCODER_LIMIT_MEMORY] = (cli_setting){(int64_t)cli_memory_left(0), true};
    return cli_set_encoder(encoder, settings);
}

/* Codes the picture in memory, in place of its samples; false after a report. */
static bool code_picture(cli_coefficients *input)
{
    cli_messages *messages = &input->file.coded.messages;
    cli_picture *picture = &input->file.picture;
    const l2k_hooks hooks = cli_messages_hooks(messages);
    l2k_encoder *encoder = l2k_encoder_new(&hooks);
    const uint8_t *bytes;
    size_t count;
    l2k_status status = encoder ? configure_encoder(encoder, input->options) : L2K_ERROR_MEMORY;
    cli_interrupt_wait(true);
    if (status == L2K_OK)
        status = l2k_encoder_encode_memory(encoder, &picture->image, picture->planes, &bytes, &count);
    cli_interrupt_wait(false);
    cli_picture_free(picture);
    cli_memory_let_go(input->held);
    input->held = status == L2K_OK ? count : 0;
    cli_memory_hold(input->held);
    input->bytes = status == L2K_OK ? malloc(count) : NULL;
    if (input->bytes)
        memcpy(input->bytes, bytes, count);
    else if (status == L2K_OK)
        status = L2K_ERROR_MEMORY;
    l2k_encoder_free(encoder);
    return cli_messages_check(messages, status);
}

static bool open_picture(cli_coefficients *input)
{
    const cli_options *options = input->options;
    const char *name = input->file.name;
    cli_coded_file *file = &input->file.coded;
    if (options->coded_option)
        return cli_error(name, "--%s is for JPEG 2000 files; this is a picture", options->coded_option);
    cli_progress_span(0, PICTURE_CODED);
    if (!cli_picture_place(&input->file.picture, (uint32_t)options->origin[0].value, (uint32_t)options->origin[1].value,
                           name) ||
        !cli_coded_create(file, name, options->quiet, false) || !code_picture(input))
        return false;
    const cli_setting limits[L2K_DECODER_NUM_OPTIONS] = {
        [L2K_DECODER_LIMIT_SAMPLES] = {(int64_t)CLI_MAX_SAMPLES, true},
        [L2K_DECODER_LIMIT_MEMORY] = {(int64_t)cli_memory_left(0), true}};
    return cli_messages_check(&file->messages, cli_set_decoder(file->decoder, limits)) &&
           cli_messages_check(&file->messages, l2k_decoder_open_memory(file->decoder, input->bytes, input->held));
}

/* ---- The file ------------------------------------------------------------------------------------------------ */

static bool check_choice(const cli_coefficients *input)
{
    const cli_setting index = input->options->tile_index;
    uint64_t tiles = (uint64_t)input->info.tiles_across * input->info.tiles_down;
    if (input->component >= input->info.image.num_components)
        return cli_error("--component", "%s has no component %u, only 0 to %u", input->file.name,
                         (unsigned)input->component, (unsigned)input->info.image.num_components - 1);
    if (index.given && (uint64_t)index.value >= tiles)
        return cli_error("--tile-index", "%s has no tile %u, only 0 to %llu", input->file.name, (unsigned)index.value,
                         (unsigned long long)tiles - 1);
    if (tiles > UINT32_MAX)
        return cli_error(input->file.name, "%llu tiles are too many", (unsigned long long)tiles);
    return true;
}

bool cli_coefficients_begin(cli_coefficients *input, const cli_options *options)
{
    *input = (cli_coefficients){.options = options,
                                .reduce = (uint32_t)options->reduce.value,
                                .component = cli_setting_or(options->component, -1)};
    return cli_two_names(options, &input->file.name, &input->output);
}

bool cli_coefficients_open(cli_coefficients *input)
{
    if (!cli_any_file_open(&input->file, input->options->names[0], input->options->quiet))
        return false;
    if (input->file.is_jpeg2000 && input->options->picture_option)
        return cli_error(input->file.name, "--%s is for pictures; this is JPEG 2000 and already transformed",
                         input->options->picture_option);
    input->held = cli_picture_bytes(&input->file.picture);
    cli_memory_hold(input->held);
    if (!input->file.is_jpeg2000 && !open_picture(input))
        return false;
    return cli_messages_check(&input->file.coded.messages, l2k_decoder_info(input->file.coded.decoder, &input->info)) &&
           check_choice(input);
}

void cli_coefficients_close(cli_coefficients *input)
{
    cli_any_file_close(&input->file);
    free(input->bytes);
    input->bytes = NULL;
    cli_memory_let_go(input->held);
    input->held = 0;
}

static l2k_status on_coefficients(void *user, const l2k_tile_coefficients *coefficients)
{
    cli_coefficients *input = user;
    input->num_given++;
    input->refused = !input->sink(input->user, coefficients);
    return input->refused ? L2K_ERROR_IO : L2K_OK;
}

bool cli_coefficients_each(cli_coefficients *input, cli_coefficient_sink *sink, void *user)
{
    const cli_options *options = input->options;
    cli_coded_file *file = &input->file.coded;
    const cli_setting settings[L2K_DECODER_NUM_OPTIONS] = {[L2K_DECODER_REDUCE] = {input->reduce, true},
                                                           [L2K_DECODER_LAYERS] = options->layers,
                                                           [L2K_DECODER_COMPONENT] = {input->component, true},
                                                           [L2K_DECODER_THREADS] = options->threads,
                                                           [L2K_DECODER_CPU] = options->cpu};
    const cli_setting only = options->tile_index;
    const uint32_t first = only.given ? (uint32_t)only.value : 0;
    const uint32_t end = only.given ? first + 1 : input->info.tiles_across * input->info.tiles_down;
    const double begin = input->bytes ? PICTURE_CODED : 0, each = (1 - begin) / (end - first);
    input->sink = sink;
    input->user = user;
    if (!cli_messages_check(&file->messages, cli_set_decoder(file->decoder, settings)))
        return false;
    for (uint32_t tile = first; tile < end; tile++) {
        cli_progress_span(begin + each * (tile - first), begin + each * (tile + 1 - first));
        if (!cli_coded_limit_memory(file, 0))
            return false;
        cli_interrupt_wait(true);
        const l2k_status status = l2k_decoder_coefficients(file->decoder, tile, on_coefficients, input);
        cli_interrupt_wait(false);
        if (input->refused || !cli_coded_is_done(file, status))
            return false;
    }
    return input->num_given || cli_error(input->file.name, "the file ends before the first coefficient");
}
