/* The CUDA runtime with several virtual devices, and some that fail; see virtual_devices.h. */
#include "virtual_devices.h"

#include <cuda_runtime_api.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

static atomic_int wanted, devices_real;
static atomic_uint mismatches, calls[VIRTUAL_MOST];
static atomic_long left[VIRTUAL_MOST]; /* calls until the device fails, and one more; 0: it is healthy */
static atomic_bool lost[VIRTUAL_MOST];
static _Thread_local int current;

int __real_cudaGetDeviceCount(int *count);
int __wrap_cudaGetDeviceCount(int *count);

int virtual_real(void)
{
    int count = 0;
    if (__real_cudaGetDeviceCount(&count) != cudaSuccess)
        count = 0;
    atomic_store(&devices_real, count);
    return count;
}

void virtual_devices(int count)
{
    atomic_store(&wanted, count);
    virtual_real();
}

unsigned virtual_mismatches(void)
{
    return atomic_load(&mismatches);
}

unsigned virtual_calls(int device)
{
    return atomic_load(&calls[device]);
}

void virtual_lose(int device, long after)
{
    atomic_store(&lost[device], false);
    atomic_store(&left[device], after < 0 ? 0 : after + 1);
}

/* "1:200,2:0" */
__attribute__((constructor)) static void read_environment(void)
{
    const char *count = getenv("L2K_VIRTUAL_DEVICES"), *losses = getenv("L2K_VIRTUAL_LOST");
    if (count)
        atomic_store(&wanted, atoi(count));
    while (losses && *losses) {
        char *end;
        const long device = strtol(losses, &end, 10), after = *end == ':' ? strtol(end + 1, &end, 10) : 0;
        if (device >= 0 && device < VIRTUAL_MOST)
            virtual_lose((int)device, after);
        losses = *end == ',' ? end + 1 : NULL;
    }
}

/* ---- Which device --------------------------------------------------------------------------------------------- */

static int count_devices(void)
{
    return atomic_load(&wanted) ? atomic_load(&wanted) : atomic_load(&devices_real);
}

static int real_of(int device)
{
    const int real = atomic_load(&devices_real);
    return real > 0 ? device % real : device;
}

int __wrap_cudaGetDeviceCount(int *count)
{
    const int error = __real_cudaGetDeviceCount(count);
    if (error != cudaSuccess || *count < 1)
        return error;
    atomic_store(&devices_real, *count);
    *count = count_devices();
    return cudaSuccess;
}

/* Counts a call on the device. */
static int touch(int device)
{
    if (device < 0 || device >= VIRTUAL_MOST)
        return cudaErrorInvalidDevice;
    atomic_fetch_add(&calls[device], 1);
    if (atomic_load(&left[device]) > 0 && atomic_fetch_sub(&left[device], 1) == 1)
        atomic_store(&lost[device], true);
    return atomic_load(&lost[device]) ? cudaErrorLaunchFailure : cudaSuccess;
}

int __real_cudaGetDevice(int *device);
int __wrap_cudaGetDevice(int *device);
int __wrap_cudaGetDevice(int *device)
{
    const int error = __real_cudaGetDevice(device);
    *device = current;
    return error;
}

int __real_cudaSetDevice(int device);
int __wrap_cudaSetDevice(int device);
int __wrap_cudaSetDevice(int device)
{
    if (atomic_load(&devices_real) == 0)
        virtual_real();
    if (device < 0 || device >= count_devices())
        return cudaErrorInvalidDevice;
    const int error = __real_cudaSetDevice(real_of(device));
    if (error == cudaSuccess)
        current = device;
    return error == cudaSuccess && atomic_load(&lost[device]) ? cudaErrorLaunchFailure : error;
}

int __real_cudaDeviceGetAttribute(int *value, int attribute, int device);
int __wrap_cudaDeviceGetAttribute(int *value, int attribute, int device);
int __wrap_cudaDeviceGetAttribute(int *value, int attribute, int device)
{
    return __real_cudaDeviceGetAttribute(value, attribute, real_of(device));
}

/* A lost device repeats its error. */
int __real_cudaGetLastError(void);
int __wrap_cudaGetLastError(void);
int __wrap_cudaGetLastError(void)
{
    const int error = __real_cudaGetLastError();
    return current >= 0 && current < VIRTUAL_MOST && atomic_load(&lost[current]) ? cudaErrorLaunchFailure : error;
}

/* ---- What belongs to a device ---------------------------------------------------------------------------------- */

enum { MOST_HANDLES = 1 << 14 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    const void *handle;
    int device;
} handles[MOST_HANDLES];
static unsigned num_handles;

static int made(int error, const void *handle)
{
    if (error != cudaSuccess)
        return error;
    pthread_mutex_lock(&lock);
    if (num_handles < MOST_HANDLES) {
        handles[num_handles].handle = handle;
        handles[num_handles++].device = current;
    }
    pthread_mutex_unlock(&lock);
    return error;
}

