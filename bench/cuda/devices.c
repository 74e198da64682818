/* cuda_devices: how much faster several GPUs are than one, through the library, from and to pinned host memory: many
 * pictures of one size in a batch, and one large picture in tiles, with HT and MQ code-blocks; beside it plain copies
 * of the same bytes in the same pieces, since the devices may share a bus. Seconds, the best of some turns, and how
 * many times faster.
 *
 *     cuda_devices [--count N] [--buffers N] [--side N] [--tile N] [--turns N] [--devices N] PICTURE
 *
 * A batch has N (200) pictures in so many (48) different buffers; the large one has N x N pixels (30000; 0: none) in
 * tiles of N x N (1024). PICTURE is a binary PPM file of 8 bits, of which all are made. What is decoded is compared. */
#define _POSIX_C_SOURCE 200112L
#include <cuda_runtime_api.h>

#include <pthread.h>

#include "bench/bench.h"
#include "bench/pnm.h"
#include "lift2k/lift2k.h"

static unsigned count = 200, buffers = 48, side = 30000, tile = 1024, turns = 3, most_devices = 64;

static void *take_pinned(size_t bytes)
{
    void *at = NULL;
    check(cudaHostAlloc(&at, bytes, cudaHostAllocPortable) == cudaSuccess, "pinned memory");
    return at;
}

static int64_t set_of(unsigned devices)
{
    return ((int64_t)1 << devices) - 1;
}

/* ---- Pictures ---------------------------------------------------------------------------------------------------- */

/* Interleaved RGB of 8 bits. */
typedef struct scene {
    uint32_t width, height;
    size_t bytes;
    l2k_component components[3];
    l2k_image image;
} scene;

static void make_scene(scene *s, uint32_t width, uint32_t height)
{
    memset(s, 0, sizeof *s);
    s->width = width;
    s->height = height;
    s->bytes = (size_t)width * height * 3;
    for (int c = 0; c < 3; c++)
        s->components[c] = (l2k_component){.dx = 1, .dy = 1, .precision = 8};
    s->image = (l2k_image){.x1 = width, .y1 = height, .num_components = 3, .components = s->components};
    s->image.colour = L2K_COLOUR_SRGB;
}

static void place(const scene *s, uint8_t *at, l2k_plane planes[3])
{
    for (int c = 0; c < 3; c++)
        planes[c] = (l2k_plane){at + c, (ptrdiff_t)(3 * (size_t)s->width), 3, L2K_SAMPLE_U8};
}

/* The photograph again and again; each repetition is shifted, so that rows of tiles differ. */
static void draw(const scene *s, const pnm *p, uint8_t *to)
{
#pragma omp parallel for
    for (uint32_t y = 0; y < s->height; y++)
        for (uint32_t x = 0; x < s->width; x++)
            for (uint32_t c = 0; c < 3; c++)
                to[((size_t)y * s->width + x) * 3 + c] =
                    p->samples[c * pnm_plane_bytes(p) + (size_t)(y % p->height) * p->width +
                               (x + y / p->height * 131) % p->width];
}

/* ---- Objects ----------------------------------------------------------------------------------------------------- */

static const l2k_hooks hooks = {.message = report_message};

static l2k_encoder *make_encoder(bool ht, unsigned devices, unsigned tiles)
{
    l2k_encoder *e = l2k_encoder_new(&hooks);
    const int64_t settings[][2] = {{L2K_ENCODER_FORMAT, L2K_FORMAT_CODESTREAM},
                                   {L2K_ENCODER_BACKEND, L2K_BACKEND_CUDA},
                                   {L2K_ENCODER_STYLE, ht ? L2K_STYLE_HT : 0},
                                   {L2K_ENCODER_BLOCK_WIDTH, ht ? 64 : 32},
                                   {L2K_ENCODER_BLOCK_HEIGHT, ht ? 64 : 32},
                                   {L2K_ENCODER_TILE_WIDTH, tiles},
                                   {L2K_ENCODER_TILE_HEIGHT, tiles},
                                   {L2K_ENCODER_DEVICES, set_of(devices)}};
    check(e != NULL, "memory");
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        check(l2k_encoder_set(e, (l2k_encoder_option)settings[i][0], settings[i][1]) == L2K_OK, "an option");
    return e;
}

static l2k_decoder *make_decoder(unsigned devices)
{
    l2k_decoder *d = l2k_decoder_new(&hooks);
    check(d && l2k_decoder_set(d, L2K_DECODER_BACKEND, L2K_BACKEND_CUDA) == L2K_OK &&
              l2k_decoder_set(d, L2K_DECODER_DEVICES, set_of(devices)) == L2K_OK,
          "a decoder");
    return d;
}

