/* Passes of one level, each on its own, along rows or along columns: the schemes of Kucis, Barina, Kula, Zemcik: 2-D
 * Discrete Wavelet Transform Using GPU. Along rows a thread computes one pair of coefficients by convolution (Galiano
 * 2011) or by lifting, or four pairs (Blazewicz 2012), or a block does one lifting step after the other on a whole row
 * (van der Laan 2009). Along columns: the same four pairs on a transposed picture, van der Laan's sliding window, and
 * the paper's own, a window of 64 rows and a halo, in which a thread computes 8 coefficients and no lifting step needs
 * a barrier. Beside them 8 a thread directly from memory: what two threads both load comes from the cache. */
#ifndef L2K_BENCH_PAPERS_PASSES_CUH
#define L2K_BENCH_PAPERS_PASSES_CUH

#include "bench/papers/sliding_window.cuh"

enum { PASS_THREADS = 128, EIGHT = 8, EIGHT_THREADS = 128, SQUARE = 32, SQUARE_THREADS = 8 };

/* ---- Along rows, through a segment of the row in shared memory ------------------------------------------------- */

template <class W, int PAIRS> struct dwt_segment {
    enum { OUT = 2 * PAIRS, LENGTH = PASS_THREADS * OUT, HALO = W::STEPS, NEEDED = OUT + 2 * HALO - 1 };
    static dim3 grid(int size)
    {
        return dim3(dwt_divide_up(size, LENGTH), size);
    }
};

/* The samples of a thread's pairs, with a halo of STEPS on each side but for the last. */
template <class W, int PAIRS>
__device__ __forceinline__ void dwt_load_segment(const dwt_level<W> &l,
                                                 typename W::T (&v)[dwt_segment<W, PAIRS>::NEEDED][1])
{
    typedef dwt_segment<W, PAIRS> segment;
    __shared__ typename W::T line[segment::LENGTH + 2 * segment::HALO];
    const typename W::S *row = l.in + (int)blockIdx.y * l.in_stride;
    int first = (int)blockIdx.x * segment::LENGTH - segment::HALO;
    for (int i = threadIdx.x; i < segment::LENGTH + 2 * segment::HALO; i += PASS_THREADS)
        line[i] = row[dwt_mirror(first + i, l.size)];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < segment::NEEDED; i++)
        v[i][0] = line[segment::OUT * threadIdx.x + i];
}

/* PAIRS pairs a thread, by lifting: what neighbours need, too, each computes itself. */
template <class W, int PAIRS> __global__ void __launch_bounds__(PASS_THREADS) pairs_by_lifting_kernel(dwt_level<W> l)
{
    typedef dwt_segment<W, PAIRS> segment;
    typename W::T v[segment::NEEDED][1], finished[segment::OUT];
    dwt_load_segment<W, PAIRS>(l, v);
    int x = segment::OUT * ((int)blockIdx.x * PASS_THREADS + (int)threadIdx.x);
    dwt_lift_rows<W>(v);
#pragma unroll
    for (int j = 0; j < segment::OUT; j++)
        finished[j] = W::scale(v[W::STEPS + j][0], j & 1);
    if (x < l.size)
        dwt_store_pairs<W, PAIRS>(l, finished, x, blockIdx.y);
}

/* The filters of the 9/7, symmetric, from the middle outwards. */
struct dwt_taps {
    float low[5], high[4];
};

/* `middle[-k * stride]` and `middle[k * stride]` in the order in which host and device add them up. */
template <int N> static DWT_HD float dwt_convolve(const float (&taps)[N], const float *middle)
{
    float sum = taps[0] * middle[0];
#pragma unroll
    for (int k = 1; k < N; k++)
        sum = sum + taps[k] * (middle[-k] + middle[k]);
    return sum;
}

/* A pair a thread by convolution: 16 products in place of 4 and the scaling, 8 of them shared by symmetry. */
static __global__ void __launch_bounds__(PASS_THREADS) pair_by_convolution_kernel(dwt_level<dwt_97> l, dwt_taps taps)
{
    typedef dwt_segment<dwt_97, 1> segment;
    float v[segment::NEEDED][1], line[segment::NEEDED], finished[2];
    dwt_load_segment<dwt_97, 1>(l, v);
    int x = 2 * ((int)blockIdx.x * PASS_THREADS + (int)threadIdx.x);
#pragma unroll
    for (int i = 0; i < segment::NEEDED; i++)
        line[i] = v[i][0];
    finished[0] = dwt_convolve(taps.low, line + 4);
    finished[1] = dwt_convolve(taps.high, line + 5);
    if (x < l.size)
        dwt_store_pairs<dwt_97, 1>(l, finished, x, blockIdx.y);
}

