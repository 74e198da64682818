/* One encoder and one decoder for many images: no new memory for a shape seen before; memory limits; cancelling by the
 * progress hook; timings. */
#include "api_support.h"
#include "base/memory.h"
#include "codec/encode/encoder.h"

#include <pthread.h>

/* ---- Memory -------------------------------------------------------------------------------------------------- */

static l2k_encoder *encoder_of(const l2k_hooks *hooks, int kind)
{
    static const double ratios[] = {20, 5, 1};
    static const struct {
        l2k_encoder_option option;
        int64_t value;
    } settings[][3] = {{{L2K_ENCODER_LEVELS, 5}},
                       {{L2K_ENCODER_TILE_WIDTH, 100}, {L2K_ENCODER_TILE_HEIGHT, 90}, {L2K_ENCODER_PLT, 1}},
                       {{L2K_ENCODER_WAVELET, L2K_WAVELET_9_7}, {L2K_ENCODER_LEVELS, 4}},
                       {{L2K_ENCODER_TILE_WIDTH, 64}, {L2K_ENCODER_TLM, 1}, {L2K_ENCODER_STYLE, 63}}};
    l2k_encoder *encoder = l2k_encoder_new(hooks);
    assert_non_null(encoder);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_THREADS, 1), L2K_OK);
    for (int i = 0; i < 3; i++)
        if (settings[kind][i].option)
            assert_int_equal(l2k_encoder_set(encoder, settings[kind][i].option, settings[kind][i].value), L2K_OK);
    if (kind == 2)
        assert_int_equal(l2k_encoder_set_layers(encoder, L2K_TARGET_RATIO, ratios, 3), L2K_OK);
    return encoder;
}

enum { KINDS = 4 };

static void test_no_new_memory(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < KINDS; kind++) {
        picture p, got;
        watch w[2];
        l2k_hooks hooks[2] = {watch_hooks(&w[0]), watch_hooks(&w[1])};
        memory_file first = memory_of(NULL, 0);
        picture_make(&p, 300, 200, 3);
        l2k_encoder *encoder = encoder_of(&hooks[0], kind);
        l2k_decoder *decoder = new_decoder(&hooks[1], 1);
        for (int round = 0; round < 3; round++) {
            memory_file out = memory_of(NULL, 0);
            size_t before[2] = {w[0].allocations, w[1].allocations};
            assert_int_equal(run_encoder(encoder, &p, &out), L2K_OK);
            assert_int_equal(run_decoder(decoder, out.data, out.size, &got), L2K_OK);
            picture_free(&got);
            for (int i = 0; round > 0 && i < 2; i++)
                assert_int_equal(w[i].allocations, before[i]);
            if (round == 0) {
                first = out;
                continue;
            }
            assert_int_equal(out.size, first.size);
            assert_memory_equal(out.data, first.data, out.size);
            free(out.data);
        }
        l2k_encoder_free(encoder);
        l2k_decoder_free(decoder);
        assert_true(w[0].live == 0 && w[1].live == 0);
        free(first.data);
        picture_free(&p);
    }
}

/* The memory of a large image is returned once small ones do not use it. */
static void test_idle_memory(void **unused)
{
    (void)unused;
    picture large, small;
    watch w;
    l2k_hooks hooks = watch_hooks(&w);
    picture_make(&large, 700, 700, 3);
    picture_make(&small, 20, 20, 1);
    l2k_encoder *encoder = encoder_of(&hooks, 1);
    for (int i = 0; i < 5; i++) {
        memory_file out = memory_of(NULL, 0);
        size_t before = w.live;
        assert_int_equal(run_encoder(encoder, i == 0 ? &large : &small, &out), L2K_OK);
        if (i == 4)
            assert_true(w.live < before);
        free(out.data);
    }
    assert_true(w.live < 60);
    l2k_encoder_free(encoder);
    assert_int_equal(w.live, 0);
    picture_free(&large);
    picture_free(&small);
}

