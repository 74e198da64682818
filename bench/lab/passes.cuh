/* Passes of one level, each on its own: along rows, or along columns, forward and inverse. The schemes that the OpenCL
 * comparison of vertical passes puts side by side (Kucis, Barina, Kula, Zemcik: 2-D Discrete Wavelet Transform Using
 * GPU), beside those that the ladder has: a thread computes one pair of coefficients by convolution, or by lifting;
 * four pairs by lifting; and down a slab of columns with a window of 64 rows and a halo, in which a thread computes 8
 * coefficients and no lifting step needs a barrier. */
#ifndef L2K_BENCH_LAB_PASSES_CUH
#define L2K_BENCH_LAB_PASSES_CUH

#include "bench/lab/eight_per_thread.cuh"
#include "bench/lab/sliding_window.cuh"
#include "bench/lab/transpose.cuh"

enum { PASS_THREADS = 128 };

/* ---- Along rows, through a segment of the row in shared memory ------------------------------------------------- */

template <class W, int PAIRS> struct lab_segment {
    enum { OUT = 2 * PAIRS, LENGTH = PASS_THREADS * OUT, HALO = W::STEPS, NEEDED = OUT + 2 * HALO - 1 };
    static dim3 grid(int size)
    {
        return dim3(lab_divide_up(size, LENGTH), size);
    }
};

/* The samples of a thread's pairs, with a halo of STEPS on each side but for the last. */
template <class W, int PAIRS>
__device__ __forceinline__ void lab_load_segment(const lab_level<W> &l,
                                                 typename W::T (&v)[lab_segment<W, PAIRS>::NEEDED][1])
{
    typedef lab_segment<W, PAIRS> segment;
    __shared__ typename W::T line[segment::LENGTH + 2 * segment::HALO];
    const typename W::S *row = l.in + (int)blockIdx.y * l.in_stride;
    int first = (int)blockIdx.x * segment::LENGTH - segment::HALO;
    for (int i = threadIdx.x; i < segment::LENGTH + 2 * segment::HALO; i += PASS_THREADS)
        line[i] = row[lab_mirror(first + i, l.size)];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < segment::NEEDED; i++)
        v[i][0] = line[segment::OUT * threadIdx.x + i];
}

/* The inverse's: coefficients as they are in memory, in the order of the samples, a halo of STEPS - 1 on the left. */
template <class W, int PAIRS>
__device__ __forceinline__ void lab_load_segment(const lab_source<W> &l,
                                                 typename W::T (&v)[lab_segment<W, PAIRS>::NEEDED][1])
{
    typedef lab_segment<W, PAIRS> segment;
    __shared__ typename W::T line[segment::LENGTH + 2 * segment::HALO - 1];
    const typename W::S *low = lab_low_half(l, blockIdx.y), *high = lab_high_half(l, blockIdx.y);
    int first = (int)blockIdx.x * segment::LENGTH - segment::HALO + 1;
    for (int i = threadIdx.x; i < segment::LENGTH + 2 * segment::HALO - 1; i += PASS_THREADS) {
        int x = lab_mirror(first + i, l.size);
        line[i] = (x & 1 ? high : low)[x / 2];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < segment::NEEDED; i++)
        v[i][0] = line[segment::OUT * threadIdx.x + i];
}

/* PAIRS pairs a thread, by lifting: what neighbours need, too, each computes itself. */
template <class W, int PAIRS> __global__ void __launch_bounds__(PASS_THREADS) pairs_by_lifting_kernel(lab_level<W> l)
{
    typedef lab_segment<W, PAIRS> segment;
    typename W::T v[segment::NEEDED][1], finished[segment::OUT];
    lab_load_segment<W, PAIRS>(l, v);
    int x = segment::OUT * ((int)blockIdx.x * PASS_THREADS + (int)threadIdx.x);
    lab_lift_rows<W>(v);
#pragma unroll
    for (int j = 0; j < segment::OUT; j++)
        finished[j] = W::scale(v[W::STEPS + j][0], j & 1);
    if (x < l.size)
        lab_store_pairs<W, PAIRS>(l, finished, x, blockIdx.y);
}

template <class W, int PAIRS>
__global__ void __launch_bounds__(PASS_THREADS) pairs_by_lifting_inverse_kernel(lab_source<W> l)
{
    typedef lab_segment<W, PAIRS> segment;
    typename W::T v[segment::NEEDED][1];
    typename W::S finished[segment::OUT];
    lab_load_segment<W, PAIRS>(l, v);
    int x = segment::OUT * ((int)blockIdx.x * PASS_THREADS + (int)threadIdx.x);
#pragma unroll
    for (int i = 0; i < segment::NEEDED; i++)
        v[i][0] = W::unscale(v[i][0], !(i & 1));
    lab_lift_rows<lab_undo<W>>(v);
#pragma unroll
    for (int j = 0; j < segment::OUT; j++)
        finished[j] = (typename W::S)v[W::STEPS - 1 + j][0];
    if (x < l.size)
        lab_store_run(l.out + (int)blockIdx.y * l.out_stride, finished, x, l.size);
}

