/* cuda_encode: pixels in device memory to a codestream. A camera or a renderer leaves interleaved RGB on the GPU, in
 * the order of a stream of its own; the encoder waits for that stream, and only the codestream crosses the bus. The CPU
 * must give the same bytes.
 *
 * Exits with 77 if no GPU can be used (with 1 if L2K_REQUIRE_GPU=1 is in the environment). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime.h>
#include <lift2k/lift2k.h>

enum { WIDTH = 1920, HEIGHT = 1080, FRAMES = 4 };

static void check_cuda(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "cuda_encode: %s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

static void check(l2k_status status)
{
    if (status != L2K_OK)
        exit(1); /* print_text has printed the reason */
}

static void print_text(void *user, l2k_severity severity, const char *text)
{
    (void)user;
    (void)severity;
    fprintf(stderr, "cuda_encode: %s\n", text);
}

static const l2k_component components[3] = {
    {.dx = 1, .dy = 1, .precision = 8}, {.dx = 1, .dy = 1, .precision = 8}, {.dx = 1, .dy = 1, .precision = 8}};
static const l2k_image image = {
    .x1 = WIDTH, .y1 = HEIGHT, .num_components = 3, .components = components, .colour = L2K_COLOUR_SRGB};

static l2k_encoder *make_encoder(l2k_backend backend, l2k_memory memory)
{
    l2k_encoder *encoder = l2k_encoder_new(&(l2k_hooks){.message = print_text});
    if (!encoder)
        exit(1);
    check(l2k_encoder_set(encoder, L2K_ENCODER_STYLE, L2K_STYLE_HT));
    check(l2k_encoder_set(encoder, L2K_ENCODER_BACKEND, backend));
    check(l2k_encoder_set(encoder, L2K_ENCODER_MEMORY, memory));
    return encoder;
}

/* Stands for whatever makes pixels. */
static void make_frame(uint8_t *pixels, int number)
{
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            for (int c = 0; c < 3; c++)
                pixels[(y * WIDTH + x) * 3 + c] = (uint8_t)((x * x / 64 + y * (c + 1) + 40 * number) ^ (x & y & 15));
}

/* Interleaved pixels are planes that share a buffer. */
static void make_planes(l2k_plane planes[3], uint8_t *pixels, size_t pitch)
{
    for (int c = 0; c < 3; c++)
        planes[c] = (l2k_plane){pixels + c, (ptrdiff_t)pitch, 3, L2K_SAMPLE_U8};
}

int main(void)
{
    static uint8_t pixels[WIDTH * HEIGHT * 3];
    char text[256];
    void *device;
    size_t pitch;
    cudaStream_t stream;
    bool identical = true;
    if (!l2k_backend_usable(L2K_BACKEND_CUDA, text, sizeof text)) {
        const char *required = getenv("L2K_REQUIRE_GPU");
        printf("no GPU can be used: %s\n", text);
        return required && strcmp(required, "1") == 0 ? 1 : 77;
    }
    printf("%s\n", text);
    check_cuda(cudaMallocPitch(&device, &pitch, WIDTH * 3, HEIGHT), "allocating a frame");
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");

    l2k_encoder *encoder = make_encoder(L2K_BACKEND_CUDA, L2K_MEMORY_DEVICE);
    l2k_encoder *on_cpu = make_encoder(L2K_BACKEND_CPU, L2K_MEMORY_HOST);
    l2k_plane planes[3], in_memory[3];
    make_planes(planes, (uint8_t *)device, pitch);
    make_planes(in_memory, pixels, WIDTH * 3);
    l2k_encoder_set_stream(encoder, stream);
    for (int number = 0; number < FRAMES; number++) {
        const uint8_t *bytes, *expected;
        size_t count, expected_count;
        make_frame(pixels, number);
        check_cuda(
            cudaMemcpy2DAsync(device, pitch, pixels, WIDTH * 3, WIDTH * 3, HEIGHT, cudaMemcpyHostToDevice, stream),
            "making a frame");
        check(l2k_encoder_encode_memory(encoder, &image, planes, &bytes, &count));
        check(l2k_encoder_encode_memory(on_cpu, &image, in_memory, &expected, &expected_count));
        identical = identical && count == expected_count && memcmp(bytes, expected, count) == 0;
        printf("frame %d: %zu bytes\n", number, count);
    }
    printf("%s\n", identical ? "identical to the CPU's" : "DIFFERENT from the CPU's");

    l2k_encoder_free(encoder);
    l2k_encoder_free(on_cpu);
    check_cuda(cudaStreamDestroy(stream), "the stream");
    check_cuda(cudaFree(device), "the frame");
    return identical ? 0 : 1;
}
