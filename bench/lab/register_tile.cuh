/* register-64x20: a block of 64 x 20 samples including halo in the registers of one warp. Each lane holds two columns;
 * vertical lifting steps stay in the lane, horizontal ones shuffle. No shared memory, no barriers.
 * After Enfedaque, Auli-Llinas, Moure: Implementation of the DWT in a GPU through a Register-based Strategy; they
 * filter horizontally first, which would round the 5/3 differently.
 *
 * register-16byte-tile: the same kernel with 16 bytes per lane and 8 output rows; by-row: its inverse as it was first,
 * which decides row by row whether a lane loads wide words. */
#ifndef L2K_BENCH_LAB_REGISTER_TILE_CUH
#define L2K_BENCH_LAB_REGISTER_TILE_CUH

#include "bench/lab/rung.cuh"

/* The lanes and rows of a warp's tile. No lifting step reads the last halo row of an even number of rows, so it is
 * not loaded. */
template <class W, int C, int OUT_ROWS> struct lab_tile {
    enum {
        WARPS = 4,
        HALO_LANES = (W::STEPS + C - 1) / C,
        OUT_COLUMNS = (32 - 2 * HALO_LANES) * C,
        ROWS = OUT_ROWS + 2 * W::STEPS - 1
    };
    static dim3 grid(int size)
    {
        return dim3(lab_divide_up(size, OUT_COLUMNS), lab_divide_up(size, OUT_ROWS * WARPS));
    }
    /* The first column of the calling lane, the first row of its warp's output. Warps of a block are below each other,
     * so that they share halo rows in the cache. */
    static __device__ __forceinline__ int column(int lane)
    {
        return (int)blockIdx.x * OUT_COLUMNS + (lane - HALO_LANES) * C;
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

/* How lanes get a value of their neighbour. */
struct lab_shuffles {
    template <class T> static __device__ __forceinline__ T from_right(T x)
    {
        return __shfl_down_sync(0xFFFFFFFFu, x, 1);
    }
    template <class T> static __device__ __forceinline__ T from_left(T x)
    {
        return __shfl_up_sync(0xFFFFFFFFu, x, 1);
    }
};

/* A lifting step on every other column of a lane, the first at `FIRST`; f(x, left, right). The outer lanes, which are
 * halo, get invalid neighbours across the warp's edge. */
template <int FIRST, class X = lab_shuffles, int C, class T, class F>
__device__ __forceinline__ void lab_step_columns(T (&v)[C], F f)
{
    if (FIRST == 1) {
        T right = X::from_right(v[0]);
#pragma unroll
        for (int k = 1; k < C; k += 2)
            v[k] = f(v[k], v[k - 1], k + 1 < C ? v[k + 1 < C ? k + 1 : 0] : right);
    } else {
        T left = X::from_left(v[C - 1]);
#pragma unroll
        for (int k = 0; k < C; k += 2)
            v[k] = f(v[k], k > 0 ? v[k > 0 ? k - 1 : 0] : left, v[k + 1]);
    }
}

template <class W, class X = lab_shuffles, int C>
__device__ __forceinline__ void lab_lift_columns(typename W::T (&v)[C])
{
    typedef typename W::T T;
#pragma unroll
    for (int k = 0; k < W::STEPS; k++) {
        auto step = [k](T x, T left, T right) { return W::step(k, x, left, right); };
        if (k & 1)
            lab_step_columns<0, X>(v, step);
        else
            lab_step_columns<1, X>(v, step);
    }
}

/* What a kernel of the register tile does; trials (tile_trials.cuh) leave parts out. The inverse decides once for a
 * tile whether a lane loads wide words. */
struct lab_everything {
    enum { LOADS = 1, LIFTS = 1, STORES = 1, ROW_BY_ROW = 0 };
    typedef lab_shuffles exchange;
};

/* It decides for each row, as it did first. */
struct lab_row_by_row : lab_everything {
    enum { ROW_BY_ROW = 1 };
};

/* What the compiler must take to be any value. */
template <class T> __device__ __forceinline__ T lab_opaque(T x)
{
    static_assert(sizeof(T) == sizeof(int), "a register");
    int bits = l2k_pinned(*reinterpret_cast<int *>(&x));
    return *reinterpret_cast<T *>(&bits);
}

/* Equal rows of the numbers from `first` on. */
template <class T, int ROWS, int C> __device__ __forceinline__ void lab_make_up(T (&v)[ROWS][C], int first)
{
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int c = 0; c < C; c++)
            v[r][c] = lab_opaque((T)(first + c));
}

template <class W, class P, int ROWS, int C> __device__ __forceinline__ void lab_lift_tile(typename W::T (&v)[ROWS][C])
{
    lab_lift_rows<W>(v);
#pragma unroll
    for (int r = W::STEPS; r <= ROWS - W::STEPS; r++) {
#pragma unroll
        for (int c = 0; c < C; c++)
            v[r][c] = W::scale(v[r][c], r & 1);
        lab_lift_columns<W, typename P::exchange>(v[r]);
#pragma unroll
        for (int c = 0; c < C; c++)
            v[r][c] = W::scale(v[r][c], c & 1);
    }
}

/* Uses all results without storing them. */
template <class T, int ROWS, int C>
__device__ __forceinline__ uint32_t lab_digest(T (&v)[ROWS][C], int first, int count)
{
    uint32_t digest = 0;
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int c = 0; c < C; c++)
            digest ^= r >= first && r < first + count ? *reinterpret_cast<uint32_t *>(&v[r][c]) : 0;
    return digest;
}

