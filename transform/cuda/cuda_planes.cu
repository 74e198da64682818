/* Fills and copies planes of any strides in device memory, for samples that no transform writes. */
#include <cuda_runtime.h>

#include <stdio.h>

extern "C" {
#include "base/sample.h"
#include "transform/cuda/cuda_device.h"
}

namespace
{

struct samples {
    char *data;
    long long row_stride, sample_stride; /* bytes */
};

samples samples_of(const l2k_plane *plane)
{
    return samples{(char *)plane->data, (long long)plane->row_stride, (long long)plane->sample_stride};
}

template <class Sample> __global__ void fill_samples(samples to, uint32_t width, uint32_t height, Sample value)
{
    for (uint32_t y = blockIdx.x; y < height; y += gridDim.x)
        for (uint32_t x = threadIdx.x; x < width; x += blockDim.x)
            *(Sample *)(to.data + y * to.row_stride + x * to.sample_stride) = value;
}

template <class Sample> __global__ void copy_samples(samples to, samples from, uint32_t width, uint32_t height)
{
    for (uint32_t y = blockIdx.x; y < height; y += gridDim.x)
        for (uint32_t x = threadIdx.x; x < width; x += blockDim.x)
            *(Sample *)(to.data + y * to.row_stride + x * to.sample_stride) =
                *(const Sample *)(from.data + y * from.row_stride + x * from.sample_stride);
}

/* Rows of bytes from any address, stored in aligned words. Each word that is read has at least one wanted byte, so it
 * lies inside the same memory. */
__global__ void copy_rows(samples to, samples from, uint32_t bytes, uint32_t height)
{
    for (uint32_t y = blockIdx.x; y < height; y += gridDim.x) {
        char *out = to.data + y * to.row_stride;
        const char *in = from.data + y * from.row_stride;
        const uint32_t head = min((uint32_t)(-(uintptr_t)out & 3), bytes), words = (bytes - head) / 4;
        const uint32_t single = bytes - 4 * words, shift = 8 * (uint32_t)((uintptr_t)(in + head) & 3);
        const uint32_t *word = (const uint32_t *)((uintptr_t)(in + head) & ~(uintptr_t)3);
        for (uint32_t x = threadIdx.x; x < words; x += blockDim.x)
            ((uint32_t *)(out + head))[x] = __funnelshift_r(word[x], shift ? word[x + 1] : 0, shift);
        if (threadIdx.x < single) {
            const uint32_t at = threadIdx.x < head ? threadIdx.x : 4 * words + threadIdx.x;
            out[at] = in[at];
        }
    }
}

const unsigned THREADS = 256, MOST_BLOCKS = 2048;

unsigned blocks_for(uint32_t height)
{
    return height < MOST_BLOCKS ? height : MOST_BLOCKS;
}

} // namespace

extern "C" l2k_status l2k_device_reserve(const l2k_context *context, l2k_device_memory *memory, size_t bytes)
{
    char what[80];
    if (bytes <= memory->bytes)
        return L2K_OK;
    l2k_device_release(memory);
    snprintf(what, sizeof what, "allocating %zu bytes of device memory", bytes);
    L2K_TRY(l2k_cuda_check(context, cudaMalloc(&memory->at, bytes), what));
    memory->bytes = bytes;
    return L2K_OK;
}

/* A call returns errors of earlier calls, which have been reported. */
extern "C" void l2k_device_release(l2k_device_memory *memory)
{
    if (memory->at)
        cudaFree(memory->at);
    *memory = l2k_device_memory{};
}

extern "C" l2k_status l2k_device_fill(const l2k_context *context, const l2k_plane *to, uint32_t width, uint32_t height,
                                      int32_t value, void *stream)
{
    const samples out = samples_of(to);
    const cudaStream_t in = (cudaStream_t)stream;
    if (width == 0 || height == 0)
        return L2K_OK;
    if (to->type == L2K_SAMPLE_F32)
        fill_samples<float><<<blocks_for(height), THREADS, 0, in>>>(out, width, height, (float)value);
    else if (l2k_sample_bytes(to->type) == 1)
        fill_samples<int8_t><<<blocks_for(height), THREADS, 0, in>>>(out, width, height, (int8_t)value);
    else if (l2k_sample_bytes(to->type) == 2)
        fill_samples<int16_t><<<blocks_for(height), THREADS, 0, in>>>(out, width, height, (int16_t)value);
    else
        fill_samples<int32_t><<<blocks_for(height), THREADS, 0, in>>>(out, width, height, value);
    return l2k_cuda_check(context, cudaGetLastError(), "filling samples");
}

extern "C" l2k_status l2k_device_copy(const l2k_context *context, const l2k_plane *to, const l2k_plane *from,
                                      uint32_t width, uint32_t height, void *stream)
{
    const samples out = samples_of(to), in = samples_of(from);
    const cudaStream_t s = (cudaStream_t)stream;
    const long long bytes = (long long)l2k_sample_bytes(to->type);
    if (width == 0 || height == 0)
        return L2K_OK;
    if (out.sample_stride == bytes && in.sample_stride == bytes && width <= UINT32_MAX / bytes) {
        copy_rows<<<blocks_for(height), THREADS, 0, s>>>(out, in, (uint32_t)(width * bytes), height);
        return l2k_cuda_check(context, cudaGetLastError(), "copying samples");
    }
    const auto copy = bytes == 1 ? copy_samples<int8_t> : bytes == 2 ? copy_samples<int16_t> : copy_samples<int32_t>;
    copy<<<blocks_for(height), THREADS, 0, s>>>(out, in, width, height);
    return l2k_cuda_check(context, cudaGetLastError(), "copying samples");
}

extern "C" l2k_status l2k_device_upload(const l2k_context *context, void *to, const void *host, size_t bytes,
                                        void *stream)
{
    cudaError_t error = cudaMemcpyAsync(to, host, bytes, cudaMemcpyHostToDevice, (cudaStream_t)stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize((cudaStream_t)stream);
    return l2k_cuda_check(context, error, "uploading samples");
}

extern "C" l2k_status l2k_device_download(const l2k_context *context, void *host, const void *device, size_t bytes,
                                          void *stream)
{
    cudaError_t error = cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, (cudaStream_t)stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize((cudaStream_t)stream);
    return l2k_cuda_check(context, error, "downloading samples");
}

extern "C" l2k_status l2k_device_wait(const l2k_context *context, void *stream)
{
    return l2k_cuda_check(context, cudaStreamSynchronize((cudaStream_t)stream), "waiting for samples");
}
