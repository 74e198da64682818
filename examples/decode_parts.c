/* decode_parts IN.jp2 > OUT.ppm: decodes a picture one row of tiles after another, in the memory of one row. The file
 * is mapped, and the library reads only what it needs. Gray or RGB, unsigned, up to 16 bits. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lift2k/lift2k.h>

static void print_message(void *user, l2k_severity severity, const char *text)
{
    fprintf(stderr, "decode_parts: %s: %s%s\n", (const char *)user,
            severity == L2K_SEVERITY_ERROR ? "" : "note: ", text);
}

static const void *map_file(const char *name, size_t *bytes)
{
    struct stat facts;
    int file = open(name, O_RDONLY);
    void *data = MAP_FAILED;
    if (file >= 0 && fstat(file, &facts) == 0)
        data = mmap(NULL, *bytes = (size_t)facts.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (file >= 0)
        close(file);
    if (data == MAP_FAILED) {
        perror(name);
        exit(1);
    }
    return data;
}

/* Whether PGM or PPM can hold the image; colours are not converted. */
static bool suits(const l2k_image *image)
{
    const l2k_component *first = image->components;
    bool alike = image->num_components == 1 || image->num_components == 3;
    for (uint32_t c = 0; alike && c < image->num_components; c++) {
        const l2k_component *component = &image->components[c];
        alike = component->dx == 1 && component->dy == 1 && component->precision == first->precision &&
                component->precision <= 16 && !component->is_signed;
    }
    return alike;
}

/* PGM and PPM store the high byte first. */
static void swap_bytes(uint8_t *samples, size_t bytes)
{
    const uint16_t one = 1;
    if (*(const uint8_t *)&one == 0)
        return;
    for (size_t i = 0; i + 1 < bytes; i += 2) {
        uint8_t low = samples[i];
        samples[i] = samples[i + 1];
        samples[i + 1] = low;
    }
}

/* `samples` has room for the rows [y0, y1) of the image. */
static l2k_status decode_rows(l2k_decoder *decoder, const l2k_image *image, uint32_t y0, uint32_t y1, uint8_t *samples)
{
    l2k_plane planes[3];
    size_t sample = image->components[0].precision > 8 ? 2 : 1, pixel = sample * image->num_components;
    size_t width = image->x1 - image->x0, bytes = (y1 - y0) * width * pixel;
    for (uint32_t c = 0; c < image->num_components; c++) {
        planes[c].data = samples + c * sample;
        planes[c].row_stride = (ptrdiff_t)(width * pixel);
        planes[c].sample_stride = (ptrdiff_t)pixel;
        planes[c].type = sample == 2 ? L2K_SAMPLE_U16 : L2K_SAMPLE_U8;
    }
    l2k_status status = l2k_decoder_set_region(decoder, image->x0, y0, image->x1, y1);
    if (status == L2K_OK)
        status = l2k_decoder_decode(decoder, planes);
    if (status != L2K_OK && status != L2K_INCOMPLETE)
        return status;
    if (sample == 2)
        swap_bytes(samples, bytes);
    return fwrite(samples, 1, bytes, stdout) == bytes ? status : L2K_ERROR_IO;
}

static l2k_status decode_all(l2k_decoder *decoder, const l2k_image *image, const l2k_info *info)
{
    size_t row = (size_t)(image->x1 - image->x0) * image->num_components * (image->components[0].precision > 8 ? 2 : 1);
    uint64_t below = info->tile_y0; /* the last row of tiles may end beyond 32 bits */
    uint8_t *samples = NULL;
    l2k_status status = L2K_OK;
    printf("P%d\n%u %u\n%u\n", image->num_components == 1 ? 5 : 6, (unsigned)(image->x1 - image->x0),
           (unsigned)(image->y1 - image->y0), (1u << image->components[0].precision) - 1);
    for (uint32_t y0 = image->y0, y1; y0 < image->y1 && (status == L2K_OK || status == L2K_INCOMPLETE); y0 = y1) {
        below += info->tile_height;
        y1 = below < image->y1 ? (uint32_t)below : image->y1;
        if (!samples && !(samples = (uint8_t *)malloc(row * info->tile_height)))
            return L2K_ERROR_MEMORY;
        l2k_status part = decode_rows(decoder, image, y0, y1, samples);
        status = part == L2K_OK ? status : part;
    }
    free(samples);
    return status;
}

int main(int argc, char **argv)
{
    l2k_info info;
    l2k_image image;
    size_t bytes = 0;
    if (argc != 2)
        return printf("usage: decode_parts IN.jp2 > OUT.ppm\n") < 0;
    const void *data = map_file(argv[1], &bytes);
    l2k_hooks hooks = {NULL, NULL, print_message, NULL, argv[1]};
    l2k_decoder *decoder = l2k_decoder_new(&hooks);
    if (!decoder || l2k_decoder_open_memory(decoder, data, bytes) != L2K_OK ||
        l2k_decoder_info(decoder, &info) != L2K_OK || l2k_decoder_image(decoder, &image) != L2K_OK)
        return 1;
    if (!suits(&image)) {
        fprintf(stderr, "decode_parts: %s: not a gray or RGB picture of unsigned samples to 16 bits\n", argv[1]);
        return 1;
    }
    l2k_status status = decode_all(decoder, &info.image, &info);
    l2k_decoder_free(decoder);
    if (status != L2K_OK)
        fprintf(stderr, "decode_parts: %s: %s\n", argv[1], l2k_strerror(status));
    return status == L2K_OK ? 0 : status == L2K_INCOMPLETE ? 3 : 1;
}
