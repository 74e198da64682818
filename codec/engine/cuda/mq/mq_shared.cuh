/* Loads and stores in shared memory by its 32-bit address, so that kernels add no base to it, and scalar operations for
 * which the device has instructions. */
#ifndef L2K_CODEC_ENGINE_CUDA_MQ_MQ_SHARED_CUH
#define L2K_CODEC_ENGINE_CUDA_MQ_MQ_SHARED_CUH

#include "base/scalar.h"
#include "base/words_cuda.cuh"

#define L2K_MEMBER __device__ __forceinline__

/* Bytes loaded or stored at once. */
struct alignas(16) l2k_mq_sixteen {
    uint32_t words[4];
};

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

/* The place of the highest bit. */
L2K_MEMBER uint32_t l2k_mq_highest_bit(uint64_t v)
{
    const uint32_t high = (uint32_t)(v >> 32);
    uint32_t place;
    asm("bfind.u32 %0, %1;" : "=r"(place) : "r"(high ? high : (uint32_t)v));
    return place + (high ? 32 : 0);
}

/* 32 bits of two words, from bit `from` on, counted from the top; up to 32 of them may be missing. */
L2K_MEMBER uint32_t l2k_mq_from(uint32_t first, uint32_t second, uint32_t from)
{
    return (uint32_t)(((uint64_t)first << 32 | second) << from >> 32);
}

/* v with the top `count` bits of `more` shifted in; count is less than 32. */
L2K_MEMBER uint32_t l2k_mq_shift_in(uint32_t v, uint32_t more, uint32_t count)
{
    return __funnelshift_l(more, v, count);
}

#endif
