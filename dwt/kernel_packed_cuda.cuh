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

__device__ __forceinline__ uint32_t l2k_pair_of(int32_t first, int32_t second)
{
    return __byte_perm((uint32_t)first, (uint32_t)second, 0x5410);
}

/* The first samples of two pairs, their second ones, and the second of one with the first of the next. */
__device__ __forceinline__ uint32_t l2k_firsts(uint32_t a, uint32_t b)
{
    return __byte_perm(a, b, 0x5410);
}

__device__ __forceinline__ uint32_t l2k_seconds(uint32_t a, uint32_t b)
{
    return __byte_perm(a, b, 0x7632);
}

__device__ __forceinline__ uint32_t l2k_middle(uint32_t a, uint32_t b)
{
    return __byte_perm(a, b, 0x5432);
}

/* ---- A step's arithmetic ------------------------------------------------------------------------------------- */

/* Tap number I of a step, 0 if there is none. */
template <class Step, int I, bool HAS = (I >= 0 && I < Step::TAPS)> struct l2k_tap_or_0 {
    enum { value = (int)Step::template tap<I>::value };
};
template <class Step, int I> struct l2k_tap_or_0<Step, I, false> {
    enum { value = 0 };
};

/* A step as one that adds (sum >> 8), with taps of eight bits: those of a smaller shift are multiplied. x - (s >> 8) is
 * x + ((255 - s) >> 8), and 256 times a sample adds that sample after the shift: WHOLE, -1, 0 or 1. */
template <class Step> struct l2k_packed_step {
    enum { FACTOR = 256 >> Step::SHIFT };
    enum { ROUNDING = Step::UNDO ? 256 - FACTOR - Step::ROUNDING * FACTOR : Step::ROUNDING * FACTOR };

    template <int I> struct tap {
        enum { value = FACTOR * (Step::UNDO ? -l2k_tap_or_0<Step, I>::value : (int)l2k_tap_or_0<Step, I>::value) };
        enum { WHOLE = value > 127 ? 1 : value < -128 ? -1 : 0, PART = value - 256 * WHOLE };
        static_assert(Step::SHIFT <= 8 && PART >= -128 && PART <= 127, "see l2k_packs");
    };
    /* sum + tap I * first + tap I + 1 * second. */
    template <int I> static __device__ __forceinline__ int32_t add(int32_t sum, uint32_t pair)
    {
        constexpr int first = tap<I>::PART, second = tap<I + 1>::PART;
        return first == 0 && second == 0 ? sum : __dp2a_lo((int32_t)pair, (first & 0xFF) | (second & 0xFF) << 8, sum);
    }
    /* two_of(I) is the pair of the samples of tap I of both results. */
    template <int I = 0, class Get> static __device__ __forceinline__ uint32_t add_whole(uint32_t x, const Get &get)
    {
        if constexpr (I == Step::TAPS) {
            return x;
        } else {
            constexpr int whole = tap<I>::WHOLE;
            if constexpr (whole != 0)
                x = whole > 0 ? __vadd2(x, get.template two_of<I>()) : __vsub2(x, get.template two_of<I>());
            return add_whole<I + 1>(x, get);
        }
    }
    /* A pair of samples and the sums of the first and of the second one. */
    static __device__ __forceinline__ uint32_t lift(uint32_t x, int32_t first, int32_t second)
    {
        return __vadd2(x, __byte_perm((uint32_t)first, (uint32_t)second, 0x6521));
    }
};

/* Whether a kernel is worth it, with steps of four taps and more, and can be: each parity has one step, so that all
 * values are samples or coefficients. */
constexpr bool l2k_packs(const l2k_kernel &kernel)
{
    bool is_long = false;
    if (kernel.num_steps > 2)
        return false;
    for (int i = 0; i < kernel.num_steps; i++) {
        is_long = is_long || kernel.steps[i].num_taps >= 4;
        if (!kernel.reversible || kernel.steps[i].shift > 8)
            return false;
    }
    return is_long;
}

