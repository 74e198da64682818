/* Codestreams of HT code-blocks: placeholder passes, several HT sets, segments in different layers, subbands that mix
 * HT and MQ, and damage. */
#include "ht_sets.h"
#include "stream_support.h"

enum { WIDTH = 21, HEIGHT = 13, PLANES = 9, SAMPLES = WIDTH * HEIGHT };

static ht_source sets[3]; /* the block cut to bit-planes 2, 1 and 0 */
static ht_coded codes[3]; /* and coded, each with the refinement by the next plane */

static void make_sets(void)
{
    ht_fill(&sets[2], WIDTH, HEIGHT, PLANES);
    sets[2].magnitude[5] = 0x1AB; /* there is something in all of them */
    for (int i = 2; i-- > 0;) {
        sets[i] = sets[i + 1];
        for (size_t k = 0; k < SAMPLES; k++)
            sets[i].magnitude[k] >>= 1;
    }
    for (int i = 0; i < 3; i++) {
        ht_encode_cleanup(&sets[i], &codes[i]);
        if (i < 2)
            ht_encode_refinement(&sets[i], &sets[i + 1], &codes[i], false);
    }
}

static ht_part cleanup_of(int set, unsigned passes)
{
    return (ht_part){codes[set].cleanup, codes[set].cleanup_bytes, passes};
}

static ht_part refinement_of(int set, unsigned passes)
{
    return (ht_part){codes[set].refinement, codes[set].refinement_bytes, passes};
}

static int32_t value_of(const ht_source *s, size_t i, unsigned plane)
{
    int32_t magnitude = (int32_t)s->magnitude[i];
    magnitude = magnitude ? magnitude << plane | (1 << plane) >> 1 : 0;
    return s->negative[i] ? -magnitude : magnitude;
}

/* Set `set` after one to three passes. */
static int32_t expected(int set, unsigned passes, size_t i)
{
    const unsigned plane = 2 - (unsigned)set, state = passes > 1 && set < 2 ? sets[set].state[i] : 0;
    if (set < 2 && (state == 2 || (state == 1 && passes > 2)))
        return value_of(&sets[set + 1], i, plane - 1);
    return value_of(&sets[set], i, plane);
}

static l2k_status decode_layers(const memory_file *file, unsigned layers, bool strict, picture *got)
{
    l2k_decoder *decoder = l2k_decoder_new(NULL);
    l2k_decoder_set(decoder, L2K_DECODER_THREADS, 1);
    l2k_decoder_set(decoder, L2K_DECODER_LAYERS, layers);
    l2k_decoder_set(decoder, L2K_DECODER_STRICT, strict);
    l2k_status status = run_decoder(decoder, file->data, file->size, got);
    l2k_decoder_free(decoder);
    return status;
}

static void expect_set(const ht_stream *s, unsigned layers, int set, unsigned passes)
{
    picture got;
    memory_file file = ht_write(s);
    assert_int_equal(decode_layers(&file, layers, true, &got), L2K_OK);
    for (size_t i = 0; i < SAMPLES; i++)
        assert_int_equal(got.samples[0][i], passes ? expected(set, passes, i) : 0);
    picture_free(&got);
    free(file.data);
}

/* The first set's cleanup pass is on bit-plane 2, if it has `missing` planes above it. */
static ht_stream stream_of_block(unsigned missing, unsigned num_layers)
{
    return (ht_stream){.width = WIDTH,
                       .height = HEIGHT,
                       .planes = PLANES,
                       .missing = missing,
                       .style = L2K_STYLE_HT,
                       .num_layers = num_layers};
}

/* ---- Sets ---------------------------------------------------------------------------------------------------- */

static void test_one_set(void **unused)
{
    (void)unused;
    ht_stream s = stream_of_block(PLANES - 3, 1);
    s.layers[0] = (ht_layer){{cleanup_of(0, 1)}, 1};
    expect_set(&s, 0, 0, 1);
    s.layers[0] = (ht_layer){{cleanup_of(0, 1), refinement_of(0, 1)}, 2};
    expect_set(&s, 0, 0, 2);
    s.layers[0] = (ht_layer){{cleanup_of(0, 1), refinement_of(0, 2)}, 2};
    expect_set(&s, 0, 0, 3);
    s.missing = PLANES - 1;
    s.layers[0] = (ht_layer){{cleanup_of(2, 1)}, 1};
    expect_set(&s, 0, 2, 1);
}

