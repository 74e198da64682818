/* The search for the end of a layer of a given size (J.14): the longest prefix of the list of hull segments whose
 * packets fit, with as few measurements of packets as possible. */
#ifndef L2K_CODEC_PACKETS_RATE_SEARCH_H
#define L2K_CODEC_PACKETS_RATE_SEARCH_H

#include "codec/packets/slopes.h"

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
