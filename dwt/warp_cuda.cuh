/* Lifting in registers: a warp holds a tile of rows, each lane C consecutive columns of every row, and lanes talk to
 * their neighbours by shuffles (after Enfedaque, Auli-Llinas, Moure: Implementation of the DWT in a GPU through a
 * Register-based Strategy). No shared memory, no barriers. Lanes 0 and 31 hold the halo: their results are not valid.
 *
 * The columns of lane l are u = u0 + l C .. + C - 1 with u0 even, in coordinates where even is low; register k is low
 * for even k. Rows likewise: r = 0 has a fixed parity per direction. Borders need no code here: what is loaded beyond
 * them mirrors the line, which is what F.3.7 asks. */
#ifndef L2K_DWT_WARP_CUDA_CUH
#define L2K_DWT_WARP_CUDA_CUH

#include "dwt/lifting.h"

#define L2K_EVERY_LANE 0xFFFFFFFFu

/* A step on every other register of a lane, the first at `FIRST`; F(x, left, right). */
template <int FIRST, int C, class T, class F> __device__ __forceinline__ void l2k_step_columns(T (&v)[C], F f)
{
    if (FIRST == 1) {
        T right = __shfl_down_sync(L2K_EVERY_LANE, v[0], 1);
#pragma unroll
        for (int k = 1; k < C; k += 2)
            v[k] = f(v[k], v[k - 1], k + 1 < C ? v[k + 1 < C ? k + 1 : 0] : right);
    } else {
        T left = __shfl_up_sync(L2K_EVERY_LANE, v[C - 1], 1);
#pragma unroll
        for (int k = 0; k < C; k += 2)
            v[k] = f(v[k], k > 0 ? v[k > 0 ? k - 1 : 0] : left, v[k + 1]);
    }
}

/* A step on rows FIRST, FIRST + 2 .. LAST of a tile. */
template <int FIRST, int LAST, int ROWS, int C, class T, class F>
__device__ __forceinline__ void l2k_step_rows(T (&v)[ROWS][C], F f)
{
#pragma unroll
    for (int r = FIRST; r <= LAST; r += 2)
#pragma unroll
        for (int k = 0; k < C; k++)
            v[r][k] = f(v[r][k], v[r - 1][k], v[r + 1][k]);
}

struct l2k_53_predict {
    __device__ int32_t operator()(int32_t x, int32_t l, int32_t r) const { return l2k_5_3_predict(x, l, r); }
};
struct l2k_53_update {
    __device__ int32_t operator()(int32_t x, int32_t l, int32_t r) const { return l2k_5_3_update(x, l, r); }
};
struct l2k_53_unpredict {
    __device__ int32_t operator()(int32_t x, int32_t l, int32_t r) const { return l2k_5_3_unpredict(x, l, r); }
};
struct l2k_53_unupdate {
    __device__ int32_t operator()(int32_t x, int32_t l, int32_t r) const { return l2k_5_3_unupdate(x, l, r); }
};
struct l2k_97_lift {
    float c;
    __device__ float operator()(float x, float l, float r) const { return l2k_9_7_lift(x, l, r, c); }
};

/* The 5/3 on int32 registers. A tile gives PAIRS pairs of rows; forward row 0 is low, inverse row 0 is high. */
struct l2k_wavelet_53 {
    typedef int32_t T;
    enum { C = 8, HALO_ROWS = 3, FORWARD_FIRST = 2, INVERSE_FIRST = 1 };

    template <int P, int ROWS> static __device__ __forceinline__ void forward_rows(T (&v)[ROWS][C])
    {
        l2k_step_rows<1, 2 * P + 1>(v, l2k_53_predict());
        l2k_step_rows<2, 2 * P>(v, l2k_53_update());
    }
    static __device__ __forceinline__ void forward_row(T (&v)[C])
    {
        l2k_step_columns<1>(v, l2k_53_predict());
        l2k_step_columns<0>(v, l2k_53_update());
    }
    static __device__ __forceinline__ void inverse_row(T (&v)[C])
    {
        l2k_step_columns<0>(v, l2k_53_unupdate());
        l2k_step_columns<1>(v, l2k_53_unpredict());
    }
    template <int P, int ROWS> static __device__ __forceinline__ void inverse_rows(T (&v)[ROWS][C])
    {
        l2k_step_rows<1, 2 * P + 1>(v, l2k_53_unupdate());
        l2k_step_rows<2, 2 * P>(v, l2k_53_unpredict());
    }
    static __device__ __forceinline__ void forward_scale(T (&)[C], bool, bool, bool) {}
    static __device__ __forceinline__ void inverse_scale(T (&)[C], bool, bool, bool) {}
    static __device__ __forceinline__ T lone(T x) { return l2k_5_3_lone(x); }
    static __device__ __forceinline__ T unlone(T x) { return l2k_5_3_unlone(x); }
};

