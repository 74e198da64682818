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
    typedef l2k_landing<D, HALF> landing;
    l2k_lane_run<HALF> low, high;
    l2k_span low_rows, high_rows;

    /* `warp` and `lane` are the columns at which they begin, and the spans the level's samples. */
    __device__ __forceinline__ band_loads(const l2k_cuda_bands &b, int level, int warp, int lane, l2k_span x, l2k_span y)
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

    /* Row n of a band; where the band lacks it, nothing that counts. */
    template <bool BORDER>
    __device__ __forceinline__ void load(const l2k_cuda_bands &b, int level, int band, int n, char *slot) const
    {
        l2k_span rows = band & L2K_LH ? high_rows : low_rows;
        if (BORDER && (n < rows.first || n >= rows.end))
            return;
        landing::template load<BORDER>(slot, at(b, level, band, 0, n - rows.first), band & L2K_HL ? high : low);
    }
};

/* Rows of the LL of a launch's first level to be undone: band 0 of the coefficients, or LL samples that the launch before
 * left. The 5/3 has the latter in 16 or 32 bits, the 9/7 in floats. */
template <class T, int N> struct low_loads {
    typedef l2k_landing<int16_t, N> narrow;
    typedef l2k_landing<int32_t, N> wide;
    enum { SLOT = wide::SIZE };
    l2k_lane_run<N> run;
    l2k_span rows;

    __device__ __forceinline__ low_loads(const l2k_cuda_plane &plane, int warp, int lane, l2k_span x, l2k_span y)
        : rows(l2k_low_span(y))
    {
        l2k_span columns = l2k_low_span(x);
        int first = (warp >> 1) - columns.first;
        run = {(lane >> 1) - columns.first, l2k_length(columns),
               plane.type == L2K_SAMPLE_S16 ? l2k_is_aligned<int16_t>(plane, first, narrow::ACCESS)
                                            : l2k_is_aligned<int32_t>(plane, first, wide::ACCESS)};
    }
    template <bool BORDER> __device__ __forceinline__ void load(const l2k_cuda_plane &plane, int n, char *slot) const
    {
        if (BORDER && (n < rows.first || n >= rows.end))
            return;
        if (plane.type == L2K_SAMPLE_S16)
            narrow::template load<BORDER>(slot, l2k_plane_row<const int16_t>(plane, n - rows.first), run);
        else
            wide::template load<BORDER>(slot, l2k_plane_row<const int32_t>(plane, n - rows.first), run);
    }
    static __device__ __forceinline__ void unpack(const l2k_cuda_plane &plane, float half_step, bool floats, char *slot,
                                                  T (&v)[N])
    {
        if (plane.type == L2K_SAMPLE_S16)
            l2k_from_coefficients(narrow::get(slot), half_step, false, v);
        else
            l2k_from_coefficients(wide::get(slot), half_step, floats, v);
    }
};

/* ---- Kernel -------------------------------------------------------------------------------------------------- */

