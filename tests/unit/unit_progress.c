/* The progress hook is asked often, however little of a picture there is to show for the work. The clock of this
 * program goes a second further each time it is looked at, so that every question of the library comes through to the
 * hook: they are counted against the work. */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */
#include "stream_headers.h"

#include <time.h>

#include "base/run.h"
#include "codec/tile/bits.h"
#include "codec/decode_job.h"

int clock_gettime(clockid_t clock, struct timespec *time)
{
    static time_t seconds;
    (void)clock;
    *time = (struct timespec){.tv_sec = ++seconds};
    return 0;
}

typedef struct counter {
    watch w; /* first, for its hooks */
    unsigned calls, stop_at;
} counter;

static bool count_call(void *user, double done)
{
    counter *c = user;
    (void)done;
    return ++c->calls != c->stop_at;
}

static l2k_hooks counting_hooks(counter *c)
{
    *c = (counter){0};
    l2k_hooks hooks = watch_hooks(&c->w);
    hooks.progress = count_call;
    hooks.user = c;
    return hooks;
}

/* ---- Questions of whole calls -------------------------------------------------------------------------------- */

typedef struct questions {
    unsigned opening, decoding;
} questions;

static questions ask_decoder(const memory_file *file, int component, const uint32_t *region)
{
    counter c;
    questions q;
    l2k_image image;
    static l2k_plane planes[MOST_CHANNELS];
    l2k_hooks hooks = counting_hooks(&c);
    l2k_decoder *decoder = l2k_decoder_new(&hooks);
    l2k_decoder_set(decoder, L2K_DECODER_THREADS, 1);
    l2k_decoder_set(decoder, L2K_DECODER_BACKEND, L2K_BACKEND_CPU);
    l2k_decoder_set(decoder, L2K_DECODER_COMPONENT, component);
    if (region)
        assert_int_equal(l2k_decoder_set_region(decoder, region[0], region[1], region[2], region[3]), L2K_OK);
    assert_int_equal(l2k_decoder_open_memory(decoder, file->data, file->size), L2K_OK);
    q.opening = c.calls;
    assert_int_equal(l2k_decoder_image(decoder, &image), L2K_OK);
    for (uint32_t k = 0; k < image.num_components; k++) {
        const ptrdiff_t row = (ptrdiff_t)image.components[k].width;
        planes[k] = (l2k_plane){malloc((size_t)row * image.components[k].height), row, 1, L2K_SAMPLE_U8};
        assert_non_null(planes[k].data);
    }
    l2k_status status = l2k_decoder_decode(decoder, planes);
    assert_true(status == L2K_OK || status == L2K_INCOMPLETE);
    q.decoding = c.calls - q.opening;
    for (uint32_t k = 0; k < image.num_components; k++)
        free(planes[k].data);
    l2k_decoder_free(decoder);
    return q;
}

/* Tiles of one precinct in one resolution. */
static stream_shape shape_of(uint32_t width, uint32_t height, uint32_t tile_width)
{
    return (stream_shape){.width = width,
                          .height = height,
                          .tile_width = tile_width,
                          .tile_height = height,
                          .precision = 8,
                          .components = 1,
                          .layers = 1,
                          .log2_block = 2,
                          .log2_precinct = 15};
}

/* 255 tile-parts in each of 255 tiles, the last one first, and 100000 reserved markers in the main header. */
static void test_headers(void **unused)
{
    (void)unused;
    enum { TILES = 255, PARTS = 255, MARKERS = 100000 };
    const stream_shape shape = shape_of(TILES, 1, 1);
    memory_file file = make_header(&shape);
    for (uint32_t i = 0; i < MARKERS; i++)
        put(&file, 0xFF30, 2);
    const unsigned with_markers = (unsigned)(file.size >> 16);
    for (uint32_t i = 0; i < TILES * PARTS; i++) {
        put(&file, 0xFF90000A, 4);
        put(&file, i % TILES, 2);
        put(&file, 14, 4);
        put(&file, (PARTS - 1 - i / TILES) << 8, 2);
        put(&file, 0xFF93, 2);
    }
    questions q = ask_decoder(&file, 0, NULL);
    /* Each of the two walks, and the lists of tile-parts. */
    assert_in_range(q.opening, with_markers + (file.size >> 16) + TILES * PARTS / (1 << 14), 1000);
    free(file.data);
}

