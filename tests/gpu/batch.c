/* gpu_batch: batches of random images on the GPU, planes in host and in device memory, packed or interleaved, against
 * the CPU one at a time: every byte and every sample, and what lies between the samples. One encoder and one decoder
 * serve all batches.
 *
 *     gpu_batch [BATCHES [FIRST]]
 *
 * Exits with 77 without a GPU, unless L2K_REQUIRE_GPU=1. */
#include "device.h"
#include "require.h"

enum { MOST = 20, FILL = 0xA5 };

static uint64_t state;

static uint32_t below(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % n;
}

static char options[200]; /* of the batch, for messages */

static void check(bool right, const char *what, unsigned number)
{
    if (right)
        return;
    fprintf(stderr, "FAILED: batch %u: %s; %s\n", number, what, options);
    exit(1);
}

/* ---- An image ---------------------------------------------------------------------------------------------------- */

typedef struct code {
    uint8_t *bytes;
    size_t count;
} code;

static int append(void *user, const void *bytes, size_t count)
{
    code *to = user;
    to->bytes = realloc(to->bytes, to->count + count);
    check(to->bytes != NULL, "memory", 0);
    memcpy(to->bytes + to->count, bytes, count);
    to->count += count;
    return 0;
}

typedef struct sample {
    l2k_component components[3];
    l2k_image image;
    bool interleaved;
    size_t pitch, bytes;      /* of a row of all samples, and of all rows */
    uint8_t *host, *decoded;  /* what is encoded; what the CPU makes of it */
    uint8_t *device, *output; /* the same on the device; what the GPU makes of it */
    l2k_plane planes[3], results[3];
    code alone, coded;
    l2k_stream stream;
} sample;

static void place_planes(const sample *s, uint8_t *at, l2k_plane planes[3])
{
    const uint32_t n = s->image.num_components, size = s->components[0].precision > 8 ? 2 : 1;
    const uint32_t height = s->image.y1;
    for (uint32_t c = 0; c < n; c++)
        planes[c] =
            (l2k_plane){at + (s->interleaved ? c * size : c * s->pitch * height), (ptrdiff_t)s->pitch,
                        (ptrdiff_t)(s->interleaved ? n * size : size), size == 2 ? L2K_SAMPLE_U16 : L2K_SAMPLE_U8};
}

static void draw(const sample *s)
{
    const uint32_t step = 1 + below(9), noise = 1 + below(12), precision = s->components[0].precision;
    memset(s->host, FILL, s->bytes);
    for (uint32_t c = 0; c < s->image.num_components; c++)
        for (uint32_t y = 0; y < s->image.y1; y++)
            for (uint32_t x = 0; x < s->image.x1; x++) {
                const l2k_plane *plane = &s->planes[c];
                uint8_t *at = (uint8_t *)plane->data + y * plane->row_stride + x * plane->sample_stride;
                const uint16_t value = (uint16_t)((x * step + y * 3 + below(noise)) & ((1u << precision) - 1));
                memcpy(at, &value, plane->type == L2K_SAMPLE_U16 ? 2 : 1);
            }
}

static void make_sample(sample *s)
{
    static const uint32_t precisions[] = {8, 8, 8, 12, 16};
    const uint32_t precision = precisions[below(5)], size = precision > 8 ? 2 : 1, n = below(3) ? 3 : 1;
    memset(s, 0, sizeof *s);
    for (uint32_t c = 0; c < n; c++)
        s->components[c] = (l2k_component){.dx = 1, .dy = 1, .precision = precision};
    s->image = (l2k_image){.x1 = 1 + below(below(3) ? 130 : 500), .y1 = 1 + below(below(3) ? 130 : 500)};
    s->image.num_components = n;
    s->image.components = s->components;
    s->interleaved = below(2);
    s->pitch = (size_t)s->image.x1 * size * (s->interleaved ? n : 1) + size * below(70);
    s->bytes = s->pitch * s->image.y1 * (s->interleaved ? 1 : n);
    s->host = malloc(s->bytes);
    s->decoded = malloc(s->bytes);
    s->device = gpu_take(s->bytes);
    s->output = gpu_take(s->bytes);
    check(s->host && s->decoded, "memory", 0);
    place_planes(s, s->host, s->planes);
    draw(s);
    gpu_copy_in(s->device, s->host, s->bytes);
    s->stream = (l2k_stream){.write = append, .user = &s->coded};
}

