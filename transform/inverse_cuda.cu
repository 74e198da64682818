/* One decomposition level, inverse: dequantiser in the loads, lifting in registers, pixel pass in the stores. */
#include "dwt/warp_cuda.cuh"
#include "quant/quantiser_cuda.cuh"
#include "tiling/pixel_cuda.cuh"
#include "transform/cuda_pass.h"

#include <cuda_runtime.h>

namespace
{

/* ---- Loads: N samples of a half row --------------------------------------------------------------------------------- */

/* Where the halves of C columns from u on are found: u / 2 - parity and u / 2 on, or, at a border, mirrored one by one in the
 * coordinates of the whole row. */
template <int C> struct half_columns {
    bool inside;
    int low, high; /* first index in either half */
    int at[C];     /* mirrored index of each column in its half */

    __device__ __forceinline__ half_columns(int u, const l2k_cuda_pass &p)
    {
        int x = u - p.parity_x;
        inside = x >= 0 && x + C <= p.width;
        low = u / 2 - p.parity_x;
        high = u / 2;
        if (!inside) {
#pragma unroll
            for (int k = 0; k < C; k++)
                at[k] = l2k_mirror(x + k, p.width) >> 1;
        }
    }
};

/* N values of a half row; `odd` picks the high ones. */
template <class S, int N>
__device__ __forceinline__ l2k_vector<S, N> load_half(const S *from, const half_columns<2 * N> &c, int odd)
{
    const S *first = from + (odd ? c.high : c.low);
    if (c.inside && l2k_is_aligned<S, N>(first))
        return *reinterpret_cast<const l2k_vector<S, N> *>(first);
    l2k_vector<S, N> x;
#pragma unroll
    for (int k = 0; k < N; k++)
        x.v[k] = c.inside ? first[k] : from[c.at[2 * k + odd]];
    return x;
}

/* Half a row from a band. */
template <class D, int N, class T>
__device__ __forceinline__ void load_band(const l2k_cuda_bands &b, int band, int y, const half_columns<2 * N> &columns,
                                          T (&v)[2 * N])
{
    const D *row = reinterpret_cast<const D *>(b.data) + (b.y[band] + y) * b.stride + b.x[band];
    l2k_vector<D, N> q = load_half<D, N>(row, columns, band & 1);
#pragma unroll
    for (int k = 0; k < N; k++)
        l2k_from_coefficient<D>(q.v[k], b.step[band], &v[2 * k + (band & 1)]);
}

/* Row i of the interleaved picture. */
template <class W, class D, class L>
__device__ __forceinline__ void load_row(const l2k_cuda_pass &p, int component, const half_columns<W::C> &columns, int i,
                                         typename W::T (&v)[W::C])
{
    const int N = W::C / 2;
    const l2k_cuda_bands &b = p.bands[component];
    bool high_row = (i + p.parity_y) & 1;
    int y = i >> 1;
    const L *low = reinterpret_cast<const L *>(p.low[component].data + y * p.low[component].row_stride);
    if (p.width == 1) {
        /* One column, low or high; the mirror would look into the other half. */
        int band = (high_row ? 2 : 0) | p.parity_x;
        typename W::T x;
        if (band == L2K_LL && !p.low_in_bands)
            x = (typename W::T)*low;
        else
            l2k_from_coefficient<D>(reinterpret_cast<const D *>(b.data)[(b.y[band] + y) * b.stride + b.x[band]],
                                    b.step[band], &x);
#pragma unroll
        for (int k = 0; k < W::C; k++)
            v[k] = x;
        return;
    }
    if (!high_row && !p.low_in_bands) {
        l2k_vector<L, N> x = load_half<L, N>(low, columns, 0);
#pragma unroll
        for (int k = 0; k < N; k++)
            v[2 * k] = (typename W::T)x.v[k];
    } else {
        load_band<D, N>(b, high_row ? L2K_LH : L2K_LL, y, columns, v);
    }
    load_band<D, N>(b, high_row ? L2K_HH : L2K_HL, y, columns, v);
}

/* ---- Sinks ---------------------------------------------------------------------------------------------------------- */

/* A plane of type S whose samples lie side by side: pixels, or LL samples of the level above. */
template <class W, class S> struct plane_sink {
    enum { COMPONENTS = 1 };

    static __device__ __forceinline__ void store(const l2k_cuda_pass &p, int component,
                                                 const typename W::T (&v)[W::C], int x, int y)
    {
        const l2k_cuda_plane &plane = p.samples[component];
        S out[W::C];
#pragma unroll
        for (int k = 0; k < W::C; k++)
            out[k] = plane.is_low ? (S)v[k] : value(v[k], plane);
        l2k_store_run<S, W::C>(reinterpret_cast<S *>(plane.data + y * plane.row_stride), out, x, p.width);
    }

  private:
    static __device__ __forceinline__ S value(typename W::T v, const l2k_cuda_plane &plane)
    {
        return sizeof(S) == 4 && (S)0.5f != 0 ? (S)v : (S)l2k_finish(v, plane.shift);
    }
};

/* Any integer type, any strides. */
template <class W> struct any_sink {
    enum { COMPONENTS = 1 };

    static __device__ __forceinline__ void store(const l2k_cuda_pass &p, int component,
                                                 const typename W::T (&v)[W::C], int x, int y)
    {
        const l2k_cuda_plane &plane = p.samples[component];
#pragma unroll
        for (int k = 0; k < W::C; k++)
            if (x + k >= 0 && x + k < p.width)
                l2k_store_any(plane.data + y * plane.row_stride + (x + k) * plane.sample_stride,
                              (l2k_sample_type)plane.type, l2k_finish(v[k], plane.shift));
    }
};

/* Three components that are joined again: their values meet in shared memory once all lifting is done. */
template <class W> __device__ __forceinline__ void store_joined(const l2k_cuda_pass &p, typename W::T (&a)[W::C],
                                                                typename W::T (&b)[W::C], typename W::T (&c)[W::C],
                                                                int x, int y, bool bytes)
{
    int32_t out[3][W::C];
#pragma unroll
    for (int k = 0; k < W::C; k++) {
        l2k_join_inverse(&a[k], &b[k], &c[k]);
        out[0][k] = l2k_finish(a[k], p.samples[0].shift);
        out[1][k] = l2k_finish(b[k], p.samples[1].shift);
        out[2][k] = l2k_finish(c[k], p.samples[2].shift);
    }
    uint8_t *row = reinterpret_cast<uint8_t *>(p.samples[0].data + y * p.samples[0].row_stride);
    if (bytes && x >= 0 && x + W::C <= p.width && (reinterpret_cast<uintptr_t>(row + 3 * x) & 3) == 0) {
        /* Interleaved bytes: four pixels are three words. */
#pragma unroll
        for (int k = 0; k < W::C; k += 4) {
            uint32_t *to = reinterpret_cast<uint32_t *>(row + 3 * (x + k));
            to[0] = (uint32_t)out[0][k] | (uint32_t)out[1][k] << 8 | (uint32_t)out[2][k] << 16 |
                    (uint32_t)out[0][k + 1] << 24;
            to[1] = (uint32_t)out[1][k + 1] | (uint32_t)out[2][k + 1] << 8 | (uint32_t)out[0][k + 2] << 16 |
                    (uint32_t)out[1][k + 2] << 24;
            to[2] = (uint32_t)out[2][k + 2] | (uint32_t)out[0][k + 3] << 8 | (uint32_t)out[1][k + 3] << 16 |
                    (uint32_t)out[2][k + 3] << 24;
        }
        return;
    }
#pragma unroll
    for (int k = 0; k < W::C; k++)
        for (int plane = 0; plane < 3 && x + k >= 0 && x + k < p.width; plane++)
            l2k_store_any(p.samples[plane].data + y * p.samples[plane].row_stride +
                              (x + k) * p.samples[plane].sample_stride,
                          (l2k_sample_type)p.samples[plane].type, out[plane][k]);
}

/* ---- Kernels -------------------------------------------------------------------------------------------------------- */

enum { TILES_IN_BLOCK = 4, INNER_LANES = 30 };

/* Reads a tile and undoes both directions; rows INVERSE_FIRST .. + 2 PAIRS - 1 of v are finished. Row 0 is high. */
template <class W, class D, class L, int PAIRS, int ROWS>
__device__ __forceinline__ void inverse_tile(const l2k_cuda_pass &p, int component, int u, int t0,
                                             typename W::T (&v)[ROWS][W::C])
{
    half_columns<W::C> columns(u, p);
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        load_row<W, D, L>(p, component, columns, l2k_mirror(t0 - W::INVERSE_FIRST + r - p.parity_y, p.height), v[r]);
    bool lone_row = p.height == 1, lone_column = p.width == 1;
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        bool high_row = !(r & 1);
        if (!lone_column) {
            W::inverse_scale(v[r], false, false, true);
            W::inverse_row(v[r]);
        } else if (p.parity_x) {
            v[r][1] = W::unlone(v[r][1]);
        }
        W::inverse_scale(v[r], true, high_row, !lone_row);
    }
    if (!lone_row) {
        W::template inverse_rows<PAIRS>(v);
    } else if (p.parity_y) {
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int k = 0; k < W::C; k++)
                v[r][k] = W::unlone(v[r][k]);
    }
}