/* The 9/7 on float registers. */
struct l2k_wavelet_97 {
    typedef float T;
    enum { C = 4, HALO_ROWS = 7, FORWARD_FIRST = 4, INVERSE_FIRST = 3 };

    template <int P, int ROWS> static __device__ __forceinline__ void forward_rows(T (&v)[ROWS][C])
    {
        l2k_step_rows<1, 2 * P + 5>(v, l2k_97_lift{L2K_9_7_ALPHA});
        l2k_step_rows<2, 2 * P + 4>(v, l2k_97_lift{L2K_9_7_BETA});
        l2k_step_rows<3, 2 * P + 3>(v, l2k_97_lift{L2K_9_7_GAMMA});
        l2k_step_rows<4, 2 * P + 2>(v, l2k_97_lift{L2K_9_7_DELTA});
    }
    static __device__ __forceinline__ void forward_row(T (&v)[C])
    {
        l2k_step_columns<1>(v, l2k_97_lift{L2K_9_7_ALPHA});
        l2k_step_columns<0>(v, l2k_97_lift{L2K_9_7_BETA});
        l2k_step_columns<1>(v, l2k_97_lift{L2K_9_7_GAMMA});
        l2k_step_columns<0>(v, l2k_97_lift{L2K_9_7_DELTA});
    }
    static __device__ __forceinline__ void inverse_row(T (&v)[C])
    {
        l2k_step_columns<0>(v, l2k_97_lift{-L2K_9_7_DELTA});
        l2k_step_columns<1>(v, l2k_97_lift{-L2K_9_7_GAMMA});
        l2k_step_columns<0>(v, l2k_97_lift{-L2K_9_7_BETA});
        l2k_step_columns<1>(v, l2k_97_lift{-L2K_9_7_ALPHA});
    }
    template <int P, int ROWS> static __device__ __forceinline__ void inverse_rows(T (&v)[ROWS][C])
    {
        l2k_step_rows<1, 2 * P + 5>(v, l2k_97_lift{-L2K_9_7_DELTA});
        l2k_step_rows<2, 2 * P + 4>(v, l2k_97_lift{-L2K_9_7_GAMMA});
        l2k_step_rows<3, 2 * P + 3>(v, l2k_97_lift{-L2K_9_7_BETA});
        l2k_step_rows<4, 2 * P + 2>(v, l2k_97_lift{-L2K_9_7_ALPHA});
    }
    /* Scaling of a row, vertically where there was a vertical transform, horizontally likewise. Forward: vertical
     * before the horizontal steps, horizontal after them; each product rounds on its own. */
    static __device__ __forceinline__ void forward_scale(T (&v)[C], bool vertical, bool high_row, bool active)
    {
        if (!active)
            return;
#pragma unroll
        for (int k = 0; k < C; k++) {
            bool high = vertical ? high_row : k & 1;
            v[k] *= high ? L2K_9_7_FORWARD_HIGH : L2K_9_7_FORWARD_LOW;
        }
    }
    static __device__ __forceinline__ void inverse_scale(T (&v)[C], bool vertical, bool high_row, bool active)
    {
        if (!active)
            return;
#pragma unroll
        for (int k = 0; k < C; k++) {
            bool high = vertical ? high_row : k & 1;
            v[k] *= high ? L2K_9_7_INVERSE_HIGH : L2K_9_7_INVERSE_LOW;
        }
    }
    static __device__ __forceinline__ T lone(T x) { return l2k_9_7_lone(x); }
    static __device__ __forceinline__ T unlone(T x) { return l2k_9_7_unlone(x); }
};

/* Index i of a line of n samples, mirrored at both ends as often as it takes (F.3.7). */
__device__ __forceinline__ int l2k_mirror(int i, int n)
{
    if ((unsigned)i < (unsigned)n)
        return i;
    int period = 2 * (n - 1);
    i = n == 1 ? 0 : (i < 0 ? -i : i) % period;
    return i < n ? i : period - i;
}

/* The columns x .. x + C - 1 of a row of `width`, mirrored. */
template <int C> struct l2k_columns {
    int at[C];

    __device__ __forceinline__ l2k_columns(int x, int width)
    {
#pragma unroll
        for (int k = 0; k < C; k++)
            at[k] = l2k_mirror(x + k, width);
    }
};

#endif
