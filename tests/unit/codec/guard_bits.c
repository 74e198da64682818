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

/* ---- One of several tiles ---------------------------------------------------------------------------------------- */

enum { ACROSS = 4, DOWN = 2, PITCH = 3 * SIZE * ACROSS };

/* Strong colours in the third tile of the second row, mid-gray elsewhere. */
static uint8_t *draw_tiles(void)
{
    uint8_t *strong = malloc(3 * SIZE * SIZE), *pixels = malloc((size_t)PITCH * SIZE * DOWN);
    assert_non_null(strong);
    assert_non_null(pixels);
    memset(pixels, 128, (size_t)PITCH * SIZE * DOWN);
    strong_colours_draw(strong);
    for (size_t y = 0; y < SIZE; y++)
        memcpy(pixels + (SIZE + y) * PITCH + 3 * SIZE * 2, strong + y * 3 * SIZE, 3 * SIZE);
    free(strong);
    return pixels;
}

static void set_rows(uint8_t *pixels, uint32_t y, l2k_plane planes[3])
{
    for (int c = 0; c < 3; c++)
        planes[c] = (l2k_plane){pixels + (size_t)y * PITCH + c, PITCH, 3, L2K_SAMPLE_U8};
}

static memory_file encode_tiles(uint8_t *pixels, int style, int threads, bool by_rows)
{
    l2k_component components[3];
    l2k_plane planes[3];
    memory_file file = memory_of(NULL, 0);
    l2k_stream out = stream_of(&file);
    uint32_t y0, y1;
    for (int c = 0; c < 3; c++)
        components[c] = (l2k_component){.dx = 1, .dy = 1, .precision = 8};
    l2k_image image = {.x1 = SIZE * ACROSS, .y1 = SIZE * DOWN, .num_components = 3, .components = components};
    l2k_encoder *encoder = l2k_encoder_new(NULL);
    const int64_t settings[][2] = {{L2K_ENCODER_TILE_WIDTH, SIZE},
                                   {L2K_ENCODER_TILE_HEIGHT, SIZE},
                                   {L2K_ENCODER_THREADS, threads},
                                   {L2K_ENCODER_STYLE, style},
                                   {L2K_ENCODER_BACKEND, L2K_BACKEND_CPU}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        assert_int_equal(l2k_encoder_set(encoder, (l2k_encoder_option)settings[i][0], settings[i][1]), L2K_OK);
    set_rows(pixels, 0, planes);
    if (!by_rows)
        assert_int_equal(l2k_encoder_encode(encoder, &image, planes, &out), L2K_OK);
    else
        assert_int_equal(l2k_encoder_begin(encoder, &image, &out), L2K_OK);
    while (by_rows && l2k_encoder_next_rows(encoder, &y0, &y1) == L2K_OK && y0 < y1) {
        set_rows(pixels, y0, planes);
        assert_int_equal(l2k_encoder_put_rows(encoder, planes), L2K_OK);
    }
    if (by_rows)
        assert_int_equal(l2k_encoder_end(encoder), L2K_OK);
    l2k_encoder_free(encoder);
    return file;
}

static void check_lossless(memory_file *file, const uint8_t *pixels)
{
    l2k_plane planes[3];
    uint8_t *back = malloc((size_t)PITCH * SIZE * DOWN);
    l2k_decoder *decoder = l2k_decoder_new(NULL);
    l2k_stream in = stream_of(file);
    assert_non_null(back);
    set_rows(back, 0, planes);
    assert_int_equal(l2k_decoder_open(decoder, &in), L2K_OK);
    assert_int_equal(l2k_decoder_decode(decoder, planes), L2K_OK);
    assert_memory_equal(pixels, back, (size_t)PITCH * SIZE * DOWN);
    l2k_decoder_free(decoder);
    free(back);
}

/* Tiles that threads take whole are packed before it is known that another one needs the bit. */
static void test_one_of_several_tiles(void **unused)
{
    (void)unused;
    uint8_t *pixels = draw_tiles();
    for (int ht = 0; ht < 2; ht++)
        for (int by_rows = 0; by_rows < 2; by_rows++) {
            memory_file one = encode_tiles(pixels, ht ? L2K_STYLE_HT : 0, 1, by_rows),
                        two = encode_tiles(pixels, ht ? L2K_STYLE_HT : 0, 2, by_rows);
            assert_int_equal(one.size, two.size);
            assert_memory_equal(one.data, two.data, one.size);
            check_lossless(&two, pixels);
            free(one.data);
            free(two.data);
        }
    free(pixels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_third_guard_bit),
                                       cmocka_unit_test(test_one_of_several_tiles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