/* Encodes under a limit, which is kept to; returns the most bytes that were in use at once. */
static size_t encode_within(const picture *p, uint64_t limit, l2k_status expected)
{
    meter m;
    memory_file out = memory_of(NULL, 0);
    const l2k_hooks hooks = metered_hooks(&m);
    l2k_encoder *encoder = encoder_of(&hooks, 2);
    const size_t own = m.bytes;
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_LIMIT_MEMORY, (int64_t)limit), L2K_OK);
    assert_int_equal(run_encoder(encoder, p, &out), expected);
    assert_true(m.peak <= limit + own);
    assert_true(expected == L2K_OK || (m.bytes == own && strstr(m.w.text, "KiB of memory")));
    const size_t used = (size_t)encoder->pool.peak;
    l2k_encoder_free(encoder);
    assert_int_equal(m.bytes, 0);
    free(out.data);
    return used;
}

/* What an encoding needs is the most that is in use at once: here the code-blocks and the lists of rate control.
 * Without a limit more is held, since the lists stay with the pool while the file grows; under a limit that much goes
 * back to the hook first. */
static void test_memory_limit(void **unused)
{
    (void)unused;
    picture p, got;
    memory_file out = memory_of(NULL, 0);
    picture_make(&p, 500, 400, 3);
    const size_t needed = encode_within(&p, (uint64_t)1 << 30, L2K_OK);
    encode_within(&p, needed, L2K_OK);
    encode_within(&p, needed - 1, L2K_ERROR_LIMIT);
    for (size_t part = 1; part < 12; part++)
        encode_within(&p, needed * part / 12, L2K_ERROR_LIMIT);
    l2k_encoder *encoder = encoder_of(NULL, 0);
    assert_int_equal(run_encoder(encoder, &p, &out), L2K_OK);
    l2k_encoder_free(encoder);
    l2k_decoder *decoder = l2k_decoder_new(NULL);
    assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_LIMIT_MEMORY, 400000), L2K_OK);
    assert_int_equal(run_decoder(decoder, out.data, out.size, &got), L2K_ERROR_LIMIT);
    assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_LIMIT_MEMORY, INT64_MAX), L2K_OK);
    assert_int_equal(run_decoder(decoder, out.data, out.size, &got), L2K_OK);
    assert_true(picture_equal(&p, &got));
    picture_free(&got);
    l2k_decoder_free(decoder);
    free(out.data);
    picture_free(&p);
}

/* An image whose code takes little needs no more after one whose code takes much than it needs alone. */
static void test_limit_after_larger_code(void **unused)
{
    (void)unused;
    picture much, little;
    size_t most = 0;
    picture_make(&much, 400, 300, 1);
    picture_make(&little, 400, 300, 1);
    for (size_t i = 0; i < (size_t)400 * 300; i++) {
        much.samples[0][i] = (int32_t)((i * 2654435761u >> 13) & 255);
        little.samples[0][i] = 128;
    }
    for (int after = 0; after < 2; after++) {
        meter m;
        l2k_hooks hooks = metered_hooks(&m);
        memory_file out = memory_of(NULL, 0), other = memory_of(NULL, 0);
        l2k_encoder *encoder = encoder_of(&hooks, 0);
        const size_t own = m.bytes;
        if (after)
            assert_int_equal(run_encoder(encoder, &much, &other), L2K_OK);
        if (after)
            assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_LIMIT_MEMORY, (int64_t)(most + most / 16)), L2K_OK);
        assert_int_equal(run_encoder(encoder, &little, &out), L2K_OK);
        most = m.peak - own;
        l2k_encoder_free(encoder);
        free(out.data);
        free(other.data);
    }
    picture_free(&much);
    picture_free(&little);
}

