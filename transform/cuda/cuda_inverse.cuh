/* The kernels of an inverse level pass: one or two decomposition levels with the dequantiser (Annex E) in the loads,
 * lifting in registers (Annex F, dwt/warp_cuda.cuh), component transform and level shift (Annex G) in the stores. Each
 * file of forms/ instantiates them for one wavelet and coefficient type. */
#ifndef L2K_TRANSFORM_CUDA_CUDA_INVERSE_CUH
#define L2K_TRANSFORM_CUDA_CUDA_INVERSE_CUH

#include "quant/quantiser_cuda.cuh"
#include "tiling/pixel/pixel_cuda.cuh"
#include "transform/cuda/cuda_launch.cuh"

namespace
{

/* ---- Loads --------------------------------------------------------------------------------------------------- */

/* Where a lane loads its N columns of a level from. */
template <class D, int N> struct band_loads : l2k_band_places<const D, N> {
    typedef l2k_band_places<const D, N> places;
    typedef l2k_landing<D, N / 2> landing;

    __device__ __forceinline__ band_loads(const l2k_cuda_bands &b, int level, int warp, int lane, l2k_span x,
                                          l2k_span y)
        : places(b, level, warp, lane, true, x, y, landing::ACCESS)
    {
    }

    /* Row n of a subband; without such a row, the slot keeps unused values. */
    __device__ __forceinline__ void load(const l2k_cuda_bands &b, int level, int band, int n, int lane,
                                         l2k_shared slot) const
    {
        if (places::has_row(band, n))
            landing::load(slot, lane, places::row(b, level, band, n), places::run(band));
    }
};

/* Rows of the LL that a launch starts from: subband 0 of the coefficients, or the LL samples of the previous launch,
 * which have 16 or 32 bits for the 5/3 and are floats for the 9/7. */
template <class T, int N> struct low_loads {
    typedef l2k_landing<int16_t, N> narrow;
    typedef l2k_landing<int32_t, N> wide;
    enum { SLOT = wide::SIZE };
    l2k_lane_run<N> run;
    l2k_span rows;
    bool is_narrow;

    __device__ __forceinline__ low_loads(const l2k_cuda_plane &plane, int warp, int lane, l2k_span x, l2k_span y)
        : rows(l2k_low_span(y)), is_narrow(plane.type == L2K_SAMPLE_S16)
    {
        l2k_span columns = l2k_low_span(x);
        int first = (warp >> 1) - columns.first;
        run = {(lane >> 1) - columns.first, l2k_length(columns),
               is_narrow ? l2k_is_aligned<int16_t>(plane, first, narrow::ACCESS)
                         : l2k_is_aligned<int32_t>(plane, first, wide::ACCESS)};
    }
    __device__ __forceinline__ void load(const l2k_cuda_plane &plane, int n, int lane, l2k_shared slot) const
    {
        if (n < rows.first || n >= rows.end)
            return;
        if (is_narrow)
            narrow::load(slot, lane, l2k_plane_row<const int16_t>(plane, n - rows.first), run);
        else
            wide::load(slot, lane, l2k_plane_row<const int32_t>(plane, n - rows.first), run);
    }
    __device__ __forceinline__ l2k_cursor<const char> from(const l2k_cuda_plane &plane, int n) const
    {
        return l2k_cursor<const char>(l2k_plane_row<const char>(plane, n - rows.first) +
                                          run.first * (is_narrow ? 2 : 4),
                                      plane.row_stride, !run.is_empty());
    }
    __device__ __forceinline__ void load(const l2k_cursor<const char> &at, int row, int64_t offset, int lane,
                                         l2k_shared slot) const
    {
        if (!at.some)
            return;
        if (is_narrow)
            narrow::copy(slot, lane, (const int16_t *)at.place(row, offset), (int)sizeof(int16_t) * N);
        else
            wide::copy(slot, lane, (const int32_t *)at.place(row, offset), (int)sizeof(int32_t) * N);
    }
    /* `known`: the source holds values, not quantiser indices. */
    __device__ __forceinline__ void unpack(float half_step, bool known, l2k_shared slot, int lane, T (&v)[N]) const
    {
        if (is_narrow)
            l2k_from_coefficients(narrow::get(slot, lane), half_step, v);
        else if (known)
            l2k_from_coefficients(l2k_landing<T, N>::get(slot, lane), half_step, v);
        else
            l2k_from_coefficients(wide::get(slot, lane), half_step, v);
    }
};

/* ---- Kernel -------------------------------------------------------------------------------------------------- */

/* A warp goes down a strip, four rows of samples per round. Round s takes row s of the subbands of level 2 and rows n
 * and n + 1 of those of level 1, n = first_row(s), and yields rows 2 n - 1 - 2 DELAY and the three after. */
template <class W, class Writer, class D, int LEVELS> struct inverse_iterator {
    typedef typename W::T T;
    enum {
        N = Writer::COLUMNS,
        K = Writer::COMPONENTS,
        LOW_ROWS = LEVELS == 2 ? 1 : 2,
        LOW = LEVELS == 2 ? N / 4 : N / 2
    };
    typedef typename band_loads<D, N>::landing landing1;
    typedef typename band_loads<D, N / 2>::landing landing2;
    typedef low_loads<T, LOW> low_type;
    /* A component's part of a slot: two rows of three subbands of level 1, one row of three of level 2, LL rows. */
    enum {
        DEEP = 6 * landing1::SIZE,
        LL = DEEP + (LEVELS == 2 ? 3 * landing2::SIZE : 0),
        PART = LL + LOW_ROWS * low_type::SLOT
    };
    enum { AHEAD = 2, SLOT = K * PART };
    /* Two levels reach 6 (5/3) or 12 (9/7) columns. Three lanes of four columns would cover the latter, but then pairs
     * of lanes would not line up with pairs of coefficients of level 2. */
    enum { LEAST = LEVELS == 1 && N == 4 ? 1 : (W::DELAY ? 2 : 1) * (N == 8 ? 1 : 2) };
    enum { LANES = l2k_lanes_of(W::REACH, LEVELS, N, Writer::BEHIND), HALO = l2k_most(LANES, LEAST) };
    /* Of the first row, before rounds that see no border: for level 1, and for both. */
    enum { BEFORE_1 = l2k_most(W::DELAY ? 15 + 4 * W::DELAY : 9, 5 + 4 * W::DELAY + W::BACK) };
    enum { BEFORE = LEVELS == 2 ? l2k_most(BEFORE_1, 4 + 2 * W::BACK) : (int)BEFORE_1 };
    enum { MOST_ROUNDS = W::DELAY == 0 && K == 1 ? 4 : 1 << 20 }; /* measured */
    enum { UNROLLED = W::DELAY ? 1 : 2 };                         /* the 9/7's loop body is long already */
    /* Of rows transformed together at level 1, as registers allow. */
    enum { PAIRS = K == 1 && (W::DELAY == 0 || (W::FROM_STEPS && sizeof(D) == 2)) ? 2 : 1 };
    /* What passes from round to round: the rows of each level that are not finished. */
    struct state {
        typename W::template inverse_rows<N> level1[K];
        typename W::template inverse_rows<N / 2> level2[K];
    };
    const l2k_cuda_level_pass &p;
    int c0, begin, lane;
    l2k_span y2;
    l2k_lane_columns lane1, lane2;
    band_loads<D, N> loads1;
    band_loads<D, N / 2> loads2;
    low_type lows;
    Writer writer;
    state &rows;

    __device__ __forceinline__ inverse_iterator(const l2k_cuda_level_pass &pass, const l2k_strip<HALO, N> &strip,
                                                int component, int first_round, state &unfinished)
        : p(pass), c0(component), begin(first_round), lane(strip.lane),
          y2(l2k_low_span(pass.y)), lane1{strip.column, pass.x}, lane2{strip.column >> 1, l2k_low_span(pass.x)},
          loads1(pass.bands[component], 0, strip.first_column, strip.column, pass.x, pass.y),
          loads2(pass.bands[component], LEVELS - 1, strip.first_column >> 1, strip.column >> 1, l2k_low_span(pass.x),
                 y2),
          lows(pass.low[component], strip.first_column >> (LEVELS - 1), strip.column >> (LEVELS - 1),
               LEVELS == 2 ? l2k_low_span(pass.x) : pass.x, LEVELS == 2 ? y2 : pass.y),
          writer(&pass.samples[component], strip.first_column - pass.kept_x.first, HALO * N,
                 strip.column - pass.kept_x.first, l2k_length(pass.kept_x), strip.keeps),
          rows(unfinished)
    {
    }

    /* The rounds that yield the rows of the samples: round s yields row 4 s - 3 - 6 DELAY and the three after. */
    static void set_rounds(l2k_cuda_level_pass *p)
    {
        p->first_round = (p->kept_y.first + 3 + 6 * W::DELAY) >> 2;
        p->end_round = ((p->kept_y.end + 2 + 6 * W::DELAY) >> 2) + 1;
        p->warm_up =
            LEVELS == 2 ? (3 * W::DELAY + (W::REACH + 3) / 2 + W::REACH + 1) / 2 : (W::REACH + 2 * W::DELAY + 4) / 4;
    }

    static __device__ __forceinline__ int first_row(int round)
    {
        return 2 * round - 1 - 2 * W::DELAY;
    }
    static __device__ __forceinline__ int row_of(int round)
    {
        return 2 * first_row(round) - 1 - 2 * W::DELAY;
    }

    /* Rounds that neither use nor load a row outside the plane, at either level, and store only rows that are kept. */
    static __device__ __forceinline__ l2k_span inside(const l2k_cuda_level_pass &p)
    {
        const int first = (p.y.first + BEFORE) >> 2, end = ((p.y.end - 4) >> 2) - AHEAD + 1;
        return l2k_span{max(first, (p.kept_y.first + 6 + 6 * W::DELAY) >> 2),
                        min(end, ((p.kept_y.end - 1 + 6 * W::DELAY) >> 2) + 1)};
    }

    __device__ __forceinline__ bool is_aligned() const
    {
        return loads1.is_aligned() && (LEVELS == 1 || loads2.is_aligned()) && lows.run.aligned && writer.is_aligned();
    }

    static __device__ __forceinline__ l2k_shared place1(l2k_shared slot, int c, int j, int band)
    {
        return slot + c * PART + (3 * j + band - 1) * landing1::SIZE;
    }
    static __device__ __forceinline__ l2k_shared place2(l2k_shared slot, int c, int band)
    {
        return slot + c * PART + DEEP + (band - 1) * landing2::SIZE;
    }
    static __device__ __forceinline__ l2k_shared place_low(l2k_shared slot, int c, int j)
    {
        return slot + c * PART + LL + j * low_type::SLOT;
    }

    /* The careful way: checks every row and column against the borders. */
    struct careful {
        enum { BORDER = true };
        const inverse_iterator &iterator;

        __device__ __forceinline__ explicit careful(const inverse_iterator &w) : iterator(w)
        {
        }
        __device__ __forceinline__ void load(int round, l2k_shared slot) const
        {
#pragma unroll 1
            for (int c = 0; c < K; c++) {
                const l2k_cuda_bands &bands = iterator.p.bands[iterator.c0 + c];
#pragma unroll
                for (int band = L2K_HL; band <= L2K_HH; band++) {
#pragma unroll
                    for (int j = 0; j < 2; j++)
                        iterator.loads1.load(bands, 0, band, first_row(round) + j, iterator.lane,
                                             place1(slot, c, j, band));
                    if (LEVELS == 2)
                        iterator.loads2.load(bands, 1, band, round, iterator.lane, place2(slot, c, band));
                }
#pragma unroll 1
                for (int j = 0; j < LOW_ROWS; j++)
                    iterator.lows.load(iterator.p.low[iterator.c0 + c], LEVELS == 2 ? round : first_row(round) + j,
                                       iterator.lane, place_low(slot, c, j));
            }
        }
        template <class Row> __device__ __forceinline__ void store(int round, int r, Row &v) const
        {
            int q = row_of(round) + r;
            if (round >= iterator.begin && q >= iterator.p.kept_y.first && q < iterator.p.kept_y.end)
                iterator.writer.store(q - iterator.p.kept_y.first, v);
        }
        __device__ __forceinline__ void end()
        {
        }
    };

    /* The quick way: pointers advance from row to row. Those of the other components are at a fixed distance. */
    struct quick {
        enum { BORDER = false };
        const inverse_iterator &iterator;
        l2k_cursor<const D> first[4], second[4];
        l2k_cursor<const char> low;
        typename Writer::cursor out;

        __device__ __forceinline__ quick(const inverse_iterator &w, int round, int ahead)
            : iterator(w), low(w.lows.from(w.p.low[w.c0], LEVELS == 2 ? ahead : first_row(ahead))),
              out(w.writer.from(row_of(round) - w.p.kept_y.first))
        {
            const l2k_cuda_bands &bands = w.p.bands[w.c0];
#pragma unroll
            for (int band = L2K_HL; band <= L2K_HH; band++) {
                first[band] = w.loads1.from(bands, 0, band, first_row(ahead));
                if (LEVELS == 2)
                    second[band] = w.loads2.from(bands, 1, band, ahead);
            }
        }
        __device__ __forceinline__ void load(int, l2k_shared slot) const
        {
#pragma unroll
            for (int c = 0; c < K; c++) {
#pragma unroll
                for (int band = L2K_HL; band <= L2K_HH; band++) {
#pragma unroll
                    for (int j = 0; j < 2; j++)
                        if (first[band].some)
                            landing1::copy(place1(slot, c, j, band), iterator.lane, first[band].place(j, offset(c)),
                                           landing1::BYTES);
                    if (LEVELS == 2 && second[band].some)
                        landing2::copy(place2(slot, c, band), iterator.lane, second[band].place(0, offset(c)),
                                       landing2::BYTES);
                }
#pragma unroll
                for (int j = 0; j < LOW_ROWS; j++)
                    iterator.lows.load(low, j, K == 1 ? 0 : iterator.p.low[c].data - iterator.p.low[0].data,
                                       iterator.lane, place_low(slot, c, j));
            }
        }
        template <class Row> __device__ __forceinline__ void store(int round, int r, Row &v) const
        {
            iterator.writer.store(out, r, v, round >= iterator.begin);
        }
        __device__ __forceinline__ void end()
        {
#pragma unroll
            for (int band = L2K_HL; band <= L2K_HH; band++) {
                first[band].next(2);
                if (LEVELS == 2)
                    second[band].next(1);
            }
            low.next(LOW_ROWS);
            out.next(4);
        }
        __device__ __forceinline__ int64_t offset(int c) const
        {
            return K == 1 ? 0 : (char *)iterator.p.bands[c].at[0][0] - (char *)iterator.p.bands[0].at[0][0];
        }
    };

    template <class Way> __device__ __forceinline__ void take(Way &way, int round, l2k_shared slot)
    {
        T ll[2][K][N / 2];
        take_low<Way>(round, slot, ll[0], ll[1]);
        const int together = Way::BORDER ? 1 : (int)PAIRS;
#pragma unroll(Way::BORDER ? 1 : UNROLLED)
        for (int j = 0; j < 2; j += together) {
            T in[together][2 * K][N];
#pragma unroll
            for (int i = 0; i < together; i++)
                arrange<N>(in[i], ll[i], 0,
                           [&](int c, int band) { return landing1::get(place1(slot, c, j + i, band), lane); });
            for (int c = 0; c < K; c++)
                l2k_copy_row(ll[0][c], ll[1][c]); /* lets the loop stay rolled */
            l2k_rows<W, false, Way::BORDER>(reinterpret_cast<T(&)[together * 2 * K][N]>(in), lane1, is_whole<Way>());
#pragma unroll
            for (int i = 0; i < together; i++) {
                T odd[K][N], even[K][N];
#pragma unroll
                for (int c = 0; c < K; c++)
                    rows.level1[c].template push<Way::BORDER>(in[i][2 * c], in[i][2 * c + 1],
                                                              2 * (first_row(round) + j + i), p.y, odd[c], even[c]);
                way.store(round, 2 * (j + i), odd);
                way.store(round, 2 * (j + i) + 1, even);
            }
        }
        way.end();
    }

  private:
    /* Whether every lane has all of its columns or none; only rounds at a border of rows need to know. */
    template <class Way> __device__ __forceinline__ bool is_whole() const
    {
        return Way::BORDER && W::IS_SHORT && l2k_strip<HALO, N>(p).is_inside(p.x);
    }

    /* Interleaves the subbands of each component to a low and a high row. */
    template <int M, class Get>
    __device__ __forceinline__ void arrange(T (&in)[2 * K][M], const T (&ll)[K][M / 2], int level, Get get) const
    {
#pragma unroll
        for (int c = 0; c < K; c++) {
            T hl[M / 2], lh[M / 2], hh[M / 2];
            l2k_from_coefficients(get(c, L2K_HL), p.steps[c].of[level][L2K_HL].step, hl);
            l2k_from_coefficients(get(c, L2K_LH), p.steps[c].of[level][L2K_LH].step, lh);
            l2k_from_coefficients(get(c, L2K_HH), p.steps[c].of[level][L2K_HH].step, hh);
#pragma unroll
            for (int k = 0; k < M / 2; k++) {
                in[2 * c][2 * k] = ll[c][k];
                in[2 * c][2 * k + 1] = hl[k];
                in[2 * c + 1][2 * k] = lh[k];
                in[2 * c + 1][2 * k + 1] = hh[k];
            }
        }
    }

    /* The two LL rows of level 1: synthesised from level 2, or loaded. */
    template <class Way>
    __device__ __forceinline__ void take_low(int round, l2k_shared slot, T (&odd)[K][N / 2], T (&even)[K][N / 2])
    {
        bool known = !p.low_in_bands || p.type == L2K_COEFFICIENT_FLOAT32;
        T low[LOW_ROWS][K][LOW];
#pragma unroll
        for (int j = 0; j < LOW_ROWS; j++)
#pragma unroll
            for (int c = 0; c < K; c++)
                lows.unpack(p.steps[c].of[LEVELS - 1][L2K_LL].step, known, place_low(slot, c, j), lane, low[j][c]);
        if constexpr (LEVELS == 2) {
            T in[2 * K][N / 2];
            arrange<N / 2>(in, low[0], 1, [&](int c, int band) { return landing2::get(place2(slot, c, band), lane); });
            l2k_rows<W, false, Way::BORDER>(in, lane2, is_whole<Way>());
#pragma unroll
            for (int c = 0; c < K; c++)
                rows.level2[c].template push<Way::BORDER>(in[2 * c], in[2 * c + 1], 2 * round, y2, odd[c], even[c]);
        } else {
#pragma unroll
            for (int c = 0; c < K; c++) {
                l2k_copy_row(odd[c], low[0][c]);
                l2k_copy_row(even[c], low[1][c]);
            }
        }
    }
};

template <class W, class Writer, class D, int LEVELS, int WARPS>
__global__ void __launch_bounds__(32, WARPS) inverse_kernel(const __grid_constant__ l2k_cuda_level_pass p)
{
    typedef inverse_iterator<W, Writer, D, LEVELS> iterator_type;
    __shared__ __align__(16) char memory[l2k_ring<iterator_type>::BYTES];
    l2k_iterate<iterator_type>(p, iterator_type::K == 1 ? (int)blockIdx.y : 0, memory);
}

/* No decomposition level: subband 0 to samples. */
template <class W, int K, class D> __global__ void copy_kernel(const __grid_constant__ l2k_cuda_level_pass p)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, c0 = blockIdx.z, width = p.x.end - p.x.first;
    if (x >= width)
        return;
    l2k_any_writer<W, K, 1> writer(&p.samples[c0], x, 0, x, width, true);
    for (int y = blockIdx.y; y < p.y.end - p.y.first; y += gridDim.y) {
        typename W::T v[K][1];
        for (int c = 0; c < K; c++) {
            const l2k_cuda_bands &b = p.bands[c0 + c];
            l2k_packed<D, 1> q;
            q.load(reinterpret_cast<const D *>(b.at[0][L2K_LL]) + x + (int64_t)y * b.stride);
            l2k_from_coefficients(q, p.steps[c].of[0][L2K_LL].step, v[c]);
        }
        writer.store(y, v);
    }
}

