/* codec/blocks/mq/t1.h: blocks of random content through encoder and decoder, in all styles, whole and truncated after
 * any coding pass. */
#include "support.h"

#include "codec/blocks/mq/t1.h"

enum { AREA = 4096, PITCH = 1040, ROWS = 1026, GUARD = 0x5A };

static const l2k_context context = {.threads = 1};
static l2k_t1 *coder;

static int setup(void **unused)
{
    (void)unused;
    return l2k_t1_create(&context, &coder) == L2K_OK ? 0 : -1;
}

static int teardown(void **unused)
{
    (void)unused;
    l2k_t1_free(coder);
    return 0;
}

/* A block inside a larger view, so that writes outside it are seen. */
typedef struct subject {
    l2k_t1_block block;
    int32_t values[AREA]; /* input, row by row */
    int32_t got[AREA];    /* output */
    l2k_t1_code code;
    uint8_t *bytes; /* a copy of the code: the coder's own is overwritten by decoding */
} subject;

static union {
    int16_t narrow[ROWS * PITCH];
    int32_t wide[ROWS * PITCH];
} view;

static size_t sample_bytes(const subject *s)
{
    return s->block.type == L2K_COEFFICIENT_INT16 ? 2 : 4;
}

/* The view is as large as the block plus a guard row above and below and guard columns. */
static void place(subject *s)
{
    s->block.stride = s->block.width + 3;
    memset(&view, GUARD, (s->block.height + 2) * s->block.stride * sample_bytes(s));
    s->block.coefficients = (uint8_t *)&view + (s->block.stride + 1) * sample_bytes(s);
}

static void put_values(subject *s)
{
    place(s);
    for (uint32_t y = 0; y < s->block.height; y++)
        for (uint32_t x = 0; x < s->block.width; x++) {
            size_t at = (y + 1) * s->block.stride + 1 + x;
            int32_t v = s->values[y * s->block.width + x];
            if (s->block.type == L2K_COEFFICIENT_INT16)
                view.narrow[at] = (int16_t)v;
            else
                view.wide[at] = v;
        }
}

/* Gets the block's samples and checks that nothing outside was written. */
static void get_values(subject *s)
{
    size_t n = sample_bytes(s);
    for (uint32_t y = 0; y < s->block.height + 2; y++)
        for (uint32_t x = 0; x < s->block.stride; x++) {
            size_t at = y * s->block.stride + x;
            bool inside = y >= 1 && y <= s->block.height && x >= 1 && x <= s->block.width;
            if (inside)
                s->got[(y - 1) * s->block.width + x - 1] = n == 2 ? view.narrow[at] : view.wide[at];
            for (size_t i = 0; !inside && i < n; i++)
                assert_int_equal(((uint8_t *)&view)[at * n + i], GUARD);
        }
}

/* Magnitudes of a subband: mostly small, some large, some regions empty. */
static void fill(subject *s, unsigned planes)
{
    unsigned sparse = random_below(4), kind = random_below(4);
    for (uint32_t i = 0; i < s->block.width * s->block.height; i++) {
        uint32_t bits = kind == 0 ? planes : random_below(planes + 1);
        uint32_t magnitude = bits ? (uint32_t)(random_u64() & ((1ull << bits) - 1)) : 0;
        if (sparse == 1 && random_below(20))
            magnitude = 0;
        if (sparse == 2 && (i / 16 & 1))
            magnitude = 0;
        s->values[i] = random_below(2) ? -(int32_t)magnitude : (int32_t)magnitude;
    }
}

static void encode(subject *s, bool distortion)
{
    put_values(s);
    assert_int_equal(l2k_t1_encode(coder, &s->block, distortion, &s->code), L2K_OK);
    free(s->bytes);
    s->bytes = NULL;
    if (s->code.num_passes == 0)
        return;
    size_t bytes = s->code.passes[s->code.num_passes - 1].bytes;
    s->bytes = malloc(bytes + 1);
    assert_non_null(s->bytes);
    memcpy(s->bytes, s->code.bytes, bytes);
}

/* Tables D.8 and D.9, pass 0 being the first clean-up pass: with bypass, each bit-plane from the fifth on has two raw
 * passes (10, 11) and an arithmetic one (12), and both groups end a segment; so does pass 9 before them. */
static bool ends_segment(unsigned style, unsigned pass)
{
    if (style & L2K_STYLE_TERMALL)
        return true;
    return (style & L2K_STYLE_BYPASS) && pass >= 9 && pass % 3 != 1;
}

static bool is_raw(unsigned style, unsigned pass)
{
    return (style & L2K_STYLE_BYPASS) && pass >= 10 && pass % 3 != 0;
}

