/* Small levels of named kernels whose values fit 16 bits (dwt/kernel_packed_cuda.cuh): a block takes a tile of samples
 * and what lies around it into shared memory and does each lifting step on all of it at once. A walk (cuda_strips.cuh)
 * warms up for as many rows as a sample depends on; where walks are short that is most of their work, one round after
 * the other.
 *
 * In shared memory samples are apart by the parities of row and column, as subbands have them, and after each step
 * those beyond an end of a line become equal to the nearest of their parity. */
#ifndef L2K_TRANSFORM_TILES_CUDA_CUH
#define L2K_TRANSFORM_TILES_CUDA_CUH

#include "dwt/kernel_packed_cuda.cuh"
#include "tiling/pixel/pixel_cuda.cuh"
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

/* Packed steps (dwt/kernel_packed_cuda.cuh) on samples that lie one after the other in the words of `read`, of which
 * the one of tap 0 of the first result is number TAP. */
template <class Step, int TAP, int COUNT> struct l2k_packed_taps {
    const uint32_t (&read)[COUNT];

    template <int I> __device__ __forceinline__ uint32_t two_of() const
    {
        constexpr int at = TAP + I;
        if constexpr (at & 1)
            return l2k_middle(read[at / 2], read[at / 2 + 1]);
        else
            return read[at / 2];
    }
    template <int WORD = 0> __device__ __forceinline__ int32_t sum(int32_t before = Step::ROUNDING) const
    {
        if constexpr (WORD < COUNT)
            return sum<WORD + 1>(Step::template add<2 * WORD - TAP>(before, read[WORD]));
        else
            return before;
    }
};

template <class Step, int TAP, int COUNT>
__device__ __forceinline__ uint32_t l2k_lift_pair(uint32_t x, const uint32_t (&read)[COUNT])
{
    const l2k_packed_taps<Step, TAP, COUNT> first = {read};
    const l2k_packed_taps<Step, TAP + 1, COUNT> second = {read};
    return Step::lift(Step::add_whole(x, first), first.sum(), second.sum());
}

