/* Packets made on a device, from code-blocks that stay there (block_coder.h), so that a codestream crosses the bus in
 * one copy: of a tile with one layer, which has all coding passes, or those that a ratio allows. */
#ifndef L2K_CODEC_PACKETS_DEVICE_PACKETS_H
#define L2K_CODEC_PACKETS_DEVICE_PACKETS_H

#include "codec/blocks/block_coder.h"

/* Host memory with all packets of a tile. */
typedef struct l2k_made_packets {
    uint8_t *bytes; /* NULL: they are still to be made on the host. Headers may be written to L2K_PACKETS_FRONT bytes
                       before them, and L2K_PACKETS_BACK behind */
    size_t count;
    const uint32_t *lengths; /* of each packet, if asked for */
    uint32_t num_packets;
    bool blocks_are_here; /* without bytes: all code-blocks have come to the host instead */
} l2k_made_packets;

enum { L2K_PACKETS_FRONT = 1 << 16, L2K_PACKETS_BACK = 64 };

/* The maker's memory, lists and results. */
typedef struct l2k_packet_maker l2k_packet_maker;

/* What packets are made of: all blocks of a tile, which the coder encodes as `batch` says, from the beginning of the
 * batch to its end. */
typedef struct l2k_packet_source {
    l2k_block_coder *coder;
    const l2k_block_batch *batch;
    l2k_tile *tile;
    void *coefficients; /* their memory, where all packets are put together, once they are not needed any more */
    size_t coefficient_bytes;
    bool lengths;       /* of packets are asked for */
    double ratio;       /* that the layer is to reach (rate.h); 0: all passes. Then the batch asks for distortions */
    size_t fixed_bytes; /* which counts for a ratio, as for l2k_layers_allocate */
} l2k_packet_source;

typedef struct l2k_packet_maker_table {
    l2k_status (*create)(const l2k_context *context, l2k_packet_maker **maker);
    /* NULL is allowed. */
    void (*free)(l2k_packet_maker *maker);
    /* `made->bytes` is NULL if that cannot be done there; the coefficients are then as they were. Else it sets the
     * tile's missing_guard_bits, for which the packets have that bit already, and magnitude_bound. What is made remains
     * until the next time. Errors: as from the coder; L2K_ERROR_MEMORY, L2K_ERROR_BACKEND. */
    l2k_status (*make)(l2k_packet_maker *maker, const l2k_packet_source *from, l2k_made_packets *made);
} l2k_packet_maker_table;

/* The one for packets of blocks that such a coder encodes; NULL where there is none. */
const l2k_packet_maker_table *l2k_packet_maker_for(const l2k_block_coder_table *coder);

#endif
