/* Packets (B.9, B.10): written, and, for rate control, measured. */
#include "codec/packets/packet.h"

#include <string.h>

#include "base/buffer.h"
#include "base/integer.h"
#include "base/run.h"
#include "codec/packets/packet_codes.h"

typedef struct packet {
    const l2k_context *context;
    const l2k_resolution *resolution;
    uint32_t precinct, layer;
    l2k_buffer *out; /* NULL: it is only measured */
    size_t bytes;    /* so far */
} packet;

static packet make_packet(const l2k_context *context, l2k_tile *tile, const l2k_packet_id *id, l2k_buffer *out)
{
    const l2k_resolution *resolution = &tile->components[id->component].resolutions[id->resolution];
    return (packet){context, resolution, id->precinct, id->layer, out, 0};
}

/* The bands of a resolution that can hold code-blocks; empty ones take no part in packets (B.10). */
static l2k_precinct *precinct_of(const packet *p, uint32_t band)
{
    const l2k_subband *b = &p->resolution->bands[band];
    return l2k_rect_empty(b->rect) ? NULL : &b->precincts[p->precinct];
}

/* Passes of a block up to and with a layer. */
static unsigned passes_through(const l2k_block *block, uint32_t layer)
{
    return block->num_passes ? block->coded.layer_passes[layer] : 0;
}

/* The first layer that has passes of a block, UINT32_MAX if none does. */
static uint32_t first_layer(const l2k_block *block, uint32_t num_layers)
{
    for (uint32_t layer = 0; layer < num_layers; layer++)
        if (passes_through(block, layer) > 0)
            return layer;
    return UINT32_MAX;
}

/* Values that are set can only fall. */
static void clear_tree(l2k_tag_tree *tree)
{
    for (uint32_t i = 0; i < tree->num_nodes; i++)
        tree->nodes[i].value = UINT32_MAX;
    l2k_tag_tree_restart(tree);
}

/* Puts the blocks' first layers into the inclusion tree. */
static void announce_layers(l2k_precinct *precinct, uint32_t num_layers)
{
    clear_tree(&precinct->inclusion);
    for (uint32_t i = 0; i < l2k_precinct_blocks(precinct); i++)
        l2k_tag_tree_set(&precinct->inclusion, i, first_layer(&precinct->blocks[i], num_layers));
}

/* In l2k_poll: of a packet, and of each code-block in it. */
enum { WEIGHT_OF_PACKET = 64, WEIGHT_OF_BLOCK = 8 };

static l2k_status restart_precinct(const l2k_context *context, uint32_t num_layers, l2k_precinct *precinct,
                                   unsigned max_planes)
{
    announce_layers(precinct, num_layers);
    clear_tree(&precinct->zero_planes);
    for (uint32_t i = 0; i < l2k_precinct_blocks(precinct); i++) {
        precinct->blocks[i].lblock = L2K_FIRST_LBLOCK;
        precinct->blocks[i].passes_in = 0;
        l2k_tag_tree_set(&precinct->zero_planes, i, max_planes - precinct->blocks[i].num_planes);
    }
    return l2k_poll(context, WEIGHT_OF_PACKET + (uint64_t)WEIGHT_OF_BLOCK * l2k_precinct_blocks(precinct));
}

l2k_status l2k_packets_restart(const l2k_context *context, l2k_tile *tile)
{
    for (uint32_t c = 0; c < tile->num_components; c++)
        for (uint32_t r = 0; r < tile->components[c].num_resolutions; r++) {
            l2k_resolution *resolution = &tile->components[c].resolutions[r];
            for (uint32_t b = 0; b < resolution->num_bands; b++)
                for (uint32_t p = 0; p < resolution->num_precincts; p++)
                    L2K_TRY(restart_precinct(context, tile->coding->num_layers, &resolution->bands[b].precincts[p],
                                             resolution->bands[b].max_planes));
        }
    return L2K_OK;
}

static uint32_t pass_end(const l2k_block *block, unsigned pass)
{
    return block->coded.pass_bytes[pass] & ~L2K_PASS_TERMINATED;
}

