/* Palettes and component mappings: conforming, damaged, and with errors that can be repaired. */
#include "jp2_build.h"

enum { ENTRIES = 5 };

static const uint8_t palette[ENTRIES][3] = {{10, 20, 30}, {255, 0, 7}, {1, 2, 3}, {90, 80, 70}, {0, 255, 128}};

static const uint32_t columns[3] = {0x00000100, 0x00000101, 0x00000102}; /* each is a channel */

/* One component of indices; `count` components in all, the last one opacity without a palette. */
static void make_indices(picture *p, uint32_t count)
{
    picture_make(p, 8, 7, count);
    for (uint32_t i = 0; i < 8 * 7; i++)
        p->samples[0][i] = (int32_t)(i * i % ENTRIES);
}

static void put_palette(file_builder *f, unsigned entries)
{
    size_t box = begin(f, "pclr");
    put(f, entries, 2);
    put(f, 3, 1);
    put(f, 0x070707, 3);
    put_bytes(f, palette, 3 * entries);
    end(f, box);
}

static void put_mapping(file_builder *f, const uint32_t *entries, unsigned count)
{
    size_t box = begin(f, "cmap");
    for (unsigned i = 0; i < count; i++)
        put(f, entries[i], 4);
    end(f, box);
}

static void build_palette(file_builder *f, const picture *p, unsigned entries, const uint32_t *mapping, unsigned mapped)
{
    put_signature(f);
    size_t header = begin(f, "jp2h");
    put_image_header(f, p, 7, 0);
    put_colour(f, 16);
    put_palette(f, entries);
    if (mapped)
        put_mapping(f, mapping, mapped);
    end(f, header);
    put_codestream(f, p);
}

static void test_palette(void **unused)
{
    (void)unused;
    static const uint32_t mapping[4] = {0x00000102, 0x00000101, 0x00000100,
                                        0x00010000}; /* columns 2, 1, 0, component 1 */
    file_builder f;
    picture p, got;
    make_indices(&p, 2);
    build_palette(&f, &p, ENTRIES, mapping, 4);
    assert_int_equal(decode_built(&f, &got), L2K_OK);
    assert_int_equal(got.image.num_components, 4);
    for (uint32_t c = 0; c < 3; c++) {
        assert_int_equal(got.components[c].precision, 8);
        for (uint32_t i = 0; i < 8 * 7; i++)
            assert_int_equal(got.samples[c][i], palette[p.samples[0][i]][2 - c]);
    }
    assert_true(component_equal(&p, 1, &got, 3));
    picture_free(&got);
    picture_free(&p);
}

/* l2k_decoder_decode_memory gives the same samples. */
static void test_palette_in_memory(void **unused)
{
    (void)unused;
    file_builder f;
    picture p;
    l2k_image image;
    const l2k_plane *planes;
    make_indices(&p, 1);
    build_palette(&f, &p, ENTRIES, columns, 3);
    l2k_decoder *decoder = l2k_decoder_new(NULL);
    assert_int_equal(l2k_decoder_decode_memory(decoder, f.data, f.size, &image, &planes), L2K_OK);
    assert_int_equal(image.num_components, 3);
    for (uint32_t c = 0; c < 3; c++) {
        assert_int_equal(planes[c].type, L2K_SAMPLE_U8);
        for (uint32_t i = 0; i < 8 * 7; i++)
            assert_int_equal(plane_sample(&planes[c], i % 8, i / 8), palette[p.samples[0][i]][c]);
    }
    l2k_decoder_free(decoder);
    picture_free(&p);
}

/* A single component selected by number is a codestream component: no palette is applied. */
static void test_palette_component(void **unused)
{
    (void)unused;
    file_builder f;
    picture p, got;
    make_indices(&p, 1);
    build_palette(&f, &p, ENTRIES, columns, 3);
    l2k_decoder *decoder = l2k_decoder_new(NULL);
    l2k_decoder_set(decoder, L2K_DECODER_COMPONENT, 0);
    assert_int_equal(run_decoder(decoder, f.data, f.size, &got), L2K_OK);
    assert_true(component_equal(&p, 0, &got, 0));
    picture_free(&got);
    l2k_decoder_free(decoder);
    picture_free(&p);
}

