/* Gets coefficients from the decoder, or from the transform stage on the samples of a picture. */
#include "cli/coefficients/coefficients.h"

#include <stdlib.h>
#include <string.h>

#include "cli/run/progress.h"
#include "pictures/user/interrupt.h"
#include "pictures/user/limits.h"
#include "pictures/user/report.h"

#define DEFAULT_LEVELS 5

const char *const cli_orientation_names[4] = {"LL", "HL", "LH", "HH"};

/* ---- Areas --------------------------------------------------------------------------------------------------- */

/* One side of a tile, clipped to the image (B-7 to B-10). */
static void tile_side(uint32_t origin, uint32_t size, uint32_t number, uint32_t *low, uint32_t *high)
{
    uint64_t from = (uint64_t)origin + (uint64_t)number * size, to = from + size;
    *low = from > *low ? (uint32_t)from : *low;
    *high = to < *high ? (uint32_t)to : *high;
}

static cli_area image_area(const l2k_image *image)
{
    return (cli_area){image->x0, image->y0, image->x1, image->y1};
}

static cli_area tile_area(const cli_coefficients *input, uint32_t index)
{
    cli_area area = image_area(&input->info.image);
    tile_side(input->info.tile_x0, input->info.tile_width, index % input->info.tiles_across, &area.x0, &area.x1);
    tile_side(input->info.tile_y0, input->info.tile_height, index / input->info.tiles_across, &area.y0, &area.y1);
    return area;
}

cli_area cli_wanted_area(const cli_coefficients *input)
{
    const cli_setting tile = input->options->tile_index;
    return tile.given ? tile_area(input, (uint32_t)tile.value) : image_area(&input->info.image);
}

cli_area cli_component_area(const cli_coefficients *input, cli_area area, uint32_t c)
{
    const l2k_component *k = &input->info.image.components[c];
    return (cli_area){cli_ceil_div(area.x0, k->dx), cli_ceil_div(area.y0, k->dy), cli_ceil_div(area.x1, k->dx),
                      cli_ceil_div(area.y1, k->dy)};
}

/* ---- JPEG 2000 ----------------------------------------------------------------------------------------------- */

static l2k_status configure_decoder(l2k_decoder *decoder, const cli_coefficients *input)
{
    const int64_t settings[][2] = {{L2K_DECODER_REDUCE, input->reduce},
                                   {L2K_DECODER_LAYERS, input->options->layers.value},
                                   {L2K_DECODER_COMPONENT, input->component},
                                   {L2K_DECODER_THREADS, input->options->threads.value},
                                   {L2K_DECODER_CPU, input->options->cpu.value}};
    l2k_status status = L2K_OK;
    for (size_t i = 0; status == L2K_OK && i < sizeof settings / sizeof *settings; i++)
        status = l2k_decoder_set(decoder, (l2k_decoder_option)settings[i][0], settings[i][1]);
    return status;
}

static bool describe_codestream(cli_coefficients *input)
{
    cli_coded_file *file = &input->file.coded;
    l2k_status status = l2k_decoder_info(file->decoder, &input->info);
    if (status != L2K_OK)
        return cli_messages_fail(&file->messages, status);
    if (input->options->picture_option)
        return cli_error(input->file.name, "--%s is for pictures; this is JPEG 2000 and already transformed",
                         input->options->picture_option);
    return true;
}

typedef struct sink_call {
    cli_coefficients *input;
    cli_coefficient_sink *sink;
    void *user;
    bool refused;
} sink_call;

static l2k_status on_coefficients(void *user, const l2k_tile_coefficients *coefficients)
{
    sink_call *call = user;
    call->input->num_given++;
    call->refused = !call->sink(call->user, coefficients);
    return call->refused ? L2K_ERROR_IO : L2K_OK;
}

static bool decode_tile(cli_coefficients *input, uint32_t tile, cli_coefficient_sink *sink, void *user)
{
    sink_call call = {input, sink, user, false};
    cli_coded_file *file = &input->file.coded;
    l2k_status status = configure_decoder(file->decoder, input);
    if (status == L2K_OK)
        status = cli_coded_limit_memory(file, 0);
    cli_interrupt_wait(true);
    if (status == L2K_OK)
        status = l2k_decoder_coefficients(file->decoder, tile, on_coefficients, &call);
    cli_interrupt_wait(false);
    return !call.refused && cli_coded_is_done(file, status);
}