template <class W, class D, class L, class Sink, int PAIRS>
__global__ void __launch_bounds__(32 * TILES_IN_BLOCK) inverse_kernel(const __grid_constant__ l2k_cuda_pass p)
{
    int lane = threadIdx.x & 31, tile = blockIdx.y * TILES_IN_BLOCK + (threadIdx.x >> 5);
    int u = ((int)blockIdx.x * INNER_LANES + lane - 1) * W::C, t0 = 2 * PAIRS * tile;
    if (t0 >= p.height + p.parity_y)
        return;
    typename W::T v[2 * PAIRS + W::HALO_ROWS][W::C];
    inverse_tile<W, D, L, PAIRS>(p, 0, u, t0, v);
#pragma unroll
    for (int r = 0; r < 2 * PAIRS; r++) {
        int y = t0 + r - p.parity_y;
        if (lane > 0 && lane < 31 && y >= 0 && y < p.height)
            Sink::store(p, 0, v[W::INVERSE_FIRST + r], u - p.parity_x, y);
    }
}

/* Three warps, one a component, for each tile. */
template <class W, class D, class L, int PAIRS, int TILES>
__global__ void __launch_bounds__(96 * TILES) inverse_joined_kernel(const __grid_constant__ l2k_cuda_pass p)
{
    typedef typename W::T T;
    __shared__ T meet[TILES][3][2 * PAIRS][32 * W::C];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, component = warp % 3, part = warp / 3;
    int u = ((int)blockIdx.x * INNER_LANES + lane - 1) * W::C, t0 = 2 * PAIRS * ((int)blockIdx.y * TILES + part);
    bool active = t0 < p.height + p.parity_y;
    if (active) {
        T v[2 * PAIRS + W::HALO_ROWS][W::C];
        inverse_tile<W, D, L, PAIRS>(p, component, u, t0, v);
#pragma unroll
        for (int r = 0; r < 2 * PAIRS; r++)
#pragma unroll
            for (int k = 0; k < W::C; k++)
                meet[part][component][r][k * 32 + lane] = v[W::INVERSE_FIRST + r][k];
    }
    __syncthreads();
    if (!active || lane == 0 || lane == 31)
        return;
    bool bytes = p.samples[0].type == L2K_CUDA_U8 && p.samples[1].type == L2K_CUDA_U8 &&
                 p.samples[2].type == L2K_CUDA_U8 && p.samples[0].sample_stride == 3 &&
                 p.samples[1].sample_stride == 3 && p.samples[2].sample_stride == 3 &&
                 p.samples[1].data == p.samples[0].data + 1 && p.samples[2].data == p.samples[0].data + 2 &&
                 p.samples[1].row_stride == p.samples[0].row_stride && p.samples[2].row_stride == p.samples[0].row_stride;
    for (int r = component; r < 2 * PAIRS; r += 3) {
        int y = t0 + r - p.parity_y;
        if (y < 0 || y >= p.height)
            continue;
        T c[3][W::C];
#pragma unroll
        for (int k = 0; k < W::C; k++)
            for (int i = 0; i < 3; i++)
                c[i][k] = meet[part][i][r][k * 32 + lane];
        store_joined<W>(p, c[0], c[1], c[2], u - p.parity_x, y, bytes);
    }
}