/* How a tile lies. Rows and columns in shared memory are numbered by parity from the first ones that the tile needs. */
template <class Kernel, bool INVERSE> struct l2k_tile {
    static constexpr l2k_kernel_schedule S = l2k_schedule_of(Kernel::kernel, INVERSE);
    enum { WIDTH = 64, HEIGHT = 32, THREADS = 256, ROWS_AT_ONCE = 2 };
    enum { AROUND_X = 16, AROUND_Y = (S.reach + 1) / 2 * 2 };              /* samples on either side */
    enum { COLUMNS = WIDTH / 2 + AROUND_X, ROWS = HEIGHT / 2 + AROUND_Y }; /* of a parity */
    enum { FIRST_COLUMN = AROUND_X / 2, FIRST_ROW = AROUND_Y / 2 };        /* of the tile itself */
    /* Groups of four columns of a parity that results depend on. */
    enum { NEAR = (S.reach + 1) / 2, GROUP = (FIRST_COLUMN - NEAR) / 4 };
    enum { GROUPS = (FIRST_COLUMN + WIDTH / 2 + NEAR + 3) / 4 - GROUP };
    /* Distances in shared memory such that half a warp's accesses of eight bytes fall into different banks: two rows
     * are 16 banks apart, as are the two parities of rows. Of the rows that steps write ROWS_AT_ONCE at a time, some
     * are not used. */
    enum { PITCH = COLUMNS + 8, LINE = 2 * PITCH, LINES = (ROWS + ROWS_AT_ONCE - 1) * LINE };
    enum { PLANE = LINES + (96 - LINES % 64) % 64, CELLS = 2 * PLANE };
    static_assert(S.reach <= AROUND_X && ROWS * 8 <= THREADS && LINE % 64 == 48, "see above and l2k_tile_band");
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
        return cells + y_high * PLANE + row * LINE + x_high * PITCH + column;
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
        enum {
            FROM = l2k_floor_four(TAP),
            READ = (TAP + 3 + Kernel::kernel.steps[INVERSE ? S.steps - 1 - NUMBER : NUMBER].num_taps - 1 - FROM) / 4 + 1
        };
        /* Rows that it writes. */
        enum { ROW = FIRST_ROW - l2k_floor_half(NEED + HIGH) };
        enum { COUNT = FIRST_ROW + l2k_floor_half(HEIGHT - 1 + NEED - HIGH) + 1 - ROW };
        enum { TIMES = (COUNT + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE };
    };

    /* Lines of one sample: all high samples of the tile, if it is one. */
    template <class At> __device__ __forceinline__ void change_lone(l2k_span line, const At &cell) const
    {
        if (line.first & 1)
#pragma unroll 1
            for (int i = threadIdx.x; i < 2 * ROWS * COLUMNS; i += THREADS) {
                int16_t *to = cell(i);
                *to = (int16_t)(INVERSE ? l2k_5_3_unlone(*to) : l2k_5_3_lone(*to));
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
                int16_t *row = at(line & 1, first + (line >> 1), 0, 4 * group);
                lift_four_columns<NUMBER>(row + high * PITCH, row + !high * PITCH);
            }
            __syncthreads();
            if (!whole && NUMBER + 1 < S.steps) {
#pragma unroll 1
                for (int line = threadIdx.x / 4; line < 2 * count; line += THREADS / 4)
                    extend_columns(at(line & 1, first + (line >> 1), high, 0), present(p.x, x, high));
                __syncthreads();
            }
            step_columns<NUMBER + 1>(first, count, whole);
        }
    }

    /* The columns of a line that do not exist, by four threads. */
    static __device__ __forceinline__ void extend_columns(int16_t *line, l2k_span some)
    {
#pragma unroll 1
        for (int i = threadIdx.x % 4; i < some.first; i += 4)
            line[i] = line[some.first];
#pragma unroll 1
        for (int i = some.end + threadIdx.x % 4; i < COLUMNS; i += 4)
            line[i] = line[some.end - 1];
    }
    /* The rows that do not exist, one in each warp, of four columns from row 0 on. */
    static __device__ __forceinline__ void extend_rows(int16_t *columns, l2k_span some)
    {
        const auto row = [&](int i) -> uint2 & { return *reinterpret_cast<uint2 *>(columns + i * LINE); };
#pragma unroll 1
        for (int i = threadIdx.x / 32; i < some.first; i += THREADS / 32)
            row(i) = row(some.first);
#pragma unroll 1
        for (int i = some.end + threadIdx.x / 32; i < ROWS; i += THREADS / 32)
            row(i) = row(some.end - 1);
    }

    template <int NUMBER> static __device__ __forceinline__ void lift_four_columns(int16_t *own, const int16_t *source)
    {
        typedef step_type<NUMBER> step;
        typedef l2k_packed_step<step> packed;
        uint2 &words = *reinterpret_cast<uint2 *>(own);
        uint32_t read[2 * step::READ];
#pragma unroll
        for (int g = 0; g < step::READ; g++) {
            const uint2 two = *reinterpret_cast<const uint2 *>(source + step::FROM + 4 * g);
            read[2 * g] = two.x, read[2 * g + 1] = two.y;
        }
        words = make_uint2(l2k_lift_pair<packed, step::TAP - step::FROM>(words.x, read),
                           l2k_lift_pair<packed, step::TAP - step::FROM + 2>(words.y, read));
    }

    template <int NUMBER, int FIRST, int COUNT> __device__ __forceinline__ void step_rows(bool whole) const
    {
        if constexpr (NUMBER < S.steps) {
            typedef step_type<NUMBER> step;
            constexpr int high = step::HIGH;
            for (int i = threadIdx.x; i < step::TIMES * 2 * COUNT; i += THREADS) {
                const int line = i / COUNT, row = step::ROW + line % step::TIMES * ROWS_AT_ONCE;
                lift_two_rows<step>(row, line / step::TIMES, 4 * (FIRST + i % COUNT));
            }
            __syncthreads();
            if (!whole && NUMBER + 1 < S.steps) {
                static_assert(2 * COUNT <= 32, "a warp takes a row");
                const int group = threadIdx.x % 32;
                if (group < 2 * COUNT)
                    extend_rows(at(high, 0, group & 1, 4 * (FIRST + (group >> 1))), present(p.y, y, high));
                __syncthreads();
            }
            step_rows<NUMBER + 1, FIRST, COUNT>(whole);
        }
    }

    /* Two rows of four columns, by pairs of rows. */
    template <class Step> __device__ __forceinline__ void lift_two_rows(int number, int x_high, int column) const
    {
        typedef l2k_packed_step<Step> packed;
        const int16_t *source = at(!Step::HIGH, number + Step::TAP, x_high, column);
        int16_t *own = at(Step::HIGH, number, x_high, column);
        static_assert(ROWS_AT_ONCE == 2, "pairs of rows");
        enum { PAIRS = (Step::TAPS + 2) / 2 };
        uint2 row[2 * PAIRS];
#pragma unroll
        for (int r = 0; r < 2 * PAIRS; r++)
            row[r] = *reinterpret_cast<const uint2 *>(source + (r <= Step::TAPS ? r : (int)Step::TAPS) * LINE);
        uint32_t pairs[4][PAIRS];
#pragma unroll
        for (int i = 0; i < PAIRS; i++) {
            pairs[0][i] = l2k_firsts(row[2 * i].x, row[2 * i + 1].x);
            pairs[1][i] = l2k_seconds(row[2 * i].x, row[2 * i + 1].x);
            pairs[2][i] = l2k_firsts(row[2 * i].y, row[2 * i + 1].y);
            pairs[3][i] = l2k_seconds(row[2 * i].y, row[2 * i + 1].y);
        }
        lift_row<packed, 0>(own, row, pairs);
        lift_row<packed, 1>(own + LINE, row, pairs);
    }
    template <class Packed, int R, int ROW_COUNT, int PAIRS>
    static __device__ __forceinline__ void lift_row(int16_t *own, const uint2 (&row)[ROW_COUNT],
                                                    const uint32_t (&pairs)[4][PAIRS])
    {
        uint2 words = *reinterpret_cast<const uint2 *>(own);
        int32_t sums[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            sums[k] = l2k_packed_taps<Packed, R, PAIRS>{pairs[k]}.sum();
        words.x = Packed::lift(Packed::add_whole(words.x, words_of<R, 0, ROW_COUNT>{row}), sums[0], sums[1]);
        words.y = Packed::lift(Packed::add_whole(words.y, words_of<R, 1, ROW_COUNT>{row}), sums[2], sums[3]);
        *reinterpret_cast<uint2 *>(own) = words;
    }
    template <int R, int WORD, int COUNT> struct words_of {
        const uint2 (&row)[COUNT];

        template <int I> __device__ __forceinline__ uint32_t two_of() const
        {
            return WORD ? row[R + I].y : row[R + I].x;
        }
    };
};