/* The last of many progression changes select nothing: nothing is between one packet and the end. */
static void test_changes(void **unused)
{
    (void)unused;
    enum { SIDE = 256, CHANGES = 150 };
    unsigned decoding[2];
    for (unsigned many = 0; many < 2; many++) {
        const unsigned changes = many ? CHANGES : 1;
        stream_shape shape = shape_of(SIDE, SIDE, SIDE);
        shape.log2_precinct = 0;
        memory_file file = make_header(&shape);
        put_changes(&file, changes, 0x00000001210100);
        put_tile_part(&file, 0, 0);
        for (unsigned i = 0; i < SIDE * SIDE; i++)
            put(&file, 0, 1);
        decoding[many] = ask_decoder(&file, 0, NULL).decoding;
        free(file.data);
    }
    assert_in_range(decoding[1] - decoding[0], (CHANGES - 1) * (SIDE * SIDE >> 14), 10000);
}

/* A packet that includes all code-blocks of a row, with one pass of no bytes each. Where a node is 0, the tag trees
 * have a bit for it when it is first met. */
static void put_inclusions(memory_file *file, uint32_t blocks)
{
    l2k_context context = {.threads = 1};
    l2k_buffer buffer = {.context = &context};
    l2k_bit_writer bits = l2k_bits_to(&buffer);
    l2k_bits_put(&bits, 1, 1);
    for (uint32_t i = 0; i < blocks; i++) {
        unsigned levels = l2k_log2(i ? i & (0 - i) : blocks) + 1;
        for (unsigned tree = 0; tree < 2; tree++)
            l2k_bits_put(&bits, (uint32_t)((1ull << levels) - 1), levels);
        l2k_bits_put(&bits, 0, 1 + 1 + 3); /* one pass, Lblock as it was, no bytes */
    }
    l2k_bits_flush(&bits);
    for (size_t i = 0; i < buffer.size; i++)
        put(file, buffer.data[i], 1);
    l2k_buffer_release(&buffer);
}

/* Packets of component 0 that look at each of 8192 code-blocks, and empty ones of component 1, which alone is wanted.
 */
static void test_looks(void **unused)
{
    (void)unused;
    enum { BLOCKS = 1 << 13, LAYERS = 40 };
    stream_shape shape = shape_of(4 * BLOCKS, 4, 4 * BLOCKS);
    shape.components = 2;
    shape.layers = LAYERS;
    memory_file file = make_header(&shape);
    put_tile_part(&file, 0, 0);
    put_inclusions(&file, BLOCKS);
    put(&file, 0, 1);
    for (unsigned layer = 1; layer < LAYERS; layer++) {
        put(&file, 0x80, 1);
        for (unsigned i = 0; i < BLOCKS / 8; i++)
            put(&file, 0, 1);
        put(&file, 0, 1);
    }
    assert_in_range(ask_decoder(&file, 1, NULL).decoding, LAYERS, 1000);
    free(file.data);
}

/* ---- Samples ------------------------------------------------------------------------------------------------- */

/* Rows of 300 samples, and of one: questions take time, too, so their number goes by the samples. */
static void test_blank(void **unused)
{
    (void)unused;
    enum { HEIGHT = 60000 };
    for (uint32_t width = 1; width <= 300; width += 299) {
        const stream_shape shape = shape_of(width, HEIGHT, width);
        memory_file file = make_header(&shape);
        put_tile_part(&file, 0, 15);
        put(&file, 0, 1);
        const unsigned least = HEIGHT * (1 + width / 16) >> 13;
        assert_in_range(ask_decoder(&file, 0, NULL).decoding, least, least + 100);
        free(file.data);
    }
}

