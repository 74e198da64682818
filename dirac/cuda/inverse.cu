/* A level of the inverse transform: a thread block has a tile of pairs and what they depend on in shared memory, lifts
 * columns, then rows, and merges the four subbands as it stores. */
#include <cuda_runtime.h>

extern "C" {
#include "dirac/cuda/stages.h"
#include "dwt/kernel_named.h"
#include "dwt/lifting.h"
}

namespace
{

enum { TILE_X = 32, TILE_Y = 32, THREADS = 256 };

#define WAVELET(name, sum, ...)                                                                                        \
    struct name {                                                                                                      \
        typedef sum Sum;                                                                                               \
        static constexpr l2k_kernel kernel = __VA_ARGS__;                                                              \
    };

WAVELET(dd_9_7, int32_t, L2K_KERNEL_DD_9_7)
WAVELET(le_gall, int32_t, L2K_KERNEL_LE_GALL)
WAVELET(dd_13_7, int32_t, L2K_KERNEL_DD_13_7)
WAVELET(haar, int32_t, L2K_KERNEL_HAAR)
WAVELET(fidelity, int64_t, L2K_KERNEL_FIDELITY)
WAVELET(daubechies, int64_t, L2K_KERNEL_DAUBECHIES_INT)

/* The pairs on either side that a pair depends on. */
constexpr int reach_of(const l2k_kernel &kernel)
{
    int reach = 0;
    for (int i = 0; i < kernel.num_steps; i++) {
        const int first = -kernel.steps[i].offset, last = kernel.steps[i].offset + kernel.steps[i].num_taps - 1;
        reach += first > last ? first : last;
    }
    return reach;
}

/* Subband h + 2 v of a tile is at column h * COLUMNS, row v * ROWS. */
template <class W> struct tile {
    enum {
        REACH = reach_of(W::kernel),
        COLUMNS = TILE_X + 2 * REACH,
        ROWS = TILE_Y + 2 * REACH,
        STRIDE = 2 * COLUMNS + 1
    };
    int32_t samples[2 * ROWS * STRIDE];

    __device__ int32_t *at(int high_x, int x, int high_y, int y)
    {
        return &samples[(high_y * ROWS + y) * STRIDE + high_x * COLUMNS + x];
    }
};

__device__ int32_t add(int32_t sum, int32_t tap, int32_t sample)
{
    return l2k_kernel_add_32(sum, tap, sample);
}
__device__ int64_t add(int64_t sum, int32_t tap, int32_t sample)
{
    return l2k_kernel_add_64(sum, tap, sample);
}
__device__ int32_t undo(int32_t x, int32_t sum, unsigned shift)
{
    return l2k_kernel_lift_32(x, sum, shift, true);
}
__device__ int32_t undo(int32_t x, int64_t sum, unsigned shift)
{
    return l2k_kernel_lift_64(x, sum, shift, true);
}

template <class W, int STEP, int TAP, class Get>
__device__ __forceinline__ typename W::Sum add_taps(typename W::Sum sum, const Get &get)
{
    if constexpr (TAP < W::kernel.steps[STEP].num_taps) {
        constexpr int32_t tap = (int32_t)W::kernel.steps[STEP].taps[TAP];
        return add_taps<W, STEP, TAP + 1>(add(sum, tap, get(TAP)), get);
    } else {
        return sum;
    }
}

/* Undoes all steps from the last one on, of COUNT pairs in each of LINES lines. at(high, i, line) is a sample, and `first`
 * the pair's number in the plane, which has `size` of them. ALONG: threads follow lines. Without BORDER all pairs are in
 * the plane; then, and there, pairs whose taps the tile lacks are not needed. */
template <class W, int STEP, int COUNT, int LINES, bool ALONG, bool BORDER, class At>
__device__ __forceinline__ void lift(int first, int size, const At &at)
{
    if constexpr (STEP >= 0) {
        constexpr bool high = W::kernel.steps[STEP].high;
        constexpr int offset = W::kernel.steps[STEP].offset, rounding = W::kernel.steps[STEP].rounding;
        constexpr int last = offset + W::kernel.steps[STEP].num_taps - 1;
        constexpr int begin = BORDER || offset > 0 ? 0 : -offset, count = COUNT - begin - (BORDER || last < 0 ? 0 : last);
        constexpr unsigned shift = W::kernel.steps[STEP].shift;
        for (int item = (int)threadIdx.x; item < count * LINES; item += THREADS) {
            const int i = begin + (ALONG ? item % count : item / LINES), line = ALONG ? item / count : item % LINES;
            if (BORDER && (first + i < 0 || first + i >= size))
                continue;
            const typename W::Sum sum = add_taps<W, STEP, 0>(rounding, [&](int k) {
                const int from = l2k_clamp_i32(first + i + k + offset, 0, size - 1) - first;
                return *at(!high, BORDER ? l2k_clamp_i32(from, 0, COUNT - 1) : i + k + offset, line);
            });
            int32_t *x = at(high, i, line);
            *x = undo(*x, sum, shift);
        }
        __syncthreads();
        lift<W, STEP - 1, COUNT, LINES, ALONG, BORDER>(first, size, at);
    }
}

/* Columns, then rows. */
template <class W, bool BORDER> __device__ void lift_tile(tile<W> &t, int x, int y, int width, int height)
{
    enum { LAST = W::kernel.num_steps - 1, COLUMNS = tile<W>::COLUMNS, ROWS = tile<W>::ROWS };
    lift<W, LAST, ROWS, 2 * COLUMNS, false, BORDER>(y, height,
                                                    [&](int high, int i, int line) { return t.at(0, line, high, i); });
    lift<W, LAST, COLUMNS, 2 * ROWS, true, BORDER>(x, width,
                                                   [&](int high, int i, int line) { return t.at(high, i, 0, line); });
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

template <class W> __global__ void __launch_bounds__(THREADS) inverse(const __grid_constant__ l2k_dirac_cuda_level level)
{
    typedef tile<W> T;
    __shared__ T t;
    const auto &p = level.planes[blockIdx.z];
    const int x0 = (int)blockIdx.x * TILE_X - T::REACH, y0 = (int)blockIdx.y * TILE_Y - T::REACH;
    if (x0 + T::REACH >= p.width || y0 + T::REACH >= p.height)
        return;
#pragma unroll
    for (int band = 0; band < 4; band++) {
        const int32_t *from = p.from[band];
        const int stride = (int)p.stride[band];
        for (int i = (int)threadIdx.x; i < T::COLUMNS * T::ROWS; i += THREADS) {
            const int column = i % T::COLUMNS, row = i / T::COLUMNS;
            const int x = l2k_clamp_i32(x0 + column, 0, p.width - 1), y = l2k_clamp_i32(y0 + row, 0, p.height - 1);
            *t.at(band & 1, column, band >> 1, row) = from[y * stride + x];
        }
    }
    __syncthreads();
    if (x0 >= 0 && y0 >= 0 && x0 + T::COLUMNS <= p.width && y0 + T::ROWS <= p.height)
        lift_tile<W, false>(t, x0, y0, p.width, p.height);
    else
        lift_tile<W, true>(t, x0, y0, p.width, p.height);
    for (int i = (int)threadIdx.x; i < 4 * TILE_X * TILE_Y; i += THREADS) {
        const int column = i % (2 * TILE_X), row = i / (2 * TILE_X);
        const int x = 2 * (int)blockIdx.x * TILE_X + column, y = 2 * (int)blockIdx.y * TILE_Y + row;
        if (x < p.columns && y < p.rows)
            store(p.out, y * p.stride_out + x,
                  l2k_dirac_finish(*t.at(column & 1, T::REACH + column / 2, row & 1, T::REACH + row / 2), p.join),
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
    typedef void kernel(const l2k_dirac_cuda_level);
    static kernel *const kernels[] = {inverse<dd_9_7>, inverse<le_gall>,  inverse<dd_13_7>,   inverse<haar>,
                                      inverse<haar>,   inverse<fidelity>, inverse<daubechies>};
    const auto &luma = level->planes[0];
    const dim3 blocks((unsigned)(luma.width + TILE_X - 1) / TILE_X, (unsigned)(luma.height + TILE_Y - 1) / TILE_Y,
                      L2K_DIRAC_PLANES);
    kernels[level->wavelet]<<<blocks, THREADS, 0, (cudaStream_t)stream>>>(*level);
    return cudaGetLastError();
}

extern "C" int l2k_dirac_cuda_copy(const l2k_dirac_cuda_level *level, void *stream)
{
    const auto &luma = level->planes[0];
    const dim3 blocks((unsigned)(luma.width + THREADS - 1) / THREADS, (unsigned)luma.height, L2K_DIRAC_PLANES);
    copy<<<blocks, THREADS, 0, (cudaStream_t)stream>>>(*level);
    return cudaGetLastError();
}
