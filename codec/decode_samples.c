/* Between the samples of a tile and the planes of the output. */
#include <string.h>

#include "base/sample.h"
#include "codec/decoder.h"
#include "dwt/wavelet.h"
#include "tiling/pixel/pixel_rows.h"

/* The tile-component in the resolution that is decoded. */
static l2k_rect reduced_rect(const l2k_decoding *d, const l2k_tile_state *s, uint32_t c)
{
    return l2k_resolution_rect(s->tile.components[c].rect, d->discard);
}

/* What is wanted of component c, in the same domain. */
static l2k_rect output_rect(const l2k_decoding *d, uint32_t c)
{
    const l2k_component *component = &d->codestream->siz.components[c];
    return l2k_resolution_rect(l2k_component_rect(d->area, component->dx, component->dy), d->discard);
}

/* ---- Where samples go ---------------------------------------------------------------------------------------- */

static bool contains(l2k_rect outer, l2k_rect inner)
{
    return inner.x0 >= outer.x0 && inner.y0 >= outer.y0 && inner.x1 <= outer.x1 && inner.y1 <= outer.y1;
}

/* Memory of its own for component c, in samples of out->type, where the plan can write it. */
static l2k_status own_plane(const l2k_decoding *d, l2k_tile_state *s, uint32_t c, l2k_plane *out)
{
    const l2k_rect rect = reduced_rect(d, s, c);
    const size_t sample = l2k_sample_bytes(out->type), row = l2k_rect_width(rect) * sample;
    out->sample_stride = (ptrdiff_t)sample;
    out->row_stride = (ptrdiff_t)row;
    if (d->on_device) {
        L2K_TRY(l2k_device_reserve(d->context, &s->device[c], row * l2k_rect_height(rect)));
        out->data = s->device[c].at;
        return L2K_OK;
    }
    if (!s->cropped[c])
        s->cropped[c] = l2k_allocate(d->context, l2k_rect_height(rect), row);
    if (!s->cropped[c])
        return l2k_fail(d->context, L2K_ERROR_MEMORY, "out of memory for a tile of %u x %u", l2k_rect_width(rect),
                        l2k_rect_height(rect));
    out->data = s->cropped[c];
    return L2K_OK;
}

/* Whether a component's samples are joined with others once the plan has made them. */
static bool is_joined_later(const l2k_tile_state *s, uint32_t c)
{
    return s->joined_later && c < 3;
}

static l2k_status place_plane(const l2k_decoding *d, l2k_tile_state *s, uint32_t c)
{
    l2k_plane *out = &s->planes[s->plan_component[c]];
    l2k_rect output = output_rect(d, c), rect = reduced_rect(d, s, c);
    *out = d->planes[c];
    if (l2k_rect_empty(rect))
        return L2K_OK;
    if (is_joined_later(s, c))
        out->type = l2k_wavelet_get(s->components[c].wavelet)->is_float ? L2K_SAMPLE_F32 : L2K_SAMPLE_S32;
    else if (contains(output, rect)) {
        out->data = l2k_sample_at(&d->planes[c], rect.x0 - output.x0, rect.y0 - output.y0);
        return L2K_OK;
    }
    return own_plane(d, s, c, out);
}

