/* OpenCL at run time: its functions, devices, memory and programs. First use opens the loader, so a machine without one
 * has no devices. Internal to the OpenCL backend and the OpenCL engine.
 *
 * Devices, their contexts and programs live as long as the process. A memory object takes the place of a pointer to
 * device memory (l2k_plane.data, l2k_coefficients.base, l2k_device_memory.at), a command queue that of a stream. */
#ifndef L2K_TRANSFORM_OPENCL_CL_RUNTIME_H
#define L2K_TRANSFORM_OPENCL_CL_RUNTIME_H

#include <CL/cl.h>

#include "transform/device.h"

/* ---- Functions ----------------------------------------------------------------------------------------------- */

#define L2K_CL_FUNCTIONS(X)                                                                                            \
    X(GetPlatformIDs)                                                                                                  \
    X(GetDeviceIDs)                                                                                                    \
    X(GetDeviceInfo)                                                                                                   \
    X(CreateContext)                                                                                                   \
    X(CreateCommandQueue)                                                                                              \
    X(ReleaseCommandQueue)                                                                                             \
    X(CreateBuffer)                                                                                                    \
    X(CreateSubBuffer)                                                                                                 \
    X(GetMemObjectInfo)                                                                                                \
    X(ReleaseMemObject)                                                                                                \
    X(CreateProgramWithSource)                                                                                         \
    X(BuildProgram)                                                                                                    \
    X(GetProgramBuildInfo)                                                                                             \
    X(ReleaseProgram)                                                                                                  \
    X(CreateKernel)                                                                                                    \
    X(SetKernelArg)                                                                                                    \
    X(ReleaseKernel)                                                                                                   \
    X(EnqueueReadBuffer)                                                                                               \
    X(EnqueueWriteBuffer)                                                                                              \
    X(EnqueueReadBufferRect)                                                                                           \
    X(EnqueueWriteBufferRect)                                                                                          \
    X(EnqueueCopyBuffer)                                                                                               \
    X(EnqueueFillBuffer)                                                                                               \
    X(EnqueueMapBuffer)                                                                                                \
    X(EnqueueUnmapMemObject)                                                                                           \
    X(EnqueueNDRangeKernel)                                                                                            \
    X(EnqueueMarkerWithWaitList)                                                                                       \
    X(EnqueueBarrierWithWaitList)                                                                                      \
    X(GetEventProfilingInfo)                                                                                           \
    X(WaitForEvents)                                                                                                   \
    X(ReleaseEvent)                                                                                                    \
    X(Flush)                                                                                                           \
    X(Finish)

/* The functions of OpenCL without their prefix; filled in by l2k_cl_count. Tests replace entries. */
typedef struct l2k_cl_functions {
#define L2K_CL_ENTRY(name) __typeof__(&cl##name) name;
    L2K_CL_FUNCTIONS(L2K_CL_ENTRY)
#undef L2K_CL_ENTRY
} l2k_cl_functions;

extern l2k_cl_functions l2k_cl;

/* L2K_OK, or reports a failed call, such as "clEnqueueReadBuffer": L2K_ERROR_MEMORY if a device or the host has too
 * little memory, else L2K_ERROR_BACKEND. */
l2k_status l2k_cl_check(const l2k_context *context, cl_int error, const char *call);

/* The same around a call without its prefix: L2K_CL_TRY(context, Finish, (queue)). */
#define L2K_CL_TRY(context, name, arguments) L2K_TRY(l2k_cl_check(context, l2k_cl.name arguments, "cl" #name))

/* ---- Devices ------------------------------------------------------------------------------------------------- */

typedef struct l2k_cl_device {
    cl_platform_id platform;
    cl_device_id id;
    bool is_gpu;
    bool lifts_floats; /* multiplies, adds and fuses floats as IEEE 754 does, denormal numbers included */
    l2k_device_info info;
    char version[64];
    uint32_t alignment; /* of sub-buffers, in bytes */
    cl_context context; /* NULL until it is opened */
    struct l2k_cl_program *programs;
} l2k_cl_device;

/* The number of devices of all platforms, GPUs first, CPUs last. 0: `reason`, unless NULL, says why. */
unsigned l2k_cl_count(const char **reason);

/* A device by its number, below l2k_cl_count. */
l2k_cl_device *l2k_cl_device_at(unsigned number);

/* Opens the device that the context names, or else the first usable one. `devices` is the ordinal of the first OpenCL
 * device (transform/device.h). L2K_ERROR_BACKEND without a device. */
l2k_status l2k_cl_open(const l2k_context *context, l2k_cl_device **device);

/* The same without opening it. `text` names the device, or says why the result is NULL. */
l2k_cl_device *l2k_cl_find(int ordinal, char *text, size_t bytes);

/* An in-order queue, which measures times if `profiles`. The caller releases it. */
l2k_status l2k_cl_queue(const l2k_context *context, const l2k_cl_device *device, bool profiles,
                        cl_command_queue *queue);

/* ---- Memory -------------------------------------------------------------------------------------------------- */

/* A buffer of at least one byte; `flags` as of clCreateBuffer. */
l2k_status l2k_cl_buffer(const l2k_context *context, const l2k_cl_device *device, cl_mem_flags flags, size_t bytes,
                         cl_mem *buffer);

/* As l2k_device_reserve, with a buffer for `at`: growth loses the content. */
l2k_status l2k_cl_reserve(const l2k_context *context, const l2k_cl_device *device, l2k_device_memory *memory,
                          size_t bytes);
void l2k_cl_release(l2k_device_memory *memory);

/* Host memory that a device copies from and to by itself: a buffer in host memory, mapped for all its life.
 * Zero-initialise before the first use. */
typedef struct l2k_cl_pinned {
    uint8_t *at; /* aligned to 64 bytes */
    size_t bytes;
    cl_mem buffer;
    void *mapped;
} l2k_cl_pinned;

/* Reallocates only to grow; the content is lost, and must not be in use. */
l2k_status l2k_cl_pin(const l2k_context *context, const l2k_cl_device *device, cl_command_queue queue,
                      l2k_cl_pinned *memory, size_t bytes);
void l2k_cl_unpin(cl_command_queue queue, l2k_cl_pinned *memory);

/* ---- Programs ------------------------------------------------------------------------------------------------ */

/* The program of a source and options for an open device: from earlier in this process, or built. It stays the
 * device's. `source` is static storage; -cl-std=CL1.2 is added to `options`. */
l2k_status l2k_cl_program(const l2k_context *context, l2k_cl_device *device, const char *source, const char *options,
                          cl_program *program);

/* A kernel of it. A kernel object holds its arguments, so each object of the library takes and releases its own. */
l2k_status l2k_cl_kernel(const l2k_context *context, cl_program program, const char *name, cl_kernel *kernel);

/* Arguments 0 to count - 1 of a kernel: sizes and values in turn. */
typedef struct l2k_cl_argument {
    size_t bytes;
    const void *value;
} l2k_cl_argument;

#define L2K_CL_ARGUMENT(variable) ((l2k_cl_argument){sizeof(variable), &(variable)})

l2k_status l2k_cl_set_arguments(const l2k_context *context, cl_kernel kernel, const l2k_cl_argument *arguments,
                                unsigned count);

#endif
