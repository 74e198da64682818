/* A level of the inverse transform: a thread block has a tile of pairs and what they depend on in shared memory, lifts
 * columns, then rows, and merges the four subbands as it stores. */
#include <cuda_runtime.h>

extern "C" {
#include "dirac/cuda/stages.h"
#include "dwt/lifting.h"
}

namespace
{

enum { TILE_X = 32, TILE_Y = 16, THREADS = 256, MOST_REACH = 10 };

/* Subband h + 2 v of a tile is at column h * columns, row v * rows. */
struct tile {
    int32_t *at;
    int x, y; /* the first pair, which may lie outside of the plane */
    int columns, rows, stride;

    __device__ int32_t *sample(int high_x, int x, int high_y, int y) const
    {
        return at + (high_y * rows + y) * stride + high_x * columns + x;
    }
};

template <class Sum> __device__ Sum add(Sum sum, int32_t tap, int32_t sample);
template <> __device__ int32_t add(int32_t sum, int32_t tap, int32_t sample)
{
    return l2k_kernel_add_32(sum, tap, sample);
}
template <> __device__ int64_t add(int64_t sum, int32_t tap, int32_t sample)
{
    return l2k_kernel_add_64(sum, tap, sample);
}

__device__ int32_t undo(int32_t x, int32_t sum, int32_t shift)
{
    return l2k_kernel_lift_32(x, sum, (unsigned)shift, true);
}
__device__ int32_t undo(int32_t x, int64_t sum, int32_t shift)
{
    return l2k_kernel_lift_64(x, sum, (unsigned)shift, true);
}

/* Undoes a step: `first` and `count` are the tile's pairs in the direction of the step, `size` the plane's. at(high, i, k)
 * is sample i of a half in that direction, in line k of `lines`. */
template <class Sum, class At>
__device__ void lift(const l2k_dirac_cuda_level &level, int number, int first, int count, int size, int lines, bool rows,
                     const At &at)
{
    const auto &step = level.steps[number];
    for (int item = (int)threadIdx.x; item < count * lines; item += THREADS) {
        const int i = rows ? item % count : item / lines, line = rows ? item / count : item % lines;
        if (first + i < 0 || first + i >= size)
            continue;
        Sum sum = step.rounding;
        for (int k = 0; k < step.num_taps; k++) {
            const int from = l2k_clamp_i32(first + i + k + step.offset, 0, size - 1) - first;
            sum = add<Sum>(sum, step.taps[k], *at(!step.high, l2k_clamp_i32(from, 0, count - 1), line));
        }
        int32_t *x = at(step.high, i, line);
        *x = undo(*x, sum, step.shift);
    }
    __syncthreads();
}

__device__ void store(void *out, ptrdiff_t at, int32_t value, int bytes)
{
    if (bytes == 1)
        ((uint8_t *)out)[at] = (uint8_t)value;
    else if (bytes == 2)
        ((uint16_t *)out)[at] = (uint16_t)value;
    else
        ((int32_t *)out)[at] = value;
}

template <class Sum> __global__ void __launch_bounds__(THREADS) inverse(const __grid_constant__ l2k_dirac_cuda_level level)
{
    __shared__ int32_t memory[2 * (TILE_Y + 2 * MOST_REACH) * (2 * (TILE_X + 2 * MOST_REACH) + 1)];
    const auto &p = level.planes[blockIdx.z];
    const int reach = level.reach;
    tile t = {memory, (int)blockIdx.x * TILE_X - reach, (int)blockIdx.y * TILE_Y - reach};
    t.columns = TILE_X + 2 * reach, t.rows = TILE_Y + 2 * reach, t.stride = 2 * t.columns + 1;
    if (t.x + reach >= p.width || t.y + reach >= p.height)
        return;
    for (int i = (int)threadIdx.x; i < 4 * t.columns * t.rows; i += THREADS) {
        const int column = i % t.columns, high_x = i / t.columns % 2, row = i / t.columns / 2 % t.rows,
                  high_y = i / t.columns / 2 / t.rows, band = high_x + 2 * high_y;
        const int x = l2k_clamp_i32(t.x + column, 0, p.width - 1), y = l2k_clamp_i32(t.y + row, 0, p.height - 1);
        *t.sample(high_x, column, high_y, row) = p.from[band][(size_t)y * p.stride[band] + (size_t)x];
    }
    __syncthreads();
    for (int s = 0; s < level.num_steps; s++)
        lift<Sum>(level, s, t.y, t.rows, p.height, 2 * t.columns, false,
                  [&](int high, int i, int line) { return t.sample(0, line, high, i); });
    for (int s = 0; s < level.num_steps; s++)
        lift<Sum>(level, s, t.x, t.columns, p.width, 2 * t.rows, true,
                  [&](int high, int i, int line) { return t.sample(high, i, 0, line); });
    for (int i = (int)threadIdx.x; i < 4 * TILE_X * TILE_Y; i += THREADS) {
        const int column = i % (2 * TILE_X), row = i / (2 * TILE_X);
        const int x = 2 * (int)blockIdx.x * TILE_X + column, y = 2 * (int)blockIdx.y * TILE_Y + row;
        if (x < p.columns && y < p.rows)
            store(p.out, y * p.stride_out + x,
                  l2k_dirac_finish(*t.sample(column & 1, reach + column / 2, row & 1, reach + row / 2), p.join),
                  level.out_bytes);
    }
}

__global__ void copy(const __grid_constant__ l2k_dirac_cuda_level level)
{
    const auto &p = level.planes[blockIdx.z];
    const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x), y = (int)blockIdx.y;
    if (x < p.columns && y < p.rows)
        store(p.out, y * p.stride_out + x, l2k_dirac_finish(p.from[0][(size_t)y * p.stride[0] + (size_t)x], p.join),
              level.out_bytes);
}

} // namespace

extern "C" int l2k_dirac_cuda_inverse(const l2k_dirac_cuda_level *level, void *stream)
{
    const auto &luma = level->planes[0];
    const dim3 blocks((unsigned)(luma.width + TILE_X - 1) / TILE_X, (unsigned)(luma.height + TILE_Y - 1) / TILE_Y,
                      L2K_DIRAC_PLANES);
    if (level->reach > MOST_REACH)
        return cudaErrorInvalidValue;
    (level->sums_64 ? inverse<int64_t> : inverse<int32_t>)<<<blocks, THREADS, 0, (cudaStream_t)stream>>>(*level);
    return cudaGetLastError();
}

extern "C" int l2k_dirac_cuda_copy(const l2k_dirac_cuda_level *level, void *stream)
{
    const auto &luma = level->planes[0];
    const dim3 blocks((unsigned)(luma.width + THREADS - 1) / THREADS, (unsigned)luma.height, L2K_DIRAC_PLANES);
    copy<<<blocks, THREADS, 0, (cudaStream_t)stream>>>(*level);
    return cudaGetLastError();
}
