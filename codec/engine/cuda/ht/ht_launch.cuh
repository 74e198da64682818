/* Shared by the HT kernels: samples, and where blocks are truncated. */
#ifndef L2K_CODEC_ENGINE_CUDA_HT_HT_LAUNCH_CUH
#define L2K_CODEC_ENGINE_CUDA_HT_HT_LAUNCH_CUH

#include "codec/engine/cuda/blocks/warp.cuh"

extern "C" {
#include "codec/engine/cuda/ht/ht_cuda.h"
#include "quant/quantiser.h"
}

/* The index of a coefficient, which is one already, or unquantised. */
__device__ __forceinline__ int32_t l2k_ht_index_of(int32_t v, float)
{
    return v;
}

__device__ __forceinline__ int32_t l2k_ht_index_of(float v, float reciprocal)
{
    return l2k_index(v, reciprocal);
}

__device__ __forceinline__ uint32_t l2k_ht_magnitude_of(int32_t v)
{
    return v < 0 ? 0u - (uint32_t)v : (uint32_t)v;
}

/* Where a block ends, for all lanes of its warp. False, with a result for the cleanup pass, if there is nothing to code:
 * zeros, or the same as before. */
__device__ __forceinline__ bool l2k_ht_find_cut(const l2k_ht_cuda_encode &p, const l2k_ht_cuda_encode_block &b,
                                                l2k_ht_cut *cut, l2k_ht_cuda_refined *r)
{
    const l2k_cuda_coded_block estimated = p.cut[b.index];
    const uint8_t point = estimated.num_passes;
    const bool unchanged = p.points[b.index] == point + 1;
    __syncwarp();
    *r =
        l2k_ht_cuda_refined{0, 0, estimated.magnitude_bits, 0, unchanged ? (uint8_t)L2K_HT_CUDA_UNCHANGED : (uint8_t)0};
    if ((threadIdx.x & 31) == 0)
        p.points[b.index] = point + 1;
    if (unchanged || point == 0)
        return false;
    *cut = l2k_ht_cut_at(estimated.magnitude_bits, point);
    return true;
}

#endif
