/* How forward and inverse kernels divide a picture among warps, and what their launchers have in common. */
#ifndef L2K_TRANSFORM_STRIPS_CUDA_CUH
#define L2K_TRANSFORM_STRIPS_CUDA_CUH

#include "base/words_cuda.cuh"
#include "dwt/warp_cuda.cuh"
#include "transform/cuda_pass.h"

#include <cuda_runtime.h>

/* ---- In kernels ---------------------------------------------------------------------------------------------- */

/* Samples of a line that are low, and those that are high, in their own coordinates. */
__device__ __forceinline__ l2k_span l2k_low_span(l2k_span s)
{
    return l2k_span{(s.first + 1) >> 1, (s.end + 1) >> 1};
}

__device__ __forceinline__ l2k_span l2k_high_span(l2k_span s)
{
    return l2k_span{s.first >> 1, s.end >> 1};
}

/* The columns and rows of a subband that those of the samples give. */
__device__ __forceinline__ l2k_span l2k_band_columns(int band, l2k_span x)
{
    return band & L2K_HL ? l2k_high_span(x) : l2k_low_span(x);
}

__device__ __forceinline__ l2k_span l2k_band_rows(int band, l2k_span y)
{
    return band & L2K_LH ? l2k_high_span(y) : l2k_low_span(y);
}

__device__ __forceinline__ int l2k_length(l2k_span s)
{
    return s.end - s.first;
}

/* A strip's columns: N in each lane, of which HALO on either side serve the others only. A block is one warp, so what
 * depends on the block only is the same for all lanes, as the compiler can see. */
template <int HALO, int N> struct l2k_strip {
    int lane, first_column, column; /* coordinates of the warp's and the lane's first column */
    bool keeps;                     /* whether the lane is no halo and has columns */
    int begin, end;                 /* steps whose results this warp keeps */

    __device__ __forceinline__ explicit l2k_strip(const l2k_cuda_pass &p)
    {
        int strip = (int)blockIdx.x % p.strips;
        lane = l2k_pinned((int)threadIdx.x);
        first_column = (strip * (32 - 2 * HALO) - HALO) * N;
        column = first_column + lane * N;
        keeps = lane >= HALO && lane < 32 - HALO && column < p.x.end && column + N > p.x.first;
        begin = p.first_step + (int)blockIdx.x / p.strips * p.steps_each;
        end = min(begin + p.steps_each, p.end_step);
    }

    /* Whether every lane has all of its columns or none, and the neighbours of those that count. */
    __device__ __forceinline__ bool is_inside(l2k_span x) const
    {
        return (x.first % N == 0 && x.end % N == 0) ||
               (first_column > x.first + 1 && first_column + 32 * N + 1 < x.end);
    }
};

/* What kernels begin with: the next one may be started, and what the one before has written is there from here on. */
__device__ __forceinline__ void l2k_await_previous()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* The way down. A step's rows land in one slot of a ring in shared memory while AHEAD steps before it are worked on;
 * which slot is worked on has been free of copies since. A walk has a way through the steps that see no border, with
 * pointers running along, and one that looks where it goes. */
template <class Walk> struct l2k_ring {
    enum { SLOTS = Walk::AHEAD + 1, BYTES = SLOTS * Walk::SLOT };
    l2k_shared memory;
    int at;

    template <class Way> __device__ __forceinline__ void turn(Walk &walk, Way &way, int step, int end)
    {
        int next = at == 0 ? (int)Walk::AHEAD : at - 1;
        if (step + Walk::AHEAD < end)
            way.load(step + Walk::AHEAD, memory + next * Walk::SLOT);
        l2k_end_copies();
        l2k_await_copies<Walk::AHEAD>();
        walk.take(way, step, memory + at * Walk::SLOT);
        at = at + 1 == SLOTS ? 0 : at + 1;
    }
};