/* Indices past the end of the palette are clamped or refused, never looked up outside it; mappings to missing columns
 * or components are refused. */
static void test_palette_damage(void **unused)
{
    (void)unused;
    static const uint32_t no_column[3] = {0x00000100, 0x00000103, 0x00000102},
                          no_component[3] = {0x00000100, 0x00050101, 0x00000102};
    file_builder f;
    picture p, got;
    make_indices(&p, 1);
    build_palette(&f, &p, 2, columns, 3);
    if (decode_built(&f, &got) == L2K_OK) {
        for (uint32_t i = 0; i < 8 * 7; i++)
            assert_int_equal(got.samples[0][i], palette[p.samples[0][i] > 1 ? 1 : p.samples[0][i]][0]);
        picture_free(&got);
    }
    build_palette(&f, &p, ENTRIES, no_column, 3);
    assert_int_equal(decode_built(&f, &got), L2K_ERROR_CORRUPT);
    build_palette(&f, &p, ENTRIES, no_component, 3);
    assert_int_equal(decode_built(&f, &got), L2K_ERROR_CORRUPT);
    picture_free(&p);
}

/* ---- Repaired errors ----------------------------------------------------------------------------------------- */

static l2k_status decode_strictly(const file_builder *f, bool strict, watch *w, picture *got)
{
    l2k_hooks hooks = watch_hooks(w);
    l2k_decoder *decoder = new_decoder(&hooks, 1);
    l2k_decoder_set(decoder, L2K_DECODER_STRICT, strict);
    l2k_status status = run_decoder(decoder, f->data, f->size, got);
    l2k_decoder_free(decoder);
    return status;
}

/* The file must decode with `warnings` warnings, and be refused in strict mode; `got` is the picture. */
static void expect_tolerated(const file_builder *f, unsigned warnings, picture *got)
{
    watch w;
    assert_int_equal(decode_strictly(f, true, &w, got), L2K_ERROR_CORRUPT);
    assert_int_equal(w.errors, 1);
    assert_int_equal(w.live, 0);
    assert_int_equal(decode_strictly(f, false, &w, got), L2K_OK);
    assert_int_equal(w.warnings, warnings);
    assert_int_equal(w.live, 0);
}

static void expect_columns(const picture *p, picture *got)
{
    assert_int_equal(got->image.num_components, 3);
    for (uint32_t c = 0; c < 3; c++)
        for (uint32_t i = 0; i < 8 * 7; i++)
            assert_int_equal(got->samples[c][i], palette[p->samples[0][i]][c]);
    picture_free(got);
}

/* Columns declared with 4, 8 and 5 bits, all with values of 8 bits. */
static void test_wide_values(void **unused)
{
    (void)unused;
    file_builder f;
    picture p, got;
    make_indices(&p, 1);
    build_palette(&f, &p, ENTRIES, columns, 3);
    uint8_t *box = f.data;
    while (memcmp(box, "pclr", 4) != 0)
        box++;
    box[7] = 3;
    box[9] = 4;
    expect_tolerated(&f, 1, &got);
    for (uint32_t c = 0; c < 3; c++)
        assert_int_equal(got.components[c].precision, 8);
    expect_columns(&p, &got);
    picture_free(&p);
}

static void test_no_mapping(void **unused)
{
    (void)unused;
    file_builder f;
    picture p, got;
    make_indices(&p, 1);
    build_palette(&f, &p, ENTRIES, NULL, 0);
    expect_tolerated(&f, 1, &got);
    assert_true(picture_equal(&p, &got));
    picture_free(&got);
    picture_free(&p);
}

