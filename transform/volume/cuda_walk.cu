/* Walks through the slices of a volume: all levels of the third direction with each slice loaded once and stored once.
 * The samples of the next period are on their way while one is lifted. */
#include "transform/volume/cuda_walk.cuh"

namespace
{

const int THREADS = 128;

template <class Across, int LEVELS>
__global__ void __launch_bounds__(THREADS) walk(const __grid_constant__ l2k_cuda_z_walk p)
{
    typedef z_lifter<Across, LEVELS> lifter;
    typedef typename lifter::vector vector;
    enum { BATCH = lifter::BATCH };
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= p.threads)
        return;
    lifter z = {p};
    vector next[BATCH];
    z.template fetch<true>(next, 0, thread);
    z.template begin<true>(thread);
#pragma unroll 1
    for (int first = 0; first < p.slices; first += BATCH) {
        vector batch[BATCH];
#pragma unroll
        for (int i = 0; i < BATCH; i++)
            batch[i] = next[i];
        z.template fetch<true>(next, first + BATCH, thread);
        z.lift_batch(batch, first, [&](int i, const vector &v) {
            store_values<typename lifter::S, lifter::INVERSE>(p.to[first + i], thread, v);
        });
    }
    z.end(thread);
}

/* ---- Launches ------------------------------------------------------------------------------------------------ */

int launch(void (*kernel)(l2k_cuda_z_walk), const l2k_cuda_z_walk &p, void *stream)
{
    void *arguments[] = {const_cast<l2k_cuda_z_walk *>(&p)};
    return cudaLaunchKernel((const void *)kernel, dim3((unsigned)((p.threads + THREADS - 1) / THREADS)), dim3(THREADS),
                            arguments, 0, (cudaStream_t)stream);
}

template <class Across> int run(const l2k_cuda_z_walk &p, void *stream)
{
    return launch(p.levels == 2 ? walk<Across, 2> : walk<Across, L2K_Z_WALK_LEVELS>, p, stream);
}

template <class S> int run(const l2k_cuda_z_walk &p, bool inverse, void *stream)
{
    return inverse ? run<part_1_across<S, true>>(p, stream) : run<part_1_across<S, false>>(p, stream);
}

} // namespace

extern "C" int l2k_cuda_z_walk_run(const l2k_cuda_z_walk *walk, l2k_cuda_value value, bool inverse, void *stream)
{
    if (walk->threads == 0 || walk->slices == 0)
        return cudaSuccess;
    return value == L2K_CUDA_INT16   ? run<int16_t>(*walk, inverse, stream)
           : value == L2K_CUDA_INT32 ? run<int32_t>(*walk, inverse, stream)
                                     : run<float>(*walk, inverse, stream);
}
