/* A decoded image as unsigned samples at every pixel: the output grid, the channels on it, and what that may cost. */
#include "pictures/colour.h"

#include <stdlib.h>
#include <string.h>

#include "pictures/user/limits.h"
#include "pictures/user/report.h"
#include "pictures/user/text.h"

/* Up-sampling may produce this many samples, or this multiple of the existing ones: photographs need a factor of 2, but
 * a small file can have a component of one row, another of one column, and thousands of others. */
#define GROWN_SAMPLES ((uint64_t)1 << 24)
#define MOST_GROWTH   16

enum { NUM_MAPS = 256 };

static bool is_opacity(const l2k_component *component)
{
    return component->channel == L2K_CHANNEL_OPACITY || component->channel == L2K_CHANNEL_PREMULTIPLIED_OPACITY;
}

/* The sample of a component with sub-sampling `dx` that covers position `at` of a grid with sub-sampling `out_dx`.
 * Positions outside the component take its first or last sample. */
static uint32_t sample_index(uint64_t at, uint32_t out_dx, uint32_t dx, uint32_t start, uint32_t length)
{
    uint64_t index = at * out_dx / dx;
    index = index > start ? index - start : 0;
    return (uint32_t)(index < length ? index : length - 1);
}

/* Shared by all channels with this XRsiz: width and start depend on nothing else. */
static const uint32_t *make_map(cli_view *view, const l2k_component *component, uint32_t out_dx, uint32_t reduce)
{
    const uint32_t x0 = view->image->x0;
    const uint32_t out_start = cli_grid_start(x0, out_dx, reduce), start = cli_grid_start(x0, component->dx, reduce);
    uint32_t *map = malloc(view->width * sizeof *map);
    for (uint32_t x = 0; map && x < view->width; x++)
        map[x] = sample_index((uint64_t)out_start + x, out_dx, component->dx, start, component->width);
    return view->maps[component->dx] = map;
}

/* The finest component in each direction sets the output grid: components that are all sub-sampled alike are not
 * enlarged. Returns XRsiz of that grid. */
static uint32_t choose_grid(cli_view *view, uint32_t reduce)
{
    uint32_t dx = UINT32_MAX;
    view->dy = UINT32_MAX;
    for (uint32_t c = 0; c < view->num_channels; c++) {
        const l2k_component *component = &view->image->components[c];
        if (component->dx < dx) {
            dx = component->dx;
            view->width = component->width;
        }
        if (component->dy < view->dy) {
            view->dy = component->dy;
            view->height = component->height;
        }
    }
    view->row0 = cli_grid_start(view->image->y0, view->dy, reduce);
    return dx;
}

/* YCbCr by declaration, or by inference: three colours with the last two sub-sampled have no other use. */
static bool is_ycc(const cli_view *view)
{
    const l2k_component *c = view->image->components;
    if (view->colours < 3)
        return false;
    if (view->image->colour == L2K_COLOUR_SYCC || view->image->colour == L2K_COLOUR_ESYCC)
        return true;
    return view->image->colour == L2K_COLOUR_UNKNOWN && view->colours == 3 && c[1].dx == c[2].dx &&
           c[1].dy == c[2].dy && c[1].dx * c[1].dy > c[0].dx * c[0].dy;
}

static bool fill_channel(cli_view *view, const cli_picture *picture, uint32_t to, uint32_t from, uint32_t out_dx,
                         uint32_t reduce)
{
    const l2k_component *component = &picture->components[from];
    cli_channel *channel = &view->channels[to];
    channel->plane = &picture->planes[from];
    channel->rows = &picture->rows[from];
    channel->meaning = component->channel;
    channel->precision = component->precision;
    channel->shift = component->is_signed ? (int32_t)((uint32_t)1 << (component->precision - 1)) : 0;
    channel->dy = component->dy;
    channel->row0 = cli_grid_start(picture->image.y0, component->dy, reduce);
    channel->height = component->height;
    if (component->dx == out_dx && component->width == view->width)
        return true;
    channel->columns = view->maps[component->dx];
    if (!channel->columns)
        channel->columns = make_map(view, component, out_dx, reduce);
    return channel->columns != NULL;
}

static bool fill_channels(cli_view *view, const cli_picture *picture, uint32_t out_dx, uint32_t reduce)
{
    uint32_t to = 0;
    for (int opacities = 0; opacities < 2; opacities++) {
        for (uint32_t from = 0; from < view->num_channels; from++)
            if (is_opacity(&picture->components[from]) == (opacities == 1) &&
                !fill_channel(view, picture, to++, from, out_dx, reduce))
                return false;
        if (!opacities)
            view->colours = to;
    }
    return true;
}

