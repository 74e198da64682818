/* frame [OUT.raw]: a frame of a medical series, 16-bit signed samples, to a codestream in memory and back, as in a
 * PACS: lossless JPEG 2000 without the boxes of a JP2 file. Then a quarter of the resolution, and a region, from the
 * same bytes. */
#include <stdio.h>
#include <string.h>

#include <lift2k/lift2k.h>

enum { SIDE = 512 };

typedef struct bytes {
    const uint8_t *data;
    size_t size;
} bytes;

static void print_message(void *user, l2k_severity severity, const char *text)
{
    (void)user;
    (void)severity;
    fprintf(stderr, "frame: %s\n", text);
}

/* Hounsfield units of a phantom: water in air, bone in the middle, noise. */
static void make_frame(int16_t *samples)
{
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            int dx = x - SIDE / 2, dy = y - SIDE / 2, r = dx * dx + dy * dy;
            samples[y * SIDE + x] = (int16_t)((r < 900 ? 1200 : r < 40000 ? 0 : -1024) + (x * 7919 ^ y * 104729) % 16);
        }
}

static l2k_status encode(l2k_encoder *encoder, int16_t *samples, bytes *codestream)
{
    l2k_component component;
    l2k_image image;
    memset(&component, 0, sizeof component);
    memset(&image, 0, sizeof image);
    component.dx = component.dy = 1;
    component.precision = 16; /* BitsStored; samples must keep to it */
    component.is_signed = true;
    image.x1 = image.y1 = SIDE;
    image.num_components = 1;
    image.components = &component;
    l2k_plane plane = {samples, SIDE * sizeof *samples, sizeof *samples, L2K_SAMPLE_S16};
    l2k_status status = l2k_encoder_set(encoder, L2K_ENCODER_FORMAT, L2K_FORMAT_CODESTREAM);
    if (status == L2K_OK)
        status = l2k_encoder_encode_memory(encoder, &image, &plane, &codestream->data, &codestream->size);
    return status;
}

static l2k_status decode(l2k_decoder *decoder, const bytes *codestream, int16_t *samples, uint32_t *width)
{
    l2k_image image;
    l2k_status status = l2k_decoder_open_memory(decoder, codestream->data, codestream->size);
    if (status == L2K_OK)
        status = l2k_decoder_image(decoder, &image);
    if (status != L2K_OK)
        return status;
    *width = image.components[0].width;
    l2k_plane plane = {samples, (ptrdiff_t)(*width * sizeof *samples), sizeof *samples, L2K_SAMPLE_S16};
    return l2k_decoder_decode(decoder, &plane);
}

static bool save(const char *name, const void *samples, size_t size)
{
    FILE *file = fopen(name, "wb");
    if (file && fwrite(samples, 1, size, file) == size && fclose(file) == 0)
        return true;
    perror(name);
    return false;
}

int main(int argc, char **argv)
{
    static int16_t frame[SIDE * SIDE], decoded[SIDE * SIDE];
    bytes codestream = {NULL, 0};
    uint32_t width;
    l2k_hooks hooks = {NULL, NULL, print_message, NULL, NULL};
    l2k_encoder *encoder = l2k_encoder_new(&hooks);
    l2k_decoder *decoder = l2k_decoder_new(&hooks);
    make_frame(frame);
    if (argc > 1 && !save(argv[1], frame, sizeof frame))
        return 1;
    if (!encoder || !decoder || encode(encoder, frame, &codestream) != L2K_OK)
        return 1;
    printf("%zu bytes of samples, %zu bytes of codestream\n", sizeof frame, codestream.size);

    if (decode(decoder, &codestream, decoded, &width) != L2K_OK)
        return 1;
    bool identical = memcmp(frame, decoded, sizeof frame) == 0;
    printf("%u x %u: %s\n", (unsigned)width, (unsigned)width, identical ? "identical" : "DIFFERENT");

    if (l2k_decoder_set(decoder, L2K_DECODER_REDUCE, 2) != L2K_OK ||
        decode(decoder, &codestream, decoded, &width) != L2K_OK)
        return 1;
    printf("reduced by 2: %u x %u, in its middle %d\n", (unsigned)width, (unsigned)width,
           decoded[(width / 2) * width + width / 2]);

    if (l2k_decoder_set(decoder, L2K_DECODER_REDUCE, 0) != L2K_OK ||
        l2k_decoder_set_region(decoder, 200, 200, 300, 300) != L2K_OK ||
        decode(decoder, &codestream, decoded, &width) != L2K_OK)
        return 1;
    printf("region: %u x %u, its first sample %d\n", (unsigned)width, (unsigned)width, decoded[0]);
    l2k_encoder_free(encoder);
    l2k_decoder_free(decoder);
    return identical && decoded[0] == frame[200 * SIDE + 200] ? 0 : 1;
}