/* No wavelet: band 0 to samples. */
template <class W, class D> __global__ void copy_kernel(const __grid_constant__ l2k_cuda_pass p)
{
    typedef typename W::T T;
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= p.width)
        return;
    for (int y = blockIdx.y; y < p.height; y += gridDim.y) {
        T v[3];
        for (int c = 0; c < p.components; c++)
            l2k_from_coefficient<D>(reinterpret_cast<const D *>(p.bands[c].data)[y * p.bands[c].stride + x],
                                    p.bands[c].step[0], &v[c]);
        if (p.joined)
            l2k_join_inverse(&v[0], &v[1], &v[2]);
        for (int c = 0; c < p.components; c++) {
            char *to = p.samples[c].data + y * p.samples[c].row_stride + x * p.samples[c].sample_stride;
            if (p.samples[c].type == L2K_CUDA_F32)
                *reinterpret_cast<float *>(to) = (float)v[c];
            else
                l2k_store_any(to, (l2k_sample_type)p.samples[c].type, l2k_finish(v[c], p.samples[c].shift));
        }
    }
}

/* ---- Launchers ------------------------------------------------------------------------------------------------------ */

int divide_up(int a, int b)
{
    return (a + b - 1) / b;
}

template <class W, class D, class L, class Sink, int PAIRS> int launch_tiles(const l2k_cuda_pass &p, cudaStream_t stream)
{
    dim3 grid(divide_up(p.width + p.parity_x, INNER_LANES * W::C),
              divide_up(p.height + p.parity_y, 2 * PAIRS * TILES_IN_BLOCK));
    inverse_kernel<W, D, L, Sink, PAIRS><<<grid, 32 * TILES_IN_BLOCK, 0, stream>>>(p);
    return cudaGetLastError();
}

