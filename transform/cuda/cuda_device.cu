/* Selects the device and translates CUDA's errors to the library's. */
#include <cuda_runtime.h>

#include <stdio.h>

extern "C" {
#include "transform/backend.h"
#include "transform/cuda/cuda_device.h"
}

extern "C" l2k_status l2k_cuda_check(const l2k_context *context, int error, const char *what)
{
    if (error == cudaSuccess)
        return L2K_OK;
    cudaGetLastError(); /* so that the next call does not report it again */
    return l2k_fail(context, error == cudaErrorMemoryAllocation ? L2K_ERROR_MEMORY : L2K_ERROR_BACKEND, "CUDA: %s: %s",
                    what, cudaGetErrorString((cudaError_t)error));
}

namespace
{

/* The kernels need compute capability 7.5. */
const int OLDEST = 75;

/* All of a device's properties take long to fetch, so they are asked for only where its name is. */
cudaError_t look(int *count, int *device, int *major, int *minor)
{
    cudaError_t error = cudaGetDeviceCount(count);
    if (error == cudaSuccess && *count > 0)
        error = cudaGetDevice(device);
    if (error == cudaSuccess && *count > 0)
        error = cudaDeviceGetAttribute(major, cudaDevAttrComputeCapabilityMajor, *device);
    if (error == cudaSuccess && *count > 0)
        error = cudaDeviceGetAttribute(minor, cudaDevAttrComputeCapabilityMinor, *device);
    return error;
}

void describe(int device, bool usable, char *text, size_t bytes)
{
    cudaDeviceProp p = {};
    if (bytes == 0)
        return;
    if (cudaGetDeviceProperties(&p, device) != cudaSuccess)
        cudaGetLastError();
    snprintf(text, bytes, "device %d, %s, compute capability %d.%d, %zu MiB", device, p.name, p.major, p.minor,
             p.totalGlobalMem >> 20);
    if (!usable)
        snprintf(text, bytes, "device %d, %s: its compute capability is %d.%d, %d.%d is needed", device, p.name,
                 p.major, p.minor, OLDEST / 10, OLDEST % 10);
}

} // namespace

extern "C" int l2k_cuda_device(void)
{
    int device = -1;
    if (cudaGetDevice(&device) == cudaSuccess)
        return device;
    cudaGetLastError();
    return -1;
}

extern "C" void l2k_cuda_set_device(int device)
{
    if (cudaSetDevice(device) != cudaSuccess)
        cudaGetLastError();
}

extern "C" bool l2k_cuda_usable(char *text, size_t bytes)
{
    int count = 0, device = 0, major = 0, minor = 0;
    cudaError_t error = look(&count, &device, &major, &minor);
    if (error != cudaSuccess) {
        cudaGetLastError();
        snprintf(text, bytes, "%s", cudaGetErrorString(error));
        return false;
    }
    if (count == 0) {
        snprintf(text, bytes, "no device found");
        return false;
    }
    const bool usable = 10 * major + minor >= OLDEST;
    describe(device, usable, text, bytes);
    return usable;
}
