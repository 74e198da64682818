/* Profiles of cinema and IMF, and limits of bytes: what they set, what they refuse, and that files keep them. */
#include "api_support.h"

static void fill_12_bits(picture *p, uint32_t width, uint32_t height, uint32_t count)
{
    picture_shape(p, width, height, count);
    for (uint32_t c = 0; c < count; c++) {
        p->components[c].precision = 12;
        picture_fill(p, c);
    }
}

static l2k_encoder *profile_encoder(const l2k_hooks *hooks, uint32_t profile, double rate)
{
    l2k_encoder *encoder = l2k_encoder_new(hooks);
    assert_non_null(encoder);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_FORMAT, L2K_FORMAT_CODESTREAM), L2K_OK);
    assert_int_equal(l2k_encoder_set_profile(encoder, profile, rate), L2K_OK);
    return encoder;
}

static l2k_info info_of(const memory_file *file)
{
    l2k_info info;
    memory_file again = memory_of(file->data, file->size);
    l2k_stream stream = stream_of(&again);
    l2k_decoder *decoder = new_decoder(NULL, 1);
    assert_int_equal(l2k_decoder_open(decoder, &stream), L2K_OK);
    assert_int_equal(l2k_decoder_info(decoder, &info), L2K_OK);
    info.comment = NULL;
    info.image.components = NULL;
    l2k_decoder_free(decoder);
    return info;
}

static void test_settings(void **unused)
{
    (void)unused;
    static const struct {
        uint32_t profile, set_levels, levels, parts;
    } cases[] = {{L2K_PROFILE_CINEMA_2K, 5, 5, 3},
                 {L2K_PROFILE_CINEMA_4K, 6, 6, 6},
                 {L2K_PROFILE_CINEMA_4K, 0, 5, 6},
                 {L2K_PROFILE_IMF_2K, 4, 4, 3},
                 {L2K_PROFILE_IMF_8K, 7, 7, 3},
                 {L2K_PROFILE_IMF_2K_R, 0, 5, 3},
                 {L2K_PROFILE_BROADCAST | 5, 0, 5, 3},
                 {L2K_PROFILE_BROADCAST_MULTI | 1, 3, 3, 3},
                 {L2K_PROFILE_BROADCAST_MULTI_R | 7, 0, 5, 3}};
    picture p;
    fill_12_bits(&p, 200, 130, 3);
    for (size_t k = 0; k < 2 * sizeof cases / sizeof *cases; k++) {
        const size_t i = k / 2;
        const bool ht = k % 2;
        memory_file file = memory_of(NULL, 0);
        l2k_encoder *encoder = l2k_encoder_new(NULL);
        assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_FORMAT, L2K_FORMAT_CODESTREAM), L2K_OK);
        if (ht)
            assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_STYLE, L2K_STYLE_HT), L2K_OK);
        if (i % 2)
            assert_int_equal(l2k_encoder_set_profile(encoder, cases[i].profile, 0), L2K_OK);
        if (cases[i].set_levels)
            assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_LEVELS, cases[i].set_levels), L2K_OK);
        assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_BLOCK_WIDTH, 32), L2K_OK);
        assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_TILE_WIDTH, 300), L2K_OK);
        if (!(i % 2))
            assert_int_equal(l2k_encoder_set_profile(encoder, cases[i].profile, 0), L2K_OK);
        assert_int_equal(l2k_encoder_check(encoder, &p.image), L2K_OK);
        assert_int_equal(run_encoder(encoder, &p, &file), L2K_OK);
        const l2k_info info = info_of(&file);
        assert_int_equal(info.profile, ht ? 0x4000 : cases[i].profile);
        assert_int_equal(info.corresponding_profile, ht ? (int64_t)cases[i].profile : -1);
        assert_int_equal(info.style, ht ? L2K_STYLE_HT : 0);
        if (ht) { /* CPF right after SIZ and CAP, as T.803 has it: the number plus one (A.6 of T.814) */
            const uint8_t *cpf = file.data + 4 + (file.data[4] << 8 | file.data[5]) + 10;
            assert_int_equal(cpf[0] << 8 | cpf[1], 0xFF59);
            assert_int_equal(cpf[2] << 8 | cpf[3], 4);
            assert_int_equal(cpf[4] << 8 | cpf[5], cases[i].profile + 1);
        }
        assert_int_equal(info.levels, cases[i].levels);
        assert_int_equal(info.num_tile_parts, cases[i].parts);
        assert_int_equal(info.tiles_across * info.tiles_down, 1);
        assert_int_equal(info.block_width, 32);
        assert_int_equal(info.precincts[0].width, 128);
        assert_int_equal(info.precincts[info.levels].height, 256);
        assert_int_equal(info.wavelet, cases[i].profile == L2K_PROFILE_IMF_2K_R ||
                                               cases[i].profile == (L2K_PROFILE_BROADCAST_MULTI_R | 7)
                                           ? L2K_WAVELET_5_3
                                           : L2K_WAVELET_9_7);
        free(file.data);
        l2k_encoder_free(encoder);
    }
    picture_free(&p);
}

