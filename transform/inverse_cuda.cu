/* One decomposition level, inverse: dequantiser in the loads, lifting in registers, pixel pass in the stores. */
#include "dwt/warp_cuda.cuh"
#include "quant/quantiser_cuda.cuh"
#include "tiling/pixel_cuda.cuh"
#include "transform/cuda_pass.h"

#include <cuda_runtime.h>

namespace
{

/* ---- Loads --------------------------------------------------------------------------------------------------- */

/* Row y of a band, and of the LL that comes from memory of its own. */
template <class D> __device__ __forceinline__ const D *band_row(const l2k_cuda_bands &b, int band, int y)
{
    return reinterpret_cast<const D *>(b.data) + (b.y[band] + y) * b.stride + b.x[band];
}

template <class L> __device__ __forceinline__ const L *low_row(const l2k_cuda_plane &plane, int y)
{
    return reinterpret_cast<const L *>(plane.data + y * plane.row_stride);
}

/* A tile as it is loaded: for each row the low and the high half of its columns. The low half of a low row is LL, of type L
 * unless it is a band like the others. */
template <class W, class D, class L, bool LAST, int ROWS> struct loaded_tile {
    enum { N = W::C / 2 };
    l2k_packed<L, N> low[ROWS];
    l2k_packed<D, N> band[ROWS], high[ROWS];

    static __device__ __forceinline__ bool is_low(int r) /* row 0 is high */
    {
        return r & 1;
    }

    /* Whether lanes inside may load whole vectors: all bands start, and all rows lie, at multiples of them. */
    static __device__ __forceinline__ bool is_aligned(const l2k_cuda_pass &p, int component, int low_first, int high_first)
    {
        const l2k_cuda_bands &b = p.bands[component];
        typedef l2k_packed<D, N> V;
        bool ok = b.stride * sizeof(D) % V::ALIGNMENT == 0 && V::is_aligned(band_row<D>(b, L2K_HL, 0) + high_first) &&
                  V::is_aligned(band_row<D>(b, L2K_LH, 0) + low_first) &&
                  V::is_aligned(band_row<D>(b, L2K_HH, 0) + high_first);
        if (LAST)
            return ok && V::is_aligned(band_row<D>(b, L2K_LL, 0) + low_first);
        return ok && l2k_packed<L, N>::is_aligned(low_row<L>(p.low[component], 0) + low_first);
    }

    __device__ __forceinline__ void load(const l2k_cuda_pass &p, int component, int first_row, int low_first, int high_first)
    {
        const l2k_cuda_bands &b = p.bands[component];
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            int y = l2k_mirror(first_row + r, p.height) >> 1;
            if (is_low(r) && !LAST)
                low[r].load(low_row<L>(p.low[component], y) + low_first);
            else
                band[r].load(band_row<D>(b, is_low(r) ? L2K_LL : L2K_LH, y) + low_first);
            high[r].load(band_row<D>(b, is_low(r) ? L2K_HL : L2K_HH, y) + high_first);
        }
    }

    /* Column by column: at[k] is the place of column k in its half. A picture one column wide or one row high has no low or
     * no high half; what is missing is never used. */
    __device__ __forceinline__ void gather(const l2k_cuda_pass &p, int component, int first_row,
                                           const l2k_columns<W::C> &at)
    {
        const l2k_cuda_bands &b = p.bands[component];
        bool low_columns = p.low_width > 0, high_columns = p.width > p.low_width;
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            bool exists = is_low(r) ? p.low_height > 0 : p.height > p.low_height;
            bool has_low = exists && low_columns, has_high = exists && high_columns;
            int y = l2k_mirror(first_row + r, p.height) >> 1;
#pragma unroll
            for (int k = 0; k < N; k++) {
                int i = at.at[2 * k] >> 1;
                if (is_low(r) && !LAST)
                    low[r].set(k, has_low ? low_row<L>(p.low[component], y)[i] : (L)0);
                else
                    band[r].set(k, has_low ? band_row<D>(b, is_low(r) ? L2K_LL : L2K_LH, y)[i] : (D)0);
                i = at.at[2 * k + 1] >> 1;
                high[r].set(k, has_high ? band_row<D>(b, is_low(r) ? L2K_HL : L2K_HH, y)[i] : (D)0);
            }
        }
    }

    __device__ __forceinline__ void unpack(const l2k_cuda_pass &p, int component, int r, typename W::T (&v)[W::C]) const
    {
        const float *step = p.bands[component].step;
#pragma unroll
        for (int k = 0; k < N; k++) {
            if (is_low(r) && !LAST)
                v[2 * k] = (typename W::T)low[r].get(k);
            else
                l2k_from_coefficient<D>(band[r].get(k), step[is_low(r) ? L2K_LL : L2K_LH], &v[2 * k]);
            l2k_from_coefficient<D>(high[r].get(k), step[is_low(r) ? L2K_HL : L2K_HH], &v[2 * k + 1]);
        }
    }
};

/* ---- Sinks --------------------------------------------------------------------------------------------------- */

