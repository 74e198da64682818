/* A column filter, then a row filter, with the result of the first in memory. A block of threads goes down a slab of 32
 * columns with a window of rows in shared memory; rows that still wait for a neighbour stay in the window when it
 * moves (after van der Laan, Jalba, Roerdink: Accelerating Wavelet Lifting on Graphics Hardware using CUDA, who filter
 * rows first). */
#ifndef L2K_BENCH_PAPERS_SLIDING_WINDOW_CUH
#define L2K_BENCH_PAPERS_SLIDING_WINDOW_CUH

#include "bench/papers/levels.cuh"

/* ---- Along rows: a block of threads loads a whole row, lifts it with a barrier after each lifting step, and writes its
 * halves. Low and high samples are apart there, so that neighbouring threads use neighbouring banks. ---------------- */

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

/* ---- Along columns ------------------------------------------------------------------------------------------------ */

/* A thread takes two of the rows by which the window moves, and one sample of each lifting step. */
enum { SLAB = 32, WINDOW_THREADS = 8, WINDOW_MOVE = 2 * WINDOW_THREADS };

/* The window holds the rows end - KEPT - WINDOW_MOVE .. end - 1, end being even. Step k can go as far as row
 * end - 3 - k, so it continues at row end - 17 - k, after its last in the previous window. */
template <class W> __device__ __forceinline__ void lift_window(typename W::T (*window)[SLAB], int tx, int ty)
{
#pragma unroll
    for (int k = 0; k < W::STEPS; k++) {
        int j = W::STEPS - k + 2 * ty;
        window[j][tx] = W::step(k, window[j][tx], window[j - 1][tx], window[j + 1][tx]);
        __syncthreads();
    }
}

template <class W>
__global__ void __launch_bounds__(SLAB *WINDOW_THREADS)
    sliding_window_kernel(const typename W::S *in, int in_stride, typename W::S *out, int out_stride, int size)
{
    typedef typename W::T T;
    enum { KEPT = W::STEPS + 1 };
    __shared__ T window[KEPT + WINDOW_MOVE][SLAB];
    int tx = threadIdx.x, ty = threadIdx.y, x = (int)blockIdx.x * SLAB + tx;
    bool inside = x < size;
    in += inside ? x : size - 1;
    /* The first window ends where row 0 has all the mirrored rows above that it needs. */
    int end = WINDOW_MOVE + 2 - W::STEPS;
    for (int j = ty; j < KEPT + WINDOW_MOVE; j += WINDOW_THREADS)
        window[j][tx] = in[dwt_mirror(end - KEPT - WINDOW_MOVE + j, size) * in_stride];
    for (;;) {
        __syncthreads();
        lift_window<W>(window, tx, ty);
        int first = end - KEPT - WINDOW_MOVE;
#pragma unroll
        for (int j = ty; j < WINDOW_MOVE; j += WINDOW_THREADS) {
            int y = first + j;
            if (inside && y >= 0 && y < size)
                out[dwt_mallat(y, size) * out_stride + x] = (typename W::S)W::scale(window[j][tx], y & 1);
        }
        if (first + WINDOW_MOVE >= size)
            break;
        T kept = window[WINDOW_MOVE + (ty < KEPT ? ty : 0)][tx], fresh[2];
#pragma unroll
        for (int i = 0; i < 2; i++)
            fresh[i] = in[dwt_mirror(end + ty + i * WINDOW_THREADS, size) * in_stride];
        __syncthreads();
        if (ty < KEPT)
            window[ty][tx] = kept;
#pragma unroll
        for (int i = 0; i < 2; i++)
            window[KEPT + ty + i * WINDOW_THREADS][tx] = fresh[i];
        end += WINDOW_MOVE;
    }
}

/* Rows of the Mallat layout to rows of samples. A window ends at an odd row. */
template <class W>
__global__ void __launch_bounds__(SLAB *WINDOW_THREADS)
    sliding_window_inverse_kernel(const typename W::S *in, int in_stride, typename W::S *out, int out_stride, int size)
{
    typedef typename W::T T;
    enum { KEPT = W::STEPS + 1 };
    __shared__ T window[KEPT + WINDOW_MOVE][SLAB];
    int tx = threadIdx.x, ty = threadIdx.y, x = (int)blockIdx.x * SLAB + tx;
    bool inside = x < size;
    in += inside ? x : size - 1;
    auto coefficient = [&](int row) {
        int y = dwt_mirror(row, size);
        return W::unscale(in[dwt_mallat(y, size) * in_stride], y & 1);
    };
    int end = WINDOW_MOVE + 3 - W::STEPS;
    for (int j = ty; j < KEPT + WINDOW_MOVE; j += WINDOW_THREADS)
        window[j][tx] = coefficient(end - KEPT - WINDOW_MOVE + j);
    for (;;) {
        __syncthreads();
        lift_window<dwt_undo<W>>(window, tx, ty);
        int first = end - KEPT - WINDOW_MOVE;
#pragma unroll
        for (int j = ty; j < WINDOW_MOVE; j += WINDOW_THREADS) {
            int y = first + j;
            if (inside && y >= 0 && y < size)
                out[y * out_stride + x] = (typename W::S)window[j][tx];
        }
        if (first + WINDOW_MOVE >= size)
            break;
        T kept = window[WINDOW_MOVE + (ty < KEPT ? ty : 0)][tx], fresh[2];
#pragma unroll
        for (int i = 0; i < 2; i++)
            fresh[i] = coefficient(end + ty + i * WINDOW_THREADS);
        __syncthreads();
        if (ty < KEPT)
            window[ty][tx] = kept;
#pragma unroll
        for (int i = 0; i < 2; i++)
            window[KEPT + ty + i * WINDOW_THREADS][tx] = fresh[i];
        end += WINDOW_MOVE;
    }
}

template <class W> static void sliding_window_inverse(const dwt_job<W> &job, cudaStream_t stream)
{
    dwt_each_level_up(job, [&](const dwt_source<W> &l) {
        dwt_source<W> first = l;
        first.out = job.scratch;
        first.out_stride = dwt_stride(l.size);
        row_pass_inverse(first, stream);
        CHECK(cudaGetLastError());
        sliding_window_inverse_kernel<W><<<dwt_divide_up(l.size, SLAB), dim3(SLAB, WINDOW_THREADS), 0, stream>>>(
            job.scratch, dwt_stride(l.size), l.out, l.out_stride, l.size);
    });
}

template <class W> static void sliding_window(const dwt_job<W> &job, cudaStream_t stream)
{
    dwt_each_level(job, [&](const dwt_level<W> &l) {
        sliding_window_kernel<W><<<dwt_divide_up(l.size, SLAB), dim3(SLAB, WINDOW_THREADS), 0, stream>>>(
            l.in, l.in_stride, job.scratch, dwt_stride(l.size), l.size);
        CHECK(cudaGetLastError());
        dwt_level<W> second = l;
        second.in = job.scratch;
        second.in_stride = dwt_stride(l.size);
        row_pass(second, stream);
    });
}

#endif
