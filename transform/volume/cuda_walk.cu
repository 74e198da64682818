/* Walks through the slices of a volume (F.3, F.4, with a slice in place of a sample): all levels of the third direction
 * with each slice loaded once and stored once. What waits at a level is in registers, as are the samples of the next
 * period, which are on their way while one is lifted. */
#include "transform/volume/cuda_lifting.cuh"

namespace
{

template <class S> using vector = l2k_slice_values<S, L2K_CUDA_WALK_BYTES>;

/* ---- Memory -------------------------------------------------------------------------------------------------- */

/* Nothing is loaded twice. */
template <class S> __device__ __forceinline__ vector<S> load(const char *slice, int64_t thread)
{
    const int4 words = __ldcs(reinterpret_cast<const int4 *>(slice) + thread);
    return *reinterpret_cast<const vector<S> *>(&words);
}

/* STAYS: for the next launch, in the cache. */
template <class S, bool STAYS> __device__ __forceinline__ void store(char *slice, int64_t thread, const vector<S> &v)
{
    if (STAYS)
        *(reinterpret_cast<int4 *>(slice) + thread) = *reinterpret_cast<const int4 *>(&v);
    else
        __stcs(reinterpret_cast<int4 *>(slice) + thread, *reinterpret_cast<const int4 *>(&v));
}

/* Samples as values, and values as samples. */
template <class S, bool INVERSE>
__device__ __forceinline__ vector<S> convert(const l2k_cuda_z_samples &samples, bool outside, vector<S> v)
{
    if (samples.converts && outside)
#pragma unroll
        for (int i = 0; i < vector<S>::N; i++)
            v.v[i] = converted<INVERSE>(samples, v.v[i]);
    return v;
}

template <class S, class T, int N> __device__ __forceinline__ void unpack(T (&values)[N], const vector<S> &v)
{
#pragma unroll
    for (int i = 0; i < N; i++)
        values[i] = v.v[i];
}

template <class S, class T, int N> __device__ __forceinline__ vector<S> pack(const T (&values)[N])
{
    vector<S> v;
#pragma unroll
    for (int i = 0; i < N; i++)
        v.v[i] = (S)values[i];
    return v;
}

template <class T, int N> __device__ __forceinline__ void copy(T (&to)[N], const T (&from)[N])
{
#pragma unroll
    for (int i = 0; i < N; i++)
        to[i] = from[i];
}

/* ---- A walk -------------------------------------------------------------------------------------------------- */

template <class S, bool INVERSE, int LEVELS> struct walker {
    typedef typename arithmetic<S>::type T;
    enum { N = vector<S>::N, STATE = steps_of<S>::COUNT, PERIOD = 1 << LEVELS, BATCH = PERIOD < 8 ? 8 : PERIOD };

    const l2k_cuda_z_walk &p;
    const int64_t thread;
    T state[LEVELS][STATE][N];

    /* Two slices more at a level: gives the two that are done. */
    __device__ __forceinline__ void feed(int level, T (&a)[N], T (&b)[N])
    {
#pragma unroll
        for (int i = 0; i < N; i++) {
            T x[STATE + 2];
#pragma unroll
            for (int row = 0; row < STATE; row++)
                x[row] = state[level][row][i];
            x[STATE] = a[i];
            x[STATE + 1] = b[i];
            lift_pair<INVERSE, STATE>(x, p.scales);
            a[i] = x[0];
            b[i] = x[1];
#pragma unroll
            for (int row = 0; row < STATE; row++)
                state[level][row][i] = x[row + 2];
        }
    }

    __device__ __forceinline__ void forward(const vector<S> *samples, int first)
    {
        T x[PERIOD][N];
#pragma unroll
        for (int i = 0; i < PERIOD; i++)
            unpack<S>(x[i], convert<S, false>(p.samples, p.outside, samples[i]));
        int band = first;
#pragma unroll
        for (int level = 0; level < LEVELS; level++)
#pragma unroll
            for (int pair = 0; pair < PERIOD >> (level + 1); pair++) {
                feed(level, x[2 * pair], x[2 * pair + 1]);
                store<S, true>(p.to[band++], thread, pack<S>(x[2 * pair]));
                copy(x[pair], x[2 * pair + 1]);
            }
        store<S, true>(p.to[band], thread, pack<S>(x[0]));
    }

    /* `pairs` low slices with their high ones, from the last one on, since twice as many become of them. */
    __device__ __forceinline__ void inverse_level(int level, int pairs, T (&x)[PERIOD][N], const vector<S> *high)
    {
        T low[PERIOD / 2][N];
#pragma unroll
        for (int pair = 0; pair < PERIOD / 2; pair++)
            if (pair < pairs)
                copy(low[pair], x[pair]);
#pragma unroll
        for (int pair = 0; pair < PERIOD / 2; pair++)
            if (pair < pairs) {
                copy(x[2 * pair], low[pair]);
                unpack<S>(x[2 * pair + 1], high[pair]);
                feed(level, x[2 * pair], x[2 * pair + 1]);
            }
    }

    __device__ __forceinline__ void inverse(const vector<S> *bands, int first)
    {
        T x[PERIOD][N];
        unpack<S>(x[0], bands[PERIOD - 1]);
#pragma unroll
        for (int level = LEVELS - 1; level >= 0; level--)
            inverse_level(level, PERIOD >> (level + 1), x, bands + PERIOD - (PERIOD >> level));
#pragma unroll
        for (int i = 0; i < PERIOD; i++)
            store<S, false>(p.to[first + i], thread, convert<S, true>(p.samples, p.outside, pack<S>(x[i])));
    }

    /* Periods from slice `first` on. All loads of a batch are on their way at the same time. */
    __device__ __forceinline__ void fetch(vector<S> (&batch)[BATCH], int first)
    {
#pragma unroll
        for (int k = 0; k < BATCH; k += PERIOD)
            if (first + k < p.slices)
#pragma unroll
                for (int i = 0; i < PERIOD; i++)
                    batch[k + i] = load<S>(p.from[first + k + i], thread);
    }

    __device__ __forceinline__ void lift_batch(const vector<S> (&batch)[BATCH], int first)
    {
#pragma unroll
        for (int k = 0; k < BATCH; k += PERIOD)
            if (first + k < p.slices) {
                if (INVERSE)
                    inverse(batch + k, first + k);
                else
                    forward(batch + k, first + k);
            }
    }

    __device__ __forceinline__ void begin()
    {
#pragma unroll
        for (int level = 0; level < LEVELS; level++)
#pragma unroll
            for (int row = 0; row < STATE; row++) {
                const bool outside = p.waiting_outside >> (level * STATE + row) & 1;
                const vector<S> v = load<S>(p.waiting[level][row], thread);
                unpack<S>(state[level][row], INVERSE ? v : convert<S, false>(p.samples, outside, v));
            }
    }

    __device__ __forceinline__ void end()
    {
#pragma unroll
        for (int level = 0; level < LEVELS; level++)
#pragma unroll
            for (int row = 0; row < STATE; row++)
                store<S, true>(p.left[level][row], thread, pack<S>(state[level][row]));
    }

    __device__ __forceinline__ void run()
    {
        vector<S> next[BATCH];
        fetch(next, 0);
        begin();
#pragma unroll 1
        for (int first = 0; first < p.slices; first += BATCH) {
            vector<S> batch[BATCH];
#pragma unroll
            for (int i = 0; i < BATCH; i++)
                batch[i] = next[i];
            fetch(next, first + BATCH);
            lift_batch(batch, first);
        }
        end();
    }
};

const int THREADS = 128;

template <class S, bool INVERSE, int LEVELS>
__global__ void __launch_bounds__(THREADS) walk(const __grid_constant__ l2k_cuda_z_walk p)
{
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= p.threads)
        return;
    walker<S, INVERSE, LEVELS> w = {p, thread};
    w.run();
}

