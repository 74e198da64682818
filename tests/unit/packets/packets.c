/* Tier-2: the progression orders compared with the loops of B.12.1 as in the standard; packets written, measured and
 * read back with random distributions of coding passes over layers. */
#include "support.h"

#include "codec/packets/packet.h"
#include "codec/blocks/mq/t1.h"

static const l2k_context context = {.threads = 1};

enum { COMPONENTS = 3, MOST_PACKETS = 60000 };

/* ---- A random tile ------------------------------------------------------------------------------------------- */

typedef struct setting {
    l2k_siz siz;
    l2k_component components[COMPONENTS];
    l2k_tile_coding coding;
    l2k_component_coding component_coding[COMPONENTS];
    uint32_t tile;
} setting;

static void random_setting(setting *s, unsigned most_layers, bool alike)
{
    memset(s, 0, sizeof *s);
    s->siz.components = s->components;
    s->coding.components = s->component_coding;
    s->siz.num_components = random_between(1, COMPONENTS);
    l2k_tile_grid *g = &s->siz.grid;
    g->image.x0 = random_below(3) ? random_below(70) : 0;
    g->image.y0 = random_below(3) ? random_below(70) : 0;
    g->image.x1 = g->image.x0 + random_between(8, 90);
    g->image.y1 = g->image.y0 + random_between(8, 60);
    g->tile_x0 = random_below(g->image.x0 + 1);
    g->tile_y0 = random_below(g->image.y0 + 1);
    g->tile_width = g->image.x0 - g->tile_x0 + random_between(5, 90);
    g->tile_height = g->image.y0 - g->tile_y0 + random_between(5, 90);
    s->tile = random_below((uint64_t)l2k_tiles_across(g) * l2k_tiles_down(g));
    s->coding.num_layers = random_between(1, most_layers);
    s->coding.sop = random_below(2);
    s->coding.eph = random_below(2);
    for (uint32_t c = 0; c < s->siz.num_components; c++) {
        l2k_component_coding *k = &s->component_coding[c];
        s->components[c] = (l2k_component){
            .dx = alike ? 1 : random_between(1, 3), .dy = alike ? 1 : random_between(1, 3), .precision = 8};
        k->levels = (uint8_t)random_below(5);
        k->log2_block_width = (uint8_t)random_between(2, 4);
        k->log2_block_height = (uint8_t)random_between(2, 4);
        k->style = (uint8_t)random_below(64);
        k->guard_bits = 2;
        for (unsigned r = 0; r <= k->levels; r++) {
            bool large = random_below(3) == 0;
            k->log2_precinct_width[r] = (uint8_t)(large ? 15 : random_between(r ? 1 : 0, 6));
            k->log2_precinct_height[r] = (uint8_t)(large ? 15 : random_between(r ? 1 : 0, 6));
        }
        for (unsigned b = 0; b < L2K_MAX_SUBBANDS; b++)
            k->steps[b].exponent = 12;
    }
}

/* ---- B.12.1 to the letter ------------------------------------------------------------------------------------ */

typedef struct listed {
    uint32_t component, resolution, precinct, layer;
} listed;

typedef struct plain_order {
    const setting *s;
    const l2k_tile *tile;
    uint32_t next[COMPONENTS][L2K_MAX_LEVELS + 1]; /* "the next precinct, k, if one exists" */
    size_t count;
    listed packets[MOST_PACKETS];
} plain_order;

static plain_order plain;

static void list_packet(uint32_t c, uint32_t r, uint32_t k, uint32_t layer)
{
    assert_true(plain.count < MOST_PACKETS);
    plain.packets[plain.count++] = (listed){c, r, k, layer};
}

static uint32_t num_resolutions(uint32_t c)
{
    return plain.s->component_coding[c].levels + 1u;
}

