/* JP2: the encoder's output byte for byte, and files built here box by box that the decoder must read. */
#include "jp2_build.h"

#include <math.h>

/* Finds the first box of a type anywhere in the data. */
static const uint8_t *find_box(const memory_file *file, const char *type)
{
    for (size_t i = 4; i + 4 <= file->size; i++)
        if (memcmp(file->data + i, type, 4) == 0)
            return file->data + i - 4;
    return NULL;
}

/* ---- Writing ------------------------------------------------------------------------------------------------- */

static void test_written_head(void **unused)
{
    (void)unused;
    static const uint8_t expected[] = "\0\0\0\x0CjP  \r\n\x87\n\0\0\0\x14"
                                      "ftypjp2 \0\0\0\0jp2 \0\0\0\x2D"
                                      "jp2h"
                                      "\0\0\0\x16ihdr\0\0\0\x05\0\0\0\x07\0\x03\x07\x07\0\0"
                                      "\0\0\0\x0F"
                                      "colr\x01\0\0\0\0\0\x10";
    picture p;
    picture_make(&p, 7, 5, 3);
    memory_file file = encode_with(&p, L2K_ENCODER_LEVELS, 1);
    memory_file code = encode_with(&p, L2K_ENCODER_FORMAT, L2K_FORMAT_CODESTREAM);
    assert_memory_equal(file.data, expected, sizeof expected - 1);
    const uint8_t *box = file.data + sizeof expected - 1;
    uint32_t bytes = (uint32_t)box[0] << 24 | (uint32_t)box[1] << 16 | (uint32_t)box[2] << 8 | box[3];
    assert_int_equal(bytes, file.size - (sizeof expected - 1));
    assert_memory_equal(box + 4, "jp2c\xFF\x4F\xFF\x51", 8);
    assert_memory_equal(file.data + file.size - 2, "\xFF\xD9", 2);
    assert_memory_equal(code.data, "\xFF\x4F\xFF\x51", 4);
    free(file.data);
    free(code.data);
    picture_free(&p);
}

static void test_component_depths(void **unused)
{
    (void)unused;
    picture p, got;
    picture_shape(&p, 9, 9, 3);
    p.components[1].precision = 12;
    p.components[2].is_signed = true;
    for (uint32_t c = 0; c < 3; c++)
        picture_fill(&p, c);
    memory_file file = encode_with(&p, L2K_ENCODER_LEVELS, 1);
    const uint8_t *header = find_box(&file, "ihdr"), *depths = find_box(&file, "bpcc");
    assert_non_null(depths);
    assert_int_equal(header[18], 255);
    assert_memory_equal(depths,
                        "\0\0\0\x0B"
                        "bpcc\x07\x0B\x87",
                        11);
    assert_int_equal(decode_bytes(NULL, file.data, file.size, &got), L2K_OK);
    assert_true(picture_equal(&p, &got));
    for (uint32_t c = 0; c < 3; c++) {
        assert_int_equal(got.components[c].precision, p.components[c].precision);
        assert_int_equal(got.components[c].is_signed, p.components[c].is_signed);
    }
    free(file.data);
    picture_free(&p);
    picture_free(&got);
}

static void check_density(double x, double y)
{
    picture p, got;
    picture_make(&p, 4, 4, 1);
    p.image.density_x = x;
    p.image.density_y = y;
    memory_file file = encode_with(&p, L2K_ENCODER_LEVELS, 1);
    assert_int_equal(decode_bytes(NULL, file.data, file.size, &got), L2K_OK);
    assert_int_equal(find_box(&file, "res ") != NULL, x > 0 && y > 0);
    if (x > 0 && y > 0) {
        assert_true(fabs(got.image.density_x / x - 1) < 1e-4);
        assert_true(fabs(got.image.density_y / y - 1) < 1e-4);
    } else {
        assert_true(got.image.density_x == 0 && got.image.density_y == 0);
    }
    free(file.data);
    picture_free(&p);
    picture_free(&got);
}

static void test_density(void **unused)
{
    (void)unused;
    check_density(11811, 5906);
    check_density(2834.6457, 3937.0079);
    check_density(65535, 65536);
    check_density(1234567, 0.5);
    check_density(1e6, 1e-3);
    check_density(3e9, 7);
    check_density(0, 100);
    check_density(0, 0);
}

