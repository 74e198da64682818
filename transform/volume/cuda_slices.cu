/* Kernels of the third direction (F.3, F.4, with a slice in place of a sample) and of the pixels of a slice (Annex G).
 * A thread takes 16 bytes of every slice, and goes through all operations of a program with them: what it has stored it
 * alone loads again, from the cache. */
#include <cuda_runtime.h>

extern "C" {
#include "dwt/lifting.h"
#include "transform/volume/cuda_slices.h"
}

namespace
{

/* ---- Values -------------------------------------------------------------------------------------------------- */

template <class S> struct arithmetic {
    typedef int32_t type;
};
template <> struct arithmetic<float> {
    typedef float type;
};

template <class S> struct __align__(16) vector
{
    enum { N = L2K_CUDA_Z_BYTES / sizeof(S) };
    S v[N];
};

/* Lifting step k of the direction. */
template <bool INVERSE> __device__ __forceinline__ int32_t lift(int k, int32_t x, int32_t left, int32_t right)
{
    if (INVERSE)
        return k == 0 ? l2k_5_3_unupdate(x, left, right) : l2k_5_3_unpredict(x, left, right);
    return k == 0 ? l2k_5_3_predict(x, left, right) : l2k_5_3_update(x, left, right);
}

template <bool INVERSE> __device__ __forceinline__ float lift(int k, float x, float left, float right)
{
    const float forward = k == 0 ? L2K_9_7_ALPHA : k == 1 ? L2K_9_7_BETA : k == 2 ? L2K_9_7_GAMMA : L2K_9_7_DELTA;
    const float inverse = k == 0 ? -L2K_9_7_DELTA : k == 1 ? -L2K_9_7_GAMMA : k == 2 ? -L2K_9_7_BETA : -L2K_9_7_ALPHA;
    return l2k_9_7_lift(x, left, right, INVERSE ? inverse : forward);
}

template <bool INVERSE> __device__ __forceinline__ int32_t lone(int32_t x)
{
    return INVERSE ? l2k_5_3_unlone(x) : l2k_5_3_lone(x);
}

template <bool INVERSE> __device__ __forceinline__ float lone(float x)
{
    return INVERSE ? l2k_9_7_unlone(x) : l2k_9_7_lone(x);
}

__device__ __forceinline__ int32_t scaled(int32_t x, float)
{
    return x;
}

__device__ __forceinline__ float scaled(float x, float factor)
{
    return x * factor;
}

/* ---- Programs ------------------------------------------------------------------------------------------------ */

template <class S> __device__ __forceinline__ vector<S> *place(char *row, int64_t thread)
{
    return reinterpret_cast<vector<S> *>(row) + thread;
}

/* All steps on STEPS + 2 consecutive slices. */
template <class S, bool INVERSE> __device__ __forceinline__ void run_all(const l2k_cuda_z_op &op, int64_t thread)
{
    enum { STEPS = sizeof(typename arithmetic<S>::type) == 4 && (S)0.5f != 0 ? 4 : 2, N = vector<S>::N };
    typedef typename arithmetic<S>::type T;
    vector<S> rows[STEPS + 2];
#pragma unroll
    for (int i = 0; i < STEPS + 2; i++)
        rows[i] = *place<S>(op.rows[i], thread);
#pragma unroll
    for (int k = 0; k < STEPS; k++) {
        const int y = STEPS - k;
#pragma unroll
        for (int i = 0; i < N; i++)
            rows[y].v[i] = (S)lift<INVERSE>(k, (T)rows[y].v[i], (T)rows[y - 1].v[i], (T)rows[y + 1].v[i]);
    }
#pragma unroll
    for (int i = 1; i <= STEPS; i++)
        *place<S>(op.rows[i], thread) = rows[i];
}

template <class S, bool INVERSE> __device__ __forceinline__ void run_step(const l2k_cuda_z_op &op, int64_t thread)
{
    typedef typename arithmetic<S>::type T;
    vector<S> x = *place<S>(op.rows[0], thread);
    const vector<S> left = *place<S>(op.rows[1], thread), right = *place<S>(op.rows[2], thread);
#pragma unroll
    for (int i = 0; i < vector<S>::N; i++)
        x.v[i] = (S)lift<INVERSE>(op.step, (T)x.v[i], (T)left.v[i], (T)right.v[i]);
    *place<S>(op.rows[0], thread) = x;
}

/* A lone slice, or scaling. */
template <class S, bool INVERSE> __device__ __forceinline__ void run_single(const l2k_cuda_z_op &op, int64_t thread)
{
    typedef typename arithmetic<S>::type T;
    vector<S> x = *place<S>(op.rows[0], thread);
#pragma unroll
    for (int i = 0; i < vector<S>::N; i++)
        x.v[i] = (S)(op.kind == L2K_Z_LONE ? lone<INVERSE>((T)x.v[i]) : scaled((T)x.v[i], op.factor));
    *place<S>(op.rows[0], thread) = x;
}

template <class S, bool INVERSE> __global__ void run_program(const __grid_constant__ l2k_cuda_z_program p)
{
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= p.threads)
        return;
#pragma unroll 1
    for (int i = 0; i < p.count; i++) {
        const l2k_cuda_z_op &op = p.ops[i];
        if (op.kind == L2K_Z_ALL)
            run_all<S, INVERSE>(op, thread);
        else if (op.kind == L2K_Z_STEP)
            run_step<S, INVERSE>(op, thread);
        else
            run_single<S, INVERSE>(op, thread);
    }
}

