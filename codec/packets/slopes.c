/* Convex hulls of code-blocks, and the list of their segments by slope (J.14). */
#include "codec/packets/slopes.h"

#include <stdlib.h>

#include "base/run.h"
#include "quant/steps.h"

/* ---- Hulls --------------------------------------------------------------------------------------------------- */

double l2k_distortion_weight(const l2k_tile *tile, const l2k_subband *band)
{
    static const double transform_norms[2][3] = {{1.732, .8292, .8292}, {1.732, 1.805, 1.573}};
    const l2k_tile_component *component = band->component;
    const l2k_component_coding *coding = component->coding;
    const unsigned precision = component->precision;
    if (l2k_rect_empty(band->rect))
        return 0;
    const l2k_depth depth = l2k_coding_depth(coding, band->resolution);
    double weight = l2k_norm_at(l2k_coding_wavelet(coding), depth, band->orientation) *
                    (double)l2k_error_weight(coding->viewing, depth, band->orientation);
    if (l2k_coding_wavelet(coding)->quantised) /* that norm and the step both contain the gain */
        weight *= l2k_band_step_size(band) / (1u << l2k_log2_gain(band->orientation));
    if (tile->coding->component_transform && component->index < 3)
        weight *= transform_norms[!l2k_coding_wavelet(coding)->reversible][component->index];
    weight /= (double)((1u << precision) - 1);
    return weight * weight;
}

/* ---- Bins ---------------------------------------------------------------------------------------------------- */

/* Lists the hull of a block and adds it to the bins. */
static void add_block(l2k_slope_list *list, l2k_hull_segment *segments, const l2k_block *block, double weight,
                      l2k_hull_segment place)
{
    const l2k_coded_block *coded = &block->coded;
    double slopes[UINT8_MAX], before = 0;
    uint8_t passes[UINT8_MAX];
    const unsigned count =
        l2k_find_hull(coded->pass_bytes, coded->pass_distortion, block->num_passes, weight, slopes, passes);
    for (unsigned i = 0; i < count; i++) {
        l2k_slope_bin *bin = &list->bins[l2k_slope_bin_of(slopes[i])];
        const double removed = l2k_hull_distortion(coded->pass_distortion, passes[i], weight);
        place.slope = slopes[i];
        place.before = place.passes;
        place.passes = passes[i];
        place.bytes = l2k_hull_bytes(coded->pass_bytes, place.passes) - l2k_hull_bytes(coded->pass_bytes, place.before);
        bin->start++;
        bin->bytes += place.bytes;
        bin->gain += removed - before;
        before = removed;
        segments[list->count++] = place;
    }
    list->distortion += l2k_hull_distortion(coded->pass_distortion, block->num_passes, weight);
}

/* Work per block with its tens of passes, for l2k_poll. */
enum { WEIGHT_OF_BLOCK = 200 };

static l2k_status add_tile(l2k_slope_list *list, l2k_hull_segment *segments, uint32_t t)
{
    const l2k_tile *tile = &list->tiles[t];
    const l2k_subband *band = NULL;
    double weight = 0;
    for (size_t i = 0; i < tile->num_places; i++) {
        const l2k_block_place *place = &tile->places[i];
        if (place->band != band)
            weight = l2k_distortion_weight(tile, place->band);
        band = place->band;
        if (place->block->num_passes)
            add_block(list, segments, place->block, weight,
                      (l2k_hull_segment){.block = (uint32_t)i, .tile = (uint16_t)t});
    }
    return l2k_poll(list->context, tile->num_places * WEIGHT_OF_BLOCK);
}

/* Turns counts and bytes of bins into sums of all bins before each. */
static void sum_bins(l2k_slope_bin *bins)
{
    size_t start = 0;
    uint64_t bytes = 0;
    for (size_t i = 0; i <= L2K_SLOPE_BINS; i++) {
        const size_t count = bins[i].start;
        const uint64_t own = bins[i].bytes;
        bins[i].start = start;
        bins[i].bytes = bytes;
        start += count;
        bytes += own;
    }
}

/* Distributes segments to bins; those of a block stay in order. */
static l2k_status distribute(l2k_slope_list *list, const l2k_hull_segment *segments)
{
    list->segments = l2k_allocate_coded(list->context, list->count, sizeof *list->segments);
    L2K_TRY(l2k_check_memory(list->context, list->segments, "rate control"));
    sum_bins(list->bins);
    for (size_t i = 0; i < list->count; i++)
        list->segments[list->bins[l2k_slope_bin_of(segments[i].slope)].start++] = segments[i];
    for (size_t i = L2K_SLOPE_BINS; i > 0; i--)
        list->bins[i].start = list->bins[i - 1].start;
    list->bins[0].start = 0;
    for (size_t i = 0; i < L2K_SLOPE_BINS; i++)
        list->bins[i].segments = &list->segments[list->bins[i].start];
    return L2K_OK;
}

static size_t count_passes(const l2k_slope_list *list)
{
    size_t passes = 0;
    for (uint32_t t = 0; t < list->num_tiles; t++)
        for (size_t i = 0; i < list->tiles[t].num_places; i++)
            passes += list->tiles[t].places[i].block->num_passes;
    return passes;
}

