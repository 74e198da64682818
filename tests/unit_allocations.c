/* Every allocation of encoder, decoder and transform fails once: it alone, and it and all after it. */
#include "allocation_scenarios.h"

static void fail_each(const scenario *s, const scenario_files *files, bool once)
{
    size_t runs = 0;
    for (size_t n = 0;; n++) {
        watch w = {.fail_at = n, .once = once};
        l2k_status status = scenario_live(s, files, &w);
        bool failed = w.allocations > n;
        assert_true(status == L2K_OK || failed);
        assert_true(once || status == L2K_ERROR_MEMORY || !failed);
        assert_true(status == L2K_OK || n == 0 || w.errors > 0);
        if (!failed)
            break;
        runs++;
    }
    print_message("%s: %zu allocations failed %s\n", s->name, runs, once ? "alone" : "with all after them");
    assert_true(runs > 3);
}

static void test_each(void **unused)
{
    (void)unused;
    scenario_files files;
    scenario_files_make(&files, L2K_BACKEND_CPU);
    for (int i = 0; i < NUM_SCENARIOS; i++)
        for (int once = 0; once < 2; once++)
            fail_each(&scenarios[i], &files, once);
    scenario_files_free(&files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
