/* encode_rows [OUT.jp2 [WIDTH HEIGHT]]: encodes an image that is never in memory as a whole. A map is computed one row
 * of tiles at a time, and each is written before the next. Without arguments: map.jp2, 3000 x 2000. */
#define _POSIX_C_SOURCE 200809L /* fseeko: offsets beyond the range of long */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lift2k/lift2k.h>

enum { TILE = 512, COLOURS = 3 };

static void print_message(void *user, l2k_severity severity, const char *text)
{
    (void)user;
    (void)severity;
    fprintf(stderr, "encode_rows: %s\n", text);
}

static int write_file(void *user, const void *buffer, size_t bytes)
{
    return fwrite(buffer, 1, bytes, (FILE *)user) == bytes ? 0 : -1;
}

/* The lengths of the tiles precede them in the file, but are known only at the end. */
static int rewrite_file(void *user, uint64_t offset, const void *buffer, size_t bytes)
{
    FILE *file = (FILE *)user;
    if (fseeko(file, (off_t)offset, SEEK_SET) != 0 || fwrite(buffer, 1, bytes, file) != bytes)
        return -1;
    return fseeko(file, 0, SEEK_END);
}

/* Stands for a scanner, a renderer, a file that is read by rows: RGB pixels of rows [y0, y1). */
static void compute_rows(uint8_t *pixels, uint32_t width, uint32_t y0, uint32_t y1)
{
    for (uint32_t y = y0; y < y1; y++)
        for (uint32_t x = 0; x < width; x++) {
            *pixels++ = (uint8_t)(x / 16);
            *pixels++ = (uint8_t)(y / 16);
            *pixels++ = (uint8_t)((x * x + y * y) >> 14);
        }
}

static l2k_status set_options(l2k_encoder *encoder)
{
    static const int64_t options[][2] = {{L2K_ENCODER_TILE_WIDTH, TILE},
                                         {L2K_ENCODER_TILE_HEIGHT, TILE},
                                         {L2K_ENCODER_PROGRESSION, L2K_RPCL},
                                         {L2K_ENCODER_TLM, 1}};
    l2k_status status = L2K_OK;
    for (size_t i = 0; i < sizeof options / sizeof *options && status == L2K_OK; i++)
        status = l2k_encoder_set(encoder, (l2k_encoder_option)options[i][0], options[i][1]);
    return status;
}

static l2k_status encode(l2k_encoder *encoder, const l2k_image *image, uint8_t *pixels, const l2k_stream *stream)
{
    l2k_plane planes[COLOURS];
    for (int c = 0; c < COLOURS; c++) {
        l2k_plane plane = {pixels + c, (ptrdiff_t)image->x1 * COLOURS, COLOURS, L2K_SAMPLE_U8};
        planes[c] = plane;
    }
    l2k_status status = l2k_encoder_begin(encoder, image, stream);
    while (status == L2K_OK) {
        uint32_t y0, y1;
        status = l2k_encoder_next_rows(encoder, &y0, &y1);
        if (status != L2K_OK || y0 == y1)
            break;
        compute_rows(pixels, image->x1, y0, y1);
        status = l2k_encoder_put_rows(encoder, planes);
    }
    return status == L2K_OK ? l2k_encoder_end(encoder) : status;
}

static l2k_image describe(uint32_t width, uint32_t height, l2k_component components[COLOURS])
{
    l2k_image image;
    memset(&image, 0, sizeof image);
    memset(components, 0, COLOURS * sizeof *components);
    image.x1 = width;
    image.y1 = height;
    image.num_components = COLOURS;
    image.components = components;
    image.colour = L2K_COLOUR_SRGB;
    for (uint32_t c = 0; c < COLOURS; c++) {
        components[c].dx = components[c].dy = 1;
        components[c].precision = 8;
        components[c].association = c + 1;
    }
    return image;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "map.jp2";
    unsigned long width = argc > 3 ? strtoul(argv[2], NULL, 10) : 3000,
                  height = argc > 3 ? strtoul(argv[3], NULL, 10) : 2000;
    l2k_component components[COLOURS];
    l2k_image image = describe((uint32_t)width, (uint32_t)height, components);
    l2k_hooks hooks = {NULL, NULL, print_message, NULL, NULL};
    FILE *file = fopen(name, "wb");
    l2k_stream stream = {NULL, write_file, rewrite_file, file};
    l2k_encoder *encoder = l2k_encoder_new(&hooks);
    uint8_t *pixels = (uint8_t *)malloc((size_t)width * TILE * COLOURS);
    if (!file || !encoder || !pixels) {
        perror(name);
        return 1;
    }
    l2k_status status = set_options(encoder);
    if (status == L2K_OK)
        status = encode(encoder, &image, pixels, &stream);
    if (fclose(file) != 0 && status == L2K_OK)
        status = L2K_ERROR_IO;
    l2k_encoder_free(encoder);
    free(pixels);
    if (status != L2K_OK)
        return 1; /* print_message has printed the reason; the file is incomplete */
    printf("%s: %lu x %lu, of which at most %lu x %d were in memory\n", name, width, height, width, TILE);
    return 0;
}
