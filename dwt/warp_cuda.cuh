/* Lifting (Annex F) in registers: a warp goes down a strip of columns, each lane has N consecutive columns of a row,
 * and lanes exchange neighbours by shuffles (after Enfedaque, Auli-Llinas, Moure: Implementation of the DWT in a GPU
 * through a Register-based Strategy). No shared memory, no barriers.
 *
 * Horizontally a row is transformed at once; the outer lanes lack a neighbour and are halo. Vertically the state is two
 * (5/3) or four (9/7) rows: two rows enter and two finished rows leave.
 *
 * Even coordinates are low. At the border of a line the missing neighbour of a lifting step equals the existing one,
 * which is equivalent to symmetric extension (F.3.7); so registers beyond a border never affect a result. BORDER
 * says at compile time that a border may be anywhere. Without it no row is beyond a border, and lines begin and end
 * between two lanes if they do so in this warp; that code is less than half as long. */
#ifndef L2K_DWT_WARP_CUDA_CUH
#define L2K_DWT_WARP_CUDA_CUH

#include "dwt/lifting.h"

#define L2K_EVERY_LANE 0xFFFFFFFFu

constexpr int l2k_most(int a, int b)
{
    return a > b ? a : b;
}

/* ---- Lifting steps ------------------------------------------------------------------------------------------- */

/* A lifting step on the columns of one PARITY of R rows, v[r][0] being the even column `column`; f(x, left, right). All
 * shuffles precede their use, so that their latencies overlap. */
template <int PARITY, bool BORDER, int R, int N, class T, class F>
__device__ __forceinline__ void l2k_step_columns(T (&v)[R][N], int column, l2k_span line, F f)
{
    T outside[R];
#pragma unroll
    for (int r = 0; r < R; r++)
        outside[r] =
            PARITY ? __shfl_down_sync(L2K_EVERY_LANE, v[r][0], 1) : __shfl_up_sync(L2K_EVERY_LANE, v[r][N - 1], 1);
#pragma unroll
    for (int r = 0; r < R; r++) {
        if (!BORDER)
            outside[r] = PARITY ? (column + N == line.end ? v[r][N - 2] : outside[r])
                                : (column == line.first ? v[r][1] : outside[r]);
#pragma unroll
        for (int k = PARITY; k < N; k += 2) {
            T left = k > 0 ? v[r][k > 0 ? k - 1 : 0] : outside[r];
            T right = k + 1 < N ? v[r][k + 1 < N ? k + 1 : 0] : outside[r];
            if (BORDER) {
                T known = left;
                left = column + k - 1 < line.first ? right : left;
                right = column + k + 1 >= line.end ? known : right;
            }
            v[r][k] = f(v[r][k], left, right);
        }
    }
}

/* A lifting step on a row. */
template <int N, class T, class F>
__device__ __forceinline__ void l2k_step_row(T (&row)[N], const T (&above)[N], const T (&below)[N], F f)
{
#pragma unroll
    for (int k = 0; k < N; k++)
        row[k] = f(row[k], above[k], below[k]);
}

template <int N, class T> __device__ __forceinline__ void l2k_copy_row(T (&to)[N], const T (&from)[N])
{
#pragma unroll
    for (int k = 0; k < N; k++)
        to[k] = from[k];
}

/* The only sample of its line, at an odd coordinate (F.3.6, F.4.6). */
template <bool FORWARD> __device__ __forceinline__ int32_t l2k_lone(int32_t x)
{
    return FORWARD ? l2k_5_3_lone(x) : l2k_5_3_unlone(x);
}

template <bool FORWARD> __device__ __forceinline__ float l2k_lone(float x)
{
    return FORWARD ? l2k_9_7_lone(x) : l2k_9_7_unlone(x);
}

template <bool FORWARD, int N, class T> __device__ __forceinline__ void l2k_lone_row(T (&row)[N])
{
#pragma unroll
    for (int k = 0; k < N; k++)
        row[k] = l2k_lone<FORWARD>(row[k]);
}

/* The neighbours of row q before a lifting step on q: one that does not exist becomes equal to the other. */
template <bool BORDER, int N, class T>
__device__ __forceinline__ void l2k_mirror_rows(T (&above)[N], T (&below)[N], int q, l2k_span rows)
{
    if (BORDER && q - 1 < rows.first)
        l2k_copy_row(above, below);
    if (BORDER && q + 1 >= rows.end)
        l2k_copy_row(below, above);
}

__device__ __forceinline__ bool l2k_is_lone(l2k_span line)
{
    return line.end - line.first == 1;
}

/* ---- The steps of a wavelet of Part 1 ------------------------------------------------------------------------- */

/* A wavelet W whose step k, counted from 0 in either direction, lifts the samples of one parity in turn, forward first
 * the odd ones, by W::lift; W::scaled scales behind the steps forward and before them inverse. */