/* ---- Pixels -------------------------------------------------------------------------------------------------- */

__device__ __forceinline__ const char *sample_at(const l2k_cuda_plane &plane, int x, int y)
{
    return plane.data + (int64_t)y * plane.row_stride + (int64_t)x * plane.sample_stride;
}

/* A sample without its level shift; floats have none. */
__device__ __forceinline__ int32_t load_sample(const l2k_cuda_plane &plane, int x, int y, int32_t)
{
    const char *at = sample_at(plane, x, y);
    int32_t sample = 0;
    switch (plane.type) {
    case L2K_SAMPLE_U8:
        sample = *(const uint8_t *)at;
        break;
    case L2K_SAMPLE_S8:
        sample = *(const int8_t *)at;
        break;
    case L2K_SAMPLE_U16:
        sample = *(const uint16_t *)at;
        break;
    case L2K_SAMPLE_S16:
        sample = *(const int16_t *)at;
        break;
    default:
        sample = *(const int32_t *)at;
        break;
    }
    return l2k_shift_down(sample, plane.shift);
}

__device__ __forceinline__ float load_sample(const l2k_cuda_plane &plane, int x, int y, float)
{
    if (plane.type == L2K_SAMPLE_F32)
        return *(const float *)sample_at(plane, x, y);
    return (float)load_sample(plane, x, y, (int32_t)0);
}

__device__ __forceinline__ void store_sample(const l2k_cuda_plane &plane, int x, int y, int32_t value)
{
    char *at = const_cast<char *>(sample_at(plane, x, y));
    const int32_t sample = l2k_shift_up(value, plane.shift);
    switch (plane.type) {
    case L2K_SAMPLE_U8:
    case L2K_SAMPLE_S8:
        *(uint8_t *)at = (uint8_t)sample;
        break;
    case L2K_SAMPLE_U16:
    case L2K_SAMPLE_S16:
        *(uint16_t *)at = (uint16_t)sample;
        break;
    default:
        *(int32_t *)at = sample;
        break;
    }
}

__device__ __forceinline__ void store_sample(const l2k_cuda_plane &plane, int x, int y, float value)
{
    if (plane.type == L2K_SAMPLE_F32)
        *(float *)const_cast<char *>(sample_at(plane, x, y)) = value;
    else
        store_sample(plane, x, y, l2k_round_f32(value));
}

__device__ __forceinline__ void join(int32_t *v)
{
    l2k_rct_forward(&v[0], &v[1], &v[2]);
}

__device__ __forceinline__ void join(float *v)
{
    l2k_ict_forward(&v[0], &v[1], &v[2]);
}

__device__ __forceinline__ void part(int32_t *v)
{
    l2k_rct_inverse(&v[0], &v[1], &v[2]);
}

__device__ __forceinline__ void part(float *v)
{
    l2k_ict_inverse(&v[0], &v[1], &v[2]);
}

