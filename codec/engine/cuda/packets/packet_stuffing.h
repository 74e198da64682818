/* Bit stuffing (B.10.1) of a header in pieces of 64 bits, in parallel. A byte 0xFF and the one after it, which begins
 * with a 0, take 15 bits; any other byte takes 8. So a piece depends on earlier ones only by how far their last byte
 * reaches into it: 0 to 14 bits. Each piece computes for all of these what it hands on to the next one. */
#ifndef L2K_CODEC_ENGINE_CUDA_PACKETS_PACKET_STUFFING_H
#define L2K_CODEC_ENGINE_CUDA_PACKETS_PACKET_STUFFING_H

#include "base/scalar.h"

enum { L2K_PIECE_BITS = 64, L2K_PIECE_ENTRIES = 15 };

/* The words that a piece needs: its two and the next one, 0 beyond the end of the header. */
typedef struct l2k_piece {
    uint32_t words[3];
    uint32_t limit; /* its bits, fewer than 64 at the end of the header */
} l2k_piece;

/* Bit 63 - i: the eight bits from bit i of the piece on are ones. */
L2K_HD uint64_t l2k_full_bytes(const l2k_piece *piece)
{
    const uint64_t bits = (uint64_t)piece->words[0] << 32 | piece->words[1];
    uint64_t full = bits;
    for (unsigned k = 1; k < 8; k++)
        full &= bits << k | piece->words[2] >> (32 - k);
    return full;
}

/* From bit `entry` on: how far the last byte reaches into the next piece, and, times 16, how many bytes begin here. */
L2K_HD uint32_t l2k_stuff_piece(uint64_t full, uint32_t limit, uint32_t entry)
{
    uint32_t at = entry, bytes = 0;
    while (at < limit) {
        const uint32_t is_full = (uint32_t)(full >> (63 - at)) & 1;
        at += 8 + 7 * is_full;
        bytes += 1 + is_full;
    }
    return (at < L2K_PIECE_BITS ? 0 : at - L2K_PIECE_BITS) | bytes << 4;
}

/* The bytes themselves. A 0xFF at the end of the header is followed by a byte 0. */
L2K_HD void l2k_put_piece(const l2k_piece *piece, uint64_t full, uint32_t entry, uint8_t *out)
{
    for (uint32_t at = entry; at < piece->limit;) {
        const uint32_t high = piece->words[at >> 5], low = piece->words[(at >> 5) + 1];
        const uint32_t next = (uint32_t)(((uint64_t)high << 32 | low) << (at & 31) >> 32);
        *out++ = (uint8_t)(next >> 24);
        at += 8;
        if (full >> (71 - at) & 1) {
            *out++ = (uint8_t)(next >> 17 & 0x7F);
            at += 7;
        }
    }
}

#endif
