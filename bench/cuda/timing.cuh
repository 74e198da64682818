/* How kernels are timed: runs rotate over sets of buffers that together are larger than the L2 cache, each run replays
 * a CUDA graph between two events, and the median is reported. The reference is a copy of the same bytes, timed alike.
 */
#ifndef L2K_BENCH_CUDA_TIMING_CUH
#define L2K_BENCH_CUDA_TIMING_CUH

#include <cuda_runtime.h>

#include <algorithm>
#include <vector>

#include "bench/bench.h"

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t error_ = (call);                                                                                   \
        if (error_ != cudaSuccess) {                                                                                   \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_));                 \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

enum { REPEATS = 60, WARM_UP = 5 };

/* Sets of buffers to rotate over, where one run reads `in` bytes and writes `out`. */
static inline unsigned cold_sets(size_t in, size_t out)
{
    return (unsigned)std::min<size_t>(64, 2 + ((size_t)256 << 20) / (in + out));
}

/* Records what `enqueue` puts on the stream as a graph. */
template <class F> static cudaGraphExec_t record_graph(cudaStream_t stream, F enqueue)
{
    cudaGraph_t graph;
    cudaGraphExec_t made;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    enqueue();
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&made, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    return made;
}

template <class F> static double median_us(cudaStream_t stream, F run)
{
    cudaEvent_t from, to;
    std::vector<float> times;
    CHECK(cudaEventCreate(&from));
    CHECK(cudaEventCreate(&to));
    for (int i = 0; i < WARM_UP + REPEATS; i++) {
        float ms;
        CHECK(cudaEventRecord(from, stream));
        run(i);
        CHECK(cudaEventRecord(to, stream));
        CHECK(cudaEventSynchronize(to));
        CHECK(cudaEventElapsedTime(&ms, from, to));
        if (i >= WARM_UP)
            times.push_back(ms);
    }
    CHECK(cudaEventDestroy(from));
    CHECK(cudaEventDestroy(to));
    std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
    return times[times.size() / 2] * 1000.0;
}

/* A copy of (in + out) / 2 bytes moves as many bytes as the transform must. */
static inline double copy_us(cudaStream_t stream, size_t in, size_t out, unsigned sets)
{
    size_t bytes = (in + out) / 2;
    std::vector<char *> from(sets), to(sets);
    for (unsigned i = 0; i < sets; i++) {
        CHECK(cudaMalloc(&from[i], bytes));
        CHECK(cudaMalloc(&to[i], bytes));
        CHECK(cudaMemset(from[i], (int)i + 1, bytes));
    }
    double us = median_us(stream, [&](int i) {
        CHECK(cudaMemcpyAsync(to[i % sets], from[i % sets], bytes, cudaMemcpyDeviceToDevice, stream));
    });
    for (unsigned i = 0; i < sets; i++) {
        CHECK(cudaFree(from[i]));
        CHECK(cudaFree(to[i]));
    }
    return us;
}

/* One line: device, driver, runtime. */
static inline void print_device(void)
{
    cudaDeviceProp properties;
    int driver = 0;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    CHECK(cudaDriverGetVersion(&driver));
    printf("%s, compute capability %d.%d, CUDA driver %d.%d, runtime %d.%d", properties.name, properties.major,
           properties.minor, driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
}

#endif
