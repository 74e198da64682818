/* base/cpu.c asks the processor once, however often it is asked itself: here with a CPUID that counts. */
#include "support.h"

#include "base/cpu.h"

#ifdef __x86_64__
#define L2K_WITH_AVX2 1
#include <cpuid.h>

static unsigned asked;

static int count_cpuid(unsigned leaf, unsigned *a, unsigned *b, unsigned *c, unsigned *d)
{
    asked++;
    return __get_cpuid(leaf, a, b, c, d);
}

#define __get_cpuid      count_cpuid
#define l2k_cpu_usable   counted_usable
#define l2k_cpu_best     counted_best
#define l2k_cpu_resolve  counted_resolve
#define l2k_cpu_deposits counted_deposits
#define l2k_cpu_name     counted_name
#define l2k_cpu_check    counted_check
#undef L2K_BASE_CPU_H /* its declarations, under these names */
#undef L2K_CPU_AVX2_TABLE
#include "base/cpu.c"

static void test_asked_once(void **unused)
{
    (void)unused;
    for (int i = 0; i < 1000; i++) {
        counted_deposits();
        counted_usable(L2K_CPU_AVX512);
        assert_int_equal(counted_resolve(L2K_CPU_AUTO), counted_best());
    }
    assert_in_range(asked, 0, 1);
}
#else
static void test_asked_once(void **unused)
{
    (void)unused;
    skip(); /* no CPUID */
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_asked_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