/* One level of one component: the rows of three bands as they land, and the LL row from elsewhere. */
template <class W, class D, int N> struct inverse_level {
    typedef typename W::T T;
    typedef band_loads<D, N> loads;
    typedef typename loads::landing landing;
    enum { SLOT = 3 * landing::SIZE };
    typename W::template inverse_rows<N> rows;

    static __device__ __forceinline__ char *place(char *slot, int band)
    {
        return slot + (band - L2K_HL) * landing::SIZE;
    }

    template <bool BORDER>
    static __device__ __forceinline__ void load(const l2k_cuda_bands &b, int level, const loads &from, int n, char *slot)
    {
#pragma unroll
        for (int band = L2K_HL; band <= L2K_HH; band++)
            from.template load<BORDER>(b, level, band, n, place(slot, band));
    }

    /* Rows 2 n (low) and 2 n + 1 (high) of the bands; two finished rows leave. */
    template <bool BORDER>
    __device__ __forceinline__ void push(const l2k_cuda_bands &b, int level, const l2k_lane_columns &lane, l2k_span y,
                                         char *slot, const T (&ll)[N / 2], int n, bool floats, T (&odd)[N], T (&even)[N])
    {
        T low[N], high[N], hl[N / 2], lh[N / 2], hh[N / 2];
        l2k_from_coefficients(landing::get(place(slot, L2K_HL)), b.step[level][L2K_HL].step, floats, hl);
        l2k_from_coefficients(landing::get(place(slot, L2K_LH)), b.step[level][L2K_LH].step, floats, lh);
        l2k_from_coefficients(landing::get(place(slot, L2K_HH)), b.step[level][L2K_HH].step, floats, hh);
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
 * level 1, n = first_row(s), and gives rows 2 n - 1 - 2 DELAY and the three after. */
template <class W, class Sink, class D, int LEVELS> struct inverse_walk {
    typedef typename W::T T;
    typedef inverse_level<W, D, Sink::COLUMNS> level_1;
    typedef inverse_level<W, D, Sink::COLUMNS / 2> level_2;
    enum { N = Sink::COLUMNS, K = Sink::COMPONENTS, LOW_ROWS = LEVELS == 2 ? 1 : 2, LOW = LEVELS == 2 ? N / 4 : N / 2 };
    typedef low_loads<T, LOW> low_type;
    /* A component's part of a slot: two rows of level 1, one of level 2, LL rows. */
    enum { DEEP = 2 * level_1::SLOT, LL = DEEP + (LEVELS == 2 ? level_2::SLOT : 0), PART = LL + LOW_ROWS * low_type::SLOT };
    enum { AHEAD = 2, SLOT = K * PART };
    const l2k_cuda_pass &p;
    int c0, begin;
    l2k_span y2;
    l2k_lane_columns lane1, lane2;
    band_loads<D, N> loads1;
    band_loads<D, N / 2> loads2;
    low_type lows;
    Sink sink;
    bool floats;
    level_1 level1[K];
    level_2 level2[K];

    __device__ __forceinline__ inverse_walk(const l2k_cuda_pass &pass, const l2k_strip<W, N> &strip, int component)
        : p(pass), c0(component), begin(strip.begin), y2(l2k_low_span(pass.y)), lane1{strip.column, pass.x},
          lane2{strip.column >> 1, l2k_low_span(pass.x)},
          loads1(pass.bands[component], 0, strip.first_column, strip.column, pass.x, pass.y),
          loads2(pass.bands[component], LEVELS - 1, strip.first_column >> 1, strip.column >> 1, l2k_low_span(pass.x), y2),
          lows(pass.low[component], strip.first_column >> (LEVELS - 1), strip.column >> (LEVELS - 1),
               LEVELS == 2 ? l2k_low_span(pass.x) : pass.x, LEVELS == 2 ? y2 : pass.y),
          sink(&pass.samples[component], strip.first_column - pass.x.first, strip.column - pass.x.first,
               l2k_length(pass.x), strip.inner),
          floats(pass.type == L2K_COEFFICIENT_FLOAT32)
    {
    }

    static __device__ __forceinline__ int first_row(int step)
    {
        return 2 * step - 1 - 2 * W::DELAY;
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

    template <bool BORDER> __device__ __forceinline__ void load(int step, char *slot) const
    {
        int n = first_row(step);
#pragma unroll
        for (int c = 0; c < K; c++, slot += PART) {
            const l2k_cuda_bands &bands = p.bands[c0 + c];
            level_1::template load<BORDER>(bands, 0, loads1, n, slot);
            level_1::template load<BORDER>(bands, 0, loads1, n + 1, slot + level_1::SLOT);
            if (LEVELS == 2)
                level_2::template load<BORDER>(bands, 1, loads2, step, slot + DEEP);
#pragma unroll
            for (int j = 0; j < LOW_ROWS; j++)
                lows.template load<BORDER>(p.low[c0 + c], LEVELS == 2 ? step : n + j, slot + LL + j * low_type::SLOT);
        }
    }

    template <bool BORDER> __device__ __forceinline__ void take(int step, char *slot)
    {
        T ll[2][K][N / 2];
#pragma unroll
        for (int c = 0; c < K; c++)
            take_low<BORDER>(step, c, slot + c * PART, ll[0][c], ll[1][c]);
#pragma unroll
        for (int j = 0; j < 2; j++) {
            int n = first_row(step) + j, y = 2 * n - 1 - 2 * W::DELAY;
            T odd[K][N], even[K][N];
#pragma unroll
            for (int c = 0; c < K; c++)
                level1[c].template push<BORDER>(p.bands[c0 + c], 0, lane1, p.y, slot + c * PART + j * level_1::SLOT, ll[j][c],
                                                n, floats, odd[c], even[c]);
            if (step >= begin) {
                store<BORDER>(y, odd);
                store<BORDER>(y + 1, even);
            }
        }
    }

  private:
    /* The two LL rows of level 1: from level 2, or as they are. */
    template <bool BORDER>
    __device__ __forceinline__ void take_low(int step, int c, char *slot, T (&odd)[N / 2], T (&even)[N / 2])
    {
        const l2k_cuda_bands &bands = p.bands[c0 + c];
        bool known = !p.low_in_bands || floats; /* LL as values */
        float half_step = bands.step[LEVELS - 1][L2K_LL].step;
        T low[LOW_ROWS][LOW];
#pragma unroll
        for (int j = 0; j < LOW_ROWS; j++)
            low_type::unpack(p.low[c0 + c], half_step, known, slot + LL + j * low_type::SLOT, low[j]);
        if (LEVELS == 2) {
            T ll[N / 4];
#pragma unroll
            for (int k = 0; k < N / 4; k++)
                ll[k] = low[0][k];
            level2[c].template push<BORDER>(bands, 1, lane2, y2, slot + DEEP, ll, step, floats, odd, even);
        } else {
#pragma unroll
            for (int k = 0; k < N / 2; k++) {
                odd[k] = low[0][k % LOW];
                even[k] = low[LOW_ROWS - 1][k % LOW];
            }
        }
    }
    template <bool BORDER> __device__ __forceinline__ void store(int y, T (&v)[K][N]) const
    {
        if (!BORDER || (y >= p.y.first && y < p.y.end))
            sink.template store<BORDER>(y - p.y.first, v);
    }
};

template <class W, class Sink, class D, int LEVELS, int WARPS>
__global__ void __launch_bounds__(32, WARPS) inverse_kernel(const __grid_constant__ l2k_cuda_pass p)
{
    typedef inverse_walk<W, Sink, D, LEVELS> walk_type;
    __shared__ __align__(16) char memory[l2k_ring<walk_type>::BYTES];
    l2k_strip<W, Sink::COLUMNS> strip(p);
    walk_type walk(p, strip, (int)blockIdx.y);
    l2k_walk_down(walk, strip, p.warm_up, strip.is_inside(p.x) && walk.is_aligned(), memory);
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
    enum { PLAIN = W::DELAY ? 16 : 20, JOINED = W::DELAY ? 12 : 16 };
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
