/* The kernels of a forward level pass: a decomposition level with level shift and component transform (Annex
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

/* Where a lane stores its N columns. */
template <class D, int N> struct band_stores : l2k_band_places<D, N> {
    typedef l2k_band_places<D, N> places;
    typedef l2k_packed<D, N / 2> packed;

    __device__ __forceinline__ band_stores(const l2k_cuda_bands &b, int warp, int lane, bool keeps, l2k_span x,
                                           l2k_span y)
        : places(b, warp, lane, keeps, x, y, packed::ALIGNMENT)
    {
    }

    __device__ __forceinline__ void store(const l2k_cuda_bands &b, int band, const packed &q, int n) const
    {
        if (places::has_row(band, n))
            l2k_store_run(places::row(b, band, n), places::run(band), q);
    }
};

template <int PARITY, int N, class T> __device__ __forceinline__ void pick_columns(const T (&row)[N], T (&out)[N / 2])
{
#pragma unroll
    for (int k = 0; k < N / 2; k++)
        out[k] = row[2 * k + PARITY];
}

/* ---- Kernel -------------------------------------------------------------------------------------------------- */

/* A warp goes down a strip, four rows of samples per round. Round s yields rows 2 s - 1 and 2 s of each subband. */
template <class W, class Reader, class D> struct forward_iterator {
    typedef typename W::T T;
    typedef typename std::conditional<std::is_same<T, float>::value, float, D>::type L; /* LL between launches */
    enum { N = Reader::COLUMNS, K = Reader::COMPONENTS, AHEAD = 2, SLOT = 4 * Reader::SLOT };
    /* The 5/3 is bound by memory, so it takes a few more than it needs: then a warp's part of a row begins and ends on
     * 32 bytes. */
    enum { HALO = l2k_most(l2k_divide_up(W::REACH, N), N == 8 ? 2 : W::DELAY == 0 ? 4 : 1) };
    /* Of the first row, before rounds that see no border. */
    enum { BEFORE = l2k_most(W::DELAY ? 16 - 2 * W::DELAY : 10, 4 - 2 * W::DELAY + W::BACK) };
    enum { MOST_ROUNDS = W::DELAY ? 1 << 20 : K == 1 ? 4 : 32 }; /* measured */
    enum { UNROLLED = W::DELAY ? 1 : 2 };                        /* the 9/7's loop body is long already */
    /* Of rows transformed together, as registers allow. */
    enum { PAIRS = K == 1 && (W::DELAY == 0 || (W::FROM_STEPS && sizeof(D) == 2)) ? 2 : 1 };
    /* What passes from round to round: the rows that are not finished. */
    struct state {
        typename W::template forward_rows<N> of[K];
    };
    const l2k_cuda_level_pass &p;
    int c0, begin;
    l2k_lane_columns columns;
    band_stores<D, N> stores;
    Reader reader;
    state &rows;

    __device__ __forceinline__ forward_iterator(const l2k_cuda_level_pass &pass, const l2k_strip<HALO, N> &strip,
                                                int component, int first_round, state &unfinished)
        : p(pass), c0(component), begin(first_round), columns{strip.column, pass.x},
          stores(pass.bands[component], strip.first_column, strip.column, strip.keeps, pass.x, pass.y),
          reader(&pass.samples[component], strip.lane, strip.first_column - pass.x.first, strip.column - pass.x.first,
                 l2k_length(pass.x)),
          rows(unfinished)
    {
    }

    /* The rounds that the subbands need. */
    static void set_rounds(l2k_cuda_level_pass *p)
    {
        p->first_round = ((p->y.first >> 1) + 1) >> 1;
        p->end_round = (((p->y.end - 1) >> 1) + 1) / 2 + 1;
        p->warm_up = (W::REACH + 2 * W::DELAY + 4) / 4;
    }

    static __device__ __forceinline__ int row_of(int round)
    {
        return 4 * round - 1 + 2 * W::DELAY;
    }

    /* Rounds that neither use nor load a row outside the plane. */
    static __device__ __forceinline__ l2k_span inside(const l2k_cuda_level_pass &p)
    {
        const l2k_span y = p.y;
        return l2k_span{(y.first + BEFORE) >> 2, ((y.end - 3 - 2 * W::DELAY) >> 2) - AHEAD + 1};
    }

    __device__ __forceinline__ bool is_aligned() const
    {
        return reader.is_aligned() && stores.is_aligned();
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
        __device__ __forceinline__ void store(int c, int j, int band, const l2k_packed<D, N / 2> &q) const
        {
            if (round >= iterator.begin)
                iterator.stores.store(iterator.p.bands[iterator.c0 + c], band, q, 2 * round - 1 + j);
        }
        __device__ __forceinline__ void store_low(int c, int j, const l2k_packed<L, N / 2> &q) const
        {
            const int n = 2 * round - 1 + j;
            const l2k_span rows = iterator.stores.low_rows;
            const l2k_lane_run<N / 2> run = {iterator.stores.low.first, iterator.stores.low.count, true}; /* aligned */
            if (round >= iterator.begin && n >= rows.first && n < rows.end)
                l2k_store_run(l2k_plane_row<L>(iterator.p.low[iterator.c0 + c], n - rows.first), run, q);
        }
    };

    /* The quick way: pointers advance from row to row. Those of the other components are at a fixed distance. */
    struct quick {
        enum { BORDER = false };
        const forward_iterator &iterator;
        typename Reader::cursor next;
        l2k_cursor<D> out[2]; /* HL and LH; HH and LL are at these distances in bytes: */
        int64_t away[2];
        l2k_cursor<L> low;
        bool keep;

        __device__ __forceinline__ quick(const forward_iterator &w, int round, int ahead)
            : iterator(w), next(w.reader.from(row_of(ahead) - w.p.y.first))
        {
            const l2k_cuda_bands &bands = w.p.bands[w.c0];
            const l2k_cuda_plane &plane = w.p.low[w.c0];
            const int n = 2 * round - 1;
            out[0] = w.stores.from(bands, L2K_HL, n);
            out[1] = w.stores.from(bands, L2K_LH, n);
            away[0] = l2k_pinned(bytes_between(w.stores.row(bands, L2K_HL, n), w.stores.row(bands, L2K_HH, n)));
            away[1] = l2k_pinned(bytes_between(w.stores.row(bands, L2K_LH, n), w.stores.row(bands, L2K_LL, n)));
            low = l2k_cursor<L>(l2k_plane_row<L>(plane, n - w.stores.low_rows.first) + w.stores.low.first,
                                plane.row_stride, w.stores.low.count != 0);
        }
        static __device__ __forceinline__ int64_t bytes_between(const D *from, const D *to)
        {
            return reinterpret_cast<const char *>(to) - reinterpret_cast<const char *>(from);
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
            for (int half = 0; half < 2; half++)
                out[half].next(2);
            low.next(2);
        }
        __device__ __forceinline__ void store(int c, int j, int band, const l2k_packed<D, N / 2> &q) const
        {
            const int half = !(band & L2K_HL);
            out[half].store(j, offset(c) + (band == L2K_HH || band == L2K_LL ? away[half] : 0), q, keep);
        }
        __device__ __forceinline__ void store_low(int c, int j, const l2k_packed<L, N / 2> &q) const
        {
            low.store(j, K == 1 ? 0 : iterator.p.low[c].data - iterator.p.low[0].data, q, keep);
        }
        __device__ __forceinline__ int64_t offset(int c) const
        {
            return K == 1 ? 0 : (char *)iterator.p.bands[c].at[0] - (char *)iterator.p.bands[0].at[0];
        }
    };

    template <class Way> __device__ __forceinline__ void take(Way &way, int round, l2k_shared slot)
    {
        way.begin(round);
        const int together = Way::BORDER ? 1 : (int)PAIRS;
#pragma unroll(Way::BORDER ? 1 : UNROLLED)
        for (int j = 0; j < 2; j += together)
            take_pairs<together>(way, round, j, slot);
        way.end();
    }

  private:
    /* Transforms pairs j .. j + PAIRS - 1 of the round's rows. */
    template <int PAIRS, class Way>
    __device__ __forceinline__ void take_pairs(Way &way, int round, int j, l2k_shared slot)
    {
        T out[PAIRS][2 * K][N];
#pragma unroll
        for (int i = 0; i < PAIRS; i++) {
            int r = 2 * (j + i), q = row_of(round) + r;
            T odd[K][N], next[K][N];
            reader.unpack(slot + r * Reader::SLOT, Way::BORDER ? clamp(q) : q - p.y.first, odd);
            reader.unpack(slot + (r + 1) * Reader::SLOT, Way::BORDER ? clamp(q + 1) : q + 1 - p.y.first, next);
#pragma unroll
            for (int c = 0; c < K; c++)
                rows.of[c].template push<Way::BORDER>(odd[c], next[c], q, p.y, out[i][2 * c], out[i][2 * c + 1]);
        }
        const bool whole = l2k_are_lanes_whole<Way, W, l2k_strip<HALO, N>>(p);
        l2k_rows<W, true, Way::BORDER>(reinterpret_cast<T(&)[PAIRS * 2 * K][N]>(out), columns, whole);
#pragma unroll
        for (int i = 0; i < PAIRS; i++)
#pragma unroll
            for (int c = 0; c < K; c++)
                leave(way, c, j + i, out[i][2 * c], out[i][2 * c + 1]);
    }

    /* Stores the subbands of a finished low and high row of component c: LL as coefficients, or as samples for the next
     * launch. */
    template <class Way>
    __device__ __forceinline__ void leave(Way &way, int c, int j, const T (&low)[N], const T (&high)[N]) const
    {
        T part[N / 2];
        pick_columns<1>(low, part);
        way.store(c, j, L2K_HL, coefficients(c, L2K_HL, part));
        pick_columns<0>(high, part);
        way.store(c, j, L2K_LH, coefficients(c, L2K_LH, part));
        pick_columns<1>(high, part);
        way.store(c, j, L2K_HH, coefficients(c, L2K_HH, part));
        pick_columns<0>(low, part);
        if (p.low_in_bands) {
            way.store(c, j, L2K_LL, coefficients(c, L2K_LL, part));
        } else {
            l2k_packed<L, N / 2> samples;
#pragma unroll
            for (int k = 0; k < N / 2; k++)
                samples.set(k, (L)part[k]);
            way.store_low(c, j, samples);
        }
    }

    __device__ __forceinline__ l2k_packed<D, N / 2> coefficients(int c, int band, const T (&v)[N / 2]) const
    {
        l2k_packed<D, N / 2> q;
        l2k_to_coefficients(v, p.steps[c].of[band], &q);
        return q;
    }
};

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
            l2k_to_coefficients(v[c], p.steps[c].of[L2K_LL], &q);
            q.store(reinterpret_cast<D *>(b.at[L2K_LL]) + x + (int64_t)y * b.stride);
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
    enum { PLAIN = 16, OTHER = 12, ANY = 8 };
    enum { SINGLE = W::DELAY && sizeof(D) == 4 && (D)0.5f == 0 ? 12 : 16 }; /* 9/7, one component */

    static int launch(l2k_cuda_level_pass p, cudaStream_t stream)
    {
        typedef typename W::T wide;
        l2k_form form = l2k_form_of(p);
        if (p.copies)
            return l2k_launch_columns(p.joined ? copy_kernel<W, 3, D> : copy_kernel<W, 1, D>, p, stream);
        if (form == L2K_FORM_ANY || form == L2K_FORM_JOINED_8 || form == L2K_FORM_JOINED_16)
            return p.joined ? launch_reader<l2k_any_reader<W, 3, 4>, ANY>(p, stream)
                            : launch_reader<l2k_any_reader<W, 1, 8>, ANY>(p, stream);
        flip_signs(p.samples, p.components);
        switch (form) {
        case L2K_FORM_8:
            return launch_reader<l2k_packed_reader<W, uint8_t, 1, 8>, OTHER>(p, stream);
        case L2K_FORM_16:
            return launch_reader<l2k_packed_reader<W, uint16_t, 1, 8>, PLAIN>(p, stream);
        case L2K_FORM_32:
            return launch_reader<l2k_packed_reader<W, wide, 1, 8>, OTHER>(p, stream);
        case L2K_FORM_TRIPLES_8:
            return launch_reader<l2k_packed_reader<W, uint8_t, 3, 4>, OTHER>(p, stream);
        default:
            return launch_reader<l2k_packed_reader<W, uint16_t, 3, 4>, OTHER>(p, stream);
        }
    }

  private:
    template <class Reader, int MOST> static int launch_reader(const l2k_cuda_level_pass &p, cudaStream_t stream)
    {
        enum { WARPS = W::DELAY && Reader::COMPONENTS == 1 && MOST > ANY ? (int)SINGLE : MOST };
        return l2k_launch_iterator<forward_iterator<W, Reader, D>, WARPS>(p, stream);
    }
};

