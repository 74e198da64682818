/* HT code-blocks in files: what the headers say of them, which options go together, ratios, PSNRs and limits that
 * truncation reaches, layers. */
#include "api_support.h"

#include <math.h>

#include "codec/tile/coding.h"

typedef struct ht_case {
    encoder_setting settings[16];
    unsigned num_settings;
    l2k_target kind;
    double targets[4];
    unsigned num_targets;
    double base;
    bool may_warn; /* that headers alone exceed a goal */
} ht_case;

static void set(ht_case *t, l2k_encoder_option option, int64_t value)
{
    t->settings[t->num_settings++] = (encoder_setting){option, value};
}

static ht_case ht_of(l2k_wavelet wavelet, unsigned passes)
{
    ht_case t = {.num_settings = 0};
    set(&t, L2K_ENCODER_STYLE, L2K_STYLE_HT);
    set(&t, L2K_ENCODER_WAVELET, wavelet);
    set(&t, L2K_ENCODER_HT_PASSES, passes);
    set(&t, L2K_ENCODER_FORMAT, L2K_FORMAT_CODESTREAM);
    return t;
}

static l2k_encoder *encoder_of(const ht_case *t, watch *w)
{
    l2k_hooks hooks = watch_hooks(w);
    l2k_encoder *e = l2k_encoder_new(&hooks);
    assert_non_null(e);
    assert_int_equal(l2k_encoder_set(e, L2K_ENCODER_THREADS, 1), L2K_OK);
    for (unsigned i = 0; i < t->num_settings; i++)
        assert_int_equal(l2k_encoder_set(e, t->settings[i].option, t->settings[i].value), L2K_OK);
    assert_int_equal(l2k_encoder_set_layers(e, t->kind, t->targets, t->num_targets), L2K_OK);
    assert_int_equal(l2k_encoder_set_step(e, t->base), L2K_OK);
    return e;
}

static memory_file encode(const ht_case *t, const picture *p)
{
    watch w;
    memory_file out = memory_of(NULL, 0);
    l2k_encoder *e = encoder_of(t, &w);
    assert_int_equal(run_encoder(e, p, &out), L2K_OK);
    assert_true(t->may_warn || w.warnings == 0);
    l2k_encoder_free(e);
    assert_int_equal(w.live, 0);
    return out;
}

static l2k_info info_of(const memory_file *file)
{
    l2k_info info;
    l2k_decoder *d = l2k_decoder_new(NULL);
    assert_int_equal(l2k_decoder_open_memory(d, file->data, file->size), L2K_OK);
    assert_int_equal(l2k_decoder_info(d, &info), L2K_OK);
    l2k_decoder_free(d);
    return info;
}

/* ---- Pictures ------------------------------------------------------------------------------------------------ */

/* Smooth shapes with edges, and texture in a part of them, as in photographs. */
static void draw(picture *p)
{
    for (uint32_t c = 0; c < p->image.num_components; c++) {
        picture_fill(p, c);
        const double peak = ldexp(1, (int)p->components[c].precision) - 1;
        for (uint32_t y = 0; y < p->height[c]; y++)
            for (uint32_t x = 0; x < p->width[c]; x++) {
                double v = 0.5 + 0.25 * sin(x * 0.021 + c) + 0.2 * cos(y * 0.037 - 0.01 * x);
                v += (x / 37 + y / 53) % 2 ? 0.07 : -0.05;
                v += (x * 3 / p->width[c]) * 0.03 * ((double)random_below(1000) / 1000 - 0.5);
                v = v < 0 ? 0 : v > 1 ? 1 : v;
                p->samples[c][(size_t)y * p->width[c] + x] = (int32_t)lround(v * peak);
            }
    }
}

static void make(picture *p, uint32_t width, uint32_t height, uint32_t count, unsigned precision)
{
    picture_shape(p, width, height, count);
    for (uint32_t c = 0; c < count; c++)
        p->components[c].precision = precision;
    draw(p);
}