static void test_pass_tables(void **unused)
{
    (void)unused;
    for (unsigned style = 0; style < 64; style++)
        for (unsigned pass = 0; pass < L2K_MAX_PASSES; pass++) {
            assert_int_equal(l2k_pass_terminates(style, pass), ends_segment(style, pass));
            assert_int_equal(l2k_pass_is_raw(style, pass), is_raw(style, pass));
        }
}

/* What can be checked without decoding. */
static void check_code(const subject *s)
{
    uint32_t all = 0, before = 0;
    unsigned planes = 0;
    for (uint32_t i = 0; i < s->block.width * s->block.height; i++)
        all |= (uint32_t)abs(s->values[i]);
    while (all >> planes)
        planes++;
    assert_int_equal(s->code.num_planes, planes);
    assert_int_equal(s->code.num_passes, planes ? 3 * planes - 2 : 0);
    for (unsigned i = 0; i < s->code.num_passes; i++) {
        const l2k_pass *pass = &s->code.passes[i];
        assert_true(pass->bytes >= before);
        assert_int_equal(pass->terminated, ends_segment(s->block.style, i) || i + 1 == s->code.num_passes);
        if (pass->bytes)
            assert_int_not_equal(s->bytes[pass->bytes - 1], 0xFF);
        before = pass->bytes;
    }
}

/* Bytes from the start of the block to the end of the codeword segment that contains pass `pass`. */
static uint32_t segment_end(const subject *s, unsigned pass)
{
    while (!s->code.passes[pass].terminated)
        pass++;
    return s->code.passes[pass].bytes;
}

/* Decodes the first `passes` passes: with the whole last segment, as if later layers were present, or, if `cut`, with
 * only the bytes that the encoder gives for these passes. */
static void decode(subject *s, unsigned passes, bool cut)
{
    l2k_t1_segment segments[L2K_MAX_PASSES];
    size_t count = 0;
    uint32_t start = 0;
    place(s);
    assert_int_equal(l2k_t1_reserve(coder, segment_end(s, passes - 1) + 2 * L2K_MAX_PASSES), L2K_OK);
    uint8_t *to = coder->bytes;
    for (unsigned i = 0, first = 0; i < passes; i++) {
        if (!s->code.passes[i].terminated && i + 1 < passes)
            continue;
        uint32_t bytes = (cut ? s->code.passes[i].bytes : segment_end(s, i)) - start;
        segments[count++] = (l2k_t1_segment){i + 1 - first, bytes};
        memcpy(to, s->bytes + start, bytes);
        to += bytes + 2;
        start += bytes;
        first = i + 1;
    }
    l2k_t1_decode(coder, &s->block, s->code.num_planes, segments, count);
    get_values(s);
}

/* Twice the value that a coefficient represents, and twice the decoded one. */
static int64_t twice_true(const subject *s, uint32_t i)
{
    int64_t v = s->values[i];
    if (s->block.reversible || v == 0)
        return 2 * v;
    return v < 0 ? 2 * v - 1 : 2 * v + 1; /* the middle of the interval */
}

static int64_t twice_got(const subject *s, uint32_t i)
{
    return s->block.reversible ? 2 * (int64_t)s->got[i] : s->got[i];
}

static void check_exact(const subject *s)
{
    for (uint32_t i = 0; i < s->block.width * s->block.height; i++)
        assert_int_equal(twice_got(s, i), twice_true(s, i));
}

/* After passes that end in plane p, the bits below p are unknown; for samples not yet coded in p, so is bit p. */
static void check_bound(const subject *s, unsigned passes)
{
    unsigned planes_done = (passes + 2) / 3;
    unsigned open = s->code.num_planes - planes_done + (passes % 3 != 1);
    for (uint32_t i = 0; i < s->block.width * s->block.height; i++)
        assert_true(llabs(twice_got(s, i) - twice_true(s, i)) <= (int64_t)2 << open);
}

/* Squared errors in quarters of a squared step are integers, so sums below 2^53 are exact, as they must be with 19
 * bit-planes. */
static void check_distortion(const subject *s, unsigned passes)
{
    double removed = 0;
    for (uint32_t i = 0; i < s->block.width * s->block.height; i++) {
        double value = (double)twice_true(s, i), error = (double)(twice_got(s, i) - twice_true(s, i));
        removed += (value * value - error * error) / 4;
    }
    double reported = s->code.passes[passes - 1].distortion;
    if (s->code.num_planes <= 19)
        assert_true(reported == removed);
    assert_true(reported >= removed - 1e-9 * removed - 1e-9 && reported <= removed + 1e-9 * removed + 1e-9);
}