/* How many rounds before the one whose results are wanted the pairs of each stream are needed. */
struct l2k_packed_warm_up {
    int of[L2K_KERNEL_STEPS + 2]; /* streams, numbered as in l2k_kernel_schedule */
};

constexpr l2k_packed_warm_up l2k_warm_up_of(const l2k_kernel_schedule &s)
{
    l2k_packed_warm_up since = {};
    for (int i = 0; i < 2; i++) {
        const int stream = s.leaving[i], back = (s.newest[stream] - (i - 1 - 2 * s.delay)) / 2 + 1;
        since.of[stream] = l2k_most(since.of[stream], back / 2);
    }
    for (int i = s.steps - 1; i >= 0; i--) {
        const int at = s.newest[2 + i], from = s.source[i], own = s.own[i];
        const int back_from = (s.newest[from] - at - s.first[i]) / 2 + 1, back_own = (s.newest[own] - at) / 2 + 1;
        since.of[from] = l2k_most(since.of[from], since.of[2 + i] + back_from / 2);
        since.of[own] = l2k_most(since.of[own], since.of[2 + i] + back_own / 2);
    }
    return since;
}

/* ---- The wavelet --------------------------------------------------------------------------------------------- */

/* Rows are N / 2 words, in one of two orders: natural, columns 2 i and 2 i + 1 in word i, and by parity, the pairs of
 * even columns before those of odd ones. A subband has the latter. */
