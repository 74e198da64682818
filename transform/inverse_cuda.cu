/* One or two decomposition levels, inverse: dequantiser in the loads, lifting in registers, pixel pass in the stores.
 */
#include "quant/quantiser_cuda.cuh"
#include "tiling/pixel_cuda.cuh"
#include "transform/strips_cuda.cuh"

namespace
{

/* ---- Loads --------------------------------------------------------------------------------------------------- */

/* Where a lane's N columns of a level come from: N / 2 low and N / 2 high ones, and which rows there are. */
template <class D, int N> struct band_loads {
    enum { HALF = N / 2 };
    typedef l2k_landing<D, HALF> landing;
    l2k_lane_run<HALF> low, high;
    l2k_span low_rows, high_rows;

    /* `warp` and `lane` are the columns at which they begin, and the spans the level's samples. */
    __device__ __forceinline__ band_loads(const l2k_cuda_bands &b, int level, int warp, int lane, l2k_span x,
                                          l2k_span y)
        : low_rows(l2k_low_span(y)), high_rows(l2k_high_span(y))
    {
        l2k_span low_columns = l2k_low_span(x), high_columns = l2k_high_span(x);
        low = {(lane >> 1) - low_columns.first, l2k_length(low_columns),
               (uintptr_t)at(b, level, L2K_LH, (warp >> 1) - low_columns.first, 0) % landing::ACCESS == 0};
        high = {(lane >> 1) - high_columns.first, l2k_length(high_columns),
                (uintptr_t)at(b, level, L2K_HL, (warp >> 1) - high_columns.first, 0) % landing::ACCESS == 0};
    }

    static __device__ __forceinline__ const D *at(const l2k_cuda_bands &b, int level, int band, int x, int y)
    {
        return reinterpret_cast<const D *>(b.at[level][band]) + x + (int64_t)y * b.stride;
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

    /* Row n of a band; where the band lacks it, nothing that counts. */
    __device__ __forceinline__ void load(const l2k_cuda_bands &b, int level, int band, int n, int lane,
                                         l2k_shared slot) const
    {
        if (n >= rows(band).first && n < rows(band).end)
            landing::load(slot, lane, at(b, level, band, 0, n - rows(band).first), run(band));
    }
    /* The lane's place in it, where it has one. */
    __device__ __forceinline__ l2k_cursor<const D> from(const l2k_cuda_bands &b, int level, int band, int n) const
    {
        return l2k_cursor<const D>(at(b, level, band, run(band).first, n - rows(band).first), b.stride * (int)sizeof(D),
                                   !run(band).is_empty());
    }
};

/* Rows of the LL of a launch's first level to be undone: band 0 of the coefficients, or LL samples that the launch
 * before left. The 5/3 has the latter in 16 or 32 bits, the 9/7 in floats. */
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
    /* `known`: the values themselves, not coefficients. */
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

/* A warp on its way down a strip, four rows of samples a step: step s takes row s of level 2 and rows n and n + 1 of
 * level 1, n = first_row(s), and gives rows 2 n - 1 - 2 DELAY and the three after. */
template <class W, class Sink, class D, int LEVELS> struct inverse_walk {
    typedef typename W::T T;
    enum { N = Sink::COLUMNS, K = Sink::COMPONENTS, LOW_ROWS = LEVELS == 2 ? 1 : 2, LOW = LEVELS == 2 ? N / 4 : N / 2 };
    typedef typename band_loads<D, N>::landing landing1;
    typedef typename band_loads<D, N / 2>::landing landing2;
    typedef low_loads<T, LOW> low_type;
    /* A component's part of a slot: twice three bands of level 1, three of level 2, LL rows. */
    enum {
        DEEP = 6 * landing1::SIZE,
        LL = DEEP + (LEVELS == 2 ? 3 * landing2::SIZE : 0),
        PART = LL + LOW_ROWS * low_type::SLOT
    };
    enum { AHEAD = 2, SLOT = K * PART };
    /* Two levels reach 6 (5/3) or 12 (9/7) columns. Three lanes of four would do for the latter, but then pairs of
     * lanes would not lie at pairs of level 2's coefficients. */
    enum { HALO = LEVELS == 1 && N == 4 ? 1 : (W::DELAY ? 2 : 1) * (N == 8 ? 1 : 2) };
    enum { MOST_STEPS = W::DELAY == 0 && K == 1 ? 4 : 1 << 20 }; /* measured: bench/lab/README.md */
    enum { UNROLLED = W::DELAY ? 1 : 2 };                        /* the 9/7's code is long enough */
    enum { PAIRS = K == 1 && W::DELAY == 0 ? 2 : 1 }; /* of rows that go through level 1 together, as registers allow */
    const l2k_cuda_pass &p;
    int c0, begin, lane;
    l2k_span y2;
    l2k_lane_columns lane1, lane2;
    band_loads<D, N> loads1;
    band_loads<D, N / 2> loads2;
    low_type lows;
    Sink sink;
    typename W::template inverse_rows<N> rows1[K];
    typename W::template inverse_rows<N / 2> rows2[K];

    __device__ __forceinline__ inverse_walk(const l2k_cuda_pass &pass, const l2k_strip<HALO, N> &strip, int component)
        : p(pass), c0(component), begin(strip.begin), lane(strip.lane),
          y2(l2k_low_span(pass.y)), lane1{strip.column, pass.x}, lane2{strip.column >> 1, l2k_low_span(pass.x)},
          loads1(pass.bands[component], 0, strip.first_column, strip.column, pass.x, pass.y),
          loads2(pass.bands[component], LEVELS - 1, strip.first_column >> 1, strip.column >> 1, l2k_low_span(pass.x),
                 y2),
          lows(pass.low[component], strip.first_column >> (LEVELS - 1), strip.column >> (LEVELS - 1),
               LEVELS == 2 ? l2k_low_span(pass.x) : pass.x, LEVELS == 2 ? y2 : pass.y),
          sink(&pass.samples[component], strip.first_column - pass.x.first, strip.column - pass.x.first,
               l2k_length(pass.x), strip.keeps)
    {
    }

    static __device__ __forceinline__ int first_row(int step)
    {
        return 2 * step - 1 - 2 * W::DELAY;
    }
    /* The first of the four rows of samples that step `step` gives. */
    static __device__ __forceinline__ int row_of(int step)
    {
        return 2 * first_row(step) - 1 - 2 * W::DELAY;
    }

    /* Steps that neither see rows beyond a border nor load any, at both levels. */
    __device__ __forceinline__ l2k_span inside() const
    {
        return l2k_span{(p.y.first + 15 + 4 * W::DELAY) >> 2, ((p.y.end - 4) >> 2) - AHEAD + 1};
    }

    /* Whether whole accesses fit everywhere. */
    __device__ __forceinline__ bool is_aligned() const
    {
        return loads1.is_aligned() && (LEVELS == 1 || loads2.is_aligned()) && lows.run.aligned && sink.is_aligned();
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

    /* The way that looks for borders. */
    struct careful {
        enum { BORDER = true };
        const inverse_walk &walk;

        __device__ __forceinline__ explicit careful(const inverse_walk &w) : walk(w)
        {
        }
        __device__ __forceinline__ void load(int step, l2k_shared slot) const
        {
#pragma unroll
            for (int c = 0; c < K; c++) {
                const l2k_cuda_bands &bands = walk.p.bands[walk.c0 + c];
#pragma unroll
                for (int band = L2K_HL; band <= L2K_HH; band++) {
#pragma unroll
                    for (int j = 0; j < 2; j++)
                        walk.loads1.load(bands, 0, band, first_row(step) + j, walk.lane, place1(slot, c, j, band));
                    if (LEVELS == 2)
                        walk.loads2.load(bands, 1, band, step, walk.lane, place2(slot, c, band));
                }
#pragma unroll
                for (int j = 0; j < LOW_ROWS; j++)
                    walk.lows.load(walk.p.low[walk.c0 + c], LEVELS == 2 ? step : first_row(step) + j, walk.lane,
                                   place_low(slot, c, j));
            }
        }
        __device__ __forceinline__ void store(int step, int r, T (&v)[K][N]) const
        {
            int q = row_of(step) + r;
            if (step >= walk.begin && q >= walk.p.y.first && q < walk.p.y.end)
                walk.sink.store(q - walk.p.y.first, v);
        }
        __device__ __forceinline__ void end()
        {
        }
    };

    /* The way in which pointers run along; those of other components differ from the first's by what their planes do.
     */
    struct quick {
        enum { BORDER = false };
        const inverse_walk &walk;
        l2k_cursor<const D> first[4], second[4];
        l2k_cursor<const char> low;
        typename Sink::cursor out;

        __device__ __forceinline__ quick(const inverse_walk &w, int step, int ahead)
            : walk(w), low(w.lows.from(w.p.low[w.c0], LEVELS == 2 ? ahead : first_row(ahead))),
              out(w.sink.from(row_of(step) - w.p.y.first))
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
                            landing1::copy(place1(slot, c, j, band), walk.lane, first[band].place(j, offset(c)),
                                           landing1::BYTES);
                    if (LEVELS == 2 && second[band].some)
                        landing2::copy(place2(slot, c, band), walk.lane, second[band].place(0, offset(c)),
                                       landing2::BYTES);
                }
#pragma unroll
                for (int j = 0; j < LOW_ROWS; j++)
                    walk.lows.load(low, j, K == 1 ? 0 : walk.p.low[c].data - walk.p.low[0].data, walk.lane,
                                   place_low(slot, c, j));
            }
        }
        __device__ __forceinline__ void store(int step, int r, T (&v)[K][N]) const
        {
            walk.sink.store(out, r, v, step >= walk.begin);
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
            return K == 1 ? 0 : (char *)walk.p.bands[c].at[0][0] - (char *)walk.p.bands[0].at[0][0];
        }
    };