/* Limits the samples that up-sampling produces. */
static bool check_growth(const cli_view *view, const cli_picture *picture, const char *name)
{
    char before[CLI_UNITS_ROOM], after[CLI_UNITS_ROOM];
    const uint64_t pixels = (uint64_t)view->width * view->height, samples = cli_picture_samples(picture);
    const uint64_t grown = samples < GROWN_SAMPLES / MOST_GROWTH ? GROWN_SAMPLES : samples * MOST_GROWTH;
    if (pixels <= (grown < CLI_MAX_SAMPLES ? grown : CLI_MAX_SAMPLES) / view->num_channels)
        return true;
    return cli_error(name,
                     "%u components at each of %u x %u pixels: %s would become %s; write pgx instead, without --rgb8",
                     view->num_channels, view->width, view->height, cli_count_text((double)samples, "samples", before),
                     cli_count_text((double)pixels * view->num_channels, "samples", after));
}

/* Limits the memory for the maps that fill_channels will make, and for a row of the output. */
static bool check_memory(const cli_view *view, uint32_t out_dx, const char *name)
{
    bool seen[NUM_MAPS] = {false};
    uint64_t maps = 0;
    for (uint32_t c = 0; c < view->num_channels; c++) {
        const uint32_t dx = view->image->components[c].dx;
        maps += dx != out_dx && !seen[dx];
        seen[dx] = true;
    }
    return cli_memory_allowed(view->width * (maps * sizeof(uint32_t) + (uint64_t)view->num_channels * 2), name);
}

static bool check_components(cli_view *view, const cli_picture *picture, const char *name)
{
    for (uint32_t c = 0; c < view->num_channels; c++) {
        const l2k_component *component = &picture->components[c];
        if (!component->width || !component->height)
            return cli_error(name, "component %u has no samples; write pgx instead", c);
        if (component->dx >= NUM_MAPS)
            return cli_error(name, "component %u has a sub-sampling of %u, at most 255 is possible", c, component->dx);
        if (component->channel == L2K_CHANNEL_PREMULTIPLIED_OPACITY)
            view->premultiplied = true;
    }
    return true;
}

bool cli_view_create(cli_view *view, const cli_picture *picture, uint32_t reduce, const char *name)
{
    memset(view, 0, sizeof *view);
    view->image = &picture->image;
    view->reduce = reduce;
    view->count = view->num_channels = picture->image.num_components;
    if (!check_components(view, picture, name))
        return false;
    const uint32_t out_dx = choose_grid(view, reduce);
    if (!check_growth(view, picture, name) || !check_memory(view, out_dx, name))
        return false;
    view->channels = calloc(view->num_channels, sizeof *view->channels);
    view->maps = calloc(NUM_MAPS, sizeof *view->maps);
    if (!view->channels || !view->maps || !fill_channels(view, picture, out_dx, reduce)) {
        cli_view_free(view);
        return cli_error(name, "out of memory");
    }
    view->ycc = is_ycc(view);
    view->depth = cli_view_max_precision(view);
    return true;
}

void cli_view_free(cli_view *view)
{
    for (uint32_t dx = 0; view->maps && dx < NUM_MAPS; dx++)
        free(view->maps[dx]);
    free(view->maps);
    free(view->channels);
    view->maps = NULL;
    view->channels = NULL;
}

uint32_t cli_view_max_precision(const cli_view *view)
{
    uint32_t most = 0;
    for (uint32_t c = 0; c < view->num_channels; c++)
        most = view->channels[c].precision > most ? view->channels[c].precision : most;
    return most;
}

bool cli_view_same_precision(const cli_view *view)
{
    for (uint32_t c = 1; c < view->num_channels; c++)
        if (view->channels[c].precision != view->channels[0].precision)
            return false;
    return true;
}

bool cli_view_is_scaled(const cli_view *view)
{
    return !cli_view_same_precision(view) || view->channels[0].precision != view->depth;
}

size_t cli_view_row_bytes(const cli_view *view)
{
    return (size_t)view->width * view->count * cli_sample_bytes(view->depth);
}

uint32_t cli_view_rows_above(const cli_view *view, uint32_t y)
{
    return cli_grid_start(y, view->dy, view->reduce) - view->row0;
}