template <class S, int LANES> __global__ void load_rows(const __grid_constant__ l2k_cuda_slice_rows p)
{
    typedef typename arithmetic<S>::type T;
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= p.width)
        return;
    for (int y = blockIdx.y; y < p.height; y += gridDim.y) {
        T v[LANES];
#pragma unroll
        for (int c = 0; c < LANES; c++)
            v[c] = load_sample(p.planes[c], x, y, (T)0);
        if (LANES == 3)
            join(v);
#pragma unroll
        for (int c = 0; c < LANES; c++)
            reinterpret_cast<S *>(p.values[c])[(int64_t)y * p.width + x] = (S)v[c];
    }
}

template <class S, int LANES> __global__ void store_rows(const __grid_constant__ l2k_cuda_slice_rows p)
{
    typedef typename arithmetic<S>::type T;
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= p.width)
        return;
    for (int y = blockIdx.y; y < p.height; y += gridDim.y) {
        T v[LANES];
#pragma unroll
        for (int c = 0; c < LANES; c++)
            v[c] = (T) reinterpret_cast<const S *>(p.values[c])[(int64_t)y * p.width + x];
        if (LANES == 3)
            part(v);
#pragma unroll
        for (int c = 0; c < LANES; c++)
            store_sample(p.planes[c], x, y, v[c]);
    }
}

/* ---- Launches ------------------------------------------------------------------------------------------------ */

const int THREADS = 128;

template <class Kernel, class Parameters> int launch(Kernel *kernel, dim3 grid, const Parameters &p, void *stream)
{
    void *arguments[] = {const_cast<Parameters *>(&p)};
    return cudaLaunchKernel((const void *)kernel, grid, dim3(THREADS), arguments, 0, (cudaStream_t)stream);
}

template <class S> int run_typed(const l2k_cuda_z_program &p, bool inverse, void *stream)
{
    const dim3 grid((unsigned)((p.threads + THREADS - 1) / THREADS));
    return launch(inverse ? run_program<S, true> : run_program<S, false>, grid, p, stream);
}

dim3 grid_of(const l2k_cuda_slice_rows *rows)
{
    return dim3((unsigned)(rows->width + THREADS - 1) / THREADS,
                (unsigned)(rows->height < 65535 ? rows->height : 65535));
}

template <class S> int load_typed(const l2k_cuda_slice_rows *rows, void *stream)
{
    return launch(rows->lanes == 3 ? load_rows<S, 3> : load_rows<S, 1>, grid_of(rows), *rows, stream);
}

template <class S> int store_typed(const l2k_cuda_slice_rows *rows, void *stream)
{
    return launch(rows->lanes == 3 ? store_rows<S, 3> : store_rows<S, 1>, grid_of(rows), *rows, stream);
}

} // namespace

extern "C" int l2k_cuda_z_run(const l2k_cuda_z_program *program, l2k_cuda_value value, bool inverse, void *stream)
{
    if (program->count == 0 || program->threads == 0)
        return cudaSuccess;
    return value == L2K_CUDA_INT16   ? run_typed<int16_t>(*program, inverse, stream)
           : value == L2K_CUDA_INT32 ? run_typed<int32_t>(*program, inverse, stream)
                                     : run_typed<float>(*program, inverse, stream);
}

extern "C" int l2k_cuda_slice_load(const l2k_cuda_slice_rows *rows, l2k_cuda_value value, void *stream)
{
    if (rows->width == 0 || rows->height == 0)
        return cudaSuccess;
    return value == L2K_CUDA_INT16   ? load_typed<int16_t>(rows, stream)
           : value == L2K_CUDA_INT32 ? load_typed<int32_t>(rows, stream)
                                     : load_typed<float>(rows, stream);
}

extern "C" int l2k_cuda_slice_store(const l2k_cuda_slice_rows *rows, l2k_cuda_value value, void *stream)
{
    if (rows->width == 0 || rows->height == 0)
        return cudaSuccess;
    return value == L2K_CUDA_INT16   ? store_typed<int16_t>(rows, stream)
           : value == L2K_CUDA_INT32 ? store_typed<int32_t>(rows, stream)
                                     : store_typed<float>(rows, stream);
}
