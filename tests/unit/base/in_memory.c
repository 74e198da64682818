/* Encoding to memory and decoding from it in one call: the bytes and samples of the stream calls, how long they stay
 * valid, and what errors leave. */
#include "api_support.h"

/* ---- Encoding ------------------------------------------------------------------------------------------------ */

static void assert_encodes(l2k_encoder *encoder, const picture *p)
{
    const uint8_t *bytes;
    size_t count;
    memory_file streamed = memory_of(NULL, 0);
    assert_int_equal(run_encoder(encoder, p, &streamed), L2K_OK);
    assert_int_equal(l2k_encoder_encode_memory(encoder, &p->image, p->planes, &bytes, &count), L2K_OK);
    assert_int_equal(count, streamed.size);
    assert_memory_equal(bytes, streamed.data, count);
    free(streamed.data);
}

static void test_same_bytes(void **unused)
{
    (void)unused;
    l2k_encoder *encoder = l2k_encoder_new(NULL);
    for (uint32_t count = 1; count <= 4; count++) {
        picture p;
        picture_make(&p, 200 / count, 90, count);
        assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_TILE_WIDTH, count % 2 ? 0 : 33), L2K_OK);
        assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_PLT, count > 2), L2K_OK);
        assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_WAVELET, count > 2), L2K_OK);
        assert_encodes(encoder, &p);
        picture_free(&p);
    }
    l2k_encoder_free(encoder);
}

/* Settings do not touch the bytes, until the next image is encoded, in whatever way. */
static void test_bytes_stay(void **unused)
{
    (void)unused;
    picture p;
    const uint8_t *bytes;
    size_t count;
    memory_file streamed = memory_of(NULL, 0);
    l2k_encoder *encoder = l2k_encoder_new(NULL);
    picture_make(&p, 100, 80, 3);
    for (int round = 0; round < 3; round++) {
        assert_int_equal(l2k_encoder_encode_memory(encoder, &p.image, p.planes, &bytes, &count), L2K_OK);
        uint8_t *copy = malloc(count);
        assert_non_null(copy);
        memcpy(copy, bytes, count);
        assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_LEVELS, round), L2K_OK);
        assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_LIMIT_MEMORY, 1 << 30), L2K_OK);
        assert_memory_equal(bytes, copy, count);
        assert_int_equal(run_encoder(encoder, &p, &streamed), L2K_OK);
        free(copy);
    }
    free(streamed.data);
    l2k_encoder_free(encoder);
    picture_free(&p);
}

static void test_encoder_nulls(void **unused)
{
    (void)unused;
    picture p;
    watch w;
    l2k_hooks hooks = watch_hooks(&w);
    l2k_encoder *encoder = l2k_encoder_new(&hooks);
    l2k_encoder_set(encoder, L2K_ENCODER_THREADS, 1);
    picture_make(&p, 10, 10, 1);
    for (int missing = 0; missing < 4; missing++) {
        const uint8_t *bytes;
        size_t count;
        assert_int_equal(l2k_encoder_encode_memory(encoder, &p.image, p.planes, &bytes, &count), L2K_OK);
        assert_int_equal(w.errors, missing);
        assert_int_equal(l2k_encoder_encode_memory(encoder, missing == 0 ? NULL : &p.image,
                                                   missing == 1 ? NULL : p.planes, missing == 2 ? NULL : &bytes,
                                                   missing == 3 ? NULL : &count),
                         L2K_ERROR_ARGUMENT);
        assert_int_equal(w.errors, missing + 1);
        assert_true(missing == 2 || bytes == NULL);
        assert_true(missing == 3 || count == 0);
    }
    l2k_encoder_free(encoder);
    assert_int_equal(w.live, 0);
    picture_free(&p);
}

