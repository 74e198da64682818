/* codec/blocks/mq/mq.h and the list coder of each instruction set: the standard's test sequence, a literal
 * implementation of the flow charts of Annex C, and random sequences with every way to terminate a segment. */
#include "plain_mq.h"
#include "support.h"

#include "codec/blocks/mq/mq_decode.h"
#include "codec/blocks/mq/t1_lists.h"

/* ---- Annex C to the letter ----------------------------------------------------------------------------------- */

typedef struct plain_encoder {
    uint32_t a, c;
    int ct;
    uint8_t *b; /* the byte being filled; there is a byte before the first */
} plain_encoder;

static void plain_byte_out(plain_encoder *e)
{
    bool stuff = *e->b == 0xFF;
    if (!stuff && e->c >= 0x8000000) {
        if (++*e->b == 0xFF) {
            e->c &= 0x7FFFFFF;
            stuff = true;
        }
    }
    e->b++;
    if (stuff) {
        *e->b = (uint8_t)(e->c >> 20);
        e->c &= 0xFFFFF;
        e->ct = 7;
    } else {
        *e->b = (uint8_t)(e->c >> 19);
        e->c &= 0x7FFFF;
        e->ct = 8;
    }
}

static void plain_renormalise(plain_encoder *e)
{
    do {
        e->a <<= 1;
        e->c <<= 1;
        if (--e->ct == 0)
            plain_byte_out(e);
    } while (!(e->a & 0x8000));
}

static void plain_encode(plain_encoder *e, plain_context *cx, unsigned bit)
{
    uint32_t qe = plain_rows[cx->row].qe;
    e->a -= qe;
    if (bit == cx->mps) {
        if (e->a & 0x8000) {
            e->c += qe;
            return;
        }
        if (e->a < qe)
            e->a = qe;
        else
            e->c += qe;
        cx->row = plain_rows[cx->row].nmps;
    } else {
        if (e->a < qe)
            e->c += qe;
        else
            e->a = qe;
        if (plain_rows[cx->row].flip)
            cx->mps = 1 - cx->mps;
        cx->row = plain_rows[cx->row].nlps;
    }
    plain_renormalise(e);
}

/* FLUSH, Figure C.11; returns one past the last byte. */
static uint8_t *plain_flush(plain_encoder *e)
{
    uint32_t bound = e->c + e->a;
    e->c |= 0xFFFF;
    if (e->c >= bound)
        e->c -= 0x8000;
    e->c <<= e->ct;
    plain_byte_out(e);
    e->c <<= e->ct;
    plain_byte_out(e);
    return *e->b == 0xFF ? e->b : e->b + 1;
}

/* ---- The standard's test sequence (T.88 H.2) ----------------------------------------------------------------- */

static const uint8_t plain_text[32] = {0x00, 0x02, 0x00, 0x51, 0x00, 0x00, 0x00, 0xC0, 0x03, 0x52, 0x87,
                                       0x2A, 0xAA, 0xAA, 0xAA, 0xAA, 0x82, 0xC0, 0x20, 0x00, 0xFC, 0xD7,
                                       0x9E, 0xF6, 0xBF, 0x7F, 0xED, 0x90, 0x4F, 0x46, 0xA3, 0xBF};

/* In T.88 the flush ends in a marker, FF AC. T.800 has no such marker: a segment ends where its length says, so exactly
 * these two bytes must be missing. */
static const uint8_t code_text[30] = {0x84, 0xC7, 0x3B, 0xFC, 0xE1, 0xA1, 0x43, 0x04, 0x02, 0x20,
                                      0x00, 0x00, 0x41, 0x0D, 0xBB, 0x86, 0xF4, 0x31, 0x7F, 0xFF,
                                      0x88, 0xFF, 0x37, 0x47, 0x1A, 0xDB, 0x6A, 0xDF, 0xFF, 0xAC};
enum { CODE_BYTES = sizeof code_text - 2 };

static unsigned bit_of(const uint8_t *bytes, unsigned i)
{
    return bytes[i / 8] >> (7 - i % 8) & 1;
}

/* The usable instruction sets take turns, so that the same sequences meet all of them in the end. */
static const l2k_t1_rows *next_rows(void)
{
    static unsigned turn;
    do
        turn = turn == L2K_CPU_SIMD128 ? L2K_CPU_C : turn + 1;
    while (!l2k_cpu_usable((l2k_cpu)turn));
    return l2k_t1_rows_get((l2k_cpu)turn);
}