    template <class Way> __device__ __forceinline__ void take(Way &way, int step, l2k_shared slot)
    {
        T ll[2][K][N / 2];
        take_low<Way>(step, slot, ll[0], ll[1]);
#pragma unroll(UNROLLED)
        for (int j = 0; j < 2; j += PAIRS) {
            T in[PAIRS][2 * K][N];
#pragma unroll
            for (int i = 0; i < PAIRS; i++)
                arrange<N>(in[i], ll[i], 0,
                           [&](int c, int band) { return landing1::get(place1(slot, c, j + i, band), lane); });
            for (int c = 0; c < K; c++)
                l2k_copy_row(ll[0][c], ll[1][c]); /* so that the loop may stay one */
            l2k_rows<W, false, Way::BORDER>(reinterpret_cast<T(&)[PAIRS * 2 * K][N]>(in), lane1);
#pragma unroll
            for (int i = 0; i < PAIRS; i++) {
                T odd[K][N], even[K][N];
#pragma unroll
                for (int c = 0; c < K; c++)
                    rows1[c].template push<Way::BORDER>(in[i][2 * c], in[i][2 * c + 1], 2 * (first_row(step) + j + i),
                                                        p.y, odd[c], even[c]);
                way.store(step, 2 * (j + i), odd);
                way.store(step, 2 * (j + i) + 1, even);
            }
        }
        way.end();
    }

