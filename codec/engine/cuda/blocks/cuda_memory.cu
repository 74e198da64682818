/* Device and pinned memory of block coders, and the stream that they work in, through the CUDA runtime. */
#include <cuda_runtime.h>

#include <stdio.h>

extern "C" {
#include "codec/engine/cuda/blocks/cuda_memory.h"
#include "transform/backend.h"
#include "transform/cuda/cuda_device.h"
}

/* ---- Memory -------------------------------------------------------------------------------------------------- */

/* Cleared, since kernels read whole words of which only the first bytes were written. */
static cudaError_t take_device_memory(l2k_cuda_memory *memory, size_t bytes)
{
    cudaError_t error = cudaMalloc((void **)&memory->at, bytes);
    if (error == cudaSuccess)
        error = cudaMemset(memory->at, 0, bytes);
    return error == cudaSuccess ? cudaStreamSynchronize(cudaStreamLegacy) : error;
}

extern "C" l2k_status l2k_cuda_reserve(const l2k_context *context, l2k_cuda_memory *memory, size_t bytes)
{
    char what[80];
    if (bytes <= memory->bytes)
        return L2K_OK;
    l2k_cuda_release(memory);
    snprintf(what, sizeof what, "allocating %zu bytes of %s memory", bytes, memory->pinned ? "pinned" : "device");
    int error = memory->pinned ? cudaMallocHost((void **)&memory->at, bytes) : take_device_memory(memory, bytes);
    if (error == cudaSuccess)
        memory->bytes = bytes;
    else
        l2k_cuda_release(memory);
    return l2k_cuda_check(context, error, what);
}

extern "C" l2k_status l2k_cuda_pin(const l2k_context *context, l2k_cuda_memory *memory, size_t bytes)
{
    memory->pinned = true;
    return l2k_cuda_reserve(context, memory, bytes);
}

/* A call returns errors of earlier calls, which have been reported. */
extern "C" void l2k_cuda_release(l2k_cuda_memory *memory)
{
    if (memory->at && memory->pinned)
        cudaFreeHost(memory->at);
    else if (memory->at)
        cudaFree(memory->at);
    memory->at = NULL;
    memory->bytes = 0;
}

/* ---- Stream -------------------------------------------------------------------------------------------------- */

extern "C" l2k_status l2k_cuda_open(const l2k_context *context, void **stream, uint32_t *processors)
{
    static const char what[] = "making a stream";
    char reason[160];
    int device = 0, count = 0;
    if (!l2k_cuda_usable(l2k_device_of_share(context, 0), reason, sizeof reason))
        return l2k_fail(context, L2K_ERROR_BACKEND, "CUDA: no usable GPU: %s", reason);
    L2K_TRY(l2k_cuda_check(context, cudaGetDevice(&device), what));
    L2K_TRY(l2k_cuda_check(context, cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device), what));
    *processors = (uint32_t)count;
    return l2k_cuda_check(context, cudaStreamCreateWithFlags((cudaStream_t *)stream, cudaStreamNonBlocking), what);
}

extern "C" void l2k_cuda_close(void *stream)
{
    if (!stream)
        return;
    l2k_cuda_settle(stream);
    cudaStreamDestroy((cudaStream_t)stream);
}

extern "C" l2k_status l2k_cuda_upload(const l2k_context *context, void *stream, void *device, const void *pinned,
                                      size_t bytes)
{
    return l2k_cuda_check(context, cudaMemcpyAsync(device, pinned, bytes, cudaMemcpyHostToDevice, (cudaStream_t)stream),
                          "uploading code-blocks");
}

extern "C" l2k_status l2k_cuda_download(const l2k_context *context, void *stream, void *pinned, const void *device,
                                        size_t bytes)
{
    return l2k_cuda_check(context, cudaMemcpyAsync(pinned, device, bytes, cudaMemcpyDeviceToHost, (cudaStream_t)stream),
                          "downloading code-blocks");
}

extern "C" l2k_status l2k_cuda_wait(const l2k_context *context, void *stream)
{
    return l2k_cuda_check(context, cudaStreamSynchronize((cudaStream_t)stream), "waiting for code-blocks");
}

extern "C" l2k_status l2k_cuda_clear(const l2k_context *context, void *stream, void *device, size_t bytes)
{
    return l2k_cuda_check(context, cudaMemsetAsync(device, 0, bytes, (cudaStream_t)stream), "clearing device memory");
}

/* ---- Events -------------------------------------------------------------------------------------------------- */

extern "C" l2k_status l2k_cuda_mark(const l2k_context *context, void **event, void *stream)
{
    static const char what[] = "marking the end of code-blocks";
    if (!*event)
        L2K_TRY(l2k_cuda_check(context, cudaEventCreateWithFlags((cudaEvent_t *)event, cudaEventDisableTiming), what));
    return l2k_cuda_check(context, cudaEventRecord((cudaEvent_t)*event, (cudaStream_t)stream), what);
}

extern "C" l2k_status l2k_cuda_follow(const l2k_context *context, void *stream, void *event)
{
    return l2k_cuda_check(context, cudaStreamWaitEvent((cudaStream_t)stream, (cudaEvent_t)event, 0),
                          "waiting for code-blocks");
}

extern "C" l2k_status l2k_cuda_wait_to_mark(const l2k_context *context, void *event)
{
    return l2k_cuda_check(context, cudaEventSynchronize((cudaEvent_t)event), "waiting for code-blocks");
}

extern "C" void l2k_cuda_unmark(void *event)
{
    if (event)
        cudaEventDestroy((cudaEvent_t)event);
}

extern "C" void l2k_cuda_settle(void *stream)
{
    if (cudaStreamSynchronize((cudaStream_t)stream) != cudaSuccess)
        cudaGetLastError();
}
