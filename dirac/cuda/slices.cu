/* Slices of high quality, which are independent of each other: a warp reads one component of one. Each lane decodes the
 * code that would begin at its bit; those which do begin there are the first lane's and, from each, the one behind it. */
#include <cuda_runtime.h>

extern "C" {
#include "dirac/cuda/stages.h"
}

namespace
{

enum { LANES = 32, WARPS = 4 };
const uint32_t ALL = 0xffffffff;

/* A part of a subband, and the number of its first value. */
struct part {
    uint32_t first, x, y, width;
    l2k_dirac_quantiser quantiser;
};

/* The coded values of a component, and the quantiser index; without bytes where the slice is missing or ends early. */
__device__ __forceinline__ l2k_dirac_bits find(const l2k_dirac_cuda_slices &s, uint32_t slice, unsigned component,
                                               uint32_t *index)
{
    size_t at = slice < s.count ? s.offsets[slice] + (size_t)s.prefix : s.bytes, length = 0;
    *index = at < s.bytes ? s.data[at] : 0;
    at++;
    for (unsigned c = 0; c <= component; c++) {
        at += length;
        length = at < s.bytes ? (size_t)s.data[at] * s.unit : 0;
        at++;
    }
    return at < s.bytes && length <= s.bytes - at ? l2k_dirac_bits_of(s.data + at, length) : l2k_dirac_bits_of(NULL, 0);
}

/* The bits from a place on, at least 57 of them; ones behind the end. */
__device__ __forceinline__ uint64_t look(const l2k_dirac_bits &bits, size_t at)
{
    const size_t byte = at / 8;
    if (byte >= bits.bytes)
        return ~(uint64_t)0;
    const uint64_t word = l2k_dirac_word(bits.data + byte), left = bits.bytes - byte;
    return (left < 8 ? word | ~(uint64_t)0 >> 8 * left : word) << at % 8;
}

/* Lane b has subband b. Returns the number of values. */
__device__ __forceinline__ uint32_t divide(const l2k_dirac_cuda_slices &s, uint32_t slice, unsigned component,
                                           uint32_t index, part *parts)
{
    const unsigned lane = threadIdx.x % LANES, bands = 1 + 3 * s.levels, b = lane < bands ? lane : 0;
    const uint32_t x = slice % s.across, y = slice / s.across;
    const l2k_dirac_band band = s.bands[component > 0][b];
    const uint32_t left = l2k_dirac_share(band.width, x, s.across), top = l2k_dirac_share(band.height, y, s.down);
    const uint32_t width = l2k_dirac_share(band.width, x + 1, s.across) - left;
    const uint32_t count = lane < bands ? width * (l2k_dirac_share(band.height, y + 1, s.down) - top) : 0;
    const uint32_t lowered = index > s.matrix[b] ? index - s.matrix[b] : 0;
    uint32_t end = count;
    for (unsigned step = 1; step < LANES; step *= 2) {
        const uint32_t before = __shfl_up_sync(ALL, end, step);
        end += lane >= step ? before : 0;
    }
    parts[lane] = {end - count, left, top, width,
                   s.quantisers[lowered < L2K_DIRAC_QUANTISERS ? lowered : L2K_DIRAC_QUANTISERS - 1]};
    __syncwarp();
    return __shfl_sync(ALL, end, LANES - 1);
}

__global__ void __launch_bounds__(LANES *WARPS) read_slices(const __grid_constant__ l2k_dirac_cuda_slices s)
{
    __shared__ part all_parts[WARPS][LANES];
    part *parts = all_parts[threadIdx.x / LANES];
    const unsigned lane = threadIdx.x % LANES, component = blockIdx.y, bands = 1 + 3 * s.levels;
    const uint32_t slice = blockIdx.x * WARPS + threadIdx.x / LANES;
    uint32_t index;
    if (slice / s.across >= s.down)
        return;
    const l2k_dirac_bits bits = find(s, slice, component, &index);
    const uint32_t count = divide(s, slice, component, index, parts);
    size_t at = 0;
    unsigned band = 0; /* of the lane's last value */
    for (uint32_t done = 0; done < count;) {
        unsigned length;
        const int32_t value = l2k_dirac_value(look(bits, at + lane), true, &length);
        unsigned next = lane + length;
        uint32_t begins = 1u << lane; /* codes that begin here or follow, ever more of them */
        for (unsigned step = 0; step < 5; step++) {
            const uint32_t others = __shfl_sync(ALL, begins, next), far = __shfl_sync(ALL, next, next);
            begins |= next < LANES ? others : 0;
            next = next < LANES ? far : next;
        }
        begins = __shfl_sync(ALL, begins, 0);
        const uint32_t number = done + __popc(begins & ((1u << lane) - 1));
        if (begins >> lane & 1 && number < count) {
            while (band + 1 < bands && number >= parts[band + 1].first)
                band++;
            const part p = parts[band];
            const l2k_dirac_band *b = &s.bands[component > 0][band];
            const uint32_t row = (number - p.first) / p.width, column = (number - p.first) % p.width;
            s.coefficients[component][b->at + (p.y + row) * b->stride + p.x + column] =
                l2k_dirac_dequantise(value, p.quantiser);
        }
        done += __popc(begins);
        at += __shfl_sync(ALL, next, 0);
    }
}

} // namespace

extern "C" int l2k_dirac_cuda_slices_read(const l2k_dirac_cuda_slices *s, void *stream)
{
    const dim3 blocks((unsigned)(((uint64_t)s->across * s->down + WARPS - 1) / WARPS), L2K_DIRAC_PLANES);
    read_slices<<<blocks, LANES * WARPS, 0, (cudaStream_t)stream>>>(*s);
    return cudaGetLastError();
}
