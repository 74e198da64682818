/* Shared by the unit tests: cmocka with the headers it requires, and reproducible random numbers. */
#ifndef L2K_TESTS_SUPPORT_SUPPORT_H
#define L2K_TESTS_SUPPORT_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef L2K_OWN_ASSERTS
#include <cmocka.h>
#else
/* For programs that are not tests but build files like the tests. */
#define assert_true(holds)                                                                                             \
    ((holds) ? (void)0 : (fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #holds), abort()))
#define assert_false(holds)             assert_true(!(holds))
#define assert_non_null(pointer)        assert_true((pointer) != NULL)
#define assert_int_equal(a, b)          assert_true((a) == (b))
#define assert_in_range(a, least, most) assert_true((a) >= (least) && (a) <= (most))
#define print_message(...)              fprintf(stderr, __VA_ARGS__)
#endif

/* splitmix64, one sequence per program. */
static uint64_t random_state = 1;

static inline uint64_t random_u64(void)
{
    uint64_t z = random_state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

/* 0 .. bound - 1; bound > 0. */
static inline uint32_t random_below(uint64_t bound)
{
    return (uint32_t)(random_u64() % bound);
}

/* low .. high, both included. */
static inline uint32_t random_between(uint32_t low, uint32_t high)
{
    return low + random_below((uint64_t)high - low + 1);
}

#endif