/* A lowered limit applies to memory kept from before, too. */
static void test_lowered_limit(void **unused)
{
    (void)unused;
    picture p, got;
    meter m[2];
    l2k_hooks hooks[2] = {metered_hooks(&m[0]), metered_hooks(&m[1])};
    memory_file out = memory_of(NULL, 0), none = memory_of(NULL, 0);
    picture_make(&p, 500, 400, 3);
    l2k_encoder *encoder = encoder_of(&hooks[0], 0);
    l2k_decoder *decoder = l2k_decoder_new(&hooks[1]);
    size_t own = m[1].bytes;
    assert_int_equal(run_encoder(encoder, &p, &out), L2K_OK);
    assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_THREADS, 1), L2K_OK);
    assert_int_equal(run_decoder(decoder, out.data, out.size, &got), L2K_OK);
    picture_free(&got);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_LIMIT_MEMORY, 100000), L2K_OK);
    assert_int_equal(run_encoder(encoder, &p, &none), L2K_ERROR_LIMIT);
    assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_LIMIT_MEMORY, 100000), L2K_OK);
    assert_int_equal(run_decoder(decoder, out.data, out.size, &got), L2K_ERROR_LIMIT);
    assert_int_equal(m[1].bytes, own);
    l2k_encoder_free(encoder);
    l2k_decoder_free(decoder);
    free(out.data);
    picture_free(&p);
}

/* By default a small file may take little memory, and memory kept of a large file must not count against it. */
static void test_small_after_large(void **unused)
{
    (void)unused;
    picture large, small, got;
    meter m;
    l2k_hooks hooks = metered_hooks(&m);
    picture_make(&large, 4400, 4400, 1); /* mostly empty, so that the file is small */
    memset(large.samples[0], 0, (size_t)4400 * 4400 * sizeof(int32_t));
    for (int i = 0; i < 4400; i++)
        large.samples[0][4400 * i + i] = i % 200;
    picture_make(&small, 16, 16, 3);
    memory_file files[2] = {encode_with(&large, L2K_ENCODER_LEVELS, 5), encode_with(&small, L2K_ENCODER_LEVELS, 1)};
    l2k_decoder *decoder = l2k_decoder_new(&hooks);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(run_decoder(decoder, files[i % 2].data, files[i % 2].size, &got), L2K_OK);
        assert_true(picture_equal(i % 2 ? &small : &large, &got));
        picture_free(&got);
        if (i % 2)
            assert_true(m.bytes < ((uint64_t)24 << 20) + ((uint64_t)files[1].size << 16));
    }
    l2k_decoder_free(decoder);
    for (int i = 0; i < 2; i++)
        free(files[i].data);
    picture_free(&large);
    picture_free(&small);
}

/* ---- Progress ------------------------------------------------------------------------------------------------ */

typedef struct course {
    pthread_t caller;
    unsigned calls, stop_at; /* the call that says no; 0 = none */
    double last;
} course;

static bool watch_progress(void *user, double done)
{
    course *c = user;
    assert_true(pthread_equal(c->caller, pthread_self()));
    assert_true(done >= c->last && done <= 1);
    c->last = done;
    return ++c->calls != c->stop_at;
}

