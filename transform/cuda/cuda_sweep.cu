/* Finds the kernels of a sweep: a table of launchers by wavelet and coefficient type. */
#include <cuda_runtime.h>

extern "C" {
#include "dwt/wavelet.h"
}
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

const struct {
    l2k_wavelet wavelet;
    l2k_cuda_form *forward, *inverse;
} kernels[] = {
    {L2K_WAVELET_HAAR, l2k_cuda_forward_haar, l2k_cuda_inverse_haar},
    {L2K_WAVELET_1_3, l2k_cuda_forward_1_3, l2k_cuda_inverse_1_3},
    {L2K_WAVELET_DD_9_7, l2k_cuda_forward_dd_9_7, l2k_cuda_inverse_dd_9_7},
    {L2K_WAVELET_DD_13_7, l2k_cuda_forward_dd_13_7, l2k_cuda_inverse_dd_13_7},
    {L2K_WAVELET_DAUBECHIES_INT, l2k_cuda_forward_daubechies_int, l2k_cuda_inverse_daubechies_int},
    {L2K_WAVELET_FIDELITY, l2k_cuda_forward_fidelity, l2k_cuda_inverse_fidelity},
    {L2K_WAVELET_W4, l2k_cuda_forward_w4, l2k_cuda_inverse_w4},
};

/* Without a level, wavelets only differ in the type of their values. */
l2k_wavelet wavelet_of(const l2k_cuda_sweep *sweep)
{
    if (sweep->levels > 0)
        return sweep->wavelet;
    return l2k_wavelet_get(sweep->wavelet)->is_float ? L2K_WAVELET_9_7 : L2K_WAVELET_5_3;
}

int run_sweep(const l2k_cuda_sweep *sweep, bool forward, void *stream)
{
    if (sweep->x.end == sweep->x.first || sweep->y.end == sweep->y.first)
        return cudaSuccess;
    if (sweep->in_tiles && wavelet_of(sweep) == L2K_WAVELET_5_3)
        return (forward ? l2k_cuda_forward_5_3_tiles : l2k_cuda_inverse_5_3_tiles)(sweep, stream);
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (kernels[i].wavelet == wavelet_of(sweep))
            return (forward ? kernels[i].forward : kernels[i].inverse)(sweep, stream);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (forms[i].wavelet == wavelet_of(sweep) && forms[i].type == sweep->type)
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