/* After a "no" nothing more is filled. */
static void test_stopped_filling(void **unused)
{
    (void)unused;
    enum { WIDTH = 300, HEIGHT = 60000, UNTOUCHED = 77 };
    const stream_shape shape = shape_of(WIDTH, HEIGHT, WIDTH);
    memory_file file = make_header(&shape);
    put_tile_part(&file, 0, 15);
    put(&file, 0, 1);
    counter c;
    l2k_hooks hooks = counting_hooks(&c);
    uint8_t *samples = malloc(WIDTH * HEIGHT);
    assert_non_null(samples);
    memset(samples, UNTOUCHED, WIDTH * HEIGHT);
    l2k_plane plane = {samples, WIDTH, 1, L2K_SAMPLE_U8};
    l2k_decoder *decoder = l2k_decoder_new(&hooks);
    l2k_decoder_set(decoder, L2K_DECODER_BACKEND, L2K_BACKEND_CPU);
    assert_int_equal(l2k_decoder_open_memory(decoder, file.data, file.size), L2K_OK);
    c.stop_at = c.calls + 50;
    assert_int_equal(l2k_decoder_decode(decoder, &plane), L2K_ERROR_CANCELLED);
    assert_true(samples[0] != UNTOUCHED);
    assert_int_equal(samples[WIDTH * (HEIGHT - 1)], UNTOUCHED);
    l2k_decoder_free(decoder);
    free(samples);
    free(file.data);
}

/* A region that cuts the tile is copied out of it. */
static void test_crop(void **unused)
{
    (void)unused;
    picture p;
    enum { HEIGHT = 60000, ASKED = HEIGHT >> 13 };
    picture_make(&p, 4, HEIGHT, 1);
    memory_file file = encode_with(&p, L2K_ENCODER_LEVELS, 2);
    unsigned whole = ask_decoder(&file, 0, NULL).decoding;
    unsigned part = ask_decoder(&file, 0, (const uint32_t[4]){1, 1, 4, HEIGHT}).decoding;
    assert_in_range(part, whole + ASKED - 1, whole + ASKED + 20);
    free(file.data);
    picture_free(&p);
}

/* ---- Tiles and their packets --------------------------------------------------------------------------------- */

typedef struct setting {
    counter c;
    l2k_run run;
    l2k_context context;
    l2k_component components[2];
    l2k_component_coding component_coding[2];
    l2k_siz siz;
    l2k_tile_coding coding;
} setting;

/* Two components of one resolution; `log2_precinct` 0 makes precincts of single samples. */
static void make_setting(setting *s, uint32_t width, uint32_t height, uint8_t log2_precinct)
{
    *s = (setting){.context = {.threads = 1}};
    s->context.hooks = counting_hooks(&s->c);
    s->context.run = &s->run;
    l2k_run_start(&s->run, 0, false);
    s->siz = (l2k_siz){.num_components = 2, .components = s->components};
    s->siz.grid.image = (l2k_rect){0, 0, width, height};
    s->siz.grid.tile_width = width;
    s->siz.grid.tile_height = height;
    s->coding = (l2k_tile_coding){.num_layers = 1, .progression = L2K_PCRL, .components = s->component_coding};
    for (int c = 0; c < 2; c++) {
        s->components[c] = (l2k_component){.dx = 1, .dy = 1, .precision = 8};
        l2k_component_coding *k = &s->component_coding[c];
        k->log2_block_width = k->log2_block_height = 2;
        k->log2_precinct_width[0] = k->log2_precinct_height[0] = log2_precinct;
    }
}

/* The calls since then. */
static unsigned calls_since(const setting *s, unsigned before)
{
    return s->c.calls - before;
}

