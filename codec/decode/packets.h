/* Reading the packets of a tile. */
#ifndef L2K_CODEC_DECODE_PACKETS_H
#define L2K_CODEC_DECODE_PACKETS_H

#include "codec/decode/tile_state.h"
#include "codec/packets/packet.h"

/* Reads the packets of a tile one after the other. */
typedef struct l2k_tile_reader {
    const l2k_decoding *decoding;
    l2k_tile *tile;
    uint32_t index;
    size_t part;           /* the tile-part at the input, L2K_NO_PART before the first */
    uint64_t bytes;        /* of packets and packed headers */
    uint32_t layers;       /* that are wanted */
    uint64_t wanted, left; /* packets */
    uint64_t header_bytes; /* if the file is read in parts or is still arriving: the expected length of a header */
    uint64_t number;       /* of packets read in order */
    bool has_excess;       /* a packet has promised more coding passes than bit-planes allow: */
    uint64_t excess;       /* its number */
    uint32_t excess_layer; /* and layer */
    l2k_packet_id next;    /* the packet at the input, */
    bool awaits;           /* whose bytes are still arriving; otherwise it is still to be taken from the order */
    uint64_t offset;       /* if the codestream is arriving: of the input, between calls */
    l2k_packet_input input;
} l2k_tile_reader;

/* Bytes of a tile's packets, packed headers left out. */
uint64_t l2k_tile_bytes(const l2k_codestream *codestream, uint32_t tile);

/* Reads the packets of a tile and skips those that are not wanted; all of them on several threads if headers state their
 * lengths. If the stream ends early or packets are missing, keeps what was read and sets findings->incomplete. */
l2k_status l2k_read_packets(const l2k_decoding *d, l2k_tile_state *state, unsigned threads);

/* Reads the packets of a codestream that is still arriving, as far as they are complete; `ended`: no more bytes arrive.
 * Zero-initialise the reader before the first call. *restarted: code-blocks have to be prepared again. *done: no more
 * packets can be read, and reader->awaits is false. */
l2k_status l2k_read_arrived_packets(const l2k_decoding *d, l2k_tile_state *state, bool ended, l2k_tile_reader *reader,
                                    bool *restarted, bool *done);

/* Reports a tile without packets as a warning; sets findings->incomplete if the stream ends early. */
l2k_status l2k_missing_tile(const l2k_decoding *d, uint32_t index);

/* If damaged code-blocks were set to zeros, warns and sets findings->incomplete. */
l2k_status l2k_report_damage(const l2k_decoding *d, l2k_tile_state *state);

#endif
