/* Lifting in registers by a named kernel (dwt/kernel_named.h), with what dwt/warp_cuda.cuh has for Part 1's wavelets: a
 * template whose ring depth, delay and warm-up the compiler works out from the steps.
 *
 * Vertically, each step has a stream of rows: those that entered, or what a step has made of them, newest first. With
 * each pair of rows that enters, every step does one row, the lowest one whose taps are there; a stream keeps as many
 * rows as later steps, or the rows that leave, look back. Beyond the ends of a line a step finds the nearest sample of
 * the parity that it reads. So the first row of a stream takes the place of those before it, and after the last row a
 * stream repeats it; horizontally, registers beyond an end take the value of the nearest one before each step. */
#ifndef L2K_DWT_KERNEL_CUDA_CUH
#define L2K_DWT_KERNEL_CUDA_CUH

#include <type_traits>

#include "dwt/kernel_named.h"
#include "dwt/warp_cuda.cuh"

extern "C" {
#include "dwt/wavelet.h"
}

#define L2K_NAMED(name, KERNEL)                                                                                        \
    struct l2k_named_##name {                                                                                          \
        static constexpr l2k_kernel kernel = L2K_KERNEL_##KERNEL;                                                      \
    }

L2K_NAMED(haar, HAAR);
L2K_NAMED(1_3, 1_3);
L2K_NAMED(dd_9_7, DD_9_7);
L2K_NAMED(dd_13_7, DD_13_7);
L2K_NAMED(daubechies_int, DAUBECHIES_INT);
L2K_NAMED(fidelity, FIDELITY);
L2K_NAMED(w4, W4);

/* ---- What follows from the steps, at compile time ------------------------------------------------------------ */

constexpr int l2k_least(int a, int b)
{
    return a < b ? a : b;
}

/* The rows of a direction of a kernel. Row numbers are relative to row q, the first of a pair that enters; the stream
 * of the rows that enter first is number 0, of the others 1, of step s number 2 + s. */
struct l2k_kernel_schedule {
    int steps, streams;
    bool high[L2K_KERNEL_STEPS];
    int first[L2K_KERNEL_STEPS], last[L2K_KERNEL_STEPS]; /* taps, as distances in rows */
    int source[L2K_KERNEL_STEPS], own[L2K_KERNEL_STEPS]; /* streams that a step reads, and whose rows it changes */
    int newest[L2K_KERNEL_STEPS + 2], length[L2K_KERNEL_STEPS + 2], start[L2K_KERNEL_STEPS + 2];
    int rows;       /* of all streams */
    int leaving[2]; /* streams of the rows q - 1 - 2 delay and q - 2 delay that leave */
    int delay;
    int reach; /* how far a sample may depend on others */
    int back;  /* how far above row q rows are read, or are the first of their stream to need rows above */
};

constexpr l2k_kernel_schedule l2k_schedule_of(const l2k_kernel &kernel, bool inverse)
{
    l2k_kernel_schedule s = {};
    s.steps = kernel.num_steps;
    s.streams = s.steps + 2;
    s.newest[1] = 1;
    int latest[2] = {inverse ? 0 : 1, inverse ? 1 : 0}; /* streams of low and high rows */
    for (int i = 0; i < s.steps; i++) {
        const l2k_kernel_step &step = kernel.steps[inverse ? s.steps - 1 - i : i];
        s.high[i] = step.high;
        s.first[i] = 2 * step.offset + (step.high ? -1 : 1);
        s.last[i] = s.first[i] + 2 * (step.num_taps - 1);
        s.source[i] = latest[!step.high];
        s.own[i] = latest[step.high];
        /* A border above takes the first row, which may be the next one. */
        s.newest[2 + i] = l2k_least(s.newest[s.source[i]] - l2k_most(s.last[i], 1), s.newest[s.own[i]]);
        s.reach += l2k_most(-s.first[i], s.last[i]);
        s.back = l2k_most(s.back, l2k_most(-(s.newest[2 + i] + s.first[i]), 2 - s.newest[2 + i]));
        latest[step.high] = 2 + i;
    }
    s.leaving[0] = latest[inverse];
    s.leaving[1] = latest[!inverse];
    s.delay = l2k_most(l2k_most(-s.newest[s.leaving[0]], 0) / 2, l2k_most(1 - s.newest[s.leaving[1]], 0) / 2);
    for (int n = 0; n < s.streams; n++)
        s.length[n] = 1;
    for (int i = 0; i < s.steps; i++) {
        const int row = s.newest[2 + i], from = s.source[i], own = s.own[i];
        s.length[from] = l2k_most(s.length[from], (s.newest[from] - row - s.first[i]) / 2 + 1);
        s.length[from] = l2k_most(s.length[from], s.last[i] > 0 ? 2 : 1); /* a border below takes the row before */
        s.length[own] = l2k_most(s.length[own], (s.newest[own] - row) / 2 + 1);
    }
    for (int i = 0; i < 2; i++) {
        const int row = i - 1 - 2 * s.delay, n = s.leaving[i];
        s.length[n] = l2k_most(s.length[n], (s.newest[n] - row) / 2 + 1);
        s.back = l2k_most(s.back, -row);
    }
    for (int n = 0; n < s.streams; n++) {
        s.start[n] = s.rows;
        s.rows += s.length[n];
    }
    return s;
}

