/* What small files may cost: by default memory and samples are limited in proportion to the file's size, but blank
 * pictures are accepted. */
#include "stream_headers.h"

#include <time.h>

/* ---- Blank pictures ------------------------------------------------------------------------------------------ */

/* Mid-gray has no non-zero coefficient: files of some hundred bytes with many samples. */
static void test_blank(void **unused)
{
    (void)unused;
    for (int variant = 0; variant < 6; variant++) {
        picture p, got;
        meter m;
        l2k_hooks hooks = metered_hooks(&m);
        picture_shape(&p, 1000, 900, 3);
        for (uint32_t c = 0; c < 3; c++) {
            p.components[c].precision = variant % 2 ? 12 : 8;
            p.components[c].is_signed = variant % 3 == 2;
            picture_fill(&p, c);
            int32_t middle = p.components[c].is_signed ? 0 : 1 << (p.components[c].precision - 1);
            for (size_t i = 0; i < (size_t)1000 * 900; i++)
                p.samples[c][i] = middle;
        }
        memory_file file = variant < 3 ? encode_with(&p, L2K_ENCODER_WAVELET, L2K_WAVELET_9_7)
                                       : encode_with(&p, L2K_ENCODER_TILE_WIDTH, 300);
        assert_in_range(file.size, 100, 400);
        assert_int_equal(decode_bytes(&hooks, file.data, file.size, &got), L2K_OK);
        assert_true(picture_equal(&p, &got));
        assert_in_range(m.peak, 1, 1 << 20); /* no coefficients, no plan */
        picture_free(&got);
        free(file.data);
        picture_free(&p);
    }
}

/* ---- Limits by size ------------------------------------------------------------------------------------------ */

static stream_shape random_shape(void)
{
    stream_shape s = {.width = 1u << random_below(32),
                      .height = 1u << random_below(32),
                      .precision = random_between(1, 31),
                      .components = 1,
                      .layers = random_below(3) ? 1 : random_between(1, 65535),
                      .levels = random_below(8),
                      .log2_block = random_between(2, 6),
                      .log2_precinct = random_below(2) ? 15 : random_between(1, 15),
                      .progression = random_below(5)};
    /* Often just below the limits. */
    if (random_below(3)) {
        s.width = random_between(1, 1 << 13);
        s.height = (1u << 23) / s.width * random_between(1, 3) / 2 + 1;
    }
    s.tile_width = random_below(2) ? s.width : s.width / random_between(1, 200) + 1;
    s.tile_height = random_below(2) ? s.height : s.height / random_between(1, 200) + 1;
    return s;
}

/* Opens and decodes. Returns the bytes held at the peak, with the caller's planes in the smallest types. */
static size_t cost_of(const memory_file *file, l2k_status *status)
{
    meter m;
    l2k_image image;
    uint8_t *samples = NULL;
    size_t bytes = 0;
    l2k_hooks hooks = metered_hooks(&m);
    l2k_decoder *decoder = new_decoder(&hooks, 1);
    *status = l2k_decoder_open_memory(decoder, file->data, file->size);
    if (*status == L2K_OK)
        *status = l2k_decoder_image(decoder, &image);
    if (*status == L2K_OK) {
        uint32_t precision = image.components[0].precision, size = precision <= 8 ? 1 : precision <= 16 ? 2 : 4;
        size_t row = (size_t)image.components[0].width * size;
        bytes = row * image.components[0].height;
        samples = malloc(bytes);
        assert_non_null(samples);
        l2k_sample_type type = size == 1 ? L2K_SAMPLE_U8 : size == 2 ? L2K_SAMPLE_U16 : L2K_SAMPLE_S32;
        *status = l2k_decoder_decode(decoder, &(l2k_plane){samples, (ptrdiff_t)row, (ptrdiff_t)size, type});
    }
    l2k_decoder_free(decoder);
    free(samples);
    assert_int_equal(m.bytes, 0);
    return m.peak + bytes;
}

