/* The bits that one code-block adds to the header of its packet (B.10.3 to B.10.7) if all passes are in one layer. Then
 * a tag tree's node is coded with the first visited block below it, so that every block knows its bits without those
 * before it: only their place is a prefix sum. */
#ifndef L2K_CODEC_ENGINE_CUDA_PACKETS_PACKET_LEAVES_H
#define L2K_CODEC_ENGINE_CUDA_PACKETS_PACKET_LEAVES_H

#include "codec/engine/cuda/blocks/cuda_memory.h"
#include "codec/engine/cuda/packets/cuda_packets.h"
#include "codec/packets/packet_codes.h"

/* Of l2k_cuda_coded.pass_ends: L2K_PASS_TERMINATED. */
#define L2K_ENDS_SEGMENT 0x80000000u

L2K_HD void l2k_or_word(uint32_t *word, uint32_t bits)
{
#ifdef __CUDA_ARCH__
    atomicOr(word, bits);
#else
    *word |= bits;
#endif
}

/* Adds `count` bits, at most 32, from bit `at` on, which must be 0; highest bits come first. */
L2K_HD void l2k_put_header_bits(uint32_t *words, uint32_t at, uint32_t value, unsigned count)
{
    const unsigned shift = at & 31;
    const uint64_t v = count ? (uint64_t)value << (64 - count) >> shift : 0;
    if (v >> 32)
        l2k_or_word(words + (at >> 5), (uint32_t)(v >> 32));
    if ((uint32_t)v)
        l2k_or_word(words + (at >> 5) + 1, (uint32_t)v);
}

/* Node `i` of the level above one of across x down nodes, at least 2. */
L2K_HD l2k_cuda_packet_node l2k_join_nodes(const l2k_cuda_packet_node *below, uint32_t across, uint32_t down,
                                           uint32_t i)
{
    const uint32_t x = 2 * (i % ((across + 1) / 2)), y = 2 * (i / ((across + 1) / 2));
    uint32_t first = L2K_NO_BLOCK, zero_planes = 0xFF;
    for (uint32_t v = y; v < y + 2 && v < down; v++)
        for (uint32_t u = x; u < x + 2 && u < across; u++) {
            const l2k_cuda_packet_node child = below[v * across + u];
            first = l2k_node_first(child) < first ? l2k_node_first(child) : first;
            zero_planes = l2k_node_zero_planes(child) < zero_planes ? l2k_node_zero_planes(child) : zero_planes;
        }
    return l2k_make_node(first, zero_planes);
}

/* A node of both tag trees on the way up from a block. `nodes` are those of its part. */
typedef struct l2k_tree_cursor {
    const l2k_cuda_packet_node *level; /* the first node of the level */
    uint32_t x, y, across, down;
} l2k_tree_cursor;

L2K_HD l2k_tree_cursor l2k_cursor_at(const l2k_cuda_packet_part *part, const l2k_cuda_packet_node *nodes, uint32_t leaf)
{
    const l2k_tree_cursor cursor = {nodes, leaf % part->across, leaf / part->across, part->across, part->down};
    return cursor;
}

L2K_HD l2k_cuda_packet_node l2k_cursor_node(const l2k_tree_cursor *cursor)
{
    return cursor->level[cursor->y * cursor->across + cursor->x];
}

L2K_HD int l2k_cursor_is_root(const l2k_tree_cursor *cursor)
{
    return cursor->across == 1 && cursor->down == 1;
}

L2K_HD l2k_tree_cursor l2k_cursor_up(const l2k_tree_cursor *cursor)
{
    const l2k_tree_cursor up = {cursor->level + cursor->across * cursor->down, cursor->x / 2, cursor->y / 2,
                                (cursor->across + 1) / 2, (cursor->down + 1) / 2};
    return up;
}

/* Inclusion: all blocks are visited, so a node is coded with the one at its corner, if the node above has an included
 * block below it. From the root down these are ones, and at most one 0. Returns their number. */
