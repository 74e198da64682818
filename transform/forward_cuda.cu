/* One or two decomposition levels, forward: pixel pass in the loads, lifting in registers, quantiser in the stores. */
#include "quant/quantiser_cuda.cuh"
#include "tiling/pixel_cuda.cuh"
#include "transform/strips_cuda.cuh"

namespace
{

/* ---- Stores -------------------------------------------------------------------------------------------------- */

/* Where a lane's N columns of a level go: N / 2 low and N / 2 high ones, and which rows there are. */
template <class D, int N> struct band_stores {
    enum { HALF = N / 2 };
    typedef l2k_packed<D, HALF> packed;
    l2k_lane_run<HALF> low, high;
    l2k_span low_rows, high_rows;

    /* `warp` and `lane` are the columns at which they begin, and the spans the level's samples. */
    __device__ __forceinline__ band_stores(const l2k_cuda_bands &b, int level, int warp, int lane, bool inner, l2k_span x,
                                           l2k_span y)
        : low_rows(l2k_low_span(y)), high_rows(l2k_high_span(y))
    {
        l2k_span low_columns = l2k_low_span(x), high_columns = l2k_high_span(x);
        low = {(lane >> 1) - low_columns.first, inner ? l2k_length(low_columns) : 0,
               packed::is_aligned(at(b, level, L2K_LH, (warp >> 1) - low_columns.first, 0))};
        high = {(lane >> 1) - high_columns.first, inner ? l2k_length(high_columns) : 0,
                packed::is_aligned(at(b, level, L2K_HL, (warp >> 1) - high_columns.first, 0))};
    }

    static __device__ __forceinline__ D *at(const l2k_cuda_bands &b, int level, int band, int x, int y)
    {
        return reinterpret_cast<D *>(b.at[level][band]) + x + (int64_t)y * b.stride;
    }

    __device__ __forceinline__ bool is_aligned() const
    {
        return low.aligned && high.aligned;
    }

    /* Row n of a band, if the band has it. */
    template <bool BORDER, class T>
    __device__ __forceinline__ void store(const l2k_cuda_bands &b, int level, int band, const T (&v)[HALF], int n,
                                          bool floats) const
    {
        const l2k_lane_run<HALF> &run = band & L2K_HL ? high : low;
        l2k_span rows = band & L2K_LH ? high_rows : low_rows;
        if (BORDER && (n < rows.first || n >= rows.end))
            return;
        packed q;
        l2k_to_coefficients(v, b.step[level][band], floats, &q);
        l2k_store_run<BORDER>(at(b, level, band, 0, n - rows.first), run, q);
    }
};

/* LL samples on their way to the next launch. */
template <bool BORDER, class S, class T, int N>
__device__ __forceinline__ void store_low(const l2k_cuda_plane &plane, l2k_lane_run<N> run, l2k_span rows, const T (&v)[N],
                                          int n)
{
    if (BORDER && (n < rows.first || n >= rows.end))
        return;
    l2k_packed<S, N> out;
#pragma unroll
    for (int k = 0; k < N; k++)
        out.set(k, (S)v[k]);
    run.aligned = true; /* the plan has seen to it */
    l2k_store_run<BORDER>(l2k_plane_row<S>(plane, n - rows.first), run, out);
}

/* The even or the odd columns of a row. */
template <int PARITY, int N, class T> __device__ __forceinline__ void pick_columns(const T (&row)[N], T (&out)[N / 2])
{
#pragma unroll
    for (int k = 0; k < N / 2; k++)
        out[k] = row[2 * k + PARITY];
}

/* What leaves the last level as LL: the 5/3 has it in the coefficients' type, the 9/7 in floats. */
template <class T, class D> struct low_type {
    typedef D type;
};
template <class D> struct low_type<float, D> {
    typedef float type;
};

/* ---- Kernel -------------------------------------------------------------------------------------------------- */

/* One level of one component: rows in by pairs, bands out. */
template <class W, class D, int N> struct forward_level {
    typedef typename W::T T;
    typename W::template forward_rows<N> rows;

    /* Rows q and q + 1 of the samples; the low row's LL columns are left in `ll`. */
    template <bool BORDER>
    __device__ __forceinline__ void push(const l2k_cuda_bands &b, int level, const band_stores<D, N> &stores,
                                         const l2k_lane_columns &lane, l2k_span y, T (&odd)[N], T (&next)[N], int q,
                                         bool keep, bool floats, T (&ll)[N / 2])
    {
        T low[N], high[N], part[N / 2];
        int n = ((q - 1) >> 1) - W::DELAY;
        rows.template push<BORDER>(odd, next, q, y, low, high);
        l2k_row<W, true, BORDER>(low, lane);
        pick_columns<0>(low, ll);
        if (!keep)
            return;
        l2k_row<W, true, BORDER>(high, lane);
        pick_columns<1>(low, part);
        stores.template store<BORDER>(b, level, L2K_HL, part, n, floats);
        pick_columns<0>(high, part);
        stores.template store<BORDER>(b, level, L2K_LH, part, n, floats);
        pick_columns<1>(high, part);
        stores.template store<BORDER>(b, level, L2K_HH, part, n, floats);
    }
};

/* A warp on its way down a strip, four rows of samples a step. */
template <class W, class Source, class D> struct forward_walk {
    typedef typename W::T T;
    typedef typename low_type<T, D>::type L;
    enum { N = Source::COLUMNS, K = Source::COMPONENTS, AHEAD = 2, SLOT = 4 * Source::SLOT };
    const l2k_cuda_pass &p;
    int c0, begin;
    l2k_span y2;
    l2k_lane_columns lane1, lane2;
    band_stores<D, N> stores1;
    band_stores<D, N / 2> stores2;
    Source source;
    bool floats;
    forward_level<W, D, N> level1[K];
    forward_level<W, D, N / 2> level2[K];

    __device__ __forceinline__ forward_walk(const l2k_cuda_pass &pass, const l2k_strip<W, N> &strip, int component)
        : p(pass), c0(component), begin(strip.begin), y2(l2k_low_span(pass.y)), lane1{strip.column, pass.x},
          lane2{strip.column >> 1, l2k_low_span(pass.x)},
          stores1(pass.bands[component], 0, strip.first_column, strip.column, strip.inner, pass.x, pass.y),
          stores2(pass.bands[component], pass.levels - 1, strip.first_column >> 1, strip.column >> 1, strip.inner,
                  l2k_low_span(pass.x), y2),
          source(&pass.samples[component], strip.first_column - pass.x.first, strip.column - pass.x.first,
                 l2k_length(pass.x)),
          floats(pass.type == L2K_COEFFICIENT_FLOAT32)
    {
    }

    /* The first of the four rows that step `step` takes. */
    static __device__ __forceinline__ int row_of(int step)
    {
        return 4 * step - 1 + 2 * W::DELAY;
    }

    /* Steps that neither see rows beyond a border nor load any, at both levels. */
    __device__ __forceinline__ l2k_span inside() const
    {
        return l2k_span{(p.y.first + 16 - 2 * W::DELAY) >> 2, ((p.y.end - 3 - 2 * W::DELAY) >> 2) - AHEAD + 1};
    }

    /* Whether whole accesses fit everywhere. */
    __device__ __forceinline__ bool is_aligned() const
    {
        return source.is_aligned() && stores1.is_aligned() && (p.levels == 1 || stores2.is_aligned());
    }

    template <bool BORDER> __device__ __forceinline__ void load(int step, char *slot) const
    {
        int y = row_of(step) - p.y.first, last = l2k_length(p.y) - 1;
#pragma unroll
        for (int r = 0; r < 4; r++)
            source.template load<BORDER>(slot + r * Source::SLOT, BORDER ? min(max(y + r, 0), last) : y + r);
    }

    template <bool BORDER> __device__ __forceinline__ void take(int step, char *slot)
    {
        bool keep = step >= begin;
        int q = row_of(step), y = q - p.y.first, last = l2k_length(p.y) - 1;
        T ll[2][K][N / 2];
#pragma unroll
        for (int j = 0; j < 2; j++) {
            T odd[K][N], next[K][N];
            source.unpack(slot + 2 * j * Source::SLOT, BORDER ? min(max(y + 2 * j, 0), last) : y + 2 * j, odd);
            source.unpack(slot + (2 * j + 1) * Source::SLOT, BORDER ? min(max(y + 2 * j + 1, 0), last) : y + 2 * j + 1, next);
#pragma unroll
            for (int c = 0; c < K; c++)
                level1[c].template push<BORDER>(p.bands[c0 + c], 0, stores1, lane1, p.y, odd[c], next[c], q + 2 * j, keep,
                                                floats, ll[j][c]);
        }
#pragma unroll
        for (int c = 0; c < K; c++)
            if (p.levels == 2)
                take_second<BORDER>(step, c, ll[0][c], ll[1][c], keep);
            else if (keep)
                leave<BORDER>(0, c, stores1, ll[0][c], 2 * step - 1), leave<BORDER>(0, c, stores1, ll[1][c], 2 * step);
    }

  private:
    template <bool BORDER>
    __device__ __forceinline__ void take_second(int step, int c, T (&odd)[N / 2], T (&next)[N / 2], bool keep)
    {
        T ll[N / 4];
        level2[c].template push<BORDER>(p.bands[c0 + c], 1, stores2, lane2, y2, odd, next, 2 * step - 1, keep, floats, ll);
        if (keep)
            leave<BORDER>(1, c, stores2, ll, step - 1 - W::DELAY);
    }

    /* Row n of the last level's LL. */
    template <bool BORDER, int M>
    __device__ __forceinline__ void leave(int level, int c, const band_stores<D, M> &stores, const T (&ll)[M / 2],
                                          int n) const
    {
        if (p.low_in_bands)
            stores.template store<BORDER>(p.bands[c0 + c], level, L2K_LL, ll, n, floats);
        else
            store_low<BORDER, L>(p.low[c0 + c], stores.low, stores.low_rows, ll, n);
    }
};

template <class W, class Source, class D, int WARPS>
__global__ void __launch_bounds__(32, WARPS) forward_kernel(const __grid_constant__ l2k_cuda_pass p)
{
    typedef forward_walk<W, Source, D> walk_type;
    __shared__ __align__(16) char memory[l2k_ring<walk_type>::BYTES];
    l2k_strip<W, Source::COLUMNS> strip(p);
    walk_type walk(p, strip, (int)blockIdx.y);
    l2k_walk_down(walk, strip, p.warm_up, strip.is_inside(p.x) && walk.is_aligned(), memory);
}

/* No wavelet: samples to band 0. */
template <class W, int K, class D> __global__ void copy_kernel(const __grid_constant__ l2k_cuda_pass p)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, c0 = blockIdx.z, width = p.x.end - p.x.first;
    if (x >= width)
        return;
    l2k_any_source<W, K, 1> source(&p.samples[c0], 0, x, width);
    for (int y = blockIdx.y; y < p.y.end - p.y.first; y += gridDim.y) {
        typename W::T v[K][1];
        if (p.samples[c0].type == L2K_SAMPLE_F32)
            v[0][0] = (typename W::T)*reinterpret_cast<const float *>(l2k_plane_row<char>(p.samples[c0], y) +
                                                                      (int64_t)x * p.samples[c0].sample_stride);
        else
            source.unpack(NULL, y, v);
        for (int c = 0; c < K; c++) {
            const l2k_cuda_bands &b = p.bands[c0 + c];
            l2k_packed<D, 1> q;
            l2k_to_coefficients(v[c], b.step[0][L2K_LL], p.type == L2K_COEFFICIENT_FLOAT32, &q);
            q.store(reinterpret_cast<D *>(b.at[0][L2K_LL]) + x + (int64_t)y * b.stride);
        }
    }
}

