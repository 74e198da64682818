/* Convex hulls of code-blocks, and the list of their segments by slope (J.14). */
#include "codec/packets/slopes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/run.h"
#include "quant/steps.h"

/* ---- Hulls --------------------------------------------------------------------------------------------------- */

/* What a squared error of one quantiser step in a subband is worth in squared samples of the image, in units of each
 * component's squared peak: the L2 norm of the subband's basis, and that of the inverse component transform's column.
 */
static double distortion_weight(const l2k_tile *tile, const l2k_subband *band)
{
    static const double transform_norms[2][3] = {{1.732, .8292, .8292}, {1.732, 1.805, 1.573}};
    const l2k_tile_component *component = band->component;
    const l2k_component_coding *coding = component->coding;
    unsigned level = l2k_band_level(coding->levels, band->resolution), precision = component->precision;
    double weight = l2k_subband_norm((l2k_wavelet)coding->wavelet, level, band->orientation);
    if (l2k_coding_wavelet(coding)->quantised) /* that norm and the step both contain the gain */
        weight *=
            l2k_step_size(l2k_coding_step(coding, band->resolution, band->orientation), precision, band->orientation) /
            (1u << l2k_log2_gain(band->orientation));
    if (tile->coding->component_transform && component->index < 3)
        weight *= transform_norms[coding->wavelet][component->index];
    weight /= (double)((1u << precision) - 1);
    return weight * weight;
}

static uint32_t bytes_to(const l2k_block *block, unsigned passes)
{
    return passes ? block->coded.pass_bytes[passes - 1] & ~L2K_PASS_TERMINATED : 0;
}

static double distortion_to(const l2k_block *block, unsigned passes, double weight)
{
    return passes ? weight * block->coded.pass_distortion[passes - 1] : 0;
}

/* Gain per byte from a hull point to another one. */
static double slope_between(double gain, uint32_t bytes)
{
    return bytes ? gain / bytes : INFINITY;
}

typedef struct hull_point {
    double distortion; /* removed */
    uint32_t bytes;
    uint8_t passes;
} hull_point;

/* Writes the segments of the upper convex hull of (bytes, distortion removed); returns how many. */
static unsigned find_hull(const l2k_block *block, double weight, l2k_hull_segment segment, l2k_hull_segment *segments)
{
    const uint32_t *pass_bytes = block->coded.pass_bytes;
    const double *pass_distortion = block->coded.pass_distortion;
    hull_point points[257], *top = points; /* ends of the segments */
    unsigned count = 0;
    *top = (hull_point){0};
    for (unsigned p = 0; p < block->num_passes; p++) {
        const uint32_t bytes = pass_bytes[p] & ~L2K_PASS_TERMINATED;
        const double distortion = weight * pass_distortion[p];
        if (distortion <= top->distortion)
            continue;
        segment.slope = slope_between(distortion - top->distortion, bytes - top->bytes);
        while (count > 0 && segment.slope >= segments[count - 1].slope) {
            top--, count--;
            segment.slope = slope_between(distortion - top->distortion, bytes - top->bytes);
        }
        segment.before = top->passes;
        segment.passes = (uint8_t)(p + 1);
        segments[count++] = segment;
        *++top = (hull_point){distortion, bytes, segment.passes};
    }
    return count;
}

/* ---- Bins ---------------------------------------------------------------------------------------------------- */

/* Bins for 128 octaves of slope, of 64 bins each; what is beyond is in the first and the last. */
enum { LOG2_OCTAVE_BINS = 6, OCTAVES = 128, LOWEST_EXPONENT = -80, NUM_BINS = OCTAVES << LOG2_OCTAVE_BINS };

static size_t bin_of(double slope)
{
    uint64_t bits;
    memcpy(&bits, &slope, sizeof bits);
    const int64_t place =
        (int64_t)(bits >> (52 - LOG2_OCTAVE_BINS)) - ((int64_t)(1023 + LOWEST_EXPONENT) << LOG2_OCTAVE_BINS);
    return place < 0 ? NUM_BINS - 1 : place >= NUM_BINS ? 0 : (size_t)(NUM_BINS - 1 - place);
}

typedef struct listing {
    l2k_slope_list *list;
    l2k_hull_segment *segments; /* block by block */
} listing;

/* Lists the hull of a block and adds it to the bins. */
static void add_block(listing *l, const l2k_block *block, double weight, l2k_hull_segment place)
{
    l2k_slope_list *list = l->list;
    l2k_hull_segment *segments = &l->segments[list->count];
    const unsigned count = find_hull(block, weight, place, segments);
    for (unsigned i = 0; i < count; i++) {
        const unsigned before = segments[i].before, passes = segments[i].passes;
        l2k_slope_bin *bin = &list->bins[bin_of(segments[i].slope)];
        bin->start++;
        bin->bytes += bytes_to(block, passes) - bytes_to(block, before);
        bin->gain += distortion_to(block, passes, weight) - distortion_to(block, before, weight);
    }
    list->count += count;
    list->distortion += distortion_to(block, block->num_passes, weight);
}

