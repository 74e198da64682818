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

/* Attributes decide whether a device can be used. Fetching all properties takes long, so only `describe` does it. */
struct abilities {
    int major, minor, mode;
};

cudaError_t look(int *count, int *device, abilities *a)
{
    cudaError_t error = cudaGetDeviceCount(count);
    if (error == cudaSuccess && *count > 0 && *device < 0)
        error = cudaGetDevice(device);
    if (error != cudaSuccess || *device < 0 || *device >= *count)
        return error;
    error = cudaDeviceGetAttribute(&a->major, cudaDevAttrComputeCapabilityMajor, *device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&a->minor, cudaDevAttrComputeCapabilityMinor, *device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&a->mode, cudaDevAttrComputeMode, *device);
    return error;
}

bool is_enough(const abilities *a)
{
    return 10 * a->major + a->minor >= OLDEST && a->mode != cudaComputeModeProhibited;
}

void say_why_not(const abilities *a, char *text, size_t bytes)
{
    if (a->mode == cudaComputeModeProhibited)
        snprintf(text, bytes, "its compute mode prohibits use");
    else
        snprintf(text, bytes, "its compute capability is %d.%d, %d.%d is needed", a->major, a->minor, OLDEST / 10,
                 OLDEST % 10);
}

cudaDeviceProp properties(int device)
{
    cudaDeviceProp p = {};
    if (cudaGetDeviceProperties(&p, device) != cudaSuccess)
        cudaGetLastError();
    return p;
}

bool describe(int device, const abilities *a, char *text, size_t bytes)
{
    char why[80];
    const bool enough = is_enough(a);
    if (bytes == 0)
        return enough;
    const cudaDeviceProp p = properties(device);
    say_why_not(a, why, sizeof why);
    if (enough)
        snprintf(text, bytes, "device %d, %s, compute capability %d.%d, %zu MiB", device, p.name, p.major, p.minor,
                 p.totalGlobalMem >> 20);
    else
        snprintf(text, bytes, "device %d, %s: %s", device, p.name, why);
    return enough;
}

/* The caller is about to work on `device`. Setting the current device again is free. */
bool makes_current(int device, char *text, size_t bytes)
{
    const cudaError_t error = device < 0 ? cudaSuccess : cudaSetDevice(device);
    if (error == cudaSuccess)
        return true;
    cudaGetLastError();
    snprintf(text, bytes, "device %d: %s", device, cudaGetErrorString(error));
    return false;
}

bool refuse(char *text, size_t bytes, const char *reason)
{
    cudaGetLastError();
    snprintf(text, bytes, "%s", reason);
    return false;
}

/* The runtime reports a missing driver as an old one. */
bool refuse_driver(char *text, size_t bytes, cudaError_t error)
{
    int version = 0;
    if (error != cudaErrorInsufficientDriver)
        return refuse(text, bytes, cudaGetErrorString(error));
    if (cudaDriverGetVersion(&version) != cudaSuccess || version == 0)
        return refuse(text, bytes, "no NVIDIA driver is installed");
    cudaGetLastError();
    snprintf(text, bytes, "the NVIDIA driver is for CUDA %d.%d, which is too old for CUDA %d.%d", version / 1000,
             version % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
    return false;
}

/* Older drivers report an error for pageable memory, which the next call must not see. */
bool is_pinned(const void *at)
{
    cudaPointerAttributes attributes;
    const cudaError_t error = cudaPointerGetAttributes(&attributes, at);
    if (error != cudaSuccess)
        cudaGetLastError();
    return error == cudaSuccess && attributes.type == cudaMemoryTypeHost;
}

} // namespace

/* Memory is pinned in one piece, so checking both ends suffices. */
extern "C" bool l2k_cuda_is_pinned(const void *at, size_t bytes)
{
    return bytes > 0 && is_pinned(at) && is_pinned((const char *)at + bytes - 1);
}

extern "C" int l2k_current_device(void)
{
    int device = -1;
    if (cudaGetDevice(&device) == cudaSuccess)
        return device;
    cudaGetLastError();
    return -1;
}

extern "C" void l2k_device_leave(int before)
{
    if (before >= 0 && cudaSetDevice(before) != cudaSuccess)
        cudaGetLastError();
}

extern "C" uint32_t l2k_cuda_count(void)
{
    int count = 0;
    if (cudaGetDeviceCount(&count) == cudaSuccess)
        return (uint32_t)count;
    cudaGetLastError();
    return 0;
}

extern "C" bool l2k_cuda_usable(int device, char *text, size_t bytes)
{
    const int wanted = device;
    int count = 0;
    abilities a = {};
    const cudaError_t error = look(&count, &device, &a);
    if (error != cudaSuccess)
        return refuse_driver(text, bytes, error);
    if (count == 0)
        return refuse(text, bytes, "no device found");
    if (device < count)
        return makes_current(wanted, text, bytes) && describe(device, &a, text, bytes);
    snprintf(text, bytes, "there is no device %d, only %s%d", device, count > 1 ? "0 to " : "", count - 1);
    return false;
}

extern "C" bool l2k_cuda_describe(uint32_t number, l2k_device_info *info)
{
    int count = 0, device = number < INT32_MAX ? (int)number : INT32_MAX;
    abilities a = {};
    const cudaError_t error = look(&count, &device, &a);
    *info = l2k_device_info{};
    if (error != cudaSuccess || device >= count)
        return refuse(info->reason, sizeof info->reason, "no such device");
    const cudaDeviceProp p = properties(device);
    int driver = 0;
    if (cudaDriverGetVersion(&driver) != cudaSuccess)
        cudaGetLastError();
    snprintf(info->name, sizeof info->name, "%s", p.name);
    snprintf(info->vendor, sizeof info->vendor, "NVIDIA");
    snprintf(info->driver, sizeof info->driver, "CUDA %d.%d", driver / 1000, driver % 1000 / 10);
    info->memory_bytes = p.totalGlobalMem;
    info->compute_major = (uint32_t)a.major;
    info->compute_minor = (uint32_t)a.minor;
    info->processors = (uint32_t)p.multiProcessorCount;
    info->usable = is_enough(&a);
    if (!info->usable)
        say_why_not(&a, info->reason, sizeof info->reason);
    return true;
}