/* Under any limit of memory: the file, or an error after which nothing is held. */
static void test_encoder_limit(void **unused)
{
    (void)unused;
    picture p;
    meter m;
    unsigned refused = 0, encoded = 0;
    l2k_hooks hooks = metered_hooks(&m);
    l2k_encoder *encoder = l2k_encoder_new(&hooks);
    const size_t object = m.bytes;
    picture_make(&p, 120, 100, 1);
    memory_file expected = encode_with(&p, L2K_ENCODER_TLM, 0);
    l2k_encoder_set(encoder, L2K_ENCODER_THREADS, 1);
    for (int64_t limit = 10000; encoded < 5; limit += 10000) {
        const uint8_t *bytes;
        size_t count;
        assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_LIMIT_MEMORY, limit), L2K_OK);
        l2k_status status = l2k_encoder_encode_memory(encoder, &p.image, p.planes, &bytes, &count);
        if (status == L2K_OK) {
            assert_int_equal(count, expected.size);
            assert_memory_equal(bytes, expected.data, count);
            encoded++;
        } else {
            assert_int_equal(status, L2K_ERROR_LIMIT);
            assert_null(bytes);
            assert_int_equal(count, 0);
            assert_int_equal(m.bytes, object);
            refused++;
        }
        assert_true(m.peak <= object + (size_t)limit);
    }
    assert_true(refused > 5);
    l2k_encoder_free(encoder);
    assert_int_equal(m.bytes, 0);
    free(expected.data);
    picture_free(&p);
}

/* After a "no" from the progress hook, as after any error, there are no bytes and nothing is held. */
static void test_encoder_cancelled(void **unused)
{
    (void)unused;
    picture p;
    meter m;
    const uint8_t *bytes;
    size_t count;
    l2k_hooks hooks = metered_hooks(&m);
    l2k_encoder *encoder = l2k_encoder_new(&hooks);
    const size_t object = m.bytes;
    picture_make(&p, 100, 100, 1);
    m.stop = true;
    assert_int_equal(l2k_encoder_encode_memory(encoder, &p.image, p.planes, &bytes, &count), L2K_ERROR_CANCELLED);
    assert_null(bytes);
    assert_int_equal(m.bytes, object);
    l2k_encoder_free(encoder);
    picture_free(&p);
}

/* ---- Decoding ------------------------------------------------------------------------------------------------ */

static l2k_sample_type smallest_type(const l2k_component *k)
{
    if (k->precision > 16)
        return L2K_SAMPLE_S32;
    if (k->precision > 8)
        return k->is_signed ? L2K_SAMPLE_S16 : L2K_SAMPLE_U16;
    return k->is_signed ? L2K_SAMPLE_S8 : L2K_SAMPLE_U8;
}

/* Decodes a file of `p`, coded without loss, and checks samples, types and packing. */
static void assert_decodes(l2k_decoder *decoder, const memory_file *file, const picture *p)
{
    static const ptrdiff_t type_bytes[] = {1, 1, 2, 2, 4};
    l2k_image image;
    const l2k_plane *planes;
    assert_int_equal(l2k_decoder_decode_memory(decoder, file->data, file->size, &image, &planes), L2K_OK);
    assert_int_equal(image.num_components, p->image.num_components);
    for (uint32_t c = 0; c < image.num_components; c++) {
        assert_int_equal(image.components[c].width, p->width[c]);
        assert_int_equal(image.components[c].height, p->height[c]);
        assert_int_equal(planes[c].type, smallest_type(&p->components[c]));
        assert_int_equal(planes[c].sample_stride, type_bytes[planes[c].type]);
        assert_int_equal(planes[c].row_stride, planes[c].sample_stride * (ptrdiff_t)p->width[c]);
        assert_int_equal((uintptr_t)planes[c].data % (uintptr_t)planes[c].sample_stride, 0);
        assert_true(plane_equals_component(&planes[c], p, c));
    }
}

/* Sizes and parities such that planes of one type end where another could not begin. */
static void test_sample_types(void **unused)
{
    (void)unused;
    static const uint32_t precisions[] = {1, 8, 12, 16, 20};
    l2k_decoder *decoder = l2k_decoder_new(NULL);
    for (int i = 0; i < 10; i++) {
        picture p;
        picture_shape(&p, 37, 23, 5);
        for (uint32_t c = 0; c < 5; c++) {
            p.components[c].precision = precisions[(i / 2 + c) % 5];
            p.components[c].is_signed = (i + c) % 2;
            picture_fill(&p, c);
        }
        memory_file file = encode_with(&p, L2K_ENCODER_LEVELS, 2);
        assert_decodes(decoder, &file, &p);
        free(file.data);
        picture_free(&p);
    }
    l2k_decoder_free(decoder);
}