template <class W, class Number, int COUNT> struct l2k_alternating {
    typedef Number T;
    enum { STEPS = COUNT, REACH = STEPS, BACK = STEPS, FROM_STEPS = false };

    template <bool FORWARD, bool BORDER, int R, int N>
    static __device__ __forceinline__ void columns(T (&v)[R][N], int column, l2k_span line)
    {
        if (!FORWARD)
            scale_columns<FORWARD>(v);
        step_columns<FORWARD, BORDER, 0>(v, column, line);
        if (FORWARD)
            scale_columns<FORWARD>(v);
    }

  protected:
    template <bool FORWARD, int K> struct step {
        __device__ __forceinline__ T operator()(T x, T left, T right) const
        {
            return W::template lift<FORWARD>(K, x, left, right);
        }
    };

    template <bool FORWARD, int N> static __device__ __forceinline__ void scale_row(T (&row)[N], bool high)
    {
#pragma unroll
        for (int k = 0; k < N; k++)
            row[k] = W::template scaled<FORWARD>(row[k], high);
    }

  private:
    template <bool FORWARD, int R, int N> static __device__ __forceinline__ void scale_columns(T (&v)[R][N])
    {
#pragma unroll
        for (int r = 0; r < R; r++)
#pragma unroll
            for (int k = 0; k < N; k++)
                v[r][k] = W::template scaled<FORWARD>(v[r][k], k & 1);
    }
    template <bool FORWARD, bool BORDER, int K, int R, int N>
    static __device__ __forceinline__ void step_columns(T (&v)[R][N], int column, l2k_span line)
    {
        if constexpr (K < STEPS) {
            l2k_step_columns<(K + FORWARD) % 2, BORDER>(v, column, line, step<FORWARD, K>());
            step_columns<FORWARD, BORDER, K + 1>(v, column, line);
        }
    }
};

/* ---- 5/3 on int32 registers ---------------------------------------------------------------------------------- */

struct l2k_wavelet_53 : l2k_alternating<l2k_wavelet_53, int32_t, 2> {
    enum {
        DELAY = 0,      /* extra pairs of rows between entering and leaving, compared with the 5/3 */
        IS_SHORT = true /* whether there is code enough for a second way through columns at borders of rows */
    };

    template <bool FORWARD> static __device__ __forceinline__ T lift(int k, T x, T left, T right)
    {
        if (FORWARD)
            return k == 0 ? l2k_5_3_predict(x, left, right) : l2k_5_3_update(x, left, right);
        return k == 0 ? l2k_5_3_unupdate(x, left, right) : l2k_5_3_unpredict(x, left, right);
    }
    template <bool FORWARD> static __device__ __forceinline__ T scaled(T x, bool)
    {
        return x;
    }

    template <int N> struct forward_rows {
        T even[N], predicted[N]; /* rows q - 1 and q - 2 when row q enters */

        /* Takes rows q (odd) and q + 1, yields the low row q - 1 and the high row q. */
        template <bool BORDER>
        __device__ __forceinline__ void push(T (&odd)[N], T (&next)[N], int q, l2k_span rows, T (&low)[N], T (&high)[N])
        {
            if (BORDER && l2k_is_lone(rows)) {
                l2k_copy_row(low, even);
                l2k_lone_row<true>(odd);
            } else {
                l2k_mirror_rows<BORDER>(even, next, q, rows);
                l2k_step_row(odd, even, next, l2k_5_3_predict);
                l2k_mirror_rows<BORDER>(predicted, odd, q - 1, rows);
                l2k_copy_row(low, even);
                l2k_step_row(low, predicted, odd, l2k_5_3_update);
            }
            l2k_copy_row(high, odd);
            l2k_copy_row(predicted, odd);
            l2k_copy_row(even, next);
        }
    };

    template <int N> struct inverse_rows {
        T high[N], even[N]; /* rows q - 1 (unfinished) and q - 2 when row q enters */

        /* Takes the low row q and the high row q + 1, yields rows q - 1 and q. */
        template <bool BORDER>
        __device__ __forceinline__ void push(T (&low)[N], T (&next)[N], int q, l2k_span rows, T (&odd_out)[N],
                                             T (&even_out)[N])
        {
            if (BORDER && l2k_is_lone(rows)) {
                l2k_copy_row(odd_out, high);
                l2k_lone_row<false>(odd_out);
            } else {
                l2k_mirror_rows<BORDER>(high, next, q, rows);
                l2k_step_row(low, high, next, l2k_5_3_unupdate);
                l2k_mirror_rows<BORDER>(even, low, q - 1, rows);
                l2k_copy_row(odd_out, high);
                l2k_step_row(odd_out, even, low, l2k_5_3_unpredict);
            }
            l2k_copy_row(even_out, low);
            l2k_copy_row(even, low);
            l2k_copy_row(high, next);
        }
    };
};

/* ---- 9/7 on float registers ---------------------------------------------------------------------------------- */

struct l2k_wavelet_97 : l2k_alternating<l2k_wavelet_97, float, 4> {
    enum { DELAY = 1, IS_SHORT = false };

