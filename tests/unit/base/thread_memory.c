/* The memory of threads: little for those without work; and where one thread fits below a limit, so does a decoding
 * with several. Only one thread at a time calls the hooks (base/pool.h), so plain counters suffice. */
#include "api_support.h"

#include "codec/decode/decoder.h"

/* Bytes that an idle thread may take, mostly tables of tier-1. */
enum { IDLE_THREAD = 4096 };

static size_t peak_of_encoding(const picture *p, unsigned threads, memory_file *out)
{
    meter m;
    l2k_hooks hooks = metered_hooks(&m);
    l2k_encoder *encoder = l2k_encoder_new(&hooks);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_THREADS, threads), L2K_OK);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_BACKEND, L2K_BACKEND_CPU), L2K_OK);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_LEVELS, 0), L2K_OK);
    *out = memory_of(NULL, 0);
    assert_int_equal(run_encoder(encoder, p, out), L2K_OK);
    l2k_encoder_free(encoder);
    return m.peak;
}

static size_t peak_of_decoding(const memory_file *file, unsigned threads, const picture *expected)
{
    meter m;
    picture got;
    l2k_hooks hooks = metered_hooks(&m);
    l2k_decoder *decoder = new_decoder(&hooks, threads);
    assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_BACKEND, L2K_BACKEND_CPU), L2K_OK);
    assert_int_equal(run_decoder(decoder, file->data, file->size, &got), L2K_OK);
    assert_true(picture_equal(expected, &got));
    picture_free(&got);
    l2k_decoder_free(decoder);
    return m.peak;
}

static void assert_little_more(const picture *p, unsigned threads, size_t each)
{
    memory_file one, many;
    size_t encoding = peak_of_encoding(p, 1, &one);
    assert_in_range(peak_of_encoding(p, threads, &many), 0, encoding + threads * each);
    assert_int_equal(one.size, many.size);
    assert_memory_equal(one.data, many.data, one.size);
    size_t decoding = peak_of_decoding(&one, 1, p);
    assert_in_range(peak_of_decoding(&one, threads, p), 0, decoding + threads * each);
    free(one.data);
    free(many.data);
}

/* One code-block: one block coder. */
static void test_idle_coders(void **unused)
{
    (void)unused;
    picture p;
    picture_make(&p, 8, 8, 1);
    assert_little_more(&p, 200, IDLE_THREAD);
    picture_free(&p);
}

/* One row: one stripe, and scratch rows for one thread. A coder's first block takes 130 KB. */
static void test_idle_rows(void **unused)
{
    (void)unused;
    picture p;
    picture_make(&p, 1 << 17, 1, 1);
    assert_little_more(&p, 16, (130 << 10) + IDLE_THREAD);
    picture_free(&p);
}

/* ---- Limits -------------------------------------------------------------------------------------------------- */

static memory_file encode_tiles(const picture *p, uint32_t width, uint32_t height)
{
    const encoder_setting settings[] = {{L2K_ENCODER_TILE_WIDTH, width}, {L2K_ENCODER_TILE_HEIGHT, height}};
    return encode_with_all(p, settings, 2);
}

typedef struct guard {
    watch w; /* first, for the watch's hooks */
    double done;
    bool fell;
} guard;

/* Progress must never decrease. */
static bool guard_progress(void *user, double done)
{
    guard *g = user;
    g->fell |= done < g->done;
    g->done = done;
    return true;
}

