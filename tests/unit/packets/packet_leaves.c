/* Packet headers as a device makes them, each code-block by itself, run on the host and compared with the CPU's
 * packets: random tiles, passes and segments. */
#include "support.h"

#include "codec/engine/cuda/packets/packet_leaves.h"
#include "codec/engine/cuda/packets/packet_stuffing.h"
#include "codec/packets/packet.h"

static const l2k_context context = {.threads = 1};

enum { MOST_PASSES = 110, WORDS = 1 << 14, NODES = 1 << 14 };

typedef struct setting {
    l2k_siz siz;
    l2k_component component;
    l2k_tile_coding coding;
    l2k_component_coding component_coding;
} setting;

static void random_setting(setting *s)
{
    l2k_component_coding *k = &s->component_coding;
    memset(s, 0, sizeof *s);
    s->siz = (l2k_siz){.num_components = 1, .components = &s->component};
    s->component = (l2k_component){.dx = 1, .dy = 1, .precision = 8};
    s->coding = (l2k_tile_coding){.num_layers = 1, .components = k, .progression = (uint8_t)random_below(5)};
    s->coding.sop = random_below(2);
    s->coding.eph = random_below(2);
    l2k_rect *image = &s->siz.grid.image;
    image->x0 = random_below(70);
    image->y0 = random_below(70);
    image->x1 = image->x0 + random_between(1, random_below(4) ? 150 : 700);
    image->y1 = image->y0 + random_between(1, random_below(4) ? 90 : 500);
    s->siz.grid.tile_width = image->x1;
    s->siz.grid.tile_height = image->y1;
    k->levels = (uint8_t)random_below(5);
    k->log2_block_width = (uint8_t)random_between(2, 6);
    k->log2_block_height = (uint8_t)random_between(2, 6);
    k->guard_bits = 2;
    const bool large = random_below(2);
    for (unsigned r = 0; r <= k->levels; r++) {
        k->log2_precinct_width[r] = (uint8_t)(large ? 15 : random_between(r ? 1 : 0, 8));
        k->log2_precinct_height[r] = (uint8_t)(large ? 15 : random_between(r ? 1 : 0, 8));
    }
    k->style = L2K_STYLE_TERMALL; /* any pass may end a segment below */
    for (unsigned b = 0; b < L2K_MAX_SUBBANDS; b++)
        k->steps[b].exponent = (uint8_t)random_between(3, 30);
}

/* ---- Code-blocks ---------------------------------------------------------------------------------------------- */

static uint8_t code[1 << 20], one_layer[MOST_PASSES + 1];

/* What a coder could leave, of very different lengths. */
static void fill_block(l2k_block *block, unsigned max_planes, unsigned empty)
{
    uint32_t *ends = malloc(MOST_PASSES * sizeof *ends), bytes = 0;
    const unsigned segments = random_below(3), most = max_planes < 37 ? 3 * max_planes - 2 : MOST_PASSES - 1;
    assert_non_null(ends);
    block->coded = (l2k_coded_block){.bytes = code, .pass_bytes = ends};
    block->num_planes = block->num_passes = 0;
    if (random_below(4) < empty)
        return;
    block->num_planes = (uint8_t)random_between(1, max_planes);
    block->num_passes = (uint8_t)random_between(1, random_below(2) ? 3 : most);
    block->coded.layer_passes = &one_layer[block->num_passes];
    for (unsigned i = 0; i < block->num_passes; i++) {
        bytes += random_below(random_below(3) ? 40 : 9000) + (i == 0);
        ends[i] = bytes | (i + 1 == block->num_passes || random_below(2) < segments ? L2K_PASS_TERMINATED : 0);
    }
}

static void fill_tile(l2k_tile *tile)
{
    l2k_tile_component *component = tile->components;
    for (uint32_t r = 0; r < component->num_resolutions; r++)
        for (uint32_t p = 0; p < component->resolutions[r].num_precincts; p++) {
            assert_int_equal(l2k_precinct_prepare(&context, tile, component, r, p), L2K_OK);
            const unsigned empty = random_below(5);
            for (uint32_t b = 0; b < component->resolutions[r].num_bands; b++) {
                const l2k_subband *band = &component->resolutions[r].bands[b];
                for (uint32_t i = 0; i < l2k_precinct_blocks(&band->precincts[p]); i++)
                    fill_block(&band->precincts[p].blocks[i], band->max_planes, empty);
            }
        }
}

static void free_blocks(const l2k_tile *tile)
{
    l2k_block_place *places;
    size_t count;
    assert_int_equal(l2k_tile_list_blocks(&context, tile, &places, &count), L2K_OK);
    for (size_t i = 0; i < count; i++)
        free(places[i].block->coded.pass_bytes);
    l2k_release(&context, places);
}

/* ---- As on the device ----------------------------------------------------------------------------------------- */

static l2k_cuda_packet_node nodes[NODES];
static uint32_t words[WORDS];
static uint8_t stuffed[4 * WORDS];

static l2k_cuda_coded_block coded_of(const l2k_block *block)
{
    l2k_cuda_coded_block coded = {.num_planes = block->num_planes, .num_passes = block->num_passes};
    if (block->num_passes)
        coded.bytes = block->coded.pass_bytes[block->num_passes - 1] & ~L2K_PASS_TERMINATED;
    return coded;
}

/* As for styles that do not divide passes into segments, where none is divided. */
static const uint32_t *ends_of(const l2k_block *block)
{
    for (unsigned i = 0; i + 1 < block->num_passes; i++)
        if (block->coded.pass_bytes[i] & L2K_PASS_TERMINATED)
            return block->coded.pass_bytes;
    return NULL;
}