/* Large enough for several calls, a tile or many, one thread or two. */
static void test_cancel(void **unused)
{
    (void)unused;
    picture p, got;
    picture_make(&p, 1500, 1500, 3);
    for (int variant = 0; variant < 4; variant++) {
        course c[2] = {{.caller = pthread_self()}, {.caller = pthread_self()}};
        l2k_hooks hooks[2] = {{.progress = watch_progress, .user = &c[0]}, {.progress = watch_progress, .user = &c[1]}};
        l2k_encoder *encoder = l2k_encoder_new(&hooks[0]);
        l2k_decoder *decoder = l2k_decoder_new(&hooks[1]);
        memory_file out = memory_of(NULL, 0), none = memory_of(NULL, 0);
        int64_t threads = 1 + variant / 2, side = variant % 2 ? 250 : 0;
        assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_THREADS, threads), L2K_OK);
        assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_THREADS, threads), L2K_OK);
        assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_TILE_WIDTH, side), L2K_OK);
        assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_TILE_HEIGHT, side), L2K_OK);
        for (c[0].stop_at = 1; c[0].stop_at <= 4; c[0].stop_at++) {
            c[0].calls = 0;
            c[0].last = 0;
            assert_int_equal(run_encoder(encoder, &p, &none), L2K_ERROR_CANCELLED);
            assert_int_equal(c[0].calls, c[0].stop_at); /* the hook is not called again */
        }
        c[0] = (course){.caller = pthread_self()};
        assert_int_equal(run_encoder(encoder, &p, &out), L2K_OK);
        assert_true(c[0].calls > 4 && c[0].last > 0.5);
        for (c[1].stop_at = 3; c[1].stop_at <= 5; c[1].stop_at++) {
            c[1].calls = 0;
            c[1].last = 0;
            assert_int_equal(run_decoder(decoder, out.data, out.size, &got), L2K_ERROR_CANCELLED);
            assert_int_equal(c[1].calls, c[1].stop_at);
        }
        l2k_decoder_free(decoder);
        l2k_encoder_free(encoder);
        assert_int_equal(none.size, 0);
        free(out.data);
    }
    picture_free(&p);
}

static void test_cancel_returns_memory(void **unused)
{
    (void)unused;
    picture p;
    meter m;
    memory_file out = memory_of(NULL, 0);
    l2k_hooks hooks = metered_hooks(&m);
    picture_make(&p, 300, 300, 3);
    l2k_encoder *encoder = l2k_encoder_new(&hooks);
    size_t own = m.bytes;
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_THREADS, 1), L2K_OK);
    assert_int_equal(run_encoder(encoder, &p, &out), L2K_OK);
    assert_true(m.bytes > own);
    m.stop = true;
    assert_int_equal(run_encoder(encoder, &p, &out), L2K_ERROR_CANCELLED);
    assert_int_equal(m.bytes, own);
    l2k_encoder_free(encoder);
    assert_int_equal(m.bytes, 0);
    free(out.data);
    picture_free(&p);
}

/* ---- Timings ------------------------------------------------------------------------------------------------- */

static void test_timings(void **unused)
{
    (void)unused;
    picture p, got;
    double seconds[2][L2K_NUM_STAGES];
    memory_file out = memory_of(NULL, 0);
    picture_make(&p, 300, 300, 3);
    for (int wanted = 0; wanted < 2; wanted++) {
        l2k_encoder *encoder = encoder_of(NULL, 2);
        l2k_decoder *decoder = l2k_decoder_new(NULL);
        out.size = 0;
        assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_TIMINGS, wanted), L2K_OK);
        assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_TIMINGS, wanted), L2K_OK);
        assert_int_equal(run_encoder(encoder, &p, &out), L2K_OK);
        assert_int_equal(run_decoder(decoder, out.data, out.size, &got), L2K_OK);
        l2k_encoder_timings(encoder, seconds[0]);
        l2k_decoder_timings(decoder, seconds[1]);
        static const bool takes_time[2][L2K_NUM_STAGES] = {
            {[L2K_STAGE_TRANSFORM] = true,
             [L2K_STAGE_TIER1] = true,
             [L2K_STAGE_RATE] = true,
             [L2K_STAGE_TIER2] = true,
             [L2K_STAGE_WRITE] = true},
            {[L2K_STAGE_READ] = true, [L2K_STAGE_TRANSFORM] = true, [L2K_STAGE_TIER1] = true}};
        for (int i = 0; i < 2; i++)
            for (int s = 0; s < L2K_NUM_STAGES; s++)
                assert_true((seconds[i][s] > 0) == (wanted && takes_time[i][s]));
        picture_free(&got);
        l2k_encoder_free(encoder);
        l2k_decoder_free(decoder);
    }
    free(out.data);
    picture_free(&p);
}

