/* Codestreams with levels that split in one direction only (DFS), and the public transform of such levels: random
 * directions, kernels, block coders, sizes, origins, tiles, precincts, layers and progressions come back, whole,
 * reduced and in windows. A number of cases may be given, and a number to begin with. */
#include "api_support.h"

#include <math.h>
#include <stdio.h>

enum { MOST_LETTERS = 7 };
static unsigned cases = 150;

typedef struct split_case {
    char letters[MOST_LETTERS + 1];
    l2k_wavelet wavelet;
    picture p;
} split_case;

static void choose_letters(char *letters)
{
    const unsigned count = random_below(MOST_LETTERS + 1);
    for (unsigned i = 0; i < count; i++)
        letters[i] = "bhv"[random_below(3)];
    letters[count] = 0;
}

/* How often the levels split: letters of one direction only, of the first `levels`. */
static unsigned splits(const char *letters, unsigned levels, char other)
{
    unsigned count = levels;
    for (unsigned i = 0; i < levels && letters[i]; i++)
        count -= letters[i] == other;
    return count;
}

static uint32_t up(uint32_t a, unsigned log2)
{
    return (uint32_t)(((uint64_t)a + ((uint64_t)1 << log2) - 1) >> log2);
}

static void choose_picture(picture *p)
{
    const unsigned count = random_below(3) ? 1 : 3;
    picture_shape(p, 0, 0, count);
    p->image.x0 = random_below(2) ? random_below(70) : 0;
    p->image.y0 = random_below(2) ? random_below(70) : 0;
    p->image.x1 = p->image.x0 + random_between(1, 120);
    p->image.y1 = p->image.y0 + random_between(1, 120);
    const uint32_t precision = random_between(1, 12);
    for (uint32_t c = 0; c < count; c++) {
        p->components[c].precision = precision;
        picture_fill(p, c);
    }
}

static void choose_precincts(l2k_encoder *e)
{
    l2k_size sizes[3];
    for (unsigned i = 0; i < 3; i++)
        sizes[i] = (l2k_size){(uint32_t)2 << random_below(7), (uint32_t)2 << random_below(7)};
    if (random_below(2))
        assert_int_equal(l2k_encoder_set_precincts(e, sizes, random_between(1, 3)), L2K_OK);
}

static void choose_layers(l2k_encoder *e, bool ht)
{
    static const double ratios[] = {30, 8, 1};
    if (random_below(2) == 0 || ht)
        return;
    assert_int_equal(l2k_encoder_set_layers(e, L2K_TARGET_RATIO, ratios, 3), L2K_OK);
}

