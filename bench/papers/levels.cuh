/* Shared by the papers' methods: the two wavelets, the loop over the levels, loads and stores. Lifting steps are the
 * library's (dwt/lifting.h). All filter vertically first, as the standard does, and the inverse horizontally first. */
#ifndef L2K_BENCH_PAPERS_LEVELS_CUH
#define L2K_BENCH_PAPERS_LEVELS_CUH

#include "base/words_cuda.cuh"
#include "bench/cuda/timing.cuh"
#include "dwt/lifting.h"

/* At MIN_SIZE the last level still has more samples than a filter's support past a border. */
enum { LEVELS = 5, SIZE_STEP = 1 << LEVELS, MIN_SIZE = 3 * SIZE_STEP, MAX_SIZE = 12 * 1024 };

/* ---- Wavelets --------------------------------------------------------------------------------------------------- */

#define DWT_HD __host__ __device__ __forceinline__

/* S in memory, T in registers. Step k changes odd samples for even k and even ones for odd k, so a sample depends on
 * STEPS samples to its left and at most as many to its right. Undone in reverse order. */

struct dwt_53 {
    typedef int16_t S;
    typedef int32_t T;
    enum { STEPS = 2 };
    static DWT_HD T step(int k, T x, T left, T right)
    {
        return k == 0 ? l2k_5_3_predict(x, left, right) : l2k_5_3_update(x, left, right);
    }
    static DWT_HD T unstep(int k, T x, T left, T right)
    {
        return k == 0 ? l2k_5_3_unpredict(x, left, right) : l2k_5_3_unupdate(x, left, right);
    }
    static DWT_HD T scale(T x, bool)
    {
        return x;
    }
    static DWT_HD T unscale(T x, bool)
    {
        return x;
    }
};

struct dwt_97 {
    typedef float S;
    typedef float T;
    enum { STEPS = 4 };
    static DWT_HD T factor(int k)
    {
        return k == 0 ? L2K_9_7_ALPHA : k == 1 ? L2K_9_7_BETA : k == 2 ? L2K_9_7_GAMMA : L2K_9_7_DELTA;
    }
    static DWT_HD T step(int k, T x, T left, T right)
    {
        return l2k_9_7_lift(x, left, right, factor(k));
    }
    static DWT_HD T unstep(int k, T x, T left, T right)
    {
        return l2k_9_7_lift(x, left, right, -factor(k));
    }
    static DWT_HD T scale(T x, bool high)
    {
        return x * (high ? L2K_9_7_FORWARD_HIGH : L2K_9_7_FORWARD_LOW);
    }
    static DWT_HD T unscale(T x, bool high)
    {
        return x * (high ? L2K_9_7_INVERSE_HIGH : L2K_9_7_INVERSE_LOW);
    }
};

/* The inverse as steps to do: the first one changes even samples, so that a tile begins with an odd row. */
template <class W> struct dwt_undo : W {
    static DWT_HD typename W::T step(int k, typename W::T x, typename W::T left, typename W::T right)
    {
        return W::unstep(W::STEPS - 1 - k, x, left, right);
    }
};

/* ---- The loop over the levels ------------------------------------------------------------------------------------ */

/* n x n samples in, the Mallat layout out, both without padding; n is a multiple of SIZE_STEP, so every level has an
 * even size. `low` holds the LL of odd and even levels alternately, since a level must not overwrite the LL that it
 * reads. */
template <class W> struct dwt_job {
    int n;
    const typename W::S *samples;
    typename W::S *coefficients;
    typename W::S *low[2];
    typename W::S *scratch;     /* dwt_stride(n) x n, for what a first pass leaves in memory */
    const typename W::S *coded; /* inverse: coefficients in, samples out */
    typename W::S *restored;
};

/* One level: size x size samples to LL at `low`, the other subbands at their places round `bands`. */
template <class W> struct dwt_level {
    const typename W::S *in;
    int in_stride;
    typename W::S *low;
    int low_stride;
    typename W::S *bands;
    int bands_stride;
    int size;
};

