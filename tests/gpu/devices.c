/* gpu_devices: objects on devices that were chosen. Each device in turn, while another one is current, gives the bytes
 * and samples of the CPU, and nothing of the object is anywhere else; two objects side by side; objects that move; what
 * becomes of a device that does not exist or is lost. Where there is one GPU, the second device is that one as well
 * (virtual_devices.h); `gpu_devices two` insists on two real ones.
 * Exits with 77 without enough GPUs, unless L2K_REQUIRE_GPU=1. */
#include "api_support.h"

#include <pthread.h>

#include "virtual_devices.h"
#include "device.h"
#include "require.h"

int cudaSetDevice(int device);
int cudaGetDevice(int *device);

enum { DEVICES = 2, PICTURES = 3, NO_DEVICE = 40 };

/* ---- What is coded ---------------------------------------------------------------------------------------------- */

typedef struct way {
    const char *name;
    int64_t style, tile, threads;
    l2k_wavelet wavelet;
    double ratio; /* 0: everything */
    bool by_rows;
} way;

static const way ways[] = {{"HT", L2K_STYLE_HT, 0, 2, L2K_WAVELET_5_3, 0, false},
                           {"MQ", 0, 0, 2, L2K_WAVELET_5_3, 0, false},
                           {"HT, tiles", L2K_STYLE_HT, 64, 3, L2K_WAVELET_9_7, 0, false},
                           {"MQ, tiles, a group each", 0, 32, 3, L2K_WAVELET_5_3, 0, false},
                           {"MQ, tiles of one group", 0, 100, 3, L2K_WAVELET_9_7, 0, false},
                           {"MQ, a ratio", 0, 0, 2, L2K_WAVELET_9_7, 9, false},
                           {"HT, a ratio, tiles", L2K_STYLE_HT, 100, 2, L2K_WAVELET_9_7, 9, false},
                           {"HT, by rows", L2K_STYLE_HT, 50, 2, L2K_WAVELET_5_3, 0, true}};
enum { WAYS = sizeof ways / sizeof *ways };

typedef struct notes {
    char text[512]; /* the last message */
    unsigned errors, notes;
} notes;

static void take_note(void *user, l2k_severity severity, const char *text)
{
    notes *n = user;
    snprintf(n->text, sizeof n->text, "%s", text);
    n->errors += severity == L2K_SEVERITY_ERROR;
    n->notes += severity == L2K_SEVERITY_NOTE;
}

static picture pictures[PICTURES];
static memory_file files[WAYS][PICTURES]; /* the CPU's */

/* Not with assertions: threads use it. */
static bool put_encoder(l2k_encoder *e, const way *w, l2k_backend backend, int device)
{
    const int64_t settings[][2] = {{L2K_ENCODER_BACKEND, backend},     {L2K_ENCODER_GPU_MIN_SAMPLES, 0},
                                   {L2K_ENCODER_THREADS, w->threads},  {L2K_ENCODER_TILE_WIDTH, w->tile},
                                   {L2K_ENCODER_TILE_HEIGHT, w->tile}, {L2K_ENCODER_STYLE, w->style},
                                   {L2K_ENCODER_WAVELET, w->wavelet},  {L2K_ENCODER_DEVICE, device}};
    bool done = true;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        done = done && l2k_encoder_set(e, (l2k_encoder_option)settings[i][0], settings[i][1]) == L2K_OK;
    return done && l2k_encoder_set_layers(e, L2K_TARGET_RATIO, &w->ratio, w->ratio > 0) == L2K_OK;
}

static l2k_status encode_by_rows(l2k_encoder *e, const picture *p, const l2k_stream *stream)
{
    uint32_t y0, y1;
    l2k_status status = l2k_encoder_begin(e, &p->image, stream);
    while (status == L2K_OK && (status = l2k_encoder_next_rows(e, &y0, &y1)) == L2K_OK && y0 < y1) {
        l2k_plane planes[MOST_CHANNELS];
        for (uint32_t c = 0; c < p->image.num_components; c++) {
            planes[c] = p->planes[c];
            planes[c].data = (char *)planes[c].data + (ptrdiff_t)y0 * planes[c].row_stride;
        }
        status = l2k_encoder_put_rows(e, planes);
    }
    return status == L2K_OK ? l2k_encoder_end(e) : status;
}