/* Whether l2k_kernel_is_wide holds for every precision. */
constexpr bool l2k_is_always_wide(const l2k_kernel &kernel)
{
    for (int i = 0; i < kernel.num_steps; i++) {
        float sum = 0;
        for (int k = 0; k < kernel.steps[i].num_taps; k++)
            sum += kernel.steps[i].taps[k] < 0 ? -kernel.steps[i].taps[k] : kernel.steps[i].taps[k];
        if (sum >= L2K_KERNEL_WIDE_TAPS)
            return true;
    }
    return false;
}

/* ---- A step's arithmetic ------------------------------------------------------------------------------------- */

/* A step of a direction. */
template <class Kernel, bool INVERSE, int NUMBER> struct l2k_named_step {
    enum { INDEX = INVERSE ? Kernel::kernel.num_steps - 1 - NUMBER : NUMBER, UNDO = INVERSE };
    enum { TAPS = Kernel::kernel.steps[INDEX].num_taps, SHIFT = Kernel::kernel.steps[INDEX].shift };
    enum { ROUNDING = Kernel::kernel.steps[INDEX].rounding };

    template <int K> struct tap {
        static constexpr float value = Kernel::kernel.steps[INDEX].taps[K];
    };
};

/* A tap's product added to a sum, and a sum to a sample. */
__device__ __forceinline__ int32_t l2k_add_tap(int32_t sum, int32_t tap, int32_t sample)
{
    return l2k_kernel_add_32(sum, tap, sample);
}

__device__ __forceinline__ int64_t l2k_add_tap(int64_t sum, int32_t tap, int32_t sample)
{
    return l2k_kernel_add_64(sum, tap, sample);
}

__device__ __forceinline__ float l2k_add_tap(float sum, float tap, float sample)
{
    return l2k_kernel_add_float(sum, tap, sample);
}

/* Steps on samples of type T by sums of type Sum: of 64 bits if l2k_kernel_is_wide. get(k) is the sample of tap k. Equal
 * taps of irreversible steps are not added in pairs, as the CPU does. */
template <class Number, class Sum> struct l2k_kernel_arithmetic {
    typedef Number T;
    enum { FLOAT = std::is_same<T, float>::value, NARROW = std::is_same<Sum, int32_t>::value };

    template <class Step, class Get> static __device__ __forceinline__ T lift(T x, const Get &get)
    {
        if constexpr (FLOAT) {
            constexpr float tap = Step::template tap<0>::value;
            return l2k_kernel_lift_float(x, add<Step, 1>(get(0) * tap, get), Step::UNDO);
        } else if constexpr (NARROW) {
            return l2k_kernel_lift_32(x, add<Step, 0>((Sum)Step::ROUNDING, get), Step::SHIFT, Step::UNDO);
        } else {
            return l2k_kernel_lift_64(x, add<Step, 0>((Sum)Step::ROUNDING, get), Step::SHIFT, Step::UNDO);
        }
    }

  private:
    /* The taps from K on. */
    template <class Step, int K, class Get> static __device__ __forceinline__ Sum add(Sum sum, const Get &get)
    {
        if constexpr (K < Step::TAPS) {
            constexpr T tap = (T)Step::template tap<K>::value;
            return add<Step, K + 1>(l2k_add_tap(sum, tap, get(K)), get);
        } else {
            return sum;
        }
    }
};

/* ---- Columns ------------------------------------------------------------------------------------------------- */

/* Column J of a lane's row, relative to its first one: of this lane, or of one of the two on either side. Without
 * BORDER, at a line that begins or ends between two lanes, the nearest column of that parity. */