/* 2^16 code-blocks of one precinct: with their tag trees, listed, and looked through for what came. */
static void test_blocks(void **unused)
{
    (void)unused;
    static setting s;
    enum { BLOCKS = 1 << 16 };
    l2k_tile tile;
    l2k_block_place *places;
    size_t count;
    make_setting(&s, 4 * BLOCKS, 4, 15);
    s.component_coding[0].log2_precinct_width[0] = 31;
    assert_int_equal(l2k_tile_create(&s.context, &s.siz, &s.coding, 0, UINT64_MAX, &tile), L2K_OK);
    unsigned before = s.c.calls;
    assert_int_equal(l2k_precinct_prepare(&s.context, &tile, &tile.components[0], 0, 0), L2K_OK);
    assert_int_equal(l2k_precinct_blocks(tile.components[0].resolutions[0].bands[0].precincts), BLOCKS);
    assert_in_range(calls_since(&s, before), 3 * BLOCKS >> 14, 1000);
    before = s.c.calls;
    assert_int_equal(l2k_tile_list_blocks(&s.context, &tile, 0, 0, &places, &count), L2K_OK);
    assert_int_equal(count, BLOCKS);
    assert_in_range(calls_since(&s, before), BLOCKS >> 14, 1000);
    before = s.c.calls;
    l2k_tile_state state = {.tile = tile, .places = places, .num_places = count};
    uint8_t bits[L2K_MAX_SUBBANDS];
    size_t at = 0;
    assert_int_equal(l2k_measure_planes(&s.context, &state, 0, &at, bits), L2K_OK);
    assert_int_equal(at, BLOCKS);
    assert_in_range(calls_since(&s, before), BLOCKS >> 14, 1000);
    l2k_release(&s.context, places);
    s.c.stop_at = s.c.calls + 2;
    assert_int_equal(l2k_tile_list_blocks(&s.context, &tile, 0, 0, &places, &count), L2K_ERROR_CANCELLED);
    l2k_tile_release(&s.context, &tile);
    assert_int_equal(s.c.w.live, 0);
}

/* What an encoder does with a packet of 2^16 code-blocks. */
static void test_packet(void **unused)
{
    (void)unused;
    static setting s;
    enum { BLOCKS = 1 << 16, ONE_WALK = BLOCKS >> 14 };
    const l2k_packet_id id = {0};
    l2k_tile tile;
    l2k_buffer out = {.context = &s.context}, scratch = {0};
    size_t bytes;
    make_setting(&s, 4 * BLOCKS, 4, 15);
    s.component_coding[0].log2_precinct_width[0] = 31;
    assert_int_equal(l2k_tile_create(&s.context, &s.siz, &s.coding, 0, UINT64_MAX, &tile), L2K_OK);
    for (uint32_t c = 0; c < 2; c++)
        for (uint32_t p = 0; p < tile.components[c].resolutions[0].num_precincts; p++)
            assert_int_equal(l2k_precinct_prepare(&s.context, &tile, &tile.components[c], 0, p), L2K_OK);
    unsigned before = s.c.calls;
    assert_int_equal(l2k_packets_restart(&s.context, &tile), L2K_OK);
    assert_in_range(calls_since(&s, before), 2 * ONE_WALK, 1000);
    before = s.c.calls;
    assert_int_equal(l2k_packet_measure(&s.context, &tile, &id, &scratch, &bytes), L2K_OK);
    assert_in_range(calls_since(&s, before), 4 * ONE_WALK, 1000); /* announced, saved, header, body */
    before = s.c.calls;
    assert_int_equal(l2k_packet_write(&s.context, &tile, &id, 0, &out), L2K_OK);
    assert_int_equal(out.size, bytes);
    assert_in_range(calls_since(&s, before), 2 * ONE_WALK, 1000);
    before = s.c.calls;
    assert_int_equal(l2k_packet_skip(&s.context, &tile, &id), L2K_OK);
    const unsigned asked = calls_since(&s, before);
    assert_in_range(asked, 3 * ONE_WALK, 1000);
    for (unsigned at = 1; at <= asked; at++) {
        l2k_run_restart(&s.run, 0);
        s.c.stop_at = s.c.calls + at;
        assert_int_equal(l2k_packet_skip(&s.context, &tile, &id), L2K_ERROR_CANCELLED);
        assert_int_equal(s.c.calls, s.c.stop_at);
    }
    l2k_buffer_release(&out);
    l2k_buffer_release(&scratch);
    l2k_tile_release(&s.context, &tile);
    assert_int_equal(s.c.w.live, 0);
}