static l2k_status encode(l2k_encoder *e, const way *w, const picture *p, memory_file *file)
{
    const l2k_stream stream = {.write = memory_write, .rewrite = memory_rewrite, .user = file};
    *file = memory_of(NULL, 0);
    return w->by_rows ? encode_by_rows(e, p, &stream) : l2k_encoder_encode(e, &p->image, p->planes, &stream);
}

static bool same_bytes(const memory_file *a, const memory_file *b)
{
    return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

/* Encodes and compares. */
static bool encodes(l2k_encoder *e, unsigned w, unsigned p)
{
    memory_file file;
    const bool right = encode(e, &ways[w], &pictures[p], &file) == L2K_OK && same_bytes(&file, &files[w][p]);
    free(file.data);
    return right;
}

static bool put_decoder(l2k_decoder *d, l2k_backend backend, int device)
{
    return l2k_decoder_set(d, L2K_DECODER_BACKEND, backend) == L2K_OK &&
           l2k_decoder_set(d, L2K_DECODER_GPU_MIN_SAMPLES, 0) == L2K_OK &&
           l2k_decoder_set(d, L2K_DECODER_THREADS, 3) == L2K_OK &&
           l2k_decoder_set(d, L2K_DECODER_DEVICE, device) == L2K_OK;
}

/* Decodes the CPU's file, and compares its samples with those of a decoder that has only the CPU. */
static bool decodes(l2k_decoder *d, unsigned w, unsigned p)
{
    const memory_file *file = &files[w][p];
    l2k_image image;
    const l2k_plane *planes, *right;
    l2k_decoder *plain = l2k_decoder_new(NULL);
    bool same = plain && l2k_decoder_set(plain, L2K_DECODER_BACKEND, L2K_BACKEND_CPU) == L2K_OK &&
                l2k_decoder_decode_memory(plain, file->data, file->size, &image, &right) == L2K_OK &&
                l2k_decoder_decode_memory(d, file->data, file->size, &image, &planes) == L2K_OK;
    for (uint32_t c = 0; same && c < image.num_components; c++)
        same = memcmp(planes[c].data, right[c].data, (size_t)right[c].row_stride * image.y1) == 0;
    l2k_decoder_free(plain);
    return same;
}

static int current(void)
{
    int device = -1;
    assert_int_equal(cudaGetDevice(&device), 0);
    return device;
}

static int make_all(void **unused)
{
    (void)unused;
    for (unsigned p = 0; p < PICTURES; p++)
        picture_make(&pictures[p], 150 + 37 * p, 130 + 21 * p, 3);
    for (unsigned w = 0; w < WAYS; w++)
        for (unsigned p = 0; p < PICTURES; p++) {
            l2k_encoder *e = l2k_encoder_new(NULL);
            assert_non_null(e);
            assert_true(put_encoder(e, &ways[w], L2K_BACKEND_CPU, -1));
            assert_int_equal(encode(e, &ways[w], &pictures[p], &files[w][p]), L2K_OK);
            l2k_encoder_free(e);
        }
    return 0;
}

/* ---- Each device in turn ---------------------------------------------------------------------------------------- */

/* Between the two, only `device` may have been used. */
static unsigned before_on[DEVICES];

static void start_watching(int device)
{
    assert_int_equal(cudaSetDevice(1 - device), 0);
    for (int d = 0; d < DEVICES; d++)
        before_on[d] = virtual_calls(d);
}

static void check_watched(int device)
{
    assert_int_equal(current(), 1 - device);
    assert_true(virtual_calls(device) > before_on[device] + 5);
    assert_int_equal(virtual_calls(1 - device), before_on[1 - device]);
    assert_int_equal(virtual_mismatches(), 0);
}

static void encode_on(int device, unsigned w)
{
    start_watching(device);
    l2k_encoder *e = l2k_encoder_new(NULL);
    assert_non_null(e);
    assert_true(put_encoder(e, &ways[w], L2K_BACKEND_CUDA, device));
    for (unsigned p = 0; p < PICTURES; p++)
        assert_true(encodes(e, w, p) && encodes(e, w, p));
    l2k_encoder_free(e);
    check_watched(device);
}

static void decode_on(int device, unsigned w)
{
    start_watching(device);
    l2k_decoder *d = l2k_decoder_new(NULL);
    assert_non_null(d);
    assert_true(put_decoder(d, L2K_BACKEND_CUDA, device));
    for (unsigned p = 0; p < PICTURES; p++)
        assert_true(decodes(d, w, p) && decodes(d, w, p));
    l2k_decoder_free(d);
    check_watched(device);
}

static void test_each_device(void **unused)
{
    (void)unused;
    for (int device = 0; device < DEVICES; device++)
        for (unsigned w = 0; w < WAYS; w++) {
            encode_on(device, w);
            decode_on(device, w);
        }
}

static void batch_on(int device, unsigned w)
{
    memory_file out[PICTURES];
    l2k_stream streams[PICTURES];
    l2k_encode_item items[PICTURES];
    start_watching(device);
    l2k_encoder *e = l2k_encoder_new(NULL);
    assert_non_null(e);
    assert_true(put_encoder(e, &ways[w], L2K_BACKEND_CUDA, device));
    for (int turn = 0; turn < 2; turn++) {
        for (unsigned p = 0; p < PICTURES; p++) {
            out[p] = memory_of(NULL, 0);
            streams[p] = stream_of(&out[p]);
            items[p] = (l2k_encode_item){&pictures[p].image, pictures[p].planes, &streams[p], L2K_OK};
        }
        assert_int_equal(l2k_encoder_encode_batch(e, items, PICTURES), L2K_OK);
        for (unsigned p = 0; p < PICTURES; p++) {
            assert_true(same_bytes(&out[p], &files[w][p]));
            free(out[p].data);
        }
    }
    l2k_encoder_free(e);
    check_watched(device);
}

static void test_batches(void **unused)
{
    (void)unused;
    for (int device = 0; device < DEVICES; device++)
        for (unsigned w = 0; w < WAYS; w++)
            if (!ways[w].by_rows)
                batch_on(device, w);
}

/* The transform stage alone, in host memory and in the device's. */
static void transform_on(int device)
{
    static uint8_t pixels[64 * 64];
    const l2k_component component = {.dx = 1, .dy = 1, .precision = 8};
    const l2k_image tile = {.x1 = 64, .y1 = 64, .num_components = 1, .components = &component};
    const l2k_plane plane = {pixels, 64, 1, L2K_SAMPLE_U8};
    l2k_transform *cpu = l2k_transform_new(NULL), *gpu = l2k_transform_new(NULL);
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)(i * 7 + i / 64 * 3);
    start_watching(device);
    assert_int_equal(l2k_transform_set(cpu, L2K_TRANSFORM_BACKEND, L2K_BACKEND_CPU), L2K_OK);
    assert_int_equal(l2k_transform_set(gpu, L2K_TRANSFORM_BACKEND, L2K_BACKEND_CUDA), L2K_OK);
    assert_int_equal(l2k_transform_set(gpu, L2K_TRANSFORM_DEVICE, device), L2K_OK);
    assert_int_equal(l2k_transform_prepare(cpu, &tile), L2K_OK);
    assert_int_equal(l2k_transform_prepare(gpu, &tile), L2K_OK);
    assert_int_equal(l2k_transform_forward(cpu, &plane), L2K_OK);
    assert_int_equal(l2k_transform_forward(gpu, &plane), L2K_OK);
    const l2k_coefficients *a = l2k_transform_coefficients(cpu, 0), *b = l2k_transform_coefficients(gpu, 0);
    for (uint32_t y = 0; y < 64; y++)
        assert_memory_equal((int32_t *)a->base + y * a->stride, (int32_t *)b->base + y * b->stride, 64 * 4);
    l2k_transform_free(cpu);
    l2k_transform_free(gpu);
    check_watched(device);
}

