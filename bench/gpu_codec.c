/* gpu_codec: whole images from host memory to codestreams in host memory and back, through the library, with the stages
 * on the CPU and on the GPU: milliseconds an image, one at a time (on the CPU with all processors, with the GPU on one
 * thread), and with several threads that have an encoder or decoder each.
 *
 *     gpu_codec [--threads N] [--turns N] [--tile SIDE] [--coding NUMBER] [--cpu 0] PICTURE
 *
 * A picture is a binary PGM or PPM file. Its components are planes from malloc. --tile cuts it into squares; --coding
 * measures one of `ways` alone; --cpu 0 leaves out the CPU's times. Every result is compared with the CPU's. */
#define _POSIX_C_SOURCE 200112L
#include <pthread.h>
#include <stdatomic.h>

#include "bench/bench.h"
#include "bench/pnm.h"
#include "lift2k/lift2k.h"

typedef struct way {
    const char *name;
    int64_t style;
    l2k_wavelet wavelet;
    double step;
    int64_t block;
} way;

static const way ways[] = {
    {"HT, 5/3, 64 x 64", L2K_STYLE_HT, L2K_WAVELET_5_3, 0, 64},
    {"HT, 5/3, 32 x 32", L2K_STYLE_HT, L2K_WAVELET_5_3, 0, 32},
    {"HT, 9/7, step 1/64", L2K_STYLE_HT, L2K_WAVELET_9_7, 1.0 / 64, 64},
    {"MQ, 5/3, 32 x 32", 0, L2K_WAVELET_5_3, 0, 32},
};

static struct {
    unsigned threads, turns, tile;
    int coding;
    bool cpu;
} options = {.threads = 8, .turns = 10, .coding = -1, .cpu = true};

static void check(bool right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "gpu_codec: %s failed\n", what);
    exit(1);
}

static void print_message(void *user, l2k_severity severity, const char *text)
{
    (void)user;
    if (severity != L2K_SEVERITY_NOTE)
        fprintf(stderr, "lift2k: %s\n", text);
}

/* ---- A coder, used by one thread ----------------------------------------------------------------------------- */

typedef struct coder {
    const pnm *picture;
    l2k_encoder *encoder;
    l2k_decoder *decoder;
    l2k_component components[3];
    l2k_image image;
    l2k_plane planes[3], decoded[3];
    uint8_t *samples; /* decoded */
    const uint8_t *bytes;
    size_t count;
    bool decodes;
    unsigned turns;
} coder;

static void make_planes(const pnm *p, uint8_t *samples, l2k_plane planes[3])
{
    for (uint32_t c = 0; c < p->components; c++)
        planes[c] = (l2k_plane){samples + c * pnm_plane_bytes(p), (ptrdiff_t)((size_t)p->width * p->bytes), p->bytes,
                                p->bytes == 2 ? L2K_SAMPLE_U16 : L2K_SAMPLE_U8};
}

