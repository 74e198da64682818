/* tests/gpu/device.h for OpenCL, as far as its tests need it: memory objects of the first device. */
#include "tests/gpu/device.h"

#include <stdio.h>
#include <stdlib.h>

#include "transform/opencl/cl_runtime.h"

static const l2k_context context = {.threads = 1};
static cl_command_queue queue;

/* Parts of memory that has not been given back. */
enum { MOST_PARTS = 64 };
static struct {
    void *whole, *part;
} parts[MOST_PARTS];

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "OpenCL: %s failed\n", what);
    exit(1);
}

static l2k_cl_device *open_device(void)
{
    l2k_cl_device *device;
    require(l2k_cl_open(&context, &device) == L2K_OK, "opening the device");
    if (!queue)
        require(l2k_cl_queue(&context, device, false, &queue) == L2K_OK, "making a queue");
    return device;
}

void *gpu_take(size_t bytes)
{
    cl_mem buffer;
    require(l2k_cl_buffer(&context, open_device(), CL_MEM_READ_WRITE, bytes, &buffer) == L2K_OK, "taking memory");
    return buffer;
}

void *gpu_part(void *device, size_t at, size_t bytes)
{
    const cl_buffer_region region = {at, bytes};
    unsigned i = 0;
    cl_int error;
    while (i < MOST_PARTS && parts[i].whole)
        i++;
    require(i < MOST_PARTS, "keeping a part");
    parts[i].whole = device;
    parts[i].part = l2k_cl.CreateSubBuffer(device, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    require(error == CL_SUCCESS, "clCreateSubBuffer");
    return parts[i].part;
}

void gpu_give_back(void *device)
{
    for (unsigned i = 0; i < MOST_PARTS; i++)
        if (device && parts[i].whole == device) {
            l2k_cl.ReleaseMemObject(parts[i].part);
            parts[i].whole = NULL;
        }
    if (device)
        l2k_cl.ReleaseMemObject(device);
}

void gpu_copy_in(void *device, const void *host, size_t bytes)
{
    open_device();
    require(l2k_cl.EnqueueWriteBuffer(queue, device, CL_TRUE, 0, bytes, host, 0, NULL, NULL) == CL_SUCCESS,
            "clEnqueueWriteBuffer");
}

void gpu_copy_out(void *host, const void *device, size_t bytes)
{
    open_device();
    require(l2k_cl.EnqueueReadBuffer(queue, (cl_mem)device, CL_TRUE, 0, bytes, host, 0, NULL, NULL) == CL_SUCCESS,
            "clEnqueueReadBuffer");
}

void *gpu_new_stream(void)
{
    cl_command_queue own;
    require(l2k_cl_queue(&context, open_device(), false, &own) == L2K_OK, "making a queue");
    return own;
}

void gpu_free_stream(void *stream)
{
    l2k_cl.ReleaseCommandQueue(stream);
}

void gpu_copy_later(void *to, const void *from, size_t bytes, void *stream)
{
    require(l2k_cl.EnqueueCopyBuffer(stream, (cl_mem)from, to, 0, 0, bytes, 0, NULL, NULL) == CL_SUCCESS &&
                l2k_cl.Finish(stream) == CL_SUCCESS,
            "clEnqueueCopyBuffer");
}

void gpu_wait(void)
{
    require(l2k_cl.Finish(queue) == CL_SUCCESS, "clFinish");
}
