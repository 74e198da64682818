/* Kernels of the third direction (F.3, F.4, with a slice in place of a sample) and of the pixels of a slice (Annex G).
 * A thread takes 8 bytes of every slice through all operations of a list: it alone loads again what it has stored, from
 * the cache. Operations load and store samples whose layout is that of values. */
#include <cuda_runtime.h>

#include "tiling/pixel/pixel_cuda.cuh"
#include "transform/volume/cuda/cuda_lifting.cuh"

namespace
{

template <class S> using vector = l2k_slice_values<S, L2K_CUDA_Z_BYTES>;

/* ---- Operations ---------------------------------------------------------------------------------------------- */

template <class S> __device__ __forceinline__ vector<S> *place(char *row, int64_t thread)
{
    return reinterpret_cast<vector<S> *>(row) + thread;
}

template <class S, bool INVERSE>
__device__ __forceinline__ void convert(const l2k_cuda_z_ops &p, const l2k_cuda_z_op &op, int row, vector<S> &v)
{
    if (!p.samples.converts || !(op.samples >> row & 1))
        return;
#pragma unroll
    for (int i = 0; i < vector<S>::N; i++)
        v.v[i] = converted<INVERSE>(p.samples, v.v[i]);
}

/* All loads precede the first use, so an operation waits for memory once. FULL: it has all rows. */
template <class S, bool INVERSE, bool FULL, int ROWS>
__device__ __forceinline__ void load_rows(const l2k_cuda_z_ops &p, const l2k_cuda_z_op &op, int64_t thread,
                                          vector<S> (&rows)[ROWS])
{
#pragma unroll
    for (int i = 0; i < ROWS; i++)
        if (FULL || i < op.rows)
            rows[i] = *place<S>(op.from[i], thread);
    if (!INVERSE && p.samples.converts)
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            if (FULL || i < op.rows)
                convert<S, INVERSE>(p, op, i, rows[i]);
}

/* FULL: rows FIRST .. END - 1 change, so they have a place. */
template <class S, bool INVERSE, bool FULL = false, int FIRST = 0, int END = 0, int ROWS>
__device__ __forceinline__ void store_rows(const l2k_cuda_z_ops &p, const l2k_cuda_z_op &op, int64_t thread,
                                           vector<S> (&rows)[ROWS])
{
    if (INVERSE && p.samples.converts)
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            if (FULL || i < op.rows)
                convert<S, INVERSE>(p, op, i, rows[i]);
#pragma unroll
    for (int i = 0; i < ROWS; i++)
        if ((FULL && i >= FIRST && i < END) || ((!FULL || INVERSE) && i < op.rows && op.to[i]))
            *place<S>(op.to[i], thread) = rows[i];
}

/* Chains by Part 1's wavelets: BEFORE rows precede the first pair, rows FIRST .. END - 1 change. */
template <class S, bool INVERSE> struct wavelet_chain {
    typedef wavelet_of<S> W;
    typedef typename W::T T;
    enum { BEFORE = W::STEPS, ROWS = BEFORE + 2 * L2K_CHAIN_PAIRS };
    enum { FIRST = BEFORE == 4 && !INVERSE ? 0 : 1, END = BEFORE == 4 && INVERSE ? ROWS : ROWS - 1 };

    static __device__ __forceinline__ void lift(const l2k_cuda_z_ops &p, T (&x)[BEFORE + 2])
    {
        lift_pair<W, INVERSE>(x, p.scales);
    }
};

/* By w4, the only kernel that has chains. */
template <bool INVERSE> struct w4_chain {
    typedef float T;
    enum { BEFORE = INVERSE ? 4 : 2, ROWS = BEFORE + 2 * L2K_CHAIN_PAIRS, FIRST = INVERSE ? 2 : 0, END = ROWS };

    static __device__ __forceinline__ void lift(const l2k_cuda_z_ops &p, T (&x)[BEFORE + 2])
    {
        lift_w4(x, p.steps, p.scales);
    }
};

template <class S, class Chain> __device__ __forceinline__ void lift_rows(const l2k_cuda_z_ops &p, vector<S> *rows)
{
    enum { ROWS = Chain::BEFORE + 2 };
#pragma unroll
    for (int i = 0; i < vector<S>::N; i++) {
        typename Chain::T x[ROWS];
#pragma unroll
        for (int row = 0; row < ROWS; row++)
            x[row] = rows[row].v[i];
        Chain::lift(p, x);
#pragma unroll
        for (int row = 0; row < ROWS; row++)
            rows[row].v[i] = (S)x[row];
    }
}

/* FULL: of L2K_CHAIN_PAIRS pairs. Most chains are, and without a test per row they take half of the instructions. */
template <class S, bool INVERSE, bool FULL, class Chain>
__device__ __forceinline__ void run_chain(const l2k_cuda_z_ops &p, const l2k_cuda_z_op &op, int64_t thread)
{
    vector<S> rows[Chain::ROWS];
    load_rows<S, INVERSE, FULL>(p, op, thread, rows);
#pragma unroll
    for (int pair = 0; pair < L2K_CHAIN_PAIRS; pair++)
        if (FULL || pair < op.pairs)
            lift_rows<S, Chain>(p, rows + 2 * pair);
    store_rows<S, INVERSE, FULL, Chain::FIRST, Chain::END>(p, op, thread, rows);
}

template <class S, bool INVERSE>
__device__ __forceinline__ void run_step(const l2k_cuda_z_ops &p, const l2k_cuda_z_op &op, int64_t thread)
{
    typedef wavelet_of<S> W;
    typedef typename W::T T;
    vector<S> rows[3];
    load_rows<S, INVERSE, false>(p, op, thread, rows);
#pragma unroll
    for (int i = 0; i < vector<S>::N; i++)
        rows[0].v[i] = (S)W::template lift<!INVERSE>(op.step, (T)rows[0].v[i], (T)rows[1].v[i], (T)rows[2].v[i]);
    store_rows<S, INVERSE>(p, op, thread, rows);
}

/* One step of a kernel, on values of four bytes. */
template <bool INVERSE, int ROWS>
__device__ __forceinline__ int32_t lifted(const l2k_cuda_z_ops &p, const l2k_cuda_z_step &step,
                                          const int32_t (&row)[ROWS])
{
    int64_t sum = step.rounding;
    int32_t narrow = step.rounding;
#pragma unroll
    for (int k = 0; k < L2K_CUDA_Z_TAPS; k++)
        if (k < step.num_taps && p.wide)
            sum = l2k_kernel_add_64(sum, (int32_t)step.taps[k], row[1 + k]);
        else if (k < step.num_taps)
            narrow = l2k_kernel_add_32(narrow, (int32_t)step.taps[k], row[1 + k]);
    return p.wide ? l2k_kernel_lift_64(row[0], sum, step.shift, INVERSE)
                  : l2k_kernel_lift_32(row[0], narrow, step.shift, INVERSE);
}

template <bool INVERSE, int ROWS>
__device__ __forceinline__ float lifted(const l2k_cuda_z_ops &, const l2k_cuda_z_step &step, const float (&row)[ROWS])
{
    float sum = row[1] * step.taps[0];
#pragma unroll
    for (int k = 1; k < L2K_CUDA_Z_TAPS; k++)
        if (k < step.num_taps)
            sum = l2k_kernel_add_float(sum, step.taps[k], row[1 + k]);
    return l2k_kernel_lift_float(row[0], sum, INVERSE);
}

template <class S, bool INVERSE>
__device__ __forceinline__ void run_taps(const l2k_cuda_z_ops &p, const l2k_cuda_z_op &op, int64_t thread)
{
    enum { ROWS = 1 + L2K_CUDA_Z_TAPS };
    vector<S> rows[ROWS];
    load_rows<S, INVERSE, false>(p, op, thread, rows);
#pragma unroll
    for (int i = 0; i < vector<S>::N; i++) {
        S row[ROWS];
#pragma unroll
        for (int k = 0; k < ROWS; k++)
            row[k] = rows[k].v[i];
        rows[0].v[i] = lifted<INVERSE>(p, p.steps[op.step], row);
    }
    store_rows<S, INVERSE>(p, op, thread, rows);
}

/* Lone slices, scaling, and moves. */
template <class S, bool INVERSE>
__device__ __forceinline__ void run_single(const l2k_cuda_z_ops &p, const l2k_cuda_z_op &op, int64_t thread)
{
    typedef typename wavelet_of<S>::T T;
    vector<S> rows[L2K_Z_ROWS];
    load_rows<S, INVERSE, false>(p, op, thread, rows);
#pragma unroll
    for (int row = 0; row < L2K_Z_ROWS; row++)
#pragma unroll
        for (int i = 0; i < vector<S>::N; i++)
            if (row < op.rows)
                rows[row].v[i] = (S)(op.kind == L2K_Z_LONE ? l2k_lone<!INVERSE>((T)rows[row].v[i])
                                                           : scaled((T)rows[row].v[i], op.factor));
    store_rows<S, INVERSE>(p, op, thread, rows);
}

/* KERNEL: by a kernel's steps; those of reversible ones have no chains. */
template <class S, bool INVERSE, bool KERNEL> __global__ void run_ops(const __grid_constant__ l2k_cuda_z_ops p)
{
    typedef typename std::conditional<KERNEL, w4_chain<INVERSE>, wavelet_chain<S, INVERSE>>::type chain;
    const bool has_chains = !KERNEL || std::is_same<S, float>::value;
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= p.threads)
        return;
#pragma unroll 1
    for (int i = 0; i < p.count; i++) {
        const l2k_cuda_z_op &op = p.of[i];
        if (has_chains && op.kind == L2K_Z_CHAIN && op.pairs == L2K_CHAIN_PAIRS) {
            run_chain<S, INVERSE, true, chain>(p, op, thread);
        } else if (has_chains && op.kind == L2K_Z_CHAIN) {
            run_chain<S, INVERSE, false, chain>(p, op, thread);
        } else if (op.kind == (KERNEL ? L2K_Z_TAPS : L2K_Z_STEP)) {
            if constexpr (KERNEL)
                run_taps<S, INVERSE>(p, op, thread);
            else
                run_step<S, INVERSE>(p, op, thread);
        } else {
            run_single<S, INVERSE>(p, op, thread);
        }
    }
}

