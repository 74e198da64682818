/* Writes packets (B.9, B.10), and measures them for rate control. */
#include "codec/packets/packet.h"

#include "base/buffer.h"
#include "base/integer.h"
#include "base/run.h"
#include "codec/packets/packet_codes.h"

typedef struct packet {
    const l2k_context *context;
    const l2k_resolution *resolution;
    uint32_t precinct, layer;
    bool one_segment; /* the passes of a code-block are never divided into codeword segments */
    bool advances;    /* Lblock is updated */
    size_t bytes;     /* of the header */
    size_t body;      /* bytes that the header announces */
} packet;

enum { SEGMENT_STYLES = L2K_STYLE_BYPASS | L2K_STYLE_TERMALL | L2K_STYLE_HT };

static packet make_packet(const l2k_context *context, l2k_tile *tile, const l2k_packet_id *id, bool advances)
{
    const l2k_tile_component *component = &tile->components[id->component];
    return (packet){.context = context,
                    .resolution = &component->resolutions[id->resolution],
                    .precinct = id->precinct,
                    .layer = id->layer,
                    .one_segment = !(component->coding->style & SEGMENT_STYLES),
                    .advances = advances};
}

/* The packet's precinct in a band; an empty band has no code-blocks there. */
static l2k_precinct *precinct_of(const packet *p, uint32_t band)
{
    return &p->resolution->bands[band].precincts[p->precinct];
}

/* Sets each node above the leaves to the least of its children. */
static void rise(const l2k_tag_tree *tree)
{
    l2k_tag_place above = {tree->nodes, 0, 0, tree->width, tree->height};
    while (!l2k_tag_is_root(&above)) {
        const l2k_tag_place below = above;
        const uint32_t *child = below.level;
        l2k_tag_rise(&above);
        for (uint32_t y = 0; y < below.height; y++)
            for (uint32_t x = 0; x < below.width; x++, child++) {
                uint32_t *parent = above.level + (size_t)(y / 2) * above.width + x / 2;
                *parent = (x | y) & 1 ? l2k_min_u32(*parent, *child) : *child;
            }
    }
}

/* Work per packet and per code-block in it, for l2k_poll. */
enum { WEIGHT_OF_PACKET = 64, WEIGHT_OF_BLOCK = 8 };

static l2k_status restart_precinct(const l2k_context *context, l2k_tile *tile, l2k_precinct *precinct,
                                   unsigned max_planes)
{
    const uint32_t count = l2k_precinct_blocks(precinct);
    if (count > 0 && !precinct->inclusion.nodes)
        L2K_TRY(l2k_precinct_make_trees(context, &tile->arena, precinct));
    for (uint32_t i = 0; i < count; i++) {
        precinct->blocks[i].lblock = L2K_FIRST_LBLOCK;
        precinct->blocks[i].passes_in = 0;
        precinct->zero_planes.nodes[i] = 2 * (max_planes - precinct->blocks[i].num_planes);
    }
    if (count)
        rise(&precinct->zero_planes);
    return l2k_poll(context, WEIGHT_OF_PACKET + (uint64_t)WEIGHT_OF_BLOCK * count);
}

static l2k_status restart_precincts(const l2k_context *context, l2k_tile *tile, l2k_resolution *resolution, uint32_t p)
{
    for (uint32_t b = 0; b < resolution->num_bands; b++)
        L2K_TRY(restart_precinct(context, tile, &resolution->bands[b].precincts[p], resolution->bands[b].max_planes));
    return L2K_OK;
}

l2k_status l2k_packets_restart(const l2k_context *context, l2k_tile *tile)
{
    for (uint32_t c = 0; c < tile->num_components; c++)
        for (uint32_t r = 0; r < tile->components[c].num_resolutions; r++) {
            l2k_resolution *resolution = &tile->components[c].resolutions[r];
            for (uint32_t p = 0; p < resolution->num_precincts; p++)
                L2K_TRY(restart_precincts(context, tile, resolution, p));
        }
    return L2K_OK;
}

/* Bytes of the passes from `first` to before `end`. */
static uint32_t bytes_between(const l2k_block *block, unsigned first, unsigned end)
{
    return l2k_bytes_of_passes(block, end) - l2k_bytes_of_passes(block, first);
}

/* The end of the run of passes from `first` to the end of the segment or to `end`. */
static unsigned run_end(const packet *p, const l2k_block *block, unsigned first, unsigned end)
{
    unsigned last = p->one_segment ? end - 1 : first;
    while (last + 1 < end && !(l2k_pass_end(block, last) & L2K_PASS_TERMINATED))
        last++;
    return last + 1;
}