/* Rows of 2^20 samples: asked about once in two rows at least, and not again after a "no". */
static void test_long_rows(void **unused)
{
    (void)unused;
    static setting s;
    enum { WIDTH = 1 << 20, HEIGHT = 4, LEAST = HEIGHT / 2 };
    static uint8_t sample;
    for (int direction = 0; direction < 2; direction++) {
        l2k_plan *plan;
        l2k_plan_component component = {.rect = {0, 0, WIDTH, HEIGHT}, .levels = 1, .precision = 8};
        const l2k_plan_spec spec = {.direction = direction ? L2K_INVERSE : L2K_FORWARD,
                                    .type = L2K_COEFFICIENT_INT32,
                                    .num_components = 1,
                                    .components = &component};
        l2k_plane plane = {&sample, 0, 0, L2K_SAMPLE_U8};
        make_setting(&s, WIDTH, HEIGHT, 15);
        assert_int_equal(l2k_plan_create(&s.context, L2K_BACKEND_CPU, &spec, &plan), L2K_OK);
        if (direction)
            memset(l2k_plan_coefficients(plan, 0)->base, 0, (size_t)WIDTH * HEIGHT * sizeof(int32_t));
        unsigned before = s.c.calls;
        assert_int_equal(l2k_plan_begin(plan, &plane), L2K_OK);
        assert_int_equal(l2k_plan_finish(plan), L2K_OK);
        const unsigned asked = calls_since(&s, before);
        assert_in_range(asked, LEAST, 1000);
        for (unsigned at = 1; at <= asked; at++) {
            l2k_run_restart(&s.run, 0);
            s.c.stop_at = s.c.calls + at;
            assert_int_equal(l2k_plan_begin(plan, &plane), L2K_ERROR_CANCELLED);
            assert_int_equal(s.c.calls, s.c.stop_at);
        }
        l2k_plan_free(plan);
        assert_int_equal(s.c.w.live, 0);
    }
}

/* A cancelled run does not begin another pass, however few samples that has: the one before may have left nothing. */
static void test_cancelled_pass(void **unused)
{
    (void)unused;
    static setting s;
    enum { SIDE = 16, UNTOUCHED = 77 };
    static uint8_t samples[SIDE * SIDE];
    l2k_plan *plan;
    l2k_plan_component component = {.rect = {0, 0, SIDE, SIDE}, .levels = 2, .precision = 8};
    const l2k_plan_spec spec = {
        .direction = L2K_FORWARD, .type = L2K_COEFFICIENT_INT32, .num_components = 1, .components = &component};
    l2k_plane plane = {samples, SIDE, 1, L2K_SAMPLE_U8};
    make_setting(&s, SIDE, SIDE, 15);
    assert_int_equal(l2k_plan_create(&s.context, L2K_BACKEND_CPU, &spec, &plan), L2K_OK);
    int32_t *coefficients = l2k_plan_coefficients(plan, 0)->base;
    coefficients[0] = UNTOUCHED;
    s.c.stop_at = s.c.calls + 1;
    assert_false(l2k_goes_on(&s.context));
    assert_int_equal(l2k_plan_begin(plan, &plane), L2K_ERROR_CANCELLED);
    assert_int_equal(coefficients[0], UNTOUCHED);
    l2k_plan_free(plan);
    assert_int_equal(s.c.w.live, 0);
}

/* A GiB is not appended in one go, nor cleared. */
static void test_memory(void **unused)
{
    (void)unused;
    static setting s;
    enum { MIB = 8 };
    static const uint8_t bytes[MIB << 20] = {[(MIB << 20) - 1] = 1};
    make_setting(&s, 1, 1, 15);
    l2k_buffer out = {.context = &s.context};
    l2k_buffer_append(&out, bytes, sizeof bytes);
    assert_in_range(s.c.calls, MIB - 1, 1000);
    l2k_run_restart(&s.run, 0);
    s.c.stop_at = s.c.calls + 2;
    assert_false(l2k_zero(&s.context, out.data, out.size));
    assert_int_equal(out.data[out.size - 1], 1);
    l2k_buffer_release(&out);
}