/* Indices as one column of three. Not repaired: two components, or fewer channels than columns. */
static void test_mixed_mapping(void **unused)
{
    (void)unused;
    static const uint32_t mixed[3] = {0x00000100, 0, 0};
    file_builder f;
    picture p, got;
    watch w;
    make_indices(&p, 1);
    build_palette(&f, &p, ENTRIES, mixed, 3);
    expect_tolerated(&f, 1, &got);
    expect_columns(&p, &got);
    build_palette(&f, &p, ENTRIES, mixed, 2);
    assert_int_equal(decode_strictly(&f, true, &w, &got), L2K_OK);
    assert_true(component_equal(&p, 0, &got, 1));
    picture_free(&got);
    picture_free(&p);
    make_indices(&p, 2);
    build_palette(&f, &p, ENTRIES, mixed, 3);
    assert_int_equal(decode_strictly(&f, true, &w, &got), L2K_OK);
    assert_true(component_equal(&p, 0, &got, 1));
    picture_free(&got);
    picture_free(&p);
}

/* Palette and mapping after the header box. If the header box has them too, those after it are ignored. */
static void test_after_header(void **unused)
{
    (void)unused;
    static const uint32_t reversed[3] = {0x00000102, 0x00000101, 0x00000100};
    file_builder f;
    picture p, got;
    watch w;
    make_indices(&p, 1);
    for (int inside = 0; inside < 2; inside++) {
        put_signature(&f);
        size_t header = begin(&f, "jp2h");
        put_image_header(&f, &p, 7, 0);
        put_colour(&f, 16);
        if (inside) {
            put_palette(&f, ENTRIES);
            put_mapping(&f, columns, 3);
        }
        end(&f, header);
        put_palette(&f, ENTRIES - 1 + !inside);
        put_mapping(&f, inside ? reversed : columns, 3);
        put_codestream(&f, &p);
        if (inside)
            assert_int_equal(decode_strictly(&f, true, &w, &got), L2K_OK);
        else
            expect_tolerated(&f, 2, &got);
        expect_columns(&p, &got);
    }
    picture_free(&p);
}

/* Decodes a file whose box `pclr` has these bytes. */
static l2k_status decode_palette_of(const picture *p, const void *bytes, size_t size, picture *got)
{
    file_builder f;
    put_signature(&f);
    size_t header = begin(&f, "jp2h"), box;
    put_image_header(&f, p, 7, 0);
    box = begin(&f, "pclr");
    put_bytes(&f, bytes, size);
    end(&f, box);
    put_mapping(&f, columns, 1);
    end(&f, header);
    put_codestream(&f, p);
    return decode_built(&f, got);
}

