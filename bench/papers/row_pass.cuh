/* The row filter of sliding_window.cuh: a block of threads loads a whole row into shared
 * memory, lifts it there with a barrier after each lifting step, and writes its halves (after van der Laan, Jalba,
 * Roerdink: Accelerating Wavelet Lifting on Graphics Hardware using CUDA). The row is split into low and high samples
 * there, so that neighbouring threads use neighbouring banks. */
#ifndef L2K_BENCH_PAPERS_ROW_PASS_CUH
#define L2K_BENCH_PAPERS_ROW_PASS_CUH

#include "bench/papers/levels.cuh"

enum { ROW_THREADS = 256 };

/* `l.in` holds rows of the Mallat layout: row y is stored as row y. */
template <class W> __global__ void __launch_bounds__(ROW_THREADS) row_pass_kernel(dwt_level<W> l)
{
    extern __shared__ uint4 dwt_row[];
    typedef typename W::T T;
    int half = l.size / 2, y = blockIdx.x;
    T *low = reinterpret_cast<T *>(dwt_row), *high = low + half;
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
template <class W> static void row_pass(const dwt_level<W> &l, cudaStream_t stream)
{
    static_assert(MAX_SIZE * sizeof(typename W::T) <= 48 * 1024, "a row in shared memory");
    row_pass_kernel<W><<<l.size, ROW_THREADS, l.size * sizeof(typename W::T), stream>>>(l);
}

/* Pairs of halves to rows of samples, at the places of the rows that they come from. */
template <class W> __global__ void __launch_bounds__(ROW_THREADS) row_pass_inverse_kernel(dwt_source<W> l)
{
    extern __shared__ uint4 dwt_row[];
    typedef typename W::T T;
    int half = l.size / 2, y = blockIdx.x;
    T *low = reinterpret_cast<T *>(dwt_row), *high = low + half;
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
                high[i] = dwt_undo<W>::step(k, high[i], low[i], low[i + 1 < half ? i + 1 : i]);
            else
                low[i] = dwt_undo<W>::step(k, low[i], high[i > 0 ? i - 1 : 0], high[i]);
        __syncthreads();
    }
    for (int i = threadIdx.x; i < half; i += ROW_THREADS) {
        l2k_packed<typename W::S, 2> pair;
        pair.set(0, (typename W::S)low[i]);
        pair.set(1, (typename W::S)high[i]);
        pair.store(l.out + y * l.out_stride + 2 * i);
    }
}

template <class W> static void row_pass_inverse(const dwt_source<W> &l, cudaStream_t stream)
{
    row_pass_inverse_kernel<W><<<l.size, ROW_THREADS, l.size * sizeof(typename W::T), stream>>>(l);
}

/* A level's pass into `scratch`, the first of two of the inverse. */
template <class W> static dwt_source<W> dwt_first_pass(dwt_source<W> l, typename W::S *scratch)
{
    l.out = scratch;
    l.out_stride = dwt_stride(l.size);
    return l;
}

/* A level's pass over `scratch`, the second of two. */
template <class W> static dwt_level<W> dwt_second_pass(dwt_level<W> l, const typename W::S *scratch)
{
    l.in = scratch;
    l.in_stride = dwt_stride(l.size);
    return l;
}

#endif