template <class Kernel, bool INVERSE> struct l2k_packed_wavelet : l2k_kernel_wavelet<Kernel, false, INVERSE> {
    typedef l2k_kernel_wavelet<Kernel, false, INVERSE> plain;
    typedef int32_t T;
    static constexpr l2k_kernel_schedule S = plain::S;
    static constexpr l2k_packed_warm_up SINCE = l2k_warm_up_of(S);
    enum { BY_ROUND = true };

    /* Rows by parity. */
    template <bool BORDER, int R, int WORDS>
    static __device__ __forceinline__ void columns(uint32_t (&v)[R][WORDS], const l2k_lane_columns &lane, bool whole)
    {
        if (!BORDER || whole)
            step_columns<0>(v, lane.column, lane.line);
        else
            columns_at_ends(v, lane);
    }

    /* The rows that are not finished, as pairs of rows that entered a stream in one round, newest first. */
    template <int N> struct round_rows {
        uint32_t pairs[S.streams][S.rows][N]; /* the compiler drops those that no step reads */

        /* Takes rows q to q + 3, yields in place what ring_rows::push does of the first and of the second two: forward,
         * from the natural order to the one by parity, inverse the reverse. With `left` rounds to go until results are
         * wanted it yields nothing and, at borders, leaves out steps that they do not need. */
        template <bool BORDER>
        __device__ __forceinline__ void push_round(uint32_t (&v)[4][N / 2], int q, l2k_span rows, int left)
        {
            const bool lone = BORDER && l2k_is_lone(rows);
            uint32_t two[2][N];
            to_pairs<INVERSE>(v[0], v[2], two[0]);
            to_pairs<INVERSE>(v[1], v[3], two[1]);
            enter<BORDER, 0>(two[0], q, rows);
            enter<BORDER, 1>(two[1], q, rows);
            do_steps<BORDER, 0>(lone, q, rows, left);
            if (left > 0)
                return;
            leave<0>(two[0]);
            leave<1>(two[1]);
            if (BORDER && lone)
                change_lone(two[!INVERSE]);
            from_pairs<!INVERSE>(two[0], v[0], v[2]);
            from_pairs<!INVERSE>(two[1], v[1], v[3]);
        }

      private:
        /* How many pairs of a stream a round reads, the one that enters included; of the last one only its second row.
         * 0: only rows of the same round. */
        template <int STREAM> struct pairs_of {
            enum { count = S.length[STREAM] == 1 ? 0 : S.length[STREAM] / 2 + 1 };
        };

        /* The column of a half of a word. */
        template <bool BY_PARITY> static constexpr __device__ int column_of(int word, int half)
        {
            return BY_PARITY ? 4 * (word % (N / 4)) + 2 * half + word / (N / 4) : 2 * word + half;
        }
        template <bool BY_PARITY>
        static __device__ __forceinline__ void to_pairs(const uint32_t (&a)[N / 2], const uint32_t (&b)[N / 2],
                                                        uint32_t (&two)[N])
        {
#pragma unroll
            for (int i = 0; i < N / 2; i++) {
                two[column_of<BY_PARITY>(i, 0)] = l2k_firsts(a[i], b[i]);
                two[column_of<BY_PARITY>(i, 1)] = l2k_seconds(a[i], b[i]);
            }
        }
        template <bool BY_PARITY>
        static __device__ __forceinline__ void from_pairs(const uint32_t (&two)[N], uint32_t (&a)[N / 2],
                                                          uint32_t (&b)[N / 2])
        {
#pragma unroll
            for (int i = 0; i < N / 2; i++) {
                const uint32_t left = two[column_of<BY_PARITY>(i, 0)], right = two[column_of<BY_PARITY>(i, 1)];
                a[i] = l2k_firsts(left, right);
                b[i] = l2k_seconds(left, right);
            }
        }

        /* Rows BACK and BACK - 1 of a stream, counted from the newest one. */
        template <int STREAM, int BACK> __device__ __forceinline__ uint32_t two_rows(int k) const
        {
            if constexpr (BACK & 1)
                return pairs[STREAM][BACK / 2][k];
            else
                return l2k_middle(pairs[STREAM][BACK / 2][k], pairs[STREAM][BACK / 2 - 1][k]);
        }

        /* What of the two rows that enter, 10 and 32, and of the two before, 54 and 76, becomes the newest pair. */
        static __device__ __forceinline__ uint32_t choice(int at, l2k_span rows)
        {
            return at >= rows.end ? 0x7676 : at + 2 >= rows.end ? 0x1010 : at < rows.first ? 0x3232 : 0x3210;
        }

        /* Two rows become the newest pair of a stream. */
        template <bool BORDER, int STREAM>
        __device__ __forceinline__ void enter(const uint32_t (&two)[N], int q, l2k_span rows)
        {
            constexpr int count = pairs_of<STREAM>::count;
            const int at = q + S.newest[STREAM];
            const bool border = BORDER && count > 0;
#pragma unroll
            for (int k = 0; k < N; k++) {
                const uint32_t newest = border ? __byte_perm(two[k], pairs[STREAM][0][k], choice(at, rows)) : two[k];
#pragma unroll
                for (int i = count - 1; i > 0; i--)
                    pairs[STREAM][i][k] = pairs[STREAM][i - 1][k];
                pairs[STREAM][0][k] = newest;
            }
            if (border && at - 2 < rows.first)
#pragma unroll
                for (int k = 0; k < N; k++)
#pragma unroll
                    for (int i = 1; i < count; i++)
                        pairs[STREAM][i][k] = l2k_firsts(pairs[STREAM][0][k], pairs[STREAM][0][k]);
        }

        template <bool BORDER, int NUMBER>
        __device__ __forceinline__ void do_steps(bool lone, int q, l2k_span rows, int left)
        {
            if constexpr (NUMBER < S.steps) {
                constexpr int since = SINCE.of[2 + NUMBER];
                if (BORDER && left > since)
                    return;
                typedef l2k_packed_step<l2k_named_step<Kernel, INVERSE, NUMBER>> step;
                constexpr int at = S.newest[2 + NUMBER], from = S.source[NUMBER], own = S.own[NUMBER];
                constexpr int x = (S.newest[own] - at) / 2 + 1;
                constexpr int tap = (S.newest[from] - at - S.first[NUMBER]) / 2 + 1; /* of the first of two rows */
                uint32_t two[N];
#pragma unroll
                for (int k = 0; k < N; k++) {
                    const uint32_t before = two_rows<own, x>(k);
                    const int32_t first = sum_rows<step, from, tap, 0>(step::ROUNDING, k),
                                  second = sum_rows<step, from, tap - 1, 0>(step::ROUNDING, k);
                    const uint32_t after =
                        step::lift(step::add_whole(before, taps_of<from, tap>{*this, k}), first, second);
                    two[k] = lone ? before : after;
                }
                enter<BORDER, 2 + NUMBER>(two, q, rows);
                do_steps<BORDER, NUMBER + 1>(lone, q, rows, left);
            }
        }

        template <int STREAM, int TAP> struct taps_of {
            const round_rows &rows;
            int k;

            template <int I> __device__ __forceinline__ uint32_t two_of() const
            {
                return rows.template two_rows<STREAM, TAP - I>(k);
            }
        };

        /* Tap 0 is row TAP's, counted back from the newest one. */
        template <class Step, int STREAM, int TAP, int PAIR>
        __device__ __forceinline__ int32_t sum_rows(int32_t sum, int k) const
        {
            if constexpr (2 * PAIR <= TAP)
                return sum_rows<Step, STREAM, TAP, PAIR + 1>(
                    Step::template add<TAP - 2 * PAIR - 1>(sum, pairs[STREAM][PAIR][k]), k);
            else
                return sum;
        }

        template <int NUMBER> __device__ __forceinline__ void leave(uint32_t (&two)[N]) const
        {
            constexpr int stream = S.leaving[NUMBER];
            constexpr int at = (S.newest[stream] - (NUMBER - 1 - 2 * S.delay)) / 2 + 1;
#pragma unroll
            for (int k = 0; k < N; k++)
                two[k] = two_rows<stream, at>(k);
        }

        static __device__ __forceinline__ void change_lone(uint32_t (&two)[N])
        {
#pragma unroll
            for (int k = 0; k < N; k++) {
                const int32_t first = (int16_t)two[k], second = (int32_t)two[k] >> 16;
                two[k] = INVERSE ? l2k_pair_of(plain::unlone(first), plain::unlone(second))
                                 : l2k_pair_of(plain::lone(first), plain::lone(second));
            }
        }
    };
    template <int N> using forward_rows = round_rows<N>;
    template <int N> using inverse_rows = round_rows<N>;

  private:
    /* The general way, where a line may begin or end inside a lane. */
    template <int R, int WORDS>
    static __device__ __forceinline__ void columns_at_ends(uint32_t (&v)[R][WORDS], const l2k_lane_columns &lane)
    {
        T row[R][2 * WORDS];
#pragma unroll
        for (int r = 0; r < R; r++)
#pragma unroll
            for (int k = 0; k < WORDS; k++) {
                const int at = 4 * (k % (WORDS / 2)) + k / (WORDS / 2);
                row[r][at] = (int16_t)v[r][k];
                row[r][at + 2] = (int32_t)v[r][k] >> 16;
            }
        l2k_rows<plain, !INVERSE, true>(row, lane);
#pragma unroll
        for (int r = 0; r < R; r++)
#pragma unroll
            for (int k = 0; k < WORDS; k++) {
                const int at = 4 * (k % (WORDS / 2)) + k / (WORDS / 2);
                v[r][k] = l2k_pair_of(row[r][at], row[r][at + 2]);
            }
    }

    /* The samples of one parity of a lane, `own`, and of its two neighbours; a line begins and ends between lanes. */
    template <int FIRST, int LAST, int OWN>
    static __device__ __forceinline__ void read_pairs(const uint32_t *own, int column, l2k_span line,
                                                      uint32_t (&pairs)[3 * OWN])
    {
        const uint32_t left = l2k_firsts(own[0], own[0]), right = l2k_seconds(own[OWN - 1], own[OWN - 1]);
#pragma unroll
        for (int i = 0; i < OWN; i++) {
            pairs[OWN + i] = own[i];
            if (2 * (i - OWN) + 1 >= FIRST) {
                pairs[i] = __shfl_up_sync(L2K_EVERY_LANE, own[i], 1);
                pairs[i] = column == line.first ? left : pairs[i];
            }
            if (2 * (i + OWN) <= LAST) {
                pairs[2 * OWN + i] = __shfl_down_sync(L2K_EVERY_LANE, own[i], 1);
                pairs[2 * OWN + i] = column + 4 * OWN == line.end ? right : pairs[2 * OWN + i];
            }
        }
    }

    template <int NUMBER, int R, int WORDS>
    static __device__ __forceinline__ void step_columns(uint32_t (&v)[R][WORDS], int column, l2k_span line)
    {
        if constexpr (NUMBER < S.steps) {
            /* Samples of the parity that the step reads, numbered from the lane's first one. */
            constexpr int high = S.high[NUMBER], first = (high + S.first[NUMBER] - !high) / 2;
            constexpr int last = first + WORDS - 1 + (S.last[NUMBER] - S.first[NUMBER]) / 2, own = WORDS / 2;
            static_assert(first >= -WORDS && last < 2 * WORDS, "a neighbour's samples suffice");
            uint32_t pairs[R][3 * own];
#pragma unroll
            for (int r = 0; r < R; r++)
                read_pairs<first, last, own>(v[r] + !high * own, column, line, pairs[r]);
#pragma unroll
            for (int r = 0; r < R; r++)
                step_row<NUMBER, first, 0>(v[r], pairs[r]);
            step_columns<NUMBER + 1>(v, column, line);
        }
    }

    template <int NUMBER, int FIRST, int WORD, int WORDS, int COUNT>
    static __device__ __forceinline__ void step_row(uint32_t (&v)[WORDS], const uint32_t (&pairs)[COUNT])
    {
        if constexpr (WORD < WORDS / 2) {
            typedef l2k_packed_step<l2k_named_step<Kernel, INVERSE, NUMBER>> step;
            constexpr int tap = WORDS + FIRST + 2 * WORD; /* of the first of two columns */
            uint32_t &x = v[WORD + S.high[NUMBER] * (WORDS / 2)];
            const int32_t first = sum_columns<step, tap, 0>(step::ROUNDING, pairs),
                          second = sum_columns<step, tap + 1, 0>(step::ROUNDING, pairs);
            x = step::lift(step::add_whole(x, columns_of<tap, COUNT>{pairs}), first, second);
            step_row<NUMBER, FIRST, WORD + 1>(v, pairs);
        }
    }

    template <int TAP, int COUNT> struct columns_of {
        const uint32_t (&pairs)[COUNT];

        template <int I> __device__ __forceinline__ uint32_t two_of() const
        {
            constexpr int at = TAP + I;
            if constexpr (at & 1)
                return l2k_middle(pairs[at / 2], pairs[at / 2 + 1]);
            else
                return pairs[at / 2];
        }
    };

    /* Tap 0 is sample TAP's. */
    template <class Step, int TAP, int PAIR, int COUNT>
    static __device__ __forceinline__ int32_t sum_columns(int32_t sum, const uint32_t (&pairs)[COUNT])
    {
        if constexpr (PAIR < COUNT)
            return sum_columns<Step, TAP, PAIR + 1>(Step::template add<2 * PAIR - TAP>(sum, pairs[PAIR]), pairs);
        else
            return sum;
    }
};

/* The wavelet that a second level has, where a round has only two rows. */
template <class Kernel, bool INVERSE> struct l2k_by_rows<l2k_packed_wavelet<Kernel, INVERSE>> {
    typedef l2k_kernel_wavelet<Kernel, false, INVERSE> type;
};

#endif