/* ---- What the decoder keeps of a tile ------------------------------------------------------------------------ */

/* One decoder for all files, some of which differ in bytes alone, and a new one for each give the same. */
static void compare_with_new(l2k_decoder *kept, const memory_file *file)
{
    picture got[2];
    const l2k_status status = decode_bytes(NULL, file->data, file->size, &got[0]);
    assert_int_equal(run_decoder(kept, file->data, file->size, &got[1]), status);
    if (status != L2K_OK && status != L2K_INCOMPLETE)
        return;
    assert_true(picture_equal(&got[0], &got[1]));
    picture_free(&got[0]);
    picture_free(&got[1]);
}

/* Of three files of a shape, the second is damaged, or cut off as well. */
static void test_kept_tiles(void **unused)
{
    (void)unused;
    static const int64_t styles[] = {0, L2K_STYLE_HT, L2K_STYLE_BYPASS, L2K_STYLE_TERMALL};
    l2k_decoder *kept = new_decoder(NULL, 1);
    for (int round = 0; round < 120; round++) {
        const encoder_setting settings[] = {
            {L2K_ENCODER_STYLE, styles[random_below(4)]},    {L2K_ENCODER_LEVELS, random_below(6)},
            {L2K_ENCODER_BLOCK_WIDTH, 8 << random_below(4)}, {L2K_ENCODER_WAVELET, random_below(2)},
            {L2K_ENCODER_PROGRESSION, random_below(5)},      {L2K_ENCODER_TILE_WIDTH, random_below(3) ? 0 : 70}};
        picture p;
        picture_shape(&p, 1 + random_below(150), 1 + random_below(150), 1 + random_below(3));
        p.image.x0 = random_below(p.image.x1 < 70 ? p.image.x1 : 70);
        for (int image = 0; image < 3; image++) {
            for (uint32_t c = 0; c < p.image.num_components; c++)
                picture_fill(&p, c);
            memory_file file = encode_with_all(&p, settings, sizeof settings / sizeof *settings);
            if (image == 1) {
                file.data[random_below(file.size)] ^= (uint8_t)(1 << random_below(8));
                file.size -= random_below(2) ? random_below(file.size / 2) : 0;
            }
            compare_with_new(kept, &file);
            free(file.data);
            picture_free(&p);
        }
    }
    l2k_decoder_free(kept);
}

static void test_arena(void **unused)
{
    (void)unused;
    watch w;
    const l2k_context context = {.hooks = watch_hooks(&w), .threads = 1};
    l2k_arena arena = {0};
    for (int round = 0; round < 4; round++) {
        const size_t before = w.allocations;
        uint8_t *blocks[300];
        for (size_t i = 0; i < 300; i++) { /* some of them have memory of their own */
            blocks[i] = l2k_arena_take(&context, &arena, i * i % 5000);
            assert_non_null(blocks[i]);
            memset(blocks[i], (int)i, i * i % 5000);
        }
        for (size_t i = 0; i < 300; i++)
            for (size_t k = 0; k < i * i % 5000; k++)
                assert_int_equal(blocks[i][k], (uint8_t)i);
        assert_true(round == 0 || w.allocations == before);
        l2k_arena_rewind(&arena);
    }
    for (size_t i = 0; i < 3000; i++) /* more than before, and in another order */
        assert_non_null(l2k_arena_take(&context, &arena, 5000 - i));
    l2k_arena_release(&context, &arena);
    assert_int_equal(w.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_new_memory),
        cmocka_unit_test(test_idle_memory),
        cmocka_unit_test(test_memory_limit),
        cmocka_unit_test(test_limit_after_larger_code),
        cmocka_unit_test(test_lowered_limit),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_cancel_returns_memory),
        cmocka_unit_test(test_timings),
        cmocka_unit_test(test_small_after_large),
        cmocka_unit_test(test_kept_tiles),
        cmocka_unit_test(test_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
