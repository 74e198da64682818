/* subbands: the transform stage of liblift2k alone. Generates a picture, transforms it with the 9/7 wavelet, and prints
 * position, size, quantiser step and energy of each subband. A block coder of your own would start here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lift2k/lift2k.h>

enum { WIDTH = 640, HEIGHT = 427, LEVELS = 3 };

static void print_text(void *user, l2k_severity severity, const char *text)
{
    (void)user;
    (void)severity;
    fprintf(stderr, "subbands: %s\n", text);
}

/* Mean square of the quantised coefficients of a subband, in units of samples. */
static double energy(const l2k_coefficients *view, const l2k_band_view *band, double step)
{
    double sum = 0;
    for (uint32_t y = 0; y < band->height; y++) {
        const int32_t *row = (const int32_t *)view->base + (band->y + y) * view->stride + band->x;
        for (uint32_t x = 0; x < band->width; x++)
            sum += (row[x] * step) * (row[x] * step);
    }
    return sum / ((double)band->width * band->height);
}

static void print_bands(const l2k_transform *transform)
{
    static const char *const names[] = {"LL", "HL", "LH", "HH"};
    const l2k_coefficients *view = l2k_transform_coefficients(transform, 0);
    printf("band       at        size     step  bits      energy\n");
    for (uint32_t b = 0; b < view->num_bands; b++) {
        const l2k_band_view *band = &view->bands[b];
        l2k_subband_info info;
        if (l2k_transform_subband(transform, 0, b, &info) != L2K_OK)
            exit(1);
        printf("%s%u  %4u,%-4u  %4u x %-4u  %7.4f  %4u  %10.2f\n", names[info.orientation], (unsigned)info.level,
               (unsigned)band->x, (unsigned)band->y, (unsigned)band->width, (unsigned)band->height, info.step_size,
               (unsigned)info.magnitude_bits, energy(view, band, info.step_size));
    }
}

int main(void)
{
    static uint8_t pixels[HEIGHT][WIDTH];
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            pixels[y][x] = (uint8_t)((x * x / 64 + y * y / 32) ^ (x & y));
    l2k_component component;
    l2k_image tile;
    memset(&component, 0, sizeof component);
    memset(&tile, 0, sizeof tile);
    component.dx = component.dy = 1;
    component.precision = 8;
    tile.x1 = WIDTH;
    tile.y1 = HEIGHT;
    tile.num_components = 1;
    tile.components = &component;
    l2k_plane plane = {pixels, sizeof pixels[0], 1, L2K_SAMPLE_U8};

    l2k_hooks hooks = {NULL, NULL, print_text, NULL, NULL};
    l2k_transform *transform = l2k_transform_new(&hooks);
    if (!transform || l2k_transform_set(transform, L2K_TRANSFORM_WAVELET, L2K_WAVELET_9_7) != L2K_OK ||
        l2k_transform_set(transform, L2K_TRANSFORM_LEVELS, LEVELS) != L2K_OK ||
        l2k_transform_prepare(transform, &tile) != L2K_OK || l2k_transform_forward(transform, &plane) != L2K_OK)
        return 1;
    print_bands(transform);
    l2k_transform_free(transform);
    return 0;
}
