/* Reads packets (B.9, B.10): headers, and the bytes of each code-block, which stay where they are in the file. */
#include "codec/packets/packet_reader.h"

#include "base/run.h"

/* Work per packet and per code-block in it, for l2k_poll. */
enum { WEIGHT_OF_PACKET = 64, WEIGHT_OF_BLOCK = 16 };

/* Table B.4. */
static unsigned get_pass_count(l2k_bit_reader *bits)
{
    if (!l2k_bits_get(bits, 1))
        return 1;
    if (!l2k_bits_get(bits, 1))
        return 2;
    unsigned n = l2k_bits_get(bits, 2);
    if (n < 3)
        return 3 + n;
    n = l2k_bits_get(bits, 5);
    if (n < 31)
        return 6 + n;
    return 37 + l2k_bits_get(bits, 7);
}

/* The missing bit-planes of a code-block (B.10.5). One query with the highest threshold reads the same bits as queries
 * with rising ones: a node reads none before its parent is known. */
static l2k_status get_planes(l2k_packet_reader *reader, const l2k_subband *band, l2k_precinct *precinct, uint32_t index)
{
    if (!l2k_tag_tree_decode(&precinct->zero_planes, index, band->max_planes + 1u, &reader->bits))
        return l2k_packet_corrupt(reader, "more empty bit-planes than the subband has");
    unsigned planes = band->max_planes - precinct->zero_planes.nodes[index].low;
    bool may_be_ht = reader->style & L2K_STYLE_HT;
    L2K_TRY(l2k_packet_check_planes(reader, planes, may_be_ht ? UINT8_MAX : reader->coder->max_planes));
    precinct->blocks[index].num_planes = (uint8_t)planes;
    precinct->blocks[index].kind = may_be_ht ? L2K_BLOCK_OPEN : L2K_BLOCK_MQ;
    return L2K_OK;
}

/* The block at `index`; *advance is the distance to the next one that has to be looked at. */
static l2k_status get_block_header(l2k_packet_reader *reader, const l2k_subband *band, l2k_precinct *precinct,
                                   uint32_t index, uint32_t layer, uint32_t *advance)
{
    l2k_block *block = &precinct->blocks[index];
    bool known = block->num_passes > 0;
    *advance = 1;
    reader->looks++;
    if (known && !l2k_bits_get(&reader->bits, 1))
        return L2K_OK;
    if (!known && !l2k_tag_tree_decode(&precinct->inclusion, index, layer + 1, &reader->bits)) {
        *advance = l2k_tag_tree_above(&precinct->inclusion, index, precinct->grid.across, layer + 1);
        return L2K_OK;
    }
    if (!known)
        L2K_TRY(get_planes(reader, band, precinct, index));
    return l2k_packet_lengths(reader, block, get_pass_count(&reader->bits));
}

static l2k_status get_precinct(l2k_packet_reader *reader, const l2k_subband *band, l2k_precinct *precinct,
                               uint32_t layer)
{
    const uint32_t count = l2k_precinct_blocks(precinct);
    uint32_t advance;
    for (uint32_t i = 0; i < count && !reader->bits.exhausted; i += l2k_min_u32(advance, count - i))
        L2K_TRY(get_block_header(reader, band, precinct, i, layer, &advance));
    return L2K_OK;
}

static l2k_status get_header(l2k_packet_reader *reader, const l2k_resolution *resolution, const l2k_packet_id *id)
{
    if (!l2k_bits_get(&reader->bits, 1))
        return L2K_OK;
    for (uint32_t b = 0; b < resolution->num_bands; b++) {
        const l2k_subband *band = &resolution->bands[b];
        if (l2k_rect_empty(band->rect))
            continue;
        L2K_TRY(get_precinct(reader, band, &band->precincts[id->precinct], id->layer));
    }
    return L2K_OK;
}

static l2k_status take_body(const l2k_packet_reader *reader, l2k_packet_input *input)
{
    for (l2k_contribution *c = reader->first, *next; c; c = next) {
        next = c->next;
        if (c->bytes > (size_t)(input->end - input->data))
            return L2K_ERROR_TRUNCATED;
        c->data = input->data;
        input->data += c->bytes;
        c->next = NULL;
        if (!reader->keep)
            continue;
        reader->tile->has_contributions = true;
        l2k_block *block = ((l2k_pending *)(void *)c)->block;
        if (block->received.last)
            block->received.last->next = c;
        else
            block->received.first = c;
        block->received.last = c;
        block->received.bytes += c->bytes;
    }
    return L2K_OK;
}

static bool at_marker(const uint8_t *data, const uint8_t *end, unsigned code)
{
    return end - data >= 2 && data[0] == 0xFF && data[1] == code;
}

/* SOP may be missing from any packet although COD announces it, and some encoders write it unannounced (A.8.1). A
 * packet header cannot start with these two bytes, because a 0 is stuffed after a byte 0xFF. */
static l2k_status skip_sop(l2k_packet_input *input)
{
    if (!at_marker(input->data, input->end, 0x91))
        return L2K_OK;
    if (input->end - input->data < 6)
        return L2K_ERROR_TRUNCATED;
    input->data += 6;
    return L2K_OK;
}

/* EPH follows the header, wherever that is (A.8.2). It is accepted announced or not: a body cannot start with a
 * marker. */
static void skip_eph(const uint8_t **at, const uint8_t *end)
{
    if (at_marker(*at, end, 0x92))
        *at += 2;
}

static l2k_status read_header(l2k_packet_reader *reader, const l2k_packet_id *id, const uint8_t **at,
                              const uint8_t *end)
{
    const l2k_tile_component *component = &reader->tile->components[id->component];
    if (*at == end)
        return L2K_ERROR_TRUNCATED;
    reader->bits = l2k_bits_from(*at, end);
    if (**at & 0x80) /* an empty packet needs no code-blocks */
        L2K_TRY(l2k_precinct_prepare(reader->context, reader->tile, component, id->resolution, id->precinct));
    L2K_TRY(get_header(reader, &component->resolutions[id->resolution], id));
    l2k_bits_align(&reader->bits);
    if (reader->bits.exhausted)
        return L2K_ERROR_TRUNCATED;
    *at = reader->bits.next;
    skip_eph(at, end);
    return L2K_OK;
}

l2k_status l2k_packet_read(const l2k_context *context, l2k_tile *tile, const l2k_packet_id *id, bool keep,
                           l2k_packet_input *input)
{
    const unsigned style = tile->components[id->component].coding->style;
    l2k_packet_reader reader = {
        .context = context, .tile = tile, .coder = l2k_block_coder_for(style), .style = style, .keep = keep};
    L2K_TRY(skip_sop(input));
    const uint8_t **header = input->packed ? &input->header : &input->data;
    l2k_status status = read_header(&reader, id, header, input->packed ? input->header_end : input->end);
    input->fault = reader.fault;
    input->looks += reader.looks;
    L2K_TRY(status);
    L2K_TRY(take_body(&reader, input));
    return l2k_poll(context, WEIGHT_OF_PACKET + WEIGHT_OF_BLOCK * reader.looks);
}