static int device_of(const void *handle)
{
    int device = -1;
    pthread_mutex_lock(&lock);
    for (unsigned i = num_handles; i > 0 && device < 0; i--)
        if (handles[i - 1].handle == handle)
            device = handles[i - 1].device;
    pthread_mutex_unlock(&lock);
    return device;
}

static void forget(const void *handle)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = num_handles; i > 0; i--)
        if (handles[i - 1].handle == handle) {
            handles[i - 1] = handles[--num_handles];
            break;
        }
    pthread_mutex_unlock(&lock);
}

/* What is not known, such as the default stream, is everybody's. */
static int belongs(const void *handle)
{
    const int device = handle ? device_of(handle) : -1;
    if (device >= 0 && device != current)
        atomic_fetch_add(&mismatches, 1);
    return touch(current);
}

/* ---- Calls ------------------------------------------------------------------------------------------------------ */

/* A call of the runtime that is made if `check` succeeds. int replaces cudaError_t. */
#define WRAP(name, parameters, arguments, check)                                                                       \
    int __real_##name parameters;                                                                                      \
    int __wrap_##name parameters;                                                                                      \
    int __wrap_##name parameters                                                                                       \
    {                                                                                                                  \
        const int error = check;                                                                                       \
        return error != cudaSuccess ? error : __real_##name arguments;                                                 \
    }

#define WRAP_NEW(name, type, parameters, arguments)                                                                    \
    int __real_##name parameters;                                                                                      \
    int __wrap_##name parameters;                                                                                      \
    int __wrap_##name parameters                                                                                       \
    {                                                                                                                  \
        const int error = touch(current);                                                                              \
        return error != cudaSuccess ? error : made(__real_##name arguments, *(type *)handle);                          \
    }

/* These release on a lost device as well. */
#define WRAP_END(name)                                                                                                 \
    int __real_##name(void *handle);                                                                                   \
    int __wrap_##name(void *handle);                                                                                   \
    int __wrap_##name(void *handle)                                                                                    \
    {                                                                                                                  \
        belongs(handle);                                                                                               \
        forget(handle);                                                                                                \
        return __real_##name(handle);                                                                                  \
    }

WRAP(cudaMalloc, (void **block, size_t bytes), (block, bytes), touch(current))
WRAP(cudaMallocHost, (void **block, size_t bytes), (block, bytes), touch(current))
WRAP_NEW(cudaStreamCreateWithFlags, void *, (void **handle, unsigned flags), (handle, flags))
WRAP_NEW(cudaEventCreate, void *, (void **handle), (handle))
WRAP_NEW(cudaEventCreateWithFlags, void *, (void **handle, unsigned flags), (handle, flags))
WRAP_NEW(cudaGraphInstantiate, void *, (void **handle, void *graph, unsigned long long flags), (handle, graph, flags))
WRAP_END(cudaStreamDestroy)
WRAP_END(cudaEventDestroy)
WRAP_END(cudaGraphExecDestroy)

static int both_belong(const void *a, const void *b)
{
    const int error = belongs(a);
    return error != cudaSuccess ? error : belongs(b);
}

WRAP(cudaEventRecord, (void *event, void *stream), (event, stream), both_belong(event, stream))
WRAP(cudaStreamWaitEvent, (void *stream, void *event, unsigned flags), (stream, event, flags), belongs(stream))
WRAP(cudaGraphLaunch, (void *graph, void *stream), (graph, stream), both_belong(graph, stream))
WRAP(cudaStreamSynchronize, (void *stream), (stream), belongs(stream))
WRAP(cudaEventSynchronize, (void *event), (event), belongs(event))
WRAP(cudaStreamBeginCapture, (void *stream, int mode), (stream, mode), belongs(stream))
WRAP(cudaMemcpyAsync, (void *to, const void *from, size_t bytes, int kind, void *stream),
     (to, from, bytes, kind, stream), belongs(stream))
WRAP(cudaMemcpy2DAsync,
     (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int kind,
      void *stream),
     (to, to_pitch, from, from_pitch, width, height, kind, stream), belongs(stream))
WRAP(cudaMemset, (void *at, int value, size_t bytes), (at, value, bytes), touch(current))
WRAP(cudaMemsetAsync, (void *at, int value, size_t bytes, void *stream), (at, value, bytes, stream), belongs(stream))
WRAP(cudaMemset2DAsync, (void *at, size_t pitch, int value, size_t width, size_t height, void *stream),
     (at, pitch, value, width, height, stream), belongs(stream))
WRAP(cudaLaunchKernelExC, (const cudaLaunchConfig_t *config, const void *kernel, void **arguments),
     (config, kernel, arguments), belongs(config->stream))

/* Of launches with angle brackets; what it returns is no error. */
unsigned __real___cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream);
unsigned __wrap___cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream);
unsigned __wrap___cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream)
{
    belongs(stream);
    return __real___cudaPushCallConfiguration(grid, block, shared, stream);
}