/* What a hundred bytes, about the shortest headers, may cost: 64 MiB, one second. */
static void test_hundred_bytes(void **unused)
{
    (void)unused;
    unsigned decoded = 0, refused = 0;
    for (int i = 0; i < 400; i++) {
        stream_shape shape = random_shape();
        memory_file file = make_stream(&shape, random_below(30));
        l2k_status status;
        clock_t start = clock();
        size_t cost = cost_of(&file, &status);
        double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        decoded += status == L2K_OK || status == L2K_INCOMPLETE;
        refused += status == L2K_ERROR_LIMIT;
        if (file.size <= 130) {
            assert_in_range(cost, 0, 64 << 20);
#ifndef L2K_SANITIZE
            assert_true(seconds < 1);
#else
            assert_true(seconds < 10);
#endif
        }
        free(file.data);
    }
    assert_true(decoded > 50 && refused > 50);
}

/* The caller can allow what is refused by default. */
static void test_lifted(void **unused)
{
    (void)unused;
    const stream_shape shape = {.width = 40000,
                                .height = 3000,
                                .tile_width = 40000,
                                .tile_height = 3000,
                                .precision = 8,
                                .components = 1,
                                .layers = 1,
                                .levels = 2,
                                .log2_block = 6,
                                .log2_precinct = 15};
    memory_file file = make_stream(&shape, 0);
    watch w;
    l2k_hooks hooks = watch_hooks(&w);
    l2k_decoder *decoder = l2k_decoder_new(&hooks);
    assert_int_equal(l2k_decoder_open_memory(decoder, file.data, file.size), L2K_ERROR_LIMIT);
    assert_non_null(strstr(w.text, "40000 x 3000 x 1"));
    assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_LIMIT_SAMPLES, 120000000), L2K_OK);
    assert_int_equal(l2k_decoder_open_memory(decoder, file.data, file.size), L2K_OK);
    assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_LIMIT_SAMPLES, 119999999), L2K_OK);
    assert_int_equal(l2k_decoder_open_memory(decoder, file.data, file.size), L2K_ERROR_LIMIT);
    l2k_decoder_free(decoder);
    free(file.data);
}

/* Decodes any number of components. */
static l2k_status decode_all_samples(l2k_decoder *decoder, const l2k_image *image)
{
    l2k_plane *planes = calloc(image->num_components, sizeof *planes);
    assert_non_null(planes);
    for (uint32_t c = 0; c < image->num_components; c++) {
        const ptrdiff_t row = 4 * (ptrdiff_t)image->components[c].width;
        planes[c] = (l2k_plane){calloc(image->components[c].height, (size_t)row), row, 4, L2K_SAMPLE_S32};
    }
    l2k_status status = l2k_decoder_decode(decoder, planes);
    for (uint32_t c = 0; c < image->num_components; c++)
        free(planes[c].data);
    free(planes);
    return status;
}

static double seconds_on(unsigned threads, const memory_file *file, int component, l2k_status *status)
{
    clock_t start = clock();
    l2k_image image;
    l2k_decoder *decoder = new_decoder(NULL, threads);
    l2k_decoder_set(decoder, L2K_DECODER_COMPONENT, component);
    *status = l2k_decoder_open_memory(decoder, file->data, file->size);
    if (*status == L2K_OK)
        *status = l2k_decoder_image(decoder, &image);
    if (*status == L2K_OK)
        *status = decode_all_samples(decoder, &image);
    l2k_decoder_free(decoder);
    return (double)(clock() - start) / CLOCKS_PER_SEC;
}

static double seconds_to_decode(const memory_file *file, int component, l2k_status *status)
{
    return seconds_on(1, file, component, status);
}

/* A megabyte can have 2^30 tiles times components, or COD segments times components. */
static void test_products(void **unused)
{
    (void)unused;
    const stream_shape many = {.width = 65000,
                               .height = 1,
                               .tile_width = 1,
                               .tile_height = 1,
                               .precision = 8,
                               .components = 16000,
                               .layers = 1,
                               .levels = 5,
                               .log2_block = 6,
                               .log2_precinct = 15};
    stream_shape repeated = many;
    l2k_status status;
    repeated.width = repeated.tile_width = 8;
    repeated.levels = 1;
    memory_file tiles = make_header(&many), cods = make_header(&repeated);
    for (uint32_t t = 0; t < many.width; t++) {
        put_tile_part(&tiles, t, 15);
        put(&tiles, 0, 1);
    }
    for (int i = 0; i < 40000; i++)
        put_cod(&cods, &repeated);
    put_tile_part(&cods, 0, 0);
    double seconds[2] = {seconds_to_decode(&tiles, 0, &status)};
    assert_int_equal(status, L2K_ERROR_TRUNCATED);
    seconds[1] = seconds_to_decode(&cods, 0, &status);
    assert_int_equal(status, L2K_INCOMPLETE);
    print_message("%zu bytes: %.2f s, %zu bytes: %.2f s\n", tiles.size, seconds[0], cods.size, seconds[1]);
    assert_true(seconds[0] < 10 && seconds[1] < 10);
    free(tiles.data);
    free(cods.data);
}