template <bool BORDER, int N, class T>
__device__ __forceinline__ T l2k_column_at(const T (&v)[N], int j, int column, l2k_span line)
{
    if (j >= 0 && j < N)
        return v[j];
    const int parity = j & 1;
    if (j < 0) {
        const int away = (N - 1 - j) / N;
        T x = __shfl_up_sync(L2K_EVERY_LANE, v[j + away * N], away);
        if (!BORDER && away == 2)
            x = column == line.first + N ? __shfl_up_sync(L2K_EVERY_LANE, v[parity], 1) : x;
        return !BORDER && column == line.first ? v[parity] : x;
    }
    const int away = j / N;
    T x = __shfl_down_sync(L2K_EVERY_LANE, v[j - away * N], away);
    if (!BORDER && away == 2)
        x = column + 2 * N == line.end ? __shfl_down_sync(L2K_EVERY_LANE, v[N - 2 + parity], 1) : x;
    return !BORDER && column + N == line.end ? v[N - 2 + parity] : x;
}

/* The value of a column of a parity anywhere in the warp's row; what lies elsewhere gives a value that is not used. */
template <int PARITY, int N, class T>
__device__ __forceinline__ T l2k_value_of_column(const T (&v)[N], int at, int column)
{
    const int lane = threadIdx.x & 31, place = at & (N - 1);
    T mine = v[PARITY];
#pragma unroll
    for (int k = 2 + PARITY; k < N; k += 2) {
        const T other = v[k];
        mine = place == k ? other : mine;
    }
    return __shfl_sync(L2K_EVERY_LANE, mine, (at - (column - lane * N)) / N);
}

/* ---- The wavelet --------------------------------------------------------------------------------------------- */

