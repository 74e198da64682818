/* The MQ block decoder compared with Annex D to the letter, sample by sample: random blocks in all styles and shapes,
 * whole, cut short, and damaged. */
#include "plain_mq.h"
#include "support.h"

#include "codec/blocks/mq/t1.h"

enum { AREA = 4096, GUARD = 0x5A, MOST_SEGMENTS = L2K_MAX_PASSES, ROOM = 1 << 17 };

/* ---- Annex D to the letter ----------------------------------------------------------------------------------- */

typedef struct plain_sample {
    bool significant, negative, visited, refined;
    uint32_t doubled; /* twice the value in the middle of the interval */
} plain_sample;

typedef struct plain_block {
    int width, height;
    unsigned orientation, style, plane;
    bool raw;
    plain_sample samples[AREA];
    plain_context contexts[L2K_NUM_CONTEXTS];
    plain_decoder mq;
    unsigned byte, bits; /* D.6: the current byte, and how many of its bits are left */
    const uint8_t *next;
} plain_block;

static plain_sample *sample_at(plain_block *b, int x, int y)
{
    return &b->samples[y * b->width + x];
}

/* The neighbour of (x, y) at a distance; D.7: a causal context does not see the next stripe. */
static const plain_sample *neighbour(plain_block *b, int x, int y, int dx, int dy)
{
    static const plain_sample none;
    const int to_x = x + dx, to_y = y + dy;
    if (to_x < 0 || to_x >= b->width || to_y < 0 || to_y >= b->height)
        return &none;
    if ((b->style & L2K_STYLE_VSC) && to_y / 4 > y / 4)
        return &none;
    return sample_at(b, to_x, to_y);
}

static int significant(plain_block *b, int x, int y, int dx, int dy)
{
    return neighbour(b, x, y, dx, dy)->significant;
}

static int horizontal(plain_block *b, int x, int y)
{
    return significant(b, x, y, -1, 0) + significant(b, x, y, 1, 0);
}

static int vertical(plain_block *b, int x, int y)
{
    return significant(b, x, y, 0, -1) + significant(b, x, y, 0, 1);
}

static int diagonal(plain_block *b, int x, int y)
{
    return significant(b, x, y, -1, -1) + significant(b, x, y, 1, -1) + significant(b, x, y, -1, 1) +
           significant(b, x, y, 1, 1);
}

static int all_neighbours(plain_block *b, int x, int y)
{
    return horizontal(b, x, y) + vertical(b, x, y) + diagonal(b, x, y);
}

/* Table D.1, from the last row to the first; -1: any. */
static unsigned zero_context(plain_block *b, int x, int y)
{
    static const int low[9][3] = {{0, 0, 0}, {0, 0, 1},  {0, 0, -1},  {0, 1, -1}, {0, 2, -1},
                                  {1, 0, 0}, {1, 0, -1}, {1, -1, -1}, {2, -1, -1}};
    static const int high[9][2] = {{0, 0}, {1, 0}, {-1, 0}, {0, 1}, {1, 1}, {-1, 1}, {0, 2}, {-1, 2}, {-1, -1}};
    int h = horizontal(b, x, y), v = vertical(b, x, y), d = diagonal(b, x, y);
    for (unsigned i = 0; i < 9 && b->orientation == L2K_HH; i++)
        if ((high[i][0] < 0 || high[i][0] == h + v) && (high[i][1] < 0 || high[i][1] == d))
            return i;
    if (b->orientation == L2K_HL) {
        int swap = h;
        h = v;
        v = swap;
    }
    for (unsigned i = 0; i < 9; i++)
        if (low[i][0] == h && (low[i][1] < 0 || low[i][1] == v) && (low[i][2] < 0 || low[i][2] == d))
            return i;
    fail();
    return 0;
}

/* Table D.2: the contribution of two opposite neighbours. */
static int contribution(const plain_sample *one, const plain_sample *other)
{
    int sum = one->significant * (one->negative ? -1 : 1) + other->significant * (other->negative ? -1 : 1);
    return sum > 0 ? 1 : sum < 0 ? -1 : 0;
}

