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

enum { SMALL = 16, LARGE = 32, RUN = 4 }; /* pairs of a tile either way, for few and many tiles; of a thread's step */

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

/* A tile with what it depends on: SIDE pairs either way. Subband h + 2 v is at column h * SIDE, row v * SIDE; rows are of
 * an odd number of words, so that lanes may follow columns or rows. */
template <class W, int INNER> struct tile {
    enum { REACH = reach_of(W::kernel), SIDE = INNER + 2 * REACH, STRIDE = 2 * SIDE + 1, THREADS = 16 * INNER };
    int32_t samples[2 * SIDE * STRIDE];

    __device__ int32_t *at(int high_x, int x, int high_y, int y)
    {
        return &samples[(high_y * SIDE + y) * STRIDE + high_x * SIDE + x];
    }
};

__device__ __forceinline__ int32_t add(int32_t sum, int32_t tap, int32_t sample)
{
    return l2k_kernel_add_32(sum, tap, sample);
}
__device__ __forceinline__ int64_t add(int64_t sum, int32_t tap, int32_t sample)
{
    return l2k_kernel_add_64(sum, tap, sample);
}
__device__ __forceinline__ int32_t undo(int32_t x, int32_t sum, unsigned shift)
{
    return l2k_kernel_lift_32(x, sum, shift, true);
}
__device__ __forceinline__ int32_t undo(int32_t x, int64_t sum, unsigned shift)
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

/* Undoes all steps of the tile's lines from the last one on. at(high, i, line) is a sample, and `first` the pair's number
 * in the plane, which has `size` of them. Without BORDER all pairs are in the plane; then pairs whose taps the tile lacks
 * are not needed. */
template <class W, int STEP, class T, bool BORDER, class At>
__device__ __forceinline__ void lift(int first, int size, const At &at)
{
    if constexpr (STEP >= 0) {
        constexpr bool high = W::kernel.steps[STEP].high;
        constexpr int offset = W::kernel.steps[STEP].offset, rounding = W::kernel.steps[STEP].rounding;
        constexpr int last = offset + W::kernel.steps[STEP].num_taps - 1;
        constexpr int begin = BORDER || offset > 0 ? 0 : -offset, end = T::SIDE - (BORDER || last < 0 ? 0 : last);
        constexpr unsigned shift = W::kernel.steps[STEP].shift;
        constexpr int runs = (end - begin + RUN - 1) / RUN, lines = 2 * T::SIDE;
        for (int item = (int)threadIdx.x; item < runs * lines; item += T::THREADS) {
            const int i = begin + item / lines * RUN, line = item % lines;
            typename W::Sum sums[RUN];
#pragma unroll
            for (int r = 0; r < RUN; r++)
                sums[r] = add_taps<W, STEP, 0>(rounding, [&](int k) {
                    const int tap =
                        BORDER ? l2k_clamp_i32(first + i + r + k + offset, 0, size - 1) - first : i + r + k + offset;
                    return *at(!high, l2k_clamp_i32(tap, 0, T::SIDE - 1), line);
                });
#pragma unroll
            for (int r = 0; r < RUN; r++)
                if (i + r < end && (!BORDER || (first + i + r >= 0 && first + i + r < size))) {
                    int32_t *x = at(high, i + r, line);
                    *x = undo(*x, sums[r], shift);
                }
        }
        __syncthreads();
        lift<W, STEP - 1, T, BORDER>(first, size, at);
    }
}

/* Columns, then rows. */
template <class W, bool BORDER, class T> __device__ void lift_tile(T &t, int x, int y, int width, int height)
{
    lift<W, W::kernel.num_steps - 1, T, BORDER>(y, height,
                                                [&](int high, int i, int line) { return t.at(0, line, high, i); });
    lift<W, W::kernel.num_steps - 1, T, BORDER>(x, width,
                                                [&](int high, int i, int line) { return t.at(high, i, 0, line); });
}

__device__ __forceinline__ void store(void *out, ptrdiff_t at, int32_t value, int bytes)
{
    if (bytes == 1)
        ((uint8_t *)out)[at] = (uint8_t)value;
    else if (bytes == 2)
        ((uint16_t *)out)[at] = (uint16_t)value;
    else
        ((int32_t *)out)[at] = value;
}

template <class W, int INNER>
__global__ void __launch_bounds__(16 * INNER) inverse(const __grid_constant__ l2k_dirac_cuda_level level)
{
    typedef tile<W, INNER> T;
    __shared__ T t;
    const auto &p = level.planes[blockIdx.z];
    const int x0 = (int)blockIdx.x * INNER - T::REACH, y0 = (int)blockIdx.y * INNER - T::REACH;
    if (x0 + T::REACH >= p.width || y0 + T::REACH >= p.height)
        return;
#pragma unroll
    for (int band = 0; band < 4; band++) {
        const int32_t *from = p.from[band];
        const int stride = (int)p.stride[band];
        for (int i = (int)threadIdx.x; i < T::SIDE * T::SIDE; i += T::THREADS) {
            const int column = i % T::SIDE, row = i / T::SIDE;
            const int x = l2k_clamp_i32(x0 + column, 0, p.width - 1), y = l2k_clamp_i32(y0 + row, 0, p.height - 1);
            *t.at(band & 1, column, band >> 1, row) = from[y * stride + x];
        }
    }
    __syncthreads();
    if (x0 >= 0 && y0 >= 0 && x0 + T::SIDE <= p.width && y0 + T::SIDE <= p.height)
        lift_tile<W, false>(t, x0, y0, p.width, p.height);
    else
        lift_tile<W, true>(t, x0, y0, p.width, p.height);
    for (int i = (int)threadIdx.x; i < 4 * INNER * INNER; i += T::THREADS) {
        const int column = i % (2 * INNER), row = i / (2 * INNER);
        const int x = 2 * (int)blockIdx.x * INNER + column, y = 2 * (int)blockIdx.y * INNER + row;
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

template <int INNER> int launch(const l2k_dirac_cuda_level *level, cudaStream_t stream)
{
    typedef void kernel(const l2k_dirac_cuda_level);
    static kernel *const kernels[] = {inverse<dd_9_7, INNER>,    inverse<le_gall, INNER>, inverse<dd_13_7, INNER>,
                                      inverse<haar, INNER>,      inverse<haar, INNER>,    inverse<fidelity, INNER>,
                                      inverse<daubechies, INNER>};
    const auto &luma = level->planes[0];
    const dim3 blocks((unsigned)(luma.width + INNER - 1) / INNER, (unsigned)(luma.height + INNER - 1) / INNER,
                      L2K_DIRAC_PLANES);
    kernels[level->wavelet]<<<blocks, 16 * INNER, 0, stream>>>(*level);
    return cudaGetLastError();
}

} // namespace

extern "C" int l2k_dirac_cuda_inverse(const l2k_dirac_cuda_level *level, void *stream)
{
    enum { FEW = 1 << 18 };
    const auto &luma = level->planes[0];
    return (luma.width * luma.height < FEW ? launch<SMALL> : launch<LARGE>)(level, (cudaStream_t)stream);
}

extern "C" int l2k_dirac_cuda_copy(const l2k_dirac_cuda_level *level, void *stream)
{
    enum { THREADS = 256 };
    const auto &luma = level->planes[0];
    const dim3 blocks((unsigned)(luma.width + THREADS - 1) / THREADS, (unsigned)luma.height, L2K_DIRAC_PLANES);
    copy<<<blocks, THREADS, 0, (cudaStream_t)stream>>>(*level);
    return cudaGetLastError();
}
