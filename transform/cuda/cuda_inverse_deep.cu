/* Several small decomposition levels in one launch, inverse: dequantiser (Annex E), lifting (Annex F), level shift
 * (G.1) if the output is pixels. */
#include "quant/quantiser_cuda.cuh"
#include "transform/cuda/cuda_patches.cuh"

namespace
{

/* A patch: coefficients of type D to samples of type L, also the type of LL. */
template <class W, class D, class L, int GIVEN> struct inverse_patch : l2k_patch_work<W, GIVEN> {
    typedef typename W::T T;
    typedef l2k_patch_work<W, GIVEN> work;
    /* Every other row of the patch, from the second on, holds coefficients of the vertically low subbands. */
    enum { ROWS = work::patch::ROWS, HIGHS = ROWS / 2 + 1, EVEN = HIGHS + HIGHS % 2 };
    using work::at;
    using work::component;
    using work::l;
    using work::low_in_band;
    using work::p;
    using work::x;
    using work::y;
    D high[3][HIGHS];
    T v[ROWS][L2K_PATCH_COLUMNS];

    __device__ __forceinline__ inverse_patch(const l2k_cuda_deep &deep, int level, const typename work::patches &all,
                                             int number)
        : work(deep, level, all, number)
    {
    }

    /* The high subbands, which no other block writes. */
    __device__ __forceinline__ void load_high()
    {
#pragma unroll
        for (int band = L2K_HL; band <= L2K_HH; band++)
            load_band(band, high[band - 1]);
    }

    __device__ __forceinline__ void load_low()
    {
        if (low_in_band) {
            D low[HIGHS];
            load_band(L2K_LL, low);
            unpack(L2K_LL, low);
        } else {
            L low[HIGHS];
            load_rows(L2K_LL, component.low, l.low_stride, low);
#pragma unroll
            for (int i = 0; i < HIGHS - 1; i++)
                v[2 * i + 1][0] = low[i];
        }
    }

    __device__ __forceinline__ void transform()
    {
        l2k_lane_columns columns = {at.column, x};
#pragma unroll
        for (int band = L2K_HL; band <= L2K_HH; band++)
            unpack(band, high[band - 1]);
        if (at.is_inside(x))
            l2k_rows<W, false, false>(v, columns);
        else
            l2k_rows<W, false, true>(v, columns);
        if (l2k_is_lone(y))
            lone_rows();
        else
            W::template patch<false>(v);
    }

    __device__ __forceinline__ void store() const
    {
        const l2k_level_shift shift = l.shift;
        const int first = at.column - x.first, stride = l.samples_stride;
        bool left = at.keeps && (unsigned)first < (unsigned)l2k_length(x);
        bool right = at.keeps && (unsigned)(first + 1) < (unsigned)l2k_length(x);
        bool pairs = left && right && l2k_pair<L>::fits(component.samples, stride, x);
        char *to = component.samples + (int64_t)(at.row - y.first) * stride + first * (int)sizeof(L);
        if (left || right)
#pragma unroll
            for (int r = 0; r < GIVEN; r++, to += stride)
                if (at.row + r >= y.first && at.row + r < y.end)
                    store_row(reinterpret_cast<L *>(to), r, shift, left, right, pairs);
        __syncwarp();
    }

  private:
    __device__ __forceinline__ void store_row(L *to, int r, const l2k_level_shift &shift, bool left, bool right,
                                              bool pairs) const
    {
        L even = sample(v[W::STEPS - 1 + r][0], shift), odd = sample(v[W::STEPS - 1 + r][1], shift);
        if (pairs) {
            *reinterpret_cast<typename l2k_pair<L>::type *>(to) = {even, odd};
            return;
        }
        if (left)
            to[0] = even;
        if (right)
            to[1] = odd;
    }
    __device__ __forceinline__ L sample(int32_t value, const l2k_level_shift &shift) const
    {
        return (L)l2k_shift_up(value, shift);
    }
    __device__ __forceinline__ L sample(float value, const l2k_level_shift &) const
    {
        return (L)value;
    }

    __device__ __forceinline__ void lone_rows()
    {
#pragma unroll
        for (int r = W::STEPS; r < W::STEPS + GIVEN; r += 2)
            l2k_lone_row<W, false>(v[r]);
    }

    /* The lane's values of a subband. Nothing uses values beyond its borders, nor results from rows of the other
     * parity. */
    template <class S>
    __device__ __forceinline__ void load_rows(int band, const char *from, int stride, S (&raw)[HIGHS]) const
    {
        const int odd = band & L2K_LH ? 0 : 1;
        l2k_span columns = l2k_band_columns(band, x), rows = l2k_band_rows(band, y);
        int column = (at.column >> 1) - columns.first, count = l2k_length(rows);
        bool has = (unsigned)column < (unsigned)l2k_length(columns) && count > 0;
#pragma unroll
        for (int i = 0; i < HIGHS; i++)
            raw[i] = (S)0;
        if (has)
#pragma unroll
            for (int i = 0; i < HIGHS - odd; i++) {
                int n = l2k_patch_row<W>(at.row - W::STEPS + 1 + 2 * i + odd, y) + y.first;
                int row = min(max((n >> 1) - rows.first, 0), count - 1);
                raw[i] = l2k_load_written(reinterpret_cast<const S *>(from + (int64_t)row * stride) + column);
            }
        __syncwarp();
    }
    __device__ __forceinline__ void load_band(int band, D (&raw)[HIGHS]) const
    {
        load_rows(band, reinterpret_cast<const char *>(component.bands[band]), p.bands_stride * (int)sizeof(D), raw);
    }
    __device__ __forceinline__ void unpack(int band, const D (&raw)[HIGHS])
    {
        const int odd = band & L2K_LH ? 0 : 1;
        l2k_packed<D, EVEN> in;
        T out[EVEN];
#pragma unroll
        for (int i = 0; i < EVEN; i++)
            in.set(i, i < HIGHS ? raw[i < HIGHS ? i : 0] : (D)0);
        l2k_from_coefficients(in, l.steps[band].step, out);
#pragma unroll
        for (int i = 0; i < HIGHS - odd; i++)
            v[2 * i + odd][band & L2K_HL ? 1 : 0] = out[i];
    }
};

/* One level. Blocks wait for each other before each level but the first, which is the deepest. */
template <class Patch>
__device__ __forceinline__ void inverse_level(const l2k_cuda_deep &p, int level, const l2k_meeting &meeting,
                                              uint32_t *before)
{
    const int first = threadIdx.x / 32 * gridDim.x + blockIdx.x, warps = blockDim.x / 32 * gridDim.x;
    typename Patch::patches all(p.level[level].x, p.level[level].y);
    const int count = all.count(p.components);
    Patch patch(p, level, all, first);
    if (first < count)
        patch.load_high(); /* these loads overlap the wait for other blocks */
    if (level + 1 < p.levels)
        meeting.wait(level, *before);
    *before = meeting.look(level - 1);
    for (int n = first; n < count;) {
        patch.load_low();
        patch.transform();
        patch.store();
        n += warps;
        if (n < count) {
            patch.take(all, n);
            patch.load_high();
        }
    }
    if (level > 0)
        meeting.arrive(level - 1);
}

/* Warps of a block: enough for a level of 1024 x 1024 samples at once on 132 multiprocessors, if registers allow.
 * LOW_TO: up to how many samples of a level patches have four rows, as measured. */
template <class W, class L> struct block {
    enum { WARPS = W::STEPS == 2 && sizeof(L) == 2 ? 20 : 16, LOW_TO = W::STEPS == 2 ? 1 << 18 : 1 << 20 };
};

template <class W, class D, class L>
__global__ void __launch_bounds__(32 * block<W, L>::WARPS, 1)
    inverse_deep_kernel(const __grid_constant__ l2k_cuda_deep p)
{
    const l2k_meeting meeting(p.arrived);
    uint32_t before = 0;
    l2k_await_previous();
    for (int level = p.levels - 1; level >= 0; level--)
        if (l2k_has_low_patches(p, level, block<W, L>::LOW_TO))
            inverse_level<inverse_patch<W, D, L, 4>>(p, level, meeting, &before);
        else
            inverse_level<inverse_patch<W, D, L, 8>>(p, level, meeting, &before);
}

template <class W, class D, class L> int launch(const l2k_cuda_deep &p, cudaStream_t stream)
{
    return l2k_launch_deep<W>(inverse_deep_kernel<W, D, L>, block<W, L>::WARPS, p, stream);
}

const l2k_deep_form forms[] = {
    {L2K_WAVELET_5_3, L2K_COEFFICIENT_INT16, true, launch<l2k_wavelet_53, int16_t, int16_t>},
    {L2K_WAVELET_5_3, L2K_COEFFICIENT_INT16, false, launch<l2k_wavelet_53, int16_t, int32_t>},
    {L2K_WAVELET_5_3, L2K_COEFFICIENT_INT32, false, launch<l2k_wavelet_53, int32_t, int32_t>},
    {L2K_WAVELET_9_7, L2K_COEFFICIENT_INT16, false, launch<l2k_wavelet_97, int16_t, float>},
    {L2K_WAVELET_9_7, L2K_COEFFICIENT_INT32, false, launch<l2k_wavelet_97, int32_t, float>},
    {L2K_WAVELET_9_7, L2K_COEFFICIENT_FLOAT32, false, launch<l2k_wavelet_97, float, float>},
};

} // namespace

extern "C" int l2k_cuda_inverse_deep(const l2k_cuda_deep *p, void *stream)
{
    return l2k_launch_deep_form(forms, *p, (cudaStream_t)stream);
}
