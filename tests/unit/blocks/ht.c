/* codec/blocks/ht/: the code tables, each bit stream against a writer made from the standard's description of it, whole
 * blocks against a small encoder that takes its choices at random, and each instruction set against plain C, on what
 * encoders write and on anything else. */
#include "ht_encode.h"

#include "codec/blocks/ht/ht_block.h"
#include "codec/blocks/ht/ht_streams.h"

/* ---- Streams ------------------------------------------------------------------------------------------------- */

static void test_mel(void **unused)
{
    (void)unused;
    static ht_mel_writer w;
    static uint8_t symbols[20000];
    for (unsigned round = 0; round < 50; round++) {
        unsigned count = random_below(20000), rarity = 1 + random_below(60);
        ht_mel_start(&w);
        for (unsigned i = 0; i < count; i++)
            ht_mel_put(&w, symbols[i] = random_below(rarity) == 0);
        ht_mel_flush(&w);
        uint8_t *exact = malloc(w.size + 1);
        memcpy(exact, w.bytes, w.size);
        exact[w.size] = 0x0F; /* the length field, whose low nibble reads as ones */
        l2k_ht_mel mel = l2k_ht_mel_start(exact, exact + w.size + 1);
        for (unsigned i = 0; i < count; i++) {
            if (mel.num_events == 0)
                l2k_ht_mel_fill(&mel);
            assert_int_equal(mel.events & 1, symbols[i]);
            mel.events >>= 1;
            mel.num_events--;
        }
        free(exact);
    }
}

/* Any bits, mostly ones, so that stuffing is frequent; what is read past the end; and nothing more than there is room
 * for. */
static void check_stream(bool backward)
{
    static ht_writer w;
    static uint8_t widths[4000], buffer[4000 * 4 + L2K_HT_SLACK];
    static uint32_t values[4000];
    for (unsigned round = 0; round < 200; round++) {
        unsigned count = random_below(4000), most = round % 2 ? 31 : 12;
        ht_writer_start(&w, backward);
        for (unsigned i = 0; i < count; i++) {
            widths[i] = (uint8_t)random_below(most + 1);
            uint32_t mask = (1u << widths[i]) - 1;
            values[i] = (uint32_t)(random_below(round + 1) ? UINT32_MAX : random_u64()) & mask;
            ht_put(&w, values[i], widths[i]);
        }
        ht_flush(&w);
        uint8_t *exact = malloc(w.size + 1);
        for (size_t i = 0; i < w.size; i++)
            exact[backward ? w.size - 1 - i : i] = w.bytes[i];
        memset(buffer, 0x5A, sizeof buffer);
        const size_t room = sizeof buffer - L2K_HT_SLACK;
        const size_t bytes = backward ? l2k_ht_unstuff_magref(exact, w.size, buffer, room)
                                      : l2k_ht_unstuff_forward(exact, w.size, buffer, room, 0xFF);
        l2k_ht_window window = l2k_ht_window_at(buffer, bytes);
        for (unsigned i = 0; i < count; i++) {
            l2k_ht_refill(&window);
            assert_int_equal(l2k_ht_take(&window, widths[i]), values[i]);
        }
        l2k_ht_refill(&window);
        l2k_ht_take(&window, 8); /* the end of the last byte */
        for (unsigned i = 0; i < 20; i++) {
            l2k_ht_refill(&window);
            assert_int_equal(l2k_ht_take(&window, 31), backward ? 0 : 0x7FFFFFFF);
        }
        free(exact);
    }
}

/* A buffer that is too small: as many bytes as there is room for, and whole words at most after them. */
static void test_room(void **unused)
{
    (void)unused;
    static uint8_t whole[600 + L2K_HT_SLACK], part[600 + L2K_HT_SLACK];
    for (unsigned round = 0; round < 400; round++) {
        const size_t size = random_below(500), room = random_below(500);
        const bool backward = round % 2;
        uint8_t *bytes = malloc(size + 1);
        for (size_t i = 0; i < size; i++)
            bytes[i] = random_below(3) ? (uint8_t)random_u64() : 0xFF;
        memset(part, 0x5A, sizeof part);
        const size_t all = backward ? l2k_ht_unstuff_magref(bytes, size, whole, 600)
                                    : l2k_ht_unstuff_forward(bytes, size, whole, 600, 0xFF);
        const size_t some = backward ? l2k_ht_unstuff_magref(bytes, size, part, room)
                                     : l2k_ht_unstuff_forward(bytes, size, part, room, 0xFF);
        assert_true(all <= size + 1 && some <= room + 9);
        assert_memory_equal(part, whole, room < all ? room : all);
        for (size_t i = room + L2K_HT_SLACK; i < sizeof part; i++)
            assert_int_equal(part[i], 0x5A);
        free(bytes);
    }
}