static unsigned raw_bit(plain_block *b)
{
    const uint8_t *end = b->mq.end;
    if (b->bits == 0) {
        const unsigned next = b->next < end ? *b->next : 0xFF;
        const bool over = b->byte == 0xFF && next > 0x8F;
        b->bits = b->byte == 0xFF && !over ? 7 : 8;
        b->byte = over ? 0xFF : next;
        b->next += !over;
    }
    return b->byte >> --b->bits & 1;
}

static unsigned decide(plain_block *b, unsigned context)
{
    return b->raw ? raw_bit(b) : plain_decode(&b->mq, &b->contexts[context]);
}

/* Table D.3: contributions, context, XOR bit. */
static unsigned sign_of(plain_block *b, int x, int y)
{
    static const int table[9][4] = {{1, 1, 13, 0},  {1, 0, 12, 0},  {1, -1, 11, 0}, {0, 1, 10, 0},  {0, 0, 9, 0},
                                    {0, -1, 10, 1}, {-1, 1, 11, 1}, {-1, 0, 12, 1}, {-1, -1, 13, 1}};
    if (b->raw)
        return raw_bit(b);
    const int h = contribution(neighbour(b, x, y, -1, 0), neighbour(b, x, y, 1, 0));
    const int v = contribution(neighbour(b, x, y, 0, -1), neighbour(b, x, y, 0, 1));
    for (unsigned i = 0; i < 9; i++)
        if (table[i][0] == h && table[i][1] == v)
            return decide(b, (unsigned)table[i][2]) ^ (unsigned)table[i][3];
    fail();
    return 0;
}

static void becomes_significant(plain_block *b, int x, int y)
{
    plain_sample *s = sample_at(b, x, y);
    s->negative = sign_of(b, x, y);
    s->significant = true;
    s->doubled = 3u << b->plane;
}

/* D.3.1 */
static void significance(plain_block *b, int x, int y)
{
    plain_sample *s = sample_at(b, x, y);
    if (s->significant || all_neighbours(b, x, y) == 0)
        return;
    s->visited = true;
    if (decide(b, zero_context(b, x, y)))
        becomes_significant(b, x, y);
}

/* D.3.3, Table D.4 */
static void refinement(plain_block *b, int x, int y)
{
    plain_sample *s = sample_at(b, x, y);
    if (!s->significant || s->visited)
        return;
    const unsigned context = s->refined ? 16 : all_neighbours(b, x, y) ? 15 : 14;
    s->doubled += decide(b, context) ? 1u << b->plane : 0u - (1u << b->plane);
    s->refined = true;
}

/* D.3.4, Table D.5: one column of a stripe. */
static void cleanup_column(plain_block *b, int x, int y)
{
    const int rows = b->height - y < 4 ? b->height - y : 4;
    int k = 0, nothing = 0;
    bool found = false;
    for (int i = 0; i < rows; i++) {
        const plain_sample *s = sample_at(b, x, y + i);
        nothing += !s->significant && !s->visited && all_neighbours(b, x, y + i) == 0;
    }
    if (nothing == 4) {
        if (!decide(b, L2K_CONTEXT_RUN))
            return;
        k = (int)decide(b, L2K_CONTEXT_UNIFORM) << 1;
        k += (int)decide(b, L2K_CONTEXT_UNIFORM);
        found = true;
    }
    for (; k < rows; k++, found = false) {
        const plain_sample *s = sample_at(b, x, y + k);
        if (!s->significant && !s->visited && (found || decide(b, zero_context(b, x, y + k))))
            becomes_significant(b, x, y + k);
    }
}

static void plain_pass(plain_block *b, unsigned type)
{
    for (int y = 0; y < b->height; y += 4)
        for (int x = 0; x < b->width; x++) {
            for (int k = y; type < 2 && k < y + 4 && k < b->height; k++)
                (type == 0 ? significance : refinement)(b, x, k);
            if (type == 2)
                cleanup_column(b, x, y);
        }
    for (int i = 0; type == 2 && i < b->width * b->height; i++)
        b->samples[i].visited = false;
    for (int i = 0; type == 2 && (b->style & L2K_STYLE_SEGSYM) && i < 4; i++)
        decide(b, L2K_CONTEXT_UNIFORM);
}

