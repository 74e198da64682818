/* windows FILE [SIDE]: looks at a picture through a window of SIDE x SIDE samples (256) that moves across its middle,
 * and prints the cost of each look. The library reads only the parts of the file that it needs. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lift2k/lift2k.h>

/* All of the bytes, or -1. */
static int read_at(void *user, uint64_t offset, void *buffer, size_t bytes)
{
    char *at = (char *)buffer;
    for (ssize_t got; bytes > 0; at += got, offset += (uint64_t)got, bytes -= (size_t)got) {
        got = pread(*(const int *)user, at, bytes, (off_t)offset);
        if (got <= 0)
            return -1;
    }
    return 0;
}

static void print_message(void *user, l2k_severity severity, const char *text)
{
    (void)severity;
    fprintf(stderr, "windows: %s: %s\n", (const char *)user, text);
}

/* Decodes the window, in the smallest sample type: the samples of component c begin at planes[c].data. */
static l2k_status look(l2k_decoder *decoder, uint32_t x, uint32_t y, uint32_t side)
{
    l2k_image image;
    l2k_plane planes[4];
    l2k_status status = l2k_decoder_set_region(decoder, x, y, x + side, y + side);
    if (status == L2K_OK)
        status = l2k_decoder_image(decoder, &image);
    if (status != L2K_OK || image.num_components > 4)
        return status == L2K_OK ? L2K_ERROR_UNSUPPORTED : status;
    for (uint32_t c = 0; c < image.num_components; c++) {
        const l2k_component *component = &image.components[c];
        const ptrdiff_t sample = component->precision <= 8 ? 1 : component->precision <= 16 ? 2 : 4;
        planes[c].sample_stride = sample;
        planes[c].row_stride = sample * (ptrdiff_t)component->width;
        planes[c].type = sample == 1   ? (component->is_signed ? L2K_SAMPLE_S8 : L2K_SAMPLE_U8)
                         : sample == 2 ? (component->is_signed ? L2K_SAMPLE_S16 : L2K_SAMPLE_U16)
                                       : L2K_SAMPLE_S32;
        planes[c].data = malloc((size_t)planes[c].row_stride * component->height);
        status = planes[c].data ? status : L2K_ERROR_MEMORY;
    }
    if (status == L2K_OK)
        status = l2k_decoder_decode(decoder, planes);
    for (uint32_t c = 0; c < image.num_components; c++)
        free(planes[c].data);
    return status;
}

static l2k_status look_around(l2k_decoder *decoder, uint32_t side)
{
    uint64_t bytes, calls, before;
    l2k_image image;
    l2k_status status = l2k_decoder_image(decoder, &image);
    if (status != L2K_OK)
        return status;
    l2k_decoder_read_count(decoder, &before, &calls);
    printf("opened: %llu bytes read in %llu calls\n", (unsigned long long)before, (unsigned long long)calls);
    uint32_t x = image.x0, y = image.y0 + (image.y1 - image.y0) / 2;
    for (int i = 0; i < 4 && x < image.x1 && (status == L2K_OK || status == L2K_INCOMPLETE); i++, x += side / 4) {
        status = look(decoder, x, y, side);
        l2k_decoder_read_count(decoder, &bytes, &calls);
        printf("window at %u,%u: %llu bytes more\n", (unsigned)x, (unsigned)y, (unsigned long long)(bytes - before));
        before = bytes;
    }
    return status;
}

int main(int argc, char **argv)
{
    struct stat facts;
    if (argc < 2)
        return printf("usage: windows FILE [SIDE]\n") < 0;
    int descriptor = open(argv[1], O_RDONLY);
    if (descriptor < 0 || fstat(descriptor, &facts) != 0) {
        perror(argv[1]);
        return 1;
    }
    l2k_hooks hooks = {NULL, NULL, print_message, NULL, argv[1]};
    l2k_file file = {(uint64_t)facts.st_size, read_at, &descriptor};
    l2k_decoder *decoder = l2k_decoder_new(&hooks);
    if (!decoder || l2k_decoder_set(decoder, L2K_DECODER_CACHE_BYTES, 64 << 20) != L2K_OK ||
        l2k_decoder_open_file(decoder, &file) != L2K_OK)
        return 1;
    l2k_status status = look_around(decoder, argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 256);
    l2k_decoder_free(decoder);
    close(descriptor);
    return status == L2K_OK ? 0 : status == L2K_INCOMPLETE ? 3 : 1;
}
