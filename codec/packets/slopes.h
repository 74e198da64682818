/* The list that rate control draws on (J.14): every useful truncation point of every code-block of the tiles, the
 * steepest gain per byte first, ties by position. It is sorted only where somebody looks: its steps lie in bins of
 * about equal slope, whose sums are known. */
#ifndef L2K_CODEC_PACKETS_SLOPES_H
#define L2K_CODEC_PACKETS_SLOPES_H

#include "codec/tile/tile.h"

/* A segment of the convex hull of a block's rate-distortion curve. */
typedef struct l2k_hull_segment {
    double slope;           /* distortion removed per byte; infinite where bytes are free */
    uint32_t block;         /* among the tile's places */
    uint16_t tile;          /* among those of the list */
    uint8_t before, passes; /* of the block, up to the segment and up to its end */
} l2k_hull_segment;

/* Bins are for segments between `start` and the next bin's start. */
typedef struct l2k_slope_bin {
    size_t start;
    uint64_t bytes; /* up to its start */
    double gain;    /* distortion removed by the bin itself, in image units */
    bool sorted;
} l2k_slope_bin;

typedef struct l2k_slope_list {
    const l2k_context *context;
    const l2k_tile *tiles;
    uint32_t num_tiles;
    l2k_hull_segment *segments;
    size_t count;
    l2k_slope_bin *bins; /* and one at the end */
    double distortion;   /* of an image without any pass, relative to a squared peak, summed over samples */
} l2k_slope_list;

/* The tiles' places must be listed and outlive the list. Errors: L2K_ERROR_MEMORY, L2K_ERROR_CANCELLED, after which the
 * list is to be released all the same. */
l2k_status l2k_slopes_create(const l2k_context *context, const l2k_tile *tiles, uint32_t num_tiles,
                             l2k_slope_list *list);
void l2k_slopes_release(l2k_slope_list *list);

/* The bin of a position, up to `count`. */
size_t l2k_slopes_bin(const l2k_slope_list *list, size_t at);

/* Sorts the bin of a position; all segments before it and behind it are in theirs. */
void l2k_slopes_sort(l2k_slope_list *list, size_t at);

/* The bytes of all segments before a position. */
uint64_t l2k_slopes_bytes(l2k_slope_list *list, size_t at);

static inline l2k_block *l2k_segment_block(const l2k_slope_list *list, const l2k_hull_segment *segment)
{
    return list->tiles[segment->tile].places[segment->block].block;
}

/* The bytes that a segment adds. */
uint32_t l2k_segment_bytes(const l2k_slope_list *list, const l2k_hull_segment *segment);

/* The shortest prefix of the list that removes so much of the distortion. */
size_t l2k_slopes_removing(l2k_slope_list *list, double gain);

#endif