L2K_HD uint32_t l2k_inclusion_bits(const l2k_cuda_packet_part *part, const l2k_cuda_packet_node *nodes, uint32_t leaf,
                                   uint32_t *bits)
{
    l2k_tree_cursor at = l2k_cursor_at(part, nodes, leaf);
    uint32_t ones = 0, zeros = 0;
    int included = l2k_node_first(l2k_cursor_node(&at)) != L2K_NO_BLOCK;
    for (int corner = 1; corner;) {
        const int root = l2k_cursor_is_root(&at);
        const l2k_tree_cursor up = l2k_cursor_up(&at);
        const int above = root || l2k_node_first(l2k_cursor_node(&up)) != L2K_NO_BLOCK;
        ones += above && included;
        zeros += above && !included;
        corner = !root && !((at.x | at.y) & 1);
        included = above;
        at = up;
    }
    *bits = ((1u << ones) - 1) << zeros;
    return ones + zeros;
}

/* Zero bit-planes: only included blocks are visited, and a node is coded with the first of them below it: a 0 for each
 * zero bit-plane that the node above lacks, then a 1. Bits of higher nodes come first. Returns the number of bits; adds
 * them, up to bit `end`, unless `words` is NULL. */
L2K_HD uint32_t l2k_zero_plane_bits(const l2k_cuda_packet_part *part, const l2k_cuda_packet_node *nodes, uint32_t leaf,
                                    uint32_t *words, uint32_t end)
{
    l2k_tree_cursor at = l2k_cursor_at(part, nodes, leaf);
    l2k_cuda_packet_node node = l2k_cursor_node(&at);
    uint32_t count = 0;
    for (int first = 1; first;) {
        const int root = l2k_cursor_is_root(&at);
        at = l2k_cursor_up(&at);
        const l2k_cuda_packet_node above = root ? l2k_make_node(L2K_NO_BLOCK, 0) : l2k_cursor_node(&at);
        if (words)
            l2k_put_header_bits(words, end - count - 1, 1, 1);
        count += l2k_node_zero_planes(node) - l2k_node_zero_planes(above) + 1;
        first = l2k_node_first(above) == leaf;
        node = above;
    }
    return count;
}

/* The end of the codeword segment that begins with pass `first`. */
L2K_HD unsigned l2k_segment_end(const uint32_t *ends, unsigned first, unsigned passes)
{
    unsigned end = ends ? first + 1 : passes;
    while (end < passes && !(ends[end - 1] & L2K_ENDS_SEGMENT))
        end++;
    return end;
}

/* The bytes of the block up to the end of a segment. */
L2K_HD uint32_t l2k_bytes_to_end(const l2k_cuda_coded_block *block, const uint32_t *ends, unsigned end)
{
    return end == block->num_passes ? block->bytes : ends[end - 1] & ~L2K_ENDS_SEGMENT;
}

/* Number of passes and lengths of segments. `ends` are the block's pass ends; NULL: all passes are in one segment.
 * Returns the number of bits; adds them from bit `at` on unless `words` is NULL. */
L2K_HD uint32_t l2k_length_bits(const l2k_cuda_coded_block *block, const uint32_t *ends, uint32_t *words, uint32_t at)
{
    unsigned width, lblock = L2K_FIRST_LBLOCK, passes = block->num_passes;
    const uint32_t code = l2k_pass_count_code(passes, &width), from = at;
    uint32_t before = 0;
    for (unsigned first = 0, next; first < passes; first = next) {
        next = l2k_segment_end(ends, first, passes);
        const uint32_t bytes = l2k_bytes_to_end(block, ends, next);
        lblock = l2k_lblock_for(lblock, next - first, bytes - before);
        before = bytes;
    }
    if (words) {
        l2k_put_header_bits(words, at, code, width);
        l2k_put_header_bits(words, at + width, (2u << (lblock - L2K_FIRST_LBLOCK)) - 2, lblock - L2K_FIRST_LBLOCK + 1);
    }
    at += width + lblock - L2K_FIRST_LBLOCK + 1;
    before = 0;
    for (unsigned first = 0, next; first < passes; first = next) {
        next = l2k_segment_end(ends, first, passes);
        const uint32_t bytes = l2k_bytes_to_end(block, ends, next);
        const unsigned bits = lblock + l2k_pass_bits(next - first);
        if (words)
            l2k_put_header_bits(words, at, bytes - before, bits);
        at += bits;
        before = bytes;
    }
    return at - from;
}

#endif