/* The run of passes from `first` to the end of the segment or to `end`; returns its end and its length in bytes. */
static unsigned segment_run(const l2k_block *block, unsigned first, unsigned end, uint32_t *bytes)
{
    unsigned last = first;
    while (last + 1 < end && !(block->coded.pass_bytes[last] & L2K_PASS_TERMINATED))
        last++;
    *bytes = pass_end(block, last) - (first ? pass_end(block, first - 1) : 0);
    return last + 1;
}

/* Lengths of the segments (B.10.7): Lblock grows until every one fits. */
static void put_lengths(l2k_bit_writer *bits, l2k_block *block, unsigned first, unsigned end)
{
    uint32_t bytes;
    unsigned lblock = block->lblock;
    for (unsigned at = first, next; at < end; at = next) {
        next = segment_run(block, at, end, &bytes);
        lblock = l2k_lblock_for(lblock, next - at, bytes);
    }
    for (; block->lblock < lblock; block->lblock++)
        l2k_bits_put(bits, 1, 1);
    l2k_bits_put(bits, 0, 1);
    for (unsigned at = first, next; at < end; at = next) {
        next = segment_run(block, at, end, &bytes);
        l2k_bits_put(bits, bytes, lblock + l2k_spare_bits(next - at));
    }
}

static void put_block_header(l2k_bit_writer *bits, l2k_precinct *precinct, uint32_t index, uint32_t layer)
{
    l2k_block *block = &precinct->blocks[index];
    unsigned end = passes_through(block, layer), first = block->passes_in, width;
    if (first > 0)
        l2k_bits_put(bits, end > first, 1);
    else
        l2k_tag_tree_encode(&precinct->inclusion, index, layer + 1, bits);
    if (end == first)
        return;
    if (first == 0)
        l2k_tag_tree_encode(&precinct->zero_planes, index, UINT32_MAX, bits);
    const uint32_t code = l2k_pass_count_code(end - first, &width);
    l2k_bits_put(bits, code, width);
    put_lengths(bits, block, first, end);
}

/* The state of the blocks moves on but for passes_in. */
static l2k_status put_header(packet *p)
{
    uint64_t blocks = 0;
    l2k_bit_writer bits = l2k_bits_to(p->out);
    l2k_bits_put(&bits, 1, 1); /* not empty: even where no block contributes, as in OpenJPEG */
    for (uint32_t b = 0; b < p->resolution->num_bands; b++) {
        l2k_precinct *precinct = precinct_of(p, b);
        for (uint32_t i = 0; precinct && i < l2k_precinct_blocks(precinct); i++)
            put_block_header(&bits, precinct, i, p->layer);
        blocks += precinct ? l2k_precinct_blocks(precinct) : 0;
    }
    l2k_bits_flush(&bits);
    p->bytes += bits.bytes;
    return l2k_poll(p->context, WEIGHT_OF_PACKET + WEIGHT_OF_BLOCK * blocks);
}

/* What a layer adds to a block; passes_in is moved on. */
static void put_contribution(packet *p, l2k_block *block)
{
    unsigned end = passes_through(block, p->layer);
    if (end == block->passes_in)
        return;
    uint32_t from = block->passes_in ? pass_end(block, block->passes_in - 1u) : 0;
    uint32_t to = pass_end(block, end - 1);
    if (p->out)
        l2k_buffer_append(p->out, block->coded.bytes + from, to - from);
    p->bytes += to - from;
    block->passes_in = (uint8_t)end;
}

static void put_body(packet *p)
{
    for (uint32_t b = 0; b < p->resolution->num_bands; b++) {
        const l2k_precinct *precinct = precinct_of(p, b);
        for (uint32_t i = 0; precinct && i < l2k_precinct_blocks(precinct); i++)
            put_contribution(p, &precinct->blocks[i]);
    }
}

enum { SOP_BYTES = 6, EPH_BYTES = 2 };