/* ---- Pixels -------------------------------------------------------------------------------------------------- */

/* Consecutive samples of a row as a thread takes them. */
template <class P, int N> struct __align__(sizeof(P) * N < 16 ? sizeof(P) * N : 16) packed_samples
{
    P v[N];
};

__device__ __forceinline__ char *sample_at(const l2k_cuda_plane &plane, int x, int y)
{
    return plane.data + (int64_t)y * plane.row_stride + (int64_t)x * plane.sample_stride;
}

/* Whether one or a few aligned accesses can take all N samples at `at`. */
template <class P, int N> __device__ __forceinline__ bool is_packed(const char *at, int stride, int count)
{
    return count == N && stride == (int)sizeof(P) && (uintptr_t)at % alignof(packed_samples<P, N>) == 0;
}

/* `count` samples, at most N, `stride` bytes apart. */
template <class P, int N>
__device__ __forceinline__ packed_samples<P, N> load_packed(const char *at, int stride, int count)
{
    packed_samples<P, N> samples = {};
    if (is_packed<P, N>(at, stride, count))
        return *reinterpret_cast<const packed_samples<P, N> *>(at);
#pragma unroll
    for (int i = 0; i < N; i++)
        if (i < count)
            samples.v[i] = *reinterpret_cast<const P *>(at + (int64_t)i * stride);
    return samples;
}