/* Returns the number of errors reported. */
static unsigned decode_under(const memory_file *file, unsigned threads, size_t limit, const picture *expected,
                             l2k_status wanted)
{
    guard g = {.fell = false};
    picture got;
    l2k_hooks hooks = watch_hooks(&g.w);
    hooks.progress = guard_progress;
    l2k_decoder *decoder = new_decoder(&hooks, threads);
    assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_BACKEND, L2K_BACKEND_CPU), L2K_OK);
    assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_LIMIT_MEMORY, (int64_t)limit), L2K_OK);
    assert_int_equal(run_decoder(decoder, file->data, file->size, &got), wanted);
    if (wanted == L2K_OK) {
        assert_true(picture_equal(expected, &got));
        picture_free(&got);
    }
    l2k_decoder_free(decoder);
    assert_int_equal(g.w.live, 0);
    assert_false(g.fell);
    assert_true(wanted == L2K_OK || strstr(g.w.text, "KiB of memory"));
    return g.w.errors;
}

/* Small tiles, a thread each; large ones, whose rows and code-blocks the threads share; a single one. */
static void test_limit(void **unused)
{
    (void)unused;
    const uint32_t tiles[][2] = {{100, 70}, {1000, 1}, {500, 0}, {0, 0}};
    picture p;
    picture_make(&p, 700, 200, 3);
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++) {
        memory_file file = encode_tiles(&p, tiles[i][0], tiles[i][1]);
        size_t limit = peak_of_decoding(&file, 1, &p);
        for (unsigned threads = 1; threads <= 16; threads *= 2) {
            assert_int_equal(decode_under(&file, threads, limit, &p, L2K_OK), 0);
            assert_int_equal(decode_under(&file, threads, limit / 2, &p, L2K_ERROR_LIMIT), 1);
        }
        free(file.data);
    }
    picture_free(&p);
}

/* Bytes that a decoding holds when it chooses the number of threads and threads_under does not: lists of tiles and
 * planes. A thread takes more. */
enum { LISTS = 16 << 10 };

/* The number of threads that a decoder with `threads` of them uses for a file under a limit. */
static unsigned threads_under(const memory_file *file, unsigned threads, size_t limit, bool *keep_plans)
{
    l2k_image image;
    l2k_decoder *decoder = new_decoder(NULL, threads);
    assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_BACKEND, L2K_BACKEND_CPU), L2K_OK);
    assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_LIMIT_MEMORY, (int64_t)limit), L2K_OK);
    assert_int_equal(l2k_decoder_open_memory(decoder, file->data, file->size), L2K_OK);
    assert_int_equal(l2k_decoder_image(decoder, &image), L2K_OK);
    picture wanted;
    picture_adopt(&wanted, &image);
    l2k_decoding d = l2k_decode_start(decoder, (l2k_rect){0, 0, image.x1, image.y1}, wanted.planes);
    d.num_tiles = decoder->codestream.num_tiles;
    d.tiles = calloc(d.num_tiles, sizeof *d.tiles);
    assert_non_null(d.tiles);
    for (uint32_t t = 0; t < d.num_tiles; t++)
        d.tiles[t] = t;
    const bool by_tile = l2k_workers_by_tile(d.context, &decoder->codestream.siz, d.num_tiles);
    const l2k_thread_room room = l2k_decode_threads(decoder, &d, by_tile);
    *keep_plans = room.keep_plans;
    free(d.tiles);
    picture_free(&wanted);
    l2k_decoder_free(decoder);
    return room.threads;
}

/* The lowest limit with room for `wanted` threads and their plans. */
static size_t limit_for(const memory_file *file, unsigned threads, unsigned wanted)
{
    size_t low = 100000, high = (size_t)1 << 30;
    while (low + 1 < high) {
        bool keep_plans;
        size_t middle = low + (high - low) / 2;
        bool enough = threads_under(file, threads, middle, &keep_plans) >= wanted && keep_plans;
        *(enough ? &high : &low) = middle;
    }
    return high;
}

