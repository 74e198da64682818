/* Translates CUDA's errors to the library's. Internal to the CUDA backend. */
#ifndef L2K_TRANSFORM_CUDA_CUDA_DEVICE_H
#define L2K_TRANSFORM_CUDA_CUDA_DEVICE_H

#include "base/context.h"

/* L2K_OK, or reports a failed CUDA call: `error` is a cudaError_t, `what` describes the operation. */
l2k_status l2k_cuda_check(const l2k_context *context, int error, const char *what);

#endif
