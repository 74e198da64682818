/* Scalar operations compiled by both the C compiler and nvcc, which must give the same bits on both. Nothing here
 * allocates, loops or includes more than <stdint.h> and <math.h>. */
#ifndef L2K_BASE_SCALAR_H
#define L2K_BASE_SCALAR_H

#include <math.h>
#include <stdint.h>

#ifdef L2K_HD
#elif defined(__CUDACC__)
#define L2K_HD __host__ __device__ static inline
#else /* always_inline: gcc vectorises some row loops worse if it inlines later */
#define L2K_HD static inline __attribute__((always_inline))
#endif

/* Two's complement arithmetic modulo 2^32. Coefficients of a damaged stream can have any value, so sums can wrap; they
 * must do so without undefined behaviour, and alike on every backend. */
L2K_HD int32_t l2k_wrap_add(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

L2K_HD int32_t l2k_wrap_sub(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a - (uint32_t)b);
}

L2K_HD int32_t l2k_wrap_double(int32_t a)
{
    return (int32_t)((uint32_t)a << 1);
}

L2K_HD int32_t l2k_clamp_i32(int32_t x, int32_t low, int32_t high)
{
    return x < low ? low : x > high ? high : x;
}

/* The number of zeros above the highest one; v is not 0. */
L2K_HD uint32_t l2k_leading_zeros(uint32_t v)
{
#ifdef __CUDA_ARCH__
    uint32_t count;
    asm("bfind.shiftamt.u32 %0, %1;" : "=r"(count) : "r"(v));
    return count;
#else
    return (uint32_t)__builtin_clz(v);
#endif
}

/* floor(log2(v)) + 1, and 0 for 0. */
L2K_HD unsigned l2k_bit_length(uint32_t v)
{
    return v ? 32 - l2k_leading_zeros(v) : 0;
}

/* Rounds to the nearest integer, ties to even (lrintf in the default rounding mode); saturates at the int32 range, and
 * NaN becomes the smallest integer. 2147483520 is the largest float below 2^31. */
L2K_HD int32_t l2k_round_f32(float x)
{
    x = x > -2147483648.0f ? x : -2147483648.0f;
    x = x < 2147483520.0f ? x : 2147483520.0f;
    return (int32_t)rintf(x);
}

#endif
