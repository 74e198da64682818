/* A block of 64 x HEIGHT samples including halo in the registers of one warp. Each lane holds two columns; vertical
 * lifting steps stay in the lane, horizontal ones shuffle. No shared memory, no barriers. After Enfedaque, Auli-Llinas,
 * Moure: Implementation of the DWT in a GPU through a Register-based Strategy; they filter horizontally first, which
 * would round the 5/3 differently. */
#ifndef L2K_BENCH_PAPERS_REGISTER_TILE_CUH
#define L2K_BENCH_PAPERS_REGISTER_TILE_CUH

#include "bench/papers/levels.cuh"

/* The lanes and rows of a warp's tile. No lifting step reads the last halo row of an even number of rows, so it is
 * not loaded. */
template <class W, int OUT_ROWS> struct dwt_tile {
    enum {
        WARPS = 4,
        HALO_LANES = W::STEPS / 2,
        OUT_COLUMNS = (32 - 2 * HALO_LANES) * 2,
        ROWS = OUT_ROWS + 2 * W::STEPS - 1
    };
    static dim3 grid(int size)
    {
        return dim3(dwt_divide_up(size, OUT_COLUMNS), dwt_divide_up(size, OUT_ROWS * WARPS));
    }
    /* The first column of the calling lane, the first row of its warp's output. Warps of a block are below each other,
     * so that they share halo rows in the cache. */
    static __device__ __forceinline__ int column(int lane)
    {
        return (int)blockIdx.x * OUT_COLUMNS + (lane - HALO_LANES) * 2;
    }
    static __device__ __forceinline__ int row(int warp)
    {
        return ((int)blockIdx.y * WARPS + warp) * OUT_ROWS;
    }
    static __device__ __forceinline__ bool stores(int lane)
    {
        return lane >= HALO_LANES && lane < 32 - HALO_LANES;
    }
};

/* All horizontal steps of W on a lane's pair; step 0 changes the odd column, or, if EVEN_FIRST, as in the inverse, the
 * even one. The outer lanes, which are halo, get invalid neighbours across the warp's edge. */
template <class W, bool EVEN_FIRST = false> __device__ __forceinline__ void dwt_lift_pair(typename W::T (&v)[2])
{
#pragma unroll
    for (int k = 0; k < W::STEPS; k++)
        if ((k & 1) != (int)EVEN_FIRST)
            v[0] = W::step(k, v[0], __shfl_up_sync(0xFFFFFFFFu, v[1], 1), v[1]);
        else
            v[1] = W::step(k, v[1], v[0], __shfl_down_sync(0xFFFFFFFFu, v[0], 1));
}

template <class W, int ROWS, int C> __device__ __forceinline__ void dwt_lift_tile(typename W::T (&v)[ROWS][C])
{
    dwt_lift_rows<W>(v);
#pragma unroll
    for (int r = W::STEPS; r <= ROWS - W::STEPS; r++) {
#pragma unroll
        for (int c = 0; c < C; c++)
            v[r][c] = W::scale(v[r][c], r & 1);
        dwt_lift_pair<W>(v[r]);
#pragma unroll
        for (int c = 0; c < C; c++)
            v[r][c] = W::scale(v[r][c], c & 1);
    }
}

template <class W, int OUT_ROWS>
__global__ void __launch_bounds__(32 * dwt_tile<W, OUT_ROWS>::WARPS) register_tile_kernel(dwt_level<W> l)
{
    typedef dwt_tile<W, OUT_ROWS> tile;
    int lane = threadIdx.x & 31, y = tile::row(threadIdx.x >> 5), x = tile::column(lane);
    if (y >= l.size)
        return;
    typename W::T v[tile::ROWS][2];
    dwt_load_tile<W>(l, x, y - W::STEPS, v);
    dwt_lift_tile<W>(v); /* all shuffles before all stores, which diverge the warp */
    __syncwarp();
    if (!tile::stores(lane))
        return;
#pragma unroll
    for (int r = 0; r < OUT_ROWS; r++)
        if (y + r < l.size)
            dwt_store_pairs<W, 1>(l, v[W::STEPS + r], x, dwt_mallat(y + r, l.size));
}

/* A tile whose first row is odd: horizontally first, so that the halo's rows are lifted, too. */
template <class W, int ROWS, int C> __device__ __forceinline__ void dwt_unlift_tile(typename W::T (&v)[ROWS][C])
{
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        dwt_unscale_columns<W>(v[r]);
        dwt_lift_pair<dwt_undo<W>, true>(v[r]);
#pragma unroll
        for (int c = 0; c < C; c++)
            v[r][c] = W::unscale(v[r][c], !(r & 1));
    }
    dwt_lift_rows<dwt_undo<W>>(v);
}

template <class W, int OUT_ROWS>
__global__ void __launch_bounds__(32 * dwt_tile<W, OUT_ROWS>::WARPS) register_tile_inverse_kernel(dwt_source<W> l)
{
    typedef dwt_tile<W, OUT_ROWS> tile;
    int lane = threadIdx.x & 31, y = tile::row(threadIdx.x >> 5), x = tile::column(lane);
    if (y >= l.size)
        return;
    typename W::T v[tile::ROWS][2];
    dwt_load_tile_of_pairs<W, 1>(l, x, y - W::STEPS + 1, v);
    __syncwarp();
    dwt_unlift_tile<W>(v);
    __syncwarp();
    if (!tile::stores(lane))
        return;
#pragma unroll
    for (int r = 0; r < OUT_ROWS; r++)
        if (y + r < l.size) {
            typename W::S row[2];
#pragma unroll
            for (int c = 0; c < 2; c++)
                row[c] = (typename W::S)v[W::STEPS - 1 + r][c];
            dwt_store_run(l.out + (y + r) * l.out_stride, row, x, l.size);
        }
}

/* A tile of 64 columns and HEIGHT rows, halo included, as the paper counts them. */
template <class W, int HEIGHT> struct dwt_register_tile {
    enum { OUT_ROWS = HEIGHT - 2 * W::STEPS };
    typedef dwt_tile<W, OUT_ROWS> tile;

    static void level(const dwt_level<W> &l, cudaStream_t stream)
    {
        register_tile_kernel<W, OUT_ROWS><<<tile::grid(l.size), 32 * tile::WARPS, 0, stream>>>(l);
    }
    static void level_up(const dwt_source<W> &l, cudaStream_t stream)
    {
        register_tile_inverse_kernel<W, OUT_ROWS><<<tile::grid(l.size), 32 * tile::WARPS, 0, stream>>>(l);
    }
    static const void *kernel(void)
    {
        return reinterpret_cast<const void *>(&register_tile_kernel<W, OUT_ROWS>);
    }
};

#endif
