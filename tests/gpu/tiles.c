/* gpu_tiles: an image that does not fit into the device's memory is encoded and decoded tile by tile, with the CPU's
 * result; as one tile it is refused. One that goes up in parts is encoded from interleaved samples and from planes.
 * Fills the rest of that memory, so that nothing else may use the device meanwhile. Exits with 77 without a GPU, unless
 * L2K_REQUIRE_GPU=1. */
#include "device.h"
#include "require.h"

/* A plan of the whole image takes 45 MB and more, one of a tile less than 1 MB. */
enum { SIDE = 2048, TILE = 256, PIXELS = SIDE * SIDE, ROOM = 24 << 20 };

static unsigned failures;
static char message[256];

static void keep_message(void *user, l2k_severity severity, const char *text)
{
    (void)user, (void)severity;
    snprintf(message, sizeof message, "%s", text);
}

static void expect(bool condition, const char *what)
{
    if (condition)
        return;
    failures++;
    fprintf(stderr, "FAILED: %s (last message: %s)\n", what, message);
}

typedef struct file {
    uint8_t *bytes;
    size_t count, room, at;
} file;

static int append(void *user, const void *buffer, size_t bytes)
{
    file *f = user;
    if (f->count + bytes > f->room) {
        f->room = 2 * f->room + bytes;
        f->bytes = realloc(f->bytes, f->room);
        if (!f->bytes)
            exit(1);
    }
    memcpy(f->bytes + f->count, buffer, bytes);
    f->count += bytes;
    return 0;
}

static ptrdiff_t fetch(void *user, void *buffer, size_t bytes)
{
    file *f = user;
    size_t n = f->count - f->at < bytes ? f->count - f->at : bytes;
    memcpy(buffer, f->bytes + f->at, n);
    f->at += n;
    return (ptrdiff_t)n;
}

static void place_planes(uint8_t *pixels, l2k_plane planes[3])
{
    for (int c = 0; c < 3; c++)
        planes[c] = (l2k_plane){pixels + c, 3 * SIDE, 3, L2K_SAMPLE_U8};
}

static uint8_t *draw(void)
{
    uint8_t *pixels = malloc(3 * (size_t)PIXELS);
    uint32_t state = 1;
    if (!pixels)
        exit(1);
    for (size_t i = 0; i < 3 * (size_t)PIXELS; i++) {
        state = state * 1664525u + 1013904223u;
        pixels[i] = (uint8_t)(i / 3 % SIDE / 16 + (state >> 28));
    }
    return pixels;
}

static const l2k_hooks hooks = {.message = keep_message};

/* One thread, so that there is one worker group. */
static l2k_status encode_planes(const l2k_plane *planes, uint32_t width, l2k_backend backend, l2k_wavelet wavelet,
                                uint32_t tile, file *out)
{
    l2k_component components[3] = {{0}};
    l2k_image image = {
        .x1 = width, .y1 = SIDE, .num_components = 3, .components = components, .colour = L2K_COLOUR_SRGB};
    l2k_stream stream = {.write = append, .user = out};
    l2k_encoder *encoder = l2k_encoder_new(&hooks);
    for (int c = 0; c < 3; c++)
        components[c] = (l2k_component){
            .dx = 1, .dy = 1, .precision = 8, .channel = L2K_CHANNEL_COLOUR, .association = (uint32_t)c + 1};
    *out = (file){0};
    l2k_encoder_set(encoder, L2K_ENCODER_BACKEND, backend);
    l2k_encoder_set(encoder, L2K_ENCODER_WAVELET, wavelet);
    l2k_encoder_set(encoder, L2K_ENCODER_TILE_WIDTH, tile);
    l2k_encoder_set(encoder, L2K_ENCODER_TILE_HEIGHT, tile);
    l2k_encoder_set(encoder, L2K_ENCODER_THREADS, 1);
    l2k_status status = l2k_encoder_encode(encoder, &image, planes, &stream);
    l2k_encoder_free(encoder);
    return status;
}

static l2k_status encode(uint8_t *pixels, l2k_backend backend, l2k_wavelet wavelet, uint32_t tile, file *out)
{
    l2k_plane planes[3];
    place_planes(pixels, planes);
    return encode_planes(planes, SIDE, backend, wavelet, tile, out);
}

static l2k_status decode(file *in, l2k_backend backend, uint8_t *pixels)
{
    l2k_plane planes[3];
    l2k_stream stream = {.read = fetch, .user = in};
    l2k_decoder *decoder = l2k_decoder_new(&hooks);
    place_planes(pixels, planes);
    in->at = 0;
    memset(pixels, 0, 3 * (size_t)PIXELS);
    l2k_decoder_set(decoder, L2K_DECODER_BACKEND, backend);
    l2k_decoder_set(decoder, L2K_DECODER_THREADS, 1);
    l2k_status status = l2k_decoder_open(decoder, &stream);
    if (status == L2K_OK)
        status = l2k_decoder_decode(decoder, planes);
    l2k_decoder_free(decoder);
    return status;
}

