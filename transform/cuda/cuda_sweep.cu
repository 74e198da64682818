/* Finds the kernels of a sweep: a table of launchers by wavelet and coefficient type. */
#include <cuda_runtime.h>

#include "transform/cuda/forms/cuda_forms.h"

namespace
{

const struct {
    l2k_wavelet wavelet;
    l2k_coefficient_type type;
    l2k_cuda_form *forward, *inverse;
} forms[] = {
    {L2K_WAVELET_5_3, L2K_COEFFICIENT_INT16, l2k_cuda_forward_5_3_int16, l2k_cuda_inverse_5_3_int16},
    {L2K_WAVELET_5_3, L2K_COEFFICIENT_INT32, l2k_cuda_forward_5_3_int32, l2k_cuda_inverse_5_3_int32},
    {L2K_WAVELET_9_7, L2K_COEFFICIENT_INT16, l2k_cuda_forward_9_7_int16, l2k_cuda_inverse_9_7_int16},
    {L2K_WAVELET_9_7, L2K_COEFFICIENT_INT32, l2k_cuda_forward_9_7_int32, l2k_cuda_inverse_9_7_int32},
    {L2K_WAVELET_9_7, L2K_COEFFICIENT_FLOAT32, l2k_cuda_forward_9_7_float, l2k_cuda_inverse_9_7_float},
};

int run_sweep(const l2k_cuda_sweep *sweep, bool forward, void *stream)
{
    if (sweep->x.end == sweep->x.first || sweep->y.end == sweep->y.first)
        return cudaSuccess;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (forms[i].wavelet == sweep->wavelet && forms[i].type == sweep->type)
            return (forward ? forms[i].forward : forms[i].inverse)(sweep, stream);
    return cudaErrorInvalidValue;
}

} // namespace

extern "C" int l2k_cuda_forward_sweep(const l2k_cuda_sweep *sweep, void *stream)
{
    return run_sweep(sweep, true, stream);
}

extern "C" int l2k_cuda_inverse_sweep(const l2k_cuda_sweep *sweep, void *stream)
{
    return run_sweep(sweep, false, stream);
}