static void test_transform(void **unused)
{
    (void)unused;
    for (int device = 0; device < DEVICES; device++)
        transform_on(device);
}

/* ---- Objects that move, and several at once ------------------------------------------------------------------- */

static void test_moves(void **unused)
{
    (void)unused;
    l2k_encoder *e = l2k_encoder_new(NULL);
    l2k_decoder *d = l2k_decoder_new(NULL);
    assert_non_null(e);
    assert_non_null(d);
    for (unsigned turn = 0; turn < 12; turn++) {
        const int device = (int)(turn / 2 % 3) - 1;
        assert_int_equal(cudaSetDevice((int)turn % 2), 0);
        /* Without a device of its own, an object is where the caller is, who must stay there until it moves. */
        if (device < 0)
            assert_int_equal(cudaSetDevice(0), 0);
        assert_true(put_encoder(e, &ways[turn % WAYS], L2K_BACKEND_CUDA, device));
        assert_true(put_decoder(d, L2K_BACKEND_CUDA, device));
        assert_true(encodes(e, turn % WAYS, turn % PICTURES));
        assert_true(decodes(d, turn % WAYS, turn % PICTURES));
    }
    l2k_encoder_free(e);
    l2k_decoder_free(d);
    assert_int_equal(virtual_mismatches(), 0);
}