static void make_tree(const l2k_subband *band, const l2k_precinct *precinct)
{
    uint32_t across = precinct->grid.across, down = precinct->grid.down;
    l2k_cuda_packet_node *below = nodes;
    for (uint32_t i = 0; i < across * down; i++) {
        const l2k_block *block = &precinct->blocks[i];
        nodes[i] = l2k_make_node(block->num_passes ? i : L2K_NO_BLOCK, (uint32_t)band->max_planes - block->num_planes);
    }
    while (across > 1 || down > 1) {
        l2k_cuda_packet_node *level = below + across * down;
        const uint32_t wide = (across + 1) / 2, high = (down + 1) / 2;
        for (uint32_t i = wide * high; i-- > 0;) /* in any order */
            level[i] = l2k_join_nodes(below, across, down, i);
        below = level;
        across = wide;
        down = high;
    }
}

/* The last block first: where its bits stand does not depend on those before it having been put. */
static uint32_t put_part(const l2k_precinct *precinct, uint32_t at)
{
    const l2k_cuda_packet_part part = {.across = precinct->grid.across, .down = precinct->grid.down};
    const uint32_t count = part.across * part.down;
    uint32_t *starts = malloc((count + 1) * sizeof *starts);
    assert_non_null(starts);
    for (uint32_t i = 0; i < count; i++) {
        const l2k_cuda_coded_block block = coded_of(&precinct->blocks[i]);
        uint32_t ones;
        starts[i] = at;
        at += l2k_inclusion_bits(&part, nodes, i, &ones);
        if (block.num_passes)
            at += l2k_zero_plane_bits(&part, nodes, i, NULL, 0) +
                  l2k_length_bits(&block, ends_of(&precinct->blocks[i]), NULL, 0);
    }
    assert_true(at / 32 + 2 < WORDS);
    for (uint32_t i = count; i-- > 0;) {
        const l2k_cuda_coded_block block = coded_of(&precinct->blocks[i]);
        uint32_t bits, end = starts[i] + l2k_inclusion_bits(&part, nodes, i, &bits);
        l2k_put_header_bits(words, starts[i], bits, end - starts[i]);
        if (block.num_passes) {
            end += l2k_zero_plane_bits(&part, nodes, i, NULL, 0);
            l2k_zero_plane_bits(&part, nodes, i, words, end);
            l2k_length_bits(&block, ends_of(&precinct->blocks[i]), words, end);
        }
    }
    free(starts);
    return at;
}

/* Piece by piece; each says for all entries what it hands on before it knows its own. */
static size_t stuff(uint32_t num_bits)
{
    uint32_t entry = 0, bytes = 0;
    for (uint32_t i = 0; i * L2K_PIECE_BITS < num_bits; i++) {
        const uint32_t left = num_bits - i * L2K_PIECE_BITS;
        l2k_piece piece = {.limit = left < L2K_PIECE_BITS ? left : L2K_PIECE_BITS};
        uint32_t ends[L2K_PIECE_ENTRIES];
        memcpy(piece.words, &words[2 * i], sizeof piece.words); /* 0 behind the last bit */
        const uint64_t full = l2k_full_bytes(&piece);
        for (uint32_t e = 0; e < L2K_PIECE_ENTRIES; e++) {
            ends[e] = l2k_stuff_piece(full, piece.limit, e);
            assert_true(ends[e] <= 0xFF);
        }
        l2k_put_piece(&piece, full, entry, stuffed + bytes);
        bytes += ends[entry] >> 4;
        entry = ends[entry] & 15;
    }
    return bytes;
}

static size_t make_header(const l2k_resolution *resolution, uint32_t precinct)
{
    uint32_t count = 1;
    memset(words, 0, sizeof words);
    l2k_put_header_bits(words, 0, 1, 1);
    for (uint32_t b = 0; b < resolution->num_bands; b++) {
        const l2k_precinct *p = &resolution->bands[b].precincts[precinct];
        if (l2k_precinct_blocks(p) == 0)
            continue;
        make_tree(&resolution->bands[b], p);
        count = put_part(p, count);
    }
    return stuff(count);
}

/* ---- Test ----------------------------------------------------------------------------------------------------- */

static void check_tile(const setting *s)
{
    l2k_tile tile;
    l2k_packet_order order;
    l2k_packet_id id;
    assert_int_equal(l2k_tile_create(&context, &s->siz, &s->coding, 0, UINT64_MAX, &tile), L2K_OK);
    fill_tile(&tile);
    assert_int_equal(l2k_packets_restart(&context, &tile), L2K_OK);
    assert_int_equal(l2k_packet_order_create(&context, &tile, &order), L2K_OK);
    while (l2k_packet_order_next(&order, &id)) {
        l2k_buffer out = {.context = &context};
        const size_t before = s->coding.sop ? 6 : 0, after = s->coding.eph ? 2 : 0;
        assert_int_equal(l2k_packet_write(&context, &tile, &id, 0, &out, NULL, NULL), L2K_OK);
        const size_t bytes = make_header(&tile.components[0].resolutions[id.resolution], id.precinct);
        assert_true(before + bytes + after <= out.size);
        assert_memory_equal(stuffed, out.data + before, bytes);
        if (after)
            assert_int_equal(out.data[before + bytes], 0xFF);
        l2k_buffer_release(&out);
    }
    l2k_packet_order_release(&context, &order);
    free_blocks(&tile);
    l2k_tile_release(&context, &tile);
}

static void test_headers(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i <= MOST_PASSES; i++)
        one_layer[i] = (uint8_t)i;
    for (unsigned i = 0; i < 400; i++) {
        setting s;
        random_setting(&s);
        check_tile(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_headers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
