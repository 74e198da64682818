/* Tier-2: packets, that is a header (B.10) and the code-block bytes it announces. */
#ifndef L2K_CODEC_PACKETS_PACKET_H
#define L2K_CODEC_PACKETS_PACKET_H

#include "codec/packets/packet_order.h"

/* Prepares the encoder's state of a tile: writes inclusion layers and zero bit-planes into the tag trees and forgets
 * all packets written before. The blocks' layer_passes must be set. Error, here and of what follows for encoders:
 * L2K_ERROR_CANCELLED, after which the tile is good for nothing but to be released. */
l2k_status l2k_packets_restart(const l2k_context *context, l2k_tile *tile);

/* Writes one packet and moves the state of its precinct on. `number` is the packet's place in the tile, for SOP. Where
 * memory lacks, `out` has failed. */
l2k_status l2k_packet_write(const l2k_context *context, l2k_tile *tile, const l2k_packet_id *id, uint32_t number,
                            l2k_buffer *out);

/* For rate control, which decides layer after layer: what the packet would take if its layer ended as layer_passes says
 * now, whatever later layers say. The state stays. `scratch` keeps memory between calls; error: L2K_ERROR_MEMORY. */
l2k_status l2k_packet_measure(const l2k_context *context, l2k_tile *tile, const l2k_packet_id *id, l2k_buffer *scratch,
                              size_t *bytes);

/* Moves the state of the packet's precinct on as if it had been written, knowing no later layer either. */
l2k_status l2k_packet_skip(const l2k_context *context, l2k_tile *tile, const l2k_packet_id *id);

/* Where packets are read from: [data, end) has their bodies, and their headers unless these are packed. */
typedef struct l2k_packet_input {
    const uint8_t *data, *end;
    bool packed; /* headers stand in [header, header_end) */
    const uint8_t *header, *header_end;
    uint64_t looks;    /* at code-blocks, so far: of those that are not included, few take bits */
    const char *fault; /* after L2K_ERROR_CORRUPT: what is wrong with the header, which the caller is to report */
} l2k_packet_input;

/* Reads one packet and moves the source behind it. Contributions are kept only where `keep`; they point into the data.
 * Errors: L2K_ERROR_UNSUPPORTED, L2K_ERROR_MEMORY, and, left to the caller to report, L2K_ERROR_CORRUPT and
 * L2K_ERROR_TRUNCATED, where the source ends within the packet. Code-blocks read before are kept in any case. */
l2k_status l2k_packet_read(const l2k_context *context, l2k_tile *tile, const l2k_packet_id *id, bool keep,
                           l2k_packet_input *input);

#endif
