/* CUDA's errors and devices in the library's terms. For the backend's own files. */
#ifndef L2K_TRANSFORM_CUDA_CUDA_DEVICE_H
#define L2K_TRANSFORM_CUDA_CUDA_DEVICE_H

#include "base/context.h"

/* L2K_OK, or the report of a failed CUDA call: `error` is a cudaError_t, `what` says what was being done. */
l2k_status l2k_cuda_check(const l2k_context *context, int error, const char *what);

#endif
