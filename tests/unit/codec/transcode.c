/* l2k_encoder_transcode: what random codings (conformance/transcode.c) do not have. Headers that lift2k does not write,
 * boxes, hostile headers, failures. */
#include "jp2_build.h"
#include "stream_support.h"

/* Settings of a transcoding of `in` to `out`. */
static l2k_status run(const l2k_hooks *hooks, const memory_file *in, const encoder_setting *settings, size_t count,
                      uint32_t reduce, memory_file *out)
{
    const l2k_stream stream = stream_of(out);
    l2k_decoder *decoder = new_decoder(hooks, 1);
    l2k_encoder *encoder = l2k_encoder_new(hooks);
    l2k_encoder_set(encoder, L2K_ENCODER_THREADS, 1);
    l2k_decoder_set(decoder, L2K_DECODER_REDUCE, reduce);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(l2k_encoder_set(encoder, settings[i].option, settings[i].value), L2K_OK);
    *out = memory_of(NULL, 0);
    l2k_status status = l2k_decoder_open_memory(decoder, in->data, in->size);
    if (status == L2K_OK)
        status = l2k_encoder_transcode(encoder, decoder, &stream);
    l2k_encoder_free(encoder);
    l2k_decoder_free(decoder);
    return status;
}

static const encoder_setting to_ht = {L2K_ENCODER_STYLE, L2K_STYLE_HT}, to_mq = {L2K_ENCODER_STYLE, 0};

/* The picture stays, to HT and back; `warnings` of the decoder for the input. */
static void expect_kept(const picture *p, const memory_file *file, unsigned warnings)
{
    const encoder_setting order = {L2K_ENCODER_PROGRESSION, L2K_RPCL};
    memory_file ht, mq, other;
    expect(p, file, warnings);
    assert_int_equal(run(NULL, file, &to_ht, 1, 0, &ht), L2K_OK);
    assert_int_equal(run(NULL, &ht, &to_mq, 1, 0, &mq), L2K_OK);
    assert_int_equal(run(NULL, file, &order, 1, 0, &other), L2K_OK);
    expect(p, &ht, 0);
    expect(p, &mq, 0);
    expect(p, &other, 0);
    free(ht.data);
    free(mq.data);
    free(other.data);
}

/* ---- Headers ----------------------------------------------------------------------------------------------------- */

static void test_packed_headers(void **unused)
{
    (void)unused;
    static const edit_plan plans[] = {{.packed = PACKED_PPM, .segment_bytes = 300},
                                      {.packed = PACKED_PPT, .segment_bytes = 100, .eph = true, .interleaved = true},
                                      {.packets_in_part = 3, .sop = true, .open_end = true}};
    static edit e;
    picture p;
    picture_make(&p, 90, 70, 3);
    l2k_encoder *encoder = new_encoder(3);
    l2k_encoder_set(encoder, L2K_ENCODER_TILE_WIDTH, 50);
    set_layers(encoder, 3);
    memory_file file = finish_encoder(encoder, &p);
    edit_open(&e, &file);
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        memory_file changed = edit_write(&e, &plans[i]);
        expect_kept(&p, &changed, 0);
        free(changed.data);
    }
    free(file.data);
    picture_free(&p);
}

/* COC, QCC and RGN of the main header and of tiles; tile 1 has another order of its own. */
static void test_own_headers(void **unused)
{
    (void)unused;
    enum { QCC = 0x5D, COC = 0x53, COD = 0x52 };
    static edit e;
    picture p;
    picture_make(&p, 90, 70, 3);
    l2k_encoder *encoder = new_encoder(2);
    l2k_encoder_set(encoder, L2K_ENCODER_TILE_WIDTH, 50);
    l2k_encoder_set(encoder, L2K_ENCODER_COMPONENT_TRANSFORM, 0);
    memory_file file = finish_encoder(encoder, &p);
    edit_open(&e, &file);
    /* Component 2 is said again, as COD and QCD say it, and with an unused guard bit's worth of shift for others. */
    const edit_plan plan = {
        .sop = true,
        .eph = true,
        .main_extra = SEGMENT(0xFF, COC, 0, 9, 2, 0, 2, 2, 2, 0, 1),
        .part_extra = SEGMENT(0xFF, COD, 0, 12, 6, 0, 0, 1, 0, 2, 2, 2, 0, 1, 0xFF, COC, 0, 9, 1, 0, 2, 2, 2, 0, 1)};
    memory_file changed = edit_write(&e, &plan);
    expect_kept(&p, &changed, 0);
    free(changed.data);
    free(file.data);
    picture_free(&p);
}