/* Over all components, as in l2k_target. */
static double psnr_between(const picture *a, const picture *b)
{
    double sum = 0, samples = 0;
    for (uint32_t c = 0; c < a->image.num_components; c++) {
        const double peak = ldexp(1, (int)a->components[c].precision) - 1;
        const size_t count = (size_t)a->width[c] * a->height[c];
        for (size_t i = 0; i < count; i++) {
            double difference = (a->samples[c][i] - b->samples[c][i]) / peak;
            sum += difference * difference;
        }
        samples += (double)count;
    }
    return -10 * log10(sum / samples);
}

static double decoded_psnr(const memory_file *file, const picture *p, unsigned layers)
{
    picture got;
    l2k_decoder *d = new_decoder(NULL, 1);
    assert_int_equal(l2k_decoder_set(d, L2K_DECODER_LAYERS, layers), L2K_OK);
    assert_int_equal(run_decoder(d, file->data, file->size, &got), L2K_OK);
    double psnr = psnr_between(p, &got);
    picture_free(&got);
    l2k_decoder_free(d);
    return psnr;
}

/* ---- Headers ------------------------------------------------------------------------------------------------- */

/* SIZ says that there is CAP, which follows it, and COD's style is HT (A.5.2; A.3 and A.4 of T.814). */
static void test_head(void **unused)
{
    (void)unused;
    static const uint8_t cap[10] = {0xFF, 0x50, 0, 8, 0, 2, 0, 0, 0, 0x20};
    picture p;
    make(&p, 40, 30, 1, 8);
    ht_case t = ht_of(L2K_WAVELET_9_7, 1);
    memory_file file = encode(&t, &p);
    assert_int_equal(file.data[6] << 8 | file.data[7], 0x4000);
    const uint8_t *at = file.data + 4 + (file.data[4] << 8 | file.data[5]);
    assert_memory_equal(at, cap, sizeof cap - 1);
    assert_int_equal(at[9] & 0xE0, 0x20);
    assert_int_equal(at[10] << 8 | at[11], 0xFF52);
    assert_int_equal(at[22], 0x40);
    free(file.data);
    t.settings[3].value = L2K_FORMAT_JP2;
    file = encode(&t, &p);
    assert_memory_equal(file.data + 16, "ftypjph \0\0\0\0jph ", 16);
    free(file.data);
    file = encode_with(&p, L2K_ENCODER_FORMAT, L2K_FORMAT_JP2);
    assert_memory_equal(file.data + 16, "ftypjp2 \0\0\0\0jp2 ", 16);
    free(file.data);
    picture_free(&p);
}

static void test_magnitude_codes(void **unused)
{
    (void)unused;
    for (unsigned bound = 0; bound <= 74; bound++) {
        unsigned code = l2k_magnitude_code(bound);
        assert_true(code < 32 && l2k_magnitude_bound(code) >= bound);
        assert_true(code == 0 || l2k_magnitude_bound(code - 1) < bound);
    }
    assert_int_equal(l2k_magnitude_bound(0), 8);
    assert_int_equal(l2k_magnitude_bound(19), 27);
    assert_int_equal(l2k_magnitude_bound(20), 31);
    assert_int_equal(l2k_magnitude_bound(31), 74);
}

/* Without decomposition a sample is its coefficient: one of a known magnitude among zeros. The bound is that of the
 * cleanup pass, which leaves out a bit-plane if refinement passes follow; of the 9/7's LL of level 0 it is one more
 * (8.7.3 of T.814). */
