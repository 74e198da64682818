#include <cuda_runtime.h>

#include <stdio.h>

extern "C" {
#include "transform/backend.h"
#include "transform/cuda_device.h"
}

extern "C" l2k_status l2k_cuda_check(const l2k_context *context, int error, const char *what)
{
    if (error == cudaSuccess)
        return L2K_OK;
    cudaGetLastError(); /* what can be cleared must not be reported again by the next call */
    return l2k_fail(context, error == cudaErrorMemoryAllocation ? L2K_ERROR_MEMORY : L2K_ERROR_BACKEND, "CUDA: %s: %s",
                    what, cudaGetErrorString((cudaError_t)error));
}

/* The kernels are built for compute capability 7.5 and up. */
extern "C" bool l2k_cuda_usable(char *reason, size_t reason_bytes)
{
    int count = 0, device = 0, major = 0, minor = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaSuccess && count > 0)
        error = cudaGetDevice(&device);
    if (error == cudaSuccess && count > 0)
        error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    if (error == cudaSuccess && count > 0)
        error = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
    if (error != cudaSuccess) {
        cudaGetLastError();
        snprintf(reason, reason_bytes, "%s", cudaGetErrorString(error));
        return false;
    }
    if (count == 0) {
        snprintf(reason, reason_bytes, "no device found");
        return false;
    }
    if (10 * major + minor < 75) {
        snprintf(reason, reason_bytes, "device %d has compute capability %d.%d, 7.5 is needed", device, major, minor);
        return false;
    }
    return true;
}
