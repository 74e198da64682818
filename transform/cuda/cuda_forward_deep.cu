/* Several small decomposition levels in one launch, forward: level shift (G.1) if the input is pixels, lifting (Annex
 * F), quantiser (Annex E). */
#include "quant/quantiser_cuda.cuh"
#include "transform/cuda/cuda_patches.cuh"

namespace
{

/* A patch: samples of type L, also the type of LL, to coefficients of type D. */
template <class W, class D, class L, int GIVEN> struct forward_patch : l2k_patch_work<W, GIVEN> {
    typedef typename W::T T;
    typedef typename l2k_pair<L>::type pair;
    typedef l2k_patch_work<W, GIVEN> work;
    enum { ROWS = work::patch::ROWS, LOWS = GIVEN / 2 }; /* input rows, and output rows per subband */
    using work::at;
    using work::component;
    using work::l;
    using work::low_in_band;
    using work::p;
    using work::x;
    using work::y;
    int samples_stride;
    T v[ROWS][L2K_PATCH_COLUMNS];

    __device__ __forceinline__ forward_patch(const l2k_cuda_deep &deep, int level, const typename work::patches &all,
                                             int number)
        : work(deep, level, all, number), samples_stride(l.samples_stride)
    {
    }

    /* A lane has two samples of a row, one or none; nothing uses values beyond the ends of the line. */
    __device__ __forceinline__ void load()
    {
        int first = at.column - x.first, width = l2k_length(x);
        const L *samples = reinterpret_cast<const L *>(component.samples) + first;
        L raw[ROWS][L2K_PATCH_COLUMNS] = {};
        if (at.is_inside(x) && l2k_pair<L>::fits(component.samples, samples_stride, x)) {
            if (first >= 0 && first < width)
                load_pairs(samples, raw);
        } else {
            for (int k = 0; k < L2K_PATCH_COLUMNS; k++)
                if (first + k >= 0 && first + k < width)
                    load_column(samples, k, raw);
        }
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int k = 0; k < L2K_PATCH_COLUMNS; k++)
                v[r][k] = shifted(raw[r][k]);
    }

    __device__ __forceinline__ void transform()
    {
        T(&rows)[GIVEN][L2K_PATCH_COLUMNS] = reinterpret_cast<T(&)[GIVEN][L2K_PATCH_COLUMNS]>(v[W::STEPS]);
        l2k_lane_columns columns = {at.column, x};
        if (l2k_is_lone(y))
            lone_rows();
        else
            W::template patch<true>(v);
        if (at.is_inside(x))
            l2k_rows<W, true, false>(rows, columns);
        else
            l2k_rows<W, true, true>(rows, columns);
    }

    __device__ __forceinline__ void store_low() const
    {
        if (!low_in_band)
            store_rows<L>(L2K_LL, component.low, l.low_stride, [&](int i) { return (L)value(L2K_LL, i); });
    }

    __device__ __forceinline__ void store_bands() const
    {
        store_band(L2K_HL);
        store_band(L2K_LH);
        store_band(L2K_HH);
        if (low_in_band)
            store_band(L2K_LL);
    }

  private:
    template <class S> __device__ __forceinline__ const S *row(const L *samples, int r) const
    {
        int n = l2k_patch_row<W>(at.row - W::STEPS + r, y);
        return reinterpret_cast<const S *>(reinterpret_cast<const char *>(samples) + (int64_t)n * samples_stride);
    }
    __device__ __forceinline__ void load_pairs(const L *samples, L (&raw)[ROWS][L2K_PATCH_COLUMNS]) const
    {
        pair two[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            two[r] = l2k_load_written(row<pair>(samples, r));
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            raw[r][0] = two[r].x, raw[r][1] = two[r].y;
    }
    __device__ __forceinline__ void load_column(const L *samples, int k, L (&raw)[ROWS][L2K_PATCH_COLUMNS]) const
    {
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            L one = l2k_load_written(row<L>(samples, r) + k);
            raw[r][0] = k == 0 ? one : raw[r][0];
            raw[r][1] = k == 0 ? raw[r][1] : one;
        }
    }

    __device__ __forceinline__ int32_t shifted(int32_t sample) const
    {
        return l2k_shift_down(sample, l.shift);
    }
    __device__ __forceinline__ float shifted(float sample) const
    {
        return sample;
    }

    __device__ __forceinline__ void lone_rows()
    {
#pragma unroll
        for (int r = W::STEPS + 1; r < W::STEPS + GIVEN; r += 2)
            l2k_lone_row<W, true>(v[r]);
    }

