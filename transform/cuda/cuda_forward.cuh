/* The kernels of a forward level pass: one or two decomposition levels with level shift and component transform (Annex
 * G) in the loads, lifting in registers (Annex F, dwt/warp_cuda.cuh) and the quantiser (Annex E) in the stores. Each
 * file of forms/ instantiates them for one wavelet and coefficient type. */
#ifndef L2K_TRANSFORM_CUDA_CUDA_FORWARD_CUH
#define L2K_TRANSFORM_CUDA_CUDA_FORWARD_CUH

#include "quant/quantiser_cuda.cuh"
#include "tiling/pixel/pixel_cuda.cuh"
#include "transform/cuda/cuda_launch.cuh"

namespace
{

/* ---- Stores -------------------------------------------------------------------------------------------------- */

/* Where a lane stores its N columns of a level. */
template <class D, int N> struct band_stores : l2k_band_places<D, N> {
    typedef l2k_band_places<D, N> places;
    typedef l2k_packed<D, N / 2> packed;

    __device__ __forceinline__ band_stores(const l2k_cuda_bands &b, int level, int warp, int lane, bool keeps,
                                           l2k_span x, l2k_span y)
        : places(b, level, warp, lane, keeps, x, y, packed::ALIGNMENT)
    {
    }

    __device__ __forceinline__ void store(const l2k_cuda_bands &b, int level, int band, const packed &q, int n) const
    {
        if (places::has_row(band, n))
            l2k_store_run(places::row(b, level, band, n), places::run(band), q);
    }
};

template <int PARITY, int N, class T> __device__ __forceinline__ void pick_columns(const T (&row)[N], T (&out)[N / 2])
{
#pragma unroll
    for (int k = 0; k < N / 2; k++)
        out[k] = row[2 * k + PARITY];
}

/* The type of LL samples between launches: that of the coefficients for the 5/3, float for the 9/7. */
template <class T, class D> struct low_type {
    typedef D type;
};
template <class D> struct low_type<float, D> {
    typedef float type;
};

/* ---- Kernel -------------------------------------------------------------------------------------------------- */

/* A warp goes down a strip, four rows of samples per round. Round s yields rows 2 s - 1 and 2 s of each subband of
 * level 1 and row s - 1 - DELAY of each subband of level 2. */
template <class W, class Reader, class D, int LEVELS> struct forward_iterator {
    typedef typename W::T T;
    typedef typename low_type<T, D>::type L;
    enum { N = Reader::COLUMNS, K = Reader::COMPONENTS, AHEAD = 2, SLOT = 4 * Reader::SLOT };
    /* Two levels reach 6 (5/3) or 12 (9/7) columns. The 5/3 is bound by memory, so it takes a few more: then a warp's
     * part of a row begins and ends on 32 bytes. */
    enum { LEAST = N == 8 ? 2 : W::DELAY == 0 ? 4 : LEVELS == 2 ? 3 : 1, LANES = l2k_lanes_of(W::REACH, LEVELS, N) };
    enum { HALO = l2k_most(LANES, LEAST) };
    /* Of the first row, before rounds that see no border: for level 1, and for both. */
    enum { BEFORE_1 = l2k_most(W::DELAY ? 16 - 2 * W::DELAY : 10, 4 - 2 * W::DELAY + W::BACK) };
    enum { BEFORE = LEVELS == 2 ? l2k_most(BEFORE_1, 6 + 2 * W::BACK) : (int)BEFORE_1 };
    enum { MOST_ROUNDS = W::DELAY ? 1 << 20 : K == 1 ? 4 : 32 }; /* measured */
    enum { UNROLLED = W::DELAY ? 1 : 2 };                        /* the 9/7's loop body is long already */
    /* Of rows transformed together at level 1, as registers allow. */
    enum { PAIRS = K == 1 && (W::DELAY == 0 || (W::FROM_STEPS && sizeof(D) == 2)) ? 2 : 1 };
    /* What passes from round to round: the rows of each level that are not finished. */
    struct state {
        typename W::template forward_rows<N> level1[K];
        typename W::template forward_rows<N / 2> level2[K];
    };
    const l2k_cuda_level_pass &p;
    int c0, begin;
    l2k_span y2;
    l2k_lane_columns lane1, lane2;
    band_stores<D, N> stores1;
    band_stores<D, N / 2> stores2;
    Reader reader;
    state &rows;

    __device__ __forceinline__ forward_iterator(const l2k_cuda_level_pass &pass, const l2k_strip<HALO, N> &strip,
                                                int component, int first_round, state &unfinished)
        : p(pass), c0(component), begin(first_round),
          y2(l2k_low_span(pass.y)), lane1{strip.column, pass.x}, lane2{strip.column >> 1, l2k_low_span(pass.x)},
          stores1(pass.bands[component], 0, strip.first_column, strip.column, strip.keeps, pass.x, pass.y),
          stores2(pass.bands[component], LEVELS - 1, strip.first_column >> 1, strip.column >> 1, strip.keeps,
                  l2k_low_span(pass.x), y2),
          reader(&pass.samples[component], strip.lane, strip.first_column - pass.x.first, strip.column - pass.x.first,
                 l2k_length(pass.x)),
          rows(unfinished)
    {
    }

    /* The rounds that the subbands of both levels need; level 2 lags by W::DELAY + 1 rounds. */
    static void set_rounds(l2k_cuda_level_pass *p)
    {
        int first = ((p->y.first >> 1) + 1) >> 1, end = (((p->y.end - 1) >> 1) + 1) / 2 + 1;
        l2k_span low = {(p->y.first + 1) >> 1, (p->y.end + 1) >> 1};
        if (LEVELS == 2 && low.end > low.first)
            end = max(end, ((low.end - 1) >> 1) + W::DELAY + 2);
        p->first_round = first;
        p->end_round = end;
        p->warm_up = (W::REACH + 2 * W::DELAY + 4) / 4 + (LEVELS == 2 ? W::DELAY + (W::REACH + 2) / 2 : 0);
    }

    static __device__ __forceinline__ int row_of(int round)
    {
        return 4 * round - 1 + 2 * W::DELAY;
    }

    /* Rounds that neither use nor load a row outside the plane, at either level. */
    static __device__ __forceinline__ l2k_span inside(const l2k_cuda_level_pass &p)
    {
        const l2k_span y = p.y;
        return l2k_span{(y.first + BEFORE) >> 2, ((y.end - 3 - 2 * W::DELAY) >> 2) - AHEAD + 1};
    }

    __device__ __forceinline__ bool is_aligned() const
    {
        return reader.is_aligned() && stores1.is_aligned() && (LEVELS == 1 || stores2.is_aligned());
    }

    /* Row `q` of the plane, clamped to the rows that exist. */
    __device__ __forceinline__ int clamp(int q) const
    {
        return min(max(q - p.y.first, 0), l2k_length(p.y) - 1);
    }

    /* The careful way: checks every row and column against the borders. */
    struct careful {
        enum { BORDER = true };
        const forward_iterator &iterator;
        int round;

        __device__ __forceinline__ explicit careful(const forward_iterator &w) : iterator(w)
        {
        }
        __device__ __forceinline__ void load(int ahead, l2k_shared slot) const
        {
#pragma unroll
            for (int r = 0; r < 4; r++)
                iterator.reader.load(slot + r * Reader::SLOT, iterator.clamp(row_of(ahead) + r));
        }
        __device__ __forceinline__ void begin(int at)
        {
            round = at;
        }
        __device__ __forceinline__ void end()
        {
        }
        __device__ __forceinline__ void store1(int c, int j, int band, const l2k_packed<D, N / 2> &q) const
        {
            if (round >= iterator.begin)
                iterator.stores1.store(iterator.p.bands[iterator.c0 + c], 0, band, q, 2 * round - 1 + j);
        }
        __device__ __forceinline__ void store2(int c, int band, const l2k_packed<D, N / 4> &q) const
        {
            if (round >= iterator.begin)
                iterator.stores2.store(iterator.p.bands[iterator.c0 + c], 1, band, q, round - 1 - W::DELAY);
        }
        template <int M> __device__ __forceinline__ void store_low(int c, int j, const l2k_packed<L, M> &q) const
        {
            int n = LEVELS == 2 ? round - 1 - W::DELAY : 2 * round - 1 + j;
            l2k_span rows = LEVELS == 2 ? iterator.stores2.low_rows : iterator.stores1.low_rows;
            if (round >= iterator.begin && n >= rows.first && n < rows.end)
                l2k_store_run(l2k_plane_row<L>(iterator.p.low[iterator.c0 + c], n - rows.first),
                              iterator.template low_run<M>(), q);
        }
    };

    /* The quick way: pointers advance from row to row. Those of the other components are at a fixed distance. */
    struct quick {
        enum { BORDER = false };
        const forward_iterator &iterator;
        typename Reader::cursor next;
        l2k_cursor<D> first[2], second[2]; /* HL and LH; HH and LL are at these distances in bytes: */
        int64_t first_away[2], second_away[2];
        l2k_cursor<L> low;
        bool keep;

        __device__ __forceinline__ quick(const forward_iterator &w, int round, int ahead)
            : iterator(w), next(w.reader.from(row_of(ahead) - w.p.y.first))
        {
            const l2k_cuda_bands &bands = w.p.bands[w.c0];
            set_out(w.stores1, bands, 0, 2 * round - 1, first, first_away);
            if (LEVELS == 2)
                set_out(w.stores2, bands, 1, round - 1 - W::DELAY, second, second_away);
            int n = LEVELS == 2 ? round - 1 - W::DELAY - w.stores2.low_rows.first
                                : 2 * round - 1 - w.stores1.low_rows.first;
            const l2k_cuda_plane &plane = w.p.low[w.c0];
            low = l2k_cursor<L>(l2k_plane_row<L>(plane, n) + w.template low_run<N / 2 / LEVELS>().first,
                                plane.row_stride, w.stores1.low.count != 0);
        }
        static __device__ __forceinline__ int64_t bytes_between(const D *from, const D *to)
        {
            return reinterpret_cast<const char *>(to) - reinterpret_cast<const char *>(from);
        }
        template <class Stores>
        static __device__ __forceinline__ void set_out(const Stores &stores, const l2k_cuda_bands &bands, int level,
                                                       int n, l2k_cursor<D> (&out)[2], int64_t (&away)[2])
        {
            out[0] = stores.from(bands, level, L2K_HL, n);
            out[1] = stores.from(bands, level, L2K_LH, n);
            away[0] =
                l2k_pinned(bytes_between(stores.row(bands, level, L2K_HL, n), stores.row(bands, level, L2K_HH, n)));
            away[1] =
                l2k_pinned(bytes_between(stores.row(bands, level, L2K_LH, n), stores.row(bands, level, L2K_LL, n)));
        }
        __device__ __forceinline__ void load(int, l2k_shared slot)
        {
#pragma unroll
            for (int r = 0; r < 4; r++)
                iterator.reader.load(next, r, slot + r * Reader::SLOT);
        }
        __device__ __forceinline__ void begin(int at)
        {
            keep = at >= iterator.begin;
        }
        __device__ __forceinline__ void end()
        {
            next.next(4);
#pragma unroll
            for (int half = 0; half < 2; half++) {
                first[half].next(2);
                if (LEVELS == 2)
                    second[half].next(1);
            }
            low.next(LEVELS == 2 ? 1 : 2);
        }
        __device__ __forceinline__ void store1(int c, int j, int band, const l2k_packed<D, N / 2> &q) const
        {
            const int half = !(band & L2K_HL);
            first[half].store(j, offset(c) + (band == L2K_HH || band == L2K_LL ? first_away[half] : 0), q, keep);
        }
        __device__ __forceinline__ void store2(int c, int band, const l2k_packed<D, N / 4> &q) const
        {
            const int half = !(band & L2K_HL);
            second[half].store(0, offset(c) + (band == L2K_HH || band == L2K_LL ? second_away[half] : 0), q, keep);
        }
        template <int M> __device__ __forceinline__ void store_low(int c, int j, const l2k_packed<L, M> &q) const
        {
            low.store(j, K == 1 ? 0 : iterator.p.low[c].data - iterator.p.low[0].data, q, keep);
        }
        __device__ __forceinline__ int64_t offset(int c) const
        {
            return K == 1 ? 0 : (char *)iterator.p.bands[c].at[0][0] - (char *)iterator.p.bands[0].at[0][0];
        }
    };

    template <class Way> __device__ __forceinline__ void take(Way &way, int round, l2k_shared slot)
    {
        T ll[2][K][N / 2] = {};
        way.begin(round);
        const int together = Way::BORDER ? 1 : (int)PAIRS;
#pragma unroll(Way::BORDER ? 1 : UNROLLED)
        for (int j = 0; j < 2; j += together) {
            for (int c = 0; c < K; c++)
                l2k_copy_row(ll[0][c], ll[1][c]); /* lets the loop stay rolled */
            take_pairs<together>(way, round, j, slot, ll);
        }
        if constexpr (LEVELS == 2) {
            T out[2 * K][N / 2], deepest[K][N / 4];
#pragma unroll
            for (int c = 0; c < K; c++)
                rows.level2[c].template push<Way::BORDER>(ll[0][c], ll[1][c], 2 * round - 1, y2, out[2 * c],
                                                          out[2 * c + 1]);
            l2k_rows<W, true, Way::BORDER>(out, lane2, is_whole<Way>());
            leave_bands<N / 2>(out, deepest, 1,
                               [&](int c, int band, const l2k_packed<D, N / 4> &q) { way.store2(c, band, q); });
            leave_low<N / 4>(
                deepest, [&](int c, const l2k_packed<D, N / 4> &q) { way.store2(c, L2K_LL, q); },
                [&](int c, const l2k_packed<L, N / 4> &q) { way.store_low(c, 0, q); });
        }
        way.end();
    }

    /* The plan aligns columns of the last level's LL. */
    template <int M> __device__ __forceinline__ l2k_lane_run<M> low_run() const
    {
        return LEVELS == 2 ? l2k_lane_run<M>{stores2.low.first, stores2.low.count, true}
                           : l2k_lane_run<M>{stores1.low.first, stores1.low.count, true};
    }

  private:
    /* Whether every lane has all of its columns or none; only rounds at a border of rows need to know. */
    template <class Way> __device__ __forceinline__ bool is_whole() const
    {
        return Way::BORDER && W::IS_SHORT && l2k_strip<HALO, N>(p).is_inside(p.x);
    }

    /* Transforms pairs j .. j + PAIRS - 1 of the round's rows at level 1; their LL goes to `ll`. */
    template <int PAIRS, class Way>
    __device__ __forceinline__ void take_pairs(Way &way, int round, int j, l2k_shared slot, T (&ll)[2][K][N / 2])
    {
        const int last = 2 - PAIRS; /* the LL of a single pair goes to the end of `ll` */
        T out[PAIRS][2 * K][N];
#pragma unroll
        for (int i = 0; i < PAIRS; i++) {
            int r = 2 * (j + i), q = row_of(round) + r;
            T odd[K][N], next[K][N];
            reader.unpack(slot + r * Reader::SLOT, Way::BORDER ? clamp(q) : q - p.y.first, odd);
            reader.unpack(slot + (r + 1) * Reader::SLOT, Way::BORDER ? clamp(q + 1) : q + 1 - p.y.first, next);
#pragma unroll
            for (int c = 0; c < K; c++)
                rows.level1[c].template push<Way::BORDER>(odd[c], next[c], q, p.y, out[i][2 * c], out[i][2 * c + 1]);
        }
        l2k_rows<W, true, Way::BORDER>(reinterpret_cast<T(&)[PAIRS * 2 * K][N]>(out), lane1, is_whole<Way>());
#pragma unroll
        for (int i = 0; i < PAIRS; i++) {
            leave_bands<N>(out[i], ll[last + i], 0,
                           [&](int c, int band, const l2k_packed<D, N / 2> &q) { way.store1(c, j + i, band, q); });
            if (LEVELS == 1)
                leave_low<N / 2>(
                    ll[last + i], [&](int c, const l2k_packed<D, N / 2> &q) { way.store1(c, j + i, L2K_LL, q); },
                    [&](int c, const l2k_packed<L, N / 2> &q) { way.store_low(c, j + i, q); });
        }
    }

    /* Takes a finished low and high row of each component: stores HL, LH and HH and returns LL. */
    template <int M, class Store>
    __device__ __forceinline__ void leave_bands(const T (&out)[2 * K][M], T (&ll)[K][M / 2], int level,
                                                Store store) const
    {
#pragma unroll
        for (int c = 0; c < K; c++) {
            T part[M / 2];
            pick_columns<0>(out[2 * c], ll[c]);
            pick_columns<1>(out[2 * c], part);
            store(c, L2K_HL, coefficients(c, level, L2K_HL, part));
            pick_columns<0>(out[2 * c + 1], part);
            store(c, L2K_LH, coefficients(c, level, L2K_LH, part));
            pick_columns<1>(out[2 * c + 1], part);
            store(c, L2K_HH, coefficients(c, level, L2K_HH, part));
        }
    }

    template <int M>
    __device__ __forceinline__ l2k_packed<D, M> coefficients(int c, int level, int band, const T (&v)[M]) const
    {
        l2k_packed<D, M> q;
        l2k_to_coefficients(v, p.steps[c].of[level][band], &q);
        return q;
    }

    /* The last level's LL: coefficients, or samples for the next launch. */
    template <int M, class Band, class Low>
    __device__ __forceinline__ void leave_low(const T (&ll)[K][M], Band band, Low low) const
    {
#pragma unroll
        for (int c = 0; c < K; c++) {
            if (p.low_in_bands) {
                band(c, coefficients<M>(c, LEVELS - 1, L2K_LL, ll[c]));
            } else {
                l2k_packed<L, M> samples;
#pragma unroll
                for (int k = 0; k < M; k++)
                    samples.set(k, (L)ll[c][k]);
                low(c, samples);
            }
        }
    }
};

template <class W, class Reader, class D, int LEVELS, int WARPS>
__global__ void __launch_bounds__(32, WARPS) forward_kernel(const __grid_constant__ l2k_cuda_level_pass p)
{
    typedef forward_iterator<W, Reader, D, LEVELS> iterator_type;
    __shared__ __align__(16) char memory[l2k_ring<iterator_type>::BYTES];
    l2k_iterate<iterator_type>(p, iterator_type::K == 1 ? (int)blockIdx.y : 0, memory);
}

/* No decomposition level: samples to subband 0. */
template <class W, int K, class D> __global__ void copy_kernel(const __grid_constant__ l2k_cuda_level_pass p)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, c0 = blockIdx.z, width = p.x.end - p.x.first;
    if (x >= width)
        return;
    l2k_any_reader<W, K, 1> reader(&p.samples[c0], 0, 0, x, width);
    for (int y = blockIdx.y; y < p.y.end - p.y.first; y += gridDim.y) {
        typename W::T v[K][1];
        reader.read(y, v);
        for (int c = 0; c < K; c++) {
            const l2k_cuda_bands &b = p.bands[c0 + c];
            l2k_packed<D, 1> q;
            l2k_to_coefficients(v[c], p.steps[c].of[0][L2K_LL], &q);
            q.store(reinterpret_cast<D *>(b.at[0][L2K_LL]) + x + (int64_t)y * b.stride);
        }
    }
}