  private:
    /* A low and a high row of each component from its bands. */
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

    /* The two LL rows of level 1: from level 2, or as they are. */
    template <class Way>
    __device__ __forceinline__ void take_low(int step, l2k_shared slot, T (&odd)[K][N / 2], T (&even)[K][N / 2])
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
            l2k_rows<W, false, Way::BORDER>(in, lane2);
#pragma unroll
            for (int c = 0; c < K; c++)
                rows2[c].template push<Way::BORDER>(in[2 * c], in[2 * c + 1], 2 * step, y2, odd[c], even[c]);
        } else {
#pragma unroll
            for (int c = 0; c < K; c++) {
                l2k_copy_row(odd[c], low[0][c]);
                l2k_copy_row(even[c], low[1][c]);
            }
        }
    }
};

template <class W, class Sink, class D, int LEVELS, int WARPS>
__global__ void __launch_bounds__(32, WARPS) inverse_kernel(const __grid_constant__ l2k_cuda_pass p)
{
    typedef inverse_walk<W, Sink, D, LEVELS> walk_type;
    __shared__ __align__(16) char memory[l2k_ring<walk_type>::BYTES];
    l2k_strip<walk_type::HALO, Sink::COLUMNS> strip(p);
    walk_type walk(p, strip, walk_type::K == 1 ? (int)blockIdx.y : 0);
    l2k_await_previous();
    l2k_walk_down(walk, strip, p.warm_up, strip.is_inside(p.x) && walk.is_aligned(), l2k_shared_address(memory));
}

