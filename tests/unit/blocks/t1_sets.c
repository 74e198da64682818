/* The block encoder with every instruction set compared with plain C: bytes, lengths and distortions of random blocks
 * in all styles and shapes. */
#include "support.h"

#include "base/cpu.h"
#include "codec/blocks/mq/t1.h"

enum { AREA = 4096, STRIDE = 1030, ROWS = 1024 };

static union {
    int16_t narrow[ROWS * STRIDE];
    int32_t wide[ROWS * STRIDE];
} view;

static const struct {
    uint32_t width, height;
} shapes[] = {{1, 1},    {2, 3},    {4, 4},   {15, 5},  {16, 8},   {17, 9},   {31, 31}, {32, 32},
              {33, 6},   {48, 4},   {64, 64}, {64, 61}, {63, 64},  {128, 32}, {5, 800}, {1024, 4},
              {1023, 3}, {4, 1024}, {1, 64},  {64, 1},  {129, 31}, {1024, 1}, {1, 1024}};

static uint32_t random_magnitude(unsigned planes, unsigned kind, uint32_t x, uint32_t y)
{
    uint32_t bits = planes;
    if (kind == 1) /* most are small */
        bits = random_below(planes + 1) * random_below(planes + 1) / planes;
    else if (kind == 2) /* islands */
        bits = (x / 13 + y / 7) % 3 ? 0 : random_below(planes + 1);
    else if (kind == 3) /* single samples */
        bits = random_below(50) ? 0 : random_below(planes + 1);
    return bits ? (uint32_t)(random_u64() & ((1ull << bits) - 1)) : 0;
}

static void fill(l2k_t1_block *block, unsigned planes)
{
    const unsigned kind = random_below(5);
    block->coefficients = &view;
    block->stride = random_below(2) ? STRIDE : block->width;
    for (uint32_t y = 0; y < block->height; y++)
        for (uint32_t x = 0; x < block->stride; x++) { /* what lies beside the block must not matter */
            const uint32_t magnitude = x < block->width ? random_magnitude(planes, kind, x, y) : (uint32_t)random_u64();
            const int32_t v = (int32_t)(random_below(2) ? magnitude : 0u - magnitude);
            const size_t at = y * block->stride + x;
            if (block->type == L2K_COEFFICIENT_INT16)
                view.narrow[at] = (int16_t)v;
            else
                view.wide[at] = v;
        }
}

static void check_equal(const l2k_t1_code *c, const l2k_t1_code *set)
{
    assert_int_equal(set->num_planes, c->num_planes);
    assert_int_equal(set->num_passes, c->num_passes);
    for (unsigned i = 0; i < c->num_passes; i++) {
        assert_int_equal(set->passes[i].bytes, c->passes[i].bytes);
        assert_int_equal(set->passes[i].terminated, c->passes[i].terminated);
        assert_memory_equal(&set->passes[i].distortion, &c->passes[i].distortion, sizeof(double));
    }
    if (c->num_passes)
        assert_memory_equal(set->bytes, c->bytes, c->passes[c->num_passes - 1].bytes);
}

static l2k_t1 *make_coder(l2k_cpu cpu)
{
    static l2k_context contexts[L2K_CPU_SIMD128 + 1];
    l2k_t1 *t1;
    contexts[cpu] = (l2k_context){.threads = 1, .cpu = cpu};
    assert_int_equal(l2k_t1_create(&contexts[cpu], &t1), L2K_OK);
    return t1;
}

static void compare(l2k_t1 *t1_c, l2k_t1 *t1_set, const l2k_t1_block *block, bool distortion)
{
    static l2k_t1_code c, set;
    assert_int_equal(l2k_t1_encode(t1_c, block, distortion, &c), L2K_OK);
    assert_int_equal(l2k_t1_encode(t1_set, block, distortion, &set), L2K_OK);
    check_equal(&c, &set);
}

static void compare_blocks(l2k_cpu cpu)
{
    l2k_t1 *t1_c = make_coder(L2K_CPU_C), *t1_set = make_coder(cpu);
    for (unsigned style = 0; style < 64; style++)
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            l2k_t1_block block = {.width = shapes[i].width, .height = shapes[i].height, .style = style};
            block.orientation = random_below(4);
            block.reversible = random_below(2);
            block.type = random_below(2) ? L2K_COEFFICIENT_INT16 : L2K_COEFFICIENT_INT32;
            const unsigned most = block.type == L2K_COEFFICIENT_INT16 ? 15 : L2K_MAX_BIT_PLANES;
            fill(&block, random_between(1, random_below(3) ? 10 : most));
            compare(t1_c, t1_set, &block, random_below(4) > 0);
        }
    l2k_t1_free(t1_c);
    l2k_t1_free(t1_set);
}

static void test_sets(void **unused)
{
    static const l2k_cpu sets[] = {L2K_CPU_C, L2K_CPU_AVX2, L2K_CPU_AVX512, L2K_CPU_NEON, L2K_CPU_SIMD128};
    (void)unused;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        if (l2k_cpu_usable(sets[i]))
            compare_blocks(sets[i]);
        print_message("%s: %s\n", l2k_cpu_name(sets[i]), l2k_cpu_usable(sets[i]) ? "equal" : "not available");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