bool is_large(const l2k_cuda_pass &p)
{
    return (int64_t)p.width * p.height >= (int64_t)3000 * 3000;
}

template <class W, class D, class L, class Sink> int launch_sized(const l2k_cuda_pass &p, cudaStream_t stream)
{
    const int LONG = W::C == 8 ? 4 : 8, SHORT = 2;
    return is_large(p) ? launch_tiles<W, D, L, Sink, LONG>(p, stream) : launch_tiles<W, D, L, Sink, SHORT>(p, stream);
}

template <class W, class D, class L, int PAIRS, int TILES> int launch_joined(const l2k_cuda_pass &p, cudaStream_t stream)
{
    dim3 grid(divide_up(p.width + p.parity_x, INNER_LANES * W::C), divide_up(p.height + p.parity_y, 2 * PAIRS * TILES));
    inverse_joined_kernel<W, D, L, PAIRS, TILES><<<grid, 96 * TILES, 0, stream>>>(p);
    return cudaGetLastError();
}

template <class S> bool is_packed(const l2k_cuda_plane &plane, l2k_cuda_type type)
{
    return plane.type == type && plane.sample_stride == (int64_t)sizeof(S) &&
           ((uintptr_t)plane.data | (uintptr_t)plane.row_stride) % sizeof(S) == 0;
}

template <class W, class D, class L> int launch(const l2k_cuda_pass &p, cudaStream_t stream)
{
    const l2k_cuda_plane &plane = p.samples[0];
    if (!p.decompose) {
        dim3 grid(divide_up(p.width, 128), p.height < 65535 ? p.height : 65535);
        copy_kernel<W, D><<<grid, 128, 0, stream>>>(p);
        return cudaGetLastError();
    }
    if (p.joined) {
        const int LONG = W::C == 8 ? 4 : 8;
        return is_large(p) ? launch_joined<W, D, L, LONG, 1>(p, stream) : launch_joined<W, D, L, 2, 2>(p, stream);
    }
    if (is_packed<uint8_t>(plane, L2K_CUDA_U8))
        return launch_sized<W, D, L, plane_sink<W, uint8_t>>(p, stream);
    if (is_packed<uint16_t>(plane, L2K_CUDA_U16))
        return launch_sized<W, D, L, plane_sink<W, uint16_t>>(p, stream);
    if (is_packed<int16_t>(plane, L2K_CUDA_S16))
        return launch_sized<W, D, L, plane_sink<W, int16_t>>(p, stream);
    if (is_packed<int32_t>(plane, L2K_CUDA_S32))
        return launch_sized<W, D, L, plane_sink<W, int32_t>>(p, stream);
    return launch_tiles<W, D, L, any_sink<W>, 2>(p, stream);
}

/* The 9/7 has LL samples in float32, and callers may want float32 back. */
template <class D> int launch_97(const l2k_cuda_pass &p, cudaStream_t stream)
{
    if (p.decompose && !p.joined && is_packed<float>(p.samples[0], L2K_CUDA_F32))
        return launch_sized<l2k_wavelet_97, D, float, plane_sink<l2k_wavelet_97, float>>(p, stream);
    return launch<l2k_wavelet_97, D, float>(p, stream);
}

} // namespace

extern "C" int l2k_cuda_inverse_pass(const l2k_cuda_pass *p, void *opaque)
{
    cudaStream_t stream = (cudaStream_t)opaque;
    if (p->width == 0 || p->height == 0)
        return cudaSuccess;
    if (p->wavelet == L2K_WAVELET_5_3 && p->type == L2K_COEFFICIENT_INT16)
        return p->low[0].type == L2K_CUDA_S16 ? launch<l2k_wavelet_53, int16_t, int16_t>(*p, stream)
                                              : launch<l2k_wavelet_53, int16_t, int32_t>(*p, stream);
    if (p->wavelet == L2K_WAVELET_5_3)
        return launch<l2k_wavelet_53, int32_t, int32_t>(*p, stream);
    switch (p->type) {
    case L2K_COEFFICIENT_INT16:
        return launch_97<int16_t>(*p, stream);
    case L2K_COEFFICIENT_INT32:
        return launch_97<int32_t>(*p, stream);
    default:
        return launch_97<float>(*p, stream);
    }
}
