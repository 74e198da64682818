/* What an encoder's functions and options add to the headers: progression order changes, a component of interest, guard
 * bits, a comment. */
#include "api_support.h"

enum { LEVELS = 3, COMPONENTS = 3, LAYERS = 3, MOST_CHANGES = 8 };

static l2k_encoder *new_encoder(const l2k_hooks *hooks)
{
    const double ratios[LAYERS] = {20, 6, 1};
    l2k_encoder *encoder = l2k_encoder_new(hooks);
    assert_non_null(encoder);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_FORMAT, L2K_FORMAT_CODESTREAM), L2K_OK);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_LEVELS, LEVELS), L2K_OK);
    assert_int_equal(l2k_encoder_set_layers(encoder, L2K_TARGET_RATIO, ratios, LAYERS), L2K_OK);
    return encoder;
}

/* Encodes; the file decodes to the picture and says `info`. */
static memory_file check(l2k_encoder *encoder, const picture *p, l2k_info *info)
{
    picture got;
    memory_file file = memory_of(NULL, 0);
    assert_int_equal(run_encoder(encoder, p, &file), L2K_OK);
    assert_int_equal(decode_bytes(NULL, file.data, file.size, &got), L2K_OK);
    assert_true(picture_equal(p, &got));
    picture_free(&got);
    l2k_decoder *decoder = new_decoder(NULL, 1);
    memory_file again = memory_of(file.data, file.size);
    l2k_stream stream = stream_of(&again);
    assert_int_equal(l2k_decoder_open(decoder, &stream), L2K_OK);
    assert_int_equal(l2k_decoder_info(decoder, info), L2K_OK);
    info->comment = NULL;
    l2k_decoder_free(decoder);
    return file;
}

/* The parameters of the first marker segment with a code, before or behind the first SOT; NULL if there is none. */
static const uint8_t *find(const memory_file *file, unsigned marker, bool in_tile)
{
    bool tile = false;
    for (size_t at = 2; at + 4 < file->size;) {
        const unsigned code = (unsigned)file->data[at] << 8 | file->data[at + 1];
        tile |= code == 0xFF90;
        if (code == 0xFF93)
            return NULL;
        if (code == marker && tile == in_tile)
            return file->data + at + 4;
        at += 2u + ((size_t)file->data[at + 2] << 8 | file->data[at + 3]);
    }
    return NULL;
}

/* ---- Progression order changes ---------------------------------------------------------------------------------- */

static l2k_poc random_change(uint32_t tile, bool everything)
{
    l2k_poc c = {tile, (l2k_progression)random_below(5), 0, LEVELS + 1 + random_below(3), 0, COMPONENTS, LAYERS};
    if (everything)
        return c;
    c.resolution_start = random_below(LEVELS + 1);
    c.resolution_end = c.resolution_start + 1 + random_below(LEVELS + 1 - c.resolution_start);
    c.component_start = random_below(COMPONENTS);
    c.component_end = c.component_start + 1 + random_below(300);
    c.layer_end = 1 + random_below(LAYERS + 2);
    return c;
}

/* Ranges may overlap: what has come before does not come again. */
static void test_random_changes(void **unused)
{
    (void)unused;
    picture p;
    l2k_info info;
    picture_make(&p, 90, 70, COMPONENTS);
    l2k_encoder *encoder = new_encoder(NULL);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_TILE_WIDTH, 50), L2K_OK);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_TILE_HEIGHT, 50), L2K_OK);
    for (unsigned i = 0; i < 100; i++) {
        l2k_poc changes[2 * MOST_CHANGES];
        size_t count = 0;
        const uint32_t tiles[2] = {random_below(4), i % 3 ? L2K_ALL_TILES : 3};
        for (unsigned t = 0; t < (i % 2 ? 2u : 1u); t++)
            for (unsigned n = random_below(MOST_CHANGES), k = 0; k <= n; k++)
                changes[count++] = random_change(tiles[t], k == n);
        assert_int_equal(l2k_encoder_set_poc(encoder, changes, count), L2K_OK);
        memory_file file = check(encoder, &p, &info);
        const bool in_main = i % 2 && tiles[1] == L2K_ALL_TILES;
        assert_int_equal(find(&file, 0xFF5F, false) != NULL, in_main);
        if (tiles[0] == 0)
            assert_non_null(find(&file, 0xFF5F, true));
        free(file.data);
    }
    l2k_encoder_free(encoder);
    picture_free(&p);
}