/* ---- Refusals ---------------------------------------------------------------------------------------------------- */

static void refuse_in_order(uint32_t profile, const picture *p, l2k_encoder_option option, int64_t value,
                            const char *text, bool before)
{
    watch w;
    memory_file out = memory_of(NULL, 0);
    l2k_hooks hooks = watch_hooks(&w);
    l2k_encoder *encoder = l2k_encoder_new(&hooks);
    if (!before)
        assert_int_equal(l2k_encoder_set_profile(encoder, profile, 0), L2K_OK);
    assert_int_equal(l2k_encoder_set(encoder, option, value), L2K_OK);
    if (before)
        assert_int_equal(l2k_encoder_set_profile(encoder, profile, 0), L2K_OK);
    assert_int_equal(l2k_encoder_check(encoder, &p->image), L2K_ERROR_ARGUMENT);
    if (!strstr(w.text, text))
        fail_msg("\"%s\" does not say \"%s\"", w.text, text);
    assert_int_equal(run_encoder(encoder, p, &out), L2K_ERROR_ARGUMENT);
    assert_int_equal(out.size, 0);
    assert_false(w.bad_line);
    l2k_encoder_free(encoder);
    assert_int_equal(w.live, 0);
}

static void refuse_option(uint32_t profile, const picture *p, l2k_encoder_option option, int64_t value,
                          const char *text)
{
    refuse_in_order(profile, p, option, value, text, false);
    if (option != L2K_ENCODER_PROFILE)
        refuse_in_order(profile, p, option, value, text, true);
}