/* ---- Pictures ------------------------------------------------------------------------------------------------ */

static l2k_status configure_transform(const cli_coefficients *input)
{
    const int64_t settings[][2] = {{L2K_TRANSFORM_WAVELET, input->info.wavelet},
                                   {L2K_TRANSFORM_LEVELS, input->info.levels},
                                   {L2K_TRANSFORM_COMPONENT_TRANSFORM, input->info.component_transform},
                                   {L2K_TRANSFORM_THREADS, input->options->threads.value},
                                   {L2K_TRANSFORM_CPU, input->options->cpu.value}};
    l2k_status status = L2K_OK;
    for (size_t i = 0; status == L2K_OK && i < sizeof settings / sizeof *settings; i++)
        status = l2k_transform_set(input->transform, (l2k_transform_option)settings[i][0], settings[i][1]);
    return status;
}

static bool make_transform(cli_coefficients *input)
{
    cli_messages_init(&input->messages, input->file.name, input->options->quiet);
    l2k_hooks hooks = cli_messages_hooks(&input->messages);
    input->transform = l2k_transform_new(&hooks);
    if (!input->transform)
        return cli_error(input->file.name, "out of memory");
    l2k_status status = configure_transform(input);
    return status == L2K_OK || cli_messages_fail(&input->messages, status);
}

static bool describe_picture(cli_coefficients *input)
{
    const cli_options *options = input->options;
    const cli_setting *encoder = options->encoder;
    cli_picture *picture = &input->file.picture;
    input->info.levels = (uint32_t)cli_setting_or(encoder[L2K_ENCODER_LEVELS], DEFAULT_LEVELS);
    if (options->coded_option)
        return cli_error(input->file.name, "--%s is for JPEG 2000 files; this is a picture", options->coded_option);
    if (input->reduce > input->info.levels)
        return cli_error("--reduce", "%u resolutions cannot be left out of %u decomposition levels", input->reduce,
                         input->info.levels);
    if (!cli_picture_place(picture, (uint32_t)options->origin[0].value, (uint32_t)options->origin[1].value,
                           input->file.name))
        return false;
    input->info.image = picture->image;
    input->info.tile_width = (uint32_t)cli_setting_or(encoder[L2K_ENCODER_TILE_WIDTH], input->info.image.x1);
    input->info.tile_height = (uint32_t)cli_setting_or(encoder[L2K_ENCODER_TILE_HEIGHT], input->info.image.y1);
    input->info.tiles_across = cli_ceil_div(input->info.image.x1, input->info.tile_width);
    input->info.tiles_down = cli_ceil_div(input->info.image.y1, input->info.tile_height);
    input->info.wavelet = (l2k_wavelet)cli_setting_or(encoder[L2K_ENCODER_WAVELET], L2K_WAVELET_5_3);
    const cli_setting joined = encoder[L2K_ENCODER_COMPONENT_TRANSFORM];
    input->info.component_transform =
        cli_setting_or(joined, 1) &&
        cli_components_join(input->info.image.components, input->info.image.num_components, joined.given);
    return make_transform(input);
}

/* Forward transform of a tile, whose samples stay in the picture. */
static l2k_status transform_tile(cli_coefficients *input, uint32_t index, l2k_plane *planes)
{
    const cli_area all = image_area(&input->info.image), area = tile_area(input, index);
    l2k_image tile = input->info.image;
    tile.x0 = area.x0;
    tile.y0 = area.y0;
    tile.x1 = area.x1;
    tile.y1 = area.y1;
    for (uint32_t c = 0; c < tile.num_components; c++) {
        cli_area from = cli_component_area(input, all, c), to = cli_component_area(input, area, c);
        planes[c] = input->file.picture.planes[c];
        planes[c].data = (char *)planes[c].data + (ptrdiff_t)(to.y0 - from.y0) * planes[c].row_stride +
                         (ptrdiff_t)(to.x0 - from.x0) * planes[c].sample_stride;
    }
    l2k_status status = l2k_transform_prepare(input->transform, &tile);
    return status == L2K_OK ? l2k_transform_forward(input->transform, planes) : status;
}

/* Removes skipped resolutions from a view: in Mallat layout, the rest is at the top left. */
static void reduce_view(const cli_coefficients *input, cli_area r, l2k_coefficients *view)
{
    uint64_t scale = (uint64_t)1 << input->reduce;
    view->num_bands -= 3 * input->reduce;
    view->width = cli_ceil_div(r.x1, scale) - cli_ceil_div(r.x0, scale);
    view->height = cli_ceil_div(r.y1, scale) - cli_ceil_div(r.y0, scale);
}