/* No wavelet: band 0 to samples. */
template <class W, int K, class D> __global__ void copy_kernel(const __grid_constant__ l2k_cuda_pass p)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, c0 = blockIdx.z, width = p.x.end - p.x.first;
    if (x >= width)
        return;
    l2k_any_sink<W, K, 1> sink(&p.samples[c0], 0, x, width, true);
    for (int y = blockIdx.y; y < p.y.end - p.y.first; y += gridDim.y) {
        typename W::T v[K][1];
        for (int c = 0; c < K; c++) {
            const l2k_cuda_bands &b = p.bands[c0 + c];
            l2k_packed<D, 1> q;
            q.load(reinterpret_cast<const D *>(b.at[0][L2K_LL]) + x + (int64_t)y * b.stride);
            l2k_from_coefficients(q, p.steps[c].of[0][L2K_LL].step, v[c]);
        }
        sink.store(y, v);
    }
}

/* ---- Launchers ----------------------------------------------------------------------------------------------- */

/* The steps that give the rows of the samples: step s gives 4 s - 3 - 6 DELAY and the three after. */
template <class W> void set_steps(l2k_cuda_pass *p)
{
    p->first_step = (p->y.first + 3 + 6 * W::DELAY) >> 2;
    p->end_step = ((p->y.end + 2 + 6 * W::DELAY) >> 2) + 1;
    p->warm_up = p->levels == 2 ? (W::DELAY ? 5 : 2) : (W::DELAY ? 2 : 1);
}

template <class W, class Sink, class D, int LEVELS, int WARPS> int launch_levels(l2k_cuda_pass p, cudaStream_t stream)
{
    typedef inverse_walk<W, Sink, D, LEVELS> walk_type;
    const int launches = p.components / Sink::COMPONENTS;
    int warps = WARPS, error = l2k_resident_warps(&warps);
    if (error != cudaSuccess)
        return error;
    set_steps<W>(&p);
    l2k_share_steps(&p, (32 - 2 * walk_type::HALO) * Sink::COLUMNS, launches, warps, walk_type::MOST_STEPS);
    dim3 grid(p.strips * l2k_divide_up(p.end_step - p.first_step, p.steps_each), launches);
    p.follows = p.follows && l2k_may_start_early((int)grid.x * launches, warps);
    return l2k_launch(inverse_kernel<W, Sink, D, LEVELS, WARPS>, grid, 32, false, p.follows, p, stream);
}

template <class W, class Sink, class D, int WARPS> int launch_strips(const l2k_cuda_pass &p, cudaStream_t stream)
{
    return p.levels == 2 ? launch_levels<W, Sink, D, 2, WARPS>(p, stream)
                         : launch_levels<W, Sink, D, 1, WARPS>(p, stream);
}

template <class W, class D> int launch_copy(const l2k_cuda_pass &p, cudaStream_t stream)
{
    int height = p.y.end - p.y.first;
    dim3 grid(l2k_divide_up(p.x.end - p.x.first, 128), height < 65535 ? height : 65535, p.joined ? 1 : p.components);
    if (p.joined)
        copy_kernel<W, 3, D><<<grid, 128, 0, stream>>>(p);
    else
        copy_kernel<W, 1, D><<<grid, 128, 0, stream>>>(p);
    return cudaGetLastError();
}

