/* CUDA's errors as the library's, and the functions of l2k_device_functions. Internal to the CUDA backend. */
#ifndef L2K_TRANSFORM_CUDA_CUDA_DEVICE_H
#define L2K_TRANSFORM_CUDA_CUDA_DEVICE_H

#include "transform/device.h"

/* L2K_OK, or reports a failed CUDA call: `error` is a cudaError_t, `what` describes the operation. */
l2k_status l2k_cuda_check(const l2k_context *context, int error, const char *what);

/* Whether memory is pinned, so that copies need no staging. */
bool l2k_cuda_is_pinned(const void *at, size_t bytes);

/* As in transform/backend.h; a device that has failed is reported on its first use. */
bool l2k_cuda_usable(int device, char *text, size_t bytes);
uint32_t l2k_cuda_count(void);
bool l2k_cuda_describe(uint32_t device, l2k_device_info *info);

#endif