static void check_image(const sample *s, unsigned i, bool right, const char *what, unsigned number)
{
    char text[200];
    if (right)
        return;
    snprintf(text, sizeof text, "%s, image %u: %u x %u x %u, %u bits%s", what, i, s->image.x1, s->image.y1,
             s->image.num_components, s->components[0].precision, s->interleaved ? ", interleaved" : "");
    check(false, text, number);
}

static void free_sample(sample *s)
{
    free(s->host);
    free(s->decoded);
    free(s->alone.bytes);
    free(s->coded.bytes);
    gpu_give_back(s->device);
    gpu_give_back(s->output);
}

/* ---- A batch ----------------------------------------------------------------------------------------------------- */

typedef struct coders {
    l2k_encoder *encoder, *alone;
    l2k_decoder *decoder, *alone_too;
} coders;

static void set(const coders *k, l2k_encoder_option option, int64_t value)
{
    check(l2k_encoder_set(k->encoder, option, value) == L2K_OK && l2k_encoder_set(k->alone, option, value) == L2K_OK,
          "an option", 0);
}

/* Returns whether it is lossless. */
static bool choose_options(const coders *k)
{
    static const double ratio = 8;
    const bool ht = below(3) > 0, lossy = below(3) == 0, tiled = below(4) == 0;
    const int64_t values[] = {ht         ? L2K_STYLE_HT
                              : below(2) ? below(64)
                                         : 0,
                              lossy ? L2K_WAVELET_9_7 : L2K_WAVELET_5_3,
                              below(6),
                              8 << below(4),
                              8 << below(4),
                              tiled ? 60 + below(200) : 0,
                              tiled ? 60 + below(200) : 0};
    static const l2k_encoder_option chosen[] = {
        L2K_ENCODER_STYLE,        L2K_ENCODER_WAVELET,    L2K_ENCODER_LEVELS,     L2K_ENCODER_BLOCK_WIDTH,
        L2K_ENCODER_BLOCK_HEIGHT, L2K_ENCODER_TILE_WIDTH, L2K_ENCODER_TILE_HEIGHT};
    int used = 0;
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++) {
        set(k, chosen[i], values[i]);
        used += snprintf(options + used, sizeof options - (size_t)used, "%s%lld",
                         i ? ", " : "style, wavelet, levels, block, tile ", (long long)values[i]);
    }
    set(k, L2K_ENCODER_PROGRESSION, below(5));
    set(k, L2K_ENCODER_PLT, below(2));
    const size_t layers = !ht && lossy && below(2);
    check(l2k_encoder_set_layers(k->encoder, L2K_TARGET_RATIO, &ratio, layers) == L2K_OK &&
              l2k_encoder_set_layers(k->alone, L2K_TARGET_RATIO, &ratio, layers) == L2K_OK,
          "layers", 0);
    return !lossy;
}

static void encode_alone(const coders *k, sample *s, unsigned number)
{
    const l2k_stream stream = {.write = append, .user = &s->alone};
    check(l2k_encoder_encode(k->alone, &s->image, s->planes, &stream) == L2K_OK, "encoding alone", number);
    place_planes(s, s->decoded, s->results);
    memset(s->decoded, FILL, s->bytes);
    check(l2k_decoder_open_memory(k->alone_too, s->alone.bytes, s->alone.count) == L2K_OK &&
              l2k_decoder_decode(k->alone_too, s->results) == L2K_OK,
          "decoding alone", number);
}

static void encode_batch(const coders *k, sample *samples, unsigned count, bool on_device, unsigned number)
{
    l2k_encode_item items[MOST];
    l2k_plane planes[MOST][3];
    check(l2k_encoder_set(k->encoder, L2K_ENCODER_MEMORY, on_device) == L2K_OK &&
              l2k_encoder_set(k->encoder, L2K_ENCODER_IN_FLIGHT, below(9)) == L2K_OK,
          "an option", number);
    for (unsigned i = 0; i < count; i++) {
        samples[i].coded.count = 0;
        place_planes(&samples[i], on_device ? samples[i].device : samples[i].host, planes[i]);
        items[i] = (l2k_encode_item){&samples[i].image, planes[i], &samples[i].stream, L2K_ERROR_STATE};
    }
    check(l2k_encoder_encode_batch(k->encoder, items, count) == L2K_OK, "encoding", number);
    for (unsigned i = 0; i < count; i++)
        check_image(&samples[i], i,
                    items[i].status == L2K_OK && samples[i].coded.count == samples[i].alone.count &&
                        memcmp(samples[i].coded.bytes, samples[i].alone.bytes, samples[i].coded.count) == 0,
                    on_device ? "bytes, device planes" : "bytes, host planes", number);
}