/* Components from 256 on, of three: their index in a byte would be that of all, and 256 as an end would be 0. */
static void test_absent_components(void **unused)
{
    (void)unused;
    picture p;
    l2k_info info;
    const l2k_poc changes[2] = {{L2K_ALL_TILES, L2K_RPCL, 0, LEVELS + 1, 256, 300, LAYERS},
                                {L2K_ALL_TILES, L2K_LRCP, 0, LEVELS + 1, 0, 300, LAYERS}};
    picture_make(&p, 90, 70, COMPONENTS);
    l2k_encoder *encoder = new_encoder(NULL);
    assert_int_equal(l2k_encoder_set_poc(encoder, changes, 2), L2K_OK);
    memory_file file = check(encoder, &p, &info);
    assert_int_equal(find(&file, 0xFF5F, false)[5], COMPONENTS); /* CEpoc, after RSpoc, CSpoc, LYEpoc and REpoc */
    free(file.data);
    assert_int_equal(l2k_encoder_set_poc(encoder, changes, 1), L2K_OK); /* every component is left out */
    file = memory_of(NULL, 0);
    assert_int_equal(run_encoder(encoder, &p, &file), L2K_ERROR_ARGUMENT);
    l2k_encoder_free(encoder);
    picture_free(&p);
}

/* Each begins a tile-part: two of tile 2, one of the others; and none when the changes are taken back. */
static void test_parts(void **unused)
{
    (void)unused;
    picture p;
    l2k_info info;
    const l2k_poc changes[2] = {{2, L2K_CPRL, 0, 2, 0, COMPONENTS, LAYERS}, {2, L2K_LRCP, 2, LEVELS + 1, 0, 3, LAYERS}};
    const uint8_t expected[14] = {0, 0, 0, LAYERS, 2, 3, L2K_CPRL, 2, 0, 0, LAYERS, LEVELS + 1, 3, L2K_LRCP};
    picture_make(&p, 90, 70, COMPONENTS);
    l2k_encoder *encoder = new_encoder(NULL);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_TILE_HEIGHT, 30), L2K_OK);
    memory_file before = check(encoder, &p, &info);
    assert_int_equal(l2k_encoder_set_poc(encoder, changes, 2), L2K_OK);
    memory_file file = check(encoder, &p, &info);
    assert_int_equal(info.num_tile_parts, 4);
    free(file.data);
    l2k_poc first[2] = {changes[0], changes[1]};
    first[0].tile = first[1].tile = 0;
    assert_int_equal(l2k_encoder_set_poc(encoder, first, 2), L2K_OK);
    file = check(encoder, &p, &info);
    assert_memory_equal(find(&file, 0xFF5F, true), expected, sizeof expected);
    free(file.data);
    assert_int_equal(l2k_encoder_set_poc(encoder, NULL, 0), L2K_OK);
    file = check(encoder, &p, &info);
    assert_int_equal(file.size, before.size);
    assert_memory_equal(file.data, before.data, before.size);
    free(before.data);
    free(file.data);
    l2k_encoder_free(encoder);
    picture_free(&p);
}