static bool give_component(cli_coefficients *input, uint32_t tile, uint32_t c, cli_coefficient_sink *sink, void *user)
{
    l2k_subband_info bands[L2K_MAX_SUBBANDS];
    cli_area r = cli_component_area(input, tile_area(input, tile), c);
    l2k_coefficients view = *l2k_transform_coefficients(input->transform, c);
    reduce_view(input, r, &view);
    for (uint32_t b = 0; b < view.num_bands; b++)
        l2k_transform_subband(input->transform, c, b, &bands[b]);
    input->num_given++;
    return sink(user, &(l2k_tile_coefficients){.tile = tile,
                                               .component = c,
                                               .x0 = r.x0,
                                               .y0 = r.y0,
                                               .x1 = r.x1,
                                               .y1 = r.y1,
                                               .levels = input->info.levels,
                                               .wavelet = input->info.wavelet,
                                               .component_transform = input->info.component_transform && c < 3,
                                               .view = &view,
                                               .bands = bands});
}

/* The transform keeps the memory for its largest tile. */
static bool hold_tile(cli_coefficients *input, uint32_t index)
{
    const uint64_t before = input->held - cli_picture_bytes(&input->file.picture);
    uint64_t bytes = 0;
    for (uint32_t c = 0; c < input->info.image.num_components; c++) {
        cli_area r = cli_component_area(input, tile_area(input, index), c);
        bytes += (uint64_t)(r.x1 - r.x0) * (r.y1 - r.y0) * sizeof(int32_t);
    }
    if (bytes <= before)
        return true;
    if (!cli_memory_allowed(bytes - before, input->file.name))
        return false;
    cli_memory_hold(bytes - before);
    input->held += bytes - before;
    return true;
}

static bool give_tile(cli_coefficients *input, uint32_t tile, cli_coefficient_sink *sink, void *user)
{
    if (!hold_tile(input, tile))
        return false;
    l2k_plane *planes = calloc(input->info.image.num_components, sizeof *planes);
    if (!planes)
        return cli_error(input->file.name, "out of memory");
    l2k_status status = transform_tile(input, tile, planes);
    free(planes);
    if (status == L2K_OK && cli_is_late(input->messages.deadline)) /* the transform does not ask */
        status = L2K_ERROR_CANCELLED;
    if (status != L2K_OK)
        return cli_messages_fail(&input->messages, status);
    int64_t only = input->component;
    for (uint32_t c = 0; c < input->info.image.num_components; c++)
        if ((only < 0 || only == c) && !give_component(input, tile, c, sink, user))
            return false;
    return true;
}

/* ---- Both ---------------------------------------------------------------------------------------------------- */

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
    return cli_two_names(options, &input->file.name, &input->output) && cli_check_grid(options);
}

bool cli_coefficients_open(cli_coefficients *input)
{
    if (!cli_any_file_open(&input->file, input->options->names[0], input->options->quiet))
        return false;
    input->held = cli_picture_bytes(&input->file.picture);
    cli_memory_hold(input->held);
    return (input->file.is_jpeg2000 ? describe_codestream : describe_picture)(input) && check_choice(input);
}

void cli_coefficients_close(cli_coefficients *input)
{
    l2k_transform_free(input->transform);
    input->transform = NULL;
    cli_any_file_close(&input->file);
    cli_memory_let_go(input->held);
    input->held = 0;
}

bool cli_coefficients_each(cli_coefficients *input, cli_coefficient_sink *sink, void *user)
{
    bool (*give)(cli_coefficients *, uint32_t, cli_coefficient_sink *, void *) =
        input->file.is_jpeg2000 ? decode_tile : give_tile;
    const cli_setting only = input->options->tile_index;
    uint32_t first = only.given ? (uint32_t)only.value : 0;
    uint32_t end = only.given ? first + 1 : input->info.tiles_across * input->info.tiles_down;
    for (uint32_t tile = first; tile < end; tile++) {
        cli_progress_span((double)(tile - first) / (end - first), (double)(tile + 1 - first) / (end - first));
        cli_progress_part(0); /* the transform does not report progress */
        if (!give(input, tile, sink, user))
            return false;
    }
    return input->num_given || cli_error(input->file.name, "the file ends before the first coefficient");
}