/* Lengths of the segments (B.10.7): Lblock grows until every one fits. */
static void put_lengths(const packet *p, l2k_bit_writer *bits, l2k_block *block, unsigned first, unsigned end)
{
    unsigned lblock = block->lblock;
    for (unsigned at = first, next; at < end; at = next) {
        next = run_end(p, block, at, end);
        lblock = l2k_lblock_for(lblock, next - at, bytes_between(block, at, next));
    }
    const unsigned grows = lblock - block->lblock;
    l2k_bits_put(bits, (uint32_t)((UINT64_C(2) << grows) - 2), grows + 1);
    for (unsigned at = first, next; at < end; at = next) {
        next = run_end(p, block, at, end);
        l2k_bits_put(bits, bytes_between(block, at, next), lblock + l2k_pass_bits(next - at));
    }
    if (p->advances)
        block->lblock = (uint8_t)lblock;
}

/* ---- Tag trees ------------------------------------------------------------------------------------------------ */

/* The inclusion bits of a packet only depend on whether a block is in an earlier packet, in this one for the first
 * time, or in neither. These are the values of the inclusion tree while a header is made, so no state of the tree
 * passes from packet to packet, and later layers need not be known. */
enum { BEFORE, NOW, LATER };

/* Of a node of the tree of zero bit-planes, which holds twice the value: it has been written. */
#define KNOWN 1u

/* Sets the inclusion tree, and marks the known nodes of the other tree: those above an included block. */
static void announce(l2k_precinct *precinct, uint32_t layer)
{
    uint32_t *nodes = precinct->inclusion.nodes, *zero_planes = precinct->zero_planes.nodes;
    const uint32_t count = l2k_precinct_blocks(precinct);
    const uint64_t num_nodes = l2k_tag_nodes(precinct->grid.across, precinct->grid.down);
    for (uint32_t i = 0; i < count; i++) {
        const l2k_block *block = &precinct->blocks[i];
        nodes[i] = block->passes_in ? BEFORE : l2k_block_passes(block, layer) ? NOW : LATER;
    }
    rise(&precinct->inclusion);
    for (uint64_t i = 0; i < num_nodes; i++)
        zero_planes[i] = (zero_planes[i] & ~KNOWN) | (nodes[i] == BEFORE ? KNOWN : 0);
}

/* Writes the inclusion of a block that was in no earlier packet. A node takes a bit, before the first block below it,
 * if earlier packets left its value open and its parent's does not exceed this layer. */
static void put_inclusion(l2k_bit_writer *bits, const l2k_precinct *precinct, uint32_t x, uint32_t y)
{
    const l2k_tag_tree *tree = &precinct->inclusion;
    l2k_tag_place at = {tree->nodes, x, y, tree->width, tree->height};
    uint32_t code = 0, count = 0;
    for (bool goes_on = true; goes_on;) {
        const uint32_t value = *l2k_tag_node_at(&at);
        const bool is_root = l2k_tag_is_root(&at);
        goes_on = !is_root && !((at.x | at.y) & 1);
        if (!is_root)
            l2k_tag_rise(&at);
        if (value != BEFORE && (is_root || *l2k_tag_node_at(&at) != LATER))
            code |= (uint32_t)(value == NOW) << count++;
    }
    l2k_bits_put(bits, code, count);
}

/* Zeros and a one. */
static void put_unary(l2k_bit_writer *bits, uint32_t zeros)
{
    for (; zeros > 31; zeros -= 31)
        l2k_bits_put(bits, 0, 31);
    l2k_bits_put(bits, 1, zeros + 1);
}

static void put_zero_planes(l2k_bit_writer *bits, const l2k_precinct *precinct, uint32_t x, uint32_t y)
{
    const l2k_tag_tree *tree = &precinct->zero_planes;
    l2k_tag_place at = {tree->nodes, x, y, tree->width, tree->height};
    uint32_t *path[L2K_TAG_TREE_LEVELS], *node = l2k_tag_node_at(&at), low = 0;
    unsigned length = 0;
    while (!(*node & KNOWN)) {
        *node |= KNOWN;
        path[length++] = node;
        if (l2k_tag_is_root(&at))
            break;
        l2k_tag_rise(&at);
        node = l2k_tag_node_at(&at);
    }
    if (node != path[length - 1]) /* else the root was not known */
        low = *node >> 1;
    while (length-- > 0) {
        put_unary(bits, (*path[length] >> 1) - low);
        low = *path[length] >> 1;
    }
}