template <class P, int N>
__device__ __forceinline__ void store_packed(char *at, int stride, int count, const packed_samples<P, N> &samples)
{
    if (is_packed<P, N>(at, stride, count)) {
        *reinterpret_cast<packed_samples<P, N> *>(at) = samples;
        return;
    }
#pragma unroll
    for (int i = 0; i < N; i++)
        if (i < count)
            *reinterpret_cast<P *>(at + (int64_t)i * stride) = samples.v[i];
}

template <class P, class T, int N>
__device__ __forceinline__ void load_pixels(const l2k_cuda_plane &plane, const char *at, int count, T (&v)[N])
{
    const packed_samples<P, N> samples = load_packed<P, N>(at, plane.sample_stride, count);
#pragma unroll
    for (int i = 0; i < N; i++)
        l2k_value_of(samples.v[i], plane.shift, &v[i]);
}

template <class P, class T, int N>
__device__ __forceinline__ void store_pixels(const l2k_cuda_plane &plane, char *at, int count, const T (&v)[N])
{
    packed_samples<P, N> samples;
#pragma unroll
    for (int i = 0; i < N; i++)
        samples.v[i] = l2k_sample_of(v[i], plane, (P *)0);
    store_packed(at, plane.sample_stride, count, samples);
}

template <class S, class T, int N> __device__ __forceinline__ void load_values(const char *at, int count, T (&v)[N])
{
    const packed_samples<S, N> values = load_packed<S, N>(at, sizeof(S), count);
#pragma unroll
    for (int i = 0; i < N; i++)
        v[i] = (T)values.v[i];
}