/* `out` is `file` without some resolutions. */
static void expect_reduced(const memory_file *file, const memory_file *out, uint32_t reduce)
{
    const uint32_t all[] = {0, 0, UINT32_MAX, UINT32_MAX};
    picture whole, part;
    decode_region(file, all, reduce, &whole);
    decode_region(out, all, 0, &part);
    for (uint32_t c = 0; c < 3; c++)
        assert_true(component_equal(&whole, c, &part, c));
    picture_free(&whole);
    picture_free(&part);
}

/* DFS and ATK, with fewer resolutions as well. */
static void test_splits(void **unused)
{
    (void)unused;
    static const char *const splits[] = {"hhh", "bhv", "vvb", "bbh"};
    picture p;
    picture_make(&p, 90, 70, 3);
    for (int i = 0; i < 4; i++) {
        l2k_encoder *encoder = new_encoder(3);
        assert_int_equal(l2k_encoder_set_splits(encoder, splits[i]), L2K_OK);
        if (i > 1)
            l2k_encoder_set(encoder, L2K_ENCODER_WAVELET, L2K_WAVELET_DD_13_7);
        memory_file file = finish_encoder(encoder, &p), out;
        expect_kept(&p, &file, 0);
        for (uint32_t reduce = 1; reduce <= 3; reduce++) {
            assert_int_equal(run(NULL, &file, reduce & 1 ? &to_ht : NULL, reduce & 1, reduce, &out), L2K_OK);
            expect_reduced(&file, &out, reduce);
            free(out.data);
        }
        free(file.data);
    }
    picture_free(&p);
}

static void test_comments_and_profile(void **unused)
{
    (void)unused;
    picture p;
    picture_make(&p, 64, 64, 3);
    l2k_encoder *encoder = l2k_encoder_new(NULL);
    assert_int_equal(l2k_encoder_set_profile(encoder, L2K_PROFILE_BROADCAST | 1, 0), L2K_OK);
    l2k_encoder_set_comment(encoder, "one comment");
    memory_file file = finish_encoder(encoder, &p), ht, back, other;
    const encoder_setting order = {L2K_ENCODER_PROGRESSION, L2K_LRCP};
    assert_int_equal(run(NULL, &file, &to_ht, 1, 0, &ht), L2K_OK);
    assert_int_equal(run(NULL, &ht, &to_mq, 1, 0, &back), L2K_OK);
    assert_int_equal(run(NULL, &file, &order, 1, 0, &other), L2K_OK);
    const memory_file *files[] = {&file, &ht, &back, &other};
    for (int i = 0; i < 4; i++) {
        l2k_decoder *decoder = new_decoder(NULL, 1);
        l2k_info info;
        assert_int_equal(l2k_decoder_open_memory(decoder, files[i]->data, files[i]->size), L2K_OK);
        assert_int_equal(l2k_decoder_info(decoder, &info), L2K_OK);
        assert_string_equal(info.comment, "one comment");
        assert_int_equal(info.profile, i == 1 ? 0x4000 : i == 3 ? 0 : L2K_PROFILE_BROADCAST | 1);
        assert_int_equal(info.corresponding_profile, i == 1 ? L2K_PROFILE_BROADCAST | 1 : -1);
        l2k_decoder_free(decoder);
        free(files[i]->data);
    }
    picture_free(&p);
}

/* ---- Boxes ------------------------------------------------------------------------------------------------------- */

static void put_text_box(file_builder *f, const char *type, const char *text)
{
    const size_t box = begin(f, type);
    put_bytes(f, text, strlen(text));
    end(f, box);
}

/* Types and contents, but for the brand and the codestream. */
static void assert_same_boxes(const file_builder *f, const memory_file *out, bool ht)
{
    l2k_decoder *decoders[2] = {new_decoder(NULL, 1), new_decoder(NULL, 1)};
    l2k_box a, b;
    assert_int_equal(l2k_decoder_open_memory(decoders[0], f->data, f->size), L2K_OK);
    assert_int_equal(l2k_decoder_open_memory(decoders[1], out->data, out->size), L2K_OK);
    for (size_t i = 0; l2k_decoder_box(decoders[0], i, &a) == L2K_OK; i++) {
        assert_int_equal(l2k_decoder_box(decoders[1], i, &b), L2K_OK);
        assert_string_equal(a.type, b.type);
        if (strcmp(a.type, "ftyp") == 0)
            assert_memory_equal(out->data + b.offset + 8, ht ? "jph \0\0\0\0jph " : "jp2 \0\0\0\0jp2 ", 12);
        else if (strcmp(a.type, "jp2c") != 0)
            assert_memory_equal(f->data + a.offset, out->data + b.offset, (size_t)a.bytes);
    }
    assert_int_equal(l2k_decoder_box(decoders[1], 16, &b), L2K_ERROR_ARGUMENT);
    l2k_decoder_free(decoders[0]);
    l2k_decoder_free(decoders[1]);
}

