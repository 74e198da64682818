/* OpenJPEG's code-blocks through lift2k's tier-1, whole and cut at a coding pass (Annex D). */
#include "conformance/coefficients/blocks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const l2k_context quiet = {.threads = 1};

l2k_t1 *make_coder(void)
{
    l2k_t1 *t1;
    if (l2k_t1_create(&quiet, &t1) == L2K_OK)
        return t1;
    printf("FAIL: out of memory for the block coder\n");
    exit(1);
}

l2k_t1_block place_block(const trial *t, const watch_block *b, int32_t *base, size_t stride, l2k_band_view band)
{
    l2k_rect subband =
        b->resolution == 0
            ? l2k_resolution_rect(b->rect, coding_levels(&t->o))
            : l2k_subband_rect(b->rect, l2k_band_level(coding_levels(&t->o), b->resolution), b->orientation);
    size_t offset = (band.y + b->place.y0 - subband.y0) * stride + band.x + b->place.x0 - subband.x0;
    return (l2k_t1_block){.coefficients = base + offset,
                          .type = L2K_COEFFICIENT_INT32,
                          .stride = stride,
                          .width = l2k_rect_width(b->place),
                          .height = l2k_rect_height(b->place),
                          .orientation = b->orientation,
                          .style = t->o.style,
                          .reversible = !t->o.irreversible};
}

/* Each segment needs two spare bytes after it. */
static bool bring(l2k_t1 *t1, const uint8_t *code, size_t size, const watch_segment *from, uint32_t count,
                  l2k_t1_segment *segments)
{
    size_t at = 0, to = 0;
    if (l2k_t1_reserve(t1, size + 2 * (size_t)count) != L2K_OK)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        segments[i] = (l2k_t1_segment){from[i].passes, from[i].bytes};
        if (segments[i].bytes > size - at)
            return false;
        if (segments[i].bytes)
            memcpy(t1->bytes + to, code + at, segments[i].bytes);
        at += segments[i].bytes;
        to += segments[i].bytes + 2;
    }
    return true;
}

bool decode_segments(l2k_t1 *t1, const l2k_t1_block *block, unsigned num_planes, const uint8_t *code, size_t size,
                     const watch_segment *from, uint32_t count)
{
    l2k_t1_segment *segments = test_allocate(count, sizeof *segments);
    bool good = bring(t1, code, size, from, count, segments);
    if (good)
        l2k_t1_decode(t1, block, num_planes, segments, count);
    free(segments);
    return good;
}

/* Blocks that OpenJPEG lacks remain 0, as do inconsistent ones, which then differ. */
static void decode_block(const trial *t, l2k_t1 *t1, const watch_block *b, const l2k_coefficients *view)
{
    const l2k_band_view *band = &view->bands[l2k_band_number(b->resolution, b->orientation)];
    l2k_t1_block block = place_block(t, b, view->base, view->stride, *band);
    if (b->num_planes && b->num_ends)
        decode_segments(t1, &block, b->num_planes, b->bytes, b->num_bytes, b->segments, b->num_ends);
}

void decode_blocks(const trial *t, const tile_frame *tile, uint32_t component, const watch_log *log,
                   const l2k_coefficients *view)
{
    l2k_t1 *t1 = make_coder();
    memset(view->base, 0, view->stride * view->height * l2k_coefficient_bytes(view->type));
    for (size_t i = 0; i < log->num_blocks; i++) {
        const watch_block *b = &log->blocks[i];
        if (b->component == component && watch_same_rect(b->rect, tile->rects[component]))
            decode_block(t, t1, b, view);
    }
    l2k_t1_free(t1);
}

/* ---- Truncated code ---- */

/* The segments of a coded block up to a pass. Returns their number; the caller sets the last one's bytes and gets the
 * byte it begins at. */
static uint32_t segments_through(const watch_block *coded, unsigned pass, watch_segment *segments, uint32_t *last)
{
    uint32_t count = 1;
    segments[0] = (watch_segment){0};
    *last = 0;
    for (unsigned i = 0; i <= pass; i++) {
        segments[count - 1].passes++;
        if (i == pass || !coded->passes[i].terminated)
            continue;
        segments[count - 1].bytes = coded->passes[i].end - *last;
        *last = coded->passes[i].end;
        segments[count++] = (watch_segment){0};
    }
    return count;
}

bool cut_suffices(const trial *t, l2k_t1 *t1, const watch_block *coded, unsigned pass, uint32_t end)
{
    static int32_t whole[4096], cut[4096];
    watch_segment segments[L2K_MAX_PASSES];
    uint32_t width = l2k_rect_width(coded->place), height = l2k_rect_height(coded->place), last;
    uint32_t count = segments_through(coded, pass, segments, &last), all = pass;
    l2k_t1_block block = {.coefficients = whole,
                          .type = L2K_COEFFICIENT_INT32,
                          .stride = width,
                          .width = width,
                          .height = height,
                          .orientation = coded->orientation,
                          .style = t->o.style};
    while (!coded->passes[all].terminated)
        all++;
    segments[count - 1].bytes = coded->passes[all].end - last;
    bool good = decode_segments(t1, &block, coded->num_planes, coded->bytes, coded->num_bytes, segments, count);
    block.coefficients = cut;
    segments[count - 1].bytes = end - last;
    good = good && end >= last &&
           decode_segments(t1, &block, coded->num_planes, coded->bytes, coded->num_bytes, segments, count);
    return good && memcmp(whole, cut, (size_t)width * height * sizeof *cut) == 0;
}
