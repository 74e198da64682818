/* The blocks of register_tile.cuh, 64 x 20, but in shared memory, through which every lifting step goes. The control
 * experiment of Enfedaque, Auli-Llinas, Moure: what do registers and shuffles gain? Even and odd columns are stored
 * apart to avoid bank conflicts. */
#ifndef L2K_BENCH_PAPERS_SHARED_TILE_CUH
#define L2K_BENCH_PAPERS_SHARED_TILE_CUH

#include "bench/papers/register_tile.cuh"

/* A row: the even columns of all lanes, then the odd ones. */
template <class W> struct dwt_shared_row {
    typename W::T column[2][32];
};

template <class W, int ROWS> __device__ __forceinline__ void shared_lift_rows(dwt_shared_row<W> *v, int lane)
{
#pragma unroll
    for (int k = 0; k < W::STEPS; k++) {
#pragma unroll
        for (int r = 1 + k; r < ROWS - k - 1; r += 2)
#pragma unroll
            for (int c = 0; c < 2; c++)
                v[r].column[c][lane] =
                    W::step(k, v[r].column[c][lane], v[r - 1].column[c][lane], v[r + 1].column[c][lane]);
        __syncwarp(); /* a lane reads its own columns only; this keeps the compiler from holding them in registers */
    }
}

/* The outer lanes use a column of their own for the missing one; the result is halo. EVEN: step 0 changes even columns,
 * as in the inverse. */
template <class W, int FIRST, int COUNT, bool EVEN = false>
__device__ __forceinline__ void shared_lift_columns(dwt_shared_row<W> *v, int lane)
{
    int left = lane > 0 ? lane - 1 : 0, right = lane < 31 ? lane + 1 : 31;
#pragma unroll
    for (int k = 0; k < W::STEPS; k++) {
#pragma unroll
        for (int r = FIRST; r < FIRST + COUNT; r++)
            if ((k & 1) != (int)EVEN)
                v[r].column[0][lane] = W::step(k, v[r].column[0][lane], v[r].column[1][left], v[r].column[1][lane]);
            else
                v[r].column[1][lane] = W::step(k, v[r].column[1][lane], v[r].column[0][lane], v[r].column[0][right]);
        __syncwarp();
    }
}

template <class W>
__global__ void __launch_bounds__(32 * dwt_tile<W, 20 - 2 * W::STEPS>::WARPS) shared_tile_kernel(dwt_level<W> l)
{
    enum { OUT_ROWS = 20 - 2 * W::STEPS };
    typedef dwt_tile<W, OUT_ROWS> tile;
    __shared__ dwt_shared_row<W> tiles[tile::WARPS][tile::ROWS];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, y = tile::row(warp), x = tile::column(lane);
    if (y >= l.size)
        return;
    dwt_shared_row<W> *v = tiles[warp];
    typename W::T loaded[tile::ROWS][2];
    dwt_load_tile<W>(l, x, y - W::STEPS, loaded);
#pragma unroll
    for (int r = 0; r < tile::ROWS; r++)
#pragma unroll
        for (int c = 0; c < 2; c++)
            v[r].column[c][lane] = loaded[r][c];
    __syncwarp();
    shared_lift_rows<W, tile::ROWS>(v, lane);
#pragma unroll
    for (int r = W::STEPS; r < W::STEPS + OUT_ROWS; r++)
#pragma unroll
        for (int c = 0; c < 2; c++)
            v[r].column[c][lane] = W::scale(v[r].column[c][lane], r & 1);
    __syncwarp();
    shared_lift_columns<W, W::STEPS, OUT_ROWS>(v, lane);
    if (!tile::stores(lane))
        return;
#pragma unroll
    for (int r = 0; r < OUT_ROWS; r++) {
        typename W::T pair[2];
#pragma unroll
        for (int c = 0; c < 2; c++)
            pair[c] = W::scale(v[W::STEPS + r].column[c][lane], c);
        if (y + r < l.size)
            dwt_store_pairs<W, 1>(l, pair, x, dwt_mallat(y + r, l.size));
    }
}

template <class W>
__global__ void __launch_bounds__(32 * dwt_tile<W, 20 - 2 * W::STEPS>::WARPS)
    shared_tile_inverse_kernel(dwt_source<W> l)
{
    enum { OUT_ROWS = 20 - 2 * W::STEPS };
    typedef dwt_tile<W, OUT_ROWS> tile;
    __shared__ dwt_shared_row<W> tiles[tile::WARPS][tile::ROWS];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, y = tile::row(warp), x = tile::column(lane);
    if (y >= l.size)
        return;
    dwt_shared_row<dwt_undo<W>> *v = reinterpret_cast<dwt_shared_row<dwt_undo<W>> *>(tiles[warp]);
    typename W::T loaded[tile::ROWS][2];
    dwt_load_tile_of_pairs<W, 1>(l, x, y - W::STEPS + 1, loaded);
#pragma unroll
    for (int r = 0; r < tile::ROWS; r++)
        dwt_unscale_columns<W>(loaded[r]);
#pragma unroll
    for (int r = 0; r < tile::ROWS; r++)
#pragma unroll
        for (int c = 0; c < 2; c++)
            v[r].column[c][lane] = loaded[r][c];
    __syncwarp();
    shared_lift_columns<dwt_undo<W>, 0, tile::ROWS, true>(v, lane);
#pragma unroll
    for (int r = 0; r < tile::ROWS; r++)
#pragma unroll
        for (int c = 0; c < 2; c++)
            v[r].column[c][lane] = W::unscale(v[r].column[c][lane], !(r & 1));
    __syncwarp();
    shared_lift_rows<dwt_undo<W>, tile::ROWS>(v, lane);
    if (!tile::stores(lane))
        return;
#pragma unroll
    for (int r = 0; r < OUT_ROWS; r++) {
        typename W::S row[2];
#pragma unroll
        for (int c = 0; c < 2; c++)
            row[c] = (typename W::S)v[W::STEPS - 1 + r].column[c][lane];
        if (y + r < l.size)
            dwt_store_run(l.out + (y + r) * l.out_stride, row, x, l.size);
    }
}

template <class W> static void shared_64x20_inverse(const dwt_job<W> &job, cudaStream_t stream)
{
    typedef dwt_tile<W, 20 - 2 * W::STEPS> tile;
    dwt_each_level_up(job, [&](const dwt_source<W> &l) {
        shared_tile_inverse_kernel<W><<<tile::grid(l.size), 32 * tile::WARPS, 0, stream>>>(l);
    });
}

template <class W> static void shared_64x20(const dwt_job<W> &job, cudaStream_t stream)
{
    typedef dwt_tile<W, 20 - 2 * W::STEPS> tile;
    dwt_each_level(job, [&](const dwt_level<W> &l) {
        shared_tile_kernel<W><<<tile::grid(l.size), 32 * tile::WARPS, 0, stream>>>(l);
    });
}

#endif
