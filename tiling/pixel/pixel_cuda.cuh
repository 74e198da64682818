/* Annex G inside a kernel's loads and stores, N columns of a row per lane: level shift and component transforms. A
 * reader loads a row as raw bits into a slot of shared memory, so that many loads can be in flight, and unpacks it to
 * level-shifted values later; a writer packs and stores. Both handle planes of pixels and planes of LL samples in
 * device memory. They are constructed from the columns at which the warp and the lane begin and the width of the plane;
 * rows are counted from the plane's first. `from` returns a cursor for rows of which every lane has all columns or
 * none. */
#ifndef L2K_TILING_PIXEL_CUDA_CUH
#define L2K_TILING_PIXEL_CUDA_CUH

#include "base/words_cuda.cuh"
#include "tiling/pixel/cuda_plane.h"

/* ---- Samples of any type and stride -------------------------------------------------------------------------- */

__device__ __forceinline__ int l2k_bytes_of(l2k_sample_type type)
{
    return type <= L2K_SAMPLE_S8 ? 1 : type <= L2K_SAMPLE_S16 ? 2 : 4;
}

/* The low bytes of a sample, sign-extended where its type is a short signed one. */
__device__ __forceinline__ int32_t l2k_extended(uint32_t bits, l2k_sample_type type)
{
    int unused = type == L2K_SAMPLE_S8 ? 24 : type == L2K_SAMPLE_S16 ? 16 : 0;
    return (int32_t)(bits << unused) >> unused;
}

/* A lane's N columns of row y of K planes. Planes may have any alignment, so samples are read byte by byte; the loads
 * of one byte of all samples are issued together. Columns that do not exist become 0. */
template <int K, int N>
__device__ __forceinline__ void l2k_gather(const l2k_cuda_plane *planes, const l2k_lane_run<N> &run, int y,
                                           uint32_t (&bits)[K][N])
{
    const char *at[K];
    int most = 0;
#pragma unroll
    for (int c = 0; c < K; c++) {
        at[c] = planes[c].data + (int64_t)y * planes[c].row_stride + (int64_t)run.first * planes[c].sample_stride;
        most = max(most, l2k_bytes_of(planes[c].type));
#pragma unroll
        for (int k = 0; k < N; k++)
            bits[c][k] = 0;
    }
#pragma unroll 1
    for (int b = 0; b < most; b++)
#pragma unroll
        for (int c = 0; c < K; c++)
#pragma unroll
            for (int k = 0; k < N; k++)
                if (b < l2k_bytes_of(planes[c].type) && run.has(k))
                    bits[c][k] |= (uint32_t)(uint8_t)at[c][(int64_t)k * planes[c].sample_stride + b] << 8 * b;
}

/* The reverse, for one plane: columns `begin` to `end` of those from `first` on, as far as the lane has them. */
template <int N>
__device__ __forceinline__ void l2k_scatter(const l2k_cuda_plane &plane, int first, int begin, int end, int y,
                                            const int32_t (&bits)[N])
{
    char *to = plane.data + (int64_t)y * plane.row_stride + (int64_t)first * plane.sample_stride;
#pragma unroll 1
    for (int b = 0; b < l2k_bytes_of(plane.type); b++)
#pragma unroll
        for (int k = 0; k < N; k++)
            if (k >= begin && k < end)
                to[(int64_t)k * plane.sample_stride + b] = (char)((uint32_t)bits[k] >> 8 * b);
}

/* ---- Values and samples -------------------------------------------------------------------------------------- */

/* A sample as a value of its wavelet's type. */
template <class T> __device__ __forceinline__ void l2k_value_of(int32_t sample, l2k_level_shift shift, T *value)
{
    *value = (T)l2k_shift_down(sample, shift);
}

__device__ __forceinline__ void l2k_value_of(float sample, l2k_level_shift, float *value)
{
    *value = sample;
}

/* The same for short unsigned samples, for the cost of an addition. */
__device__ __forceinline__ void l2k_value_of(uint8_t sample, l2k_level_shift shift, float *value)
{
    *value = l2k_biased_float(sample) - (8388608.0f + (float)shift.shift);
}

__device__ __forceinline__ void l2k_value_of(uint16_t sample, l2k_level_shift shift, float *value)
{
    *value = l2k_biased_float(sample) - (8388608.0f + (float)shift.shift);
}

/* A value back to a sample. */
__device__ __forceinline__ int32_t l2k_finish(int32_t value, l2k_level_shift shift)
{
    return l2k_shift_up(value, shift);
}

__device__ __forceinline__ int32_t l2k_finish(float value, l2k_level_shift shift)
{
    return l2k_shift_up_f32(value, shift);
}