static void check_after(subject *s, unsigned passes, bool cut)
{
    decode(s, passes, cut);
    check_bound(s, passes);
    check_distortion(s, passes);
    if (passes == s->code.num_passes)
        check_exact(s);
}

/* Up to 24 bit-planes, so that no sum of squares exceeds 64 bits; test_deep_distortion covers more. */
static unsigned random_planes(const subject *s)
{
    unsigned most = s->block.type == L2K_COEFFICIENT_INT32 ? 24 : s->block.reversible ? 15 : 14;
    return random_below(3) ? random_between(1, 10) : random_between(1, most);
}

static void shape(subject *s, uint32_t width, uint32_t height, unsigned style)
{
    s->block.width = width;
    s->block.height = height;
    s->block.style = style;
    s->block.orientation = random_below(4);
    s->block.reversible = random_below(2);
    s->block.type = random_below(2) ? L2K_COEFFICIENT_INT16 : L2K_COEFFICIENT_INT32;
}

static const struct {
    uint32_t width, height;
} sizes[] = {{1, 1},  {1, 2},   {2, 1},  {1, 4},   {3, 5},   {4, 4},    {5, 3},    {7, 9},    {1, 64},
             {64, 1}, {16, 17}, {33, 6}, {32, 32}, {64, 64}, {1024, 4}, {4, 1024}, {1023, 3}, {61, 63}};

static void test_whole_blocks(void **unused)
{
    (void)unused;
    static subject s;
    for (unsigned style = 0; style < 64; style++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            shape(&s, sizes[i].width, sizes[i].height, style);
            fill(&s, random_planes(&s));
            encode(&s, true);
            check_code(&s);
            if (s.code.num_passes)
                check_after(&s, s.code.num_passes, false);
        }
    free(s.bytes);
    s.bytes = NULL;
}

/* H.1: a region shifted above a background of up to 2^shift - 1 is shifted down again; the background is unchanged. */
static void test_region(void **unused)
{
    (void)unused;
    static subject s;
    static int32_t wanted[AREA];
    for (unsigned shift = 1; shift < 24; shift++) {
        shape(&s, random_between(1, 40), random_between(1, 40), random_below(64));
        s.block.type = L2K_COEFFICIENT_INT32;
        for (uint32_t i = 0; i < s.block.width * s.block.height; i++) {
            int32_t sign = random_below(2) ? -1 : 1;
            bool inside = random_below(2);
            int32_t magnitude = (int32_t)(inside ? random_between(1, 63) : random_below(1u << shift));
            s.values[i] = sign * (inside ? magnitude << shift : magnitude);
            wanted[i] = sign * (s.block.reversible ? magnitude : 2 * magnitude + (!inside && magnitude));
        }
        encode(&s, false);
        s.block.roi_shift = shift;
        if (s.code.num_passes)
            decode(&s, s.code.num_passes, false);
        for (uint32_t i = 0; s.code.num_passes && i < s.block.width * s.block.height; i++)
            assert_int_equal(s.got[i], wanted[i]);
        s.block.roi_shift = 0;
    }
    free(s.bytes);
    s.bytes = NULL;
}

/* Small blocks truncated after every pass, larger ones after some. */
static void check_cuts(unsigned rounds, bool cut)
{
    static subject s;
    for (unsigned round = 0; round < rounds; round++) {
        bool small = round % 12 > 0;
        uint32_t most = small ? 12 : 64;
        shape(&s, random_between(1, most), random_between(1, most), round % 64);
        fill(&s, random_planes(&s));
        encode(&s, true);
        for (unsigned passes = 1; passes <= s.code.num_passes; passes += small ? 1 : random_between(1, 9))
            check_after(&s, passes, cut);
    }
    free(s.bytes);
    s.bytes = NULL;
}

static void test_fewer_passes(void **unused)
{
    (void)unused;
    check_cuts(64 * 12, false);
}

/* A layer has as many bytes of a block as the encoder gives for its passes, so that many must suffice. The lengths are
 * estimates; one that is a byte short shows in one truncation of a few thousand. */
static void test_cut_lengths(void **unused)
{
    (void)unused;
    check_cuts(64 * 36, true);
}

/* 24-bit images have up to 27 bit-planes in HH, and the coder takes 30: the squares of such samples must still add up.
 */
static void test_deep_distortion(void **unused)
{
    (void)unused;
    static subject s;
    for (unsigned planes = 25; planes <= L2K_MAX_BIT_PLANES; planes++)
        for (unsigned round = 0; round < 4; round++) {
            shape(&s, 64, round ? 64 : 3, 0);
            s.block.type = L2K_COEFFICIENT_INT32;
            for (uint32_t i = 0; i < AREA; i++)
                s.values[i] = (int32_t)((1u << planes) - 1 - random_below(1u << (planes - 1)));
            encode(&s, true);
            check_after(&s, s.code.num_passes, false);
        }
    free(s.bytes);
    s.bytes = NULL;
}