/* The filters of the 9/7, symmetric, from the middle outwards: of low and high coefficients, and of the even and odd
 * samples made of these in turn. */
struct lab_taps {
    float low[5], high[4], even[4], odd[5];
};

/* `middle[-k * stride]` and `middle[k * stride]` in the order in which host and device add them up. */
template <int N> static LAB_HD float lab_convolve(const float (&taps)[N], const float *middle)
{
    float sum = taps[0] * middle[0];
#pragma unroll
    for (int k = 1; k < N; k++)
        sum = sum + taps[k] * (middle[-k] + middle[k]);
    return sum;
}

/* A pair a thread by convolution: 16 products in place of 4 and the scaling, 8 of them shared by symmetry. */
static __global__ void __launch_bounds__(PASS_THREADS) pair_by_convolution_kernel(lab_level<lab_97> l, lab_taps taps)
{
    typedef lab_segment<lab_97, 1> segment;
    float v[segment::NEEDED][1], line[segment::NEEDED], finished[2];
    lab_load_segment<lab_97, 1>(l, v);
    int x = 2 * ((int)blockIdx.x * PASS_THREADS + (int)threadIdx.x);
#pragma unroll
    for (int i = 0; i < segment::NEEDED; i++)
        line[i] = v[i][0];
    finished[0] = lab_convolve(taps.low, line + 4);
    finished[1] = lab_convolve(taps.high, line + 5);
    if (x < l.size)
        lab_store_pairs<lab_97, 1>(l, finished, x, blockIdx.y);
}

static __global__ void __launch_bounds__(PASS_THREADS)
    pair_by_convolution_inverse_kernel(lab_source<lab_97> l, lab_taps taps)
{
    typedef lab_segment<lab_97, 1> segment;
    float v[segment::NEEDED][1], line[segment::NEEDED], finished[2];
    lab_load_segment<lab_97, 1>(l, v);
    int x = 2 * ((int)blockIdx.x * PASS_THREADS + (int)threadIdx.x);
#pragma unroll
    for (int i = 0; i < segment::NEEDED; i++)
        line[i] = v[i][0];
    finished[0] = lab_convolve(taps.even, line + 3);
    finished[1] = lab_convolve(taps.odd, line + 4);
    if (x < l.size)
        lab_store_run(l.out + (int)blockIdx.y * l.out_stride, finished, x, l.size);
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
    T kept = ty < KEPT ? in[lab_mirror(ty - W::STEPS, size) * in_stride] : 0;
    for (int y = 0; y < size; y += MOVE) {
        T fresh[EIGHT];
#pragma unroll
        for (int i = 0; i < EIGHT; i++)
            fresh[i] = in[lab_mirror(y + W::STEPS - 1 + ty + i * WINDOW_THREADS, size) * in_stride];
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
        lab_lift_rows<W>(v);
#pragma unroll
        for (int j = 0; j < EIGHT; j++) {
            int row = y + EIGHT * ty + j;
            if (inside && row < size)
                out[lab_mallat(row, size) * out_stride + x] = (typename W::S)W::scale(v[W::STEPS + j][0], j & 1);
        }
    }
}

/* Rows of the Mallat layout to rows of samples. */
template <class W>
__global__ void __launch_bounds__(SLAB *WINDOW_THREADS)
    free_window_inverse_kernel(const typename W::S *in, int in_stride, typename W::S *out, int out_stride, int size)
{
    typedef typename W::T T;
    enum { MOVE = EIGHT * WINDOW_THREADS, KEPT = 2 * W::STEPS - 1 };
    __shared__ T window[MOVE + KEPT][SLAB];
    int tx = threadIdx.x, ty = threadIdx.y, x = (int)blockIdx.x * SLAB + tx;
    bool inside = x < size;
    in += inside ? x : size - 1;
    auto coefficient = [&](int row) {
        int y = lab_mirror(row, size);
        return W::unscale(in[lab_mallat(y, size) * in_stride], y & 1);
    };
    T kept = ty < KEPT ? coefficient(ty - W::STEPS + 1) : 0;
    for (int y = 0; y < size; y += MOVE) {
        T fresh[EIGHT];
#pragma unroll
        for (int i = 0; i < EIGHT; i++)
            fresh[i] = coefficient(y + W::STEPS + ty + i * WINDOW_THREADS);
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
        lab_lift_rows<lab_undo<W>>(v);
#pragma unroll
        for (int j = 0; j < EIGHT; j++) {
            int row = y + EIGHT * ty + j;
            if (inside && row < size)
                out[row * out_stride + x] = (typename W::S)v[W::STEPS - 1 + j][0];
        }
    }
}

/* ---- Launches: n x n samples at l.in to the same number of coefficients at l.bands ------------------------------ */

template <class W, int PAIRS> static void pairs_by_lifting(const lab_level<W> &l, typename W::S **, cudaStream_t stream)
{
    pairs_by_lifting_kernel<W, PAIRS><<<lab_segment<W, PAIRS>::grid(l.size), PASS_THREADS, 0, stream>>>(l);
}

