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

static bool is_opacity(const l2k_component *component)
{
    return component->channel == L2K_CHANNEL_OPACITY || component->channel == L2K_CHANNEL_PREMULTIPLIED_OPACITY;
}

/* The finest component in each direction sets the output grid: components that are all sub-sampled alike are not
 * enlarged. */
static void choose_grid(cli_view *view)
{
    view->dx = view->dy = UINT32_MAX;
    for (uint32_t c = 0; c < view->num_channels; c++) {
        const l2k_component *component = &view->image->components[c];
        if (component->dx < view->dx) {
            view->dx = component->dx;
            view->width = component->width;
        }
        if (component->dy < view->dy) {
            view->dy = component->dy;
            view->height = component->height;
        }
    }
    view->column0 = cli_grid_start(view->image->x0, view->dx, view->reduce);
    view->row0 = cli_grid_start(view->image->y0, view->dy, view->reduce);
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

static void fill_channels(cli_view *view, const cli_picture *picture)
{
    uint32_t to = 0;
    for (int opacities = 0; opacities < 2; opacities++) {
        for (uint32_t from = 0; from < view->num_channels; from++) {
            const l2k_component *k = &picture->components[from];
            if (is_opacity(k) == (opacities == 1))
                view->channels[to++] =
                    (cli_channel){.component = k,
                                  .plane = &picture->planes[from],
                                  .rows = &picture->rows[from],
                                  .shift = k->is_signed ? (int32_t)((uint32_t)1 << (k->precision - 1)) : 0,
                                  .column0 = cli_grid_start(picture->image.x0, k->dx, view->reduce),
                                  .row0 = cli_grid_start(picture->image.y0, k->dy, view->reduce)};
        }
        if (!opacities)
            view->colours = to;
    }
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

static bool check_components(cli_view *view, const cli_picture *picture, const char *name)
{
    for (uint32_t c = 0; c < view->num_channels; c++) {
        const l2k_component *component = &picture->components[c];
        if (!component->width || !component->height)
            return cli_error(name, "component %u has no samples; write pgx instead", c);
        if (component->channel == L2K_CHANNEL_PREMULTIPLIED_OPACITY)
            view->premultiplied = true;
        view->least = component->precision < view->least ? component->precision : view->least;
        view->most = component->precision > view->most ? component->precision : view->most;
    }
    return true;
}

bool cli_view_create(cli_view *view, const cli_picture *picture, uint32_t reduce, const char *name)
{
    memset(view, 0, sizeof *view);
    view->image = &picture->image;
    view->reduce = reduce;
    view->least = UINT32_MAX;
    view->count = view->num_channels = picture->image.num_components;
    if (!check_components(view, picture, name))
        return false;
    choose_grid(view);
    if (!check_growth(view, picture, name) ||
        !cli_memory_allowed((uint64_t)view->width * view->num_channels * 2, name)) /* of a row of the output */
        return false;
    view->channels = calloc(view->num_channels, sizeof *view->channels);
    if (!view->channels)
        return cli_error(name, "out of memory");
    fill_channels(view, picture);
    view->ycc = is_ycc(view);
    view->depth = view->most;
    return true;
}

void cli_view_free(cli_view *view)
{
    free(view->channels);
    view->channels = NULL;
}

size_t cli_view_row_bytes(const cli_view *view)
{
    return (size_t)view->width * view->count * cli_sample_bytes(view->depth);
}

uint32_t cli_view_rows_above(const cli_view *view, uint32_t y)
{
    return cli_grid_start(y, view->dy, view->reduce) - view->row0;
}