static void test_options_against(void **unused)
{
    (void)unused;
    picture p;
    fill_12_bits(&p, 200, 130, 3);
    const uint32_t c2 = L2K_PROFILE_CINEMA_2K, c4 = L2K_PROFILE_CINEMA_4K, i4 = L2K_PROFILE_IMF_4K,
                   r2 = L2K_PROFILE_IMF_2K_R, b1 = L2K_PROFILE_BROADCAST | 1, b2 = L2K_PROFILE_BROADCAST_MULTI | 1,
                   b3 = L2K_PROFILE_BROADCAST_MULTI_R | 6;
    refuse_option(c2, &p, L2K_ENCODER_WAVELET, L2K_WAVELET_5_3,
                  "cinema 2K needs the 9/7 wavelet, but the option wavelet");
    refuse_option(r2, &p, L2K_ENCODER_WAVELET, L2K_WAVELET_9_7, "5/3");
    refuse_option(i4, &p, L2K_ENCODER_WAVELET, L2K_WAVELET_HAAR, "kernels");
    refuse_option(c4, &p, L2K_ENCODER_LEVELS, 7, "1 to 6");
    refuse_option(i4, &p, L2K_ENCODER_LEVELS, 0, "1 to 6");
    refuse_option(c2, &p, L2K_ENCODER_BLOCK_WIDTH, 64, "32 x 32");
    refuse_option(c2, &p, L2K_ENCODER_STYLE, L2K_STYLE_BYPASS, "styles");
    refuse_option(0x8000, &p, L2K_ENCODER_STYLE, L2K_STYLE_HT, "HT code-blocks cannot have the profile of that number");
    refuse_option(i4, &p, L2K_ENCODER_STYLE, L2K_STYLE_HT | L2K_STYLE_VSC, "styles");
    refuse_option(c2, &p, L2K_ENCODER_TILE_PARTS, L2K_TILE_PARTS_ONE, "tile-part division");
    refuse_option(c4, &p, L2K_ENCODER_TLM, 0, "TLM");
    refuse_option(i4, &p, L2K_ENCODER_ROI_COMPONENT, 0, "region of interest");
    refuse_option(i4, &p, L2K_ENCODER_TILE_X0, 1, "tile origin");
    refuse_option(i4, &p, L2K_ENCODER_HT_PASSES, 2, "HT coding passes");
    refuse_option(i4, &p, L2K_ENCODER_PROGRESSION, L2K_LRCP, "CPRL");
    refuse_option(i4, &p, L2K_ENCODER_TILE_WIDTH, 128, "IMF 4K needs one tile, not tiles of 128 x 130");
    refuse_option(r2, &p, L2K_ENCODER_TILE_WIDTH, 128, "tiles of a side");
    refuse_option(b1, &p, L2K_ENCODER_TILE_WIDTH, 100, "broadcast needs one tile");
    refuse_option(b2, &p, L2K_ENCODER_TILE_WIDTH, 100, "broadcast multi needs one or four tiles");
    refuse_option(b3, &p, L2K_ENCODER_WAVELET, L2K_WAVELET_9_7, "5/3");
    refuse_option(b1, &p, L2K_ENCODER_LEVELS, 6, "1 to 5");
    refuse_option(b1, &p, L2K_ENCODER_BLOCK_WIDTH, 16, "sides of 32, 64 or 128");
    refuse_option(b1, &p, L2K_ENCODER_PROFILE, L2K_PROFILE_BROADCAST | 6, "main level");
    refuse_option(b3, &p, L2K_ENCODER_PROFILE, L2K_PROFILE_BROADCAST_MULTI_R | 5, "main level");
    refuse_option(b3, &p, L2K_ENCODER_PROFILE, L2K_PROFILE_BROADCAST_MULTI_R | 0x16, "main level");
    for (int precincts = 0; precincts < 2; precincts++)
        for (int before = 0; before < 2; before++) {
            const l2k_poc change = {L2K_ALL_TILES, L2K_LRCP, 0, 33, 0, 3, 1};
            watch w;
            const l2k_hooks hooks = watch_hooks(&w);
            l2k_encoder *encoder = l2k_encoder_new(&hooks);
            if (before)
                assert_int_equal(l2k_encoder_set_profile(encoder, i4, 0), L2K_OK);
            assert_int_equal(precincts ? l2k_encoder_set_precincts(encoder, &(l2k_size){128, 128}, 1)
                                       : l2k_encoder_set_poc(encoder, &change, 1),
                             L2K_OK);
            if (!before)
                assert_int_equal(l2k_encoder_set_profile(encoder, i4, 0), L2K_OK);
            assert_int_equal(l2k_encoder_check(encoder, &p.image), L2K_ERROR_ARGUMENT);
            assert_non_null(strstr(w.text, "IMF 4K needs"));
            assert_non_null(
                strstr(w.text, precincts ? "the option precincts" : "the option progression order changes"));
            assert_int_equal(l2k_encoder_set_profile(encoder, L2K_PROFILE_NONE, 0), L2K_OK);
            assert_int_equal(l2k_encoder_check(encoder, &p.image), L2K_OK);
            l2k_encoder_free(encoder);
        }
    refuse_option(c4, &p, L2K_ENCODER_PROFILE, L2K_PROFILE_CINEMA_2K, "CPRL");
    refuse_option(c2, &p, L2K_ENCODER_PROFILE, L2K_PROFILE_CINEMA_4K, "CPRL for all resolutions");
    refuse_option(i4, &p, L2K_ENCODER_PROFILE, L2K_PROFILE_IMF_4K | 12, "main level");
    refuse_option(i4, &p, L2K_ENCODER_PROFILE, L2K_PROFILE_IMF_4K | 0x34, "sub-level of at most 2");
    picture_free(&p);
}

static void refuse_picture(uint32_t profile, const picture *p, const char *text)
{
    refuse_option(profile, p, L2K_ENCODER_THREADS, 1, text);
}