/* ---- Launches ------------------------------------------------------------------------------------------------ */

int launch(void (*kernel)(l2k_cuda_z_walk), const l2k_cuda_z_walk &p, void *stream)
{
    void *arguments[] = {const_cast<l2k_cuda_z_walk *>(&p)};
    return cudaLaunchKernel((const void *)kernel, dim3((unsigned)((p.threads + THREADS - 1) / THREADS)), dim3(THREADS),
                            arguments, 0, (cudaStream_t)stream);
}

template <class S, bool INVERSE> int run_levels(const l2k_cuda_z_walk &p, void *stream)
{
    return launch(p.levels == 2 ? walk<S, INVERSE, 2> : walk<S, INVERSE, L2K_Z_WALK_LEVELS>, p, stream);
}

template <class S> int run(const l2k_cuda_z_walk &p, bool inverse, void *stream)
{
    return inverse ? run_levels<S, true>(p, stream) : run_levels<S, false>(p, stream);
}

} // namespace

extern "C" int l2k_cuda_z_walk_run(const l2k_cuda_z_walk *walk, l2k_cuda_value value, bool inverse, void *stream)
{
    if (walk->threads == 0 || walk->slices == 0)
        return cudaSuccess;
    return value == L2K_CUDA_INT16   ? run<int16_t>(*walk, inverse, stream)
           : value == L2K_CUDA_INT32 ? run<int32_t>(*walk, inverse, stream)
                                     : run<float>(*walk, inverse, stream);
}
