/* column-8-per-thread: a column pass, then a row pass. A thread computes 8 coefficients of a line from samples that it
 * loads itself, halo included: more loads and arithmetic, but no exchange, no barrier, no state from one window to the
 * next. The 8-coefficient scheme of the OpenCL comparison of vertical passes (there for the 9/7, through local memory),
 * here directly from memory to registers; what two threads both load comes from the cache. */
#ifndef L2K_BENCH_LAB_EIGHT_PER_THREAD_CUH
#define L2K_BENCH_LAB_EIGHT_PER_THREAD_CUH

#include "bench/lab/row_pass.cuh"

enum { EIGHT = 8, EIGHT_THREADS = 128 };

/* A thread: column x, rows y .. y + 7 of the level. */
template <class W>
__global__ void __launch_bounds__(EIGHT_THREADS) eight_rows_kernel(lab_level<W> l, typename W::S *out, int out_stride)
{
    int x = (int)blockIdx.x * EIGHT_THREADS + (int)threadIdx.x, y = (int)blockIdx.y * EIGHT;
    if (x >= l.size)
        return;
    typename W::T v[EIGHT + 2 * W::STEPS - 1][1];
    lab_load_tile<W>(l, x, y - W::STEPS, v);
    lab_lift_rows<W>(v);
#pragma unroll
    for (int j = 0; j < EIGHT; j++)
        if (y + j < l.size)
            out[lab_mallat(y + j, l.size) * out_stride + x] = (typename W::S)W::scale(v[W::STEPS + j][0], j & 1);
}

/* Columns x - STEPS .. x + 8 + STEPS - 1 of a row, in whole words: those before, the thread's own, those after. */
template <class W>
__device__ __forceinline__ void load_line(const typename W::S *row, int x, int size,
                                          typename W::T (&v)[EIGHT + 2 * W::STEPS][1])
{
    enum { H = W::STEPS };
    if (x >= H && x + EIGHT + H <= size) {
        l2k_packed<typename W::S, H> before, after;
        l2k_packed<typename W::S, EIGHT> own;
        before.load(row + x - H);
        own.load(row + x);
        after.load(row + x + EIGHT);
#pragma unroll
        for (int i = 0; i < EIGHT + 2 * H; i++)
            v[i][0] = i < H           ? before.get(i < H ? i : 0)
                      : i < EIGHT + H ? own.get(i >= H && i < EIGHT + H ? i - H : 0)
                                      : after.get(i >= EIGHT + H ? i - EIGHT - H : 0);
    } else {
#pragma unroll
        for (int i = 0; i < EIGHT + 2 * H; i++)
            v[i][0] = row[lab_mirror(x - H + i, size)];
    }
}

/* A thread: row blockIdx.y of the Mallat layout, columns x .. x + 7. */
template <class W> __global__ void __launch_bounds__(EIGHT_THREADS) eight_columns_kernel(lab_level<W> l)
{
    int x = EIGHT * ((int)blockIdx.x * EIGHT_THREADS + (int)threadIdx.x), y = blockIdx.y;
    if (x >= l.size)
        return;
    typename W::T v[EIGHT + 2 * W::STEPS][1], finished[EIGHT];
    load_line<W>(l.in + y * l.in_stride, x, l.size, v);
    lab_lift_rows<W>(v); /* a thread's line is a column of its registers */
#pragma unroll
    for (int j = 0; j < EIGHT; j++)
        finished[j] = W::scale(v[W::STEPS + j][0], j & 1);
    lab_store_pairs<W, EIGHT / 2>(l, finished, x, y);
}

template <class W> static void eight_per_thread(const lab_job<W> &job, cudaStream_t stream)
{
    lab_each_level(job, [&](const lab_level<W> &l) {
        dim3 columns(lab_divide_up(l.size, EIGHT_THREADS), lab_divide_up(l.size, EIGHT));
        eight_rows_kernel<W><<<columns, EIGHT_THREADS, 0, stream>>>(l, job.scratch[0], lab_stride(l.size));
        CHECK(cudaGetLastError());
        dim3 rows(lab_divide_up(l.size, EIGHT * EIGHT_THREADS), l.size);
        eight_columns_kernel<W><<<rows, EIGHT_THREADS, 0, stream>>>(lab_second_pass(l, job.scratch[0]));
    });
}