static void test_pictures_against(void **unused)
{
    (void)unused;
    picture p;
    fill_12_bits(&p, 200, 130, 3);
    p.components[1].precision = 8;
    refuse_picture(L2K_PROFILE_CINEMA_2K, &p, "12 bits");
    p.components[1].precision = 17;
    refuse_picture(L2K_PROFILE_IMF_2K_R, &p, "8 to 16 bits");
    p.components[1].precision = 12;
    p.components[2].is_signed = true;
    refuse_picture(L2K_PROFILE_IMF_4K, &p, "unsigned");
    p.components[2].is_signed = false;
    p.components[2].dx = 2;
    refuse_picture(L2K_PROFILE_IMF_4K, &p, "half the width");
    p.components[2].dx = 1;
    p.image.x0 = 1;
    refuse_picture(L2K_PROFILE_IMF_2K, &p, "origin");
    p.image.x0 = 0;
    picture_free(&p);
    fill_12_bits(&p, 2049, 8, 3);
    refuse_picture(L2K_PROFILE_CINEMA_2K, &p, "2048 x 1080");
    refuse_picture(L2K_PROFILE_IMF_2K, &p, "2048 x 1556");
    picture_free(&p);
    fill_12_bits(&p, 20, 20, 5);
    refuse_picture(L2K_PROFILE_BROADCAST, &p, "at most four");
    picture_free(&p);
    fill_12_bits(&p, 20, 20, 4);
    p.components[3].precision = 13;
    refuse_picture(L2K_PROFILE_BROADCAST, &p, "8 to 12 bits");
    p.components[3].precision = 12;
    p.components[3].dx = 2;
    refuse_picture(L2K_PROFILE_BROADCAST, &p, "half the width");
    p.components[3].dx = 1;
    refuse_picture(L2K_PROFILE_CINEMA_4K, &p, "three components");
    refuse_picture(L2K_PROFILE_IMF_8K, &p, "at most three");
    picture_free(&p);
}

static void test_bad_calls(void **unused)
{
    (void)unused;
    const double psnr[2] = {30, 40};
    picture p;
    watch w;
    const l2k_hooks hooks = watch_hooks(&w);
    fill_12_bits(&p, 40, 40, 3);
    l2k_encoder *encoder = l2k_encoder_new(&hooks);
    assert_int_equal(l2k_encoder_set_profile(encoder, L2K_PROFILE_CINEMA_2K, 25), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_encoder_set_profile(encoder, L2K_PROFILE_IMF_2K, -1), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_encoder_set_profile(encoder, L2K_PROFILE_IMF_2K, 0.0 / 0.0), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_encoder_set_profile(encoder, L2K_PROFILE_IMF_2K | 0xF, 0), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_encoder_set_profile(encoder, 65536, 0), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_encoder_check(encoder, &p.image), L2K_OK); /* nothing has been set */
    assert_int_equal(l2k_encoder_check(encoder, NULL), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_encoder_set_profile(encoder, 0x8000, 0), L2K_OK); /* unknown here */
    assert_int_equal(l2k_encoder_check(encoder, &p.image), L2K_OK);
    assert_int_equal(l2k_encoder_set_profile(encoder, L2K_PROFILE_IMF_2K, 0), L2K_OK);
    assert_int_equal(l2k_encoder_set_layers(encoder, L2K_TARGET_PSNR, psnr, 2), L2K_OK);
    assert_int_equal(l2k_encoder_check(encoder, &p.image), L2K_ERROR_ARGUMENT);
    assert_non_null(strstr(w.text, "IMF 2K needs one layer, but the option layers says otherwise"));
    assert_int_equal(l2k_encoder_set_layers(encoder, L2K_TARGET_PSNR, NULL, 0), L2K_OK);
    assert_int_equal(l2k_encoder_set_profile(encoder, L2K_PROFILE_IMF_2K_R, 0), L2K_OK);
    assert_int_equal(l2k_encoder_set_step(encoder, 0.01), L2K_OK);
    assert_int_equal(l2k_encoder_check(encoder, &p.image), L2K_ERROR_ARGUMENT);
    assert_non_null(strstr(w.text, "IMF 2K R needs the 5/3 wavelet, which has no steps, but the option base step"));
    l2k_encoder_free(encoder);
    picture_free(&p);
}

/* ---- Limits of bytes --------------------------------------------------------------------------------------------- */

