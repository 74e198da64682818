/* coefficients IN.jp2: counts the coefficients of each subband that are 0 in a JPEG 2000 file, tile by tile, without an
 * inverse transform: the start of a program that analyses, indexes or recodes files. */
#include <stdio.h>
#include <stdlib.h>

#include <lift2k/lift2k.h>

static ptrdiff_t read_file(void *user, void *buffer, size_t bytes)
{
    size_t got = fread(buffer, 1, bytes, (FILE *)user);
    return ferror((FILE *)user) ? -1 : (ptrdiff_t)got;
}

static void print_message(void *user, l2k_severity severity, const char *text)
{
    (void)severity;
    fprintf(stderr, "coefficients: %s: %s\n", (const char *)user, text);
}

typedef struct tally {
    uint64_t zeros[L2K_MAX_SUBBANDS], all[L2K_MAX_SUBBANDS];
    unsigned bands, levels;
} tally;

/* The view belongs to the library and is valid only during this call. */
static l2k_status count(void *user, const l2k_tile_coefficients *part)
{
    tally *t = (tally *)user;
    const l2k_coefficients *view = part->view;
    for (uint32_t b = 0; b < view->num_bands; b++) {
        const l2k_band_view *band = &view->bands[b];
        for (uint32_t y = 0; y < band->height; y++) {
            const int32_t *row = (const int32_t *)view->base + (band->y + y) * view->stride + band->x;
            for (uint32_t x = 0; x < band->width; x++)
                t->zeros[b] += row[x] == 0;
        }
        t->all[b] += (uint64_t)band->width * band->height;
    }
    t->bands = view->num_bands > t->bands ? view->num_bands : t->bands;
    t->levels = part->levels > t->levels ? part->levels : t->levels;
    return L2K_OK;
}

static void print_tally(const tally *t)
{
    static const char *const names[] = {"LL", "HL", "LH", "HH"};
    for (unsigned b = 0; b < t->bands; b++)
        printf("%s%u  %8llu of %8llu are 0\n", names[l2k_band_orientation(b)],
               l2k_band_level(t->levels, l2k_band_resolution(b)), (unsigned long long)t->zeros[b],
               (unsigned long long)t->all[b]);
}

int main(int argc, char **argv)
{
    static tally counted;
    l2k_info info;
    if (argc != 2)
        return printf("usage: coefficients IN.jp2\n") < 0;
    FILE *file = fopen(argv[1], "rb");
    if (!file) {
        perror(argv[1]);
        return 1;
    }
    l2k_hooks hooks = {NULL, NULL, print_message, NULL, argv[1]};
    l2k_stream stream = {read_file, NULL, NULL, file};
    l2k_decoder *decoder = l2k_decoder_new(&hooks);
    l2k_status status = decoder ? l2k_decoder_open(decoder, &stream) : L2K_ERROR_MEMORY;
    fclose(file);
    if (status == L2K_OK)
        status = l2k_decoder_info(decoder, &info);
    for (uint32_t t = 0; status == L2K_OK && t < info.tiles_across * info.tiles_down; t++)
        status = l2k_decoder_coefficients(decoder, t, count, &counted);
    l2k_decoder_free(decoder);
    if (status != L2K_OK)
        return 1;
    print_tally(&counted);
    return 0;
}