static uint32_t most_resolutions(void)
{
    uint32_t most = 0;
    for (uint32_t c = 0; c < plain.s->siz.num_components; c++)
        most = most > num_resolutions(c) ? most : num_resolutions(c);
    return most;
}

/* The two conditions along one axis: at a precinct's edge, or at the tile's edge inside a precinct. */
static bool starts_here(uint64_t at, uint64_t tile_start, uint64_t resolution_start, uint64_t sampling,
                        unsigned exponent, unsigned levels)
{
    if (at % (sampling << (exponent + levels)) == 0)
        return true;
    return at == tile_start && (resolution_start << levels) % ((uint64_t)1 << (exponent + levels)) != 0;
}

/* All layers of the next precinct of c and r if one starts at x, y. */
static void visit(uint32_t x, uint32_t y, uint32_t c, uint32_t r)
{
    const l2k_component_coding *k = &plain.s->component_coding[c];
    const l2k_resolution *resolution = &plain.tile->components[c].resolutions[r];
    unsigned levels = k->levels - r;
    if (!starts_here(y, plain.tile->rect.y0, resolution->rect.y0, plain.s->components[c].dy, k->log2_precinct_height[r],
                     levels) ||
        !starts_here(x, plain.tile->rect.x0, resolution->rect.x0, plain.s->components[c].dx, k->log2_precinct_width[r],
                     levels))
        return;
    if (plain.next[c][r] >= resolution->num_precincts)
        return;
    for (uint32_t layer = 0; layer < plain.s->coding.num_layers; layer++)
        list_packet(c, r, plain.next[c][r], layer);
    plain.next[c][r]++;
}

static void loop_lrcp(bool resolution_first)
{
    uint32_t outer = resolution_first ? most_resolutions() : plain.s->coding.num_layers;
    uint32_t inner = resolution_first ? plain.s->coding.num_layers : most_resolutions();
    for (uint32_t a = 0; a < outer; a++)
        for (uint32_t b = 0; b < inner; b++)
            for (uint32_t c = 0; c < plain.s->siz.num_components; c++) {
                uint32_t r = resolution_first ? a : b, layer = resolution_first ? b : a;
                if (r < num_resolutions(c))
                    for (uint32_t k = 0; k < plain.tile->components[c].resolutions[r].num_precincts; k++)
                        list_packet(c, r, k, layer);
            }
}

#define FOR_EACH_POSITION                                                                                              \
    for (uint32_t y = plain.tile->rect.y0; y < plain.tile->rect.y1; y++)                                               \
        for (uint32_t x = plain.tile->rect.x0; x < plain.tile->rect.x1; x++)

static void loop_rpcl(void)
{
    for (uint32_t r = 0; r < most_resolutions(); r++)
        FOR_EACH_POSITION
    for (uint32_t c = 0; c < plain.s->siz.num_components; c++)
        if (r < num_resolutions(c))
            visit(x, y, c, r);
}

static void loop_pcrl(void)
{
    FOR_EACH_POSITION
    for (uint32_t c = 0; c < plain.s->siz.num_components; c++)
        for (uint32_t r = 0; r < num_resolutions(c); r++)
            visit(x, y, c, r);
}

static void loop_cprl(void)
{
    for (uint32_t c = 0; c < plain.s->siz.num_components; c++)
        FOR_EACH_POSITION
    for (uint32_t r = 0; r < num_resolutions(c); r++)
        visit(x, y, c, r);
}

static void list_all(const setting *s, const l2k_tile *tile)
{
    plain.s = s;
    plain.tile = tile;
    plain.count = 0;
    memset(plain.next, 0, sizeof plain.next);
    switch (s->coding.progression) {
    case L2K_LRCP:
        loop_lrcp(false);
        break;
    case L2K_RLCP:
        loop_lrcp(true);
        break;
    case L2K_RPCL:
        loop_rpcl();
        break;
    case L2K_PCRL:
        loop_pcrl();
        break;
    default:
        loop_cprl();
        break;
    }
}

