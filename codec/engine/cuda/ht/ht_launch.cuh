/* Launches of the HT kernels. */
#ifndef L2K_CODEC_ENGINE_CUDA_HT_HT_LAUNCH_CUH
#define L2K_CODEC_ENGINE_CUDA_HT_HT_LAUNCH_CUH

#include <cuda_runtime.h>

extern "C" {
#include "codec/engine/cuda/ht/ht_cuda.h"
}

/* A kernel of `threads` threads a CTA, which do `per_cta` of `count` things; a cudaError_t. */
template <class Kernel, class Parameters>
static int l2k_ht_launch(Kernel *kernel, uint32_t count, uint32_t per_cta, int threads, void *stream,
                         const Parameters &parameters)
{
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((count + per_cta - 1) / per_cta);
    config.blockDim = dim3((unsigned)threads);
    config.stream = (cudaStream_t)stream;
    return cudaLaunchKernelEx(&config, kernel, parameters);
}

#endif