static memory_file encode(split_case *t)
{
    memory_file file = memory_of(NULL, 0);
    const bool ht = random_below(2);
    l2k_encoder *e = l2k_encoder_new(NULL);
    choose_letters(t->letters);
    if (t->wavelet == L2K_WAVELET_W4) /* grows from level to level, beyond what code-blocks can have */
        t->letters[4] = 0;
    const unsigned levels = (unsigned)strlen(t->letters) + (t->wavelet == L2K_WAVELET_W4 ? 0 : random_below(3));
    const bool tiles = random_below(2);
    const encoder_setting settings[] = {{L2K_ENCODER_FORMAT, L2K_FORMAT_CODESTREAM},
                                        {L2K_ENCODER_WAVELET, t->wavelet},
                                        {L2K_ENCODER_LEVELS, levels},
                                        {L2K_ENCODER_STYLE, ht ? L2K_STYLE_HT : 0},
                                        {L2K_ENCODER_THREADS, random_between(1, 3)},
                                        {L2K_ENCODER_PROGRESSION, random_below(5)},
                                        {L2K_ENCODER_BLOCK_WIDTH, (int64_t)4 << random_below(4)},
                                        {L2K_ENCODER_BLOCK_HEIGHT, (int64_t)4 << random_below(4)},
                                        {L2K_ENCODER_TILE_WIDTH, tiles ? random_between(71, 130) : 0},
                                        {L2K_ENCODER_TILE_HEIGHT, tiles ? random_between(71, 130) : 0}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        assert_int_equal(l2k_encoder_set(e, settings[i].option, settings[i].value), L2K_OK);
    assert_int_equal(l2k_encoder_set_splits(e, t->letters), L2K_OK);
    choose_precincts(e);
    choose_layers(e, ht);
    assert_int_equal(run_encoder(e, &t->p, &file), L2K_OK);
    l2k_encoder_free(e);
    return file;
}

/* The directions that the file says, with b for the levels that were not named; nothing where all of them are. */
static void check_letters(l2k_decoder *d, const char *letters, unsigned levels)
{
    char text[L2K_MAX_LEVELS + 1], expected[L2K_MAX_LEVELS + 1];
    size_t length;
    const bool some = letters[strspn(letters, "b")] != 0;
    snprintf(expected, sizeof expected, "%s", letters);
    while (strlen(expected) < levels)
        strcat(expected, "b");
    assert_int_equal(l2k_decoder_splits(d, 0, text, sizeof text, &length), L2K_OK);
    assert_string_equal(text, some ? expected : "");
    assert_int_equal(length, strlen(text));
    assert_int_equal(l2k_decoder_splits(d, 99, text, sizeof text, &length), L2K_ERROR_ARGUMENT);
}

static l2k_status decode_again(l2k_decoder *d, picture *got)
{
    l2k_image image;
    assert_int_equal(l2k_decoder_image(d, &image), L2K_OK);
    picture_adopt(got, &image);
    return l2k_decoder_decode(d, got->planes);
}

/* A window of what `all` shows, with levels left out. */
static void check_window(l2k_decoder *d, const split_case *t, const picture *all, unsigned reduce)
{
    const l2k_image *image = &t->p.image;
    const unsigned nx = splits(t->letters, reduce, 'v'), ny = splits(t->letters, reduce, 'h');
    const uint32_t x0 = random_between(image->x0, image->x1 - 1), y0 = random_between(image->y0, image->y1 - 1);
    const uint32_t x1 = random_between(x0 + 1, image->x1), y1 = random_between(y0 + 1, image->y1);
    picture part;
    if (up(x1, nx) == up(x0, nx) || up(y1, ny) == up(y0, ny))
        return; /* no samples, which is an error */
    assert_int_equal(l2k_decoder_set_region(d, x0, y0, x1, y1), L2K_OK);
    assert_int_equal(decode_again(d, &part), L2K_OK);
    assert_int_equal(l2k_decoder_set_region(d, 0, 0, UINT32_MAX, UINT32_MAX), L2K_OK);
    for (uint32_t c = 0; c < image->num_components; c++) {
        assert_int_equal(part.width[c], up(x1, nx) - up(x0, nx));
        assert_int_equal(part.height[c], up(y1, ny) - up(y0, ny));
        const uint32_t left = up(x0, nx) - up(image->x0, nx), top = up(y0, ny) - up(image->y0, ny);
        for (uint32_t y = 0; y < part.height[c]; y++)
            assert_memory_equal(part.samples[c] + y * part.width[c],
                                all->samples[c] + (size_t)(top + y) * all->width[c] + left,
                                part.width[c] * sizeof(int32_t));
    }
    picture_free(&part);
}

/* Sizes follow from the levels left out. With 1-3 the samples do, too: those at multiples, but for lines of one sample.
 */
static void check_reduced(l2k_decoder *d, const split_case *t, unsigned levels)
{
    const unsigned reduce = random_below(levels + 1);
    const unsigned nx = splits(t->letters, reduce, 'v'), ny = splits(t->letters, reduce, 'h');
    const l2k_image *image = &t->p.image;
    picture all;
    if (up(image->x1, nx) == up(image->x0, nx) || up(image->y1, ny) == up(image->y0, ny))
        return; /* no samples, which is an error */
    assert_int_equal(l2k_decoder_set(d, L2K_DECODER_REDUCE, reduce), L2K_OK);
    assert_int_equal(decode_again(d, &all), L2K_OK);
    for (uint32_t c = 0; c < image->num_components; c++) {
        assert_int_equal(all.width[c], up(image->x1, nx) - up(image->x0, nx));
        assert_int_equal(all.height[c], up(image->y1, ny) - up(image->y0, ny));
        for (uint32_t y = 0; t->wavelet == L2K_WAVELET_1_3 && y < all.height[c]; y++)
            for (uint32_t x = 0; x < all.width[c]; x++) {
                const uint32_t from_x = (uint32_t)((uint64_t)(up(image->x0, nx) + x) << nx) - image->x0;
                const uint32_t from_y = (uint32_t)((uint64_t)(up(image->y0, ny) + y) << ny) - image->y0;
                assert_int_equal(all.samples[c][(size_t)y * all.width[c] + x],
                                 t->p.samples[c][(size_t)from_y * t->p.width[c] + from_x]);
            }
    }
    check_window(d, t, &all, reduce);
    picture_free(&all);
    assert_int_equal(l2k_decoder_set(d, L2K_DECODER_REDUCE, 0), L2K_OK);
}

/* The mean squared error of lossy wavelets: whatever is wrong with a subband's place or step makes a larger one. At the
 * borders of small pictures w4 is far from orthonormal. */
static void check_samples(const split_case *t, const picture *got)
{
    if (l2k_wavelet_reversible(t->wavelet)) {
        assert_true(picture_equal(&t->p, got));
        return;
    }
    const double most = t->wavelet == L2K_WAVELET_W4 ? 20 : 3;
    for (uint32_t c = 0; c < got->image.num_components; c++) {
        const size_t count = (size_t)got->width[c] * got->height[c];
        double sum = 0;
        for (size_t i = 0; i < count; i++)
            sum += pow(got->samples[c][i] - t->p.samples[c][i], 2);
        assert_true(sum <= most * (double)count + 30);
    }
}

/* One decoder for all files, so that nothing is taken for the next one that does not fit it. */
static void test_random(void **unused)
{
    (void)unused;
    l2k_decoder *d = new_decoder(NULL, 2);
    for (unsigned i = 0; i < cases; i++) {
        split_case t = {.wavelet = (l2k_wavelet)random_below(L2K_WAVELET_W4 + 1)};
        l2k_info info;
        picture got;
        choose_picture(&t.p);
        memory_file file = encode(&t);
        assert_int_equal(l2k_decoder_open_memory(d, file.data, file.size), L2K_OK);
        assert_int_equal(l2k_decoder_info(d, &info), L2K_OK);
        check_letters(d, t.letters, info.levels);
        assert_int_equal(decode_again(d, &got), L2K_OK);
        check_samples(&t, &got);
        check_window(d, &t, &got, 0);
        check_reduced(d, &t, info.levels);
        picture_free(&got);
        picture_free(&t.p);
        free(file.data);
    }
    l2k_decoder_free(d);
}

/* HT reaches a size by steps, which are of the subbands that exist. */
static void test_targets(void **unused)
{
    (void)unused;
    const double ratio = 10;
    picture p, got;
    memory_file file = memory_of(NULL, 0);
    picture_make(&p, 300, 200, 1);
    l2k_encoder *e = l2k_encoder_new(NULL);
    assert_int_equal(l2k_encoder_set(e, L2K_ENCODER_STYLE, L2K_STYLE_HT), L2K_OK);
    assert_int_equal(l2k_encoder_set(e, L2K_ENCODER_WAVELET, L2K_WAVELET_9_7), L2K_OK);
    assert_int_equal(l2k_encoder_set_layers(e, L2K_TARGET_RATIO, &ratio, 1), L2K_OK);
    assert_int_equal(l2k_encoder_set_splits(e, "bhvh"), L2K_OK);
    assert_int_equal(run_encoder(e, &p, &file), L2K_OK);
    assert_in_range(file.size, 300 * 200 / 10 * 95 / 100, 300 * 200 / 10);
    assert_int_equal(decode_bytes(NULL, file.data, file.size, &got), L2K_OK);
    picture_free(&got);
    l2k_encoder_free(e);
    free(file.data);
    picture_free(&p);
}

static void test_arguments(void **unused)
{
    (void)unused;
    picture p;
    memory_file file = memory_of(NULL, 0);
    picture_make(&p, 20, 20, 1);
    l2k_encoder *e = l2k_encoder_new(NULL);
    assert_int_equal(l2k_encoder_set_splits(e, "bhx"), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_encoder_set_splits(e, "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_encoder_set_splits(e, "hhhhhh"), L2K_OK);
    assert_int_equal(run_encoder(e, &p, &file), L2K_ERROR_ARGUMENT); /* of 5 levels */
    assert_int_equal(l2k_encoder_set_splits(e, ""), L2K_OK);
    assert_int_equal(run_encoder(e, &p, &file), L2K_OK);
    l2k_encoder_free(e);
    free(file.data);
    picture_free(&p);
}

/* ---- The public transform ---------------------------------------------------------------------------------------- */

static l2k_transform *prepare(const char *letters, l2k_direction direction, const l2k_image *tile)
{
    l2k_transform *t = l2k_transform_new(NULL);
    assert_int_equal(l2k_transform_set(t, L2K_TRANSFORM_DIRECTION, direction), L2K_OK);
    assert_int_equal(l2k_transform_set_splits(t, letters), L2K_OK);
    assert_int_equal(l2k_transform_prepare(t, tile), L2K_OK);
    return t;
}

/* Subbands that a level does not have are empty; the rest gives the samples back. */
static void test_transform(void **unused)
{
    (void)unused;
    picture p;
    static int32_t samples[97 * 61];
    const l2k_plane into = {samples, 97 * sizeof *samples, sizeof *samples, L2K_SAMPLE_S32};
    picture_make(&p, 97, 61, 1);
    l2k_transform *forward = prepare("hvb", L2K_FORWARD, &p.image);
    l2k_transform *inverse = prepare("hvb", L2K_INVERSE, &p.image);
    assert_int_equal(l2k_transform_forward(forward, p.planes), L2K_OK);
    const l2k_coefficients *from = l2k_transform_coefficients(forward, 0), *to = l2k_transform_coefficients(inverse, 0);
    const l2k_band_view *bands = from->bands;
    assert_int_equal(from->num_bands, 16);
    assert_int_equal(bands[13].width, 48); /* HL of level 1 */
    assert_int_equal(bands[13].height, 61);
    assert_int_equal(bands[14].height * bands[14].width + bands[15].width * bands[15].height, 0);
    assert_int_equal(bands[11].width, 49); /* LH of level 2 */
    assert_int_equal(bands[11].height, 30);
    assert_int_equal(bands[10].height * bands[10].width + bands[12].width * bands[12].height, 0);
    memcpy(to->base, from->base, from->stride * from->height * sizeof(int32_t));
    assert_int_equal(l2k_transform_inverse(inverse, &into), L2K_OK);
    assert_true(plane_equals_component(&into, &p, 0));
    assert_int_equal(l2k_transform_set_splits(forward, "hhhhhh"), L2K_OK);
    assert_int_equal(l2k_transform_prepare(forward, &p.image), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_transform_set_splits(forward, "-"), L2K_ERROR_ARGUMENT);
    l2k_transform_free(forward);
    l2k_transform_free(inverse);
    picture_free(&p);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_transform),
    };
    if (argc > 1)
        cases = (unsigned)strtoul(argv[1], NULL, 0);
    for (unsigned long skip = argc > 2 ? strtoul(argv[2], NULL, 0) : 0; skip > 0; skip--)
        random_below(2);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