static void check_bound(l2k_wavelet wavelet, unsigned passes, unsigned magnitude_bits)
{
    picture p;
    picture_shape(&p, 9, 7, 1);
    p.components[0].precision = 16;
    picture_fill(&p, 0);
    for (unsigned i = 0; i < 63; i++)
        p.samples[0][i] = 1 << 15;
    p.samples[0][20] -= magnitude_bits ? 1 << (magnitude_bits - 1) : 0;
    ht_case t = ht_of(wavelet, passes);
    set(&t, L2K_ENCODER_LEVELS, 0);
    memory_file file = encode(&t, &p);
    unsigned expected = magnitude_bits - (passes > 1 && magnitude_bits) + (wavelet == L2K_WAVELET_9_7);
    assert_int_equal(info_of(&file).ht_magnitude_bits, expected > 8 ? expected : 8);
    assert_int_equal(info_of(&file).ht_irreversible, wavelet == L2K_WAVELET_9_7);
    free(file.data);
    picture_free(&p);
}

static void test_magnitude_bound(void **unused)
{
    (void)unused;
    for (unsigned passes = 1; passes <= 3; passes++)
        for (unsigned bits = 0; bits <= 16; bits++) {
            check_bound(L2K_WAVELET_5_3, passes, bits);
            check_bound(L2K_WAVELET_9_7, passes, bits);
        }
}

/* ---- By rows ------------------------------------------------------------------------------------------------- */

static memory_file encode_rows(const ht_case *t, const picture *p, bool can_rewrite)
{
    watch w;
    uint32_t y0 = 0, y1 = 0;
    memory_file out = memory_of(NULL, 0);
    l2k_stream stream = stream_of(&out);
    l2k_encoder *e = encoder_of(t, &w);
    stream.rewrite = can_rewrite ? memory_rewrite : NULL;
    assert_int_equal(l2k_encoder_begin(e, &p->image, &stream), L2K_OK);
    while (l2k_encoder_next_rows(e, &y0, &y1) == L2K_OK && y0 < y1) {
        l2k_plane planes[MOST_CHANNELS];
        for (uint32_t c = 0; c < p->image.num_components; c++) {
            planes[c] = p->planes[c];
            planes[c].data = (char *)planes[c].data + (ptrdiff_t)y0 * planes[c].row_stride;
        }
        assert_int_equal(l2k_encoder_put_rows(e, planes), L2K_OK);
    }
    assert_int_equal(l2k_encoder_end(e), L2K_OK);
    l2k_encoder_free(e);
    return out;
}

/* The head is corrected at the end, or promises what holds for any tile. */
static void check_rows(l2k_wavelet wavelet, l2k_format format)
{
    picture p, got;
    ht_case t = ht_of(wavelet, 1);
    make(&p, 150, 130, 3, 12);
    set(&t, L2K_ENCODER_TILE_WIDTH, 64);
    set(&t, L2K_ENCODER_TILE_HEIGHT, 48);
    t.settings[3].value = format;
    memory_file whole = encode(&t, &p), rows = encode_rows(&t, &p, true), stream = encode_rows(&t, &p, false);
    assert_int_equal(rows.size, whole.size);
    assert_memory_equal(rows.data, whole.data, whole.size);
    l2k_info exact = info_of(&whole), promised = info_of(&stream);
    assert_false(exact.ht_mixed_tiles);
    assert_true(promised.ht_mixed_tiles);
    assert_true(promised.ht_magnitude_bits > exact.ht_magnitude_bits);
    assert_int_equal(decode_bytes(NULL, stream.data, stream.size, &got), L2K_OK);
    assert_true(wavelet == L2K_WAVELET_9_7 || picture_equal(&p, &got));
    picture_free(&got);
    picture_free(&p);
    free(whole.data);
    free(rows.data);
    free(stream.data);
}

static void test_rows(void **unused)
{
    (void)unused;
    check_rows(L2K_WAVELET_5_3, L2K_FORMAT_CODESTREAM);
    check_rows(L2K_WAVELET_5_3, L2K_FORMAT_JP2);
    check_rows(L2K_WAVELET_9_7, L2K_FORMAT_CODESTREAM);
}

/* ---- Ratios and PSNRs ---------------------------------------------------------------------------------------- */

static size_t raw_bytes(const picture *p)
{
    size_t bits = 0;
    for (uint32_t c = 0; c < p->image.num_components; c++)
        bits += (size_t)p->width[c] * p->height[c] * p->components[c].precision;
    return bits / 8;
}