static void test_orders(void **unused)
{
    (void)unused;
    static setting s;
    for (unsigned round = 0; round < 400; round++) {
        random_setting(&s, 3, round % 4 == 0);
        for (unsigned progression = 0; progression < 5; progression++) {
            l2k_tile tile;
            l2k_packet_order order;
            l2k_packet_id id;
            s.coding.progression = (uint8_t)progression;
            assert_int_equal(l2k_tile_create(&context, &s.siz, &s.coding, s.tile, UINT64_MAX, &tile), L2K_OK);
            list_all(&s, &tile);
            assert_int_equal(plain.count, tile.num_precincts * s.coding.num_layers);
            assert_int_equal(l2k_packet_order_create(&context, &tile, &order), L2K_OK);
            for (int twice = 0; twice < 2; twice++) {
                for (size_t i = 0; i < plain.count; i++) {
                    assert_true(l2k_packet_order_next(&order, &id));
                    assert_int_equal(id.component, plain.packets[i].component);
                    assert_int_equal(id.resolution, plain.packets[i].resolution);
                    assert_int_equal(id.precinct, plain.packets[i].precinct);
                    assert_int_equal(id.layer, plain.packets[i].layer);
                }
                assert_false(l2k_packet_order_next(&order, &id));
                l2k_packet_order_restart(&order);
            }
            l2k_packet_order_release(&context, &order);
            l2k_tile_release(&context, &tile);
        }
    }
}

/* ---- Packets ------------------------------------------------------------------------------------------------- */

static uint8_t noise[1 << 16];

/* Gives a block coding passes as the block coder would: rising lengths, segments according to the style, and layers. */
static void fill_block(l2k_tile *tile, l2k_block *block, const l2k_subband *band, unsigned style)
{
    unsigned planes = random_below(4) ? random_below(band->max_planes + 1) : 0;
    unsigned passes = planes ? 3 * planes - 2 : 0, done = 0;
    l2k_coded_block *coded = &block->coded;
    block->num_planes = (uint8_t)planes;
    block->num_passes = (uint8_t)passes;
    coded->bytes = noise + random_below(1000);
    coded->pass_bytes = l2k_arena_take(&context, &tile->arena, (passes + 1) * sizeof *coded->pass_bytes);
    coded->layer_passes = l2k_arena_take(&context, &tile->arena, tile->coding->num_layers);
    assert_true(coded->pass_bytes && coded->layer_passes);
    uint32_t bytes = 0, most = random_below(6) ? 20 : 600;
    for (unsigned i = 0; i < passes; i++) {
        bytes += random_below(3) ? random_below(most) : 0;
        coded->pass_bytes[i] = bytes;
        if (i + 1 == passes || l2k_pass_terminates(style, i))
            coded->pass_bytes[i] |= L2K_PASS_TERMINATED;
    }
    for (uint32_t layer = 0; layer < tile->coding->num_layers; layer++) {
        if (random_below(2))
            done += random_below(passes - done + 1);
        if (layer + 1 == tile->coding->num_layers && random_below(2))
            done = passes;
        coded->layer_passes[layer] = (uint8_t)done;
    }
}

typedef void (*block_visitor)(l2k_tile *tile, l2k_block *block, const l2k_subband *band, unsigned style);

static void for_each_block(l2k_tile *tile, block_visitor visitor)
{
    for (uint32_t c = 0; c < tile->num_components; c++)
        for (uint32_t r = 0; r < tile->components[c].num_resolutions; r++) {
            const l2k_resolution *resolution = &tile->components[c].resolutions[r];
            for (uint32_t p = 0; p < resolution->num_precincts; p++) {
                assert_int_equal(l2k_precinct_prepare(&context, tile, &tile->components[c], r, p), L2K_OK);
                for (uint32_t b = 0; b < resolution->num_bands; b++) {
                    const l2k_precinct *precinct = &resolution->bands[b].precincts[p];
                    for (uint32_t i = 0; i < l2k_precinct_blocks(precinct); i++)
                        visitor(tile, &precinct->blocks[i], &resolution->bands[b], tile->components[c].coding->style);
                }
            }
        }
}