/* A profile of inks makes the file a JPX file, in which any profile has METH 3. */
static void check_icc(bool inks)
{
    picture p, got;
    uint8_t profile[333];
    for (size_t i = 0; i < sizeof profile; i++)
        profile[i] = (uint8_t)random_u64();
    memcpy(profile + 16, inks ? "CMYK" : "RGB ", 4);
    picture_make(&p, 4, 4, inks ? 4 : 3);
    p.image.colour = L2K_COLOUR_ICC;
    p.image.icc = profile;
    p.image.icc_bytes = sizeof profile;
    memory_file file = encode_with(&p, L2K_ENCODER_LEVELS, 1);
    const uint8_t *box = find_box(&file, "colr");
    assert_memory_equal(box + 8, inks ? "\x03\0\0" : "\x02\0\0", 3);
    assert_memory_equal(find_box(&file, "ftyp") + 8, inks ? "jpx " : "jp2 ", 4);
    assert_memory_equal(box + 11, profile, sizeof profile);
    memory_file in = memory_of(file.data, file.size);
    l2k_stream stream = stream_of(&in);
    l2k_decoder *decoder = l2k_decoder_new(NULL);
    l2k_image image;
    assert_int_equal(l2k_decoder_open(decoder, &stream), L2K_OK);
    assert_int_equal(l2k_decoder_image(decoder, &image), L2K_OK);
    assert_int_equal(image.colour, L2K_COLOUR_ICC);
    assert_int_equal(image.icc_bytes, sizeof profile);
    assert_memory_equal(image.icc, profile, sizeof profile);
    l2k_decoder_free(decoder);
    assert_int_equal(decode_bytes(NULL, file.data, file.size, &got), L2K_OK);
    assert_true(picture_equal(&p, &got));
    free(file.data);
    picture_free(&p);
    picture_free(&got);
}

static void test_icc(void **unused)
{
    (void)unused;
    check_icc(false);
    check_icc(true);
}

static void test_colours(void **unused)
{
    (void)unused;
    static const struct {
        l2k_colour colour;
        uint32_t components, enumerated;
    } cases[] = {{L2K_COLOUR_GRAY, 1, 17}, {L2K_COLOUR_SRGB, 3, 16},   {L2K_COLOUR_SYCC, 3, 18},
                 {L2K_COLOUR_CMYK, 4, 12}, {L2K_COLOUR_CIELAB, 3, 14}, {L2K_COLOUR_ESYCC, 3, 24}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        picture p, got;
        picture_make(&p, 4, 4, cases[i].components);
        p.image.colour = cases[i].colour;
        memory_file file = encode_with(&p, L2K_ENCODER_LEVELS, 1);
        assert_int_equal(find_box(&file, "colr")[14], cases[i].enumerated);
        assert_memory_equal(find_box(&file, "ftyp") + 8, i < 3 ? "jp2 \0\0\0\0jp2 " : "jpx \0\0\0\0jpx ", 12);
        if (i == 3)
            assert_memory_equal(find_box(&file, "rreq"), "\0\0\0\x15rreq\1\xA0\xA0\0\2\0\5\x80\0\x37\x20\0\0", 21);
        assert_int_equal(decode_bytes(NULL, file.data, file.size, &got), L2K_OK);
        assert_int_equal(got.image.colour, cases[i].colour);
        assert_true(picture_equal(&p, &got));
        free(file.data);
        picture_free(&p);
        picture_free(&got);
    }
}