/* Warps that a processor is to hold: what registers allow without spills. */
template <class W, class D> struct warps {
    enum {
        PLAIN = W::DELAY ? 12 : 16,
        JOINED = (W::DELAY ? 12 : 16) - (sizeof(D) == 2 ? 0 : 4),
        ANY = W::DELAY ? 8 : 12
    };
};

template <class W, class D> int launch_joined(const l2k_cuda_pass &p, cudaStream_t stream)
{
    int bits = l2k_sample_bits(p.samples[0].type);
    if (bits == 8 && l2k_are_triples<uint8_t>(p.samples))
        return launch_strips<W, l2k_triple_sink<W, uint8_t, 4>, D, warps<W, D>::JOINED>(p, stream);
    if (bits == 16 && l2k_are_triples<uint16_t>(p.samples))
        return launch_strips<W, l2k_triple_sink<W, uint16_t, 4>, D, warps<W, D>::JOINED>(p, stream);
    return launch_strips<W, l2k_any_sink<W, 3, 4>, D, warps<W, D>::ANY>(p, stream);
}

template <class W> struct wide_sink; /* 32-bit samples: integers for the 5/3, floats for the 9/7 */
template <> struct wide_sink<l2k_wavelet_53> {
    typedef l2k_plane_sink<l2k_wavelet_53, int32_t, 8> type;
    static const l2k_sample_type SAMPLES = L2K_SAMPLE_S32;
};
template <> struct wide_sink<l2k_wavelet_97> {
    typedef l2k_plane_sink<l2k_wavelet_97, float, 8> type;
    static const l2k_sample_type SAMPLES = L2K_SAMPLE_F32;
};

/* All components of a pass have planes of one kind, or else they are taken as any. */
template <class W, class D> int launch(const l2k_cuda_pass &p, cudaStream_t stream)
{
    if (p.levels == 0)
        return launch_copy<W, D>(p, stream);
    if (p.joined)
        return launch_joined<W, D>(p, stream);
    bool bytes = true, words = true, wide = true;
    for (int c = 0; c < p.components; c++) {
        const l2k_cuda_plane &plane = p.samples[c];
        bytes = bytes && l2k_sample_bits(plane.type) == 8 && l2k_is_packed<uint8_t>(plane);
        words = words && l2k_sample_bits(plane.type) == 16 && l2k_is_packed<uint16_t>(plane);
        wide = wide && plane.type == wide_sink<W>::SAMPLES && l2k_is_packed<int32_t>(plane);
    }
    if (bytes)
        return launch_strips<W, l2k_plane_sink<W, uint8_t, 8>, D, warps<W, D>::PLAIN>(p, stream);
    if (words)
        return launch_strips<W, l2k_plane_sink<W, uint16_t, 8>, D, warps<W, D>::PLAIN>(p, stream);
    if (wide)
        return launch_strips<W, typename wide_sink<W>::type, D, warps<W, D>::PLAIN>(p, stream);
    return launch_strips<W, l2k_any_sink<W, 1, 8>, D, warps<W, D>::ANY>(p, stream);
}

} // namespace

extern "C" int l2k_cuda_inverse_pass(const l2k_cuda_pass *p, void *opaque)
{
    cudaStream_t stream = (cudaStream_t)opaque;
    bool narrow = p->type == L2K_COEFFICIENT_INT16;
    if (p->x.end == p->x.first || p->y.end == p->y.first)
        return cudaSuccess;
    if (p->wavelet == L2K_WAVELET_5_3)
        return narrow ? launch<l2k_wavelet_53, int16_t>(*p, stream) : launch<l2k_wavelet_53, int32_t>(*p, stream);
    if (p->type == L2K_COEFFICIENT_FLOAT32)
        return launch<l2k_wavelet_97, float>(*p, stream);
    return narrow ? launch<l2k_wavelet_97, int16_t>(*p, stream) : launch<l2k_wavelet_97, int32_t>(*p, stream);
}
