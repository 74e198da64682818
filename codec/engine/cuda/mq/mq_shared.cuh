/* Shared memory by its 32-bit address, so that kernels add no base to it, and scalar operations for which the device
 * has instructions. The host's forms let a program without a device run the code of lanes. */
#ifndef L2K_CODEC_ENGINE_CUDA_MQ_MQ_SHARED_CUH
#define L2K_CODEC_ENGINE_CUDA_MQ_MQ_SHARED_CUH

#include <string.h>

#include "base/scalar.h"

#ifdef __CUDACC__
#define L2K_MEMBER __host__ __device__ __forceinline__
#else
#define L2K_MEMBER inline
#endif

/* Bytes loaded or stored at once. */
struct alignas(16) l2k_mq_sixteen {
    uint32_t words[4];
};

#ifdef __CUDA_ARCH__

typedef uint32_t l2k_shared;

/* Keeps the compiler from computing the address again at each use. */
__device__ __forceinline__ l2k_shared l2k_shared_address(const void *p)
{
    l2k_shared at;
    asm volatile("mov.u32 %0, %1;" : "=r"(at) : "r"((uint32_t)__cvta_generic_to_shared(p)));
    return at;
}

__device__ __forceinline__ uint64_t l2k_load_pair(l2k_shared at)
{
    uint64_t v;
    asm volatile("ld.shared.u64 %0, [%1];" : "=l"(v) : "r"(at));
    return v;
}

__device__ __forceinline__ void l2k_store_pair(l2k_shared at, uint64_t v)
{
    asm volatile("st.shared.u64 [%0], %1;" ::"r"(at), "l"(v));
}

__device__ __forceinline__ uint32_t l2k_load(l2k_shared at)
{
    uint32_t v;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(at));
    return v;
}

__device__ __forceinline__ uint32_t l2k_load_byte(l2k_shared at)
{
    uint32_t v;
    asm("ld.shared.u8 %0, [%1];" : "=r"(v) : "r"(at));
    return v;
}

__device__ __forceinline__ void l2k_store(l2k_shared at, uint32_t v)
{
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(at), "r"(v));
}

#else

typedef uint8_t *l2k_shared;

L2K_MEMBER l2k_shared l2k_shared_address(const void *p)
{
    return (l2k_shared)p;
}

L2K_MEMBER uint32_t l2k_load(const uint8_t *at)
{
    uint32_t v;
    memcpy(&v, at, sizeof v);
    return v;
}

L2K_MEMBER uint32_t l2k_load_byte(const uint8_t *at)
{
    return *at;
}

L2K_MEMBER uint64_t l2k_load_pair(const uint8_t *at)
{
    uint64_t v;
    memcpy(&v, at, sizeof v);
    return v;
}

L2K_MEMBER void l2k_store_pair(uint8_t *at, uint64_t v)
{
    memcpy(at, &v, sizeof v);
}

L2K_MEMBER void l2k_store(uint8_t *at, uint32_t v)
{
    memcpy(at, &v, sizeof v);
}

#endif

L2K_MEMBER uint32_t l2k_mq_swap_bytes(uint32_t v)
{
#ifdef __CUDA_ARCH__
    return __byte_perm(v, 0, 0x0123);
#else
    return __builtin_bswap32(v);
#endif
}

/* The place of the highest bit. */
L2K_MEMBER uint32_t l2k_mq_highest_bit(uint64_t v)
{
#ifdef __CUDA_ARCH__
    const uint32_t high = (uint32_t)(v >> 32);
    uint32_t place;
    asm("bfind.u32 %0, %1;" : "=r"(place) : "r"(high ? high : (uint32_t)v));
    return place + (high ? 32 : 0);
#else
    return 63 - (uint32_t)__builtin_clzll(v);
#endif
}

/* 32 bits of two words, from bit `from` on, counted from the top; up to 32 of them may be missing. */
L2K_MEMBER uint32_t l2k_mq_from(uint32_t first, uint32_t second, uint32_t from)
{
    return (uint32_t)(((uint64_t)first << 32 | second) << from >> 32);
}

/* v with the top `count` bits of `more` shifted in; count is less than 32. */
L2K_MEMBER uint32_t l2k_mq_shift_in(uint32_t v, uint32_t more, uint32_t count)
{
#ifdef __CUDA_ARCH__
    return __funnelshift_l(more, v, count);
#else
    return (uint32_t)(((uint64_t)v << 32 | more) << count >> 32);
#endif
}

#endif
