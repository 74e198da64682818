/* The search for the end of a layer of a given size (J.14): the longest prefix of the list of hull segments whose
 * packets fit, with as few measurements of packets as possible. */
#ifndef L2K_CODEC_PACKETS_RATE_SEARCH_H
#define L2K_CODEC_PACKETS_RATE_SEARCH_H

#include "codec/packets/slopes.h"

/* Of a list of no more segments every step of the search is measured: there, headers vary too much. */
enum { L2K_FEW_SEGMENTS = 4096 };

/* Ends the layer at a prefix and says what its packets then take. */
typedef struct l2k_prefix_measure {
    l2k_status (*measure)(void *packets, size_t prefix, uint64_t *bytes);
    void *packets;
} l2k_prefix_measure;

typedef struct l2k_fitted_prefix {
    size_t prefix;
    uint64_t bytes;   /* more than there is room for if not even the shortest prefix fits */
    bool leaves_room; /* so much that single segments after the prefix are worth trying */
} l2k_fitted_prefix;

/* Finds the longest prefix, not shorter than `first`, whose packets take at most `room` bytes, or a shorter one that
 * leaves next to nothing. It need not be the one that was measured last. Errors: those of the measurement and of the
 * list. */
l2k_status l2k_fit_prefix(l2k_slope_list *list, const l2k_prefix_measure *measure, uint64_t room, size_t first,
                          l2k_fitted_prefix *fitted);

/* Whether more than 0.2 % of the room is left, as in small images. */
static inline bool l2k_leaves_room(uint64_t room, uint64_t bytes)
{
    return (room - bytes) * 500 > room;
}

#endif
