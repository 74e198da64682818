/* One decomposition level, forward: pixel pass in the loads, lifting in registers, quantiser in the stores. */
#include "dwt/warp_cuda.cuh"
#include "quant/quantiser_cuda.cuh"
#include "tiling/pixel_cuda.cuh"
#include "transform/cuda_pass.h"

#include <cuda_runtime.h>

namespace
{

/* ---- Sources: C columns of a row as raw bits, then as values ------------------------------------------------- */

/* A plane of type S whose samples lie side by side. */
template <class W, class S> struct plane_source {
    typedef l2k_packed<S, W::C> raw;
    enum { COMPONENTS = 1, HAS_LONG = sizeof(S) != 4 || (S)0.5f != 0 };

    static __device__ __forceinline__ const S *row(const l2k_cuda_pass &p, int component, int y)
    {
        return reinterpret_cast<const S *>(p.samples[component].data + y * p.samples[component].row_stride);
    }
    static __device__ __forceinline__ bool is_aligned(const l2k_cuda_pass &p, int component, int x)
    {
        return raw::is_aligned(row(p, component, 0) + x) && p.samples[component].row_stride % raw::ALIGNMENT == 0;
    }
    static __device__ __forceinline__ raw load(const l2k_cuda_pass &p, int component, int x, int y)
    {
        raw r;
        r.load(row(p, component, y) + x);
        return r;
    }
    static __device__ __forceinline__ raw gather(const l2k_cuda_pass &p, int component, const l2k_columns<W::C> &x, int y)
    {
        raw r;
#pragma unroll
        for (int k = 0; k < W::C; k++)
            r.set(k, row(p, component, y)[x.at[k]]);
        return r;
    }

    static __device__ __forceinline__ void unpack(const l2k_cuda_pass &p, int component, const raw &r,
                                                  typename W::T (&v)[W::C])
    {
#pragma unroll
        for (int k = 0; k < W::C; k++)
            v[k] = value(r.get(k), p.samples[component]);
    }

  private:
    static __device__ __forceinline__ typename W::T value(float s, const l2k_cuda_plane &)
    {
        return (typename W::T)s;
    }
    template <class I> static __device__ __forceinline__ typename W::T value(I s, const l2k_cuda_plane &plane)
    {
        return (typename W::T)l2k_shift_down((int32_t)s, plane.shift);
    }
};

/* Interleaved triples of type S, and the component transform. */
template <class W, class S> struct triple_source {
    typedef l2k_packed<S, 3 * W::C> raw;
    enum { COMPONENTS = 3, HAS_LONG = sizeof(S) == 1 };

    static __device__ __forceinline__ const S *row(const l2k_cuda_pass &p, int y)
    {
        return reinterpret_cast<const S *>(p.samples[0].data + y * p.samples[0].row_stride);
    }
    static __device__ __forceinline__ bool is_aligned(const l2k_cuda_pass &p, int, int x)
    {
        return raw::is_aligned(row(p, 0) + 3 * x) && p.samples[0].row_stride % raw::ALIGNMENT == 0;
    }
    static __device__ __forceinline__ raw load(const l2k_cuda_pass &p, int, int x, int y)
    {
        raw r;
        r.load(row(p, y) + 3 * x);
        return r;
    }
    static __device__ __forceinline__ raw gather(const l2k_cuda_pass &p, int, const l2k_columns<W::C> &x, int y)
    {
        raw r;
#pragma unroll
        for (int k = 0; k < 3 * W::C; k++)
            r.set(k, row(p, y)[3 * x.at[k / 3] + k % 3]);
        return r;
    }

    static __device__ __forceinline__ void unpack(const l2k_cuda_pass &p, int component, const raw &r,
                                                  typename W::T (&v)[W::C])
    {
#pragma unroll
        for (int k = 0; k < W::C; k++)
            l2k_join_forward(l2k_shift_down(r.get(3 * k), p.samples[0].shift),
                             l2k_shift_down(r.get(3 * k + 1), p.samples[1].shift),
                             l2k_shift_down(r.get(3 * k + 2), p.samples[2].shift), component, &v[k]);
    }
};

/* Any type, any strides, with or without component transform: one sample after the other. */
template <class W, int N> struct any_source {
    struct raw {
        typename W::T v[W::C];
    };
    enum { COMPONENTS = N, HAS_LONG = false };

    static __device__ __forceinline__ int32_t sample(const l2k_cuda_plane &plane, int x, int y)
    {
        const char *at = plane.data + y * plane.row_stride + x * plane.sample_stride;
        return l2k_shift_down(l2k_load_any(at, (l2k_sample_type)plane.type), plane.shift);
    }
    static __device__ __forceinline__ bool is_aligned(const l2k_cuda_pass &, int, int)
    {
        return false;
    }
    static __device__ __forceinline__ raw load(const l2k_cuda_pass &, int, int, int)
    {
        return raw();
    }
    static __device__ __forceinline__ raw gather(const l2k_cuda_pass &p, int component, const l2k_columns<W::C> &x, int y)
    {
        raw r;
#pragma unroll
        for (int k = 0; k < W::C; k++) {
            int at = x.at[k];
            if (N == 3)
                l2k_join_forward(sample(p.samples[0], at, y), sample(p.samples[1], at, y), sample(p.samples[2], at, y),
                                 component, &r.v[k]);
            else
                r.v[k] = (typename W::T)sample(p.samples[component], at, y);
        }
        return r;
    }

    static __device__ __forceinline__ void unpack(const l2k_cuda_pass &, int, const raw &r, typename W::T (&v)[W::C])
    {
#pragma unroll
        for (int k = 0; k < W::C; k++)
            v[k] = r.v[k];
    }
};

/* ---- Stores -------------------------------------------------------------------------------------------------- */

/* LL samples are int16 only where the coefficients are. */
template <class W, class D> struct low_type {
    typedef D type;
};
template <class D> struct low_type<l2k_wavelet_97, D> {
    typedef float type;
};

/* Coefficients of one band: N values that go to columns first .. of its row y. */
template <class D, int N, class T>
__device__ __forceinline__ void store_band(const l2k_cuda_bands &b, int band, const T (&x)[N], int first, int y,
                                           int width)
{
    D q[N];
#pragma unroll
    for (int k = 0; k < N; k++)
        q[k] = l2k_to_coefficient<D>(x[k], b.step[band]);
    D *row = reinterpret_cast<D *>(b.data) + (b.y[band] + y) * b.stride + b.x[band];
    l2k_store_run<D, N>(row, q, first, width);
}

/* A finished row of the tile: its halves to LL or LH, and HL or HH. u is the column of v[0], even. */
template <class W, class D>
__device__ __forceinline__ void store_row(const l2k_cuda_pass &p, int component, const typename W::T (&v)[W::C], int u,
                                          int y, bool high_row)
{
    typedef typename low_type<W, D>::type L;
    typename W::T low[W::C / 2], high[W::C / 2];
#pragma unroll
    for (int k = 0; k < W::C / 2; k++) {
        low[k] = v[2 * k];
        high[k] = v[2 * k + 1];
    }
    const l2k_cuda_bands &b = p.bands[component];
    int low_first = u / 2 - p.parity_x, high_first = u / 2;
    if (!high_row && !p.low_in_bands) {
        L narrow[W::C / 2];
#pragma unroll
        for (int k = 0; k < W::C / 2; k++)
            narrow[k] = (L)low[k];
        l2k_store_run<L, W::C / 2>(reinterpret_cast<L *>(p.low[component].data + y * p.low[component].row_stride), narrow,
                                   low_first, p.low_width);
    } else {
        store_band<D, W::C / 2>(b, high_row ? L2K_LH : L2K_LL, low, low_first, y, p.low_width);
    }
    store_band<D, W::C / 2>(b, high_row ? L2K_HH : L2K_HL, high, high_first, y, p.width - p.low_width);
}

/* ---- Kernel -------------------------------------------------------------------------------------------------- */

enum { INNER_LANES = 30 };

/* Warps of a block below each other; three components make three warps of each. */
template <class Source> struct block_shape {
    enum { TILES = Source::COMPONENTS == 3 ? 2 : 4, THREADS = 32 * TILES * Source::COMPONENTS };
};

/* A warp makes PAIRS pairs of output rows in INNER_LANES x C columns of one component. The warps of a block lie below
 * each other, so that their halo rows meet in the cache; with three components they share the pixels as well. */
template <class W, class Source, class D, int PAIRS>
__global__ void __launch_bounds__(block_shape<Source>::THREADS)
    forward_kernel(const __grid_constant__ l2k_cuda_pass p)
{
    const int ROWS = 2 * PAIRS + W::HALO_ROWS;
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int component = warp % Source::COMPONENTS, tile = blockIdx.y * block_shape<Source>::TILES + warp / Source::COMPONENTS;
    int u = ((int)blockIdx.x * INNER_LANES + lane - 1) * W::C, t0 = 2 * PAIRS * tile;
    if (t0 >= p.height + p.parity_y)
        return;
    int x = u - p.parity_x;
    int first_row = t0 - W::FORWARD_FIRST - p.parity_y;

    /* All loads before the first use. Lanes at a border, or between aligned addresses, collect their columns. */
    typename Source::raw raw[ROWS];
    if (x >= 0 && x + W::C <= p.width && Source::is_aligned(p, component, x)) {
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            raw[r] = Source::load(p, component, x, l2k_mirror(first_row + r, p.height));
    } else {
        l2k_columns<W::C> columns(x, p.width);
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            raw[r] = Source::gather(p, component, columns, l2k_mirror(first_row + r, p.height));
    }
    typename W::T v[ROWS][W::C];
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        Source::unpack(p, component, raw[r], v[r]);

    bool lone_row = p.height == 1, lone_column = p.width == 1;
    if (!lone_row)
        W::template forward_rows<PAIRS>(v);
    /* All shuffles first: the stores part the warp. */
#pragma unroll
    for (int r = W::FORWARD_FIRST; r < W::FORWARD_FIRST + 2 * PAIRS; r++) {
        bool high_row = (r - W::FORWARD_FIRST) & 1;
        if (lone_row && high_row) {
#pragma unroll
            for (int k = 0; k < W::C; k++)
                v[r][k] = W::lone(v[r][k]);
        }
        W::forward_scale(v[r], true, high_row, !lone_row);
        if (!lone_column) {
            W::forward_row(v[r]);
            W::forward_scale(v[r], false, false, true);
        } else if (p.parity_x) {
            v[r][1] = W::lone(v[r][1]); /* the only column */
        }
    }
    __syncwarp();
    if (lane == 0 || lane == 31)
        return;
#pragma unroll
    for (int r = W::FORWARD_FIRST; r < W::FORWARD_FIRST + 2 * PAIRS; r++) {
        int y = first_row + r;
        if (y >= 0 && y < p.height)
            store_row<W, D>(p, component, v[r], u, y >> 1, (r - W::FORWARD_FIRST) & 1);
    }
}

/* No wavelet: samples to band 0. */
template <class W, int N, class D> __global__ void copy_kernel(const __grid_constant__ l2k_cuda_pass p)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= p.width)
        return;
    for (; y < p.height; y += gridDim.y)
        for (int c = 0; c < N; c++) {
            typename W::T v;
            if (N == 3)
                l2k_join_forward(any_source<W, 3>::sample(p.samples[0], x, y), any_source<W, 3>::sample(p.samples[1], x, y),
                                 any_source<W, 3>::sample(p.samples[2], x, y), c, &v);
            else if (p.samples[c].type == L2K_CUDA_F32)
                v = (typename W::T)*reinterpret_cast<const float *>(p.samples[c].data + y * p.samples[c].row_stride +
                                                                    x * p.samples[c].sample_stride);
            else
                v = (typename W::T)any_source<W, 1>::sample(p.samples[c], x, y);
            const l2k_cuda_bands &b = p.bands[c];
            reinterpret_cast<D *>(b.data)[y * b.stride + x] = l2k_to_coefficient<D>(v, b.step[0]);
        }
}