/* Two empty sets before the one that counts, in its packet or in a layer of their own. */
static void test_placeholders(void **unused)
{
    (void)unused;
    ht_stream s = stream_of_block(PLANES - 3, 1);
    s.layers[0] = (ht_layer){{cleanup_of(2, 7)}, 1};
    expect_set(&s, 0, 2, 1);
    s.layers[0] = (ht_layer){{cleanup_of(1, 4), refinement_of(1, 2)}, 2};
    expect_set(&s, 0, 1, 3);
    for (unsigned early = 1; early < 7; early++) {
        s.num_layers = 3;
        s.layers[0] = (ht_layer){{{NULL, 0, early}}, 1};
        s.layers[1] = (ht_layer){.num_parts = 0};
        s.layers[2] = (ht_layer){{cleanup_of(2, 7 - early)}, 1};
        expect_set(&s, 0, 2, 1);
        expect_set(&s, 2, 2, 0);
    }
}

/* SigProp in one layer and MagRef in the next: a segment in two parts, wherever it is cut. */
static void test_split_refinement(void **unused)
{
    (void)unused;
    const size_t size = codes[0].refinement_bytes;
    for (size_t cut = 0; cut <= size; cut += 1 + size / 7) {
        ht_stream s = stream_of_block(PLANES - 3, 3);
        s.layers[0] = (ht_layer){{cleanup_of(0, 1)}, 1};
        s.layers[1] = (ht_layer){{{codes[0].refinement, cut, 1}}, 1};
        s.layers[2] = (ht_layer){{{codes[0].refinement + cut, size - cut, 1}}, 1};
        expect_set(&s, 0, 0, 3);
        expect_set(&s, 1, 0, 1);
    }
}

/* In a first packet all passes before the last cleanup pass are placeholders; later ones may have several sets. */
static void test_several_sets(void **unused)
{
    (void)unused;
    ht_stream s = stream_of_block(PLANES - 3, 3);
    s.layers[0] = (ht_layer){{cleanup_of(0, 1), refinement_of(0, 2)}, 2};
    s.layers[1] = (ht_layer){{cleanup_of(1, 1), refinement_of(1, 1)}, 2};
    s.layers[2] = (ht_layer){{{NULL, 0, 1}, cleanup_of(2, 1)}, 2}; /* without MagRef bytes of the set before */
    expect_set(&s, 1, 0, 3);
    expect_set(&s, 2, 1, 2);
    expect_set(&s, 3, 2, 1);
    s.num_layers = 2;
    s.layers[0] = (ht_layer){{cleanup_of(0, 1)}, 1};
    s.layers[1] = (ht_layer){{refinement_of(0, 2), cleanup_of(1, 1), refinement_of(1, 2)}, 3};
    expect_set(&s, 0, 1, 3);
    s.layers[1] = (ht_layer){{refinement_of(0, 2), {NULL, 0, 1}, {NULL, 0, 2}, cleanup_of(2, 1)}, 4};
    expect_set(&s, 0, 2, 1);
    s.layers[1].num_parts = 3; /* the last set is empty */
    expect_set(&s, 0, 0, 3);
}

/* ---- Sets at random ------------------------------------------------------------------------------------------ */

static void random_block(ht_sets *b, bool whole)
{
    static const uint8_t shapes[][2] = {{1, 1}, {21, 13}, {4, 9}, {40, 5}, {3, 64}, {64, 64}};
    static const unsigned styles[] = {L2K_STYLE_HT, L2K_STYLE_HT | L2K_STYLE_VSC, L2K_STYLE_HT | L2K_STYLE_HT_MIXED};
    const uint8_t *shape = shapes[random_below(40) ? random_below(5) : 5];
    ht_sets_make(b, shape[0], shape[1], styles[random_below(3)], whole);
}

static void expect_counting(const ht_sets *b, const memory_file *file, unsigned layers, ht_counting counting)
{
    picture got;
    assert_int_equal(decode_layers(file, layers, true, &got), L2K_OK);
    for (size_t i = 0; i < (size_t)b->stream.width * b->stream.height; i++)
        assert_int_equal(got.samples[0][i], ht_sets_value(b, counting, i));
    picture_free(&got);
}