/* Tiles of `tile` x `tile`, no decomposition levels. With several components, each has a sample every 255 columns and
 * rows. */
static stream_shape shape_of(uint32_t across, uint32_t down, uint32_t tile, uint32_t components)
{
    return (stream_shape){.width = across * tile,
                          .height = down * tile,
                          .tile_width = tile,
                          .tile_height = tile,
                          .precision = 8,
                          .components = components,
                          .layers = 1,
                          .log2_block = 6,
                          .log2_precinct = 15,
                          .sub_sampling = components > 1 ? 255 : 1};
}

/* 65025 tiles without any data, in each of 16384 components. */
static memory_file make_absent_tiles(void)
{
    const stream_shape s = shape_of(255, 255, 1, 16384);
    return make_stream(&s, 100);
}

/* 40000 tile-parts, each with a COD for 16384 components. */
static memory_file make_part_headers(void)
{
    const stream_shape s = shape_of(255, 1, 1, 16384);
    memory_file file = make_header(&s);
    for (uint32_t i = 0; i < 40000; i++) {
        put(&file, 0xFF90000A, 4);
        put(&file, i / 255, 2);
        put(&file, 29, 4);
        put(&file, i % 255 << 8, 2);
        put_cod(&file, &s);
        put(&file, 0xFF93, 2);
    }
    return file;
}

/* 65535 non-empty packets that include none of 65536 code-blocks. */
static memory_file make_bare_layers(void)
{
    stream_shape s = shape_of(1, 1, 1024, 1);
    s.layers = 65535;
    s.log2_block = 2;
    memory_file file = make_header(&s);
    put_tile_part(&file, 0, 0);
    for (int i = 0; i < 65535; i++)
        put(&file, 0x80, 1);
    return file;
}

/* 9000 progression changes that select none of 65536 precincts, in each of 80 tiles. */
static memory_file make_idle_changes(void)
{
    enum { CHANGES = 9000, TILES = 80 };
    stream_shape s = shape_of(TILES, 1, 256, 1);
    s.log2_precinct = 0;
    s.log2_block = 2;
    memory_file file = make_header(&s);
    put_changes(&file, CHANGES, 0x20000001210100);
    for (uint32_t t = 0; t < TILES; t++) {
        put_tile_part(&file, t, 15);
        put(&file, 0, 1);
    }
    return file;
}

/* 9361 progression changes in the main header, copied for each of 65025 tiles of one sample. */
static memory_file make_copied_changes(void)
{
    enum { CHANGES = 9361, SIDE = 255 };
    const stream_shape s = shape_of(SIDE, SIDE, 1, 1);
    memory_file file = make_header(&s);
    put_changes(&file, CHANGES, 0x20000001210100);
    for (uint32_t t = 0; t < SIDE * SIDE; t++) {
        put_tile_part(&file, t, 15);
        put(&file, 0, 1);
    }
    return file;
}

/* 100 tiles, each with all 33 resolutions of 16384 components, all empty but one. */
static memory_file make_empty_resolutions(void)
{
    stream_shape s = shape_of(100, 1, 1, 16384);
    s.levels = 32;
    memory_file file = make_header(&s);
    for (uint32_t t = 0; t < 100; t++) {
        put_tile_part(&file, t, 15);
        put(&file, 0, 1);
    }
    return file;
}

/* Each of these once took seven seconds to three minutes for 51 to 1200 KB. */
static void test_work(void **unused)
{
    (void)unused;
    memory_file files[] = {make_absent_tiles(), make_part_headers(),   make_bare_layers(),
                           make_idle_changes(), make_copied_changes(), make_empty_resolutions()};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        l2k_status status;
        double seconds = seconds_to_decode(&files[i], -1, &status);
        print_message("%zu bytes: %.2f s, status %d\n", files[i].size, seconds, status);
        assert_true(status == L2K_OK || status == L2K_INCOMPLETE || status == L2K_ERROR_TRUNCATED);
        assert_true(seconds < 5);
        free(files[i].data);
    }
}