/* The same for samples of at most 16 bits, whose limits are exact floats: clamping first gives the same result, and
 * adding 1.5 * 2^23 rounds and leaves the integer in the mantissa. */
__device__ __forceinline__ int32_t l2k_finish_small(float value, l2k_level_shift shift)
{
    float clamped = fminf(fmaxf(value, (float)shift.low), (float)shift.high);
    return __float_as_int(clamped + 12582912.0f) + shift.shift;
}

__device__ __forceinline__ int32_t l2k_finish_small(int32_t value, l2k_level_shift shift)
{
    return l2k_finish(value, shift);
}

__device__ __forceinline__ void l2k_join_forward(int32_t *a, int32_t *b, int32_t *c)
{
    l2k_rct_forward(a, b, c);
}

__device__ __forceinline__ void l2k_join_forward(float *a, float *b, float *c)
{
    l2k_ict_forward(a, b, c);
}

__device__ __forceinline__ void l2k_join_inverse(int32_t *a, int32_t *b, int32_t *c)
{
    l2k_rct_inverse(a, b, c);
}

__device__ __forceinline__ void l2k_join_inverse(float *a, float *b, float *c)
{
    l2k_ict_inverse(a, b, c);
}

/* Signed samples of less than 32 bits are read as unsigned ones with the sign bit flipped, which adds half of the
 * range; the level shift takes it off again. */
template <class S> __device__ __forceinline__ l2k_level_shift l2k_unflipped(const l2k_cuda_plane &plane)
{
    l2k_level_shift shift = plane.shift;
    shift.shift += (int32_t)(plane.flip & (sizeof(S) == 1 ? 0x80u : 0x8000u));
    return shift;
}

/* Whether accesses of `bytes` bytes are aligned at the warp's first column, and so for all lanes and rows. */
template <class S> __device__ __forceinline__ bool l2k_is_aligned(const l2k_cuda_plane &plane, int warp, int bytes)
{
    return (((uintptr_t)plane.data + (int64_t)warp * (int)sizeof(S)) | (uintptr_t)plane.row_stride) % bytes == 0;
}

template <class S> __device__ __forceinline__ S *l2k_plane_row(const l2k_cuda_plane &plane, int y)
{
    return reinterpret_cast<S *>(plane.data + (int64_t)y * plane.row_stride);
}

/* Rows that are found by their number. */
struct l2k_row_cursor {
    int y;

    __device__ __forceinline__ void next(int rows)
    {
        y += rows;
    }
};

/* ---- Readers ------------------------------------------------------------------------------------------------- */

/* Adjacent samples of type S: a plane, or K = 3 planes interleaved as triples, and their component transform. */
template <class W, class S, int K, int N> struct l2k_packed_reader {
    typedef l2k_landing<S, K * N> landing;
    typedef l2k_cursor<const S> cursor;
    enum { COMPONENTS = K, COLUMNS = N, SLOT = landing::SIZE };
    const l2k_cuda_plane *planes;
    int lane;
    l2k_lane_run<K * N> run;
    l2k_level_shift shift[K];
    uint32_t flip; /* pinned, as the shift, for a plane; triples load theirs anew */

    __device__ __forceinline__ l2k_packed_reader(const l2k_cuda_plane *p, int lane_in_warp, int warp, int lane_first,
                                                 int width)
        : planes(p),
          lane(lane_in_warp), run{K * lane_first, K * width, l2k_is_aligned<S>(p[0], K * warp, landing::ACCESS)}
    {
        for (int c = 0; c < K; c++)
            shift[c] = l2k_unflipped<S>(p[c]);
        if (K == 1) {
            shift[0].shift = l2k_pinned(shift[0].shift);
            flip = l2k_pinned((int)p[0].flip);
        }
    }
    __device__ __forceinline__ void load(const cursor &at, int rows, l2k_shared slot) const
    {
        if (at.some)
            landing::copy(slot, lane, at.place(rows, 0), landing::BYTES);
    }
    __device__ __forceinline__ bool is_aligned() const
    {
        return run.aligned;
    }
    __device__ __forceinline__ void load(l2k_shared slot, int y) const
    {
        landing::load(slot, lane, l2k_plane_row<const S>(planes[0], y), run);
    }
    __device__ __forceinline__ cursor from(int y) const
    {
        return cursor(l2k_plane_row<const S>(planes[0], y) + run.first, planes[0].row_stride, !run.is_empty());
    }
    __device__ __forceinline__ void unpack(l2k_shared slot, int, typename W::T (&v)[K][N]) const
    {
        typename landing::packed r = landing::get(slot, lane);
        if (sizeof(S) < 4)
            r.flip(K == 1 ? flip : planes[0].flip);
#pragma unroll
        for (int k = 0; k < N; k++) {
            for (int c = 0; c < K; c++)
                l2k_value_of(r.get(K * k + c), shift[c], &v[c][k]);
            if (K == 3)
                l2k_join_forward(&v[0][k], &v[K > 1][k], &v[2 * (K > 2)][k]);
        }
    }
};