static void test_sequence_encode(void **unused)
{
    (void)unused;
    uint8_t entries[256];
    for (unsigned i = 0; i < 256; i++)
        entries[i] = (uint8_t)(L2K_CONTEXT_SIGN << 1 | bit_of(plain_text, i)); /* any context that starts at 0 */
    for (unsigned round = 0; round < 4; round++) {
        uint8_t buffer[64] = {0};
        l2k_mq_feed feed = {.next = entries, .end = entries + 256};
        l2k_mq_encoder_reset(feed.contexts);
        l2k_mq_encode_start(&feed.mq, buffer);
        next_rows()->code(&feed);
        l2k_mq_flush(&feed.mq);
        assert_int_equal(feed.mq.out - (buffer + 1), CODE_BYTES);
        assert_memory_equal(buffer + 1, code_text, CODE_BYTES);
    }
}

static l2k_mq_model model;

/* The decoder loads eight bytes at once: what stands behind the two bytes 0xFF must not matter. */
static uint8_t *with_room_to_read(const uint8_t *code, size_t bytes)
{
    uint8_t *copy = malloc(bytes + 2 + L2K_MQ_READ_AHEAD);
    assert_non_null(copy);
    memcpy(copy, code, bytes);
    copy[bytes] = copy[bytes + 1] = 0xFF;
    for (size_t i = 0; i < L2K_MQ_READ_AHEAD; i++)
        copy[bytes + 2 + i] = (uint8_t)random_u64();
    return copy;
}

static void check_sequence_decode(const uint8_t *code, size_t bytes)
{
    uint8_t *data = with_room_to_read(code, bytes);
    l2k_mq_decoder mq;
    l2k_mq_model_reset(&model);
    l2k_mq_decode_start(&mq, data);
    for (unsigned i = 0; i < 256; i++) /* in a context that starts with state 0 */
        assert_int_equal(l2k_mq_decode(&mq, &model, L2K_CONTEXT_SIGN), bit_of(plain_text, i));
    free(data);
}

static void test_sequence_decode(void **unused)
{
    (void)unused;
    check_sequence_decode(code_text, sizeof code_text); /* with the marker */
    check_sequence_decode(code_text, CODE_BYTES);
}

/* The literal implementation must pass too, or comparing with it proves nothing. */
static void test_sequence_plain(void **unused)
{
    (void)unused;
    uint8_t buffer[64] = {0};
    plain_encoder e = {0x8000, 0, 12, buffer};
    plain_context cx = {0, 0}, back = {0, 0};
    for (unsigned i = 0; i < 256; i++)
        plain_encode(&e, &cx, bit_of(plain_text, i));
    assert_int_equal(plain_flush(&e) - (buffer + 1), CODE_BYTES);
    assert_memory_equal(buffer + 1, code_text, CODE_BYTES);
    plain_decoder d;
    plain_decode_start(&d, code_text, code_text + CODE_BYTES);
    for (unsigned i = 0; i < 256; i++)
        assert_int_equal(plain_decode(&d, &back), bit_of(plain_text, i));
}

/* ---- The table ----------------------------------------------------------------------------------------------- */

static uint64_t word_of(unsigned row, unsigned mps)
{
    const unsigned after_mps = 2 * plain_rows[row].nmps + mps,
                   after_lps = 2 * plain_rows[row].nlps + (mps ^ plain_rows[row].flip);
    return (uint64_t)plain_rows[row].qe << 47 | mps << 16 | after_lps << 8 | after_mps;
}

static void test_states(void **unused)
{
    (void)unused;
    l2k_mq_model_create(&model);
    for (unsigned i = 0; i < 94; i++)
        assert_int_equal(model.states[i], word_of(i / 2, i % 2));
    for (int i = 0; i < L2K_NUM_CONTEXTS; i++) { /* Table D.7 */
        unsigned row = i == L2K_CONTEXT_ZERO ? 4 : i == L2K_CONTEXT_RUN ? 3 : i == L2K_CONTEXT_UNIFORM ? 46 : 0;
        assert_int_equal(model.contexts[i], word_of(row, 0));
    }
}

/* ---- Random sequences ---------------------------------------------------------------------------------------- */

enum { MOST = 8000, ROOM = MOST * 3 + 64, BEFORE = 8, CANARY = 0xA5 };

typedef struct sequence {
    unsigned count;
    uint8_t context[MOST], bit[MOST];
} sequence;

/* Each context has its own probability, from never to always. */
static void make_sequence(sequence *s, unsigned count)
{
    uint32_t chance[L2K_NUM_CONTEXTS];
    for (int i = 0; i < L2K_NUM_CONTEXTS; i++)
        chance[i] = random_below(4) == 0 ? random_below(2) * 1000 : random_below(1001);
    s->count = count;
    for (unsigned i = 0; i < count; i++) {
        s->context[i] = (uint8_t)random_below(L2K_NUM_CONTEXTS);
        s->bit[i] = random_below(1000) < chance[s->context[i]];
    }
}