static void test_palette_boxes(void **unused)
{
    (void)unused;
    static const uint8_t empty[5] = {0}, none[] = {0, 0, 1, 7}, many[] = {4, 1, 1, 7}, no_bits[] = {0, 1, 9, 7},
                         few[] = {0, 2, 1, 7, 1}, wide[] = {0, 1, 1, 32, 0, 0, 0, 0, 1},
                         full[] = {0, 1, 1, 24, 0x80, 0, 0, 0}, minus[] = {0, 5, 1, 0x84, 0x1F, 0xFF, 0x0F, 0x10, 0xF0};
    static const struct {
        const uint8_t *bytes;
        size_t size;
        l2k_status status;
    } cases[] = {{empty, 2, L2K_ERROR_CORRUPT},          {empty, 5, L2K_ERROR_CORRUPT},
                 {none, sizeof none, L2K_ERROR_CORRUPT}, {many, sizeof many, L2K_ERROR_CORRUPT},
                 {few, sizeof few, L2K_ERROR_CORRUPT},   {no_bits, sizeof no_bits, L2K_ERROR_CORRUPT},
                 {full, sizeof full, L2K_ERROR_CORRUPT}, {wide, sizeof wide, L2K_ERROR_UNSUPPORTED},
                 {minus, sizeof minus, L2K_OK}};
    static const int32_t values[] = {-1, -1, 15, -16, -16};
    picture p, got;
    make_indices(&p, 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(decode_palette_of(&p, cases[i].bytes, cases[i].size, &got), cases[i].status);
    assert_true(got.components[0].is_signed);
    for (uint32_t i = 0; i < 8 * 7; i++)
        assert_int_equal(got.samples[0][i], values[p.samples[0][i]]);
    picture_free(&got);
    picture_free(&p);
}

/* A file with an inner box in the resolution box, and if `mapped` a component mapping in the header box. */
static void build_in_resolution(file_builder *f, const picture *p, const char *type, const void *content, size_t bytes,
                                bool mapped)
{
    put_signature(f);
    size_t header = begin(f, "jp2h");
    put_image_header(f, p, 7, 0);
    put_colour(f, 17);
    size_t resolution = begin(f, "res "), inner = begin(f, type);
    put_bytes(f, content, bytes);
    end(f, inner);
    end(f, resolution);
    if (mapped)
        put_mapping(f, columns, 1);
    end(f, header);
    put_codestream(f, p);
}

/* Damage in the resolution box is tolerated. A palette or mapping inside it, complete or not, is ignored. */
static void test_in_resolution_box(void **unused)
{
    (void)unused;
    static const uint8_t no_values[] = {0, 2, 1, 7}, no_entries[] = {0, 0, 1, 7}, all[] = {0, 2, 1, 7, 50, 60};
    static const uint8_t mapping[] = {0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0};
    static const struct {
        const char *type;
        const void *content;
        size_t bytes;
    } boxes[] = {{"pclr", no_values, sizeof no_values},
                 {"pclr", no_entries, sizeof no_entries},
                 {"pclr", all, sizeof all},
                 {"cmap", mapping, sizeof mapping}};
    picture p, got;
    make_indices(&p, 1);
    for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++) {
        file_builder f;
        build_in_resolution(&f, &p, boxes[i].type, boxes[i].content, boxes[i].bytes, false);
        assert_int_equal(decode_built(&f, &got), L2K_OK);
        assert_true(picture_equal(&p, &got));
        picture_free(&got);
        build_in_resolution(&f, &p, boxes[i].type, boxes[i].content, boxes[i].bytes, true);
        assert_int_equal(decode_built(&f, &got), L2K_ERROR_CORRUPT); /* there is no palette to map through */
    }
    picture_free(&p);
}

/* Three channels from one component count as three, even if one component is selected when the file is opened. */
static void test_limit(void **unused)
{
    (void)unused;
    file_builder f;
    picture p;
    make_indices(&p, 1);
    build_palette(&f, &p, ENTRIES, columns, 3);
    for (int component = -1; component < 1; component++)
        for (int samples = 3 * 8 * 7 - 1; samples <= 3 * 8 * 7; samples++) {
            l2k_decoder *decoder = l2k_decoder_new(NULL);
            l2k_decoder_set(decoder, L2K_DECODER_LIMIT_SAMPLES, samples);
            l2k_decoder_set(decoder, L2K_DECODER_COMPONENT, component);
            assert_int_equal(l2k_decoder_open_memory(decoder, f.data, f.size),
                             samples < 3 * 8 * 7 ? L2K_ERROR_LIMIT : L2K_OK);
            l2k_decoder_free(decoder);
        }
    picture_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_palette),           cmocka_unit_test(test_palette_component),
        cmocka_unit_test(test_palette_damage),    cmocka_unit_test(test_palette_in_memory),
        cmocka_unit_test(test_wide_values),       cmocka_unit_test(test_no_mapping),
        cmocka_unit_test(test_mixed_mapping),     cmocka_unit_test(test_after_header),
        cmocka_unit_test(test_palette_boxes),     cmocka_unit_test(test_limit),
        cmocka_unit_test(test_in_resolution_box),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
