/* Several small levels in one launch. Latency bounds a small level: of the launch, of instruction fetches, of row after
 * row. So a warp takes a patch of a few rows at once with all its loads in flight, and the blocks of a cooperative
 * launch wait for each other between two levels. Lifting as in dwt/warp_cuda.cuh. */
#ifndef L2K_TRANSFORM_CUDA_CUDA_PATCHES_CUH
#define L2K_TRANSFORM_CUDA_CUDA_PATCHES_CUH

#include "transform/cuda/cuda_deep.h"
#include "transform/cuda/cuda_launch.cuh"

/* ---- In kernels ---------------------------------------------------------------------------------------------- */

enum { L2K_PATCH_COLUMNS = 2 }; /* per lane */

/* A barrier over all blocks, one per level but the first. When all blocks have arrived, the counter's upper bit flips
 * and its other bits are 0 again, so it needs no clearing. Blocks that have waited see what others wrote before they
 * arrived, except through the read-only cache. A thread of a block's last warp, which has least to do, signals. */
struct l2k_meeting {
    uint32_t *arrived;
    bool messenger;

    __device__ __forceinline__ explicit l2k_meeting(uint32_t *counters)
        : arrived(counters), messenger(threadIdx.x == blockDim.x - 32)
    {
    }
    /* The counter's value that `wait` needs, to be read before the block arrives. */
    __device__ __forceinline__ uint32_t look(int level) const
    {
        return messenger && level >= 0 && level < L2K_CUDA_DEEP_LEVELS ? __ldcg(&arrived[level]) : 0;
    }
    __device__ __forceinline__ void arrive(int level) const
    {
        __syncthreads();
        if (messenger) {
            uint32_t mine = blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1;
            asm volatile("fence.acq_rel.gpu;" ::: "memory");
            asm volatile("red.add.relaxed.gpu.u32 [%0], %1;" ::"l"(&arrived[level]), "r"(mine) : "memory");
        }
    }
    __device__ __forceinline__ void wait(int level, uint32_t before) const
    {
        uint32_t now = before;
        while (messenger && ((now ^ before) & 0x80000000u) == 0)
            asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(&arrived[level]) : "memory");
        __syncthreads();
    }
};

/* The patches of a level, numbered row by row, component by component. Each yields GIVEN rows. */
template <class W, int GIVEN> struct l2k_patches {
    enum { HALO = W::STEPS / L2K_PATCH_COLUMNS, INNER = (32 - 2 * HALO) * L2K_PATCH_COLUMNS };
    int across, down;

    __host__ __device__ __forceinline__ l2k_patches(l2k_span x, l2k_span y)
        : across(x.first < x.end ? (x.end + INNER - 1) / INNER : 0),
          down(y.first < y.end ? (y.end + GIVEN - 1) / GIVEN : 0)
    {
    }
    __host__ __device__ __forceinline__ int count(int components) const
    {
        return across * down * components;
    }
};

/* One patch, as a lane sees it, in the level's coordinates. */
template <class W, int GIVEN> struct l2k_patch {
    typedef l2k_patches<W, GIVEN> patches;
    enum { ROWS = GIVEN + 2 * W::STEPS - 1 }; /* input rows for those */
    int c, first_column, column, row;         /* component; the warp's and the lane's first column; first row */
    bool keeps;                               /* whether the lane is not halo */

    __device__ __forceinline__ l2k_patch(const patches &all, int number)
    {
        int lane = threadIdx.x & 31, line = number / all.across;
        first_column = (number % all.across) * patches::INNER - patches::HALO * L2K_PATCH_COLUMNS;
        column = first_column + lane * L2K_PATCH_COLUMNS;
        row = line % all.down * GIVEN;
        c = line / all.down;
        keeps = lane >= patches::HALO && lane < 32 - patches::HALO;
    }

    /* Whether no lane straddles an end of the line. */
    __device__ __forceinline__ bool is_inside(l2k_span x) const
    {
        return ((x.first | x.end) & 1) == 0 ||
               (first_column > x.first + 1 && first_column + 32 * L2K_PATCH_COLUMNS + 1 < x.end);
    }
};