/* C.2: no code above FF8F appears, and a segment does not end in FF. */
static void check_code(const uint8_t *from, const uint8_t *to)
{
    for (const uint8_t *b = from; b < to; b++)
        assert_false(*b == 0xFF && (b + 1 == to || b[1] > 0x8F));
}

static void check_canary(const uint8_t *from, const uint8_t *end)
{
    while (from < end)
        assert_int_equal(*from++, CANARY);
}

/* Decodes from a copy that ends with the bytes that the decoder may read past the segment, so that sanitizers see any
 * other. At most `most_left` bytes may be left after the last decision. */
static void decode_sequence(const sequence *s, const uint8_t *code, size_t bytes, size_t most_left)
{
    uint8_t *copy = with_room_to_read(code, bytes);
    l2k_mq_decoder mq;
    l2k_mq_model_reset(&model);
    l2k_mq_decode_start(&mq, copy);
    for (unsigned i = 0; i < s->count; i++)
        assert_int_equal(l2k_mq_decode(&mq, &model, s->context[i]), s->bit[i]);
    assert_true(mq.in + most_left >= copy + bytes);
    free(copy);
}

static unsigned sequence_length(unsigned round)
{
    return round < 200 ? round : random_below(round % 20 ? 400 : MOST);
}

static void make_entries(const sequence *s, uint8_t entries[MOST])
{
    for (unsigned i = 0; i < s->count; i++)
        entries[i] = (uint8_t)(s->context[i] << 1 | s->bit[i]);
}

static l2k_mq_feed make_feed(const uint8_t *entries, unsigned count, uint8_t *start)
{
    l2k_mq_feed feed = {.next = entries, .end = entries + count};
    l2k_mq_encoder_reset(feed.contexts);
    l2k_mq_encode_start(&feed.mq, start - 1);
    return feed;
}

/* Encodes one segment whose first byte goes to `start`; returns one past its last byte. */
static uint8_t *encode_sequence(const sequence *s, uint8_t *start, uint8_t *end, bool predictable)
{
    static uint8_t entries[MOST];
    memset(start, CANARY, (size_t)(end - start));
    make_entries(s, entries);
    l2k_mq_feed feed = make_feed(entries, s->count, start);
    next_rows()->code(&feed);
    assert_ptr_equal(feed.next, feed.end);
    if (predictable)
        l2k_mq_flush_predictable(&feed.mq);
    else
        l2k_mq_flush(&feed.mq);
    check_code(start, feed.mq.out);
    check_canary(feed.mq.out + 1, end); /* one byte past the end may have been used */
    return feed.mq.out;
}

static void test_against_plain(void **unused)
{
    (void)unused;
    static sequence s;
    static uint8_t code[BEFORE + ROOM], plain[BEFORE + ROOM];
    for (unsigned round = 0; round < 1000; round++) {
        make_sequence(&s, sequence_length(round));
        uint8_t *end = encode_sequence(&s, code + BEFORE, code + sizeof code, false);
        plain_encoder e = {0x8000, 0, 12, plain + BEFORE - 1};
        plain_context contexts[L2K_NUM_CONTEXTS] = {{0}}, back[L2K_NUM_CONTEXTS];
        contexts[L2K_CONTEXT_ZERO].row = 4;
        contexts[L2K_CONTEXT_RUN].row = 3;
        contexts[L2K_CONTEXT_UNIFORM].row = 46;
        memcpy(back, contexts, sizeof back);
        memset(plain, 0, BEFORE);
        for (unsigned i = 0; i < s.count; i++)
            plain_encode(&e, &contexts[s.context[i]], s.bit[i]);
        size_t bytes = (size_t)(plain_flush(&e) - (plain + BEFORE));
        assert_int_equal(end - (code + BEFORE), bytes);
        assert_memory_equal(code + BEFORE, plain + BEFORE, bytes);
        plain_decoder d;
        plain_decode_start(&d, code + BEFORE, end);
        for (unsigned i = 0; i < s.count; i++)
            assert_int_equal(plain_decode(&d, &back[s.context[i]]), s.bit[i]);
    }
}

/* Bound on the bytes: a decision of probability p takes about -log2 p bits, even the least probable below 16, and
 * stuffing adds one bit in eight. */
static void check_length(const sequence *s, size_t bytes)
{
    assert_true(bytes <= (size_t)s->count * 16 * 8 / 7 / 8 + 5);
}

static void check_segments(bool predictable)
{
    static sequence s[3];
    static uint8_t code[BEFORE + 3 * ROOM];
    for (unsigned round = 0; round < 600; round++) {
        uint8_t *start = code + BEFORE, *end[3];
        memset(code, 0, BEFORE);
        for (int k = 0; k < 3; k++) { /* each segment depends on the last byte of the one before */
            make_sequence(&s[k], sequence_length(round));
            start = end[k] = encode_sequence(&s[k], start, code + sizeof code, predictable);
        }
        start = code + BEFORE;
        for (int k = 0; k < 3; start = end[k++]) {
            size_t bytes = (size_t)(end[k] - start);
            check_length(&s[k], bytes);
            /* D.4.2: the decoder has taken all bytes but at most two. */
            decode_sequence(&s[k], start, bytes, predictable ? 2 : bytes);
        }
    }
}

