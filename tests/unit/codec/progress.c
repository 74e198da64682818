/* The progress hook: how often it is called for a given amount of work, and what a "no" ends. In this program the clock
 * advances by a second each time it is read, so every time the library reads it, the hook is called. */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */
#include "stream_headers.h"

#include <pthread.h>
#include <time.h>

#include "base/run.h"
#include "codec/packets/packet.h"
#include "transform/plan.h"

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
    assert_true(done >= 0 && done <= 1);
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

/* ---- l2k_poll ------------------------------------------------------------------------------------------------ */

typedef struct setting {
    counter c;
    l2k_run run;
    l2k_context context;
} setting;

static void make_setting(setting *s)
{
    *s = (setting){.context = {.threads = 1}};
    s->context.hooks = counting_hooks(&s->c);
    s->context.run = &s->run;
    l2k_run_start(&s->run, 0, false);
}

/* The hook is called for the same total weight, however it is divided. */
static void test_weights(void **unused)
{
    (void)unused;
    static setting s;
    for (uint64_t weight = 1; weight <= L2K_POLL_NOW; weight *= 4) {
        make_setting(&s);
        for (uint64_t i = 0; i < 8 * L2K_POLL_NOW; i += weight)
            assert_int_equal(l2k_poll(&s.context, weight), L2K_OK);
        assert_int_equal(s.c.calls, 8);
    }
    l2k_context alone = {.threads = 1};
    assert_int_equal(l2k_poll(&alone, L2K_POLL_NOW), L2K_OK);
}

/* After a "no" the hook is not called again. */
static void test_no(void **unused)
{
    (void)unused;
    static setting s;
    make_setting(&s);
    s.c.stop_at = 3;
    for (unsigned i = 1; i < 10; i++)
        assert_int_equal(l2k_poll(&s.context, L2K_POLL_NOW), i < 3 ? L2K_OK : L2K_ERROR_CANCELLED);
    assert_int_equal(l2k_poll(&s.context, 1), L2K_ERROR_CANCELLED);
    assert_int_equal(s.c.calls, 3);
    l2k_run_restart(&s.run, 0);
    assert_int_equal(l2k_poll(&s.context, L2K_POLL_NOW), L2K_OK);
}

static void *poll_elsewhere(void *context)
{
    static l2k_status status;
    status = l2k_poll(context, L2K_POLL_NOW);
    return &status;
}

/* Threads other than the caller's do not call the hook, but see its answer. */
static void test_other_thread(void **unused)
{
    (void)unused;
    static setting s;
    make_setting(&s);
    for (unsigned i = 0; i < 2; i++) {
        pthread_t thread;
        void *status;
        assert_int_equal(pthread_create(&thread, NULL, poll_elsewhere, &s.context), 0);
        assert_int_equal(pthread_join(thread, &status), 0);
        assert_int_equal(*(l2k_status *)status, i == 0 ? L2K_OK : L2K_ERROR_CANCELLED);
        assert_int_equal(s.c.calls, i);
        s.c.stop_at = 1;
        l2k_poll(&s.context, L2K_POLL_NOW);
    }
}

/* ---- Whole calls --------------------------------------------------------------------------------------------- */

/* Each of these is run with the hook, and cancelled at some of its calls. */
typedef struct call_case {
    const char *name;
    uint32_t width, height, components;
    l2k_encoder_option option;
    int64_t value;
    bool layers;
} call_case;

static const call_case cases[] = {
    {"one tile", 700, 500, 1, L2K_ENCODER_LEVELS, 5, false},
    {"three components", 400, 300, 3, L2K_ENCODER_LEVELS, 5, false},
    {"9/7", 512, 512, 1, L2K_ENCODER_WAVELET, L2K_WAVELET_9_7, false},
    {"small tiles", 512, 512, 1, L2K_ENCODER_TILE_WIDTH, 64, false},
    {"small code-blocks", 512, 256, 1, L2K_ENCODER_BLOCK_WIDTH, 4, false},
    {"layers", 512, 256, 1, L2K_ENCODER_LEVELS, 5, true},
};