/* MQ code-blocks at the same size: a few dB better. A picture that is wrong somewhere would be far below. */
static double mq_psnr(ht_case t, const picture *p)
{
    t.settings[0].value = 0;
    t.settings[2].value = 1;
    memory_file file = encode(&t, p);
    double psnr = decoded_psnr(&file, p, 0);
    free(file.data);
    return psnr;
}

static void check_ratio(ht_case t, const picture *p, double ratio, bool by_rows)
{
    t.kind = L2K_TARGET_RATIO;
    t.targets[0] = ratio;
    t.num_targets = 1;
    memory_file file = by_rows ? encode_rows(&t, p, true) : encode(&t, p);
    double goal = (double)raw_bytes(p) / ratio, found = (double)file.size / goal;
    double psnr = decoded_psnr(&file, p, 0), mq = mq_psnr(t, p);
    if (!(found <= 1 && found >= 0.985 && psnr > mq - 3))
        print_message("%u x %u x %u, ratio %g: %.4f of the size, %.2f dB, MQ %.2f dB\n", p->width[0], p->height[0],
                      p->image.num_components, ratio, found, psnr, mq);
    assert_true(found <= 1 && found >= (goal < 50000 ? 0.985 : 0.995));
    assert_true(psnr > mq - 3);
    free(file.data);
}

static void test_ratio(void **unused)
{
    (void)unused;
    static const double ratios[] = {2.5, 6, 15, 40};
    static const struct {
        uint32_t width, height, components;
        unsigned precision;
    } shapes[] = {{200, 170, 3, 8}, {333, 257, 1, 8}, {256, 256, 1, 16}, {180, 300, 4, 12}};
    picture p;
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        make(&p, shapes[s].width, shapes[s].height, shapes[s].components, shapes[s].precision);
        for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++)
            for (unsigned passes = 1; passes <= 3; passes += 2) {
                check_ratio(ht_of(L2K_WAVELET_5_3, passes), &p, 2 + ratios[i], false);
                check_ratio(ht_of(L2K_WAVELET_9_7, passes), &p, ratios[i], false);
            }
        picture_free(&p);
    }
}

/* With all that takes room around the packets. */
static void test_ratio_of_tiles(void **unused)
{
    (void)unused;
    static const encoder_setting around[] = {{L2K_ENCODER_SOP, 1},
                                             {L2K_ENCODER_EPH, 1},
                                             {L2K_ENCODER_PLT, 1},
                                             {L2K_ENCODER_TLM, 1},
                                             {L2K_ENCODER_TILE_PARTS, L2K_TILE_PARTS_RESOLUTION},
                                             {L2K_ENCODER_FORMAT, L2K_FORMAT_JP2}};
    picture p;
    make(&p, 400, 300, 3, 8);
    ht_case t = ht_of(L2K_WAVELET_9_7, 1);
    set(&t, L2K_ENCODER_TILE_WIDTH, 128);
    set(&t, L2K_ENCODER_TILE_HEIGHT, 100);
    check_ratio(t, &p, 8, false);
    check_ratio(t, &p, 8, true);
    for (size_t i = 0; i < sizeof around / sizeof *around; i++)
        set(&t, around[i].option, around[i].value);
    check_ratio(t, &p, 10, false);
    check_ratio(t, &p, 10, true);
    picture_free(&p);
}

/* The highest exponent of a subband's step in QCD (A.6.4). */
static unsigned highest_exponent(const memory_file *file)
{
    const uint8_t *at = file->data;
    unsigned highest = 0;
    while (at[0] != 0xFF || at[1] != 0x5C)
        at++;
    for (const uint8_t *step = at + 5; step < at + 2 + (at[2] << 8 | at[3]); step += 2)
        highest = *step >> 3 > highest ? *step >> 3 : highest;
    return highest;
}