/* Colours and opacity in another order than that of the columns would not come back. */
static void test_palette(void **unused)
{
    (void)unused;
    static const uint8_t entries[3][4] = {{1, 2, 3, 4}, {50, 60, 70, 80}, {250, 240, 230, 220}};
    picture p, got;
    picture_make(&p, 9, 7, 1);
    for (int i = 0; i < 9 * 7; i++)
        p.samples[0][i] = i % 3;
    p.image.colour = L2K_COLOUR_SRGB;
    for (unsigned channels = 3; channels <= 4; channels++) {
        memory_file file = memory_of(NULL, 0);
        l2k_stream stream = stream_of(&file);
        l2k_encoder *encoder = l2k_encoder_new(NULL);
        uint8_t packed[3 * 4];
        for (unsigned i = 0; i < 3 * channels; i++)
            packed[i] = entries[i / channels][i % channels];
        assert_int_equal(l2k_encoder_set_palette(encoder, packed, 3, channels), L2K_OK);
        assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_FORMAT, L2K_FORMAT_JP2), L2K_OK);
        assert_int_equal(l2k_encoder_encode(encoder, &p.image, p.planes, &stream), L2K_OK);
        assert_int_equal(decode_bytes(NULL, file.data, file.size, &got), L2K_OK);
        assert_int_equal(got.image.num_components, channels);
        assert_int_equal(got.components[channels - 1].channel,
                         channels == 4 ? L2K_CHANNEL_OPACITY : L2K_CHANNEL_COLOUR);
        for (unsigned c = 0; c < channels; c++)
            for (int i = 0; i < 9 * 7; i++)
                assert_int_equal(got.samples[c][i], entries[i % 3][c]);
        /* What cannot be one. */
        p.components[0].is_signed = true;
        assert_int_equal(l2k_encoder_encode(encoder, &p.image, p.planes, &stream), L2K_ERROR_ARGUMENT);
        p.components[0].is_signed = false;
        assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_FORMAT, L2K_FORMAT_CODESTREAM), L2K_OK);
        assert_int_equal(l2k_encoder_encode(encoder, &p.image, p.planes, &stream), L2K_ERROR_ARGUMENT);
        assert_int_equal(l2k_encoder_set_palette(encoder, packed, 1025, channels), L2K_ERROR_ARGUMENT);
        assert_int_equal(l2k_encoder_set_palette(encoder, packed, 3, 2), L2K_ERROR_ARGUMENT);
        assert_int_equal(l2k_encoder_set_palette(encoder, NULL, 0, 0), L2K_OK);
        assert_int_equal(l2k_encoder_encode(encoder, &p.image, p.planes, &stream), L2K_OK);
        l2k_encoder_free(encoder);
        free(file.data);
        picture_free(&got);
    }
    picture_free(&p);
}

static void test_opacity(void **unused)
{
    (void)unused;
    picture p, got;
    picture_make(&p, 6, 5, 4);
    p.components[3].channel = L2K_CHANNEL_OPACITY;
    p.components[3].association = 0;
    memory_file file = encode_with(&p, L2K_ENCODER_LEVELS, 1);
    assert_memory_equal(find_box(&file, "cdef"),
                        "\0\0\0\x22"
                        "cdef\0\4"
                        "\0\0\0\0\0\1"
                        "\0\1\0\0\0\2"
                        "\0\2\0\0\0\3"
                        "\0\3\0\1\0\0",
                        34);
    assert_int_equal(decode_bytes(NULL, file.data, file.size, &got), L2K_OK);
    assert_true(picture_equal(&p, &got));
    assert_int_equal(got.components[3].channel, L2K_CHANNEL_OPACITY);
    assert_int_equal(got.components[3].association, 0);
    assert_int_equal(got.components[0].channel, L2K_CHANNEL_COLOUR);
    free(file.data);
    picture_free(&p);
    picture_free(&got);
}

/* ---- Reading ------------------------------------------------------------------------------------------------- */

static void put_definitions(file_builder *f, const uint16_t (*entries)[3], unsigned count)
{
    size_t box = begin(f, "cdef");
    put(f, count, 2);
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = 0; k < 3; k++)
            put(f, entries[i][k], 2);
    end(f, box);
}

/* Codestream components in the order opacity, B, G, R: the image is R, G, B, opacity. */
static void test_definition_order(void **unused)
{
    (void)unused;
    static const uint16_t entries[4][3] = {{0, 1, 0}, {3, 0, 1}, {1, 0, 3}, {2, 0, 2}};
    static const uint32_t origin[4] = {3, 2, 1, 0};
    file_builder f;
    picture p, got;
    picture_make(&p, 6, 5, 4);
    put_signature(&f);
    size_t header = begin(&f, "jp2h");
    put_image_header(&f, &p, 7, 0);
    put_definitions(&f, entries, 4);
    put_colour(&f, 16);
    end(&f, header);
    put_codestream(&f, &p);
    assert_int_equal(decode_built(&f, &got), L2K_OK);
    for (uint32_t c = 0; c < 4; c++)
        assert_true(component_equal(&p, origin[c], &got, c));
    assert_int_equal(got.components[3].channel, L2K_CHANNEL_OPACITY);
    for (uint32_t c = 0; c < 3; c++)
        assert_int_equal(got.components[c].association, c + 1);
    picture_free(&p);
    picture_free(&got);
}