static void test_forward(void **unused)
{
    (void)unused;
    check_stream(false);
}

static void test_backward(void **unused)
{
    (void)unused;
    check_stream(true);
}

/* ---- Tables -------------------------------------------------------------------------------------------------- */

/* Each codeword stands wherever its bits lead, so no two can share a place, and no place is left. What an entry claims
 * must be possible: e_1 within e_k within rho, and only with an exponent bound that is sent. */
static void test_vlc(void **unused)
{
    (void)unused;
    static const unsigned codewords[2] = {444, 358};
    for (unsigned t = 0; t < 2; t++) {
        unsigned count = 0;
        for (unsigned i = 0; i < 1024; i++) {
            unsigned entry = ht_tables[t][i], length = l2k_ht_length(entry);
            assert_in_range(length, 1, 7);
            unsigned first = i & ~127u & 1023, low = i & ((1u << length) - 1);
            for (unsigned rest = 0; rest < 1u << (7 - length); rest++)
                assert_int_equal(ht_tables[t][first | rest << length | low], entry);
            count += (i & 127) == low;
            assert_int_equal(l2k_ht_e_k(entry) & ~l2k_ht_rho(entry), 0);
            assert_int_equal(l2k_ht_e_1(entry) & ~l2k_ht_e_k(entry), 0);
            assert_true(l2k_ht_u_off(entry) || l2k_ht_e_k(entry) == 0);
            assert_true(l2k_ht_rho(entry) || (i >> 7 && !l2k_ht_u_off(entry)));
        }
        assert_int_equal(count, codewords[t]);
    }
}

/* Rows of the tables of Annex C: context, rho, u_off, e_k, e_1, codeword, length. */
static void test_vlc_rows(void **unused)
{
    (void)unused;
    static const uint8_t rows[][8] = {
        {0, 0, 0x1, 0, 0x0, 0x0, 0x06, 4}, {0, 0, 0xF, 1, 0xF, 0x1, 0x33, 7}, {0, 0, 0xF, 1, 0xE, 0x2, 0x19, 6},
        {0, 1, 0x0, 0, 0x0, 0x0, 0x00, 2}, {0, 1, 0x5, 1, 0x4, 0x4, 0x33, 6}, {0, 0, 0xC, 1, 0xC, 0x4, 0x15, 6},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const uint8_t *r = rows[i];
        assert_int_equal(ht_tables[r[0]][r[1] << 7 | r[6]], r[4 + 0] << 12 | r[5] << 8 | r[2] << 4 | r[3] << 3 | r[7]);
    }
}

/* Each three bits start exactly one prefix, and the values of the prefixes follow on each other. */
static void test_prefixes(void **unused)
{
    (void)unused;
    static const unsigned lengths[8] = {3, 1, 2, 1, 3, 1, 2, 1};
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(l2k_ht_prefixes[i].length, lengths[i]);
    const l2k_ht_prefix *order[4] = {&l2k_ht_prefixes[1], &l2k_ht_prefixes[2], &l2k_ht_prefixes[4],
                                     &l2k_ht_prefixes[0]};
    for (unsigned i = 0, next = 1; i < 4; i++) {
        assert_int_equal(order[i]->base, next);
        next += 1u << order[i]->suffix;
    }
}

/* ---- Blocks -------------------------------------------------------------------------------------------------- */

static uint32_t sample_of(const ht_source *s, size_t i, unsigned plane)
{
    uint32_t magnitude = (uint32_t)(s->magnitude[i] << plane);
    return magnitude ? (uint32_t)s->negative[i] << 31 | magnitude | l2k_ht_half(plane) : 0;
}

static l2k_ht *new_decoder(l2k_cpu cpu)
{
    l2k_ht *ht = malloc(sizeof *ht);
    memset(ht, 0x5A, sizeof *ht); /* nothing may depend on it */
    ht->rows = l2k_ht_rows_get(cpu);
    ht->deposits = l2k_cpu_deposits();
    l2k_ht_make_decode_tables(&ht->tables);
    return ht;
}

/* Widths and heights of all kinds, also odd ones, in blocks of at most 4096 samples. */
static void shape(uint32_t *width, uint32_t *height)
{
    static const uint8_t most[][2] = {{6, 6}, {10, 2}, {2, 10}, {5, 5}, {3, 8}, {2, 2}, {0, 4}, {4, 0}};
    const uint8_t *m = most[random_below(8)];
    *width = random_below(2) ? 1u << m[0] : 1 + random_below(1u << m[0]);
    *height = random_below(2) ? 1u << m[1] : 1 + random_below(1u << m[1]);
}

