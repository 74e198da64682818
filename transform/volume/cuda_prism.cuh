/* Prisms: a block takes a tile of all slices of a walk (cuda_walk.cuh) and does level 1 within the slices of
 * coefficients, too, which pass between the two in shared memory. So values between the directions never go to device
 * memory: samples are loaded once, but for the edges of tiles, and coefficients stored once.
 *
 * Across slices a thread has 16 bytes of a row of the tile. Within them it has as many columns of one slice, with the
 * neighbours that these depend on, and goes down a part of the tile's rows: no thread needs another one's registers.
 * The two alternate by batches of slices: forward in two buffers, with one barrier a batch; inverse in one, with two,
 * so that a multiprocessor has room for two blocks. */
#ifndef L2K_TRANSFORM_VOLUME_CUDA_PRISM_CUH
#define L2K_TRANSFORM_VOLUME_CUDA_PRISM_CUH

#include "dwt/kernel_cuda.cuh"
#include "transform/volume/cuda_walk.cuh"

namespace
{

constexpr int even_from(int x)
{
    return (x + 1) / 2 * 2;
}

/* W: the wavelet within slices. */
template <class Across, class W, int LEVELS> struct prism {
    typedef z_lifter<Across, LEVELS> lifter;
    typedef typename lifter::S S;
    typedef typename lifter::T T;
    typedef l2k_reach<W, !Across::INVERSE> reach;
    enum {
        N = lifter::N,
        BATCH = lifter::BATCH,
        LANES = 16,          /* threads that share a row */
        COLUMNS = LANES * N, /* of a tile */
        HEIGHT = 16,         /* of it */
        CHUNKS = 2,          /* parts of its rows */
        CHUNK = HEIGHT / CHUNKS,
        UP = even_from(reach::UP), /* rows around it */
        DOWN = even_from(reach::DOWN),
        EDGE = UP > DOWN ? (int)UP : (int)DOWN, /* columns around a thread's */
        M = N + 2 * EDGE,
        WITHIN = BATCH * LANES * CHUNKS /* threads that are needed within slices */
    };
    static_assert(EDGE * sizeof(S) <= 16, "neighbours of a tile are a vector at either side");

    const l2k_cuda_prism &p;
    const int strip, tile, component;

    __device__ __forceinline__ explicit prism(const l2k_cuda_prism &parameters)
        : p(parameters), strip((int)blockIdx.x % strips(parameters)), tile((int)blockIdx.x / strips(parameters)),
          component((int)blockIdx.y)
    {
    }

    static __host__ __device__ __forceinline__ int strips(const l2k_cuda_prism &p)
    {
        return (p.width + COLUMNS - 1) / COLUMNS;
    }
    static dim3 grid(const l2k_cuda_prism &p)
    {
        return dim3((unsigned)(strips(p) * ((p.y.end + HEIGHT - 1) / HEIGHT)), (unsigned)p.parts);
    }

    /* The coordinates of the tile's first row and column. */
    __device__ __forceinline__ int top() const
    {
        return tile * HEIGHT;
    }
    __device__ __forceinline__ int left() const
    {
        return strip * COLUMNS;
    }
    __device__ __forceinline__ bool has_row(int y) const
    {
        return y >= p.y.first && y < p.y.end;
    }
    __device__ __forceinline__ bool has_column(int x) const
    {
        return x >= 0 && x < p.width;
    }

    /* Which 16 bytes of a slice those at (x, y) are, from the first component on. */
    __device__ __forceinline__ int64_t place(int x, int y) const
    {
        return component * (p.part_bytes / 16) + ((int64_t)(y - p.y.first) * p.width + x) / N;
    }

    /* A subband of level 1 of a slice of coefficients at the row of it that is one of the pair from row y on, and at
     * column x. */
    __device__ __forceinline__ char *band(int slice, int orientation, int x, int y) const
    {
        const int64_t part = (int64_t)p.slot[slice] * p.parts + component;
        const int row = (y >> 1) - (orientation & L2K_LH ? p.y.first >> 1 : (p.y.first + 1) >> 1);
        const int64_t away = orientation == L2K_LL ? part * p.to_next_low + row * p.low_stride
                                                   : part * p.to_next_band + row * (int64_t)p.bands.stride * sizeof(S);
        return (char *)p.bands.at[0][orientation] + away + (x >> 1) * (int64_t)sizeof(S);
    }

    /* Whether a pair of rows from q on that enters a walk down may meet the line's ends. Above, steps lag behind what
     * enters by no more than results do, and their taps, and those of the row before. */
    __device__ __forceinline__ bool is_near_end(int q) const
    {
        return q - UP - 2 * W::DELAY - 4 < p.y.first || q + 1 >= p.y.end;
    }
};

/* The work of a thread within slices: one of a batch, the columns from `lane` times N on of the tile, a part of its
 * rows. Threads that follow each other have one chunk, so that a warp does not take two ways. */
struct prism_task {
    int lane, slice, chunk;

    __device__ __forceinline__ prism_task(int lanes, int batch)
        : lane((int)threadIdx.x % lanes), slice((int)threadIdx.x / lanes % batch),
          chunk((int)threadIdx.x / (lanes * batch))
    {
    }
};

template <class Prism>
__global__ void __launch_bounds__(Prism::THREADS) run_prism(const __grid_constant__ l2k_cuda_prism p)
{
    extern __shared__ __align__(16) char memory[];
    Prism(p).run(memory);
}

/* ---- Launches ------------------------------------------------------------------------------------------------ */

template <class Prism> int launch_prism(const l2k_cuda_prism &p, void *stream)
{
    void (*const kernel)(l2k_cuda_prism) = run_prism<Prism>;
    void *arguments[] = {const_cast<l2k_cuda_prism *>(&p)};
    const cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)Prism::BYTES);
    if (error != cudaSuccess)
        return error;
    return cudaLaunchKernel((const void *)kernel, Prism::grid(p), dim3(Prism::THREADS), arguments, Prism::BYTES,
                            (cudaStream_t)stream);
}

/* Whether the current device has the shared memory. */
template <class Prism> bool prism_fits()
{
    int device = 0, most = 0;
    return cudaGetDevice(&device) == cudaSuccess &&
           cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) == cudaSuccess &&
           Prism::BYTES <= most;
}

/* Finds visit.of<Across, W, LEVELS>() for the wavelets across and within slices that have prisms: w4, or the 5/3 with
 * values of 32 bits. */
template <class Across, class W, class Visit> int prism_by_levels(int levels, const Visit &visit)
{
    return levels == 1   ? visit.template of<Across, W, 1>()
           : levels == 2 ? visit.template of<Across, W, 2>()
                         : visit.template of<Across, W, L2K_Z_WALK_LEVELS>();
}

template <bool INVERSE, class Visit> int prism_by_wavelet(bool w4, int levels, const Visit &visit)
{
    return w4 ? prism_by_levels<w4_across<INVERSE>, l2k_kernel_wavelet<l2k_named_w4, false, INVERSE>>(levels, visit)
              : prism_by_levels<part_1_across<int32_t, INVERSE>, l2k_wavelet_53>(levels, visit);
}

} // namespace

#endif
