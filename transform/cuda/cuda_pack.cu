/* Three planes of a component transform, in device memory and of any layout, become interleaved triples: the transform
 * loads these in words, others byte by byte (tiling/pixel/pixel_cuda.cuh), which takes longer than this sweep. */
#include <cuda_runtime.h>

extern "C" {
#include "base/sample.h"
#include "transform/cuda/cuda_staging.h"
}

namespace
{

const int THREADS = 128;

struct lanes {
    const uint8_t *data[3];
    int64_t row_stride[3], sample_stride[3];
    int bytes[3];
    bool is_signed[3];
    bool in_words; /* bytes next to each other, in rows of words */
};

struct target {
    uint8_t *data;
    size_t row_bytes;
    uint32_t width, height;
};

/* The low bytes of a sample, which may have any alignment, extended to 32 bits. */
__device__ __forceinline__ uint32_t sample_of(const lanes &from, int lane, uint32_t x, uint32_t y)
{
    const uint8_t *at = from.data[lane] + (int64_t)y * from.row_stride[lane] + (int64_t)x * from.sample_stride[lane];
    const int unused = 32 - 8 * from.bytes[lane];
    uint32_t bits = 0;
    for (int b = 0; b < from.bytes[lane]; b++)
        bits |= (uint32_t)at[b] << 8 * b;
    return from.is_signed[lane] ? (uint32_t)((int32_t)(bits << unused) >> unused) : bits;
}

template <class Bits>
__device__ __forceinline__ void pack_sample(const lanes &from, const target &to, uint32_t x, uint32_t y)
{
    Bits *at = reinterpret_cast<Bits *>(to.data + y * to.row_bytes) + 3 * x;
    for (int lane = 0; lane < 3; lane++)
        at[lane] = (Bits)sample_of(from, lane, x, y);
}

/* Four triples of bytes. */
__device__ __forceinline__ void pack_words(const lanes &from, const target &to, uint32_t x, uint32_t y)
{
    uint32_t v[3];
    for (int lane = 0; lane < 3; lane++)
        v[lane] = *reinterpret_cast<const uint32_t *>(from.data[lane] + (int64_t)y * from.row_stride[lane] + x);
    uint32_t *at = reinterpret_cast<uint32_t *>(to.data + y * to.row_bytes + 3 * x);
    const uint32_t low = __byte_perm(v[0], v[1], 0x5140), high = __byte_perm(v[0], v[1], 0x7362);
    at[0] = __byte_perm(low, v[2], 0x2410);
    at[1] = __byte_perm(__byte_perm(low, v[2], 0x0053), high, 0x5410);
    at[2] = __byte_perm(high, v[2], 0x7326);
}

template <class Bits> __global__ void __launch_bounds__(THREADS) pack(const lanes from, const target to)
{
    const uint32_t step = from.in_words ? 4 : 1, x = (blockIdx.x * THREADS + threadIdx.x) * step;
    for (uint32_t y = blockIdx.y; y < to.height && x < to.width; y += gridDim.y) {
        if (from.in_words && x + 4 <= to.width)
            pack_words(from, to, x, y);
        else
            for (uint32_t k = x; k < x + step && k < to.width; k++)
                pack_sample<Bits>(from, to, k, y);
    }
}

bool is_word_aligned(const l2k_plane *plane)
{
    return plane->sample_stride == 1 && (((uintptr_t)plane->data | (uintptr_t)plane->row_stride) & 3) == 0;
}

} // namespace

extern "C" int l2k_cuda_pack(const l2k_cuda_pixels *pixels, const l2k_plane *planes, void *stream)
{
    const target to = {(uint8_t *)pixels->device, pixels->row_bytes, pixels->width, pixels->height};
    const size_t bytes = l2k_sample_bytes(pixels->type);
    lanes from = {};
    from.in_words = bytes == 1;
    for (int lane = 0; lane < 3; lane++) {
        from.data[lane] = (const uint8_t *)planes[lane].data;
        from.row_stride[lane] = planes[lane].row_stride;
        from.sample_stride[lane] = planes[lane].sample_stride;
        from.bytes[lane] = (int)l2k_sample_bytes(planes[lane].type);
        from.is_signed[lane] = planes[lane].type == L2K_SAMPLE_S8 || planes[lane].type == L2K_SAMPLE_S16;
        from.in_words = from.in_words && is_word_aligned(&planes[lane]);
    }
    if (to.width == 0 || to.height == 0)
        return cudaSuccess;
    const uint32_t per_cta = THREADS * (from.in_words ? 4 : 1);
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((to.width + per_cta - 1) / per_cta, to.height < 65535 ? to.height : 65535);
    config.blockDim = dim3(THREADS);
    config.stream = (cudaStream_t)stream;
    if (bytes == 1)
        return cudaLaunchKernelEx(&config, pack<uint8_t>, from, to);
    return bytes == 2 ? cudaLaunchKernelEx(&config, pack<uint16_t>, from, to)
                      : cudaLaunchKernelEx(&config, pack<uint32_t>, from, to);
}