static void test_segments(void **unused)
{
    (void)unused;
    check_segments(false);
}

static void test_segments_predictable(void **unused)
{
    (void)unused;
    check_segments(true);
}

/* With any bytes, decoding stays inside them and does nothing undefined (the sanitizers check). */
static void test_garbage(void **unused)
{
    (void)unused;
    for (unsigned round = 0; round < 2000; round++) {
        size_t bytes = random_below(40);
        uint8_t garbage[40];
        for (size_t i = 0; i < bytes; i++)
            garbage[i] = random_below(3) ? (uint8_t)random_u64() : 0xFF;
        uint8_t *data = with_room_to_read(garbage, bytes);
        l2k_mq_decoder mq;
        l2k_raw_decoder raw;
        l2k_mq_model_reset(&model);
        l2k_mq_decode_start(&mq, data);
        for (unsigned i = 0; i < 2000; i++)
            assert_true(l2k_mq_decode(&mq, &model, random_below(L2K_NUM_CONTEXTS)) <= 1);
        assert_true(mq.in <= data + bytes + 1);
        l2k_raw_decode_start(&raw, data);
        for (unsigned i = 0; i < 1000; i++)
            assert_true(l2k_raw_decode(&raw) <= 1);
        assert_true(raw.in <= data + bytes + 2);
        free(data);
    }
}

/* ---- Raw bits ------------------------------------------------------------------------------------------------ */

static void decode_raw(const uint8_t *bit, unsigned count, const uint8_t *code, size_t bytes)
{
    uint8_t *copy = malloc(bytes + 2);
    assert_non_null(copy);
    memcpy(copy, code, bytes);
    copy[bytes] = copy[bytes + 1] = 0xFF;
    l2k_raw_decoder raw;
    l2k_raw_decode_start(&raw, copy);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(l2k_raw_decode(&raw), bit[i]);
    free(copy);
}

/* D.4.2: the unused bits of the last byte are 0101.. from the first one on. */
static void check_raw_padding(const uint8_t *code, size_t bytes, unsigned count)
{
    unsigned used = 0, unused = 0, expected = 0;
    for (size_t i = 0; i < bytes; i++) {
        unsigned width = i && code[i - 1] == 0xFF ? 7 : 8;
        for (unsigned k = width; k-- > 0; used++)
            if (used >= count) {
                assert_int_equal(code[i] >> k & 1, expected);
                expected ^= 1;
                unused++;
            }
    }
    assert_true(used >= count && unused < 8);
}

static void check_raw(bool predictable)
{
    static uint8_t code[BEFORE + 2 * ROOM], bit[MOST];
    for (unsigned round = 0; round < 6000; round++) {
        unsigned count = round < 100 ? round : random_below(300), chance = random_below(11);
        l2k_mq_encoder mq;
        memset(code, 0, BEFORE);
        memset(code + BEFORE, CANARY, sizeof code - BEFORE);
        mq.out = code + BEFORE;
        l2k_raw_encode_start(&mq);
        for (unsigned i = 0; i < count; i++) {
            bit[i] = random_below(10) < chance;
            l2k_raw_encode(&mq, bit[i]);
            if (i % 16 == 0) { /* truncated here, the block decodes up to here */
                size_t bytes = (size_t)(mq.out - (code + BEFORE)) + l2k_raw_pending_bytes(&mq, predictable);
                assert_true(bytes <= i / 7 + 2);
            }
        }
        l2k_raw_flush(&mq, predictable);
        check_code(code + BEFORE, mq.out);
        size_t bytes = (size_t)(mq.out - (code + BEFORE));
        decode_raw(bit, count, code + BEFORE, bytes);
        check_canary(mq.out + 2, code + sizeof code); /* up to two bytes may have been dropped */
        if (predictable)
            check_raw_padding(code + BEFORE, bytes, count);
    }
}

static void test_raw(void **unused)
{
    (void)unused;
    check_raw(false);
}

static void test_raw_predictable(void **unused)
{
    (void)unused;
    check_raw(true);
}

int main(void)
{
    l2k_mq_model_create(&model);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sequence_encode),
        cmocka_unit_test(test_sequence_decode),
        cmocka_unit_test(test_sequence_plain),
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_against_plain),
        cmocka_unit_test(test_segments),
        cmocka_unit_test(test_segments_predictable),
        cmocka_unit_test(test_garbage),
        cmocka_unit_test(test_raw),
        cmocka_unit_test(test_raw_predictable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
