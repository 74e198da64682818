/* The parsers of the marker segments that state what a codestream requires of its decoder: CAP (A.5.2; Ccap15: A.3 of
 * T.814), PRF (A.5.3), CPF (A.6 of T.814). */
#include "base/buffer.h"
#include "codec/codestream/header_parser.h"

/* Bits of Pcap from the highest: Part 1 and so on. Part 2's own marker segments state what it changes. */
#define KNOWN_PARTS ((uint32_t)1 << (32 - 1) | (uint32_t)1 << (32 - 2) | L2K_PART_15)

static l2k_status check_parts(const l2k_header_state *state, uint32_t parts)
{
    for (unsigned part = 1; part <= 32; part++)
        if (parts & ~KNOWN_PARTS & (uint32_t)1 << (32 - part))
            return l2k_fail(state->context, L2K_ERROR_UNSUPPORTED, "CAP: capabilities of Part %u", part);
    return L2K_OK;
}

/* Pcap, then two bytes for each bit set in it, from the highest down. */
l2k_status l2k_parse_cap(l2k_header_state *state, const l2k_segment *segment)
{
    l2k_capabilities *capabilities = &state->coding->capabilities;
    const size_t length = l2k_segment_length(segment);
    if (length < 4)
        return l2k_segment_wrong(state, segment, "too short");
    const uint32_t parts = l2k_get_be(segment->data, 4);
    size_t at = 4;
    for (unsigned part = 1; part <= 32; part++) {
        if (!(parts >> (32 - part) & 1))
            continue;
        if (length - at < 2)
            return l2k_segment_wrong(state, segment, "its length does not fit its content");
        if (part == 15)
            capabilities->ht = (uint16_t)l2k_get_be(segment->data + at, 2);
        at += 2;
    }
    if (at != length)
        return l2k_segment_wrong(state, segment, "its length does not fit its content");
    capabilities->parts = parts;
    return check_parts(state, parts);
}

/* Parses a number in words of 16 bits, the lowest first; saturates at 64 bits. */
static l2k_status parse_number(const l2k_header_state *state, const l2k_segment *segment, uint64_t *number)
{
    const size_t length = l2k_segment_length(segment);
    if (length < 2 || length % 2)
        return l2k_segment_wrong(state, segment, "its length does not fit its content");
    *number = 0;
    for (size_t at = 0; at < length; at += 2) {
        uint64_t word = l2k_get_be(segment->data + at, 2);
        if (at < 8)
            *number |= word << 8 * at;
        else if (word)
            *number = UINT64_MAX;
    }
    return L2K_OK;
}

l2k_status l2k_parse_prf(l2k_header_state *state, const l2k_segment *segment)
{
    uint64_t number = 0;
    L2K_TRY(parse_number(state, segment, &number));
    state->coding->capabilities.profile = number > UINT64_MAX - 4095 ? UINT64_MAX : number + 4095;
    return L2K_OK;
}

l2k_status l2k_parse_cpf(l2k_header_state *state, const l2k_segment *segment)
{
    return parse_number(state, segment, &state->coding->capabilities.corresponding_profile);
}
