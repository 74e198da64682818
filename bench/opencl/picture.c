/* opencl_picture PPM [OPENCL_DEVICE]: milliseconds a picture, lossless HT from and into host memory, on the CPU, CUDA and
 * OpenCL: one at a time, and four in flight from as many threads, each with an encoder and a decoder of its own. The
 * pictures, of several sizes, are made of mirrored copies of the PPM. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>

#include "bench/bench.h"
#include "transform/backend.h"

enum { CALLS = 30, FLIGHT = 4, MOST_WIDTH = 3840, MOST_HEIGHT = 2160 };

typedef struct picture {
    uint8_t *samples; /* three bytes a pixel */
    uint32_t width, height;
} picture;

/* A thread's work: encodes and decodes, each as often as the others. */
typedef struct worker {
    const picture *p;
    l2k_backend backend;
    int device;
    pthread_barrier_t *barrier;
    double encode_ms, decode_ms; /* of all calls of all threads */
} worker;

static picture mirror(const picture *from, uint32_t width, uint32_t height)
{
    const picture made = {malloc((size_t)width * height * 3), width, height};
    check(made.samples != NULL, "memory");
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++) {
            const uint32_t u = x % from->width, v = y % from->height;
            const uint32_t column = x / from->width % 2 ? from->width - 1 - u : u;
            const uint32_t row = y / from->height % 2 ? from->height - 1 - v : v;
            memcpy(made.samples + 3 * ((size_t)y * width + x), from->samples + 3 * ((size_t)row * from->width + column),
                   3);
        }
    return made;
}

static void *work(void *argument)
{
    worker *w = argument;
    const picture *p = w->p;
    const l2k_hooks hooks = {.message = report_message};
    l2k_encoder *encoder = l2k_encoder_new(&hooks);
    l2k_decoder *decoder = l2k_decoder_new(&hooks);
    const l2k_component component = {.width = p->width, .height = p->height, .precision = 8, .dx = 1, .dy = 1};
    const l2k_component components[3] = {component, component, component};
    const l2k_image image = {
        .x1 = p->width, .y1 = p->height, .num_components = 3, .components = components, .colour = L2K_COLOUR_SRGB};
    const size_t all = (size_t)p->width * p->height * 3;
    uint8_t *decoded = malloc(all);
    l2k_plane planes[3], targets[3];
    const uint8_t *data = NULL;
    size_t bytes = 0;
    check(encoder && decoder && decoded, "memory");
    for (unsigned c = 0; c < 3; c++) {
        planes[c] = (l2k_plane){p->samples + c, 3 * (ptrdiff_t)p->width, 3, L2K_SAMPLE_U8};
        targets[c] = (l2k_plane){decoded + c, 3 * (ptrdiff_t)p->width, 3, L2K_SAMPLE_U8};
    }
    check(l2k_encoder_set(encoder, L2K_ENCODER_STYLE, L2K_STYLE_HT) == L2K_OK &&
              l2k_encoder_set(encoder, L2K_ENCODER_BACKEND, w->backend) == L2K_OK &&
              l2k_encoder_set(encoder, L2K_ENCODER_DEVICE, w->device) == L2K_OK &&
              l2k_decoder_set(decoder, L2K_DECODER_BACKEND, w->backend) == L2K_OK &&
              l2k_decoder_set(decoder, L2K_DECODER_DEVICE, w->device) == L2K_OK,
          "setting options");
    for (int phase = 0; phase < 2; phase++) {
        double from = 0;
        for (int i = -3; i < CALLS; i++) {
            if (i == 0) {
                pthread_barrier_wait(w->barrier);
                from = now_ms();
            }
            if (phase == 0)
                check(l2k_encoder_encode_memory(encoder, &image, planes, &data, &bytes) == L2K_OK, "encoding");
            else
                check(l2k_decoder_open_memory(decoder, data, bytes) == L2K_OK &&
                          l2k_decoder_decode(decoder, targets) == L2K_OK,
                      "decoding");
        }
        pthread_barrier_wait(w->barrier);
        *(phase ? &w->decode_ms : &w->encode_ms) = now_ms() - from;
    }
    check(memcmp(p->samples, decoded, all) == 0, "decoding what was encoded");
    l2k_encoder_free(encoder);
    l2k_decoder_free(decoder);
    free(decoded);
    return NULL;
}

static void measure(const picture *p, l2k_backend backend, int device)
{
    printf("| %u x %u | %s |", (unsigned)p->width, (unsigned)p->height, l2k_backend_name(backend));
    for (unsigned flight = 1; flight <= FLIGHT; flight *= FLIGHT) {
        pthread_barrier_t barrier;
        pthread_t threads[FLIGHT];
        worker workers[FLIGHT];
        pthread_barrier_init(&barrier, NULL, flight);
        for (unsigned i = 0; i < flight; i++) {
            workers[i] = (worker){p, backend, device, &barrier, 0, 0};
            check(pthread_create(&threads[i], NULL, work, &workers[i]) == 0, "starting a thread");
        }
        for (unsigned i = 0; i < flight; i++)
            pthread_join(threads[i], NULL);
        pthread_barrier_destroy(&barrier);
        printf(" %.2f / %.2f |", workers[0].encode_ms / (CALLS * flight), workers[0].decode_ms / (CALLS * flight));
    }
    printf("\n");
    fflush(stdout);
}

int main(int count, char **arguments)
{
    static const uint32_t widths[] = {256, 512, 1024, 1920, MOST_WIDTH};
    char text[200];
    picture from = {0};
    FILE *file = count > 1 ? fopen(arguments[1], "rb") : NULL;
    check(file && fscanf(file, "P6 %u %u 255", &from.width, &from.height) == 2 && fgetc(file) != EOF,
          "usage: opencl_picture PPM [OPENCL_DEVICE]: reading the PPM");
    from.samples = malloc((size_t)from.width * from.height * 3);
    check(from.samples && fread(from.samples, 3, (size_t)from.width * from.height, file) > 0, "reading the PPM");
    fclose(file);
    printf("| RGB | on | one at a time, ms: encode / decode | %d in flight |\n|---|---|---|---|\n", FLIGHT);
    for (unsigned i = 0; i < sizeof widths / sizeof *widths; i++) {
        const picture p = mirror(&from, widths[i], widths[i] * MOST_HEIGHT / MOST_WIDTH);
        measure(&p, L2K_BACKEND_CPU, -1);
        if (l2k_backend_usable(L2K_BACKEND_CUDA, text, sizeof text))
            measure(&p, L2K_BACKEND_CUDA, -1);
        check(l2k_backend_usable(L2K_BACKEND_OPENCL, text, sizeof text), "finding an OpenCL device");
        measure(&p, L2K_BACKEND_OPENCL, count > 2 ? atoi(arguments[2]) : -1);
        free(p.samples);
    }
    free(from.samples);
    return 0;
}
