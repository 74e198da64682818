/* Batches: several images in flight give what one at a time gives, whatever their number; failures of single images,
 * hooks, memory, cancelling. `unit_batch cuda` runs on the GPU (exit status 77 without one). */
#include "api_support.h"
#include "tests/gpu/require.h"

#include <pthread.h>
#include <stdatomic.h>

static l2k_backend backend = L2K_BACKEND_CPU;

/* ---- Hooks for several threads ----------------------------------------------------------------------------------- */

typedef struct counts {
    atomic_size_t allocations, live;
    size_t fail_at;                     /* the allocation that fails, alone */
    atomic_uint errors[64], unnumbered; /* messages about each image, and others */
    pthread_t caller;
    unsigned calls, falls, stop_at; /* the call of the progress hook that says no; 0 = none */
    double last;
} counts;

static void *count_allocation(void *user, size_t bytes)
{
    counts *k = user;
    void *block = atomic_fetch_add(&k->allocations, 1) == k->fail_at ? NULL : malloc(bytes);
    if (block)
        atomic_fetch_add(&k->live, 1);
    return block;
}

static void count_release(void *user, void *block)
{
    counts *k = user;
    if (block)
        atomic_fetch_sub(&k->live, 1);
    free(block);
}

static void count_message(void *user, l2k_severity severity, const char *text)
{
    counts *k = user;
    unsigned number;
    if (sscanf(text, "image %u: ", &number) == 1 && number < 64)
        atomic_fetch_add(&k->errors[number], severity == L2K_SEVERITY_ERROR);
    else
        atomic_fetch_add(&k->unnumbered, 1);
}

static bool count_progress(void *user, double done)
{
    counts *k = user;
    assert_true(pthread_equal(k->caller, pthread_self()));
    assert_true(done <= 1);
    k->falls += done < k->last; /* once for each batch that follows another one */
    k->last = done;
    return ++k->calls != k->stop_at;
}

static l2k_hooks hooks_of(counts *k)
{
    memset(k, 0, sizeof *k);
    k->fail_at = SIZE_MAX;
    k->caller = pthread_self();
    return (l2k_hooks){count_allocation, count_release, count_message, count_progress, k};
}

/* ---- Many pictures, and what each becomes alone ------------------------------------------------------------------ */

enum { MANY = 23, KINDS = 5 };

typedef struct many {
    picture pictures[MANY], decoded[MANY];
    memory_file files[MANY];
    /* What a batch makes of them. */
    memory_file out[MANY];
    l2k_stream streams[MANY];
    l2k_encode_item encode[MANY];
    picture got[MANY];
    l2k_decode_item decode[MANY];
} many;

static void show_error(void *user, l2k_severity severity, const char *text)
{
    (void)user;
    if (severity == L2K_SEVERITY_ERROR)
        fprintf(stderr, "lift2k: %s\n", text);
}

static const l2k_hooks printing = {.message = show_error};

static l2k_encoder *encoder_of(const l2k_hooks *hooks, int kind, int64_t threads, int64_t in_flight)
{
    static const double ratios[] = {20, 5};
    static const encoder_setting settings[KINDS][3] = {
        {{L2K_ENCODER_LEVELS, 5}},
        {{L2K_ENCODER_TILE_WIDTH, 40}, {L2K_ENCODER_TILE_HEIGHT, 33}, {L2K_ENCODER_PLT, 1}},
        {{L2K_ENCODER_WAVELET, L2K_WAVELET_9_7}, {L2K_ENCODER_BLOCK_WIDTH, 16}},
        {{L2K_ENCODER_STYLE, L2K_STYLE_HT}, {L2K_ENCODER_BLOCK_HEIGHT, 32}},
        {{L2K_ENCODER_STYLE, L2K_STYLE_HT}, {L2K_ENCODER_TILE_WIDTH, 64}, {L2K_ENCODER_TILE_HEIGHT, 64}}};
    l2k_encoder *encoder = l2k_encoder_new(hooks ? hooks : &printing);
    assert_non_null(encoder);
    for (int i = 0; i < 3; i++)
        if (settings[kind][i].option)
            assert_int_equal(l2k_encoder_set(encoder, settings[kind][i].option, settings[kind][i].value), L2K_OK);
    if (kind == 2)
        assert_int_equal(l2k_encoder_set_layers(encoder, L2K_TARGET_RATIO, ratios, 2), L2K_OK);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_BACKEND, backend), L2K_OK);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_THREADS, threads), L2K_OK);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_IN_FLIGHT, in_flight), L2K_OK);
    return encoder;
}