static void make_noise(picture *p, const call_case *k)
{
    picture_make(p, k->width, k->height, k->components);
    for (uint32_t c = 0; c < k->components; c++)
        for (uint32_t i = 0; i < k->width * k->height; i++)
            p->samples[c][i] = (int32_t)random_below(256);
}

static l2k_status encode_case(const call_case *k, const picture *p, unsigned stop_at, unsigned *calls, memory_file *out)
{
    counter c;
    static const double ratios[] = {8, 1};
    l2k_hooks hooks = counting_hooks(&c);
    c.stop_at = stop_at;
    *out = memory_of(NULL, 0);
    l2k_encoder *encoder = l2k_encoder_new(&hooks);
    l2k_encoder_set(encoder, L2K_ENCODER_THREADS, 1);
    l2k_encoder_set(encoder, L2K_ENCODER_BACKEND, L2K_BACKEND_CPU);
    l2k_encoder_set(encoder, k->option, k->value);
    if (k->layers)
        l2k_encoder_set_layers(encoder, L2K_TARGET_RATIO, ratios, 2);
    l2k_status status = run_encoder(encoder, p, out);
    l2k_encoder_free(encoder);
    assert_int_equal(c.w.live, 0);
    *calls = c.calls;
    return status;
}

static l2k_status decode_case(const memory_file *file, unsigned stop_at, unsigned *calls)
{
    counter c;
    picture got;
    l2k_hooks hooks = counting_hooks(&c);
    c.stop_at = stop_at;
    l2k_decoder *decoder = new_decoder(&hooks, 1);
    l2k_decoder_set(decoder, L2K_DECODER_BACKEND, L2K_BACKEND_CPU);
    l2k_status status = run_decoder(decoder, file->data, file->size, &got);
    if (status == L2K_OK)
        picture_free(&got);
    l2k_decoder_free(decoder);
    assert_int_equal(c.w.live, 0);
    *calls = c.calls;
    return status;
}

/* Calls to stop at: the first, the last, and some between. */
static unsigned next_stop(unsigned at, unsigned calls)
{
    return at < 5 || at + 5 > calls ? at + 1 : at + 1 + calls / 16;
}

/* A sample passes through transform and tier-1, which weighs most, so there are hardly more than 4096 samples, a
 * code-block's, between two calls. A "no" at any call ends the work, nothing is written, and all memory is returned. */
static void test_calls(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const call_case *k = &cases[i];
        const unsigned least = k->width * k->height * k->components / 4096;
        picture p;
        make_noise(&p, k);
        memory_file file, nothing;
        unsigned encoding, decoding, calls;
        assert_int_equal(encode_case(k, &p, 0, &encoding, &file), L2K_OK);
        assert_int_equal(decode_case(&file, 0, &decoding), L2K_OK);
        if (encoding < least || decoding < least)
            fail_msg("%s: %u and %u calls of the hook, at least %u and %u expected", k->name, encoding, decoding,
                     least / 2, least);
        for (unsigned at = 1; at <= encoding; at = next_stop(at, encoding)) {
            assert_int_equal(encode_case(k, &p, at, &calls, &nothing), L2K_ERROR_CANCELLED);
            assert_int_equal(calls, at);
            assert_int_equal(nothing.size, 0);
        }
        for (unsigned at = 1; at <= decoding; at = next_stop(at, decoding)) {
            assert_int_equal(decode_case(&file, at, &calls), L2K_ERROR_CANCELLED);
            assert_int_equal(calls, at);
        }
        free(file.data);
        picture_free(&p);
    }
}

/* ---- Stages -------------------------------------------------------------------------------------------------- */

