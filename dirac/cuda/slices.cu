/* Slices of high quality, which are independent of each other: a thread reads one component of one. */
#include <cuda_runtime.h>

extern "C" {
#include "dirac/cuda/stages.h"
}

namespace
{

enum { THREADS = 32 };

/* The coded values of a component, and the quantiser index; without bytes where the slice is missing or ends early. */
__device__ l2k_dirac_bits find(const l2k_dirac_cuda_slices &s, uint32_t slice, unsigned component, uint32_t *index)
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

/* The next values of a block, of which a look at its bits finds several. */
struct reader {
    l2k_dirac_bits bits;
    const l2k_dirac_codes *found;
    unsigned count, next;

    __device__ int32_t value(const l2k_dirac_codes *codes)
    {
        if (next < count)
            return found->values[next++];
        if (bits.count < L2K_DIRAC_CODE_BITS)
            l2k_dirac_fill(&bits);
        found = &codes[bits.window >> (64 - L2K_DIRAC_CODE_BITS)];
        l2k_dirac_skip(&bits, found->bits);
        count = found->count;
        next = 1;
        return count ? found->values[0] : l2k_dirac_sint(&bits);
    }
};

__global__ void __launch_bounds__(THREADS) read_slices(const __grid_constant__ l2k_dirac_cuda_slices s)
{
    const uint32_t slice = blockIdx.x * THREADS + threadIdx.x, x = slice % s.across, y = slice / s.across;
    uint32_t index;
    if (y >= s.down)
        return;
    reader from = {find(s, slice, blockIdx.y, &index), NULL, 0, 0};
    for (unsigned b = 0; b < 1 + 3 * s.levels; b++) {
        const l2k_dirac_band band = s.bands[blockIdx.y > 0][b];
        const uint32_t left = l2k_dirac_share(band.width, x, s.across), right = l2k_dirac_share(band.width, x + 1, s.across);
        const uint32_t top = l2k_dirac_share(band.height, y, s.down), end = l2k_dirac_share(band.height, y + 1, s.down);
        const uint32_t lowered = index > s.matrix[b] ? index - s.matrix[b] : 0;
        const l2k_dirac_quantiser q = s.quantisers[lowered < L2K_DIRAC_QUANTISERS ? lowered : L2K_DIRAC_QUANTISERS - 1];
        for (uint32_t row = top; row < end; row++) {
            int32_t *out = s.coefficients[blockIdx.y] + band.at + row * band.stride;
            for (uint32_t column = left; column < right; column++)
                out[column] = l2k_dirac_dequantise(from.value(s.codes), q);
        }
    }
}

} // namespace

extern "C" int l2k_dirac_cuda_slices_read(const l2k_dirac_cuda_slices *s, void *stream)
{
    const dim3 blocks((unsigned)(((uint64_t)s->across * s->down + THREADS - 1) / THREADS), L2K_DIRAC_PLANES);
    read_slices<<<blocks, THREADS, 0, (cudaStream_t)stream>>>(*s);
    return cudaGetLastError();
}
