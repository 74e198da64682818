/* What the time of register-64x20 consists of (after Enfedaque, Auli-Llinas, Moure, figures 5 and 8, tables I and III):
 * other heights of its tile, memory accesses alone, arithmetic alone, and neighbours that exchange through shared
 * memory although their data are in registers. */
#ifndef L2K_BENCH_LAB_TILE_TRIALS_CUH
#define L2K_BENCH_LAB_TILE_TRIALS_CUH

#include "bench/lab/register_tile.cuh"

struct lab_memory_alone : lab_everything {
    enum { LIFTS = 0 };
};

/* Values are made up, results digested: an operation for each. */
struct lab_arithmetic_alone : lab_everything {
    enum { LOADS = 0, STORES = 0 };
};

/* The same with stores, to compare. */
struct lab_arithmetic_stored : lab_everything {
    enum { LOADS = 0 };
};

/* A slot a lane, for one value at a time. */
struct lab_slots {
    template <class T> static __device__ __forceinline__ T from(T x, int distance)
    {
        __shared__ T slots[4][32];
        T *row = slots[threadIdx.x >> 5];
        int lane = threadIdx.x & 31, other = lane + distance;
        row[lane] = x;
        __syncwarp();
        T y = row[other < 0 ? 0 : other > 31 ? 31 : other];
        __syncwarp();
        return y;
    }
    template <class T> static __device__ __forceinline__ T from_right(T x)
    {
        return from(x, 1);
    }
    template <class T> static __device__ __forceinline__ T from_left(T x)
    {
        return from(x, -1);
    }
};

struct lab_exchange_in_slots : lab_everything {
    typedef lab_slots exchange;
};

/* A tile of 64 columns and HEIGHT rows, halo included, as the paper counts them. */
template <class W, int HEIGHT> struct lab_tile_of_height {
    enum { OUT_ROWS = HEIGHT - 2 * W::STEPS };
    typedef lab_tile<W, 2, OUT_ROWS> tile;

    template <class P> static void level(const lab_level<W> &l, cudaStream_t stream)
    {
        register_tile_kernel<W, 2, OUT_ROWS, P><<<tile::grid(l.size), 32 * tile::WARPS, 0, stream>>>(l);
    }
    template <class P> static void level_up(const lab_source<W> &l, cudaStream_t stream)
    {
        register_tile_inverse_kernel<W, 2, OUT_ROWS, P><<<tile::grid(l.size), 32 * tile::WARPS, 0, stream>>>(l);
    }
    static const void *kernel(void)
    {
        return reinterpret_cast<const void *>(&register_tile_kernel<W, 2, OUT_ROWS, lab_everything>);
    }
    static const void *inverse_kernel(void)
    {
        return reinterpret_cast<const void *>(&register_tile_inverse_kernel<W, 2, OUT_ROWS, lab_everything>);
    }
};

/* Samples that a level loads for each that it stores, if nothing of the halo comes from a cache: equation 4 of the
 * paper, with the rows that this kernel does not load left out. */
template <class W> static inline double lab_loads_of_tile(int height)
{
    return 64.0 / (64 - 4 * ((W::STEPS + 1) / 2)) * (height - 1) / (height - 2 * W::STEPS);
}

#endif