/* Of a large picture, not all samples are counted, but some of each line. */
static void test_ratio_of_lines(void **unused)
{
    (void)unused;
    picture p;
    picture_make(&p, 2100, 1500, 1);
    for (uint32_t i = 0; i < 2100 * 1500; i++)
        p.samples[0][i] = i / 2100 % 101 == 37 ? 200 : 90;
    ht_case t = ht_of(L2K_WAVELET_9_7, 1);
    t.targets[t.num_targets++] = 50;
    memory_file file = encode(&t, &p);
    assert_true(decoded_psnr(&file, &p, 0) > 45);
    free(file.data);
    picture_free(&p);
}

/* Steps that are as fine, or as coarse, as can be. */
static void test_ratio_limits(void **unused)
{
    (void)unused;
    watch w;
    picture p;
    memory_file out = memory_of(NULL, 0);
    ht_case t = ht_of(L2K_WAVELET_9_7, 1);
    t.targets[t.num_targets++] = 1.0001;
    picture_make(&p, 64, 64, 1);
    for (size_t i = 0; i < 64 * 64; i++)
        p.samples[0][i] = 100; /* takes next to nothing */
    memory_file file = encode(&t, &p);
    assert_true(file.size < 300);
    free(file.data);
    for (size_t i = 0; i < 64 * 64; i++)
        p.samples[0][i] = 128; /* no coefficient but 0 */
    for (unsigned levels = 0; levels <= 6; levels++) {
        ht_case deep = t;
        set(&deep, L2K_ENCODER_LEVELS, levels);
        file = encode(&deep, &p);
        assert_in_range(highest_exponent(&file), 12, 19);
        free(file.data);
    }
    picture_free(&p);
    make(&p, 64, 64, 1, 8);
    t.targets[0] = 1e6;
    l2k_encoder *e = encoder_of(&t, &w);
    assert_int_equal(run_encoder(e, &p, &out), L2K_OK);
    assert_int_equal(w.warnings, 1); /* the headers alone take more */
    assert_true(out.size < 300);
    l2k_encoder_free(e);
    free(out.data);
    picture_free(&p);
}

/* The error is that of coefficients, so samples have a little more or less. */
static void check_psnr(ht_case t, const picture *p, double target, bool by_rows)
{
    const double most = target < 30 || target > 50 ? 1 : 0.5;
    t.kind = L2K_TARGET_PSNR;
    t.targets[0] = target;
    t.num_targets = 1;
    memory_file file = by_rows ? encode_rows(&t, p, true) : encode(&t, p);
    double found = decoded_psnr(&file, p, 0);
    if (fabs(found - target) > most)
        print_message("%u x %u x %u: %.2f dB, not %g\n", p->width[0], p->height[0], p->image.num_components, found,
                      target);
    assert_true(fabs(found - target) <= most);
    free(file.data);
}

static void test_psnr(void **unused)
{
    (void)unused;
    static const double targets[] = {28, 35, 42, 49, 55};
    static const struct {
        uint32_t width, height, components;
        unsigned precision;
    } shapes[] = {{200, 170, 3, 8}, {333, 257, 1, 8}, {256, 256, 1, 16}, {180, 300, 4, 12}};
    picture p;
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        make(&p, shapes[s].width, shapes[s].height, shapes[s].components, shapes[s].precision);
        for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
            check_psnr(ht_of(L2K_WAVELET_9_7, 1 + 2 * (i % 2)), &p, targets[i], false);
        picture_free(&p);
    }
    make(&p, 300, 260, 3, 8);
    for (uint32_t c = 0; c < 3; c++) /* black, where half of all errors are clipped */
        for (size_t i = 0; i < 300 * 130; i++)
            p.samples[c][i] = 0;
    ht_case t = ht_of(L2K_WAVELET_9_7, 1);
    check_psnr(t, &p, 33, false);
    set(&t, L2K_ENCODER_TILE_WIDTH, 100);
    set(&t, L2K_ENCODER_TILE_HEIGHT, 90);
    check_psnr(t, &p, 33, false);
    check_psnr(t, &p, 45, false);
    picture_free(&p);
}

