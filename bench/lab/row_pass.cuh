/* The row filter of sliding-window-shared and row-column-transpose: a block of threads loads a whole row into shared
 * memory, lifts it there with a barrier after each lifting step, and writes its halves (after van der Laan, Jalba,
 * Roerdink: Accelerating Wavelet Lifting on Graphics Hardware using CUDA). The row is split into low and high samples
 * there, so that neighbouring threads use neighbouring banks. */
#ifndef L2K_BENCH_LAB_ROW_PASS_CUH
#define L2K_BENCH_LAB_ROW_PASS_CUH

#include "bench/lab/rung.cuh"

enum { ROW_THREADS = 256 };

/* `l.in` holds rows of the Mallat layout: row y is stored as row y. */
template <class W> __global__ void __launch_bounds__(ROW_THREADS) row_pass_kernel(lab_level<W> l)
{
    extern __shared__ uint4 lab_row[];
    typedef typename W::T T;
    int half = l.size / 2, y = blockIdx.x;
    T *low = reinterpret_cast<T *>(lab_row), *high = low + half;
    for (int i = threadIdx.x; i < half; i += ROW_THREADS) {
        l2k_packed<typename W::S, 2> pair;
        pair.load(l.in + y * l.in_stride + 2 * i);
        low[i] = pair.get(0);
        high[i] = pair.get(1);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < W::STEPS; k++) {
        for (int i = threadIdx.x; i < half; i += ROW_THREADS)
            if (k & 1)
                low[i] = W::step(k, low[i], high[i > 0 ? i - 1 : 0], high[i]);
            else
                high[i] = W::step(k, high[i], low[i], low[i + 1 < half ? i + 1 : i]);
        __syncthreads();
    }
    typename W::S *low_row = y < half ? l.low + y * l.low_stride : l.bands + y * l.bands_stride;
    typename W::S *high_row = l.bands + y * l.bands_stride + half;
    for (int i = threadIdx.x; i < half; i += ROW_THREADS) {
        low_row[i] = (typename W::S)W::scale(low[i], false);
        high_row[i] = (typename W::S)W::scale(high[i], true);
    }
}

/* MAX_SIZE keeps a row within the default limit of 48 KiB per block. */
template <class W> static void row_pass(const lab_level<W> &l, cudaStream_t stream)
{
    static_assert(MAX_SIZE * sizeof(typename W::T) <= 48 * 1024, "a row in shared memory");
    row_pass_kernel<W><<<l.size, ROW_THREADS, l.size * sizeof(typename W::T), stream>>>(l);
}

/* Pairs of halves to rows of samples, at the places of the rows that they come from. */
template <class W> __global__ void __launch_bounds__(ROW_THREADS) row_pass_inverse_kernel(lab_source<W> l)
{
    extern __shared__ uint4 lab_row[];
    typedef typename W::T T;
    int half = l.size / 2, y = blockIdx.x;
    T *low = reinterpret_cast<T *>(lab_row), *high = low + half;
    const typename W::S *low_row = y < half ? l.low + y * l.low_stride : l.bands + y * l.bands_stride;
    const typename W::S *high_row = l.bands + y * l.bands_stride + half;
    for (int i = threadIdx.x; i < half; i += ROW_THREADS) {
        low[i] = W::unscale(low_row[i], false);
        high[i] = W::unscale(high_row[i], true);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < W::STEPS; k++) {
        for (int i = threadIdx.x; i < half; i += ROW_THREADS)
            if (k & 1)
                high[i] = lab_undo<W>::step(k, high[i], low[i], low[i + 1 < half ? i + 1 : i]);
            else
                low[i] = lab_undo<W>::step(k, low[i], high[i > 0 ? i - 1 : 0], high[i]);
        __syncthreads();
    }
    for (int i = threadIdx.x; i < half; i += ROW_THREADS) {
        l2k_packed<typename W::S, 2> pair;
        pair.set(0, (typename W::S)low[i]);
        pair.set(1, (typename W::S)high[i]);
        pair.store(l.out + y * l.out_stride + 2 * i);
    }
}

template <class W> static void row_pass_inverse(const lab_source<W> &l, cudaStream_t stream)
{
    row_pass_inverse_kernel<W><<<l.size, ROW_THREADS, l.size * sizeof(typename W::T), stream>>>(l);
}

/* A level's pass into `scratch`, the first of two of the inverse. */
template <class W> static lab_source<W> lab_first_pass(lab_source<W> l, typename W::S *scratch)
{
    l.out = scratch;
    l.out_stride = lab_stride(l.size);
    return l;
}

/* A level's pass over `scratch`, the second of two. */
template <class W> static lab_level<W> lab_second_pass(lab_level<W> l, const typename W::S *scratch)
{
    l.in = scratch;
    l.in_stride = lab_stride(l.size);
    return l;
}

#endif