/* ---- Headers and bodies --------------------------------------------------------------------------------------- */

static void put_block_header(packet *p, l2k_bit_writer *bits, l2k_precinct *precinct, uint32_t x, uint32_t y)
{
    const uint32_t index = y * precinct->grid.across + x;
    l2k_block *block = &precinct->blocks[index];
    unsigned end = l2k_block_passes(block, p->layer), first = block->passes_in, width;
    if (first > 0)
        l2k_bits_put(bits, end > first, 1);
    else
        put_inclusion(bits, precinct, x, y);
    if (end == first)
        return;
    if (first == 0)
        put_zero_planes(bits, precinct, x, y);
    const uint32_t code = l2k_pass_count_code(end - first, &width);
    l2k_bits_put(bits, code, width);
    put_lengths(p, bits, block, first, end);
    p->body += bytes_between(block, first, end);
}

/* Updates the state of the blocks except passes_in. Without `out` the header is only measured. */
static l2k_status put_header(packet *p, l2k_buffer *out)
{
    uint64_t blocks = 0;
    l2k_bit_writer bits = l2k_bits_to(out);
    l2k_bits_put(&bits, 1, 1); /* not empty: even where no block contributes, as in OpenJPEG */
    for (uint32_t b = 0; b < p->resolution->num_bands; b++) {
        l2k_precinct *precinct = precinct_of(p, b);
        const uint32_t count = l2k_precinct_blocks(precinct);
        if (count)
            announce(precinct, p->layer);
        for (uint32_t y = 0; count && y < precinct->grid.down; y++)
            for (uint32_t x = 0; x < precinct->grid.across; x++)
                put_block_header(p, &bits, precinct, x, y);
        blocks += count;
    }
    l2k_bits_flush(&bits);
    p->bytes = bits.bytes;
    return l2k_poll(p->context, WEIGHT_OF_PACKET + WEIGHT_OF_BLOCK * blocks);
}

/* Writes the bytes that a layer adds to a block, and updates passes_in. */
static void put_contribution(const packet *p, l2k_block *block, l2k_buffer *out)
{
    const unsigned end = l2k_block_passes(block, p->layer);
    if (end == block->passes_in)
        return;
    if (out)
        l2k_buffer_append(out, block->coded.bytes + l2k_bytes_of_passes(block, block->passes_in),
                          bytes_between(block, block->passes_in, end));
    block->passes_in = (uint8_t)end;
}

static l2k_status put_body(const packet *p, l2k_buffer *out, l2k_packet_drain *drain, void *user)
{
    for (uint32_t b = 0; b < p->resolution->num_bands; b++) {
        const l2k_precinct *precinct = precinct_of(p, b);
        for (uint32_t i = 0; i < l2k_precinct_blocks(precinct); i++) {
            put_contribution(p, &precinct->blocks[i], out);
            if (drain)
                L2K_TRY(drain(user));
        }
    }
    return L2K_OK;
}

enum { SOP_BYTES = 6, EPH_BYTES = 2 };

l2k_status l2k_packet_write(const l2k_context *context, l2k_tile *tile, const l2k_packet_id *id, uint32_t number,
                            l2k_buffer *out, l2k_packet_drain *drain, void *user)
{
    packet p = make_packet(context, tile, id, true);
    if (id->layer == 0)
        L2K_TRY(restart_precincts(context, tile, &tile->components[id->component].resolutions[id->resolution],
                                  id->precinct));
    if (tile->coding->sop) {
        l2k_buffer_put(out, 0xFF910004, 4);
        l2k_buffer_put(out, number & 0xFFFF, 2);
    }
    L2K_TRY(put_header(&p, out));
    if (tile->coding->eph)
        l2k_buffer_put(out, 0xFF92, 2);
    return put_body(&p, out, drain, user);
}

l2k_status l2k_packet_skip(const l2k_context *context, l2k_tile *tile, const l2k_packet_id *id)
{
    packet p = make_packet(context, tile, id, true);
    L2K_TRY(put_header(&p, NULL));
    return put_body(&p, NULL, NULL, NULL);
}

l2k_status l2k_packet_measure(const l2k_context *context, l2k_tile *tile, const l2k_packet_id *id, size_t *bytes)
{
    packet p = make_packet(context, tile, id, false);
    L2K_TRY(put_header(&p, NULL));
    *bytes = p.bytes + p.body + (tile->coding->sop ? SOP_BYTES : 0) + (tile->coding->eph ? EPH_BYTES : 0);
    return L2K_OK;
}