/* Decodes on just `used` of `threads` threads and within the limit. */
static void assert_stays_below(const memory_file *file, unsigned threads, unsigned used, size_t limit,
                               const picture *expected)
{
    meter m;
    picture got;
    l2k_image image;
    l2k_hooks hooks = metered_hooks(&m);
    l2k_decoder *decoder = l2k_decoder_new(&hooks);
    const size_t object = m.bytes;
    assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_THREADS, threads), L2K_OK);
    assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_BACKEND, L2K_BACKEND_CPU), L2K_OK);
    assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_LIMIT_MEMORY, (int64_t)limit), L2K_OK);
    assert_int_equal(l2k_decoder_open_memory(decoder, file->data, file->size), L2K_OK);
    assert_int_equal(l2k_decoder_image(decoder, &image), L2K_OK);
    picture_adopt(&got, &image);
    assert_int_equal(l2k_decoder_decode(decoder, got.planes), L2K_OK);
    assert_int_equal(decoder->context.threads, used);
    assert_true(m.peak <= object + limit);
    assert_int_equal(m.w.errors, 0);
    assert_true(picture_equal(expected, &got));
    picture_free(&got);
    l2k_decoder_free(decoder);
    assert_int_equal(m.bytes, 0);
}

/* A limit with room for k of eight threads, whether they have a tile each or share one: k work, and their memory stays
 * within it; a byte less, and one fewer does. */
static void test_room_for_some(void **unused)
{
    (void)unused;
    enum { THREADS = 8 };
    static const unsigned some[] = {1, 2, 3, 5, 8};
    static const uint32_t tiles[][2] = {{100, 70}, {0, 0}};
    picture p;
    if (l2k_thread_count(THREADS) < THREADS)
        skip();
    picture_make(&p, 700, 600, 3);
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++) {
        memory_file file = encode_tiles(&p, tiles[i][0], tiles[i][1]);
        for (size_t k = 0; k < sizeof some / sizeof *some; k++) {
            bool keep_plans;
            size_t limit = limit_for(&file, THREADS, some[k]);
            assert_int_equal(threads_under(&file, THREADS, limit, &keep_plans), some[k]);
            assert_true(keep_plans);
            assert_stays_below(&file, THREADS, some[k], limit + LISTS, &p);
            unsigned fewer = some[k] > 1 ? some[k] - 1 : 1;
            assert_int_equal(threads_under(&file, THREADS, limit - 1, &keep_plans), fewer);
            assert_int_equal(keep_plans, some[k] > 1);
        }
        free(file.data);
    }
    picture_free(&p);
}

static l2k_status status_under(const memory_file *file, unsigned threads, size_t limit)
{
    picture got;
    l2k_decoder *decoder = new_decoder(NULL, threads);
    assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_BACKEND, L2K_BACKEND_CPU), L2K_OK);
    assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_LIMIT_MEMORY, (int64_t)limit), L2K_OK);
    l2k_status status = run_decoder(decoder, file->data, file->size, &got);
    if (status == L2K_OK)
        picture_free(&got);
    l2k_decoder_free(decoder);
    return status;
}

/* Six tiles are too few for eight threads to have one each, but not for two or three, which is all that some limits
 * have room for. Wherever one thread succeeds, eight do. */
static void test_few_tiles(void **unused)
{
    (void)unused;
    picture p;
    picture_make(&p, 600, 400, 1);
    for (uint32_t i = 0; i < 600 * 400; i++)
        p.samples[0][i] = (int32_t)random_below(256);
    memory_file file = encode_tiles(&p, 200, 200);
    const size_t peak = peak_of_decoding(&file, 1, &p);
    unsigned successes = 0;
    for (size_t limit = peak / 2; limit < 4 * peak; limit += peak / 40) {
        bool one = status_under(&file, 1, limit) == L2K_OK;
        assert_int_equal(status_under(&file, 8, limit) == L2K_OK, one);
        successes += one;
    }
    assert_in_range(successes, 100, 150);
    free(file.data);
    picture_free(&p);
}

static memory_file encode_small_blocks(const picture *p, uint32_t tile_height)
{
    const encoder_setting settings[] = {
        {L2K_ENCODER_BLOCK_WIDTH, 8}, {L2K_ENCODER_BLOCK_HEIGHT, 8}, {L2K_ENCODER_TILE_HEIGHT, tile_height}};
    return encode_with_all(p, settings, 3);
}