template <class Walk, class Strip>
__device__ __forceinline__ void l2k_walk_down(Walk &walk, const Strip &strip, int warm_up, bool inside,
                                              l2k_shared memory)
{
    l2k_ring<Walk> ring = {memory, 0};
    typename Walk::careful careful(walk);
    l2k_span plain = walk.inside();
    int step = strip.begin - warm_up, plain_end = min(inside ? plain.end : plain.first, strip.end);
    for (int a = 0; a < Walk::AHEAD; a++) {
        careful.load(step + a, memory + a * Walk::SLOT);
        l2k_end_copies();
    }
    for (; step < min(plain.first, strip.end); step++)
        ring.turn(walk, careful, step, strip.end);
    if (step < plain_end) {
        typename Walk::quick quick(walk, step, step + Walk::AHEAD);
        for (; step < plain_end; step++)
            ring.turn(walk, quick, step, strip.end);
    }
    for (; step < strip.end; step++)
        ring.turn(walk, careful, step, strip.end);
}

/* ---- In launchers -------------------------------------------------------------------------------------------- */

static inline int l2k_divide_up(int a, int b)
{
    return (a + b - 1) / b;
}

/* Shares a pass's steps among as many warps as the device holds at once, but gives none more than `most`: with shorter
 * walks the device's warps are closer together in memory, at the price of more steps to warm up. */
static inline void l2k_share_steps(l2k_cuda_pass *p, int inner_columns, int launches, int warps, int most)
{
    int all = p->end_step - p->first_step, chunks, least = p->levels == 2 ? 2 : 1;
    p->strips = l2k_divide_up(p->x.end, inner_columns);
    chunks = warps / (p->strips * launches);
    p->steps_each = l2k_divide_up(all, chunks < 1 ? 1 : chunks);
    p->steps_each = p->steps_each > most ? most : p->steps_each;
    p->steps_each = p->steps_each < least ? least : p->steps_each;
}

/* Warps that the current device holds at once where each processor holds `warps`. */
static inline int l2k_resident_warps(int *warps)
{
    int device = 0, processors = 0;
    int error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    *warps *= processors > 0 ? processors : 1;
    return error;
}

/* A launch that nearly fills the device in one wave must find it empty: started while another still has warps there, some of
 * its own would have to wait for a second wave. */
static inline bool l2k_may_start_early(int blocks, int warps)
{
    return 2 * blocks < warps || blocks > 2 * warps;
}

/* Launches a kernel of blocks of so many threads; `together`: all of them must be on the device at once. Where the
 * machine can (compute capability 9.0), one that follows another of the plan is started while that still runs, and
 * waits for its results itself. */
template <class Kernel, class Pass>
static int l2k_launch(Kernel *kernel, dim3 grid, int threads, bool together, bool follows, const Pass &p,
                      cudaStream_t stream)
{
    cudaLaunchAttribute attributes[2];
    cudaLaunchConfig_t config = {};
    int device = 0, major = 0;
    int error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    if (error != cudaSuccess)
        return error;
    config.gridDim = grid;
    config.blockDim = dim3((unsigned)threads);
    config.stream = stream;
    config.attrs = attributes;
    if (together) {
        attributes[config.numAttrs].id = cudaLaunchAttributeCooperative;
        attributes[config.numAttrs++].val.cooperative = 1;
    }
    if (follows && major >= 9) {
        attributes[config.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attributes[config.numAttrs++].val.programmaticStreamSerializationAllowed = 1;
    }
    return cudaLaunchKernelEx(&config, kernel, p);
}

/* A plane whose samples of type S lie side by side, whole samples apart. */
template <class S> static inline bool l2k_is_packed(const l2k_cuda_plane &plane)
{
    return plane.sample_stride == (int32_t)sizeof(S) &&
           ((uintptr_t)plane.data | (uintptr_t)plane.row_stride) % sizeof(S) == 0;
}

/* Three planes of one type that are interleaved triples. */
template <class S> static inline bool l2k_are_triples(const l2k_cuda_plane *planes)
{
    for (int c = 0; c < 3; c++)
        if (planes[c].type != planes[0].type || planes[c].sample_stride != (int32_t)(3 * sizeof(S)) ||
            planes[c].data != planes[0].data + c * sizeof(S) || planes[c].row_stride != planes[0].row_stride)
            return false;
    return ((uintptr_t)planes[0].data | (uintptr_t)planes[0].row_stride) % sizeof(S) == 0;
}

static inline int l2k_sample_bits(l2k_sample_type type)
{
    return type <= L2K_SAMPLE_S8 ? 8 : type <= L2K_SAMPLE_S16 ? 16 : 32;
}

#endif
