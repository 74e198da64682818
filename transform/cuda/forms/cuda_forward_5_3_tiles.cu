/* Small levels of many components by the 5/3 with int16 coefficients: tiles where they can be, else the sweep. */
#include "transform/cuda/cuda_forward_tiles.cuh"
#include "transform/cuda/forms/cuda_forms.h"

extern "C" int l2k_cuda_forward_5_3_tiles(const l2k_cuda_sweep *sweep, void *stream)
{
    if (!l2k_suits_tiles(*sweep))
        return l2k_cuda_forward_5_3_int16(sweep, stream);
    return l2k_launch_tiles<l2k_tile<l2k_named_5_3, false>>(forward_tiles_kernel<l2k_named_5_3>, *sweep,
                                                            (cudaStream_t)stream);
}
