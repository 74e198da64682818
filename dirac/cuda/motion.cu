/* Up-sampling of references, and overlapped-block motion compensation: a thread makes a sample from the blocks, up to
 * four, that it lies in. */
#include <cuda_runtime.h>

extern "C" {
#include "dirac/cuda/stages.h"
#include "dirac/motion/motion_rows.h"
}

namespace
{

enum { THREADS_X = 32, THREADS_Y = 8, EDGE = 3 };

dim3 blocks_for(uint32_t width, uint32_t height, unsigned planes)
{
    return dim3((width + THREADS_X - 1) / THREADS_X, (height + THREADS_Y - 1) / THREADS_Y, planes);
}

struct place {
    int x, y;
};

__device__ place my_place()
{
    return {(int)(blockIdx.x * THREADS_X + threadIdx.x), (int)(blockIdx.y * THREADS_Y + threadIdx.y)};
}

/* ---- Up-sampling --------------------------------------------------------------------------------------------- */

template <class T> struct view {
    T *data;
    ptrdiff_t stride;
};

/* Halfway between samples `step` apart, of a line of `size` samples in which `from` is number i; the last one's half is
 * itself. */
template <class T> __device__ T halfway(const T *from, ptrdiff_t step, int i, int size, int32_t most)
{
    int32_t near[8];
    for (int k = 0; k < 8; k++)
        near[k] = from[(l2k_clamp_i32(i - EDGE + k, i + 1 < size ? 0 : i, size - 1) - i) * step];
    const int32_t sum = l2k_dirac_half(near[3] + near[4], near[2] + near[5], near[1] + near[6], near[0] + near[7]);
    return (T)l2k_clamp_i32(sum >> 5, 0, most);
}

template <class T>
__global__ void upsample_down(const view<const T> from, int width, int height, int32_t most, T *below)
{
    const place p = my_place();
    if (p.x < width && p.y < height)
        below[(ptrdiff_t)p.y * width + p.x] =
            halfway(from.data + p.y * from.stride + p.x, from.stride, p.y, height, most);
}

template <class T>
__global__ void upsample_across(const view<const T> first, const view<const T> second, int width, int height, int32_t most,
                                T *out, T *second_out)
{
    const place p = my_place();
    if (p.x >= width || p.y >= height)
        return;
    const view<const T> from = blockIdx.z ? second : first;
    (blockIdx.z ? second_out : out)[(ptrdiff_t)p.y * width + p.x] =
        halfway(from.data + p.y * from.stride + p.x, 1, p.x, width, most);
}

template <class T> int upsample(const l2k_dirac_plane *plane, int32_t most, T *half, cudaStream_t stream)
{
    const int width = (int)plane->width, height = (int)plane->height;
    const size_t samples = (size_t)plane->width * plane->height;
    const view<const T> from = {(const T *)plane->data, plane->stride}, below = {half + samples, width};
    const dim3 threads(THREADS_X, THREADS_Y);
    upsample_down<T><<<blocks_for(plane->width, plane->height, 1), threads, 0, stream>>>(from, width, height, most,
                                                                                         half + samples);
    upsample_across<T><<<blocks_for(plane->width, plane->height, 2), threads, 0, stream>>>(
        from, below, width, height, most, half, half + 2 * samples);
    return cudaGetLastError();
}

/* ---- Prediction ---------------------------------------------------------------------------------------------- */

/* A block that a column or row lies in, and its weight in eighths. */
struct overlap {
    int block, weight;
};

/* Weights rise in the overlap at either end of a block, but not at the picture's edges. */
__device__ overlap overlap_of(int block, int at, int separation, int offset, int blocks)
{
    const int from_left = at - (block * separation - offset), from_right = separation + 2 * offset - 1 - from_left;
    const bool rises = from_left < 2 * offset && block > 0, falls = from_right < 2 * offset && block + 1 < blocks;
    const int i = rises ? from_left : from_right;
    const int weight = offset == 1 ? 3 + 2 * i : 1 + (6 * i + offset - 1) / (2 * offset - 1);
    return {block, rises || falls ? weight : 8};
}

/* Returns how many of two blocks there are. */
__device__ int find_blocks(overlap out[2], int at, int separation, int offset, int blocks)
{
    const int block = at / separation, within = at - block * separation;
    const int other = within < offset ? block - 1 : within >= separation - offset ? block + 1 : block;
    out[0] = overlap_of(block, at, separation, offset, blocks);
    if (other == block || other < 0 || other >= blocks)
        return 1;
    out[1] = overlap_of(other, at, separation, offset, blocks);
    return 2;
}

/* x and y count half-samples. Those outside of the picture equal the nearest one inside. */
template <class T> __device__ int32_t fetch(const l2k_dirac_cuda_motion &m, unsigned plane, unsigned reference, int x, int y)
{
    const auto &p = m.planes[plane];
    const int left = x >> 1, top = y >> 1;
    const int right = left < 0 ? 0 : x & 1, below = top < 0 ? 0 : y & 1;
    const int column = l2k_clamp_i32(left, 0, p.width - 1), row = l2k_clamp_i32(top, 0, p.height - 1);
    if (right + below == 0)
        return ((const T *)p.reference[reference])[row * p.reference_stride[reference] + column];
    const ptrdiff_t phase = right + 2 * below - 1;
    return ((const T *)p.half[reference])[(phase * p.height + row) * p.width + column];
}

/* Positions are in eighths of the plane's samples. No vector needs to reach farther than 2^20 samples. */
template <class T>
__device__ int32_t predict(const l2k_dirac_cuda_motion &m, unsigned plane, unsigned reference, place at,
                           const int32_t vector[2])
{
    const auto &p = m.planes[plane];
    const int32_t most = 1 << 20 << m.precision, scale = 8 >> m.precision;
    const int32_t x = at.x * 8 + l2k_clamp_i32(vector[0] >> p.shift[0], -most, most) * scale;
    const int32_t y = at.y * 8 + l2k_clamp_i32(vector[1] >> p.shift[1], -most, most) * scale;
    const int right = (x & 3) != 0, below = (y & 3) != 0;
    const int32_t a = fetch<T>(m, plane, reference, x >> 2, y >> 2);
    if (right + below == 0)
        return a;
    const int32_t b = right ? fetch<T>(m, plane, reference, (x >> 2) + 1, y >> 2) : a;
    const int32_t c = below ? fetch<T>(m, plane, reference, x >> 2, (y >> 2) + 1) : a;
    const int32_t d = right && below ? fetch<T>(m, plane, reference, (x >> 2) + 1, (y >> 2) + 1) : right ? b : c;
    return ((x | y) & 1) ? l2k_dirac_between(a, b, c, d, x & 3, y & 3) : l2k_dirac_mean(a, b, c, d);
}

/* Each sample of a plane has a vector of its own, in the units of block vectors. */
template <class T>
__device__ int32_t predict_global(const l2k_dirac_cuda_motion &m, unsigned plane, unsigned reference, place at)
{
    int32_t vector[2];
    l2k_dirac_global_vector(&m.globals[reference], at.x, at.y, vector);
    return predict<T>(m, plane, reference, at, vector);
}

template <class T> __device__ int32_t predict_block(const l2k_dirac_cuda_motion &m, unsigned plane, place at, size_t number)
{
    const l2k_dirac_motion_block block = m.blocks[number];
    const l2k_dirac_weights weights = {
        {m.weight[0], m.weight[1]}, m.planes[plane].most / 2 + 1, m.weight_bits};
    int32_t value[2];
    if (block.mode == 0)
        return l2k_clamp_i32(block.value[plane], -weights.half, weights.half - 1) + weights.half;
    for (unsigned i = 0; i < 2; i++)
        if (block.mode >> i & 1)
            value[i] = block.mode & L2K_DIRAC_GLOBAL ? predict_global<T>(m, plane, i, at)
                                                     : predict<T>(m, plane, i, at, &block.value[2 * i]);
    return l2k_dirac_weigh(value[!(block.mode & 1)], value[block.mode >> 1 & 1], weights);
}

template <class T>
__global__ void __launch_bounds__(THREADS_X *THREADS_Y) compensate(const __grid_constant__ l2k_dirac_cuda_motion m)
{
    const auto &p = m.planes[blockIdx.z];
    const place at = my_place();
    overlap across[2], down[2];
    if (at.x >= p.width || at.y >= p.height)
        return;
    const int columns = find_blocks(across, at.x, p.separation[0], p.offset[0], m.across);
    const int rows = find_blocks(down, at.y, p.separation[1], p.offset[1], m.down);
    int32_t sum = 32;
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < columns; k++)
            sum += predict_block<T>(m, blockIdx.z, at, (size_t)down[i].block * (size_t)m.across + (size_t)across[k].block) *
                   (down[i].weight * across[k].weight);
    const int32_t residue = p.residue ? p.residue[at.y * p.residue_stride + at.x] : 0;
    ((T *)p.out)[at.y * p.stride + at.x] =
        (T)l2k_clamp_i32((sum >> 6) + l2k_clamp_i32(residue, -(1 << 26), 1 << 26), 0, p.most);
}

} // namespace

extern "C" int l2k_dirac_cuda_upsample(const l2k_dirac_plane *plane, bool wide, int32_t most, void *half, void *stream)
{
    return wide ? upsample(plane, most, (uint16_t *)half, (cudaStream_t)stream)
                : upsample(plane, most, (uint8_t *)half, (cudaStream_t)stream);
}

extern "C" int l2k_dirac_cuda_predict(const l2k_dirac_cuda_motion *m, void *stream)
{
    const dim3 blocks = blocks_for((uint32_t)m->planes[0].width, (uint32_t)m->planes[0].height, L2K_DIRAC_PLANES);
    (m->wide ? compensate<uint16_t>
             : compensate<uint8_t>)<<<blocks, dim3(THREADS_X, THREADS_Y), 0, (cudaStream_t)stream>>>(*m);
    return cudaGetLastError();
}