/* After every layer; and the set that counts alone, behind placeholders and without. */
static void test_random_sets(void **unused)
{
    (void)unused;
    static ht_sets b;
    unsigned several = 0;
    for (unsigned round = 0; round < 1500; round++) {
        random_block(&b, false);
        memory_file file = ht_write(&b.stream);
        for (unsigned layers = 1; layers <= b.stream.num_layers; layers++)
            expect_counting(&b, &file, layers, ht_sets_after(&b, b.ends[layers - 1]));
        free(file.data);
        const ht_counting last = ht_sets_after(&b, b.num_passes);
        for (unsigned placeholders = 0; placeholders < 2; placeholders++) {
            ht_stream alone = ht_sets_alone(&b, last, placeholders);
            file = ht_write(&alone);
            expect_counting(&b, &file, 0, last);
            free(file.data);
        }
        for (unsigned set = 0; set < last.set; set++)
            several += b.sets[set].passes > 0;
        ht_sets_free(&b);
    }
    assert_true(several > 500);
}

static bool is_counting(const ht_sets *b, const picture *got, ht_counting counting)
{
    for (size_t i = 0; i < (size_t)b->stream.width * b->stream.height; i++)
        if (got->samples[0][i] != ht_sets_value(b, counting, i))
            return false;
    return true;
}

/* Wherever the file ends, the last complete segments count. */
static void test_cut_files(void **unused)
{
    (void)unused;
    static ht_sets b;
    for (unsigned round = 0; round < 1000; round++) {
        picture got;
        random_block(&b, true);
        memory_file file = ht_write(&b.stream);
        size_t head = file.size;
        while (!edit_at(file.data + head - 2, file.data + head, 0x93))
            head--;
        file.size = head + random_below(file.size - head - 2);
        assert_int_equal(decode_layers(&file, 0, false, &got), L2K_INCOMPLETE);
        unsigned passes = 0;
        while (passes <= b.num_passes && !is_counting(&b, &got, ht_sets_after(&b, passes)))
            passes++;
        assert_true(passes <= b.num_passes);
        picture_free(&got);
        free(file.data);
        ht_sets_free(&b);
    }
}

/* As many bit-planes as samples can have, through coefficients of 16 and of 32 bits. */
static void test_bit_planes(void **unused)
{
    (void)unused;
    static const unsigned planes[] = {1, 14, 15, 16, 24, 30};
    static ht_source source;
    static ht_coded code;
    for (size_t n = 0; n < sizeof planes / sizeof *planes; n++) {
        picture got;
        ht_fill(&source, WIDTH, HEIGHT, planes[n]);
        source.magnitude[0] = ((uint64_t)1 << planes[n]) - 1;
        ht_encode_cleanup(&source, &code);
        ht_stream s = stream_of_block(planes[n] - 1, 1);
        s.planes = planes[n];
        s.layers[0] = (ht_layer){{{code.cleanup, code.cleanup_bytes, 1}}, 1};
        memory_file file = ht_write(&s);
        assert_int_equal(decode_layers(&file, 0, true, &got), L2K_OK);
        for (size_t i = 0; i < SAMPLES; i++)
            assert_int_equal(got.samples[0][i], value_of(&source, i, 0));
        picture_free(&got);
        free(file.data);
    }
}

/* ---- What the header says ------------------------------------------------------------------------------------ */

