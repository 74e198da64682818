/* What the unit tests use of cmocka, for processors that cmocka is not at hand for (scripts/portability.sh). */
#ifndef L2K_TESTS_SUPPORT_NO_CMOCKA_H
#define L2K_TESTS_SUPPORT_NO_CMOCKA_H

#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { CM_PASSED = 0, CM_FAILED, CM_SKIPPED };

struct CMUnitTest {
    const char *name;
    void (*run)(void **state);
};

#define cmocka_unit_test(function)                                                                                     \
    {                                                                                                                  \
#function, function                                                                                            \
    }

static jmp_buf cm_end_of_test;

__attribute__((noreturn, unused)) static inline void cm_leave(int outcome, const char *file, int line, const char *text)
{
    printf("%s:%d: %s\n", file, line, text);
    longjmp(cm_end_of_test, outcome);
}

#define CM_ASSERT(holds, text) ((holds) ? (void)0 : cm_leave(CM_FAILED, __FILE__, __LINE__, text))
#define CM_NUMBER(value)       ((uintmax_t)(value))

#define assert_true(value)              CM_ASSERT(value, "not true: " #value)
#define assert_false(value)             CM_ASSERT(!(value), "not false: " #value)
#define assert_null(pointer)            CM_ASSERT(!(pointer), "not NULL: " #pointer)
#define assert_non_null(pointer)        CM_ASSERT(pointer, "NULL: " #pointer)
#define assert_ptr_equal(a, b)          CM_ASSERT((const void *)(a) == (const void *)(b), "not equal: " #a ", " #b)
#define assert_int_equal(a, b)          CM_ASSERT(CM_NUMBER(a) == CM_NUMBER(b), "not equal: " #a ", " #b)
#define assert_int_not_equal(a, b)      CM_ASSERT(CM_NUMBER(a) != CM_NUMBER(b), "equal: " #a ", " #b)
#define assert_string_equal(a, b)       CM_ASSERT(strcmp(a, b) == 0, "not equal: " #a ", " #b)
#define assert_string_not_equal(a, b)   CM_ASSERT(strcmp(a, b) != 0, "equal: " #a ", " #b)
#define assert_memory_equal(a, b, size) CM_ASSERT(memcmp(a, b, size) == 0, "not equal: " #a ", " #b)
#define assert_in_range(value, low, high)                                                                              \
    CM_ASSERT(CM_NUMBER(value) - CM_NUMBER(low) <= CM_NUMBER(high) - CM_NUMBER(low), "out of range: " #value)
#define skip()             cm_leave(CM_SKIPPED, __FILE__, __LINE__, "skipped")
#define fail()             cm_leave(CM_FAILED, __FILE__, __LINE__, "failed")
#define fail_msg(...)      (printf(__VA_ARGS__), cm_leave(CM_FAILED, __FILE__, __LINE__, ""))
#define print_message(...) printf(__VA_ARGS__)

typedef int (*cm_fixture)(void **state);

static inline int cm_run(const struct CMUnitTest *tests, size_t count, cm_fixture before, cm_fixture after)
{
    static size_t i; /* survives longjmp */
    static int failures;
    static void *state;
    if (before && before(&state) != 0)
        return 1;
    for (i = 0; i < count; i++) {
        int outcome = setjmp(cm_end_of_test);
        if (outcome == CM_PASSED)
            tests[i].run(&state);
        printf("%s %s\n", outcome == CM_PASSED ? "passed" : outcome == CM_FAILED ? "FAILED" : "skipped", tests[i].name);
        failures += outcome == CM_FAILED;
        fflush(stdout);
    }
    if (after)
        failures += after(&state) != 0;
    return failures;
}

#define cmocka_run_group_tests(tests, before, after) cm_run(tests, sizeof tests / sizeof *tests, before, after)

#endif