static void reset_contexts(plain_block *b)
{
    for (unsigned i = 0; i < L2K_NUM_CONTEXTS; i++)
        b->contexts[i] = (plain_context){i == 0 ? 4 : i == L2K_CONTEXT_RUN ? 3 : i == L2K_CONTEXT_UNIFORM ? 46 : 0, 0};
}

/* H.1: what reaches above the shift belongs to the region. */
static int32_t value_of(const plain_sample *s, const l2k_t1_block *block, unsigned planes)
{
    uint32_t doubled = s->doubled;
    if (block->roi_shift && planes > block->roi_shift && doubled >> (block->roi_shift + 1))
        doubled >>= block->roi_shift;
    const int32_t magnitude = (int32_t)(block->reversible ? doubled / 2 : doubled);
    return s->negative ? -magnitude : magnitude;
}

static void plain_decode_block(plain_block *b, const l2k_t1_block *block, unsigned planes, const uint8_t *bytes,
                               const l2k_t1_segment *segments, size_t count)
{
    *b = (plain_block){.width = (int)block->width, .height = (int)block->height};
    b->orientation = block->orientation;
    b->style = block->style;
    reset_contexts(b);
    unsigned pass = 0;
    for (size_t s = 0; s < count; s++) {
        plain_decode_start(&b->mq, bytes, bytes + segments[s].bytes);
        b->next = bytes;
        b->byte = b->bits = 0;
        for (uint32_t i = 0; i < segments[s].passes && pass < 3 * planes - 2; i++, pass++) {
            b->raw = (block->style & L2K_STYLE_BYPASS) && pass >= 10 && pass % 3 != 0;
            b->plane = planes - 1 - (pass + 2) / 3;
            plain_pass(b, (pass + 2) % 3);
            if (block->style & L2K_STYLE_RESET)
                reset_contexts(b);
        }
        bytes += segments[s].bytes;
    }
}

/* ---- Blocks -------------------------------------------------------------------------------------------------- */

static const l2k_context context = {.threads = 1};
static l2k_t1 *coder;

/* A block's code as it is received: segments, and their bytes without what follows each. */
typedef struct received {
    l2k_t1_block block;
    unsigned planes;
    l2k_t1_segment segments[MOST_SEGMENTS];
    size_t num_segments, num_bytes;
    uint8_t bytes[ROOM];
} received;

static const struct {
    uint32_t width, height;
} shapes[] = {{1, 1},   {2, 7},   {4, 4},   {7, 9},    {8, 8},    {9, 4},    {16, 16},  {17, 33},  {32, 32},
              {31, 64}, {64, 64}, {61, 63}, {128, 32}, {1024, 4}, {1023, 3}, {4, 1024}, {3, 1023}, {10, 5}};

static void fill(int32_t *values, size_t count, unsigned planes)
{
    const unsigned kind = random_below(5);
    for (size_t i = 0; i < count; i++) {
        unsigned bits = kind == 0 ? planes : random_below(planes + 1);
        if ((kind == 1 && random_below(20)) || (kind == 2 && (i / 16 & 1)) || (kind == 3 && random_below(200)))
            bits = 0;
        const int32_t magnitude = bits ? (int32_t)(random_u64() & ((1ull << bits) - 1)) : 0;
        values[i] = random_below(2) ? -magnitude : magnitude;
    }
}

/* Some or all passes of a code, the last one with all bytes of its segment or with those the encoder gives for it. */
static void take(received *r, const l2k_t1_code *code)
{
    const unsigned passes = random_below(3) ? code->num_passes : random_between(1, code->num_passes);
    uint32_t start = 0;
    r->num_segments = 0;
    for (unsigned i = 0, first = 0; i < passes; i++) {
        unsigned end = i;
        while (!code->passes[end].terminated)
            end++;
        if (end > i && i + 1 < passes)
            continue;
        const uint32_t bytes = code->passes[random_below(2) ? i : end].bytes - start;
        r->segments[r->num_segments++] = (l2k_t1_segment){i + 1 - first, bytes};
        start += bytes;
        first = i + 1;
    }
    r->num_bytes = start;
    memcpy(r->bytes, code->bytes, start);
}

