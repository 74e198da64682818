/* An index of a tile's packets: what the first window of a file finds out, later ones do not look for. Eight bytes a
 * packet, and four more for a length that PLT states (A.7.3). */
#ifndef L2K_CODEC_PACKETS_PACKET_INDEX_H
#define L2K_CODEC_PACKETS_PACKET_INDEX_H

#include "codec/packets/packet_order.h"

/* Why the packets of a tile end before the last one; error L2K_OK: they do not. Strings are static. */
typedef struct l2k_packet_stop {
    l2k_status error;
    const char *what, *detail;
} l2k_packet_stop;

typedef struct l2k_packet_index {
    uint32_t num_layers;
    size_t num_packets;
    bool is_walked;       /* packets were read one by one, as far as a window needed it */
    bool is_whole;        /* all packets that there are have been entered */
    l2k_packet_stop stop; /* of the walk */
    uint64_t *offsets;    /* by precinct and layer, from the first byte of the codestream on; L2K_NO_PACKET: unknown */
    uint32_t *lengths;    /* as PLT states them; NULL: it does not */
} l2k_packet_index;

#define L2K_NO_PACKET UINT64_MAX

/* An index without any packet, of a tile with that many bytes of packets. NULL, without a message, where there is no
 * memory for it, or more packets are promised than there are bytes: windows can do without. */
l2k_packet_index *l2k_packet_index_create(const l2k_context *context, const l2k_tile *tile, uint64_t bytes);
void l2k_packet_index_free(const l2k_context *context, l2k_packet_index *index);

/* Forgets all packets, and PLT. */
void l2k_packet_index_empty(const l2k_context *context, l2k_packet_index *index);

/* NULL where there is no memory for it. */
l2k_packet_index *l2k_packet_index_copy(const l2k_context *context, const l2k_packet_index *index);

/* Where the index has a packet. */
size_t l2k_packet_index_place(const l2k_packet_index *index, const l2k_tile *tile, const l2k_packet_id *id);

/* The packets of a tile-part, for PLT. */
typedef struct l2k_packet_span {
    const uint8_t *header, *packets, *end;
} l2k_packet_span;

/* Makes the index out of the PLT marker segments of tile-part headers, `count` in order, if these list all packets of
 * the tile and exactly the bytes of each tile-part; it stays empty where they do not. `order` is at its
 * first packet, and at its end afterwards. `codestream` is the first byte of the codestream. Errors: those of
 * l2k_need; order->status. */
l2k_status l2k_packet_index_from_plt(const l2k_context *context, const l2k_tile *tile, const uint8_t *codestream,
                                     const l2k_packet_span *parts, size_t count, l2k_packet_order *order,
                                     l2k_packet_index *index);

#endif