    template <bool FORWARD> static __device__ __forceinline__ T lift(int k, T x, T left, T right)
    {
        const int at = FORWARD ? k : 3 - k;
        const float c = at == 0 ? L2K_9_7_ALPHA : at == 1 ? L2K_9_7_BETA : at == 2 ? L2K_9_7_GAMMA : L2K_9_7_DELTA;
        return l2k_9_7_lift(x, left, right, FORWARD ? c : -c);
    }
    template <bool FORWARD> static __device__ __forceinline__ T scaled(T x, bool high)
    {
        if (FORWARD)
            return x * (high ? L2K_9_7_FORWARD_HIGH : L2K_9_7_FORWARD_LOW);
        return x * (high ? L2K_9_7_INVERSE_HIGH : L2K_9_7_INVERSE_LOW);
    }

    template <int N> struct forward_rows {
        T even[N], alpha[N], beta[N], gamma[N]; /* rows q - 1 .. q - 4, each after the lifting step it is named for */

        /* Takes rows q (odd) and q + 1, yields the low row q - 3 and the high row q - 2. */
        template <bool BORDER>
        __device__ __forceinline__ void push(T (&odd)[N], T (&next)[N], int q, l2k_span rows, T (&low)[N], T (&high)[N])
        {
            T second[N];
            l2k_copy_row(second, even);
            l2k_copy_row(high, alpha);
            l2k_copy_row(low, beta);
            if (BORDER && l2k_is_lone(rows)) {
                l2k_copy_row(gamma, high);
                l2k_lone_row<true>(high);
            } else {
                l2k_mirror_rows<BORDER>(second, next, q, rows);
                l2k_step_row(odd, second, next, step<true, 0>());
                l2k_mirror_rows<BORDER>(high, odd, q - 1, rows);
                l2k_step_row(second, high, odd, step<true, 1>());
                l2k_mirror_rows<BORDER>(low, second, q - 2, rows);
                l2k_step_row(high, low, second, step<true, 2>());
                l2k_mirror_rows<BORDER>(gamma, high, q - 3, rows);
                l2k_step_row(low, gamma, high, step<true, 3>());
                l2k_copy_row(gamma, high);
                scale_row<true>(low, false);
                scale_row<true>(high, true);
            }
            l2k_copy_row(even, next);
            l2k_copy_row(alpha, odd);
            l2k_copy_row(beta, second);
        }
    };

    template <int N> struct inverse_rows {
        T high[N], delta[N], gamma[N], beta[N]; /* rows q - 1 .. q - 4, each after the lifting step it is named for */

        /* Takes the low row q and the high row q + 1, yields rows q - 3 and q - 2. */
        template <bool BORDER>
        __device__ __forceinline__ void push(T (&low)[N], T (&next)[N], int q, l2k_span rows, T (&odd_out)[N],
                                             T (&even_out)[N])
        {
            T second[N];
            l2k_copy_row(second, high);
            l2k_copy_row(even_out, delta);
            l2k_copy_row(odd_out, gamma);
            if (BORDER && l2k_is_lone(rows)) {
                l2k_lone_row<false>(odd_out);
            } else {
                scale_row<false>(low, false);
                scale_row<false>(next, true);
                l2k_mirror_rows<BORDER>(second, next, q, rows);
                l2k_step_row(low, second, next, step<false, 0>());
                l2k_mirror_rows<BORDER>(even_out, low, q - 1, rows);
                l2k_step_row(second, even_out, low, step<false, 1>());
                l2k_mirror_rows<BORDER>(odd_out, second, q - 2, rows);
                l2k_step_row(even_out, odd_out, second, step<false, 2>());
                l2k_mirror_rows<BORDER>(beta, even_out, q - 3, rows);
                l2k_step_row(odd_out, beta, even_out, step<false, 3>());
            }
            l2k_copy_row(beta, even_out);
            l2k_copy_row(gamma, second);
            l2k_copy_row(delta, low);
            l2k_copy_row(high, next);
        }
    };
};

/* ---- Rows horizontally --------------------------------------------------------------------------------------- */

/* A lane's columns at one level: the coordinate of its first, and the columns that exist. */
struct l2k_lane_columns {
    int column;
    l2k_span line;
};

/* `whole`: every lane of the warp has all of its columns or none, so that with BORDER, too, the quick way will do. Only
 * where IS_SHORT says so is there code for it. */
template <class W, bool FORWARD, bool BORDER, int R, int N>
__device__ __forceinline__ void l2k_rows(typename W::T (&v)[R][N], const l2k_lane_columns &lane, bool whole = false)
{
    if constexpr (BORDER && W::IS_SHORT) {
        if (whole) {
            l2k_rows<W, FORWARD, false>(v, lane, true);
            return;
        }
    }
    if (BORDER && l2k_is_lone(lane.line)) {
#pragma unroll
        for (int r = 0; r < R; r++)
#pragma unroll
            for (int k = 1; k < N; k += 2)
                v[r][k] = lane.line.first & 1 ? l2k_lone<FORWARD>(v[r][k]) : v[r][k];
        return;
    }
    W::template columns<FORWARD, BORDER>(v, lane.column, lane.line);
}

#endif