/* ---- Inverse: rows, then columns ----------------------------------------------------------------------------- */

/* A thread: row blockIdx.y of the Mallat layout, samples x .. x + 7 of it. */
template <class W> __global__ void __launch_bounds__(EIGHT_THREADS) eight_columns_inverse_kernel(lab_source<W> l)
{
    enum { H = W::STEPS };
    int x = EIGHT * ((int)blockIdx.x * EIGHT_THREADS + (int)threadIdx.x), y = blockIdx.y;
    if (x >= l.size)
        return;
    typename W::T before[H], own[EIGHT], after[H], v[EIGHT + 2 * H - 1][1];
    lab_load_pairs<W, H / 2>(l, x - H, y, before);
    lab_load_pairs<W, EIGHT / 2>(l, x, y, own);
    lab_load_pairs<W, H / 2>(l, x + EIGHT, y, after);
    lab_unscale_columns<W>(before);
    lab_unscale_columns<W>(own);
    lab_unscale_columns<W>(after);
#pragma unroll
    for (int i = 1; i < EIGHT + 2 * H; i++)
        v[i - 1][0] = i < H           ? before[i < H ? i : 0]
                      : i < EIGHT + H ? own[i >= H && i < EIGHT + H ? i - H : 0]
                                      : after[i >= EIGHT + H ? i - EIGHT - H : 0];
    lab_lift_rows<lab_undo<W>>(v);
    typename W::S finished[EIGHT];
#pragma unroll
    for (int j = 0; j < EIGHT; j++)
        finished[j] = (typename W::S)v[H - 1 + j][0];
    lab_store_run(l.out + y * l.out_stride, finished, x, l.size);
}

/* A thread: column x, samples y .. y + 7 of it. */
template <class W>
__global__ void __launch_bounds__(EIGHT_THREADS)
    eight_rows_inverse_kernel(const typename W::S *in, int in_stride, typename W::S *out, int out_stride, int size)
{
    int x = (int)blockIdx.x * EIGHT_THREADS + (int)threadIdx.x, y = (int)blockIdx.y * EIGHT;
    if (x >= size)
        return;
    typename W::T v[EIGHT + 2 * W::STEPS - 1][1];
#pragma unroll
    for (int r = 0; r < EIGHT + 2 * W::STEPS - 1; r++)
        v[r][0] = in[lab_mallat(lab_mirror(y - W::STEPS + 1 + r, size), size) * in_stride + x];
#pragma unroll
    for (int r = 0; r < EIGHT + 2 * W::STEPS - 1; r++)
        v[r][0] = W::unscale(v[r][0], !(r & 1));
    lab_lift_rows<lab_undo<W>>(v);
#pragma unroll
    for (int j = 0; j < EIGHT; j++)
        if (y + j < size)
            out[(y + j) * out_stride + x] = (typename W::S)v[W::STEPS - 1 + j][0];
}

template <class W> static void eight_per_thread_inverse(const lab_job<W> &job, cudaStream_t stream)
{
    lab_each_level_up(job, [&](const lab_source<W> &l) {
        dim3 rows(lab_divide_up(l.size, EIGHT * EIGHT_THREADS), l.size);
        eight_columns_inverse_kernel<W><<<rows, EIGHT_THREADS, 0, stream>>>(lab_first_pass(l, job.scratch[0]));
        CHECK(cudaGetLastError());
        dim3 columns(lab_divide_up(l.size, EIGHT_THREADS), lab_divide_up(l.size, EIGHT));
        eight_rows_inverse_kernel<W>
            <<<columns, EIGHT_THREADS, 0, stream>>>(job.scratch[0], lab_stride(l.size), l.out, l.out_stride, l.size);
    });
}

#endif
