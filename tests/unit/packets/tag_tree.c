/* Tag trees: the example of B.10.2, and random trees, coded by a coder written from the definition alone and decoded.
 */
#include "support.h"

#include "codec/tile/tag_tree.h"

static const l2k_context context = {.threads = 1};

/* The bits written, one per byte, without stuffing. */
typedef struct bit_string {
    unsigned count;
    uint8_t bit[1 << 17];
} bit_string;

static bit_string expected;
static l2k_buffer buffer;

static void put_expected(unsigned bit)
{
    assert_true(expected.count < sizeof expected.bit);
    expected.bit[expected.count++] = (uint8_t)bit;
}

/* ---- The definition: a node holds the minimum of the leaves below it ----------------------------------------- */

enum { MOST_SIDE = 19, MOST_LEVELS = 6 };

typedef struct plain_tree {
    uint32_t width, height;
    unsigned levels;
    uint32_t leaf[MOST_SIDE * MOST_SIDE];
    uint32_t low[MOST_LEVELS][MOST_SIDE * MOST_SIDE]; /* coded so far: value >= low, or value == low if known */
    bool known[MOST_LEVELS][MOST_SIDE * MOST_SIDE];
} plain_tree;

static uint32_t plain_value(const plain_tree *t, unsigned level, uint32_t nx, uint32_t ny)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t y = 0; y < t->height; y++)
        for (uint32_t x = 0; x < t->width; x++)
            if (x >> level == nx && y >> level == ny && t->leaf[y * t->width + x] < least)
                least = t->leaf[y * t->width + x];
    return least;
}

/* From the root down, codes for each node, value by value up to the threshold, whether its value is reached. */
static void plain_encode(plain_tree *t, uint32_t x, uint32_t y, uint32_t threshold)
{
    uint32_t low = 0;
    for (unsigned level = t->levels; level-- > 0;) {
        uint32_t at = (y >> level) * MOST_SIDE + (x >> level), value = plain_value(t, level, x >> level, y >> level);
        if (t->low[level][at] < low)
            t->low[level][at] = low;
        while (t->low[level][at] < threshold && !t->known[level][at]) {
            t->known[level][at] = value == t->low[level][at];
            put_expected(t->known[level][at]);
            if (!t->known[level][at])
                t->low[level][at]++;
        }
        low = t->low[level][at];
    }
}

static unsigned levels_of(uint32_t width, uint32_t height)
{
    unsigned levels = 1;
    while (width > 1 || height > 1) {
        width = (width + 1) / 2;
        height = (height + 1) / 2;
        levels++;
    }
    return levels;
}

/* ---- Comparing ----------------------------------------------------------------------------------------------- */

/* The bits as they are in a packet header. */
static l2k_bit_reader written(void)
{
    l2k_bit_writer writer = l2k_bits_to(&buffer);
    for (unsigned i = 0; i < expected.count; i++)
        l2k_bits_put(&writer, expected.bit[i], 1);
    l2k_bits_flush(&writer);
    return l2k_bits_from(buffer.data, buffer.data + buffer.size);
}

static void start(void)
{
    l2k_buffer_release(&buffer);
    buffer = (l2k_buffer){.context = &context};
    expected.count = 0;
}

static void start_plain(plain_tree *plain, uint32_t width, uint32_t height)
{
    memset(plain, 0, sizeof *plain);
    plain->width = width;
    plain->height = height;
    plain->levels = levels_of(width, height);
}

static bool decode(const l2k_tag_tree *tree, uint32_t x, uint32_t y, uint32_t threshold, l2k_bit_reader *bits)
{
    const l2k_tag_row row = l2k_tag_row_of(tree, y);
    return l2k_tag_decode(&row, x, threshold, bits);
}

static void test_example(void **unused)
{
    (void)unused;
    /* Figure B.12, q3(m, n), and the bits that B.10.2 lists for the first three leaves: 01111, 001, 101. */
    static const uint32_t leaves[18] = {1, 3, 2, 3, 2, 3, 2, 2, 1, 4, 3, 2, 2, 2, 2, 2, 1, 2};
    static const char bits[] = "01111001101";
    static plain_tree plain;
    l2k_arena arena = {0};
    l2k_tag_tree tree;
    start();
    assert_int_equal(l2k_tag_tree_create(&context, &arena, 6, 3, &tree), L2K_OK);
    assert_int_equal(l2k_tag_nodes(6, 3), 18 + 6 + 2 + 1);
    start_plain(&plain, 6, 3);
    memcpy(plain.leaf, leaves, sizeof leaves);
    for (uint32_t i = 0; i < 3; i++)
        plain_encode(&plain, i, 0, UINT32_MAX);
    assert_int_equal(expected.count, sizeof bits - 1);
    for (unsigned i = 0; i < expected.count; i++)
        assert_int_equal(expected.bit[i], bits[i] == '1');
    l2k_bit_reader reader = written();
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t threshold = 1; threshold <= leaves[i] + 1; threshold++)
            assert_int_equal(decode(&tree, i, 0, threshold, &reader), leaves[i] < threshold);
    assert_false(reader.exhausted);
    l2k_arena_release(&context, &arena);
}

static void test_empty(void **unused)
{
    (void)unused;
    l2k_arena arena = {0};
    l2k_tag_tree tree;
    assert_int_equal(l2k_tag_nodes(0, 7), 0);
    assert_int_equal(l2k_tag_tree_create(&context, &arena, 0, 7, &tree), L2K_OK);
    l2k_tag_tree_restart(&tree);
    l2k_arena_release(&context, &arena);
}

/* Thresholds rise like layers; leaves are coded in any order, some never. */
static void check_random(uint32_t width, uint32_t height, uint32_t most)
{
    static plain_tree plain;
    static uint32_t asked[4096][2];
    l2k_arena arena = {0};
    l2k_tag_tree tree;
    unsigned count = 0;
    start();
    start_plain(&plain, width, height);
    assert_int_equal(l2k_tag_tree_create(&context, &arena, width, height, &tree), L2K_OK);
    for (uint32_t i = 0; i < width * height; i++)
        plain.leaf[i] = random_below(5) ? random_below(most) : most + 5; /* some are never reached */
    for (uint32_t threshold = 1; threshold <= most; threshold += random_between(1, 3))
        for (uint32_t n = 0; n < width * height && count < 4096; n++) {
            uint32_t i = random_below(3) ? n : random_below(width * height);
            plain_encode(&plain, i % width, i / width, threshold);
            asked[count][0] = i;
            asked[count++][1] = threshold;
        }
    l2k_bit_reader reader = written();
    for (unsigned k = 0; k < count; k++)
        assert_int_equal(decode(&tree, asked[k][0] % width, asked[k][0] / width, asked[k][1], &reader),
                         plain.leaf[asked[k][0]] < asked[k][1]);
    assert_false(reader.exhausted);
    l2k_arena_release(&context, &arena);
}

static void test_random(void **unused)
{
    (void)unused;
    for (unsigned round = 0; round < 300; round++)
        check_random(random_between(1, MOST_SIDE), random_between(1, round % 3 ? 7 : MOST_SIDE), random_between(1, 12));
    l2k_buffer_release(&buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_example),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
