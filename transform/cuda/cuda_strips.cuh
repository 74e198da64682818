/* How forward and inverse kernels divide a plane among warps: strips of columns, which a warp goes down in rounds of
 * four rows (after Enfedaque, Auli-Llinas, Moure: Implementation of the DWT in a GPU through a Register-based Strategy,
 * with a sliding window in place of their tiles). */
#ifndef L2K_TRANSFORM_CUDA_CUDA_STRIPS_CUH
#define L2K_TRANSFORM_CUDA_CUDA_STRIPS_CUH

#include "base/words_cuda.cuh"
#include "dwt/warp_cuda.cuh"
#include "transform/cuda/cuda_level_pass.h"

/* The low and the high samples of a line, in subband coordinates (B-15). */
__device__ __forceinline__ l2k_span l2k_low_span(l2k_span s)
{
    return l2k_span{(s.first + 1) >> 1, (s.end + 1) >> 1};
}

__device__ __forceinline__ l2k_span l2k_high_span(l2k_span s)
{
    return l2k_span{s.first >> 1, s.end >> 1};
}

__device__ __forceinline__ int l2k_length(l2k_span s)
{
    return s.end - s.first;
}

constexpr int l2k_divide_up(int a, int b)
{
    return (a + b - 1) / b;
}

/* A strip's columns: N per lane; HALO lanes on either side only supply neighbours. A block is one warp, so the compiler
 * sees that what depends on the block alone is uniform. */
template <int HALO, int N> struct l2k_strip {
    int lane, first_column, column; /* coordinates of the warp's and the lane's first column */
    bool keeps;                     /* the lane is not halo and keeps some of its columns */

    __device__ __forceinline__ explicit l2k_strip(const l2k_cuda_level_pass &p)
    {
        int strip = (int)blockIdx.x % p.strips;
        lane = l2k_pinned((int)threadIdx.x);
        first_column = (strip * (32 - 2 * HALO) - HALO) * N;
        column = first_column + lane * N;
        keeps = lane >= HALO && lane < 32 - HALO && column < p.kept_x.end && column + N > p.kept_x.first;
    }

    static __device__ __forceinline__ l2k_span rounds(const l2k_cuda_level_pass &p)
    {
        int first = p.first_round + (int)blockIdx.x / p.strips * p.rounds_each;
        return l2k_span{first, min(first + p.rounds_each, p.end_round)};
    }

    /* Whether every lane has all of its columns or none, and the neighbours of those it keeps. */
    __device__ __forceinline__ bool is_inside(l2k_span x) const
    {
        return (x.first % N == 0 && x.end % N == 0) ||
               (first_column > x.first + 1 && first_column + 32 * N + 1 < x.end);
    }
};

/* Whether every lane has all of its columns or none; only rounds at a border of rows need to know. */
template <class Way, class W, class Strip>
__device__ __forceinline__ bool l2k_are_lanes_whole(const l2k_cuda_level_pass &p)
{
    return Way::BORDER && W::IS_SHORT && Strip(p).is_inside(p.x);
}

/* A lane's N columns in the subbands, N / 2 low and N / 2 high ones, and the rows that exist. P: the type of
 * a coefficient, const if only read. */
template <class P, int N> struct l2k_band_places {
    enum { HALF = N / 2 };
    l2k_lane_run<HALF> low, high;
    l2k_span low_rows, high_rows;

    /* `warp` and `lane` are their first columns, x and y the level's samples, `access` the bytes of an access. A lane
     * that does not take part has no columns. */
    __device__ __forceinline__ l2k_band_places(const l2k_cuda_bands &b, int warp, int lane, bool takes_part, l2k_span x,
                                               l2k_span y, int access)
        : low_rows(l2k_low_span(y)), high_rows(l2k_high_span(y))
    {
        l2k_span low_columns = l2k_low_span(x), high_columns = l2k_high_span(x);
        low = {(lane >> 1) - low_columns.first, takes_part ? l2k_length(low_columns) : 0,
               (uintptr_t)at(b, L2K_LH, (warp >> 1) - low_columns.first, 0) % access == 0};
        high = {(lane >> 1) - high_columns.first, takes_part ? l2k_length(high_columns) : 0,
                (uintptr_t)at(b, L2K_HL, (warp >> 1) - high_columns.first, 0) % access == 0};
    }

    static __device__ __forceinline__ P *at(const l2k_cuda_bands &b, int band, int x, int y)
    {
        return reinterpret_cast<P *>(b.at[band]) + x + (int64_t)y * b.stride;
    }
    __device__ __forceinline__ bool is_aligned() const
    {
        return low.aligned && high.aligned;
    }
    __device__ __forceinline__ const l2k_lane_run<HALF> &run(int band) const
    {
        return band & L2K_HL ? high : low;
    }
    __device__ __forceinline__ l2k_span rows(int band) const
    {
        return band & L2K_LH ? high_rows : low_rows;
    }
    __device__ __forceinline__ bool has_row(int band, int n) const
    {
        return n >= rows(band).first && n < rows(band).end;
    }
    __device__ __forceinline__ P *row(const l2k_cuda_bands &b, int band, int n) const
    {
        return at(b, band, 0, n - rows(band).first);
    }
    /* A cursor at the lane's columns of row n, if it has any. */
    __device__ __forceinline__ l2k_cursor<P> from(const l2k_cuda_bands &b, int band, int n) const
    {
        return l2k_cursor<P>(row(b, band, n) + run(band).first, b.stride * (int)sizeof(P),
                             run(band).count != 0 && !run(band).is_empty());
    }
};