static void test_boxes(void **unused)
{
    (void)unused;
    static file_builder f, again;
    picture p;
    picture_make(&p, 40, 30, 1);
    put_signature(&f);
    put_text_box(&f, "rreq", "any content");
    size_t header = begin(&f, "jp2h"), box;
    put_image_header(&f, &p, 7, 0);
    put_colour(&f, 17);
    box = begin(&f, "res ");
    put_text_box(&f, "resc", "\1\1\1\1\1\1\1\1\1\1");
    end(&f, box);
    end(&f, header);
    put_text_box(&f, "uuid", "0123456789abcdef and more");
    box = begin(&f, "asoc");
    put_text_box(&f, "lbl ", "label");
    put_text_box(&f, "xml ", "<a/>");
    end(&f, box);
    put_codestream(&f, &p);
    put_text_box(&f, "xyz!", "unknown, behind the codestream");
    put_text_box(&f, "xml ", "<b/>");
    const memory_file file = memory_of(f.data, f.size);
    memory_file out, back;
    assert_int_equal(run(NULL, &file, &to_ht, 1, 0, &out), L2K_OK);
    assert_same_boxes(&f, &out, true);
    memcpy(again.data, out.data, again.size = out.size);
    assert_int_equal(run(NULL, &out, &to_mq, 1, 0, &back), L2K_OK);
    assert_same_boxes(&f, &back, false);
    expect(&p, &back, 0);
    free(out.data);
    free(back.data);
    /* Without boxes, and then with new ones; reduced, the image header box is right. */
    assert_int_equal(run(NULL, &file, &(encoder_setting){L2K_ENCODER_FORMAT, L2K_FORMAT_CODESTREAM}, 1, 1, &out),
                     L2K_OK);
    assert_int_equal(out.data[0], 0xFF);
    assert_int_equal(run(NULL, &out, &(encoder_setting){L2K_ENCODER_FORMAT, L2K_FORMAT_JP2}, 1, 0, &back), L2K_OK);
    assert_memory_equal(back.data + 48, "\0\0\0\x0F\0\0\0\x14\0\1\7", 11);
    free(out.data);
    free(back.data);
    picture_free(&p);
}

/* ---- Less, and what does not fit ----------------------------------------------------------------------------------- */

static void test_reduced(void **unused)
{
    (void)unused;
    picture p;
    picture_shape(&p, 120, 100, 3);
    p.image.x0 = 13;
    p.image.y0 = 5;
    p.components[1].dx = p.components[2].dy = 2;
    for (uint32_t c = 0; c < 3; c++)
        picture_fill(&p, c);
    for (uint32_t tile = 32; tile <= 50; tile += 18)
        for (uint32_t reduce = 1; reduce <= 2; reduce++) {
            l2k_encoder *encoder = new_encoder(3);
            l2k_encoder_set(encoder, L2K_ENCODER_TILE_WIDTH, tile);
            l2k_encoder_set(encoder, L2K_ENCODER_TILE_X0, 3);
            memory_file file = finish_encoder(encoder, &p), out;
            const bool fits = tile % (1u << reduce) == 0;
            assert_int_equal(run(NULL, &file, NULL, 0, reduce, &out), fits ? L2K_OK : L2K_ERROR_ARGUMENT);
            assert_true(fits || out.size == 0);
            if (fits)
                expect_reduced(&file, &out, reduce);
            free(file.data);
            free(out.data);
        }
    picture_free(&p);
}