template <class W, int C, int OUT_ROWS, class P = lab_everything>
__global__ void __launch_bounds__(32 * lab_tile<W, C, OUT_ROWS>::WARPS) register_tile_kernel(lab_level<W> l)
{
    typedef lab_tile<W, C, OUT_ROWS> tile;
    int lane = threadIdx.x & 31, y = tile::row(threadIdx.x >> 5), x = tile::column(lane);
    if (y >= l.size)
        return;
    typename W::T v[tile::ROWS][C];
    if (P::LOADS) {
        lab_load_tile<W>(l, x, y - W::STEPS, v);
    } else {
        lab_make_up(v, lane * C);
    }
    if (P::LIFTS)
        lab_lift_tile<W, P>(v); /* all shuffles before all stores, which diverge the warp */
    if (!P::STORES) {
        if (lab_digest(v, W::STEPS, OUT_ROWS) == 0x5A5A5A5Au)
            l.bands[0] = 0;
        return;
    }
    __syncwarp();
    if (!tile::stores(lane))
        return;
#pragma unroll
    for (int r = 0; r < OUT_ROWS; r++)
        if (y + r < l.size)
            lab_store_pairs<W, C / 2>(l, v[W::STEPS + r], x, lab_mallat(y + r, l.size));
}

template <class W, class X = lab_shuffles, int C>
__device__ __forceinline__ void lab_unlift_columns(typename W::T (&v)[C])
{
    typedef typename W::T T;
#pragma unroll
    for (int k = 0; k < W::STEPS; k++) {
        auto step = [k](T x, T left, T right) { return lab_undo<W>::step(k, x, left, right); };
        if (k & 1)
            lab_step_columns<1, X>(v, step);
        else
            lab_step_columns<0, X>(v, step);
    }
}

/* A tile whose first row is odd: horizontally first, so that the halo's rows are lifted, too. */
template <class W, class P, int ROWS, int C>
__device__ __forceinline__ void lab_unlift_tile(typename W::T (&v)[ROWS][C])
{
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        lab_unscale_columns<W>(v[r]);
        lab_unlift_columns<W, typename P::exchange>(v[r]);
#pragma unroll
        for (int c = 0; c < C; c++)
            v[r][c] = W::unscale(v[r][c], !(r & 1));
    }
    lab_lift_rows<lab_undo<W>>(v);
}