/* Copies, so that a sanitizer sees every read past the end. */
static uint8_t *exact_copy(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size + !size);
    memcpy(copy, bytes, size);
    return copy;
}

static void test_cleanup(void **unused)
{
    (void)unused;
    static ht_source s;
    static ht_coded c;
    l2k_ht *ht = new_decoder(L2K_CPU_AUTO);
    for (unsigned round = 0; round < 2000; round++) {
        uint32_t width, height;
        const unsigned planes = 1 + random_below(round % 3 ? 12 : 31), plane = random_below(31 - planes + 1);
        shape(&width, &height);
        ht_fill(&s, width, height, planes);
        ht_encode_cleanup(&s, &c);
        uint8_t *bytes = exact_copy(c.cleanup, c.cleanup_bytes);
        l2k_ht_set set = {.cleanup = bytes,
                          .cleanup_bytes = (uint32_t)c.cleanup_bytes,
                          .passes = 1,
                          .plane = plane,
                          .planes = planes};
        l2k_t1_block block = {.width = width, .height = height};
        assert_true(l2k_ht_cleanup(ht, &block, &set, L2K_HT_SIGNED_MAGNITUDE));
        for (size_t i = 0; i < (size_t)width * height; i++)
            assert_int_equal(ht->samples[i / width * l2k_ht_stride(&block) + i % width], sample_of(&s, i, plane));
        free(bytes);
    }
    free(ht);
}

/* The samples after SigProp, or after both passes. */
static uint32_t refined(const ht_source *s, const ht_source *low, size_t i, unsigned passes, unsigned plane)
{
    if (s->state[i] == 2 || (s->state[i] == 1 && passes > 2))
        return sample_of(low, i, plane - 1);
    return sample_of(s, i, plane);
}

static void test_refinement(void **unused)
{
    (void)unused;
    static ht_source s, low;
    static ht_coded c;
    l2k_ht *ht = new_decoder(L2K_CPU_AUTO);
    for (unsigned round = 0; round < 2000; round++) {
        uint32_t width, height;
        const unsigned planes = 2 + random_below(10), plane = 1 + random_below(31 - planes), passes = 2 + round % 2;
        const bool causal = round % 5 == 0;
        shape(&width, &height);
        ht_fill(&low, width, height, planes);
        s = low;
        for (size_t i = 0; i < (size_t)width * height; i++)
            s.magnitude[i] >>= 1;
        ht_encode_cleanup(&s, &c);
        ht_encode_refinement(&s, &low, &c, causal);
        uint8_t *cleanup = exact_copy(c.cleanup, c.cleanup_bytes);
        uint8_t *refinement = exact_copy(c.refinement, c.refinement_bytes);
        l2k_ht_set set = {cleanup, refinement, (uint32_t)c.cleanup_bytes, (uint32_t)c.refinement_bytes, passes,
                          plane,   planes - 1};
        l2k_t1_block block = {.width = width, .height = height, .style = causal ? L2K_STYLE_VSC : 0};
        assert_true(l2k_ht_cleanup(ht, &block, &set, L2K_HT_SIGNED_MAGNITUDE));
        l2k_ht_refine(ht, &block, &set);
        for (size_t i = 0; i < (size_t)width * height; i++)
            assert_int_equal(ht->samples[i / width * l2k_ht_stride(&block) + i % width],
                             refined(&s, &low, i, passes, plane));
        free(cleanup);
        free(refinement);
    }
    free(ht);
}

/* Damaged, cut and random bytes: no read outside them, and no magnitude beyond what the block can have. */
static void test_damage(void **unused)
{
    (void)unused;
    static ht_source s;
    static ht_coded c;
    l2k_ht *ht = new_decoder(L2K_CPU_AUTO);
    unsigned accepted = 0;
    for (unsigned round = 0; round < 4000; round++) {
        uint32_t width, height;
        const unsigned planes = 1 + random_below(16), plane = 1 + random_below(31 - planes);
        shape(&width, &height);
        ht_fill(&s, width, height, planes);
        ht_encode_cleanup(&s, &c);
        size_t size = round % 4 == 0 ? random_below(c.cleanup_bytes + 1) : c.cleanup_bytes;
        for (unsigned i = 0; i < 1 + round % 8; i++)
            c.cleanup[random_below(c.cleanup_bytes)] ^= (uint8_t)(1 + random_below(255));
        uint8_t *bytes = exact_copy(c.cleanup + c.cleanup_bytes - size, size);
        l2k_ht_set set = {bytes, bytes, (uint32_t)size, (uint32_t)size, 3, plane, planes};
        l2k_t1_block block = {.width = width, .height = height};
        if (l2k_ht_cleanup(ht, &block, &set, L2K_HT_SIGNED_MAGNITUDE)) {
            accepted++;
            for (size_t i = 0; i < (size_t)width * height; i++)
                assert_int_equal(
                    (ht->samples[i / width * l2k_ht_stride(&block) + i % width] & 0x7FFFFFFF) >> plane >> planes, 0);
            l2k_ht_refine(ht, &block, &set);
        }
        free(bytes);
    }
    assert_true(accepted > 100);
    free(ht);
}