/* ---- Launchers ----------------------------------------------------------------------------------------------- */

int divide_up(int a, int b)
{
    return (a + b - 1) / b;
}

template <class W, class Source, class D, int PAIRS> int launch_tiles(const l2k_cuda_pass &p, cudaStream_t stream)
{
    dim3 grid(divide_up(p.width + p.parity_x, INNER_LANES * W::C),
              divide_up(p.height + p.parity_y, 2 * PAIRS * block_shape<Source>::TILES));
    forward_kernel<W, Source, D, PAIRS><<<grid, block_shape<Source>::THREADS, 0, stream>>>(p);
    return cudaGetLastError();
}

/* The first level of a large picture has warps enough to hide the latency and saves halo rows; everything below wants more,
 * shorter warps (bench/lab/README.md). */
template <class W, class Source, class D> int launch_sized(const l2k_cuda_pass &p, cudaStream_t stream)
{
    const int LONG = (W::C == 8 ? 4 : 8) / (Source::COMPONENTS == 3 ? 2 : 1), SHORT = 2;
    if (Source::HAS_LONG && !p.samples[0].is_low && (int64_t)p.width * p.height >= (int64_t)3000 * 3000)
        return launch_tiles<W, Source, D, Source::HAS_LONG ? LONG : SHORT>(p, stream);
    return launch_tiles<W, Source, D, SHORT>(p, stream);
}

