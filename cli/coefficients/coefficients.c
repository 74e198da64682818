#include "cli/coefficients/coefficients.h"
#include "cli/run/messages.h"

#include <stdlib.h>
#include <string.h>

#include "cli/run/progress.h"
#include "pictures/user/interrupt.h"
#include "pictures/user/limits.h"
#include "pictures/user/report.h"

const char *const cli_orientation_names[4] = {"LL", "HL", "LH", "HH"};

/* ---- Areas --------------------------------------------------------------------------------------------------- */

/* One side of a tile, clipped to the image (B-7 to B-10). */
static void tile_side(uint32_t origin, uint32_t size, uint32_t number, uint32_t *low, uint32_t *high)
{
    uint64_t from = (uint64_t)origin + (uint64_t)number * size, to = from + size;
    *low = from > *low ? (uint32_t)from : *low;
    *high = to < *high ? (uint32_t)to : *high;
}

cli_area cli_tile_area(const cli_coefficients *source, uint32_t index)
{
    cli_area area = {source->image.x0, source->image.y0, source->image.x1, source->image.y1};
    tile_side(source->tile_x0, source->tile_width, index % source->tiles_across, &area.x0, &area.x1);
    tile_side(source->tile_y0, source->tile_height, index / source->tiles_across, &area.y0, &area.y1);
    return area;
}

cli_area cli_wanted_area(const cli_coefficients *source)
{
    if (source->options->tile_index >= 0)
        return cli_tile_area(source, (uint32_t)source->options->tile_index);
    return (cli_area){source->image.x0, source->image.y0, source->image.x1, source->image.y1};
}

cli_area cli_component_area(const cli_coefficients *source, cli_area area, uint32_t c)
{
    const l2k_component *k = &source->image.components[c];
    return (cli_area){cli_ceil_div(area.x0, k->dx), cli_ceil_div(area.y0, k->dy), cli_ceil_div(area.x1, k->dx),
                      cli_ceil_div(area.y1, k->dy)};
}

/* ---- JPEG 2000 ----------------------------------------------------------------------------------------------- */

static l2k_status configure_decoder(l2k_decoder *decoder, const cli_coefficient_options *options)
{
    const struct {
        l2k_decoder_option option;
        int64_t value;
    } settings[] = {{L2K_DECODER_REDUCE, options->reduce},
                    {L2K_DECODER_LAYERS, options->layers},
                    {L2K_DECODER_COMPONENT, options->component},
                    {L2K_DECODER_THREADS, options->common.threads}};
    l2k_status status = L2K_OK;
    for (size_t i = 0; status == L2K_OK && i < sizeof settings / sizeof settings[0]; i++)
        status = l2k_decoder_set(decoder, settings[i].option, settings[i].value);
    return status;
}

static bool describe_codestream(cli_coefficients *source)
{
    l2k_info info;
    cli_source *file = &source->file.source;
    l2k_status status = l2k_decoder_info(file->decoder, &info);
    if (status != L2K_OK)
        return cli_messages_fail(&file->messages, status);
    source->image = info.image;
    source->tile_x0 = info.tile_x0;
    source->tile_y0 = info.tile_y0;
    source->tile_width = info.tile_width;
    source->tile_height = info.tile_height;
    source->tiles_across = info.tiles_across;
    source->tiles_down = info.tiles_down;
    source->wavelet = info.wavelet;
    source->levels = info.levels;
    source->component_transform = info.component_transform;
    if (source->options->picture_option)
        return cli_error(source->file.name, "--%s is for pictures; this is JPEG 2000 and has been transformed already",
                         source->options->picture_option);
    return true;
}

typedef struct sink_call {
    cli_coefficients *source;
    cli_coefficient_sink *sink;
    void *user;
    bool refused;
} sink_call;

static l2k_status on_coefficients(void *user, const l2k_tile_coefficients *coefficients)
{
    sink_call *call = user;
    call->source->num_given++;
    call->refused = !call->sink(call->user, coefficients);
    return call->refused ? L2K_ERROR_IO : L2K_OK;
}

static bool decode_tile(cli_coefficients *source, uint32_t tile, cli_coefficient_sink *sink, void *user)
{
    sink_call call = {source, sink, user, false};
    cli_source *file = &source->file.source;
    l2k_status status = configure_decoder(file->decoder, source->options);
    if (status == L2K_OK)
        status = cli_source_limit_memory(file, 0);
    cli_interrupt_wait(true);
    if (status == L2K_OK)
        status = l2k_decoder_coefficients(file->decoder, tile, on_coefficients, &call);
    cli_interrupt_wait(false);
    if (status == L2K_INCOMPLETE)
        source->incomplete = true;
    return status == L2K_OK || status == L2K_INCOMPLETE ||
           (!call.refused && cli_messages_fail(&file->messages, status));
}

