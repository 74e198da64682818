/* Lifting in registers by a named kernel with long steps (dwt/kernel_cuda.cuh) where all values fit int16 and taps are
 * small: pairs of samples share a register, and an instruction multiplies a pair by two taps and adds the products
 * (dp2a). This halves what a walk keeps and its multiplications. Vertically a pair is two rows of one stream that enter
 * in the same round of four rows, horizontally two columns of one parity side by side.
 *
 * Values fit: forward, no bound of what columns make exceeds that of a coefficient, since both gains of a kernel are at
 * least 1; inverse, l2k_low_fits_int16 holds. */
#ifndef L2K_DWT_KERNEL_PACKED_CUDA_CUH
#define L2K_DWT_KERNEL_PACKED_CUDA_CUH

#include "dwt/kernel_cuda.cuh"

/* ---- Pairs --------------------------------------------------------------------------------------------------- */

__device__ __forceinline__ int32_t l2k_pair_of(int32_t first, int32_t second)
{
    return (int32_t)__byte_perm((uint32_t)first, (uint32_t)second, 0x5410);
}

template <bool SECOND> __device__ __forceinline__ int32_t l2k_of_pair(int32_t pair)
{
    return SECOND ? pair >> 16 : (int16_t)pair;
}

/* As much of a tap as eight bits hold. */
template <int TAP> struct l2k_tap_part {
    enum { value = TAP > 127 ? 127 : TAP < -128 ? -128 : TAP };
};

/* sum + FIRST * first + SECOND * second. A tap that does not fit eight bits is added in two parts. */
template <int FIRST, int SECOND> __device__ __forceinline__ int32_t l2k_add_pair(int32_t sum, int32_t pair)
{
    if constexpr (FIRST == 0 && SECOND == 0) {
        return sum;
    } else {
        constexpr int first = l2k_tap_part<FIRST>::value, second = l2k_tap_part<SECOND>::value;
        const int32_t part = __dp2a_lo(pair, (first & 0xFF) | (second & 0xFF) << 8, sum);
        return l2k_add_pair<FIRST - first, SECOND - second>(part, pair);
    }
}

/* Tap number I of a step, 0 if there is none. */
template <class Step, int I, bool HAS = (I >= 0 && I < Step::TAPS)> struct l2k_tap_or_0 {
    enum { value = (int)Step::template tap<I>::value };
};
template <class Step, int I> struct l2k_tap_or_0<Step, I, false> {
    enum { value = 0 };
};

/* Whether a kernel is worth it: long steps, and with them sums that always have 64 bits unless l2k_low_fits_int16 or
 * int16 coefficients say that values are small. */
constexpr bool l2k_packs(const l2k_kernel &kernel)
{
    for (int i = 0; i < kernel.num_steps; i++)
        if (kernel.reversible && kernel.steps[i].num_taps >= 8)
            return l2k_is_always_wide(kernel);
    return false;
}

/* ---- The wavelet --------------------------------------------------------------------------------------------- */