/* ---- Instruction sets ---------------------------------------------------------------------------------------- */

enum { MARGIN = 3, PITCH = 1024 + 2 * MARGIN, VIEW_WORDS = 4096 + 2 * MARGIN * 1026 + 2 * PITCH };

/* A view with a block in it, MARGIN samples from everything else. */
typedef struct view {
    uint32_t words[VIEW_WORDS];
} view;

static l2k_t1_block block_in_view(view *v, uint32_t width, uint32_t height, l2k_ht_form form)
{
    const size_t stride = width + 2 * MARGIN, size = form == L2K_HT_INT16 ? sizeof(int16_t) : sizeof(int32_t);
    memset(v, 0xA5, sizeof *v);
    return (l2k_t1_block){.coefficients = (uint8_t *)v->words + (MARGIN * stride + MARGIN) * size,
                          .type = form == L2K_HT_INT16 ? L2K_COEFFICIENT_INT16 : L2K_COEFFICIENT_INT32,
                          .stride = stride,
                          .width = width,
                          .height = height};
}

/* The same verdict, the same samples, and nothing else written. */
static bool compare_sets(l2k_ht *plain, l2k_ht *fast, const l2k_ht_set *set, l2k_ht_form form, uint32_t width,
                         uint32_t height)
{
    static view of_plain, of_fast;
    const l2k_t1_block a = block_in_view(&of_plain, width, height, form);
    const l2k_t1_block b = block_in_view(&of_fast, width, height, form);
    const bool right = l2k_ht_cleanup(plain, &a, set, form);
    assert_int_equal(l2k_ht_cleanup(fast, &b, set, form), right);
    if (!right)
        return false;
    assert_memory_equal(&of_plain, &of_fast, sizeof of_plain);
    for (uint32_t y = 0; form == L2K_HT_SIGNED_MAGNITUDE && y < height; y++)
        assert_memory_equal(plain->samples + y * l2k_ht_stride(&a), fast->samples + y * l2k_ht_stride(&b),
                            width * sizeof(uint32_t));
    return true;
}

/* A set and the view that it gives. */
typedef struct ht_answer {
    l2k_ht_set set;
    l2k_ht_form form;
    uint32_t width, height;
    bool right;
    view view;
} ht_answer;

/* Side by side as one by one. */
static void check_two(l2k_ht *plain, l2k_ht *fast, ht_answer *answers[2])
{
    static view views[2];
    l2k_t1_block blocks[2];
    l2k_ht_set sets[2];
    bool right[2];
    for (unsigned i = 0; i < 2; i++) {
        ht_answer *a = answers[i];
        const l2k_t1_block block = block_in_view(&a->view, a->width, a->height, a->form);
        a->right = l2k_ht_cleanup(plain, &block, &a->set, a->form);
        blocks[i] = block_in_view(&views[i], a->width, a->height, a->form);
        sets[i] = a->set;
    }
    l2k_ht_cleanup_two(fast, blocks, sets, right);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(right[i], answers[i]->right);
        if (right[i])
            assert_memory_equal(&views[i], &answers[i]->view, sizeof views[i]);
    }
}

/* What an encoder writes; the same with changed bytes, or cut; and any bytes with a length that can be right. */
static size_t make_bytes(const ht_source *s, ht_coded *c, unsigned kind)
{
    ht_encode_cleanup(s, c);
    if (kind == 0)
        return c->cleanup_bytes;
    if (kind < 4) {
        for (unsigned i = 0; i < kind * kind; i++)
            c->cleanup[random_below(c->cleanup_bytes)] ^= (uint8_t)(1 << random_below(8));
        return c->cleanup_bytes;
    }
    const size_t size = 2 + random_below(random_below(2) ? 3000 : 100);
    const unsigned suffix = 2 + random_below((uint32_t)size - 1), dense = random_below(4);
    for (size_t i = 0; i < size; i++)
        c->cleanup[i] = random_below(4) < dense ? 0xFF : (uint8_t)random_u64();
    c->cleanup[size - 1] = (uint8_t)(suffix >> 4);
    c->cleanup[size - 2] = (uint8_t)((c->cleanup[size - 2] & 0xF0) | (suffix & 15));
    return size;
}