/* A transform polls for its rows, and ends at any "no". */
static void test_transform(void **unused)
{
    (void)unused;
    static setting s;
    enum { WIDTH = 2000, HEIGHT = 300, LEAST = WIDTH * HEIGHT >> 15 };
    static uint8_t samples[WIDTH * HEIGHT];
    for (int direction = 0; direction < 2; direction++) {
        l2k_plan *plan;
        l2k_plan_component component = {.rect = {0, 0, WIDTH, HEIGHT}, .levels = 3, .precision = 8};
        const l2k_plan_spec spec = {.direction = direction ? L2K_INVERSE : L2K_FORWARD,
                                    .type = L2K_COEFFICIENT_INT32,
                                    .num_components = 1,
                                    .components = &component};
        l2k_plane plane = {samples, WIDTH, 1, L2K_SAMPLE_U8};
        make_setting(&s);
        assert_int_equal(l2k_plan_create(&s.context, L2K_BACKEND_CPU, &spec, &plan), L2K_OK);
        if (direction) {
            const l2k_coefficients *view = l2k_plan_coefficients(plan, 0);
            memset(view->base, 0, view->stride * view->height * sizeof(int32_t));
        }
        unsigned before = s.c.calls;
        assert_int_equal(l2k_plan_begin(plan, &plane), L2K_OK);
        assert_int_equal(l2k_plan_finish(plan), L2K_OK);
        const unsigned asked = s.c.calls - before;
        assert_in_range(asked, LEAST, 1000);
        for (unsigned at = 1; at <= asked; at++) {
            l2k_run_restart(&s.run, 0);
            s.run.weight = 0;
            s.c.stop_at = s.c.calls + at;
            assert_int_equal(l2k_plan_begin(plan, &plane), L2K_ERROR_CANCELLED);
            assert_int_equal(s.c.calls, s.c.stop_at);
        }
        l2k_plan_free(plan);
        assert_int_equal(s.c.w.live, 0);
    }
}

/* A cancelled run does not start another level, however few samples that has: the level before may be unfinished. */
static void test_cancelled_level(void **unused)
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
    make_setting(&s);
    assert_int_equal(l2k_plan_create(&s.context, L2K_BACKEND_CPU, &spec, &plan), L2K_OK);
    int32_t *coefficients = l2k_plan_coefficients(plan, 0)->base;
    coefficients[0] = UNTOUCHED;
    s.c.stop_at = s.c.calls + 1;
    assert_int_equal(l2k_poll(&s.context, L2K_POLL_NOW), L2K_ERROR_CANCELLED);
    assert_int_equal(l2k_plan_begin(plan, &plane), L2K_ERROR_CANCELLED);
    assert_int_equal(coefficients[0], UNTOUCHED);
    l2k_plan_free(plan);
    assert_int_equal(s.c.w.live, 0);
}

