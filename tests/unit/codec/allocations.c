/* Each allocation of encoder, decoder and transform fails in turn, alone or with all later ones. */
#include "allocation_scenarios.h"

static void test_each(void **unused)
{
    (void)unused;
    scenario_files files;
    scenario_files_make(&files, L2K_BACKEND_CPU);
    for (int i = 0; i < NUM_SCENARIOS; i++)
        for (int once = 0; once < 2; once++)
            scenario_fail_each(&scenarios[i], &files, once);
    scenario_files_free(&files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
