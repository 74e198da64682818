/* Encodes OpenJPEG's coefficients with lift2k's tier-1 (Annex D), code-block by code-block. */
#include <stdio.h>
#include <stdlib.h>

#include "conformance/coefficients/blocks.h"
#include "quant/quantiser.h"

typedef struct coded {
    stage_table *table;
    const trial *t;
    l2k_t1 *t1, *other;      /* the second checks what the first one's code suffices for */
    l2k_coefficients layout; /* of the current tile-component */
    int32_t *indices;
} coded;

/* Mallat layout computed from B-15 alone, since none of lift2k's transforms may take part here. */
static l2k_coefficients layout_of(l2k_rect rect, unsigned levels)
{
    l2k_coefficients view = {.stride = l2k_rect_width(rect),
                             .width = l2k_rect_width(rect),
                             .height = l2k_rect_height(rect),
                             .num_bands = 3 * levels + 1};
    for (unsigned band = 0; band < view.num_bands; band++) {
        unsigned orientation = l2k_band_orientation(band);
        unsigned level = l2k_band_level(levels, l2k_band_resolution(band));
        l2k_rect r = l2k_subband_rect(rect, level, orientation), low = l2k_subband_rect(rect, level, L2K_LL);
        view.bands[band] =
            (l2k_band_view){orientation & 1 ? l2k_rect_width(low) : 0, orientation & 2 ? l2k_rect_height(low) : 0,
                            l2k_rect_width(r), l2k_rect_height(r)};
    }
    return view;
}

static int32_t *quantise_plane(const watch_plane *plane, const l2k_coefficients *layout, bool floats)
{
    int32_t *indices = test_allocate((size_t)plane->width * plane->height, sizeof *indices);
    for (unsigned band = 0; band < layout->num_bands; band++) {
        const l2k_band_view *v = &layout->bands[band];
        for (uint32_t y = v->y; y < v->y + v->height; y++)
            for (uint32_t x = v->x; x < v->x + v->width; x++) {
                watch_value value = plane->values[(size_t)y * plane->width + x];
                indices[(size_t)y * plane->width + x] = floats ? l2k_quantise(value.f, plane->steps[band]) : value.i;
            }
    }
    return indices;
}

/* The end of a pass that does not terminate its segment is the coder's estimate: lift2k takes the least sufficient
 * length, OpenJPEG an estimate that is mostly longer. A shorter one is right only if it proves insufficient while
 * lift2k's suffices. A cut into a segmentation symbol is not visible, so OpenJPEG is not judged there. Raw passes leave
 * nothing to estimate. */
static double expected_end(const coded *k, const watch_block *theirs, unsigned pass, uint32_t ours)
{
    uint32_t end = theirs->passes[pass].end;
    bool estimated = !theirs->passes[pass].terminated && !l2k_pass_is_raw(k->t->o.style, pass);
    if (!estimated || ours <= end)
        return estimated ? ours : end;
    bool too_short = k->t->o.style & L2K_STYLE_SEGSYM || !cut_suffices(k->t, k->other, theirs, pass, end);
    return too_short && cut_suffices(k->t, k->other, theirs, pass, ours) ? ours : end;
}

/* Checks one arbitrary pass of a block: decoding through all of them would take quadratic time. */
static void compare_sufficiency(coded *k, const spot *s, unsigned band, const watch_block *theirs,
                                const l2k_t1_code *ours, uint32_t x, uint32_t y)
{
    unsigned pass = theirs->num_bytes % ours->num_passes;
    char what[64];
    snprintf(what, sizeof what, "code-block, end of pass %u is enough (1) or not (0)", pass);
    table_value(k->table, s, band, x, y, what, 1, cut_suffices(k->t, k->other, theirs, pass, ours->passes[pass].bytes));
}

static void compare_passes(coded *k, const spot *s, unsigned band, const watch_block *theirs, const l2k_t1_code *ours,
                           uint32_t x, uint32_t y)
{
    char what[64];
    for (unsigned i = 0; i < ours->num_passes; i++) {
        uint32_t end = ours->passes[i].bytes;
        snprintf(what, sizeof what, "code-block, pass %u terminates", i);
        table_value(k->table, s, band, x, y, what, theirs->passes[i].terminated, ours->passes[i].terminated);
        snprintf(what, sizeof what, "code-block, end of pass %u", i);
        table_value(k->table, s, band, x, y, what, expected_end(k, theirs, i, end), end);
    }
}

static void compare_block(coded *k, const spot *s, const watch_block *theirs)
{
    unsigned band = l2k_band_number(theirs->resolution, theirs->orientation);
    const l2k_band_view *v = &k->layout.bands[band];
    l2k_t1_block block = place_block(k->t, theirs, k->indices, k->layout.stride, *v);
    size_t offset = (size_t)((int32_t *)block.coefficients - k->indices);
    uint32_t x = (uint32_t)(offset % k->layout.stride) - v->x, y = (uint32_t)(offset / k->layout.stride) - v->y;
    l2k_t1_code ours;
    if (theirs->num_planes && table_spoils(k->table, STAGE_CODE))
        ((int32_t *)block.coefficients)[block.width / 2] ^= 1;
    if (l2k_t1_encode(k->t1, &block, false, &ours) != L2K_OK) {
        table_missing(k->table, s, "a code-block");
        return;
    }
    table_value(k->table, s, band, x, y, "code-block, bit-planes", theirs->num_planes, ours.num_planes);
    table_value(k->table, s, band, x, y, "code-block, passes", theirs->num_ends, ours.num_passes);
    if (theirs->num_ends != ours.num_passes || ours.num_passes == 0)
        return;
    compare_passes(k, s, band, theirs, &ours, x, y);
    compare_sufficiency(k, s, band, theirs, &ours, x, y);
    table_bytes(k->table, s, band, x, y, theirs->bytes, theirs->num_bytes, ours.bytes,
                ours.passes[ours.num_passes - 1].bytes);
}

static void compare_component(coded *k, const tile_frame *tile, uint32_t c, const watch_log *log)
{
    unsigned levels = coding_levels(&k->t->o);
    const watch_plane *plane = watch_find(log, WATCH_ANALYSED, c, tile->rects[c]);
    spot s = {STAGE_CODE, L2K_BACKEND_AUTO, tile->index, c, levels, NULL};
    if (!plane || l2k_rect_empty(tile->rects[c]))
        return;
    k->layout = layout_of(tile->rects[c], levels);
    k->indices = quantise_plane(plane, &k->layout, k->t->o.irreversible);
    for (size_t i = 0; i < log->num_blocks; i++) {
        const watch_block *b = &log->blocks[i];
        if (b->component == c && watch_same_rect(b->rect, tile->rects[c]))
            compare_block(k, &s, b);
    }
    free(k->indices);
}

void compare_coded_blocks(stage_table *table, const trial *t, const watch_log *log)
{
    coded k = {.table = table, .t = t, .t1 = make_coder(), .other = make_coder()};
    for (uint32_t i = 0; i < coding_tiles(&t->o, &t->p->image); i++) {
        tile_frame tile = trial_tile(t, i);
        for (uint32_t c = 0; c < tile.image.num_components; c++)
            compare_component(&k, &tile, c, log);
    }
    l2k_t1_free(k.t1);
    l2k_t1_free(k.other);
}
