/* Small levels of named kernels with int16 coefficients (dwt/kernel_cuda.cuh): a block takes a tile of samples and what
 * lies around it into shared memory and does each lifting step on all of it at once. A walk (cuda_strips.cuh) warms up for
 * as many rows as a sample depends on; where walks are short that is most of their work, one round after the other.
 *
 * In shared memory samples are apart by the parities of row and column, as subbands have them, and after each step those
 * beyond an end of a line become equal to the nearest of their parity. All values fit 16 bits, as in
 * dwt/kernel_packed_cuda.cuh, since either parity has one step: no value but a sample or a coefficient of a level is kept. */
#ifndef L2K_TRANSFORM_TILES_CUDA_CUH
#define L2K_TRANSFORM_TILES_CUDA_CUH

#include "dwt/kernel_cuda.cuh"
#include "transform/cuda/cuda_launch.cuh"

constexpr int l2k_floor_half(int x)
{
    return x >= 0 ? x / 2 : -((1 - x) / 2);
}

constexpr int l2k_floor_four(int x)
{
    return 4 * l2k_floor_half(l2k_floor_half(x));
}

/* How far steps after this one reach. */
constexpr int l2k_reach_after(const l2k_kernel_schedule &s, int number)
{
    int reach = 0;
    for (int i = number + 1; i < s.steps; i++)
        reach += l2k_most(-s.first[i], s.last[i]);
    return reach;
}

/* Two samples of 16 bits in a word. */
__device__ __forceinline__ uint32_t l2k_two_of(int32_t first, int32_t second)
{
    return __byte_perm((uint32_t)first, (uint32_t)second, 0x5410);
}

__device__ __forceinline__ uint32_t l2k_both(int32_t sample)
{
    return l2k_two_of(sample, sample);
}

__device__ __forceinline__ void l2k_four_of(uint2 words, int32_t *samples)
{
    samples[0] = (int16_t)words.x, samples[1] = (int32_t)words.x >> 16;
    samples[2] = (int16_t)words.y, samples[3] = (int32_t)words.y >> 16;
}