template <class W, class P, int ROWS, int C>
__device__ __forceinline__ void lab_load_coefficients(const lab_source<W> &l, int x, int y, typename W::T (&v)[ROWS][C])
{
    if (!P::ROW_BY_ROW)
        lab_load_tile_of_pairs<W, C / 2>(l, x, y, v);
#pragma unroll
    for (int r = 0; r < ROWS && P::ROW_BY_ROW; r++)
        lab_load_pairs<W, C / 2>(l, x, lab_mallat(lab_mirror(y + r, l.size), l.size), v[r]);
}

template <class W, int C, int OUT_ROWS, class P = lab_everything>
__global__ void __launch_bounds__(32 * lab_tile<W, C, OUT_ROWS>::WARPS) register_tile_inverse_kernel(lab_source<W> l)
{
    typedef lab_tile<W, C, OUT_ROWS> tile;
    int lane = threadIdx.x & 31, y = tile::row(threadIdx.x >> 5), x = tile::column(lane);
    if (y >= l.size)
        return;
    typename W::T v[tile::ROWS][C];
    if (P::LOADS) {
        lab_load_coefficients<W, P>(l, x, y - W::STEPS + 1, v);
        __syncwarp();
    } else {
        lab_make_up(v, lane * C);
    }
    if (P::LIFTS)
        lab_unlift_tile<W, P>(v);
    if (!P::STORES) {
        if (lab_digest(v, W::STEPS - 1, OUT_ROWS) == 0x5A5A5A5Au)
            l.out[0] = 0;
        return;
    }
    __syncwarp();
    if (!tile::stores(lane))
        return;
#pragma unroll
    for (int r = 0; r < OUT_ROWS; r++)
        if (y + r < l.size) {
            typename W::S row[C];
#pragma unroll
            for (int c = 0; c < C; c++)
                row[c] = (typename W::S)v[W::STEPS - 1 + r][c];
            lab_store_run(l.out + (y + r) * l.out_stride, row, x, l.size);
        }
}

template <class W, int C, int OUT_ROWS, class P = lab_everything>
static void register_tile_inverse(const lab_job<W> &job, cudaStream_t stream)
{
    typedef lab_tile<W, C, OUT_ROWS> tile;
    lab_each_level_up(job, [&](const lab_source<W> &l) {
        register_tile_inverse_kernel<W, C, OUT_ROWS, P><<<tile::grid(l.size), 32 * tile::WARPS, 0, stream>>>(l);
    });
}

template <class W, int C, int OUT_ROWS, class P = lab_everything>
static void register_tile(const lab_job<W> &job, cudaStream_t stream)
{
    typedef lab_tile<W, C, OUT_ROWS> tile;
    lab_each_level(job, [&](const lab_level<W> &l) {
        register_tile_kernel<W, C, OUT_ROWS, P><<<tile::grid(l.size), 32 * tile::WARPS, 0, stream>>>(l);
    });
}

template <class W> static void register_64x20(const lab_job<W> &job, cudaStream_t stream)
{
    register_tile<W, 2, 20 - 2 * W::STEPS>(job, stream);
}

template <class W> static void register_16byte_tile(const lab_job<W> &job, cudaStream_t stream)
{
    register_tile<W, W::COLUMNS_OF_16_BYTES, 8>(job, stream);
}

template <class W> static void register_64x20_inverse(const lab_job<W> &job, cudaStream_t stream)
{
    register_tile_inverse<W, 2, 20 - 2 * W::STEPS>(job, stream);
}

template <class W> static void register_16byte_tile_inverse(const lab_job<W> &job, cudaStream_t stream)
{
    register_tile_inverse<W, W::COLUMNS_OF_16_BYTES, 8>(job, stream);
}

template <class W> static void register_16byte_tile_inverse_by_row(const lab_job<W> &job, cudaStream_t stream)
{
    register_tile_inverse<W, W::COLUMNS_OF_16_BYTES, 8, lab_row_by_row>(job, stream);
}

#endif