typedef struct worker {
    pthread_t thread;
    int device;
    unsigned first;
    bool right;
} worker;

static void *work(void *opaque)
{
    worker *w = opaque;
    l2k_encoder *e = l2k_encoder_new(NULL);
    l2k_decoder *d = l2k_decoder_new(NULL);
    w->right = e && d;
    for (unsigned i = 0; w->right && i < 2 * WAYS; i++) {
        const unsigned k = (i + w->first) % WAYS;
        w->right = put_encoder(e, &ways[k], L2K_BACKEND_CUDA, w->device) &&
                   put_decoder(d, L2K_BACKEND_CUDA, w->device) && encodes(e, k, i % PICTURES) &&
                   decodes(d, k, i % PICTURES);
    }
    l2k_encoder_free(e);
    l2k_decoder_free(d);
    return NULL;
}

static void test_side_by_side(void **unused)
{
    (void)unused;
    worker workers[4];
    for (int i = 0; i < 4; i++) {
        workers[i] = (worker){.device = i % DEVICES, .first = (unsigned)i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        assert_true(workers[i].right);
    }
    assert_int_equal(virtual_mismatches(), 0);
}

/* ---- Devices that are not there, or fail -------------------------------------------------------------------- */

static void test_no_such_device(void **unused)
{
    (void)unused;
    for (int backend = L2K_BACKEND_AUTO; backend <= L2K_BACKEND_CUDA; backend += L2K_BACKEND_CUDA) {
        notes said = {"", 0, 0};
        const l2k_hooks hooks = {.message = take_note, .user = &said};
        l2k_encoder *e = l2k_encoder_new(&hooks);
        l2k_decoder *d = l2k_decoder_new(&hooks);
        memory_file file;
        assert_true(put_encoder(e, &ways[0], (l2k_backend)backend, NO_DEVICE));
        assert_true(put_decoder(d, (l2k_backend)backend, NO_DEVICE));
        const l2k_status status = encode(e, &ways[0], &pictures[0], &file);
        assert_true(strstr(said.text, "no device 40"));
        said.text[0] = 0;
        assert_true(decodes(d, 0, 0) == (backend == L2K_BACKEND_AUTO));
        assert_true(strstr(said.text, "no device 40"));
        assert_int_equal(said.errors, backend == L2K_BACKEND_AUTO ? 0 : 2);
        assert_int_equal(said.notes, backend == L2K_BACKEND_AUTO ? 2 : 0);
        assert_int_equal(status, backend == L2K_BACKEND_AUTO ? L2K_OK : L2K_ERROR_BACKEND);
        assert_true(backend == L2K_BACKEND_CUDA ? file.size == 0 : same_bytes(&file, &files[0][0]));
        free(file.data);
        /* The same objects on a device that is there. */
        assert_true(put_encoder(e, &ways[0], L2K_BACKEND_CUDA, 0) && encodes(e, 0, 0));
        assert_true(put_decoder(d, L2K_BACKEND_CUDA, 0) && decodes(d, 0, 0));
        l2k_encoder_free(e);
        l2k_decoder_free(d);
    }
}

/* The device is lost after `calls` calls: an image fails, or is done on the CPU, and the other device goes on. */
static bool lose_after(long calls, unsigned w, l2k_backend backend)
{
    notes said = {"", 0, 0};
    const l2k_hooks hooks = {.message = take_note, .user = &said};
    l2k_encoder *e = l2k_encoder_new(&hooks), *other = l2k_encoder_new(NULL);
    memory_file file;
    assert_int_equal(cudaSetDevice(0), 0);
    assert_true(put_encoder(e, &ways[w], backend, 1) && put_encoder(other, &ways[w], L2K_BACKEND_CUDA, 0));
    assert_true(encodes(other, w, 0));
    virtual_lose(1, calls);
    const l2k_status status = encode(e, &ways[w], &pictures[0], &file);
    const bool failed = status != L2K_OK || said.notes;
    if (backend == L2K_BACKEND_CUDA && failed) {
        assert_int_equal(status, L2K_ERROR_BACKEND);
        assert_true(said.errors > 0 && strstr(said.text, "CUDA"));
    } else {
        assert_int_equal(status, L2K_OK);
        assert_true(same_bytes(&file, &files[w][0]));
    }
    free(file.data);
    assert_true(encodes(other, w, 1)); /* without harm from its neighbour */
    if (failed && backend == L2K_BACKEND_CUDA) {
        assert_int_equal(encode(e, &ways[w], &pictures[1], &file), L2K_ERROR_BACKEND);
        free(file.data);
        assert_int_equal(l2k_encoder_set(e, L2K_ENCODER_DEVICE, 0), L2K_OK);
        assert_true(encodes(e, w, 1)); /* it can move to the other one */
    }
    l2k_encoder_free(e);
    l2k_encoder_free(other);
    virtual_lose(1, -1);
    return failed;
}

static void test_lost_device(void **unused)
{
    (void)unused;
    for (unsigned w = 0; w < WAYS; w++)
        for (int backend = L2K_BACKEND_AUTO; backend <= L2K_BACKEND_CUDA; backend += L2K_BACKEND_CUDA) {
            if (ways[w].by_rows)
                continue;
            long calls = 0;
            while (lose_after(calls, w, (l2k_backend)backend))
                calls += 1 + calls;
            assert_true(calls > 10);
        }
    assert_int_equal(virtual_mismatches(), 0);
}

/* ---- Sets of devices -------------------------------------------------------------------------------------------- */

enum { BOTH = 3 };

static l2k_encoder *encoder_on_both(const l2k_hooks *hooks, unsigned w, l2k_backend backend)
{
    l2k_encoder *e = l2k_encoder_new(hooks);
    assert_non_null(e);
    assert_true(put_encoder(e, &ways[w], backend, -1));
    assert_int_equal(l2k_encoder_set(e, L2K_ENCODER_DEVICES, BOTH), L2K_OK);
    return e;
}

static l2k_decoder *decoder_on_both(const l2k_hooks *hooks, l2k_backend backend)
{
    l2k_decoder *d = l2k_decoder_new(hooks);
    assert_non_null(d);
    assert_true(put_decoder(d, backend, -1));
    assert_int_equal(l2k_decoder_set(d, L2K_DECODER_DEVICES, BOTH), L2K_OK);
    return d;
}

/* Tiles go to both, a single one, and those of one quantiser, to the first. A worker group may be too late for any
 * tile, but not always. */
static void test_tiles_on_both(void **unused)
{
    (void)unused;
    unsigned divided[2] = {0, 0};
    for (unsigned w = 0; w < WAYS; w++) {
        const bool divides = ways[w].tile && !(ways[w].style && ways[w].ratio > 0);
        start_watching(0);
        l2k_encoder *e = encoder_on_both(NULL, w, L2K_BACKEND_CUDA);
        for (unsigned p = 0; p < PICTURES; p++)
            assert_true(encodes(e, w, p) && encodes(e, w, p));
        assert_true(divides || virtual_calls(1) == before_on[1]);
        divided[0] += virtual_calls(1) > before_on[1];
        l2k_encoder_free(e);
        before_on[1] = virtual_calls(1);
        l2k_decoder *d = decoder_on_both(NULL, L2K_BACKEND_CUDA);
        for (unsigned p = 0; p < PICTURES; p++)
            assert_true(decodes(d, w, p) && decodes(d, w, p));
        assert_true(ways[w].tile || virtual_calls(1) == before_on[1]);
        divided[1] += virtual_calls(1) > before_on[1];
        l2k_decoder_free(d);
        assert_int_equal(current(), 1);
    }
    assert_true(divided[0] > 0 && divided[1] > 0);
    assert_int_equal(virtual_mismatches(), 0);
}

static void lose_with_tiles(unsigned w, long calls, bool both)
{
    notes said = {"", 0, 0};
    const l2k_hooks hooks = {.message = take_note, .user = &said};
    l2k_encoder *e = encoder_on_both(&hooks, w, L2K_BACKEND_AUTO);
    l2k_decoder *d = decoder_on_both(&hooks, L2K_BACKEND_AUTO);
    virtual_lose(1, calls);
    if (both)
        virtual_lose(0, calls);
    assert_true(encodes(e, w, 0));
    assert_true(decodes(d, w, 0));
    assert_int_equal(said.errors, 0);
    for (int device = 0; device < DEVICES; device++)
        virtual_lose(device, -1);
    assert_true(encodes(e, w, 1) && decodes(d, w, 1)); /* with both again */
    l2k_encoder_free(e);
    l2k_decoder_free(d);
}

/* With AUTO the tiles of a device that fails are done by the other one, or on the CPU. */
static void test_tiles_of_lost_device(void **unused)
{
    (void)unused;
    for (unsigned w = 0; w < WAYS; w++)
        for (long calls = 0, n = w; calls < 700; calls += 1 + calls, n++)
            lose_with_tiles(w, calls, n & 1);
    assert_int_equal(virtual_mismatches(), 0);
}

enum { IMAGES = 9 };

typedef struct batch {
    memory_file out[IMAGES];
    l2k_stream streams[IMAGES];
    l2k_encode_item items[IMAGES];
} batch;

static l2k_status encode_batch(l2k_encoder *e, batch *b)
{
    for (unsigned i = 0; i < IMAGES; i++) {
        const picture *p = &pictures[i % PICTURES];
        b->out[i] = memory_of(NULL, 0);
        b->streams[i] = stream_of(&b->out[i]);
        b->items[i] = (l2k_encode_item){&p->image, p->planes, &b->streams[i], L2K_OK};
    }
    return l2k_encoder_encode_batch(e, b->items, IMAGES);
}

/* Every image is right or has failed as stated, without a byte. Returns how many have failed. */
static unsigned end_batch(batch *b, unsigned w, l2k_status failure)
{
    unsigned failed = 0;
    for (unsigned i = 0; i < IMAGES; i++) {
        assert_true(b->items[i].status == L2K_OK ? same_bytes(&b->out[i], &files[w][i % PICTURES])
                                                 : b->items[i].status == failure && b->out[i].size == 0);
        failed += b->items[i].status != L2K_OK;
        free(b->out[i].data);
    }
    return failed;
}

/* One device lost, then both: with AUTO everything is done, with CUDA whatever a device is left for. */
static void lose_in_batch(unsigned w, long calls, l2k_backend backend, bool both)
{
    notes said = {"", 0, 0};
    batch b;
    const l2k_hooks hooks = {.message = take_note, .user = &said};
    l2k_encoder *e = encoder_on_both(&hooks, w, backend);
    assert_int_equal(l2k_encoder_set(e, L2K_ENCODER_THREADS, 4), L2K_OK);
    virtual_lose(1, calls);
    if (both)
        virtual_lose(0, calls);
    encode_batch(e, &b);
    const unsigned failed = end_batch(&b, w, L2K_ERROR_BACKEND);
    assert_true(failed == 0 || (both && backend == L2K_BACKEND_CUDA));
    assert_int_equal(said.errors > 0, failed > 0);
    assert_true(calls > 0 || !both || backend == L2K_BACKEND_AUTO || failed == IMAGES);
    for (int device = 0; device < DEVICES; device++)
        virtual_lose(device, -1);
    assert_int_equal(encode_batch(e, &b), L2K_OK);
    assert_int_equal(end_batch(&b, w, L2K_OK), 0);
    l2k_encoder_free(e);
}

static void test_batches_on_both(void **unused)
{
    (void)unused;
    static const long losses[] = {0, 1, 6, 31, 156};
    enum { LOSSES = sizeof losses / sizeof *losses };
    unsigned divided = 0;
    for (unsigned w = 0; w < WAYS; w++) {
        batch b;
        if (ways[w].by_rows)
            continue;
        start_watching(0);
        l2k_encoder *e = encoder_on_both(NULL, w, L2K_BACKEND_CUDA);
        assert_int_equal(l2k_encoder_set(e, L2K_ENCODER_THREADS, 4), L2K_OK);
        assert_int_equal(encode_batch(e, &b), L2K_OK);
        assert_int_equal(end_batch(&b, w, L2K_OK), 0);
        l2k_encoder_free(e);
        divided += virtual_calls(0) > before_on[0] && virtual_calls(1) > before_on[1];
        assert_int_equal(current(), 1);
        for (unsigned n = 0; n < 4; n++)
            lose_in_batch(w, losses[(w + n) % LOSSES], n & 1 ? L2K_BACKEND_CUDA : L2K_BACKEND_AUTO, n & 2);
    }
    assert_true(divided > 0);
    assert_int_equal(virtual_mismatches(), 0);
}

/* The same for a decoder: what it makes of the CPU's files are the CPU's samples. */
static void test_decoding_batches(void **unused)
{
    (void)unused;
    static const unsigned all[] = {0, 1, 3};
    for (unsigned k = 0; k < 3; k++)
        for (long calls = -1; calls < 400; calls += calls < 0 ? 1 : 1 + 4 * calls) {
            l2k_decode_item items[IMAGES];
            picture got[IMAGES];
            l2k_decoder *d = decoder_on_both(NULL, L2K_BACKEND_CUDA);
            assert_int_equal(l2k_decoder_set(d, L2K_DECODER_THREADS, 4), L2K_OK);
            for (unsigned i = 0; i < IMAGES; i++) {
                const memory_file *file = &files[all[k]][i % PICTURES];
                picture_make(&got[i], pictures[i % PICTURES].image.x1, pictures[i % PICTURES].image.y1, 3);
                memset(got[i].samples[0], 0, sizeof(int32_t));
                items[i] = (l2k_decode_item){file->data, file->size, got[i].planes, L2K_OK};
            }
            virtual_lose(1, calls);
            assert_int_equal(l2k_decoder_decode_batch(d, items, IMAGES), L2K_OK);
            virtual_lose(1, -1);
            for (unsigned i = 0; i < IMAGES; i++) {
                assert_true(picture_equal(&got[i], &pictures[i % PICTURES]));
                picture_free(&got[i]);
            }
            l2k_decoder_free(d);
        }
    assert_int_equal(virtual_mismatches(), 0);
}

static void test_device_planes(void **unused)
{
    (void)unused;
    memory_file file;
    l2k_encoder *e = encoder_on_both(NULL, 0, L2K_BACKEND_CUDA);
    assert_int_equal(l2k_encoder_set(e, L2K_ENCODER_MEMORY, L2K_MEMORY_DEVICE), L2K_OK);
    assert_int_equal(encode(e, &ways[0], &pictures[0], &file), L2K_ERROR_ARGUMENT);
    l2k_encoder_free(e);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_device),
                                       cmocka_unit_test(test_batches),
                                       cmocka_unit_test(test_transform),
                                       cmocka_unit_test(test_moves),
                                       cmocka_unit_test(test_side_by_side),
                                       cmocka_unit_test(test_no_such_device),
                                       cmocka_unit_test(test_lost_device),
                                       cmocka_unit_test(test_tiles_on_both),
                                       cmocka_unit_test(test_tiles_of_lost_device),
                                       cmocka_unit_test(test_batches_on_both),
                                       cmocka_unit_test(test_decoding_batches),
                                       cmocka_unit_test(test_device_planes)};
    int missing = gpu_missing();
    if (missing)
        return missing;
    virtual_devices(DEVICES);
    printf("%d of the 2 devices are real\n", virtual_real() < DEVICES ? virtual_real() : DEVICES);
    if (argc > 1 && strcmp(argv[1], "two") == 0 && virtual_real() < DEVICES) {
        printf("SKIPPED: there is no second GPU\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, make_all, NULL);
}
