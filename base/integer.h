/* Integer arithmetic shared by all folders. */
#ifndef L2K_BASE_INTEGER_H
#define L2K_BASE_INTEGER_H

#include <stdbool.h>
#include <stdint.h>

static inline uint32_t l2k_min_u32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static inline uint32_t l2k_max_u32(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* ceil(a / b), b > 0. */
static inline uint32_t l2k_ceil_div(uint32_t a, uint32_t b)
{
    return (uint32_t)(((uint64_t)a + b - 1) / b);
}

/* ceil(a / 2^shift), shift 0 to 32. */
static inline uint32_t l2k_ceil_shift(uint32_t a, unsigned shift)
{
    return (uint32_t)(((uint64_t)a + (((uint64_t)1 << shift) - 1)) >> shift);
}

/* floor(log2(a)), a > 0. */
static inline unsigned l2k_log2(uint32_t a)
{
    return 31u - (unsigned)__builtin_clz(a);
}

static inline bool l2k_is_power_of_two(uint64_t a)
{
    return a != 0 && (a & (a - 1)) == 0;
}

#endif
