/* Colours so strong that the chroma of RCT needs more than two guard bits: the encoder has to write a third and stay
 * lossless. */
#include "api_support.h"
#include "strong_colours.h"

enum { SIZE = STRONG_SIDE };

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
    strong_colours_draw(pixels);
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