static bool same_files(const file *a, const file *b)
{
    return a->count == b->count && a->count > 0 && memcmp(a->bytes, b->bytes, a->count) == 0;
}

static void check_tiles(uint8_t *pixels, l2k_wavelet wavelet)
{
    file cpu, cuda;
    uint8_t *expected = draw(), *got = draw();
    expect(encode(pixels, L2K_BACKEND_CPU, wavelet, TILE, &cpu) == L2K_OK, "encoding tiles on the CPU");
    expect(encode(pixels, L2K_BACKEND_CUDA, wavelet, TILE, &cuda) == L2K_OK, "encoding tiles on the device");
    expect(same_files(&cpu, &cuda), "the files are the same");
    expect(decode(&cpu, L2K_BACKEND_CPU, expected) == L2K_OK, "decoding tiles on the CPU");
    expect(decode(&cpu, L2K_BACKEND_CUDA, got) == L2K_OK, "decoding tiles on the device");
    expect(memcmp(expected, got, 3 * (size_t)PIXELS) == 0, "the samples are the same");
    free(cpu.bytes);
    free(cuda.bytes);
    free(expected);
    free(got);
}

static void check_whole(uint8_t *pixels)
{
    file out, whole;
    expect(encode(pixels, L2K_BACKEND_CUDA, L2K_WAVELET_5_3, 0, &out) == L2K_ERROR_MEMORY && out.count == 0,
           "encoding the image as one tile is refused");
    expect(encode(pixels, L2K_BACKEND_CPU, L2K_WAVELET_5_3, 0, &whole) == L2K_OK, "encoding one tile on the CPU");
    uint8_t *got = draw();
    expect(decode(&whole, L2K_BACKEND_CUDA, got) == L2K_ERROR_MEMORY, "decoding the image as one tile is refused");
    free(got);
    free(out.bytes);
    free(whole.bytes);
}

/* More than the pinned memory for uploads holds: of interleaved samples, of planes, and of samples to be converted. */
static void check_upload(int kind)
{
    enum { WIDTH = 2603 };
    const size_t samples = (size_t)WIDTH * SIDE, bytes = kind == 2 ? 2 : 1;
    uint8_t *memory = calloc(3 * samples, bytes);
    l2k_plane planes[3];
    uint32_t state = 7;
    file cpu, cuda;
    if (!memory)
        exit(1);
    for (size_t i = 0; i < 3 * samples; i++) {
        state = state * 1664525u + 1013904223u;
        const uint8_t value = (uint8_t)(i % WIDTH / 16 + (state >> 27));
        memcpy(memory + i * bytes, bytes == 2 ? (const void *)&(uint16_t){value} : &value, bytes);
    }
    for (size_t c = 0; c < 3; c++)
        planes[c] = kind == 0 ? (l2k_plane){memory + c, 3 * WIDTH, 3, L2K_SAMPLE_U8}
                              : (l2k_plane){memory + c * samples * bytes, (ptrdiff_t)(WIDTH * bytes), (ptrdiff_t)bytes,
                                            bytes == 2 ? L2K_SAMPLE_U16 : L2K_SAMPLE_U8};
    expect(encode_planes(planes, WIDTH, L2K_BACKEND_CPU, L2K_WAVELET_5_3, 0, &cpu) == L2K_OK, "encoding on the CPU");
    expect(encode_planes(planes, WIDTH, L2K_BACKEND_CUDA, L2K_WAVELET_5_3, 0, &cuda) == L2K_OK,
           "encoding what goes up in parts");
    expect(same_files(&cpu, &cuda), "what goes up in parts is the same");
    free(cpu.bytes);
    free(cuda.bytes);
    free(memory);
}

int main(void)
{
    int ending = gpu_missing();
    if (ending)
        return ending;
    uint8_t *pixels = draw();
    check_tiles(pixels, L2K_WAVELET_5_3); /* loads the kernels, which need memory too */
    check_tiles(pixels, L2K_WAVELET_9_7);
    for (int kind = 0; kind < 3; kind++)
        check_upload(kind);
    gpu_ballast *ballast = gpu_fill(ROOM);
    printf("%zu MiB of device memory left\n", gpu_free_bytes() >> 20);
    check_tiles(pixels, L2K_WAVELET_5_3);
    check_tiles(pixels, L2K_WAVELET_9_7);
    check_whole(pixels);
    gpu_empty(ballast);
    free(pixels);
    printf("%u failures\n", failures);
    return failures != 0;
}