/* Memory kept of another file does not count. */
static void test_kept(void **unused)
{
    (void)unused;
    picture first, second, got;
    picture_make(&first, 512, 512, 1);
    picture_make(&second, 512, 256, 1);
    for (uint32_t i = 0; i < 512 * 256; i++)
        second.samples[0][i] = random_below(256);
    memory_file files[2] = {encode_with(&first, L2K_ENCODER_LEVELS, 5), encode_small_blocks(&second, 0)};
    for (int64_t limit = 900000, fits = 0; fits < 10; limit += 50000) {
        l2k_status status[2];
        for (int kept = 0; kept < 2; kept++) {
            l2k_decoder *decoder = new_decoder(NULL, 1);
            l2k_decoder_set(decoder, L2K_DECODER_BACKEND, L2K_BACKEND_CPU);
            if (kept) {
                assert_int_equal(run_decoder(decoder, files[0].data, files[0].size, &got), L2K_OK);
                picture_free(&got);
            }
            l2k_decoder_set(decoder, L2K_DECODER_LIMIT_MEMORY, limit);
            status[kept] = run_decoder(decoder, files[1].data, files[1].size, &got);
            if (status[kept] == L2K_OK)
                picture_free(&got);
            l2k_decoder_free(decoder);
        }
        assert_int_equal(status[1], status[0]);
        assert_true(status[0] == L2K_OK || status[0] == L2K_ERROR_LIMIT);
        fits += status[0] == L2K_OK;
    }
    for (int i = 0; i < 2; i++)
        free(files[i].data);
    picture_free(&first);
    picture_free(&second);
}

static l2k_status decode_rows(const memory_file *file, unsigned threads, int64_t limit, uint32_t y0, uint32_t y1)
{
    picture got;
    l2k_decoder *decoder = new_decoder(NULL, threads);
    l2k_decoder_set(decoder, L2K_DECODER_BACKEND, L2K_BACKEND_CPU);
    l2k_decoder_set(decoder, L2K_DECODER_LIMIT_MEMORY, limit);
    assert_int_equal(l2k_decoder_set_region(decoder, 0, y0, UINT32_MAX, y1), L2K_OK);
    l2k_status status = run_decoder(decoder, file->data, file->size, &got);
    if (status == L2K_OK)
        picture_free(&got);
    l2k_decoder_free(decoder);
    return status;
}

/* Tile 0 needs wide coefficients, the others more bytes for code-blocks: a limit below which each fits alone is enough
 * for all. */
static void test_tile_before(void **unused)
{
    (void)unused;
    enum { SIDE = 256, TILES = 4, INCREMENT = 20000 };
    picture p;
    picture_make(&p, SIDE, TILES * SIDE, 1);
    p.components[0].precision = 16;
    for (uint32_t i = 0; i < SIDE * SIDE * TILES; i++)
        p.samples[0][i] = i < SIDE ? (int32_t)(i % 2) * 65535 : i < SIDE * SIDE ? 0 : (int32_t)random_below(1024);
    memory_file file = encode_small_blocks(&p, SIDE);
    int64_t limit = 500000;
    for (uint32_t t = 0; t < TILES; t++)
        while (decode_rows(&file, 1, limit, t * SIDE, (t + 1) * SIDE) != L2K_OK)
            limit += INCREMENT;
    for (unsigned threads = 1; threads <= 4; threads *= 2)
        assert_int_equal(decode_rows(&file, threads, limit, 0, TILES * SIDE), L2K_OK);
    free(file.data);
    picture_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_idle_coders),   cmocka_unit_test(test_idle_rows), cmocka_unit_test(test_limit),
        cmocka_unit_test(test_room_for_some), cmocka_unit_test(test_few_tiles), cmocka_unit_test(test_kept),
        cmocka_unit_test(test_tile_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