template <class Kernel, bool INVERSE> struct l2k_packed_wavelet : l2k_kernel_wavelet<Kernel, false, INVERSE> {
    typedef l2k_kernel_wavelet<Kernel, false, INVERSE> plain;
    typedef int32_t T;
    static constexpr l2k_kernel_schedule S = plain::S;
    enum { BY_ROUND = true };

    template <bool BORDER, int R, int N>
    static __device__ __forceinline__ void forward_columns(T (&v)[R][N], int column, l2k_span line)
    {
        if constexpr (BORDER)
            plain::template forward_columns<true>(v, column, line);
        else
            step_columns<0>(v, column, line);
    }
    template <bool BORDER, int R, int N>
    static __device__ __forceinline__ void inverse_columns(T (&v)[R][N], int column, l2k_span line)
    {
        if constexpr (BORDER)
            plain::template inverse_columns<true>(v, column, line);
        else
            step_columns<0>(v, column, line);
    }

    /* The rows that are not finished, as pairs of rows that entered a stream in one round, newest first. */
    template <int N> struct round_rows {
        int32_t pairs[S.streams][S.rows][N]; /* the compiler drops those that no step reads */

        /* Takes rows q to q + 3, yields in place what ring_rows::push does of the first and of the second two. */
        template <bool BORDER> __device__ __forceinline__ void push_round(T (&v)[4][N], int q, l2k_span rows)
        {
            const bool lone = BORDER && l2k_is_lone(rows);
            T fresh[S.streams][2][N];
#pragma unroll
            for (int j = 0; j < 2; j++) {
                l2k_copy_row(fresh[0][j], v[2 * j]);
                l2k_copy_row(fresh[1][j], v[2 * j + 1]);
            }
            enter<BORDER, 0>(fresh[0], q, rows);
            enter<BORDER, 1>(fresh[1], q, rows);
            do_steps<BORDER, 0>(fresh, lone, q, rows);
            leave<0, 0>(fresh, v[0]);
            leave<1, 0>(fresh, v[1]);
            leave<0, 1>(fresh, v[2]);
            leave<1, 1>(fresh, v[3]);
            if (lone)
#pragma unroll
                for (int j = 0; j < 2; j++)
                    l2k_lone_row<plain, !INVERSE>(v[2 * j + !INVERSE]);
        }

      private:
        /* How many pairs of a stream a round reads, the one that enters included; of the last one only its second row.
         * 0: only rows of the same round. */
        template <int STREAM> struct pairs_of {
            enum { count = S.length[STREAM] == 1 ? 0 : S.length[STREAM] / 2 + 1 };
        };

        /* Row `back` of a stream, counted from the newest one. */
        template <int STREAM, int BACK> __device__ __forceinline__ T row(const T (&fresh)[S.streams][2][N], int k) const
        {
            if constexpr (BACK < 2)
                return fresh[STREAM][1 - BACK][k];
            else
                return l2k_of_pair<(BACK & 1) == 0>(pairs[STREAM][BACK / 2][k]);
        }

        /* Two rows become the newest pair of a stream. */
        template <bool BORDER, int STREAM> __device__ __forceinline__ void enter(T (&two)[2][N], int q, l2k_span rows)
        {
            constexpr int count = pairs_of<STREAM>::count;
            const int at = q + S.newest[STREAM];
            if constexpr (count > 0) {
#pragma unroll
                for (int k = 0; k < N; k++) {
                    if (BORDER) {
                        two[0][k] = at < rows.end ? two[0][k] : l2k_of_pair<true>(pairs[STREAM][0][k]);
                        two[1][k] = at + 2 < rows.end ? two[1][k] : two[0][k];
                        two[0][k] = at < rows.first ? two[1][k] : two[0][k];
                    }
#pragma unroll
                    for (int i = count - 1; i > 0; i--)
                        pairs[STREAM][i][k] = pairs[STREAM][i - 1][k];
                    pairs[STREAM][0][k] = l2k_pair_of(two[0][k], two[1][k]);
                    if (BORDER && at - 2 < rows.first)
#pragma unroll
                        for (int i = 1; i < count; i++)
                            pairs[STREAM][i][k] = l2k_pair_of(two[0][k], two[0][k]);
                }
            }
        }

        template <bool BORDER, int NUMBER>
        __device__ __forceinline__ void do_steps(T (&fresh)[S.streams][2][N], bool lone, int q, l2k_span rows)
        {
            if constexpr (NUMBER < S.steps) {
                do_step<NUMBER, 0>(fresh, lone);
                do_step<NUMBER, 1>(fresh, lone);
                enter<BORDER, 2 + NUMBER>(fresh[2 + NUMBER], q, rows);
                do_steps<BORDER, NUMBER + 1>(fresh, lone, q, rows);
            }
        }

        /* The row that a step does with the first or second two rows of a round. */
        template <int NUMBER, int SECOND>
        __device__ __forceinline__ void do_step(T (&fresh)[S.streams][2][N], bool lone)
        {
            typedef l2k_named_step<Kernel, INVERSE, NUMBER> step;
            constexpr int at = S.newest[2 + NUMBER], from = S.source[NUMBER], own = S.own[NUMBER];
            constexpr int x = (S.newest[own] - at) / 2 + !SECOND;
            constexpr int tap = (S.newest[from] - at - S.first[NUMBER]) / 2 + !SECOND;
#pragma unroll
            for (int k = 0; k < N; k++) {
                const T before = row<own, x>(fresh, k);
                const T sum = sum_rows<step, from, tap, 0>(step::ROUNDING, k);
                const T after = l2k_kernel_lift_32(before, sum, step::SHIFT, step::UNDO);
                fresh[2 + NUMBER][SECOND][k] = lone ? before : after;
            }
        }

        /* Tap 0 is row TAP's, counted back from the newest one. */
        template <class Step, int STREAM, int TAP, int PAIR> __device__ __forceinline__ T sum_rows(T sum, int k) const
        {
            if constexpr (2 * PAIR <= TAP) {
                constexpr int first = l2k_tap_or_0<Step, TAP - 2 * PAIR - 1>::value,
                              second = l2k_tap_or_0<Step, TAP - 2 * PAIR>::value;
                return sum_rows<Step, STREAM, TAP, PAIR + 1>(l2k_add_pair<first, second>(sum, pairs[STREAM][PAIR][k]),
                                                             k);
            } else {
                return sum;
            }
        }

        template <int NUMBER, int SECOND>
        __device__ __forceinline__ void leave(const T (&fresh)[S.streams][2][N], T (&out)[N]) const
        {
            constexpr int stream = S.leaving[NUMBER];
            constexpr int at = (S.newest[stream] - (NUMBER - 1 - 2 * S.delay)) / 2 + !SECOND;
#pragma unroll
            for (int k = 0; k < N; k++)
                out[k] = row<stream, at>(fresh, k);
        }
    };
    template <int N> using forward_rows = round_rows<N>;
    template <int N> using inverse_rows = round_rows<N>;

  private:
    /* The samples of one parity of a lane and of its two neighbours, as pairs; a line begins and ends between lanes. */
    template <int FIRST, int LAST, int PARITY, int N>
    static __device__ __forceinline__ void read_pairs(const T (&v)[N], int column, l2k_span line,
                                                      int32_t (&pairs)[3 * N / 4])
    {
        const int own = N / 4;
#pragma unroll
        for (int i = 0; i < own; i++)
            pairs[own + i] = l2k_pair_of(v[4 * i + PARITY], v[4 * i + 2 + PARITY]);
        const int32_t left = l2k_pair_of(v[PARITY], v[PARITY]),
                      right = l2k_pair_of(v[N - 2 + PARITY], v[N - 2 + PARITY]);
#pragma unroll
        for (int i = 0; i < own; i++) {
            if (2 * (i - own) + 1 >= FIRST) {
                pairs[i] = __shfl_up_sync(L2K_EVERY_LANE, pairs[own + i], 1);
                pairs[i] = column == line.first ? left : pairs[i];
            }
            if (2 * (i + own) <= LAST) {
                pairs[2 * own + i] = __shfl_down_sync(L2K_EVERY_LANE, pairs[own + i], 1);
                pairs[2 * own + i] = column + N == line.end ? right : pairs[2 * own + i];
            }
        }
    }

    template <int NUMBER, int R, int N>
    static __device__ __forceinline__ void step_columns(T (&v)[R][N], int column, l2k_span line)
    {
        if constexpr (NUMBER < S.steps) {
            /* Samples of the parity that the step reads, numbered from the lane's first one. */
            constexpr int high = S.high[NUMBER], first = (high + S.first[NUMBER] - !high) / 2;
            constexpr int last = first + N / 2 - 1 + (S.last[NUMBER] - S.first[NUMBER]) / 2;
            static_assert(first >= -N / 2 && last < N, "a neighbour's samples suffice");
            int32_t pairs[R][3 * N / 4];
#pragma unroll
            for (int r = 0; r < R; r++)
                read_pairs<first, last, !high>(v[r], column, line, pairs[r]);
#pragma unroll
            for (int r = 0; r < R; r++)
                step_row<NUMBER, first, 0>(v[r], pairs[r]);
            step_columns<NUMBER + 1>(v, column, line);
        }
    }

    template <int NUMBER, int FIRST, int K, int N>
    static __device__ __forceinline__ void step_row(T (&v)[N], const int32_t (&pairs)[3 * N / 4])
    {
        if constexpr (K < N / 2) {
            typedef l2k_named_step<Kernel, INVERSE, NUMBER> step;
            T &x = v[2 * K + S.high[NUMBER]];
            const T sum = sum_columns<step, N / 2 + FIRST + K, 0>(step::ROUNDING, pairs);
            x = l2k_kernel_lift_32(x, sum, step::SHIFT, step::UNDO);
            step_row<NUMBER, FIRST, K + 1>(v, pairs);
        }
    }

    /* Tap 0 is sample TAP's. */
    template <class Step, int TAP, int PAIR, int COUNT>
    static __device__ __forceinline__ T sum_columns(T sum, const int32_t (&pairs)[COUNT])
    {
        if constexpr (PAIR < COUNT) {
            constexpr int first = l2k_tap_or_0<Step, 2 * PAIR - TAP>::value,
                          second = l2k_tap_or_0<Step, 2 * PAIR + 1 - TAP>::value;
            return sum_columns<Step, TAP, PAIR + 1>(l2k_add_pair<first, second>(sum, pairs[PAIR]), pairs);
        } else {
            return sum;
        }
    }
};

#endif
