/* memory: an image to a JP2 file in memory and back: the smallest program that encodes and decodes. */
#include <stdio.h>
#include <string.h>

#include <lift2k/lift2k.h>

static uint8_t pixels[256][256];
static l2k_component gray;
static l2k_image image, decoded;

int main(void)
{
    for (int i = 0; i < 256 * 256; i++)
        pixels[i / 256][i % 256] = (uint8_t)((i / 256) ^ (i % 256));
    gray.dx = gray.dy = 1; /* not sub-sampled */
    gray.precision = 8;
    image.x1 = image.y1 = 256;
    image.num_components = 1;
    image.components = &gray;
    image.colour = L2K_COLOUR_GRAY;
    l2k_plane plane = {pixels, 256, 1, L2K_SAMPLE_U8}; /* bytes to the next row, and to the next sample */
    l2k_encoder *encoder = l2k_encoder_new(NULL);
    l2k_decoder *decoder = l2k_decoder_new(NULL);
    const l2k_plane *planes;
    const uint8_t *file;
    size_t bytes;
    if (!encoder || !decoder || l2k_encoder_encode_memory(encoder, &image, &plane, &file, &bytes) != L2K_OK ||
        l2k_decoder_decode_memory(decoder, file, bytes, &decoded, &planes) != L2K_OK)
        return 1;
    bool identical = memcmp(planes[0].data, pixels, sizeof pixels) == 0;
    printf("%u bytes, %s\n", (unsigned)bytes, identical ? "identical" : "different");
    l2k_decoder_free(decoder);
    l2k_encoder_free(encoder);
    return identical ? 0 : 1;
}