static l2k_decoder *decoder_of(const l2k_hooks *hooks, int64_t threads, int64_t in_flight)
{
    l2k_decoder *decoder = new_decoder(hooks ? hooks : &printing, (unsigned)threads);
    assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_BACKEND, backend), L2K_OK);
    assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_IN_FLIGHT, in_flight), L2K_OK);
    return decoder;
}

/* Pictures of a batch: of different shapes, all the same, or of one shape and different contents. */
typedef enum likeness { DIFFERENT, SAME, SAME_SHAPE } likeness;

/* So many of one shape have the most coded bytes, the first ones; the others differ from each other, too. */
enum { NOISIEST = 3 };

static void make_noise(picture *p, uint32_t range)
{
    for (uint32_t c = 0; c < p->image.num_components; c++)
        for (size_t i = 0; i < (size_t)p->width[c] * p->height[c]; i++)
            p->samples[c][i] = (int32_t)random_below(range);
}

static void make_one(many *m, l2k_encoder *encoder, l2k_decoder *decoder, int i, likeness like)
{
    random_state = like == SAME ? 5 : random_state;
    picture_make(&m->pictures[i], like ? 90 : random_between(1, 150), like ? 70 : random_between(1, 150),
                 like || i % 3 ? 3 : 1);
    if (like == SAME_SHAPE)
        make_noise(&m->pictures[i], i < NOISIEST ? 256 : 32);
    m->files[i] = memory_of(NULL, 0);
    m->out[i] = memory_of(NULL, 0);
    m->streams[i] = stream_of(&m->out[i]);
    assert_int_equal(run_encoder(encoder, &m->pictures[i], &m->files[i]), L2K_OK);
    assert_int_equal(run_decoder(decoder, m->files[i].data, m->files[i].size, &m->decoded[i]), L2K_OK);
    picture_adopt(&m->got[i], &m->decoded[i].image);
    m->encode[i] = (l2k_encode_item){&m->pictures[i].image, m->pictures[i].planes, &m->streams[i], L2K_ERROR_STATE};
    m->decode[i] = (l2k_decode_item){m->files[i].data, m->files[i].size, m->got[i].planes, L2K_ERROR_STATE};
}

static many *many_new(int kind, likeness like)
{
    many *m = calloc(1, sizeof *m);
    assert_non_null(m);
    l2k_encoder *encoder = encoder_of(NULL, kind, 1, 0);
    l2k_decoder *decoder = new_decoder(NULL, 1);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_BACKEND, L2K_BACKEND_CPU), L2K_OK);
    for (int i = 0; i < MANY; i++)
        make_one(m, encoder, decoder, i, like);
    l2k_encoder_free(encoder);
    l2k_decoder_free(decoder);
    return m;
}

static void many_free(many *m)
{
    for (int i = 0; i < MANY; i++) {
        picture_free(&m->pictures[i]);
        picture_free(&m->decoded[i]);
        picture_free(&m->got[i]);
        free(m->files[i].data);
        free(m->out[i].data);
    }
    free(m);
}

static void clear_results(many *m)
{
    for (int i = 0; i < MANY; i++) {
        m->out[i].size = 0;
        for (uint32_t c = 0; c < m->got[i].image.num_components; c++)
            memset(m->got[i].samples[c], 0x55, (size_t)m->got[i].width[c] * m->got[i].height[c] * sizeof(int32_t));
    }
}

static bool is_right(const many *m, int i, bool decoded)
{
    return decoded
               ? picture_equal(&m->got[i], &m->decoded[i])
               : m->out[i].size == m->files[i].size && memcmp(m->out[i].data, m->files[i].data, m->files[i].size) == 0;
}

