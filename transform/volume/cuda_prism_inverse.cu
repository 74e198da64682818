/* Inverse prisms: level 1 within slices of coefficients, then levels across them (cuda_prism.cuh). Coefficients of the
 * next batch are on their way to shared memory while one is transformed. */
#include "transform/volume/cuda_prism.cuh"

extern "C" {
#include "dwt/wavelet.h"
}
#include "base/words_cuda.cuh"

namespace
{

template <class Across, class W, int LEVELS> struct inverse_prism : prism<Across, W, LEVELS> {
    typedef prism<Across, W, LEVELS> base;
    using typename base::lifter;
    using typename base::S;
    using typename base::T;
    typedef typename lifter::vector vector;
    enum {
        N = base::N,
        M = base::M,
        BATCH = base::BATCH,
        EDGE = base::EDGE,
        ROWS = base::UP + base::HEIGHT + base::DOWN,
        PIECES = base::LANES / 2 + 2, /* of 16 bytes, of a row of a subband, with one at either side of the tile */
        BAND_BYTES = 16 * PIECES,
        ROW_BYTES = 2 * BAND_BYTES, /* low and high columns */
        COEFFICIENT_BYTES = BATCH * ROWS * ROW_BYTES,
        SLICE_BYTES = base::HEIGHT * base::LANES * 16,
        VALUE_BYTES = BATCH * SLICE_BYTES,
        BYTES = COEFFICIENT_BYTES + VALUE_BYTES,
        ACROSS = base::HEIGHT * base::LANES, /* threads that are needed across slices */
        THREADS = ((ACROSS > base::WITHIN ? (int)ACROSS : (int)base::WITHIN) + 31) / 32 * 32
    };
    using base::p;

    __device__ __forceinline__ explicit inverse_prism(const l2k_cuda_prism &parameters) : base(parameters)
    {
    }

    /* ---- Within slices ---------------------------------------------------------------------------------------- */

    /* Begins to copy the coefficients of a batch. */
    __device__ __forceinline__ void fetch(char *coefficients, int first) const
    {
        const l2k_shared to = (l2k_shared)__cvta_generic_to_shared(coefficients);
#pragma unroll 2
        for (int i = (int)threadIdx.x; i < BATCH * ROWS * 2 * PIECES; i += THREADS) {
            const int piece = i % PIECES, high = i / PIECES % 2, row = i / (2 * PIECES) % ROWS;
            const int slice = first + i / (2 * PIECES * ROWS);
            const int x = this->left() + (piece - 1) * 2 * N, y = this->top() - base::UP + row;
            if (slice < p.walk.slices && !p.walk.from[slice] && this->has_row(y) && this->has_column(x)) {
                const int orientation = (high ? L2K_HL : 0) | (y & 1 ? L2K_LH : 0);
                l2k_copy_async<16, false>(to + i * 16, this->band(slice, orientation, x, y), 16);
            }
        }
        l2k_end_copies();
    }

    /* The columns of a row, interleaved and transformed. The last pairs of w4 may enter behind the rows that matter. */
    static __device__ __forceinline__ void load_row(const char *slice, int row, int lane, bool begins, bool ends,
                                                    T (&out)[N])
    {
        typedef l2k_slice_values<S, EDGE / 2 * (int)sizeof(S)> edge;
        typedef l2k_slice_values<S, 8> half;
        T v[M];
#pragma unroll
        for (int high = 0; high < 2; high++) {
            const char *at = slice + min(row, ROWS - 1) * ROW_BYTES + high * BAND_BYTES + 16 + lane * 8;
            const edge before = *reinterpret_cast<const edge *>(at - sizeof(edge));
            const half own = *reinterpret_cast<const half *>(at);
            const edge behind = *reinterpret_cast<const edge *>(at + 8);
#pragma unroll
            for (int i = 0; i < edge::N; i++) {
                v[2 * i + high] = before.v[i];
                v[EDGE + N + 2 * i + high] = behind.v[i];
            }
#pragma unroll
            for (int i = 0; i < half::N; i++)
                v[EDGE + 2 * i + high] = own.v[i];
        }
        W::template inverse_line<EDGE>(v, begins, ends);
#pragma unroll
        for (int i = 0; i < N; i++)
            out[i] = v[EDGE + i];
    }

    __device__ __forceinline__ void transform(const char *coefficients, char *values, int first) const
    {
        const prism_task task(base::LANES, BATCH);
        const int x = this->left() + task.lane * N, slice = first + task.slice;
        if (task.chunk >= base::CHUNKS || slice >= p.walk.slices || !this->has_column(x) || p.walk.from[slice])
            return;
        const bool begins = x == 0, ends = x + N == p.width;
        const int start = this->top() + task.chunk * base::CHUNK, end = start + base::CHUNK;
        const int first_row = this->top() - base::UP;
        const char *rows = coefficients + task.slice * ROWS * ROW_BYTES;
        char *to = values + task.slice * SLICE_BYTES + (task.lane - this->top() * base::LANES) * 16;
        typename W::template inverse_rows<N> down;
#pragma unroll 1
        for (int q = start - base::UP; q <= end + 2 * W::DELAY; q += 2) {
            T low[N], next[N], out[2][N];
            load_row(rows, q - first_row, task.lane, begins, ends, low);
            load_row(rows, q + 1 - first_row, task.lane, begins, ends, next);
            if (this->is_near_end(q))
                down.template push<true>(low, next, q, p.y, out[0], out[1]);
            else
                down.template push<false>(low, next, q, p.y, out[0], out[1]);
#pragma unroll
            for (int r = 0; r < 2; r++) {
                const int y = q - 1 - 2 * W::DELAY + r;
                if (y >= start && y < end)
                    *reinterpret_cast<vector *>(to + y * base::LANES * 16) = lifter::pack(out[r]);
            }
        }
    }

    /* ---- Across slices ---------------------------------------------------------------------------------------- */

    struct across {
        const inverse_prism &walk;
        lifter z;
        int64_t thread;
        bool takes_part;

        __device__ __forceinline__ explicit across(const inverse_prism &w) : walk(w), z{w.p.walk}
        {
            const int y = w.top() + (int)threadIdx.x / base::LANES;
            const int x = w.left() + (int)threadIdx.x % base::LANES * N;
            takes_part = threadIdx.x < ACROSS && w.has_row(y) && w.has_column(x);
            thread = w.place(x, y);
            if (takes_part)
                z.template begin<true>(thread);
        }
        __device__ __forceinline__ void take(const char *values, int first)
        {
            vector batch[BATCH];
            const l2k_cuda_z_walk &p = walk.p.walk;
            if (!takes_part)
                return;
#pragma unroll
            for (int i = 0; i < BATCH; i++)
                if (first + i < p.slices)
                    batch[i] = p.from[first + i]
                                   ? load_values<S, true>(p.from[first + i], thread)
                                   : reinterpret_cast<const vector *>(values + i * SLICE_BYTES)[threadIdx.x];
            z.lift_batch(batch, first,
                         [&](int i, const vector &v) { store_values<S, true>(p.to[first + i], thread, v); });
        }
        __device__ __forceinline__ void end() const
        {
            if (takes_part)
                z.end(thread);
        }
    };

    /* The coefficients of the next batch come while one is lifted across slices. */
    __device__ __forceinline__ void run(char *memory) const
    {
        char *const values = memory + COEFFICIENT_BYTES;
        across z(*this);
        fetch(memory, 0);
#pragma unroll 1
        for (int first = 0; first < p.walk.slices; first += BATCH) {
            l2k_await_copies<0>();
            __syncthreads();
            transform(memory, values, first);
            __syncthreads();
            fetch(memory, first + BATCH);
            z.take(values, first);
        }
        z.end();
    }
};

struct inverse_launch {
    const l2k_cuda_prism &p;
    void *stream;

    template <class Across, class W, int LEVELS> int of() const
    {
        return launch_prism<inverse_prism<Across, W, LEVELS>>(p, stream);
    }
};

struct inverse_fit {
    template <class Across, class W, int LEVELS> int of() const
    {
        return prism_fits<inverse_prism<Across, W, LEVELS>>();
    }
};

} // namespace

extern "C" bool l2k_cuda_inverse_prism_fits(bool w4, int levels)
{
    return prism_by_wavelet<true>(w4, levels, inverse_fit());
}

extern "C" int l2k_cuda_inverse_prism(const l2k_cuda_prism *p, void *stream)
{
    const inverse_launch launch = {*p, stream};
    return prism_by_wavelet<true>(p->walk.kernel, p->walk.levels, launch);
}