static void test_info(void **unused)
{
    (void)unused;
    ht_stream s = stream_of_block(PLANES - 3, 1);
    l2k_decoder *decoder = l2k_decoder_new(NULL);
    l2k_info info;
    s.style |= L2K_STYLE_HT_MIXED;
    memory_file file = ht_write(&s);
    uint8_t *cap = file.data;
    while (!edit_at(cap, file.data + file.size, 0x50))
        cap++;
    assert_int_equal(l2k_decoder_open_memory(decoder, file.data, file.size), L2K_OK);
    assert_int_equal(l2k_decoder_info(decoder, &info), L2K_OK);
    assert_int_equal(info.style, L2K_STYLE_HT | L2K_STYLE_HT_MIXED);
    assert_true(info.ht && info.ht_multiple_sets);
    assert_false(info.ht_regions || info.ht_mixed_tiles || info.ht_irreversible);
    assert_int_equal(info.ht_blocks, L2K_HT_MIXED);
    assert_int_equal(info.capabilities, 1 << (32 - 15));
    assert_int_equal(info.ht_magnitude_bits, PLANES);
    assert_int_equal(info.profile_number, 0);
    assert_int_equal(info.corresponding_profile, -1);
    static const uint8_t words[][3] = {{0x98, 0x21, 9}, {0x90, 19, 27}, {0x88, 20, 31}, {0x80, 30, 71}, {0x80, 31, 74}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        cap[8] = words[i][0];
        cap[9] = words[i][1];
        assert_int_equal(l2k_decoder_open_memory(decoder, file.data, file.size), L2K_OK);
        assert_int_equal(l2k_decoder_info(decoder, &info), L2K_OK);
        assert_int_equal(info.ht_blocks, L2K_HT_DECLARED);
        assert_int_equal(info.ht_regions, words[i][0] >> 4 & 1);
        assert_int_equal(info.ht_mixed_tiles, words[i][0] >> 3 & 1);
        assert_int_equal(info.ht_irreversible, words[i][1] >> 5);
        assert_int_equal(info.ht_magnitude_bits, words[i][2]);
    }
    l2k_decoder_free(decoder);
    free(file.data);
}

/* CAP and COD, which follows it, change places. */
static void exchange_cap(uint8_t *cod)
{
    uint8_t cap[10], *start = cod - sizeof cap;
    memcpy(cap, start, sizeof cap);
    memmove(start, cod, 14);
    memcpy(start + 14, cap, sizeof cap);
}

/* A CAP of HT code-blocks only decides, whatever the style says, and whether COD stands before it or after it. */
static void test_ht_only(void **unused)
{
    (void)unused;
    static const uint8_t styles[] = {0, L2K_STYLE_HT, L2K_STYLE_HT | L2K_STYLE_HT_MIXED};
    ht_stream s = stream_of_block(PLANES - 3, 1);
    s.layers[0] = (ht_layer){{cleanup_of(0, 1), refinement_of(0, 2)}, 2};
    memory_file file = ht_write(&s);
    uint8_t *cod = file.data;
    while (!edit_at(cod, file.data + file.size, 0x52))
        cod++;
    for (unsigned i = 0; i < 6; i++) {
        picture got;
        if (i == 3) {
            exchange_cap(cod);
            cod -= 10;
        }
        cod[12] = styles[i % 3];
        assert_int_equal(decode_layers(&file, 0, true, &got), L2K_OK);
        for (size_t k = 0; k < SAMPLES; k++)
            assert_int_equal(got.samples[0][k], expected(0, 3, k));
        picture_free(&got);
    }
    free(file.data);
}

static void test_profiles(void **unused)
{
    (void)unused;
    static const uint8_t segments[] = {0xFF, 0x56, 0, 6, 0, 2, 0, 1, 0xFF, 0x59, 0, 4, 0, 5};
    static edit e;
    picture p;
    picture_make(&p, 8, 8, 1);
    memory_file file = finish_encoder(new_encoder(1), &p);
    edit_open(&e, &file);
    memory_file profiled = edit_write(&e, &(edit_plan){.eph = true, .main_extra = {segments, sizeof segments}});
    l2k_decoder *decoder = l2k_decoder_new(NULL);
    l2k_info info;
    assert_int_equal(l2k_decoder_open_memory(decoder, profiled.data, profiled.size), L2K_OK);
    assert_int_equal(l2k_decoder_info(decoder, &info), L2K_OK);
    assert_false(info.ht);
    assert_int_equal(info.profile_number, 4095 + 2 + 65536);
    assert_int_equal(info.corresponding_profile, 4);
    l2k_decoder_free(decoder);
    free(profiled.data);
    free(file.data);
    picture_free(&p);
}

/* ---- Mixed subbands ------------------------------------------------------------------------------------------ */

static void test_mixed_ht(void **unused)
{
    (void)unused;
    ht_stream s = stream_of_block(PLANES - 3, 1);
    s.style |= L2K_STYLE_HT_MIXED;
    s.layers[0] = (ht_layer){{cleanup_of(2, 7)}, 1};
    expect_set(&s, 0, 2, 1);
    s.layers[0] = (ht_layer){{cleanup_of(0, 1), refinement_of(0, 2)}, 2};
    expect_set(&s, 0, 0, 3);
}

