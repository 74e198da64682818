/* One or two decomposition levels, inverse: dequantiser in the loads, lifting in registers, pixel pass in the stores. */
#include "quant/quantiser_cuda.cuh"
#include "tiling/pixel_cuda.cuh"
#include "transform/strips_cuda.cuh"

namespace
{

/* ---- Loads --------------------------------------------------------------------------------------------------- */

/* Where a lane's N columns of a level come from: N / 2 low and N / 2 high ones, and which rows there are. */
template <class D, int N> struct band_loads {
    enum { HALF = N / 2 };
    typedef l2k_packed<D, HALF> packed;
    l2k_lane_run<HALF> low, high;
    l2k_span low_rows, high_rows;

    /* `warp` and `lane` are the columns at which they begin, and the spans the level's samples. */
    __device__ __forceinline__ band_loads(const l2k_cuda_bands &b, int level, int warp, int lane, l2k_span x, l2k_span y)
        : low_rows(l2k_low_span(y)), high_rows(l2k_high_span(y))
    {
        l2k_span low_columns = l2k_low_span(x), high_columns = l2k_high_span(x);
        low = {(lane >> 1) - low_columns.first, l2k_length(low_columns),
               packed::is_aligned(at(b, level, L2K_LH, (warp >> 1) - low_columns.first, 0))};
        high = {(lane >> 1) - high_columns.first, l2k_length(high_columns),
                packed::is_aligned(at(b, level, L2K_HL, (warp >> 1) - high_columns.first, 0))};
    }

    static __device__ __forceinline__ const D *at(const l2k_cuda_bands &b, int level, int band, int x, int y)
    {
        return reinterpret_cast<const D *>(b.at[level][band]) + x + (int64_t)y * b.stride;
    }

    /* Row n of a band; where the band lacks it, nothing that counts. */
    template <bool BORDER>
    __device__ __forceinline__ void load(const l2k_cuda_bands &b, int level, int band, int n, packed *raw) const
    {
        const l2k_lane_run<HALF> &run = band & L2K_HL ? high : low;
        l2k_span rows = band & L2K_LH ? high_rows : low_rows;
        if (BORDER && (n < rows.first || n >= rows.end))
            return;
        l2k_load_run<BORDER>(at(b, level, band, run.first, n - rows.first), run, raw);
    }
};

/* A row of the LL of a launch's first level to be undone: band 0 of the coefficients, or LL samples that the launch before
 * left. The 5/3 has the latter in 16 or 32 bits, the 9/7 in floats. */
template <class T, int N> struct low_row {
    uint32_t words[N];

    template <bool BORDER>
    __device__ __forceinline__ void load(const l2k_cuda_plane &plane, const l2k_lane_run<N> &run, l2k_span rows, int n)
    {
        if (BORDER && (n < rows.first || n >= rows.end))
            return;
        const char *row = plane.data + (int64_t)(n - rows.first) * plane.row_stride;
        if (plane.type == L2K_SAMPLE_S16)
            load_as<BORDER, int16_t>(row, run);
        else
            load_as<BORDER, int32_t>(row, run);
    }
    __device__ __forceinline__ void unpack(const l2k_cuda_plane &plane, float half_step, bool floats, T (&v)[N]) const
    {
        if (plane.type == L2K_SAMPLE_S16)
            l2k_from_coefficients(as<int16_t>(), half_step, false, v);
        else
            l2k_from_coefficients(as<int32_t>(), half_step, floats, v);
    }

  private:
    template <class S> __device__ __forceinline__ l2k_packed<S, N> as() const
    {
        l2k_packed<S, N> raw;
#pragma unroll
        for (int i = 0; i < l2k_packed<S, N>::WORDS; i++)
            raw.words.w[i] = words[i];
        return raw;
    }
    template <bool BORDER, class S> __device__ __forceinline__ void load_as(const char *row, l2k_lane_run<N> run)
    {
        l2k_packed<S, N> raw = {};
        const S *from = reinterpret_cast<const S *>(row) + run.first;
        run.aligned = l2k_packed<S, N>::is_aligned(from);
        l2k_load_run<BORDER>(from, run, &raw);
#pragma unroll
        for (int i = 0; i < l2k_packed<S, N>::WORDS; i++)
            words[i] = raw.words.w[i];
    }
};

/* ---- Kernel -------------------------------------------------------------------------------------------------- */

/* One level of one component: the rows of three bands as they are loaded, and the LL row from elsewhere. */
template <class W, class D, int N> struct inverse_level {
    typedef typename W::T T;
    typedef band_loads<D, N> loads;
    struct raw {
        typename loads::packed band[4]; /* by orientation, the first unused */
    };
    typename W::template inverse_rows<N> rows;

    template <bool BORDER>
    static __device__ __forceinline__ void load(const l2k_cuda_bands &b, int level, const loads &from, int n, raw *r)
    {
#pragma unroll
        for (int band = L2K_HL; band <= L2K_HH; band++)
            from.template load<BORDER>(b, level, band, n, &r->band[band]);
    }

    /* Rows 2 n (low) and 2 n + 1 (high) of the bands; two finished rows leave. */
    template <bool BORDER>
    __device__ __forceinline__ void push(const l2k_cuda_bands &b, int level, const l2k_lane_columns &lane, l2k_span y,
                                         const raw &r, const T (&ll)[N / 2], int n, bool floats, T (&odd)[N], T (&even)[N])
    {
        T low[N], high[N], hl[N / 2], lh[N / 2], hh[N / 2];
        l2k_from_coefficients(r.band[L2K_HL], b.step[level][L2K_HL].step, floats, hl);
        l2k_from_coefficients(r.band[L2K_LH], b.step[level][L2K_LH].step, floats, lh);
        l2k_from_coefficients(r.band[L2K_HH], b.step[level][L2K_HH].step, floats, hh);
#pragma unroll
        for (int k = 0; k < N / 2; k++) {
            low[2 * k] = ll[k];
            low[2 * k + 1] = hl[k];
            high[2 * k] = lh[k];
            high[2 * k + 1] = hh[k];
        }
        l2k_row<W, false, BORDER>(low, lane);
        l2k_row<W, false, BORDER>(high, lane);
        rows.template push<BORDER>(low, high, 2 * n, y, odd, even);
    }
};

/* A warp on its way down a strip, four rows of samples a step: step s takes row s of level 2 and rows n and n + 1 of
 * level 1, n = first_row(s), and gives rows 2 n - 1 - 2 DELAY and the three after. The coefficients of the next step are
 * under way while those of this one are worked on. */
template <class W, class Sink, class D, int LEVELS> struct inverse_walk {
    typedef typename W::T T;
    enum { N = Sink::COLUMNS, K = Sink::COMPONENTS, LOW_ROWS = LEVELS == 2 ? 1 : 2, LOW = LEVELS == 2 ? N / 4 : N / 2 };
    typedef inverse_level<W, D, N> level_1;
    typedef inverse_level<W, D, N / 2> level_2;
    const l2k_cuda_pass &p;
    int c0, begin;
    l2k_span y2;
    l2k_lane_columns lane1, lane2;
    band_loads<D, N> loads1;
    band_loads<D, N / 2> loads2;
    Sink sink;
    bool floats;
    level_1 level1[K];
    level_2 level2[K];
    typename level_1::raw raw1[K][2];
    typename level_2::raw raw2[K];
    low_row<T, LOW> low[K][LOW_ROWS];

    __device__ __forceinline__ inverse_walk(const l2k_cuda_pass &pass, const l2k_strip<W, N> &strip, int component)
        : p(pass), c0(component), begin(strip.begin), y2(l2k_low_span(pass.y)), lane1{strip.column, pass.x},
          lane2{strip.column >> 1, l2k_low_span(pass.x)},
          loads1(pass.bands[component], 0, strip.first_column, strip.column, pass.x, pass.y),
          loads2(pass.bands[component], LEVELS - 1, strip.first_column >> 1, strip.column >> 1, l2k_low_span(pass.x), y2),
          sink(&pass.samples[component], strip.first_column - pass.x.first, strip.column - pass.x.first,
               l2k_length(pass.x), strip.inner),
          floats(pass.type == L2K_COEFFICIENT_FLOAT32), raw1(), raw2(), low()
    {
    }

    static __device__ __forceinline__ int first_row(int step)
    {
        return 2 * step - 1 - 2 * W::DELAY;
    }

    __device__ __forceinline__ void load_first(int step)
    {
#pragma unroll
        for (int c = 0; c < K; c++) {
            load_row<true>(c, 0, first_row(step));
            load_row<true>(c, 1, first_row(step) + 1);
            load_deep_row<true>(c, step);
        }
    }

    /* Steps that neither see rows beyond a border nor load any, at both levels. */
    __device__ __forceinline__ bool is_inside(int step) const
    {
        return 2 * first_row(step) - 10 >= p.y.first && 4 * step + 10 < p.y.end;
    }

    template <bool BORDER> __device__ __forceinline__ void take(int step)
    {
        T ll[2][K][N / 2];
        bool known = !p.low_in_bands || floats; /* LL as values */
#pragma unroll
        for (int c = 0; c < K && LEVELS == 2; c++) {
            const l2k_cuda_bands &bands = p.bands[c0 + c];
            T deepest[LOW];
            low[c][0].unpack(p.low[c0 + c], bands.step[1][L2K_LL].step, known, deepest);
            level2[c].template push<BORDER>(bands, 1, lane2, y2, raw2[c], cut<N / 4>(deepest), step, floats, ll[0][c],
                                            ll[1][c]);
            load_deep_row<BORDER>(c, step + 1);
        }
#pragma unroll
        for (int j = 0; j < 2; j++) {
            int n = first_row(step) + j, y = 2 * n - 1 - 2 * W::DELAY;
            T odd[K][N], even[K][N];
#pragma unroll
            for (int c = 0; c < K; c++) {
                const l2k_cuda_bands &bands = p.bands[c0 + c];
                if (LEVELS == 1)
                    low[c][j % LOW_ROWS].unpack(p.low[c0 + c], bands.step[0][L2K_LL].step, known, cut<LOW>(ll[j][c]));
                level1[c].template push<BORDER>(bands, 0, lane1, p.y, raw1[c][j], ll[j][c], n, floats, odd[c], even[c]);
                load_row<BORDER>(c, j, n + 2);
            }
            if (step >= begin) {
                store<BORDER>(y, odd);
                store<BORDER>(y + 1, even);
            }
        }
    }

  private:
    template <bool BORDER> __device__ __forceinline__ void load_row(int c, int j, int n)
    {
        level_1::template load<BORDER>(p.bands[c0 + c], 0, loads1, n, &raw1[c][j]);
        if (LEVELS == 1)
            low[c][j % LOW_ROWS].template load<BORDER>(p.low[c0 + c], resize<LOW>(loads1.low), loads1.low_rows, n);
    }
    template <bool BORDER> __device__ __forceinline__ void load_deep_row(int c, int n)
    {
        if (LEVELS == 1)
            return;
        level_2::template load<BORDER>(p.bands[c0 + c], 1, loads2, n, &raw2[c]);
        low[c][0].template load<BORDER>(p.low[c0 + c], resize<LOW>(loads2.low), loads2.low_rows, n);
    }
    template <bool BORDER> __device__ __forceinline__ void store(int y, T (&v)[K][N]) const
    {
        if (!BORDER || (y >= p.y.first && y < p.y.end))
            sink.template store<BORDER>(y - p.y.first, v);
    }

    /* Names for what the compiler cannot know to be of one size, in the branch that is not taken. */
    template <int M, int M0> static __device__ __forceinline__ l2k_lane_run<M> resize(const l2k_lane_run<M0> &run)
    {
        return l2k_lane_run<M>{run.first, run.count, run.aligned};
    }
    template <int M, int M0> static __device__ __forceinline__ T (&cut(T (&v)[M0]))[M]
    {
        return reinterpret_cast<T (&)[M]>(v);
    }
};

template <class W, class Sink, class D, int LEVELS, int WARPS>
__global__ void __launch_bounds__(32, WARPS) inverse_kernel(const __grid_constant__ l2k_cuda_pass p)
{
    l2k_strip<W, Sink::COLUMNS> strip(p);
    inverse_walk<W, Sink, D, LEVELS> walk(p, strip, (int)blockIdx.y);
    bool inside = strip.is_inside(p.x);
    int step = strip.begin - p.warm_up;
    walk.load_first(step);
    for (; step < strip.end; step++)
        if (inside && walk.is_inside(step))
            walk.template take<false>(step);
        else
            walk.template take<true>(step);
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
            l2k_from_coefficients(q, b.step[0][L2K_LL].step, p.type == L2K_COEFFICIENT_FLOAT32, v[c]);
        }
        if (p.samples[c0].type == L2K_SAMPLE_F32)
            *reinterpret_cast<float *>(p.samples[c0].data + (int64_t)y * p.samples[c0].row_stride +
                                       (int64_t)x * p.samples[c0].sample_stride) = (float)v[0][0];
        else
            sink.template store<true>(y, v);
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
    const int launches = p.components / Sink::COMPONENTS;
    int warps = WARPS, error = l2k_resident_warps(&warps);
    if (error != cudaSuccess)
        return error;
    set_steps<W>(&p);
    l2k_share_steps(&p, l2k_halo<W, Sink::COLUMNS>::INNER * Sink::COLUMNS, launches, warps);
    dim3 grid(p.strips * l2k_divide_up(p.end_step - p.first_step, p.steps), launches);
    inverse_kernel<W, Sink, D, LEVELS, WARPS><<<grid, 32, 0, stream>>>(p);
    return cudaGetLastError();
}