/* The code-blocks of all precincts cover their subband without gap or overlap. */
static uint64_t block_area;

static void add_area(l2k_tile *tile, l2k_block *block, const l2k_subband *band, unsigned style)
{
    (void)tile;
    (void)style;
    l2k_rect r = block->rect, common = l2k_rect_intersect(r, band->rect);
    assert_false(l2k_rect_empty(r));
    assert_memory_equal(&r, &common, sizeof r);
    block_area += (uint64_t)l2k_rect_width(r) * l2k_rect_height(r);
}

static void check_area(l2k_tile *tile)
{
    uint64_t area = 0;
    block_area = 0;
    for_each_block(tile, add_area);
    for (uint32_t c = 0; c < tile->num_components; c++)
        area += (uint64_t)l2k_rect_width(tile->components[c].rect) * l2k_rect_height(tile->components[c].rect);
    assert_int_equal(block_area, area);
}

/* The first coding pass decides the layer in which a block is first included; the reader must find the same. */
static void check_block(const l2k_block *written, const l2k_block *read, uint32_t layers, unsigned style)
{
    unsigned passes = written->num_passes ? written->coded.layer_passes[layers - 1] : 0, got = 0;
    uint32_t bytes = passes ? written->coded.pass_bytes[passes - 1] & ~L2K_PASS_TERMINATED : 0, at = 0;
    assert_int_equal(read->num_passes, passes);
    assert_int_equal(read->received.bytes, bytes);
    if (passes)
        assert_int_equal(read->num_planes, written->num_planes);
    for (const l2k_contribution *c = read->received.first; c; c = c->next) {
        assert_int_equal(c->starts_segment, got == 0 || l2k_pass_terminates(style, got - 1));
        if (c->bytes)
            assert_memory_equal(c->data, written->coded.bytes + at, c->bytes);
        got += c->passes;
        at += c->bytes;
        assert_int_equal(at, written->coded.pass_bytes[got - 1] & ~L2K_PASS_TERMINATED);
    }
    assert_int_equal(got, passes);
    assert_int_equal(at, bytes);
}

static void check_tile(const l2k_tile *written, const l2k_tile *read, uint32_t layers)
{
    for (uint32_t c = 0; c < written->num_components; c++)
        for (uint32_t r = 0; r < written->components[c].num_resolutions; r++) {
            const l2k_resolution *a = &written->components[c].resolutions[r], *b = &read->components[c].resolutions[r];
            for (uint32_t band = 0; band < a->num_bands; band++)
                for (uint32_t p = 0; p < a->num_precincts; p++) {
                    const l2k_precinct *pa = &a->bands[band].precincts[p], *pb = &b->bands[band].precincts[p];
                    if (!pb->blocks)
                        continue; /* only empty packets */
                    for (uint32_t i = 0; i < l2k_precinct_blocks(pa); i++)
                        check_block(&pa->blocks[i], &pb->blocks[i], layers, written->components[c].coding->style);
                }
        }
}

/* Measures every packet, layer by layer as rate control does; measuring twice gives the same size. */
static void measure_packets(l2k_tile *tile, l2k_packet_order *order, size_t *sizes)
{
    l2k_packet_id id;
    assert_int_equal(l2k_packets_restart(&context, tile), L2K_OK);
    for (size_t n = 0; l2k_packet_order_next(order, &id); n++) {
        size_t again;
        assert_true(n < MOST_PACKETS);
        assert_int_equal(l2k_packet_measure(&context, tile, &id, &sizes[n]), L2K_OK);
        assert_int_equal(l2k_packet_measure(&context, tile, &id, &again), L2K_OK);
        assert_int_equal(sizes[n], again);
        assert_int_equal(l2k_packet_skip(&context, tile, &id), L2K_OK);
    }
    l2k_packet_order_restart(order);
}

