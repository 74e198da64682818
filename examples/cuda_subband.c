/* cuda_subband: the transform stage of liblift2k on device memory. Copies a picture to the GPU, runs the forward
 * transform on a stream, and reads one subband back, HL of the highest resolution; all other coefficients stay on the
 * device, where a block coder on the GPU would read them. The CPU must give the same result.
 *
 * Exits with 77 if no GPU can be used (with 1 if L2K_REQUIRE_GPU=1 is in the environment). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime.h>
#include <lift2k/lift2k.h>

enum { WIDTH = 1237, HEIGHT = 851, LEVELS = 5, BAND = 3 * (LEVELS - 1) + L2K_HL };

static void check_cuda(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "cuda_subband: %s: %s\n", what, cudaGetErrorString(error));
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
    fprintf(stderr, "cuda_subband: %s\n", text);
}

static const l2k_component component = {.dx = 1, .dy = 1, .precision = 8};
static const l2k_image tile = {.x1 = WIDTH, .y1 = HEIGHT, .num_components = 1, .components = &component};

static l2k_transform *make_transform(l2k_memory memory)
{
    l2k_transform *transform = l2k_transform_new(&(l2k_hooks){.message = print_text});
    if (!transform)
        exit(1);
    check(l2k_transform_set(transform, L2K_TRANSFORM_WAVELET, L2K_WAVELET_9_7));
    check(l2k_transform_set(transform, L2K_TRANSFORM_LEVELS, LEVELS));
    check(l2k_transform_set(transform, L2K_TRANSFORM_COEFFICIENTS, L2K_COEFFICIENT_INT16));
    check(l2k_transform_set(transform, L2K_TRANSFORM_MEMORY, memory));
    if (memory == L2K_MEMORY_HOST)
        check(l2k_transform_set(transform, L2K_TRANSFORM_BACKEND, L2K_BACKEND_CPU));
    return transform;
}

static void make_picture(uint8_t *pixels)
{
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            pixels[y * WIDTH + x] = (uint8_t)((x * x / 64 + y * y / 32) ^ (x & y));
}

/* Copies the rectangle of a subband from a view on the device or the host. */
static void read_band(const l2k_coefficients *view, const l2k_band_view *band, int16_t *to, cudaStream_t stream)
{
    const int16_t *from = (const int16_t *)view->base + band->y * view->stride + band->x;
    check_cuda(cudaMemcpy2DAsync(to, band->width * sizeof *to, from, view->stride * sizeof *from,
                                 band->width * sizeof *to, band->height,
                                 view->on_device ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost, stream),
               "reading a subband");
    check_cuda(cudaStreamSynchronize(stream), "transforming");
}

static l2k_band_view transform_on_gpu(const uint8_t *pixels, int16_t *coefficients, cudaStream_t stream)
{
    void *device;
    size_t pitch;
    uint64_t bytes;
    l2k_transform *transform = make_transform(L2K_MEMORY_DEVICE);
    check(l2k_transform_device_bytes(transform, &tile, &bytes));
    printf("device memory: %llu bytes, %.2f times samples and coefficients\n", (unsigned long long)bytes,
           (double)bytes / ((double)WIDTH * HEIGHT * (1 + 2)));
    check(l2k_transform_prepare(transform, &tile));

    check_cuda(cudaMallocPitch(&device, &pitch, WIDTH, HEIGHT), "allocating");
    check_cuda(cudaMemcpy2DAsync(device, pitch, pixels, WIDTH, WIDTH, HEIGHT, cudaMemcpyHostToDevice, stream),
               "uploading the picture");
    l2k_plane plane = {device, (ptrdiff_t)pitch, 1, L2K_SAMPLE_U8};
    check(l2k_transform_forward_on_device(transform, &plane, stream));

    const l2k_coefficients *view = l2k_transform_coefficients(transform, 0);
    l2k_band_view band = view->bands[BAND];
    read_band(view, &band, coefficients, stream);
    check_cuda(cudaFree(device), "freeing");
    l2k_transform_free(transform);
    return band;
}

static void transform_on_cpu(uint8_t *pixels, int16_t *coefficients, cudaStream_t stream)
{
    l2k_transform *transform = make_transform(L2K_MEMORY_HOST);
    l2k_plane plane = {pixels, WIDTH, 1, L2K_SAMPLE_U8};
    check(l2k_transform_prepare(transform, &tile));
    check(l2k_transform_forward(transform, &plane));
    const l2k_coefficients *view = l2k_transform_coefficients(transform, 0);
    read_band(view, &view->bands[BAND], coefficients, stream);
    l2k_transform_free(transform);
}

static void print_band(l2k_band_view band, const int16_t *coefficients)
{
    int least = coefficients[0], most = coefficients[0];
    double energy = 0;
    size_t count = (size_t)band.width * band.height;
    for (size_t i = 0; i < count; i++) {
        least = coefficients[i] < least ? coefficients[i] : least;
        most = coefficients[i] > most ? coefficients[i] : most;
        energy += (double)coefficients[i] * coefficients[i];
    }
    printf("HL of the highest resolution: %u x %u at %u,%u, indices %d to %d, mean square %.3f\n", (unsigned)band.width,
           (unsigned)band.height, (unsigned)band.x, (unsigned)band.y, least, most, energy / (double)count);
}

int main(void)
{
    static uint8_t pixels[WIDTH * HEIGHT];
    static int16_t on_gpu[WIDTH * HEIGHT], on_cpu[WIDTH * HEIGHT];
    char text[256];
    cudaStream_t stream;
    if (!l2k_backend_usable(L2K_BACKEND_CUDA, text, sizeof text)) {
        const char *required = getenv("L2K_REQUIRE_GPU");
        printf("no GPU can be used: %s\n", text);
        return required && strcmp(required, "1") == 0 ? 1 : 77;
    }
    printf("%s\n", text);
    make_picture(pixels);
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
    l2k_band_view band = transform_on_gpu(pixels, on_gpu, stream);
    print_band(band, on_gpu);
    transform_on_cpu(pixels, on_cpu, stream);
    check_cuda(cudaStreamDestroy(stream), "the stream");
    bool identical = memcmp(on_gpu, on_cpu, (size_t)band.width * band.height * sizeof *on_gpu) == 0;
    printf("%s\n", identical ? "identical to the CPU's" : "DIFFERS from the CPU's");
    return identical ? 0 : 1;
}