static int swallow(void *user, const void *bytes, size_t n)
{
    (void)bytes;
    *(size_t *)user += n;
    return 0;
}

/* ---- What is measured ----------------------------------------------------------------------------------------------
 */

typedef struct work {
    scene scene;
    bool ht;
    unsigned devices, items;
    uint8_t **pixels, **decoded, **code; /* `buffers` of each, or 1 */
    unsigned num_buffers;
    size_t code_bytes;
    l2k_encoder *encoder;
    l2k_decoder *decoder;
} work;

typedef double measured(work *w);

static double encode_all(work *w)
{
    l2k_encode_item *items = calloc(w->items, sizeof *items);
    l2k_plane(*planes)[3] = calloc(w->items, sizeof *planes);
    size_t *written = calloc(w->items, sizeof *written);
    l2k_stream *streams = calloc(w->items, sizeof *streams);
    check(items && planes && written && streams, "memory");
    for (unsigned i = 0; i < w->items; i++) {
        place(&w->scene, w->pixels[i % w->num_buffers], planes[i]);
        streams[i] = (l2k_stream){.write = swallow, .user = &written[i]};
        items[i] = (l2k_encode_item){&w->scene.image, planes[i], &streams[i], L2K_OK};
    }
    const double start = now();
    const l2k_status status = w->items > 1 ? l2k_encoder_encode_batch(w->encoder, items, w->items)
                                           : l2k_encoder_encode(w->encoder, &w->scene.image, planes[0], &streams[0]);
    const double seconds = now() - start;
    check(status == L2K_OK && written[w->items - 1] == w->code_bytes, "encoding");
    free(items), free(planes), free(written), free(streams);
    return seconds;
}

static double decode_all(work *w)
{
    l2k_decode_item *items = calloc(w->items, sizeof *items);
    l2k_plane(*planes)[3] = calloc(w->items, sizeof *planes);
    l2k_status status = L2K_OK;
    check(items && planes, "memory");
    for (unsigned i = 0; i < w->items; i++) {
        place(&w->scene, w->decoded[i % w->num_buffers], planes[i]);
        items[i] = (l2k_decode_item){w->code[i % w->num_buffers], w->code_bytes, planes[i], L2K_OK};
    }
    const double start = now();
    if (w->items > 1) {
        status = l2k_decoder_decode_batch(w->decoder, items, w->items);
    } else {
        status = l2k_decoder_open_memory(w->decoder, items[0].data, items[0].bytes);
        if (status == L2K_OK)
            status = l2k_decoder_decode(w->decoder, planes[0]);
    }
    const double seconds = now() - start;
    check(status == L2K_OK, "decoding");
    free(items), free(planes);
    return seconds;
}

/* Plain copies: what goes up, and what comes down, in two streams of each device: pictures and their code, or the rows
 * of a tile and its part of the code. */
typedef struct copier {
    const work *work;
    int device;
    bool decodes;
    pthread_t thread;
    pthread_barrier_t *ready;
    void *pixels, *code; /* on the device */
    cudaStream_t with_pixels, with_code;
} copier;

static bool copy_pixels(const copier *k, uint8_t *host, size_t pitch, size_t row, size_t rows)
{
    const size_t packed = row < pitch ? (size_t)tile * 3 : pitch;
    return k->decodes
               ? cudaMemcpy2DAsync(host, pitch, k->pixels, packed, row, rows, cudaMemcpyDeviceToHost, k->with_pixels) ==
                     cudaSuccess
               : cudaMemcpy2DAsync(k->pixels, packed, host, pitch, row, rows, cudaMemcpyHostToDevice, k->with_pixels) ==
                     cudaSuccess;
}

static bool copy_code(const copier *k, uint8_t *host, size_t bytes)
{
    return k->decodes ? cudaMemcpyAsync(k->code, host, bytes, cudaMemcpyHostToDevice, k->with_code) == cudaSuccess
                      : cudaMemcpyAsync(host, k->code, bytes, cudaMemcpyDeviceToHost, k->with_code) == cudaSuccess;
}