template <class W> static void row_with_barriers(const lab_level<W> &l, typename W::S **, cudaStream_t stream)
{
    row_pass(l, stream);
}

template <class W> static void row_eight(const lab_level<W> &l, typename W::S **, cudaStream_t stream)
{
    dim3 rows(lab_divide_up(l.size, EIGHT * EIGHT_THREADS), l.size);
    eight_columns_kernel<W><<<rows, EIGHT_THREADS, 0, stream>>>(l);
}

template <class W> static void column_with_barriers(const lab_level<W> &l, typename W::S **, cudaStream_t stream)
{
    sliding_window_kernel<W><<<lab_divide_up(l.size, SLAB), dim3(SLAB, WINDOW_THREADS), 0, stream>>>(
        l.in, l.in_stride, l.bands, l.bands_stride, l.size);
}

template <class W> static void column_free_window(const lab_level<W> &l, typename W::S **, cudaStream_t stream)
{
    free_window_kernel<W><<<lab_divide_up(l.size, SLAB), dim3(SLAB, WINDOW_THREADS), 0, stream>>>(
        l.in, l.in_stride, l.bands, l.bands_stride, l.size);
}

template <class W> static void column_eight(const lab_level<W> &l, typename W::S **, cudaStream_t stream)
{
    dim3 columns(lab_divide_up(l.size, EIGHT_THREADS), lab_divide_up(l.size, EIGHT));
    eight_rows_kernel<W><<<columns, EIGHT_THREADS, 0, stream>>>(l, l.bands, l.bands_stride);
}

/* Transpose, four pairs a thread along rows, transpose. */
template <class W> static void column_transposed(const lab_level<W> &l, typename W::S **scratch, cudaStream_t stream)
{
    int stride = lab_stride(l.size);
    transpose(l.in, l.in_stride, scratch[0], stride, l.size, stream);
    pairs_by_lifting<W, 4>(lab_level<W>{scratch[0], stride, scratch[1], stride, scratch[1], stride, l.size}, scratch,
                           stream);
    CHECK(cudaGetLastError());
    transpose(scratch[1], stride, l.bands, l.bands_stride, l.size, stream);
}

/* ---- Launches: n x n coefficients at l.bands to the same number of samples at l.out ----------------------------- */

template <class W, int PAIRS>
static void pairs_by_lifting_inverse(const lab_source<W> &l, typename W::S **, cudaStream_t stream)
{
    pairs_by_lifting_inverse_kernel<W, PAIRS><<<lab_segment<W, PAIRS>::grid(l.size), PASS_THREADS, 0, stream>>>(l);
}

template <class W> static void row_with_barriers_inverse(const lab_source<W> &l, typename W::S **, cudaStream_t stream)
{
    row_pass_inverse(l, stream);
}

template <class W> static void row_eight_inverse(const lab_source<W> &l, typename W::S **, cudaStream_t stream)
{
    dim3 rows(lab_divide_up(l.size, EIGHT * EIGHT_THREADS), l.size);
    eight_columns_inverse_kernel<W><<<rows, EIGHT_THREADS, 0, stream>>>(l);
}

template <class W>
static void column_with_barriers_inverse(const lab_source<W> &l, typename W::S **, cudaStream_t stream)
{
    sliding_window_inverse_kernel<W><<<lab_divide_up(l.size, SLAB), dim3(SLAB, WINDOW_THREADS), 0, stream>>>(
        l.bands, l.bands_stride, l.out, l.out_stride, l.size);
}

template <class W> static void column_free_window_inverse(const lab_source<W> &l, typename W::S **, cudaStream_t stream)
{
    free_window_inverse_kernel<W><<<lab_divide_up(l.size, SLAB), dim3(SLAB, WINDOW_THREADS), 0, stream>>>(
        l.bands, l.bands_stride, l.out, l.out_stride, l.size);
}

template <class W> static void column_eight_inverse(const lab_source<W> &l, typename W::S **, cudaStream_t stream)
{
    dim3 columns(lab_divide_up(l.size, EIGHT_THREADS), lab_divide_up(l.size, EIGHT));
    eight_rows_inverse_kernel<W>
        <<<columns, EIGHT_THREADS, 0, stream>>>(l.bands, l.bands_stride, l.out, l.out_stride, l.size);
}

template <class W>
static void column_transposed_inverse(const lab_source<W> &l, typename W::S **scratch, cudaStream_t stream)
{
    int stride = lab_stride(l.size);
    transpose(l.bands, l.bands_stride, scratch[0], stride, l.size, stream);
    pairs_by_lifting_inverse<W, 4>(lab_source<W>{scratch[1], stride, scratch[0], stride, scratch[0], stride, l.size},
                                   scratch, stream);
    CHECK(cudaGetLastError());
    transpose(scratch[1], stride, l.out, l.out_stride, l.size, stream);
}

#endif
