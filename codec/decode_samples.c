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

/* Memory of its own for component c, in samples of out->type. */
static l2k_status own_plane(const l2k_decoding *d, l2k_tile_state *s, uint32_t c, l2k_plane *out)
{
    l2k_rect rect = reduced_rect(d, s, c);
    size_t bytes = l2k_sample_bytes(out->type);
    s->cropped[c] = l2k_allocate(d->context, (size_t)l2k_rect_width(rect) * l2k_rect_height(rect), bytes);
    if (!s->cropped[c])
        return l2k_fail(d->context, L2K_ERROR_MEMORY, "out of memory for a tile of %u x %u", l2k_rect_width(rect),
                        l2k_rect_height(rect));
    out->data = s->cropped[c];
    out->sample_stride = (ptrdiff_t)bytes;
    out->row_stride = (ptrdiff_t)(l2k_rect_width(rect) * bytes);
    return L2K_OK;
}

static l2k_status place_plane(const l2k_decoding *d, l2k_tile_state *s, uint32_t c)
{
    l2k_plane *out = &s->planes[s->plan_component[c]];
    l2k_rect output = output_rect(d, c), rect = reduced_rect(d, s, c);
    *out = d->planes[c];
    if (l2k_rect_empty(rect))
        return L2K_OK;
    if (s->joined_later && c < 3)
        out->type = l2k_wavelet_get(s->components[c].wavelet)->is_float ? L2K_SAMPLE_F32 : L2K_SAMPLE_S32;
    else if (contains(output, rect)) {
        out->data = l2k_sample_at(&d->planes[c], rect.x0 - output.x0, rect.y0 - output.y0);
        return L2K_OK;
    }
    return own_plane(d, s, c, out);
}

l2k_status l2k_place_planes(const l2k_decoding *d, l2k_tile_state *s)
{
    for (uint32_t c = 0; c < s->tile.num_components; c++)
        if (d->planes[c].data)
            L2K_TRY(place_plane(d, s, c));
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

static l2k_status crop(const l2k_decoding *d, const l2k_tile_state *s, uint32_t c)
{
    const l2k_plane *from = &s->planes[s->plan_component[c]], *to = &d->planes[c];
    l2k_rect output = output_rect(d, c), rect = reduced_rect(d, s, c), common = l2k_rect_intersect(output, rect);
    for (uint32_t y = common.y0; y < common.y1; y++) {
        copy_samples(to, l2k_sample_at(to, common.x0 - output.x0, y - output.y0), from,
                     l2k_sample_at(from, common.x0 - rect.x0, y - rect.y0), l2k_rect_width(common));
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

l2k_status l2k_collect_planes(const l2k_decoding *d, const l2k_tile_state *s)
{
    if (s->joined_later)
        L2K_TRY(join(d, s));
    for (uint32_t c = s->joined_later ? 3 : 0; c < s->tile.num_components; c++)
        if (s->cropped[c])
            L2K_TRY(crop(d, s, c));
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