/* Host planes, packed, for what the area has of a tile whose samples come from the CPU. */
static l2k_status take_host_planes(const l2k_decoding *d, l2k_tile_state *s)
{
    l2k_plane *planes = s->host_planes;
    s->host = *d;
    s->host.on_device = false;
    s->host.area = l2k_rect_intersect(d->area, s->tile.rect);
    s->host.planes = planes;
    for (uint32_t c = 0; c < s->tile.num_components; c++) {
        const l2k_rect rect = output_rect(&s->host, c);
        const size_t sample = l2k_sample_bytes(d->planes[c].type), row = l2k_rect_width(rect) * sample;
        planes[c] = (l2k_plane){planes[c].data, (ptrdiff_t)row, (ptrdiff_t)sample, d->planes[c].type};
        if (!planes[c].data && d->planes[c].data)
            planes[c].data = l2k_allocate(d->context, l2k_rect_height(rect), row);
        if (!planes[c].data && d->planes[c].data)
            return l2k_fail(d->context, L2K_ERROR_MEMORY, "out of memory for the samples of a tile");
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

static bool is_packed(const l2k_plane *plane)
{
    return plane->sample_stride == (ptrdiff_t)l2k_sample_bytes(plane->type);
}

/* Copies `width` samples from one address to another; the planes they lie in are of one type. */
static void copy_samples(const l2k_plane *to, uint8_t *out, const l2k_plane *from, const uint8_t *in, uint32_t width)
{
    size_t bytes = l2k_sample_bytes(from->type);
    if (is_packed(to) && is_packed(from))
        memcpy(out, in, width * bytes);
    else
        for (uint32_t i = 0; i < width; i++)
            memcpy(out + (ptrdiff_t)i * to->sample_stride, in + (ptrdiff_t)i * from->sample_stride, bytes);
}

/* What of component c is both in the tile and in the output; `from` and `to` become the planes from its first sample
 * on. */
static l2k_rect common_part(const l2k_decoding *d, const l2k_tile_state *s, uint32_t c, l2k_plane *from, l2k_plane *to)
{
    const l2k_rect output = output_rect(d, c), rect = reduced_rect(d, s, c), common = l2k_rect_intersect(output, rect);
    *from = s->planes[s->plan_component[c]];
    *to = d->planes[c];
    from->data = l2k_sample_at(from, common.x0 - rect.x0, common.y0 - rect.y0);
    to->data = l2k_sample_at(to, common.x0 - output.x0, common.y0 - output.y0);
    return common;
}

static l2k_status crop(const l2k_decoding *d, const l2k_tile_state *s, uint32_t c)
{
    l2k_plane from, to;
    const l2k_rect common = common_part(d, s, c, &from, &to);
    if (d->on_device)
        return l2k_device_copy(d->context, &to, &from, l2k_rect_width(common), l2k_rect_height(common), d->stream);
    for (uint32_t y = 0; y < l2k_rect_height(common); y++) {
        copy_samples(&to, l2k_sample_at(&to, 0, y), &from, l2k_sample_at(&from, 0, y), l2k_rect_width(common));
        L2K_TRY(l2k_poll(d->context, l2k_rect_width(common)));
    }
    return L2K_OK;
}

/* Component transform and level shift of `width` values from (x, y) on, of three planes of values. */
static void join_row(const l2k_decoding *d, const l2k_tile_state *s, uint32_t x, uint32_t y, uint32_t width)
{
    l2k_rect output = output_rect(d, 0), rect = reduced_rect(d, s, 0);
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
    l2k_rect common = l2k_rect_intersect(output_rect(d, 0), reduced_rect(d, s, 0));
    for (uint32_t y = common.y0; y < common.y1; y++) {
        join_row(d, s, common.x0, y, l2k_rect_width(common));
        L2K_TRY(l2k_poll(d->context, l2k_rect_width(common)));
    }
    return L2K_OK;
}

static l2k_status collect(const l2k_decoding *d, const l2k_tile_state *s)
{
    if (s->joined_later)
        L2K_TRY(join(d, s));
    for (uint32_t c = s->joined_later ? 3 : 0; c < s->tile.num_components; c++)
        if (d->planes[c].data && !contains(output_rect(d, c), reduced_rect(d, s, c)))
            L2K_TRY(crop(d, s, c));
    return L2K_OK;
}

/* Packed samples of a tile on their way to the caller's plane, by way of device memory of the tile's own. */
static l2k_status upload(const l2k_decoding *d, l2k_tile_state *s, uint32_t c)
{
    const l2k_rect part = output_rect(&s->host, c), output = output_rect(d, c);
    const uint32_t width = l2k_rect_width(part), height = l2k_rect_height(part);
    l2k_plane from = s->host.planes[c], to = d->planes[c];
    const size_t bytes = (size_t)from.row_stride * height;
    if (l2k_rect_empty(part))
        return L2K_OK;
    L2K_TRY(l2k_device_reserve(d->context, &s->device[c], bytes));
    L2K_TRY(l2k_device_upload(d->context, s->device[c].at, from.data, bytes, d->stream));
    from.data = s->device[c].at;
    to.data = l2k_sample_at(&to, part.x0 - output.x0, part.y0 - output.y0);
    return l2k_device_copy(d->context, &to, &from, width, height, d->stream);
}

l2k_status l2k_collect_planes(const l2k_decoding *d, l2k_tile_state *s)
{
    if (!s->on_host)
        return collect(d, s);
    L2K_TRY(collect(&s->host, s));
    for (uint32_t c = 0; c < s->tile.num_components; c++)
        if (d->planes[c].data)
            L2K_TRY(upload(d, s, c));
    return L2K_OK;
}

/* Gives `width` samples from (x, y) on one value: the first, and then, where they are packed, as many as have it. */
static void fill_samples(const l2k_plane *to, uint32_t x, uint32_t y, uint32_t width, int32_t value)
{
    const size_t bytes = l2k_sample_bytes(to->type);
    if (width == 0)
        return;
    l2k_sample_store(to, x, y, value);
    for (uint32_t done = 1, more; done < width; done += more) {
        more = is_packed(to) ? l2k_min_u32(done, width - done) : 1;
        memcpy(l2k_sample_at(to, x + done, y), l2k_sample_at(to, x, y), more * bytes);
    }
}

/* Gives a part of component c one value. */
static l2k_status fill(const l2k_decoding *d, uint32_t c, l2k_rect part, int32_t value)
{
    l2k_rect output = output_rect(d, c);
    if (d->on_device && !l2k_rect_empty(part)) {
        l2k_plane to = d->planes[c];
        to.data = l2k_sample_at(&to, part.x0 - output.x0, part.y0 - output.y0);
        return l2k_device_fill(d->context, &to, l2k_rect_width(part), l2k_rect_height(part), value, d->stream);
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
        l2k_rect tile = l2k_component_rect(l2k_tile_rect(&siz->grid, index), k->dx, k->dy);
        l2k_rect part = l2k_rect_intersect(output_rect(d, c), l2k_resolution_rect(tile, d->discard));
        L2K_TRY(fill(d, c, part, k->is_signed ? 0 : (int32_t)1 << (k->precision - 1)));
    }
    return L2K_OK;
}

l2k_status l2k_blacken(const l2k_decoding *d)
{
    for (uint32_t c = 0; c < d->codestream->siz.num_components; c++)
        if (d->planes[c].data)
            L2K_TRY(fill(d, c, output_rect(d, c), 0));
    return L2K_OK;
}