static void test_bad_changes(void **unused)
{
    (void)unused;
    static const l2k_poc impossible[] = {{0, (l2k_progression)5, 0, 1, 0, 1, 1}, {0, L2K_LRCP, 1, 1, 0, 1, 1},
                                         {0, L2K_LRCP, 0, 34, 0, 1, 1},          {0, L2K_LRCP, 0, 1, 2, 2, 1},
                                         {0, L2K_LRCP, 0, 1, 0, 16385, 1},       {0, L2K_LRCP, 0, 1, 0, 1, 0},
                                         {0, L2K_LRCP, 0, 1, 0, 1, 65536}};
    /* A layer, a resolution, a component, the tile itself. */
    static const l2k_poc lacking[] = {{0, L2K_LRCP, 0, 4, 0, 3, 2},
                                      {0, L2K_LRCP, 1, 4, 0, 3, 3},
                                      {L2K_ALL_TILES, L2K_LRCP, 0, 4, 0, 2, 3},
                                      {1, L2K_LRCP, 0, 4, 0, 3, 3}};
    watch w;
    picture p;
    memory_file out = memory_of(NULL, 0);
    l2k_hooks hooks = watch_hooks(&w);
    picture_make(&p, 40, 40, COMPONENTS);
    l2k_encoder *encoder = new_encoder(&hooks);
    for (size_t i = 0; i < sizeof impossible / sizeof *impossible; i++)
        assert_int_equal(l2k_encoder_set_poc(encoder, &impossible[i], 1), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_encoder_set_poc(encoder, impossible, 7282), L2K_ERROR_ARGUMENT);
    for (size_t i = 0; i < sizeof lacking / sizeof *lacking; i++) {
        assert_int_equal(l2k_encoder_set_poc(encoder, &lacking[i], 1), L2K_OK);
        assert_int_equal(run_encoder(encoder, &p, &out), L2K_ERROR_ARGUMENT);
        assert_non_null(strstr(w.text, "progression order changes"));
    }
    assert_int_equal(out.size, 0);
    assert_false(w.bad_line);
    l2k_encoder_free(encoder);
    assert_int_equal(w.live, 0);
    picture_free(&p);
}

/* ---- The others -------------------------------------------------------------------------------------------------- */

/* No sample and no other byte changes. */
static void test_region(void **unused)
{
    (void)unused;
    picture p;
    l2k_info info;
    memory_file out = memory_of(NULL, 0);
    picture_make(&p, 60, 50, COMPONENTS);
    l2k_encoder *encoder = new_encoder(NULL);
    memory_file plain = check(encoder, &p, &info);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_ROI_COMPONENT, 1), L2K_OK);
    for (int shift = 1; shift <= 20; shift++) {
        assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_ROI_SHIFT, shift), L2K_OK);
        memory_file file = check(encoder, &p, &info);
        const uint8_t *rgn = find(&file, 0xFF5E, false), expected[3] = {1, 0, (uint8_t)shift};
        assert_non_null(rgn);
        assert_memory_equal(rgn, expected, 3);
        assert_in_range(file.size, plain.size - 100, plain.size + 100);
        free(file.data);
    }
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_ROI_SHIFT, 38), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_ROI_COMPONENT, 3), L2K_OK);
    assert_int_equal(run_encoder(encoder, &p, &out), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_ROI_COMPONENT, 1), L2K_OK);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_STYLE, L2K_STYLE_HT), L2K_OK);
    assert_int_equal(run_encoder(encoder, &p, &out), L2K_ERROR_ARGUMENT);
    l2k_encoder_free(encoder);
    free(plain.data);
    picture_free(&p);
}

/* Noise needs more than one guard bit, and gets it. */
static void test_guard_bits(void **unused)
{
    (void)unused;
    picture p;
    l2k_info info;
    picture_make(&p, 64, 64, COMPONENTS);
    for (uint32_t c = 0; c < COMPONENTS; c++)
        for (size_t i = 0; i < 64 * 64; i++)
            p.samples[c][i] = random_below(2) ? 255 : 0;
    for (unsigned bits = 1; bits <= 7; bits++) {
        l2k_encoder *encoder = new_encoder(NULL);
        assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_GUARD_BITS, bits), L2K_OK);
        memory_file file = check(encoder, &p, &info);
        assert_in_range(info.guard_bits, bits < 2 ? 2 : bits, bits < 3 ? 3 : bits);
        free(file.data);
        l2k_encoder_free(encoder);
    }
    picture_free(&p);
}