/* Random pictures and settings: no file exceeds its limit, and all of at least 50 kB use it. Neither threads nor the
 * instruction set change a byte. */
static ht_case random_case(picture *p)
{
    const bool lossy = random_below(2);
    ht_case t = ht_of(lossy ? L2K_WAVELET_9_7 : L2K_WAVELET_5_3, 1 + random_below(3));
    make(p, 20 + random_below(500), 20 + random_below(400), 1 + random_below(4), 6 + random_below(7));
    set(&t, L2K_ENCODER_LEVELS, random_below(7));
    set(&t, L2K_ENCODER_BLOCK_WIDTH, 16u << random_below(3));
    set(&t, L2K_ENCODER_BLOCK_HEIGHT, 16u << random_below(3));
    set(&t, L2K_ENCODER_TILE_WIDTH, random_below(2) ? 0 : 100 + random_below(200));
    set(&t, L2K_ENCODER_PLT, random_below(2));
    t.base = lossy && random_below(4) == 0 ? 0x1p-13 : 0;
    t.kind = random_below(4) ? L2K_TARGET_RATIO : L2K_TARGET_PSNR;
    t.may_warn = true;
    t.num_targets = 1 + (random_below(3) == 0 ? random_below(3) : 0);
    double target = t.kind == L2K_TARGET_RATIO ? 1.5 + random_below(1000) * 0.02 : 25 + random_below(250) * 0.1;
    for (unsigned i = t.num_targets; i-- > 0;) {
        t.targets[i] = target;
        target = t.kind == L2K_TARGET_RATIO ? target * 2 : target - 4;
    }
    return t;
}

static void check_random(ht_case t, const picture *p)
{
    const double last = t.targets[t.num_targets - 1], raw = (double)raw_bytes(p);
    double goal = t.kind == L2K_TARGET_RATIO ? floor(raw / last) : INFINITY;
    if (random_below(3) == 0) {
        set(&t, L2K_ENCODER_MAX_BYTES, 2000 + random_below(raw_bytes(p) / 2));
        goal = fmin(goal, (double)t.settings[t.num_settings - 1].value);
    }
    const bool by_rows = goal > raw && random_below(2);
    memory_file file = by_rows ? encode_rows(&t, p, true) : encode(&t, p);
    const double psnr = decoded_psnr(&file, p, 0);
    assert_true(t.settings[4].value < 3 || psnr > fmin(mq_psnr(t, p), 45) - 3);
    assert_true((double)file.size <= fmax(goal, 400)); /* the headers alone may take that */
    if (file.size >= 50000 && psnr < 60 && t.kind == L2K_TARGET_RATIO)
        assert_true((double)file.size >= 0.995 * goal);
    set(&t, L2K_ENCODER_CPU, L2K_CPU_C);
    set(&t, L2K_ENCODER_THREADS, 3);
    memory_file other = by_rows ? encode_rows(&t, p, true) : encode(&t, p);
    assert_int_equal(other.size, file.size);
    assert_memory_equal(other.data, file.data, file.size);
    free(file.data);
    free(other.data);
}

static void test_random(void **unused)
{
    (void)unused;
    picture p;
    for (unsigned i = 0; i < 300; i++) {
        const ht_case t = random_case(&p);
        check_random(t, &p);
        picture_free(&p);
    }
}

/* ---- Layers -------------------------------------------------------------------------------------------------- */

/* They end between coding passes; the last one has all of them. */
static void check_layers(unsigned passes, double base, const double *ratios, unsigned count)
{
    picture p;
    ht_case t = ht_of(L2K_WAVELET_9_7, passes);
    make(&p, 300, 260, 3, 8);
    t.base = base;
    for (unsigned i = 0; i < count; i++)
        t.targets[t.num_targets++] = ratios[i];
    memory_file file = encode(&t, &p);
    double before = 5, whole = decoded_psnr(&file, &p, 0);
    for (unsigned layers = 1; layers <= count; layers++) {
        double psnr = decoded_psnr(&file, &p, layers);
        assert_true(psnr > before);
        before = psnr;
    }
    assert_true(before == whole && whole > 35);
    assert_int_equal(info_of(&file).num_layers, count);
    if (ratios[count - 1] > 1)
        assert_true((double)file.size <= (double)raw_bytes(&p) / ratios[count - 1]);
    free(file.data);
    picture_free(&p);
}