/* Rows of internal buffers are aligned to 16 bytes. */
static inline int dwt_stride(int size)
{
    return (size + 31) & ~31;
}

template <class W, class F> static void dwt_each_level(const dwt_job<W> &job, F launch)
{
    const typename W::S *in = job.samples;
    int in_stride = job.n;
    for (int level = 1; level <= LEVELS; level++) {
        int size = job.n >> (level - 1);
        bool last = level == LEVELS;
        typename W::S *low = last ? job.coefficients : job.low[level & 1];
        int low_stride = last ? job.n : dwt_stride(size / 2);
        launch(dwt_level<W>{in, in_stride, low, low_stride, job.coefficients, job.n, size});
        CHECK(cudaGetLastError());
        in = low;
        in_stride = low_stride;
    }
}

/* A level of the inverse: subbands to size x size samples. */
template <class W> struct dwt_source {
    typename W::S *out;
    int out_stride;
    const typename W::S *low;
    int low_stride;
    const typename W::S *bands;
    int bands_stride;
    int size;
};

template <class W, class F> static void dwt_each_level_up(const dwt_job<W> &job, F launch)
{
    for (int level = LEVELS; level >= 1; level--) {
        int size = job.n >> (level - 1);
        bool first = level == LEVELS, last = level == 1;
        launch(dwt_source<W>{last ? job.restored : job.low[(level - 1) & 1], last ? job.n : dwt_stride(size),
                             first ? job.coded : job.low[level & 1], first ? job.n : dwt_stride(size / 2), job.coded,
                             job.n, size});
        CHECK(cudaGetLastError());
    }
}

static inline unsigned dwt_divide_up(int a, int b)
{
    return (unsigned)((a + b - 1) / b);
}

/* ---- In the kernels --------------------------------------------------------------------------------------------- */

/* The destination of row y of a level: low rows above high rows. */
__device__ __forceinline__ int dwt_mallat(int y, int size)
{
    return y / 2 + (y & 1) * (size / 2);
}

/* Index i of a line of n samples, mirrored at its ends (F.3.7) as far as a stored coefficient depends on it; further
 * out some sample of the line. Branch-free, since it is called for every row of every tile. */
__device__ __forceinline__ int dwt_mirror(int i, int n)
{
    i = abs(i);
    return max(0, min(i, 2 * (n - 1) - i));
}

/* C columns of ROWS rows from column x and row y on, everything beyond a border mirrored. All loads precede the
 * first use, so that they overlap. */
template <class W, int ROWS, int C>
__device__ __forceinline__ void dwt_load_tile(const dwt_level<W> &l, int x, int y, typename W::T (&v)[ROWS][C])
{
    if (x >= 0 && x + C <= l.size) {
        l2k_packed<typename W::S, C> raw[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            raw[r].load(l.in + dwt_mirror(y + r, l.size) * l.in_stride + x);
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int c = 0; c < C; c++)
                v[r][c] = raw[r].get(c);
    } else {
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int c = 0; c < C; c++)
                v[r][c] = l.in[dwt_mirror(y + r, l.size) * l.in_stride + dwt_mirror(x + c, l.size)];
    }
}

/* All vertical lifting steps on a tile whose first row is even. Rows STEPS .. ROWS - STEPS are valid afterwards. */
template <class W, int ROWS, int C> __device__ __forceinline__ void dwt_lift_rows(typename W::T (&v)[ROWS][C])
{
#pragma unroll
    for (int k = 0; k < W::STEPS; k++)
#pragma unroll
        for (int r = 1 + k; r < ROWS - k - 1; r += 2)
#pragma unroll
            for (int c = 0; c < C; c++)
                v[r][c] = W::step(k, v[r][c], v[r - 1][c], v[r + 1][c]);
}