static void expect_all(const many *m, int from, int to)
{
    for (int i = from; i < to; i++) {
        assert_int_equal(m->encode[i].status, L2K_OK);
        assert_int_equal(m->decode[i].status, L2K_OK);
        assert_true(is_right(m, i, false) && is_right(m, i, true));
    }
}

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

static void test_same_as_alone(void **unused)
{
    static const int ways[][2] = {{1, 0}, {4, 0}, {1, 1}, {1, 3}, {2, 3}, {7, 3}, {3, 64}};
    (void)unused;
    for (int kind = 0; kind < KINDS; kind++) {
        many *m = many_new(kind, DIFFERENT);
        for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
            l2k_encoder *encoder = encoder_of(NULL, kind, ways[w][0], ways[w][1]);
            l2k_decoder *decoder = decoder_of(NULL, ways[w][0], ways[w][1]);
            clear_results(m);
            assert_int_equal(l2k_encoder_encode_batch(encoder, m->encode, 2), L2K_OK);
            assert_int_equal(l2k_encoder_encode_batch(encoder, m->encode + 2, MANY - 2), L2K_OK);
            assert_int_equal(l2k_decoder_decode_batch(decoder, m->decode, MANY - 1), L2K_OK);
            assert_int_equal(l2k_decoder_decode_batch(decoder, m->decode + MANY - 1, 1), L2K_OK);
            expect_all(m, 0, MANY);
            l2k_encoder_free(encoder);
            l2k_decoder_free(decoder);
        }
        many_free(m);
    }
}

/* Options may change from batch to batch, and single calls go on beside. */
static void test_options(void **unused)
{
    (void)unused;
    many *m = many_new(2, DIFFERENT), *other = many_new(0, DIFFERENT);
    static const double ratios[] = {20, 5};
    l2k_encoder *encoder = encoder_of(NULL, 2, 4, 4);
    l2k_decoder *decoder = decoder_of(NULL, 4, 4);
    assert_int_equal(l2k_encoder_encode_batch(encoder, m->encode, MANY), L2K_OK);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_WAVELET, L2K_WAVELET_5_3), L2K_OK);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_BLOCK_WIDTH, 64), L2K_OK);
    assert_int_equal(l2k_encoder_set_layers(encoder, L2K_TARGET_RATIO, NULL, 0), L2K_OK);
    assert_int_equal(l2k_encoder_encode_batch(encoder, other->encode, MANY), L2K_OK);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_WAVELET, L2K_WAVELET_9_7), L2K_OK);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_BLOCK_WIDTH, 16), L2K_OK);
    assert_int_equal(l2k_encoder_set_layers(encoder, L2K_TARGET_RATIO, ratios, 2), L2K_OK);
    m->out[3].size = 0;
    assert_int_equal(run_encoder(encoder, &m->pictures[3], &m->out[3]), L2K_OK);
    assert_int_equal(l2k_decoder_open_memory(decoder, m->files[3].data, m->files[3].size), L2K_OK);
    assert_int_equal(l2k_decoder_decode_batch(decoder, m->decode, MANY), L2K_OK);
    assert_int_equal(l2k_decoder_decode_batch(decoder, other->decode, MANY), L2K_OK);
    expect_all(m, 0, MANY);
    expect_all(other, 0, MANY);
    clear_results(m);
    assert_int_equal(l2k_decoder_decode(decoder, m->got[3].planes), L2K_OK); /* the file is still open */
    assert_true(is_right(m, 3, true));
    l2k_encoder_free(encoder);
    l2k_decoder_free(decoder);
    many_free(other);
    many_free(m);
}

