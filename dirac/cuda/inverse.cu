/* A level of the inverse transform. A thread block has a tile of pairs: each thread lifts a column of it in registers, with
 * what it depends on above and below; then, from shared memory, parts of rows, and stores samples. */
#include <cuda_runtime.h>

extern "C" {
#include "dirac/cuda/stages.h"
#include "dwt/kernel_named.h"
#include "dwt/lifting.h"
}

namespace
{

/* Pairs of a tile, and of a thread's part of a row. */
enum { ACROSS = 32, DOWN = 16, RUN = 4, RUNS = ACROSS / RUN, THREADS = 128 };
static_assert(2 * RUN == L2K_DIRAC_CUDA_UNIT, "a thread's samples are aligned");

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

/* A tile with what it depends on: pairs, and a row of samples in shared memory, whose stride lets lanes that have all runs
 * of some rows meet different banks. */
template <class W> struct tile {
    enum {
        REACH = reach_of(W::kernel),
        SIDE = ACROSS + 2 * REACH,
        HEIGHT = DOWN + 2 * REACH,
        STRIDE = (2 * SIDE + 30) / 32 * 32 + 1
    };
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

/* Undoes all steps from the last one on: pairs of a line, low and high, of which the first is number `first` of `size`. The
 * REACH pairs at either end are not those of the result. BORDER: some may lie beyond the line; they equal the nearest. */
template <class W, int STEP, bool BORDER, int PAIRS>
__device__ __forceinline__ void lift(int32_t (&pairs)[2][PAIRS], int first, int size)
{
    if constexpr (STEP >= 0) {
        constexpr bool high = W::kernel.steps[STEP].high;
        constexpr int offset = W::kernel.steps[STEP].offset, rounding = W::kernel.steps[STEP].rounding;
        constexpr unsigned shift = W::kernel.steps[STEP].shift;
        int32_t(&x)[PAIRS] = pairs[high];
#pragma unroll
        for (int i = 0; i < PAIRS; i++)
            x[i] = undo(x[i],
                        add_taps<W, STEP, 0>(
                            rounding, [&](int k) { return pairs[!high][l2k_clamp_i32(i + k + offset, 0, PAIRS - 1)]; }),
                        shift);
        if (BORDER) {
#pragma unroll
            for (int i = PAIRS - 2; i >= 0; i--)
                x[i] = first + i < 0 ? x[i + 1] : x[i];
#pragma unroll
            for (int i = 1; i < PAIRS; i++)
                x[i] = first + i >= size ? x[i - 1] : x[i];
        }
        lift<W, STEP - 1, BORDER>(pairs, first, size);
    }
}

template <class T> __device__ __forceinline__ void store(void *out, const int32_t (&samples)[2 * RUN], int count)
{
    struct alignas(sizeof(T) < 4 ? 2 * RUN * sizeof(T) : 16) run {
        T samples[2 * RUN];
    } all;
#pragma unroll
    for (int i = 0; i < 2 * RUN; i++)
        all.samples[i] = (T)samples[i];
    if (count >= 2 * RUN)
        *(run *)out = all;
    else
#pragma unroll
        for (int i = 0; i < 2 * RUN; i++)
            if (i < count)
                ((T *)out)[i] = all.samples[i];
}

/* Subband h + 2 v has the pairs' samples h across and v down. */
template <class W, bool BORDER, int STRIDE, class Plane>
__device__ __forceinline__ void lift_tile(const Plane &p, int bytes, int (&samples)[2 * DOWN][STRIDE])
{
    enum { REACH = tile<W>::REACH, SIDE = tile<W>::SIDE, HEIGHT = tile<W>::HEIGHT, STEPS = W::kernel.num_steps };
    const int x0 = (int)blockIdx.x * ACROSS, y0 = (int)blockIdx.y * DOWN;
    for (int item = (int)threadIdx.x; item < 2 * SIDE; item += THREADS) {
        const bool high = item >= SIDE;
        const int32_t *low_from = high ? p.from[1] : p.from[0], *high_from = high ? p.from[3] : p.from[2];
        const int low_stride = (int)(high ? p.stride[1] : p.stride[0]);
        const int high_stride = (int)(high ? p.stride[3] : p.stride[2]);
        int32_t pairs[2][HEIGHT];
        int x = x0 - REACH + item - (high ? SIDE : 0);
        if (BORDER)
            x = l2k_clamp_i32(x, 0, p.width - 1);
#pragma unroll
        for (int i = 0; i < HEIGHT; i++) {
            const int y = BORDER ? l2k_clamp_i32(y0 - REACH + i, 0, p.height - 1) : y0 - REACH + i;
            pairs[0][i] = low_from[y * low_stride + x];
            pairs[1][i] = high_from[y * high_stride + x];
        }
        lift<W, STEPS - 1, BORDER>(pairs, y0 - REACH, p.height);
#pragma unroll
        for (int i = 0; i < 2 * DOWN; i++)
            samples[i][item] = pairs[i % 2][REACH + i / 2];
    }
    __syncthreads();
    for (int item = (int)threadIdx.x; item < 2 * DOWN * RUNS; item += THREADS) {
        const int row = item / RUNS, at = item % RUNS * RUN, x = 2 * (x0 + at), y = 2 * y0 + row;
        int32_t pairs[2][RUN + 2 * REACH], merged[2 * RUN];
        if (y >= p.rows)
            continue;
#pragma unroll
        for (int i = 0; i < RUN + 2 * REACH; i++) {
            pairs[0][i] = samples[row][at + i];
            pairs[1][i] = samples[row][SIDE + at + i];
        }
        lift<W, STEPS - 1, BORDER>(pairs, x0 + at - REACH, p.width);
#pragma unroll
        for (int i = 0; i < 2 * RUN; i++)
            merged[i] = l2k_dirac_finish(pairs[i % 2][REACH + i / 2], p.join);
        char *out = (char *)p.out + (y * p.stride_out + x) * bytes;
        if (bytes == 1)
            store<uint8_t>(out, merged, p.columns - x);
        else if (bytes == 2)
            store<uint16_t>(out, merged, p.columns - x);
        else
            store<int32_t>(out, merged, p.columns - x);
    }
}

template <class W>
__global__ void __launch_bounds__(THREADS) inverse(const __grid_constant__ l2k_dirac_cuda_level level)
{
    enum { REACH = tile<W>::REACH };
    __shared__ int32_t samples[2 * DOWN][tile<W>::STRIDE];
    const auto &p = level.planes[blockIdx.z];
    const int x0 = (int)blockIdx.x * ACROSS, y0 = (int)blockIdx.y * DOWN;
    if (x0 >= p.width || y0 >= p.height)
        return;
    if (x0 >= REACH && y0 >= REACH && x0 + ACROSS + REACH <= p.width && y0 + DOWN + REACH <= p.height)
        lift_tile<W, false>(p, level.out_bytes, samples);
    else
        lift_tile<W, true>(p, level.out_bytes, samples);
}

__device__ __forceinline__ void store_one(void *out, ptrdiff_t at, int32_t value, int bytes)
{
    if (bytes == 1)
        ((uint8_t *)out)[at] = (uint8_t)value;
    else if (bytes == 2)
        ((uint16_t *)out)[at] = (uint16_t)value;
    else
        ((int32_t *)out)[at] = value;
}

__global__ void copy(const __grid_constant__ l2k_dirac_cuda_level level)
{
    const auto &p = level.planes[blockIdx.z];
    const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x), y = (int)blockIdx.y;
    if (x < p.columns && y < p.rows)
        store_one(p.out, y * p.stride_out + x, l2k_dirac_finish(p.from[0][(size_t)y * p.stride[0] + (size_t)x], p.join),
                  level.out_bytes);
}

} // namespace

extern "C" int l2k_dirac_cuda_inverse(const l2k_dirac_cuda_level *level, void *stream)
{
    typedef void kernel(const l2k_dirac_cuda_level);
    static kernel *const kernels[] = {inverse<dd_9_7>, inverse<le_gall>,  inverse<dd_13_7>,   inverse<haar>,
                                      inverse<haar>,   inverse<fidelity>, inverse<daubechies>};
    const auto &luma = level->planes[0];
    const dim3 blocks((unsigned)(luma.width + ACROSS - 1) / ACROSS, (unsigned)(luma.height + DOWN - 1) / DOWN,
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
