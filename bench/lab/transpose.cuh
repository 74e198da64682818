/* row-column-transpose: one filter, along rows. Transpose, filter, transpose back, filter: the simple strategy with
 * which the papers compare the others; four sweeps over memory per level. */
#ifndef L2K_BENCH_LAB_TRANSPOSE_CUH
#define L2K_BENCH_LAB_TRANSPOSE_CUH

#include "bench/lab/row_pass.cuh"

enum { SQUARE = 32, SQUARE_THREADS = 8 };

/* Squares through shared memory, so that reads and writes both go along rows; the odd row length avoids bank
 * conflicts. */
template <class S>
__global__ void __launch_bounds__(SQUARE *SQUARE_THREADS)
    transpose_kernel(const S *in, int in_stride, S *out, int out_stride, int size)
{
    __shared__ S square[SQUARE][SQUARE + 1];
    int x = (int)blockIdx.x * SQUARE, y = (int)blockIdx.y * SQUARE, tx = threadIdx.x;
#pragma unroll
    for (int j = threadIdx.y; j < SQUARE; j += SQUARE_THREADS)
        if (x + tx < size && y + j < size)
            square[j][tx] = in[(y + j) * in_stride + x + tx];
    __syncthreads();
#pragma unroll
    for (int j = threadIdx.y; j < SQUARE; j += SQUARE_THREADS)
        if (y + tx < size && x + j < size)
            out[(x + j) * out_stride + y + tx] = square[tx][j];
}

template <class S>
static void transpose(const S *in, int in_stride, S *out, int out_stride, int size, cudaStream_t stream)
{
    dim3 squares(lab_divide_up(size, SQUARE), lab_divide_up(size, SQUARE)), threads(SQUARE, SQUARE_THREADS);
    transpose_kernel<S><<<squares, threads, 0, stream>>>(in, in_stride, out, out_stride, size);
    CHECK(cudaGetLastError());
}

template <class W> static void row_column_transpose(const lab_job<W> &job, cudaStream_t stream)
{
    typename W::S *a = job.scratch[0], *b = job.scratch[1];
    lab_each_level(job, [&](const lab_level<W> &l) {
        int stride = lab_stride(l.size);
        transpose(l.in, l.in_stride, a, stride, l.size, stream);
        row_pass(lab_level<W>{a, stride, b, stride, b, stride, l.size}, stream);
        CHECK(cudaGetLastError());
        transpose(b, stride, a, stride, l.size, stream);
        row_pass(lab_second_pass(l, a), stream);
    });
}

template <class W> static void row_column_transpose_inverse(const lab_job<W> &job, cudaStream_t stream)
{
    typename W::S *a = job.scratch[0], *b = job.scratch[1];
    lab_each_level_up(job, [&](const lab_source<W> &l) {
        int stride = lab_stride(l.size);
        row_pass_inverse(lab_first_pass(l, a), stream);
        CHECK(cudaGetLastError());
        transpose(a, stride, b, stride, l.size, stream);
        row_pass_inverse(lab_source<W>{a, stride, b, stride, b, stride, l.size}, stream);
        CHECK(cudaGetLastError());
        transpose(a, stride, l.out, l.out_stride, l.size, stream);
    });
}

#endif