/* What cinema allows at 48 frames per second, of noise: as much as there is room for, but no component too much. */
static void test_cinema_limits(void **unused)
{
    (void)unused;
    picture p;
    fill_12_bits(&p, 1024, 600, 3);
    for (int k = 0; k < 4; k++) {
        const int noisy = k < 2 ? 1 : 3;
        memory_file file = memory_of(NULL, 0);
        for (uint32_t c = 0; c < 3; c++)
            for (size_t i = 0; i < 1024 * 600; i++)
                p.samples[c][i] = c < (uint32_t)noisy ? (int32_t)random_below(4096) : 2048;
        l2k_encoder *encoder = profile_encoder(NULL, L2K_PROFILE_CINEMA_2K, 48);
        assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_STYLE, k % 2 ? L2K_STYLE_HT : 0), L2K_OK);
        assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_COMPONENT_TRANSFORM, 0), L2K_OK);
        assert_int_equal(run_encoder(encoder, &p, &file), L2K_OK);
        const size_t most = noisy == 1 ? 520833 + 2000 : 651041;
        assert_in_range(file.size, most - most / 100, most);
        free(file.data);
        l2k_encoder_free(encoder);
    }
    picture_free(&p);
}

/* Limits below a profile's hold, those above do not; of IMF without frames per second, any. */
static void test_limits_with_profiles(void **unused)
{
    (void)unused;
    static const struct {
        uint32_t profile;
        double rate;
        int64_t most, component, least, bytes; /* `bytes` are those of the file at most, and at least */
    } cases[] = {{L2K_PROFILE_CINEMA_2K, 48, 90000, 0, 80000, 90000},
                 {L2K_PROFILE_CINEMA_2K, 48, 1 << 30, 1 << 30, 640000, 651041},
                 {L2K_PROFILE_CINEMA_2K, 48, 0, 20000, 50000, 62000},
                 {L2K_PROFILE_BROADCAST | 3, 200, 0, 0, 123000, 125000},
                 {L2K_PROFILE_BROADCAST | 4, 200, 0, 0, 247000, 250000},
                 {L2K_PROFILE_IMF_2K | 0x11, 0, 90000, 0, 80000, 90000}};
    picture p;
    fill_12_bits(&p, 1024, 600, 3);
    for (uint32_t c = 0; c < 3; c++)
        for (size_t i = 0; i < 1024 * 600; i++)
            p.samples[c][i] = (int32_t)random_below(4096);
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        const size_t k = i / 2;
        memory_file file = memory_of(NULL, 0);
        l2k_encoder *encoder = profile_encoder(NULL, i % 2 ? L2K_PROFILE_NONE : cases[k].profile, cases[k].rate);
        assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_COMPONENT_TRANSFORM, 0), L2K_OK);
        assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_MAX_BYTES, cases[k].most), L2K_OK);
        assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_COMPONENT_BYTES, cases[k].component), L2K_OK);
        if (i % 2)
            assert_int_equal(l2k_encoder_set_profile(encoder, cases[k].profile, cases[k].rate), L2K_OK);
        assert_int_equal(run_encoder(encoder, &p, &file), L2K_OK);
        assert_in_range(file.size, cases[k].least, cases[k].bytes);
        free(file.data);
        l2k_encoder_free(encoder);
    }
    picture_free(&p);
}