    /* The patch in a subband: the lane's column, the first row. */
    __device__ __forceinline__ int column_of(int band) const
    {
        return (at.column >> 1) - l2k_band_columns(band, x).first;
    }
    __device__ __forceinline__ int row_of(int band) const
    {
        return (at.row >> 1) - l2k_band_rows(band, y).first;
    }
    __device__ __forceinline__ bool has_column(int band) const
    {
        return at.keeps && (unsigned)column_of(band) < (unsigned)l2k_length(l2k_band_columns(band, x));
    }
    __device__ __forceinline__ T value(int band, int i) const
    {
        return v[W::STEPS + 2 * i + (band & L2K_LH ? 1 : 0)][band & L2K_HL ? 1 : 0];
    }

    __device__ __forceinline__ void store_band(int band) const
    {
        T values[LOWS];
        l2k_packed<D, LOWS> q;
#pragma unroll
        for (int i = 0; i < LOWS; i++)
            values[i] = value(band, i);
        l2k_to_coefficients(values, l.steps[band], &q);
        store_rows<D>(band, reinterpret_cast<char *>(component.bands[band]), p.bands_stride * (int)sizeof(D),
                      [&](int i) { return q.get(i); });
    }
    template <class S, class Get>
    __device__ __forceinline__ void store_rows(int band, char *first, int stride, Get get) const
    {
        int row = row_of(band), rows = l2k_length(l2k_band_rows(band, y));
        char *to = first + column_of(band) * (int)sizeof(S) + (int64_t)row * stride;
        if (has_column(band))
#pragma unroll
            for (int i = 0; i < LOWS; i++)
                if ((unsigned)(row + i) < (unsigned)rows)
                    *reinterpret_cast<S *>(to + (int64_t)i * stride) = get(i);
        __syncwarp();
    }
};

/* One level. Blocks wait for each other before each level but the first. */
template <class Patch>
__device__ __forceinline__ void forward_level(const l2k_cuda_deep &p, int level, const l2k_meeting &meeting,
                                              uint32_t *before)
{
    const int first = threadIdx.x / 32 * gridDim.x + blockIdx.x, warps = blockDim.x / 32 * gridDim.x;
    typename Patch::patches all(p.level[level].x, p.level[level].y);
    const int count = all.count(p.components);
    Patch patch(p, level, all, first); /* before the wait: this needs no samples */
    if (level > 0)
        meeting.wait(level, *before);
    *before = meeting.look(level + 1);
    for (int n = first; n < count; n += warps) {
        patch.load();
        patch.transform();
        patch.store_low();
        if (n + warps >= count)
            break;
        patch.store_bands();
        patch.take(all, n + warps);
    }
    if (level + 1 < p.levels)
        meeting.arrive(level + 1);
    if (first < count)
        patch.store_bands(); /* these stores overlap the wait for other blocks */
}

/* Warps of a block: enough for a level of 1024 x 1024 samples at once on 132 multiprocessors. LOW_TO: up to how many
 * samples of a level patches have four rows, as measured. */
enum { BLOCK_WARPS = 20, LOW_TO = 1 << 18 };

template <class W, class D, class L>
__global__ void __launch_bounds__(32 * BLOCK_WARPS, 1) forward_deep_kernel(const __grid_constant__ l2k_cuda_deep p)
{
    const l2k_meeting meeting(p.arrived);
    uint32_t before = 0;
    l2k_await_previous();
    for (int level = 0; level < p.levels; level++)
        if (l2k_has_low_patches(p, level, LOW_TO))
            forward_level<forward_patch<W, D, L, 4>>(p, level, meeting, &before);
        else
            forward_level<forward_patch<W, D, L, 8>>(p, level, meeting, &before);
}

template <class W, class D, class L> int launch(const l2k_cuda_deep &p, cudaStream_t stream)
{
    return l2k_launch_deep<W>(forward_deep_kernel<W, D, L>, BLOCK_WARPS, p, stream);
}

const l2k_deep_form forms[] = {
    {L2K_WAVELET_5_3, L2K_COEFFICIENT_INT16, true, launch<l2k_wavelet_53, int16_t, int16_t>},
    {L2K_WAVELET_5_3, L2K_COEFFICIENT_INT32, false, launch<l2k_wavelet_53, int32_t, int32_t>},
    {L2K_WAVELET_9_7, L2K_COEFFICIENT_INT16, false, launch<l2k_wavelet_97, int16_t, float>},
    {L2K_WAVELET_9_7, L2K_COEFFICIENT_INT32, false, launch<l2k_wavelet_97, int32_t, float>},
    {L2K_WAVELET_9_7, L2K_COEFFICIENT_FLOAT32, false, launch<l2k_wavelet_97, float, float>},
};

} // namespace

extern "C" int l2k_cuda_forward_deep(const l2k_cuda_deep *p, void *stream)
{
    return l2k_launch_deep_form(forms, *p, (cudaStream_t)stream);
}