/* ---- Launchers ----------------------------------------------------------------------------------------------- */

/* The steps whose rows the bands of both levels need; W::DELAY + 1 is how far level 2 lags behind. */
template <class W> void set_steps(l2k_cuda_pass *p)
{
    int first = ((p->y.first >> 1) + 1) >> 1, end = (((p->y.end - 1) >> 1) + 1) / 2 + 1;
    l2k_span low = {(p->y.first + 1) >> 1, (p->y.end + 1) >> 1};
    if (p->levels == 2 && low.end > low.first)
        end = max(end, ((low.end - 1) >> 1) + W::DELAY + 2);
    p->first_step = first;
    p->end_step = end;
    p->warm_up = p->levels == 2 ? (W::DELAY ? 6 : 3) : (W::DELAY ? 2 : 1);
}

template <class W, class Source, class D, int WARPS> int launch_strips(l2k_cuda_pass p, cudaStream_t stream)
{
    const int launches = p.components / Source::COMPONENTS;
    int warps = WARPS, error = l2k_resident_warps(&warps);
    if (error != cudaSuccess)
        return error;
    set_steps<W>(&p);
    l2k_share_steps(&p, l2k_halo<W, Source::COLUMNS>::INNER * Source::COLUMNS, launches, warps);
    dim3 grid(p.strips * l2k_divide_up(p.end_step - p.first_step, p.steps), launches);
    forward_kernel<W, Source, D, WARPS><<<grid, 32, 0, stream>>>(p);
    return cudaGetLastError();
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

/* The sign bits of packed samples of one word. */
void flip_signs(l2k_cuda_plane *planes, int count)
{
    for (int c = 0; c < count; c++)
        planes[c].flip = planes[c].type == L2K_SAMPLE_S8 ? 0x80808080u : planes[c].type == L2K_SAMPLE_S16 ? 0x80008000u : 0;
}

/* Warps that a processor is to hold: what registers allow without spills. */
template <class W> struct warps {
    enum { PLAIN = W::DELAY ? 16 : 20, JOINED = W::DELAY ? 12 : 16 };
};

template <class W, class D> int launch_joined(l2k_cuda_pass p, cudaStream_t stream)
{
    int bits = l2k_sample_bits(p.samples[0].type);
    flip_signs(p.samples, 3);
    if (bits == 8 && l2k_are_triples<uint8_t>(p.samples))
        return launch_strips<W, l2k_triple_source<W, uint8_t, 4>, D, warps<W>::JOINED>(p, stream);
    if (bits == 16 && l2k_are_triples<uint16_t>(p.samples))
        return launch_strips<W, l2k_triple_source<W, uint16_t, 4>, D, warps<W>::JOINED>(p, stream);
    return launch_strips<W, l2k_any_source<W, 3, 4>, D, warps<W>::JOINED>(p, stream);
}

template <class W, class D> struct wide_source; /* 32-bit samples: integers for the 5/3, floats for the 9/7 */
template <class D> struct wide_source<l2k_wavelet_53, D> {
    typedef l2k_plane_source<l2k_wavelet_53, int32_t, 8> type;
    enum { SAMPLES = L2K_SAMPLE_S32 };
};
template <class D> struct wide_source<l2k_wavelet_97, D> {
    typedef l2k_plane_source<l2k_wavelet_97, float, 8> type;
    enum { SAMPLES = L2K_SAMPLE_F32 };
};

/* All components of a pass have planes of one kind, or else they are taken as any. */
template <class W, class D> int launch(l2k_cuda_pass p, cudaStream_t stream)
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
        wide = wide && plane.type == wide_source<W, D>::SAMPLES && l2k_is_packed<int32_t>(plane);
    }
    flip_signs(p.samples, p.components);
    if (bytes)
        return launch_strips<W, l2k_plane_source<W, uint8_t, 8>, D, warps<W>::PLAIN>(p, stream);
    if (words)
        return launch_strips<W, l2k_plane_source<W, uint16_t, 8>, D, warps<W>::PLAIN>(p, stream);
    if (wide)
        return launch_strips<W, typename wide_source<W, D>::type, D, warps<W>::PLAIN>(p, stream);
    return launch_strips<W, l2k_any_source<W, 1, 8>, D, warps<W>::PLAIN>(p, stream);
}

} // namespace

extern "C" int l2k_cuda_forward_pass(const l2k_cuda_pass *p, void *opaque)
{
    cudaStream_t stream = (cudaStream_t)opaque;
    bool narrow = p->type == L2K_COEFFICIENT_INT16;
    if (p->x.end == p->x.first || p->y.end == p->y.first)
        return cudaSuccess;
    if (p->wavelet == L2K_WAVELET_5_3)
        return narrow ? launch<l2k_wavelet_53, int16_t>(*p, stream) : launch<l2k_wavelet_53, int32_t>(*p, stream);
    return narrow ? launch<l2k_wavelet_97, int16_t>(*p, stream) : launch<l2k_wavelet_97, int32_t>(*p, stream);
}