static void copy_pictures(const copier *k)
{
    const work *w = k->work;
    const size_t pitch = 3 * (size_t)w->scene.width;
    for (unsigned i = (unsigned)k->device; i < w->items; i += w->devices) {
        const unsigned b = i % w->num_buffers;
        check(copy_pixels(k, k->decodes ? w->decoded[b] : w->pixels[b], pitch, pitch, w->scene.height) &&
                  copy_code(k, k->decodes ? w->code[b] : w->decoded[b], w->code_bytes),
              "a copy");
    }
}

static void copy_tiles(const copier *k)
{
    const work *w = k->work;
    const uint32_t across = (w->scene.width + tile - 1) / tile, tiles = across * across;
    const size_t pitch = 3 * (size_t)w->scene.width, code = w->code_bytes / tiles;
    uint8_t *pixels = k->decodes ? w->decoded[0] : w->pixels[0];
    for (uint32_t t = (uint32_t)k->device; t < tiles; t += w->devices) {
        const uint32_t x = t % across * tile, y = t / across * tile, end = w->scene.width;
        const uint32_t width = x + tile < end ? tile : end - x, height = y + tile < end ? tile : end - y;
        check(copy_pixels(k, pixels + y * pitch + 3 * (size_t)x, pitch, 3 * (size_t)width, height) &&
                  copy_code(k, (k->decodes ? w->code[0] : w->decoded[0]) + t * code, code),
              "a copy");
    }
}

static void *copy(void *opaque)
{
    copier *k = opaque;
    const work *w = k->work;
    check(cudaSetDevice(k->device) == cudaSuccess && cudaMalloc(&k->pixels, w->scene.bytes) == cudaSuccess &&
              cudaMalloc(&k->code, w->code_bytes) == cudaSuccess &&
              cudaStreamCreateWithFlags(&k->with_pixels, cudaStreamNonBlocking) == cudaSuccess &&
              cudaStreamCreateWithFlags(&k->with_code, cudaStreamNonBlocking) == cudaSuccess,
          "a stream");
    pthread_barrier_wait(k->ready);
    (w->items == 1 ? copy_tiles : copy_pictures)(k);
    check(cudaDeviceSynchronize() == cudaSuccess, "copying");
    pthread_barrier_wait(k->ready);
    cudaFree(k->pixels);
    cudaFree(k->code);
    cudaStreamDestroy(k->with_pixels);
    cudaStreamDestroy(k->with_code);
    return NULL;
}

static double copy_all(work *w, bool decodes)
{
    copier copiers[64];
    pthread_barrier_t ready;
    check(pthread_barrier_init(&ready, NULL, w->devices + 1) == 0, "a barrier");
    for (unsigned d = 0; d < w->devices; d++) {
        copiers[d] = (copier){.work = w, .device = (int)d, .decodes = decodes, .ready = &ready};
        check(pthread_create(&copiers[d].thread, NULL, copy, &copiers[d]) == 0, "a thread");
    }
    pthread_barrier_wait(&ready);
    const double start = now();
    pthread_barrier_wait(&ready);
    const double seconds = now() - start;
    for (unsigned d = 0; d < w->devices; d++)
        pthread_join(copiers[d].thread, NULL);
    pthread_barrier_destroy(&ready);
    return seconds;
}

static double copy_up(work *w)
{
    return copy_all(w, false);
}

static double copy_down(work *w)
{
    return copy_all(w, true);
}

/* The first turns take memory and warm up. */
static double best(work *w, measured *run)
{
    double least = 1e30;
    run(w);
    for (unsigned i = 0; i < turns; i++) {
        const double seconds = run(w);
        least = seconds < least ? seconds : least;
    }
    return least;
}

static void row(work *w, const char *name, measured *run, unsigned devices)
{
    double one = 0, seconds = 0;
    printf("| %s |", name);
    for (unsigned n = 1; n <= devices; n = n < devices && 2 * n > devices ? devices : 2 * n) {
        w->devices = n;
        w->encoder = make_encoder(w->ht, n, w->items > 1 ? 0 : tile);
        w->decoder = make_decoder(n);
        seconds = best(w, run);
        one = n == 1 ? seconds : one;
        printf(" %.3f |", seconds);
        l2k_encoder_free(w->encoder);
        l2k_decoder_free(w->decoder);
    }
    printf(" %.2f |\n", one / seconds);
    fflush(stdout);
}