static void test_layers(void **unused)
{
    (void)unused;
    check_layers(2, 0, (const double[]){16, 8}, 2);
    check_layers(3, 0, (const double[]){32, 16, 8}, 3);
    check_layers(3, 0.01, (const double[]){32, 16, 1}, 3);
    check_layers(3, 0, (const double[]){20, 1}, 2);
}

/* ---- Options ------------------------------------------------------------------------------------------------- */

static void refuse(ht_case t, const char *why)
{
    watch w;
    picture p;
    memory_file out = memory_of(NULL, 0);
    picture_make(&p, 20, 20, 1);
    l2k_encoder *e = encoder_of(&t, &w);
    assert_int_equal(run_encoder(e, &p, &out), L2K_ERROR_ARGUMENT);
    assert_int_equal(w.errors, 1);
    assert_false(w.bad_line);
    if (!strstr(w.text, why))
        print_message("\"%s\" does not say \"%s\"\n", w.text, why);
    assert_non_null(strstr(w.text, why));
    assert_int_equal(out.size, 0);
    l2k_encoder_free(e);
    assert_int_equal(w.live, 0);
    picture_free(&p);
}

static ht_case with(ht_case t, l2k_encoder_option option, int64_t value)
{
    set(&t, option, value);
    return t;
}

static void test_refusals(void **unused)
{
    (void)unused;
    const ht_case reversible = ht_of(L2K_WAVELET_5_3, 1), irreversible = ht_of(L2K_WAVELET_9_7, 1);
    const ht_case refined = ht_of(L2K_WAVELET_9_7, 3);
    for (int64_t style = 1; style < 64; style <<= 1)
        if (style != L2K_STYLE_VSC)
            refuse(with(refined, L2K_ENCODER_STYLE, L2K_STYLE_HT | style), "no other style");
    refuse(with(irreversible, L2K_ENCODER_STYLE, L2K_STYLE_HT | L2K_STYLE_VSC), "SigProp");
    refuse(with(refined, L2K_ENCODER_STYLE, 0), "no HT code-blocks");
    ht_case no_steps = reversible;
    no_steps.base = 0.01;
    refuse(no_steps, "no quantiser steps");
    ht_case both = with(irreversible, L2K_ENCODER_QUALITY, 50);
    both.base = 0.01;
    refuse(both, "both a base step and a quality factor");
    refuse(with(reversible, L2K_ENCODER_QUALITY, 50), "no quantiser steps");
    ht_case deep = with(irreversible, L2K_ENCODER_LEVELS, 32);
    deep.base = 1e-5;
    refuse(deep, "too small");
    picture p;
    watch w;
    memory_file out = memory_of(NULL, 0);
    picture_shape(&p, 20, 20, 3);
    p.components[1].dx = 3;
    for (uint32_t c = 0; c < 3; c++)
        picture_fill(&p, c);
    const ht_case visual = with(reversible, L2K_ENCODER_VISUAL, 4000);
    l2k_encoder *e = encoder_of(&visual, &w);
    assert_int_equal(run_encoder(e, &p, &out), L2K_ERROR_ARGUMENT);
    assert_non_null(strstr(w.text, "visual weights are for components of 4:4:4"));
    assert_int_equal(l2k_encoder_set(e, L2K_ENCODER_VISUAL, 16001), L2K_ERROR_ARGUMENT);
    l2k_encoder_free(e);
    picture_free(&p);
}

