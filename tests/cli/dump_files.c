/* Tests lift2k dump --format raw of pictures: its files must hold what the transform in the library's header produces.
 * Argument: the command. */
#include "api_support.h"

#include <unistd.h>

enum { WIDTH = 83, HEIGHT = 61, COUNT = 3, TILE_WIDTH = 50, TILE_HEIGHT = 40, X0 = 7, Y0 = 3, LEVELS = 2 };

static const char *command;
static char folder[64];
static uint8_t pixels[HEIGHT][WIDTH][COUNT];

static void write_ppm(void)
{
    char name[96];
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i / COUNT / WIDTH][i / COUNT % WIDTH][i % COUNT] = (uint8_t)(random_below(60) + i / 80);
    snprintf(name, sizeof name, "%s/x.ppm", folder);
    FILE *out = fopen(name, "wb");
    assert_non_null(out);
    fprintf(out, "P6\n%d %d\n255\n", WIDTH, HEIGHT);
    assert_int_equal(fwrite(pixels, 1, sizeof pixels, out), sizeof pixels);
    assert_int_equal(fclose(out), 0);
}

static void run_command(const char *options)
{
    char line[400];
    snprintf(line, sizeof line, "rm -rf %s/d && '%s' dump %s/x.ppm %s/d --format raw --quiet %s", folder, command,
             folder, folder, options);
    assert_int_equal(system(line), 0);
}

static int32_t little_endian(const uint8_t *at)
{
    return (int32_t)(at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24);
}

static void expect_band(const l2k_transform *transform, uint32_t tile, uint32_t c, uint32_t b)
{
    static const char *const names[] = {"LL", "HL", "LH", "HH"};
    static uint8_t bytes[4 * WIDTH * HEIGHT + 1];
    char name[128];
    l2k_subband_info info;
    const l2k_coefficients *view = l2k_transform_coefficients(transform, c);
    const l2k_band_view *band = &view->bands[b];
    assert_int_equal(l2k_transform_subband(transform, c, b, &info), L2K_OK);
    snprintf(name, sizeof name, "%s/d/t%u_c%u_b%02u_%s%u.raw", folder, tile, c, b, names[info.orientation], info.level);
    FILE *in = fopen(name, "rb");
    if (!in)
        fail_msg("%s is missing", name);
    assert_int_equal(fread(bytes, 1, sizeof bytes, in), (size_t)band->width * band->height * 4);
    fclose(in);
    for (uint32_t y = 0; y < band->height; y++)
        for (uint32_t x = 0; x < band->width; x++)
            assert_int_equal(little_endian(bytes + 4 * ((size_t)y * band->width + x)),
                             ((const int32_t *)view->base)[(band->y + y) * view->stride + band->x + x]);
}

static void expect_tile(l2k_transform *transform, l2k_image area, uint32_t index)
{
    l2k_plane planes[COUNT];
    for (uint32_t c = 0; c < COUNT; c++)
        planes[c] = (l2k_plane){&pixels[area.y0 - Y0][area.x0 - X0][c], sizeof pixels[0], COUNT, L2K_SAMPLE_U8};
    assert_int_equal(l2k_transform_prepare(transform, &area), L2K_OK);
    assert_int_equal(l2k_transform_forward(transform, planes), L2K_OK);
    for (uint32_t c = 0; c < COUNT; c++)
        for (uint32_t b = 0; b <= 3 * LEVELS; b++)
            expect_band(transform, index, c, b);
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void check(l2k_wavelet wavelet, bool together, const char *options)
{
    l2k_component components[COUNT];
    for (uint32_t c = 0; c < COUNT; c++)
        components[c] = (l2k_component){.dx = 1, .dy = 1, .precision = 8};
    l2k_transform *transform = l2k_transform_new(NULL);
    l2k_transform_set(transform, L2K_TRANSFORM_WAVELET, wavelet);
    l2k_transform_set(transform, L2K_TRANSFORM_LEVELS, LEVELS);
    l2k_transform_set(transform, L2K_TRANSFORM_COMPONENT_TRANSFORM, together);
    run_command(options);
    for (uint32_t index = 0; index < 4; index++) {
        uint32_t x = index % 2 * TILE_WIDTH, y = index / 2 * TILE_HEIGHT;
        l2k_image area = {.num_components = COUNT, .components = components};
        area.x0 = x ? x : X0;
        area.y0 = y ? y : Y0;
        area.x1 = least(x + TILE_WIDTH, X0 + WIDTH);
        area.y1 = least(y + TILE_HEIGHT, Y0 + HEIGHT);
        expect_tile(transform, area, index);
    }
    l2k_transform_free(transform);
}

static void test_values(void **unused)
{
    (void)unused;
    write_ppm();
    check(L2K_WAVELET_5_3, true, "--levels 2 -t 50,40 -d 7,3");
    check(L2K_WAVELET_9_7, true, "--levels 2 -t 50,40 -d 7,3 -I");
    check(L2K_WAVELET_9_7, false, "--levels 2 -t 50,40 -d 7,3 -I --no-mct");
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values)};
    if (count != 2)
        return 2;
    command = arguments[1];
    strcpy(folder, "/tmp/lift2k-dump-XXXXXX");
    if (!mkdtemp(folder))
        return 2;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char line[200];
    snprintf(line, sizeof line, "rm -rf %s", folder);
    return system(line) == 0 ? failed : 2;
}
