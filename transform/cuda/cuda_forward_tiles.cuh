/* A small level of a named kernel, forward, by tiles (cuda_tiles.cuh): samples with their level shift (G.1) to subbands. */
#ifndef L2K_TRANSFORM_CUDA_CUDA_FORWARD_TILES_CUH
#define L2K_TRANSFORM_CUDA_CUDA_FORWARD_TILES_CUH

#include "tiling/pixel/pixel_cuda.cuh"
#include "transform/cuda/cuda_tiles.cuh"

namespace
{

/* Samples of a row, eight at a time; those that do not exist take the value of the nearest one of their parity. */
template <class Tile> __device__ __forceinline__ void load_samples(const Tile &tile, int c)
{
    const l2k_cuda_plane &plane = tile.p.samples[c];
    const l2k_span x = tile.p.x, y = tile.p.y;
    const bool aligned = l2k_is_aligned<int16_t>(plane, tile.x - x.first, 16);
    const uint32_t shift = l2k_both(plane.shift.shift);
    enum { EIGHTS = Tile::COLUMNS / 4 };
#pragma unroll 2
    for (int i = threadIdx.x; i < 2 * Tile::ROWS * EIGHTS; i += Tile::THREADS) {
        const int line = i / EIGHTS, column = tile.x + i % EIGHTS * 8, high = line & 1;
        const l2k_span some = Tile::present(y, tile.y, high);
        const int row = tile.y + 2 * min(max(line >> 1, some.first), some.end - 1) + high;
        const int16_t *from = l2k_plane_row<const int16_t>(plane, min(max(row, y.first), y.end - 1) - y.first);
        uint4 w;
        if (aligned && column >= x.first && column + 8 <= x.end) {
            w = __ldcg(reinterpret_cast<const uint4 *>(from + column - x.first));
        } else {
            l2k_packed<int16_t, 8> raw;
#pragma unroll
            for (int k = 0; k < 8; k++) {
                const int first = x.first + ((x.first ^ k) & 1), last = x.end - 1 - ((x.end - 1 - k) & 1);
                const int at = min(max(column + k, first), max(last, x.first));
                raw.set(k, from[min(max(at, x.first), x.end - 1) - x.first]);
            }
            w = make_uint4(raw.words.w[0], raw.words.w[1], raw.words.w[2], raw.words.w[3]);
        }
        w = make_uint4(__vsub2(w.x, shift), __vsub2(w.y, shift), __vsub2(w.z, shift), __vsub2(w.w, shift));
        const int group = i % EIGHTS * 4;
        tile.four(high, line >> 1, 0, group) = make_uint2(__byte_perm(w.x, w.y, 0x5410), __byte_perm(w.z, w.w, 0x5410));
        tile.four(high, line >> 1, 1, group) = make_uint2(__byte_perm(w.x, w.y, 0x7632), __byte_perm(w.z, w.w, 0x7632));
    }
}

template <class Tile> __device__ __forceinline__ void store_bands(const Tile &tile, int c)
{
    enum { FOURS = Tile::WIDTH / 8, ROWS = Tile::HEIGHT / 2, ALL = FOURS * ROWS };
#pragma unroll
    for (int band = L2K_LL; band <= L2K_HH; band++) {
        const l2k_tile_band to(tile, c, band, band == L2K_LL && !tile.p.low_in_bands);
        for (int i = threadIdx.x; i < ALL; i += Tile::THREADS) {
            const int row = Tile::FIRST_ROW + i / FOURS, column = Tile::FIRST_COLUMN + i % FOURS * 4, n = to.row + row;
            if (n >= 0 && n < l2k_length(to.rows))
                to.four(column).store(to.at(n), tile.at(band >> 1, row, band & 1, column));
        }
    }
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
    tile.template transform_rows<0, tile_type::COLUMNS / 4>();
    tile.transform_columns(tile_type::FIRST_ROW, tile_type::HEIGHT / 2);
    store_bands(tile, blockIdx.y);
}

} // namespace

#endif