l2k_status l2k_packet_write(const l2k_context *context, l2k_tile *tile, const l2k_packet_id *id, uint32_t number,
                            l2k_buffer *out)
{
    packet p = make_packet(context, tile, id, out);
    if (tile->coding->sop) {
        l2k_buffer_put(out, 0xFF910004, 4);
        l2k_buffer_put(out, number & 0xFFFF, 2);
    }
    L2K_TRY(put_header(&p));
    if (tile->coding->eph)
        l2k_buffer_put(out, 0xFF92, 2);
    put_body(&p);
    return L2K_OK;
}

/* For rate control no layer after this one is known. Nodes below it in value are those of blocks that packets before
 * have included. */
static void announce_layer(const packet *p, l2k_precinct *precinct)
{
    for (uint32_t i = 0; i < precinct->inclusion.num_nodes; i++)
        if (precinct->inclusion.nodes[i].value >= p->layer)
            precinct->inclusion.nodes[i].value = UINT32_MAX;
    for (uint32_t i = 0; i < l2k_precinct_blocks(precinct); i++)
        if (precinct->blocks[i].passes_in == 0 && passes_through(&precinct->blocks[i], p->layer) > 0)
            l2k_tag_tree_set(&precinct->inclusion, i, p->layer);
}

static void announce_packet(const packet *p)
{
    for (uint32_t b = 0; b < p->resolution->num_bands; b++)
        if (precinct_of(p, b))
            announce_layer(p, precinct_of(p, b));
}

l2k_status l2k_packet_skip(const l2k_context *context, l2k_tile *tile, const l2k_packet_id *id)
{
    packet p = make_packet(context, tile, id, NULL);
    announce_packet(&p);
    L2K_TRY(put_header(&p));
    put_body(&p);
    return L2K_OK;
}

/* What a packet changes in one precinct, laid aside and brought back. */
static l2k_status save_precinct(const l2k_precinct *precinct, l2k_buffer *store)
{
    l2k_buffer_append(store, precinct->inclusion.nodes, precinct->inclusion.num_nodes * sizeof(l2k_tag_node));
    l2k_buffer_append(store, precinct->zero_planes.nodes, precinct->zero_planes.num_nodes * sizeof(l2k_tag_node));
    for (uint32_t i = 0; i < l2k_precinct_blocks(precinct); i++) {
        uint8_t state[2] = {precinct->blocks[i].lblock, precinct->blocks[i].passes_in};
        l2k_buffer_append(store, state, sizeof state);
    }
    return l2k_buffer_status(store);
}

static const uint8_t *restore_precinct(const l2k_precinct *precinct, const uint8_t *from)
{
    size_t nodes = precinct->inclusion.num_nodes * sizeof(l2k_tag_node);
    if (nodes) {
        memcpy(precinct->inclusion.nodes, from, nodes);
        memcpy(precinct->zero_planes.nodes, from + nodes, nodes);
    }
    from += 2 * nodes;
    for (uint32_t i = 0; i < l2k_precinct_blocks(precinct); i++, from += 2) {
        precinct->blocks[i].lblock = from[0];
        precinct->blocks[i].passes_in = from[1];
    }
    return from;
}

l2k_status l2k_packet_measure(const l2k_context *context, l2k_tile *tile, const l2k_packet_id *id, l2k_buffer *scratch,
                              size_t *bytes)
{
    packet p = make_packet(context, tile, id, NULL);
    scratch->context = context;
    scratch->size = 0;
    announce_packet(&p);
    for (uint32_t b = 0; b < p.resolution->num_bands; b++)
        if (precinct_of(&p, b))
            L2K_TRY(save_precinct(precinct_of(&p, b), scratch));
    L2K_TRY(put_header(&p));
    put_body(&p);
    *bytes = p.bytes + (tile->coding->sop ? SOP_BYTES : 0) + (tile->coding->eph ? EPH_BYTES : 0);
    const uint8_t *from = scratch->data;
    for (uint32_t b = 0; b < p.resolution->num_bands; b++)
        if (precinct_of(&p, b))
            from = restore_precinct(precinct_of(&p, b), from);
    return L2K_OK;
}