static void test_calls(void **unused)
{
    (void)unused;
    picture p;
    picture_make(&p, 50, 40, 1);
    memory_file file = finish_encoder(new_encoder(2), &p), out = memory_of(NULL, 0);
    watch w;
    const l2k_hooks hooks = watch_hooks(&w);
    const l2k_stream stream = stream_of(&out);
    l2k_encoder *encoder = l2k_encoder_new(&hooks);
    l2k_decoder *decoder = new_decoder(&hooks, 1);
    assert_int_equal(l2k_encoder_transcode(encoder, NULL, &stream), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_encoder_transcode(encoder, decoder, NULL), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_encoder_transcode(encoder, decoder, &stream), L2K_ERROR_STATE);
    assert_int_equal(l2k_decoder_push(decoder, file.data, file.size - 20), L2K_OK);
    assert_int_equal(l2k_encoder_transcode(encoder, decoder, &stream), L2K_ERROR_STATE);
    assert_int_equal(l2k_decoder_push(decoder, file.data + file.size - 20, 20), L2K_OK);
    assert_int_equal(l2k_decoder_push(decoder, NULL, 0), L2K_OK);
    assert_int_equal(l2k_encoder_transcode(encoder, decoder, &stream), L2K_OK);
    assert_same_file(&out, &file);
    const l2k_size cuts = {8, 8}, fits = {64, 64};
    l2k_encoder_set_precincts(encoder, &cuts, 1);
    assert_int_equal(l2k_encoder_transcode(encoder, decoder, &stream), L2K_ERROR_ARGUMENT);
    l2k_encoder_set_precincts(encoder, &fits, 1);
    out.size = 0;
    assert_int_equal(l2k_encoder_transcode(encoder, decoder, &stream), L2K_OK);
    expect(&p, &out, 0);
    out.fail_at = 50;
    out.size = 0;
    assert_int_equal(l2k_encoder_transcode(encoder, decoder, &stream), L2K_ERROR_IO);
    /* The encoder goes on with pictures, the decoder with the file. */
    l2k_encoder_set_precincts(encoder, NULL, 0);
    out.fail_at = SIZE_MAX;
    assert_int_equal(run_encoder(encoder, &p, &out), L2K_OK);
    expect(&p, &out, 0);
    l2k_encoder_free(encoder);
    l2k_decoder_free(decoder);
    assert_int_equal(w.live, 0);
    assert_false(w.bad_line);
    free(out.data);
    free(file.data);
    picture_free(&p);
}

/* ---- Damage -------------------------------------------------------------------------------------------------------- */

/* A tile that is missing stays so; TLM and PLT list what there is. */
static void test_missing_tiles(void **unused)
{
    (void)unused;
    picture p, got;
    picture_make(&p, 90, 70, 1);
    l2k_encoder *encoder = new_encoder(2);
    l2k_encoder_set(encoder, L2K_ENCODER_TILE_WIDTH, 30);
    l2k_encoder_set(encoder, L2K_ENCODER_TLM, 1);
    l2k_encoder_set(encoder, L2K_ENCODER_PLT, 1);
    memory_file file = finish_encoder(encoder, &p), out;
    file.size /= 2;
    assert_int_equal(run(NULL, &file, &to_ht, 1, 0, &out), L2K_INCOMPLETE);
    picture as_cut;
    assert_int_equal(decode_bytes(NULL, file.data, file.size, &as_cut), L2K_INCOMPLETE);
    assert_int_equal(decode_bytes(NULL, out.data, out.size, &got), L2K_OK); /* its headers promise no more */
    assert_true(picture_equal(&as_cut, &got));
    picture_free(&as_cut);
    picture_free(&got);
    free(file.data);
    free(out.data);
    picture_free(&p);
}

/* Headers that promise 65535 layers of many code-blocks cost neither time nor bytes. */
static void test_promises(void **unused)
{
    (void)unused;
    picture p;
    picture_make(&p, 1000, 1000, 1);
    memset(p.samples[0], 0, (size_t)1000 * 1000 * sizeof(int32_t));
    l2k_encoder *encoder = new_encoder(1);
    l2k_encoder_set(encoder, L2K_ENCODER_BLOCK_WIDTH, 4);
    l2k_encoder_set(encoder, L2K_ENCODER_BLOCK_HEIGHT, 4);
    memory_file file = finish_encoder(encoder, &p), out;
    for (size_t at = 2; at + 8 < file.size; at += 2 + l2k_get_be(file.data + at + 2, 2))
        if (file.data[at + 1] == 0x52) {
            file.data[at + 6] = file.data[at + 7] = 0xFF;
            break;
        }
    watch w;
    const l2k_hooks hooks = watch_hooks(&w);
    assert_int_equal(run(&hooks, &file, NULL, 0, 0, &out), L2K_ERROR_LIMIT);
    assert_int_equal(out.size, 0);
    assert_int_equal(w.live, 0);
    free(file.data);
    picture_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_packed_headers), cmocka_unit_test(test_own_headers),
        cmocka_unit_test(test_splits),         cmocka_unit_test(test_comments_and_profile),
        cmocka_unit_test(test_boxes),          cmocka_unit_test(test_reduced),
        cmocka_unit_test(test_calls),          cmocka_unit_test(test_missing_tiles),
        cmocka_unit_test(test_promises),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