static void write_packets(l2k_tile *tile, l2k_packet_order *order, const size_t *sizes, l2k_buffer *out)
{
    l2k_packet_id id;
    assert_int_equal(l2k_packets_restart(&context, tile), L2K_OK);
    for (uint32_t n = 0; l2k_packet_order_next(order, &id); n++) {
        size_t before = out->size;
        assert_int_equal(l2k_packet_write(&context, tile, &id, n, out, NULL, NULL), L2K_OK);
        assert_int_equal(out->size - before, sizes[n]);
    }
    assert_int_equal(l2k_buffer_status(out), L2K_OK);
    l2k_packet_order_restart(order);
}

/* A prefix that ends inside a packet is reported, and nothing past its end is read. */
static void check_truncation(const setting *s, l2k_packet_order *order, const l2k_buffer *out, const size_t *sizes)
{
    size_t bytes = random_below(out->size), at = 0, n = 0;
    uint8_t *copy = malloc(bytes + 1);
    l2k_tile tile;
    l2k_packet_id id;
    l2k_status status = L2K_OK;
    assert_non_null(copy);
    memcpy(copy, out->data, bytes);
    assert_int_equal(l2k_tile_create(&context, &s->siz, &s->coding, s->tile, UINT64_MAX, &tile), L2K_OK);
    l2k_packet_input source = {.data = copy, .end = copy + bytes};
    while (status == L2K_OK && l2k_packet_order_next(order, &id)) {
        status = l2k_packet_read(&context, &tile, &id, true, &source);
        /* EPH is optional, so its absence after an empty last packet goes unnoticed. */
        bool whole = at + sizes[n] <= bytes + (s->coding.eph ? 2 : 0);
        assert_true(status == (whole ? L2K_OK : L2K_ERROR_TRUNCATED) ||
                    (at + sizes[n] > bytes && status == L2K_ERROR_TRUNCATED));
        at += sizes[n++];
    }
    assert_true(status == L2K_ERROR_TRUNCATED || s->coding.eph);
    l2k_packet_order_restart(order);
    l2k_tile_release(&context, &tile);
    free(copy);
}

static void test_round_trip(void **unused)
{
    (void)unused;
    static setting s;
    static size_t sizes[MOST_PACKETS];
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (uint8_t)random_u64();
    for (unsigned round = 0; round < 400; round++) {
        l2k_tile tile, copy;
        l2k_packet_order order;
        l2k_packet_id id;
        random_setting(&s, round % 10 ? 4 : 20, false);
        s.coding.progression = (uint8_t)(round % 5);
        assert_int_equal(l2k_tile_create(&context, &s.siz, &s.coding, s.tile, UINT64_MAX, &tile), L2K_OK);
        assert_int_equal(l2k_tile_create(&context, &s.siz, &s.coding, s.tile, UINT64_MAX, &copy), L2K_OK);
        check_area(&tile);
        for_each_block(&tile, fill_block);
        assert_int_equal(l2k_packet_order_create(&context, &tile, &order), L2K_OK);
        l2k_buffer out = {.context = &context};
        measure_packets(&tile, &order, sizes);
        write_packets(&tile, &order, sizes, &out);
        if (out.size > 0) {
            l2k_packet_input source = {.data = out.data, .end = out.data + out.size};
            while (l2k_packet_order_next(&order, &id))
                assert_int_equal(l2k_packet_read(&context, &copy, &id, true, &source), L2K_OK);
            assert_ptr_equal(source.data, out.data + out.size);
            l2k_packet_order_restart(&order);
            check_tile(&tile, &copy, s.coding.num_layers);
            check_truncation(&s, &order, &out, sizes);
        }
        l2k_buffer_release(&out);
        l2k_packet_order_release(&context, &order);
        l2k_tile_release(&context, &tile);
        l2k_tile_release(&context, &copy);
    }
}