/* 2^18 precincts in the order of their positions, which has to be made. */
static void test_order(void **unused)
{
    (void)unused;
    static setting s;
    enum { PRECINCTS = 1 << 18 };
    l2k_tile tile;
    l2k_packet_order order;
    l2k_packet_id id;
    make_setting(&s, 512, PRECINCTS / 2 / 512, 0);
    assert_int_equal(l2k_tile_create(&s.context, &s.siz, &s.coding, 0, UINT64_MAX, &tile), L2K_OK);
    assert_in_range(s.c.calls, PRECINCTS * sizeof(l2k_precinct) >> 21, 1000);
    unsigned before = s.c.calls;
    assert_int_equal(l2k_packet_order_create(&s.context, &tile, &order), L2K_OK);
    const unsigned asked = calls_since(&s, before);
    assert_in_range(asked, 2 * PRECINCTS >> 14, 1000); /* making and merging */
    before = s.c.calls;
    assert_int_equal(l2k_packets_restart(&s.context, &tile), L2K_OK);
    assert_in_range(calls_since(&s, before), PRECINCTS >> 14, 1000);
    for (uint32_t i = 0; i < PRECINCTS; i++) {
        assert_true(l2k_packet_order_next(&order, &id));
        assert_true(id.component == i % 2 && id.precinct == i / 2);
    }
    assert_false(l2k_packet_order_next(&order, &id));
    assert_int_equal(order.status, L2K_OK);
    l2k_packet_order_release(&s.context, &order);
    for (unsigned at = 1; at <= asked; at += 5) {
        l2k_run_restart(&s.run, 0);
        s.c.stop_at = s.c.calls + at;
        assert_int_equal(l2k_packet_order_create(&s.context, &tile, &order), L2K_ERROR_CANCELLED);
        assert_int_equal(s.c.calls, s.c.stop_at); /* nobody asks again */
    }
    l2k_tile_release(&s.context, &tile);
    assert_int_equal(s.c.w.live, 0);
}

static l2k_status encode_stopped(const picture *p, unsigned stop_at, unsigned *calls)
{
    counter c;
    l2k_hooks hooks = counting_hooks(&c);
    memory_file out = memory_of(NULL, 0);
    c.stop_at = stop_at;
    l2k_encoder *encoder = l2k_encoder_new(&hooks);
    l2k_encoder_set(encoder, L2K_ENCODER_THREADS, 1);
    l2k_encoder_set(encoder, L2K_ENCODER_BACKEND, L2K_BACKEND_CPU);
    l2k_encoder_set(encoder, L2K_ENCODER_LEVELS, 1);
    l2k_status status = run_encoder(encoder, p, &out);
    l2k_encoder_free(encoder);
    *calls = c.calls;
    free(out.data);
    return status;
}

/* A "no" counts to the last: it may be the answer to a question between the pieces of a large copy. */
static void test_last_answers(void **unused)
{
    (void)unused;
    enum { SIDE = 1200, LAST = 6 };
    picture p;
    unsigned calls, asked;
    picture_make(&p, SIDE, SIDE, 1);
    for (uint32_t i = 0; i < SIDE * SIDE; i++)
        p.samples[0][i] = random_below(256);
    assert_int_equal(encode_stopped(&p, 0, &calls), L2K_OK);
    for (unsigned i = 0; i < LAST; i++)
        assert_int_equal(encode_stopped(&p, calls - i, &asked), L2K_ERROR_CANCELLED);
    picture_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_headers),        cmocka_unit_test(test_changes),         cmocka_unit_test(test_looks),
        cmocka_unit_test(test_blank),          cmocka_unit_test(test_stopped_filling), cmocka_unit_test(test_crop),
        cmocka_unit_test(test_blocks),         cmocka_unit_test(test_packet),          cmocka_unit_test(test_long_rows),
        cmocka_unit_test(test_cancelled_pass), cmocka_unit_test(test_memory),          cmocka_unit_test(test_order),
        cmocka_unit_test(test_last_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