static bool make_block(received *r, unsigned style)
{
    static int32_t values[AREA];
    const size_t shape = random_below(2 * sizeof shapes / sizeof *shapes);
    const bool listed = shape < sizeof shapes / sizeof *shapes;
    r->block = (l2k_t1_block){.coefficients = values,
                              .type = L2K_COEFFICIENT_INT32,
                              .width = listed ? shapes[shape].width : random_between(1, 40),
                              .height = listed ? shapes[shape].height : random_between(1, 40),
                              .orientation = random_below(4),
                              .style = style,
                              .reversible = random_below(2)};
    r->block.stride = r->block.width;
    fill(values, r->block.width * r->block.height, random_below(4) ? random_between(1, 9) : random_between(1, 30));
    l2k_t1_code code;
    assert_int_equal(l2k_t1_encode(coder, &r->block, false, &code), L2K_OK);
    if (code.num_passes == 0)
        return false;
    r->planes = code.num_planes;
    take(r, &code);
    return true;
}

static void damage(received *r)
{
    for (unsigned changes = r->num_bytes ? random_below(10) : 0; changes > 0; changes--) {
        const size_t at = random_below((uint32_t)r->num_bytes);
        switch (random_below(4)) {
        case 0: /* a marker, or a carry into a 0xFF */
            r->bytes[at] = 0xFF;
            if (at + 1 < r->num_bytes)
                r->bytes[at + 1] = (uint8_t)random_between(0x78, 0x98);
            break;
        case 1:
            r->bytes[at] ^= (uint8_t)(1u << random_below(8));
            break;
        default:
            r->bytes[at] = (uint8_t)random_u64();
        }
    }
    if (random_below(8) == 0)
        r->segments[r->num_segments - 1].bytes /= 2;
    if (random_below(8) == 0)
        r->planes = random_between(1, L2K_MAX_BIT_PLANES);
}

/* Into a view that is three samples wider, whose other samples must stay. */
static void check(received *r)
{
    static plain_block plain;
    static int32_t wide[AREA + 3 * 1024];
    const uint32_t width = r->block.width;
    plain_decode_block(&plain, &r->block, r->planes, r->bytes, r->segments, r->num_segments);
    assert_int_equal(l2k_t1_reserve(coder, r->num_bytes + 2 * r->num_segments), L2K_OK);
    uint8_t *to = coder->bytes;
    for (size_t i = 0, from = 0; i < r->num_segments; i++) {
        memcpy(to, r->bytes + from, r->segments[i].bytes);
        from += r->segments[i].bytes;
        to += r->segments[i].bytes + 2;
    }
    memset(wide, GUARD, sizeof wide);
    r->block.coefficients = wide;
    r->block.stride = width + 3;
    l2k_t1_decode(coder, &r->block, r->planes, r->segments, r->num_segments);
    const int16_t *narrow = (const int16_t *)wide;
    for (uint32_t y = 0; y < r->block.height; y++)
        for (uint32_t x = 0; x < r->block.stride; x++) {
            const bool is_narrow = r->block.type == L2K_COEFFICIENT_INT16;
            const size_t at = y * r->block.stride + x;
            const int32_t got = is_narrow ? narrow[at] : wide[at], guard = is_narrow ? 0x5A5A : 0x5A5A5A5A;
            assert_int_equal(got, x < width ? value_of(&plain.samples[y * width + x], &r->block, r->planes) : guard);
        }
}

static void check_blocks(bool damaged)
{
    static received r;
    for (unsigned round = 0; round < 64 * 25; round++) {
        if (!make_block(&r, round % 64))
            continue;
        if (damaged)
            damage(&r);
        if (random_below(4) == 0)
            r.block.roi_shift = random_between(1, 30);
        if (r.planes <= 14 && random_below(2))
            r.block.type = L2K_COEFFICIENT_INT16;
        check(&r);
    }
}

static void test_valid(void **unused)
{
    (void)unused;
    check_blocks(false);
}

static void test_damaged(void **unused)
{
    (void)unused;
    check_blocks(true);
}

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_valid), cmocka_unit_test(test_damaged)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