/* The encoder's MQ blocks, whose lengths have as few bits as they need, are what a mixed subband takes for MQ. */
static void test_mixed_mq(void **unused)
{
    (void)unused;
    static const uint8_t cap[] = {0xFF, 0x50, 0, 8, 0, 2, 0, 0, 0xC0, 0};
    static edit e;
    picture p;
    picture_make(&p, 70, 50, 1);
    memory_file file = finish_encoder(new_encoder(2), &p);
    edit_open(&e, &file);
    memory_file mixed = edit_write(&e, &(edit_plan){.eph = true, .main_extra = {cap, sizeof cap}});
    uint8_t *cod = mixed.data;
    while (!edit_at(cod, mixed.data + mixed.size, 0x52))
        cod++;
    cod[12] = L2K_STYLE_HT | L2K_STYLE_HT_MIXED;
    expect(&p, &mixed, 0);
    cod[12] = L2K_STYLE_HT; /* now MQ is damage */
    picture got;
    assert_int_equal(decode_layers(&mixed, 0, false, &got), L2K_INCOMPLETE);
    picture_free(&got);
    free(mixed.data);
    free(file.data);
    picture_free(&p);
}

/* ---- Damage -------------------------------------------------------------------------------------------------- */

static void expect_damage(const ht_stream *s)
{
    picture got;
    memory_file file = ht_write(s);
    assert_int_equal(decode_layers(&file, 0, true, &got), L2K_ERROR_CORRUPT);
    assert_int_equal(decode_layers(&file, 0, false, &got), L2K_INCOMPLETE);
    for (size_t i = 0; i < SAMPLES; i++)
        assert_int_equal(got.samples[0][i], 0);
    picture_free(&got);
    free(file.data);
}

static void test_damage(void **unused)
{
    (void)unused;
    static const uint8_t zeros[9], ones[9] = {255, 255, 255, 255, 255, 255, 255, 255, 255};
    ht_stream s = stream_of_block(PLANES - 1, 1);
    s.layers[0] = (ht_layer){{{zeros, sizeof zeros, 1}}, 1}; /* no MEL and VLC */
    expect_damage(&s);
    s.layers[0] = (ht_layer){{{ones, sizeof ones, 1}}, 1}; /* too much of them */
    expect_damage(&s);
    s.layers[0] = (ht_layer){{cleanup_of(2, 4)}, 1}; /* below the lowest bit-plane */
    expect_damage(&s);
    s.layers[0] = (ht_layer){{{zeros, 1, 1}}, 1}; /* a cleanup segment of one byte */
    expect_damage(&s);
}

/* Nothing of a stream with changed bytes but its samples may change. */
static void test_changed_bytes(void **unused)
{
    (void)unused;
    ht_stream s = stream_of_block(PLANES - 3, 2);
    s.layers[0] = (ht_layer){{cleanup_of(0, 1), refinement_of(0, 2)}, 2};
    s.layers[1] = (ht_layer){{cleanup_of(1, 1), refinement_of(1, 2)}, 2};
    memory_file file = ht_write(&s);
    for (unsigned round = 0; round < 3000; round++) {
        uint8_t *copy = malloc(file.size);
        watch w;
        picture got;
        l2k_hooks hooks = watch_hooks(&w);
        size_t size = round % 3 ? file.size : random_below(file.size);
        memcpy(copy, file.data, file.size);
        for (unsigned i = 0; i < round % 5; i++)
            copy[random_between(80, (uint32_t)file.size - 1)] = (uint8_t)random_u64();
        l2k_status status = decode_bytes(&hooks, copy, size, &got);
        if (status == L2K_OK || status == L2K_INCOMPLETE)
            picture_free(&got);
        assert_int_equal(w.live, 0);
        free(copy);
    }
    free(file.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_set),
        cmocka_unit_test(test_placeholders),
        cmocka_unit_test(test_split_refinement),
        cmocka_unit_test(test_several_sets),
        cmocka_unit_test(test_random_sets),
        cmocka_unit_test(test_cut_files),
        cmocka_unit_test(test_mixed_ht),
        cmocka_unit_test(test_mixed_mq),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_bit_planes),
        cmocka_unit_test(test_info),
        cmocka_unit_test(test_ht_only),
        cmocka_unit_test(test_profiles),
        cmocka_unit_test(test_changed_bytes),
    };
    ht_prepare();
    make_sets();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
