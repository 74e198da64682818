/* Finds the kernels of a level pass in a table of launchers by wavelet and coefficient type. CMake writes a file for
 * each of the forms listed in CMakeLists.txt, so that make can compile them in parallel. */
#include <cuda_runtime.h>

extern "C" {
#include "dwt/wavelet.h"
}
#include "transform/cuda/cuda_level_pass.h"

namespace
{

/* Enqueues a level pass that is not empty on a stream (a cudaStream_t); the result is a cudaError_t. */
typedef int form(const l2k_cuda_level_pass *pass, void *stream);

} // namespace

/* Named kernels take every coefficient type that they support. */
#define EACH_FORM(X)                                                                                                   \
    X(5_3_int16, L2K_WAVELET_5_3, L2K_COEFFICIENT_INT16)                                                               \
    X(5_3_int32, L2K_WAVELET_5_3, L2K_COEFFICIENT_INT32)                                                               \
    X(9_7_int16, L2K_WAVELET_9_7, L2K_COEFFICIENT_INT16)                                                               \
    X(9_7_int32, L2K_WAVELET_9_7, L2K_COEFFICIENT_INT32)                                                               \
    X(9_7_float, L2K_WAVELET_9_7, L2K_COEFFICIENT_FLOAT32)                                                             \
    X(haar, L2K_WAVELET_HAAR, pass->type)                                                                              \
    X(1_3, L2K_WAVELET_1_3, pass->type)                                                                                \
    X(dd_9_7, L2K_WAVELET_DD_9_7, pass->type)                                                                          \
    X(dd_13_7, L2K_WAVELET_DD_13_7, pass->type)                                                                        \
    X(daubechies_int, L2K_WAVELET_DAUBECHIES_INT, pass->type)                                                          \
    X(fidelity, L2K_WAVELET_FIDELITY, pass->type)                                                                      \
    X(w4, L2K_WAVELET_W4, pass->type)

#define DECLARE(name, ...) form l2k_cuda_forward_##name, l2k_cuda_inverse_##name;
extern "C" {
EACH_FORM(DECLARE)
}

/* Without a level, wavelets only differ in the type of their values. */
static l2k_wavelet wavelet_of(const l2k_cuda_level_pass *pass)
{
    if (!pass->copies)
        return pass->wavelet;
    return l2k_wavelet_get(pass->wavelet)->is_float ? L2K_WAVELET_9_7 : L2K_WAVELET_5_3;
}

extern "C" int l2k_cuda_run_pass(const l2k_cuda_level_pass *pass, bool forward, void *stream)
{
    if (pass->x.end == pass->x.first || pass->y.end == pass->y.first)
        return cudaSuccess;
#define RUN(name, its_wavelet, its_type)                                                                               \
    if (wavelet_of(pass) == (its_wavelet) && pass->type == (its_type))                                                 \
        return (forward ? l2k_cuda_forward_##name : l2k_cuda_inverse_##name)(pass, stream);
    EACH_FORM(RUN)
    return cudaErrorInvalidValue;
}
