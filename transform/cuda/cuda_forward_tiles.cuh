/* A small level of a named kernel, forward, by tiles (cuda_tiles.cuh): samples with their level shift (G.1) to
 * subbands. */
#ifndef L2K_TRANSFORM_CUDA_CUDA_FORWARD_TILES_CUH
#define L2K_TRANSFORM_CUDA_CUDA_FORWARD_TILES_CUH

#include "tiling/pixel/pixel_cuda.cuh"
#include "transform/cuda/cuda_tiles.cuh"

namespace
{

/* Columns `column` to `column` + 7 of a row that has only some of them. */
__device__ __forceinline__ void load_border(const int16_t *row, int column, l2k_span x, l2k_packed<int16_t, 8> *raw)
{
#pragma unroll
    for (int k = 0; k < 8; k++) {
        const int first = x.first + ((x.first ^ k) & 1), last = x.end - 1 - ((x.end - 1 - k) & 1);
        const int at = min(max(column + k, first), max(last, x.first));
        raw->set(k, row[min(max(at, x.first), x.end - 1) - x.first]);
    }
}

/* Samples of a row, eight at a time; those that do not exist take the value of the nearest one of their parity. */
template <class Tile> __device__ __forceinline__ void load_samples(const Tile &tile, int c)
{
    const l2k_cuda_plane &plane = tile.p.samples[c];
    const l2k_span x = tile.p.x, y = tile.p.y;
    const int group = threadIdx.x % 16, column = tile.x + 8 * group;
    const bool whole = l2k_is_aligned<int16_t>(plane, tile.x - x.first, 16) && column >= x.first && column + 8 <= x.end;
    const uint32_t shift = l2k_twice(plane.shift.shift);
    enum { AT_ONCE = Tile::THREADS / 16, TIMES = (2 * Tile::ROWS + AT_ONCE - 1) / AT_ONCE };
    l2k_packed<int16_t, 8> raw[TIMES];
    if (group >= Tile::COLUMNS / 4)
        return;
#pragma unroll
    for (int i = 0; i < TIMES; i++) {
        const int line = threadIdx.x / 16 + i * AT_ONCE, high = line & 1;
        const l2k_span some = Tile::present(y, tile.y, high);
        const int row = tile.y + 2 * min(max(line >> 1, some.first), some.end - 1) + high;
        const int16_t *from = l2k_plane_row<const int16_t>(plane, min(max(row, y.first), y.end - 1) - y.first);
        if (whole)
            raw[i].load(from + column - x.first);
        else
            load_border(from, column, x, &raw[i]);
    }
#pragma unroll
    for (int i = 0; i < TIMES; i++) {
        const int line = threadIdx.x / 16 + i * AT_ONCE;
        uint32_t w[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            w[k] = __vsub2(raw[i].words.w[k], shift);
        if (line < 2 * Tile::ROWS) {
            tile.four(line & 1, line >> 1, 0, 4 * group) = make_uint2(l2k_firsts(w[0], w[1]), l2k_firsts(w[2], w[3]));
            tile.four(line & 1, line >> 1, 1, 4 * group) = make_uint2(l2k_seconds(w[0], w[1]), l2k_seconds(w[2], w[3]));
        }
    }
}

/* A thread stores eight columns of a subband's row. */
template <class Tile> __device__ __forceinline__ void store_bands(const Tile &tile, int c)
{
    enum { EIGHTS = Tile::WIDTH / 16, ROWS = Tile::HEIGHT / 2 };
    static_assert(4 * EIGHTS * ROWS == Tile::THREADS, "one for each");
    const int band = threadIdx.x / (EIGHTS * ROWS);
    const int row = Tile::FIRST_ROW + threadIdx.x / EIGHTS % ROWS,
              column = Tile::FIRST_COLUMN + threadIdx.x % EIGHTS * 8;
    l2k_tile_band(tile, c, band, band == L2K_LL && !tile.p.low_in_bands)
        .store(tile.at(band >> 1, row, band & 1, column), column, row);
}

template <class Kernel>
__global__ void __launch_bounds__(256, 4) forward_tiles_kernel(const __grid_constant__ l2k_cuda_sweep p)
{
    typedef l2k_tile<Kernel, false> tile_type;
    __shared__ __align__(16) int16_t cells[tile_type::CELLS];
    const tile_type tile(p, cells);
    l2k_await_previous();
    load_samples(tile, blockIdx.y);
    __syncthreads();
    tile.template transform_rows<tile_type::GROUP, tile_type::GROUPS>();
    tile.transform_columns(tile_type::FIRST_ROW, tile_type::HEIGHT / 2);
    store_bands(tile, blockIdx.y);
}

} // namespace

#endif
