/* cuda_decode: a codestream to device memory, and on to a CUDA array, which the caller's kernels would read as a
 * texture. Only the codestream crosses the bus. Decoding of the next image starts when the caller's stream has copied
 * the one before: the decoder waits for that, not the processor. The samples must equal the encoded ones.
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
    fprintf(stderr, "cuda_decode: %s: %s\n", what, cudaGetErrorString(error));
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
    fprintf(stderr, "cuda_decode: %s\n", text);
}

static uint16_t pixels[FRAMES][WIDTH * HEIGHT], shown[FRAMES][WIDTH * HEIGHT];
static uint8_t *files[FRAMES];
static size_t bytes[FRAMES];

/* Frames of 12 bits, encoded on the CPU. */
static void make_files(void)
{
    static const l2k_component component = {.dx = 1, .dy = 1, .precision = 12};
    static const l2k_image image = {
        .x1 = WIDTH, .y1 = HEIGHT, .num_components = 1, .components = &component, .colour = L2K_COLOUR_GRAY};
    l2k_encoder *encoder = l2k_encoder_new(&(l2k_hooks){.message = print_text});
    if (!encoder)
        exit(1);
    check(l2k_encoder_set(encoder, L2K_ENCODER_STYLE, L2K_STYLE_HT));
    for (int i = 0; i < FRAMES; i++) {
        const uint8_t *code;
        const l2k_plane plane = {pixels[i], WIDTH * sizeof(uint16_t), sizeof(uint16_t), L2K_SAMPLE_U16};
        for (int k = 0; k < WIDTH * HEIGHT; k++)
            pixels[i][k] = (uint16_t)((k % WIDTH * 2 + k / WIDTH + 300 * i) ^ (k & 7)) & 4095;
        check(l2k_encoder_encode_memory(encoder, &image, &plane, &code, &bytes[i]));
        files[i] = malloc(bytes[i]);
        if (!files[i])
            exit(1);
        memcpy(files[i], code, bytes[i]);
    }
    l2k_encoder_free(encoder);
}

static void decode_frame(l2k_decoder *decoder, int number, void *device, size_t pitch)
{
    l2k_image image;
    const l2k_plane plane = {device, (ptrdiff_t)pitch, sizeof(uint16_t), L2K_SAMPLE_U16};
    check(l2k_decoder_open_memory(decoder, files[number], bytes[number]));
    check(l2k_decoder_image(decoder, &image));
    if (image.x1 - image.x0 != WIDTH || image.y1 - image.y0 != HEIGHT || image.num_components != 1)
        exit(1);
    check(l2k_decoder_decode(decoder, &plane));
}

int main(void)
{
    char text[256];
    void *device;
    size_t pitch;
    cudaStream_t stream;
    cudaArray_t array;
    const struct cudaChannelFormatDesc format = {16, 0, 0, 0, cudaChannelFormatKindUnsigned};
    if (!l2k_backend_usable(L2K_BACKEND_CUDA, text, sizeof text)) {
        const char *required = getenv("L2K_REQUIRE_GPU");
        printf("no GPU can be used: %s\n", text);
        return required && strcmp(required, "1") == 0 ? 1 : 77;
    }
    printf("%s\n", text);
    make_files();
    check_cuda(cudaMallocPitch(&device, &pitch, WIDTH * sizeof(uint16_t), HEIGHT), "allocating a frame");
    check_cuda(cudaMallocArray(&array, &format, WIDTH, HEIGHT, cudaArrayDefault), "allocating an array");
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");

    l2k_decoder *decoder = l2k_decoder_new(&(l2k_hooks){.message = print_text});
    if (!decoder)
        return 1;
    check(l2k_decoder_set(decoder, L2K_DECODER_BACKEND, L2K_BACKEND_CUDA));
    check(l2k_decoder_set(decoder, L2K_DECODER_MEMORY, L2K_MEMORY_DEVICE));
    l2k_decoder_set_stream(decoder, stream);
    for (int i = 0; i < FRAMES; i++) {
        decode_frame(decoder, i, device, pitch);
        check_cuda(cudaMemcpy2DToArrayAsync(array, 0, 0, device, pitch, WIDTH * sizeof(uint16_t), HEIGHT,
                                            cudaMemcpyDeviceToDevice, stream),
                   "copying to the array");
        check_cuda(cudaMemcpy2DFromArrayAsync(shown[i], WIDTH * sizeof(uint16_t), array, 0, 0, WIDTH * sizeof(uint16_t),
                                              HEIGHT, cudaMemcpyDeviceToHost, stream),
                   "looking at the array");
    }
    check_cuda(cudaStreamSynchronize(stream), "waiting");
    const bool identical = memcmp(shown, pixels, sizeof pixels) == 0;
    printf("%d frames, %s\n", FRAMES, identical ? "identical to those encoded" : "DIFFERENT from those encoded");

    l2k_decoder_free(decoder);
    check_cuda(cudaStreamDestroy(stream), "the stream");
    check_cuda(cudaFreeArray(array), "the array");
    check_cuda(cudaFree(device), "the frame");
    for (int i = 0; i < FRAMES; i++)
        free(files[i]);
    return identical ? 0 : 1;
}