/* Whatever the layers ask for; and the file is the same as without where there is room. */
static void test_limits(void **unused)
{
    (void)unused;
    static const struct {
        l2k_target kind;
        size_t count;
        double targets[3];
    } layers[] = {{L2K_TARGET_RATIO, 0, {0}},    {L2K_TARGET_RATIO, 1, {3}},     {L2K_TARGET_RATIO, 3, {20, 8, 1}},
                  {L2K_TARGET_RATIO, 2, {8, 4}}, {L2K_TARGET_PSNR, 2, {30, 55}}, {L2K_TARGET_PSNR, 3, {25, 40, 0}}};
    picture p, got;
    picture_make(&p, 200, 160, 3);
    for (size_t k = 0; k < 2 * sizeof layers / sizeof *layers; k++)
        for (int variant = 0; variant < 6; variant++) {
            const size_t i = k / 2;
            const int64_t most = variant < 3 ? 9000 : variant == 3 ? 100 : 0, component = variant % 3 == 1 ? 3000 : 0;
            memory_file file = memory_of(NULL, 0), plain = memory_of(NULL, 0);
            l2k_encoder *encoder = l2k_encoder_new(NULL);
            assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_TILE_HEIGHT, variant % 2 ? 70 : 0), L2K_OK);
            assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_PLT, variant == 2), L2K_OK);
            assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_STYLE, k % 2 ? L2K_STYLE_HT : 0), L2K_OK);
            assert_int_equal(l2k_encoder_set_layers(encoder, layers[i].kind, layers[i].targets, layers[i].count),
                             L2K_OK);
            assert_int_equal(run_encoder(encoder, &p, &plain), L2K_OK);
            assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_MAX_BYTES, most ? most : 1 << 30), L2K_OK);
            assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_COMPONENT_BYTES, component), L2K_OK);
            assert_int_equal(run_encoder(encoder, &p, &file), L2K_OK);
            if (most == 9000)
                assert_in_range(file.size, component ? 5000 : plain.size < 9000 ? plain.size : 8000, 9000);
            if (component)
                assert_in_range(file.size, 2000, 3 * 3000 + 700);
            if (!most && !component) {
                assert_int_equal(file.size, plain.size);
                assert_memory_equal(file.data, plain.data, file.size);
            }
            assert_int_equal(decode_bytes(NULL, file.data, file.size, &got), L2K_OK);
            picture_free(&got);
            free(file.data);
            free(plain.data);
            l2k_encoder_free(encoder);
        }
    picture_free(&p);
}

/* By rows of tiles, the size of the others is not known. */
static void test_limits_by_rows(void **unused)
{
    (void)unused;
    picture p;
    memory_file out = memory_of(NULL, 0);
    l2k_stream stream = stream_of(&out);
    picture_make(&p, 60, 60, 1);
    l2k_encoder *encoder = l2k_encoder_new(NULL);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_MAX_BYTES, 1000), L2K_OK);
    assert_int_equal(l2k_encoder_begin(encoder, &p.image, &stream), L2K_OK);
    assert_int_equal(l2k_encoder_end(encoder), L2K_ERROR_STATE);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_TILE_HEIGHT, 30), L2K_OK);
    assert_int_equal(l2k_encoder_begin(encoder, &p.image, &stream), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_STYLE, L2K_STYLE_HT), L2K_OK);
    assert_int_equal(l2k_encoder_begin(encoder, &p.image, &stream), L2K_ERROR_ARGUMENT);
    l2k_encoder_free(encoder);
    picture_free(&p);
}

/* Tiles of an R profile lower the levels, whichever comes first; and the same in a batch. */
static void test_profile_of_batches(void **unused)
{
    (void)unused;
    picture p;
    fill_12_bits(&p, 1100, 40, 1);
    for (int before = 0; before < 2; before++) {
        memory_file file = memory_of(NULL, 0);
        l2k_stream stream = stream_of(&file);
        l2k_encode_item item = {.image = &p.image, .planes = p.planes, .stream = &stream};
        l2k_encoder *encoder = profile_encoder(NULL, before ? L2K_PROFILE_NONE : L2K_PROFILE_IMF_2K_R, 0);
        assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_TILE_WIDTH, 1024), L2K_OK);
        assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_TILE_HEIGHT, 1024), L2K_OK);
        if (before)
            assert_int_equal(l2k_encoder_set_profile(encoder, L2K_PROFILE_IMF_2K_R, 0), L2K_OK);
        assert_int_equal(l2k_encoder_encode_batch(encoder, &item, 1), L2K_OK);
        const l2k_info info = info_of(&file);
        assert_int_equal(info.profile, L2K_PROFILE_IMF_2K_R);
        assert_int_equal(info.levels, 4);
        assert_int_equal(info.tiles_across, 2);
        assert_int_equal(info.block_width, 32);
        free(file.data);
        l2k_encoder_free(encoder);
    }
    picture_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settings),          cmocka_unit_test(test_options_against),
        cmocka_unit_test(test_pictures_against),  cmocka_unit_test(test_bad_calls),
        cmocka_unit_test(test_cinema_limits),     cmocka_unit_test(test_limits),
        cmocka_unit_test(test_limits_by_rows),    cmocka_unit_test(test_limits_with_profiles),
        cmocka_unit_test(test_profile_of_batches)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
