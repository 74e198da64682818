/* Codestreams with lifting kernels (ATK): what they are encoded with comes back, whole, reduced and in parts; random
 * kernels; what a decoder keeps for the next file with other kernels. */
#include "api_support.h"
#include "dwt/kernel.h"

enum { WIDTH = 97, HEIGHT = 83 };

static void encode(picture *p, l2k_wavelet wavelet, const char *text, unsigned style, memory_file *file)
{
    l2k_encoder *e = l2k_encoder_new(NULL);
    assert_int_equal(text ? l2k_encoder_set_kernel(e, text) : l2k_encoder_set(e, L2K_ENCODER_WAVELET, wavelet), L2K_OK);
    assert_int_equal(l2k_encoder_set(e, L2K_ENCODER_STYLE, style), L2K_OK);
    assert_int_equal(l2k_encoder_set(e, L2K_ENCODER_TILE_WIDTH, random_below(2) ? 41 : 0), L2K_OK);
    assert_int_equal(l2k_encoder_set(e, L2K_ENCODER_TILE_HEIGHT, random_below(2) ? 37 : 0), L2K_OK);
    assert_int_equal(run_encoder(e, p, file), L2K_OK);
    l2k_encoder_free(e);
}

static void check_lossless(const memory_file *file, const picture *p)
{
    picture back;
    assert_int_equal(decode_bytes(NULL, file->data, file->size, &back), L2K_OK);
    assert_true(picture_equal(p, &back));
    picture_free(&back);
}

/* The description in the file is the kernel. */
static void check_description(const memory_file *file, const l2k_kernel *kernel)
{
    static char text[8192];
    size_t length;
    l2k_kernel found;
    const l2k_context context = {0};
    l2k_decoder *d = new_decoder(NULL, 1);
    assert_int_equal(l2k_decoder_open_memory(d, file->data, file->size), L2K_OK);
    assert_int_equal(l2k_decoder_kernel(d, 0, text, sizeof text, &length), L2K_OK);
    assert_int_equal(length, strlen(text));
    assert_int_equal(l2k_kernel_parse(&context, text, &found), L2K_OK);
    assert_true(l2k_kernel_equals(kernel, &found));
    assert_int_equal(l2k_decoder_kernel(d, 99, text, sizeof text, &length), L2K_ERROR_ARGUMENT);
    l2k_decoder_free(d);
}

static void test_named(void **unused)
{
    (void)unused;
    for (int w = L2K_WAVELET_HAAR; w <= L2K_WAVELET_FIDELITY; w++)
        for (unsigned turn = 0; turn < 4; turn++) {
            picture p;
            memory_file file = memory_of(NULL, 0);
            picture_make(&p, WIDTH, HEIGHT, turn & 1 ? 3 : 1);
            encode(&p, (l2k_wavelet)w, NULL, turn & 2 ? L2K_STYLE_HT : 0, &file);
            check_lossless(&file, &p);
            check_description(&file, &l2k_wavelet_get((l2k_wavelet)w)->kernel);
            free(file.data);
            picture_free(&p);
        }
}

/* Any reversible kernel whose numbers stay small. */
static l2k_kernel random_kernel(void)
{
    l2k_kernel kernel = {.reversible = true, .mirrors = random_below(2), .num_steps = (uint8_t)random_between(1, 3)};
    bool high = random_below(2);
    kernel.scale = 1;
    for (unsigned s = 0; s < kernel.num_steps; s++, high = !high) {
        l2k_kernel_step *step = &kernel.steps[s];
        *step = (l2k_kernel_step){.high = high, .num_taps = (uint8_t)random_between(1, 4), .shift = 4};
        step->offset = (int8_t)((int)random_below(3) - step->num_taps / 2);
        step->rounding = (int16_t)((int)random_below(32) - 16);
        for (unsigned k = 0; k < step->num_taps; k++)
            step->taps[k] = (float)random_below(8) - 4.0f;
    }
    return kernel;
}

static unsigned two_bytes(const uint8_t *at)
{
    return (unsigned)at[0] << 8 | at[1];
}

/* Gives the ATK another index, and COD with it. */
static void set_index(memory_file *file, uint8_t index)
{
    uint8_t *at = file->data;
    while (two_bytes(at) != 0xFF4F)
        at++;
    for (at += 2; two_bytes(at) != 0xFF90; at += 2 + two_bytes(at + 2)) {
        if (two_bytes(at) == 0xFF79)
            at[5] = index;
        if (two_bytes(at) == 0xFF52)
            at[13] = index;
    }
}