/* Box lengths: 64 bits, 0 for the last box. Unknown boxes anywhere; a header box after the codestream is too late, but
 * does not affect the samples. */
static void test_box_lengths(void **unused)
{
    (void)unused;
    picture p, got;
    picture_make(&p, 8, 7, 3);
    memory_file code = encode_with(&p, L2K_ENCODER_FORMAT, L2K_FORMAT_CODESTREAM);
    for (unsigned kind = 0; kind < 3; kind++) {
        file_builder f;
        put_signature(&f);
        size_t strange = begin(&f, "abcd");
        put(&f, 12345, 7);
        end(&f, strange);
        size_t header = begin(&f, "jp2h");
        put_image_header(&f, &p, 7, 0);
        size_t inner = begin(&f, "xyz ");
        end(&f, inner);
        put_colour(&f, 16);
        end(&f, header);
        put(&f, kind == 0 ? code.size + 8 : kind == 1 ? 1 : 0, 4);
        put_bytes(&f, "jp2c", 4);
        if (kind == 1)
            put(&f, code.size + 16, 8);
        put_bytes(&f, code.data, code.size);
        assert_int_equal(decode_built(&f, &got), L2K_OK);
        assert_true(picture_equal(&p, &got));
        assert_int_equal(got.image.colour, L2K_COLOUR_SRGB);
        picture_free(&got);
    }
    free(code.data);
    picture_free(&p);
}

static void test_bad_lengths(void **unused)
{
    (void)unused;
    static const struct {
        uint64_t length, extended;
    } cases[] = {{2, 0}, {7, 0}, {1, 3}, {1, 15}, {1, UINT64_MAX}, {1, (uint64_t)1 << 63}, {1000, 0}, {UINT32_MAX, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        file_builder f;
        picture got;
        put_signature(&f);
        put(&f, cases[i].length, 4);
        put_bytes(&f, "free", 4);
        put(&f, cases[i].extended, 8);
        put(&f, 0, 8);
        l2k_status status = decode_built(&f, &got);
        assert_true(status == L2K_ERROR_CORRUPT || status == L2K_ERROR_TRUNCATED);
    }
}

static void test_no_codestream(void **unused)
{
    (void)unused;
    file_builder f;
    picture p, got;
    picture_make(&p, 8, 7, 3);
    put_signature(&f);
    assert_int_not_equal(decode_built(&f, &got), L2K_OK);
    size_t header = begin(&f, "jp2h");
    put_image_header(&f, &p, 7, 0);
    put_colour(&f, 16);
    end(&f, header);
    assert_int_not_equal(decode_built(&f, &got), L2K_OK);
    picture_free(&p);
}

/* Nothing after the codestream is needed, so a truncated box there is no reason to refuse the file. */
static void test_cut_after_codestream(void **unused)
{
    (void)unused;
    static const uint8_t heads[][16] = {
        {0, 0, 0}, {0, 0, 0, 99, 'x', 'm', 'l', ' '}, {0, 0, 0, 1, 'x', 'm', 'l', ' ', 0, 0, 0, 0, 0, 0, 0, 99}};
    static const size_t sizes[] = {3, 8, 16};
    picture p, got;
    picture_make(&p, 8, 7, 1);
    for (size_t i = 0; i < 3; i++) {
        file_builder f;
        put_signature(&f);
        size_t header = begin(&f, "jp2h");
        put_image_header(&f, &p, 7, 0);
        put_colour(&f, 17);
        end(&f, header);
        put_codestream(&f, &p);
        put_bytes(&f, heads[i], sizes[i]);
        assert_int_equal(decode_built(&f, &got), L2K_OK);
        assert_true(picture_equal(&p, &got));
        picture_free(&got);
    }
    picture_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_written_head),  cmocka_unit_test(test_component_depths),
        cmocka_unit_test(test_density),       cmocka_unit_test(test_icc),
        cmocka_unit_test(test_palette),       cmocka_unit_test(test_colours),
        cmocka_unit_test(test_opacity),       cmocka_unit_test(test_definition_order),
        cmocka_unit_test(test_box_lengths),   cmocka_unit_test(test_bad_lengths),
        cmocka_unit_test(test_no_codestream), cmocka_unit_test(test_cut_after_codestream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
