/* Eight threads in one process, each with its own encoder, decoder and transform, get the bytes and samples that a
 * single thread gets. `unit_concurrency cuda` runs on the GPU (exit status 77 without one). */
#include "api_support.h"
#include "tests/gpu/require.h"

#include <pthread.h>

enum { THREADS = 8, ROUNDS = 6 };

typedef struct worker {
    pthread_t thread;
    unsigned seed;
    l2k_backend backend;
    bool alone; /* fills in the results that the others compare with */
    bool ok;
} worker;

/* Made once before any thread starts, then only read. */
static picture pictures[ROUNDS];
static memory_file files[ROUNDS];
static picture decoded[ROUNDS];
static size_t sums[ROUNDS];

static void set_encoder(l2k_encoder *e, l2k_backend backend, int round)
{
    static const double ratios[2] = {12, 4};
    l2k_encoder_set(e, L2K_ENCODER_BACKEND, backend);
    l2k_encoder_set(e, L2K_ENCODER_THREADS, 1 + round % 2);
    l2k_encoder_set(e, L2K_ENCODER_TILE_WIDTH, round % 3 ? 0 : 50);
    l2k_encoder_set(e, L2K_ENCODER_WAVELET, round % 2 ? L2K_WAVELET_9_7 : L2K_WAVELET_5_3);
    l2k_encoder_set_layers(e, L2K_TARGET_RATIO, ratios, round == 5 ? 2 : 0);
}

static bool same_bytes(const memory_file *a, const memory_file *b)
{
    return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

/* memory_write uses assertions, which only the main thread may do; so the output is allocated beforehand. */
typedef struct bounded_file {
    uint8_t *data;
    size_t size, room;
} bounded_file;

static int bounded_write(void *user, const void *buffer, size_t bytes)
{
    bounded_file *f = user;
    if (bytes > f->room - f->size)
        return -1;
    memcpy(f->data + f->size, buffer, bytes);
    f->size += bytes;
    return 0;
}

static bool encode_round(const worker *w, l2k_encoder *e, int round, memory_file *file)
{
    bounded_file out = {malloc(1 << 20), 0, 1 << 20};
    l2k_stream stream = {.write = bounded_write, .user = &out};
    set_encoder(e, w->backend, round);
    bool ok = out.data && l2k_encoder_encode(e, &pictures[round].image, pictures[round].planes, &stream) == L2K_OK;
    *file = memory_of(out.data, out.size);
    return ok;
}

static bool decode_round(const worker *w, l2k_decoder *d, const memory_file *file, int32_t *samples[3], size_t count)
{
    l2k_plane planes[3];
    for (int c = 0; c < 3; c++)
        planes[c] = (l2k_plane){samples[c], (ptrdiff_t)(count * sizeof(int32_t)), sizeof(int32_t), L2K_SAMPLE_S32};
    return l2k_decoder_set(d, L2K_DECODER_BACKEND, w->backend) == L2K_OK &&
           l2k_decoder_set(d, L2K_DECODER_THREADS, 2) == L2K_OK &&
           l2k_decoder_open_memory(d, file->data, file->size) == L2K_OK && l2k_decoder_decode(d, planes) == L2K_OK;
}

/* A checksum of the coefficients of the first component. */
static bool transform_round(const worker *w, int round, size_t *sum)
{
    l2k_transform *t = l2k_transform_new(NULL);
    bool ok = t && l2k_transform_set(t, L2K_TRANSFORM_BACKEND, w->backend) == L2K_OK &&
              l2k_transform_set(t, L2K_TRANSFORM_THREADS, 2) == L2K_OK &&
              l2k_transform_prepare(t, &pictures[round].image) == L2K_OK &&
              l2k_transform_forward(t, pictures[round].planes) == L2K_OK;
    const l2k_coefficients *view = ok ? l2k_transform_coefficients(t, 0) : NULL;
    *sum = 0;
    for (uint32_t y = 0; view && y < view->height; y++)
        for (uint32_t x = 0; x < view->width; x++)
            *sum = *sum * 31 + (uint32_t)((const int32_t *)view->base)[y * view->stride + x];
    l2k_transform_free(t);
    return ok;
}

static bool run_round(const worker *w, l2k_encoder *e, l2k_decoder *d, int round)
{
    memory_file file = memory_of(NULL, 0);
    size_t sum = 0, width = pictures[round].width[0], bytes = width * pictures[round].height[0] * sizeof(int32_t);
    int32_t *samples[3] = {malloc(bytes), malloc(bytes), malloc(bytes)};
    bool ok = samples[0] && samples[1] && samples[2] && encode_round(w, e, round, &file);
    ok = ok && decode_round(w, d, &file, samples, width) && transform_round(w, round, &sum);
    if (w->alone) {
        files[round] = file;
        sums[round] = sum;
        for (int c = 0; c < 3; c++)
            decoded[round].samples[c] = samples[c];
        return ok;
    }
    ok = ok && same_bytes(&file, &files[round]) && sum == sums[round];
    for (int c = 0; c < 3; c++) {
        ok = ok && memcmp(samples[c], decoded[round].samples[c], bytes) == 0;
        free(samples[c]);
    }
    free(file.data);
    return ok;
}

static void *work(void *opaque)
{
    worker *w = opaque;
    l2k_encoder *e = l2k_encoder_new(NULL);
    l2k_decoder *d = l2k_decoder_new(NULL);
    w->ok = e && d;
    for (int i = 0; i < ROUNDS && w->ok; i++)
        w->ok = run_round(w, e, d, (i + (int)w->seed) % ROUNDS);
    l2k_encoder_free(e);
    l2k_decoder_free(d);
    return NULL;
}

static l2k_backend backend = L2K_BACKEND_CPU;

static void test_eight_threads(void **unused)
{
    (void)unused;
    worker one = {.alone = true, .backend = L2K_BACKEND_CPU}, workers[THREADS];
    for (int round = 0; round < ROUNDS; round++)
        picture_make(&pictures[round], 90 + 31 * (uint32_t)round, 120 - 13 * (uint32_t)round, 3);
    work(&one);
    assert_true(one.ok);
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (worker){.seed = i, .backend = backend};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        assert_true(workers[i].ok);
    }
    for (int round = 0; round < ROUNDS; round++) {
        picture_free(&pictures[round]);
        picture_free(&decoded[round]);
        free(files[round].data);
    }
}

int main(int count, char **arguments)
{
    if (count > 1 && strcmp(arguments[1], "cuda") == 0) {
        int missing = gpu_missing();
        if (missing)
            return missing;
        backend = L2K_BACKEND_CUDA;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_eight_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