/* ---- Along columns --------------------------------------------------------------------------------------------- */

/* A window of 64 rows and the halo: 71 for the 9/7. The rows that the next window needs again stay in shared memory. */
template <class W>
__global__ void __launch_bounds__(SLAB *WINDOW_THREADS)
    free_window_kernel(const typename W::S *in, int in_stride, typename W::S *out, int out_stride, int size)
{
    typedef typename W::T T;
    enum { MOVE = EIGHT * WINDOW_THREADS, KEPT = 2 * W::STEPS - 1 };
    __shared__ T window[MOVE + KEPT][SLAB];
    int tx = threadIdx.x, ty = threadIdx.y, x = (int)blockIdx.x * SLAB + tx;
    bool inside = x < size;
    in += inside ? x : size - 1;
    T kept = ty < KEPT ? in[dwt_mirror(ty - W::STEPS, size) * in_stride] : 0;
    for (int y = 0; y < size; y += MOVE) {
        T fresh[EIGHT];
#pragma unroll
        for (int i = 0; i < EIGHT; i++)
            fresh[i] = in[dwt_mirror(y + W::STEPS - 1 + ty + i * WINDOW_THREADS, size) * in_stride];
        __syncthreads();
        if (ty < KEPT)
            window[ty][tx] = kept;
#pragma unroll
        for (int i = 0; i < EIGHT; i++)
            window[KEPT + ty + i * WINDOW_THREADS][tx] = fresh[i];
        __syncthreads();
        kept = window[MOVE + (ty < KEPT ? ty : 0)][tx];
        T v[EIGHT + KEPT][1];
#pragma unroll
        for (int i = 0; i < EIGHT + KEPT; i++)
            v[i][0] = window[EIGHT * ty + i][tx];
        dwt_lift_rows<W>(v);
#pragma unroll
        for (int j = 0; j < EIGHT; j++) {
            int row = y + EIGHT * ty + j;
            if (inside && row < size)
                out[dwt_mallat(row, size) * out_stride + x] = (typename W::S)W::scale(v[W::STEPS + j][0], j & 1);
        }
    }
}

/* ---- 8 a thread, without shared memory ------------------------------------------------------------------------- */

/* A thread: column x, rows y .. y + 7 of the level. */
template <class W>
__global__ void __launch_bounds__(EIGHT_THREADS) eight_rows_kernel(dwt_level<W> l, typename W::S *out, int out_stride)
{
    int x = (int)blockIdx.x * EIGHT_THREADS + (int)threadIdx.x, y = (int)blockIdx.y * EIGHT;
    if (x >= l.size)
        return;
    typename W::T v[EIGHT + 2 * W::STEPS - 1][1];
    dwt_load_tile<W>(l, x, y - W::STEPS, v);
    dwt_lift_rows<W>(v);
#pragma unroll
    for (int j = 0; j < EIGHT; j++)
        if (y + j < l.size)
            out[dwt_mallat(y + j, l.size) * out_stride + x] = (typename W::S)W::scale(v[W::STEPS + j][0], j & 1);
}

/* Columns x - STEPS .. x + 8 + STEPS - 1 of a row, in whole words: those before, the thread's own, those after. */
template <class W>
__device__ __forceinline__ void load_line(const typename W::S *row, int x, int size,
                                          typename W::T (&v)[EIGHT + 2 * W::STEPS][1])
{
    enum { H = W::STEPS };
    if (x >= H && x + EIGHT + H <= size) {
        l2k_packed<typename W::S, H> before, after;
        l2k_packed<typename W::S, EIGHT> own;
        before.load(row + x - H);
        own.load(row + x);
        after.load(row + x + EIGHT);
#pragma unroll
        for (int i = 0; i < EIGHT + 2 * H; i++)
            v[i][0] = i < H           ? before.get(i < H ? i : 0)
                      : i < EIGHT + H ? own.get(i >= H && i < EIGHT + H ? i - H : 0)
                                      : after.get(i >= EIGHT + H ? i - EIGHT - H : 0);
    } else {
#pragma unroll
        for (int i = 0; i < EIGHT + 2 * H; i++)
            v[i][0] = row[dwt_mirror(x - H + i, size)];
    }
}