/* A direction of a kernel, as a wavelet of the iterators in transform/cuda/. */
template <class Kernel, bool WIDE, bool INVERSE> struct l2k_kernel_wavelet {
    typedef typename std::conditional<Kernel::kernel.reversible, int32_t, float>::type T;
    typedef l2k_kernel_arithmetic<T, typename std::conditional<WIDE, int64_t, T>::type> arithmetic;
    static constexpr l2k_kernel_schedule S = l2k_schedule_of(Kernel::kernel, INVERSE);
    enum {
        DELAY = S.delay,
        REACH = S.reach,
        BACK = S.back,
        ROWS = S.rows,
        FROM_STEPS = arithmetic::NARROW,
        IS_SHORT = FROM_STEPS
    };

    template <bool FORWARD, bool BORDER, int R, int N>
    static __device__ __forceinline__ void columns(T (&v)[R][N], int column, l2k_span line)
    {
        if (!FORWARD)
            scale_columns(v);
        step_columns<BORDER, 0>(v, column, line);
        if (FORWARD)
            scale_columns(v);
    }

    template <int N> struct ring_rows {
        T row[ROWS][N];

        /* Takes rows q and q + 1, the first one high (forward) or low (inverse), yields rows q - 1 - 2 DELAY and
         * q - 2 DELAY. */
        template <bool BORDER>
        __device__ __forceinline__ void push(T (&entering)[N], T (&next)[N], int q, l2k_span rows, T (&leaving)[N],
                                             T (&second)[N])
        {
            const bool lone = BORDER && l2k_is_lone(rows);
            if (INVERSE && !lone) {
                scale_row(entering, false);
                scale_row(next, true);
            }
            enter<BORDER, 0>(entering, q, rows);
            enter<BORDER, 1>(next, q, rows);
            do_steps<BORDER, 0>(lone, q, rows);
            leave<0>(leaving);
            leave<1>(second);
            if (lone && INVERSE) {
                l2k_lone_row<false>(leaving);
            } else if (lone) {
                l2k_lone_row<true>(second);
            } else if (!INVERSE) {
                scale_row(leaving, false);
                scale_row(second, true);
            }
        }

      private:
        static __device__ __forceinline__ void scale_row(T (&v)[N], bool high)
        {
#pragma unroll
            for (int k = 0; k < N; k++)
                v[k] = scaled(v[k], high);
        }

        /* A row becomes the newest of a stream. */
        template <bool BORDER, int STREAM>
        __device__ __forceinline__ void enter(const T (&newest)[N], int q, l2k_span rows)
        {
            constexpr int start = S.start[STREAM], length = S.length[STREAM];
            const int at = q + S.newest[STREAM];
#pragma unroll
            for (int i = length - 1; i > 0; i--)
                l2k_copy_row(row[start + i], row[start + i - 1]);
            if (!BORDER || length == 1 || at < rows.end)
                l2k_copy_row(row[start], newest);
            if (BORDER && at - 2 < rows.first)
#pragma unroll
                for (int i = 1; i < length; i++)
                    l2k_copy_row(row[start + i], row[start]);
        }

        template <bool BORDER, int NUMBER> __device__ __forceinline__ void do_steps(bool lone, int q, l2k_span rows)
        {
            if constexpr (NUMBER < S.steps) {
                typedef l2k_named_step<Kernel, INVERSE, NUMBER> step;
                constexpr int at = S.newest[2 + NUMBER], from = S.source[NUMBER], own = S.own[NUMBER];
                constexpr int x = S.start[own] + (S.newest[own] - at) / 2;
                constexpr int tap = S.start[from] + (S.newest[from] - at - S.first[NUMBER]) / 2;
                T lifted[N];
#pragma unroll
                for (int k = 0; k < N; k++)
                    lifted[k] = arithmetic::template lift<step>(row[x][k], [&](int i) { return row[tap - i][k]; });
                if (lone)
                    l2k_copy_row(lifted, row[x]);
                enter<BORDER, 2 + NUMBER>(lifted, q, rows);
                do_steps<BORDER, NUMBER + 1>(lone, q, rows);
            }
        }

        template <int NUMBER> __device__ __forceinline__ void leave(T (&out)[N]) const
        {
            constexpr int stream = S.leaving[NUMBER];
            constexpr int at = S.start[stream] + (S.newest[stream] - (NUMBER - 1 - 2 * S.delay)) / 2;
            l2k_copy_row(out, row[at]);
        }
    };
    template <int N> using forward_rows = ring_rows<N>;
    template <int N> using inverse_rows = ring_rows<N>;

  private:
    /* Scales by K or its reciprocal; leaves samples of a reversible kernel unchanged. */
    static __device__ __forceinline__ T scaled(T x, bool high)
    {
        if constexpr (Kernel::kernel.reversible) {
            return x;
        } else {
            constexpr float k = Kernel::kernel.scale, reciprocal = (float)(1.0 / (double)Kernel::kernel.scale);
            return x * (high == INVERSE ? reciprocal : k);
        }
    }

    template <int R, int N> static __device__ __forceinline__ void scale_columns(T (&v)[R][N])
    {
#pragma unroll
        for (int r = 0; r < R; r++)
#pragma unroll
            for (int k = 0; k < N; k++)
                v[r][k] = scaled(v[r][k], k & 1);
    }

    template <bool BORDER, int NUMBER, int R, int N>
    static __device__ __forceinline__ void step_columns(T (&v)[R][N], int column, l2k_span line)
    {
        if constexpr (NUMBER < S.steps) {
            typedef l2k_named_step<Kernel, INVERSE, NUMBER> step;
            constexpr int high = S.high[NUMBER], begin = high + S.first[NUMBER];
            constexpr int count = (N - 2 + high + S.last[NUMBER] - begin) / 2 + 1;
            T read[R][count];
#pragma unroll
            for (int r = 0; r < R; r++)
#pragma unroll
                for (int i = 0; i < count; i++)
                    read[r][i] = l2k_column_at<BORDER>(v[r], begin + 2 * i, column, line);
            if (BORDER)
                end_columns<!high>(v, begin, column, line, read);
#pragma unroll
            for (int r = 0; r < R; r++)
#pragma unroll
                for (int k = 0; k < N / 2; k++)
                    v[r][2 * k + high] =
                        arithmetic::template lift<step>(v[r][2 * k + high], [&](int i) { return read[r][k + i]; });
            step_columns<BORDER, NUMBER + 1>(v, column, line);
        }
    }

    /* Gives those columns that do not exist the value of the nearest one of their parity. */
    template <bool PARITY, int R, int N, int COUNT>
    static __device__ __forceinline__ void end_columns(const T (&v)[R][N], int begin, int column, l2k_span line,
                                                       T (&read)[R][COUNT])
    {
        const int first = line.first + ((line.first ^ PARITY) & 1),
                  last = line.end - 1 - (((line.end - 1) ^ PARITY) & 1);
#pragma unroll
        for (int r = 0; r < R; r++) {
            const T left = l2k_value_of_column<PARITY>(v[r], first, column);
            const T right = l2k_value_of_column<PARITY>(v[r], last, column);
#pragma unroll
            for (int i = 0; i < COUNT; i++) {
                const int at = column + begin + 2 * i;
                read[r][i] = at < line.first ? left : at >= line.end ? right : read[r][i];
            }
        }
    }
};

#endif