static void test_sub_sampled(void **unused)
{
    (void)unused;
    picture p;
    l2k_decoder *decoder = l2k_decoder_new(NULL);
    picture_shape(&p, 75, 51, 4);
    p.image.x0 = 7;
    p.image.y0 = 4;
    for (uint32_t c = 0; c < 4; c++) {
        p.components[c].dx = c + 1;
        p.components[c].dy = 4 - c;
        p.components[c].precision = 4 * c + 5;
        picture_fill(&p, c);
    }
    memory_file file = encode_with(&p, L2K_ENCODER_COMPONENT_TRANSFORM, 0);
    assert_decodes(decoder, &file, &p);
    l2k_decoder_free(decoder);
    free(file.data);
    picture_free(&p);
}

/* One decoder, files of different shapes: each result is valid until the next call. */
static void test_file_after_file(void **unused)
{
    (void)unused;
    l2k_decoder *decoder = l2k_decoder_new(NULL);
    for (uint32_t i = 0; i < 6; i++) {
        picture p;
        picture_make(&p, 10 + 50 * (i % 3), 150 - 20 * i, 1 + i % 4);
        memory_file file = encode_with(&p, L2K_ENCODER_TILE_WIDTH, i % 2 ? 40 : 0);
        assert_decodes(decoder, &file, &p);
        free(file.data);
        picture_free(&p);
    }
    l2k_decoder_free(decoder);
}

/* Settings apply as they do when the calls are made one by one. */
static void test_settings(void **unused)
{
    (void)unused;
    picture p, expected;
    l2k_image image;
    const l2k_plane *planes;
    l2k_decoder *decoder = l2k_decoder_new(NULL);
    picture_make(&p, 90, 70, 3);
    memory_file file = encode_with(&p, L2K_ENCODER_LEVELS, 3);
    assert_int_equal(l2k_decoder_set_region(decoder, 11, 5, 60, 64), L2K_OK);
    assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_REDUCE, 1), L2K_OK);
    for (int only = -1; only < 3; only++) {
        assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_COMPONENT, only), L2K_OK);
        assert_int_equal(run_decoder(decoder, file.data, file.size, &expected), L2K_OK);
        assert_int_equal(l2k_decoder_decode_memory(decoder, file.data, file.size, &image, &planes), L2K_OK);
        assert_int_equal(image.num_components, expected.image.num_components);
        for (uint32_t c = 0; c < image.num_components; c++) {
            assert_int_equal(image.components[c].width, expected.width[c]);
            assert_true(plane_equals_component(&planes[c], &expected, c));
        }
        picture_free(&expected);
    }
    assert_int_equal(l2k_decoder_set_region(decoder, 90, 0, 100, 10), L2K_OK);
    assert_int_equal(l2k_decoder_decode_memory(decoder, file.data, file.size, &image, &planes), L2K_ERROR_ARGUMENT);
    assert_null(planes);
    l2k_decoder_free(decoder);
    free(file.data);
    picture_free(&p);
}

/* Incomplete files give the samples that l2k_decoder_decode gives. */
static void test_truncated(void **unused)
{
    (void)unused;
    picture p, expected;
    unsigned incomplete = 0;
    l2k_decoder *decoder = l2k_decoder_new(NULL);
    picture_make(&p, 90, 70, 3);
    memory_file file = encode_with(&p, L2K_ENCODER_TILE_WIDTH, 50);
    for (size_t bytes = 0; bytes < file.size; bytes += 1 + file.size / 40) {
        l2k_image image;
        const l2k_plane *planes;
        l2k_status status = run_decoder(decoder, file.data, bytes, &expected);
        assert_int_equal(l2k_decoder_decode_memory(decoder, file.data, bytes, &image, &planes), status);
        assert_int_equal(planes != NULL, status == L2K_INCOMPLETE);
        if (status != L2K_INCOMPLETE)
            continue;
        for (uint32_t c = 0; c < 3; c++)
            assert_true(plane_equals_component(&planes[c], &expected, c));
        picture_free(&expected);
        incomplete++;
    }
    assert_true(incomplete > 20);
    l2k_decoder_free(decoder);
    free(file.data);
    picture_free(&p);
}