template <class W, class Sink, class D, int WARPS> int launch_strips(const l2k_cuda_pass &p, cudaStream_t stream)
{
    return p.levels == 2 ? launch_levels<W, Sink, D, 2, WARPS>(p, stream) : launch_levels<W, Sink, D, 1, WARPS>(p, stream);
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
template <class W> struct warps {
    enum { PLAIN = W::DELAY ? 14 : 20, JOINED = W::DELAY ? 11 : 16 };
};

template <class W, class D> int launch_joined(const l2k_cuda_pass &p, cudaStream_t stream)
{
    int bits = l2k_sample_bits(p.samples[0].type);
    if (bits == 8 && l2k_are_triples<uint8_t>(p.samples))
        return launch_strips<W, l2k_triple_sink<W, uint8_t, 4>, D, warps<W>::JOINED>(p, stream);
    if (bits == 16 && l2k_are_triples<uint16_t>(p.samples))
        return launch_strips<W, l2k_triple_sink<W, uint16_t, 4>, D, warps<W>::JOINED>(p, stream);
    return launch_strips<W, l2k_any_sink<W, 3, 4>, D, warps<W>::JOINED>(p, stream);
}

template <class W> struct wide_sink; /* 32-bit samples: integers for the 5/3, floats for the 9/7 */
template <> struct wide_sink<l2k_wavelet_53> {
    typedef l2k_plane_sink<l2k_wavelet_53, int32_t, 8> type;
    enum { SAMPLES = L2K_SAMPLE_S32 };
};
template <> struct wide_sink<l2k_wavelet_97> {
    typedef l2k_plane_sink<l2k_wavelet_97, float, 8> type;
    enum { SAMPLES = L2K_SAMPLE_F32 };
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
        return launch_strips<W, l2k_plane_sink<W, uint8_t, 8>, D, warps<W>::PLAIN>(p, stream);
    if (words)
        return launch_strips<W, l2k_plane_sink<W, uint16_t, 8>, D, warps<W>::PLAIN>(p, stream);
    if (wide)
        return launch_strips<W, typename wide_sink<W>::type, D, warps<W>::PLAIN>(p, stream);
    return launch_strips<W, l2k_any_sink<W, 1, 8>, D, warps<W>::PLAIN>(p, stream);
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
    return narrow ? launch<l2k_wavelet_97, int16_t>(*p, stream) : launch<l2k_wavelet_97, int32_t>(*p, stream);
}
