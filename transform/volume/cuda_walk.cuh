/* Periods of a walk through the slices of a volume (F.3, F.4, with a slice in place of a sample): a thread has 16 bytes
 * of each slice of a period, and what waits at each level, in registers. */
#ifndef L2K_TRANSFORM_VOLUME_CUDA_WALK_CUH
#define L2K_TRANSFORM_VOLUME_CUDA_WALK_CUH

#include "tiling/pixel/pixel_cuda.cuh"
#include "transform/volume/cuda_lifting.cuh"

namespace
{

/* ---- Wavelets across slices ---------------------------------------------------------------------------------- */

/* STATE: slices that wait for a pair. LOW: which one of those that it finishes is low, forward. */
template <class Value, bool IS_INVERSE> struct part_1_across {
    typedef Value S;
    enum { INVERSE = IS_INVERSE, STATE = steps_of<S>::COUNT, LOW = 1 };

    template <class T> static __device__ __forceinline__ void lift_pair(T (&x)[STATE + 2], const l2k_cuda_z_walk &p)
    {
        ::lift_pair<INVERSE, STATE>(x, p.scales);
    }
};

template <bool IS_INVERSE> struct w4_across {
    typedef float S;
    enum { INVERSE = IS_INVERSE, STATE = IS_INVERSE ? 4 : 2, LOW = 0 };

    static __device__ __forceinline__ void lift_pair(float (&x)[STATE + 2], const l2k_cuda_z_walk &p)
    {
        lift_w4(x, p.steps, p.scales);
    }
};

/* ---- Memory -------------------------------------------------------------------------------------------------- */

/* A thread's values of a slice. */
template <class S> using l2k_walk_values = l2k_slice_values<S, L2K_CUDA_WALK_BYTES>;

/* PASSES: what is not needed again. */
template <class S, bool PASSES>
__device__ __forceinline__ l2k_walk_values<S> load_values(const char *slice, int64_t thread)
{
    const int4 *from = reinterpret_cast<const int4 *>(slice) + thread;
    const int4 words = PASSES ? __ldcs(from) : *from;
    return *reinterpret_cast<const l2k_walk_values<S> *>(&words);
}

template <class S, bool PASSES>
__device__ __forceinline__ void store_values(char *slice, int64_t thread, const l2k_walk_values<S> &v)
{
    int4 *to = reinterpret_cast<int4 *>(slice) + thread;
    if (PASSES)
        __stcs(to, *reinterpret_cast<const int4 *>(&v));
    else
        *to = *reinterpret_cast<const int4 *>(&v);
}

/* ---- Periods ------------------------------------------------------------------------------------------------- */

template <class Across, int WALKED> struct z_lifter {
    typedef typename Across::S S;
    typedef typename arithmetic<S>::type T;
    typedef l2k_walk_values<S> vector;
    enum { LEVELS = WALKED, INVERSE = Across::INVERSE, N = vector::N, STATE = Across::STATE, PERIOD = 1 << LEVELS };
    enum { BATCH = PERIOD < 8 ? 8 : PERIOD }; /* slices that are on their way at the same time */

    const l2k_cuda_z_walk &p;
    T state[LEVELS][STATE][N];

    static __device__ __forceinline__ void unpack(T (&values)[N], const vector &v)
    {
#pragma unroll
        for (int i = 0; i < N; i++)
            values[i] = v.v[i];
    }

    static __device__ __forceinline__ vector pack(const T (&values)[N])
    {
        vector v;
#pragma unroll
        for (int i = 0; i < N; i++)
            v.v[i] = (S)values[i];
        return v;
    }

    static __device__ __forceinline__ void copy(T (&to)[N], const T (&from)[N])
    {
#pragma unroll
        for (int i = 0; i < N; i++)
            to[i] = from[i];
    }

    /* Samples as values, and values as samples. */
    __device__ __forceinline__ vector convert(bool outside, vector v) const
    {
        if (!p.samples.converts || !outside)
            return v;
        if constexpr (sizeof(S) == 2) {
            return convert_words(v);
        } else {
#pragma unroll
            for (int i = 0; i < N; i++)
                v.v[i] = converted<INVERSE>(p.samples, v.v[i]);
            return v;
        }
    }

    /* Two values of 16 bits at a time, modulo 2^16. */
    __device__ __forceinline__ vector convert_words(const vector &v) const
    {
        const l2k_level_shift s = p.samples.shift;
        const uint32_t shift = l2k_twice(s.shift), low = l2k_twice(max(s.low, INT16_MIN)),
                       high = l2k_twice(min(s.high, INT16_MAX));
        uint4 words = *reinterpret_cast<const uint4 *>(&v);
        for (uint32_t *word : {&words.x, &words.y, &words.z, &words.w})
            *word = INVERSE ? __vadd2(__vmins2(__vmaxs2(*word, low), high), shift) : __vsub2(*word, shift);
        return *reinterpret_cast<const vector *>(&words);
    }

    __device__ __forceinline__ bool is_outside(int slice) const
    {
        return p.outside[slice >> 5] >> (slice & 31) & 1;
    }

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
            Across::lift_pair(x, p);
            a[i] = x[0];
            b[i] = x[1];
#pragma unroll
            for (int row = 0; row < STATE; row++)
                state[level][row][i] = x[row + 2];
        }
    }

    /* The period of samples that begins with slice `first`; put(i, values) takes slice i of its coefficients. */
    template <class Put> __device__ __forceinline__ void forward(const vector *samples, int first, const Put &put)
    {
        T x[PERIOD][N];
#pragma unroll
        for (int i = 0; i < PERIOD; i++)
            unpack(x[i], convert(is_outside(first + i), samples[i]));
        int band = 0;
#pragma unroll
        for (int level = 0; level < LEVELS; level++)
#pragma unroll
            for (int pair = 0; pair < PERIOD >> (level + 1); pair++) {
                feed(level, x[2 * pair], x[2 * pair + 1]);
                put(band++, pack(x[2 * pair + !Across::LOW]));
                copy(x[pair], x[2 * pair + Across::LOW]);
            }
        put(band, pack(x[0]));
    }

    /* `pairs` low slices with their high ones, from the last one on, since twice as many become of them. */
    __device__ __forceinline__ void inverse_level(int level, int pairs, T (&x)[PERIOD][N], const vector *high)
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
                unpack(x[2 * pair + 1], high[pair]);
                feed(level, x[2 * pair], x[2 * pair + 1]);
            }
    }

    /* The other way; put(i, values) takes slice i of the samples. */
    template <class Put> __device__ __forceinline__ void inverse(const vector *bands, int first, const Put &put)
    {
        T x[PERIOD][N];
        unpack(x[0], bands[PERIOD - 1]);
#pragma unroll
        for (int level = LEVELS - 1; level >= 0; level--)
            inverse_level(level, PERIOD >> (level + 1), x, bands + PERIOD - (PERIOD >> level));
#pragma unroll
        for (int i = 0; i < PERIOD; i++)
            put(i, convert(is_outside(first + i), pack(x[i])));
    }

    /* Periods from slice `first` on. All loads of a batch are on their way at the same time. */
    template <bool PASSES>
    __device__ __forceinline__ void fetch(vector (&batch)[BATCH], int first, int64_t thread) const
    {
#pragma unroll
        for (int k = 0; k < BATCH; k += PERIOD)
            if (first + k < p.slices)
#pragma unroll
                for (int i = 0; i < PERIOD; i++)
                    batch[k + i] = load_values<S, PASSES>(p.from[first + k + i], thread);
    }

    /* put(i, values) takes slice i of the batch. */
    template <class Put>
    __device__ __forceinline__ void lift_batch(const vector (&batch)[BATCH], int first, const Put &put)
    {
#pragma unroll
        for (int k = 0; k < BATCH; k += PERIOD)
            if (first + k < p.slices) {
                if constexpr (INVERSE)
                    inverse(batch + k, first + k, [&](int i, const vector &v) { put(k + i, v); });
                else
                    forward(batch + k, first + k, [&](int i, const vector &v) { put(k + i, v); });
            }
    }

    template <class Visit> static __device__ __forceinline__ void each_waiting(const Visit &visit)
    {
#pragma unroll
        for (int level = 0; level < LEVELS; level++)
#pragma unroll
            for (int row = 0; row < STATE; row++)
                visit(level, row);
    }

    template <bool PASSES> __device__ __forceinline__ void begin(int64_t thread)
    {
        each_waiting([&](int level, int row) {
            const bool outside = p.waiting_outside >> (level * STATE + row) & 1;
            const vector v = load_values<S, PASSES>(p.waiting[level][row], thread);
            unpack(state[level][row], INVERSE ? v : convert(outside, v));
        });
    }

    __device__ __forceinline__ void end(int64_t thread) const
    {
        each_waiting(
            [&](int level, int row) { store_values<S, false>(p.left[level][row], thread, pack(state[level][row])); });
    }
};

} // namespace

#endif