/* In l2k_poll, of a visit to a block with its tens of passes. */
enum { WEIGHT_OF_BLOCK = 200 };

static l2k_status add_tile(listing *l, uint32_t t)
{
    const l2k_tile *tile = &l->list->tiles[t];
    const l2k_subband *band = NULL;
    double weight = 0;
    for (size_t i = 0; i < tile->num_places; i++) {
        const l2k_block_place *place = &tile->places[i];
        if (place->band != band)
            weight = distortion_weight(tile, place->band);
        band = place->band;
        if (place->block->num_passes)
            add_block(l, place->block, weight, (l2k_hull_segment){.block = (uint32_t)i, .tile = (uint16_t)t});
    }
    return l2k_poll(l->list->context, tile->num_places * WEIGHT_OF_BLOCK);
}

/* Counts and bytes of bins become what is before each. */
static void sum_bins(l2k_slope_list *list)
{
    size_t start = 0;
    uint64_t bytes = 0;
    for (size_t i = 0; i <= NUM_BINS; i++) {
        l2k_slope_bin *bin = &list->bins[i];
        const size_t count = bin->start;
        const uint64_t own = bin->bytes;
        bin->start = start;
        bin->bytes = bytes;
        start += count;
        bytes += own;
    }
}

/* Into bins; those of a block stay in their order. */
static l2k_status distribute(listing *l)
{
    l2k_slope_list *list = l->list;
    list->segments = l2k_allocate(list->context, list->count, sizeof *list->segments);
    if (!list->segments)
        return l2k_fail(list->context, L2K_ERROR_MEMORY, "out of memory for rate control");
    sum_bins(list);
    for (size_t i = 0; i < list->count; i++)
        list->segments[list->bins[bin_of(l->segments[i].slope)].start++] = l->segments[i];
    for (size_t i = NUM_BINS; i > 0; i--)
        list->bins[i].start = list->bins[i - 1].start;
    list->bins[0].start = 0;
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
    listing l = {.list = list};
    list->bins = l2k_allocate_zeroed(context, NUM_BINS + 1, sizeof *list->bins);
    l.segments = l2k_allocate(context, count_passes(list), sizeof *l.segments);
    l2k_status status =
        list->bins && l.segments ? L2K_OK : l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for rate control");
    for (uint32_t t = 0; t < num_tiles && status == L2K_OK; t++)
        status = add_tile(&l, t);
    if (status == L2K_OK)
        status = distribute(&l);
    l2k_release(context, l.segments);
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
    size_t low = 0, high = NUM_BINS;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        *(list->bins[middle].start <= at ? &low : &high) = middle;
    }
    return low;
}

static void sort_bin(l2k_slope_list *list, l2k_slope_bin *bin)
{
    if (!bin->sorted)
        qsort(&list->segments[bin->start], bin[1].start - bin->start, sizeof *list->segments, compare_segments);
    bin->sorted = true;
}

void l2k_slopes_sort(l2k_slope_list *list, size_t at)
{
    l2k_slope_bin *bin = &list->bins[l2k_slopes_bin(list, at)];
    if (at > bin->start && at < list->count)
        sort_bin(list, bin);
}

uint32_t l2k_segment_bytes(const l2k_slope_list *list, const l2k_hull_segment *segment)
{
    const l2k_block *block = l2k_segment_block(list, segment);
    return bytes_to(block, segment->passes) - bytes_to(block, segment->before);
}

uint64_t l2k_slopes_bytes(l2k_slope_list *list, size_t at)
{
    const l2k_slope_bin *bin = &list->bins[l2k_slopes_bin(list, at)];
    uint64_t bytes = bin->bytes;
    l2k_slopes_sort(list, at);
    for (size_t i = bin->start; i < at; i++)
        bytes += l2k_segment_bytes(list, &list->segments[i]);
    return bytes;
}

static double segment_gain(const l2k_slope_list *list, const l2k_hull_segment *segment)
{
    const l2k_tile *tile = &list->tiles[segment->tile];
    const l2k_block_place *place = &tile->places[segment->block];
    const double weight = distortion_weight(tile, place->band);
    return distortion_to(place->block, segment->passes, weight) - distortion_to(place->block, segment->before, weight);
}

size_t l2k_slopes_removing(l2k_slope_list *list, double gain)
{
    l2k_slope_bin *bin = list->bins;
    while (bin->start < list->count && bin->gain < gain)
        gain -= bin++->gain;
    size_t at = bin->start;
    if (at < list->count && gain > 0)
        sort_bin(list, bin);
    for (; at < list->count && at < bin[1].start && gain > 0; at++)
        gain -= segment_gain(list, &list->segments[at]);
    return at;
}