static void decode_batch(const coders *k, sample *samples, unsigned count, bool on_device, unsigned number)
{
    l2k_decode_item items[MOST];
    l2k_plane planes[MOST][3];
    uint8_t *results[MOST];
    check(l2k_decoder_set(k->decoder, L2K_DECODER_MEMORY, on_device) == L2K_OK &&
              l2k_decoder_set(k->decoder, L2K_DECODER_IN_FLIGHT, below(9)) == L2K_OK,
          "an option", number);
    for (unsigned i = 0; i < count; i++) {
        sample *s = &samples[i];
        results[i] = malloc(s->bytes);
        check(results[i] != NULL, "memory", number);
        memset(results[i], FILL, s->bytes);
        gpu_copy_in(s->output, results[i], s->bytes);
        place_planes(s, on_device ? s->output : results[i], planes[i]);
        items[i] = (l2k_decode_item){s->alone.bytes, s->alone.count, planes[i], L2K_ERROR_STATE};
    }
    check(l2k_decoder_decode_batch(k->decoder, items, count) == L2K_OK, "decoding", number);
    for (unsigned i = 0; i < count; i++) {
        if (on_device)
            gpu_copy_out(results[i], samples[i].output, samples[i].bytes);
        check_image(&samples[i], i,
                    items[i].status == L2K_OK && memcmp(results[i], samples[i].decoded, samples[i].bytes) == 0,
                    on_device ? "samples, device planes" : "samples, host planes", number);
        free(results[i]);
    }
}

static void run_batch(const coders *k, unsigned number)
{
    static sample samples[MOST];
    state = number * 0x9E3779B97F4A7C15u + 1;
    const unsigned count = 1 + below(MOST);
    const bool lossless = choose_options(k);
    for (unsigned i = 0; i < count; i++) {
        make_sample(&samples[i]);
        encode_alone(k, &samples[i], number);
        check(!lossless || memcmp(samples[i].host, samples[i].decoded, samples[i].bytes) == 0, "the CPU", number);
    }
    for (int on_device = 0; on_device < 2; on_device++) {
        encode_batch(k, samples, count, on_device, number);
        decode_batch(k, samples, count, on_device, number);
    }
    for (unsigned i = 0; i < count; i++)
        free_sample(&samples[i]);
}

static void print_text(void *user, l2k_severity severity, const char *text)
{
    (void)user;
    if (severity == L2K_SEVERITY_ERROR)
        fprintf(stderr, "lift2k: %s\n", text);
}

int main(int argc, char **argv)
{
    const unsigned batches = argc > 1 ? (unsigned)atoi(argv[1]) : 100, first = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
    const l2k_hooks hooks = {.message = print_text};
    int missing = gpu_missing();
    if (missing)
        return missing;
    const coders k = {l2k_encoder_new(&hooks), l2k_encoder_new(&hooks), l2k_decoder_new(&hooks),
                      l2k_decoder_new(&hooks)};
    check(k.encoder && k.alone && k.decoder && k.alone_too, "memory", 0);
    check(l2k_encoder_set(k.encoder, L2K_ENCODER_BACKEND, L2K_BACKEND_CUDA) == L2K_OK &&
              l2k_encoder_set(k.alone, L2K_ENCODER_BACKEND, L2K_BACKEND_CPU) == L2K_OK &&
              l2k_encoder_set(k.alone, L2K_ENCODER_THREADS, 1) == L2K_OK &&
              l2k_decoder_set(k.decoder, L2K_DECODER_BACKEND, L2K_BACKEND_CUDA) == L2K_OK &&
              l2k_decoder_set(k.alone_too, L2K_DECODER_BACKEND, L2K_BACKEND_CPU) == L2K_OK &&
              l2k_decoder_set(k.alone_too, L2K_DECODER_THREADS, 1) == L2K_OK,
          "options", 0);
    for (unsigned i = first; i < first + batches; i++)
        run_batch(&k, i);
    l2k_encoder_free(k.encoder);
    l2k_encoder_free(k.alone);
    l2k_decoder_free(k.decoder);
    l2k_decoder_free(k.alone_too);
    printf("%u batches\n", batches);
    return 0;
}