/* The state of a patch that forward and inverse share. */
template <class W, int GIVEN> struct l2k_patch_work {
    typedef l2k_patch<W, GIVEN> patch;
    typedef l2k_patches<W, GIVEN> patches;
    const l2k_cuda_deep &p;
    const l2k_cuda_deep_level &l;
    bool low_in_band; /* whether the LL of this level is subband 0 of the coefficients */
    patch at;
    l2k_span x, y;
    l2k_cuda_deep_component component;

    __device__ __forceinline__ l2k_patch_work(const l2k_cuda_deep &deep, int level, const patches &all, int number)
        : p(deep), l(deep.level[level]), low_in_band(deep.low_in_bands && level + 1 == deep.levels), at(all, number),
          x(l.x), y(l.y), component(l.component[at.c])
    {
    }
    __device__ __forceinline__ void take(const patches &all, int number)
    {
        at = patch(all, number);
        component = l.component[at.c];
    }
};

/* Row i of a line, counted from its first row and mirrored at its ends (symmetric extension, F.3.7) as far as results
 * depend on it; of a line of one row, that row. */
template <class W> __device__ __forceinline__ int l2k_patch_row(int i, l2k_span rows)
{
    int last = rows.end - 1 - rows.first;
    i = abs(i - rows.first);
    while (last < W::STEPS && i > last && i <= last + W::STEPS) /* shorter than the filter's support */
        i = last > 0 ? abs(2 * last - i) : 0;
    return max(min(i, 2 * last - i), 0);
}

/* A load that sees what other blocks wrote: past the first-level cache. */
template <class S> __device__ __forceinline__ S l2k_load_written(const S *from)
{
    return __ldcg(from);
}

/* A lane's two samples of a row as one access. */
template <class S> struct l2k_pair_type;
template <> struct l2k_pair_type<int16_t> {
    typedef short2 type;
};
template <> struct l2k_pair_type<int32_t> {
    typedef int2 type;
};
template <> struct l2k_pair_type<float> {
    typedef float2 type;
};

template <class S> struct l2k_pair {
    typedef typename l2k_pair_type<S>::type type;

    /* Whether such accesses are aligned at the even columns of a plane. */
    static __device__ __forceinline__ bool fits(const char *samples, int stride, l2k_span x)
    {
        return (((uintptr_t)samples + (x.first & 1) * sizeof(S)) | (uintptr_t)stride) % sizeof(type) == 0;
    }
};

/* Whether patches of a level yield four rows, not eight: up to `most` samples this keeps each warp's work short;
 * beyond, rows around the patches would cost too much. */
__device__ __forceinline__ bool l2k_has_low_patches(const l2k_cuda_deep &p, int level, int most)
{
    int width = l2k_length(p.level[level].x), height = l2k_length(p.level[level].y);
    return (int64_t)width * height * p.components <= most;
}

/* ---- In launchers -------------------------------------------------------------------------------------------- */

/* Launches a kernel whose blocks wait for each other, with at most as many blocks as the device holds at once and as
 * the first level, which has most patches, can use. `warps` counts those of a block. */
template <class W, class Kernel>
static int l2k_launch_deep(Kernel *kernel, int warps, const l2k_cuda_deep &p, cudaStream_t stream)
{
    int processors = 1, error = l2k_resident_warps(&processors);
    if (error != cudaSuccess)
        return error;
    int patches = l2k_patches<W, 4>(p.level[0].x, p.level[0].y).count(p.components);
    int blocks = patches < processors ? patches : processors;
    return l2k_launch(kernel, dim3(blocks > 0 ? blocks : 1), 32 * warps, p.levels > 1, p.follows, p, stream);
}

/* What a deep kernel is for, and its launcher. */
struct l2k_deep_form {
    l2k_wavelet wavelet;
    l2k_coefficient_type type;
    bool narrow;
    int (*launch)(const l2k_cuda_deep &p, cudaStream_t stream);
};

template <int COUNT>
static int l2k_launch_deep_form(const l2k_deep_form (&forms)[COUNT], const l2k_cuda_deep &p, cudaStream_t stream)
{
    for (const l2k_deep_form &form : forms)
        if (form.wavelet == p.wavelet && form.type == p.type && form.narrow == p.narrow)
            return form.launch(p, stream);
    return cudaErrorInvalidValue;
}

#endif
