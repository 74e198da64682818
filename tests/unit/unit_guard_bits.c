/* Colours so strong that the chroma of RCT needs more than two guard bits: the encoder has to write a third and stay
 * lossless. */
#include "api_support.h"

enum { SIZE = 512, PITCH = 128, LEVELS = 5, TAPS = 4 * 31 + 1 };

/* The low-pass analysis filter of five levels of 5/3: the filter of each level, upsampled by two and convolved with the
 * others. */
static void composite_filter(double taps[TAPS])
{
    static const double one[5] = {-1 / 8., 2 / 8., 6 / 8., 2 / 8., -1 / 8.};
    double from[TAPS] = {1};
    int length = 1;
    for (int level = 0; level < LEVELS; level++) {
        double to[TAPS] = {0};
        for (int i = 0; i < length; i++)
            for (int k = 0; k < 5; k++)
                to[i + (k << level)] += from[i] * one[k];
        length += 4 << level;
        memcpy(from, to, sizeof from);
    }
    memcpy(taps, from, sizeof from);
}

/* Blue where the filter is positive, green where it is negative, around every crossing of a grid, so that U = B - G
 * adds up. */
static void draw(uint8_t *pixels)
{
    double taps[TAPS];
    composite_filter(taps);
    for (int y = 0; y < SIZE; y++)
        for (int x = 0; x < SIZE; x++) {
            int i = x % PITCH - PITCH / 2 + TAPS / 2, k = y % PITCH - PITCH / 2 + TAPS / 2;
            double value = i >= 0 && i < TAPS && k >= 0 && k < TAPS ? taps[i] * taps[k] : 0;
            uint8_t *pixel = pixels + 3 * (y * SIZE + x);
            pixel[0] = 0;
            pixel[1] = value >= 0 ? 0 : 255;
            pixel[2] = value >= 0 ? 255 : 0;
        }
}

static void set_planes(uint8_t *pixels, l2k_plane planes[3])
{
    for (int c = 0; c < 3; c++)
        planes[c] = (l2k_plane){pixels + c, 3 * SIZE, 3, L2K_SAMPLE_U8};
}

static void test_third_guard_bit(void **unused)
{
    (void)unused;
    uint8_t *pixels = malloc(3 * SIZE * SIZE), *back = malloc(3 * SIZE * SIZE);
    l2k_component components[3];
    l2k_plane planes[3];
    memory_file file = memory_of(NULL, 0);
    l2k_info info;
    assert_non_null(pixels);
    assert_non_null(back);
    draw(pixels);
    for (int c = 0; c < 3; c++)
        components[c] = (l2k_component){.dx = 1, .dy = 1, .precision = 8};
    l2k_image image = {.x1 = SIZE, .y1 = SIZE, .num_components = 3, .components = components};
    l2k_encoder *encoder = l2k_encoder_new(NULL);
    set_planes(pixels, planes);
    l2k_stream out = stream_of(&file);
    assert_int_equal(l2k_encoder_encode(encoder, &image, planes, &out), L2K_OK);
    l2k_encoder_free(encoder);

    l2k_decoder *decoder = l2k_decoder_new(NULL);
    l2k_stream in = stream_of(&file);
    assert_int_equal(l2k_decoder_open(decoder, &in), L2K_OK);
    assert_int_equal(l2k_decoder_info(decoder, &info), L2K_OK);
    assert_int_equal(info.guard_bits, 3);
    set_planes(back, planes);
    assert_int_equal(l2k_decoder_decode(decoder, planes), L2K_OK);
    assert_memory_equal(pixels, back, 3 * SIZE * SIZE);
    l2k_decoder_free(decoder);
    free(file.data);
    free(pixels);
    free(back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_third_guard_bit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