/* Processor seconds to encode 8 x 8 samples in `count` layers. */
static double encode_layers(int count)
{
    picture p;
    memory_file out = memory_of(NULL, 0);
    double *targets = malloc((size_t)count * sizeof *targets);
    assert_non_null(targets);
    for (int i = 0; i < count; i++)
        targets[i] = i + 1 < count ? 1e9 - 100 * i : 0;
    picture_make(&p, 8, 8, 1);
    l2k_encoder *encoder = l2k_encoder_new(NULL);
    assert_int_equal(l2k_encoder_set_layers(encoder, L2K_TARGET_RATIO, targets, (uint32_t)count), L2K_OK);
    const clock_t start = clock();
    assert_int_equal(run_encoder(encoder, &p, &out), L2K_OK);
    const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    print_message("%d layers: %.2f s\n", count, seconds);
    l2k_encoder_free(encoder);
    free(targets);
    free(out.data);
    picture_free(&p);
    return seconds;
}

/* The cost of a layer does not grow with the layers before it: sixteen times as many would take 256 times as long. */
static void test_most_layers(void **unused)
{
    (void)unused;
    const double few = encode_layers(65535 / 16);
    assert_true(encode_layers(65535) < 64 * few + 1);
}

/* Tiles with one byte for 65537 packets. 16 of them just exhaust the precincts that all tiles may have together, with
 * any number of threads, and again for each decoding. */
static void test_shared_bound(void **unused)
{
    (void)unused;
    for (uint32_t tiles = 16; tiles <= 17; tiles++) {
        stream_shape s = shape_of(tiles, 1, 1, 1);
        s.height = s.tile_height = 65537;
        s.log2_precinct = 0;
        s.log2_block = 2;
        memory_file file = make_header(&s);
        for (uint32_t t = 0; t < tiles; t++) {
            put_tile_part(&file, t, 15);
            put(&file, 0, 1);
        }
        for (unsigned threads = 1; threads <= 8; threads *= 2) {
            l2k_status status;
            seconds_on(threads, &file, -1, &status);
            assert_int_equal(status, tiles == 16 ? L2K_INCOMPLETE : L2K_ERROR_TRUNCATED);
        }
        free(file.data);
    }
}

static void test_components_and_tiles(void **unused)
{
    (void)unused;
    const stream_shape shape = {.width = 64,
                                .height = 64,
                                .tile_width = 16,
                                .tile_height = 32,
                                .precision = 8,
                                .components = 5,
                                .layers = 1,
                                .levels = 1,
                                .log2_block = 6,
                                .log2_precinct = 15};
    memory_file file = make_stream(&shape, 0);
    const struct {
        l2k_decoder_option option;
        int64_t enough;
    } limits[] = {{L2K_DECODER_LIMIT_COMPONENTS, 5}, {L2K_DECODER_LIMIT_TILES, 8}};
    for (int i = 0; i < 2; i++) {
        l2k_decoder *decoder = l2k_decoder_new(NULL);
        assert_int_equal(l2k_decoder_set(decoder, limits[i].option, 0), L2K_ERROR_ARGUMENT);
        assert_int_equal(l2k_decoder_set(decoder, limits[i].option, limits[i].enough - 1), L2K_OK);
        assert_int_equal(l2k_decoder_open_memory(decoder, file.data, file.size), L2K_ERROR_LIMIT);
        assert_int_equal(l2k_decoder_set(decoder, limits[i].option, limits[i].enough), L2K_OK);
        assert_int_equal(l2k_decoder_open_memory(decoder, file.data, file.size), L2K_OK);
        l2k_decoder_free(decoder);
    }
    free(file.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blank),        cmocka_unit_test(test_hundred_bytes),
        cmocka_unit_test(test_lifted),       cmocka_unit_test(test_components_and_tiles),
        cmocka_unit_test(test_products),     cmocka_unit_test(test_work),
        cmocka_unit_test(test_shared_bound), cmocka_unit_test(test_most_layers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