/* Any type, any strides; three components are transformed together. The bits of each sample take four bytes of the
 * slot. */
template <class W, int K, int N> struct l2k_any_reader {
    typedef l2k_landing<int32_t, K * N> landing;
    typedef l2k_row_cursor cursor;
    enum { COMPONENTS = K, COLUMNS = N, SLOT = landing::SIZE };
    const l2k_cuda_plane *planes;
    int lane;
    l2k_lane_run<N> run;

    __device__ __forceinline__ l2k_any_reader(const l2k_cuda_plane *p, int lane_in_warp, int, int lane_first, int width)
        : planes(p), lane(lane_in_warp), run{lane_first, width, false}
    {
    }
    __device__ __forceinline__ bool is_aligned() const
    {
        return true;
    }
    __device__ __forceinline__ void load(l2k_shared slot, int y) const
    {
        landing::put(slot, lane, gather(y));
    }
    __device__ __forceinline__ void load(const cursor &at, int rows, l2k_shared slot) const
    {
        load(slot, at.y + rows);
    }
    __device__ __forceinline__ cursor from(int y) const
    {
        return cursor{y};
    }
    __device__ __forceinline__ void unpack(l2k_shared slot, int, typename W::T (&v)[K][N]) const
    {
        convert(landing::get(slot, lane), v);
    }
    /* Row y without a slot. */
    __device__ __forceinline__ void read(int y, typename W::T (&v)[K][N]) const
    {
        convert(gather(y), v);
    }

  private:
    __device__ __forceinline__ typename landing::packed gather(int y) const
    {
        uint32_t bits[K][N];
        typename landing::packed raw;
        l2k_gather<K, N>(planes, run, y, bits);
#pragma unroll
        for (int k = 0; k < K * N; k++)
            raw.set(k, l2k_extended(bits[k / N][k % N], planes[k / N].type));
        return raw;
    }
    __device__ __forceinline__ void convert(const typename landing::packed &raw, typename W::T (&v)[K][N]) const
    {
#pragma unroll
        for (int k = 0; k < N; k++) {
#pragma unroll
            for (int c = 0; c < K; c++)
                v[c][k] = value(raw.get(c * N + k), planes[c]);
            if (K == 3)
                l2k_join_forward(&v[0][k], &v[K > 1][k], &v[2 * (K > 2)][k]);
        }
    }
    static __device__ __forceinline__ typename W::T value(int32_t bits, const l2k_cuda_plane &plane)
    {
        typename W::T v;
        l2k_value_of(bits, plane.shift, &v);
        return plane.type == L2K_SAMPLE_F32 ? (typename W::T)__int_as_float(bits) : v;
    }
};

/* ---- Writers ------------------------------------------------------------------------------------------------- */

/* A value as a sample of type S. Float planes get the values unchanged. */
template <class T, class S> __device__ __forceinline__ S l2k_sample_of(T v, const l2k_cuda_plane &plane, S *)
{
    return (S)(sizeof(S) == 4 ? l2k_finish(v, plane.shift) : l2k_finish_small(v, plane.shift));
}

template <class T> __device__ __forceinline__ float l2k_sample_of(T v, const l2k_cuda_plane &, float *)
{
    return (float)v;
}

/* Adjacent samples of type S: a plane, or K = 3 planes interleaved as triples, after the inverse component
 * transform. */