/* Of a named kernel, fewer (README.md in this folder): one component, packed samples as wide as the LL samples, or any
 * layout. Fewer warps of a multiprocessor go further down, with fewer rows to warm up for. */
template <class W, class D> struct forward_kernel_form {
    enum { IS_16 = sizeof(D) == 2 && W::arithmetic::NARROW, OF_16 = W::ROWS <= 6 ? 16 : 8 };
    enum { PLAIN = IS_16 ? (int)OF_16 : W::ROWS <= 4 ? 16 : W::ROWS <= 10 ? 12 : 8, ANY = 8 };
    typedef l2k_packed_reader<W, typename std::conditional<IS_16, uint16_t, typename W::T>::type, 1, 8> packed;

    static int launch(l2k_cuda_level_pass p, cudaStream_t stream)
    {
        if (l2k_form_of(p) != (IS_16 ? L2K_FORM_16 : L2K_FORM_32))
            return l2k_launch_iterator<forward_iterator<W, l2k_any_reader<W, 1, 8>, D>, ANY>(p, stream);
        flip_signs(p.samples, p.components);
        return l2k_launch_iterator<forward_iterator<W, packed, D>, PLAIN>(p, stream);
    }
};

template <class Kernel> using forward_by_kernel = l2k_by_kernel<forward_kernel_form, Kernel, false>;

} // namespace

#endif
