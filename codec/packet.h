/* Tier-2: packets, that is a header (B.10) and the code-block bytes it announces. */
#ifndef L2K_CODEC_PACKET_H
#define L2K_CODEC_PACKET_H

#include "codec/packet_order.h"

/* Prepares the encoder's state of a tile: writes inclusion layers and zero bit-planes into the tag trees and forgets
 * all packets written before. The blocks' layer_passes must be set. */
void l2k_packets_restart(l2k_tile *tile);

/* Writes one packet and moves the state of its precinct on. `number` is the packet's place in the tile, for SOP. */
void l2k_packet_write(const l2k_tile *tile, const l2k_packet_id *id, uint32_t number, l2k_buffer *out);

/* For rate control, which decides layer after layer: what the packet would take if its layer ended as layer_passes says
 * now, whatever later layers say. The state stays. `scratch` keeps memory between calls. */
l2k_status l2k_packet_measure(const l2k_context *context, const l2k_tile *tile, const l2k_packet_id *id,
                              l2k_buffer *scratch, size_t *bytes);

/* Moves the state of the packet's precinct on as if it had been written, knowing no later layer either. */
void l2k_packet_skip(const l2k_tile *tile, const l2k_packet_id *id);

/* Reads one packet from [*data, end) and advances *data. Contributions are kept only where `keep`; they point into the
 * data. Errors: L2K_ERROR_TRUNCATED, L2K_ERROR_CORRUPT, L2K_ERROR_MEMORY. */
l2k_status l2k_packet_read(const l2k_context *context, l2k_tile *tile, const l2k_packet_id *id, bool keep,
                           const uint8_t **data, const uint8_t *end);

#endif