/* ---- Launchers ----------------------------------------------------------------------------------------------- */

/* Whether each lane makes aligned stores of all its columns or of none, except where the plane ends. */
template <class Writer> bool stores_whole_lanes(const l2k_cuda_level_pass &p)
{
    const int n = Writer::COLUMNS;
    bool whole =
        (p.kept_x.first % n == 0 || p.kept_x.first == p.x.first) && (p.kept_x.end % n == 0 || p.kept_x.end == p.x.end);
    for (int c = 0; c < p.components; c += Writer::COMPONENTS)
        whole = whole && (((uintptr_t)p.samples[c].data - (int64_t)p.kept_x.first * Writer::PIXEL_BYTES) |
                          (uintptr_t)p.samples[c].row_stride) %
                                 Writer::ALIGNMENT ==
                             0;
    return whole;
}

/* The forms of a wavelet and a coefficient type. A multiprocessor holds as many warps as registers allow without
 * spills. */
template <class W, class D> struct inverse_form {
    enum { PLAIN = W::DELAY ? 12 : 16, JOINED = PLAIN - (sizeof(D) == 2 ? 0 : 4) };

    static int launch(const l2k_cuda_level_pass &p, cudaStream_t stream)
    {
        typedef typename W::T wide;
        if (p.levels == 0)
            return l2k_launch_columns(p.joined ? copy_kernel<W, 3, D> : copy_kernel<W, 1, D>, p, stream);
        switch (l2k_form_of(p)) {
        case L2K_FORM_8:
            return planes<uint8_t>(p, stream);
        case L2K_FORM_16:
            return planes<uint16_t>(p, stream);
        case L2K_FORM_32:
            return planes<wide>(p, stream);
        case L2K_FORM_TRIPLES_8:
            return triples<uint8_t>(p, stream);
        case L2K_FORM_TRIPLES_16:
            return triples<uint16_t>(p, stream);
        case L2K_FORM_JOINED_8:
            return by_levels<l2k_unaligned_writer<W, uint8_t, 3, 4, false>, JOINED>(p, stream);
        case L2K_FORM_JOINED_16:
            return by_levels<l2k_unaligned_writer<W, uint16_t, 3, 4, false>, JOINED>(p, stream);
        default:
            return p.joined ? by_levels<l2k_any_writer<W, 3, 4>, JOINED>(p, stream)
                            : by_levels<l2k_any_writer<W, 1, 8>, PLAIN>(p, stream);
        }
    }

  private:
    template <class S> static int planes(const l2k_cuda_level_pass &p, cudaStream_t stream)
    {
        typedef l2k_packed_writer<W, S, 1, 8> aligned;
        return stores_whole_lanes<aligned>(p) ? by_levels<aligned, PLAIN>(p, stream)
                                              : by_levels<l2k_unaligned_writer<W, S, 1, 8, false>, PLAIN>(p, stream);
    }
    template <class S> static int triples(const l2k_cuda_level_pass &p, cudaStream_t stream)
    {
        typedef l2k_packed_writer<W, S, 3, 4> aligned;
        return stores_whole_lanes<aligned>(p) ? by_levels<aligned, JOINED>(p, stream)
                                              : by_levels<l2k_unaligned_writer<W, S, 3, 4, true>, JOINED>(p, stream);
    }
    template <class Writer, int WARPS> static int by_levels(const l2k_cuda_level_pass &p, cudaStream_t stream)
    {
        if (p.levels == 1)
            return l2k_launch_iterator<inverse_iterator<W, Writer, D, 1>, WARPS>(inverse_kernel<W, Writer, D, 1, WARPS>,
                                                                                 p, stream);
        if constexpr (W::DELAY && Writer::COMPONENTS == 3)
            return cudaErrorInvalidValue; /* cuda_groups.c asks for one level only */
        else
            return l2k_launch_iterator<inverse_iterator<W, Writer, D, 2>, WARPS>(inverse_kernel<W, Writer, D, 2, WARPS>,
                                                                                 p, stream);
    }
};

} // namespace

#endif