template <class S> bool is_packed(const l2k_cuda_plane &plane, l2k_cuda_type type)
{
    return plane.type == type && plane.sample_stride == (int64_t)sizeof(S) &&
           ((uintptr_t)plane.data | (uintptr_t)plane.row_stride) % sizeof(S) == 0;
}

template <class S> bool are_triples(const l2k_cuda_pass &p, l2k_cuda_type type)
{
    for (int c = 0; c < 3; c++)
        if (p.samples[c].type != type || p.samples[c].sample_stride != (int64_t)(3 * sizeof(S)) ||
            p.samples[c].data != p.samples[0].data + c * sizeof(S) || p.samples[c].row_stride != p.samples[0].row_stride)
            return false;
    return ((uintptr_t)p.samples[0].data | (uintptr_t)p.samples[0].row_stride) % sizeof(S) == 0;
}

template <class W, class D> int launch_copy(const l2k_cuda_pass &p, cudaStream_t stream)
{
    dim3 grid(divide_up(p.width, 128), p.height < 65535 ? p.height : 65535);
    if (p.joined)
        copy_kernel<W, 3, D><<<grid, 128, 0, stream>>>(p);
    else
        copy_kernel<W, 1, D><<<grid, 128, 0, stream>>>(p);
    return cudaGetLastError();
}