static void make_coder(coder *k, const pnm *p, const way *w, l2k_backend backend, unsigned threads)
{
    static const l2k_hooks hooks = {.message = print_message};
    memset(k, 0, sizeof *k);
    k->picture = p;
    k->encoder = l2k_encoder_new(&hooks);
    k->decoder = l2k_decoder_new(&hooks);
    k->samples = malloc(pnm_plane_bytes(p) * p->components);
    check(k->encoder && k->decoder && k->samples, "memory");
    for (uint32_t c = 0; c < p->components; c++)
        k->components[c] = (l2k_component){.dx = 1, .dy = 1, .precision = p->precision};
    k->image = (l2k_image){.x1 = p->width, .y1 = p->height, .num_components = p->components};
    k->image.components = k->components;
    k->image.colour = p->components == 3 ? L2K_COLOUR_SRGB : L2K_COLOUR_GRAY;
    make_planes(p, p->samples, k->planes);
    make_planes(p, k->samples, k->decoded);
    const struct {
        l2k_encoder_option option;
        int64_t value;
    } settings[] = {{L2K_ENCODER_FORMAT, L2K_FORMAT_CODESTREAM},
                    {L2K_ENCODER_TILE_WIDTH, options.tile},
                    {L2K_ENCODER_TILE_HEIGHT, options.tile},
                    {L2K_ENCODER_STYLE, w->style},
                    {L2K_ENCODER_WAVELET, w->wavelet},
                    {L2K_ENCODER_BLOCK_WIDTH, w->block},
                    {L2K_ENCODER_BLOCK_HEIGHT, w->block},
                    {L2K_ENCODER_BACKEND, backend},
                    {L2K_ENCODER_THREADS, threads}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        check(l2k_encoder_set(k->encoder, settings[i].option, settings[i].value) == L2K_OK, "an option");
    check(w->step == 0 || l2k_encoder_set_step(k->encoder, w->step) == L2K_OK, "the step");
    check(l2k_decoder_set(k->decoder, L2K_DECODER_BACKEND, backend) == L2K_OK &&
              l2k_decoder_set(k->decoder, L2K_DECODER_THREADS, threads) == L2K_OK,
          "an option");
}

static void free_coder(coder *k)
{
    l2k_encoder_free(k->encoder);
    l2k_decoder_free(k->decoder);
    free(k->samples);
}

static void encode(coder *k)
{
    check(l2k_encoder_encode_memory(k->encoder, &k->image, k->planes, &k->bytes, &k->count) == L2K_OK, "encoding");
}

static void decode(coder *k)
{
    l2k_image image;
    check(l2k_decoder_open_memory(k->decoder, k->bytes, k->count) == L2K_OK &&
              l2k_decoder_image(k->decoder, &image) == L2K_OK && l2k_decoder_decode(k->decoder, k->decoded) == L2K_OK,
          "decoding");
}

static void *work(void *opaque)
{
    coder *k = opaque;
    for (unsigned i = 0; i < k->turns; i++)
        (k->decodes ? decode : encode)(k);
    return NULL;
}

/* ---- Measurement --------------------------------------------------------------------------------------------- */

/* Milliseconds an image with all coders at work. */
static double run(coder *coders, unsigned count, unsigned turns, bool decodes)
{
    pthread_t threads[64];
    for (unsigned i = 0; i < count; i++) {
        coders[i].turns = turns;
        coders[i].decodes = decodes;
    }
    const double from = now_ms();
    for (unsigned i = 1; i < count; i++)
        check(pthread_create(&threads[i], NULL, work, &coders[i]) == 0, "a thread");
    work(&coders[0]);
    for (unsigned i = 1; i < count; i++)
        pthread_join(threads[i], NULL);
    return (now_ms() - from) / (turns * count);
}

static double best(coder *coders, unsigned count, unsigned turns, bool decodes)
{
    double least = 1e30;
    run(coders, count, 2, decodes);
    for (int i = 0; i < 3; i++) {
        const double ms = run(coders, count, turns, decodes);
        least = ms < least ? ms : least;
    }
    return least;
}

/* What the CPU makes of the picture, not timed. */
static void make_reference(const pnm *p, const way *w, coder *reference)
{
    make_coder(reference, p, w, L2K_BACKEND_CPU, 0);
    encode(reference);
}

static void measure(const pnm *p, const way *w, l2k_backend backend, unsigned count, unsigned turns, coder *reference)
{
    const unsigned threads = backend == L2K_BACKEND_CUDA ? 1 : 0; /* the CPU alone: all of it */
    coder *coders = malloc(count * sizeof *coders), one;
    check(coders != NULL, "memory");
    make_coder(&one, p, w, backend, threads);
    printf("| %s, %s | %.2f |", w->name, backend == L2K_BACKEND_CUDA ? "GPU" : "CPU", best(&one, 1, turns, false));
    printf(" %.2f |", best(&one, 1, turns, true));
    if (reference->encoder) {
        check(one.count == reference->count && memcmp(one.bytes, reference->bytes, one.count) == 0, "the comparison");
        decode(reference);
        check(memcmp(one.samples, reference->samples, pnm_plane_bytes(p) * p->components) == 0, "the comparison");
    }
    for (unsigned i = 0; i < count; i++)
        make_coder(&coders[i], p, w, backend, 1);
    printf(" %.2f |", best(coders, count, turns, false));
    printf(" %.2f | %zu |\n", best(coders, count, turns, true), one.count);
    fflush(stdout);
    for (unsigned i = 0; i < count; i++)
        free_coder(&coders[i]);
    free(coders);
    if (reference->encoder)
        free_coder(&one);
    else
        *reference = one;
}

/* The argument that is the picture; 0: there is none. */
static int read_options(int argc, char **argv)
{
    int i = 1;
    for (; i + 1 < argc && argv[i][0] == '-'; i += 2) {
        const unsigned value = (unsigned)strtoul(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--threads") == 0)
            options.threads = value;
        else if (strcmp(argv[i], "--turns") == 0)
            options.turns = value;
        else if (strcmp(argv[i], "--tile") == 0)
            options.tile = value;
        else if (strcmp(argv[i], "--cpu") == 0)
            options.cpu = value != 0;
        else if (strcmp(argv[i], "--coding") == 0)
            options.coding = (int)value;
        else
            return 0;
    }
    return i + 1 == argc && options.threads >= 1 && options.threads <= 64 && options.turns >= 1 ? i : 0;
}

int main(int argc, char **argv)
{
    const int name = read_options(argc, argv);
    if (!name) {
        fprintf(stderr,
                "usage: gpu_codec [--threads N] [--turns N] [--tile SIDE] [--coding NUMBER] [--cpu 0] PICTURE\n");
        return 2;
    }
    pnm p = pnm_read(argv[name], 1, 1);
    char device[160];
    const bool gpu = l2k_backend_usable(L2K_BACKEND_CUDA, device, sizeof device);
    printf("%u x %u x %u, %u bits; %s; ms an image\n\n", p.width, p.height, p.components, p.precision, device);
    printf("| coding | one, encode | decode | %u threads, encode | decode | bytes |\n|---|---|---|---|---|---|\n",
           options.threads);
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        coder reference;
        if (options.coding >= 0 && options.coding != (int)k)
            continue;
        memset(&reference, 0, sizeof reference);
        if (options.cpu)
            measure(&p, &ways[k], L2K_BACKEND_CPU, options.threads, options.turns, &reference);
        else
            make_reference(&p, &ways[k], &reference);
        if (gpu)
            measure(&p, &ways[k], L2K_BACKEND_CUDA, options.threads, options.turns, &reference);
        free_coder(&reference);
    }
    free(p.samples);
    return 0;
}
