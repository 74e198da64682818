/* Device and pinned memory for tests in C, through the CUDA runtime. */
#include "device.h"

#include <cuda_runtime.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void check(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "FAILED: %s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

extern "C" void *gpu_take(size_t bytes)
{
    void *device = NULL;
    check(cudaMalloc(&device, bytes), "taking device memory");
    return device;
}

extern "C" void gpu_give_back(void *device)
{
    check(cudaFree(device), "giving device memory back");
}

extern "C" void *gpu_take_pinned(size_t bytes)
{
    void *pinned = NULL;
    check(cudaMallocHost(&pinned, bytes), "taking pinned memory");
    return pinned;
}

extern "C" void gpu_give_back_pinned(void *pinned)
{
    check(cudaFreeHost(pinned), "giving pinned memory back");
}

extern "C" void gpu_copy_in(void *device, const void *host, size_t bytes)
{
    check(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice), "copying to the device");
    gpu_wait(); /* a copy of pageable memory may still be in progress */
}

extern "C" void gpu_copy_out(void *host, const void *device, size_t bytes)
{
    check(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost), "copying from the device");
}

extern "C" void *gpu_part(void *device, size_t at, size_t)
{
    return (char *)device + at;
}

extern "C" void *gpu_new_stream(void)
{
    cudaStream_t stream = NULL;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
    return stream;
}

extern "C" void gpu_free_stream(void *stream)
{
    check(cudaStreamDestroy((cudaStream_t)stream), "freeing a stream");
}

static void CUDART_CB be_late(void *unused)
{
    const struct timespec moment = {0, 2000000};
    (void)unused;
    nanosleep(&moment, NULL);
}

extern "C" void gpu_copy_later(void *to, const void *from, size_t bytes, void *stream)
{
    check(cudaLaunchHostFunc((cudaStream_t)stream, be_late, NULL), "waiting in a stream");
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, (cudaStream_t)stream), "copying in a stream");
}

extern "C" void gpu_wait(void)
{
    check(cudaDeviceSynchronize(), "waiting for the device");
}

extern "C" size_t gpu_free_bytes(void)
{
    size_t bytes = 0, total = 0;
    check(cudaMemGetInfo(&bytes, &total), "asking for free memory");
    return bytes;
}

struct gpu_ballast {
    void *blocks[4096];
    unsigned count;
};

/* Allocates blocks of 1 GiB down to 1 MiB until they fail. */
extern "C" gpu_ballast *gpu_fill(size_t leave)
{
    void *left = leave ? gpu_take(leave) : NULL;
    gpu_ballast *ballast = (gpu_ballast *)calloc(1, sizeof *ballast);
    check(ballast ? cudaSuccess : cudaErrorMemoryAllocation, "taking host memory");
    for (size_t bytes = (size_t)1 << 30; bytes >= (size_t)1 << 20; bytes /= 2)
        while (ballast->count < 4096 && cudaMalloc(&ballast->blocks[ballast->count], bytes) == cudaSuccess)
            ballast->count++;
    cudaGetLastError();
    gpu_give_back(left);
    return ballast;
}

extern "C" void gpu_empty(gpu_ballast *ballast)
{
    for (unsigned i = 0; i < ballast->count; i++)
        gpu_give_back(ballast->blocks[i]);
    free(ballast);
}

static __global__ void trap(void)
{
    asm("trap;");
}

extern "C" bool gpu_break(void)
{
    trap<<<1, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess && cudaDeviceSynchronize() != cudaSuccess;
}