template <class S, class T, int N> __device__ __forceinline__ void store_values(char *at, int count, const T (&v)[N])
{
    packed_samples<S, N> values;
#pragma unroll
    for (int i = 0; i < N; i++)
        values.v[i] = (S)v[i];
    store_packed(at, sizeof(S), count, values);
}

/* `count` samples from (x, y) on, at most N. */
template <class T, int N>
__device__ __forceinline__ void load_run(const l2k_cuda_plane &plane, int x, int y, int count, T (&v)[N])
{
    const char *at = sample_at(plane, x, y);
    switch (plane.type) {
    case L2K_SAMPLE_U8:
        return load_pixels<uint8_t>(plane, at, count, v);
    case L2K_SAMPLE_S8:
        return load_pixels<int8_t>(plane, at, count, v);
    case L2K_SAMPLE_U16:
        return load_pixels<uint16_t>(plane, at, count, v);
    case L2K_SAMPLE_S16:
        return load_pixels<int16_t>(plane, at, count, v);
    case L2K_SAMPLE_F32:
        if ((T)0.5f != 0) /* integers come from integers */
            return load_pixels<float>(plane, at, count, v);
    default:
        return load_pixels<int32_t>(plane, at, count, v);
    }
}

template <class T, int N>
__device__ __forceinline__ void store_run(const l2k_cuda_plane &plane, int x, int y, int count, const T (&v)[N])
{
    char *at = sample_at(plane, x, y);
    switch (plane.type) {
    case L2K_SAMPLE_U8:
    case L2K_SAMPLE_S8:
        return store_pixels<uint8_t>(plane, at, count, v);
    case L2K_SAMPLE_U16:
    case L2K_SAMPLE_S16:
        return store_pixels<uint16_t>(plane, at, count, v);
    case L2K_SAMPLE_F32:
        if ((T)0.5f != 0)
            return store_pixels<float>(plane, at, count, v);
    default:
        return store_pixels<int32_t>(plane, at, count, v);
    }
}