/* How a tile lies. Rows and columns in shared memory are numbered by parity from the first ones that the tile needs. */
template <class Kernel, bool INVERSE> struct l2k_tile {
    typedef l2k_kernel_arithmetic<false> arithmetic;
    static constexpr l2k_kernel_schedule S = l2k_schedule_of(Kernel::kernel, INVERSE);
    enum { WIDTH = 64, HEIGHT = 32, THREADS = 256, ROWS_AT_ONCE = 2 };
    enum { AROUND_X = (S.reach + 7) / 8 * 8, AROUND_Y = (S.reach + 1) / 2 * 2 }; /* samples on either side */
    enum { COLUMNS = WIDTH / 2 + AROUND_X, ROWS = HEIGHT / 2 + AROUND_Y };       /* of a parity */
    enum { FIRST_COLUMN = AROUND_X / 2, FIRST_ROW = AROUND_Y / 2 };              /* of the tile itself */
    /* Steps read groups of four columns and write ROWS_AT_ONCE rows, of which some are not used. */
    enum { PAD = 4, PITCH = COLUMNS + PAD, LINE = 2 * PITCH, PLANE = (ROWS + ROWS_AT_ONCE - 1) * LINE };
    enum { CELLS = 2 * PLANE + PAD };
    const l2k_cuda_sweep &p;
    int16_t *cells;
    int x, y; /* coordinates of the first column and row in shared memory */

    __device__ __forceinline__ l2k_tile(const l2k_cuda_sweep &sweep, int16_t *memory)
        : p(sweep), cells(memory), x((int)blockIdx.x % across(sweep) * WIDTH - AROUND_X),
          y((int)blockIdx.x / across(sweep) * HEIGHT - AROUND_Y)
    {
    }
    static __host__ __device__ __forceinline__ int across(const l2k_cuda_sweep &p)
    {
        return (p.x.end + WIDTH - 1) / WIDTH;
    }
    static __host__ __device__ __forceinline__ int down(const l2k_cuda_sweep &p)
    {
        return (p.y.end + HEIGHT - 1) / HEIGHT;
    }

    /* Column `column` of parity x_high of row `row` of parity y_high. */
    __device__ __forceinline__ int16_t *at(int y_high, int row, int x_high, int column) const
    {
        return cells + y_high * PLANE + row * LINE + x_high * PITCH + PAD + column;
    }
    __device__ __forceinline__ uint2 &four(int y_high, int row, int x_high, int column) const
    {
        return *reinterpret_cast<uint2 *>(at(y_high, row, x_high, column));
    }
    /* The numbers of the columns or rows of a parity that exist, of a line that begins at coordinate `from`. */
    static __device__ __forceinline__ l2k_span present(l2k_span line, int from, int high)
    {
        return l2k_span{(line.first - from - high + 1) >> 1, ((line.end - 1 - from - high) >> 1) + 1};
    }

    /* ---- Steps ----------------------------------------------------------------------------------------------- */

    /* Rows of both parities from `first` on, `count` each. */
    __device__ __forceinline__ void transform_columns(int first, int count) const
    {
        const bool whole = x >= p.x.first && x + 2 * COLUMNS <= p.x.end;
        if (l2k_is_lone(p.x))
            change_lone(p.x, [&](int i) { return at(i & 1, i / 2 % ROWS, 1, i / 2 / ROWS); });
        else
            step_columns<0>(first, count, whole);
    }
    /* All columns from a group of four on, in both parities. */
    template <int FIRST, int COUNT> __device__ __forceinline__ void transform_rows() const
    {
        const bool whole = y >= p.y.first && y + 2 * ROWS <= p.y.end;
        if (l2k_is_lone(p.y))
            change_lone(p.y, [&](int i) { return at(1, i / 2 % ROWS, i & 1, i / 2 / ROWS); });
        else
            step_rows<0, FIRST, COUNT>(whole);
    }

  private:
    /* A step, in numbers of columns or rows of a parity; TAP is that of the first tap of number 0. */
    template <int NUMBER> struct step_type : l2k_named_step<Kernel, INVERSE, NUMBER> {
        enum { HIGH = S.high[NUMBER], TAP = l2k_floor_half(HIGH + S.first[NUMBER] - !HIGH) };
        enum { NEED = l2k_reach_after(S, NUMBER), NEAR = (NEED + 1) / 2 };
        /* Groups of four columns that it writes, and that it reads for those, relative to them. */
        enum { GROUP = (FIRST_COLUMN - NEAR) / 4, GROUPS = (FIRST_COLUMN + WIDTH / 2 + NEAR + 3) / 4 - GROUP };
        enum { FROM = l2k_floor_four(TAP), READ = (TAP + 3 + Kernel::kernel.steps[INVERSE ? S.steps - 1 - NUMBER : NUMBER].num_taps - 1 - FROM) / 4 + 1 };
        /* Rows that it writes. */
        enum { ROW = FIRST_ROW - l2k_floor_half(NEED + HIGH) };
        enum { COUNT = FIRST_ROW + l2k_floor_half(HEIGHT - 1 + NEED - HIGH) + 1 - ROW };
        enum { TIMES = (COUNT + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE };
    };

    /* Lines of one sample: all high samples of the tile, if it is one. */
    template <class At> __device__ __forceinline__ void change_lone(l2k_span line, const At &cell) const
    {
        if (line.first & 1)
            for (int i = threadIdx.x; i < 2 * ROWS * COLUMNS; i += THREADS) {
                int16_t *to = cell(i);
                *to = (int16_t)(INVERSE ? arithmetic::unlone(*to) : arithmetic::lone(*to));
            }
        __syncthreads();
    }

    template <int NUMBER> __device__ __forceinline__ void step_columns(int first, int count, bool whole) const
    {
        if constexpr (NUMBER < S.steps) {
            typedef step_type<NUMBER> step;
            constexpr int high = step::HIGH;
            for (int i = threadIdx.x; i < 2 * count * step::GROUPS; i += THREADS) {
                const int line = i / step::GROUPS, group = step::GROUP + i % step::GROUPS;
                const int16_t *row = at(line & 1, first + (line >> 1), 0, 4 * group);
                lift_four_columns<NUMBER>(row + high * PITCH, row + !high * PITCH);
            }
            __syncthreads();
            if (!whole && NUMBER + 1 < S.steps) {
                const l2k_span some = present(p.x, x, high);
                for (int i = threadIdx.x; i < 2 * count * COLUMNS; i += THREADS) {
                    const int line = i / COLUMNS, column = i % COLUMNS;
                    int16_t *row = at(line & 1, first + (line >> 1), high, 0);
                    if (column < some.first || column >= some.end)
                        row[column] = row[min(max(column, some.first), some.end - 1)];
                }
                __syncthreads();
            }
            step_columns<NUMBER + 1>(first, count, whole);
        }
    }

    template <int NUMBER>
    static __device__ __forceinline__ void lift_four_columns(const int16_t *own, const int16_t *source)
    {
        typedef step_type<NUMBER> step;
        int32_t read[4 * step::READ], v[4];
#pragma unroll
        for (int g = 0; g < step::READ; g++)
            l2k_four_of(*reinterpret_cast<const uint2 *>(source + step::FROM + 4 * g), read + 4 * g);
        l2k_four_of(*reinterpret_cast<const uint2 *>(own), v);
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[k] = arithmetic::template lift<step>(v[k], [&](int i) { return read[k + step::TAP - step::FROM + i]; });
        *reinterpret_cast<uint2 *>(const_cast<int16_t *>(own)) = make_uint2(l2k_two_of(v[0], v[1]), l2k_two_of(v[2], v[3]));
    }

    template <int NUMBER, int FIRST, int COUNT> __device__ __forceinline__ void step_rows(bool whole) const
    {
        if constexpr (NUMBER < S.steps) {
            typedef step_type<NUMBER> step;
            constexpr int high = step::HIGH;
            for (int i = threadIdx.x; i < step::TIMES * 2 * COUNT; i += THREADS) {
                const int group = i % (2 * COUNT), row = step::ROW + i / (2 * COUNT) * ROWS_AT_ONCE;
                lift_rows<NUMBER>(row, group & 1, 4 * (FIRST + (group >> 1)));
            }
            __syncthreads();
            if (!whole && NUMBER + 1 < S.steps) {
                const l2k_span some = present(p.y, y, high);
                for (int i = threadIdx.x; i < ROWS * 2 * COUNT; i += THREADS) {
                    const int group = i % (2 * COUNT), row = i / (2 * COUNT), column = 4 * (FIRST + (group >> 1));
                    if (row < some.first || row >= some.end)
                        four(high, row, group & 1, column) =
                            four(high, min(max(row, some.first), some.end - 1), group & 1, column);
                }
                __syncthreads();
            }
            step_rows<NUMBER + 1, FIRST, COUNT>(whole);
        }
    }

    template <int NUMBER> __device__ __forceinline__ void lift_rows(int row, int x_high, int column) const
    {
        typedef step_type<NUMBER> step;
        int32_t read[ROWS_AT_ONCE - 1 + step::TAPS][4];
        const int16_t *source = at(!step::HIGH, row + step::TAP, x_high, column);
        int16_t *own = at(step::HIGH, row, x_high, column);
#pragma unroll
        for (int r = 0; r < ROWS_AT_ONCE - 1 + step::TAPS; r++)
            l2k_four_of(*reinterpret_cast<const uint2 *>(source + r * LINE), read[r]);
#pragma unroll
        for (int r = 0; r < ROWS_AT_ONCE; r++) {
            uint2 &words = *reinterpret_cast<uint2 *>(own + r * LINE);
            int32_t v[4];
            l2k_four_of(words, v);
#pragma unroll
            for (int k = 0; k < 4; k++)
                v[k] = arithmetic::template lift<step>(v[k], [&](int i) { return read[r + i][k]; });
            words = make_uint2(l2k_two_of(v[0], v[1]), l2k_two_of(v[2], v[3]));
        }
    }
};

/* Four columns of a subband's row in memory, from column n on, to or from shared memory. */
struct l2k_tile_row {
    int n, count; /* columns that exist */
    bool aligned;

    /* Columns that do not exist take the nearest one's value. */
    __device__ __forceinline__ void load(const int16_t *row, int16_t *to) const
    {
        if (aligned && n >= 0 && n + 4 <= count) {
            l2k_copy_async<8, true>(l2k_shared_address(to), reinterpret_cast<const char *>(row + n), 8);
            return;
        }
        for (int k = 0; k < 4; k++)
            to[k] = count > 0 ? row[min(max(n + k, 0), count - 1)] : (int16_t)0;
    }
    __device__ __forceinline__ void store(int16_t *row, const int16_t *from) const
    {
        if (aligned && n >= 0 && n + 4 <= count) {
            *reinterpret_cast<uint2 *>(row + n) = *reinterpret_cast<const uint2 *>(from);
            return;
        }
        for (int k = 0; k < 4; k++)
            if (n + k >= 0 && n + k < count)
                row[n + k] = from[k];
    }
};

/* A subband, or the LL between launches, in memory. Rows and columns are numbered from those of the tile in shared
 * memory. */
struct l2k_tile_band {
    char *data; /* of column 0 and row 0 of the subband */
    int stride; /* bytes */
    l2k_span columns, rows;
    int column, row; /* of the tile's first, counted from those */

    template <class Tile>
    __device__ __forceinline__ l2k_tile_band(const Tile &tile, int c, int band, bool is_plane)
        : data(is_plane ? tile.p.low[c].data : reinterpret_cast<char *>(tile.p.bands[c].at[0][band])),
          stride(is_plane ? tile.p.low[c].row_stride : 2 * tile.p.bands[c].stride),
          columns(l2k_band_columns(band, tile.p.x)), rows(l2k_band_rows(band, tile.p.y)),
          column((tile.x >> 1) - columns.first), row((tile.y >> 1) - rows.first)
    {
    }
    __device__ __forceinline__ int16_t *at(int n) const
    {
        return reinterpret_cast<int16_t *>(data + (int64_t)n * stride);
    }
    __device__ __forceinline__ l2k_tile_row four(int offset) const
    {
        return l2k_tile_row{column + offset, l2k_length(columns),
                            (((uintptr_t)data + 2 * column) | (uintptr_t)stride) % 8 == 0};
    }
};

template <class Tile, class Kernel>
static int l2k_launch_tiles(Kernel *kernel, const l2k_cuda_sweep &p, cudaStream_t stream)
{
    const dim3 grid(Tile::across(p) * Tile::down(p), p.components);
    return l2k_launch(kernel, grid, Tile::THREADS, false, p.follows, p, stream);
}

/* Whether samples of 16 bits are adjacent. */
static inline bool l2k_suits_tiles(const l2k_cuda_sweep &p)
{
    return p.in_tiles && p.levels == 1 && l2k_form_of(p) == L2K_FORM_16;
}

#endif
