/* tests/gpu/device.h for OpenCL, as far as its tests need it: memory objects of the first device. */
#include "tests/gpu/device.h"

#include <stdio.h>
#include <stdlib.h>

#include "transform/opencl/cl_runtime.h"

static const l2k_context context = {.threads = 1};
static cl_command_queue queue;

/* All memory is in one buffer, as that of a plan's views: pieces, and parts of these, which go with them. */
enum { MOST_PIECES = 64, BUFFER_BYTES = 1 << 28, PIECE_ALIGNMENT = 4096 };
static struct {
    cl_mem piece, part;
    size_t at, end;
} pieces[MOST_PIECES];
static cl_mem buffer;

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

static cl_mem make_part(size_t at, size_t bytes)
{
    const cl_buffer_region region = {at, bytes};
    cl_int error;
    cl_mem part = l2k_cl.CreateSubBuffer(buffer, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    require(error == CL_SUCCESS, "clCreateSubBuffer");
    return part;
}

static unsigned number_of(const void *piece)
{
    unsigned i = 0;
    while (i < MOST_PIECES && pieces[i].piece != piece)
        i++;
    require(i < MOST_PIECES, "finding a piece of memory");
    return i;
}

/* Behind all pieces. */
static size_t free_place(void)
{
    size_t at = 0;
    for (unsigned i = 0; i < MOST_PIECES; i++)
        at = pieces[i].piece && pieces[i].end > at ? pieces[i].end : at;
    return at;
}

void *gpu_take(size_t bytes)
{
    const unsigned i = number_of(NULL);
    const size_t at = free_place();
    l2k_cl_device *device = open_device();
    if (!buffer)
        require(l2k_cl_buffer(&context, device, CL_MEM_READ_WRITE, BUFFER_BYTES, &buffer) == L2K_OK, "taking memory");
    require(at + bytes <= BUFFER_BYTES, "taking memory");
    pieces[i].at = at;
    pieces[i].end = at + (bytes + PIECE_ALIGNMENT - 1) / PIECE_ALIGNMENT * PIECE_ALIGNMENT;
    pieces[i].piece = make_part(at, bytes);
    return pieces[i].piece;
}

void *gpu_part(void *device, size_t at, size_t bytes)
{
    const unsigned i = number_of(device);
    return pieces[i].part = make_part(pieces[i].at + at, bytes);
}

void gpu_give_back(void *device)
{
    if (!device)
        return;
    const unsigned i = number_of(device);
    if (pieces[i].part)
        l2k_cl.ReleaseMemObject(pieces[i].part);
    l2k_cl.ReleaseMemObject(pieces[i].piece);
    pieces[i].piece = pieces[i].part = NULL;
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
