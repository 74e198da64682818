/* Interleaves three planes of a component transform, in device memory and of any layout, as triples, or separates
 * them: the transform loads and stores triples in words, other layouts byte by byte (tiling/pixel/pixel_cuda.cuh),
 * which takes longer than this pass. */
#include <cuda_runtime.h>

extern "C" {
#include "base/sample.h"
#include "transform/cuda/cuda_staging.h"
}

namespace
{

const int THREADS = 128;

struct source {
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
__device__ __forceinline__ uint32_t sample_of(const source &from, int k, uint32_t x, uint32_t y)
{
    const uint8_t *at = from.data[k] + (int64_t)y * from.row_stride[k] + (int64_t)x * from.sample_stride[k];
    const int unused = 32 - 8 * from.bytes[k];
    uint32_t bits = 0;
    for (int b = 0; b < from.bytes[k]; b++)
        bits |= (uint32_t)at[b] << 8 * b;
    return from.is_signed[k] ? (uint32_t)((int32_t)(bits << unused) >> unused) : bits;
}

template <class Bits>
__device__ __forceinline__ void pack_sample(const source &from, const target &to, uint32_t x, uint32_t y)
{
    Bits *at = reinterpret_cast<Bits *>(to.data + y * to.row_bytes) + 3 * x;
    for (int k = 0; k < 3; k++)
        at[k] = (Bits)sample_of(from, k, x, y);
}

/* Four triples of bytes. */
__device__ __forceinline__ void pack_words(const source &from, const target &to, uint32_t x, uint32_t y)
{
    uint32_t v[3];
    for (int k = 0; k < 3; k++)
        v[k] = *reinterpret_cast<const uint32_t *>(from.data[k] + (int64_t)y * from.row_stride[k] + x);
    uint32_t *at = reinterpret_cast<uint32_t *>(to.data + y * to.row_bytes + 3 * x);
    const uint32_t low = __byte_perm(v[0], v[1], 0x5140), high = __byte_perm(v[0], v[1], 0x7362);
    at[0] = __byte_perm(low, v[2], 0x2410);
    at[1] = __byte_perm(__byte_perm(low, v[2], 0x0053), high, 0x5410);
    at[2] = __byte_perm(high, v[2], 0x7326);
}

template <class Bits> __global__ void __launch_bounds__(THREADS) pack(const source from, const target to)
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

/* Targets of the separation: planes with adjacent samples and rows of whole words. */
struct planes_of {
    uint8_t *data[3];
    size_t row_bytes;
};

template <class Bits>
__device__ __forceinline__ void separate_sample(const target &from, const planes_of &to, uint32_t x, uint32_t y)
{
    const Bits *at = reinterpret_cast<const Bits *>(from.data + y * from.row_bytes) + 3 * x;
    for (int k = 0; k < 3; k++)
        reinterpret_cast<Bits *>(to.data[k] + y * to.row_bytes)[x] = at[k];
}

/* Four triples of bytes. */
__device__ __forceinline__ void separate_words(const target &from, const planes_of &to, uint32_t x, uint32_t y)
{
    const uint32_t *at = reinterpret_cast<const uint32_t *>(from.data + y * from.row_bytes + 3 * x);
    const uint32_t a = at[0], b = at[1], c = at[2];
    const uint32_t v[3] = {__byte_perm(__byte_perm(a, b, 0x0630), c, 0x5210),
                           __byte_perm(__byte_perm(a, b, 0x0741), c, 0x6210),
                           __byte_perm(__byte_perm(a, b, 0x0052), c, 0x7410)};
    for (int k = 0; k < 3; k++)
        *reinterpret_cast<uint32_t *>(to.data[k] + y * to.row_bytes + x) = v[k];
}

template <class Bits> __global__ void __launch_bounds__(THREADS) separate(const target from, const planes_of to)
{
    const uint32_t step = sizeof(Bits) == 1 ? 4 : 1, x = (blockIdx.x * THREADS + threadIdx.x) * step;
    for (uint32_t y = blockIdx.y; y < from.height && x < from.width; y += gridDim.y) {
        if (step == 4 && x + 4 <= from.width)
            separate_words(from, to, x, y);
        else
            for (uint32_t k = x; k < x + step && k < from.width; k++)
                separate_sample<Bits>(from, to, k, y);
    }
}

/* Threads for all samples, `step` of a row each. */
cudaLaunchConfig_t launch_for(const target &pixels, uint32_t step, void *stream)
{
    const uint32_t per_cta = THREADS * step;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((pixels.width + per_cta - 1) / per_cta, pixels.height < 65535 ? pixels.height : 65535);
    config.blockDim = dim3(THREADS);
    config.stream = (cudaStream_t)stream;
    return config;
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
    source from = {};
    from.in_words = bytes == 1;
    for (int k = 0; k < 3; k++) {
        from.data[k] = (const uint8_t *)planes[k].data;
        from.row_stride[k] = planes[k].row_stride;
        from.sample_stride[k] = planes[k].sample_stride;
        from.bytes[k] = (int)l2k_sample_bytes(planes[k].type);
        from.is_signed[k] = planes[k].type == L2K_SAMPLE_S8 || planes[k].type == L2K_SAMPLE_S16;
        from.in_words = from.in_words && is_word_aligned(&planes[k]);
    }
    if (to.width == 0 || to.height == 0)
        return cudaSuccess;
    const cudaLaunchConfig_t config = launch_for(to, from.in_words ? 4 : 1, stream);
    const auto kernel = bytes == 1 ? pack<uint8_t> : bytes == 2 ? pack<uint16_t> : pack<uint32_t>;
    return cudaLaunchKernelEx(&config, kernel, from, to);
}

extern "C" int l2k_cuda_separate(const l2k_cuda_pixels *pixels, size_t row_bytes, void *stream)
{
    const target from = {(uint8_t *)pixels->device, pixels->row_bytes, pixels->width, pixels->height};
    planes_of to = {};
    to.row_bytes = row_bytes;
    for (int k = 0; k < 3; k++)
        to.data[k] = (uint8_t *)pixels->planar[k];
    const size_t bytes = l2k_sample_bytes(pixels->type);
    const cudaLaunchConfig_t config = launch_for(from, bytes == 1 ? 4 : 1, stream);
    const auto kernel = bytes == 1 ? separate<uint8_t> : bytes == 2 ? separate<uint16_t> : separate<uint32_t>;
    return cudaLaunchKernelEx(&config, kernel, from, to);
}