/* At the start of a kernel: lets the next launch start, and waits until the writes of the previous one are visible. */
__device__ __forceinline__ void l2k_await_previous()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* The way down. The rows of a round land in one slot of a ring in shared memory while the warp works on AHEAD earlier
 * rounds; no copy has touched that slot since its own round. An iterator has a quick way through the rounds that see no
 * border, with pointers that advance from row to row, and a careful way that checks every place. */
template <class Iterator> struct l2k_ring {
    enum { SLOTS = Iterator::AHEAD + 1, BYTES = SLOTS * Iterator::SLOT };
    l2k_shared memory;
    int at;

    /* One round. Before round `start` there are only the rows of later rounds to load. */
    template <class Way>
    __device__ __forceinline__ void step(Iterator &iterator, Way &way, int round, int start, int end)
    {
        int next = at == 0 ? (int)Iterator::AHEAD : at - 1;
        if (round + Iterator::AHEAD < end)
            way.load(round + Iterator::AHEAD, memory + next * Iterator::SLOT);
        l2k_end_copies();
        l2k_await_copies<Iterator::AHEAD>();
        if (!Way::BORDER || round >= start)
            iterator.take(way, round, memory + at * Iterator::SLOT);
        at = at + 1 == SLOTS ? 0 : at + 1;
    }
};

/* A careful stretch, the quick rounds, and a careful stretch to the end. Both careful stretches share one loop, whose
 * body is most of a kernel's code and compile time. The iterator is set up again for each stretch, so that what
 * only careful rounds need takes no registers from the quick ones; the state passes on. */
template <class Iterator>
__device__ __forceinline__ void l2k_iterate(const l2k_cuda_level_pass &p, int component, char *memory)
{
    typedef l2k_strip<Iterator::HALO, Iterator::N> strip_type;
    l2k_ring<Iterator> ring = {l2k_shared_address(memory), 0};
    typename Iterator::state state;
    const l2k_span plain = Iterator::inside(p), rounds = strip_type::rounds(p);
    int start = rounds.first - p.warm_up, round = start - Iterator::AHEAD;
#pragma unroll 1
    for (int stop = max(min(plain.first, rounds.end), start); round < rounds.end; stop = rounds.end) {
        const strip_type strip(p);
        Iterator iterator(p, strip, component, rounds.first, state);
        typename Iterator::careful careful = {iterator};
        l2k_await_previous();
#pragma unroll 1
        for (; round < stop; round++)
            ring.step(iterator, careful, round, start, rounds.end);
        int end = min(plain.end, rounds.end);
        if (round < end && strip.is_inside(p.x) && iterator.is_aligned()) {
            typename Iterator::quick quick(iterator, round, round + Iterator::AHEAD);
            for (; round < end; round++)
                ring.step(iterator, quick, round, start, rounds.end);
        }
    }
}

template <class Iterator, int WARPS>
__global__ void __launch_bounds__(32, WARPS) l2k_level_kernel(const __grid_constant__ l2k_cuda_level_pass p)
{
    __shared__ __align__(16) char memory[l2k_ring<Iterator>::BYTES];
    l2k_iterate<Iterator>(p, Iterator::K == 1 ? (int)blockIdx.y : 0, memory);
}

#endif
