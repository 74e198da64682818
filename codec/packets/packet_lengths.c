/* Lengths of codeword segments in packet headers: of MQ code-blocks (B.10.7), of HT code-blocks, and of code-blocks
 * whose kind is still open (B.2, B.3 and A.4 of T.814). */
#include "codec/packets/packet_reader.h"

/* The length of `passes` passes that share a segment. */
static l2k_status get_length(l2k_packet_reader *reader, const l2k_block_state *block, unsigned passes, uint32_t *bytes)
{
    unsigned width = block->lblock + l2k_log2(passes);
    if (width > 32)
        return l2k_packet_corrupt(reader, "a length of more than 32 bits");
    *bytes = l2k_bits_get(&reader->bits, width);
    return L2K_OK;
}

static l2k_status get_mq_lengths(l2k_packet_reader *reader, l2k_block_state *block, unsigned passes)
{
    const unsigned end = block->num_passes + passes;
    for (unsigned at = block->num_passes, next; at < end; at = next) {
        bool starts = at == 0 || reader->coder->ends_segment(reader->style, at - 1);
        uint32_t bytes = 0;
        next = at + 1;
        while (next < end && !reader->coder->ends_segment(reader->style, next - 1))
            next++;
        L2K_TRY(get_length(reader, block, next - at, &bytes));
        L2K_TRY(l2k_packet_contribute(reader, block, next - at, starts, bytes));
    }
    return L2K_OK;
}

/* After the first cleanup pass, every third pass is a cleanup pass with a segment of its own. The two refinement passes
 * between share one, whose parts may come in different packets. */
static l2k_status get_ht_lengths(l2k_packet_reader *reader, l2k_block_state *block, unsigned passes)
{
    while (passes > 0) {
        const unsigned done = block->num_passes % 3, left = done ? 3 - done : 1;
        const unsigned now = left < passes ? left : passes;
        uint32_t bytes = 0;
        L2K_TRY(get_length(reader, block, now, &bytes));
        if (done == 0 && bytes == 1)
            return l2k_packet_corrupt(reader, "an HT cleanup segment of one byte");
        L2K_TRY(l2k_packet_contribute(reader, block, now, done < 2, bytes));
        passes -= now;
    }
    return L2K_OK;
}

/* Extends a length read for `passes` passes to that of `more` passes, by further bits. */
static l2k_status lengthen(l2k_packet_reader *reader, const l2k_block_state *block, unsigned passes, unsigned more,
                           uint32_t *bytes)
{
    unsigned extra = l2k_log2(more) - l2k_log2(passes);
    if (block->lblock + l2k_log2(more) > 32)
        return l2k_packet_corrupt(reader, "a length of more than 32 bits");
    if (extra > 0)
        *bytes = *bytes << extra | l2k_bits_get(&reader->bits, extra);
    return L2K_OK;
}

static l2k_status begin_mq(l2k_packet_reader *reader, l2k_block_state *block, unsigned passes, uint32_t bytes)
{
    if (!(reader->style & L2K_STYLE_HT_MIXED))
        return l2k_packet_corrupt(reader, "an MQ code-block among HT code-blocks");
    block->kind = L2K_BLOCK_MQ;
    L2K_TRY(l2k_packet_check_planes(reader, block->num_planes, reader->coder->max_planes));
    return l2k_packet_contribute(reader, block, passes, true, bytes);
}

/* Placeholder passes have no bytes, and count as if they led to an MQ segment. The first length other than 0 makes the
 * block HT, with a cleanup pass after the placeholders; if MQ blocks may occur, a leading 0 in that length tells HT. An
 * MQ block's length has been read for too few passes if its last ones could have been refinement passes. */
static l2k_status get_open_lengths(l2k_packet_reader *reader, l2k_block_state *block, unsigned passes)
{
    const unsigned refinement = (block->num_passes + passes - 1) % 3;
    const unsigned first = refinement < passes ? passes - refinement : passes;
    const unsigned top = block->lblock + l2k_log2(first) - 1;
    const bool may_be_mq = reader->style & L2K_STYLE_HT_MIXED;
    uint32_t bytes = 0;
    L2K_TRY(get_length(reader, block, first, &bytes));
    bool is_ht = refinement < passes && bytes > 1 && (!may_be_mq || (block->lblock > 3 && !(bytes >> top)));
    if (is_ht) {
        block->kind = L2K_BLOCK_HT;
        L2K_TRY(l2k_packet_contribute(reader, block, first, true, bytes));
        return get_ht_lengths(reader, block, passes - first);
    }
    L2K_TRY(lengthen(reader, block, first, passes, &bytes));
    return bytes ? begin_mq(reader, block, passes, bytes) : l2k_packet_contribute(reader, block, passes, true, 0);
}

l2k_status l2k_packet_lengths(l2k_packet_reader *reader, l2k_block_state *block, unsigned passes)
{
    if (block->num_planes == 0 || block->num_passes + passes > L2K_MAX_RECEIVED_PASSES)
        return l2k_packet_corrupt(reader, "more coding passes than bit-planes allow");
    if (block->kind == L2K_BLOCK_MQ)
        return get_mq_lengths(reader, block, passes);
    return (block->kind == L2K_BLOCK_HT ? get_ht_lengths : get_open_lengths)(reader, block, passes);
}