/* Stores x[k] at to[first + k] where 0 <= first + k < count. */
template <class S, int N> __device__ __forceinline__ void dwt_store_run(S *to, const S (&x)[N], int first, int count)
{
    if (first >= 0 && first + N <= count && l2k_packed<S, N>::is_aligned(to + first)) {
        l2k_packed<S, N> packed;
#pragma unroll
        for (int k = 0; k < N; k++)
            packed.set(k, x[k]);
        packed.store(to + first);
        return;
    }
#pragma unroll
    for (int k = 0; k < N; k++)
        if (first + k >= 0 && first + k < count)
            to[first + k] = x[k];
}

/* N pairs of finished samples, from even column x on, of row `row` of the Mallat layout. */
template <class W, int N>
__device__ __forceinline__ void dwt_store_pairs(const dwt_level<W> &l, const typename W::T (&v)[2 * N], int x, int row)
{
    typename W::S low[N], high[N];
    int half = l.size / 2;
#pragma unroll
    for (int k = 0; k < N; k++) {
        low[k] = (typename W::S)v[2 * k];
        high[k] = (typename W::S)v[2 * k + 1];
    }
    dwt_store_run(row < half ? l.low + row * l.low_stride : l.bands + row * l.bands_stride, low, x / 2, half);
    dwt_store_run(l.bands + row * l.bands_stride + half, high, x / 2, half);
}

/* Of row `row` of the Mallat layout, the half with the horizontally low samples. */
template <class W> __device__ __forceinline__ const typename W::S *dwt_low_half(const dwt_source<W> &l, int row)
{
    return row < l.size / 2 ? l.low + row * l.low_stride : l.bands + row * l.bands_stride;
}

template <class W> __device__ __forceinline__ const typename W::S *dwt_high_half(const dwt_source<W> &l, int row)
{
    return l.bands + row * l.bands_stride + l.size / 2;
}

/* The horizontal factors of columns from an even one on. */
template <class W, int C> __device__ __forceinline__ void dwt_unscale_columns(typename W::T (&v)[C])
{
#pragma unroll
    for (int c = 0; c < C; c++)
        v[c] = W::unscale(v[c], c & 1);
}

/* Whether columns x to x + 2 N - 1 exist and both halves of every row have them at a multiple of the packed size. */
template <class W, int N> __device__ __forceinline__ bool dwt_pairs_are_packed(const dwt_source<W> &l, int x)
{
    typedef l2k_packed<typename W::S, N> packed;
    const int strides = (int)sizeof(typename W::S) * (l.low_stride | l.bands_stride);
    return x >= 0 && x + 2 * N <= l.size && (strides & (packed::ALIGNMENT - 1)) == 0 &&
           packed::is_aligned(l.low + x / 2) && packed::is_aligned(l.bands + x / 2) &&
           packed::is_aligned(dwt_high_half(l, 0) + x / 2);
}

/* N pairs of coefficients for the even column x on of the rows of samples y to y + ROWS - 1, as they are in memory,
 * everything beyond a border mirrored. How a lane loads is decided once, and all loads precede the first use, as in
 * dwt_load_tile. */
template <class W, int N, int ROWS>
__device__ __forceinline__ void dwt_load_tile_of_pairs(const dwt_source<W> &l, int x, int y,
                                                       typename W::T (&v)[ROWS][2 * N])
{
    if (dwt_pairs_are_packed<W, N>(l, x)) {
        l2k_packed<typename W::S, N> raw[ROWS][2];
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            int row = dwt_mallat(dwt_mirror(y + r, l.size), l.size);
            raw[r][0].load(dwt_low_half(l, row) + x / 2);
            raw[r][1].load(dwt_high_half(l, row) + x / 2);
        }
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int k = 0; k < 2 * N; k++)
                v[r][k] = raw[r][k & 1].get(k / 2);
    } else {
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            int row = dwt_mallat(dwt_mirror(y + r, l.size), l.size);
#pragma unroll
            for (int k = 0; k < 2 * N; k++)
                v[r][k] = (k & 1 ? dwt_high_half(l, row) : dwt_low_half(l, row))[dwt_mirror(x + k, l.size) / 2];
        }
    }
}

#endif