/* One decoder for all of them: nothing of the file before is taken for the next one. */
static void test_random(void **unused)
{
    static char text[8192];
    (void)unused;
    l2k_decoder *d = new_decoder(NULL, 1);
    picture p;
    picture_make(&p, WIDTH, HEIGHT, 1);
    for (unsigned turn = 0; turn < 60; turn++) {
        memory_file file = memory_of(NULL, 0);
        const l2k_kernel kernel = random_kernel();
        l2k_kernel_print(&kernel, text, sizeof text);
        encode(&p, 0, text, turn % 2 ? L2K_STYLE_HT : 0, &file);
        if (turn % 3)
            set_index(&file, (uint8_t)random_between(2, 255));
        check_description(&file, &kernel);
        static int32_t samples[WIDTH * HEIGHT];
        const l2k_plane plane = {samples, WIDTH * sizeof *samples, sizeof *samples, L2K_SAMPLE_S32};
        assert_int_equal(l2k_decoder_open_memory(d, file.data, file.size), L2K_OK);
        assert_int_equal(l2k_decoder_decode(d, &plane), L2K_OK);
        assert_true(plane_equals_component(&plane, &p, 0));
        free(file.data);
    }
    picture_free(&p);
    l2k_decoder_free(d);
}

static bool out_of_memory;

static void *maybe_allocate(void *user, size_t bytes)
{
    (void)user;
    return out_of_memory ? NULL : malloc(bytes);
}

static void release(void *user, void *memory)
{
    (void)user;
    free(memory);
}

/* A kernel that there is no memory to measure is not taken. */
static void test_without_memory(void **unused)
{
    (void)unused;
    const l2k_hooks hooks = {.allocate = maybe_allocate, .release = release};
    picture p;
    memory_file before = memory_of(NULL, 0), after = memory_of(NULL, 0);
    l2k_encoder *e = l2k_encoder_new(&hooks);
    picture_make(&p, WIDTH, HEIGHT, 3);
    assert_int_equal(run_encoder(e, &p, &before), L2K_OK);
    out_of_memory = true;
    assert_int_equal(l2k_encoder_set(e, L2K_ENCODER_WAVELET, L2K_WAVELET_HAAR), L2K_ERROR_MEMORY);
    assert_int_equal(l2k_encoder_set_kernel(e, "reversible\nhigh 0 : -1\n"), L2K_ERROR_MEMORY);
    out_of_memory = false;
    assert_int_equal(run_encoder(e, &p, &after), L2K_OK);
    assert_int_equal(after.size, before.size);
    assert_memory_equal(after.data, before.data, before.size);
    l2k_encoder_free(e);
    free(before.data);
    free(after.data);
    picture_free(&p);
}

/* With 1-3 each reduction keeps every second sample as it is. */
static void test_every_second(void **unused)
{
    (void)unused;
    picture p;
    memory_file file = memory_of(NULL, 0);
    picture_make(&p, WIDTH, HEIGHT, 1);
    l2k_encoder *e = l2k_encoder_new(NULL);
    assert_int_equal(l2k_encoder_set(e, L2K_ENCODER_WAVELET, L2K_WAVELET_1_3), L2K_OK);
    assert_int_equal(run_encoder(e, &p, &file), L2K_OK);
    l2k_encoder_free(e);
    for (unsigned reduce = 1; reduce <= 5; reduce++) {
        static int32_t samples[WIDTH * HEIGHT];
        const l2k_plane plane = {samples, WIDTH * sizeof *samples, sizeof *samples, L2K_SAMPLE_S32};
        l2k_decoder *d = new_decoder(NULL, 1);
        assert_int_equal(l2k_decoder_set(d, L2K_DECODER_REDUCE, reduce), L2K_OK);
        assert_int_equal(l2k_decoder_open_memory(d, file.data, file.size), L2K_OK);
        assert_int_equal(l2k_decoder_decode(d, &plane), L2K_OK);
        for (uint32_t y = 0; y << reduce < HEIGHT; y++)
            for (uint32_t x = 0; x << reduce < WIDTH; x++)
                assert_int_equal(samples[y * WIDTH + x], plane_sample(&p.planes[0], x << reduce, y << reduce));
        l2k_decoder_free(d);
    }
    free(file.data);
    picture_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_named),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_every_second),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
