/* Shared by kernels of block coders: bits in registers, and exchange between the lanes of a warp. */
#ifndef L2K_CODEC_ENGINE_CUDA_BLOCKS_WARP_CUH
#define L2K_CODEC_ENGINE_CUDA_BLOCKS_WARP_CUH

#include <cuda_runtime.h>

#include <stdint.h>

#define L2K_ALL_LANES 0xFFFFFFFFu

__device__ __forceinline__ unsigned l2k_lane()
{
    return threadIdx.x & 31;
}

/* Position of the highest one; -1 for 0. */
__device__ __forceinline__ int l2k_highest_bit(uint32_t v)
{
    int position;
    asm("bfind.u32 %0, %1;" : "=r"(position) : "r"(v));
    return position;
}

/* The low `count` modulo 32 bits. */
__device__ __forceinline__ uint32_t l2k_low_bits(uint32_t count)
{
    uint32_t mask;
    asm("bmsk.wrap.b32 %0, 0, %1;" : "=r"(mask) : "r"(count));
    return mask;
}

__device__ __forceinline__ uint32_t l2k_reverse_bytes(uint32_t v)
{
    return __byte_perm(v, 0, 0x0123);
}

/* The OR over all lanes. */
__device__ __forceinline__ uint32_t l2k_join(uint32_t v)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_or_sync(L2K_ALL_LANES, v);
#else
    for (int d = 1; d < 32; d *= 2)
        v |= __shfl_xor_sync(L2K_ALL_LANES, v, d);
    return v;
#endif
}

/* The sum over all lanes. */
__device__ __forceinline__ uint32_t l2k_add_up(uint32_t v)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(L2K_ALL_LANES, v);
#else
    for (int d = 1; d < 32; d *= 2)
        v += __shfl_xor_sync(L2K_ALL_LANES, v, d);
    return v;
#endif
}

/* Inclusive prefix sum over a group of WIDTH lanes; `mask` has the group's lanes, `lane` is the number in the group. */
template <int WIDTH, class Sum> __device__ __forceinline__ Sum l2k_sum_up_to(uint32_t mask, unsigned lane, Sum v)
{
#pragma unroll
    for (int d = 1; d < WIDTH; d *= 2) {
        const Sum before = __shfl_up_sync(mask, v, d, WIDTH);
        v += lane >= (unsigned)d ? before : 0;
    }
    return v;
}

/* Exclusive prefix sum over the threads of a CTA of whole warps; `all` gets the total, `sums` is shared memory for 32.
 * Contains barriers. */
template <class Sum> __device__ __forceinline__ Sum l2k_cta_sum_before(Sum *sums, Sum own, Sum *all)
{
    const unsigned lane = l2k_lane(), warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const Sum here = l2k_sum_up_to<32>(L2K_ALL_LANES, lane, own);
    __syncthreads();
    if (lane == 31)
        sums[warp] = here;
    __syncthreads();
    if (warp == 0)
        sums[lane] = l2k_sum_up_to<32>(L2K_ALL_LANES, lane, lane < warps ? sums[lane] : (Sum)0);
    __syncthreads();
    *all = sums[warps - 1];
    return here - own + (warp ? sums[warp - 1] : 0);
}

/* Enqueues a kernel of `threads` threads a CTA, which do `per_cta` of `count` things, on a stream (a cudaStream_t). Returns
 * a cudaError_t. */
template <typename... Parameters>
static inline int l2k_launch(void (*kernel)(Parameters...), uint32_t count, uint32_t per_cta, unsigned threads,
                             void *stream, const Parameters &...p)
{
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((count + per_cta - 1) / per_cta);
    config.blockDim = dim3(threads);
    config.stream = (cudaStream_t)stream;
    return cudaLaunchKernelEx(&config, kernel, p...);
}

/* ---- Bytes of fewer bits (7.1 of T.814) ------------------------------------------------------------------------ */

/* The two kinds of HT streams: read from the first byte on, where the byte after 0xFF has seven bits (MagSgn, MEL,
 * SigProp), or from the last byte on, where a byte whose low seven bits are ones has only those if the byte read before
 * exceeds 0x8F (VLC, MagRef). */
enum l2k_ht_direction { L2K_HT_FORWARD, L2K_HT_BACKWARD };

/* 0x80 in each byte whose low seven bits are ones. */
__device__ __forceinline__ uint32_t l2k_seven_ones(uint32_t bytes)
{
    return ((bytes & 0x7F7F7F7Fu) + 0x01010101u) & 0x80808080u;
}

/* 0x80 in each byte of seven bits; `before` has for each the byte read before it. */
template <l2k_ht_direction DIRECTION>
__device__ __forceinline__ uint32_t l2k_short_bytes(uint32_t bytes, uint32_t before)
{
    if (DIRECTION == L2K_HT_FORWARD)
        return l2k_seven_ones(before) & before;
    return l2k_seven_ones(bytes) & ((before & 0x7F7F7F7Fu) + 0x70707070u) & before & 0x80808080u;
}

/* The byte before each of a warp's 128; `first` precedes all of them. */
__device__ __forceinline__ uint32_t l2k_bytes_before(uint32_t bytes, uint32_t first)
{
    uint32_t previous = __shfl_up_sync(L2K_ALL_LANES, bytes, 1);
    if (l2k_lane() == 0)
        previous = first << 24;
    return __funnelshift_l(previous, bytes, 8);
}

#endif
