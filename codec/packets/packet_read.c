#include "codec/packets/packet.h"

#include "base/run.h"
#include "codec/blocks/mq/t1.h"

/* Codeword segments of a block's share in this packet, until their lengths are known: contributions without data. */
typedef struct packet_reader {
    const l2k_context *context;
    l2k_tile *tile;
    const l2k_component_coding *coding;
    l2k_bit_reader bits;
    bool keep;
    uint64_t *looks; /* of the source, like the next one */
    size_t *steps;
    const char *fault;
    l2k_contribution *first, *last; /* all blocks of the packet, in the order of the bytes */
} packet_reader;

/* A contribution on its way: the list of the packet runs through `next`; the block's list is joined at the end. */
typedef struct pending {
    l2k_contribution contribution;
    l2k_block *block;
} pending;

/* Beyond the end of the data a header reads as zeros, which makes no sense either. */
static l2k_status corrupt(packet_reader *reader, const char *what)
{
    reader->fault = what;
    return reader->bits.exhausted ? L2K_ERROR_TRUNCATED : L2K_ERROR_CORRUPT;
}

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

/* Bit-planes that are zero in a block (B.10.5). Asked once with the highest threshold, the tree reads the bits in the
 * same order as with rising ones: a node reads none before the one above it is known. */
static l2k_status get_planes(packet_reader *reader, const l2k_subband *band, l2k_precinct *precinct, uint32_t index)
{
    if (!l2k_tag_tree_decode(&precinct->zero_planes, index, band->max_planes + 1u, &reader->bits))
        return corrupt(reader, "more empty bit-planes than the subband has");
    unsigned planes = band->max_planes - precinct->zero_planes.nodes[index].low;
    if (planes > L2K_MAX_BIT_PLANES)
        return l2k_fail(reader->context, L2K_ERROR_UNSUPPORTED, "a code-block of %u bit-planes (at most %d)", planes,
                        L2K_MAX_BIT_PLANES);
    precinct->blocks[index].num_planes = (uint8_t)planes;
    return L2K_OK;
}

static l2k_status add_contribution(packet_reader *reader, l2k_block *block, unsigned passes, bool starts,
                                   uint32_t bytes)
{
    pending *p = l2k_arena_take(reader->context, &reader->tile->arena, sizeof *p);
    if (!p)
        return l2k_fail(reader->context, L2K_ERROR_MEMORY, "out of memory for packet contents");
    *p = (pending){{NULL, NULL, bytes, (uint16_t)passes, starts}, block};
    if (reader->last)
        reader->last->next = &p->contribution;
    else
        reader->first = &p->contribution;
    reader->last = &p->contribution;
    return L2K_OK;
}

/* Lengths of the segments that `passes` further passes of a block belong to (B.10.7). */
static l2k_status get_lengths(packet_reader *reader, l2k_block *block, unsigned passes)
{
    while (l2k_bits_get(&reader->bits, 1)) {
        if (++block->lblock > 32)
            return corrupt(reader, "a length of more than 32 bits");
    }
    unsigned at = block->num_passes, end = at + passes;
    if (block->num_planes == 0 || end > L2K_MAX_RECEIVED_PASSES)
        return corrupt(reader, "more coding passes than bit-planes allow");
    while (at < end) {
        bool starts = at == 0 || l2k_pass_terminates(reader->coding->style, at - 1);
        unsigned next = at + 1;
        while (next < end && !l2k_pass_terminates(reader->coding->style, next - 1))
            next++;
        unsigned width = block->lblock + l2k_log2(next - at);
        if (width > 32)
            return corrupt(reader, "a length of more than 32 bits");
        L2K_TRY(add_contribution(reader, block, next - at, starts, l2k_bits_get(&reader->bits, width)));
        at = next;
    }
    block->num_passes = (uint8_t)end;
    return L2K_OK;
}

/* The block at `index`; `step` is how far on the next one is that need be looked at. */
static l2k_status get_block_header(packet_reader *reader, const l2k_subband *band, l2k_precinct *precinct,
                                   uint32_t index, uint32_t layer, uint32_t *step)
{
    l2k_block *block = &precinct->blocks[index];
    bool known = block->num_passes > 0;
    *step = 1;
    ++*reader->looks;
    L2K_TRY(l2k_check_steps(reader->context, reader->steps, 1));
    if (known && !l2k_bits_get(&reader->bits, 1))
        return L2K_OK;
    if (!known && !l2k_tag_tree_decode(&precinct->inclusion, index, layer + 1, &reader->bits)) {
        *step = l2k_tag_tree_above(&precinct->inclusion, index, precinct->grid.across, layer + 1);
        return L2K_OK;
    }
    if (!known)
        L2K_TRY(get_planes(reader, band, precinct, index));
    return get_lengths(reader, block, get_pass_count(&reader->bits));
}

static l2k_status get_precinct(packet_reader *reader, const l2k_subband *band, l2k_precinct *precinct, uint32_t layer)
{
    const uint32_t count = l2k_precinct_blocks(precinct);
    uint32_t step;
    for (uint32_t i = 0; i < count && !reader->bits.exhausted; i += step < count - i ? step : count - i)
        L2K_TRY(get_block_header(reader, band, precinct, i, layer, &step));
    return L2K_OK;
}

static l2k_status get_header(packet_reader *reader, const l2k_resolution *resolution, const l2k_packet_id *id)
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

static l2k_status take_body(const packet_reader *reader, l2k_packet_source *source)
{
    for (l2k_contribution *c = reader->first, *next; c; c = next) {
        next = c->next;
        L2K_TRY(l2k_check_steps(reader->context, reader->steps, 1));
        if (c->bytes > (size_t)(source->end - source->data))
            return L2K_ERROR_TRUNCATED;
        c->data = source->data;
        source->data += c->bytes;
        c->next = NULL;
        if (!reader->keep)
            continue;
        l2k_block *block = ((pending *)(void *)c)->block;
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

/* SOP is announced by COD, yet may be left out of any packet, and some encoders write it unannounced (A.8.1). A packet
 * header cannot start with these two bytes: a first byte of 0xFF is followed by a stuffed 0. */
static l2k_status skip_sop(l2k_packet_source *source)
{
    if (!at_marker(source->data, source->end, 0x91))
        return L2K_OK;
    if (source->end - source->data < 6)
        return L2K_ERROR_TRUNCATED;
    source->data += 6;
    return L2K_OK;
}

/* EPH stands behind the header, wherever that is (A.8.2). It is taken where it is, announced or not: a body cannot
 * start with a marker. */
static void skip_eph(const uint8_t **at, const uint8_t *end)
{
    if (at_marker(*at, end, 0x92))
        *at += 2;
}

static l2k_status read_header(packet_reader *reader, const l2k_packet_id *id, const uint8_t **at, const uint8_t *end)
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
                           l2k_packet_source *source)
{
    packet_reader reader = {.context = context,
                            .tile = tile,
                            .coding = tile->components[id->component].coding,
                            .keep = keep,
                            .looks = &source->looks,
                            .steps = &source->steps};
    L2K_TRY(skip_sop(source));
    const uint8_t **header = source->packed ? &source->header : &source->data;
    l2k_status status = read_header(&reader, id, header, source->packed ? source->header_end : source->end);
    source->fault = reader.fault;
    return status == L2K_OK ? take_body(&reader, source) : status;
}
