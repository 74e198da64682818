/* A small level of a named kernel, inverse, by tiles (cuda_tiles.cuh): subbands to samples with their level shift
 * (G.1). */
#ifndef L2K_TRANSFORM_CUDA_CUDA_INVERSE_TILES_CUH
#define L2K_TRANSFORM_CUDA_CUDA_INVERSE_TILES_CUH

#include "tiling/pixel/pixel_cuda.cuh"
#include "transform/cuda/cuda_tiles.cuh"

namespace
{

/* A thread loads eight columns of a row of each subband. */
template <class Tile> __device__ __forceinline__ void load_bands(const Tile &tile, int c)
{
    const int row = threadIdx.x / 8, column = threadIdx.x % 8 * 8;
    if (row < Tile::ROWS && column < Tile::COLUMNS)
#pragma unroll
        for (int band = L2K_LL; band <= L2K_HH; band++)
            l2k_tile_band(tile, c, band, band == L2K_LL).load(tile.at(band >> 1, row, band & 1, column), column, row);
}

/* Eight samples at a time, as far as they are kept. */
template <class Tile> __device__ __forceinline__ void store_samples(const Tile &tile, int c)
{
    const l2k_cuda_plane &plane = tile.p.samples[c];
    const l2k_span x = tile.p.kept_x, y = tile.p.kept_y;
    const bool aligned = l2k_is_aligned<int16_t>(plane, tile.x - x.first, 16);
    const uint32_t low = l2k_twice(max(plane.shift.low, INT16_MIN)), high = l2k_twice(min(plane.shift.high, INT16_MAX)),
                   shift = l2k_twice(plane.shift.shift);
    enum { EIGHTS = Tile::WIDTH / 8 };
    for (int i = threadIdx.x; i < Tile::HEIGHT * EIGHTS; i += Tile::THREADS) {
        const int line = i / EIGHTS + 2 * Tile::FIRST_ROW, group = i % EIGHTS * 4 + Tile::FIRST_COLUMN;
        const int row = tile.y + line, column = tile.x + 2 * group;
        if (row < y.first || row >= y.end)
            continue;
        const uint2 even = tile.four(line & 1, line >> 1, 0, group), odd = tile.four(line & 1, line >> 1, 1, group);
        l2k_packed<int16_t, 8> raw;
        raw.words.w[0] = __byte_perm(even.x, odd.x, 0x5410);
        raw.words.w[1] = __byte_perm(even.x, odd.x, 0x7632);
        raw.words.w[2] = __byte_perm(even.y, odd.y, 0x5410);
        raw.words.w[3] = __byte_perm(even.y, odd.y, 0x7632);
#pragma unroll
        for (int k = 0; k < 4; k++)
            raw.words.w[k] = __vadd2(__vmins2(__vmaxs2(raw.words.w[k], low), high), shift);
        l2k_store_run(l2k_plane_row<int16_t>(plane, row - y.first),
                      l2k_lane_run<8>{column - x.first, l2k_length(x), aligned}, raw);
    }
}

template <class Kernel>
__global__ void __launch_bounds__(256, 4) inverse_tiles_kernel(const __grid_constant__ l2k_cuda_sweep p)
{
    typedef l2k_tile<Kernel, true> tile_type;
    __shared__ __align__(16) int16_t cells[tile_type::CELLS];
    const tile_type tile(p, cells);
    l2k_await_previous();
    load_bands(tile, blockIdx.y);
    l2k_end_copies();
    l2k_await_copies<0>();
    __syncthreads();
    tile.transform_columns(0, tile_type::ROWS);
    tile.template transform_rows<tile_type::FIRST_COLUMN / 4, tile_type::WIDTH / 8>();
    store_samples(tile, blockIdx.y);
}

} // namespace

#endif
