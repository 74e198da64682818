/* Moves the samples of a tile to the planes of the output. */
#include "codec/decode/tile_state.h"

#include <string.h>

#include "base/sample.h"
#include "dwt/wavelet.h"
#include "tiling/pixel/pixel_rows.h"

/* A tile's part of the output of component c, in the resolution that is decoded. */
static l2k_rect part_of_tile(const l2k_decoding *d, l2k_rect tile, uint32_t c)
{
    return l2k_rect_intersect(l2k_window_output(d, c), l2k_reduced_rect(d->codestream, c, tile, d->discard));
}

/* ---- Where samples go ---------------------------------------------------------------------------------------- */

/* Memory for component c before it is joined with others. */
static l2k_status own_plane(const l2k_decoding *d, l2k_tile_state *s, uint32_t c, l2k_plane *out)
{
    const l2k_rect rect = part_of_tile(d, s->tile.rect, c);
    out->type = l2k_wavelet_get(s->components[c].wavelet)->is_float ? L2K_SAMPLE_F32 : L2K_SAMPLE_S32;
    out->sample_stride = (ptrdiff_t)l2k_sample_bytes(out->type);
    out->row_stride = (ptrdiff_t)l2k_rect_width(rect) * out->sample_stride;
    if (!s->joined[c])
        s->joined[c] = l2k_allocate(d->context, l2k_rect_height(rect), (size_t)out->row_stride);
    L2K_TRY(
        l2k_check_memory(d->context, s->joined[c], "a tile of %u x %u", l2k_rect_width(rect), l2k_rect_height(rect)));
    out->data = s->joined[c];
    return L2K_OK;
}

static l2k_status place_plane(const l2k_decoding *d, l2k_tile_state *s, uint32_t c)
{
    l2k_plane *out = &s->planes[l2k_number_in_plan(d, c)];
    const l2k_rect output = l2k_window_output(d, c), rect = part_of_tile(d, s->tile.rect, c);
    *out = d->planes[c];
    if (l2k_rect_empty(rect))
        return L2K_OK;
    if (s->joined_later && c < 3)
        return own_plane(d, s, c, out);
    out->data = l2k_sample_at(&d->planes[c], rect.x0 - output.x0, rect.y0 - output.y0);
    return L2K_OK;
}

/* Allocates packed host planes for the wanted part of a tile whose samples come from the CPU. */
static l2k_status take_host_planes(const l2k_decoding *d, l2k_tile_state *s)
{
    l2k_plane *planes = s->host_planes;
    s->host = *d;
    s->host.off_host = false;
    s->host.area = l2k_rect_intersect(d->area, s->tile.rect);
    s->host.planes = planes;
    for (uint32_t c = 0; c < s->tile.num_components; c++) {
        const l2k_rect rect = l2k_window_output(&s->host, c);
        const size_t sample = l2k_sample_bytes(d->planes[c].type), row = l2k_rect_width(rect) * sample;
        planes[c] = (l2k_plane){planes[c].data, (ptrdiff_t)row, (ptrdiff_t)sample, d->planes[c].type};
        if (!planes[c].data && d->planes[c].data)
            planes[c].data = l2k_allocate(d->context, l2k_rect_height(rect), row);
        L2K_TRY(l2k_check_memory(d->context, planes[c].data || !d->planes[c].data, "the samples of a tile"));
    }
    return L2K_OK;
}

l2k_status l2k_place_planes(const l2k_decoding *d, l2k_tile_state *s)
{
    if (s->on_host)
        L2K_TRY(take_host_planes(d, s));
    const l2k_decoding *to = s->on_host ? &s->host : d;
    for (uint32_t c = 0; c < s->tile.num_components; c++)
        if (d->planes[c].data)
            L2K_TRY(place_plane(to, s, c));
    return L2K_OK;
}

/* ---- How they get there -------------------------------------------------------------------------------------- */

/* Component transform and level shift of `width` values from (x, y) on, of three planes of values. */
static void join_row(const l2k_decoding *d, const l2k_tile_state *s, uint32_t x, uint32_t y, uint32_t width)
{
    l2k_rect output = l2k_window_output(d, 0), rect = part_of_tile(d, s->tile.rect, 0);
    l2k_pixel_row pixels[3];
    void *rows[3];
    for (int c = 0; c < 3; c++) {
        const l2k_plane *to = &d->planes[c];
        const l2k_component *k = &d->codestream->siz.components[c];
        pixels[c] = (l2k_pixel_row){l2k_sample_at(to, x - output.x0, y - output.y0), to->sample_stride, to->type,
                                    l2k_level_shift_make(k->precision, k->is_signed)};
        rows[c] = l2k_sample_at(&s->planes[c], x - rect.x0, y - rect.y0);
    }
    l2k_pixels_store(l2k_pixel_rows_get(d->context->cpu), l2k_wavelet_get(s->components[0].wavelet)->is_float, 3,
                     pixels, width, rows);
}

