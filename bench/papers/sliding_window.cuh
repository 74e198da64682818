/* A column filter, then a row filter, with the result of the first in memory. A block of threads goes down a slab of 32
 * columns with a window of rows in shared memory; rows that still wait for a neighbour stay in
 * the window when it moves (after van der Laan, Jalba, Roerdink: Accelerating Wavelet Lifting on Graphics Hardware
 * using CUDA, who filter rows first). */
#ifndef L2K_BENCH_PAPERS_SLIDING_WINDOW_CUH
#define L2K_BENCH_PAPERS_SLIDING_WINDOW_CUH

#include "bench/papers/row_pass.cuh"

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
        row_pass_inverse(dwt_first_pass(l, job.scratch[0]), stream);
        CHECK(cudaGetLastError());
        sliding_window_inverse_kernel<W><<<dwt_divide_up(l.size, SLAB), dim3(SLAB, WINDOW_THREADS), 0, stream>>>(
            job.scratch[0], dwt_stride(l.size), l.out, l.out_stride, l.size);
    });
}

template <class W> static void sliding_window(const dwt_job<W> &job, cudaStream_t stream)
{
    dwt_each_level(job, [&](const dwt_level<W> &l) {
        sliding_window_kernel<W><<<dwt_divide_up(l.size, SLAB), dim3(SLAB, WINDOW_THREADS), 0, stream>>>(
            l.in, l.in_stride, job.scratch[0], dwt_stride(l.size), l.size);
        CHECK(cudaGetLastError());
        row_pass(dwt_second_pass(l, job.scratch[0]), stream);
    });
}

#endif
