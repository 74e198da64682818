/* Codestreams that our encoder does not write: packed packet headers, tile-parts in all arrangements, SOP and EPH that
 * contradict COD, regions of interest, components with different numbers of levels. Each decodes to the picture that it
 * was made from. */
#include "stream_support.h"

/* ---- Packets and tile-parts ---------------------------------------------------------------------------------- */

static void test_arrangements(void **unused)
{
    (void)unused;
    static edit e;
    picture p;
    picture_make(&p, 70, 50, 3);
    l2k_encoder *encoder = new_encoder(2);
    l2k_encoder_set(encoder, L2K_ENCODER_TILE_WIDTH, 40);
    l2k_encoder_set(encoder, L2K_ENCODER_TILE_HEIGHT, 30);
    set_layers(encoder, 2);
    memory_file file = finish_encoder(encoder, &p);
    edit_open(&e, &file);
    for (unsigned i = 0; i < 3 * 64; i++) {
        edit_plan plan = {.packed = i % 3,
                          .segment_bytes = i / 3 & 1 ? 41 : 5000,
                          .sop = i / 3 & 2,
                          .eph = i / 3 & 4,
                          .packets_in_part = i / 3 & 8 ? 5 : 0,
                          .interleaved = i / 3 & 16,
                          .open_end = i / 3 & 32};
        memory_file changed = edit_write(&e, &plan);
        expect(&p, &changed, 0);
        free(changed.data);
    }
    free(file.data);
    picture_free(&p);
}

/* PPM must have headers for every tile-part, and excludes PPT. */
static void test_packed_damage(void **unused)
{
    (void)unused;
    static const uint8_t ppt[] = {0xFF, 0x61, 0, 4, 0, 0x80}, ppm[] = {0xFF, 0x60, 0, 8, 0, 0, 0, 0, 1, 0};
    static edit e;
    picture p, got;
    picture_make(&p, 20, 20, 1);
    memory_file file = finish_encoder(new_encoder(1), &p);
    edit_open(&e, &file);
    edit_plan both = {.packed = PACKED_PPM, .segment_bytes = 5000, .part_extra = {ppt, sizeof ppt}};
    edit_plan twice = {.packed = PACKED_PPM, .segment_bytes = 5000, .main_extra = {ppm, sizeof ppm}};
    for (int i = 0; i < 2; i++) {
        memory_file changed = edit_write(&e, i ? &twice : &both);
        assert_int_equal(decode_bytes(NULL, changed.data, changed.size, &got), L2K_ERROR_CORRUPT);
        free(changed.data);
    }
    free(file.data);
    picture_free(&p);
}

/* Every tile lacks its last packet, or has one of the next tile after its own. That is reported once. */
static void test_packet_counts(void **unused)
{
    (void)unused;
    static edit e;
    picture p;
    picture_make(&p, 60, 20, 1);
    l2k_encoder *encoder = new_encoder(1);
    l2k_encoder_set(encoder, L2K_ENCODER_TILE_WIDTH, 20);
    memory_file file = finish_encoder(encoder, &p);
    for (int less = 0; less < 2; less++) {
        picture got;
        watch w;
        l2k_hooks hooks = watch_hooks(&w);
        edit_open(&e, &file);
        assert_int_equal(e.num_parts, 3);
        for (size_t i = 0; i < 3; i++)
            e.parts[i].count += less ? -1 : i < 2;
        memory_file changed = edit_write(&e, &(edit_plan){.eph = true});
        assert_int_equal(decode_bytes(&hooks, changed.data, changed.size, &got), L2K_OK);
        assert_int_equal(w.warnings, 1);
        assert_int_equal(picture_equal(&p, &got), !less);
        picture_free(&got);
        l2k_decoder *decoder = l2k_decoder_new(NULL);
        l2k_decoder_set(decoder, L2K_DECODER_STRICT, 1);
        l2k_status strict = run_decoder(decoder, changed.data, changed.size, &got);
        assert_int_equal(strict, less ? L2K_ERROR_TRUNCATED : L2K_OK);
        if (strict == L2K_OK)
            picture_free(&got);
        l2k_decoder_free(decoder);
        free(changed.data);
    }
    free(file.data);
    picture_free(&p);
}

/* ---- Regions of interest (Annex H) --------------------------------------------------------------------------- */

/* Exponents lowered by the shift keep the number of bit-planes; magnitudes below 2^shift are background and are not
 * changed. */
static void test_region_shift(void **unused)
{
    (void)unused;
    enum { SHIFT = 6 };
    static const uint8_t wrong[] = {0xFF, 0x5E, 0, 5, 0, 0, 3}, right[] = {0xFF, 0x5E, 0, 5, 0, 0, SHIFT};
    static edit e;
    picture p;
    picture_make(&p, 50, 30, 1);
    for (uint32_t i = 0; i < 50 * 30; i++)
        p.samples[0][i] = 128 + p.samples[0][i] % 5; /* no coefficient reaches 2^6 */
    memory_file file = finish_encoder(new_encoder(2), &p);
    edit_open(&e, &file);
    for (size_t i = 0; i + 2 < e.main.size; i++)
        if (file.data[i] == 0xFF && file.data[i + 1] == 0x5C)
            for (size_t k = 0; k < 7; k++)
                file.data[i + 5 + k] = (uint8_t)(file.data[i + 5 + k] - (SHIFT << 3));
    edit_plan in_main = {.eph = true, .main_extra = {right, sizeof right}};
    edit_plan in_tile = {.eph = true, .main_extra = {wrong, sizeof wrong}, .part_extra = {right, sizeof right}};
    memory_file changed = edit_write(&e, &in_main);
    expect(&p, &changed, 0);
    free(changed.data);
    changed = edit_write(&e, &in_tile);
    expect(&p, &changed, 0);
    free(changed.data);
    free(file.data);
    picture_free(&p);
}