template <class W, class D> int launch(const l2k_cuda_pass &p, cudaStream_t stream)
{
    const l2k_cuda_plane &plane = p.samples[0];
    if (!p.decompose)
        return launch_copy<W, D>(p, stream);
    if (p.joined) {
        if (are_triples<uint8_t>(p, L2K_CUDA_U8))
            return launch_sized<W, triple_source<W, uint8_t>, D>(p, stream);
        if (are_triples<uint16_t>(p, L2K_CUDA_U16))
            return launch_sized<W, triple_source<W, uint16_t>, D>(p, stream);
        return launch_tiles<W, any_source<W, 3>, D, 2>(p, stream);
    }
    if (is_packed<uint8_t>(plane, L2K_CUDA_U8))
        return launch_sized<W, plane_source<W, uint8_t>, D>(p, stream);
    if (is_packed<uint16_t>(plane, L2K_CUDA_U16))
        return launch_sized<W, plane_source<W, uint16_t>, D>(p, stream);
    if (is_packed<int16_t>(plane, L2K_CUDA_S16))
        return launch_sized<W, plane_source<W, int16_t>, D>(p, stream);
    if (is_packed<int32_t>(plane, L2K_CUDA_S32))
        return launch_sized<W, plane_source<W, int32_t>, D>(p, stream);
    return launch_tiles<W, any_source<W, 1>, D, 2>(p, stream);
}

} // namespace

extern "C" int l2k_cuda_forward_pass(const l2k_cuda_pass *p, void *opaque)
{
    cudaStream_t stream = (cudaStream_t)opaque;
    if (p->width == 0 || p->height == 0)
        return cudaSuccess;
    if (p->wavelet == L2K_WAVELET_5_3)
        return p->type == L2K_COEFFICIENT_INT16 ? launch<l2k_wavelet_53, int16_t>(*p, stream)
                                                : launch<l2k_wavelet_53, int32_t>(*p, stream);
    bool low = is_packed<float>(p->samples[0], L2K_CUDA_F32) && p->decompose;
    switch (p->type) {
    case L2K_COEFFICIENT_INT16:
        return low ? launch_sized<l2k_wavelet_97, plane_source<l2k_wavelet_97, float>, int16_t>(*p, stream)
                   : launch<l2k_wavelet_97, int16_t>(*p, stream);
    case L2K_COEFFICIENT_INT32:
        return low ? launch_sized<l2k_wavelet_97, plane_source<l2k_wavelet_97, float>, int32_t>(*p, stream)
                   : launch<l2k_wavelet_97, int32_t>(*p, stream);
    default:
        return low ? launch_sized<l2k_wavelet_97, plane_source<l2k_wavelet_97, float>, float>(*p, stream)
                   : launch<l2k_wavelet_97, float>(*p, stream);
    }
}
