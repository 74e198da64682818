/* The kernels of an inverse level pass: a decomposition level with the dequantiser (Annex E) in the loads,
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

/* Where a lane loads its N columns from. */
template <class D, int N> struct band_loads : l2k_band_places<const D, N> {
    typedef l2k_band_places<const D, N> places;
    typedef l2k_landing<D, N / 2> landing;

    __device__ __forceinline__ band_loads(const l2k_cuda_bands &b, int warp, int lane, l2k_span x, l2k_span y)
        : places(b, warp, lane, true, x, y, landing::ACCESS)
    {
    }

    /* Row n of a subband; without such a row, the slot keeps unused values. */
    __device__ __forceinline__ void load(const l2k_cuda_bands &b, int band, int n, int lane, l2k_shared slot) const
    {
        if (places::has_row(band, n))
            landing::load(slot, lane, places::row(b, band, n), places::run(band));
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

/* A warp goes down a strip, four rows of samples per round. Round s takes rows n and n + 1 of the subbands,
 * n = first_row(s), and yields rows 2 n - 1 - 2 DELAY and the three after. */
template <class W, class Writer, class D> struct inverse_iterator {
    typedef typename W::T T;
    enum { N = Writer::COLUMNS, K = Writer::COMPONENTS };
    typedef typename band_loads<D, N>::landing landing;
    typedef low_loads<T, N / 2> low_type;
    /* A component's part of a slot: two rows of three subbands, two LL rows. */
    enum { LL = 6 * landing::SIZE, PART = LL + 2 * low_type::SLOT };
    enum { AHEAD = 2, SLOT = K * PART };
    enum { HALO = l2k_most(l2k_divide_up(W::REACH, N), W::DELAY &&N == 8 ? 2 : 1) };
    /* Of the first row, before rounds that see no border. */
    enum { BEFORE = l2k_most(W::DELAY ? 15 + 4 * W::DELAY : 9, 5 + 4 * W::DELAY + W::BACK) };
    enum { MOST_ROUNDS = W::DELAY == 0 && K == 1 ? 4 : 1 << 20 }; /* measured */
    enum { UNROLLED = W::DELAY ? 1 : 2 };                         /* the 9/7's loop body is long already */
    /* Of rows transformed together, as registers allow. */
    enum { PAIRS = K == 1 && (W::DELAY == 0 || (W::FROM_STEPS && sizeof(D) == 2)) ? 2 : 1 };
    /* What passes from round to round: the rows that are not finished. */
    struct state {
        typename W::template inverse_rows<N> of[K];
    };
    const l2k_cuda_level_pass &p;
    int c0, begin, lane;
    l2k_lane_columns columns;
    band_loads<D, N> loads;
    low_type lows;
    Writer writer;
    state &rows;

    __device__ __forceinline__ inverse_iterator(const l2k_cuda_level_pass &pass, const l2k_strip<HALO, N> &strip,
                                                int component, int first_round, state &unfinished)
        : p(pass), c0(component), begin(first_round), lane(strip.lane), columns{strip.column, pass.x},
          loads(pass.bands[component], strip.first_column, strip.column, pass.x, pass.y),
          lows(pass.low[component], strip.first_column, strip.column, pass.x, pass.y),
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
        p->warm_up = (W::REACH + 2 * W::DELAY + 4) / 4;
    }

    static __device__ __forceinline__ int first_row(int round)
    {
        return 2 * round - 1 - 2 * W::DELAY;
    }
    static __device__ __forceinline__ int row_of(int round)
    {
        return 2 * first_row(round) - 1 - 2 * W::DELAY;
    }

    /* Rounds that neither use nor load a row outside the plane, and store only rows that are kept. */
    static __device__ __forceinline__ l2k_span inside(const l2k_cuda_level_pass &p)
    {
        const int first = (p.y.first + BEFORE) >> 2, end = ((p.y.end - 4) >> 2) - AHEAD + 1;
        return l2k_span{max(first, (p.kept_y.first + 6 + 6 * W::DELAY) >> 2),
                        min(end, ((p.kept_y.end - 1 + 6 * W::DELAY) >> 2) + 1)};
    }

    __device__ __forceinline__ bool is_aligned() const
    {
        return loads.is_aligned() && lows.run.aligned && writer.is_aligned();
    }

    static __device__ __forceinline__ l2k_shared place(l2k_shared slot, int c, int j, int band)
    {
        return slot + c * PART + (3 * j + band - 1) * landing::SIZE;
    }
    static __device__ __forceinline__ l2k_shared place_low(l2k_shared slot, int c, int j)
    {
        return slot + c * PART + LL + j * low_type::SLOT;
    }

    /* The careful way: checks every row and column against the borders. */
    struct careful {
        enum { BORDER = true };
        const inverse_iterator &iterator;

        __device__ __forceinline__ void load(int round, l2k_shared slot) const
        {
#pragma unroll 1
            for (int c = 0; c < K; c++) {
                const l2k_cuda_bands &bands = iterator.p.bands[iterator.c0 + c];
#pragma unroll
                for (int band = L2K_HL; band <= L2K_HH; band++)
#pragma unroll
                    for (int j = 0; j < 2; j++)
                        iterator.loads.load(bands, band, first_row(round) + j, iterator.lane, place(slot, c, j, band));
#pragma unroll 1
                for (int j = 0; j < 2; j++)
                    iterator.lows.load(iterator.p.low[iterator.c0 + c], first_row(round) + j, iterator.lane,
                                       place_low(slot, c, j));
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
        l2k_cursor<const D> in[4];
        l2k_cursor<const char> low;
        typename Writer::cursor out;

        __device__ __forceinline__ quick(const inverse_iterator &w, int round, int ahead)
            : iterator(w), low(w.lows.from(w.p.low[w.c0], first_row(ahead))),
              out(w.writer.from(row_of(round) - w.p.kept_y.first))
        {
            const l2k_cuda_bands &bands = w.p.bands[w.c0];
#pragma unroll
            for (int band = L2K_HL; band <= L2K_HH; band++)
                in[band] = w.loads.from(bands, band, first_row(ahead));
        }
        __device__ __forceinline__ void load(int, l2k_shared slot) const
        {
#pragma unroll
            for (int c = 0; c < K; c++) {
#pragma unroll
                for (int band = L2K_HL; band <= L2K_HH; band++)
#pragma unroll
                    for (int j = 0; j < 2; j++)
                        if (in[band].some)
                            landing::copy(place(slot, c, j, band), iterator.lane, in[band].place(j, offset(c)),
                                          landing::BYTES);
#pragma unroll
                for (int j = 0; j < 2; j++)
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
            for (int band = L2K_HL; band <= L2K_HH; band++)
                in[band].next(2);
            low.next(2);
            out.next(4);
        }
        __device__ __forceinline__ int64_t offset(int c) const
        {
            return K == 1 ? 0 : (char *)iterator.p.bands[c].at[0] - (char *)iterator.p.bands[0].at[0];
        }
    };

    template <class Way> __device__ __forceinline__ void take(Way &way, int round, l2k_shared slot)
    {
        const int together = Way::BORDER ? 1 : (int)PAIRS;
#pragma unroll(Way::BORDER ? 1 : UNROLLED)
        for (int j = 0; j < 2; j += together) {
            T in[together][2 * K][N];
#pragma unroll
            for (int i = 0; i < together; i++)
#pragma unroll
                for (int c = 0; c < K; c++)
                    arrange(slot, c, j + i, in[i][2 * c], in[i][2 * c + 1]);
            const bool whole = l2k_are_lanes_whole<Way, W, l2k_strip<HALO, N>>(p);
            l2k_rows<W, false, Way::BORDER>(reinterpret_cast<T(&)[together * 2 * K][N]>(in), columns, whole);
#pragma unroll
            for (int i = 0; i < together; i++) {
                T odd[K][N], even[K][N];
#pragma unroll
                for (int c = 0; c < K; c++)
                    rows.of[c].template push<Way::BORDER>(in[i][2 * c], in[i][2 * c + 1],
                                                          2 * (first_row(round) + j + i), p.y, odd[c], even[c]);
                way.store(round, 2 * (j + i), odd);
                way.store(round, 2 * (j + i) + 1, even);
            }
        }
        way.end();
    }

  private:
    /* Interleaves the subbands of component c to a low and a high row, the j-th of the round. */
    __device__ __forceinline__ void arrange(l2k_shared slot, int c, int j, T (&low)[N], T (&high)[N]) const
    {
        const bool known = !p.low_in_bands || p.type == L2K_COEFFICIENT_FLOAT32;
        T ll[N / 2], hl[N / 2], lh[N / 2], hh[N / 2];
        lows.unpack(p.steps[c].of[L2K_LL].step, known, place_low(slot, c, j), lane, ll);
        l2k_from_coefficients(landing::get(place(slot, c, j, L2K_HL), lane), p.steps[c].of[L2K_HL].step, hl);
        l2k_from_coefficients(landing::get(place(slot, c, j, L2K_LH), lane), p.steps[c].of[L2K_LH].step, lh);
        l2k_from_coefficients(landing::get(place(slot, c, j, L2K_HH), lane), p.steps[c].of[L2K_HH].step, hh);
#pragma unroll
        for (int k = 0; k < N / 2; k++) {
            low[2 * k] = ll[k];
            low[2 * k + 1] = hl[k];
            high[2 * k] = lh[k];
            high[2 * k + 1] = hh[k];
        }
    }
};

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
            q.load(reinterpret_cast<const D *>(b.at[L2K_LL]) + x + (int64_t)y * b.stride);
            l2k_from_coefficients(q, p.steps[c].of[L2K_LL].step, v[c]);
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
        if (p.copies)
            return l2k_launch_columns(p.joined ? copy_kernel<W, 3, D> : copy_kernel<W, 1, D>, p, stream);
        switch (l2k_form_of(p)) {
        case L2K_FORM_8:
            return packed<uint8_t, 1, l2k_unaligned_writer<W, uint8_t, 1, 8, 1>>(p, stream);
        case L2K_FORM_16:
            return packed<uint16_t, 1, l2k_unaligned_writer<W, uint16_t, 1, 8, 1>>(p, stream);
        case L2K_FORM_32:
            return packed<wide, 1, l2k_any_writer<W, 1, 8>>(p, stream);
        case L2K_FORM_TRIPLES_8:
            return packed<uint8_t, 3, l2k_unaligned_writer<W, uint8_t, 3, 4, 1>>(p, stream);
        case L2K_FORM_TRIPLES_16:
            return packed<uint16_t, 3, l2k_unaligned_writer<W, uint16_t, 3, 4, 1>>(p, stream);
        case L2K_FORM_JOINED_8:
            return launch_writer<l2k_unaligned_writer<W, uint8_t, 3, 4, 3>>(p, stream);
        case L2K_FORM_JOINED_16:
            return launch_writer<l2k_unaligned_writer<W, uint16_t, 3, 4, 3>>(p, stream);
        default:
            return p.joined ? launch_writer<l2k_any_writer<W, 3, 4>>(p, stream)
                            : launch_writer<l2k_any_writer<W, 1, 8>>(p, stream);
        }
    }

  private:
    template <class Writer> static int launch_writer(const l2k_cuda_level_pass &p, cudaStream_t stream)
    {
        enum { WARPS = Writer::COMPONENTS == 1 ? PLAIN : JOINED };
        return l2k_launch_iterator<inverse_iterator<W, Writer, D>, WARPS>(p, stream);
    }
    /* Planes, or K = 3 as triples; `Other` writes where lanes' stores are not whole or not aligned. */
    template <class S, int K, class Other> static int packed(const l2k_cuda_level_pass &p, cudaStream_t stream)
    {
        typedef l2k_packed_writer<W, S, K, Other::COLUMNS> aligned;
        return stores_whole_lanes<aligned>(p) ? launch_writer<aligned>(p, stream) : launch_writer<Other>(p, stream);
    }
};

/* Those of the forward direction by a named kernel; int16 coefficients whose sums need 64 bits use the form for any
 * layout. */
template <class W, class D> struct inverse_kernel_form {
    enum {
        IS_16 = sizeof(D) == 2 && W::arithmetic::NARROW,
        IS_32 = sizeof(D) == 4 || W::arithmetic::FLOAT,
        OF_16 = W::ROWS <= 6                     ? 16
                : W::ROWS == 10 || W::ROWS == 11 ? 12
                                                 : 8
    };
    enum { PLAIN = IS_16 ? (int)OF_16 : W::ROWS <= 4 ? 16 : W::ROWS <= 10 ? 12 : 8, ANY = 8 };
    typedef l2k_packed_writer<W, typename std::conditional<IS_16, uint16_t, typename W::T>::type, 1, 8> packed;

    static int launch(const l2k_cuda_level_pass &p, cudaStream_t stream)
    {
        if constexpr (IS_16 || IS_32)
            if (l2k_form_of(p) == (IS_16 ? L2K_FORM_16 : L2K_FORM_32) && stores_whole_lanes<packed>(p))
                return l2k_launch_iterator<inverse_iterator<W, packed, D>, PLAIN>(p, stream);
        return l2k_launch_iterator<inverse_iterator<W, l2k_any_writer<W, 1, 8>, D>, ANY>(p, stream);
    }
};

template <class Kernel> using inverse_by_kernel = l2k_by_kernel<inverse_kernel_form, Kernel, true>;

} // namespace

#endif