static void assert_refuses(l2k_decoder *decoder, const void *data, size_t bytes, l2k_status expected)
{
    l2k_image image;
    l2k_info info;
    const l2k_plane some = {0}, *planes = &some;
    assert_int_equal(l2k_decoder_decode_memory(decoder, data, bytes, &image, &planes), expected);
    assert_null(planes);
    assert_int_equal(l2k_decoder_info(decoder, &info), L2K_ERROR_STATE);
}

static void test_decoder_errors(void **unused)
{
    (void)unused;
    static const char text[] = "P6 this is a picture, but of another kind";
    picture p;
    watch w;
    l2k_image image;
    const l2k_plane *planes;
    l2k_hooks hooks = watch_hooks(&w);
    l2k_decoder *decoder = new_decoder(&hooks, 1);
    picture_make(&p, 40, 30, 1);
    memory_file file = encode_with(&p, L2K_ENCODER_LEVELS, 2);
    assert_refuses(decoder, text, sizeof text, L2K_ERROR_FORMAT);
    assert_decodes(decoder, &file, &p);
    assert_refuses(decoder, file.data, 0, L2K_ERROR_TRUNCATED);
    assert_refuses(decoder, NULL, 10, L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_REDUCE, 3), L2K_OK);
    assert_refuses(decoder, file.data, file.size, L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_REDUCE, 0), L2K_OK);
    assert_int_equal(l2k_decoder_decode_memory(decoder, file.data, file.size, NULL, &planes), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_decoder_decode_memory(decoder, file.data, file.size, &image, NULL), L2K_ERROR_ARGUMENT);
    assert_decodes(decoder, &file, &p);
    l2k_decoder_free(decoder);
    assert_int_equal(w.live, 0);
    assert_false(w.bad_line);
    free(file.data);
    picture_free(&p);
}

/* The planes count as well: they are the decoder's. Under any limit: the image, or an error after which nothing is
 * held. */
static void test_decoder_limit(void **unused)
{
    (void)unused;
    picture p;
    meter m;
    unsigned refused = 0, decoded = 0;
    l2k_hooks hooks = metered_hooks(&m);
    l2k_decoder *decoder = l2k_decoder_new(&hooks);
    const size_t object = m.bytes, plane = 200 * 150 * sizeof(int32_t);
    picture_shape(&p, 200, 150, 1);
    p.components[0].precision = 17;
    picture_fill(&p, 0);
    memory_file file = encode_with(&p, L2K_ENCODER_LEVELS, 2);
    l2k_decoder_set(decoder, L2K_DECODER_THREADS, 1);
    for (int64_t limit = 20000; decoded < 5; limit += 20000) {
        l2k_image image;
        const l2k_plane *planes;
        assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_LIMIT_MEMORY, limit), L2K_OK);
        l2k_status status = l2k_decoder_decode_memory(decoder, file.data, file.size, &image, &planes);
        assert_int_equal(status == L2K_OK, planes != NULL);
        if (status == L2K_OK) {
            assert_true((size_t)limit > plane);
            assert_true(plane_equals_component(planes, &p, 0));
            decoded++;
        } else {
            assert_int_equal(status, L2K_ERROR_LIMIT);
            assert_int_equal(m.bytes, object);
            refused++;
        }
        assert_true(m.peak <= object + (size_t)limit);
    }
    assert_true(refused > 5);
    l2k_decoder_free(decoder);
    assert_int_equal(m.bytes, 0);
    free(file.data);
    picture_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bytes),        cmocka_unit_test(test_bytes_stay),
        cmocka_unit_test(test_encoder_nulls),     cmocka_unit_test(test_encoder_limit),
        cmocka_unit_test(test_encoder_cancelled), cmocka_unit_test(test_sample_types),
        cmocka_unit_test(test_sub_sampled),       cmocka_unit_test(test_file_after_file),
        cmocka_unit_test(test_settings),          cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_decoder_errors),    cmocka_unit_test(test_decoder_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