/* ---- A component transform over different numbers of levels (COC) -------------------------------------------- */

static memory_file encode_components_first(const picture *p, uint32_t levels, l2k_wavelet wavelet)
{
    l2k_encoder *encoder = new_encoder(levels);
    l2k_encoder_set(encoder, L2K_ENCODER_PROGRESSION, L2K_CPRL);
    l2k_encoder_set(encoder, L2K_ENCODER_WAVELET, wavelet);
    return finish_encoder(encoder, p);
}

/* COC and QCC for components 1 and 2, made from the QCD of a file of two levels. */
static memory_file other_levels(const edit *two, l2k_wavelet wavelet)
{
    memory_file out = memory_of(NULL, 0);
    const uint8_t *qcd = two->main.data + 2;
    while (!(qcd[0] == 0xFF && qcd[1] == 0x5C))
        qcd += 2 + l2k_get_be(qcd + 2, 2);
    for (uint32_t c = 1; c < 3; c++) {
        edit_put(&out, 0xFF530009, 4);
        edit_put(&out, c << 8, 2);
        edit_put(&out, 0x02020200, 4); /* two levels, blocks of 16 x 16 */
        edit_put(&out, wavelet == L2K_WAVELET_5_3, 1);
        edit_put(&out, 0xFF5D, 2);
        edit_put(&out, l2k_get_be(qcd + 2, 2) + 1, 2);
        edit_put(&out, c, 1);
        memory_write(&out, qcd + 4, l2k_get_be(qcd + 2, 2) - 2);
    }
    return out;
}

/* With CUDA requested: the same samples from the CPU and one note for all tiles, or an error without a GPU. */
static void check_backend(const memory_file *file, const picture *expected)
{
    picture got;
    watch w;
    l2k_hooks hooks = watch_hooks(&w);
    l2k_decoder *decoder = new_decoder(&hooks, 1);
    l2k_decoder_set(decoder, L2K_DECODER_BACKEND, L2K_BACKEND_CUDA);
    bool usable = l2k_backend_usable(L2K_BACKEND_CUDA, NULL, 0);
    assert_int_equal(run_decoder(decoder, file->data, file->size, &got), usable ? L2K_OK : L2K_ERROR_BACKEND);
    assert_int_equal(w.errors, !usable);
    assert_int_equal(w.notes, usable);
    if (usable) {
        assert_true(picture_equal(expected, &got));
        picture_free(&got);
    }
    l2k_decoder_free(decoder);
}

/* Component 0 from a file with four levels, 1 and 2 from one with two. */
static void test_mixed_levels(void **unused)
{
    (void)unused;
    static edit four, two;
    static const uint32_t part[4] = {11, 7, 33, 29};
    for (int w = L2K_WAVELET_5_3; w <= L2K_WAVELET_9_7; w++) {
        picture p, got;
        picture_make(&p, 61, 47, 3);
        memory_file a = encode_components_first(&p, 4, w), b = encode_components_first(&p, 2, w);
        edit_open(&four, &a);
        edit_open(&two, &b);
        memory_file extra = other_levels(&two, w);
        memcpy(&four.packets[5], &two.packets[3], 6 * sizeof *two.packets);
        four.num_packets = four.parts[0].count = 5 + 6;
        edit_plan plan = {.eph = true, .main_extra = {extra.data, extra.size}};
        memory_file mixed = edit_write(&four, &plan);
        if (w == L2K_WAVELET_5_3)
            expect(&p, &mixed, 0);
        assert_int_equal(decode_bytes(NULL, mixed.data, mixed.size, &got), L2K_OK);
        for (uint32_t c = 0; c < 3; c++)
            for (uint32_t i = 0; i < 61 * 47; i++)
                assert_in_range(got.samples[c][i] - p.samples[c][i] + 4, 0, 8);
        check_backend(&mixed, &got);
        picture_free(&got);
        decode_region(&mixed, part, 0, &got);
        for (uint32_t y = 0; y < 22; y++)
            assert_in_range(got.samples[1][22 * y] - p.samples[1][61 * (y + 7) + 11] + 4, 0, 8);
        picture_free(&got);
        free(mixed.data);
        free(extra.data);
        free(a.data);
        free(b.data);
        picture_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arrangements), cmocka_unit_test(test_packed_damage), cmocka_unit_test(test_packet_counts),
        cmocka_unit_test(test_mixed_levels), cmocka_unit_test(test_region_shift),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