/* Samples far beyond their precision have no room, and seven guard bits are the most there are. */
static void test_too_large(void **unused)
{
    (void)unused;
    picture p;
    memory_file out = memory_of(NULL, 0);
    picture_make(&p, 64, 64, 1);
    for (size_t i = 0; i < 64 * 64; i++)
        p.samples[0][i] = (int32_t)random_below(1 << 20);
    for (unsigned bits = 1; bits <= 7; bits++) {
        l2k_encoder *encoder = new_encoder(NULL);
        assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_GUARD_BITS, bits), L2K_OK);
        assert_int_equal(run_encoder(encoder, &p, &out), L2K_ERROR_ARGUMENT);
        l2k_encoder_free(encoder);
    }
    assert_int_equal(out.size, 0);
    picture_free(&p);
}

static void test_comment(void **unused)
{
    (void)unused;
    picture p;
    l2k_info info;
    static char text[65533];
    picture_make(&p, 20, 20, 1);
    l2k_encoder *encoder = new_encoder(NULL);
    assert_int_equal(l2k_encoder_set_comment(encoder, "two words"), L2K_OK);
    memory_file file = check(encoder, &p, &info);
    assert_memory_equal(find(&file, 0xFF64, false) - 2, "\0\r\0\1two words", 13);
    free(file.data);
    assert_int_equal(l2k_encoder_set_comment(encoder, ""), L2K_OK);
    file = check(encoder, &p, &info);
    assert_null(find(&file, 0xFF64, false));
    free(file.data);
    memset(text, 'x', 65532);
    assert_int_equal(l2k_encoder_set_comment(encoder, text), L2K_ERROR_ARGUMENT);
    text[65531] = 0;
    assert_int_equal(l2k_encoder_set_comment(encoder, text), L2K_OK);
    file = check(encoder, &p, &info);
    assert_memory_equal(find(&file, 0xFF64, false) - 2, "\xFF\xFF\0\1xx", 6);
    free(file.data);
    assert_int_equal(l2k_encoder_set_comment(encoder, NULL), L2K_OK);
    file = check(encoder, &p, &info);
    assert_memory_equal(find(&file, 0xFF64, false) + 2, "Created by lift2k", 17);
    free(file.data);
    l2k_encoder_free(encoder);
    picture_free(&p);
}

/* Images of a batch have them, too. */
static void test_batch(void **unused)
{
    (void)unused;
    enum { IMAGES = 3 };
    picture p;
    l2k_info info;
    memory_file files[IMAGES];
    l2k_stream streams[IMAGES];
    l2k_encode_item items[IMAGES];
    picture_make(&p, 60, 50, COMPONENTS);
    l2k_encoder *encoder = new_encoder(NULL);
    const l2k_poc changes[2] = {{0, L2K_CPRL, 0, 2, 0, 3, LAYERS}, {0, L2K_PCRL, 2, 4, 0, 3, LAYERS}};
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_THREADS, 2), L2K_OK);
    for (unsigned round = 0; round < 2; round++) {
        assert_int_equal(l2k_encoder_set_poc(encoder, changes, round ? 0 : 2), L2K_OK);
        assert_int_equal(l2k_encoder_set_comment(encoder, round ? "other" : "same"), L2K_OK);
        memory_file one = check(encoder, &p, &info);
        for (unsigned i = 0; i < IMAGES; i++) {
            files[i] = memory_of(NULL, 0);
            streams[i] = stream_of(&files[i]);
            items[i] = (l2k_encode_item){&p.image, p.planes, &streams[i], L2K_OK};
        }
        assert_int_equal(l2k_encoder_encode_batch(encoder, items, IMAGES), L2K_OK);
        for (unsigned i = 0; i < IMAGES; i++) {
            assert_int_equal(files[i].size, one.size);
            assert_memory_equal(files[i].data, one.data, one.size);
            free(files[i].data);
        }
        free(one.data);
    }
    l2k_encoder_free(encoder);
    picture_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_changes), cmocka_unit_test(test_absent_components),
                                       cmocka_unit_test(test_parts),          cmocka_unit_test(test_bad_changes),
                                       cmocka_unit_test(test_region),         cmocka_unit_test(test_guard_bits),
                                       cmocka_unit_test(test_too_large),      cmocka_unit_test(test_comment),
                                       cmocka_unit_test(test_batch)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
