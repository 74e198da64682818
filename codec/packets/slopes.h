/* The list that rate control draws on (J.14): every useful truncation point of every code-block of the tiles, the
 * steepest gain per byte first, ties by position. Segments lie in bins of about equal slope, whose sums are known; a
 * bin is sorted only when it is used. */
#ifndef L2K_CODEC_PACKETS_SLOPES_H
#define L2K_CODEC_PACKETS_SLOPES_H

#include "codec/packets/hull.h"
#include "codec/tile/tile.h"

/* A bin: the segments from `start` to the start of the next bin. */
typedef struct l2k_slope_bin {
    size_t start;
    uint64_t bytes;             /* bytes of all segments before it */
    double gain;                /* distortion removed by the bin itself, in image units */
    l2k_hull_segment *segments; /* NULL: not loaded */
    bool sorted;
} l2k_slope_bin;

typedef struct l2k_slope_list {
    const l2k_context *context;
    const l2k_tile *tiles;
    uint32_t num_tiles;
    l2k_hull_segment *segments;
    size_t count;
    l2k_slope_bin *bins; /* with one more at the end */
    double distortion;   /* of an image without any pass, relative to a squared peak, summed over samples */
    /* For one tile whose list is off the host: sets the segments of a bin, in any order; gain and distortion of such a
     * list are unknown. NULL: all segments are on the host. */
    l2k_status (*load)(void *from, l2k_slope_bin *bin);
    void *from;
} l2k_slope_list;

/* The value of a squared error of one quantiser step in a subband, in squared samples of the image relative to each
 * component's squared peak: from the L2 norms of the subband's basis and of the column of the inverse component
 * transform. */
double l2k_distortion_weight(const l2k_tile *tile, const l2k_subband *band);

/* The tiles' places must be listed and outlive the list. Errors: L2K_ERROR_MEMORY, L2K_ERROR_CANCELLED; release the
 * list all the same. */
l2k_status l2k_slopes_create(const l2k_context *context, const l2k_tile *tiles, uint32_t num_tiles,
                             l2k_slope_list *list);
void l2k_slopes_release(l2k_slope_list *list);

/* The bin of a position, up to `count`. */
size_t l2k_slopes_bin(const l2k_slope_list *list, size_t at);

/* Sorts the bin of a position; segments of other bins are already in theirs. Errors, here and in the next three
 * functions: those of `load`. */
l2k_status l2k_slopes_sort(l2k_slope_list *list, size_t at);

/* The segment at a position, in its place. */
l2k_status l2k_slopes_segment(l2k_slope_list *list, size_t at, const l2k_hull_segment **segment);

/* The bytes of all segments before a position. */
l2k_status l2k_slopes_bytes(l2k_slope_list *list, size_t at, uint64_t *bytes);

/* Converts a position into an end that segments can be compared with. */
l2k_status l2k_slopes_end(l2k_slope_list *list, size_t at, l2k_slope_end *end);

/* The shortest prefix that removes distortion `gain`, for a list on the host. */
size_t l2k_slopes_removing(l2k_slope_list *list, double gain);

/* ---- The end of a layer (rate_search.c) -------------------------------------------------------------------------- */

/* In a list of at most this many segments every step of the search is measured, since headers vary too much there. */
enum { L2K_FEW_SEGMENTS = 4096 };

/* A function that ends the layer at a prefix and returns the bytes its packets then take. */
typedef struct l2k_prefix_measure {
    l2k_status (*measure)(void *packets, size_t prefix, uint64_t *bytes);
    void *packets;
} l2k_prefix_measure;

typedef struct l2k_fitted_prefix {
    size_t prefix;
    uint64_t bytes;   /* exceeds the room if not even the shortest prefix fits */
    bool leaves_room; /* the room left makes it worth trying single segments after the prefix */
} l2k_fitted_prefix;

/* Finds the longest prefix, not shorter than `first`, whose packets take at most `room` bytes, or a shorter one that
 * leaves next to nothing. The prefix measured last may be another one. Errors: those of the measurement and of the
 * list. */
l2k_status l2k_fit_prefix(l2k_slope_list *list, const l2k_prefix_measure *measure, uint64_t room, size_t first,
                          l2k_fitted_prefix *fitted);

/* Whether more than 0.2 % of the room is left, as in small images. */
static inline bool l2k_leaves_room(uint64_t room, uint64_t bytes)
{
    return (room - bytes) * 500 > room;
}

#endif