l2k_status l2k_slopes_create(const l2k_context *context, const l2k_tile *tiles, uint32_t num_tiles,
                             l2k_slope_list *list)
{
    *list = (l2k_slope_list){.context = context, .tiles = tiles, .num_tiles = num_tiles};
    list->bins = l2k_allocate_zeroed(context, L2K_SLOPE_BINS + 1, sizeof *list->bins);
    l2k_hull_segment *segments = l2k_allocate_coded(context, count_passes(list), sizeof *segments); /* block by block */
    l2k_status status = l2k_check_memory(context, list->bins && segments, "rate control");
    for (uint32_t t = 0; t < num_tiles && status == L2K_OK; t++)
        status = add_tile(list, segments, t);
    if (status == L2K_OK)
        status = distribute(list, segments);
    l2k_release(context, segments);
    return status;
}

void l2k_slopes_release(l2k_slope_list *list)
{
    l2k_release(list->context, list->segments);
    l2k_release(list->context, list->bins);
    list->segments = NULL;
    list->bins = NULL;
}

/* ---- Sorting ------------------------------------------------------------------------------------------------- */

static int compare_segments(const void *one, const void *other)
{
    const l2k_hull_segment *a = one, *b = other;
    if (a->slope != b->slope)
        return a->slope > b->slope ? -1 : 1;
    if (a->tile != b->tile)
        return a->tile < b->tile ? -1 : 1;
    if (a->block != b->block)
        return a->block < b->block ? -1 : 1;
    return a->passes < b->passes ? -1 : a->passes > b->passes;
}

size_t l2k_slopes_bin(const l2k_slope_list *list, size_t at)
{
    size_t low = 0, high = L2K_SLOPE_BINS;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        *(list->bins[middle].start <= at ? &low : &high) = middle;
    }
    return low;
}

static l2k_status sort_bin(l2k_slope_list *list, l2k_slope_bin *bin)
{
    if (!bin->segments)
        L2K_TRY(list->load(list->from, bin));
    if (!bin->sorted)
        qsort(bin->segments, bin[1].start - bin->start, sizeof *bin->segments, compare_segments);
    bin->sorted = true;
    return L2K_OK;
}

l2k_status l2k_slopes_sort(l2k_slope_list *list, size_t at)
{
    l2k_slope_bin *bin = &list->bins[l2k_slopes_bin(list, at)];
    return at > bin->start && at < list->count ? sort_bin(list, bin) : L2K_OK;
}

l2k_status l2k_slopes_segment(l2k_slope_list *list, size_t at, const l2k_hull_segment **segment)
{
    l2k_slope_bin *bin = &list->bins[l2k_slopes_bin(list, at)];
    L2K_TRY(sort_bin(list, bin));
    *segment = &bin->segments[at - bin->start];
    return L2K_OK;
}

l2k_status l2k_slopes_bytes(l2k_slope_list *list, size_t at, uint64_t *bytes)
{
    const l2k_slope_bin *bin = &list->bins[l2k_slopes_bin(list, at)];
    *bytes = bin->bytes;
    if (at == list->count) {
        *bytes = list->bins[L2K_SLOPE_BINS].bytes;
        return L2K_OK;
    }
    L2K_TRY(l2k_slopes_sort(list, at));
    for (size_t i = 0; i < at - bin->start; i++)
        *bytes += bin->segments[i].bytes;
    return L2K_OK;
}

l2k_status l2k_slopes_end(l2k_slope_list *list, size_t at, l2k_slope_end *end)
{
    const size_t number = l2k_slopes_bin(list, at);
    const l2k_slope_bin *bin = &list->bins[number];
    *end = (l2k_slope_end){.slope = INFINITY, .bin = at < list->count ? (uint32_t)number : L2K_SLOPE_BINS};
    if (at == bin->start || at == list->count)
        return L2K_OK;
    L2K_TRY(l2k_slopes_sort(list, at));
    const l2k_hull_segment *last = &bin->segments[at - bin->start - 1];
    *end = (l2k_slope_end){last->slope, end->bin, last->block, last->passes};
    return L2K_OK;
}

static double segment_gain(const l2k_slope_list *list, const l2k_hull_segment *segment)
{
    const l2k_tile *tile = &list->tiles[segment->tile];
    const l2k_block_place *place = &tile->places[segment->block];
    const double weight = l2k_distortion_weight(tile, place->band);
    const double *gains = place->block->coded.pass_distortion;
    return l2k_hull_distortion(gains, segment->passes, weight) - l2k_hull_distortion(gains, segment->before, weight);
}

size_t l2k_slopes_removing(l2k_slope_list *list, double gain)
{
    l2k_slope_bin *bin = list->bins;
    while (bin->start < list->count && bin->gain < gain)
        gain -= bin++->gain;
    size_t at = bin->start;
    if (at < list->count && gain > 0)
        (void)sort_bin(list, bin); /* cannot fail: no bin has to be loaded */
    for (; at < list->count && at < bin[1].start && gain > 0; at++)
        gain -= segment_gain(list, &list->segments[at]);
    return at;
}