/* A subband, or the LL between launches, in memory. Rows and columns are numbered from the tile's first in shared
 * memory. */
struct l2k_tile_band {
    char *data; /* of column 0 and row 0 of the subband */
    int stride; /* bytes */
    int columns, rows;
    int column, row; /* of the tile's first */
    bool aligned;

    template <class Tile> __device__ __forceinline__ l2k_tile_band(const Tile &tile, int c, int band, bool is_plane)
    {
        const l2k_span x = l2k_band_columns(band, tile.p.x), y = l2k_band_rows(band, tile.p.y);
        data = is_plane ? tile.p.low[c].data : reinterpret_cast<char *>(tile.p.bands[c].at[0][band]);
        stride = is_plane ? tile.p.low[c].row_stride : 2 * tile.p.bands[c].stride;
        columns = l2k_length(x), rows = l2k_length(y);
        column = (tile.x >> 1) - x.first, row = (tile.y >> 1) - y.first;
        aligned = (((uintptr_t)data + 2 * column) | (uintptr_t)stride) % 16 == 0;
    }
    __device__ __forceinline__ int16_t *at(int n) const
    {
        return reinterpret_cast<int16_t *>(data + (int64_t)n * stride);
    }
    /* Eight columns to or from shared memory. Samples that do not exist take the value of the nearest one. */
    __device__ __forceinline__ void load(int16_t *to, int from_column, int from_row) const
    {
        const int16_t *from = at(min(max(row + from_row, 0), max(rows - 1, 0)));
        const int n = column + from_column, count = rows > 0 ? columns : 0;
        if (aligned && n >= 0 && n + 8 <= count)
            l2k_copy_async<16, true>(l2k_shared_address(to), reinterpret_cast<const char *>(from + n), 16);
        else
#pragma unroll 1
            for (int k = 0; k < 8; k++)
                to[k] = count > 0 ? from[min(max(n + k, 0), count - 1)] : (int16_t)0;
    }
    __device__ __forceinline__ void store(const int16_t *from, int to_column, int to_row) const
    {
        int16_t *to = at(row + to_row);
        const int n = column + to_column;
        if (row + to_row < 0 || row + to_row >= rows)
            return;
        if (aligned && n >= 0 && n + 8 <= columns)
            *reinterpret_cast<uint4 *>(to + n) = *reinterpret_cast<const uint4 *>(from);
        else
#pragma unroll 1
            for (int k = 0; k < 8; k++)
                if (n + k >= 0 && n + k < columns)
                    to[n + k] = from[k];
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
