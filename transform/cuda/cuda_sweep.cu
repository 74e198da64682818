/* Finds the kernels of a sweep: a table of launchers by wavelet and coefficient type. CMake makes a file of each, from
 * the list of forms in CMakeLists.txt, so that make can compile them side by side. */
#include <cuda_runtime.h>

extern "C" {
#include "dwt/wavelet.h"
}
#include "transform/cuda/cuda_sweep.h"

namespace
{

/* Enqueues a sweep that is not empty on a stream (a cudaStream_t); the result is a cudaError_t. */
typedef int form(const l2k_cuda_sweep *sweep, void *stream);

} // namespace

/* Of named kernels, with coefficients of any type that the kernel has. */
#define EACH_FORM(X)                                                                                                   \
    X(5_3_int16, L2K_WAVELET_5_3, L2K_COEFFICIENT_INT16)                                                               \
    X(5_3_int32, L2K_WAVELET_5_3, L2K_COEFFICIENT_INT32)                                                               \
    X(9_7_int16, L2K_WAVELET_9_7, L2K_COEFFICIENT_INT16)                                                               \
    X(9_7_int32, L2K_WAVELET_9_7, L2K_COEFFICIENT_INT32)                                                               \
    X(9_7_float, L2K_WAVELET_9_7, L2K_COEFFICIENT_FLOAT32)                                                             \
    X(haar, L2K_WAVELET_HAAR, sweep->type)                                                                             \
    X(1_3, L2K_WAVELET_1_3, sweep->type)                                                                               \
    X(dd_9_7, L2K_WAVELET_DD_9_7, sweep->type)                                                                         \
    X(dd_13_7, L2K_WAVELET_DD_13_7, sweep->type)                                                                       \
    X(daubechies_int, L2K_WAVELET_DAUBECHIES_INT, sweep->type)                                                         \
    X(fidelity, L2K_WAVELET_FIDELITY, sweep->type)                                                                     \
    X(w4, L2K_WAVELET_W4, sweep->type)

#define DECLARE(name, ...) form l2k_cuda_forward_##name, l2k_cuda_inverse_##name;
extern "C" {
EACH_FORM(DECLARE)
}

/* Without a level, wavelets only differ in the type of their values. */
static l2k_wavelet wavelet_of(const l2k_cuda_sweep *sweep)
{
    if (sweep->levels > 0)
        return sweep->wavelet;
    return l2k_wavelet_get(sweep->wavelet)->is_float ? L2K_WAVELET_9_7 : L2K_WAVELET_5_3;
}

static int run_sweep(const l2k_cuda_sweep *sweep, bool forward, void *stream)
{
    if (sweep->x.end == sweep->x.first || sweep->y.end == sweep->y.first)
        return cudaSuccess;
#define RUN(name, its_wavelet, its_type)                                                                               \
    if (wavelet_of(sweep) == (its_wavelet) && sweep->type == (its_type))                                               \
        return (forward ? l2k_cuda_forward_##name : l2k_cuda_inverse_##name)(sweep, stream);
    EACH_FORM(RUN)
    return cudaErrorInvalidValue;
}

extern "C" int l2k_cuda_forward_sweep(const l2k_cuda_sweep *sweep, void *stream)
{
    return run_sweep(sweep, true, stream);
}

extern "C" int l2k_cuda_inverse_sweep(const l2k_cuda_sweep *sweep, void *stream)
{
    return run_sweep(sweep, false, stream);
}