static l2k_status join(const l2k_decoding *d, const l2k_tile_state *s)
{
    const l2k_rect part = part_of_tile(d, s->tile.rect, 0);
    for (uint32_t y = part.y0; y < part.y1; y++) {
        join_row(d, s, part.x0, y, l2k_rect_width(part));
        L2K_TRY(l2k_poll(d->context, l2k_rect_width(part)));
    }
    return L2K_OK;
}

/* Copies packed samples of a tile to the caller's plane, through memory of the tile's own. */
static l2k_status upload(const l2k_decoding *d, l2k_tile_state *s, uint32_t c)
{
    const l2k_rect part = l2k_window_output(&s->host, c), output = l2k_window_output(d, c);
    l2k_plane to = d->planes[c];
    if (l2k_rect_empty(part))
        return L2K_OK;
    to.data = l2k_sample_at(&to, part.x0 - output.x0, part.y0 - output.y0);
    return l2k_engine_deliver(d->context, &s->host.planes[c], &to, l2k_rect_width(part), l2k_rect_height(part),
                              d->stream, &s->uploads[c]);
}

l2k_status l2k_collect_planes(const l2k_decoding *d, l2k_tile_state *s)
{
    if (s->joined_later)
        L2K_TRY(join(s->on_host ? &s->host : d, s));
    for (uint32_t c = 0; s->on_host && c < s->tile.num_components; c++)
        if (d->planes[c].data)
            L2K_TRY(upload(d, s, c));
    return L2K_OK;
}

/* Gives `width` samples from (x, y) on one value: sets the first and, if they are packed, copies ever longer runs of
 * it. */
static void fill_samples(const l2k_plane *to, uint32_t x, uint32_t y, uint32_t width, int32_t value)
{
    const size_t bytes = l2k_sample_bytes(to->type);
    if (width == 0)
        return;
    l2k_sample_store(to, x, y, value);
    for (uint32_t done = 1, more; done < width; done += more) {
        more = to->sample_stride == (ptrdiff_t)bytes ? l2k_min_u32(done, width - done) : 1;
        memcpy(l2k_sample_at(to, x + done, y), l2k_sample_at(to, x, y), more * bytes);
    }
}

/* Gives a part of component c one value. */
static l2k_status fill(const l2k_decoding *d, uint32_t c, l2k_rect part, int32_t value)
{
    l2k_rect output = l2k_window_output(d, c);
    if (d->off_host && !l2k_rect_empty(part)) {
        l2k_plane to = d->planes[c];
        to.data = l2k_sample_at(&to, part.x0 - output.x0, part.y0 - output.y0);
        return l2k_engine_fill(d->context, &to, l2k_rect_width(part), l2k_rect_height(part), value, d->stream);
    }
    for (uint32_t y = part.y0; y < part.y1; y++) {
        fill_samples(&d->planes[c], part.x0 - output.x0, y - output.y0, l2k_rect_width(part), value);
        L2K_TRY(l2k_poll(d->context, l2k_rect_width(part)));
    }
    return L2K_OK;
}

l2k_status l2k_fill_tile(const l2k_decoding *d, uint32_t index)
{
    const l2k_siz *siz = &d->codestream->siz;
    for (uint32_t c = 0; c < siz->num_components; c++) {
        const l2k_component *k = &siz->components[c];
        if (!d->planes[c].data)
            continue;
        const l2k_rect part = part_of_tile(d, l2k_tile_rect(&siz->grid, index), c);
        L2K_TRY(fill(d, c, part, k->is_signed ? 0 : (int32_t)1 << (k->precision - 1)));
    }
    return L2K_OK;
}

l2k_status l2k_blacken(const l2k_decoding *d)
{
    for (uint32_t c = 0; c < d->codestream->siz.num_components; c++)
        if (d->planes[c].data)
            L2K_TRY(fill(d, c, l2k_window_output(d, c), 0));
    return L2K_OK;
}