template <class W, class S, int K, int N> struct l2k_packed_writer {
    typedef l2k_packed<S, K * N> packed;
    enum { COMPONENTS = K, COLUMNS = N, PIXEL_BYTES = K * sizeof(S), ALIGNMENT = packed::ALIGNMENT };
    typedef l2k_cursor<S> cursor;
    const l2k_cuda_plane *planes;
    l2k_lane_run<K * N> run;

    __device__ __forceinline__ l2k_packed_writer(const l2k_cuda_plane *p, int warp, int, int lane_first, int width,
                                                 bool keeps)
        : planes(p), run{K * lane_first, keeps ? K * width : 0, l2k_is_aligned<S>(p[0], K * warp, ALIGNMENT)}
    {
    }
    __device__ __forceinline__ bool is_aligned() const
    {
        return run.aligned;
    }
    __device__ __forceinline__ void store(int y, typename W::T (&v)[K][N]) const
    {
        l2k_store_run(l2k_plane_row<S>(planes[0], y), run, pack(v));
    }
    __device__ __forceinline__ cursor from(int y) const
    {
        return cursor(l2k_plane_row<S>(planes[0], y) + run.first, planes[0].row_stride, run.count != 0);
    }
    __device__ __forceinline__ void store(const cursor &at, int rows, typename W::T (&v)[K][N], bool keep) const
    {
        at.store(rows, 0, pack(v), keep);
    }

  private:
    __device__ __forceinline__ packed pack(typename W::T (&v)[K][N]) const
    {
        packed raw;
#pragma unroll
        for (int k = 0; k < N; k++) {
            if (K == 3)
                l2k_join_inverse(&v[0][k], &v[K > 1][k], &v[2 * (K > 2)][k]);
            for (int c = 0; c < K; c++)
                raw.set(K * k + c, l2k_sample_of(v[c][k], planes[c], (S *)0));
        }
        return raw;
    }
};

/* Any type, any strides, any alignment. */
template <class W, int K, int N> struct l2k_any_writer {
    enum { COMPONENTS = K, COLUMNS = N };
    typedef l2k_row_cursor cursor;
    const l2k_cuda_plane *planes;
    int first, begin, end; /* the lane's first column, and from there on those that the warp stores */

    /* The warp stores the samples from `warp_own` columns after its first to as many before its last. */
    __device__ __forceinline__ l2k_any_writer(const l2k_cuda_plane *p, int warp, int warp_own, int lane_first,
                                              int width, bool)
        : planes(p), first(lane_first), begin(max(warp + warp_own, 0) - lane_first),
          end(min(warp + 32 * N - warp_own, width) - lane_first)
    {
    }
    __device__ __forceinline__ bool is_aligned() const
    {
        return true;
    }
    __device__ __forceinline__ void store(int y, typename W::T (&v)[K][N]) const
    {
#pragma unroll
        for (int k = 0; k < N && K == 3; k++)
            l2k_join_inverse(&v[0][k], &v[K > 1][k], &v[2 * (K > 2)][k]);
#pragma unroll 1
        for (int c = 0; c < K; c++) {
            int32_t bits[N];
#pragma unroll
            for (int k = 0; k < N; k++)
                bits[k] = planes[c].type == L2K_SAMPLE_F32 ? __float_as_int((float)v[0][k])
                                                           : l2k_finish(v[0][k], planes[c].shift);
            l2k_scatter<N>(planes[c], first, begin, end, y, bits);
#pragma unroll
            for (int k = 0; k < N && K == 3; k++) /* lets the loop stay rolled */
                v[0][k] = v[K > 1][k], v[K > 1][k] = v[2 * (K > 2)][k];
        }
    }
    __device__ __forceinline__ cursor from(int y) const
    {
        return cursor{y};
    }
    __device__ __forceinline__ void store(const cursor &at, int rows, typename W::T (&v)[K][N], bool keep) const
    {
        if (keep)
            store(at.y + rows, v);
    }
};

/* Samples of type S side by side at any address, as in windows: K components in as many planes, or triples in one. */
template <class W, class S, int K, int N, int PLANES> struct l2k_unaligned_writer : l2k_any_writer<W, K, N> {
    enum { IN_ONE = K / PLANES, PIXEL_BYTES = IN_ONE * (int)sizeof(S) };
    using l2k_any_writer<W, K, N>::l2k_any_writer;

    /* To be called by all lanes of a warp. */
    __device__ __forceinline__ void store(int y, typename W::T (&v)[K][N]) const
    {
#pragma unroll
        for (int k = 0; k < N && K == 3; k++)
            l2k_join_inverse(&v[0][k], &v[K > 1][k], &v[2 * (K > 2)][k]);
#pragma unroll
        for (int c = 0; c < PLANES; c++) {
            const l2k_cuda_plane *plane = &this->planes[c];
            l2k_packed<S, IN_ONE * N> raw;
#pragma unroll
            for (int k = 0; k < IN_ONE * N; k++)
                raw.set(k, l2k_sample_of(v[c + k % IN_ONE][k / IN_ONE], plane[k % IN_ONE], (S *)0));
            l2k_store_part(l2k_plane_row<char>(*plane, y) + (int64_t)this->first * PIXEL_BYTES,
                           this->begin * PIXEL_BYTES, this->end * PIXEL_BYTES, raw);
        }
    }
    __device__ __forceinline__ void store(const l2k_row_cursor &at, int rows, typename W::T (&v)[K][N], bool keep) const
    {
        if (keep)
            store(at.y + rows, v);
    }
};

#endif
