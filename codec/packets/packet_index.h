/* An index of a tile's packets: later windows of a file reuse the places that the first one has found. Eight bytes a
 * packet, and if lengths are stated (A.7) four more, or six with SOP. */
#ifndef L2K_CODEC_PACKETS_PACKET_INDEX_H
#define L2K_CODEC_PACKETS_PACKET_INDEX_H

#include "codec/packets/packet_order.h"

/* Why the packets of a tile end before the last one; error L2K_OK: they are complete. Strings are static. */
typedef struct l2k_packet_stop {
    l2k_status error;
    const char *what, *detail;
} l2k_packet_stop;

typedef struct l2k_packet_index {
    uint32_t num_layers;
    size_t num_packets;
    bool was_read;        /* packets were read one by one, as far as a window needed them */
    bool is_whole;        /* all packets in the file have been entered */
    l2k_packet_stop stop; /* where reading stopped */
    uint64_t *offsets;    /* by precinct and layer, from the first byte of the codestream; L2K_NO_PACKET: unknown */
    uint32_t *lengths;    /* the stated lengths; NULL: none are stated */
    uint16_t *numbers;    /* if lengths are stated and SOP may be used: the low bits of each packet's number in the
                             tile; else NULL */
} l2k_packet_index;

#define L2K_NO_PACKET UINT64_MAX

/* The most bytes that a packet takes in the index. */
enum { L2K_INDEX_BYTES_OF_PACKET = 14 };

/* An index without packets, for a tile with `bytes` bytes of packets. NULL, without a message, if memory runs out or
 * more packets are promised than there are bytes: windows can do without an index. */
l2k_packet_index *l2k_packet_index_create(const l2k_context *context, const l2k_tile *tile, uint64_t bytes);
void l2k_packet_index_free(const l2k_context *context, l2k_packet_index *index);

/* Whether the index is for a tile with those precincts and layers: the file may have changed since. */
bool l2k_packet_index_fits(const l2k_packet_index *index, const l2k_tile *tile);

/* Forgets all packets and lengths. */
void l2k_packet_index_empty(const l2k_context *context, l2k_packet_index *index);

/* A copy, or NULL if memory runs out. */
l2k_packet_index *l2k_packet_index_copy(const l2k_context *context, const l2k_packet_index *index);

/* The position of a packet in the index. */
size_t l2k_packet_index_place(const l2k_packet_index *index, const l2k_tile *tile, const l2k_packet_id *id);

/* The packets of a tile-part and their lengths as a header states them, seven bits a byte, the highest first (A.7.3).
 * If none are stated, SOP marker segments may show where packets begin (A.8.1). */
typedef struct l2k_packet_span {
    const uint8_t *packets, *end;
    const uint8_t *lengths, *lengths_end;
} l2k_packet_span;

/* Progress in entering packet lengths, in order from the tile's first packet. */
typedef struct l2k_packet_entry {
    const l2k_tile *tile;
    const uint8_t *codestream; /* its first byte */
    l2k_packet_order *order;   /* at the first packet */
    uint32_t number;           /* number of packets entered so far */
} l2k_packet_entry;

/* Makes room for lengths; false if memory runs out. */
bool l2k_packet_index_take_lengths(const l2k_context *context, const l2k_tile *tile, l2k_packet_index *index);

/* Enters the packets of the next tile-part. False if the lengths do not add up to its bytes, or SOP marker segments do
 * not count from packet to packet: the index must then be emptied. */
bool l2k_packet_index_enter(l2k_packet_index *index, l2k_packet_entry *entry, const l2k_packet_span *span);

/* Whether the data at an indexed position can be that packet: an SOP marker segment must have its number. */
bool l2k_packet_index_agrees(const l2k_packet_index *index, size_t place, const uint8_t *at, const uint8_t *end);

#endif