/* ---- Pictures ------------------------------------------------------------------------------------------------ */

/* Where the encoder takes RCT or ICT (G.2, G.3). */
static bool can_transform_components(const l2k_image *image)
{
    const l2k_component *c = image->components;
    for (uint32_t i = 1; i < 3 && image->num_components >= 3; i++)
        if (c[i].dx != c[0].dx || c[i].dy != c[0].dy || c[i].precision != c[0].precision ||
            c[i].is_signed != c[0].is_signed)
            return false;
    return image->num_components >= 3;
}

static l2k_status configure_transform(const cli_coefficients *source)
{
    const struct {
        l2k_transform_option option;
        int64_t value;
    } settings[] = {{L2K_TRANSFORM_WAVELET, source->wavelet},
                    {L2K_TRANSFORM_LEVELS, source->levels},
                    {L2K_TRANSFORM_COMPONENT_TRANSFORM, source->component_transform},
                    {L2K_TRANSFORM_THREADS, source->options->common.threads}};
    l2k_status status = L2K_OK;
    for (size_t i = 0; status == L2K_OK && i < sizeof settings / sizeof settings[0]; i++)
        status = l2k_transform_set(source->transform, settings[i].option, settings[i].value);
    return status;
}

static bool make_transform(cli_coefficients *source)
{
    cli_messages_init(&source->messages, source->file.name, source->options->common.quiet);
    l2k_hooks hooks = cli_messages_hooks(&source->messages);
    source->transform = l2k_transform_new(&hooks);
    if (!source->transform)
        return cli_error(source->file.name, "out of memory");
    l2k_status status = configure_transform(source);
    return status == L2K_OK || cli_messages_fail(&source->messages, status);
}

static bool describe_picture(cli_coefficients *source)
{
    const cli_coefficient_options *options = source->options;
    cli_picture *picture = &source->file.picture;
    if (options->codestream_option)
        return cli_error(source->file.name, "--%s is for JPEG 2000 files; this is a picture that has none",
                         options->codestream_option);
    if (options->reduce > options->levels)
        return cli_error("--reduce", "%u resolutions cannot be left out of %u decomposition levels",
                         (unsigned)options->reduce, (unsigned)options->levels);
    if (!cli_picture_place(picture, options->x0, options->y0, source->file.name))
        return false;
    source->image = picture->image;
    source->tile_width = options->tile_width ? options->tile_width : source->image.x1;
    source->tile_height = options->tile_height ? options->tile_height : source->image.y1;
    source->tiles_across = cli_ceil_div(source->image.x1, source->tile_width);
    source->tiles_down = cli_ceil_div(source->image.y1, source->tile_height);
    source->wavelet = options->wavelet;
    source->levels = (uint32_t)options->levels;
    source->component_transform = !options->no_mct && can_transform_components(&source->image);
    return make_transform(source);
}

/* Forward transform of a tile where its samples lie in the picture. */
static l2k_status transform_tile(cli_coefficients *source, uint32_t index, l2k_plane *planes)
{
    const cli_area all = {source->image.x0, source->image.y0, source->image.x1, source->image.y1};
    cli_area area = cli_tile_area(source, index);
    l2k_image tile = source->image;
    tile.x0 = area.x0;
    tile.y0 = area.y0;
    tile.x1 = area.x1;
    tile.y1 = area.y1;
    for (uint32_t c = 0; c < tile.num_components; c++) {
        cli_area from = cli_component_area(source, all, c), to = cli_component_area(source, area, c);
        planes[c] = source->file.picture.planes[c];
        planes[c].data = (char *)planes[c].data + (ptrdiff_t)(to.y0 - from.y0) * planes[c].row_stride +
                         (ptrdiff_t)(to.x0 - from.x0) * planes[c].sample_stride;
    }
    l2k_status status = l2k_transform_prepare(source->transform, &tile);
    return status == L2K_OK ? l2k_transform_forward(source->transform, planes) : status;
}

/* A view without the resolutions that are not wanted: in Mallat layout, what is left lies top left. */
static void reduce_view(const cli_coefficients *source, cli_area r, l2k_coefficients *view)
{
    uint64_t scale = (uint64_t)1 << source->options->reduce;
    view->num_bands -= 3 * (uint32_t)source->options->reduce;
    view->width = cli_ceil_div(r.x1, scale) - cli_ceil_div(r.x0, scale);
    view->height = cli_ceil_div(r.y1, scale) - cli_ceil_div(r.y0, scale);
}