static void compare_with_plain(l2k_cpu cpu, bool deposits)
{
    static ht_source s;
    static ht_coded c;
    static ht_answer kept[2];
    ht_answer *two[2] = {&kept[0], &kept[1]};
    l2k_ht *plain = new_decoder(L2K_CPU_C), *fast = new_decoder(cpu);
    uint8_t *before = NULL;
    unsigned right = 0, wrong = 0;
    fast->deposits = deposits;
    for (unsigned round = 0; round < 6000; round++) {
        uint32_t width, height;
        const l2k_ht_form form = (l2k_ht_form)random_below(3);
        const unsigned room = form == L2K_HT_INT16 ? 15 : 31;
        const unsigned planes = 1 + random_below(round % 3 ? 13 : room), plane = random_below(room - planes + 1);
        const unsigned claimed = round % 2 ? planes : room - plane; /* a bound that lets wrong bytes pass */
        shape(&width, &height);
        ht_fill(&s, width, height, planes);
        const size_t size = make_bytes(&s, &c, round % 6);
        uint8_t *bytes = exact_copy(c.cleanup, size);
        const l2k_ht_set set = {
            .cleanup = bytes, .cleanup_bytes = (uint32_t)size, .passes = 1, .plane = plane, .planes = claimed};
        const bool decoded = compare_sets(plain, fast, &set, form, width, height);
        right += decoded;
        wrong += !decoded;
        two[round % 2]->set = set;
        two[round % 2]->form = form == L2K_HT_INT16 ? form : L2K_HT_INT32;
        two[round % 2]->width = width;
        two[round % 2]->height = height;
        if (before)
            check_two(plain, fast, two);
        free(before);
        before = bytes;
    }
    free(before);
    print_message("%s%s: %u blocks, and %u that are none\n", l2k_cpu_name(cpu), deposits ? ", deposits" : "", right,
                  wrong);
    assert_true(right > 2000 && wrong > 500);
    free(plain);
    free(fast);
}

static void test_sets(void **unused)
{
    (void)unused;
    static const l2k_cpu sets[] = {L2K_CPU_AVX2, L2K_CPU_AVX512, L2K_CPU_NEON, L2K_CPU_SIMD128};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        if (!l2k_cpu_usable(sets[i])) {
            print_message("%s: not available on this machine or in this build\n", l2k_cpu_name(sets[i]));
            continue;
        }
        compare_with_plain(sets[i], false);
        if (sets[i] < L2K_CPU_NEON)
            compare_with_plain(sets[i], true);
    }
}

/* ---- Lengths ------------------------------------------------------------------------------------------------- */

static void test_lengths(void **unused)
{
    (void)unused;
    static const uint8_t none[] = {0}, short_suffix[] = {1, 0}, long_suffix[] = {15, 0xFF};
    l2k_ht *ht = new_decoder(L2K_CPU_AUTO);
    l2k_t1_block block = {.width = 4, .height = 4};
    l2k_ht_set set = {.cleanup = none, .passes = 1, .planes = 8};
    for (set.cleanup_bytes = 0; set.cleanup_bytes < 2; set.cleanup_bytes++)
        assert_false(l2k_ht_cleanup(ht, &block, &set, L2K_HT_SIGNED_MAGNITUDE));
    set.cleanup_bytes = 2;
    set.cleanup = short_suffix;
    assert_false(l2k_ht_cleanup(ht, &block, &set, L2K_HT_SIGNED_MAGNITUDE));
    set.cleanup = long_suffix;
    assert_false(l2k_ht_cleanup(ht, &block, &set, L2K_HT_SIGNED_MAGNITUDE));
    free(ht);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mel),     cmocka_unit_test(test_forward),    cmocka_unit_test(test_backward),
        cmocka_unit_test(test_vlc),     cmocka_unit_test(test_vlc_rows),   cmocka_unit_test(test_prefixes),
        cmocka_unit_test(test_cleanup), cmocka_unit_test(test_refinement), cmocka_unit_test(test_damage),
        cmocka_unit_test(test_lengths), cmocka_unit_test(test_room),       cmocka_unit_test(test_sets),
    };
    ht_prepare();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
