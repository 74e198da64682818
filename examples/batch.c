/* batch: 256 small images to codestreams and back, several of them in flight, as for tiles of a slide or chunks of an
 * array. Compares with one after another, and prints how long both take.
 *
 *     batch [--cuda] [COUNT [SIDE]]
 *
 * With --cuda, exits with 77 if no GPU can be used (with 1 if L2K_REQUIRE_GPU=1 is in the environment). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <lift2k/lift2k.h>

enum { MOST = 4096 };

/* A codestream in memory. */
typedef struct chunk {
    uint8_t *bytes;
    size_t count, room;
} chunk;

/* Called from several threads at once, but each chunk is written by one at a time. */
static int append(void *user, const void *bytes, size_t count)
{
    chunk *to = (chunk *)user;
    if (to->count + count > to->room) {
        uint8_t *more = (uint8_t *)realloc(to->bytes, to->room = 2 * (to->count + count));
        if (!more)
            return -1;
        to->bytes = more;
    }
    memcpy(to->bytes + to->count, bytes, count);
    to->count += count;
    return 0;
}

static chunk chunks[MOST];
static l2k_stream streams[MOST];
static l2k_plane planes[MOST][3], decoded[MOST][3];
static l2k_encode_item to_encode[MOST];
static l2k_decode_item to_decode[MOST];
static l2k_component components[3];
static l2k_image image;

static double seconds(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void print_text(void *user, l2k_severity severity, const char *text)
{
    (void)user;
    (void)severity;
    fprintf(stderr, "batch: %s\n", text);
}

static void check(l2k_status status)
{
    if (status != L2K_OK)
        exit(1); /* print_text has printed the reason */
}

static uint8_t *make_pixels(l2k_plane to[3], uint32_t side)
{
    uint8_t *pixels = (uint8_t *)calloc((size_t)side * side, 3);
    if (!pixels)
        exit(1);
    for (int c = 0; c < 3; c++) {
        to[c].data = pixels + c;
        to[c].row_stride = (ptrdiff_t)side * 3;
        to[c].sample_stride = 3;
        to[c].type = L2K_SAMPLE_U8;
    }
    return pixels;
}

static void make_images(size_t count, uint32_t side)
{
    for (int c = 0; c < 3; c++) {
        components[c].dx = components[c].dy = 1;
        components[c].precision = 8;
    }
    image.x1 = image.y1 = side;
    image.num_components = 3;
    image.components = components;
    for (size_t i = 0; i < count; i++) {
        uint8_t *pixels = make_pixels(planes[i], side);
        for (size_t k = 0; k < (size_t)side * side * 3; k++)
            pixels[k] = (uint8_t)((k / side) + ((k * (i + 5)) >> 6 & 31));
        make_pixels(decoded[i], side);
    }
}

static void encode_batch(l2k_encoder *encoder, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        chunks[i].count = 0;
        streams[i].write = append;
        streams[i].user = &chunks[i];
        to_encode[i].image = &image;
        to_encode[i].planes = planes[i];
        to_encode[i].stream = &streams[i];
    }
    check(l2k_encoder_encode_batch(encoder, to_encode, count));
}

static void decode_batch(l2k_decoder *decoder, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        to_decode[i].data = chunks[i].bytes;
        to_decode[i].bytes = chunks[i].count;
        to_decode[i].planes = decoded[i];
    }
    check(l2k_decoder_decode_batch(decoder, to_decode, count));
}

/* The same, one image after another. */
static void encode_each(l2k_encoder *encoder, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint8_t *bytes;
        size_t size;
        check(l2k_encoder_encode_memory(encoder, &image, planes[i], &bytes, &size));
        if (size != chunks[i].count || memcmp(bytes, chunks[i].bytes, size) != 0)
            exit(1);
    }
}

static void decode_each(l2k_decoder *decoder, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        check(l2k_decoder_open_memory(decoder, chunks[i].bytes, chunks[i].count));
        check(l2k_decoder_decode(decoder, decoded[i]));
    }
}

static void compare(size_t count, uint32_t side)
{
    for (size_t i = 0; i < count; i++)
        if (memcmp(planes[i][0].data, decoded[i][0].data, (size_t)side * side * 3) != 0)
            exit(1);
}

int main(int argc, char **argv)
{
    int next = argc > 1 && strcmp(argv[1], "--cuda") == 0 ? 2 : 1;
    l2k_backend backend = next == 2 ? L2K_BACKEND_CUDA : L2K_BACKEND_AUTO;
    size_t count = argc > next ? (size_t)atoi(argv[next]) : 256;
    uint32_t side = argc > next + 1 ? (uint32_t)atoi(argv[next + 1]) : 128;
    char text[256];
    if (backend == L2K_BACKEND_CUDA && !l2k_backend_usable(backend, text, sizeof text)) {
        const char *required = getenv("L2K_REQUIRE_GPU");
        printf("no GPU can be used: %s\n", text);
        return required && strcmp(required, "1") == 0 ? 1 : 77;
    }
    l2k_hooks hooks = {NULL, NULL, print_text, NULL, NULL};
    l2k_encoder *encoder = l2k_encoder_new(&hooks);
    l2k_decoder *decoder = l2k_decoder_new(&hooks);
    if (!encoder || !decoder || count < 1 || count > MOST || side < 1 || side > 4096)
        return 2;
    make_images(count, side);
    check(l2k_encoder_set(encoder, L2K_ENCODER_FORMAT, L2K_FORMAT_CODESTREAM));
    check(l2k_encoder_set(encoder, L2K_ENCODER_STYLE, L2K_STYLE_HT));
    check(l2k_encoder_set(encoder, L2K_ENCODER_BACKEND, backend));
    check(l2k_decoder_set(decoder, L2K_DECODER_BACKEND, backend));
    double start[5];
    for (int warm = 0; warm < 2; warm++) { /* the first pass allocates all memory and starts threads */
        start[0] = seconds();
        encode_batch(encoder, count);
        start[1] = seconds();
        decode_batch(decoder, count);
        compare(count, side);
        start[2] = seconds();
        encode_each(encoder, count);
        start[3] = seconds();
        decode_each(decoder, count);
        compare(count, side);
        start[4] = seconds();
    }
    printf("%u images of %u x %u, encoded and decoded, identical\n", (unsigned)count, side, side);
    printf("in flight:     %.3f and %.3f ms an image\n", 1e3 * (start[1] - start[0]) / (double)count,
           1e3 * (start[2] - start[1]) / (double)count);
    printf("one at a time: %.3f and %.3f ms an image\n", 1e3 * (start[3] - start[2]) / (double)count,
           1e3 * (start[4] - start[3]) / (double)count);
    l2k_encoder_free(encoder);
    l2k_decoder_free(decoder);
    return 0;
}
