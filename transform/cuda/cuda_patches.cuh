/* Several small levels in one launch. What a small level takes is not work but waiting: for the launch, for
 * instructions, for one row after the other. So a warp takes a patch of few rows at once, all loads under way together,
 * and the blocks of the launch, which are on the device together, wait for each other between two levels. */
#ifndef L2K_TRANSFORM_PATCHES_CUDA_CUH
#define L2K_TRANSFORM_PATCHES_CUDA_CUH

#include "transform/cuda/cuda_deep.h"
#include "transform/cuda/cuda_launch.cuh"

/* ---- In kernels ---------------------------------------------------------------------------------------------- */

enum { L2K_PATCH_COLUMNS = 2 }; /* of a lane */

/* Where the blocks of a grid wait for each other, once before each level but the first. When all have arrived, a
 * counter's upper bit turns over and the others are 0 again, so nobody need clear it. What a block has written before
 * it arrives is seen by those that have waited, except by loads through the read-only cache. The messenger of a block
 * is in its last warp, which has the least to do. */
struct l2k_meeting {
    uint32_t *arrived;
    bool messenger;

    __device__ __forceinline__ explicit l2k_meeting(uint32_t *counters)
        : arrived(counters), messenger(threadIdx.x == blockDim.x - 32)
    {
    }
    /* What `wait` must be told, from before the block arrives. */
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

/* The patches of a level, numbered row by row, component by component. Each gives so many rows. */
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

/* One of them, as a lane sees it. Coordinates of rows and columns are the level's. */
template <class W, int GIVEN> struct l2k_patch {
    typedef l2k_patches<W, GIVEN> patches;
    enum { ROWS = GIVEN + 2 * W::STEPS - 1 }; /* that are needed for them */
    int c, first_column, column, row;         /* component; the warp's and the lane's first column; first row */
    bool keeps;                               /* whether the lane is no halo */

    __device__ __forceinline__ l2k_patch(const patches &all, int number)
    {
        int lane = threadIdx.x & 31, line = number / all.across;
        first_column = (number % all.across) * patches::INNER - patches::HALO * L2K_PATCH_COLUMNS;
        column = first_column + lane * L2K_PATCH_COLUMNS;
        row = line % all.down * GIVEN;
        c = line / all.down;
        keeps = lane >= patches::HALO && lane < 32 - patches::HALO;
    }

    /* Whether columns of the line begin and end between two lanes, if at all. */
    __device__ __forceinline__ bool is_inside(l2k_span x) const
    {
        return ((x.first | x.end) & 1) == 0 ||
               (first_column > x.first + 1 && first_column + 32 * L2K_PATCH_COLUMNS + 1 < x.end);
    }
};

/* What forward and inverse have of a patch under way. */
template <class W, int GIVEN> struct l2k_patch_work {
    typedef l2k_patch<W, GIVEN> patch;
    typedef l2k_patches<W, GIVEN> patches;
    const l2k_cuda_deep &p;
    const l2k_cuda_deep_level &l;
    bool low_in_band; /* whether LL is band 0 of the coefficients here */
    patch at;
    l2k_span x, y;
    l2k_cuda_deep_lane lane;

    __device__ __forceinline__ l2k_patch_work(const l2k_cuda_deep &deep, int level, const patches &all, int number)
        : p(deep), l(deep.level[level]), low_in_band(deep.low_in_bands && level + 1 == deep.levels), at(all, number),
          x(l.x), y(l.y), lane(l.lane[at.c])
    {
    }
    __device__ __forceinline__ void take(const patches &all, int number)
    {
        at = patch(all, number);
        lane = l.lane[at.c];
    }
};

/* Row i of the line of a patch, counted from its first and mirrored at its ends (F.3.7) as far as anything counts; of a
 * line of one, that one. */
template <class W> __device__ __forceinline__ int l2k_patch_row(int i, l2k_span rows)
{
    int last = rows.end - 1 - rows.first;
    i = abs(i - rows.first);
    while (last < W::STEPS && i > last && i <= last + W::STEPS) /* shorter than what filters reach */
        i = last > 0 ? abs(2 * last - i) : 0;
    return max(min(i, 2 * last - i), 0);
}

/* Loads that see what other blocks have written. */
template <class S> __device__ __forceinline__ S l2k_load_written(const S *from)
{
    return __ldcg(from);
}

/* A lane's two samples of a row, as one access. */
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

    /* Whether such accesses fit at even columns of a plane. */
    static __device__ __forceinline__ bool fits(const char *samples, int stride, l2k_span x)
    {
        return (((uintptr_t)samples + (x.first & 1) * sizeof(S)) | (uintptr_t)stride) % sizeof(type) == 0;
    }
};

/* Rows that patches of a level are to give: of few samples, up to `most`, few, so that no warp has long to go, of many
 * more, since each patch needs rows around it. */
__device__ __forceinline__ bool l2k_wants_low_patches(const l2k_cuda_deep &p, int level, int most)
{
    int width = l2k_length(p.level[level].x), height = l2k_length(p.level[level].y);
    return (int64_t)width * height * p.components <= most;
}

/* ---- In launchers -------------------------------------------------------------------------------------------- */

/* Launches a kernel of blocks that wait for each other: no more than the device holds at once, and no more than the
 * level with most patches, the first, can use. A block has so many warps. */
template <class W, class Kernel>
static int l2k_launch_deep(Kernel *kernel, int warps, const l2k_cuda_deep &p, cudaStream_t stream)
{
    int device = 0, processors = 0;
    int error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error != cudaSuccess)
        return error;
    int patches = l2k_patches<W, 4>(p.level[0].x, p.level[0].y).count(p.components);
    int blocks = patches < processors ? patches : processors;
    return l2k_launch(kernel, dim3(blocks > 0 ? blocks : 1), 32 * warps, p.levels > 1, p.follows, p, stream);
}

#endif