/* 2^16 packets of one code-block each, prepared, written and skipped: each has a weight. */
static void test_packets(void **unused)
{
    (void)unused;
    static setting s;
    enum { SIDE = 256, LEAST = SIDE * SIDE >> 9 };
    l2k_component component = {.dx = 1, .dy = 1, .precision = 8};
    l2k_component_coding coding = {.log2_block_width = 2, .log2_block_height = 2};
    l2k_siz siz = {.num_components = 1, .components = &component};
    siz.grid = (l2k_tile_grid){.image = {0, 0, SIDE, SIDE}, .tile_width = SIDE, .tile_height = SIDE};
    const l2k_tile_coding tile_coding = {.num_layers = 1, .components = &coding};
    l2k_tile tile;
    l2k_packet_order order;
    l2k_packet_id id;
    make_setting(&s);
    l2k_buffer out = {.context = &s.context};
    assert_int_equal(l2k_tile_create(&s.context, &siz, &tile_coding, 0, UINT64_MAX, &tile), L2K_OK);
    for (uint32_t p = 0; p < SIDE * SIDE; p++)
        assert_int_equal(l2k_precinct_prepare(&s.context, &tile, &tile.components[0], 0, p), L2K_OK);
    unsigned before = s.c.calls;
    assert_int_equal(l2k_packets_restart(&s.context, &tile), L2K_OK);
    assert_in_range(s.c.calls - before, LEAST, 10000);
    assert_int_equal(l2k_packet_order_create(&s.context, &tile, &order), L2K_OK);
    before = s.c.calls;
    while (l2k_packet_order_next(&order, &id))
        assert_int_equal(l2k_packet_write(&s.context, &tile, &id, 0, &out, NULL, NULL), L2K_OK);
    assert_in_range(s.c.calls - before, LEAST, 10000);
    s.c.stop_at = s.c.calls + 1;
    l2k_status status = L2K_OK;
    for (unsigned i = 0; i < 1000 && status == L2K_OK; i++)
        status = l2k_packet_skip(&s.context, &tile, &(l2k_packet_id){0});
    assert_int_equal(status, L2K_ERROR_CANCELLED);
    l2k_packet_order_release(&s.context, &order);
    l2k_buffer_release(&out);
    l2k_tile_release(&s.context, &tile);
    assert_int_equal(s.c.w.live, 0);
}

/* ---- Samples without code ------------------------------------------------------------------------------------ */

/* A blank tile of 300 x 60000 samples. */
enum { WIDTH = 300, HEIGHT = 60000, UNTOUCHED = 77 };

static l2k_status decode_blank(unsigned stop_at, uint8_t *samples, unsigned *calls)
{
    const stream_shape shape = {.width = WIDTH,
                                .height = HEIGHT,
                                .tile_width = WIDTH,
                                .tile_height = HEIGHT,
                                .precision = 8,
                                .components = 1,
                                .layers = 1,
                                .log2_block = 2,
                                .log2_precinct = 15};
    memory_file file = make_header(&shape);
    put_tile_part(&file, 0, 15);
    put(&file, 0, 1);
    counter c;
    l2k_hooks hooks = counting_hooks(&c);
    memset(samples, UNTOUCHED, WIDTH * HEIGHT);
    l2k_plane plane = {samples, WIDTH, 1, L2K_SAMPLE_U8};
    l2k_decoder *decoder = l2k_decoder_new(&hooks);
    l2k_decoder_set(decoder, L2K_DECODER_BACKEND, L2K_BACKEND_CPU);
    assert_int_equal(l2k_decoder_open_memory(decoder, file.data, file.size), L2K_OK);
    unsigned before = c.calls;
    c.stop_at = stop_at ? before + stop_at : 0;
    l2k_status status = l2k_decoder_decode(decoder, &plane);
    *calls = c.calls - before;
    l2k_decoder_free(decoder);
    free(file.data);
    return status;
}

/* Filling polls, too, and after a "no" nothing more is filled. */
static void test_filling(void **unused)
{
    (void)unused;
    unsigned calls;
    uint8_t *samples = malloc(WIDTH * HEIGHT);
    assert_non_null(samples);
    l2k_status status = decode_blank(0, samples, &calls);
    assert_true(status == L2K_OK || status == L2K_INCOMPLETE);
    assert_in_range(calls, WIDTH * HEIGHT >> 15, 2000);
    assert_int_not_equal(samples[WIDTH * HEIGHT - 1], UNTOUCHED);
    assert_int_equal(decode_blank(calls / 2, samples, &calls), L2K_ERROR_CANCELLED);
    assert_int_not_equal(samples[0], UNTOUCHED);
    assert_int_equal(samples[WIDTH * HEIGHT - 1], UNTOUCHED);
    free(samples);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weights), cmocka_unit_test(test_no),        cmocka_unit_test(test_other_thread),
        cmocka_unit_test(test_calls),   cmocka_unit_test(test_transform), cmocka_unit_test(test_cancelled_level),
        cmocka_unit_test(test_packets), cmocka_unit_test(test_filling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