static void test_region(void **unused)
{
    (void)unused;
    many *m = many_new(1, SAME);
    picture part;
    l2k_decoder *decoder = decoder_of(NULL, 3, 3);
    assert_int_equal(l2k_decoder_set_region(decoder, 11, 7, 60, 50), L2K_OK);
    assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_REDUCE, 1), L2K_OK);
    assert_int_equal(run_decoder(decoder, m->files[5].data, m->files[5].size, &part), L2K_OK);
    assert_int_equal(l2k_decoder_decode_batch(decoder, m->decode, MANY), L2K_OK);
    for (uint32_t c = 0; c < 3; c++)
        for (uint32_t y = 0; y < part.height[c]; y++)
            assert_memory_equal(m->got[5].samples[c] + (size_t)y * m->got[5].width[c],
                                part.samples[c] + (size_t)y * part.width[c], part.width[c] * sizeof(int32_t));
    picture_free(&part);
    l2k_decoder_free(decoder);
    many_free(m);
}

/* Each failure stays with its image. */
static void test_failures(void **unused)
{
    (void)unused;
    for (int in_flight = 1; in_flight <= 4; in_flight += 3) {
        counts k[2];
        const l2k_hooks hooks[2] = {hooks_of(&k[0]), hooks_of(&k[1])};
        many *m = many_new(0, SAME);
        l2k_encoder *encoder = encoder_of(&hooks[0], 0, 2, in_flight);
        l2k_decoder *decoder = decoder_of(&hooks[1], 2, in_flight);
        m->encode[4].image = NULL;
        m->out[9].fail_at = 0;
        m->encode[11].stream = NULL;
        m->decode[6].bytes = m->files[6].size / 2;
        m->decode[12].data = "neither one nor the other";
        m->decode[12].bytes = strlen(m->decode[12].data);
        m->decode[20].planes = NULL;
        assert_int_equal(l2k_encoder_encode_batch(encoder, m->encode, MANY), L2K_ERROR_ARGUMENT);
        assert_int_equal(l2k_decoder_decode_batch(decoder, m->decode, MANY), L2K_ERROR_FORMAT);
        for (int i = 0; i < MANY; i++) {
            const l2k_status encoded = i == 4 || i == 11 ? L2K_ERROR_ARGUMENT : i == 9 ? L2K_ERROR_IO : L2K_OK;
            const l2k_status decoded = i == 6    ? L2K_INCOMPLETE
                                       : i == 12 ? L2K_ERROR_FORMAT
                                       : i == 20 ? L2K_ERROR_ARGUMENT
                                                 : L2K_OK;
            assert_int_equal(m->encode[i].status, encoded);
            assert_int_equal(m->decode[i].status, decoded);
            assert_true(encoded != L2K_OK || is_right(m, i, false));
            assert_true(decoded != L2K_OK || is_right(m, i, true));
            assert_int_equal(k[0].errors[i], encoded != L2K_OK);
            assert_int_equal(k[1].errors[i], decoded != L2K_OK && decoded != L2K_INCOMPLETE);
        }
        assert_true(k[0].unnumbered == 0 && k[1].unnumbered == 0);
        assert_int_equal(l2k_decoder_decode_batch(decoder, m->decode, 12), L2K_INCOMPLETE);
        assert_int_equal(l2k_encoder_encode_batch(encoder, m->encode, 0), L2K_OK);
        assert_int_equal(l2k_encoder_encode_batch(encoder, NULL, 0), L2K_OK);
        assert_int_equal(l2k_encoder_encode_batch(encoder, NULL, 1), L2K_ERROR_ARGUMENT);
        l2k_image bare = *m->encode[0].image;
        bare.components = NULL;
        l2k_encode_item item = {&bare, m->encode[0].planes, m->encode[0].stream, L2K_OK};
        assert_int_equal(l2k_encoder_encode_batch(encoder, &item, 1), L2K_ERROR_ARGUMENT);
        assert_int_equal(item.status, L2K_ERROR_ARGUMENT);
        assert_int_equal(l2k_decoder_decode_batch(decoder, NULL, 1), L2K_ERROR_ARGUMENT);
        l2k_encoder_free(encoder);
        l2k_decoder_free(decoder);
        assert_true(k[0].live == 0 && k[1].live == 0);
        many_free(m);
    }
}