/* A thread: row blockIdx.y of the Mallat layout, columns x .. x + 7. */
template <class W> __global__ void __launch_bounds__(EIGHT_THREADS) eight_columns_kernel(dwt_level<W> l)
{
    int x = EIGHT * ((int)blockIdx.x * EIGHT_THREADS + (int)threadIdx.x), y = blockIdx.y;
    if (x >= l.size)
        return;
    typename W::T v[EIGHT + 2 * W::STEPS][1], finished[EIGHT];
    load_line<W>(l.in + y * l.in_stride, x, l.size, v);
    dwt_lift_rows<W>(v); /* a thread's line is a column of its registers */
#pragma unroll
    for (int j = 0; j < EIGHT; j++)
        finished[j] = W::scale(v[W::STEPS + j][0], j & 1);
    dwt_store_pairs<W, EIGHT / 2>(l, finished, x, y);
}

/* ---- A transpose ------------------------------------------------------------------------------------------------ */

/* Squares through shared memory, so that reads and writes both go along rows; the odd row length avoids bank
 * conflicts. */
template <class S>
__global__ void __launch_bounds__(SQUARE *SQUARE_THREADS)
    transpose_kernel(const S *in, int in_stride, S *out, int out_stride, int size)
{
    __shared__ S square[SQUARE][SQUARE + 1];
    int x = (int)blockIdx.x * SQUARE, y = (int)blockIdx.y * SQUARE, tx = threadIdx.x;
#pragma unroll
    for (int j = threadIdx.y; j < SQUARE; j += SQUARE_THREADS)
        if (x + tx < size && y + j < size)
            square[j][tx] = in[(y + j) * in_stride + x + tx];
    __syncthreads();
#pragma unroll
    for (int j = threadIdx.y; j < SQUARE; j += SQUARE_THREADS)
        if (y + tx < size && x + j < size)
            out[(x + j) * out_stride + y + tx] = square[tx][j];
}

template <class S>
static void transpose(const S *in, int in_stride, S *out, int out_stride, int size, cudaStream_t stream)
{
    dim3 squares(dwt_divide_up(size, SQUARE), dwt_divide_up(size, SQUARE)), threads(SQUARE, SQUARE_THREADS);
    transpose_kernel<S><<<squares, threads, 0, stream>>>(in, in_stride, out, out_stride, size);
    CHECK(cudaGetLastError());
}

/* ---- Launches: n x n samples at l.in to the same number of coefficients at l.bands ------------------------------ */

template <class W, int PAIRS> static void pairs_by_lifting(const dwt_level<W> &l, typename W::S **, cudaStream_t stream)
{
    pairs_by_lifting_kernel<W, PAIRS><<<dwt_segment<W, PAIRS>::grid(l.size), PASS_THREADS, 0, stream>>>(l);
}

template <class W> static void row_with_barriers(const dwt_level<W> &l, typename W::S **, cudaStream_t stream)
{
    row_pass(l, stream);
}

template <class W> static void row_eight(const dwt_level<W> &l, typename W::S **, cudaStream_t stream)
{
    dim3 rows(dwt_divide_up(l.size, EIGHT * EIGHT_THREADS), l.size);
    eight_columns_kernel<W><<<rows, EIGHT_THREADS, 0, stream>>>(l);
}

template <class W> static void column_with_barriers(const dwt_level<W> &l, typename W::S **, cudaStream_t stream)
{
    sliding_window_kernel<W><<<dwt_divide_up(l.size, SLAB), dim3(SLAB, WINDOW_THREADS), 0, stream>>>(
        l.in, l.in_stride, l.bands, l.bands_stride, l.size);
}

template <class W> static void column_free_window(const dwt_level<W> &l, typename W::S **, cudaStream_t stream)
{
    free_window_kernel<W><<<dwt_divide_up(l.size, SLAB), dim3(SLAB, WINDOW_THREADS), 0, stream>>>(
        l.in, l.in_stride, l.bands, l.bands_stride, l.size);
}

template <class W> static void column_eight(const dwt_level<W> &l, typename W::S **, cudaStream_t stream)
{
    dim3 columns(dwt_divide_up(l.size, EIGHT_THREADS), dwt_divide_up(l.size, EIGHT));
    eight_rows_kernel<W><<<columns, EIGHT_THREADS, 0, stream>>>(l, l.bands, l.bands_stride);
}

/* Transpose, four pairs a thread along rows, transpose. */
template <class W> static void column_transposed(const dwt_level<W> &l, typename W::S **scratch, cudaStream_t stream)
{
    int stride = dwt_stride(l.size);
    transpose(l.in, l.in_stride, scratch[0], stride, l.size, stream);
    pairs_by_lifting<W, 4>(dwt_level<W>{scratch[0], stride, scratch[1], stride, scratch[1], stride, l.size}, scratch,
                           stream);
    CHECK(cudaGetLastError());
    transpose(scratch[1], stride, l.bands, l.bands_stride, l.size, stream);
}

#endif