/* Code of the picture in the buffers, by the encoder itself. */
static void make_code(work *w)
{
    const uint8_t *bytes;
    l2k_plane planes[3];
    l2k_encoder *e = make_encoder(w->ht, 1, w->items > 1 ? 0 : tile);
    place(&w->scene, w->pixels[0], planes);
    check(l2k_encoder_encode_memory(e, &w->scene.image, planes, &bytes, &w->code_bytes) == L2K_OK, "encoding");
    for (unsigned i = 0; i < w->num_buffers; i++) {
        w->code[i] = take_pinned(w->code_bytes);
        memcpy(w->code[i], bytes, w->code_bytes);
    }
    l2k_encoder_free(e);
}

static void measure(work *w, bool ht, const char *what, unsigned devices)
{
    char name[100];
    w->ht = ht;
    make_code(w);
    const struct {
        const char *text;
        measured *run;
    } rows[] = {{"encode", encode_all},
                {"copies like encode", copy_up},
                {"decode", decode_all},
                {"copies like decode", copy_down}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(name, sizeof name, "%s, %s, %s", what, ht ? "HT" : "MQ", rows[i].text);
        if (rows[i].run == decode_all)
            memset(w->decoded[0], 0, w->scene.bytes);
        row(w, name, rows[i].run, devices);
        if (rows[i].run == decode_all)
            check(memcmp(w->decoded[0], w->pixels[0], w->scene.bytes) == 0, "the comparison");
    }
    for (unsigned i = 0; i < w->num_buffers; i++)
        cudaFreeHost(w->code[i]);
}

static void measure_both(const pnm *p, uint32_t width, uint32_t height, unsigned items, unsigned num_buffers,
                         unsigned devices)
{
    char what[60];
    work w = {.items = items, .num_buffers = num_buffers};
    make_scene(&w.scene, width, height);
    uint8_t **all = calloc(3 * (size_t)num_buffers, sizeof *all);
    check(all != NULL, "memory");
    w.pixels = all;
    w.decoded = all + num_buffers;
    w.code = all + 2 * (size_t)num_buffers;
    for (unsigned i = 0; i < num_buffers; i++) {
        w.pixels[i] = take_pinned(w.scene.bytes);
        w.decoded[i] = take_pinned(w.scene.bytes);
        if (i)
            memcpy(w.pixels[i], w.pixels[0], w.scene.bytes);
        else
            draw(&w.scene, p, w.pixels[0]);
    }
    if (items > 1)
        snprintf(what, sizeof what, "%u x %u x %u", items, width, height);
    else
        snprintf(what, sizeof what, "%u x %u, tiles of %u", width, height, tile);
    measure(&w, true, what, devices);
    measure(&w, false, what, devices);
    for (unsigned i = 0; i < num_buffers; i++) {
        cudaFreeHost(w.pixels[i]);
        cudaFreeHost(w.decoded[i]);
    }
    free(all);
}

/* ---- The program ------------------------------------------------------------------------------------------------- */

int main(int argc, char **argv)
{
    const number_option known[] = {{"--count", &count}, {"--buffers", &buffers}, {"--side", &side},
                                   {"--tile", &tile},   {"--turns", &turns},     {"--devices", &most_devices}};
    int i = 1;
    while (i + 2 < argc && take_number(known, sizeof known / sizeof *known, argv[i], argv[i + 1]))
        i += 2;
    if (i + 1 != argc || !buffers || !tile || !turns || !most_devices) {
        fprintf(stderr, "usage: cuda_devices [--count N] [--buffers N] [--side N] [--tile N] [--turns N] [--devices N] "
                        "PICTURE\n");
        return 2;
    }
    unsigned devices = 0;
    for (l2k_device_info info; devices < most_devices && l2k_device(devices, &info) && info.usable; devices++)
        printf("device %u: %s, %u.%u, %llu MiB\n", devices, info.name, info.compute_major, info.compute_minor,
               (unsigned long long)(info.memory_bytes >> 20));
    if (!devices) {
        printf("no GPU can be used\n");
        return 77;
    }
    pnm p = pnm_read(argv[i], 1, 1);
    check(p.components == 3 && p.bytes == 1, "a picture of three components of 8 bits");
    printf("\n| seconds | 1 device |");
    for (unsigned n = 2; n <= devices; n = n < devices && 2 * n > devices ? devices : 2 * n)
        printf(" %u devices |", n);
    printf(" times |\n|---|---|");
    for (unsigned n = 2; n <= devices; n = n < devices && 2 * n > devices ? devices : 2 * n)
        printf("---|");
    printf("---|\n");
    if (count > 1)
        measure_both(&p, p.width, p.height, count, buffers < count ? buffers : count, devices);
    if (side)
        measure_both(&p, side, side, 1, 1, devices);
    free(p.samples);
    return 0;
}