/* Once each worker has coded two images of a shape, batches of it take nothing from the hook, whichever takes which:
 * two batches of as many images as there are workers give each one of them. */
static void test_no_new_memory(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < KINDS; kind++) {
        counts k[2];
        const l2k_hooks hooks[2] = {hooks_of(&k[0]), hooks_of(&k[1])};
        many *m = many_new(kind, SAME);
        enum { WORKERS = 3 };
        l2k_encoder *encoder = encoder_of(&hooks[0], kind, WORKERS, WORKERS);
        l2k_decoder *decoder = decoder_of(&hooks[1], WORKERS, WORKERS);
        for (int round = 0; round < 5; round++) {
            const size_t before[2] = {k[0].allocations, k[1].allocations};
            const int count = round < 2 ? WORKERS : MANY;
            clear_results(m);
            assert_int_equal(l2k_encoder_encode_batch(encoder, m->encode, count), L2K_OK);
            assert_int_equal(l2k_decoder_decode_batch(decoder, m->decode, count), L2K_OK);
            expect_all(m, 0, count);
            for (int i = 0; round > 1 && i < 2; i++)
                assert_int_equal(k[i].allocations, before[i]);
        }
        l2k_encoder_free(encoder);
        l2k_decoder_free(decoder);
        assert_true(k[0].live == 0 && k[1].live == 0);
        many_free(m);
    }
}

/* The same of other contents, each different, if their coded bytes need no more than those of the first two batches; on
 * the host, where all of them are in memory of the hook. */
static void test_no_new_memory_for_less(void **unused)
{
    (void)unused;
    if (backend != L2K_BACKEND_CPU)
        skip();
    for (int kind = 0; kind < KINDS; kind++) {
        counts k[2];
        const l2k_hooks hooks[2] = {hooks_of(&k[0]), hooks_of(&k[1])};
        many *m = many_new(kind, SAME_SHAPE);
        l2k_encoder *encoder = encoder_of(&hooks[0], kind, NOISIEST, NOISIEST);
        l2k_decoder *decoder = decoder_of(&hooks[1], NOISIEST, NOISIEST);
        for (int round = 0; round < 5; round++) {
            const size_t before[2] = {k[0].allocations, k[1].allocations};
            const int first = round < 2 ? 0 : NOISIEST, count = round < 2 ? NOISIEST : MANY - NOISIEST;
            clear_results(m);
            assert_int_equal(l2k_encoder_encode_batch(encoder, m->encode + first, count), L2K_OK);
            assert_int_equal(l2k_decoder_decode_batch(decoder, m->decode + first, count), L2K_OK);
            expect_all(m, first, first + count);
            for (int i = 0; round > 1 && i < 2; i++)
                assert_int_equal(k[i].allocations, before[i]);
        }
        l2k_encoder_free(encoder);
        l2k_decoder_free(decoder);
        assert_true(k[0].live == 0 && k[1].live == 0);
        many_free(m);
    }
}

/* Workers that are no longer needed return what they hold. */
static void test_idle_workers(void **unused)
{
    (void)unused;
    counts k;
    const l2k_hooks hooks = hooks_of(&k);
    many *m = many_new(0, SAME);
    l2k_encoder *encoder = encoder_of(&hooks, 0, 1, 8);
    assert_int_equal(l2k_encoder_encode_batch(encoder, m->encode, MANY), L2K_OK);
    const size_t with_many = k.live;
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_IN_FLIGHT, 1), L2K_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(l2k_encoder_encode_batch(encoder, m->encode, MANY), L2K_OK);
        assert_true(i == 0 ? k.live > with_many / 2 : k.live < with_many / 4);
    }
    l2k_encoder_free(encoder);
    assert_int_equal(k.live, 0);
    many_free(m);
}

