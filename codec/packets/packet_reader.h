/* Between packet_read.c and packet_lengths.c: a packet whose header is being read. */
#ifndef L2K_CODEC_PACKETS_PACKET_READER_H
#define L2K_CODEC_PACKETS_PACKET_READER_H

#include "codec/blocks/block_coder.h"
#include "codec/packets/packet.h"
#include "codec/tile/bits.h"

typedef struct l2k_packet_reader {
    const l2k_context *context;
    l2k_tile *tile;
    const l2k_block_coder_table *coder; /* of the packet's code-blocks */
    unsigned style;
    l2k_bit_reader bits;
    bool keep;
    uint64_t looks; /* at code-blocks */
    const char *fault;
    l2k_contribution *first, *last; /* of all blocks of the packet, in the order of their bytes */
} l2k_packet_reader;

/* A contribution whose data is not yet known. The packet's list runs through `next`; at the end the contribution moves
 * to its block's list. */
typedef struct l2k_pending {
    l2k_contribution contribution;
    l2k_block *block;
} l2k_pending;

/* Past the end of the data a header reads as zeros, so what looks like damage may be truncation. */
static inline l2k_status l2k_packet_corrupt(l2k_packet_reader *reader, const char *what)
{
    reader->fault = what;
    return reader->bits.exhausted ? L2K_ERROR_TRUNCATED : L2K_ERROR_CORRUPT;
}

static inline l2k_status l2k_packet_check_planes(const l2k_packet_reader *reader, unsigned planes, unsigned most)
{
    if (planes > most)
        return l2k_fail(reader->context, L2K_ERROR_UNSUPPORTED, "a code-block of %u bit-planes (at most %u)", planes,
                        most);
    return L2K_OK;
}

/* Reads the lengths of the codeword segments that the next `passes` passes of a block belong to, and appends their
 * contributions to the packet's list. */
l2k_status l2k_packet_lengths(l2k_packet_reader *reader, l2k_block *block, unsigned passes);

#endif