/* Random bytes as packets: never an access out of bounds, never an unexpected status. */
static void test_garbage(void **unused)
{
    (void)unused;
    static setting s;
    for (unsigned round = 0; round < 2000; round++) {
        l2k_tile tile;
        l2k_packet_order order;
        l2k_packet_id id;
        size_t bytes = random_below(300);
        uint8_t *data = malloc(bytes + 1);
        l2k_packet_input source = {.data = data, .end = data + bytes};
        l2k_status status = L2K_OK;
        assert_non_null(data);
        for (size_t i = 0; i < bytes; i++)
            data[i] = random_below(5) ? (uint8_t)random_u64() : 0xFF;
        random_setting(&s, 4, false);
        assert_int_equal(l2k_tile_create(&context, &s.siz, &s.coding, s.tile, UINT64_MAX, &tile), L2K_OK);
        assert_int_equal(l2k_packet_order_create(&context, &tile, &order), L2K_OK);
        while (status == L2K_OK && l2k_packet_order_next(&order, &id)) {
            status = l2k_packet_read(&context, &tile, &id, random_below(2), &source);
            assert_true(source.data >= data && source.data <= data + bytes);
        }
        assert_true(status == L2K_OK || status == L2K_ERROR_TRUNCATED || status == L2K_ERROR_CORRUPT ||
                    status == L2K_ERROR_UNSUPPORTED);
        l2k_packet_order_release(&context, &order);
        l2k_tile_release(&context, &tile);
        free(data);
    }
}

/* A tile-part starts where one of the loops down to the named one advances; here in a tile of two components with 3 x 3
 * precincts in each of two resolutions. */
static bool starts_part(l2k_progression progression, l2k_tile_parts parts, const l2k_packet_id *before,
                        const l2k_packet_id *after)
{
    const l2k_partition grid = {.log2_width = 5, .log2_height = 5, .across = 3, .down = 3};
    l2k_resolution resolutions[2] = {{.precincts = grid}, {.precincts = grid}};
    const l2k_component_coding coding = {.levels = 1};
    l2k_tile_component component = {
        .coding = &coding, .num_resolutions = 2, .dx = 1, .dy = 1, .resolutions = resolutions};
    l2k_tile_component components[2] = {component, component};
    const l2k_tile tile = {.components = components};
    const l2k_packet_order order = {.tile = &tile, .progression = progression};
    return l2k_packet_starts_part(&order, parts, before, after);
}

static void test_tile_parts(void **unused)
{
    (void)unused;
    l2k_packet_id a = {0, 1, 2, 3}, b = a;
    b.precinct++;
    assert_false(starts_part(L2K_LRCP, L2K_TILE_PARTS_COMPONENT, &a, &b));
    assert_true(starts_part(L2K_PCRL, L2K_TILE_PARTS_COMPONENT, &a, &b));
    b = a;
    b.layer++;
    assert_true(starts_part(L2K_LRCP, L2K_TILE_PARTS_LAYER, &a, &b));
    assert_true(starts_part(L2K_LRCP, L2K_TILE_PARTS_RESOLUTION, &a, &b));
    assert_false(starts_part(L2K_RLCP, L2K_TILE_PARTS_RESOLUTION, &a, &b));
    assert_false(starts_part(L2K_CPRL, L2K_TILE_PARTS_COMPONENT, &a, &b));
    assert_false(starts_part(L2K_LRCP, L2K_TILE_PARTS_ONE, &a, &b));
    b = a;
    b.component++;
    assert_true(starts_part(L2K_CPRL, L2K_TILE_PARTS_COMPONENT, &a, &b));
    assert_false(starts_part(L2K_RPCL, L2K_TILE_PARTS_RESOLUTION, &a, &b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_garbage),
        cmocka_unit_test(test_tile_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