static void test_limit(void **unused)
{
    (void)unused;
    many *m = many_new(0, SAME);
    l2k_encoder *encoder = encoder_of(NULL, 0, 3, 3);
    l2k_decoder *decoder = decoder_of(NULL, 3, 3);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_LIMIT_MEMORY, 30000), L2K_OK);
    assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_LIMIT_MEMORY, 30000), L2K_OK);
    assert_int_equal(l2k_encoder_encode_batch(encoder, m->encode, MANY), L2K_ERROR_LIMIT);
    assert_int_equal(l2k_decoder_decode_batch(decoder, m->decode, MANY), L2K_ERROR_LIMIT);
    for (int i = 0; i < MANY; i++)
        assert_true(m->encode[i].status == L2K_ERROR_LIMIT && m->decode[i].status == L2K_ERROR_LIMIT);
    /* It counts for each image. */
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_LIMIT_MEMORY, 2000000), L2K_OK);
    assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_LIMIT_MEMORY, 2000000), L2K_OK);
    clear_results(m);
    assert_int_equal(l2k_encoder_encode_batch(encoder, m->encode, MANY), L2K_OK);
    assert_int_equal(l2k_decoder_decode_batch(decoder, m->decode, MANY), L2K_OK);
    expect_all(m, 0, MANY);
    l2k_encoder_free(encoder);
    l2k_decoder_free(decoder);
    many_free(m);
}

/* Each allocation fails in turn: what could not be done says so, and all else is right. */
static void test_allocations(void **unused)
{
    (void)unused;
    many *m = many_new(1, SAME);
    size_t failed = 0;
    for (size_t n = 0, step = 1;; n += step) {
        counts k;
        const l2k_hooks hooks = hooks_of(&k);
        k.fail_at = n;
        clear_results(m);
        l2k_encoder *encoder = l2k_encoder_new(&hooks);
        l2k_decoder *decoder = l2k_decoder_new(&hooks);
        l2k_status status = encoder && decoder ? L2K_OK : L2K_ERROR_MEMORY;
        if (status == L2K_OK) {
            l2k_encoder_set(encoder, L2K_ENCODER_TILE_WIDTH, 40);
            l2k_encoder_set(encoder, L2K_ENCODER_TILE_HEIGHT, 33);
            l2k_encoder_set(encoder, L2K_ENCODER_PLT, 1);
            l2k_encoder_set(encoder, L2K_ENCODER_IN_FLIGHT, 3);
            l2k_decoder_set(decoder, L2K_DECODER_IN_FLIGHT, 3);
            l2k_encoder_set(encoder, L2K_ENCODER_BACKEND, backend);
            l2k_decoder_set(decoder, L2K_DECODER_BACKEND, backend);
            const l2k_status encoded = l2k_encoder_encode_batch(encoder, m->encode, 6);
            const l2k_status decoded = l2k_decoder_decode_batch(decoder, m->decode, 6);
            assert_true(encoded == L2K_OK || encoded == L2K_ERROR_MEMORY);
            assert_true(decoded == L2K_OK || decoded == L2K_ERROR_MEMORY);
            for (int i = 0; i < 6; i++) {
                const l2k_status e = m->encode[i].status, d = m->decode[i].status;
                assert_true(e == L2K_OK ? is_right(m, i, false) : e == encoded && e == L2K_ERROR_MEMORY);
                assert_true(d == L2K_OK ? is_right(m, i, true) : d == decoded && d == L2K_ERROR_MEMORY);
            }
            failed += encoded != L2K_OK || decoded != L2K_OK;
        }
        l2k_encoder_free(encoder);
        l2k_decoder_free(decoder);
        assert_int_equal(k.live, 0);
        if (k.allocations <= n)
            break;
        step = n < 60 ? 1 : 13;
    }
    assert_true(failed > 20);
    many_free(m);
}

/* ---- Progress and cancelling
 * ----------------------------------------------------------------------------------------- */

