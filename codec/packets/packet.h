/* Packets (B.9): a header (B.10) and the bytes of the code-blocks that it announces. */
#ifndef L2K_CODEC_PACKETS_PACKET_H
#define L2K_CODEC_PACKETS_PACKET_H

#include <pthread.h>

#include "codec/packets/packet_order.h"

/* Prepares a tile's encoder state: enters zero bit-planes into their tag trees and forgets all packets written before.
 * Before l2k_packet_measure and l2k_packet_skip; l2k_packet_write does so for each precinct with its layer 0. Error,
 * here and in the next three functions: L2K_ERROR_CANCELLED, after which the tile can only be released. */
l2k_status l2k_packets_restart(const l2k_context *context, l2k_tile *tile);

/* Writes one packet and advances the state of its precinct. `number` is the packet's position in the tile, for SOP.
 * After a failed allocation `out` has failed. `drain`, if not NULL, is called after each code-block and may empty `out`,
 * since a packet can hold most of an image. */
typedef l2k_status l2k_packet_drain(void *user);
l2k_status l2k_packet_write(const l2k_context *context, l2k_tile *tile, const l2k_packet_id *id, uint32_t number,
                            l2k_buffer *out, l2k_packet_drain *drain, void *user);

/* The bytes that the packet would take if its layer ended where layer_passes says now, independent of later layers; for
 * rate control, which decides layer by layer. The state is unchanged. */
l2k_status l2k_packet_measure(const l2k_context *context, l2k_tile *tile, const l2k_packet_id *id, size_t *bytes);

/* Advances the state of the packet's precinct as if it had been written, also independent of later layers. */
l2k_status l2k_packet_skip(const l2k_context *context, l2k_tile *tile, const l2k_packet_id *id);

/* The bytes to read packets from: [data, end) holds their bodies, and their headers unless these are packed. */
typedef struct l2k_packet_input {
    const uint8_t *data, *end;
    bool packed; /* headers are in [header, header_end) (PPM, PPT) */
    const uint8_t *header, *header_end;
    bool like_openjpeg; /* L2K_DECODER_LIKE_OPENJPEG */
    /* For a file that is read in parts: headers in the data may be read up to here; NULL: up to the end. If a header
     * goes on, sets `beyond`, and the tile has to be restarted. */
    const uint8_t *sure;
    bool beyond;
    /* For a codestream that is still arriving: if the body goes beyond the end, its header is read, `body_is_due` set,
     * and a later call with the same packet goes on. */
    bool arrives, body_is_due;
    size_t num_pending; /* then */
    uint64_t looks;     /* code-blocks visited so far: those that are not included may take no bits */
    const char *fault;  /* after L2K_ERROR_CORRUPT: the header's fault, for the caller to report */
    bool excess;        /* a header promised more coding passes than bit-planes allow; the caller clears it */
    /* For several threads that read packets of different precincts: the same lock for all, and a list for each. */
    pthread_mutex_t *lock;
    l2k_pending_list *pending; /* NULL: the tile's */
} l2k_packet_input;

/* Reads one packet and advances the input past it. Keeps contributions only if `keep`; they point into the data.
 * Errors: L2K_ERROR_UNSUPPORTED, L2K_ERROR_MEMORY and, left to the caller to report, L2K_ERROR_CORRUPT and
 * L2K_ERROR_TRUNCATED (the input ends within the packet). Code-blocks read before an error are kept. */
l2k_status l2k_packet_read(const l2k_context *context, l2k_tile *tile, const l2k_packet_id *id, bool keep,
                           l2k_packet_input *input);

#endif
