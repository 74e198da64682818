/* A packet whose header is being read, shared by packet_read.c and packet_lengths.c. */
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
    bool one_segment; /* all passes of an MQ block share a codeword segment */
    l2k_bit_reader bits;
    bool keep, excess;
    l2k_block *block; /* the block whose header is being read; NULL: it is not kept */
    uint64_t looks;   /* code-blocks visited */
    const char *fault;
    l2k_pending_list *pending;
    size_t num_pending; /* used entries */
} l2k_packet_reader;

/* The last contribution, if it also belongs to code-blocks that are not kept and can take `bytes` more bytes; else
 * NULL. */
static inline bool l2k_packet_pass_over(const l2k_packet_reader *reader, uint32_t bytes)
{
    l2k_pending *last = reader->num_pending ? &reader->pending->at[reader->num_pending - 1] : NULL;
    if (!last || last->block || bytes > UINT32_MAX - last->bytes)
        return false;
    last->bytes += bytes;
    return true;
}

/* Appends a contribution to the packet's. */
static inline l2k_status l2k_packet_contribute(l2k_packet_reader *reader, l2k_block_state *state, unsigned passes,
                                               bool starts, uint32_t bytes)
{
    l2k_block *block = reader->block;
    l2k_block_state now = *state; /* in registers: memory just written in parts would make the copies below wait */
    now.num_passes = (uint8_t)(now.num_passes + passes);
    *state = now;
    if (!block && l2k_packet_pass_over(reader, bytes))
        return L2K_OK;
    if (reader->num_pending == reader->pending->capacity)
        L2K_TRY(l2k_pending_grow(reader->context, reader->pending));
    reader->pending->at[reader->num_pending++] = (l2k_pending){block, bytes, (uint16_t)passes, starts};
    if (block) {
        block->num_planes = now.num_planes;
        block->num_passes = now.num_passes;
        block->kind = now.kind;
    }
    return L2K_OK;
}

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

/* After the code for Lblock: reads the lengths of the codeword segments that hold the next `passes` passes of a block,
 * and appends their contributions. */
l2k_status l2k_packet_lengths(l2k_packet_reader *reader, l2k_block_state *block, unsigned passes);

#endif
