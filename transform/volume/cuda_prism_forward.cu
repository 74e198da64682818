/* Forward prisms: levels across slices, then level 1 within those of coefficients (cuda_prism.cuh). */
#include "transform/volume/cuda_prism.cuh"

namespace
{

template <class Across, class W, int LEVELS> struct forward_prism : prism<Across, W, LEVELS> {
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
        VECTORS = base::LANES + 2, /* of a row, with one at either side of the tile */
        ROW_BYTES = 16 * VECTORS,
        SLICE_BYTES = ROWS * ROW_BYTES,
        BUFFER_BYTES = BATCH * SLICE_BYTES,
        BYTES = 2 * BUFFER_BYTES,
        ACROSS = ROWS * VECTORS, /* threads that are needed across slices */
        THREADS = ((ACROSS > base::WITHIN ? (int)ACROSS : (int)base::WITHIN) + 31) / 32 * 32
    };
    using base::p;

    __device__ __forceinline__ explicit forward_prism(const l2k_cuda_prism &parameters) : base(parameters)
    {
    }

    /* ---- Across slices ---------------------------------------------------------------------------------------- */

    struct across {
        const forward_prism &walk;
        lifter z;
        vector next[BATCH];
        int place_in_slice; /* of the buffer, in bytes */
        int64_t thread;
        bool takes_part, keeps; /* keeps: in the tile, not around it */

        __device__ __forceinline__ explicit across(const forward_prism &w) : walk(w), z{w.p.walk}
        {
            const int row = (int)threadIdx.x / VECTORS, at = (int)threadIdx.x % VECTORS;
            const int y = w.top() - base::UP + row, x = w.left() + (at - 1) * N;
            takes_part = row < ROWS && w.has_row(y) && w.has_column(x);
            keeps = takes_part && row >= base::UP && row < base::UP + base::HEIGHT && at > 0 && at <= base::LANES;
            thread = w.place(x, y);
            place_in_slice = row * ROW_BYTES + at * 16;
            if (takes_part) {
                z.template fetch<false>(next, 0, thread);
                z.template begin<false>(thread);
            }
        }
        __device__ __forceinline__ void take(char *buffer, int first)
        {
            vector batch[BATCH];
            if (!takes_part)
                return;
#pragma unroll
            for (int i = 0; i < BATCH; i++)
                batch[i] = next[i];
            z.template fetch<false>(next, first + BATCH, thread);
            z.lift_batch(batch, first, [&](int i, const vector &v) {
                char *values = walk.p.walk.to[first + i];
                if (!values)
                    *reinterpret_cast<vector *>(buffer + i * SLICE_BYTES + place_in_slice) = v;
                else if (keeps)
                    store_values<S, false>(values, thread, v);
            });
        }
        __device__ __forceinline__ void end() const
        {
            if (keeps)
                z.end(thread);
        }
    };

    /* ---- Within slices ---------------------------------------------------------------------------------------- */

    static __device__ __forceinline__ void load_row(const char *slice, int row, int lane, T (&v)[M])
    {
        typedef l2k_slice_values<S, EDGE *(int)sizeof(S)> edge;
        /* The first and the last rows may be those of pairs that only have one row in the tile. */
        const char *at = slice + min(max(row, 0), ROWS - 1) * ROW_BYTES + (lane + 1) * 16;
        const edge before = *reinterpret_cast<const edge *>(at - sizeof(edge));
        const vector own = *reinterpret_cast<const vector *>(at);
        const edge behind = *reinterpret_cast<const edge *>(at + 16);
#pragma unroll
        for (int i = 0; i < EDGE; i++) {
            v[i] = before.v[i];
            v[EDGE + N + i] = behind.v[i];
        }
#pragma unroll
        for (int i = 0; i < N; i++)
            v[EDGE + i] = own.v[i];
    }

    /* The columns of one parity of a finished row. */
    static __device__ __forceinline__ void store_row(char *to, const T (&v)[M], int parity, bool passes)
    {
        typedef l2k_slice_values<S, 8> half;
        half out;
#pragma unroll
        for (int i = 0; i < half::N; i++)
            out.v[i] = (S)v[EDGE + 2 * i + parity];
        if (passes)
            __stcs(reinterpret_cast<int2 *>(to), *reinterpret_cast<const int2 *>(&out));
        else
            *reinterpret_cast<int2 *>(to) = *reinterpret_cast<const int2 *>(&out);
    }

    __device__ __forceinline__ void transform(const char *buffer, int first) const
    {
        const prism_task task(base::LANES, BATCH);
        const int x = this->left() + task.lane * N, slice = first + task.slice;
        if (task.chunk >= base::CHUNKS || slice >= p.walk.slices || !this->has_column(x) || p.walk.to[slice])
            return;
        const bool begins = x == 0, ends = x + N == p.width;
        const char *rows = buffer + task.slice * SLICE_BYTES;
        const int start = this->top() + task.chunk * base::CHUNK, last = start + base::CHUNK - 1 + 2 * W::DELAY;
        const int first_row = this->top() - base::UP;
        char *to[4];
        typename W::template forward_rows<M> down;
#pragma unroll
        for (int o = 0; o < 4; o++)
            to[o] = this->band(slice, o, x, start);
#pragma unroll 1
        for (int q = start - base::UP - 1; q <= last; q += 2) {
            T odd[M], next[M], out[2][M];
            load_row(rows, q - first_row, task.lane, odd);
            load_row(rows, q + 1 - first_row, task.lane, next);
            if (this->is_near_end(q))
                down.template push<true>(odd, next, q, p.y, out[0], out[1]);
            else
                down.template push<false>(odd, next, q, p.y, out[0], out[1]);
            const int y = q - 1 - 2 * W::DELAY; /* of the low row that is done */
            if (y < start)
                continue;
#pragma unroll
            for (int r = 0; r < 2; r++) {
                W::template forward_line<EDGE>(out[r], begins, ends);
                if (!this->has_row(y + r))
                    continue;
                store_row(to[r ? L2K_LH : L2K_LL], out[r], 0, r == 1);
                store_row(to[r ? L2K_HH : L2K_HL], out[r], 1, true);
            }
            to[L2K_LL] += p.low_stride;
            to[L2K_HL] += p.bands.stride * (int64_t)sizeof(S);
            to[L2K_LH] += p.bands.stride * (int64_t)sizeof(S);
            to[L2K_HH] += p.bands.stride * (int64_t)sizeof(S);
        }
    }

    __device__ __forceinline__ void run(char *memory) const
    {
        across z(*this);
        int at = 0;
#pragma unroll 1
        for (int first = 0; first < p.walk.slices; first += BATCH, at ^= BUFFER_BYTES) {
            z.take(memory + at, first);
            __syncthreads();
            transform(memory + at, first);
        }
        z.end();
    }
};

struct forward_launch {
    const l2k_cuda_prism &p;
    void *stream;

    template <class Across, class W, int LEVELS> int of() const
    {
        return launch_prism<forward_prism<Across, W, LEVELS>>(p, stream);
    }
};

struct forward_fit {
    template <class Across, class W, int LEVELS> int of() const
    {
        return prism_fits<forward_prism<Across, W, LEVELS>>();
    }
};

} // namespace

extern "C" bool l2k_cuda_forward_prism_fits(bool w4, int levels)
{
    return prism_by_wavelet<false>(w4, levels, forward_fit());
}

extern "C" int l2k_cuda_forward_prism(const l2k_cuda_prism *p, void *stream)
{
    const forward_launch launch = {*p, stream};
    return prism_by_wavelet<false>(p->walk.kernel, p->walk.levels, launch);
}