/* The error of means of 4 x 4 samples: what remains to be seen from afar. */
static double coarse_error(const memory_file *file, const picture *p)
{
    picture got;
    double error = 0;
    assert_int_equal(decode_bytes(NULL, file->data, file->size, &got), L2K_OK);
    for (uint32_t c = 0; c < p->image.num_components; c++)
        for (uint32_t y = 0; y + 4 <= p->height[c]; y += 4)
            for (uint32_t x = 0; x + 4 <= p->width[c]; x += 4) {
                double sum = 0;
                for (size_t i = 0; i < 16; i++) {
                    const size_t at = (y + i / 4) * p->width[c] + x + i % 4;
                    sum += p->samples[c][at] - got.samples[c][at];
                }
                error += sum * sum;
            }
    picture_free(&got);
    return error;
}

/* MQ and HT, both wavelets, by size and by PSNR: at the same size as without, fine details give way. */
static void test_visual(void **unused)
{
    (void)unused;
    picture p;
    make(&p, 300, 200, 3, 8);
    for (unsigned k = 0; k < 8; k++) {
        ht_case t = {.num_settings = 0, .kind = k & 1 ? L2K_TARGET_PSNR : L2K_TARGET_RATIO, .num_targets = 1};
        t.targets[0] = k & 1 ? 42 : 12;
        set(&t, L2K_ENCODER_WAVELET, k & 2 ? L2K_WAVELET_9_7 : L2K_WAVELET_5_3);
        set(&t, L2K_ENCODER_STYLE, k & 4 ? L2K_STYLE_HT : 0);
        const ht_case visual = with(t, L2K_ENCODER_VISUAL, 4000);
        memory_file plain = encode(&t, &p), seen = encode(&visual, &p);
        if (k & 1) {
            assert_true(seen.size < plain.size);
        } else {
            assert_in_range(seen.size, plain.size - plain.size / 50, 180000 / 12);
            assert_true(coarse_error(&seen, &p) < 0.8 * coarse_error(&plain, &p));
        }
        free(plain.data);
        free(seen.data);
    }
    picture_free(&p);
}

static void test_step_range(void **unused)
{
    (void)unused;
    static const double wrong[] = {-0.5, 1.01, 5e-8, NAN, INFINITY};
    l2k_encoder *e = l2k_encoder_new(NULL);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(l2k_encoder_set_step(e, wrong[i]), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_encoder_set_step(e, 0x1p-24), L2K_OK);
    assert_int_equal(l2k_encoder_set_step(e, 1), L2K_OK);
    assert_int_equal(l2k_encoder_set_step(e, 0), L2K_OK);
    l2k_encoder_free(e);
}

/* Vertically causal contexts, and lossless files of all precisions. */
static void test_round_trips(void **unused)
{
    (void)unused;
    picture p, got;
    ht_case t = with(ht_of(L2K_WAVELET_9_7, 3), L2K_ENCODER_STYLE, L2K_STYLE_HT | L2K_STYLE_VSC);
    make(&p, 90, 70, 3, 8);
    memory_file file = encode(&t, &p);
    assert_true(decoded_psnr(&file, &p, 0) > 45);
    free(file.data);
    picture_free(&p);
    for (unsigned precision = 1; precision <= 24; precision++) {
        t = ht_of(L2K_WAVELET_5_3, 1);
        make(&p, 70, 50, 3, precision);
        file = encode(&t, &p);
        assert_int_equal(decode_bytes(NULL, file.data, file.size, &got), L2K_OK);
        assert_true(picture_equal(&p, &got));
        picture_free(&got);
        picture_free(&p);
        free(file.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_head),
        cmocka_unit_test(test_magnitude_codes),
        cmocka_unit_test(test_magnitude_bound),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_ratio),
        cmocka_unit_test(test_ratio_of_tiles),
        cmocka_unit_test(test_ratio_of_lines),
        cmocka_unit_test(test_ratio_limits),
        cmocka_unit_test(test_psnr),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_layers),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_visual),
        cmocka_unit_test(test_step_range),
        cmocka_unit_test(test_round_trips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