/* ---- Launchers ----------------------------------------------------------------------------------------------- */

/* The sign bits of packed samples of one word. */
void flip_signs(l2k_cuda_plane *planes, int count)
{
    for (int c = 0; c < count; c++)
        planes[c].flip = planes[c].type == L2K_SAMPLE_S8    ? 0x80808080u
                         : planes[c].type == L2K_SAMPLE_S16 ? 0x80008000u
                                                            : 0;
}

/* The forms of a wavelet and a coefficient type. A multiprocessor holds as many warps as registers allow without
 * spills. */
template <class W, class D> struct forward_form {
    enum { PLAIN = W::DELAY ? 12 : 16, OTHER = 12, ANY = 8 };
    enum { SINGLE = W::DELAY && sizeof(D) == 4 && (D)0.5f == 0 ? 12 : 16 }; /* 9/7, one level, one component */

    static int launch(l2k_cuda_level_pass p, cudaStream_t stream)
    {
        typedef typename W::T wide;
        l2k_form form = l2k_form_of(p);
        if (p.levels == 0)
            return l2k_launch_columns(p.joined ? copy_kernel<W, 3, D> : copy_kernel<W, 1, D>, p, stream);
        if (form == L2K_FORM_ANY || form == L2K_FORM_JOINED_8 || form == L2K_FORM_JOINED_16)
            return p.joined ? by_levels<l2k_any_reader<W, 3, 4>, ANY>(p, stream)
                            : by_levels<l2k_any_reader<W, 1, 8>, ANY>(p, stream);
        flip_signs(p.samples, p.components);
        switch (form) {
        case L2K_FORM_8:
            return by_levels<l2k_packed_reader<W, uint8_t, 1, 8>, OTHER>(p, stream);
        case L2K_FORM_16:
            return by_levels<l2k_packed_reader<W, uint16_t, 1, 8>, PLAIN>(p, stream);
        case L2K_FORM_32:
            return by_levels<l2k_packed_reader<W, wide, 1, 8>, OTHER>(p, stream);
        case L2K_FORM_TRIPLES_8:
            return by_levels<l2k_packed_reader<W, uint8_t, 3, 4>, OTHER>(p, stream);
        default:
            return by_levels<l2k_packed_reader<W, uint16_t, 3, 4>, OTHER>(p, stream);
        }
    }

  private:
    template <class Reader, int WARPS> static int by_levels(const l2k_cuda_level_pass &p, cudaStream_t stream)
    {
        enum { ONE = W::DELAY && Reader::COMPONENTS == 1 && WARPS > ANY ? (int)SINGLE : WARPS };
        if (p.levels == 2)
            return l2k_launch_iterator<forward_iterator<W, Reader, D, 2>, WARPS>(forward_kernel<W, Reader, D, 2, WARPS>,
                                                                                 p, stream);
        return l2k_launch_iterator<forward_iterator<W, Reader, D, 1>, ONE>(forward_kernel<W, Reader, D, 1, ONE>, p,
                                                                           stream);
    }
};

} // namespace

#endif