/* The same bytes with and without distortions, for both sample types. */
static void test_same_code(void **unused)
{
    (void)unused;
    static subject s;
    for (unsigned round = 0; round < 200; round++) {
        shape(&s, random_between(1, 40), random_between(1, 40), random_below(64));
        s.block.type = L2K_COEFFICIENT_INT16;
        fill(&s, random_between(1, 14));
        encode(&s, true);
        if (s.code.num_passes == 0)
            continue;
        uint32_t bytes = s.code.passes[s.code.num_passes - 1].bytes;
        uint8_t *first = s.bytes;
        s.bytes = NULL;
        s.block.type = L2K_COEFFICIENT_INT32;
        encode(&s, false);
        assert_int_equal(s.code.passes[s.code.num_passes - 1].bytes, bytes);
        assert_memory_equal(s.bytes, first, bytes);
        free(first);
    }
    free(s.bytes);
    s.bytes = NULL;
}

static void test_extremes(void **unused)
{
    (void)unused;
    static subject s;
    shape(&s, 8, 8, 0);
    s.block.type = L2K_COEFFICIENT_INT32;
    memset(s.values, 0, sizeof s.values);
    encode(&s, true);
    assert_int_equal(s.code.num_planes, 0);
    assert_int_equal(s.code.num_passes, 0);
    s.values[17] = -((1 << L2K_MAX_BIT_PLANES) - 1); /* the largest possible */
    encode(&s, true);
    assert_int_equal(s.code.num_planes, L2K_MAX_BIT_PLANES);
    check_after(&s, s.code.num_passes, false);
    s.values[17] = 1 << L2K_MAX_BIT_PLANES; /* one more */
    put_values(&s);
    assert_int_equal(l2k_t1_encode(coder, &s.block, false, &s.code), L2K_ERROR_ARGUMENT);
    s.values[17] = INT32_MIN;
    put_values(&s);
    assert_int_equal(l2k_t1_encode(coder, &s.block, false, &s.code), L2K_ERROR_ARGUMENT);
    free(s.bytes);
    s.bytes = NULL;
}

/* The worst case for the buffer: noise in all planes, for which bypass and termination of every pass cost most. */
static void test_noise(void **unused)
{
    (void)unused;
    static subject s;
    for (unsigned style = 0; style < 64; style += 1 + style % 3) {
        shape(&s, 64, 64, style);
        s.block.type = L2K_COEFFICIENT_INT32;
        for (uint32_t i = 0; i < AREA; i++)
            s.values[i] = (int32_t)(random_u64() & 0x3FFFFFFF) * (random_below(2) ? 1 : -1);
        encode(&s, false);
        check_code(&s);
        decode(&s, s.code.num_passes, false);
        check_exact(&s);
    }
    free(s.bytes);
    s.bytes = NULL;
}

/* Random bytes as code: nothing outside the block is written (sanitizers check the rest). */
static void test_garbage(void **unused)
{
    (void)unused;
    static subject s;
    for (unsigned round = 0; round < 1500; round++) {
        l2k_t1_segment segments[L2K_MAX_PASSES + 4];
        shape(&s, random_between(1, 40), random_between(1, 40), round % 64);
        unsigned planes = random_between(1, L2K_MAX_BIT_PLANES);
        if (s.block.type == L2K_COEFFICIENT_INT16)
            planes = 1 + planes % 14;
        size_t count = random_between(1, s.block.style & 5 ? L2K_MAX_PASSES : 2), total = 0;
        for (size_t i = 0; i < count; i++) {
            segments[i] = (l2k_t1_segment){random_between(1, count > 4 ? 2 : L2K_MAX_PASSES), random_below(60)};
            total += segments[i].bytes + 2;
        }
        assert_int_equal(l2k_t1_reserve(coder, total), L2K_OK);
        for (size_t i = 0; i < total; i++)
            coder->bytes[i] = random_below(4) ? (uint8_t)random_u64() : 0xFF;
        place(&s);
        l2k_t1_decode(coder, &s.block, planes, segments, count);
        get_values(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_blocks),    cmocka_unit_test(test_fewer_passes),
        cmocka_unit_test(test_same_code),       cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_noise),           cmocka_unit_test(test_garbage),
        cmocka_unit_test(test_pass_tables),     cmocka_unit_test(test_cut_lengths),
        cmocka_unit_test(test_deep_distortion), cmocka_unit_test(test_region),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