static void test_cancel(void **unused)
{
    (void)unused;
    enum { SIDE = 640, COUNT = 12 }; /* long enough for some calls of the hook */
    picture p, got[COUNT];
    memory_file out[COUNT];
    l2k_stream streams[COUNT];
    l2k_encode_item encode[COUNT];
    l2k_decode_item decode[COUNT];
    picture_make(&p, SIDE, SIDE, 3);
    memory_file file = encode_with(&p, L2K_ENCODER_LEVELS, 5);
    for (int i = 0; i < COUNT; i++) {
        out[i] = memory_of(NULL, 0);
        streams[i] = stream_of(&out[i]);
        encode[i] = (l2k_encode_item){&p.image, p.planes, &streams[i], L2K_OK};
        picture_make(&got[i], SIDE, SIDE, 3);
        decode[i] = (l2k_decode_item){file.data, file.size, got[i].planes, L2K_OK};
    }
    /* On a GPU they are done before the hook is called a second time. */
    const unsigned most = backend == L2K_BACKEND_CPU ? 4 : 2;
    for (unsigned stop_at = 0; stop_at < most; stop_at++) {
        for (int in_flight = 1; in_flight <= 3; in_flight += 2) {
            counts k[2];
            const l2k_hooks hooks[2] = {hooks_of(&k[0]), hooks_of(&k[1])};
            k[0].stop_at = k[1].stop_at = stop_at;
            l2k_encoder *encoder = encoder_of(&hooks[0], 0, in_flight, in_flight);
            l2k_decoder *decoder = decoder_of(&hooks[1], in_flight, in_flight);
            const l2k_status wanted = stop_at ? L2K_ERROR_CANCELLED : L2K_OK;
            assert_int_equal(l2k_encoder_encode_batch(encoder, encode, COUNT), wanted);
            assert_int_equal(l2k_decoder_decode_batch(decoder, decode, COUNT), wanted);
            unsigned cancelled[2] = {0, 0};
            for (int i = 0; i < COUNT; i++) {
                assert_true(encode[i].status == L2K_OK || encode[i].status == wanted);
                assert_true(decode[i].status == L2K_OK || decode[i].status == wanted);
                assert_true((encode[i].status == L2K_OK) == (out[i].size == file.size));
                cancelled[0] += encode[i].status != L2K_OK;
                cancelled[1] += decode[i].status != L2K_OK;
                out[i].size = 0;
            }
            for (int i = 0; i < 2; i++) {
                assert_true(stop_at ? cancelled[i] > 0 && k[i].calls == stop_at : cancelled[i] == 0);
                assert_true(k[i].falls == 0 && (stop_at || k[i].calls > (most == 4 ? 2u : 0u)));
            }
            l2k_encoder_free(encoder);
            l2k_decoder_free(decoder);
            assert_true(k[0].live == 0 && k[1].live == 0);
        }
    }
    for (int i = 0; i < COUNT; i++) {
        picture_free(&got[i]);
        free(out[i].data);
    }
    free(file.data);
    picture_free(&p);
}

static void test_timings(void **unused)
{
    (void)unused;
    many *m = many_new(0, SAME);
    double seconds[2][L2K_NUM_STAGES];
    l2k_encoder *encoder = encoder_of(NULL, 0, 3, 3);
    l2k_decoder *decoder = decoder_of(NULL, 3, 3);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_TIMINGS, 1), L2K_OK);
    assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_TIMINGS, 1), L2K_OK);
    assert_int_equal(l2k_encoder_encode_batch(encoder, m->encode, MANY), L2K_OK);
    assert_int_equal(l2k_decoder_decode_batch(decoder, m->decode, MANY), L2K_OK);
    l2k_encoder_timings(encoder, seconds[0]);
    l2k_decoder_timings(decoder, seconds[1]);
    for (int i = 0; i < 2; i++)
        assert_true(seconds[i][L2K_STAGE_TIER1] > 0 && seconds[i][L2K_STAGE_TRANSFORM] > 0);
    l2k_encoder_free(encoder);
    l2k_decoder_free(decoder);
    many_free(m);
}

int main(int count, char **arguments)
{
    if (count > 1 && strcmp(arguments[1], "cuda") == 0) {
        int missing = gpu_missing();
        if (missing)
            return missing;
        backend = L2K_BACKEND_CUDA;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_alone),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_region),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_no_new_memory_for_less),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_allocations),
        cmocka_unit_test(test_no_new_memory),
        cmocka_unit_test(test_idle_workers),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_timings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