static bool give_component(cli_coefficients *source, uint32_t tile, uint32_t c, cli_coefficient_sink *sink, void *user)
{
    l2k_subband_info bands[L2K_MAX_SUBBANDS];
    cli_area r = cli_component_area(source, cli_tile_area(source, tile), c);
    l2k_coefficients view = *l2k_transform_coefficients(source->transform, c);
    reduce_view(source, r, &view);
    for (uint32_t b = 0; b < view.num_bands; b++)
        l2k_transform_subband(source->transform, c, b, &bands[b]);
    source->num_given++;
    return sink(user, &(l2k_tile_coefficients){.tile = tile,
                                               .component = c,
                                               .x0 = r.x0,
                                               .y0 = r.y0,
                                               .x1 = r.x1,
                                               .y1 = r.y1,
                                               .levels = source->levels,
                                               .wavelet = source->wavelet,
                                               .component_transform = source->component_transform && c < 3,
                                               .view = &view,
                                               .bands = bands});
}

static void hold(cli_coefficients *source, uint64_t bytes)
{
    cli_memory_hold(bytes);
    source->held += bytes;
}

/* The transform keeps the memory of its largest tile. */
static bool hold_tile(cli_coefficients *source, uint32_t index)
{
    const uint64_t before = source->held - cli_picture_bytes(&source->file.picture);
    uint64_t bytes = 0;
    for (uint32_t c = 0; c < source->image.num_components; c++) {
        cli_area r = cli_component_area(source, cli_tile_area(source, index), c);
        bytes += (uint64_t)(r.x1 - r.x0) * (r.y1 - r.y0) * sizeof(int32_t);
    }
    if (bytes <= before)
        return true;
    if (!cli_memory_allowed(bytes - before, source->file.name))
        return false;
    hold(source, bytes - before);
    return true;
}

static bool give_tile(cli_coefficients *source, uint32_t tile, cli_coefficient_sink *sink, void *user)
{
    if (!hold_tile(source, tile))
        return false;
    l2k_plane *planes = calloc(source->image.num_components, sizeof *planes);
    if (!planes)
        return cli_error(source->file.name, "out of memory");
    l2k_status status = transform_tile(source, tile, planes);
    free(planes);
    if (status == L2K_OK && cli_messages_late(&source->messages)) /* nobody asks while a tile is transformed */
        status = L2K_ERROR_CANCELLED;
    if (status != L2K_OK)
        return cli_messages_fail(&source->messages, status);
    int64_t only = source->options->component;
    for (uint32_t c = 0; c < source->image.num_components; c++)
        if ((only < 0 || only == c) && !give_component(source, tile, c, sink, user))
            return false;
    return true;
}

/* ---- Both ---------------------------------------------------------------------------------------------------- */

static bool check_choice(const cli_coefficients *source)
{
    const cli_coefficient_options *options = source->options;
    uint64_t tiles = (uint64_t)source->tiles_across * source->tiles_down;
    if (options->component >= source->image.num_components)
        return cli_error("--component", "%s has no component %u, only 0 to %u", source->file.name,
                         (unsigned)options->component, (unsigned)source->image.num_components - 1);
    if (options->tile_index >= 0 && (uint64_t)options->tile_index >= tiles)
        return cli_error("--tile-index", "%s has no tile %u, only 0 to %llu", source->file.name,
                         (unsigned)options->tile_index, (unsigned long long)tiles - 1);
    if (tiles > UINT32_MAX)
        return cli_error(source->file.name, "%llu tiles are too many", (unsigned long long)tiles);
    return true;
}

bool cli_coefficients_open(cli_coefficients *source, const cli_coefficient_options *options)
{
    memset(source, 0, sizeof *source);
    source->options = options;
    if (!cli_any_file_open(&source->file, options->input, options->common.quiet))
        return false;
    hold(source, cli_picture_bytes(&source->file.picture));
    return (source->file.is_jpeg2000 ? describe_codestream : describe_picture)(source) && check_choice(source);
}

void cli_coefficients_close(cli_coefficients *source)
{
    l2k_transform_free(source->transform);
    source->transform = NULL;
    cli_any_file_close(&source->file);
    cli_memory_let_go(source->held);
    source->held = 0;
}

bool cli_coefficients_each(cli_coefficients *source, cli_coefficient_sink *sink, void *user)
{
    bool (*give)(cli_coefficients *, uint32_t, cli_coefficient_sink *, void *) =
        source->file.is_jpeg2000 ? decode_tile : give_tile;
    int64_t only = source->options->tile_index;
    uint32_t first = only < 0 ? 0 : (uint32_t)only;
    uint32_t end = only < 0 ? source->tiles_across * source->tiles_down : first + 1;
    for (uint32_t tile = first; tile < end; tile++) {
        cli_progress_span((double)(tile - first) / (end - first), (double)(tile + 1 - first) / (end - first));
        cli_progress_part(0); /* the transform alone does not tell how far it is */
        if (!give(source, tile, sink, user))
            return false;
    }
    return true;
}