/* A thread takes N consecutive samples in each of its rows. */
template <class S, int COMPONENTS, bool STORE>
__global__ void move_slices(const __grid_constant__ l2k_cuda_slice_parts p)
{
    typedef typename wavelet_of<S>::T T;
    enum { N = L2K_CUDA_ROW_BYTES / sizeof(S) };
    const l2k_cuda_slice_part &part = p.of[blockIdx.z];
    const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x) * N, count = min((int)N, p.width - x);
    for (int y = (int)(blockIdx.y * blockDim.y + threadIdx.y); y < p.height && count > 0; y += gridDim.y * blockDim.y) {
        const int64_t at = (int64_t)y * p.width + x;
        T v[COMPONENTS][N];
#pragma unroll
        for (int c = 0; c < COMPONENTS; c++)
            if (STORE)
                load_values<S>(part.values[c] + at * sizeof(S), count, v[c]);
            else
                load_run(part.planes[c], x, y, count, v[c]);
        if (COMPONENTS == 3)
#pragma unroll
            for (int i = 0; i < N; i++)
                if (STORE)
                    l2k_join_inverse(&v[0][i], &v[COMPONENTS / 2][i], &v[COMPONENTS - 1][i]);
                else
                    l2k_join_forward(&v[0][i], &v[COMPONENTS / 2][i], &v[COMPONENTS - 1][i]);
#pragma unroll
        for (int c = 0; c < COMPONENTS; c++)
            if (STORE)
                store_run(part.planes[c], x, y, count, v[c]);
            else
                store_values<S>(part.values[c] + at * sizeof(S), count, v[c]);
    }
}

/* ---- Launches ------------------------------------------------------------------------------------------------ */

const int THREADS = 128, ROWS = 4; /* of a block; those for slices have ROWS rows */

template <class Kernel, class Parameters>
int launch(Kernel *kernel, dim3 grid, dim3 block, const Parameters &p, void *stream)
{
    void *arguments[] = {const_cast<Parameters *>(&p)};
    return cudaLaunchKernel((const void *)kernel, grid, block, arguments, 0, (cudaStream_t)stream);
}

unsigned divide_up(int64_t a, int64_t b)
{
    return (unsigned)((a + b - 1) / b);
}

template <class S, bool KERNEL = false> int run_typed(const l2k_cuda_z_ops &p, bool inverse, void *stream)
{
    return launch(inverse ? run_ops<S, true, KERNEL> : run_ops<S, false, KERNEL>, dim3(divide_up(p.threads, THREADS)),
                  dim3(THREADS), p, stream);
}

template <class S> int move_typed(const l2k_cuda_slice_parts &p, bool inverse, void *stream)
{
    const int across = THREADS / ROWS * L2K_CUDA_ROW_BYTES / (int)sizeof(S);
    const unsigned down = divide_up(p.height, ROWS);
    const dim3 grid(divide_up(p.width, across), down < 65535 ? down : 65535, (unsigned)p.count);
    void (*const store)(l2k_cuda_slice_parts) = p.components == 3 ? move_slices<S, 3, true> : move_slices<S, 1, true>;
    void (*const load)(l2k_cuda_slice_parts) = p.components == 3 ? move_slices<S, 3, false> : move_slices<S, 1, false>;
    return launch(inverse ? store : load, grid, dim3(THREADS / ROWS, ROWS), p, stream);
}

} // namespace

extern "C" int l2k_cuda_z_run(const l2k_cuda_z_ops *ops, l2k_sample_type value, bool inverse, void *stream)
{
    if (ops->count == 0 || ops->threads == 0)
        return cudaSuccess;
    if (ops->kernel)
        return value == L2K_SAMPLE_S32 ? run_typed<int32_t, true>(*ops, inverse, stream)
                                       : run_typed<float, true>(*ops, inverse, stream);
    return value == L2K_SAMPLE_S16   ? run_typed<int16_t>(*ops, inverse, stream)
           : value == L2K_SAMPLE_S32 ? run_typed<int32_t>(*ops, inverse, stream)
                                     : run_typed<float>(*ops, inverse, stream);
}

extern "C" int l2k_cuda_slices_move(const l2k_cuda_slice_parts *parts, l2k_sample_type value, bool inverse,
                                    void *stream)
{
    if (parts->count == 0 || parts->width == 0 || parts->height == 0)
        return cudaSuccess;
    return value == L2K_SAMPLE_S16   ? move_typed<int16_t>(*parts, inverse, stream)
           : value == L2K_SAMPLE_S32 ? move_typed<int32_t>(*parts, inverse, stream)
                                     : move_typed<float>(*parts, inverse, stream);
}
