/* Converts one row of a view: sign, sub-sampling, precision and sYCC. The inner loops of cli_view_row. */
#include "pictures/colour.h"

#include <string.h>

#include "pictures/picture.h"

/* One sample, high byte first. */
static inline void store(uint8_t *to, uint32_t bytes, uint32_t value)
{
    while (bytes > 1)
        *to++ = (uint8_t)(value >> (8 * --bytes));
    *to = (uint8_t)value;
}

static inline uint32_t fetch(const uint8_t *from, uint32_t bytes)
{
    uint32_t value = *from;
    while (--bytes)
        value = value << 8 | *++from;
    return value;
}

/* Maps 0 .. 2^precision - 1 to 0 .. 2^depth - 1, rounding to nearest. */
static inline uint32_t scale(uint32_t value, uint32_t precision, uint32_t depth)
{
    uint64_t from = ((uint64_t)1 << precision) - 1, to = ((uint64_t)1 << depth) - 1;
    return (uint32_t)((value * to + from / 2) / from);
}

/* The row or column of a component at a place of its own grid; places outside take the first or last one. */
static inline uint64_t place(uint64_t index, uint32_t first, uint32_t count)
{
    index = index > first ? index - first : 0;
    return index < count ? index : count - 1;
}

static const char *component_row(const cli_view *view, const cli_channel *channel, uint32_t y)
{
    uint64_t row = ((uint64_t)view->row0 + y) * view->dy / channel->component->dy;
    row = place(row, channel->row0, channel->component->height) - channel->rows->first;
    return (const char *)channel->plane->data + (ptrdiff_t)row * channel->plane->row_stride;
}

/* A sample of a component covers the columns of the output from its own on to the next one's; columns outside take the
 * first or last one. */
static void channel_row(const cli_view *view, uint32_t k, uint32_t y, uint8_t *bytes)
{
    const cli_channel *channel = &view->channels[k < view->num_channels ? k : 0];
    const l2k_component *component = channel->component;
    const ptrdiff_t stride = channel->plane->sample_stride;
    const l2k_sample_type type = channel->plane->type;
    const uint32_t width = cli_sample_bytes(view->depth), pixel = width * view->count;
    const uint32_t dx = component->dx, step = view->dx;
    const bool scaled = component->precision != view->depth, is_full = dx == step && component->width == view->width;
    const char *row = component_row(view, channel, y), *last = row + (ptrdiff_t)(component->width - 1) * stride;
    const uint64_t first = (uint64_t)view->column0 * step;
    const char *at = row + (ptrdiff_t)place(first / dx, channel->column0, component->width) * stride;
    int64_t column = (int64_t)(first / dx) - channel->column0;
    uint32_t rest = (uint32_t)(first % dx);
    uint8_t *to = bytes + (size_t)k * width;
    for (uint32_t x = 0; x < view->width; x++, to += pixel) {
        uint32_t value = (uint32_t)(cli_load_sample(at, type) + channel->shift);
        store(to, width, scaled ? scale(value, component->precision, view->depth) : value);
        rest += step;
        if (is_full) { /* faster */
            at += stride;
        } else if (rest >= dx) {
            rest -= dx;
            at += ++column > 0 && at != last ? stride : 0;
        }
    }
}

static inline uint32_t clamp(int64_t value, int64_t most)
{
    return (uint32_t)(value < 0 ? 0 : value > most ? most : value);
}

/* The inverse of the ITU-R BT.601 matrix used by sYCC, in units of 2^-32: 1.402, 0.344136.., 0.714136.., 1.772. Chroma
 * is offset by half of the range. */
static void ycc_to_rgb(const cli_view *view, uint8_t *bytes)
{
    const uint32_t width = cli_sample_bytes(view->depth), pixel = width * view->count;
    const int64_t half = (int64_t)1 << (view->depth - 1), most = 2 * half - 1;
    const int64_t one = (int64_t)1 << 32, round = one / 2;
    for (uint32_t x = 0; x < view->width; x++, bytes += pixel) {
        int64_t y = (int64_t)fetch(bytes, width) * one + round;
        int64_t cb = (int64_t)fetch(bytes + width, width) - half, cr = (int64_t)fetch(bytes + 2 * width, width) - half;
        store(bytes, width, clamp((y + 6021544149 * cr) >> 32, most));
        store(bytes + width, width, clamp((y - 1478054094 * cb - 3067191993 * cr) >> 32, most));
        store(bytes + 2 * width, width, clamp((y + 7610682049 * cb) >> 32, most));
    }
}

/* True if the bytes in memory are already those of the output: 8-bit pixels, interleaved in the view's order. */
static bool is_plain(const cli_view *view)
{
    const char *first = view->channels[0].plane->data;
    if (view->depth > 8 || view->count != view->num_channels || view->ycc)
        return false;
    for (uint32_t k = 0; k < view->count; k++) {
        const l2k_component *component = view->channels[k].component;
        const l2k_plane *plane = view->channels[k].plane;
        if (plane->type != L2K_SAMPLE_U8 || component->dx != view->dx || component->width != view->width ||
            component->precision != view->depth || plane->sample_stride != (ptrdiff_t)view->count ||
            component->dy != view->dy || (const char *)plane->data != first + k)
            return false;
    }
    return true;
}

void cli_view_row(const cli_view *view, uint32_t y, uint8_t *bytes)
{
    if (is_plain(view)) {
        memcpy(bytes, component_row(view, &view->channels[0], y), cli_view_row_bytes(view));
        return;
    }
    for (uint32_t k = 0; k < view->count; k++)
        channel_row(view, k, y, bytes);
    if (view->ycc)
        ycc_to_rgb(view, bytes);
}