/* A plane of type S whose samples lie side by side: pixels, or LL samples of the level above. */
template <class W, class S> struct plane_sink {
    enum { HAS_LONG = sizeof(S) != 4 || (S)0.5f != 0 };

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
    enum { HAS_LONG = false };

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

/* ---- Kernels ------------------------------------------------------------------------------------------------- */

enum { TILES_IN_BLOCK = 4, INNER_LANES = 30 };

/* Reads a tile and undoes both directions; rows INVERSE_FIRST .. + 2 PAIRS - 1 of v are finished. Row 0 is high. */
template <class W, class D, class L, bool LAST, int PAIRS, int ROWS>
__device__ __forceinline__ void inverse_tile(const l2k_cuda_pass &p, int component, int u, int t0,
                                             typename W::T (&v)[ROWS][W::C])
{
    loaded_tile<W, D, L, LAST, ROWS> tile;
    int x = u - p.parity_x, first_row = t0 - W::INVERSE_FIRST - p.parity_y;
    int low_first = u / 2 - p.parity_x, high_first = u / 2;
    if (x >= 0 && x + W::C <= p.width && p.height > 1 &&
        tile.is_aligned(p, component, low_first, high_first))
        tile.load(p, component, first_row, low_first, high_first);
    else
        tile.gather(p, component, first_row, l2k_columns<W::C>(x, p.width));
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        tile.unpack(p, component, r, v[r]);
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

template <class W, class D, class L, bool LAST, class Sink, int PAIRS>
__global__ void __launch_bounds__(32 * TILES_IN_BLOCK) inverse_kernel(const __grid_constant__ l2k_cuda_pass p)
{
    int lane = threadIdx.x & 31, tile = blockIdx.y * TILES_IN_BLOCK + (threadIdx.x >> 5);
    int u = ((int)blockIdx.x * INNER_LANES + lane - 1) * W::C, t0 = 2 * PAIRS * tile;
    if (t0 >= p.height + p.parity_y)
        return;
    typename W::T v[2 * PAIRS + W::HALO_ROWS][W::C];
    inverse_tile<W, D, L, LAST, PAIRS>(p, 0, u, t0, v);
#pragma unroll
    for (int r = 0; r < 2 * PAIRS; r++) {
        int y = t0 + r - p.parity_y;
        if (lane > 0 && lane < 31 && y >= 0 && y < p.height)
            Sink::store(p, 0, v[W::INVERSE_FIRST + r], u - p.parity_x, y);
    }
}

/* Three warps, one a component, for each tile. */
template <class W, class D, class L, bool LAST, int PAIRS, int TILES>
__global__ void __launch_bounds__(96 * TILES) inverse_joined_kernel(const __grid_constant__ l2k_cuda_pass p)
{
    typedef typename W::T T;
    __shared__ T meet[TILES][3][2 * PAIRS][32 * W::C];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, component = warp % 3, part = warp / 3;
    int u = ((int)blockIdx.x * INNER_LANES + lane - 1) * W::C, t0 = 2 * PAIRS * ((int)blockIdx.y * TILES + part);
    bool active = t0 < p.height + p.parity_y;
    if (active) {
        T v[2 * PAIRS + W::HALO_ROWS][W::C];
        inverse_tile<W, D, L, LAST, PAIRS>(p, component, u, t0, v);
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

/* ---- Launchers ----------------------------------------------------------------------------------------------- */

int divide_up(int a, int b)
{
    return (a + b - 1) / b;
}

template <class W, class D, class L, bool LAST, class Sink, int PAIRS>
int launch_tiles(const l2k_cuda_pass &p, cudaStream_t stream)
{
    dim3 grid(divide_up(p.width + p.parity_x, INNER_LANES * W::C),
              divide_up(p.height + p.parity_y, 2 * PAIRS * TILES_IN_BLOCK));
    inverse_kernel<W, D, L, LAST, Sink, PAIRS><<<grid, 32 * TILES_IN_BLOCK, 0, stream>>>(p);
    return cudaGetLastError();
}

bool is_large(const l2k_cuda_pass &p)
{
    return !p.samples[0].is_low && (int64_t)p.width * p.height >= (int64_t)3000 * 3000;
}

template <class W, class D, class L, class Sink> int launch_sized(const l2k_cuda_pass &p, cudaStream_t stream)
{
    const int LONG = W::C == 8 ? 4 : 8, SHORT = 2;
    if (p.low_in_bands) /* the deepest level: small as a rule */
        return launch_tiles<W, D, L, true, Sink, SHORT>(p, stream);
    if (Sink::HAS_LONG && is_large(p))
        return launch_tiles<W, D, L, false, Sink, Sink::HAS_LONG ? LONG : SHORT>(p, stream);
    return launch_tiles<W, D, L, false, Sink, SHORT>(p, stream);
}

template <class W, class D, class L, bool LAST, int PAIRS, int TILES>
int launch_joined(const l2k_cuda_pass &p, cudaStream_t stream)
{
    dim3 grid(divide_up(p.width + p.parity_x, INNER_LANES * W::C), divide_up(p.height + p.parity_y, 2 * PAIRS * TILES));
    inverse_joined_kernel<W, D, L, LAST, PAIRS, TILES><<<grid, 96 * TILES, 0, stream>>>(p);
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
        if (p.low_in_bands)
            return launch_joined<W, D, L, true, 2, 2>(p, stream);
        return is_large(p) ? launch_joined<W, D, L, false, LONG, 1>(p, stream)
                           : launch_joined<W, D, L, false, 2, 2>(p, stream);
    }
    if (is_packed<uint8_t>(plane, L2K_CUDA_U8))
        return launch_sized<W, D, L, plane_sink<W, uint8_t>>(p, stream);
    if (is_packed<uint16_t>(plane, L2K_CUDA_U16))
        return launch_sized<W, D, L, plane_sink<W, uint16_t>>(p, stream);
    if (is_packed<int16_t>(plane, L2K_CUDA_S16))
        return launch_sized<W, D, L, plane_sink<W, int16_t>>(p, stream);
    if (is_packed<int32_t>(plane, L2K_CUDA_S32))
        return launch_sized<W, D, L, plane_sink<W, int32_t>>(p, stream);
    return launch_sized<W, D, L, any_sink<W>>(p, stream);
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
