/* Sorting: stable, whatever runs there are; no work for what is in order; failures and cancelling. */
#include "api_support.h"

#include "base/memory.h"
#include "base/run.h"
#include "base/sort.h"

enum { MOST = 3000 };

typedef struct item {
    uint32_t key, place;
    uint8_t more[5];
} item;

static size_t compared;

static int by_key(const void *one, const void *other)
{
    uint32_t a = ((const item *)one)->key, b = ((const item *)other)->key;
    compared++;
    return a < b ? -1 : a > b;
}

/* Random keys, or `runs` of rising ones. */
static void make_items(item *items, size_t count, size_t runs, uint32_t keys)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t key = runs ? (uint32_t)(i % (count / runs + 1) * keys / count) : random_below(keys);
        items[i] = (item){key, (uint32_t)i, {(uint8_t)key, 1, 2, 3, (uint8_t)i}};
    }
}

static void assert_sorted(const item *items, size_t count)
{
    static bool seen[MOST];
    memset(seen, 0, sizeof seen);
    for (size_t i = 0; i < count; i++) {
        assert_true(items[i].place < count && !seen[items[i].place]);
        seen[items[i].place] = true;
        assert_int_equal(items[i].more[0], (uint8_t)items[i].key);
        assert_int_equal(items[i].more[4], (uint8_t)items[i].place);
        if (i > 0)
            assert_true(items[i - 1].key < items[i].key ||
                        (items[i - 1].key == items[i].key && items[i - 1].place < items[i].place));
    }
}

static void test_order(void **unused)
{
    (void)unused;
    static item items[MOST];
    const l2k_context context = {.threads = 1};
    for (int round = 0; round < 400; round++) {
        size_t count = round < 40 ? (size_t)round : random_below(MOST);
        size_t runs = random_below(2) ? 0 : 1 + random_below(20);
        make_items(items, count, runs, 1 + random_below(random_below(2) ? 10 : 100000));
        assert_int_equal(l2k_sort(&context, items, count, sizeof *items, by_key), L2K_OK);
        assert_sorted(items, count);
    }
}

/* n log(runs), and no memory for what is in order. */
static void test_effort(void **unused)
{
    (void)unused;
    static item items[MOST];
    watch w;
    const l2k_context context = {.threads = 1, .hooks = watch_hooks(&w)};
    for (size_t log2_runs = 0; log2_runs <= 6; log2_runs++) {
        make_items(items, MOST, (size_t)1 << log2_runs, MOST);
        compared = 0;
        assert_int_equal(l2k_sort(&context, items, MOST, sizeof *items, by_key), L2K_OK);
        assert_in_range(compared, MOST - 1, MOST * (log2_runs + 2));
        assert_int_equal(w.allocations, log2_runs);
    }
    assert_int_equal(w.live, 0);
    w.fail_at = w.allocations;
    make_items(items, MOST, 2, MOST);
    assert_int_equal(l2k_sort(&context, items, MOST, sizeof *items, by_key), L2K_ERROR_MEMORY);
    assert_int_equal(w.errors, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order), cmocka_unit_test(test_effort)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
